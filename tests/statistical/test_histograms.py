"""Histograms: predicted errors, signed errors at the ends and inside, and audits whose broken twins are caught."""

from __future__ import annotations

import os
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.histograms import hb, run
from benchmarks.measuring import ROOT
from scipy.stats import chi2

from sudare import Budget, Unit
from sudare.attacks import audit_epsilon
from sudare.privacy.measurements import LaplaceMeasurement
from sudare.privacy.unit import sensitivity_of_counts
from sudare.refine.halvings import estimate_bins, least_squares_of_bins
from sudare.refine.prefixes import rising_prefixes
from sudare.tables import histogram
from sudare.tables.histograms.mechanism import measured_heights
from sudare.tables.histograms.strategy import (
    _of_ranges,
    best_strategy,
    prefix_variance,
    range_variance,
)
from sudare.tables.trees.dense_tree import variance_of

MODULE: Any = import_module("sudare.tables.histograms.mechanism")
BINS = 512
CUTS = (1, 10, 50, 128, 256, 384, 462, 502, 512)


def histograms() -> dict[str, np.ndarray]:
    """Where whole numbers >= 0 have the most room to err: empty ends, spikes, thinly spread people."""
    generator = np.random.default_rng(7)
    out = {name: np.zeros(BINS, dtype=np.int64) for name in ("left", "middle", "right", "spike")}
    out["left"][:40] = out["middle"][240:280] = out["right"][-40:] = 20
    out["spike"][0] = 5000
    out["even"] = np.full(BINS, 3)
    out["thin"] = generator.poisson(0.2, BINS)
    out["ramp"] = generator.poisson(np.linspace(0, 4, BINS))
    out["crowded"] = generator.integers(0, 1000, BINS)
    return out


TABLES = histograms()


def predicted_prefixes(epsilon: float, cuts: Any) -> np.ndarray:
    """The variance of each prefix by noise alone."""
    strategy = best_strategy(BINS, "ranges", "laplace")
    noise = [2 / (epsilon * share) ** 2 if share else np.inf for share in strategy.shares]
    return _of_ranges(strategy.steps, noise, np.zeros(len(cuts), dtype=np.int64), np.asarray(cuts))


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_signed_errors_of_prefixes_stay_within_the_noise(name: str) -> None:
    """Near both ends and inside, the mean error is below the standard deviation of the prefix's noise; the total has none.

    What one bin among empty ones loses to them is compared with the noise of all prefixes on average: its own has less.
    """
    counts, epsilon, runs = TABLES[name], 0.5, 80
    true = np.cumsum(counts)[np.array(CUTS) - 1]
    errors = np.array(
        [
            np.cumsum(histogram(counts, Budget(epsilon=epsilon)).to_dense())[np.array(CUTS) - 1] - true
            for _ in range(runs)
        ]
    )
    deviations = np.sqrt(predicted_prefixes(epsilon, CUTS))
    if name == "spike":
        deviations = np.maximum(deviations, np.sqrt(predicted_prefixes(epsilon, range(1, BINS + 1)).mean()))
    chance = 4 * errors.std(axis=0) / runs**0.5
    assert (np.abs(errors.mean(axis=0)) < 0.75 * deviations + chance).all()
    assert abs(errors.mean(axis=0)[-1]) < chance[-1] + 0.02 * deviations[-1]


@pytest.mark.slow
def test_counts_cut_off_at_0_would_not() -> None:
    """The control: the same estimates, each bin cut off at 0 by itself."""
    counts, epsilon, runs = TABLES["left"], 0.5, 60
    totals = []
    for _ in range(runs):
        blocks = blocks_of(counts, epsilon)
        totals.append(np.maximum(least_squares_of_bins(blocks), 0).sum() - counts.sum())
    assert np.mean(totals) > 5 * np.sqrt(predicted_prefixes(epsilon, [BINS])[0])


def blocks_of(counts: np.ndarray, epsilon: float) -> Any:
    """The measurements of a release, as its estimates see them."""
    published: Any = histogram(counts, Budget(epsilon=epsilon), keep_measurements=True)
    heights, _ = measured_heights(best_strategy(counts.size, "ranges", "laplace"))
    values = {height: noisy.values.astype(float) for height, noisy in zip(heights, published.measurements, strict=True)}
    variances = {
        height: variance_of(noisy.measurement) for height, noisy in zip(heights, published.measurements, strict=True)
    }
    return MODULE.NoisyBlocks(counts.size, values, variances)


