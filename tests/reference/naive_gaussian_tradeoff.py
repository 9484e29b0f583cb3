"""The privacy of Gaussian noise as its formula is written, by mpmath: the twin of `sudare.privacy.gaussian_tradeoff`.

Gaussian noise whose cost is rho is as private as telling N(0, 1) from N(mu, 1) with mu = sqrt(2 rho), however many
values it was added to:

    delta(epsilon) = Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu)      (Balle and Wang 2018, Theorem 8)

Computed with 100 digits and rounded as there.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath

__all__ = ["delta_of", "epsilon_of", "rho_of"]

DIGITS = 100
"""The two terms of delta cancel to about sqrt(rho) of their size, and rho is at least 10**-30."""

MIN_DELTA = Fraction(1, 10**1046)
RESULT_DIGITS = 20
HALVINGS = 120


def delta_of(rho: Fraction, epsilon: Fraction) -> Fraction:
    """Delta at an epsilon, rounded up."""
    with mpmath.workdps(DIGITS):
        r, e = _number(rho), _number(epsilon)
        deviation = e / mpmath.sqrt(2 * r) - mpmath.sqrt(r / 2)
        if deviation > 0 and deviation**2 / 2 > 2410:  # delta <= Phi(-deviation) <= exp(-deviation**2 / 2)
            return MIN_DELTA
        return min(Fraction(1), _up(_delta(r, e)))


def epsilon_of(rho: Fraction, delta: Fraction) -> Fraction:
    """The smallest epsilon at a delta, rounded up; 0 where the delta alone is enough."""
    with mpmath.workdps(DIGITS):
        r, target = _number(rho), _number(delta) * (1 - mpmath.mpf(10) ** -25)
        if _delta(r, mpmath.mpf(0)) <= target:
            return Fraction(0)
        highest = r + 2 * mpmath.sqrt(r * mpmath.log(1 / target))
        return _up(_last_safe(lambda e: _delta(r, e) <= target, unsafe=mpmath.mpf(0), safe=highest))


def rho_of(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho for an (epsilon, delta), rounded down."""
    with mpmath.workdps(DIGITS):
        e, target = _number(epsilon), _number(delta) * (1 - mpmath.mpf(10) ** -25)
        highest = e + 1
        while _delta(highest, e) <= target:
            highest *= 2
        return _down(_last_safe(lambda r: _delta(r, e) <= target, unsafe=highest, safe=mpmath.mpf(0)))


def _delta(rho: Any, epsilon: Any) -> Any:
    mu = mpmath.sqrt(2 * rho)
    return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


def _last_safe(is_safe: Callable[[Any], bool], unsafe: Any, safe: Any) -> Any:
    for _ in range(HALVINGS):
        middle = (unsafe + safe) / 2
        if is_safe(middle):
            safe = middle
        else:
            unsafe = middle
    return safe


def _number(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


def _up(value: Any) -> Fraction:
    return _rounded(value, 1)


def _down(value: Any) -> Fraction:
    return _rounded(value, -1)


def _rounded(value: Any, direction: int) -> Fraction:
    """The value, moved outward by more than a unit of its 20th digit."""
    moved = value * (1 + direction * mpmath.mpf(10) ** (1 - RESULT_DIGITS))
    return max(Fraction(0), Fraction(mpmath.nstr(moved, RESULT_DIGITS + 5, min_fixed=1, max_fixed=0)))
