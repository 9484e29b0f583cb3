"""From a release folder to its description. Only files that the release lists are read, and only if they have their hashes."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain import Bins, Mesh, MeshList, Positions, Times, mesh_level
from sudare.domain.attributes import Attribute
from sudare.errors import InputError
from sudare.export import export_words as texts
from sudare.export.description import ExportableRows, Fact, PublicationHead, PublishedCube, SpanningDimension
from sudare.export.sentences import errors_of, guarantee_of_counts, language_of
from sudare.releases.documents import StatedDocument
from sudare.releases.registry import find_kind_of_folder
from sudare.releases.verification import check_files
from sudare.storage.guarded_json import read_json
from sudare.storage.hashes import hash_of_file
from sudare.storage.staging import document_in
from sudare.system.regular_files import read_regular_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.export.format import Publication

    Integers = NDArray[np.int64]

__all__ = ["describe_folder", "require_unchanged"]

MAX_POSITIONS = 1 << 16
"""Positions of an axis up to which all are listed, also those that nobody is at."""


def describe_folder(folder: Path, table: str | None = None) -> Publication:
    """What a release folder publishes.

    Args:
        folder: of the release.
        table: which of several tables.

    Raises:
        InputError: if it is no release that can be exported, is damaged, or has no such table.
    """
    kind = find_kind_of_folder(folder).name
    path = document_in(folder)
    try:
        values = read_json(path)
        if not isinstance(values, dict):
            raise TypeError
        document = StatedDocument(path, values)
        require_unchanged(document)
        if kind == "counts":
            _require_one(folder, table)
            return _counts(document)
        if kind == "tables":
            return _protected_table(document, table)
        if kind == "records":
            _require_one(folder, table)
            return _records(document)
    except (OSError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as failure:
        if isinstance(failure, InputError):
            raise
        raise InputError(texts.UNSOUND.format(document=path)) from None
    raise InputError(texts.NO_EXPORT.format(kind=kind))


def require_unchanged(document: StatedDocument) -> None:
    """Refuse a folder whose files are not those that its document lists.

    Raises:
        InputError: names the first one.
    """
    for check in check_files(document):
        if check.outcome == "failed":
            what = Words(check.english, check.japanese)
            raise InputError(texts.CHANGED.format(folder=document.folder, document=document.name, what=what))


def _require_one(folder: Path, table: str | None) -> None:
    if table is not None:
        raise InputError(texts.ONE_TABLE.format(folder=folder))


def _head(
    document: StatedDocument, guarantee: tuple[Words, ...], facts: Sequence[Fact] = (), **more: Any
) -> PublicationHead:
    title, publisher, description = (str(document.get(key) or "") for key in ("title", "publisher", "description"))
    versions = {str(key): str(value) for key, value in (document.get("versions") or {}).items()}
    origin = texts.FROM_RELEASE.format(document=document.name, hash=hash_of_file(document.path))
    return PublicationHead(
        name=document.folder.resolve().name,
        title=title,
        publisher=publisher,
        description=description,
        created=str(document.get("created") or ""),
        language=language_of(title, publisher, description),
        guarantee=guarantee,
        facts=(
            *facts,
            Fact("software", texts.LABELS["software"], Words.same(f"sudare {versions.get('sudare', '')}".strip())),
            Fact("origin", texts.LABELS["origin"], origin),
        ),
        versions=versions,
        **more,
    )


def _counts(document: StatedDocument) -> PublishedCube:
    from sudare.releases.kinds.counts.verification import read_published_table

    table = read_published_table(document.folder, document.values)
    guarantee, facts = guarantee_of_counts(document.values)
    places = list(table.domain.places_of(table.keys))
    dimensions, along = [], []
    mesh_axis, window, mesh_cells = -1, None, None
    for axis, attribute in enumerate(table.domain.attributes):
        own = tuple(places.pop(0) for _ in attribute.shape)
        if isinstance(attribute, (Mesh, MeshList)):
            dimension, where, cells = _mesh_dimension(attribute, own)
            if window is None:
                mesh_axis, window, mesh_cells = axis, attribute.window, cells
        else:
            dimension, where = _plain_dimension(attribute, own[0])
        dimensions.append(dimension)
        along.append(where)
    order = np.lexsort(tuple(reversed(along)))
    return PublishedCube(
        head=_head(
            document, guarantee, facts, errors=errors_of(document.values), deployment=document.get("deployment")
        ),
        dimensions=tuple(dimensions),
        value_name=str(document["published"]["count"]),
        decimals=0,
        places=tuple(one[order] for one in along),
        values=np.asarray(table.counts, dtype=np.int64)[order],
        hidden=np.zeros(order.size, dtype=np.bool_),
        mesh=window,
        mesh_axis=mesh_axis,
        mesh_cells=mesh_cells,
    )


def _mesh_dimension(
    attribute: Mesh | MeshList, own: tuple[Integers, ...]
) -> tuple[SpanningDimension, Integers, tuple[Integers, Integers]]:
    """Of a window those meshes that are not 0, for most of it is sea; of a list all of it."""
    level = mesh_level(attribute.level)
    if isinstance(attribute, MeshList):
        listed: tuple[Integers, ...] = (np.arange(attribute.shape[0], dtype=np.int64),)
    else:
        rows, columns = (np.asarray(one, dtype=np.int64) for one in own)
        alone = np.unique(rows * attribute.columns + columns) if rows.size else np.zeros(1, dtype=np.int64)
        listed = (alone // attribute.columns, alone % attribute.columns)
    codes = np.asarray(attribute.values(listed), dtype=np.int64)
    order = np.argsort(codes, kind="stable")
    where = np.searchsorted(codes[order], np.asarray(attribute.values(own), dtype=np.int64)).astype(np.int64)
    in_order = tuple(one[order] for one in listed)
    named = tuple(str(code).zfill(level.digits) for code in codes[order].tolist())
    rows, columns = attribute.window_cells(in_order)
    is_partial = isinstance(attribute, Mesh) and codes.size < attribute.rows * attribute.columns
    dimension = SpanningDimension(
        name=attribute.name, codes=named, labels=named, is_geographic=True, is_partial=is_partial
    )
    return dimension, where, (np.asarray(rows, dtype=np.int64), np.asarray(columns, dtype=np.int64))


def _plain_dimension(attribute: Attribute, own: Integers) -> tuple[SpanningDimension, Integers]:
    length = attribute.shape[0]
    if isinstance(attribute, Positions) and length > MAX_POSITIONS:
        listed = np.unique(own) if own.size else np.zeros(1, dtype=np.int64)
        codes = tuple(map(str, listed.tolist()))
        where = np.searchsorted(listed, own).astype(np.int64)
        return SpanningDimension(name=attribute.name, codes=codes, labels=codes, is_partial=True), where
    codes = tuple(str(value) for value in attribute.values((np.arange(length),)).tolist())
    labels = codes
    if isinstance(attribute, Bins):
        labels = tuple(f"[{low}, {high})" for low, high in zip(attribute.edges, attribute.edges[1:], strict=False))
    is_time = isinstance(attribute, Times)
    return SpanningDimension(name=attribute.name, codes=_different(codes), labels=labels, is_time=is_time), own


def _different(codes: tuple[str, ...]) -> tuple[str, ...]:
    """Codes of which no two are the same, as where both 1 and "1" are values."""
    if len(set(codes)) == len(codes):
        return codes
    return tuple(f"{place}:{code}" for place, code in enumerate(codes))


def _protected_table(document: StatedDocument, table: str | None) -> PublishedCube:
    from sudare.releases.kinds.tables.published_table import read_published_tables

    if "mesh_level" in document:
        raise InputError(texts.MERGED_MESHES)
    names = [str(one["name"]) for one in document["tables"]]
    number = _number_of_table(document.folder, names, table)
    published = read_published_tables(document.folder, document.values)
    chosen = published.system.tables[number]
    cells = chosen.cells.reshape(-1)
    shape = tuple(len(one) for one in chosen.dimensions)
    guarantee = tuple(_stated_words(document[key]) for key in ("protects", "keeps", "limits"))
    facts = (Fact("protection", texts.LABELS["protection"], Words.same(document["method"])),)
    return PublishedCube(
        head=_head(document, guarantee, facts),
        dimensions=tuple(
            SpanningDimension(
                name=one.name, codes=tuple(one.codes), labels=tuple(one.codes), parents=tuple(one.parents)
            )
            for one in chosen.dimensions
        ),
        value_name=str(document["value"]["name"]),
        decimals=published.decimals,
        places=tuple(np.asarray(one, dtype=np.int64) for one in np.unravel_index(np.arange(cells.size), shape)),
        values=np.where(published.hidden[cells], 0, published.values[cells]),
        hidden=published.hidden[cells],
    )


def _number_of_table(folder: Path, names: list[str], table: str | None) -> int:
    listed = ", ".join(f"'{name}'" for name in names)
    if len(names) == 1:
        _require_one(folder, table)
        return 0
    if table is None:
        raise InputError(texts.SEVERAL_TABLES.format(folder=folder, names=listed))
    if table not in names:
        raise InputError(texts.NO_TABLE.format(folder=folder, table=table, names=listed))
    return names.index(table)


def _records(document: StatedDocument) -> ExportableRows:
    """Title, columns and rows; nothing of the figures of a report that is for the holder of the records."""
    columns = tuple(str(name) for name in document["published"]["columns"])
    protects = {_stated_words(step["protects"]): None for step in document["steps"]}
    rows = _rows_of(document.listed_files()[0])
    if tuple(rows[0]) != columns:
        raise ValueError
    return ExportableRows(head=_head(document, tuple(protects)), columns=columns, rows=rows[1:])


def _rows_of(path: Path) -> list[list[str]]:
    if path.suffix == ".parquet":
        import pyarrow.parquet

        from sudare.io.records import read_records  # its columns as they print

        names = pyarrow.parquet.read_schema(path).names
        found = read_records(path, names)
        columns = [found[name].astype(str).tolist() for name in names]
        return [names, *(list(row) for row in zip(*columns, strict=True))]
    return list(csv.reader(io.StringIO(read_regular_file(path).decode(), newline="")))


def _stated_words(stated: Mapping[str, Any]) -> Words:
    return Words(str(stated["english"]), str(stated["japanese"]))
