"""Interval arithmetic against the numbers it speaks of."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.sql.expressions.intervals import Interval, digits_needed, float_above, float_below, round_down, round_up

small = st.fractions(min_value=-50, max_value=50, max_denominator=40)


@st.composite
def intervals_with_member(draw: st.DrawFn) -> tuple[Interval, Fraction]:
    low, member, high = sorted([draw(small), draw(small), draw(small)])
    return Interval(low, high), member


@settings(max_examples=60, deadline=None)
@given(intervals_with_member(), intervals_with_member())
def test_results_lie_inside(first: tuple[Interval, Fraction], second: tuple[Interval, Fraction]) -> None:
    (a, x), (b, y) = first, second
    for interval, value in (
        (a + b, x + y),
        (a - b, x - y),
        (a * b, x * y),
        (-a, -x),
        (abs(a), abs(x)),
        (a.hull(b), x),
        (a.hull(b), y),
        (a.widened(Fraction(1, 100)), x),
        (a.to_floats(), x),
        (a.to_grid(1), x),
    ):
        assert interval.low <= value <= interval.high
    assert a.magnitude >= abs(x)
    assert a.has_zero or x != 0


@settings(max_examples=60, deadline=None)
@given(
    intervals_with_member(), intervals_with_member(), st.sampled_from([Fraction(1), Fraction(1, 100), Fraction(1, 2)])
)
def test_quotients(first: tuple[Interval, Fraction], second: tuple[Interval, Fraction], least: Fraction) -> None:
    (a, x), (b, y) = first, second
    quotient = a.divided_by(b, least)
    if abs(y) >= least:
        assert quotient is not None
        assert quotient.low <= x / y <= quotient.high


def test_bounds_are_tight() -> None:
    unit = Interval(Fraction(-2), Fraction(3))
    assert unit * unit == Interval(Fraction(-6), Fraction(9))
    assert unit + unit == Interval(Fraction(-4), Fraction(6))
    assert abs(unit) == Interval(Fraction(0), Fraction(3))
    assert unit.divided_by(Interval(Fraction(0), Fraction(0)), Fraction(1)) is None
    assert unit.divided_by(Interval(Fraction(-4), Fraction(4)), Fraction(1)) == Interval(Fraction(-3), Fraction(3))


@settings(max_examples=60, deadline=None)
@given(st.fractions())
def test_floats_around(value: Fraction) -> None:
    low, high = float_below(value), float_above(value)
    assert Fraction(low) <= value <= Fraction(high)
    assert high in (low, math.nextafter(low, math.inf))


@settings(max_examples=60, deadline=None)
@given(small, st.integers(0, 5))
def test_grid_around(value: Fraction, scale: int) -> None:
    low, high = round_down(value, scale), round_up(value, scale)
    assert low <= value <= high
    assert high - low in (0, Fraction(1, 10**scale))


@settings(max_examples=60, deadline=None)
@given(intervals_with_member(), st.integers(0, 5))
def test_digits(pair: tuple[Interval, Fraction], scale: int) -> None:
    interval, member = pair
    digits = digits_needed(interval, scale)
    assert abs(round_up(member, scale)) < Fraction(10) ** (digits - scale) or abs(member) > interval.magnitude
    assert digits >= max(scale, 1)
