"""Whole numbers >= 0 with a given total from noisy counts above a level. Post-processing: nothing here raises an error."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from sudare.noise.entropy import EntropySource
from sudare.noise.uniform import uniform_below
from sudare.tables.recovery.descending import Descending, exact_sum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Keys = NDArray[np.uint64]
    Values = NDArray[np.float64]

__all__ = ["spread_evenly", "whole_numbers_above"]

MAX_ROUNDING = 1e-9

MAX_SPREAD = 1 << 16
"""Cells that share a total where no cell stands out."""


def whole_numbers_above(
    values: Counts, level: Fraction, divisor: Fraction, total: int, source: EntropySource
) -> Counts:
    """(value - level) / divisor, in whole numbers that add up to a total.

    Every number is rounded down, and what is missing goes to the largest fractional parts, one each. Noisy counts are whole
    numbers, this many fractional parts are equal (all of them where the divisor is 1): who of these gets one is drawn, because a
    rule by their order would favour one end of the map.

    Args:
        values: above the level, at least one.
        level: what is taken away from each.
        divisor: positive.
        total: what the whole numbers add up to; about the sum of what is computed here.
        source: where bits come from.
    """
    above = ceil(level)
    rest = float(above - level)
    if divisor == 1:
        whole, alike = values - above, None
    else:
        noisy = Descending.of(values)
        real: Values = ((noisy.values - above).astype(np.float64) + rest) / float(divisor)
        down = np.floor(real).astype(np.int64)
        alike, places = real - down, noisy.places_of(values)
        whole = down[places]
    missing = total - exact_sum(whole)
    if not 0 <= missing <= values.size:  # sums beyond what a float holds: the largest count makes up for it
        largest = int(np.argmax(whole))
        whole[largest] += missing
        return np.maximum(whole, 0)
    if alike is None:
        whole[_some(np.arange(values.size), missing, source)] += 1
    elif missing:
        whole[_largest(alike, noisy.times, places, missing, source)] += 1
    return whole


def _largest(fractions: Values, times: Counts, places: Counts, count: int, source: EntropySource) -> Counts:
    """The cells with this many largest fractional parts, given for each noisy count; of equal ones, any alike."""
    order = np.argsort(-fractions)
    limit = fractions[order[int(np.searchsorted(np.cumsum(times[order]), count))]]
    # Equal parts may come out of different counts a rounding apart.
    is_certain, is_tied = fractions > limit + MAX_ROUNDING, np.abs(fractions - limit) <= MAX_ROUNDING
    certain = np.flatnonzero(is_certain[places])
    tied = np.flatnonzero(is_tied[places])
    return np.concatenate([certain, _some(tied, count - certain.size, source)])


def _some(cells: Counts, count: int, source: EntropySource) -> Counts:
    """So many of the cells, any with the same probability."""
    if count <= 0 or count >= cells.size:
        return cells[: max(count, 0)]
    return cells[np.argpartition(source.words(cells.size), count)[:count]]


def spread_evenly(cells: int, total: int, source: EntropySource) -> tuple[Keys, Counts]:
    """A total over all cells alike, or over cells drawn at random where there are more cells than people."""
    if cells <= MAX_SPREAD:
        share, rest = divmod(total, cells)
        counts = np.full(cells, share, dtype=np.int64)
        counts[np.argsort(source.words(cells))[:rest]] += 1
        return np.arange(cells, dtype=np.uint64)[counts > 0], counts[counts > 0]
    keys = np.unique(uniform_below(cells, min(total, MAX_SPREAD), source))
    share, rest = divmod(total, keys.size)
    counts = np.full(keys.size, share, dtype=np.int64)
    counts[:rest] += 1
    return keys, counts
