"""BD: publish again when enough has changed, each time with half of what the window has left."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sudare.series.baselines.baseline import StreamBaseline

if TYPE_CHECKING:
    from sudare.noise.entropy import EntropySource
    from sudare.series.baselines.baseline import Counts, StreamSetting, Values

__all__ = ["BudgetDistribution", "ChangeDriven"]


class ChangeDriven(StreamBaseline):
    """Methods that publish when the counts are far from what was last published: half of the budget is for looking.

    The distance is the mean absolute difference over all cells. It is measured at every tick with 1/(2w) of the budget; its sum
    over cells is a whole number that one person changes by 1. A tick is published if the noisy distance is larger than
    the mean absolute error that publishing would have.
    """

    def __init__(self, setting: StreamSetting, entropy: EntropySource) -> None:
        super().__init__(setting, entropy)
        self._last: Counts = np.zeros(setting.cells, dtype=np.int64)
        self._looking = setting.share(1, 2 * setting.window)
        self.published: list[Fraction] = []

    def _release(self, counts: Counts) -> tuple[Values, Fraction]:
        differences = int(np.abs(counts - self._last).sum())
        noise = self.setting.sampler(self._looking).draw(None, self.entropy)
        distance = (differences + int(noise)) / self.setting.cells
        offered = self._offered()
        is_worth = offered > 0 and distance > self.setting.mean_error(offered)
        if is_worth:
            self._last = self._noisy(counts, offered)
        self.published.append(offered if is_worth else Fraction(0))
        return self._last.astype(np.float64), self._looking + self.published[-1]

    @abstractmethod
    def _offered(self) -> Fraction:
        """What publishing the next tick would cost; 0 if it must not be published."""


class BudgetDistribution(ChangeDriven):
    """Half of what the window has left for publishing: much at first, ever less if the counts change often.

    References:
        Kellaris, Papadopoulos, Xiao, Papadias: Differentially private event sequences over infinite streams (2014), section 5.
    """

    name: ClassVar[str] = "bd"

    def _offered(self) -> Fraction:
        first = max(0, self.tick - self.setting.window + 1)
        left = self.setting.share(1, 2) - sum(self.published[first:], Fraction(0))
        return left / 2
