"""Plans for one ordered axis: which tables, which workloads, and predictions that hold where nobody is cut off."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sudare
from sudare.tables.histograms.planning import HISTOGRAM_WORKLOADS, is_histogram

ONE = sudare.Budget(epsilon=1)
DOMAIN = sudare.Domain.of_shape((512,))


def test_which_tables() -> None:
    assert is_histogram(DOMAIN)
    assert is_histogram(sudare.Domain((sudare.Bins("age", tuple(range(101))),)))
    assert not is_histogram(sudare.Domain.of_shape((64,))), "few places are categories"
    assert not is_histogram(sudare.Domain.of_shape((512, 2)))
    assert not is_histogram(sudare.Domain((sudare.Category("code", tuple(range(100))),)))
    assert sudare.plan_table(DOMAIN, ONE).mechanism == "histogram"
    assert sudare.plan_table(DOMAIN, ONE, with_reference=True).mechanism == "wide-tree"
    assert sudare.plan_table(DOMAIN, ONE, workload=(1, 4)).mechanism == "wide-tree"


@pytest.mark.parametrize("workload", HISTOGRAM_WORKLOADS)
@pytest.mark.parametrize("budget", [ONE, sudare.Budget(rho=0.1), sudare.Budget(epsilon=1, delta=1e-6)], ids=str)
def test_a_plan_is_carried_out_as_it_says(workload: Any, budget: sudare.Budget) -> None:
    plan = sudare.plan_table(DOMAIN, budget, workload=workload)
    assert sum(level.share for level in plan.levels) == pytest.approx(1)
    published = sudare.publish(np.full(512, 9), budget, plan, keep_measurements=True)
    assert published.event.cost == budget
    assert published.measurements is not None
    assert [kept.name for kept in published.measurements] == [level.name for level in plan.levels]
    assert all(level.words.japanese != level.words.english for level in plan.levels)
    assert all(reason.japanese != reason.english for reason in plan.reasons)


def test_each_workload_is_best_at_what_it_is_for() -> None:
    cells = {w: sudare.plan_table(DOMAIN, ONE, workload=w).errors[0].rmse for w in HISTOGRAM_WORKLOADS}
    assert min(cells, key=lambda workload: cells[workload]) == "cells"
    long = {w: sudare.plan_table(DOMAIN, ONE, workload=w).errors[7].rmse for w in HISTOGRAM_WORKLOADS}
    assert long["ranges"] < long["cells"]


def test_a_reference_and_a_public_total_are_taken() -> None:
    counts = np.full(512, 5)
    assert sudare.publish(counts, ONE, reference=counts + 1).event.mechanism == "wide-tree"
    published = sudare.publish(counts, ONE, public_total=True)
    assert published.event.mechanism == "histogram"
    assert published.table.total == counts.sum()


def test_predictions_are_upper_limits_of_what_is_found() -> None:
    """On an uneven histogram with many people, where nothing can be learned, errors are nearly those of the noise."""
    counts = np.random.default_rng(0).integers(3000, 9000, 512)
    plan = sudare.plan_table(DOMAIN, ONE)
    errors = [
        sudare.publish(counts, ONE, plan, entropy=sudare.ResearchEntropy(s)).to_dense() - counts for s in range(40)
    ]
    sums = np.concatenate([np.zeros((40, 1)), np.cumsum(errors, axis=1)], axis=1)
    for predicted in plan.errors[:8]:
        ranges = sums[:, predicted.side :] - sums[:, : -predicted.side]
        assert 0.75 * predicted.rmse < np.sqrt((ranges**2).mean()) < predicted.high
