"""Public references at wide noise: good ones help, bad ones of every kind cost at most 2 % at any side, none brings a bias."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from benchmarks.references import bad_references, earlier_year

import sudare
from sudare.evaluate import error_by_area
from sudare.refine.learning import trust
from sudare.refine.trees import use_reference
from sudare.tables.trees import dense_tree

SIDE = 128
SIDES = [1, 2, 4, 8, 16, 32, 64, 128]
REPEATS = 2
"""From the same seeds with and without a reference."""

MAX_LOSS = 0.02


@cache
def valleys(seed: int) -> np.ndarray:
    """Settlements along a few winding valleys; 3 % of the cells are inhabited."""
    random = np.random.default_rng(seed)
    counts = np.zeros((SIDE, SIDE), dtype=np.int64)
    for _ in range(5):
        row, column, angle = *random.uniform(0, SIDE, 2), random.uniform(0, 2 * np.pi)
        for _ in range(160):
            angle += random.normal(0, 0.25)
            row, column = (row + np.sin(angle)) % SIDE, (column + np.cos(angle)) % SIDE
            if random.random() < 0.6:
                counts[int(row), int(column)] += int(random.gamma(0.6, 120))
    return counts


def published(counts: np.ndarray, reference: Any, epsilon: float, seed: int) -> sudare.Published:
    budget, bits = sudare.Budget(epsilon=epsilon), sudare.ResearchEntropy(seed)
    return sudare.publish(counts, budget, reference=reference, entropy=bits, threads=1)


def squares(counts: np.ndarray, reference: Any, epsilon: float) -> np.ndarray:
    runs = [published(counts, reference, epsilon, seed) for seed in range(REPEATS)]
    errors = [[area.rmse**2 for area in error_by_area(counts, run, SIDES)] for run in runs]
    return np.asarray(np.mean(errors, axis=0))


@cache
def without(epsilon: float) -> np.ndarray:
    return squares(valleys(0), None, epsilon)


PAST = earlier_year(valleys(0), 0)
BAD = bad_references(PAST, valleys(1), 0)
FORETELLING = ("tenfold", "a tenth")
"""Shares are right, whatever the total is: these are good references."""


def ratios(reference: Any, epsilon: float) -> np.ndarray:
    return np.asarray(np.sqrt(squares(valleys(0), reference, epsilon) / without(epsilon)))


def test_a_good_reference_helps_at_wide_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: asking for much evidence of every place loses the cells."""
    good = ratios(PAST, 0.01)
    assert (good[:3] < 0.6).all()
    assert (good < 1 + MAX_LOSS).all()
    monkeypatch.setattr(trust, "MIN_EVIDENCE", 0.1 * SIDE**2)
    assert ratios(PAST, 0.01)[0] > 1.3 * good[0]


MISLEADING = [(kind, 0.01) for kind in BAD if kind not in FORETELLING]
MISLEADING += [("moved by 3", 0.1), ("half erased", 0.1)]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "epsilon"), MISLEADING)
def test_a_bad_reference_costs_next_to_nothing(kind: str, epsilon: float) -> None:
    assert ratios(BAD[kind], epsilon).max() < 1 + MAX_LOSS


@pytest.mark.parametrize(("kind", "epsilon"), [("shuffled", 0.1), ("moved by 30", 0.01)])
def test_believing_every_reference_would_cost_much(kind: str, epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of the test above."""
    monkeypatch.setattr(trust.LevelEvidence, "gains", lambda *_: iter([99.0]))
    assert ratios(BAD[kind], epsilon).max() > 1 + 2 * MAX_LOSS


def cell_errors(reference: Any, runs: int) -> tuple[float, float]:
    """Root mean squared errors of cells of the upper and of the lower half, at wide noise."""
    counts = valleys(0)
    halves = np.array([published(counts, reference, 0.01, seed).to_dense() - counts for seed in range(runs)])
    upper, lower = (float(np.sqrt((half.astype(float) ** 2).mean())) for half in np.split(halves, 2, axis=1))
    return upper, lower


def test_where_a_reference_has_nobody_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """One half of it was erased: this half is judged as if there were no reference. The control trusts its noisy counts there."""
    erased = PAST.copy()
    erased[SIDE // 2 :] = 0
    (upper, lower), (upper_without, lower_without) = (cell_errors(reference, 4) for reference in (erased, None))
    assert upper < 0.6 * upper_without
    assert lower < (1 + MAX_LOSS) * lower_without
    monkeypatch.setattr(dense_tree, "use_reference", lambda tree, public, _: use_reference(tree, public))
    assert cell_errors(erased, 4)[1] > (1 + 2 * MAX_LOSS) * lower_without


@pytest.mark.parametrize("kind", FORETELLING)
def test_shares_count_and_not_the_total(kind: str) -> None:
    assert (ratios(BAD[kind], 0.01)[:3] < 0.7).all()


@pytest.mark.slow
@pytest.mark.parametrize(("tables", "limit"), [(4, 12), pytest.param(8, 7, marks=pytest.mark.deep)])
def test_a_reference_moves_nobody_to_larger_or_smaller_places(tables: int, limit: float) -> None:
    """Mean signed errors of quarters of the map and of its total, with a reference and without, over tables drawn anew."""
    counts = valleys(0)
    errors = []
    for seed in range(tables):
        table = published(counts, earlier_year(counts, seed), 0.05, seed).to_dense()
        quarters = (table - counts).reshape(2, SIDE // 2, 2, SIDE // 2).sum(axis=(1, 3)).ravel()
        errors.append([*quarters, quarters.sum()])
    found = np.array(errors, dtype=float)
    # Five means: the chance that any exceeds 7 of its standard errors (t with 7 degrees of freedom) is below 2e-3, and that any
    # exceeds 12 with 3 degrees of freedom below 7e-3.
    assert (np.abs(found.mean(axis=0)) < limit * found.std(axis=0, ddof=1) / np.sqrt(len(found))).all()