@pytest.mark.slow
def test_errors_of_least_squares_are_those_predicted_and_refined_ones_smaller() -> None:
    """Ranges and prefixes on average over all of them. Those of a run are correlated: the bounds are for a third as many runs."""
    counts, runs = TABLES["even"], 150
    strategy = best_strategy(BINS, "ranges", "laplace")
    noise = [2 / share**2 if share else np.inf for share in strategy.shares]
    found = np.zeros((3, 2))
    for _ in range(runs):
        blocks = blocks_of(counts, 1.0)
        learned = estimate_bins(blocks)
        refined = np.diff(rising_prefixes(learned), prepend=0.0)
        for row, bins in enumerate((least_squares_of_bins(blocks), learned, refined)):
            errors = np.concatenate([[0], np.cumsum(bins - counts)])
            found[row] += [2 * errors.var(ddof=1) / runs, (errors[1:] ** 2).mean() / runs]
    for column, predicted in enumerate((range_variance(strategy.steps, noise), prefix_variance(strategy.steps, noise))):
        low, high = (chi2.ppf(level, runs / 3) / (runs / 3) for level in (1e-3, 1 - 1e-3))
        assert low < found[0, column] / predicted < high
        assert not low < found[0, column] / (4 * predicted) < high
        assert found[1, column] < 0.9 * found[0, column]
        assert found[2, column] < found[1, column] * 1.02


COUNTS = np.array([10, 7, 3, 2, 8, 0, 0, 4] + [1] * 24)
RUNS = 600
NEIGHBOURS: dict[str, tuple[Unit, dict[int, int]]] = {
    "one person": (Unit(), {0: 1}),
    "three rows in one block": (Unit.with_rows(3), {0: 2, 1: 1}),
    "replaced": (Unit(adjacency="replace"), {0: 1, 31: -1}),
}


def ratios(counts: np.ndarray, neighbours: tuple[np.ndarray, np.ndarray], unit: Unit) -> np.ndarray:
    """By how much each run's measurements are likelier under the one neighbour than under the other, by their stated shares."""
    heights, shares = measured_heights(best_strategy(counts.size, "prefixes", "laplace"))
    whole = [round(10_000 * share) for share in shares]
    found = []
    for _ in range(RUNS):
        published: Any = histogram(counts, Budget(epsilon=1), workload="prefixes", unit=unit, keep_measurements=True)
        ratio = 0
        for height, share, noisy in zip(heights, whole, published.measurements, strict=True):
            one, other = (np.add.reduceat(people, np.arange(0, counts.size, 1 << height)) for people in neighbours)
            ratio += share * int((abs(noisy.values - one) - abs(noisy.values - other)).sum())
        found.append(ratio)
    return np.array(found)


def bound(name: str) -> float:
    unit, change = NEIGHBOURS[name]
    other = COUNTS.copy()
    for cell, people in change.items():
        other[cell] += people
    neighbours = (COUNTS, other)
    return audit_epsilon(*(ratios(counts, neighbours, unit) for counts in neighbours)).lower_bound


@pytest.fixture
def measured_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Audits look at measurements, so nothing is made of them."""
    monkeypatch.setattr(MODULE, "_refined", lambda blocks, *_: np.zeros(blocks.bins, dtype=np.int64))


@pytest.mark.slow
@pytest.mark.usefixtures("measured_alone")
@pytest.mark.parametrize("name", NEIGHBOURS)
def test_the_claim_holds(name: str) -> None:
    assert bound(name) <= 1


def draw_blocks_by(monkeypatch: pytest.MonkeyPatch, drawn: LaplaceMeasurement) -> None:
    """The largest blocks are drawn by another measurement than the event states."""
    honest = MODULE._measure

    def broken(request: Any, heights: Any, measurements: Any) -> Any:
        return honest(request, heights, [drawn, *measurements[1:]])

    monkeypatch.setattr(MODULE, "_measure", broken)


@pytest.mark.slow
@pytest.mark.usefixtures("measured_alone")
def test_a_height_that_is_not_charged_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """It spends 3 beside what the event states."""
    whole = LaplaceMeasurement.for_budget(Budget(epsilon=3), sensitivity_of_counts(Unit()))
    draw_blocks_by(monkeypatch, whole)
    assert bound("one person") > 1


@pytest.mark.slow
@pytest.mark.usefixtures("measured_alone")
def test_blocks_made_for_one_row_of_three_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of the budget's noise for one row, where three rows may be in one block."""
    one_row = LaplaceMeasurement.for_budget(Budget(epsilon=Fraction(4, 5)), sensitivity_of_counts(Unit()))
    draw_blocks_by(monkeypatch, one_row)
    assert bound("three rows in one block") > 1


def test_the_peer_hb_has_the_variance_of_its_levels() -> None:
    """What histograms are compared with in `benchmarks/histograms.py` is no worse than its paper says."""
    counts, generator, runs = np.arange(256), np.random.default_rng(8), 200
    errors = [np.concatenate([[0], np.cumsum(hb(counts, 1.0, generator) - counts)]) for _ in range(runs)]
    found = np.mean([2 * cuts.var(ddof=1) for cuts in errors])
    assert found == pytest.approx(range_variance((4, 4), [np.inf, 8, 8]), rel=0.2)


@pytest.mark.deep
def test_targets_on_real_histograms() -> None:
    folder = Path(os.environ.get("SUDARE_DATA", ROOT.parent / "shared" / "data")) / "dpbench"
    if not folder.exists():
        pytest.skip("the DPBench histograms are not there")
    found = run(10)
    assert found["hist_range_vs_hb"] <= 0.9
    assert found["hist_prefix_vs_hb"] <= 0.9
    assert found["hist_range_vs_dawa"] <= 1.0
    assert found["hist_cell_vs_identity"] <= 1.001
