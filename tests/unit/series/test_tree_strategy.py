"""The tree: what it measures fulfils the conditions, and its estimate is the best one from each sum and those inside it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.series.planning import compare_strategies
from sudare.series.sensitivity import gram_matrix, path_l1, path_l2_squared, require_chain_conditions
from sudare.series.tree_strategy import TreeEstimate, TreeStrategy
from tests.unit.series.test_sensitivity import largest


def sums(ticks: int) -> list[tuple[int, int]]:
    """First and last tick of each sum, in the order in which they end."""
    return [(tick + 1 - length, tick) for tick in range(ticks) for length in TreeStrategy.lengths(tick)]


def rows_of(ticks: int) -> NDArray[np.int64]:
    return np.array([[first <= tick <= last for tick in range(ticks)] for first, last in sums(ticks)], dtype=np.int64)


@given(ticks=st.integers(1, 40))
def test_ticks_share_the_sums_that_hold_both(ticks: int) -> None:
    gram = TreeStrategy(ticks).gram()
    assert np.array_equal(gram, gram_matrix(rows_of(ticks)))
    require_chain_conditions(gram)


@given(data=st.data(), ticks=st.integers(2, 12))
def test_sums_over_any_stretches_fulfil_the_conditions(data: st.DataObject, ticks: int) -> None:
    ends = st.tuples(st.integers(0, ticks - 1), st.integers(0, ticks - 1), st.integers(1, 5))
    stretches = data.draw(st.lists(ends, min_size=1, max_size=12))
    rows = [[weight * (min(a, b) <= tick <= max(a, b)) for tick in range(ticks)] for a, b, weight in stretches]
    require_chain_conditions(gram_matrix(np.array(rows)))


@pytest.mark.parametrize("ticks", [4, 5])
@pytest.mark.parametrize("moves", [0, 1, 2])
@pytest.mark.parametrize("may_leave", [True, False])
def test_the_charge_is_the_largest_norm_of_all_paths(ticks: int, moves: int, may_leave: bool) -> None:
    charged = TreeStrategy(ticks).l2_squared(moves, may_leave=may_leave)
    assert charged == largest(rows_of(ticks), 3, moves, 2, may_leave=may_leave)
    assert charged >= largest(rows_of(ticks), 1, moves, 2, may_leave=may_leave), "returns to one node"
    single = gram_matrix(np.eye(ticks, dtype=np.int64))
    assert charged > path_l2_squared(single, moves, may_leave=may_leave), "a twin that forgets the longer sums"


@pytest.mark.parametrize("ticks", [1, 2, 3, 7, 8, 12])
def test_each_count_is_the_best_from_the_sums_that_end_by_then(ticks: int) -> None:
    """Weighted least squares on whole matrices, for the stretches of which the count is made up."""
    measured = np.random.default_rng(ticks).integers(-50, 50, (len(sums(ticks)), 3))
    estimate, places = TreeEstimate(3), {stretch: place for place, stretch in enumerate(sums(ticks))}
    deviations = TreeStrategy(ticks).deviations()
    for tick in range(ticks):
        ends = [places[tick + 1 - length, tick] for length in TreeStrategy.lengths(tick)]
        found = estimate.update(measured[ends])
        expected, variance, first = np.zeros(3), 0.0, 0
        while first <= tick:
            length = 1 << (tick + 1 - first).bit_length() - 1
            inside = [place for (a, b), place in places.items() if first <= a and b < first + length]
            rows = rows_of(ticks)[inside][:, first : first + length].astype(float)
            covariance = np.linalg.inv(rows.T @ rows)
            expected += np.ones(length) @ covariance @ rows.T @ measured[inside]
            variance += float(covariance.sum())
            first += length
        assert found == pytest.approx(expected)
        assert deviations[tick] ** 2 == pytest.approx(variance)


@pytest.mark.parametrize("ticks", [1, 4, 7, 13])
@pytest.mark.parametrize("moves", [0, 2])
def test_the_l1_charge_is_that_of_its_rows(ticks: int, moves: int) -> None:
    for may_leave in (True, False):
        assert TreeStrategy(ticks).l1(moves, may_leave=may_leave) == path_l1(rows_of(ticks), moves, may_leave=may_leave)


def test_without_noise_counts_are_running_sums() -> None:
    changes = np.random.default_rng(1).integers(-9, 9, (13, 2))
    estimate = TreeEstimate(2)
    for tick in range(13):
        ended = [changes[tick + 1 - length : tick + 1].sum(axis=0) for length in TreeStrategy.lengths(tick)]
        assert estimate.update(np.array(ended)) == pytest.approx(changes[: tick + 1].sum(axis=0))


def test_the_tree_is_compared_and_never_the_best_for_gaussian_noise() -> None:
    for ticks, moves in [(24, 0), (24, 2), (144, 0), (144, 2), (144, 8)]:
        choices = {choice.name: choice.deviation for choice in compare_strategies(ticks, moves)}
        assert choices["tree"] == pytest.approx(TreeStrategy(ticks).noise_factor(moves))
        assert choices["tree"] > 1.5 * choices["power"]
    assert choices["tree"] > choices["fresh"]


@pytest.mark.parametrize(("ticks", "share"), [(144, 1.4), pytest.param(720, 0.95, marks=pytest.mark.deep)])
def test_for_laplace_noise_the_tree_is_better_where_ticks_are_many(ticks: int, share: float) -> None:
    """As the module says."""
    choices = {choice.name: choice.deviation for choice in compare_strategies(ticks, 2, "l1")}
    assert (choices["tree"] > share * choices["power"]) == (ticks == 144)


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ParameterError, match="ticks"):
        TreeStrategy(0)
    with pytest.raises(ParameterError, match="measured"):
        TreeEstimate(2).update(np.zeros((2, 2), dtype=np.int64))
