"""Areas anywhere on a map: rectangles that begin at any cell and whose sides are no powers of two.

Nobody's district is an aligned square. Such an area cuts through nodes of the tree, and what it takes of them has the noise
of the levels below. Proof: ``prediction.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sudare.domain.layout import Layout
from sudare.tables.planning.prediction import combined_noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

Number = TypeVar("Number", float, Any)

__all__ = ["MAP_AXES", "Overlaps", "overlaps_of", "unaligned_variances"]

MAP_AXES = 2
SIDES = ((2, 15), (16, 63), (64, 256))
"""Small, middle and large rectangles: sides within these limits, their logarithms evenly distributed."""

LENGTHS = 12
OFFSETS = 64
"""So many lengths and places of an interval stand for all of them."""

Overlaps = tuple[float, ...]
"""For each height of a node: the sum, over all nodes of it, of the square of the share of each that an area takes; on average."""


def overlaps_of(layout: Layout) -> list[Overlaps]:
    """Of small, middle and large rectangles, as far as the map has room for them; none where there is no map of two axes."""
    if len(layout.lengths) != MAP_AXES:
        return []
    classes = [(low, min(high, min(layout.lengths) // 2)) for low, high in SIDES]
    return [_overlaps(layout, low, high) for low, high in classes if low < high]


def _overlaps(layout: Layout, low: int, high: int) -> Overlaps:
    """Rows and columns of a rectangle are independent, so that their sums of squares multiply."""
    splits = layout.axis_of_split
    heights = range(layout.depth + 1)
    along = [[splits[layout.depth - height :].count(axis) for axis in range(MAP_AXES)] for height in heights]
    return tuple(prod(_overlap_along(1 << bits, low, high) for bits in both) for both in along)


def _overlap_along(width: int, low: int, high: int) -> float:
    """The mean, over intervals of sides between low and high, of the summed squares of shares of places of a width."""
    lengths = np.unique(np.geomspace(low, high, LENGTHS).round().astype(np.int64))[:, None]
    starts = np.unique(np.linspace(0, width - 1, min(width, OFFSETS)).round().astype(np.int64))
    ends = starts + lengths
    first = np.minimum(width, ends) - starts
    last = ends - (ends - 1) // width * width
    inside = (ends - 1) // width - 1
    squares = (first / width) ** 2 + np.where(inside >= 0, (last / width) ** 2 + inside, 0.0)
    return float(squares.mean())


def unaligned_variances(
    bits: Sequence[int], noise: Sequence[Number], overlaps: Sequence[Overlaps], *, combined: bool = True
) -> list[Number]:
    """Variances of areas anywhere, published by a wide tree.

    Args:
        bits: how many halvings make up each level.
        noise: the variance of the noise on the total (0 if it is public) and on each level; numbers, or arrays of as many
            candidates.
        overlaps: of the areas asked for.
        combined: whether all levels are combined by least squares, else each meets its parent's count only.
    """
    own = combined_noise(bits, noise) if combined else list(noise)
    heights = [sum(bits[level:]) for level in range(len(bits) + 1)]
    found = []
    for overlap in overlaps:
        variance = own[0] * overlap[heights[0]]
        for level, step in enumerate(bits, start=1):
            variance = variance + own[level] * (overlap[heights[level]] - 2.0**step * overlap[heights[level - 1]])
        found.append(variance)
    return found
