"""Strategies: known figures, whole numbers that fulfil the conditions, and estimates that are right on average."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.errors import ParameterError
from sudare.series.sensitivity import gram_of_coefficients, path_l1, require_chain_conditions
from sudare.series.strategies import STRATEGIES, best_power, strategy_for

KNOWN = {
    (24, False): [2.07, 3.12, 3.78, 4.68, 5.82],
    (144, False): [2.65, 4.12, 5.08, 6.45, 8.31],
    (144, True): [3.32, 4.51, 5.37, 6.64, 8.43],
}
"""Standard deviations of the square root at rho = 1/2, for 0, 1, 2, 4, 8 moves, computed independently."""


@pytest.mark.parametrize(("ticks", "may_leave"), KNOWN)
def test_the_square_root_has_the_known_errors(ticks: int, may_leave: bool) -> None:
    figures = [
        strategy_for("square-root", ticks, moves).noise_factor(moves, may_leave=may_leave) for moves in (0, 1, 2, 4, 8)
    ]
    assert figures == pytest.approx(KNOWN[ticks, may_leave], abs=0.006)


@pytest.mark.parametrize("ticks", [1, 2, 3, 7, 24, 144])
@pytest.mark.parametrize("moves", [0, 2, 8, 200])
def test_no_strategy_beats_the_power_by_more_than_a_percent(ticks: int, moves: int) -> None:
    power = strategy_for("power", ticks, moves).noise_factor(moves)
    for name in STRATEGIES:
        assert power <= strategy_for(name, ticks, moves).noise_factor(moves) * 1.01, name
    assert strategy_for("buffered", ticks, moves).noise_factor(moves) <= power * 1.01


@given(ticks=st.integers(1, 60), moves=st.integers(0, 30), name=st.sampled_from(sorted(STRATEGIES)))
def test_coefficients_are_whole_and_fulfil_the_conditions(ticks: int, moves: int, name: str) -> None:
    strategy = strategy_for(name, ticks, moves)
    assert strategy.ticks == ticks
    assert all(type(value) is int and value >= 0 for value in strategy.coefficients)
    require_chain_conditions(gram_of_coefficients(np.array(strategy.coefficients)))
    assert strategy.l2_squared(moves) <= (2 * moves + 2) * sum(value**2 for value in strategy.coefficients)


@given(
    name=st.sampled_from(sorted(STRATEGIES)),
    changes=st.lists(st.integers(-1000, 1000), min_size=1, max_size=40),
    moves=st.integers(0, 5),
)
def test_without_noise_estimates_are_the_running_sums(name: str, changes: list[int], moves: int) -> None:
    strategy = strategy_for(name, len(changes), moves)
    measured = np.convolve(strategy.coefficients, changes)[: len(changes)]
    estimated = np.convolve(strategy.response(), measured)[: len(changes)] / strategy.scale
    largest = np.abs(np.cumsum(changes)).max() + np.abs(changes).sum()
    assert np.abs(estimated - np.cumsum(changes)).max() <= 1e-9 + largest * strategy.rounding_share() * 1.001
    assert strategy.rounding_share() < 1e-5


def test_l1_of_coefficients_is_that_of_their_matrix() -> None:
    strategy = strategy_for("power", 12, 2)
    rows = np.array([[strategy.coefficients[i - j] if i >= j else 0 for j in range(12)] for i in range(12)])
    assert strategy.l1(2) == path_l1(rows, 2)
    assert strategy_for("moves", 9, 3).l1(3) == 8
    assert strategy_for("fresh", 9, 3).l1(3) == 9


def test_the_best_power_is_a_minimum_and_rises_with_moves() -> None:
    powers = [best_power(48, moves) for moves in (0, 1, 4, 16, 1000)]
    assert powers == sorted(powers)
    assert 0.5 < powers[0] < powers[-1] <= 1.0


def test_more_moves_never_cost_less() -> None:
    strategy = strategy_for("power", 30, 2)
    costs = [strategy.l2_squared(moves) for moves in range(8)]
    assert costs == sorted(costs)
    assert all(strategy.l2_squared(moves, may_leave=False) <= cost for moves, cost in enumerate(costs))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("sideways", 10, 1), "name"),
        (("fresh", 0, 1), "ticks"),
        (("fresh", 5000, 1), "ticks"),
        (("fresh", 5, -1), "moves"),
    ],
)
def test_wrong_arguments_are_named(arguments: tuple[str, int, int], named: str) -> None:
    with pytest.raises(ParameterError, match=f"'{named}'"):
        strategy_for(*arguments)
