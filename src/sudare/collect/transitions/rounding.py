"""Costs and protections as floats and as short decimals, never on the flattering side: costs up, protections down."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

__all__ = ["cautious_digits", "float_above"]


def float_above(cost: Fraction) -> float:
    """The smallest float that is not below a cost.

    Example:
        >>> from fractions import Fraction
        >>> from sudare.collect.transitions.rounding import float_above
        >>> float_above(Fraction(1, 3)) >= Fraction(1, 3), float_above(Fraction(1, 2))
        (True, 0.5)
    """
    nearest = float(cost)
    return nearest if Fraction(nearest) >= cost else math.nextafter(nearest, math.inf)


def cautious_digits(number: float | Fraction, *, up: bool, digits: int = 4) -> str:
    """A number with a few digits.

    Args:
        number: a cost, or a measure of protection.
        up: whether it is a cost, which is rounded up.
        digits: how many.

    Example:
        >>> from sudare.collect.transitions.rounding import cautious_digits
        >>> cautious_digits(1.00001, up=True), cautious_digits(1234.56, up=False)
        ('1.001', '1,234')
    """
    rounding = ROUND_CEILING if up else ROUND_FLOOR
    context = Context(prec=digits, rounding=rounding)
    exact = Fraction(number)
    return f"{context.divide(Decimal(exact.numerator), Decimal(exact.denominator)):,f}"
