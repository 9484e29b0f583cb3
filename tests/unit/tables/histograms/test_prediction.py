"""Predicted variances of histograms are those of the measurements that a release states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sudare import Budget, Unit
from sudare.tables import histogram
from sudare.tables.histograms import predict_histogram
from sudare.tables.trees.dense_tree import variance_of


@pytest.mark.parametrize("workload", ["ranges", "prefixes", "cells"])
@pytest.mark.parametrize("public_total", [False, True])
@pytest.mark.parametrize("budget", [Budget(epsilon=0.5), Budget(rho=0.1)], ids=["epsilon", "rho"])
def test_they_are_those_of_the_event(workload: Any, public_total: bool, budget: Budget) -> None:
    noise: Any = "laplace" if budget.currency == "epsilon" else "gaussian"
    settings = {"workload": workload, "unit": Unit(cells=2), "public_total": public_total, "noise": noise}
    predicted = predict_histogram(256, budget, **settings)
    event = histogram(np.zeros(256, dtype=int), budget, **settings).event
    stated = [variance_of(measurement) for measurement in event.measurements]
    assert [variance for variance in predicted.noise if 0 < variance < np.inf] == stated
    assert (predicted.total == 0) is public_total
    assert predicted.range_of(1) == pytest.approx(predicted.cell)
    assert predicted.range_of(256) == pytest.approx(predicted.total)


def test_each_workload_is_best_at_its_own() -> None:
    by_ranges, by_prefixes, by_cells = (
        predict_histogram(4096, Budget(epsilon=1), workload=workload) for workload in ("ranges", "prefixes", "cells")
    )
    assert by_cells.cell == pytest.approx(2)
    assert by_cells.cell < min(by_ranges.cell, by_prefixes.cell)
    assert by_prefixes.prefix < min(by_ranges.prefix, by_cells.prefix)
    assert by_ranges.any_range < min(by_prefixes.any_range, by_cells.any_range)


def test_one_bin() -> None:
    predicted = predict_histogram(1, Budget(epsilon=1))
    assert predicted.cell == predicted.total == predicted.any_range == predicted.prefix == pytest.approx(2)
