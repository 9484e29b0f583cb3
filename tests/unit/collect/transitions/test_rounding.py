"""Costs are never shown smaller than they are, protections never larger."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from sudare.collect.transitions.rounding import cautious_digits, float_above

COSTS = st.fractions(Fraction(1, 10**6), 10**6, max_denominator=10**9)


@given(COSTS)
def test_floats_are_the_next_ones_above(cost: Fraction) -> None:
    found = float_above(cost)
    assert Fraction(found) >= cost
    assert Fraction(math.nextafter(found, 0)) < cost


@given(COSTS, st.integers(1, 12))
def test_digits_are_on_the_safe_side_and_near(cost: Fraction, digits: int) -> None:
    up, down = (Fraction(cautious_digits(cost, up=side, digits=digits).replace(",", "")) for side in (True, False))
    assert down <= cost <= up
    assert up - down <= cost * Fraction(10) ** (1 - digits)
    assert (up == down) == (up == cost)
