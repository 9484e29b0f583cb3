"""How far records are from each other: shares of the attributes in which they differ, numbers by how much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.errors import Described, ParameterError
from sudare.parameters import exact_fraction

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["KeyColumn", "distances_by_part"]

ENTRIES_AT_ONCE = 4_000_000


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
        >>> from sudare.attacks.distances import KeyColumn
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
            part += weight * ((chosen != second) if scale is None else np.minimum(np.abs(chosen - second) / scale, 1.0))
        yield start, part


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
        weight = float(exact_fraction(column.weight, "weight", "KeyColumn", "a number >= 0"))
        if weight < 0:
            raise ParameterError("weight", "KeyColumn", "a number >= 0", column.weight)
        if column.scale is None:
            _, codes = np.unique(np.concatenate([first.astype(str), second.astype(str)]), return_inverse=True)
            pairs.append((codes[: first.size], codes[first.size :], None, weight))
            continue
        scale = float(exact_fraction(column.scale, "scale", "KeyColumn", "a number above 0, or None for categories"))
        if scale <= 0 or not all(np.issubdtype(side.dtype, np.number) for side in (first, second)):
            requirement = "a number above 0 for a column of numbers, or None for categories"
            raise ParameterError("scale", "KeyColumn", requirement, column.scale)
        pairs.append((first.astype(np.float64), second.astype(np.float64), scale, weight))
    return pairs, sizes.pop()
