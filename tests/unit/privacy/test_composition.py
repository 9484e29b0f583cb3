"""Composition laws."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare import Budget, compose
from sudare.errors import BudgetError, GuaranteeError, MixedCurrencyError, ParameterError
from sudare.privacy import compose_parallel, for_group
from tests.reference.naive import number

EPSILONS = st.fractions(Fraction(1, 1000), 3)
DELTAS = st.fractions(Fraction(1, 10**12), Fraction(1, 10**8))
APPROXIMATE = st.builds(lambda e, d: Budget(epsilon=e, delta=d), EPSILONS, DELTAS)
PURE = st.builds(lambda e: Budget(epsilon=e), EPSILONS)
RHO = st.builds(lambda r: Budget(rho=r), EPSILONS)


@given(st.lists(st.one_of(APPROXIMATE, PURE), min_size=1, max_size=10), st.randoms())
def test_sequential_composition_adds_up_in_any_order(budgets: list[Budget], shuffler: Any) -> None:
    total = compose(budgets)
    assert total.epsilon == sum(b.epsilon for b in budgets)
    assert total.delta == sum(b.delta for b in budgets)
    shuffler.shuffle(budgets)
    assert compose(budgets) == total


@given(st.lists(st.one_of(APPROXIMATE, PURE), min_size=1, max_size=10))
def test_parallel_composition_takes_the_largest_component(budgets: list[Budget]) -> None:
    together = compose_parallel(budgets)
    assert all(together.covers(b) for b in budgets)
    assert together.epsilon in {b.epsilon for b in budgets}
    assert together.delta in {b.delta for b in budgets}
    assert compose(budgets).covers(together)


@given(st.lists(RHO, min_size=1, max_size=6))
def test_rho_composes(budgets: list[Budget]) -> None:
    assert compose(budgets).rho == sum(b.rho for b in budgets)
    assert compose_parallel(budgets).rho == max(b.rho for b in budgets)


@given(EPSILONS, st.integers(1, 20))
def test_group_privacy(epsilon: Fraction, people: int) -> None:
    assert for_group(Budget(epsilon=epsilon), people) == Budget._exactly(epsilon * people, Fraction(0), None)
    assert for_group(Budget(rho=epsilon), people).rho == epsilon * people**2


@given(st.fractions(Fraction(1, 1000), 1), DELTAS, st.integers(1, 8))
def test_group_delta_is_the_geometric_sum_rounded_up(epsilon: Fraction, delta: Fraction, people: int) -> None:
    group = for_group(Budget(epsilon=epsilon, delta=delta), people)
    with mpmath.workdps(70):
        exact = number(delta) * sum(mpmath.exp(j * number(epsilon)) for j in range(people))
        assert 0 <= number(group.delta) - exact <= exact * mpmath.mpf(10) ** -27
    assert group.epsilon == epsilon * people


@pytest.mark.parametrize(("epsilon", "people"), [(1, 1000), (1, 30), (0.1, 10**6)])
def test_a_group_too_large_for_any_guarantee_is_refused(epsilon: float, people: int) -> None:
    with pytest.raises(GuaranteeError, match="guarantees nothing to a group"):
        for_group(Budget(epsilon=epsilon, delta=1e-6), people)


@pytest.mark.parametrize("people", [0, -1, 1.5, True, None])
def test_groups_have_people(people: Any) -> None:
    with pytest.raises(ParameterError, match="The 'people' parameter of for_group"):
        for_group(Budget(epsilon=1), people)


@pytest.mark.parametrize("function", [compose, compose_parallel])
def test_mixed_or_no_budgets_are_refused(function: Any) -> None:
    with pytest.raises(MixedCurrencyError):
        function([Budget(epsilon=1), Budget(rho=1)])
    for nothing in ([], [1], [Budget(epsilon=1), None], 5, None):
        with pytest.raises(BudgetError):
            function(nothing)


def test_parallel_composition_is_refused_where_people_can_change_groups() -> None:
    with pytest.raises(GuaranteeError, match="change groups"):
        compose_parallel([Budget(epsilon=1)], adjacency="replace")


@pytest.mark.parametrize("epsilon", [1e-70, 1e-300, 1e-9])
def test_groups_with_a_tiny_epsilon(epsilon: float) -> None:
    assert 3 * Fraction("1e-9") < for_group(Budget(epsilon=epsilon, delta=1e-9), 3).delta < Fraction("3.00001e-9")


def test_groups_need_a_budget() -> None:
    with pytest.raises(BudgetError):
        for_group(1, 2)  # type: ignore[arg-type]
