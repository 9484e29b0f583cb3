"""Columns of the data as exact numbers and as codes; an error names the row, and never the value."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

import numpy as np

from sudare.errors import InputError
from sudare.microdata.records import CodedColumn, Records

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["digits_needed", "exact_numbers", "texts_without_gaps"]

MAX_DECIMALS = 9
MAX_NUMBER = 2**62


def texts_without_gaps(records: Records, name: str) -> NDArray[np.object_]:
    """The texts of a column that must not be empty anywhere.

    Raises:
        InputError: with the first row where it is.

    Example:
        >>> texts_without_gaps(Records.of_columns({"area": ["a", "b"]}), "area").tolist()
        ['a', 'b']
    """
    column = records.column(name)
    if None in column.labels or "" in column.labels:
        place = next(place for place, label in enumerate(column.labels) if not label)
        raise InputError(
            f"The column '{name}' is empty in row {column.first_row(place)}. Fill it in, with a code for missing values where "
            "nothing is known.",
            f"列「{name}」の {column.first_row(place)} 行目が空欄です。不明な場合は欠損を表すコードを入れてください。",
        )
    return column.texts()


def digits_needed(column: CodedColumn) -> int:
    """Digits after the point that a column needs; what is no number is found later.

    Example:
        >>> digits_needed(CodedColumn.of("sales", ["1.50", "2.25", "30"]))
        2
    """
    exponents = []
    for label in column.labels:
        try:
            exponent = Decimal((label or "0").strip()).normalize().as_tuple().exponent
        except InvalidOperation:
            continue
        exponents.append(-exponent if isinstance(exponent, int) else 0)
    return min(MAX_DECIMALS, max([0, *exponents]))


def exact_numbers(
    column: CodedColumn, decimals: int | None, *, empty: int | None = None
) -> tuple[NDArray[np.int64], int]:
    """A column as whole numbers of its smallest unit, exactly, and its digits after the point.

    Args:
        column: texts.
        decimals: digits after the point; None for as many as it needs.
        empty: what an empty field stands for; None refuses it.

    Raises:
        InputError: with the first row that is no such number.

    Example:
        >>> values, digits = exact_numbers(CodedColumn.of("sales", ["1.5", "2.25"]), None)
        >>> values.tolist(), digits
        ([150, 225], 2)
    """
    digits = digits_needed(column) if decimals is None else decimals
    found: list[int] = []
    for place, label in enumerate(column.labels):
        number = empty if label is None else _whole(label, digits)
        if number is None:
            raise InputError(
                f"The column '{column.name}' has something in row {column.first_row(place)} that is not a number with at most "
                f"{digits} decimals. Mend the row, or allow more decimals.",
                f"列「{column.name}」の {column.first_row(place)} 行目は小数点以下 {digits} 桁までの数ではありません。"
                "行を直すか、桁数を増やしてください。",
            )
        found.append(number)
    return np.array(found, dtype=np.int64)[column.codes], digits


def _whole(text: str, digits: int) -> int | None:
    try:
        number = Decimal(text.strip())
        if not number.is_finite() or number.adjusted() > 30:
            return None
        scaled = number.scaleb(digits)
    except InvalidOperation:
        return None
    is_whole = scaled == scaled.to_integral_value()
    return int(scaled) if is_whole and abs(scaled) < MAX_NUMBER else None
