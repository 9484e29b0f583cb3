"""How far records are from each other: shares of the attributes in which they differ, numbers by how much.

A missing number (NaN) is like another missing one, and as far from every number as a different category. Categories agree if
they are the same text or the same number: 34, 34.0 and "34" are one age.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.errors import Described, ParameterError
from sudare.parameters import exact_fraction

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["KeyColumn", "codes_of_values", "distances_by_part"]

ENTRIES_AT_ONCE = 4_000_000
PLAIN_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
"""Texts that are numbers to every reader. "007" is one only beside numbers: among texts it is a code."""


@dataclass(frozen=True, eq=False)
class KeyColumn:
    """An attribute that two files share.

    Args:
        name: of the attribute.
        first: its values in the first file.
        second: its values in the second file.
        scale: for a number, the difference that counts as much as a different category; None for categories.
        weight: how much the attribute counts.

    Example:
        >>> from sudare.attacks.records.distances import KeyColumn
        >>> sex = KeyColumn("sex", ["F", "M"], ["M", "M", "F"])
        >>> age = KeyColumn("age", [34, 51], [50, 20, 35], scale=10)
    """

    name: str
    first: ArrayLike
    second: ArrayLike
    scale: float | None = None
    weight: float = 1.0


def distances_by_part(columns: Sequence[KeyColumn], function: str) -> Iterator[tuple[int, Floats]]:
    """Distances of every record of the first file from every record of the second, some records of the first at a time.

    Args:
        columns: the attributes.
        function: who asks, for error messages.

    Yields:
        The position of the first record of a part, and a row of distances for each record of the part.
    """
    pairs, sizes = _read(columns, function)
    step = max(1, ENTRIES_AT_ONCE // max(1, sizes[1]))
    for start in range(0, sizes[0], step):
        part = np.zeros((min(step, sizes[0] - start), sizes[1]))
        for first, second, scale, weight in pairs:
            chosen = first[start : start + step, None]
            part += weight * ((chosen != second) if scale is None else _shares(chosen, second, scale))
        yield start, part


def codes_of_values(*arrays: NDArray[Any]) -> list[NDArray[np.int64]]:
    """Whole numbers for the values of several arrays: equal ones for equal values, whatever types they have.

    Args:
        arrays: of one dimension each.
    """
    beside_numbers = any(array.dtype.kind in "iuf" for array in arrays)
    labels, places = [], []
    for array in arrays:
        different, inverse = np.unique(
            array.astype(str) if array.dtype.kind not in "iuf" else array, return_inverse=True
        )
        labels.append(np.array([_label(value, beside_numbers) for value in different.tolist()], dtype=np.str_))
        places.append(inverse.ravel())
    _, codes = np.unique(np.concatenate(labels), return_inverse=True)
    ends = np.cumsum([part.size for part in labels])
    return [
        np.asarray(codes[end - part.size : end][inverse], dtype=np.int64)
        for part, inverse, end in zip(labels, places, ends.tolist(), strict=True)
    ]


def _label(value: Any, beside_numbers: bool) -> str:
    """One text for a value: numbers without superfluous zeros."""
    text = str(value)
    if isinstance(value, str) and not beside_numbers and not PLAIN_NUMBER.fullmatch(text):
        return text
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return text
    if not number.is_finite() or abs(number.adjusted()) > 400 or len(number.as_tuple().digits) > 28:
        return text  # more digits than decimals keep: a code rather than a number
    return f"{number.normalize() + 0:f}"


def _shares(first: Floats, second: Floats, scale: float) -> Floats:
    """By which share of the scale numbers differ, at most 1."""
    with np.errstate(invalid="ignore"):
        shares = np.minimum(np.abs(first - second) / scale, 1.0)
    if np.isnan(shares).any():  # a missing number, or the same infinite one on both sides
        alike = (first == second) | (np.isnan(first) & np.isnan(second))
        shares = np.where(np.isnan(shares), np.where(alike, 0.0, 1.0), shares)
    return shares


def _read(
    columns: Sequence[KeyColumn], function: str
) -> tuple[list[tuple[NDArray[Any], NDArray[Any], float | None, float]], tuple[int, int]]:
    if not columns:
        raise ParameterError("columns", function, "at least one attribute that both files share", Described("none"))
    pairs: list[tuple[NDArray[Any], NDArray[Any], float | None, float]] = []
    sizes = {(len(np.asarray(column.first)), len(np.asarray(column.second))) for column in columns}
    if len(sizes) != 1:
        raise ParameterError("columns", function, "as long as each other in each file", Described("others"))
    for column in columns:
        first, second = np.asarray(column.first), np.asarray(column.second)
        if first.ndim != 1 or second.ndim != 1:
            raise ParameterError("columns", function, "of one dimension", Described(f"'{column.name}'"))
        weight = float(exact_fraction(column.weight, "weight", "KeyColumn", Words("a number >= 0", "0 以上の数")))
        if weight < 0:
            raise ParameterError("weight", "KeyColumn", Words("a number >= 0", "0 以上の数"), column.weight)
        if column.scale is None:
            codes = codes_of_values(first, second)
            pairs.append((codes[0], codes[1], None, weight))
            continue
        scale = float(exact_fraction(column.scale, "scale", "KeyColumn", "a number above 0, or None for categories"))
        if scale <= 0 or not all(np.issubdtype(side.dtype, np.number) for side in (first, second)):
            requirement = "a number above 0 for a column of numbers, or None for categories"
            raise ParameterError("scale", "KeyColumn", requirement, column.scale)
        pairs.append((first.astype(np.float64), second.astype(np.float64), scale, weight))
    return pairs, sizes.pop()
