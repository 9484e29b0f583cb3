"""Columns of decimal numbers as whole numbers, without loss: 12.50 and 3 become 1250 and 300 with two decimals.

Sums and means are then exact, and noise is drawn on whole numbers of the last digit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.errors import InputError
from sudare.microdata.records import CodedColumn

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["NumberColumn", "decimal_text", "read_number_column"]

MAX_UNITS = 1 << 52
"""Every whole number up to here is a double, too."""
MAX_DECIMALS = 15
_NUMBER = re.compile(r"([+-]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?")


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """A column of numbers, in units of the last decimal.

    Args:
        name: of the column.
        units: the numbers times 10**decimals; 0 where a value is missing.
        is_missing: where there is no value.
        decimals: how many digits stand behind the point at most.
    """

    name: str
    units: NDArray[np.int64]
    is_missing: NDArray[np.bool_]
    decimals: int

    def to_column(self, units: NDArray[np.int64]) -> CodedColumn:
        """Other numbers of the same kind as a column of texts; what was missing stays missing."""
        different, codes = np.unique(units, return_inverse=True)
        labels: list[str | None] = [decimal_text(value, self.decimals) for value in different.tolist()]
        labels.append(None)
        places = np.where(self.is_missing, len(labels) - 1, codes.reshape(-1))
        return CodedColumn.of_codes(self.name, places, labels)


def read_number_column(column: CodedColumn, *, with_missing: bool = False) -> NumberColumn:
    """The numbers of a column.

    Args:
        column: with texts such as 12, -3.50 or .5; no exponents, no separators of thousands.
        with_missing: whether missing values are taken.

    Raises:
        InputError: names the column and the first row that is not such a number.

    Example:
        >>> from sudare.microdata.perturb.number_columns import read_number_column
        >>> from sudare.microdata.records import CodedColumn
        >>> numbers = read_number_column(CodedColumn.of("wage", ["12.50", "3"]))
        >>> numbers.units.tolist(), numbers.decimals
        ([1250, 300], 2)
    """
    matches = [None if label is None else _NUMBER.fullmatch(label.strip()) for label in column.labels]
    for place, (label, match) in enumerate(zip(column.labels, matches, strict=True)):
        if match is None and not (label is None and with_missing):
            raise _no_number(column, place, label is None)
    decimals = max((len(match.group(3) or "") for match in matches if match), default=0)
    values = [0 if match is None else _units(match, decimals) for match in matches]
    for place, value in enumerate(values):
        if decimals > MAX_DECIMALS or abs(value) > MAX_UNITS:
            row = column.first_row(place)
            raise InputError(
                f"The column {column.name!r} has a number of more than 15 digits (see row {row} of the data). Round it first.",
                f"列 {column.name!r} に 15 桁を超える数値があります (データ {row} 行目)。先に丸めてください。",
            )
    missing = np.array([label is None for label in column.labels], dtype=np.bool_)
    if not column.labels:
        return NumberColumn(column.name, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.bool_), 0)
    return NumberColumn(column.name, np.array(values, dtype=np.int64)[column.codes], missing[column.codes], decimals)


def _units(match: re.Match[str], decimals: int) -> int:
    sign, whole, behind = match.groups(default="")
    return int(f"{sign}{whole}{behind:0<{decimals}}") if decimals else int(sign + whole)


def _no_number(column: CodedColumn, place: int, is_missing: bool) -> InputError:
    row = column.first_row(place)
    if is_missing:
        return InputError(
            f"The column {column.name!r} has no value in row {row} of the data, and a number is needed. Fill it in, or leave "
            "the row out.",
            f"列 {column.name!r} のデータ {row} 行目に値がありません。数値が必要です。値を入れるか、行を除いてください。",
        )
    return InputError(
        f"The column {column.name!r} has no plain number in row {row} of the data. Write numbers like 12 or -3.5.",
        f"列 {column.name!r} のデータ {row} 行目が数値ではありません。12 や -3.5 のように書いてください。",
    )


def decimal_text(units: int, decimals: int) -> str:
    """A whole number of units of the last decimal as people write it.

    Example:
        >>> decimal_text(-1250, 2), decimal_text(7, 0), decimal_text(5, 3)
        ('-12.50', '7', '0.005')
    """
    if decimals == 0:
        return str(units)
    whole, rest = divmod(abs(units), 10**decimals)
    return f"{'-' if units < 0 else ''}{whole}.{rest:0{decimals}d}"
