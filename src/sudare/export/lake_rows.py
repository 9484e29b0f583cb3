"""From a release folder to the rows of a table in a lakehouse: Arrow batches of the published file, never all of it at once.

What has no Parquet file is small enough to be read first: protected tables, whose cells an optimizer chose one by one, records
and counts in CSV.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.errors import InputError
from sudare.export import export_words as texts
from sudare.export.description import ExportableRows, PublishedCube
from sudare.export.folders import describe_folder, require_unchanged
from sudare.io.writing import arrow_table
from sudare.releases.data.domains import domain_of_description
from sudare.releases.documents import StatedDocument
from sudare.releases.registry import find_kind_of_folder
from sudare.storage.guarded_json import read_json
from sudare.storage.hashes import hash_of_file
from sudare.storage.staging import document_in

if TYPE_CHECKING:
    from sudare.domain import Domain

__all__ = ["LakeRows", "one_file", "read_rows"]

ROWS_PER_BATCH = 1 << 18
MAX_DIGITS = 18
"""Of a published number: it is a whole number of 64 bits in its smallest unit."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LakeRows:
    """What a lakehouse gets of a release.

    Attributes:
        release: the SHA-256 of the release's document, which lists the hashes of all its files.
        table: which of several tables; None if there is one.
        title: as the plan has it.
        publisher: likewise.
        created: when it was published.
        schema: of the rows, as pyarrow has it.
        batches: gives the rows in Arrow batches; may be called again.
    """

    release: str
    table: str | None
    title: str
    publisher: str
    created: str
    schema: Any
    batches: Callable[[], Iterator[Any]]

    @property
    def identity(self) -> str:
        """The release, and the table of it: what is committed once."""
        return self.release if self.table is None else f"{self.release}/{self.table}"

    @property
    def properties(self) -> dict[str, str]:
        """What is kept with a commit."""
        return {
            "sudare.release": self.identity,
            "sudare.title": self.title,
            "sudare.publisher": self.publisher,
            "sudare.created": self.created,
        }

    def reader(self) -> Any:
        """The rows as a stream of pyarrow."""
        import pyarrow

        return pyarrow.RecordBatchReader.from_batches(self.schema, self.batches())


def read_rows(folder: Path, table: str | None = None) -> LakeRows:
    """The rows that a release folder publishes.

    Args:
        folder: of the release.
        table: which of several tables.

    Raises:
        InputError: if it is no release with a table or records, is damaged, or has no such table.
    """
    import pyarrow

    kind = find_kind_of_folder(folder)
    path = document_in(folder)
    try:
        values = read_json(path)
        if not isinstance(values, dict):
            raise TypeError
        document = StatedDocument(path, values)
        if document["format"] != kind.report_format:
            raise InputError(texts.NO_ROWS.format(document=path))
        require_unchanged(document)
        schema, batches = _rows_of(document, kind.name, table)
    except (OSError, LookupError, TypeError, ValueError, AttributeError, pyarrow.ArrowException) as failure:
        if isinstance(failure, InputError):
            raise
        raise InputError(texts.UNSOUND.format(document=path)) from None
    return LakeRows(
        release=hash_of_file(path),
        table=table,
        title=str(document.get("title") or ""),
        publisher=str(document.get("publisher") or ""),
        created=str(document.get("created") or ""),
        schema=schema,
        batches=batches,
    )


def _rows_of(document: StatedDocument, kind: str, table: str | None) -> tuple[Any, Callable[[], Iterator[Any]]]:
    if kind != "tables" and table is not None:
        raise InputError(texts.ONE_TABLE.format(folder=document.folder))
    if kind == "subtrees":
        return _parts(document)
    if kind != "tables":
        for file in document.listed_files():
            if file.suffix == ".parquet" and (file.stem == "table" or kind == "records"):
                return one_file(file)
    if kind == "counts":
        return _in_memory(_counts(document))
    publication = describe_folder(document.folder, table)
    return _in_memory(_records(publication) if isinstance(publication, ExportableRows) else _cells(publication))


def one_file(file: Path) -> tuple[Any, Callable[[], Iterator[Any]]]:
    """Schema and batches of a Parquet file, in types that lakehouses have."""
    import pyarrow.parquet

    schema = _storable(pyarrow.parquet.read_schema(file))

    def batches() -> Iterator[Any]:
        for batch in _batches_in(file):
            yield batch.cast(schema)

    return schema, batches


def _batches_in(file: Path, columns: list[str] | None = None) -> Iterator[Any]:
    """One group of rows after the other: asked for all of them, the reader runs ahead."""
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(file, pre_buffer=False) as opened:
        for group in range(opened.num_row_groups):
            yield from opened.iter_batches(ROWS_PER_BATCH, row_groups=[group], columns=columns)


def _storable(schema: Any) -> Any:
    """A schema in types that lakehouses have: whole numbers with a sign, times in microseconds."""
    import pyarrow

    fields = []
    for field in schema:
        kind = field.type
        if pyarrow.types.is_timestamp(kind):
            kind = pyarrow.timestamp("us", kind.tz)
        elif pyarrow.types.is_unsigned_integer(kind):
            kind = pyarrow.int64()
        elif pyarrow.types.is_dictionary(kind):
            kind = kind.value_type
        fields.append(pyarrow.field(field.name, kind, field.nullable))
    return pyarrow.schema(fields)


def _parts(document: StatedDocument) -> tuple[Any, Callable[[], Iterator[Any]]]:
    """A release of many files, whose cells have numbers: with the columns that these numbers stand for."""
    import numpy as np

    domain, count = domain_of_description(document["domain"], document.name), str(document["published"]["count"])

    def rows(keys: Any, counts: Any) -> Any:
        return arrow_table(domain, np.asarray(keys, dtype=np.uint64), {count: np.asarray(counts, dtype=np.int64)})

    def batches() -> Iterator[Any]:
        for file in document.listed_files():
            for batch in _batches_in(file, ["key", "count"]):
                yield from rows(batch.column("key"), batch.column("count")).to_batches()

    return rows([], []).schema, batches


def _in_memory(table: Any) -> tuple[Any, Callable[[], Iterator[Any]]]:
    def batches() -> Iterator[Any]:
        yield from table.to_batches(ROWS_PER_BATCH)

    return table.schema, batches


def _counts(document: StatedDocument) -> Any:
    from sudare.releases.kinds.counts.verification import read_published_table

    table = read_published_table(document.folder, document.values)
    domain: Domain = table.domain
    return arrow_table(domain, table.keys, {str(document["published"]["count"]): table.counts})


def _records(publication: ExportableRows) -> Any:
    import pyarrow

    columns = zip(*publication.rows, strict=True) if publication.rows else ((),) * len(publication.columns)
    arrays = [pyarrow.array(list(column), pyarrow.string()) for column in columns]
    return pyarrow.table(arrays, names=list(publication.columns))


def _cells(cube: PublishedCube) -> Any:
    """A row for each listed cell; a hidden one has no number."""
    import pyarrow

    codes = [
        pyarrow.array([one.codes[place] for place in along.tolist()], pyarrow.string())
        for one, along in zip(cube.dimensions, cube.places, strict=True)
    ]
    kind = pyarrow.decimal128(MAX_DIGITS, cube.decimals) if cube.decimals else pyarrow.int64()
    values = cube.values.tolist()
    numbers = [Decimal(value).scaleb(-cube.decimals) for value in values] if cube.decimals else values
    shown = pyarrow.array(numbers, kind, mask=cube.hidden)
    return pyarrow.table([*codes, shown], names=[*(one.name for one in cube.dimensions), cube.value_name])
