"""Exact interval arithmetic: where a result must lie if its operands lie within their intervals.

Bounds are fractions. Results of floating-point operations are rounded outward to floats: an operation that rounds
correctly is monotone, so the float of a value between two bounds lies between the floats around them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Interval", "digits_needed", "float_above", "float_below", "round_down", "round_up"]


@dataclass(frozen=True)
class Interval:
    """All numbers between two bounds, both included.

    Example:
        >>> Interval(Fraction(-2), Fraction(3)) * Interval(Fraction(1), Fraction(5))
        Interval(low=Fraction(-10, 1), high=Fraction(15, 1))
    """

    low: Fraction
    high: Fraction

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Interval) -> Interval:
        return Interval(self.low - other.high, self.high - other.low)

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def __mul__(self, other: Interval) -> Interval:
        products = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(products), max(products))

    def __abs__(self) -> Interval:
        if self.low >= 0:
            return self
        return -self if self.high <= 0 else Interval(Fraction(0), self.magnitude)

    @property
    def magnitude(self) -> Fraction:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))

    @property
    def has_zero(self) -> bool:
        """Whether 0 is in it."""
        return self.low <= 0 <= self.high

    def divided_by(self, other: Interval, least: Fraction) -> Interval | None:
        """Quotients by all divisors that are not 0.

        Args:
            other: where the divisors lie.
            least: no divisor but 0 has a smaller absolute value.

        Returns:
            Their interval; None if there is no divisor besides 0.

        Example:
            >>> Interval(Fraction(1), Fraction(2)).divided_by(Interval(Fraction(0), Fraction(4)), Fraction(1))
            Interval(low=Fraction(1, 4), high=Fraction(2, 1))
        """
        parts = []
        if other.high >= least:
            parts += [1 / other.high, 1 / max(other.low, least)]
        if other.low <= -least:
            parts += [1 / other.low, 1 / min(other.high, -least)]
        return self * Interval(min(parts), max(parts)) if parts else None

    def hull(self, other: Interval) -> Interval:
        """The smallest interval that holds both."""
        return Interval(min(self.low, other.low), max(self.high, other.high))

    def to_floats(self) -> Interval:
        """Rounded outward to floats.

        Example:
            >>> Interval(Fraction(0), Fraction(1, 10)).to_floats().high > Fraction(1, 10)
            True
        """
        return Interval(Fraction(float_below(self.low)), Fraction(float_above(self.high)))

    def widened(self, share: Fraction) -> Interval:
        """Both bounds moved outward by a share of the largest absolute value."""
        margin = self.magnitude * share
        return Interval(self.low - margin, self.high + margin)

    def to_grid(self, scale: int) -> Interval:
        """Rounded outward to multiples of ``10**-scale``."""
        return Interval(round_down(self.low, scale), round_up(self.high, scale))


def float_below(value: Fraction) -> float:
    """The largest float that is not above a number.

    Example:
        >>> float_below(Fraction(1, 10)) < Fraction(1, 10), float_below(Fraction(1, 4))
        (True, 0.25)
    """
    near = float(value)
    return near if Fraction(near) <= value else math.nextafter(near, -math.inf)


def float_above(value: Fraction) -> float:
    """The smallest float that is not below a number."""
    return -float_below(-value)


def round_down(value: Fraction, scale: int) -> Fraction:
    """The largest multiple of ``10**-scale`` that is not above a number.

    Example:
        >>> round_down(Fraction(-5, 4), 1)
        Fraction(-13, 10)
    """
    unit = 10**scale
    return Fraction(value.numerator * unit // value.denominator, unit)


def round_up(value: Fraction, scale: int) -> Fraction:
    """The smallest multiple of ``10**-scale`` that is not below a number."""
    return -round_down(-value, scale)


def digits_needed(interval: Interval, scale: int) -> int:
    """How many digits a decimal needs for every multiple of ``10**-scale`` in an interval; at least 1, at least the scale.

    Example:
        >>> digits_needed(Interval(Fraction(-5), Fraction(104949)), 2)
        8
    """
    unit = 10**scale
    low = interval.low.numerator * unit // interval.low.denominator
    high = -(-interval.high.numerator * unit // interval.high.denominator)
    return max(len(str(max(abs(low), abs(high)))), scale, 1)
