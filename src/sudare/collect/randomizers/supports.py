"""Reports that support several values: what all such randomizers share.

A report *supports* some of the values, more likely the true one (probability p) than each other one (probability q). Then all
that is needed is how many reports support each value: with n people, n_v of them with the value v, the expected number is
n_v p + (n - n_v) q, and solving for n_v gives an unbiased estimate.

Proof: ``unary.md`` and ``hashing.md`` beside this file.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np

from sudare.bilingual import Words
from sudare.collect.estimation.estimates import Estimate
from sudare.collect.randomizers.batches import ReportBatch
from sudare.collect.randomizers.randomizer import Randomizer
from sudare.errors import Described, ParameterError
from sudare.parameters import exact_integer, shown
from sudare.privacy.measurements import log_rounded_up

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Counts = NDArray[np.int64]

__all__ = ["SupportRandomizer"]


class SupportRandomizer(Randomizer):
    """A randomizer whose reports support several values.

    Subclasses say with which probabilities, and count.
    """

    labels: tuple[object, ...]

    def value_labels(self) -> tuple[object, ...]:
        """The labels."""
        return self.labels

    @abstractmethod
    def truth_support(self) -> Fraction:
        """The probability p that a report supports the true value."""

    @abstractmethod
    def other_support(self) -> Fraction:
        """The probability q that a report supports a given other value."""

    @abstractmethod
    def count(self, reports: ArrayLike) -> tuple[Counts, int]:
        """How many reports support each value, and how many reports there are."""

    @abstractmethod
    def largest_ratio(self) -> Fraction:
        """In closed form: there are far too many reports to look at each."""

    def epsilon(self) -> Fraction:
        """What one report costs the person who gives it: the logarithm of the largest ratio, rounded up."""
        return log_rounded_up(self.largest_ratio())

    def anonymity_rate(self) -> Fraction:
        """One over the square of the largest ratio: some report attains it for two values, another in the other direction."""
        return 1 / self.largest_ratio() ** 2

    def batch(self, reports: ArrayLike, function: str = "Randomizer.batch") -> ReportBatch:
        """Counts are enough."""
        counts, people = self.count(reports)
        return ReportBatch(people, counts)

    def estimate_batch(self, batch: ReportBatch, candidates: Sequence[str] = ()) -> Estimate:
        """How many people have each value."""
        return self.estimate_counts(cast("Counts", batch.counts), batch.people)

    def estimate(self, reports: ArrayLike) -> Estimate:
        """How many people have each value: unbiased, nearest on the simplex, with variances.

        Args:
            reports: what was sent, one for each person.

        Raises:
            ParameterError: if the reports are not such as this randomizer gives.
        """
        return self.estimate_counts(*self.count(reports))

    def estimate_counts(self, counts: ArrayLike, people: int) -> Estimate:
        """The same, from the numbers of reports that support each value, and the number of all reports."""
        function = f"{type(self).__name__}.estimate_counts"
        told = np.asarray(counts, dtype=np.float64)
        everybody = exact_integer(people, "people", function, Words("a whole number >= 0", "0 以上の整数"), smallest=0)
        if told.shape != (len(self.labels),):
            requirement = Words(
                f"{len(self.labels)} numbers, one for each value", f"値ごとに 1 つ、{len(self.labels)} 個の数"
            )
            raise ParameterError("counts", function, requirement, shown(counts))
        if not (np.isfinite(told).all() and told.min() >= 0 and told.max() <= everybody):
            raise ParameterError("counts", function, "from 0 to the number of people", Described("others"))
        p, q, excess = self._supports()
        unbiased = (told - everybody * q) / excess
        variances = (everybody * q * (1 - q) + unbiased * (p * (1 - p) - q * (1 - q))) / excess**2
        return Estimate(self.labels, everybody, unbiased, np.maximum(variances, 0.0), repr(self))

    def variance(self, people: int, share: float = 0.0) -> float:
        """Of the estimated number of people with one value, in closed form."""
        p, q, excess = self._supports()
        return people * (share * p * (1 - p) + (1 - share) * q * (1 - q)) / excess**2

    def _supports(self) -> tuple[float, float, float]:
        """Both, and their difference, which floats would lose where epsilon is tiny."""
        p, q = self.truth_support(), self.other_support()
        return float(p), float(q), float(p - q)
