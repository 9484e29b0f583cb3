"""Elastic sensitivity: the rules against brute force, and the smooth bound."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare import Budget, ReleaseEvent, Unit
from sudare.errors import GuaranteeError, ParameterError
from sudare.noise import discrete_laplace
from sudare.sql.relations.elastic import (
    Growth,
    Side,
    join_sides,
    join_stability,
    side_of_table,
    smooth_bound,
    smooth_noise,
)
from tests.unit.sql.elastic_shop import SHOP

# Every pair of small neighbouring databases, against the rule.


def joined_rows(left: Counter[tuple[int, int]], right: Counter[tuple[int, int]]) -> int:
    return sum(ours * theirs for (key, _), ours in left.items() for (other, _), theirs in right.items() if key == other)


def most_frequent(rows: Counter[tuple[int, int]]) -> int:
    keys: Counter[int] = Counter()
    for (key, _), number in rows.items():
        keys[key] += number
    return max(keys.values(), default=0)


@pytest.mark.parametrize("is_replaced", [False, True])
@pytest.mark.parametrize("together", [False, True])
def test_the_rule_bounds_the_change_of_every_small_join(together: bool, is_replaced: bool) -> None:
    """A unit's rows are those with its number; databases of random rows with keys 0 to 2, two rows a unit and table."""
    generator = random.Random(20181)
    rows_of_unit = 2 if together else 1
    for _ in range(3000):
        tables = [Counter((generator.randrange(3), generator.randrange(1, 9)) for _ in range(6)) for _ in range(2)]

        chosen = generator.randrange(2)
        # One unit has rows in both tables; or, each row of a table being a unit, in one of them.
        changes = [
            [
                Counter((generator.randrange(3), 0) for _ in range(rows_of_unit if together or place == chosen else 0))
                for place in range(2)
            ]
            for _ in range(2)
        ]
        before = [rows + own if is_replaced else rows for rows, own in zip(tables, changes[0], strict=True)]
        after = [rows + own for rows, own in zip(tables, changes[1], strict=True)]
        sides = [
            Side(
                Growth.constant(rows_of_unit),
                {place: Growth.linear(most_frequent(before[place]), rows_of_unit)},
                frozenset(["unit"] if together else [str(place)]),
            )
            for place in range(2)
        ]
        stability = join_stability(sides[0], sides[1], [(0, 1)])
        assert stability is not None
        assert abs(joined_rows(*after) - joined_rows(*before)) <= stability(0)


def test_the_self_join_rule_is_reached() -> None:
    """Two rows of the key with 100 rows: 2 * 100 + 1 more pairs."""
    rows = Side(Growth.constant(1), {"key": Growth.linear(100, 1)}, frozenset(["t"]))
    other = Side(rows.stability, {"other": rows.max_frequency["key"]}, rows.tables)
    stability = join_stability(rows, other, [("key", "other")])
    assert stability is not None
    assert stability(0) == 201 == 101**2 - 100**2


def test_frequencies_that_are_not_known_are_needed_for_private_sides_only() -> None:
    public = Side(Growth.constant(0), {"p": Growth.constant(7)}, frozenset())
    private = Side(Growth.constant(2), {}, frozenset(["t"]))
    joined = join_sides(private, public, [("x", "p")])
    assert joined is not None
    assert joined.stability(9) == 14
    assert joined.max_frequency == {}
    assert join_sides(public, private, [("p", "x")]) is not None
    assert join_sides(public, private, [("q", "x")]) is None
    assert join_sides(private, private, [("x", "x")]) is None


@given(
    st.lists(st.tuples(st.integers(1, 500), st.integers(1, 20)), min_size=1, max_size=5),
    st.fractions(Fraction(1, 200), Fraction(3)),
)
def test_smooth_bound_is_the_largest_and_hardly_more(factors: list[tuple[int, int]], beta: Fraction) -> None:
    growth = Growth.constant(1)
    for number, step in factors:
        growth = growth.times(Growth.linear(number, step))
    found = smooth_bound(growth, beta)
    with mpmath.workdps(50):
        exact = mpmath.mpf(beta.numerator) / beta.denominator
        largest = max(growth(k) * mpmath.exp(-exact * k) for k in range(int(len(factors) / beta) + 100))
        shown = mpmath.mpf(found.numerator) / found.denominator
        assert largest <= shown <= largest * (1 + mpmath.mpf(10) ** -5)


