"""What is predicted of a series is what is measured, by size of area, with the filter and without."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sudare import Budget
from sudare.domain import CountTable
from sudare.noise.addressed import NoiseKey
from sudare.series.mechanism import SeriesWindow
from sudare.series.planning import plan_series
from sudare.series.prediction import predict_series

SIDE, TICKS, PEOPLE = 32, 24, 100_000
"""98 people in a cell on average: nobody's count comes near 0, as the test sees to."""

MAP = CountTable.from_dense(np.zeros((SIDE, SIDE), dtype=np.int64)).domain


@pytest.mark.parametrize(("filters", "share"), [(False, 0.0), (True, 0.0), (True, 0.01), (True, 0.05)])
def test_errors_are_as_predicted(filters: bool, share: float) -> None:
    """People who walk to any other cell, or stay; every count is far from 0."""
    plan = replace(plan_series(MAP, Budget(rho=0.5), ticks=TICKS, moves=8), filters=filters, learns=False)
    random = np.random.default_rng(6)
    cells = random.integers(0, SIDE**2, PEOPLE)
    window, errors = SeriesWindow(plan, NoiseKey.for_research(3), PEOPLE), []
    for _ in range(TICKS):
        cells = np.where(random.random(PEOPLE) < share, random.integers(0, SIDE**2, PEOPLE), cells)
        truth = np.bincount(cells, minlength=SIDE**2).reshape(SIDE, SIDE)
        errors.append(window.publish(cells).table.to_dense() - truth)
    assert truth.min() > 5 * plan.levels[-1].variances[-1] ** 0.5
    later = range(8, TICKS)
    drift = 2 * share * PEOPLE / SIDE**2 if filters else None
    predicted = predict_series(plan, later, drift)
    for side in (1, 2, 4):
        blocks = np.array(errors)[8:].reshape(len(later), SIDE // side, side, SIDE // side, side).sum(axis=(2, 4))
        expected = [one.deviation**2 for one in predicted if one.cells == side**2]
        assert 0.8 < np.sqrt((blocks**2).mean() / np.mean(expected)) < 1.2


@pytest.mark.parametrize("budget", [Budget(rho=0.5), Budget(epsilon=8)], ids=["rho", "epsilon"])
@pytest.mark.parametrize("moves", [0, 4, 40])
def test_no_cell_is_predicted_to_be_worse_than_by_fresh_noise(budget: Budget, moves: int) -> None:
    """Whatever noise a budget has: the best strategy for Gaussian noise would be a third worse for Laplace noise and 40 moves."""
    last = [143]
    ours, fresh = (
        predict_series(plan_series(MAP, budget, ticks=144, moves=moves, strategy=strategy), last)[0].deviation
        for strategy in (None, "fresh")
    )
    assert ours <= fresh * 1.001
    if moves == 0:
        assert ours < fresh / 3
