"""Excel workbooks (.xlsx): the first sheet, its first row names the columns.

Cells come as text, as those of a CSV file do: what they mean is told by the plan, never by other rows. A whole number is written
without a point, a day as 2026-11-16, a moment as 2026-11-16 08:10:00. What a formula gave when the book was saved is its value.
Rows without any value are no rows: a sheet often ends with some. The package openpyxl reads the book, row by row.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, time
from pathlib import Path
from typing import Any

from sudare.bilingual import Words
from sudare.errors import InputError
from sudare.extras import SPREADSHEETS, optional_module
from sudare.io import complaints

__all__ = ["rows_of_workbook", "workbook_columns"]

KIND = "Excel"
MAX_UNPACKED = 1 << 31
"""Bytes that the parts of a book may have when they are unpacked; a sheet of a million rows has a tenth of that."""
MAX_STRINGS = 1 << 29
"""Bytes of a part that is read whole, as that of texts is; sheets are read row by row."""
MAX_PACKED, LARGE = 250, 1 << 24
"""How many times a part of more than so many bytes may be smaller when packed: even a sheet of equal rows stays far below."""

NO_HEADER = Words(
    "The first row of the first sheet of '{file}' is empty. Write the names of the columns there.",
    "「{file}」の最初のシートの1行目が空です。列名を書いてください。",
)
TOO_LARGE = Words(
    "'{file}' holds more than 2 GB when it is unpacked, which is no sheet that a person made. Save the table as CSV or Parquet.",
    "「{file}」は展開すると 2 GB を超えます。表を CSV または Parquet で保存してください。",
)
BOMB = Words(
    "'{file}' unpacks to far more than a sheet can hold, which no spreadsheet program writes. Save the table as CSV or Parquet.",
    "「{file}」は展開すると表計算ソフトではありえない大きさになります。表を CSV または Parquet で保存してください。",
)


def workbook_columns(file: str) -> tuple[str, ...]:
    """The names in the first row of the first sheet, up to the last one.

    Raises:
        InputError: if it is no workbook, or has no such row.
    """
    with _first_sheet(file) as rows:
        names = [as_text(value) or "" for value in next(rows, ())]
    while names and not names[-1]:
        names.pop()
    if not names:
        raise InputError(NO_HEADER.format(file=Path(file).name))
    return tuple(names)


def rows_of_workbook(file: str, needed: Sequence[str]) -> Iterator[tuple[str | None, ...]]:
    """The needed columns of each row below the names, as text.

    Raises:
        InputError: if the book is damaged.
    """
    names = workbook_columns(file)
    places = [names.index(name) for name in needed]
    with _first_sheet(file) as rows:
        next(rows, None)
        for row in rows:
            if any(value is not None for value in row):
                yield tuple(as_text(row[place]) if place < len(row) else None for place in places)


def as_text(value: object) -> str | None:
    """A cell as a CSV file would have it.

    Example:
        >>> from datetime import date
        >>> as_text(34.0), as_text(date(2026, 11, 16)), as_text(True), as_text("")
        ('34', '2026-11-16', 'true', None)
    """
    if isinstance(value, datetime):
        return str(value.date()) if value.time() == time() else value.isoformat(" ")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return None if value is None or value == "" else str(value)


@contextmanager
def _first_sheet(file: str) -> Iterator[Iterator[tuple[Any, ...]]]:
    openpyxl = optional_module("openpyxl", "exchange", SPREADSHEETS)
    _require_sheet(file)
    try:
        book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
    except Exception:
        raise complaints.damaged(file, KIND) from None
    try:
        if not book.worksheets:
            raise complaints.damaged(file, KIND)
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # what a book states of its size may be wrong
        yield _guarded(sheet.iter_rows(values_only=True), file)
    finally:
        book.close()


def _guarded(rows: Iterator[tuple[Any, ...]], file: str) -> Iterator[tuple[Any, ...]]:
    """The rows; whatever the package says of a damaged one may quote it."""
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except Exception:
            raise complaints.damaged(file, KIND) from None
        yield row


def _require_sheet(file: str) -> None:
    """Refuse what is no zipped file, or unpacks to more than any sheet."""
    try:
        with zipfile.ZipFile(file) as packed:
            parts = packed.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise complaints.damaged(file, KIND) from None
    if sum(part.file_size for part in parts) > MAX_UNPACKED:
        raise InputError(TOO_LARGE.format(file=Path(file).name))
    if any(_is_bomb(part) for part in parts):
        raise InputError(BOMB.format(file=Path(file).name))


def _is_bomb(part: zipfile.ZipInfo) -> bool:
    """Whether a part swells as no sheet does; what it states of its size is all that is unpacked of it."""
    if part.file_size <= LARGE:
        return False
    is_streamed = part.filename.startswith("xl/worksheets/")
    return part.file_size > MAX_PACKED * part.compress_size or (not is_streamed and part.file_size > MAX_STRINGS)
