"""The cost of sampled groups: compared with sums over all outputs in fractions, and refused where it would be too small."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare import Budget, ReleaseEvent, Unit
from sudare.errors import EventError, GuaranteeError, ParameterError
from sudare.privacy import SampledGroupsMeasurement
from sudare.privacy.measurements import log_rounded_up
from sudare.privacy.sampled_measurements import (
    _group_factor,
    _growth_from_below,
    changed_records,
    largest_sampling_rate,
    sampled_groups_delta,
    sampled_groups_epsilon,
    smallest_group_size,
)


def law(coins: int, k: int, rate: Fraction) -> list[Fraction]:
    """Of what is published of a group: nothing, or j >= k records, in that order."""
    points = [comb(coins, j) * rate**j * (1 - rate) ** (coins - j) for j in range(coins + 1)]
    return [sum(points[:k], Fraction(0)), *points[k:]]


def naive_delta(rate: Fraction, k: int, growth: Fraction, most_coins: int) -> tuple[Fraction, Fraction]:
    """The smallest delta for adding and for removing a record, over all outputs and all groups up to a size."""
    adding, removing = Fraction(0), Fraction(0)
    for coins in range(most_coins):
        without, added = law(coins, k, rate), law(coins + 1, k, rate)
        without += [Fraction(0)] * (len(added) - len(without))
        pairs = list(zip(without, added, strict=True))
        adding = max(adding, sum((max(Fraction(0), b - growth * a) for a, b in pairs), Fraction(0)))
        removing = max(removing, sum((max(Fraction(0), a - growth * b) for a, b in pairs), Fraction(0)))
    return adding, removing


@pytest.mark.parametrize(
    ("rate", "k", "epsilon"),
    [
        (Fraction(1, 2), 2, Fraction(1)),
        (Fraction(1, 2), 5, Fraction(7, 10)),
        (Fraction(3, 5), 9, Fraction(1)),
        (Fraction(1, 10), 4, Fraction(1, 5)),
        (Fraction(1, 3), 3, Fraction(2)),
        (Fraction(9, 10), 6, Fraction(5, 2)),
        (Fraction(1, 100), 2, Fraction(1, 2)),
    ],
)
def test_delta_is_that_of_all_outputs_of_all_groups(rate: Fraction, k: int, epsilon: Fraction) -> None:
    stated = sampled_groups_delta(rate, k, epsilon)
    adding, removing = naive_delta(rate, k, _growth_from_below(epsilon), 45)
    assert removing == 0
    assert adding <= stated <= adding * (1 + Fraction(1, 10**28))


@settings(max_examples=15)
@given(st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=40), st.integers(2, 6), st.integers(0, 10))
def test_no_group_has_a_larger_delta(rate: Fraction, k: int, more: int) -> None:
    epsilon = log_rounded_up(1 / (1 - rate)) + Fraction(1 + 100 * more, 1000)
    stated = sampled_groups_delta(rate, k, epsilon)
    assert naive_delta(rate, k, _growth_from_below(epsilon), 25)[0] <= stated


@settings(max_examples=20)
@given(
    st.fractions(Fraction(1, 50), Fraction(9, 10), max_denominator=100),
    st.integers(2, 60),
    st.fractions(Fraction(0), Fraction(2), max_denominator=20),
)
def test_delta_falls_with_k_and_with_epsilon(rate: Fraction, k: int, more: Fraction) -> None:
    epsilon = log_rounded_up(1 / (1 - rate)) + Fraction(1, 1000) + more
    here = sampled_groups_delta(rate, k, epsilon)
    assert 0 < here < 1
    assert sampled_groups_delta(rate, k + 1, epsilon) <= here
    assert sampled_groups_delta(rate, k, epsilon + Fraction(1, 10)) <= here


@settings(max_examples=15)
@given(st.integers(1, 40), st.integers(1, 12))
def test_the_k_for_a_delta_is_the_smallest(tenths: int, exponent: int) -> None:
    epsilon, delta = Fraction(tenths, 10), Fraction(1, 10**exponent)
    rate = largest_sampling_rate(epsilon)
    k = smallest_group_size(rate, epsilon, delta)
    assert sampled_groups_delta(rate, k, epsilon) <= delta
    assert k == 2 or sampled_groups_delta(rate, k - 1, epsilon) > delta


@settings(max_examples=10)
@given(st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(3, 5)]), st.integers(35, 70), st.integers(2, 5))
def test_the_epsilon_for_a_delta_is_the_smallest_with_its_digits(rate: Fraction, k: int, exponent: int) -> None:
    delta = Fraction(1, 10**exponent)
    epsilon = sampled_groups_epsilon(rate, k, delta)
    assert sampled_groups_delta(rate, k, epsilon) <= delta
    less = epsilon * (1 - Fraction(1, 10**4))
    if (1 - rate) * _growth_from_below(less) >= 1:
        assert sampled_groups_delta(rate, k, less) > delta


def test_the_largest_rate_is_allowed_and_hardly_more_is() -> None:
    for epsilon in (Fraction(1, 10**6), Fraction(1, 100), Fraction(1), Fraction(8)):
        rate = largest_sampling_rate(epsilon)
        smallest_group_size(rate, epsilon, 0.1)
        with pytest.raises(GuaranteeError, match="needs an epsilon of at least"):
            sampled_groups_delta(
                1 - (1 - rate) * Fraction(99, 100) if rate > 0.5 else rate * Fraction(101, 100), 5, epsilon
            )


@pytest.mark.parametrize("records", [1, 2, 3, 7])
def test_a_unit_of_several_records_stays_within_its_budget(records: int) -> None:
    budget = Budget(epsilon=2, delta=1e-6)
    measurement = SampledGroupsMeasurement.for_budget(budget, records=records)
    assert measurement.epsilon == 2
    assert 0 < measurement.delta <= budget.delta
    growth = _growth_from_below(measurement.record_epsilon)
    steps = sum((growth**i for i in range(records)), Fraction(0))
    assert steps <= _group_factor(measurement.record_epsilon, records) <= steps * (1 + Fraction(1, 10**50))


def test_several_records_are_charged_more_than_they_can_show() -> None:
    """Two records of one person in one group, over all outputs: within the bound of group privacy."""
    rate, k, epsilon = Fraction(3, 10), 4, Fraction(1, 2)
    one = SampledGroupsMeasurement(rate, k, epsilon, 1)
    two = SampledGroupsMeasurement(rate, k, epsilon, 2)
    growth = _growth_from_below(two.epsilon)
    worst = Fraction(0)
    for coins in range(30):
        before, after = law(coins, k, rate), law(coins + 2, k, rate)
        before += [Fraction(0)] * (len(after) - len(before))
        worst = max(
            worst, sum((max(Fraction(0), b - growth * a) for a, b in zip(before, after, strict=True)), Fraction(0))
        )
    assert one.delta < worst <= two.delta


def test_an_event_for_more_records_than_were_paid_for_is_refused() -> None:
    budget = Budget(epsilon=1, delta=1e-6)
    one = SampledGroupsMeasurement.for_budget(budget)
    ReleaseEvent("groups", Unit(), budget, (one,), "secure")
    for unit in (Unit.with_rows(2), Unit(adjacency="replace")):
        assert changed_records(unit) == 2
        with pytest.raises(EventError, match="smaller sensitivity"):
            ReleaseEvent("groups", unit, budget, (one,), "secure")
        two = SampledGroupsMeasurement.for_budget(budget, records=2)
        ReleaseEvent("groups", unit, budget, (two,), "secure")


def test_a_smaller_k_cannot_be_charged_as_the_right_one() -> None:
    budget = Budget(epsilon=1, delta=1e-6)
    right = SampledGroupsMeasurement.for_budget(budget)
    wrong = SampledGroupsMeasurement(right.rate, right.k - 1, right.record_epsilon, 1)
    with pytest.raises(EventError, match="cost more than the stated"):
        ReleaseEvent("groups", Unit(), budget, (wrong,), "secure")


@pytest.mark.parametrize("budget", [Budget(epsilon=1), Budget(rho=0.1)])
def test_a_budget_without_delta_is_refused(budget: Budget) -> None:
    with pytest.raises(GuaranteeError, match="needs an epsilon and a delta"):
        SampledGroupsMeasurement.for_budget(budget)


@pytest.mark.parametrize(
    ("changes", "parameter"),
    [
        ({"rate": 0}, "rate"),
        ({"rate": 1}, "rate"),
        ({"rate": "half"}, "rate"),
        ({"k": 1}, "k"),
        ({"k": 2.5}, "k"),
        ({"k": 10**6}, "k"),
        ({"record_epsilon": 0}, "record_epsilon"),
        ({"record_epsilon": 9}, "record_epsilon"),
        ({"records": 0}, "records"),
        ({"records": 500, "k": 10}, "k"),
    ],
)
def test_wrong_parameters_are_named(changes: dict[str, object], parameter: str) -> None:
    working: dict[str, object] = {"rate": Fraction(1, 2), "k": 40, "record_epsilon": Fraction(1), "records": 1}
    with pytest.raises(ParameterError, match=f"The '{parameter}' parameter of SampledGroupsMeasurement must be"):
        SampledGroupsMeasurement(**{**working, **changes})  # type: ignore[arg-type]


def test_what_no_k_or_epsilon_gives_is_refused() -> None:
    with pytest.raises(GuaranteeError, match="No k up to"):
        smallest_group_size(largest_sampling_rate(8), 8, 1e-300)
    with pytest.raises(GuaranteeError, match="No epsilon up to"):
        sampled_groups_epsilon(0.9, 2, 1e-9)
