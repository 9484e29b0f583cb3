"""The exact privacy of continuous Gaussian noise: a lower limit for every conversion of rho.

Gaussian noise whose cost is rho is as private as telling N(0, 1) from N(mu, 1) with mu = sqrt(2 rho), however many
values it was added to:

    delta(epsilon) = Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu)      (Balle and Wang 2018, Theorem 8)

With a = epsilon/mu - mu/2 and b = epsilon/mu + mu/2, so that epsilon - b²/2 = -a²/2, and with Mills' ratio
R(t) = Phi(-t)/phi(t), this is

    delta(epsilon) = phi(a) (R(a) - R(b)) for a >= 0,    1 - phi(a) (R(-a) + R(b)) for a < 0,

in which nothing is larger than 2. Computed with 100 digits and rounded pessimistically by far more than its error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import log10

__all__ = ["delta_of", "epsilon_of", "rho_of"]

DIGITS = 100
"""The two terms of delta cancel to about sqrt(rho) of their size, and rho is at least 10**-30."""

SPARE_DIGITS = 30
"""Sums of hundreds of terms lose three of them, and the series of Mills' ratio at its largest argument nine."""

MIN_DELTA = Fraction(1, 10**1046)
RESULT_DIGITS = 20
HALVINGS = 120
SERIES_UP_TO = 6
"""Above it Mills' ratio is a continued fraction, below it a series; about there both take the same time."""


def delta_of(rho: Fraction, epsilon: Fraction) -> Fraction:
    """Delta at an epsilon, rounded up."""
    with _many_digits():
        r, e = _number(rho), _number(epsilon)
        deviation = e / (2 * r).sqrt() - (r / 2).sqrt()
        if deviation > 0 and deviation**2 / 2 > 2410:  # delta <= Phi(-deviation) <= exp(-deviation**2 / 2)
            return MIN_DELTA
        return min(Fraction(1), _up(_delta(r, e)))


def epsilon_of(rho: Fraction, delta: Fraction) -> Fraction:
    """The smallest epsilon at a delta, rounded up; 0 where the delta alone is enough."""
    with _many_digits():
        r, target = _number(rho), _number(delta) * (1 - Decimal(10) ** -25)
        if _delta(r, Decimal(0)) <= target:
            return Fraction(0)
        highest = r + 2 * (r * (1 / target).ln()).sqrt()
        return _up(_last_safe(lambda e: _delta(r, e) <= target, unsafe=Decimal(0), safe=highest))


def rho_of(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho for an (epsilon, delta), rounded down."""
    with _many_digits():
        e, target = _number(epsilon), _number(delta) * (1 - Decimal(10) ** -25)
        highest = e + 1
        while _delta(highest, e) <= target:
            highest *= 2
        return _down(_last_safe(lambda r: _delta(r, e) <= target, unsafe=highest, safe=Decimal(0)))


@contextmanager
def _many_digits() -> Iterator[None]:
    """Numbers with enough digits, and exponents that hardly end; what is smaller still is 0."""
    with localcontext(Context(prec=DIGITS + SPARE_DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        yield


def _delta(rho: Decimal, epsilon: Decimal) -> Decimal:
    mu = (2 * rho).sqrt()
    a, b = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    density = (-a * a / 2).exp() / _root_of_two_pi()
    return density * (_mills(a) - _mills(b)) if a >= 0 else 1 - density * (_mills(-a) + _mills(b))


def _mills(t: Decimal) -> Decimal:
    """Mills' ratio (1 - Phi(t)) / phi(t), t >= 0."""
    return _mills_by_series(t) if t < SERIES_UP_TO else _mills_by_fraction(t)


def _mills_by_series(t: Decimal) -> Decimal:
    """Half of 1/phi(t), less t + t³/3 + t⁵/(3·5) + ..., which is (Phi(t) - 1/2)/phi(t)."""
    square, term, total, odd = t * t, t, t, 1
    least = Decimal(10) ** -(DIGITS + SPARE_DIGITS)
    while term > least * total:
        odd += 2
        term = term * square / odd
        total += term
    return _root_of_two_pi() * (square / 2).exp() / 2 - total


def _mills_by_fraction(t: Decimal) -> Decimal:
    """1/(t + 1/(t + 2/(t + 3/(t + ...)))), from its last term that matters."""
    tail = t
    for numerator in range(_terms_at(float(t)), 0, -1):
        tail = t + numerator / tail
    return 1 / tail


def _terms_at(t: float) -> int:
    """After how many terms of the fraction a further one changes nothing.

    Its convergents lie above and below it in turn, so that their distance bounds the error. With the denominators B of
    convergents, the distance shrinks by k B(k-1)/B(k+1) with the k-th term, and B(k+1)/B(k) = t + k B(k-1)/B(k).
    """
    growth, digits, terms = t, 0.0, 0
    while digits < DIGITS + SPARE_DIGITS:
        terms += 1
        after = t + terms / growth
        digits += log10(growth * after / terms)
        growth = after
    return terms


@lru_cache(maxsize=1)
def _root_of_two_pi() -> Decimal:
    """The root of twice pi, by Machin's formula: pi = 16 arctan(1/5) - 4 arctan(1/239)."""
    with localcontext(Context(prec=DIGITS + 2 * SPARE_DIGITS)):
        pi = 16 * _arctan_of_inverse(5) - 4 * _arctan_of_inverse(239)
        return (2 * pi).sqrt()


def _arctan_of_inverse(number: int) -> Decimal:
    power, total, odd, sign = Decimal(1) / number, Decimal(0), 1, 1
    while power > Decimal(10) ** -(DIGITS + 2 * SPARE_DIGITS):
        total += sign * power / odd
        power, odd, sign = power / number**2, odd + 2, -sign
    return total


def _last_safe(is_safe: Callable[[Decimal], bool], unsafe: Decimal, safe: Decimal) -> Decimal:
    for _ in range(HALVINGS):
        middle = (unsafe + safe) / 2
        if is_safe(middle):
            safe = middle
        else:
            unsafe = middle
    return safe


def _number(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / value.denominator


def _up(value: Decimal) -> Fraction:
    return _rounded(value, 1)


def _down(value: Decimal) -> Fraction:
    return _rounded(value, -1)


def _rounded(value: Decimal, direction: int) -> Fraction:
    """The value, moved outward by more than a unit of its 20th digit."""
    moved = value * (1 + direction * Decimal(10) ** (1 - RESULT_DIGITS))
    return max(Fraction(0), Fraction(Context(prec=RESULT_DIGITS + 5).plus(moved)))
