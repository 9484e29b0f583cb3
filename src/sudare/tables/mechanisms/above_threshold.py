"""Noisy counts that reach a threshold: which empty cells pass is found by skipping, without a visit to each.

The value of one that passes is drawn from the tail of the noise. The result has the distribution of noise on every cell, at a
cost that goes by what is published. What it does to totals is `effect_of`: cells that pass are counted too high on average, and
nothing makes up for those that do not.

Proof: ``flat.md`` beside this file.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.domain.table import MAX_TOTAL, CountTable
from sudare.errors import Described, ParameterError
from sudare.noise.additive import noise_for
from sudare.noise.exact import LatticeLaw
from sudare.noise.lattice import lattice_tail
from sudare.noise.sampler import Sampler
from sudare.noise.skipping import Skipping, approximate_tail, keys_of_others, tail_probability
from sudare.parameters import exact_integer
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement
from sudare.tables.arguments import MechanismRequest
from sudare.tables.published import ThresholdEffect

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Keys = NDArray[np.uint64]

__all__ = ["Thresholding", "cut_off_total", "effect_of", "law_of", "smallest_threshold"]

MAX_EXPECTED = 1 << 28
"""Empty cells that may be expected to be published."""

MAX_PASSING_SHARE = 0.25
"""Where more of the empty cells than this pass, each gets its noise: skipping would save nothing."""

MAX_SUMMED_SCALE = 1 << 14
"""Gaussian noise is summed up, for the probability of a tail, up to this sigma."""

MAX_VISITED = 1 << 30
"""Cells that may be visited one by one where the noise is too wide for that."""

CELLS_AT_ONCE = 1 << 22


class Thresholding:
    """Noise on every cell and a threshold, ready to be drawn.

    Args:
        name: of the mechanism, for errors.
        cells: of the domain.
        measurement: the noise.
        threshold: the smallest noisy count that is published.

    Raises:
        ParameterError: if the threshold is no whole number from 1 to 2**62, too many empty cells would be published, or
            the noise is too wide to skip and the domain too large to visit.
    """

    def __init__(
        self, name: str, cells: int, measurement: LaplaceMeasurement | GaussianMeasurement, threshold: object
    ) -> None:
        requirement = Words("a whole number from 1 to 2**62", "1 以上 2**62 以下の整数")
        self.threshold = exact_integer(threshold, "threshold", name, requirement, smallest=1, largest=MAX_TOTAL)
        law = law_of(measurement)
        self.noise = noise_for(measurement)
        self.passing = _plan_empty_cells(name, cells, law, self.threshold)
        self.over = lattice_tail(law, self.threshold)
        self.effect = effect_of(law, self.threshold, cells)

    def draw(self, request: MechanismRequest) -> CountTable:
        """The noisy counts that reach the threshold."""
        table = request.table
        noisy = self.noise.draw(table.keys.size, request.source, threads=request.threads)
        noisy += table.counts
        is_published = noisy >= self.threshold
        empty = table.domain.cells - table.keys.size
        if self.passing is None:
            ranks, values = _visit(self.noise, empty, self.threshold, request)
        else:
            ranks = self.passing.draw(empty, request.source, threads=request.threads)
            values = self.over.draw(ranks.size, request.source, threads=request.threads)
            values += self.threshold
        keys, counts = _merge(table.keys[is_published], noisy[is_published], keys_of_others(table.keys, ranks), values)
        return CountTable(table.domain, keys, cut_off_total(counts))


def law_of(measurement: LaplaceMeasurement | GaussianMeasurement) -> LatticeLaw:
    """The law of a measurement's noise."""
    if isinstance(measurement, LaplaceMeasurement):
        return LatticeLaw(1 / measurement.scale, Fraction(0), two_sided=True)
    return LatticeLaw(Fraction(0), 1 / (2 * measurement.sigma_squared), two_sided=True)


def effect_of(law: LatticeLaw, threshold: int, cells: int) -> ThresholdEffect:
    """What a threshold does to totals, as far as it follows from noise and domain, which are public."""
    per_cell = _mean_above(law, threshold)
    return ThresholdEffect(threshold, per_cell, per_cell * cells)


