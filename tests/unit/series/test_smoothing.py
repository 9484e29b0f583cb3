"""Past ticks from all ticks: the best linear estimate, with less error, the filter's at the end, and with the filter's sums."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sudare import Budget
from sudare.domain import CountTable
from sudare.errors import ParameterError
from sudare.noise.addressed import NoiseKey
from sudare.series.filtering import FilteredEstimate, FilterStep, area_of
from sudare.series.mechanism import LevelDesign, SeriesWindow
from sudare.series.planning import plan_series
from sudare.series.smoothing import Backward, TickTables, smooth_level, smooth_window
from sudare.series.strategies import strategy_for
from tests.reference.naive_series import UNKNOWN, best_counts, measure, moving_people

TICKS, NODES = 48, 512
MAP = CountTable.from_dense(np.zeros((16, 16), dtype=np.int64)).domain
KEY = NoiseKey.for_research(7)


def level(name: str = "buffered", ticks: int = TICKS, moves: int = 2) -> LevelDesign:
    plan = plan_series(MAP, Budget(rho=0.5), ticks=ticks, moves=moves, strategy=name)
    return plan.levels[-1]


def size(errors: Any) -> float:
    return float(np.sqrt((errors**2).mean()))


@pytest.mark.parametrize("drift", [0.0, 0.5, 20.0])
def test_carrying_back_gives_the_best_linear_estimate(drift: float) -> None:
    """With one drift that is known, one kind of node, and areas so large that their means are nothing."""
    ticks, nodes, missing = 9, 4, {4}
    strategy = strategy_for("buffered", ticks, 2)
    estimate = FilteredEstimate(strategy, nodes, 4.0 * strategy.scale**2)
    space = estimate.space
    measured = np.random.default_rng(2).normal(0, 30, (ticks, nodes))
    measured -= measured.mean(axis=1, keepdims=True)  # an area's sum is 0, and stays so
    covariances = np.broadcast_to(space.first(), estimate.covariances.shape)
    state, filtered = np.tile(measured[0], (space.size, 1)), [measured[0]]
    tables = [TickTables(covariances, None, None, True)]
    steps: list[FilterStep | None] = [None]
    for tick in range(1, ticks):
        if tick in missing:
            state, covariances = state * space.decays[:, None], space.later(covariances)
            tables.append(TickTables(covariances, None, None, True))
            steps.append(None)
        else:
            drifts = np.full(covariances.shape[:2], drift)
            gain, spread = space.gain(covariances, drifts), space.spread(covariances) + drifts
            surprise = measured[tick] - space.weights @ state
            state = space.decays[:, None] * state + gain[0, 0][:, None] * surprise
            covariances = space.updated(covariances, gain, drifts)
            tables.append(TickTables(covariances, gain, spread, True))
            steps.append(FilterStep(surprise, np.zeros(nodes, dtype=np.bool_), gain, spread))
        filtered.append(state[0])
    measured[sorted(missing)] = np.nan
    drifts = np.array([UNKNOWN] + [0.0 if tick in missing else drift for tick in range(1, ticks)])
    backward, kinds = Backward(estimate, tables), np.zeros(nodes, dtype=np.uint8)
    for tick in range(ticks - 1, -1, -1):
        found = backward.smoothed(tick, filtered[tick], kinds).counts
        expected = [best_counts(strategy, 4.0, drifts, column, ticks)[0][tick] for column in measured.T]
        assert found == pytest.approx(expected, abs=1e-2)
        step = steps[tick]
        arrays = {} if step is None else {"distances": step.distances, "is_step": step.is_step}
        backward.step_back(tick, arrays, kinds)


@pytest.mark.parametrize("name", ["buffered", "power"])
@pytest.mark.parametrize(("kind", "share"), [("stay", 0.0), ("wander", 0.01), ("commute", 0.03), ("meet", 0.0)])
def test_later_ticks_take_error_away_and_leave_sums_alone(name: str, kind: str, share: float, tmp_path: Path) -> None:
    design = level(name)
    truth = moving_people(kind, share, NODES, 12_000, TICKS, 5)
    measured = measure(design.strategy, truth, design.noise_variance, 6)
    causal = FilteredEstimate(design.strategy, NODES, design.noise_variance)
    filtered = np.array([causal.update(row) for row in measured])
    found = list(smooth_level(design, NODES, lambda tick: measured[tick], tmp_path, TICKS))
    assert [one.tick for one in found] == list(range(TICKS - 1, -1, -1))
    smoothed = np.array([one.counts for one in reversed(found)])
    variances = np.array([one.variances for one in reversed(found)])
    assert np.array_equal(smoothed[-1], filtered[-1])
    assert size(smoothed - truth) < 0.93 * size(filtered - truth)
    assert 0.8 < size(smoothed - truth) / np.sqrt(variances.mean()) < 1.1
    areas = [np.add.reduceat(values, np.arange(0, NODES, area_of(NODES)), axis=1) for values in (smoothed, filtered)]
    assert areas[0] == pytest.approx(areas[1], rel=1e-9, abs=1e-6)


def test_a_revision_is_whole_adds_up_and_is_nearer_the_truth(tmp_path: Path) -> None:
    ticks, people = 16, 6000
    plan = plan_series(MAP, Budget(rho=2), ticks=ticks, moves=2)
    random = np.random.default_rng(4)
    cells = (random.normal(8, 2.5, (people, 2)).clip(0, 15).astype(np.int64) * [16, 1]).sum(axis=1)
    window = SeriesWindow(plan, KEY, people)
    tables: list[Any] = []
    measured: list[Any] = []
    for tick in range(ticks):
        if tick == 5:
            window.skip()
            tables.append(None)
            measured.append(None)
            continue
        done = window.publish(cells)
        tables.append(done.table.to_dense())
        measured.append(done.measured)
    truth = np.bincount(cells, minlength=256).reshape(16, 16)
    revised = dict(
        smooth_window(plan, lambda tick: measured[tick], tmp_path, lambda tick: KEY.child("revised", tick).stream())
    )
    assert sorted(revised) == [tick for tick in range(ticks) if tick != 5]
    before = [size(table - truth) for table in tables if table is not None]
    after = [size(revised[tick].to_dense() - truth) for tick in sorted(revised)]
    assert np.mean(after[:-1]) < 0.9 * np.mean(before[:-1])
    assert abs(np.mean([revised[tick].total - people for tick in revised])) < 40
    with pytest.raises(ParameterError, match="ticks"):
        next(smooth_window(plan, lambda tick: measured[tick], tmp_path, lambda tick: KEY.stream(), ticks + 1))


def test_what_cannot_be_filtered_is_left_as_it_was(tmp_path: Path) -> None:
    design = level("banded", 6)
    measured = np.random.default_rng(1).integers(-(2**24), 2**24, (6, 9))
    plain = design.estimate(9, filters=False)
    expected = [plain.update(row) for row in measured]
    found = list(smooth_level(replace(design), 9, lambda tick: measured[tick], tmp_path, 6))
    assert all(np.array_equal(one.counts, expected[one.tick]) for one in found)
    assert [one.variances for one in found] == [float(design.variances[one.tick]) for one in found]
