"""Signed noisy counts made whole numbers >= 0 that keep their sum, where counts are wanted. Nothing is cut off.

To set negative counts to 0 adds people wherever few live: the total of a map of 2**16 cells grows by half of their noise.
Here what is taken from cells above 0 makes up for those below:

- `counts_with_total`: towards the noisy total, for noise on each cell. All positive cells give the same.
- `counts_down_a_tree`, `counts_down_axes`: from the total down, each node's count divided between its halves as their noisy sums
  say, and kept from 0 to the node's. So areas keep their sums as well as they can. For noise that is small on areas, such as
  Privelet's.

**Towards the total.** Let z be whole numbers with the sum T >= 0. The nearest b >= 0 with that sum is max(z - theta, 0) for some
real theta. Let t be the whole number with S(t) >= T >= S(t + 1), S(t) = sum max(z - t, 0), which never grows. All of
max(z - t - 1, 0) is given out, and T - S(t + 1) of the cells with z > t get one more: there are S(t) - S(t + 1) of them, so this
works out, and each is within one of the real nearest point. Which ones get it is drawn: evenly spread along the keys, from a
random start, so that each is as likely, wherever it lies.

All of it is whole-number arithmetic, and raises for no numbers: what is drawn may be anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain.layout import Layout, morton_layout, nodes_with_cells
from sudare.domain.sparse_table import exact_sum
from sudare.domain.table import MAX_TOTAL
from sudare.noise.bernoulli import fair_coins
from sudare.noise.entropy import EntropySource

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = ["ALL_TO_THE_LEFT", "counts_down_a_tree", "counts_down_axes", "counts_with_total", "parts_at_once"]

ALL_TO_THE_LEFT = MAX_TOTAL + 1
"""The tilt of a node whose right half has no cells."""

MAX_SHORT, MAX_ODD, MAX_PARTS = 32, 16, 64
"""The longest axis that is divided into all of its places at once, the largest odd factor of maps, and the most parts in all."""

MAX_NOISY = 2**62
"""Noisy counts are cut off here: beyond it lies noise far wider than any population."""


def counts_with_total(values: Integers, word: int) -> Integers:
    """The nearest whole numbers >= 0 that have the same sum as signed ones; all 0 if that sum is negative.

    Args:
        values: noisy counts of all cells.
        word: 64 random bits, which decide who gets what is left when all got the same.

    Example:
        >>> import numpy as np
        >>> from sudare.refine.signed import counts_with_total
        >>> counts_with_total(np.array([7, -3, 2, 0]), word=0).tolist() in ([6, 0, 0, 0], [5, 0, 1, 0])
        True
    """
    total = min(max(exact_sum(values), 0), MAX_TOTAL)
    counts = np.zeros(values.size, dtype=np.int64)
    if total == 0:
        return counts
    places = np.flatnonzero(values > 0)  # the level is never below 0: positive values have at least this sum
    noisy = np.minimum(values[places], MAX_NOISY)
    level = _level_for(noisy, total)
    above = noisy > level
    places, noisy = places[above], noisy[above]
    given = np.maximum(noisy - level - 1, 0)
    given[_one_more_for(total - exact_sum(given), given.size, word)] += 1
    counts[places] = given
    return counts


def _level_for(noisy: Integers, total: int) -> int:
    """The largest t with sum(max(noisy - t, 0)) >= total, from 0 on."""

    def reaches(level: int) -> bool:
        above = noisy[noisy > level]
        return exact_sum(above) - level * above.size >= total

    guess = max(_level_in_floats(noisy, total), 0)
    step, low, high = 1, guess, guess + 1
    while low > 0 and not reaches(low):
        high, low, step = low, max(low - step, 0), 2 * step
    step = 1
    while reaches(high):
        low, high, step = high, high + step, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if reaches(middle) else (low, middle)
    return low


def _level_in_floats(noisy: Integers, total: int) -> int:
    """About that level: right to the last digit but a few, which is where the search begins."""
    from sudare.kernels.tables.simplex import threshold_for_sum

    room = np.empty(noisy.size)
    return int(threshold_for_sum(noisy.astype(np.float64), float(total), room))


def _one_more_for(extra: int, among: int, word: int) -> NDArray[np.bool_]:
    """Which of this many get one more: evenly spread from a random start, each with the probability extra / among."""
    start = word * among >> 64
    return np.diff((np.arange(among + 1, dtype=np.int64) * extra + start) // among) > 0


def counts_down_a_tree(values: Integers, layout: Layout, source: EntropySource) -> Integers:
    """Whole numbers >= 0 whose sum is that of signed ones, or 0 if that is negative: divided from the top of a tree.

    A node with count s whose halves have the noisy sums l and r gives (s + l - r) / 2 to the left, not below 0 and not above s.

    Args:
        values: noisy counts of all cells, in the order of their keys.
        layout: how the cells lie along the leaves of the tree.
        source: where the bits come from that decide where halves of people go.

    Returns:
        The counts of all cells, in the order of their keys.
    """
    total = min(max(exact_sum(values), 0), MAX_TOTAL)
    return _Halving.along(layout).divide(np.clip(values, -MAX_NOISY, MAX_NOISY), total, source)


def counts_down_axes(values: Integers, shape: tuple[int, ...], source: EntropySource) -> Integers:
    """The same for a table of several axes: along short ones from the total at once, then by halves along the others in turn.

    Halves of an axis are halves of a power of two. Where the length is none, one half may be a single place beside several, and
    keeping counts from 0 on adds more to it than to them. And a short axis that is halved late, such as four age groups of a map,
    is halved where few people are left. So the total first goes to all places of short axes, and to equal parts of others, as
    `counts_with_total` gives it; these are halved.

    Args:
        values: noisy counts of all cells, in the order of their keys.
        shape: places along each axis.
        source: where the bits come from that decide where halves of people go.

    Returns:
        The counts of all cells, in the order of their keys.
    """
    parts = parts_at_once(shape)
    inner = tuple(length // part for length, part in zip(shape, parts, strict=True))
    axes = len(shape)
    apart = [number for sizes in zip(parts, inner, strict=True) for number in sizes]
    order = [*range(0, 2 * axes, 2), *range(1, 2 * axes, 2)]
    noisy = np.clip(values, -MAX_NOISY, MAX_NOISY)
    blocks = noisy.reshape(apart).transpose(order).reshape(prod(parts), prod(inner))
    sums = np.array([min(max(exact_sum(block), -MAX_NOISY), MAX_NOISY) for block in blocks], dtype=np.int64)
    totals = counts_with_total(sums, int(source.words(1)[0]))
    tree = _Halving.along(morton_layout(inner))
    counts = np.stack([tree.divide(block, int(total), source) for block, total in zip(blocks, totals, strict=True)])
    back = [place for axis in range(axes) for place in (axis, axes + axis)]
    return counts.reshape([*parts, *inner]).transpose(back).ravel()


def parts_at_once(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Into how many equal parts each axis is divided at once: all places of short axes, the odd factor of others, or 1.

    Example:
        >>> from sudare.refine.signed import parts_at_once
        >>> parts_at_once((64, 64, 4)), parts_at_once((48, 48)), parts_at_once((50, 50))
        ((1, 1, 4), (3, 3), (1, 1))
    """
    longest = sorted(shape, reverse=True)
    # Of a map areas count, which halves keep better than many parts.
    most_odd = MAX_ODD if len(shape) <= 2 else MAX_SHORT
    short = min(max(longest[0] // 4, longest[1] // 2 if len(shape) > 2 else 0), MAX_SHORT)
    parts, together = [1] * len(shape), 1
    for axis in sorted(range(len(shape)), key=lambda axis: shape[axis]):
        length = shape[axis]
        odd = length // (length & -length)
        possible = [length] * (length <= short) + [odd] * (odd <= most_odd) + [1]
        parts[axis] = next(part for part in possible if together * part <= MAX_PARTS)
        together *= parts[axis]
    return tuple(parts)


@dataclass(frozen=True, eq=False)
class _Halving:
    """A tree by whose nodes counts are halved.

    Attributes:
        leaves: the place of each cell among the leaves.
        size: how many leaves there are.
        alone: nodes whose right half has no cells; None if there are none.
    """

    leaves: Integers
    size: int
    alone: NDArray[np.bool_] | None

    @classmethod
    def along(cls, layout: Layout) -> _Halving:
        cells = np.arange(prod(layout.lengths), dtype=np.uint64)
        has_cells = nodes_with_cells(layout)
        alone = None if has_cells is None else ~has_cells[1::2]
        return cls(layout.to_tree(cells).astype(np.int64), 1 << layout.depth, alone)

    def divide(self, values: Integers, total: int, source: EntropySource) -> Integers:
        """The total, divided down to the cells as their noisy counts say."""
        from sudare.kernels.tables.haar import differences_along, refine_depth_first

        tilts = np.zeros(self.size, dtype=np.int64)
        tilts[self.leaves] = values
        differences_along(tilts.reshape(1, -1, 1))
        np.clip(tilts, -MAX_TOTAL, MAX_TOTAL, out=tilts)
        tilts += fair_coins(self.size, source)
        if self.alone is not None:
            tilts[self.alone] = ALL_TO_THE_LEFT
        counts = np.empty(self.size, dtype=np.int64)
        refine_depth_first(total, tilts, counts)
        return np.asarray(counts[self.leaves])
