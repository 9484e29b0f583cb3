"""Uniform: every tick gets the same share of the budget."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sudare.series.baselines.baseline import StreamBaseline

if TYPE_CHECKING:
    from sudare.series.baselines.baseline import Counts, Values

__all__ = ["UniformStream"]


class UniformStream(StreamBaseline):
    """Fresh noise at every tick, with 1/w of the budget each.

    References:
        Kellaris, Papadopoulos, Xiao, Papadias: Differentially private event sequences over infinite streams (2014), section 4.
    """

    name: ClassVar[str] = "uniform"

    def _release(self, counts: Counts) -> tuple[Values, Fraction]:
        cost = self.setting.share(1, self.setting.window)
        return self._noisy(counts, cost).astype(float), cost
