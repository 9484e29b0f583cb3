"""Transitions in which the mean report goes in a straight line with the value: two reports, or a window of likely ones.

All weights are whole numbers. Drawing and estimating cost one pass over the values and the reports.

Proof: ``collect/randomizers/means.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sudare.collect.transitions.transition import MAX_CELLS, DenseTransition, Transition
from sudare.errors import Described, ParameterError
from sudare.noise.entropy import EntropySource
from sudare.noise.uniform import uniform_below

if TYPE_CHECKING:
    from sudare.collect.transitions.transition import Integers, Shares

__all__ = ["OneBitTransition", "WindowTransition"]


class TwoWeights(Transition):
    """What transitions have in common in which the first report goes with the first value and the last with the last.

    Attributes:
        likely: the largest weight: of the first report for the first value, and of the last for the last.
        other: the smallest weight: of the first report for the last value, and of the last for the first.
    """

    likely: int
    other: int

    def largest_ratio(self) -> Fraction:
        """Of the largest and the smallest weight: the first report has both."""
        return Fraction(self.likely, self.other)

    def anonymity_rate(self) -> Fraction:
        """Its square, upside down: the first and the last report tell the first and the last value apart."""
        return Fraction(self.other, self.likely) ** 2

    def solve(self, shares: Shares) -> Shares:
        """Through the matrix written out."""
        return self._dense.solve(shares)

    def squared_inverse(self, shares: Shares) -> Shares:
        """Through the matrix written out."""
        return self._dense.squared_inverse(shares)

    @cached_property
    def _dense(self) -> DenseTransition:
        return DenseTransition.from_weights(self.weights())


@dataclass(frozen=True)
class WindowTransition(TwoWeights):
    """Each value has a window of likely reports; all windows are equally wide, and equally far from one to the next.

    Attributes:
        values: how many there are.
        shift: how many reports the window moves on from one value to the next.
        width: how many reports a window holds.
        likely: weight of a report inside the window.
        other: weight of a report outside.

    Example:
        >>> from sudare.collect.transitions.mean_transitions import WindowTransition
        >>> WindowTransition(3, 1, 2, likely=5, other=2).weights().tolist()
        [[5, 5, 2, 2], [2, 5, 5, 2], [2, 2, 5, 5]]
    """

    values: int
    shift: int
    width: int
    likely: int
    other: int

    @property
    def reports(self) -> int:  # type: ignore[override]
        """From the first report of the first window to the last of the last."""
        return (self.values - 1) * self.shift + self.width

    @property
    def total(self) -> int:  # type: ignore[override]
        """What a row adds up to."""
        return self.width * self.likely + (self.reports - self.width) * self.other

    def weights(self) -> Integers:
        """The matrix written out."""
        if self.values * self.reports > MAX_CELLS:
            requirement = f"a matrix of at most {MAX_CELLS:,} entries when written out"
            got = Described(f"{self.values:,} x {self.reports:,}")
            raise ParameterError("values", "WindowTransition.weights", requirement, got)
        place = np.arange(self.reports) - self._starts[:, None]
        return np.where((place >= 0) & (place < self.width), self.likely, self.other).astype(np.int64)

    @property
    def _starts(self) -> Integers:
        return np.arange(self.values, dtype=np.int64) * self.shift

    def draw(self, places: Integers, source: EntropySource) -> Integers:
        """One random number a value: it names a report by itself, or one of the window."""
        numbers = uniform_below(self.total, places.size, source).astype(np.int64)
        anywhere = numbers // self.other
        within = (numbers - self.reports * self.other) // (self.likely - self.other) + self.shift * places.ravel()
        return np.where(anywhere < self.reports, anywhere, within).reshape(places.shape)

    def forward(self, shares: Shares) -> Shares:
        """By running sums: in time that grows with values and reports, not with their product."""
        steps = np.zeros((*np.shape(shares)[:-1], self.reports + 1))
        steps[..., self._starts] += shares
        steps[..., self._starts + self.width] -= shares
        inside = np.cumsum(steps[..., :-1], axis=-1)
        sums = np.sum(shares, axis=-1, keepdims=True)
        return np.asarray(((self.likely - self.other) * inside + self.other * sums) / self.total)

    def backward(self, weights: Shares) -> Shares:
        """By running sums."""
        sums = np.concatenate([np.zeros((*np.shape(weights)[:-1], 1)), np.cumsum(weights, axis=-1)], axis=-1)
        inside = sums[..., self._starts + self.width] - sums[..., self._starts]
        return np.asarray(((self.likely - self.other) * inside + self.other * sums[..., -1:]) / self.total)


@dataclass(frozen=True)
class OneBitTransition(TwoWeights):
    """Two reports, with probabilities that go in a straight line from the first value to the last.

    Attributes:
        values: how many there are.
        likely: weight of the likelier report at either end, but for a factor.
        other: weight of the unlikelier report there.
    """

    values: int
    likely: int
    other: int
    reports: ClassVar[int] = 2  # type: ignore[misc]

    @property
    def total(self) -> int:  # type: ignore[override]
        """What a row adds up to."""
        return (self.values - 1) * (self.likely + self.other)

    def weights(self) -> Integers:
        """The matrix written out."""
        high = self._high(np.arange(self.values))
        return np.stack([self.total - high, high], axis=1)

    def _high(self, places: Integers) -> Integers:
        return np.asarray(places * (self.likely - self.other) + (self.values - 1) * self.other, dtype=np.int64)

    def draw(self, places: Integers, source: EntropySource) -> Integers:
        """One random number a value."""
        numbers = uniform_below(self.total, places.size, source).astype(np.int64).reshape(places.shape)
        return (numbers < self._high(places)).astype(np.int64)

    def forward(self, shares: Shares) -> Shares:
        """Shares times the matrix."""
        return np.asarray(np.asarray(shares) @ self.probabilities())

    def backward(self, weights: Shares) -> Shares:
        """The matrix times weights."""
        return np.asarray(np.asarray(weights) @ self.probabilities().T)
