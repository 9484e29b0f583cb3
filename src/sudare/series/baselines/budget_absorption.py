"""BA: publish again when enough has changed, with the shares of the ticks that were not published."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from sudare.series.baselines.budget_distribution import ChangeDriven

__all__ = ["BudgetAbsorption"]


class BudgetAbsorption(ChangeDriven):
    """The same share for every tick, saved up while nothing is published.

    A tick that is published takes the shares of the ticks before it that were not; in return as many ticks after it are not
    published.

    References:
        Kellaris, Papadopoulos, Xiao, Papadias: Differentially private event sequences over infinite streams (2014), section 5.
    """

    name: ClassVar[str] = "ba"

    def _offered(self) -> Fraction:
        share = self.setting.share(1, 2 * self.setting.window)
        last = max((tick for tick, cost in enumerate(self.published) if cost), default=None)
        if last is None:
            return share * min(self.tick + 1, self.setting.window)
        repaid = last + int(self.published[last] / share) - 1
        if self.tick <= repaid:
            return Fraction(0)
        return share * min(self.tick - repaid, self.setting.window)
