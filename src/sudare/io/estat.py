"""Mesh statistics as e-Stat hands them out: zipped cp932 text, two header rows, ``*`` where a value is suppressed.

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
"""

from __future__ import annotations

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

from sudare.domain import CountTable, Domain, Mesh, mesh_cells
from sudare.errors import InputError, ParameterError
from sudare.io import complaints
from sudare.io.columns import first_refused, within_window
from sudare.io.engine import Progress, numpy_of
from sudare.io.source import ESTAT_COLUMNS, Source, first_fields, open_member

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = ["estat_columns", "read_estat"]

ENCODING = "cp932"
SUPPRESSED, MARK = 2, "*"
LARGEST_FILE = 1 << 30
"""Unpacked; all of Japan in one file is a tenth of it."""


@dataclass(frozen=True)
class _File:
    """An unpacked file: its header, the Japanese labels below it, and the rest."""

    path: str
    names: list[str]
    labels: list[str]
    body: bytes
    header_rows: int


def read_estat(
    source: Source, domain: Domain, files: Sequence[str], threads: int | None, progress: Progress | None
) -> CountTable:
    """The counts of one value column of e-Stat mesh files.

    Raises:
        InputError: if a file is damaged, a column is missing, a mesh comes twice or is outside the domain.
    """
    if len(domain.attributes) != 1 or not isinstance(domain.attributes[0], Mesh):
        raise InputError(
            "e-Stat mesh files are read into a domain of one attribute, a mesh; the plan has others.",
            "e-Stat のメッシュ統計は、メッシュ一つだけの定義域に読み込みます。計画に他の属性があります。",
        )
    if source.where:
        raise InputError(
            "e-Stat mesh files have nothing to choose from with where; name the column under count.",
            "e-Stat のメッシュ統計に where は使えません。列は count で指定してください。",
        )
    mesh = domain.attributes[0]
    read = partial(_read_file, count=source.count, code=source.columns.get(mesh.name, ESTAT_COLUMNS[0]))
    parts: list[tuple[Integers, Integers]] = []
    workers = min(threads or os.cpu_count() or 1, len(files))
    with ThreadPoolExecutor(max_workers=workers) as pool:
        for number, part in enumerate(pool.map(read, files), start=1):
            parts.append(part)
            if progress is not None:
                progress(number / len(files), "reading")
    codes = np.concatenate([part[0] for part in parts])
    counts = np.concatenate([part[1] for part in parts])
    if source.outside == "leave out":
        try:
            inside = within_window(mesh, *mesh_cells(codes, mesh.level))
        except ParameterError as refusal:
            raise _find_outside(partial(mesh_cells, level=mesh.level), files, parts, refusal) from None
        codes, counts = codes[inside], counts[inside]
    try:
        keys = domain.keys_of({mesh.name: codes})
    except ParameterError as refusal:
        raise _find_outside(mesh.places, files, parts, refusal) from None
    ordered = np.sort(keys)
    repeated = np.flatnonzero(ordered[1:] == ordered[:-1])
    if repeated.size:
        code = domain.columns_of(ordered[repeated[:1]])[mesh.name][0]
        raise complaints.repeated_cell([ESTAT_COLUMNS[0]], [code])
    try:
        return CountTable.from_cells(domain, keys, counts)
    except ParameterError:
        raise complaints.too_many(source.count or "population") from None


def estat_columns(file: str) -> tuple[str, ...]:
    """The columns of a file."""
    return tuple(name.strip() for name in first_fields(file, ENCODING))


def _open(path: str) -> _File:
    try:
        with open_member(path) as stream:
            text = stream.read(LARGEST_FILE + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError):
        raise complaints.damaged(path, "zip" if path.lower().endswith(".zip") else "text") from None
    if not text.strip():
        raise complaints.empty_file(path)
    if len(text) > LARGEST_FILE:
        raise complaints.damaged(path, "e-Stat")
    first, _, rest = text.partition(b"\n")
    second, _, body = rest.partition(b"\n")
    # The row of labels has no mesh code; a file that somebody saved without it, or in UTF-8, is read all the same.
    has_labels = second.startswith((b",", b'"",'))
    try:
        names = [name.strip() for name in first.decode("utf-8-sig").strip().split(",")]
        labels = next(csv.reader([_decoded(second)]), []) if has_labels else []
    except UnicodeDecodeError:
        raise complaints.wrong_encoding(path, ENCODING) from None
    if tuple(names[:2]) != ESTAT_COLUMNS[:2]:
        raise complaints.missing_column(next(n for n in ESTAT_COLUMNS if n not in names[:2]), names, path)
    return _File(path, names, [label.strip() for label in labels], body if has_labels else rest, 1 + has_labels)


