"""Budgets are read and shown exactly."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.cli.console.budgets import budget_in_words, budget_values, exact_text, read_budget
from sudare.cli.console.failures import UsageError
from sudare.cli.console.messages import Catalogue
from sudare.errors import BudgetError
from sudare.privacy import Budget


@given(st.integers(0, 10**12), st.integers(0, 12))
def test_decimals_come_out_as_they_are(digits: int, places: int) -> None:
    exact = Decimal(digits).scaleb(-places)
    text = exact_text(str(Fraction(exact)))
    assert Decimal(text) == exact
    assert "e" not in text.lower()


@given(st.fractions(0, 10))
def test_nothing_is_rounded(number: Fraction) -> None:
    assert Fraction(exact_text(str(number))) == number


def test_decimals_are_read_exactly() -> None:
    assert read_budget("0.1", "1e-6", None) == Budget(epsilon=Fraction(1, 10), delta=Fraction(1, 10**6))
    assert read_budget(None, None, "0.3").rho == Fraction(3, 10)
    assert read_budget(None, None, None, default=Budget(rho=1)) == Budget(rho=1)


@pytest.mark.parametrize("given", [("one", None, None), (None, None, None), (None, "0.1", None), ("", None, None)])
def test_what_is_no_budget_is_refused(given: tuple[str | None, str | None, str | None]) -> None:
    with pytest.raises(UsageError):
        read_budget(*given)


@pytest.mark.parametrize(
    "given", [("0", None, None), ("-1", None, None), ("nan", None, None), ("1", None, "1"), ("1", "1", None)]
)
def test_impossible_budgets_are_refused(given: tuple[str | None, str | None, str | None]) -> None:
    with pytest.raises(BudgetError):
        read_budget(*given)


def test_budgets_in_words() -> None:
    words = Catalogue("en")
    assert budget_in_words(None, words) == "nothing"
    assert budget_in_words(Budget(epsilon=0.5, delta=1e-6), words) == "epsilon = 0.5, delta = 0.000001"
    assert budget_in_words(Budget(rho=Fraction(1, 3)), words) == "rho = ~0.333333"
    assert budget_values(Budget(rho=Fraction(1, 3))) == {"rho": "1/3"}
    assert budget_values(None) is None
