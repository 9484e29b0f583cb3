"""Randomized response in front of Prio3: a client's own protection, which no aggregator can take away.

With probability ``keep`` the true value is reported, else a value drawn uniformly from all of them. Both coins are exact.

Guarantee: epsilon-local differential privacy with exp(epsilon) = 1 + keep * values / (1 - keep). Proof: ``prio.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from sudare.bilingual import Words
from sudare.errors import Described, ParameterError
from sudare.noise.entropy import EntropySource
from sudare.noise.uniform import uniform_below
from sudare.parameters import Rational, exact_fraction, exact_integer
from sudare.privacy.measurements import log_rounded_up

__all__ = ["RandomizedResponse", "ResponseEstimate", "exact_estimates"]

MAX_PARTS = 2**64
NORMAL_95 = 1.959963984540054


@dataclass(frozen=True)
class ResponseEstimate:
    """How many people have a value, as far as randomized reports tell.

    Attributes:
        count: unbiased; may be negative.
        standard_error: of the count, from the responses' coins alone. Zero where nothing was randomized.
        lower: lower end of an interval that covers in about 95 of 100 collections (normal approximation).
        upper: its upper end.
    """

    count: float
    standard_error: float
    lower: float
    upper: float


@dataclass(frozen=True)
class RandomizedResponse:
    """k-ary randomized response: keep the value, or draw a uniform one.

    Args:
        values: how many values there are, at least 2.
        keep: the probability of keeping, above 0 and below 1, read exactly.

    Example:
        >>> from sudare.collect.prio.responses import RandomizedResponse
        >>> response = RandomizedResponse(values=4, keep=0.5)
        >>> response(2) in range(4)
        True
        >>> round(float(response.epsilon), 4)  # ln 5
        1.6094
    """

    values: int
    keep: Rational

    def __post_init__(self) -> None:
        exact_integer(
            self.values,
            "values",
            "RandomizedResponse",
            Words("a whole number from 2 to 10**6", "2 以上 10**6 以下の整数"),
            smallest=2,
            largest=10**6,
        )
        requirement = Words(
            "a probability above 0 and below 1 with a denominator of at most 2**64",
            "0 より大きく 1 より小さい確率（分母は 2**64 以下）",
        )
        keep = exact_fraction(self.keep, "keep", "RandomizedResponse", requirement)
        if not 0 < keep < 1 or keep.denominator > MAX_PARTS:
            raise ParameterError("keep", "RandomizedResponse", requirement, self.keep)
        object.__setattr__(self, "keep", keep)

    @property
    def probability(self) -> Fraction:
        """The probability of keeping, as a fraction."""
        return Fraction(self.keep)

    @property
    def epsilon(self) -> Fraction:
        """What one report costs its sender: exactly, but for a rounding upwards beyond 55 digits."""
        return log_rounded_up(1 + self.probability * self.values / (1 - self.probability))

    def __call__(self, measurement: int, entropy: EntropySource | None = None) -> int:
        """The value to report for a true one."""
        if type(measurement) is not int or not 0 <= measurement < self.values:
            raise ParameterError(
                "measurement",
                "RandomizedResponse",
                Words(f"a whole number from 0 to {self.values - 1}", f"0 以上 {self.values - 1} 以下の整数"),
                Described("another value (not shown, because it may be somebody's)"),
            )
        coin = int(uniform_below(self.probability.denominator, 1, entropy)[0])
        # Both are always drawn, so that the time does not tell which one was used.
        other = int(uniform_below(self.values, 1, entropy)[0])
        return measurement if coin < self.probability.numerator else other

    def estimate(self, counts: list[int]) -> list[ResponseEstimate]:
        """How many people have each value, from how many reports name it."""
        keep, reports = float(self.probability), sum(counts)
        blind = (1 - keep) / self.values
        stays, moves = (keep + blind) * (1 - keep - blind), blind * (1 - blind)
        found = []
        for count in counts:
            guess = (count - reports * blind) / keep
            holders = min(max(guess, 0.0), float(reports))
            error = math.sqrt(holders * stays + (reports - holders) * moves) / keep
            found.append(ResponseEstimate(guess, error, guess - NORMAL_95 * error, guess + NORMAL_95 * error))
        return found


def exact_estimates(counts: list[int]) -> list[ResponseEstimate]:
    """Counts that nothing was done to, in the same form."""
    return [ResponseEstimate(float(count), 0.0, float(count), float(count)) for count in counts]