def _decoded(labels: bytes) -> str:
    try:
        return labels.decode(ENCODING)
    except UnicodeDecodeError:
        return labels.decode("utf-8")


def _column_of(file: _File, count: str | None) -> str:
    """The value column by its name or its Japanese label; the first one if none is named."""
    values = [name for name in file.names if name not in ESTAT_COLUMNS]
    if count is None:
        if not values:
            raise complaints.missing_column("T...001", file.names, file.path, "population")
        return values[0]
    if count in file.names:
        return count
    if file.labels.count(count.strip()) == 1:
        return file.names[file.labels.index(count.strip())]
    raise complaints.missing_column(count, file.names, file.path, "count")


def _read_file(path: str, count: str | None, code: str) -> tuple[Integers, Integers]:
    """Mesh codes and counts of a file; suppressed values count 0 here."""
    import pyarrow
    import pyarrow.csv

    file = _open(path)
    column = _column_of(file, count)
    for name in (code, ESTAT_COLUMNS[1]):
        if name not in file.names:
            raise complaints.missing_column(name, file.names, path)
    if not file.body.strip():
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    wanted = [code, ESTAT_COLUMNS[1], column]
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
        raise _find_mistake(file, code, column) from None
    table = table.combine_chunks()
    if table[code].null_count or table[ESTAT_COLUMNS[1]].null_count:
        raise _find_mistake(file, code, column)
    marks = numpy_of(table[column].is_null().cast(pyarrow.uint8())) == 1
    counts: Integers = numpy_of(table[column].fill_null(0))
    treatment: Integers = numpy_of(table[ESTAT_COLUMNS[1]])
    if (counts < 0).any() or (marks & (treatment != SUPPRESSED)).any() or ((treatment < 0) | (treatment > 2)).any():
        raise _find_mistake(file, code, column)
    return numpy_of(table[code]), counts


def _rows_of(file: _File) -> csv.DictReader[str]:
    text = io.TextIOWrapper(io.BytesIO(file.body), encoding=ENCODING, errors="replace", newline="")
    return csv.DictReader(text, fieldnames=file.names, restkey="")


def _find_mistake(file: _File, code: str, column: str) -> InputError:
    """Read slowly what could not be read fast, and say which row is wrong."""
    for number, row in enumerate(_rows_of(file), start=file.header_rows + 1):
        spot = complaints.Spot(file.path, number)
        if "" in row or None in row.values():
            return complaints.wrong_fields(spot)
        fields: dict[str, Any] = {name: str(value).strip() for name, value in row.items()}
        if not fields[code].isdecimal():
            return complaints.wrong_value(code, "a mesh code of digits", spot, fields[code])
        if fields[ESTAT_COLUMNS[1]] not in ("0", "1", "2"):
            return complaints.wrong_value(ESTAT_COLUMNS[1], "0, 1 or 2", spot, fields[ESTAT_COLUMNS[1]])
        if fields[column] == MARK and fields[ESTAT_COLUMNS[1]] != str(SUPPRESSED):
            return InputError(
                f"The column {column!r} has a * in {spot.english}, but {ESTAT_COLUMNS[1]} does not mark the row as "
                f"suppressed (2). Download the file again; do not turn * into 0.",
                f"列 {column!r} に * がありますが ({spot.japanese})、{ESTAT_COLUMNS[1]} が 2 (秘匿) ではありません。"
                f"ダウンロードし直してください。* を 0 に置き換えないでください。",
            )
        if fields[column] == "":
            return complaints.missing_value(column, spot)
        if fields[column] != MARK and not (fields[column].isascii() and fields[column].isdecimal()):
            return complaints.wrong_count(column, spot)
    return complaints.damaged(file.path, "e-Stat")


def _find_outside(
    places: Callable[[Any], Any],
    files: Sequence[str],
    parts: Sequence[tuple[Integers, Integers]],
    refusal: ParameterError,
) -> InputError:
    """The file and row of the first code that is no code, or not in the window."""
    for path, (codes, _) in zip(files, parts, strict=True):
        try:
            places(codes)
        except ParameterError:
            position = first_refused(codes, places)
            spot = complaints.Spot(path, position + 1 + _open(path).header_rows)
            return complaints.wrong_value(ESTAT_COLUMNS[0], refusal.requirement, spot, int(codes[position]))
    return complaints.damaged(files[0], "e-Stat")
