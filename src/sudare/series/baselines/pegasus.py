"""PeGaSus: noisy counts, groups of ticks at which a count hardly changes, and the median of each group so far."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sudare.noise.lattice import discrete_laplace
from sudare.series.baselines.baseline import StreamBaseline

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.noise.entropy import EntropySource
    from sudare.series.baselines.baseline import Counts, StreamSetting, Values

__all__ = ["PegasusStream"]

PERTURBED = Fraction(4, 5)
"""Of the budget, what the noisy counts get; the groups get the rest."""

THRESHOLD = 5
"""A group ends when its counts deviate by more than this over the groups' epsilon of a tick."""

ROOT_DIGITS = 10**9


class PegasusStream(StreamBaseline):
    """Perturb, group, smooth; for each cell by itself.

    Groups are found on the true counts by the sparse vector technique: a tick joins the open group of its cell as long as the
    noisy deviation of the group, the sum of |count - mean|, is below a noisy threshold. The published count is the median of
    the noisy counts of the group so far.

    References:
        Chen, Machanavajjhala, Hay, Miklau: PeGaSus: data-adaptive differentially private stream processing (2017), section 4.
    """

    name: ClassVar[str] = "pegasus"

    def __init__(self, setting: StreamSetting, entropy: EntropySource) -> None:
        super().__init__(setting, entropy)
        self._perturbing = setting.total * PERTURBED / setting.window
        epsilon = self._grouping_epsilon()
        self._threshold = round(THRESHOLD / epsilon)
        self._of_threshold, self._of_deviation = discrete_laplace(4 / epsilon), discrete_laplace(8 / epsilon)
        cells = setting.cells
        self._true: Counts = np.zeros((0, cells), dtype=np.int64)
        self._measured: Counts = np.zeros((0, cells), dtype=np.int64)
        self._first = np.zeros(cells, dtype=np.int64)  # where the group of each cell begins in the two arrays
        self._is_open: NDArray[np.bool_] = np.zeros(cells, dtype=np.bool_)
        self._limits: Counts = np.zeros(cells, dtype=np.int64)

    def _grouping_epsilon(self) -> Fraction:
        """A tick's pure epsilon for groups: one person in w ticks is protected by w times as much."""
        rest = self.setting.total * (1 - PERTURBED)
        if self.setting.budget.currency == "rho":  # a pure epsilon e costs rho = e**2 / 2; rounded down
            rest = Fraction(isqrt(int(2 * rest * ROOT_DIGITS**2)), ROOT_DIGITS)
        return rest / self.setting.window

    def _release(self, counts: Counts) -> tuple[Values, Fraction]:
        self._true = np.vstack([self._true, counts])
        self._measured = np.vstack([self._measured, self._noisy(counts, self._perturbing)])
        self._group()
        smoothed = self._medians()
        self._forget()
        return smoothed, self.setting.total / self.setting.window

    def _group(self) -> None:
        """Put the new tick into the open group of each cell, or into a new one."""
        now = len(self._true) - 1
        cells = self.setting.cells
        thresholds = self._threshold + self._of_threshold.draw(cells, self.entropy)
        noise = self._of_deviation.draw(cells, self.entropy)
        is_small = self._deviations() + noise < self._limits
        is_new = ~self._is_open
        self._limits = np.where(is_new, thresholds, self._limits)
        is_split = self._is_open & ~is_small
        self._first[is_new | is_split] = now
        self._is_open = ~is_split  # the tick at which a group is split off is a group by itself

    def _members(self) -> NDArray[np.bool_]:
        return np.asarray(np.arange(len(self._true))[:, None] >= self._first)

    def _deviations(self) -> Counts:
        """Of the group of each cell with the new tick, rounded down: one person changes it by at most 2."""
        members = self._members()
        sizes = members.sum(axis=0)
        sums = np.where(members, self._true, 0).sum(axis=0)
        deviations = np.where(members, np.abs(self._true * sizes - sums), 0).sum(axis=0)
        return np.asarray(deviations // sizes)

    def _medians(self) -> Values:
        kept = np.where(self._members(), self._measured.astype(np.float64), np.nan)
        return np.asarray(np.nanmedian(kept, axis=0))

    def _forget(self) -> None:
        """Keep the ticks of groups that are still open."""
        first = int(self._first.min())
        self._true, self._measured = self._true[first:], self._measured[first:]
        self._first -= first
