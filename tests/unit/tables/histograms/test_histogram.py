"""The histogram mechanism: what it measures, what it refuses, and that its parts fit. The contract is in `tests/contracts`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sudare import Budget, CountTable, Domain, ResearchEntropy, Unit, publish
from sudare.errors import ParameterError
from sudare.tables import histogram
from sudare.tables.histograms.mechanism import measured_heights
from sudare.tables.histograms.strategy import best_strategy
from tests.scripted import ScriptedEntropy

NEARLY_EXACT = Budget(epsilon=1).times(400)


@pytest.mark.parametrize("bins", [1, 2, 3, 7, 100, 1000])
@pytest.mark.parametrize("workload", ["ranges", "prefixes", "cells"])
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_without_noise_it_is_the_table(bins: int, workload: Any, noise: Any) -> None:
    counts = np.random.default_rng(bins).integers(0, 2000, bins)
    budget = NEARLY_EXACT if noise == "laplace" else Budget(rho=1).times(2000)
    assert (histogram(counts, budget, workload=workload, noise=noise).to_dense() == counts).all()


def test_blocks_are_measured_with_their_shares_and_sensitivities() -> None:
    counts = np.arange(100) * 10
    published = histogram(counts, NEARLY_EXACT, workload="prefixes", unit=Unit(cells=2), keep_measurements=True)
    strategy = best_strategy(100, "prefixes", "laplace")
    heights, shares = measured_heights(strategy)
    kept: Any = published.measurements
    assert [noisy.keys.size for noisy in kept] == [-(-100 // 2**height) for height in heights]
    for noisy, height, share in zip(kept, heights, shares, strict=True):
        assert noisy.values.tolist() == np.add.reduceat(counts, noisy.keys.astype(np.int64)).tolist()
        assert float(noisy.measurement.epsilon) == pytest.approx(400 * share, rel=1e-3)
        assert float(noisy.measurement.scale) == pytest.approx(2 / (400 * share), rel=1e-3)
        assert noisy.name == ("cells" if height == 0 else f"blocks of 2**{height} cells")


def test_several_axes_are_one_row() -> None:
    counts = np.random.default_rng(1).integers(0, 90, (6, 7))
    tables = [
        histogram(given, Budget(epsilon=0.5), entropy=ResearchEntropy(4)).to_dense().ravel()
        for given in (counts, counts.ravel())
    ]
    assert (tables[0] == tables[1]).all()


def test_by_name_with_a_workload() -> None:
    counts = np.arange(64)
    direct = histogram(counts, Budget(epsilon=1), workload="prefixes", entropy=ResearchEntropy(2))
    named = publish(counts, Budget(epsilon=1), "histogram", workload="prefixes", entropy=ResearchEntropy(2))
    assert named.table == direct.table
    assert named.event == direct.event
    with pytest.raises(ParameterError, match="The 'workload' parameter of publish"):
        publish(counts, Budget(epsilon=1), "wide-tree", workload="cells")


@pytest.mark.parametrize("workload", ["areas", None, 3, ["cells"], (1, 4)])
def test_workloads_that_there_are_not(workload: Any) -> None:
    with pytest.raises(ParameterError, match="The 'workload' parameter of histogram"):
        histogram(np.ones(4, dtype=int), Budget(epsilon=1), workload=workload, entropy=ScriptedEntropy([]))


def test_too_many_bins_are_refused_before_anything_is_drawn() -> None:
    table = CountTable.from_cells(Domain.of_shape((2**24 + 1,)), [5], [1])
    with pytest.raises(ParameterError, match=r"at most 2\*\*24 cells"):
        histogram(table, Budget(epsilon=1), entropy=ScriptedEntropy([]))


def test_threads_change_nothing() -> None:
    counts = np.random.default_rng(3).integers(0, 50, 5000)
    one, two = (
        histogram(counts, Budget(epsilon=0.3), entropy=ResearchEntropy(9), threads=threads).table for threads in (1, 2)
    )
    assert one == two


def test_huge_counts_keep_their_total() -> None:
    counts = np.array([2**60, 5, 2**60, 0, 77])
    for workload in ("ranges", "cells"):
        published = histogram(counts, Budget(epsilon=1), workload=workload, public_total=True)
        assert published.table.total == counts.sum()
