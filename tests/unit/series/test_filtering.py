"""The filter is the best linear estimate, follows what moves, leaves sums alone, and says how certain it is."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.errors import ParameterError
from sudare.series.estimation import RunningEstimate
from sudare.series.filtering import FilteredEstimate, area_of
from sudare.series.state_space import StateSpace
from sudare.series.strategies import STRATEGIES, strategy_for
from tests.reference.naive_series import UNKNOWN, best_counts, measure, moving_people

SUITED = ["buffered", "fresh", "moves", "power", "square-root"]
TICKS, NODES, MOVES = 48, 512, 2


def simulated(kind: str, share: float, name: str = "buffered", *, people: int = 12_000, seed: int = 3) -> Any:
    """True counts, plain and filtered estimates, and the filter's variances, for each tick and node."""
    truth = moving_people(kind, share, NODES, people, TICKS, seed)
    strategy = strategy_for(name, TICKS, MOVES)
    variance = float(strategy.l2_squared(MOVES))
    plain, filtered = RunningEstimate(strategy, NODES), FilteredEstimate(strategy, NODES, variance)
    found = []
    for row in measure(strategy, truth, variance, seed + 1):
        found.append((plain.update(row).copy(), filtered.update(row), filtered.variances()))
    return truth, *(np.array(arrays) for arrays in zip(*found, strict=True))


run = cache(simulated)
"""Several tests look at the same days."""


def size(errors: Any) -> float:
    return float(np.sqrt((errors**2).mean()))


