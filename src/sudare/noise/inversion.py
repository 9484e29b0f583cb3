"""Sampling by inversion: the value at which the cumulative distribution passes a uniform number.

The uniform number is an endless bit string. Its first 64 bits decide almost always, by one look into a table; where
they do not, the string is read on. The value returned is therefore a function of the whole string, the exact inverse
of the exact cumulative distribution, and its distribution is the one named, not one near it.

Proof: ``inversion.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sudare.noise.entropy import EntropySource
from sudare.noise.exact import WORD_BITS, Bounds, LatticeLaw, NextWord
from sudare.noise.sampler import Sampler

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.noise.sampler import Integers, Words

__all__ = ["InversionSampler", "InversionTable", "lattice_sampler"]

MIN_CELL_BITS, MAX_CELL_BITS = 6, 13
SEARCH_SHARE = 1 / 256
"""Cells are made smaller until no more than this share of the words needs a search."""

MAX_THRESHOLD = 2**WORD_BITS - 2
"""No word is certainly past a threshold from here on, so that the last value of a table is never given unchecked."""


class InversionTable:
    """Thresholds for 64-bit words, and cells that find the right one at once.

    Args:
        bounds: bounds of 2**64 times the points of a cumulative distribution, in ascending order, at most 2 apart.
    """

    def __init__(self, bounds: Sequence[Bounds]) -> None:
        if any(high - low > 2 for low, high in bounds):
            raise ArithmeticError("Bounds of a cumulative distribution are too far apart for a table of 64-bit words.")
        self.thresholds: Words = np.array([min(low, 2**WORD_BITS - 1) for low, _ in bounds], dtype=np.uint64)
        for cell_bits in range(MIN_CELL_BITS, MAX_CELL_BITS + 1):
            touching, first, starts = self._thresholds_per_cell(cell_bits)
            if (touching > 1).mean() <= SEARCH_SHARE:
                break
        from sudare.kernels.sampling import COUNT_BITS, COUNT_FROM, SEARCH

        if (len(self.thresholds) + COUNT_FROM).bit_length() > COUNT_BITS:
            raise ArithmeticError("A cumulative distribution has too many points for a table.")
        alone, none = touching == 1, touching == 0
        # In a cell without a threshold the comparison must always come out the same: compare with a word far away.
        far_away = starts ^ np.uint64(1 << WORD_BITS - 1)
        own = self.thresholds[np.minimum(first, len(self.thresholds) - 1)]
        compared = np.where(alone, own, far_away)
        below = first + COUNT_FROM - np.where(none, starts >> np.uint64(WORD_BITS - 1), 0).astype(np.int64)
        by = np.uint64(COUNT_BITS)
        self.shift = np.uint64(WORD_BITS - cell_bits)
        self.cells: Words = compared >> by << by | np.where(touching > 1, SEARCH, below).astype(np.uint64)
        self.search_from: NDArray[np.int32] = np.append(first, len(self.thresholds)).astype(np.int32)

    def _thresholds_per_cell(self, cell_bits: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Words]:
        """How many thresholds have an undecided word in each cell, which is the first, and where the cells start."""
        starts = np.arange(1 << cell_bits, dtype=np.uint64) << np.uint64(WORD_BITS - cell_bits)
        ends = starts + np.uint64((1 << WORD_BITS - cell_bits) - 1)
        first = np.searchsorted(self.thresholds, np.maximum(starts, np.uint64(1)) - np.uint64(1), side="left")
        last = np.searchsorted(self.thresholds, ends, side="right")
        return (last - first).astype(np.int64), first.astype(np.int64), starts

    @property
    def arrays(self) -> tuple[np.uint64, Words, NDArray[np.int32], Words]:
        """The table as the kernels take it."""
        return self.shift, self.cells, self.search_from, self.thresholds


class InversionSampler(Sampler):
    """Draws by one look into an `InversionTable`.

    Args:
        lowest: the value below the first point of the cumulative distribution.
        bounds: bounds of 2**64 times the points, ascending.
        settle: takes the first word and a function that gives further ones, and returns the value.
        name: what was called to make this sampler.
    """

    words_per_trial = 1
    acceptance = 1.0

    def __init__(
        self, lowest: int, bounds: Sequence[Bounds], settle: Callable[[int, NextWord], int], name: str
    ) -> None:
        super().__init__(name)
        self.lowest = lowest
        self.table = InversionTable(bounds)
        self._settle_word = settle
        self._seal()

    def _fill_from(self, words: Words, next_word: int, out: Integers, next_out: int) -> tuple[int, int, bool]:
        from sudare.kernels.sampling import fill_by_inversion

        return fill_by_inversion(words, next_word, out, next_out, self.lowest, *self.table.arrays)

    def try_each(self, words: Words) -> tuple[Integers, NDArray[np.bool_], NDArray[np.bool_]]:
        """A value from the first word of each row; no trial is rejected."""
        first = np.ascontiguousarray(words[:, 0])
        values = np.zeros(first.size, dtype=np.int64)
        undecided = np.zeros(first.size, dtype=np.bool_)
        place, _, stopped = self._fill_from(first, 0, values, 0)
        while stopped:
            undecided[place] = True
            place, _, stopped = self._fill_from(first, place + 1, values, place + 1)
        return values, np.zeros(first.size, dtype=np.bool_), undecided

    def _settle(self, trial: Words, entropy: EntropySource) -> int:
        return self._settle_word(int(trial[0]), entropy.next_word)


def lattice_table(law: LatticeLaw) -> tuple[int, list[Bounds]]:
    """The part of a law's cumulative distribution that 64-bit words can tell apart: its lowest value, and bounds."""
    lowest, bounds = law.cumulative(WORD_BITS)
    begin, end = 0, len(bounds)
    if law.two_sided:
        while begin + 1 < end and bounds[begin + 1].low == 0:
            begin += 1
    while end > begin + 1 and bounds[end - 2].low >= MAX_THRESHOLD:
        end -= 1
    if bounds[end - 1].low < MAX_THRESHOLD:
        raise ArithmeticError("The bounds of a cumulative distribution do not reach its upper end.")
    return lowest + begin, bounds[begin:end]


def lattice_sampler(law: LatticeLaw, name: str) -> InversionSampler:
    """Draw from a lattice law narrow enough for a table."""
    lowest, bounds = lattice_table(law)
    return InversionSampler(lowest, bounds, partial(_settle_by_law, law), name)


def _settle_by_law(law: LatticeLaw, word: int, next_word: NextWord) -> int:
    return law.settle(word, WORD_BITS, next_word)
