"""Sums of costs: exact, never too small, written in one way only."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare import Budget
from sudare.ledger.amounts import NOTHING, Amount

numbers = st.fractions(min_value=0, max_value=100, max_denominator=10**6)
amounts = st.builds(Amount, numbers, numbers)


@given(amounts, amounts)
def test_sums_are_exact(one: Amount, other: Amount) -> None:
    assert (one + other).main == one.main + other.main
    assert (one + other) - other == one
    assert one.fits(one + other)


@given(amounts)
def test_text_comes_back(amount: Amount) -> None:
    assert Amount.from_text(amount.to_text()) == amount


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "1 2 3",
        "2/4 0",
        "-1 0",
        "+1 0",
        "1e3 0",
        "0.5 0",
        "01 0",
        "1/0 0",
        " 1 0",
        "1  0",
        "9" * 4001 + " 0",
        None,
        1,
    ],
)
def test_other_spellings_are_refused(text: object) -> None:
    with pytest.raises(ValueError, match="not an amount"):
        Amount.from_text(text)


@given(st.lists(st.integers(10**40, 10**60), min_size=20, max_size=20))
def test_sums_with_endless_denominators_are_short_and_never_too_small(denominators: list[int]) -> None:
    parts = [Amount(Fraction(1, denominator)) for denominator in denominators]
    total = sum(parts, NOTHING)
    exact = sum((part.main for part in parts), Fraction(0))
    assert exact <= total.main <= exact + Fraction(20, 10**60)
    assert total.main.denominator < 10**300
    left = total
    for part in parts:
        left -= part
    assert 0 <= left.main <= Fraction(40, 10**60)


def test_budgets_come_back_in_the_currency_of_the_total() -> None:
    for budget in (Budget(epsilon=0.5), Budget(epsilon=0.5, delta=1e-7), Budget(rho=0.5)):
        assert Amount.of(budget).to_budget(budget) == budget
        assert NOTHING.to_budget(budget) is None
    assert Amount(Fraction(0), Fraction(1, 100)).to_budget(Budget(epsilon=1, delta=0.1)) is None


def test_a_limit_must_cover_every_component() -> None:
    limit = Amount(Fraction(1), Fraction(1, 10))
    assert limit.fits(limit)
    assert not Amount(Fraction(2), Fraction(0)).fits(limit)
    assert not Amount(Fraction(0), Fraction(1, 9)).fits(limit)
