"""Formats that are read row by row, all columns as text, by a reader of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sudare.io.formats import geopackages, workbooks

__all__ = ["ROW_FORMATS", "RowFormat"]


@dataclass(frozen=True, kw_only=True)
class RowFormat:
    """How files of a format are read.

    Attributes:
        kind: what people call it.
        columns: the names of a file's columns, without its rows.
        rows: the needed columns of each row.
        rows_before: rows of a file before the first one with data, as people count them.
    """

    kind: str
    columns: Callable[[str], tuple[str, ...]]
    rows: Callable[[str, Sequence[str]], Iterator[tuple[str | None, ...]]]
    rows_before: int


ROW_FORMATS = {
    "xlsx": RowFormat(
        kind=workbooks.KIND, columns=workbooks.workbook_columns, rows=workbooks.rows_of_workbook, rows_before=1
    ),
    "gpkg": RowFormat(
        kind=geopackages.KIND,
        columns=geopackages.geopackage_columns,
        rows=geopackages.rows_of_geopackage,
        rows_before=0,
    ),
}