@given(
    name=st.sampled_from(["buffered", "fresh", "moves"]),
    ticks=st.integers(2, 12),
    moves=st.integers(0, 5),
    drift=st.sampled_from([0.0, 0.1, 1.0, 30.0]),
    missing=st.sets(st.integers(1, 11), max_size=3),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_gains_give_the_best_linear_estimate(
    name: str, ticks: int, moves: int, drift: float, missing: set[int], seed: int
) -> None:
    strategy = strategy_for(name, ticks, moves)
    space = StateSpace.of(strategy, 4.0 * strategy.scale**2)
    assert space is not None
    measured = np.random.default_rng(seed).normal(0, 50, ticks)
    drifts = np.array([UNKNOWN] + [0.0 if tick in missing else drift for tick in range(1, ticks)])
    measured[[tick for tick in missing if tick < ticks]] = np.nan
    state, covariance = np.full(space.size, measured[0]), space.first()
    for tick in range(ticks):
        if tick and tick in missing:
            state, covariance = state * space.decays, space.later(covariance)
        elif tick:
            gain = space.gain(covariance, np.asarray(drift))
            state = space.decays * state + gain * (measured[tick] - space.weights @ state)
            covariance = space.updated(covariance, gain, np.asarray(drift))
        counts, variances = best_counts(strategy, 4.0, drifts, measured, tick + 1)
        assert state[0] == pytest.approx(counts[tick], abs=1e-2)
        assert covariance[0, 0] == pytest.approx(variances[tick], rel=1e-3)


@pytest.mark.parametrize("name", SUITED)
def test_without_drift_it_predicts_what_is_known_of_a_count_that_stays(name: str) -> None:
    strategy = strategy_for(name, 12, 2)
    space = StateSpace.of(strategy, float(strategy.l2_squared(2)))
    assert space is not None
    shares = np.cumsum(strategy.real_coefficients() ** 2)
    noise, lag = space.predicted_variances(12, 0.0)
    assert noise == pytest.approx(space.noise / shares, rel=0.02)
    assert (np.diff(noise) <= 1e-9).all()
    assert lag == pytest.approx(0.0)
    assert sum(space.predicted_variances(12, 1e9)) == pytest.approx(
        strategy.deviations() ** 2 * strategy.l2_squared(2), rel=0.02
    )


@pytest.mark.parametrize("name", SUITED)
@pytest.mark.parametrize(("kind", "share"), [("stay", 0.0), ("wander", 0.02), ("commute", 0.05), ("meet", 0.0)])
def test_sums_over_areas_are_those_of_the_plain_estimate(name: str, kind: str, share: float) -> None:
    """So that areas, margins and totals have no error on average, whatever people do."""
    _, plain, filtered, _ = run(kind, share, name)
    areas = [np.add.reduceat(values, np.arange(0, NODES, area_of(NODES)), axis=1) for values in (plain, filtered)]
    assert areas[0] == pytest.approx(areas[1], rel=1e-9, abs=1e-6)
    assert size(plain - filtered) > 1


@pytest.mark.parametrize("name", ["buffered", "power"])
@pytest.mark.parametrize(
    ("kind", "share", "better"),
    [("stay", 0.0, 0.6), ("wander", 0.01, 0.75), ("commute", 0.01, 0.75), ("meet", 0.0, 0.65)],
)
def test_quiet_places_have_less_error_and_it_is_known(name: str, kind: str, share: float, better: float) -> None:
    truth, plain, filtered, variances = run(kind, share, name)
    assert size(filtered - truth) < better * size(plain - truth)
    assert size(filtered - truth) == pytest.approx(np.sqrt(variances.mean()), rel=0.1)


def test_a_stadium_that_fills_and_empties_is_followed_at_once() -> None:
    truth, plain, filtered, _ = run("meet", 0.0)
    crowd = truth[:, 7]
    assert crowd.max() > 500
    assert np.abs(filtered - truth)[:, 7].max() < 5 * np.abs(plain - truth).std()
    jumps = np.flatnonzero(np.abs(np.diff(crowd)) > 100) + 1
    assert size((filtered - truth)[jumps, 7]) < 1.5 * size(plain - truth)


def test_growing_and_emptying_places_lag_by_less_than_their_noise() -> None:
    errors: dict[str, list[float]] = {"growing": [], "emptying": [], "empty": []}
    noise = 0.0
    for seed in range(4):
        truth, plain, filtered, _ = run("commute", 0.04, seed=10 * seed)
        change = truth[4:] - truth[:-4]
        off = (filtered - truth)[4:]
        errors["growing"].extend(off[change >= 12])
        errors["emptying"].extend(off[change <= -12])
        errors["empty"].extend(off[:, : NODES // 4][:, 8:].mean(axis=1))
        noise = max(noise, size(plain - truth))
    assert len(errors["growing"]) > 100
    assert len(errors["emptying"]) > 100
    assert -0.7 * noise < np.mean(errors["growing"]) < 0.7 * noise
    assert -0.7 * noise < np.mean(errors["emptying"]) < 0.7 * noise
    assert abs(np.mean(errors["empty"])) < 0.5


def test_a_twin_that_never_sees_steps_lags(monkeypatch: pytest.MonkeyPatch) -> None:
    from sudare.series import filtering

    monkeypatch.setattr(filtering, "STEP", 1e9)
    truth, plain, filtered, _ = simulated("meet", 0.0)
    assert np.abs(filtered - truth)[:, 7].max() > 10 * np.abs(plain - truth).std()


@pytest.mark.parametrize("name", SUITED)
@pytest.mark.parametrize("stopped", [0, 1, 5, 12])
def test_it_goes_on_with_the_same_bytes_after_a_stop(name: str, stopped: int) -> None:
    strategy = strategy_for(name, 12, 2)
    variance = float(strategy.l2_squared(2))
    measured = measure(strategy, moving_people("wander", 0.1, 200, 3000, 12, 1), variance, 2)

    def step(estimate: FilteredEstimate, tick: int) -> Any:
        return estimate.skip() if tick == 3 else estimate.update(measured[tick])

    whole, part = FilteredEstimate(strategy, 200, variance), FilteredEstimate(strategy, 200, variance)
    expected = [(step(whole, tick).tobytes(), whole.variances().tobytes()) for tick in range(12)]
    for tick in range(stopped):
        step(part, tick)
    saved = {key: (array.tobytes(), array.shape, array.dtype) for key, array in part.arrays().items()}
    arrays = {key: np.frombuffer(data, dtype).reshape(shape) for key, (data, shape, dtype) in saved.items()}
    resumed = FilteredEstimate(strategy, 200, variance)
    resumed.restore(stopped, arrays)
    for tick in range(stopped, 12):
        assert (step(resumed, tick).tobytes(), resumed.variances().tobytes()) == expected[tick]


def test_arrays_of_another_filter_are_refused() -> None:
    strategy = strategy_for("power", 12, 2)
    estimate = FilteredEstimate(strategy, 7, 1.0)
    estimate.update(np.ones(7, dtype=np.int64))
    for tick, arrays, named in [
        (2, estimate.arrays(), "arrays"),
        (1, {key: array for key, array in estimate.arrays().items() if key != "runs"}, "arrays"),
        (13, estimate.arrays(), "tick"),
    ]:
        with pytest.raises(ParameterError, match=f"'{named}'"):
            FilteredEstimate(strategy, 7, 1.0).restore(tick, arrays)


def test_memory_does_not_grow_with_the_window() -> None:
    for ticks in (48, 144, 300):
        arrays = FilteredEstimate(strategy_for("buffered", ticks, 2), 1 << 14, 1.0).arrays().values()
        assert sum(array.nbytes for array in arrays) <= (9 * 8 + 1) * 2**14


def test_ticks_that_are_missing_leave_later_ones_right() -> None:
    """Even the first ones: whoever is counted first is a change of which nothing is known."""
    strategy = strategy_for("buffered", 12, 2)
    truth = np.full((12, 300), 1000)
    truth[:2] = 0
    measured = measure(strategy, truth, 4.0 * strategy.scale**2, 3)
    estimate = FilteredEstimate(strategy, 300, 4.0 * strategy.scale**2)
    for tick in range(12):
        counts = estimate.skip() if tick in {0, 1, 5, 6} else estimate.update(measured[tick])
        if tick >= 2:
            assert size(counts - 1000) < 2.5
            assert abs((counts - 1000).mean()) < 0.6


def test_what_cannot_be_filtered_is_refused() -> None:
    assert [name for name in sorted(STRATEGIES) if FilteredEstimate.suits(strategy_for(name, 24, 2))] == SUITED
    with pytest.raises(ParameterError, match="strategy"):
        FilteredEstimate(strategy_for("banded", 24, 2), 4, 1.0)
    estimate = FilteredEstimate(strategy_for("moves", 1, 0), 2, 1.0)
    with pytest.raises(ParameterError, match="measured"):
        estimate.update(np.array([1.0, 2.0]))
    estimate.update(np.array([1, 2]))
    with pytest.raises(ParameterError, match="over"):
        estimate.update(np.array([1, 2]))
    with pytest.raises(ParameterError, match="over"):
        estimate.skip()
