"""Noise on every cell of a table of any size, drawn only where it is large enough to matter.

Recovery under a total keeps the cells whose noisy count is above some level. Of the empty cells hardly any is, so the noisy
counts are revealed from the top: first who is above a high level, then, where that does not suffice, who of the others is
above a lower one. Which cells, and their values, have exactly the distribution of noise on every cell.

Proof: ``recovery.md`` beside this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from math import floor, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sudare.noise.additive import noise_for
from sudare.noise.entropy import EntropySource
from sudare.noise.exact import Bounds, LatticeLaw
from sudare.noise.lattice import lattice_tail
from sudare.noise.skipping import Skipping, approximate_tail, keys_of_others, tail_probability
from sudare.privacy.measurements import Measurement
from sudare.tables.recovery.descending import Descending
from sudare.tables.recovery.moments import NoiseMoments, law_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.domain.table import CountTable

    Counts = NDArray[np.int64]
    Keys = NDArray[np.uint64]

__all__ = ["MAX_EXPECTED", "MAX_VISITED", "NoisyCells", "lowest_level"]

MAX_VISITED = 1 << 18
"""Up to this many cells, each gets its noise at once: revealing would save nothing."""

MAX_EXPECTED = 1 << 24
"""Empty cells that may be expected to reach a level: so far down cells are revealed, and no further."""

GUARD_BITS = 16
MAX_ROUNDING = 1e-12
SPREADS = 6.0
MAX_MARGIN = 0.3
"""By how many standard deviations of the sum the first level lies below the one that is expected to suffice; of the noise, at
most."""


@dataclass(frozen=True, eq=False)
class NoisyCells:
    """The noisy counts of a table, as far as they have been drawn.

    Attributes:
        cells: how many cells there are.
        law: of the noise.
        keys: cells whose noise has been drawn, ascending. **Not for publication**: all cells with people are among them.
        values: their noisy counts.
        level: the noisy counts of all other cells are below it; None where there are no others.
        source: where bits come from.
        threads: how many threads may draw.
    """

    cells: int
    law: LatticeLaw
    keys: Keys
    values: Counts
    level: int | None
    source: EntropySource
    threads: int

    @classmethod
    def draw(
        cls, table: CountTable, measurement: Measurement, source: EntropySource, threads: int, *, max_visited: int
    ) -> NoisyCells:
        """Noise on the cells with people, and on all others too where there are at most ``max_visited`` in all."""
        noise, law, cells = noise_for(measurement), law_of(measurement), table.domain.cells
        if cells <= max_visited:
            values = noise.draw(cells, source, threads=threads)
            values[table.keys.astype(np.int64)] += table.counts
            return cls(cells, law, np.arange(cells, dtype=np.uint64), values, None, source, threads)
        values = noise.draw(table.keys.size, source, threads=threads)
        values += table.counts
        highest = 1 << 62  # nothing is revealed yet: no noise gets there
        return cls(cells, law, table.keys, values, highest, source, threads)

    def lowered(self, level: int) -> NoisyCells:
        """With all cells whose noisy count reaches a lower level, at least 1."""
        if self.level is None or level >= self.level:
            return self
        others = self.cells - self.keys.size
        ranks = _passing(self.law, level, self.level).draw(others, self.source, threads=self.threads)
        values = self._values_between(level, self.level, ranks.size)
        keys = np.concatenate([self.keys, keys_of_others(self.keys, ranks)])
        order = np.argsort(keys, kind="stable")
        every = np.concatenate([self.values, values])
        return NoisyCells(self.cells, self.law, keys[order], every[order], level, self.source, self.threads)

    def revealed_for(self, wanted: float) -> NoisyCells:
        """With enough cells for max(value - theta, 0) to add up to ``wanted``, if the lowest level is low enough for that."""
        if self.level is None:
            return self
        lowest = lowest_level(self.law, self.cells)
        revealed = self.lowered(max(self._likely_level(wanted), lowest))
        step = max(1, floor(MAX_MARGIN * sqrt(NoiseMoments(self.law).variance)))
        while revealed.level is not None and revealed.level > lowest:
            # By a margin for rounding: where it is a tie, one more band changes nothing.
            if revealed.sum_above(revealed.level - 1) > wanted * (1 + MAX_ROUNDING):
                break
            revealed = revealed.lowered(max(revealed.level - step, lowest))
        return revealed

    def above(self, level: float) -> tuple[Keys, Counts]:
        """The cells whose noisy count is above a level, all of which must have been revealed."""
        chosen = self.values > level
        return self.keys[chosen], self.values[chosen]

    def sum_above(self, level: int) -> float:
        """The sum of max(value - level, 0) over the cells that are known."""
        return float(np.maximum(self.values - level, 0).sum(dtype=np.float64))

    def _likely_level(self, wanted: float) -> int:
        """A level that most likely suffices. It bears on the time alone."""
        noise, known = NoiseMoments(self.law), Descending.of(self.values)
        empty = self.cells - self.keys.size
        low, high = 0.0, max(known.highest, 0.0) + 60 * sqrt(noise.variance) + 1
        for _ in range(64):
            middle = (low + high) / 2
            if known.sum_above(middle) + empty * noise.excess(middle) >= wanted:
                low = middle
            else:
                high = middle
        passing = known.count_above(low) + empty * noise.tail(low) + 1
        spread = sqrt(empty * noise.squared_excess(low))
        margin = min(SPREADS * spread / passing, MAX_MARGIN * sqrt(noise.variance))
        return floor(low - margin) + 1

    def _values_between(self, level: int, before: int, count: int) -> Counts:
        """Values of the noise from one level to below another, which is drawn until it is."""
        over = lattice_tail(self.law, level)
        values = over.draw(count, self.source, threads=self.threads)
        too_high = np.flatnonzero(values >= before - level)
        while too_high.size:
            values[too_high] = over.draw(too_high.size, self.source, threads=self.threads)
            too_high = too_high[values[too_high] >= before - level]
        return values + level


@lru_cache(maxsize=16)
def lowest_level(law: LatticeLaw, cells: int) -> int:
    """The lowest level, at least 1, that no more empty cells than the most are expected to reach: public."""
    low, high = 0, 1
    while approximate_tail(law, high) * cells > MAX_EXPECTED:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if approximate_tail(law, middle) * cells > MAX_EXPECTED else (low, middle)
    return high


@lru_cache(maxsize=16)
def _passing(law: LatticeLaw, level: int, before: int) -> Skipping:
    """Which cells reach a level, of cells that are known to be below another."""
    high, low = approximate_tail(law, level), approximate_tail(law, before)
    return Skipping(partial(_share_between, law, level, before), min((high - low) / (1 - low), 0.75))


def _share_between(law: LatticeLaw, level: int, before: int, bits: int) -> Bounds:
    """Bounds of 2**bits * P(X >= level | X < before)."""
    work = bits + GUARD_BITS
    reached, beyond = tail_probability(law, level, work), tail_probability(law, before, work)
    part = Bounds(max(reached.low - beyond.high, 0), reached.high - beyond.low)
    whole = Bounds((1 << work) - beyond.high, (1 << work) - beyond.low)
    low, high = (part.low << bits) // whole.high, -(-(part.high << bits) // whole.low)
    return Bounds(low, min(high, 1 << bits))