def _mean_above(law: LatticeLaw, threshold: int) -> float:
    """The mean of N where N >= threshold, and of 0 elsewhere: what an empty cell is published with on average."""
    if not law.quadratic:
        q = math.exp(-float(law.linear))
        # sum over x >= t of x (1 - q) / (1 + q) q^x
        return math.exp(-float(law.linear) * threshold) * (threshold * (1 - q) + q) / ((1 + q) * (1 - q))
    steep = float(law.quadratic)
    if steep < 1e-6:  # as wide as that, the sum is the integral
        return math.exp(-steep * (threshold - 0.5) ** 2) / (2 * math.sqrt(math.pi * steep))
    x = np.arange(int(40 / math.sqrt(steep)) + 2, dtype=np.float64)
    weights = np.exp(-steep * x**2)
    return float((x * weights)[threshold:].sum() / (2 * weights.sum() - 1))


def _plan_empty_cells(name: str, cells: int, law: LatticeLaw, threshold: int) -> Skipping | None:
    """How to find the empty cells that pass: by skipping, or (None) by noise on each. It depends on nothing but the domain.

    Raises:
        ParameterError: if too many would be published, or the noise is too wide to skip and the domain too large to visit.
    """
    share = approximate_tail(law, threshold)
    if share * cells > MAX_EXPECTED:
        enough = smallest_threshold(law, cells)
        requirement = Words(
            f"at least {enough} for {cells} cells and this noise, so that at most 2**28 empty cells are published",
            f"{cells} セルとこのノイズでは {enough} 以上（公表される空のセルを 2**28 以下にするため）",
        )
        raise ParameterError("threshold", name, requirement, threshold)
    is_narrow = law.quadratic == 0 or law.quadratic * 2 * MAX_SUMMED_SCALE**2 >= 1
    if share > MAX_PASSING_SHARE or (not is_narrow and cells <= MAX_VISITED):
        return None
    if not is_narrow:
        requirement = Words(
            f"enough for a sigma of at most {MAX_SUMMED_SCALE} in a table of more than {MAX_VISITED} cells",
            f"{MAX_VISITED} セルを超える表では sigma が {MAX_SUMMED_SCALE} 以下になる予算",
        )
        raise ParameterError("budget", name, requirement, Described("a smaller one"))
    return _skipping(law, threshold)


@lru_cache(maxsize=16)
def _skipping(law: LatticeLaw, threshold: int) -> Skipping:
    return Skipping(partial(tail_probability, law, threshold), approximate_tail(law, threshold))


def smallest_threshold(law: LatticeLaw, cells: int) -> int:
    """The smallest threshold with which no more than the most empty cells are expected to be published."""
    low, high = 1, 2
    while approximate_tail(law, high) * cells > MAX_EXPECTED:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if approximate_tail(law, middle) * cells > MAX_EXPECTED:
            low = middle
        else:
            high = middle
    return high


def _visit(noise: Sampler, empty: int, threshold: int, request: MechanismRequest) -> tuple[Keys, Counts]:
    """Noise for every empty cell, and those that reach the threshold."""
    ranks, values = [np.empty(0, dtype=np.uint64)], [np.empty(0, dtype=np.int64)]
    for first in range(0, empty, CELLS_AT_ONCE):
        drawn = noise.draw(min(CELLS_AT_ONCE, empty - first), request.source, threads=request.threads)
        passing = np.flatnonzero(drawn >= threshold)
        ranks.append(passing.astype(np.uint64) + np.uint64(first))
        values.append(drawn[passing])
    return np.concatenate(ranks), np.concatenate(values)


def _merge(keys: Keys, counts: Counts, other_keys: Keys, other_counts: Counts) -> tuple[Keys, Counts]:
    """Two tables without common cells as one, in the order of the keys."""
    places = np.searchsorted(other_keys, keys) + np.arange(keys.size)
    is_other = np.ones(keys.size + other_keys.size, dtype=np.bool_)
    is_other[places] = False
    all_keys, all_counts = np.empty(is_other.size, dtype=np.uint64), np.empty(is_other.size, dtype=np.int64)
    all_keys[places], all_counts[places] = keys, counts
    all_keys[is_other], all_counts[is_other] = other_keys, other_counts
    return all_keys, all_counts


def cut_off_total(counts: Counts) -> Counts:
    """The counts themselves, or where they add up to more than 2**62, cut off at the level at which they do not.

    Only noise far wider than any population gets there. It is not an error, because an error would tell of what was drawn.
    """
    if counts.sum(dtype=np.float64) < 0.99 * MAX_TOTAL:
        return counts
    low, high = 0, MAX_TOTAL + 1
    while high - low > 1:
        middle = (low + high) // 2
        cut = np.minimum(counts, middle)
        if (int((cut >> 32).sum()) << 32) + int((cut & (2**32 - 1)).sum()) <= MAX_TOTAL:
            low = middle
        else:
            high = middle
    return np.minimum(counts, low)
