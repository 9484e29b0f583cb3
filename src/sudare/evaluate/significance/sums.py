"""The law of a sum of independent whole numbers, such as the noise of an area or of the difference of two.

One Fourier transform gives all probabilities. Whatever is left out or rounded on the way is added to a tail, so that no
p-value is too small.

Formulas: ``significance.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import ceil, floor, gcd, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sudare.evaluate.significance.laws import Law

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Reals = NDArray[np.float64]

__all__ = ["LawOfSum", "Term", "merged"]

MAX_POINTS = 1 << 22
"""Of the transform. A wider law is laid on a coarser grid, at a price that its tails include."""

TRANSFORM_ERROR = 1e-11
"""Bounds the error of a tail by floating-point arithmetic (``significance.md``); no tail is given below it."""

LEFT_OUT = 36.0
"""The grid reaches as far as a Chernoff bound of exp(-36) on either side."""


@dataclass(frozen=True)
class Term:
    """``weight * (X_1 + ... + X_times)`` for independent numbers of one law.

    Attributes:
        law: of each.
        weight: a whole number, possibly negative.
        times: how many.
    """

    law: Law
    weight: int = 1
    times: int = 1


def merged(terms: Iterable[Term]) -> tuple[Term, ...]:
    """The same terms, those of one law and weight counted together."""
    times: dict[tuple[Law, int], int] = {}
    for term in terms:
        times[term.law, term.weight] = times.get((term.law, term.weight), 0) + term.times
    return tuple(Term(law, weight, count) for (law, weight), count in times.items() if weight and count)


@dataclass(frozen=True)
class LawOfSum:
    """The law of a sum of independent terms.

    Attributes:
        terms: what is summed; none for a sum that is 0.

    Example:
        >>> from fractions import Fraction
        >>> from sudare.evaluate.significance import LawOfSum, Term, law_of_noise
        >>> from sudare.evaluate.significance.laws import LaplaceLaw
        >>> noise = LawOfSum((Term(LaplaceLaw(Fraction(10)), times=2),))  # of the difference of two cells
        >>> round(float(noise.at_least(40)), 4)
        0.0286
    """

    terms: tuple[Term, ...]

    @cached_property
    def variance(self) -> float:
        """The sum of the variances."""
        return sum(term.times * term.weight**2 * term.law.variance for term in self.terms)

    @property
    def standard_deviation(self) -> float:
        """The root of the variance."""
        return sqrt(self.variance)

    def at_least(self, values: ArrayLike) -> Reals:
        """P(sum >= value) for each value, rounded up by what the computation may have lost."""
        return self._grid.tails(np.asarray(values, dtype=np.float64), up=True)

    def at_most(self, values: ArrayLike) -> Reals:
        """P(sum <= value) for each value, rounded up by what the computation may have lost."""
        return self._grid.tails(np.asarray(values, dtype=np.float64), up=False)

    def surely_at_least(self, values: ArrayLike) -> Reals:
        """P(sum >= value), rounded down."""
        return np.asarray(1 - self.at_most(np.ceil(np.asarray(values, dtype=np.float64)) - 1))

    def surely_at_most(self, values: ArrayLike) -> Reals:
        """P(sum <= value), rounded down."""
        return np.asarray(1 - self.at_least(np.floor(np.asarray(values, dtype=np.float64)) + 1))

    def upper_critical(self, chance: float) -> int:
        """The smallest whole number that is reached or passed with at most this chance."""
        return self._grid.critical(chance, up=True)

    def lower_critical(self, chance: float) -> int:
        """The largest whole number that is reached or fallen below with at most this chance."""
        return self._grid.critical(chance, up=False)

    @property
    def _grid(self) -> _Grid:
        return _grid_of(self.terms)


@dataclass(frozen=True)
class _Grid:
    """Tails at the values ``centre + step * (first + i)``; the sum itself is at most ``slack`` away from them."""

    centre: int
    first: int
    step: int
    slack: float
    upper: Reals
    lower: Reals

    @classmethod
    def of(cls, terms: Sequence[Term]) -> _Grid:
        """The finest grid that holds the law."""
        step, placed, slack = 1, tuple(terms), 0.0
        while (points := _points(placed)) > MAX_POINTS:
            step *= 2
            coarse = [_coarsened(term, step) for term in terms]
            placed, slack = tuple(term for term, _ in coarse), sum(lost for _, lost in coarse)
        probabilities = _probabilities(placed, points)
        centre = sum(term.weight * term.times * term.law.centre for term in terms)
        lower, upper = np.cumsum(probabilities), np.cumsum(probabilities[::-1])[::-1]
        return cls(centre, -(points // 2), step, slack, upper, lower)

    def tails(self, values: Reals, *, up: bool) -> Reals:
        """P(sum >= value), or P(sum <= value), rounded up."""
        away = values - self.centre + (-self.slack if up else self.slack)
        places = (np.ceil(away / self.step) if up else np.floor(away / self.step)) - self.first
        sums = self.upper if up else self.lower
        inside = np.clip(places, 0, sums.size - 1).astype(np.int64)
        found = np.where((places < 0) if up else (places >= sums.size), 1.0, sums[inside])
        found = np.where((places >= sums.size) if up else (places < 0), 0.0, found)
        return np.asarray(np.minimum(found + TRANSFORM_ERROR, 1.0))

    def critical(self, chance: float, *, up: bool) -> int:
        """The first value, from the middle outward, whose rounded-up tail is at most the chance."""
        rare = (self.upper if up else self.lower) + TRANSFORM_ERROR <= chance
        count = int(rare.sum())
        if up:
            return self.centre + self.step * (self.first + rare.size - count - 1) + floor(self.slack) + 1
        return self.centre + self.step * (self.first + count) - floor(self.slack) - 1


@lru_cache(maxsize=4)
def _grid_of(terms: tuple[Term, ...]) -> _Grid:
    return _Grid.of(terms)


def _coarsened(term: Term, step: int) -> tuple[Term, float]:
    """A term, seen from its centre, as a multiple of the step; and by how much that can be wrong.

    Either its law or its weight is made coarser, whichever loses less.
    """
    factor = step // gcd(term.weight, step)
    if factor == 1:
        return Term(term.law, term.weight // step, term.times), 0.0
    weight = round(term.weight / step)
    lost = abs(term.weight - weight * step) * max(_reach([Term(term.law, 1, term.times)], side) for side in (1, -1))
    # What is cut off a number is as often too much as too little, at most the factor: Hoeffding's bound for all together.
    cut = abs(term.weight) * factor * min(float(term.times), sqrt(2 * LEFT_OUT * term.times))
    law = term.law.coarser(factor) if cut < lost else None
    if law is None:
        return Term(term.law, weight, term.times), lost
    return Term(law, term.weight * factor // step, term.times), cut


def _points(terms: Sequence[Term]) -> int:
    """A power of two of grid points that holds the sum but for exp(-36) on either side, seen from its centre."""
    reach = max(_reach(terms, 1), _reach(terms, -1))
    return 1 << max(4, (2 * ceil(reach) + 4).bit_length())


def _reach(terms: Sequence[Term], side: int) -> float:
    """How far a Chernoff bound says that the sum can be from its centre on one side."""
    largest = max((abs(term.weight) for term in terms), default=0)
    if not largest:
        return 0.0
    speeds = 30.0 / largest * 2.0 ** (-np.arange(0, 140) / 2)
    with np.errstate(over="ignore", invalid="ignore"):
        moments = sum(term.times * term.law.log_moment(side * term.weight * speeds) for term in terms)
        bounds = (moments + LEFT_OUT) / speeds
    return float(np.min(bounds[np.isfinite(bounds)]))


def _probabilities(terms: Sequence[Term], points: int) -> Reals:
    """P(sum = centre - points / 2 + i) for i = 0, 1, ..."""
    angles = 2 * np.pi * np.arange(points // 2 + 1) / points
    logarithm = np.zeros(angles.size, dtype=np.complex128)
    for term in terms:
        # Angles are turned to where the laws want them by whole numbers, so that nothing is rounded.
        turns = np.arange(points // 2 + 1) * (term.weight % points) % points
        turned = 2 * np.pi * np.where(turns > points // 2, turns - points, turns) / points
        logarithm += term.times * term.law.log_characteristic(turned)
    found = np.fft.irfft(np.exp(np.conj(logarithm)), points)
    return np.asarray(np.maximum(np.roll(found, points // 2), 0.0))
