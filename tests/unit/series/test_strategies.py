"""Strategies: known figures, whole numbers that fulfil the conditions, and estimates that are right on average."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import solve_triangular

from sudare.errors import ParameterError
from sudare.series.sensitivity import gram_of_coefficients, path_l1, require_chain_conditions
from sudare.series.strategies import STRATEGIES, Buffers, Norm, best_power, fitted_buffers, strategy_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]


@pytest.mark.parametrize(
    ("ticks", "known"), [(24, 4.90), (144, 12.0), pytest.param(1440, 37.9, marks=pytest.mark.deep)]
)
def test_fresh_noise_has_the_known_errors(ticks: int, known: float) -> None:
    """However often people move: whoever is counted at every tick is in all of them."""
    assert strategy_for("fresh", ticks, 2).noise_factor(2, may_leave=False) == pytest.approx(known, abs=0.06)


KNOWN = {
    (24, False): [2.07, 3.12, 3.78, 4.68, 5.82],
    (144, False): [2.65, 4.12, 5.08, 6.45, 8.31],
    (144, True): [3.32, 4.51, 5.37, 6.64, 8.43],
    (1440, False): [3.38, 5.40, 6.73, 8.69, 11.42],
}
"""Standard deviations of the square root at rho = 1/2, for 0, 1, 2, 4, 8 moves, computed independently."""


@pytest.mark.parametrize(
    ("ticks", "may_leave"),
    [pytest.param(*one, marks=pytest.mark.deep) if one[0] > 1000 else one for one in KNOWN],
)
def test_the_square_root_has_the_known_errors(ticks: int, may_leave: bool) -> None:
    figures = [
        strategy_for("square-root", ticks, moves).noise_factor(moves, may_leave=may_leave) for moves in (0, 1, 2, 4, 8)
    ]
    assert figures == pytest.approx(KNOWN[ticks, may_leave], abs=0.006)


ORACLE = {
    24: (0.11700408787760352, -0.0026000908417245366, 2.0745810060752543),
    144: (0.047138680066728784, -0.00016539887742711423, 2.6476643398728403),
    1440: (0.014871574165967181, -5.169125535614528e-06, 3.381096899698095),
}
"""jax-privacy 2.0.0, `matrix_factorization.toeplitz`: the last of `optimal_max_error_strategy_coefs(n)`, the last of its
`inverse_coef`, and the largest `per_query_error`, which is a variance."""

ORACLE_BUFFERS = {
    24: (
        (0.9836798, 0.85002951, 0.57293797, 0.20248082),
        (0.1617561, 0.15484271, 0.1272329, 0.05616376),
        2.0745810124688866,
    ),
    144: (
        (0.99598474, 0.95542705, 0.80635354, 0.3874352),
        (0.0824466, 0.10948739, 0.1670664, 0.14082089),
        2.647673627289809,
    ),
    1440: (
        (0.99942943, 0.99138188, 0.93383291, 0.59063594),
        (0.03211901, 0.06302976, 0.15570139, 0.24453207),
        3.38172109145955,
    ),
}
"""`buffered_toeplitz.optimize(n=n, min_buffers=4, max_buffers=4)` there: `buf_decay`, `output_scale`, and the root of
`sensitivity_squared` times `max_error`."""

ORACLE_BANDED = {
    24: (2.834755964602796, 4.364317723053103, 1.444329443403679),
    144: (3.430398049997125, 5.163324313601957, 1.9647791166480741),
}
"""The square root times a line that falls to 0 at half of the window: `per_query_error` at the middle and at the end, and
`sensitivity_squared`."""


def noise_of(coefficients: Reals) -> Reals:
    """The variance of each count, for noise of variance 1: what unit changes are, by a matrix that is turned around.

    The count at a tick is a sum of noises with the weights b_0, ..., b_t, which C b = (1, ..., 1) gives: one system of equations.
    """
    ticks = len(coefficients)
    places = np.subtract.outer(np.arange(ticks), np.arange(ticks))
    rows = np.where(places >= 0, coefficients[np.maximum(places, 0)], 0.0)
    return np.asarray(np.cumsum(solve_triangular(rows, np.ones(ticks), lower=True) ** 2))


@pytest.mark.parametrize("ticks", ORACLE)
def test_coefficients_of_the_square_root_are_those_of_jax_privacy(ticks: int) -> None:
    last, inverse, variance = ORACLE[ticks]
    strategy = strategy_for("square-root", ticks, 0)
    assert strategy.coefficients[-1] / strategy.scale == pytest.approx(last, abs=ticks / strategy.scale)
    assert np.diff(strategy.response())[-1] == pytest.approx(inverse, abs=ticks / strategy.scale)
    assert strategy.deviations()[-1] ** 2 == pytest.approx(variance / strategy.scale**2, rel=1e-5)
    assert strategy.noise_factor(0, may_leave=False) == pytest.approx(variance, rel=1e-5)


@pytest.mark.parametrize("ticks", ORACLE_BUFFERS)
def test_buffers_are_as_good_as_those_that_jax_privacy_finds(ticks: int) -> None:
    decays, weights, error = ORACLE_BUFFERS[ticks]
    theirs = Buffers(np.array(weights), np.array(decays)).coefficients(ticks)
    square_root = np.cumprod(np.append(1.0, 1 - 0.5 / np.arange(1, ticks)))
    ours = fitted_buffers(square_root).coefficients(ticks)
    found = [float(np.sqrt((one**2).sum() * noise_of(one).max())) for one in (theirs, ours)]
    assert found[0] == pytest.approx(error, rel=1e-6), "both libraries mean the same by buffers"
    assert found[1] <= found[0] * 1.001


@pytest.mark.parametrize("ticks", ORACLE_BANDED)
def test_errors_of_a_band_are_those_of_jax_privacy(ticks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sudare.series.strategies.best_power", lambda *_: 0.5)
    strategy = strategy_for("banded", ticks, 0)
    middle, end, squared = ORACLE_BANDED[ticks]
    variances = (strategy.deviations() * strategy.scale) ** 2
    assert [variances[ticks // 2], variances[-1]] == pytest.approx([middle, end], rel=1e-5)
    assert strategy.l2_squared(0, may_leave=False) / strategy.scale**2 == pytest.approx(squared, rel=1e-5)


@pytest.mark.parametrize("ticks", [1, 2, 3, 7, 24, 144])
@pytest.mark.parametrize("moves", [0, 2, 8, 200])
def test_no_strategy_beats_the_power_by_more_than_a_percent(ticks: int, moves: int) -> None:
    power = strategy_for("power", ticks, moves).noise_factor(moves)
    for name in STRATEGIES:
        assert power <= strategy_for(name, ticks, moves).noise_factor(moves) * 1.01, name
    assert strategy_for("buffered", ticks, moves).noise_factor(moves) <= power * 1.01


@pytest.mark.parametrize("ticks", [1, 2, 3, 24, 144])
@pytest.mark.parametrize("moves", [0, 2, 8, 40])
def test_for_laplace_noise_no_strategy_beats_the_power_by_more_than_a_percent(ticks: int, moves: int) -> None:
    factors = {name: strategy_for(name, ticks, moves, "l1").noise_factor(moves, norm="l1") for name in STRATEGIES}
    assert max(factors["power"], factors["buffered"]) <= min(factors.values()) * 1.01


def test_the_power_for_gaussian_noise_is_a_bad_one_for_laplace_noise() -> None:
    for moves, loss in ((0, 1.2), (40, 1.25)):
        fitting, other = strategy_for("power", 144, moves, "l1"), strategy_for("power", 144, moves)
        assert other.noise_factor(moves, norm="l1") > loss * fitting.noise_factor(moves, norm="l1")


NORMS: tuple[Norm, ...] = ("l2", "l1")


@given(
    ticks=st.integers(1, 60),
    moves=st.integers(0, 30),
    name=st.sampled_from(sorted(STRATEGIES)),
    norm=st.sampled_from(NORMS),
)
def test_coefficients_are_whole_and_fulfil_the_conditions(ticks: int, moves: int, name: str, norm: Norm) -> None:
    strategy = strategy_for(name, ticks, moves, norm)
    assert strategy.ticks == ticks
    assert all(type(value) is int and value >= 0 for value in strategy.coefficients)
    require_chain_conditions(gram_of_coefficients(np.array(strategy.coefficients)))
    assert strategy.l2_squared(moves) <= (2 * moves + 2) * sum(value**2 for value in strategy.coefficients)


@given(
    name=st.sampled_from(sorted(STRATEGIES)),
    changes=st.lists(st.integers(-1000, 1000), min_size=1, max_size=40),
    moves=st.integers(0, 5),
    norm=st.sampled_from(NORMS),
)
def test_without_noise_estimates_are_the_running_sums(name: str, changes: list[int], moves: int, norm: Norm) -> None:
    strategy = strategy_for(name, len(changes), moves, norm)
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
        (("fresh", 5, 1, "l3"), "norm"),
    ],
)
def test_wrong_arguments_are_named(arguments: Any, named: str) -> None:
    with pytest.raises(ParameterError, match=f"'{named}'"):
        strategy_for(*arguments)
