"""Budgets are exact, immutable, and refuse what is not a budget."""

from __future__ import annotations

import pickle
import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare import Budget
from sudare.errors import BudgetError, MixedCurrencyError, SplitError, WeakBudgetWarning, _short_repr

POSITIVE = st.fractions(min_value=Fraction(1, 10**9), max_value=4)
DELTAS = st.fractions(min_value=Fraction(1, 10**12), max_value=Fraction(1, 1000))
BUDGETS = st.one_of(
    st.builds(lambda e: Budget(epsilon=e), POSITIVE),
    st.builds(lambda e, d: Budget(epsilon=e, delta=d), POSITIVE, DELTAS),
    st.builds(lambda r: Budget(rho=r), POSITIVE),
)
WEIGHTS = st.lists(st.fractions(min_value=Fraction(1, 1000), max_value=1000), min_size=1, max_size=12)

NO_BUDGETS: list[Any] = [
    -1, 0, 0.0, -0.0, float("nan"), float("inf"), float("-inf"), 5e-324, 1e-310, Fraction(1, 10**400), Decimal("1e-330"),
    Decimal("NaN"), Decimal("Infinity"), Decimal("1e999999999"), True, False, np.bool_(True), "1 ", "a lot", b"1", [1], {}, 1j,
    object, np.array([1.0]), np.float64("nan"), np.timedelta64(1, "s"), 10**400, Decimal("1e400"), Fraction(1, 10**5000),
    Fraction(10**5000 + 1, 10**5000),
]  # fmt: skip


@pytest.mark.parametrize("name", ["epsilon", "rho"])
@pytest.mark.parametrize("value", NO_BUDGETS, ids=lambda v: f"{type(v).__name__} {_short_repr(v)}")
def test_what_is_no_budget_is_refused_in_one_wording(name: str, value: object) -> None:
    with pytest.raises(BudgetError) as caught:
        Budget(**{name: value})  # type: ignore[arg-type]
    text = str(caught.value)
    assert text.startswith(
        f"The '{name}' parameter of Budget must be a positive, finite number that is not subnormal. Got "
    )
    assert text.endswith(" instead.")
    assert caught.value.parameter == name


@pytest.mark.parametrize(
    "delta", [*NO_BUDGETS, 1, 1.0, 2, Fraction(1)], ids=lambda v: f"{type(v).__name__} {_short_repr(v)}"
)
def test_delta_must_be_between_zero_and_one(delta: object) -> None:
    with pytest.raises(BudgetError, match="The 'delta' parameter of Budget must be a number strictly between 0 and 1"):
        Budget(epsilon=1, delta=delta)  # type: ignore[arg-type]


@pytest.mark.parametrize("arguments", [{}, {"epsilon": 1, "rho": 1}, {"delta": 0.1}, {"rho": 1, "delta": 0.1}], ids=str)
def test_exactly_one_currency(arguments: dict[str, Any]) -> None:
    with pytest.raises(BudgetError):
        Budget(**arguments)


@pytest.mark.parametrize(
    "value", [1, 1.0, Fraction(1), Decimal(1), np.float64(1), np.int32(1), np.float32(1), np.uint8(1)], ids=repr
)
def test_every_kind_of_number_is_read_exactly(value: Any) -> None:
    assert Budget(epsilon=value) == Budget(epsilon=1)
    assert isinstance(Budget(epsilon=value).epsilon, Fraction)


def test_a_float_means_the_decimal_that_was_typed() -> None:
    assert Budget(epsilon=0.1).epsilon == Fraction(1, 10)
    assert Budget(epsilon=1e-6).epsilon == Fraction(1, 10**6)


@pytest.mark.parametrize(
    "arguments", [{"epsilon": 21}, {"epsilon": 1e300}, {"rho": 6}, {"epsilon": 30, "delta": 1e-6}], ids=str
)
def test_a_meaningless_budget_warns(arguments: dict[str, Any]) -> None:
    with pytest.warns(WeakBudgetWarning, match="protects nobody in the worst case"):
        Budget(**arguments)


def test_budgets_in_use_do_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Budget(epsilon=20)
        Budget(rho=2.63)


@given(BUDGETS, st.integers(1, 50))
def test_equal_parts_add_up_exactly(budget: Budget, parts: int) -> None:
    split = budget.split(parts)
    assert len(split) == parts
    assert sum(split[1:], split[0]) == budget


@given(BUDGETS, WEIGHTS)
def test_a_split_loses_and_invents_nothing(budget: Budget, weights: list[Fraction]) -> None:
    total = sum(weights, Fraction(0))
    by_share = budget.split([w / total for w in weights])
    by_weight = budget.allocate(weights)
    assert by_share == by_weight
    assert sum(by_share[1:], by_share[0]) == budget
    for part, weight in zip(by_share, weights, strict=True):
        assert part == budget.times(weight / total)


@given(BUDGETS, WEIGHTS, st.integers(0, 11))
def test_a_split_of_a_split_loses_nothing(budget: Budget, weights: list[Fraction], position: int) -> None:
    parts = list(budget.allocate(weights))
    inner = parts.pop(position % len(parts)).split(7)
    everything = [*parts, *inner]
    assert sum(everything[1:], everything[0]) == budget


@given(BUDGETS, WEIGHTS)
def test_parts_can_be_named(budget: Budget, weights: list[Fraction]) -> None:
    named = {f"level {i}": w for i, w in enumerate(weights)}
    assert list(budget.allocate(named).items()) == list(zip(named, budget.allocate(weights), strict=True))


