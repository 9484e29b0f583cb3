"""Mesh statistics as e-Stat hands them out: zipped text, two header rows, ``*`` where a value is suppressed.

| column | meaning |
|---|---|
| ``KEY_CODE`` | mesh code; a mesh without a row has nobody living in it |
| ``HTKSYORI`` | 0 as counted; 1 the attributes include those of suppressed neighbours; 2 the attributes are suppressed |
| ``HTKSAKI`` | where the attributes of a suppressed mesh are counted |
| ``GASSAN`` | the suppressed meshes whose attributes are counted here |
| ``T001141001`` ... | values; the first is the population, which is never suppressed |

A ``*`` is not a zero: these people are counted in the mesh that ``HTKSAKI`` names. So a ``*`` adds nothing where it stands,
and totals come out right, though a few people stand in the neighbouring mesh. A ``*`` in a row that is not marked as
suppressed is a mistake of the file, and refused.

Tables of the census of 2010 and before (such as T000608 and T000609) have no columns on suppression: they hold numbers of
people and households alone, which are not suppressed. A ``*`` there would say nothing of where its people are, and is refused.
Files come in cp932, and saved by other programs in UTF-8 or UTF-16.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
import zipfile
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain import CountTable, Domain, Mesh, MeshList, mesh_cells
from sudare.domain.allowed_values import CODE_OF_DIGITS
from sudare.domain.mesh import MeshLevel, other_level
from sudare.errors import InputError, ParameterError
from sudare.io import complaints
from sudare.io.columns import first_refused, places_of_count_columns
from sudare.io.engine import Progress, numpy_of
from sudare.io.formats.text_files import AUTO, open_member
from sudare.io.source import ESTAT_COLUMNS, Source, first_fields

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = ["estat_columns", "read_estat"]

ENCODING = "cp932"
SUPPRESSED, MARK = 2, "*"
TREATMENTS = Words("0, 1 or 2", "0、1、2 のいずれか")
"""What the column of treatments holds."""

MAX_FILE_BYTES = 1 << 30
"""Unpacked; all of Japan in one file is a tenth of it."""


@dataclass(frozen=True)
class _File:
    """An unpacked file: its header, the Japanese labels below it, and the rest."""

    path: str
    names: list[str]
    labels: list[str]
    body: bytes
    header_rows: int

    @property
    def has_marks(self) -> bool:
        """Whether it says of each row what was suppressed."""
        return ESTAT_COLUMNS[1] in self.names


@dataclass(frozen=True)
class _Part:
    """What is read of one file: mesh codes, and for each of them the counts of every wanted column."""

    codes: Integers
    counts: list[Integers]
    header_rows: int


def read_estat(
    source: Source, domain: Domain, files: Sequence[str], threads: int | None, progress: Progress | None
) -> CountTable:
    """The counts of one value column of e-Stat mesh files, or of several that an attribute stands in.

    Raises:
        InputError: if a file is damaged, a column is missing, a mesh comes twice or is outside the domain.
    """
    mesh, wanted = _what_is_read(source, domain)
    if source.where:
        raise InputError(
            "e-Stat mesh files have nothing to choose from with where; name the column under count.",
            "e-Stat のメッシュ統計に where は使えません。列は count で指定してください。",
        )
    code = source.column_of(mesh.name) if mesh.name in source.columns else ESTAT_COLUMNS[0]
    read = partial(_read_file, counts=[column for _, column in wanted], code=code, encoding=source.encoding)
    parts: list[_Part] = []
    workers = min(threads or os.cpu_count() or 1, len(files))
    with ThreadPoolExecutor(max_workers=workers) as pool:
        for number, part in enumerate(pool.map(read, files), start=1):
            parts.append(part)
            if progress is not None:
                progress(number / len(files), "reading")
    codes = np.concatenate([part.codes for part in parts])
    counts = [np.concatenate([part.counts[number] for part in parts]) for number in range(len(wanted))]
    if source.outside == "leave out":
        try:
            inside = mesh.contains(*mesh_cells(codes, mesh.level))
        except ParameterError as refusal:
            raise _find_outside(partial(mesh_cells, level=mesh.level), files, parts, refusal, mesh.level) from None
        codes, counts = codes[inside], [values[inside] for values in counts]
    ordered = np.sort(codes)
    try:
        places = mesh.places(codes)
    except ParameterError as refusal:
        raise _find_outside(mesh.places, files, parts, refusal, mesh.level) from None
    repeated = np.flatnonzero(ordered[1:] == ordered[:-1])
    if repeated.size:
        raise complaints.repeated_cell([ESTAT_COLUMNS[0]], [ordered[repeated[0]]])
    keys = [_keys_at(domain, mesh, places, place) for place, _ in wanted]
    try:
        return CountTable.from_cells(domain, np.concatenate(keys), np.concatenate(counts))
    except ParameterError:
        raise complaints.too_many(source.count or "population") from None


def _what_is_read(source: Source, domain: Domain) -> tuple[Mesh | MeshList, list[tuple[int, str | None]]]:
    """The mesh, and the column of counts for each place of the attribute that stands in several; else one column, or None."""
    meshes = [attribute for attribute in domain.attributes if isinstance(attribute, (Mesh, MeshList))]
    others = [attribute for attribute in domain.attributes if attribute not in meshes]
    spread = source.count_columns
    if len(meshes) != 1 or len(others) > 1 or (others and (spread is None or spread[0] != others[0].name)):
        other = others[0].name if others else "sex"
        raise InputError(
            "e-Stat mesh files are read into a domain of one attribute, a mesh; and one more that stands in several columns of "
            f'counts, such as columns = {{ {other} = {{ male = "T001141002", female = "T001141003" }} }} under [source].',
            "e-Stat のメッシュ統計は、メッシュ一つの定義域に読み込みます。もう一つの属性は、"
            f'[source] の columns = {{ {other} = {{ male = "T001141002", female = "T001141003" }} }} のように、'
            "人数の列を値ごとに指定したときだけ使えます。",
        )
    if not others:
        if spread is not None:
            raise complaints.missing_attribute(spread[0])
        return meshes[0], [(0, source.count)]
    return meshes[0], list(places_of_count_columns(others[0], spread[1] if spread is not None else {}))


def _keys_at(domain: Domain, mesh: Mesh | MeshList, places: tuple[Integers, ...], place: int) -> NDArray[np.uint64]:
    """The keys of cells with these places of the mesh and this place of the other attribute, if there is one."""
    along = [
        list(places) if attribute is mesh else [np.full(places[0].shape, place, dtype=np.int64)]
        for attribute in domain.attributes
    ]
    return domain.keys_at(*(axis for axes in along for axis in axes))


def estat_columns(file: str) -> tuple[str, ...]:
    """The columns of a file."""
    return tuple(name.strip() for name in first_fields(file, AUTO))


def _open(path: str, encoding: str) -> _File:
    try:
        with open_member(path) as stream:
            text = stream.read(MAX_FILE_BYTES + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError):
        raise complaints.damaged(path, "zip" if path.lower().endswith(".zip") else "text") from None
    if not text.strip():
        raise complaints.empty_file(path)
    if len(text) > MAX_FILE_BYTES:
        raise complaints.damaged(path, "e-Stat")
    try:
        if text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            text = text.decode("utf-16").encode()
        first, _, rest = text.partition(b"\n")
        second, _, body = rest.partition(b"\n")
        # The row of labels has no mesh code; a file that somebody saved without it is read all the same.
        has_labels = second.startswith((b",", b'"",'))
        names = complaints.header_of(first.decode("utf-8-sig").strip(), ",", path)
        labels = complaints.header_of(_decoded(second, encoding), ",", path) if has_labels else []
    except UnicodeDecodeError:
        raise complaints.wrong_encoding(path, ENCODING if encoding == AUTO else encoding) from None
    names = [name.strip() for name in names]
    if names[:1] != [ESTAT_COLUMNS[0]]:
        raise complaints.missing_column(ESTAT_COLUMNS[0], names, path, asked=ESTAT_COLUMNS)
    return _File(path, names, [label.strip() for label in labels], body if has_labels else rest, 1 + has_labels)


def _decoded(labels: bytes, encoding: str) -> str:
    """Japanese in UTF-8 is often also some text in cp932, but not the other way round."""
    if encoding != AUTO:
        return labels.decode(encoding)
    try:
        return labels.decode("utf-8")
    except UnicodeDecodeError:
        return labels.decode(ENCODING)


def _column_of(file: _File, count: str | None) -> str:
    """The value column by its name or its Japanese label; the first one if none is named."""
    values = [name for name in file.names if name not in ESTAT_COLUMNS]
    if count is None:
        if not values:
            raise complaints.missing_column("T...001", file.names, file.path, "population", asked=ESTAT_COLUMNS)
        return values[0]
    if count in file.names:
        return count
    if file.labels.count(count.strip()) == 1:
        return file.names[file.labels.index(count.strip())]
    raise complaints.missing_column(count, file.names, file.path, "count", asked=ESTAT_COLUMNS)


def _read_file(path: str, counts: Sequence[str | None], code: str, encoding: str) -> _Part:
    """Mesh codes and counts of a file; suppressed values count 0 here."""
    import pyarrow
    import pyarrow.csv

    file = _open(path, encoding)
    columns = [_column_of(file, count) for count in counts]
    if code not in file.names:
        raise complaints.missing_column(code, file.names, path, asked=ESTAT_COLUMNS)
    if not file.body.strip():
        nobody = np.empty(0, dtype=np.int64)
        return _Part(nobody, [nobody for _ in columns], file.header_rows)
    marks = [ESTAT_COLUMNS[1]] if file.has_marks else []
    wanted = list(dict.fromkeys([code, *marks, *columns]))
    convert = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(wanted, pyarrow.int64()), include_columns=wanted, null_values=[MARK]
    )
    try:
        table = pyarrow.csv.read_csv(
            pyarrow.BufferReader(file.body),
            # One thread a file: there are many files.
            pyarrow.csv.ReadOptions(column_names=file.names, use_threads=False, block_size=max(len(file.body), 1)),
            pyarrow.csv.ParseOptions(),
            convert,
        )
    except pyarrow.ArrowInvalid:
        raise _find_mistake(file, code, columns) from None
    table = table.combine_chunks()
    if any(table[name].null_count for name in (code, *marks)):
        raise _find_mistake(file, code, columns)
    treatment = numpy_of(table[marks[0]]) if marks else np.zeros(table.num_rows, dtype=np.int64)
    if ((treatment < 0) | (treatment > 2)).any():
        raise _find_mistake(file, code, columns)
    values: list[Integers] = []
    for column in columns:
        is_marked = numpy_of(table[column].is_null().cast(pyarrow.uint8())) == 1
        values.append(numpy_of(table[column].fill_null(0)))
        if (values[-1] < 0).any() or (is_marked & (treatment != SUPPRESSED)).any():
            raise _find_mistake(file, code, columns)
    return _Part(numpy_of(table[code]), values, file.header_rows)


def _rows_of(file: _File) -> csv.DictReader[str]:
    text = io.TextIOWrapper(io.BytesIO(file.body), encoding=ENCODING, errors="replace", newline="")
    return csv.DictReader(text, fieldnames=file.names, restkey="")


def _find_mistake(file: _File, code: str, columns: Sequence[str]) -> InputError:
    """Read slowly what could not be read fast, and say which row is wrong."""
    for number, row in enumerate(_rows_of(file), start=file.header_rows + 1):
        spot = complaints.Spot(file.path, number)
        if "" in row or None in row.values():
            return complaints.wrong_fields(spot)
        fields = {name: str(value).strip() for name, value in row.items()}
        if not fields[code].isdecimal():
            return complaints.wrong_value(code, CODE_OF_DIGITS, spot, fields[code])
        treatment = fields.get(ESTAT_COLUMNS[1], "0")
        if treatment not in ("0", "1", "2"):
            return complaints.wrong_value(ESTAT_COLUMNS[1], TREATMENTS, spot, treatment)
        for column in columns:
            mistake = _mistake_in(fields[column], column, treatment, spot, file.has_marks)
            if mistake is not None:
                return mistake
    return complaints.damaged(file.path, "e-Stat")


def _mistake_in(field: str, column: str, treatment: str, spot: complaints.Spot, has_marks: bool) -> InputError | None:
    """What is wrong with a field of counts."""
    if field == MARK and not has_marks:
        return InputError(
            f"The column {column!r} has a * in {spot.english}, and no column {ESTAT_COLUMNS[1]} tells where "
            f"these people are counted. Take a column that is not suppressed, such as the population; do not turn * into 0.",
            f"列 {column!r} に * がありますが ({spot.japanese})、このファイルには {ESTAT_COLUMNS[1]} の列がなく、合算先が"
            f"分かりません。人口総数のような秘匿のない列を使ってください。* を 0 に置き換えないでください。",
        )
    if field == MARK and treatment != str(SUPPRESSED):
        return InputError(
            f"The column {column!r} has a * in {spot.english}, but {ESTAT_COLUMNS[1]} does not mark the row as "
            f"suppressed (2). Download the file again; do not turn * into 0.",
            f"列 {column!r} に * がありますが ({spot.japanese})、{ESTAT_COLUMNS[1]} が 2 (秘匿) ではありません。"
            f"ダウンロードし直してください。* を 0 に置き換えないでください。",
        )
    if field == "":
        return complaints.missing_value(column, spot)
    if field != MARK and not (field.isascii() and field.isdecimal()):
        return complaints.wrong_count(column, spot)
    return None


def _find_outside(
    places: Callable[[Any], Any],
    files: Sequence[str],
    parts: Sequence[_Part],
    refusal: ParameterError,
    level: str | MeshLevel,
) -> InputError:
    """The file and row of the first code that is no code, or not in the window."""
    for path, part in zip(files, parts, strict=True):
        try:
            places(part.codes)
        except ParameterError:
            position = first_refused(part.codes, places)
            spot = complaints.Spot(path, position + 1 + part.header_rows)
            code = int(part.codes[position])
            hint = other_level(code, level)
            return complaints.wrong_value(ESTAT_COLUMNS[0], refusal.requirement_words, spot, code, hint)
    return complaints.damaged(files[0], "e-Stat")
