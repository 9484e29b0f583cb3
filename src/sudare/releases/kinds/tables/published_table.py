"""The published tables as files: written with hidden cells empty, and read again as an outsider reads them.

Everything that an outsider needs to know of their structure stands in ``release.json``: the trees of codes, and which
dimensions span which table.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.disclosure.structure import Dimension, Table, TableSystem
from sudare.errors import InputError, SudareError
from sudare.releases.kinds.tables.methods.registry import registered_cell_methods
from sudare.releases.kinds.tables.plain_values import MAX_UNITS, whole_number
from sudare.system.regular_files import read_regular_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Booleans = NDArray[np.bool_]

__all__ = [
    "DimensionRecord",
    "PublishedTables",
    "describe_dimension",
    "digits_needed_by",
    "read_published_tables",
    "show_number",
    "system_of_document",
    "table_text",
]

HIDDEN = "hidden"
MAX_DIGITS = 18


@dataclass(frozen=True, eq=False)
class PublishedTables:
    """What a public reader has: every shown value, and which cells are hidden.

    Attributes:
        system: the cells and their sums.
        values: as published, in units of ``10 ** -decimals``; 0 where hidden.
        hidden: which cells are not shown.
        decimals: digits after the point.
        is_finest: whether hidden values have no more digits than these. Of counts everybody knows it, of magnitudes the holder.
    """

    system: TableSystem
    values: Integers
    hidden: Booleans
    decimals: int
    is_finest: bool = False

    def in_units(self, decimals: int) -> PublishedTables:
        """The same in the units of the holder, which may be finer than what is shown.

        Raises:
            ValueError: if they are coarser, or too fine for these values.
        """
        unit = 10 ** whole_number(decimals - self.decimals)
        if int(np.abs(self.values).max(initial=0)) * unit > MAX_UNITS:
            raise ValueError("too many digits")
        return replace(self, values=self.values * unit, decimals=decimals, is_finest=True)


def show_number(value: int, decimals: int) -> str:
    """A whole number of units as people write it.

    Example:
        >>> show_number(1234, 2), show_number(7, 0)
        ('12.34', '7')
    """
    return f"{Decimal(value).scaleb(-decimals):.{decimals}f}"


def digits_needed_by(values: Integers, decimals: int, at_least: int = 0) -> int:
    """Digits after the point that some values need.

    What is published is shown with this many, whatever digits the hidden values have: else an end such as ``.00`` would tell that
    some of them are no whole numbers.

    Args:
        values: that are shown, in units of ``10 ** -decimals``.
        decimals: digits after the point of the units.
        at_least: digits that are shown in any case.

    Example:
        >>> digits_needed_by(np.array([1200, 350]), 2), digits_needed_by(np.array([1200, 300]), 2)
        (1, 0)
    """
    digits, rest = decimals, values
    while digits > at_least and not (rest % 10).any():
        digits, rest = digits - 1, rest // 10
    return digits


def table_text(table: Table, shown: Integers, hidden: Booleans, value_name: str, decimals: int, state: str) -> str:
    """One of the published tables: a row for each cell, its codes, its value and its status.

    Args:
        table: its dimensions and cells.
        shown: the value of every cell of the system.
        hidden: cells of the system that stay empty.
        value_name: of the column of values.
        decimals: digits after the point.
        state: of a cell that is shown.

    Example:
        >>> system = TableSystem.of_dimensions([Dimension.flat("area", ["a", "b"])])
        >>> hidden = np.array([False, True, True])
        >>> print(table_text(system.tables[0], np.array([12, 0, 0]), hidden, "sales", 0, "published"), end="")
        area,sales,status
        Total,12,published
        a,,hidden
        b,,hidden
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*(one.name for one in table.dimensions), value_name, "status"])
    numbers, gone = shown.tolist(), hidden.tolist()
    for key, cell in zip(np.ndindex(table.cells.shape), table.cells.reshape(-1).tolist(), strict=True):
        codes = [one.codes[place] for one, place in zip(table.dimensions, key, strict=True)]
        told = ["", HIDDEN] if gone[cell] else [show_number(numbers[cell], decimals), state]
        writer.writerow([*codes, *told])
    return stream.getvalue()


@dataclass(frozen=True, kw_only=True)
class DimensionRecord:
    """A tree of codes as a document has it.

    Attributes:
        name: of the dimension.
        codes: all of them, parents first.
        parents: the place of each code's parent.
    """

    name: str
    codes: tuple[str, ...]
    parents: tuple[int, ...]


def describe_dimension(dimension: Dimension) -> DimensionRecord:
    """A tree of codes as a document has it."""
    return DimensionRecord(name=dimension.name, codes=tuple(dimension.codes), parents=tuple(dimension.parents))


