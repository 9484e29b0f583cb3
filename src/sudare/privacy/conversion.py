"""From rho of zero-concentrated differential privacy to (epsilon, delta) and back.

Three methods:

- ``"simple"``: epsilon = rho + 2 sqrt(rho ln(1/delta)) (Bun and Steinke 2016; eq. 13 of the zCDP paper).
- ``"optimal"``: the best that follows from rho-zCDP by one Rényi order (Canonne, Kamath, Steinke 2020, Proposition
  12). The default.
- ``"gaussian"``: the exact trade-off of continuous Gaussian noise (Balle and Wang 2018). A mechanism that is merely
  rho-zCDP may do worse, so no mechanism of this package is charged by it; it tells how far the others are from the
  limit.

All results are exact fractions that were rounded pessimistically: an epsilon or a delta upwards, a rho
downwards. For the privacy of a sequence of releases by numerical composition see `sudare.privacy.pld`.

Proof: ``conversion.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, Literal

from sudare.bilingual import Words
from sudare.errors import ParameterError
from sudare.parameters import Rational, exact_fraction, shown

__all__ = ["Conversion", "epsilon_to_rho", "rho_to_delta", "rho_to_epsilon"]

Conversion = Literal["simple", "optimal", "gaussian"]
CONVERSIONS = ("simple", "optimal", "gaussian")

MIN_NUMBER = Fraction(1, 10**30)
MAX_NUMBER = Fraction(10**6)
MAX_DELTA = 1 - Fraction(1, 10**9)
"""A larger delta is read as this one, which is a stronger statement: the logarithm of a number near 1 loses digits."""

MIN_EXPONENT = -2400
"""A smaller logarithm of a delta is rounded up to this one, so that a delta never vanishes."""

WORKING_DIGITS = 60
RESULT_DIGITS = 30
SLACK = Decimal(10) ** -45
"""Relative to the terms of a sum; every operation at 60 digits errs by less than 10**-59."""


def rho_to_epsilon(rho: Rational, delta: Rational, method: Conversion = "optimal") -> Fraction:
    """The epsilon that a rho budget guarantees at a delta.

    Args:
        rho: of the guarantee.
        delta: at which epsilon is wanted.
        method: of converting.

    Example:
        >>> from sudare.privacy import rho_to_epsilon
        >>> round(float(rho_to_epsilon(0.1, 1e-6, "simple")), 2), round(float(rho_to_epsilon(0.1, 1e-6)), 2)
        (2.45, 2.14)
    """
    exact_rho = _read(rho, "rho", "rho_to_epsilon")
    exact_delta = _read(delta, "delta", "rho_to_epsilon")
    if _known(method, "rho_to_epsilon") == "gaussian":
        from sudare.privacy.gaussian_tradeoff import epsilon_of

        return epsilon_of(exact_rho, exact_delta)
    with localcontext(Context(prec=WORKING_DIGITS)):
        r, log_inverse = _decimal(exact_rho), -_decimal(exact_delta).ln()
        if method == "simple":
            return _round((r, 2 * (r * log_inverse).sqrt()), ROUND_CEILING)
        # At the best order, rho (a - 1)^2 = ln(1 / (a delta)).
        order = 1 + _bisect(
            lambda excess: r * excess * excess - log_inverse + (1 + excess).ln(), Decimal(0), (log_inverse / r).sqrt()
        )
        terms = (order * r, (1 - 1 / order).ln(), (log_inverse - order.ln()) / (order - 1))
        return max(Fraction(0), _round(terms, ROUND_CEILING))


def rho_to_delta(rho: Rational, epsilon: Rational, method: Conversion = "optimal") -> Fraction:
    """The delta that a rho budget guarantees at an epsilon; 1 where it guarantees nothing.

    Args:
        rho: of the guarantee.
        epsilon: at which delta is wanted.
        method: of converting.

    Example:
        >>> from sudare.privacy import rho_to_delta
        >>> f"{float(rho_to_delta(0.02, 1)):.1e}"
        '8.8e-08'
    """
    exact_rho = _read(rho, "rho", "rho_to_delta")
    exact_epsilon = _read(epsilon, "epsilon", "rho_to_delta")
    if _known(method, "rho_to_delta") == "gaussian":
        from sudare.privacy.gaussian_tradeoff import delta_of

        return delta_of(exact_rho, exact_epsilon)
    with localcontext(Context(prec=WORKING_DIGITS)):
        r, e = _decimal(exact_rho), _decimal(exact_epsilon)
        if method == "simple":
            if exact_epsilon <= exact_rho:
                return Fraction(1)
            terms: tuple[Decimal, ...] = (-((e - r) ** 2) / (4 * r),)
        else:
            # At the best order, (2a - 1) rho + ln(1 - 1/a) = epsilon.
            order = 1 + _bisect(
                lambda excess: (2 * excess + 1) * r - e + (excess / (1 + excess)).ln(),
                Decimal(10) ** -40,
                (e / r) + 2 / r + 2,
            )
            terms = ((order - 1) * order * r, -(order - 1) * e, (order - 1) * (order - 1).ln(), -order * order.ln())
        exponent = max(_round(terms, ROUND_CEILING), Fraction(MIN_EXPONENT))
        return min(Fraction(1), _round((_decimal(exponent).exp(),), ROUND_CEILING))


def epsilon_to_rho(epsilon: Rational, delta: Rational, method: Conversion = "optimal") -> Fraction:
    """The largest rho that guarantees (epsilon, delta).

    Args:
        epsilon: of the guarantee wanted.
        delta: of the guarantee wanted.
        method: of converting.

    Example:
        >>> from sudare.privacy import epsilon_to_rho
        >>> float(epsilon_to_rho(1, 1e-6)) > float(epsilon_to_rho(1, 1e-6, "simple"))
        True
    """
    exact_epsilon = _read(epsilon, "epsilon", "epsilon_to_rho")
    exact_delta = _read(delta, "delta", "epsilon_to_rho")
    if _known(method, "epsilon_to_rho") == "gaussian":
        from sudare.privacy.gaussian_tradeoff import rho_of

        return rho_of(exact_epsilon, exact_delta)
    with localcontext(Context(prec=WORKING_DIGITS)):
        e, log_inverse = _decimal(exact_epsilon), -_decimal(exact_delta).ln()
        if method == "simple":
            root = e / ((log_inverse + e).sqrt() + log_inverse.sqrt())
            return _round((root * root,), ROUND_FLOOR)

        def epsilon_of_best_order(log_excess: Decimal) -> Decimal:
            excess = log_excess.exp()
            order = 1 + excess
            surplus = log_inverse - order.ln()
            return surplus * (order + excess) / (excess * excess) + (excess / order).ln() - e

        log_excess = _bisect(epsilon_of_best_order, Decimal(-100), (log_inverse.exp() - 1).ln(), falling=True)
        order = 1 + log_excess.exp()
        terms = (e, -(1 - 1 / order).ln(), -(log_inverse - order.ln()) / (order - 1))
        return max(Fraction(0), _round(tuple(term / order for term in terms), ROUND_FLOOR))


def _bisect(function: Callable[[Decimal], Decimal], low: Decimal, high: Decimal, *, falling: bool = False) -> Decimal:
    """A point near the sign change of a monotone function.

    The conversions hold at every order; a good order only makes them tight. So this needs no error bound, but it is
    computed with decimals alone to give the same digits on every machine.
    """
    with localcontext(Context(prec=24)):
        for _ in range(90):
            middle = (low + high) / 2
            if (function(middle) < 0) != falling:
                low = middle
            else:
                high = middle
        return (low + high) / 2


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _round(terms: tuple[Decimal, ...], direction: str) -> Fraction:
    """The sum of the terms with their errors, rounded outward to the result's digits."""
    slack = SLACK * sum((abs(term) for term in terms), Decimal(0))
    total = sum(terms, Decimal(0))
    safe = total + slack if direction == ROUND_CEILING else total - slack
    return Fraction(Context(prec=RESULT_DIGITS, rounding=direction).plus(safe))


def _known(method: object, function: str) -> Any:
    if not isinstance(method, str) or method not in CONVERSIONS:
        raise ParameterError(
            "method",
            function,
            Words("'simple', 'optimal' or 'gaussian'", "'simple'、'optimal'、'gaussian' のいずれか"),
            shown(method),
        )
    return method


def _read(value: object, parameter: str, function: str) -> Fraction:
    if parameter == "delta":
        requirement = Words("a number strictly between 0 and 1", "0 より大きく 1 より小さい数")
        delta = exact_fraction(value, parameter, function, requirement)
        if not 0 < delta < 1:
            raise ParameterError(parameter, function, requirement, value)
        return min(delta, MAX_DELTA)
    requirement = Words("a number from 1e-30 to 1e6", "1e-30 以上 1e6 以下の数")
    number = exact_fraction(value, parameter, function, requirement)
    if not MIN_NUMBER <= number <= MAX_NUMBER:
        raise ParameterError(parameter, function, requirement, value)
    return number
