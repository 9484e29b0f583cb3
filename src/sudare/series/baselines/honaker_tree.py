"""A binary tree of changes over time, each sum estimated from its own noisy value and from those below it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sudare.series.baselines.baseline import StreamBaseline
from sudare.series.sensitivity import gram_matrix, path_l1, path_l2_squared

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.noise.entropy import EntropySource
    from sudare.series.baselines.baseline import Counts, StreamSetting, Values

__all__ = ["HonakerTree", "tree_rows"]


class HonakerTree(StreamBaseline):
    """Changes over 1, 2, 4, ... ticks with noise; a count is the sum of the few of them that make up the window so far.

    How many of them a person changes depends on the moves of the path: counts must be those of people whose moves are limited,
    and begin anew in each window. With the estimate from below, a sum over 2^h ticks is weighed with the sum of its two
    halves by their variances s: 1 / s_h = 1 + 1 / (2 s_(h-1)).

    Args:
        setting: what is asked.
        entropy: where the bits of the noise come from.
        is_refined: False for the tree without the estimate from below (Chan et al. 2011).

    References:
        Honaker: Efficient use of differentially private binary trees (2015).
        Chan, Shi, Song: Private and continual release of statistics (2011).
    """

    name: ClassVar[str] = "honaker"
    bounds_moves: ClassVar[bool] = True

    def __init__(self, setting: StreamSetting, entropy: EntropySource, *, is_refined: bool = True) -> None:
        super().__init__(setting, entropy)
        rows = tree_rows(setting.window)
        if setting.budget.currency == "rho":
            sensitivity = path_l2_squared(gram_matrix(rows), setting.moves)
        else:
            sensitivity = path_l1(rows, setting.moves)
        self._sampler = setting.sampler(setting.total, sensitivity)
        self._is_refined = is_refined
        self._begin()

    def _begin(self) -> None:
        self._before: Counts = np.zeros(self.setting.cells, dtype=np.int64)
        self._done: list[tuple[Counts, Values, float]] = []  # of finished sums: true, estimated, variance

    def _release(self, counts: Counts) -> tuple[Values, Fraction]:
        place = self.tick % self.setting.window
        if place == 0:
            self._begin()
        true, self._before = counts - self._before, counts
        estimated, variance = self._measured(true), 1.0
        for _ in range(((place + 1) & -(place + 1)).bit_length() - 1):  # this tick ends so many larger sums
            left_true, left, left_variance = self._done.pop()
            true = left_true + true
            noise_below = left_variance + variance
            own = noise_below / (1 + noise_below) if self._is_refined else 1.0
            estimated = own * self._measured(true) + (1 - own) * (left + estimated)
            variance = own  # 1 / (1 + 1 / noise_below) for the best weights, and 1 for the sum alone
        self._done.append((true, estimated, variance))
        total = np.sum([one for _, one, _ in self._done], axis=0)
        return np.asarray(total), self.setting.total if place == 0 else Fraction(0)

    def _measured(self, true: Counts) -> Values:
        noisy: NDArray[np.float64] = (true + self._sampler.draw(true.size, self.entropy)).astype(np.float64)
        return noisy


def tree_rows(ticks: int) -> NDArray[np.int64]:
    """The sums over 1, 2, 4, ... ticks that end within a window, a row each."""
    rows = []
    length = 1
    while length <= ticks:
        for first in range(0, ticks - length + 1, length):
            row = np.zeros(ticks, dtype=np.int64)
            row[first : first + length] = 1
            rows.append(row)
        length *= 2
    return np.array(rows)
