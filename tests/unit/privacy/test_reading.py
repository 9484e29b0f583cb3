"""What a guarantee means: power of a test, and the suggested delta."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare import Budget
from sudare.errors import ParameterError
from sudare.privacy import best_power, plot_suggested_delta, plot_trade_off, suggest_delta

LEVELS = st.floats(0, 1)
BUDGETS = [Budget(epsilon=0.1), Budget(epsilon=1), Budget(epsilon=1, delta=0.01), Budget(rho=0.01), Budget(rho=0.5)]


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_power_is_a_trade_off_function(budget: Budget) -> None:
    """From alpha upwards, never falling, concave, and ending at 1."""
    levels = np.linspace(0, 1, 201)
    power = np.array([best_power(budget, float(level)) for level in levels])
    assert (power >= levels - 1e-12).all()
    assert (power <= 1).all()
    assert (np.diff(power) >= -1e-12).all()
    assert (np.diff(power, 2) <= 1e-9).all()
    assert power[-1] == pytest.approx(1)


@given(LEVELS)
def test_pure_epsilon_is_the_two_lines_of_randomized_response(alpha: float) -> None:
    epsilon = 0.8
    expected = min(math.exp(epsilon) * alpha, 1 - math.exp(-epsilon) * (1 - alpha))
    assert best_power(Budget(epsilon=epsilon), alpha) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("rho", [0.001, 0.01, 0.1, 1])
def test_general_bound_is_above_the_gaussian_value_and_close(rho: float) -> None:
    for alpha in (0.001, 0.01, 0.05, 0.2, 0.5, 0.9):
        exact = best_power(Budget(rho=rho), alpha, noise="gaussian")
        bound = best_power(Budget(rho=rho), alpha)
        assert exact <= bound <= exact + (0.12 if rho <= 0.1 else 0.3)


def test_gaussian_power_is_that_of_a_simulated_test() -> None:
    """Neyman-Pearson for N(0, 1) against N(mu, 1): reject above the 95 % point."""
    from scipy.stats import norm

    rho = 0.08
    assert best_power(Budget(rho=rho), 0.05, noise="gaussian") == pytest.approx(
        norm.sf(norm.ppf(0.95), math.sqrt(2 * rho))
    )


@pytest.mark.parametrize(
    ("people", "delta"), [(1, "1e-2"), (2, "1e-3"), (10, "1e-3"), (11, "1e-4"), (10**6, "1e-8"), (126_146_099, "1e-11")]
)
def test_suggested_delta(people: int, delta: str) -> None:
    assert suggest_delta(people) == Fraction(delta)


@given(st.integers(1, 10**12), st.fractions(Fraction(1, 10**6), Fraction(99, 100)))
def test_suggested_delta_keeps_the_exposure_and_wastes_less_than_a_factor_ten(people: int, exposure: Fraction) -> None:
    delta = suggest_delta(people, exposure)
    assert people * delta <= exposure < 10 * people * delta


@pytest.mark.parametrize("people", [0, -5, 1.5, True, "many"])
def test_data_sets_have_people(people: Any) -> None:
    with pytest.raises(ParameterError, match="The 'people' parameter of suggest_delta"):
        suggest_delta(people)


@pytest.mark.parametrize("exposure", [0, 1, -1, 2, float("nan"), True])
def test_exposure_is_a_chance(exposure: Any) -> None:
    with pytest.raises(ParameterError, match="The 'exposure' parameter of suggest_delta"):
        suggest_delta(10, exposure)


@pytest.mark.parametrize("significance", [-0.1, 1.1, float("nan"), True, "5 %"])
def test_significance_is_a_probability(significance: Any) -> None:
    with pytest.raises(ParameterError, match="The 'significance' parameter of best_power"):
        best_power(Budget(epsilon=1), significance)


def test_gaussian_reading_needs_rho() -> None:
    with pytest.raises(ParameterError, match="in rho where noise='gaussian'"):
        best_power(Budget(epsilon=1), 0.05, noise="gaussian")
    with pytest.raises(ParameterError, match="'any' or 'gaussian'"):
        best_power(Budget(epsilon=1), 0.05, noise="pink")  # type: ignore[arg-type]


def test_plots_show_what_they_say() -> None:
    figure = plot_trade_off({"monthly": Budget(epsilon=1), "yearly": Budget(rho=0.1)})
    labels = [line.get_label() for line in figure.axes[0].get_lines()]
    assert labels == ["monthly", "yearly", "no release at all"]
    x, y = (np.asarray(data) for data in figure.axes[0].get_lines()[0].get_data())
    assert y[x.tolist().index(0.05)] == pytest.approx(best_power(Budget(epsilon=1), 0.05))
    marked = plot_suggested_delta(1000).axes[0].get_lines()[-1]
    assert np.asarray(marked.get_data()).ravel().tolist() == [1000, pytest.approx(1e-5)]


@pytest.mark.parametrize("budgets", [[], {}, [1]])
def test_plots_need_budgets(budgets: Any) -> None:
    with pytest.raises(ParameterError, match="The 'budgets' parameter of plot_trade_off"):
        plot_trade_off(budgets)
