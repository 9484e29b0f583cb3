"""Errors of areas: aligned squares, or boxes with as many axes as the table has, of growing sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.border.frames import RowTuple
from sudare.errors import Described, ParameterError
from sudare.evaluate.pairs import Pair, read_pair, summary
from sudare.parameters import exact_integer, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Keys = NDArray[np.uint64]
    Values = NDArray[np.float64]

__all__ = ["AreaError", "areas_of", "error_by_area", "read_sides"]

DENSE_SHARE = 8
"""Areas are counted in an array of all of them only if they are at most this many times the cells with an error."""


@dataclass(frozen=True)
class AreaError:
    """The errors of all areas of one size.

    Attributes:
        side: places of an area along each axis; areas at the end of an axis may have fewer.
        areas: how many areas there are, the empty ones too.
        rmse: the root of the mean squared error.
        mean_absolute: the mean absolute error.
        mean_error: the mean error, published minus true.
    """

    side: int
    areas: int
    rmse: float
    mean_absolute: float
    mean_error: float


def error_by_area(true: Any, published: Any, sides: Sequence[int] | None = None) -> RowTuple[AreaError]:
    """The errors of aligned areas of several sides, over all areas of the domain.

    **Not private**: see `sudare.evaluate`.

    Args:
        true: the true table.
        published: the published table, over the same cells.
        sides: lengths of an area along every axis; 1, 2, 4, ..., 256 if left out, as far as the longest axis goes.

    Raises:
        ParameterError: if the tables have different cells, or a side is not a whole number >= 1.

    Example:
        >>> from sudare.evaluate import error_by_area
        >>> for row in error_by_area([[4, 0], [0, 4]], [[5, 0], [0, 1]], sides=[1, 2]):
        ...     print(row.side, row.areas, row.rmse, row.mean_error)
        1 4 1.5811388300841898 -0.5
        2 1 2.0 -2.0
    """
    function = "error_by_area"
    pair = read_pair(true, published, function)
    return areas_of(pair, read_sides(sides, pair.shape, function))


def areas_of(pair: Pair, sides: Sequence[int]) -> RowTuple[AreaError]:
    """The errors for each side. An area is made of smaller ones where their side divides its own."""
    differs = pair.errors != 0
    steps: dict[int, tuple[Keys, Values]] = {1: (pair.keys[differs], pair.errors[differs])}
    rows: dict[int, AreaError] = {}
    for side in sorted(set(sides)):
        finest = max(known for known in steps if side % known == 0)
        steps[side] = _merged(pair.shape, *steps[finest], finest, side)
        areas = prod(_blocks(pair.shape, side))
        rows[side] = AreaError(side, areas, *summary(steps[side][1], areas))
    return RowTuple(rows[side] for side in sides)


def _merged(shape: tuple[int, ...], keys: Keys, errors: Values, finer: int, side: int) -> tuple[Keys, Values]:
    """Errors of areas of one side, from those of a finer one."""
    if side == finer:
        return keys, errors
    factor = np.uint64(side // finer)
    merged, stride = np.zeros(keys.size, dtype=np.uint64), 1
    rest = keys
    for fine, coarse in zip(reversed(_blocks(shape, finer)), reversed(_blocks(shape, side)), strict=True):
        quotient = rest // np.uint64(fine)
        place = rest - quotient * np.uint64(fine)
        merged += place // factor * np.uint64(stride)
        rest, stride = quotient, stride * coarse
    if stride <= DENSE_SHARE * keys.size:
        sums = np.bincount(merged.astype(np.int64), weights=errors, minlength=stride).astype(np.float64, copy=False)
        places = np.flatnonzero(sums)
        return places.astype(np.uint64), sums[places]
    order = np.argsort(merged)
    ordered = merged[order]
    starts = np.flatnonzero(np.concatenate([np.ones(min(1, keys.size), dtype=bool), ordered[1:] != ordered[:-1]]))
    return ordered[starts], np.add.reduceat(errors[order], starts) if keys.size else errors


def _blocks(shape: tuple[int, ...], side: int) -> tuple[int, ...]:
    return tuple(-(-length // side) for length in shape)


def read_sides(sides: object, shape: tuple[int, ...], function: str) -> tuple[int, ...]:
    """The sides asked for; powers of two as far as the longest axis goes if none were."""
    if sides is None:
        return tuple(1 << bits for bits in range(9) if bits == 0 or 1 << bits <= max(shape))
    requirement = "a list of whole numbers from 1 to 2**62, at least one"
    if isinstance(sides, (str, bytes, dict)) or not isinstance(sides, (Sequence, range, np.ndarray)):
        raise ParameterError("sides", function, requirement, shown(sides))
    read = tuple(_read_side(side, function, requirement) for side in sides)
    if not read:
        raise ParameterError("sides", function, requirement, Described("none"))
    return read


def _read_side(side: object, function: str, requirement: str) -> int:
    try:
        return exact_integer(side, "sides", function, requirement, smallest=1, largest=2**62)
    except ParameterError:
        # One number of a list may be one of a table that was handed in by mistake.
        raise ParameterError("sides", function, requirement, Described("another list")) from None