def system_of_document(document: Mapping[str, Any]) -> TableSystem:
    """The cells and sums that a report describes; cells have the numbers that they had when it was made.

    Raises:
        InputError: if the report does not describe any.
    """
    try:
        dimensions = {
            one["name"]: Dimension(one["name"], tuple(one["codes"]), tuple(one["parents"]))
            for one in document["dimensions"]
        }
        systems = [
            TableSystem.of_dimensions([dimensions[name] for name in table["dimensions"]])
            for table in document["tables"]
        ]
        return reduce(lambda one, other: one.linked_with(other), systems)
    except (KeyError, TypeError, ValueError, IndexError, SudareError):
        raise InputError(
            "The report does not describe the dimensions of its tables. It is damaged, or another one's.",
            "報告書に表の次元が正しく書かれていません。壊れているか、別のものです。",
        ) from None


def read_published_tables(folder: Path, document: Mapping[str, Any]) -> PublishedTables:
    """Read the tables of a folder as a public reader does.

    Raises:
        InputError: if a file is missing or is not the table that the report describes; names file and row.
    """
    system = system_of_document(document)
    try:
        decimals = whole_number(document["value"]["decimals"], 0, MAX_DIGITS)
        value_name, is_count = str(document["value"]["name"]), bool(document["value"]["is_count"])
        files = [Path(table["file"]).name for table in document["tables"]]
    except (KeyError, TypeError, ValueError):
        raise InputError("The report does not name its tables.", "報告書に表の名前がありません。") from None
    values = np.zeros(system.size, dtype=np.int64)
    hidden = np.zeros(system.size, dtype=np.bool_)
    seen = np.zeros(system.size, dtype=np.bool_)
    for name, table in zip(files, system.tables, strict=True):
        own_values, own_hidden = _read_file(folder / name, table, value_name, decimals)
        cells = table.cells.reshape(-1)
        again = seen[cells]
        differs = again & ((values[cells] != own_values) | (hidden[cells] != own_hidden))
        if differs.any():
            label = system.label(int(cells[np.flatnonzero(differs)[0]]))
            raise InputError(
                f"'{name}' shows the cell '{label}' differently from another table of the folder.",
                f"「{name}」のセル「{label}」が、同じフォルダの別の表と異なります。",
            )
        values[cells], hidden[cells], seen[cells] = own_values, own_hidden, True
    return PublishedTables(system, values, hidden, decimals, is_finest=is_count)


def _read_file(path: Path, table: Table, value_name: str, decimals: int) -> tuple[Integers, Booleans]:
    """Values and hidden cells of one table, in the order of its cells."""
    try:
        rows = list(csv.reader(io.StringIO(read_regular_file(path).decode(), newline="")))
    except (OSError, ValueError, csv.Error):  # a name with a NUL is no name of a file either
        raise InputError(
            f"'{path.name}' is missing or cannot be read.", f"「{path.name}」がないか、読めません。"
        ) from None
    header = [*(one.name for one in table.dimensions), value_name, "status"]
    if not rows or rows[0] != header:
        raise _wrong(path, 1, "is not the header that the report announces", "の見出しが報告書と異なります")
    shape = tuple(len(one) for one in table.dimensions)
    size = int(np.prod(shape))
    values, hidden = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.bool_)
    seen = np.zeros(size, dtype=np.bool_)
    states = {HIDDEN, *(method.state for method in registered_cell_methods())}
    for number, row in enumerate(rows[1:], start=2):
        place = _place(row, table.dimensions) if len(row) == len(header) else None
        if place is None or seen[place]:
            raise _wrong(
                path, number, "is not a cell of the table, or comes twice", "が表のセルでないか、重複しています"
            )
        seen[place] = True
        text, status = row[-2:]
        if (status == HIDDEN) != (not text) or status not in states:
            raise _wrong(path, number, "has a status that does not fit its value", "の状態と値が合いません")
        if text:
            number_read = _units(text, decimals)
            if number_read is None:
                raise _wrong(path, number, "has no number as its value", "の値が数ではありません")
            values[place] = number_read
        else:
            hidden[place] = True
    if not seen.all():
        raise _wrong(
            path, len(rows), "is the last one, and cells are missing", "が最後の行ですが、足りないセルがあります"
        )
    return values, hidden


def _place(row: Sequence[str], dimensions: Sequence[Dimension]) -> int | None:
    place = 0
    for code, dimension in zip(row, dimensions, strict=False):
        if code not in dimension.position:
            return None
        place = place * len(dimension) + dimension.position[code]
    return place


def _units(text: str, decimals: int) -> int | None:
    if len(text) > MAX_DIGITS + 2:
        return None
    try:
        number = Decimal(text).scaleb(decimals)
    except InvalidOperation:
        return None
    is_whole = number.is_finite() and number == number.to_integral_value() and abs(number) < 10**MAX_DIGITS
    return int(number) if is_whole else None


def _wrong(path: Path, line: int, english: str, japanese: str) -> InputError:
    return InputError(f"Line {line} of '{path.name}' {english}.", f"「{path.name}」の {line} 行目{japanese}。")
