"""A limit on how many people of the whole population would be found by their quasi-identifiers: population uniqueness.

What it protects: a table that is a small sample of a large population from having more than a given share of people in it who
are alone there. What it does not: those few, and every class that gives its sensitive values away. The share is estimated, by a
model of how classes of the sample come about, and no data can confirm it.

Unlike the other models this one does not judge classes one by one: records that are alone are suppressed until the estimate
for the rest is within the limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.errors import InputError, ParameterError
from sudare.microdata.grouping import Grouped
from sudare.microdata.models.model import Model
from sudare.microdata.uniqueness import estimated_uniqueness
from sudare.parameters import Rational, exact_fraction, exact_integer, show_fraction, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PopulationUniqueness"]

POPULATION_UNIQUENESS = Words(
    "population uniqueness of at most {limit}: of {people} people, so many are estimated to be unique ({estimator})",
    "母集団一意性 {limit} 以下: {people} 人のうち一意と推定される人の割合が {limit} 以下です ({estimator})",
)
TINY = 1e-300
ESTIMATORS = ("auto", "pitman", "zayatz")
"""Not slide negative binomial: from one table to the next it may have no solution, or another one."""


@dataclass(frozen=True)
class PopulationUniqueness(Model):
    """At most a share of the population is unique by the quasi-identifiers, as estimated from the published records.

    Args:
        limit: of the share, from 0 to 1.
        population: people in the population that the records are a sample of.
        estimator: ``"auto"``, ``"pitman"`` or ``"zayatz"``, see ``population_uniqueness``.

    Example:
        >>> from sudare.microdata.models import PopulationUniqueness
        >>> PopulationUniqueness(0.001, 125_000_000).describe()
        'population uniqueness of at most 0.001: of 125000000 people, so many are estimated to be unique (auto)'
    """

    limit: Fraction
    population: int
    estimator: str
    is_monotonic = False
    judges_table = True

    def __init__(self, limit: Rational, population: int, *, estimator: str = "auto") -> None:
        check_arguments(PopulationUniqueness.__init__, locals(), "estimator")
        name = "PopulationUniqueness"
        exact = exact_fraction(limit, "limit", name, Words("a share from 0 to 1", "0 以上 1 以下の割合"))
        if not 0 <= exact <= 1:
            raise ParameterError("limit", name, Words("a share from 0 to 1", "0 以上 1 以下の割合"), shown(limit))
        if estimator not in ESTIMATORS:
            raise ParameterError(
                "estimator",
                name,
                Words("one of " + ", ".join(ESTIMATORS), f"{', '.join(ESTIMATORS)} のいずれか"),
                shown(estimator),
            )
        object.__setattr__(self, "limit", exact)
        people = exact_integer(
            population, "population", name, Words("a whole number of at least 1", "1 以上の整数"), smallest=1
        )
        object.__setattr__(self, "population", people)
        object.__setattr__(self, "estimator", estimator)

    def holds(self, grouped: Grouped) -> NDArray[np.bool_]:
        """All classes, but of those with one record as many as must go, the first ones.

        How many is found by a search that takes for granted that an estimate falls when records that are alone go. If it did not,
        more might go than must; what stays is within the limit in any case.
        """
        alone = np.flatnonzero(grouped.sizes == 1)
        sizes, classes = np.unique(grouped.sizes[grouped.sizes > 1], return_counts=True)
        if int(sizes @ classes) + alone.size > self.population:
            raise InputError(
                "The population is said to have fewer people than the table has. Give the number of people it was drawn from.",
                "母集団の人数が表の人数より少なくなっています。表の抽出元の人数を指定してください。",
            )
        result = np.ones(grouped.sizes.size, dtype=bool)
        result[alone[: self._gone(sizes, classes, int(alone.size))]] = False
        return result

    def _gone(self, sizes: NDArray[np.int64], classes: NDArray[np.int64], alone: int) -> int:
        """How many of the records that are alone must go, beside the other classes."""

        def excess(gone: int) -> float:
            """The logarithm of the estimate less that of the limit."""
            of_size, number = np.concatenate([[1], sizes]), np.concatenate([[alone - gone], classes])
            estimate = estimated_uniqueness(of_size, number, self.population, self.estimator)
            return (
                math.inf if estimate is None else math.log(max(estimate, TINY)) - math.log(max(float(self.limit), TINY))
            )

        few, many, guess = 0, alone, 0
        above, below = math.inf, -math.inf
        by_halving = False
        while few < many:
            found = excess(guess)
            if found <= 0:
                many, below = guess, found
            else:
                few, above = guess + 1, found
            guess = (few + many) // 2
            if not by_halving and math.isfinite(above) and math.isfinite(below):
                # An estimate falls about exponentially; every other guess is by halving, in case it does not.
                guess = min(few + int((many - few) * above / (above - below)), many - 1)
            by_halving = not by_halving
        return few

    @property
    def words(self) -> Words:
        """What the model asks for."""
        return POPULATION_UNIQUENESS.format(
            limit=show_fraction(self.limit), people=self.population, estimator=self.estimator
        )