@given(st.integers(1, 300), st.integers(1, 5), st.integers(1, 300), st.fractions(Fraction(1, 100), Fraction(1)))
def test_smooth_bound_is_smooth_in_spite_of_rounding(mf: int, rows: int, other: int, beta: Fraction) -> None:
    """A neighbour's frequencies differ by at most one unit's rows: its bound must not differ by more than exp(beta)."""

    def bound(frequency: int) -> Fraction:
        left = Side(Growth.constant(rows), {"l": Growth.linear(frequency, rows)}, frozenset(["t"]))
        right = Side(Growth.constant(1), {"r": Growth.linear(other, 1)}, frozenset(["s"]))
        stability = join_stability(left, right, [("l", "r")])
        assert stability is not None
        return smooth_bound(stability, beta)

    one, next_one = bound(mf), bound(mf + rows)
    assert one <= next_one
    with mpmath.workdps(60):
        ratio = mpmath.mpf(next_one.numerator) / next_one.denominator * one.denominator / one.numerator
        assert ratio <= mpmath.exp(mpmath.mpf(beta.numerator) / beta.denominator)


def test_a_tiny_beta_is_answered_without_visiting_every_distance() -> None:
    growth = Growth.linear(1000, 1).times(Growth.linear(10, 3))
    with mpmath.workdps(30):
        assert float(smooth_bound(growth, Fraction(1, 10**6))) == pytest.approx(
            max(float(growth(k)) * float(mpmath.exp(-k * 1e-6)) for k in range(1_990_000, 2_010_000, 10)), rel=1e-5
        )


@pytest.mark.parametrize("beta", [0, -1, 1e-9, 101, float("nan"), "one", "-1"])
def test_beta_is_a_number_in_range(beta: Any) -> None:
    with pytest.raises(ParameterError, match="The 'beta' parameter of smooth_bound must be"):
        smooth_bound(Growth.constant(1), beta)


def test_smooth_noise_costs_what_the_budget_says() -> None:
    budget = Budget(epsilon=0.5, delta=1e-7)
    orders, recommendations = side_of_table(SHOP, "orders"), side_of_table(SHOP, "recommendations")
    assert orders is not None
    assert recommendations is not None
    growth = join_stability(orders, recommendations, [("customer_id", "customer_id")])
    assert growth is not None
    scale, cost = smooth_noise(growth, budget)
    event = ReleaseEvent("elastic", Unit("row", adjacency="replace"), budget, (cost,), "secure")
    assert ReleaseEvent.from_json(event.to_json()) == event
    assert scale >= Fraction(250) / budget.epsilon * 2
    assert discrete_laplace(scale).draw(3).size == 3
    for other in (Budget(epsilon=1), Budget(rho=1)):
        with pytest.raises(GuaranteeError):
            smooth_noise(growth, other)


def test_side_of_a_public_table_never_changes() -> None:
    side = side_of_table(SHOP, "products")
    assert side is not None
    assert side.is_public
    assert side.stability(10**6) == 0
    assert side.max_frequency["product_id"](10**6) == 300


def test_the_least_frequency_of_several_columns_counts_at_each_distance() -> None:
    side = Side(Growth.constant(1), {"a": Growth.linear(10, 5), "b": Growth.linear(20, 1)}, frozenset(["t"]))
    both = side.frequency_of(["a", "b", "c"])
    assert both is not None
    assert [both(k) for k in (0, 2, 3, 10)] == [10, 20, 23, 30]
    assert side.frequency_of(["c"]) is None


def test_growth_stays_below_its_degree() -> None:
    growths = [Growth.constant(3), Growth.linear(5, 2), Growth.linear(1, 9).times(Growth.linear(4, 1)).times(3)]
    for growth, k in itertools.product(growths, range(1, 50)):
        assert growth(k) <= growth(k + 1)
        assert growth(k + 1) * k**growth.degree <= growth(k) * (k + 1) ** growth.degree
