"""Whole numbers by their size: every level, and every sum above it, in one look-up.

Noisy counts are whole numbers, and most of a large table's are alike: how often each value occurs is all that levels need.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Values = NDArray[np.float64]

__all__ = ["Descending", "exact_sum"]

MAX_EXACT_SUM = 2.0**62
MAX_RANGE = 1 << 20
"""Values so near to each other are counted in an array with a place for each number between them."""

LOW_BITS = 32


def exact_sum(values: Counts) -> int:
    """The sum of any number of 64-bit numbers, which may exceed 64 bits."""
    if not values.size or max(abs(int(values.max())), abs(int(values.min()))) * values.size < MAX_EXACT_SUM:
        return int(values.sum())
    low = values & ((1 << LOW_BITS) - 1)
    return (int((values >> LOW_BITS).sum()) << LOW_BITS) + int(low.sum())


@dataclass(frozen=True, eq=False)
class Descending:
    """How often each of some whole numbers occurs, and sums from the largest on.

    Attributes:
        values: the different numbers, ascending.
        times: how often each occurs.
        counts: how many numbers there are from each on; 0 at the end.
        sums: what they add up to; 0 at the end.
        heights: by how much the larger ones exceed each in all.
    """

    values: Counts
    times: Counts
    counts: Counts
    sums: Values
    heights: Values

    @classmethod
    def of(cls, numbers: Counts) -> Descending:
        """Count them."""
        values, times = _counted(numbers)
        counts = np.concatenate([np.cumsum(times[::-1])[::-1], np.zeros(1, dtype=np.int64)])
        amounts = values.astype(np.float64) * times
        sums = np.concatenate([np.cumsum(amounts[::-1])[::-1], np.zeros(1)])
        return cls(values, times, counts, sums, np.maximum(sums[1:] - counts[1:] * values.astype(np.float64), 0.0))

    @property
    def highest(self) -> float:
        """The largest number; 0 if there is none."""
        return float(self.values[-1]) if self.values.size else 0.0

    def places_of(self, numbers: Counts) -> Counts:
        """Where numbers, all of which occur, stand among the different ones."""
        low = int(self.values[0])
        if int(self.values[-1]) - low >= MAX_RANGE:
            return np.searchsorted(self.values, numbers)
        places = np.empty(int(self.values[-1]) - low + 1, dtype=np.int64)
        places[self.values - low] = np.arange(self.values.size)
        return np.asarray(places[numbers - low])

    def first_above(self, level: float) -> int:
        """The place of the smallest number above a level."""
        return int(np.searchsorted(self.values, level, side="right"))

    def count_above(self, level: float) -> int:
        """How many are above a level."""
        return int(self.counts[self.first_above(level)])

    def sum_above(self, level: float) -> float:
        """The sum of max(number - level, 0)."""
        first = self.first_above(level)
        return float(self.sums[first] - self.counts[first] * level)

    def level_for(self, wanted: float) -> float:
        """The level above which they add up to ``wanted`` > 0; it may be below all of them."""
        first = self._first_for(wanted)
        return float((self.sums[first] - wanted) / self.counts[first])

    def exact_level_for(self, wanted: Fraction) -> Fraction:
        """The same in whole numbers."""
        first = self._first_for(float(wanted))
        largest = max(abs(int(self.values[first])), abs(int(self.values[-1])))
        if largest * int(self.counts[first]) < MAX_EXACT_SUM:
            above = int((self.values[first:] * self.times[first:]).sum())
        else:
            above = sum(int(v) * int(n) for v, n in zip(self.values[first:], self.times[first:], strict=True))
        return (above - wanted) / int(self.counts[first])

    def _first_for(self, wanted: float) -> int:
        """The smallest number that stays above the level: those above it do not add up to what is wanted."""
        place = self.values.size - int(np.searchsorted(self.heights[::-1], wanted, side="left"))
        return min(place, self.values.size - 1)


def _counted(numbers: Counts) -> tuple[Counts, Counts]:
    """The different numbers, ascending, and how often each occurs."""
    if numbers.size:
        low, high = int(numbers.min()), int(numbers.max())
        if high - low < MAX_RANGE:
            times = np.bincount(numbers - low)
            places = np.flatnonzero(times)
            return places + low, times[places]
    values, times = np.unique(numbers, return_counts=True)
    return values, times.astype(np.int64)
