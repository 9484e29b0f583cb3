"""What the columns of a file look like: their names, and for each one word of a closed list for the shape of its values.

The shape is that of the first rows. It tells of which sort the column is, as a data dictionary would, and nothing of who is in
it: no value, no smallest or largest one, no number of different ones leaves this module.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from sudare.bilingual import Words
from sudare.column_names import can_be_names
from sudare.domain.mesh import MESH_LEVELS, mesh_cells
from sudare.domain.times import DAY_AND_TIME
from sudare.errors import InputError, SudareError
from sudare.io import Source
from sudare.io.engine import identifier, open_engine, told
from sudare.io.formats.geotiff import require_rasters
from sudare.io.formats.text_files import AUTO, encoding_at_start
from sudare.io.relations import open_relation
from sudare.io.source import TEXT_FORMATS, files_and_format

__all__ = ["MAX_COLUMNS", "ROWS_LOOKED_AT", "ColumnShape", "SeenColumn", "SeenFile", "look_at_columns"]

ROWS_LOOKED_AT = 200
MAX_COLUMNS = 500
"""More columns than that are no table that a person lays out by hand."""

MESHES_BY_DIGITS = {
    level.digits: level.name
    for level in sorted(MESH_LEVELS.values(), key=lambda level: "x" not in level.name)
    if level.digits >= 8
}
"""Codes of fewer digits might be anything; of two levels with as many digits, the one that divides the others."""

NO_HEADER = Words(
    "The first line of '{file}' does not look like names of columns. Write a first line that names them, and try again.",
    "「{file}」の1行目が列名に見えません。1行目に列名を書いて、もう一度試してください。",
)
OTHER_SIGN = Words(
    "The columns of '{file}' are separated by '{sign}', not by commas. Save it as CSV with commas, or as Parquet.",
    "「{file}」の列の区切りは「{sign}」で、コンマではありません。コンマ区切りの CSV か Parquet で保存してください。",
)
OTHER_SIGNS = {";": ";", "\t": "Tab", "|": "|"}
TOO_WIDE = Words(
    "'{file}' has {columns:,} columns; at most {limit:,} are looked at. Write a plan by hand (`sudare init`), or keep the "
    "columns that are needed in a file of their own.",
    "「{file}」には {columns:,} 列あります。下書きで扱えるのは {limit:,} 列までです。`sudare init` で計画を書くか、"
    "必要な列だけのファイルを用意してください。",
)


class ColumnShape(StrEnum):
    """Of which sort the values of a column are."""

    EMPTY = "empty"
    MESH = "mesh"
    WHOLE = "whole"
    DECIMAL = "decimal"
    DAY = "day"
    MOMENT = "moment"
    YES_NO = "yes-no"
    TEXT = "text"


@dataclass(frozen=True, kw_only=True)
class SeenColumn:
    """A column, as a draft may know it.

    Attributes:
        name: of the column.
        shape: of its values.
        level: of mesh codes, the level that they have; empty otherwise.
    """

    name: str
    shape: ColumnShape
    level: str = ""


@dataclass(frozen=True, kw_only=True)
class SeenFile:
    """A file or several of one layout.

    Attributes:
        format: such as ``"csv"``; never ``"auto"``.
        files: how many there are.
        columns: in their order; none for formats whose columns are always the same.
    """

    format: str
    files: int
    columns: tuple[SeenColumn, ...]


def look_at_columns(source: Source) -> SeenFile:
    """The columns of a source with the shapes of their values.

    Raises:
        InputError: if the files are not there, damaged, of several formats, without a header, or too wide.
    """
    import duckdb

    files, form = files_and_format(source)
    if form == "geotiff":
        require_rasters(files)
    if form in ("e-stat", "geotiff"):
        return SeenFile(format=form, files=len(files), columns=())
    source = read_by_its_start(source, files, form)
    with open_engine() as connection:
        try:
            relation = open_relation(source, connection)
            names = list(relation.types)
            _require_names(names, files[0] if files else "")
            rows = _first_rows(connection, relation.rows(connection, names), names)
        except duckdb.Error as failure:
            is_query = source.query is not None
            raise told(failure, files, form, memory="1GB", encoding=source.encoding, query=is_query) from None
    columns = tuple(
        _seen(name, [row[place] for row in rows], str(relation.types[name])) for place, name in enumerate(names)
    )
    return SeenFile(format=form, files=len(files), columns=columns)


def read_by_its_start(source: Source, files: Sequence[str], form: str) -> Source:
    """A source of one text file in the encoding of its first lines: to tell that of all of them, a release reads it whole."""
    if form not in TEXT_FORMATS or len(files) != 1 or source.encoding.lower() != AUTO:
        return source
    return replace(source, encoding=encoding_at_start(files[0]))


def _require_names(names: Sequence[str], file: str) -> None:
    if len(names) > MAX_COLUMNS:
        raise InputError(TOO_WIDE.format(file=Path(file).name, columns=len(names), limit=MAX_COLUMNS))
    if len(names) == 1:
        for sign, shown in OTHER_SIGNS.items():
            if sign in names[0] and can_be_names(names[0].split(sign), file or None):
                raise InputError(OTHER_SIGN.format(file=Path(file).name, sign=shown))
    if not can_be_names(names, file or None):
        raise InputError(NO_HEADER.format(file=Path(file).name))


def _first_rows(connection: Any, rows: str, names: Sequence[str]) -> list[tuple[object, ...]]:
    listed = ", ".join(identifier(name) for name in names)
    found: list[tuple[object, ...]] = connection.execute(
        f"SELECT {listed} FROM ({rows}) LIMIT {ROWS_LOOKED_AT}"  # noqa: S608 - names are quoted
    ).fetchall()
    return found


def _seen(name: str, values: Sequence[object], kind: str) -> SeenColumn:
    texts = [str(value).strip() for value in values if value is not None and str(value).strip()]
    if not texts:
        return SeenColumn(name=name, shape=ColumnShape.EMPTY)
    level = _level_of(texts)
    if level:
        return SeenColumn(name=name, shape=ColumnShape.MESH, level=level)
    shape = next((shape for shape, fits in _SHAPES if all(fits(text) for text in texts)), ColumnShape.TEXT)
    if shape is ColumnShape.WHOLE and kind.upper() in ("DOUBLE", "FLOAT"):
        shape = ColumnShape.DECIMAL
    return SeenColumn(name=name, shape=shape)


def _level_of(texts: Sequence[str]) -> str:
    """The level of mesh codes; empty if one of the texts is none, or they differ in length."""
    lengths = {len(text) for text in texts}
    if len(lengths) != 1 or not all(text.isascii() and text.isdigit() for text in texts):
        return ""
    level = MESHES_BY_DIGITS.get(lengths.pop(), "")
    if not level:
        return ""
    try:
        mesh_cells([int(text) for text in texts], level)
    except SudareError:
        return ""
    return level


_DAY = re.compile(r"[0-9]{4}[-/][0-9]{1,2}[-/][0-9]{1,2}")
_MOMENT = re.compile(DAY_AND_TIME)
_WHOLE = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?")
_SHAPES: tuple[tuple[ColumnShape, Callable[[str], object]], ...] = (
    (ColumnShape.YES_NO, lambda text: text.lower() in ("true", "false", "yes", "no")),
    (ColumnShape.WHOLE, _WHOLE.fullmatch),
    (ColumnShape.DECIMAL, _DECIMAL.fullmatch),
    (ColumnShape.DAY, _DAY.fullmatch),
    (ColumnShape.MOMENT, _MOMENT.fullmatch),
)
