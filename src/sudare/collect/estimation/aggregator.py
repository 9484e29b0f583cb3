"""Whoever collects: reports come in batches, perhaps in several places, and are added up before anything is estimated.

For most randomizers a batch is needed only for its counts, and is forgotten at once. Counts of several collectors can be merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.collect.estimation.estimates import Estimate
from sudare.collect.randomizers.categories import CategoryRandomizer
from sudare.collect.randomizers.means import MeanEstimate, MeanRandomizer
from sudare.collect.randomizers.noisy_numbers import BoundedNoise, UnboundedNoise
from sudare.collect.randomizers.randomizer import Randomizer
from sudare.collect.randomizers.supports import SupportRandomizer
from sudare.collect.rappor.rappor import Rappor
from sudare.errors import Described, ParameterError
from sudare.parameters import describe_array, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Aggregator"]


class Aggregator:
    """Adds up reports of one randomizer.

    Args:
        randomizer: where the reports come from.

    Example:
        >>> from sudare.collect import Aggregator, KaryResponse
        >>> question = KaryResponse(("yes", "no"), 3)
        >>> collected = Aggregator(question)
        >>> for _ in range(10):
        ...     collected.add(question.randomize(["yes"] * 100 + ["no"] * 300))
        >>> collected.people, bool(abs(collected.estimate().unbiased[0] - 1000) < 300)
        (4000, True)
    """

    def __init__(self, randomizer: Randomizer) -> None:
        if not isinstance(randomizer, Randomizer):
            raise ParameterError("randomizer", "Aggregator", "a Randomizer", shown(randomizer))
        self.randomizer = randomizer
        self.people = 0
        self._counts: NDArray[np.int64] | None = None
        self._kept: list[NDArray[Any]] = []

    def add(self, reports: ArrayLike) -> None:
        """Take in a batch of reports.

        Raises:
            ParameterError: if one of them is not such as the randomizer gives; none of the batch is taken then.
        """
        if isinstance(self.randomizer, SupportRandomizer):
            counts, people = self.randomizer.count(reports)
        elif isinstance(self.randomizer, CategoryRandomizer):
            counts = self.randomizer.count(reports)
            people = int(counts.sum())
        else:
            batch = np.asarray(reports)
            _require_reports(self.randomizer, batch)
            self._kept.append(batch)
            self.people += len(batch)
            return
        self._counts = counts.astype(np.int64) if self._counts is None else self._counts + counts
        self.people += people

    def merge(self, other: Aggregator) -> None:
        """Take in all that another aggregator of the same randomizer has.

        Raises:
            ParameterError: if it has reports of another randomizer.
        """
        is_alike = isinstance(other, Aggregator) and other.randomizer.fingerprint() == self.randomizer.fingerprint()
        if not is_alike or other is self:
            raise ParameterError(
                "other", "Aggregator.merge", "another one of the same randomizer", Described("something else")
            )
        if other._counts is not None:
            self._counts = other._counts.copy() if self._counts is None else self._counts + other._counts
        self._kept += other._kept
        self.people += other.people

    def estimate(self, reports: ArrayLike | None = None, *, candidates: Sequence[str] = ()) -> Estimate:
        """How many people have each value: unbiased and constrained, with standard errors and intervals.

        Args:
            reports: a last batch to take in before.
            candidates: the texts to look for, for RAPPOR only.

        Raises:
            ParameterError: if there are no reports, or the last batch is refused.
            GuaranteeError: if the reports do not tell values apart; for numbers `estimate_mean` may still do.
        """
        self._take_last(reports, "Aggregator.estimate")
        if isinstance(self.randomizer, Rappor):
            return self.randomizer.estimate(np.concatenate(self._kept), candidates)
        if self._counts is None:
            return self.randomizer.estimate(np.concatenate(self._kept))
        if isinstance(self.randomizer, SupportRandomizer):
            return self.randomizer.estimate_counts(self._counts, self.people)
        if isinstance(self.randomizer, CategoryRandomizer):
            return self.randomizer.estimate_counts(self._counts)
        raise TypeError("Counts are kept for categories only.")

    def estimate_mean(self, reports: ArrayLike | None = None) -> MeanEstimate:
        """The mean of all people's numbers, with its standard error and intervals.

        Args:
            reports: a last batch to take in before.

        Raises:
            ParameterError: if there are no reports, the last batch is refused, or values are no numbers.
        """
        self._take_last(reports, "Aggregator.estimate_mean")
        if not isinstance(self.randomizer, (BoundedNoise, UnboundedNoise, MeanRandomizer)):
            got = Described(f"one of {self.randomizer.kind}")
            raise ParameterError("randomizer", "Aggregator.estimate_mean", "a randomizer of numbers", got)
        return self.randomizer.estimate_mean(np.concatenate(self._kept))

    def _take_last(self, reports: ArrayLike | None, function: str) -> None:
        if reports is not None:
            self.add(reports)
        if self.people == 0:
            raise ParameterError("reports", function, "given, or added before", Described("no reports"))


def _require_reports(randomizer: Randomizer, reports: NDArray[Any]) -> None:
    """See that every one is a report: a single odd one, once taken, would spoil all others."""
    function = "Aggregator.add"
    if reports.ndim != 1:
        raise ParameterError("reports", function, "one for each person, in one dimension", describe_array(reports))
    if isinstance(randomizer, Rappor):
        randomizer.read_reports(reports, function=function)
    elif isinstance(randomizer, (BoundedNoise, UnboundedNoise, MeanRandomizer)):
        randomizer.report_places(reports, function)
    else:
        randomizer.estimate(reports)
