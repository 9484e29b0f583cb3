"""The collector: reports come in batches, perhaps in several places, and are added up before anything is estimated.

For most randomizers a batch is needed only for its counts, and is forgotten at once. Counts of several collectors can be merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.collect.estimation.estimates import Estimate
from sudare.collect.randomizers.batches import ReportBatch
from sudare.collect.randomizers.randomizer import Randomizer
from sudare.errors import Described, ParameterError
from sudare.parameters import shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sudare.collect.randomizers.means import MeanEstimate

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
        batch = self.randomizer.batch(reports, "Aggregator.add")
        if batch.counts is not None:
            self._counts = batch.counts.astype(np.int64) if self._counts is None else self._counts + batch.counts
        self._kept += batch.reports
        self.people += batch.people

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
            candidates: the texts to look for, where the randomizer needs them: RAPPOR does.

        Raises:
            ParameterError: if there are no reports, or the last batch is refused.
            GuaranteeError: if the reports do not tell values apart; for numbers `estimate_mean` may still do.
        """
        self._take_last(reports, "Aggregator.estimate")
        batch = ReportBatch(self.people, self._counts, tuple(self._kept))
        return self.randomizer.estimate_batch(batch, candidates)

    def estimate_mean(self, reports: ArrayLike | None = None) -> MeanEstimate:
        """The mean of all people's numbers, with its standard error and intervals.

        Args:
            reports: a last batch to take in before.

        Raises:
            ParameterError: if there are no reports, the last batch is refused, or values are no numbers.
        """
        self._take_last(reports, "Aggregator.estimate_mean")
        if not self.randomizer.has_mean:
            got = Described(f"one of {self.randomizer.kind}")
            raise ParameterError(
                "randomizer", "Aggregator.estimate_mean", Words("a randomizer of numbers", "数値のランダム化器"), got
            )
        return self.randomizer.estimate_mean(np.concatenate(self._kept))

    def _take_last(self, reports: ArrayLike | None, function: str) -> None:
        if reports is not None:
            self.add(reports)
        if self.people == 0:
            raise ParameterError("reports", function, "given, or added before", Described("no reports"))
