"""The methods of the sparse-recovery paper, with whole numbers as results, and their errors by the size of the true count.

All of them make most cells 0. So results are kept as the cells that may hold somebody, and work on the others is saved:

- whole numbers are found among the positive values only; every other cell has no fractional part to round up;
- a larger weight of the negative l2 penalty leaves a subset of the cells that a smaller one leaves, so the whole table is
  looked at once for all weights;
- the Lasso leaves nothing that is not above half its weight, so the smallest weight tells which cells to look at.

None of this changes a result; the tests compare with the plain way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.refine import clip_and_scale, nearest_integers, negative_l2, nonnegative_lasso, project_on_simplex

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Values = NDArray[np.float64]

__all__ = ["BANDS", "Errors", "Recovered", "Truth", "by_clipping", "by_lasso", "by_negative_l2", "by_simplex"]

BANDS = ("All", "0", "1-9", "10-99", ">=100")
"""Cells by their true count, as in the paper's figures."""

BAND_STARTS = (1, 10, 100)
"""Where the second, third and fourth band of single counts begin."""


@dataclass(frozen=True, eq=False)
class Recovered:
    """A table of whole numbers, most of them 0.

    Attributes:
        cells: places in the flat table; all others hold 0.
        counts: what they hold, >= 0.
    """

    cells: Counts
    counts: Counts


def by_simplex(noisy: Values, total: int) -> Recovered:
    """The projection on the simplex, then the nearest whole numbers."""
    values = project_on_simplex(noisy, total)
    cells = np.flatnonzero(values)
    return Recovered(cells, nearest_integers(values[cells], total))


def by_negative_l2(noisy: Values, total: int, weights: Sequence[float]) -> Iterator[Recovered]:
    """The negative l2 penalty, then the nearest whole numbers, for each weight."""
    cells = np.flatnonzero(negative_l2(noisy, total, min(weights)))
    candidates = noisy[cells]
    return (_whole(cells, negative_l2(candidates, total, weight), total) for weight in weights)


def by_lasso(noisy: Values, total: int, weights: Sequence[float]) -> Iterator[Recovered]:
    """The non-negative Lasso, scaled to the total, then the nearest whole numbers, for each weight.

    At least one noisy value must be above half of the largest weight.
    """
    cells = np.flatnonzero(noisy > min(weights) / 2)
    candidates = noisy[cells]
    return (_whole(cells, nonnegative_lasso(candidates, total, weight), total) for weight in weights)


def by_clipping(noisy: Values, total: int) -> Recovered:
    """Cut off at 0 and scaled to the total, then the nearest whole numbers."""
    cells = np.flatnonzero(noisy > 0)
    return _whole(cells, clip_and_scale(noisy[cells], total), total)


def _whole(cells: Counts, values: Values, total: int) -> Recovered:
    positive = np.flatnonzero(values)
    return Recovered(cells[positive], nearest_integers(values[positive], total))


@dataclass(frozen=True, eq=False)
class Errors:
    """What one draw, or the mean of many, comes to.

    Attributes:
        numbers: root mean squared error by band, mean error by band, share of inhabited cells in percent.
    """

    numbers: Values

    @property
    def rmse(self) -> float:
        """Root mean squared error over all cells."""
        return float(self.numbers[0])

    @property
    def non_zero(self) -> float:
        """Inhabited cells of the result in percent."""
        return float(self.numbers[-1])

    def rmse_in(self, band: str) -> float:
        """Root mean squared error over the cells of a band."""
        return float(self.numbers[BANDS.index(band)])

    def me_in(self, band: str) -> float:
        """Mean of result - truth over the cells of a band."""
        return float(self.numbers[len(BANDS) + BANDS.index(band)])


@dataclass(frozen=True, eq=False)
class Truth:
    """The true table, with what errors by band need of it.

    Attributes:
        counts: of the flat table.
        bands: the band of each cell, from 0.
        sizes: cells in each band.
        sums: people in each band.
        squares: sum of the squared counts in each band.
    """

    counts: NDArray[np.int32]
    bands: NDArray[np.uint8]
    sizes: Counts
    sums: Values
    squares: Values

    @classmethod
    def of(cls, table: NDArray[np.int64]) -> Truth:
        """From a table of any shape."""
        counts = table.reshape(-1).astype(np.int32)
        bands = np.zeros(counts.size, dtype=np.uint8)
        for lowest in BAND_STARTS:
            bands += counts >= lowest
        inhabited = np.flatnonzero(counts)
        people, where = counts[inhabited].astype(np.float64), bands[inhabited]
        number = len(BANDS) - 1
        sizes = np.array([np.count_nonzero(bands == band) for band in range(number)])
        sums, squares = (np.bincount(where, some, number).astype(np.float64) for some in (people, people * people))
        return cls(counts, bands, sizes, sums, squares)

    @property
    def total(self) -> int:
        """All people."""
        return int(self.sums.sum())

    @property
    def non_zero(self) -> float:
        """Inhabited cells in percent."""
        return 100 * float(self.sizes[1:].sum() / self.counts.size)

    def errors(self, recovered: Recovered) -> Errors:
        """Errors of a result by band; NaN for a band without cells."""
        # Where nothing is recovered the error is minus the true count: the sums of the truth are corrected elsewhere.
        true = self.counts[recovered.cells].astype(np.float64)
        where, number = self.bands[recovered.cells], len(BANDS) - 1
        squares = self.squares + np.bincount(where, (recovered.counts - true) ** 2 - true * true, number)
        sums = np.bincount(where, recovered.counts, number) - self.sums
        with np.errstate(invalid="ignore"):
            by_band = np.sqrt(squares / self.sizes), sums / self.sizes
        overall = np.sqrt(squares.sum() / self.counts.size), sums.sum() / self.counts.size
        share = 100 * np.count_nonzero(recovered.counts) / self.counts.size
        return Errors(np.array([overall[0], *by_band[0], overall[1], *by_band[1], share]))
