"""Whether a public reference is believed on a level of a tree, at any noise.

The noisy counts of the whole level judge: the reference must make them likelier, in total, than everything that is known
without it. What noise hides adds nothing to either side, so the question has an answer as long as anything is left to see.
Argument: ``refine/trees.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.refine.learning.priors import Departures, evidence_of_counts, learn_departures

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["MIN_EVIDENCE", "MIN_NODES", "LevelEvidence", "departures_if_trusted"]

MIN_NODES = 30
"""A reference is judged by at least this many nodes of a level, else it is not used there."""

MIN_EVIDENCE = 3.0
"""What a reference must add to the logarithm of the likelihood of all noisy counts of a level. If it is worthless and the
best explanation without it is right, chance adds as much with a probability of exp(-3) = 5 % at most."""


@dataclass(frozen=True)
class LevelEvidence:
    """The nodes of a level that a reference speaks of, once their parents are refined.

    Attributes:
        values: noisy counts.
        variances: of their noise, positive.
        parents: refined counts of the nodes' parents, positive.
        expected: the parents' counts divided as in the reference.
        evenly: the parents' counts divided by cells.
        is_laplace: the shape of the noise, else Gaussian.
    """

    values: Values
    variances: Values
    parents: Values
    expected: Values
    evenly: Values
    is_laplace: bool

    @classmethod
    def joined(cls, parts: Sequence[LevelEvidence]) -> LevelEvidence:
        """The evidence of several parts of a level together."""
        names = ("values", "variances", "parents", "expected", "evenly")
        values, variances, parents, expected, evenly = (
            np.concatenate([getattr(part, name) for part in parts]) for name in names
        )
        return cls(values, variances, parents, expected, evenly, parts[0].is_laplace)

    def departures_from(self, expected: Values) -> Departures:
        """How far the counts depart from what is expected of them."""
        return learn_departures(self.values, self.variances, expected, is_laplace=self.is_laplace)

    def gains(self, departures: Departures) -> Iterator[float]:
        """What departures from the reference add to the logarithm of the likelihood, over each explanation without it.

        These are counts >= 0 of whatever law fits parents of their size, an even division of every parent, and nobody anywhere.
        """
        explanations: tuple[Callable[[], float], ...] = (
            lambda: evidence_of_counts(self.values, self.variances, self.parents, is_laplace=self.is_laplace),
            lambda: self.departures_from(self.evenly).evidence,
            lambda: self.departures_from(np.zeros(self.values.size)).evidence,
        )
        for explanation in explanations:
            yield self.values.size * (departures.evidence - explanation())


def departures_if_trusted(level: LevelEvidence, *, is_trusted_above: bool) -> Departures | None:
    """How far the counts of a level depart from its reference; None if it explains them no better than what is known without.

    Args:
        level: what is known of its nodes.
        is_trusted_above: whether the reference is believed on the level above: it is then as likely right here as not, and
            any evidence decides.
    """
    if level.values.size < MIN_NODES:
        return None
    departures = level.departures_from(level.expected)
    needed = 0.0 if is_trusted_above else MIN_EVIDENCE
    return departures if all(gain > needed for gain in level.gains(departures)) else None
