"""Running estimates are the running sums of the inverted series, tick after tick, with gaps and without."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.errors import ParameterError
from sudare.kernels.series.measuring import add_changes
from sudare.series.estimation import RunningEstimate
from sudare.series.strategies import STRATEGIES, strategy_for

NAMES = sorted(STRATEGIES)


@given(name=st.sampled_from(NAMES), ticks=st.integers(1, 30), moves=st.integers(0, 6), seed=st.integers(0, 2**32 - 1))
def test_estimates_are_the_inverse_of_the_whole_matrix(name: str, ticks: int, moves: int, seed: int) -> None:
    strategy = strategy_for(name, ticks, moves)
    measured = np.random.default_rng(seed).integers(-(2**30), 2**30, (ticks, 3))
    estimate = RunningEstimate(strategy, 3)
    found = np.stack([estimate.update(row) for row in measured])
    real = strategy.real_coefficients()
    matrix = np.array([[real[i - j] if i >= j else 0.0 for j in range(ticks)] for i in range(ticks)])
    expected = np.cumsum(np.linalg.solve(matrix, measured / strategy.scale), axis=0)
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("name", NAMES)
def test_a_tick_that_is_missing_leaves_later_ones_right(name: str) -> None:
    """Nobody's change is counted at a missing tick, nothing is drawn, and later counts have no error on average."""
    ticks, missing = 12, {0, 4, 5}
    strategy = strategy_for(name, ticks, 2)
    changes = np.random.default_rng(1).integers(-20, 50, (ticks, 4))
    changes[sorted(missing)] = 0
    estimate = RunningEstimate(strategy, 4)
    for tick in range(ticks):
        measured = np.zeros(4, dtype=np.int64)
        for earlier in range(tick + 1):
            add_changes(measured, np.arange(4), changes[earlier], strategy.coefficients[tick - earlier])
        counts = estimate.skip() if tick in missing else estimate.update(measured)
        assert counts == pytest.approx(changes[: tick + 1].sum(axis=0), abs=1e-2)


def test_memory_of_buffered_strategies_does_not_grow_with_the_window() -> None:
    sizes = {ticks: RunningEstimate(strategy_for("buffered", ticks, 2), 1).memory.size for ticks in (48, 144, 300)}
    assert max(sizes.values()) <= 6
    assert RunningEstimate(strategy_for("fresh", 500, 2), 1).memory.size == 1


def test_after_the_window_nothing_is_estimated() -> None:
    estimate = RunningEstimate(strategy_for("moves", 1, 0), 2)
    with pytest.raises(ParameterError, match="measured"):
        estimate.update(np.array([1.0, 2.0]))
    with pytest.raises(ParameterError, match="measured"):
        estimate.update(np.array([1, 2, 3]))
    estimate.update(np.array([1, 2]))
    with pytest.raises(ParameterError, match="over"):
        estimate.update(np.array([1, 2]))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("stopped", [0, 1, 5, 12])
def test_an_estimate_goes_on_with_the_same_bytes_after_a_stop(name: str, stopped: int) -> None:
    strategy = strategy_for(name, 12, 2)
    measured = np.random.default_rng(5).integers(-(2**30), 2**30, (12, 7))
    whole, part = RunningEstimate(strategy, 7), RunningEstimate(strategy, 7)
    expected = [whole.skip() if tick == 3 else whole.update(row) for tick, row in enumerate(measured)]
    for tick in range(stopped):
        part.skip() if tick == 3 else part.update(measured[tick])
    saved = {name: (array.tobytes(), array.shape) for name, array in part.arrays().items()}
    arrays = {name: np.frombuffer(data).reshape(shape) for name, (data, shape) in saved.items()}
    resumed = RunningEstimate.restored(strategy, 7, stopped, arrays)
    assert resumed.counts.tobytes() == part.counts.tobytes()
    for tick in range(stopped, 12):
        counts = resumed.skip() if tick == 3 else resumed.update(measured[tick])
        assert counts.tobytes() == expected[tick].tobytes()


def test_arrays_of_another_estimate_are_refused() -> None:
    strategy = strategy_for("power", 12, 2)
    estimate = RunningEstimate(strategy, 7)
    for row in np.ones((5, 7), dtype=np.int64):
        estimate.update(row)
    cases: list[tuple[int, int, Any, str]] = [
        (7, 4, estimate.arrays(), "arrays"),
        (6, 5, estimate.arrays(), "arrays"),
        (7, 5, {"counts": estimate.counts}, "arrays"),
        (7, 5, {**estimate.arrays(), "counts": estimate.counts.astype(np.float32)}, "arrays"),
        (7, 13, estimate.arrays(), "tick"),
    ]
    for nodes, tick, arrays, named in cases:
        with pytest.raises(ParameterError, match=f"'{named}'"):
            RunningEstimate.restored(strategy, nodes, tick, arrays)


def test_measured_changes_are_exact_sums() -> None:
    measured = np.zeros(4, dtype=np.int64)
    add_changes(measured, np.array([0, 3]), np.array([2, -5]), 2**40)
    add_changes(measured, np.array([3]), np.array([1]), 7)
    assert measured.tolist() == [2**41, 0, 0, -5 * 2**40 + 7]
