"""What reports tell about the people who gave them: how many have each value, and how sure that is.

The number of people is known: everybody sends one report. Their true values are fixed; only the randomizing is chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.border.frames import ShownRows
from sudare.distributions import normal_quantile
from sudare.parameters import Rational, read_chance
from sudare.refine import project_on_simplex

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["Estimate"]


@dataclass(frozen=True, eq=False)
class Estimate(ShownRows):
    """Estimated numbers of people, for each value.

    Attributes:
        labels: the values.
        people: how many reports there were.
        unbiased: estimated numbers of people, right on average, possibly below 0.
        variances: estimated variances of them.
        randomizer: which randomizer the reports came from, in words.
    """

    labels: tuple[object, ...]
    people: int
    unbiased: Values
    variances: Values
    randomizer: str = ""

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each value: estimates, standard errors and 95 % intervals."""
        low, high = self.intervals()
        return {
            "value": self.labels,
            "people": self.constrained,
            "unbiased": self.unbiased,
            "standard_error": self.standard_errors,
            "low": low,
            "high": high,
        }

    @property
    def standard_errors(self) -> Values:
        """Of the unbiased estimates."""
        return np.sqrt(np.maximum(self.variances, 0.0))

    @cached_property
    def constrained(self) -> Values:
        """The numbers >= 0 nearest to the unbiased ones that add up to the number of people. No longer unbiased."""
        return np.asarray(project_on_simplex(self.unbiased, self.people))

    def intervals(self, level: Rational = 0.95) -> tuple[Values, Values]:
        """Lower and upper ends that hold the true number with this probability, for each value by itself.

        Args:
            level: above 0 and below 1.
        """
        chance = read_chance(level, "level", "Estimate.intervals")
        reach = normal_quantile(0.5 + chance / 2) * self.standard_errors
        return self.unbiased - reach, self.unbiased + reach