@given(st.data())
def test_addition_and_subtraction_are_exact(data: st.DataObject) -> None:
    a = data.draw(BUDGETS)
    b = data.draw(BUDGETS.filter(lambda other: (other.currency == "rho") == (a.currency == "rho")))
    assert (a + b) - b == a
    assert a + b == b + a
    assert (a + b).covers(a)
    assert (a + b).covers(a + b)
    assert not a.covers(a + b)


@pytest.mark.parametrize("shares", [[0.6, 0.6], [1, 1e-9], {"a": 0.7, "b": 0.4}])
def test_shares_that_exceed_the_whole_are_refused(shares: Any) -> None:
    with pytest.raises(SplitError, match="They exceed the whole"):
        Budget(epsilon=1).split(shares)


def test_shares_that_lose_a_part_are_refused() -> None:
    with pytest.raises(SplitError, match=r"remaining 0\.1 would be lost"):
        Budget(epsilon=1).split([0.3, 0.6])


@pytest.mark.parametrize(
    "shares", [[], {}, "12", None, 1.5, [0.5, -0.5], [1, 0], [float("nan"), 1], [True], True, [None]]
)
def test_shares_that_are_none_are_refused(shares: Any) -> None:
    for method in (Budget(epsilon=1).split, Budget(rho=1).allocate):
        with pytest.raises(SplitError):
            method(shares)


@pytest.mark.parametrize("parts", [0, -3])
def test_a_split_has_at_least_one_part(parts: int) -> None:
    with pytest.raises(ValueError, match=r"The 'shares' parameter of Budget\.split must be"):
        Budget(epsilon=1).split(parts)


def test_mixed_currencies_are_refused() -> None:
    epsilon, rho = Budget(epsilon=1), Budget(rho=1)
    for operation in (
        lambda: epsilon + rho,
        lambda: rho - epsilon,
        lambda: epsilon.covers(rho),
        lambda: rho.epsilon,
        lambda: epsilon.rho,
        lambda: rho.delta,
    ):
        with pytest.raises(MixedCurrencyError):
            operation()


def test_pure_and_approximate_epsilon_are_one_currency() -> None:
    assert Budget(epsilon=1) + Budget(epsilon=1, delta=1e-6) == Budget(epsilon=2, delta=1e-6)
    assert not Budget(epsilon=1).covers(Budget(epsilon=1, delta=1e-6))


@pytest.mark.parametrize("cost", [Budget(epsilon=1), Budget(epsilon=2), Budget(epsilon=0.5, delta=1e-6)])
def test_nothing_is_left_of_nothing(cost: Budget) -> None:
    with pytest.raises(BudgetError):
        Budget(epsilon=1) - cost


def test_deltas_that_add_up_to_one_are_refused() -> None:
    with pytest.raises(BudgetError, match="'delta'"):
        Budget(epsilon=1, delta=0.6) + Budget(epsilon=1, delta=0.4)


def test_a_budget_cannot_be_changed() -> None:
    budget = Budget(epsilon=1)
    for name in ("epsilon", "_epsilon", "anything"):
        with pytest.raises(AttributeError):
            setattr(budget, name, 5)
        with pytest.raises(AttributeError):
            delattr(budget, name)
    assert budget == Budget(epsilon=1)


@given(BUDGETS)
def test_copies_are_equal(budget: Budget) -> None:
    assert Budget.from_dict(budget.to_dict()) == budget
    assert pickle.loads(pickle.dumps(budget)) == budget  # noqa: S301
    assert eval(repr(budget), {"Budget": Budget, "Fraction": Fraction}) == budget  # noqa: S307
    assert len({budget, Budget.from_dict(budget.to_dict())}) == 1


@pytest.mark.parametrize("factor", [0, -1, float("nan"), True, "two"])
def test_factors_are_positive(factor: Any) -> None:
    with pytest.raises(BudgetError):
        Budget(epsilon=1).times(factor)


def test_arithmetic_with_other_things_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        Budget(epsilon=1) + 1
    with pytest.raises(TypeError):
        Budget(epsilon=1) - 1
    with pytest.raises(BudgetError):
        Budget(epsilon=1).covers(1)  # type: ignore[arg-type]
    assert Budget(epsilon=1) != 1


def test_a_budget_cannot_be_initialised_again() -> None:
    budget = Budget(epsilon=1)
    with pytest.raises(AttributeError):
        budget.__init__(epsilon=9)  # type: ignore[misc]
    assert budget == Budget(epsilon=1)


def test_other_rationals_and_short_floats_are_read_as_they_are_written() -> None:
    for kind in (np.float16, np.float32, np.float64, np.longdouble):
        tenth: Any = kind("0.1")
        assert Budget(epsilon=tenth).epsilon == Fraction(1, 10)


def test_even_absurd_budgets_can_be_shown() -> None:
    huge = Budget(epsilon=1).times(1e300).times(1e300)
    assert "1e308 or more" in str(huge)
    assert repr(huge)
    assert repr(Budget(rho=1).times(Fraction(1, 3**600)))


@pytest.mark.parametrize("parts", [10**30, 10**6 + 1])
def test_a_split_has_no_more_parts_than_fit(parts: int) -> None:
    with pytest.raises(SplitError):
        Budget(epsilon=1).split(parts)
