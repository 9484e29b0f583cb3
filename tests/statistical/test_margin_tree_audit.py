"""Margin trees: the guarantee holds in audits whose broken twins are caught.

What is watched are the noisy measurements, which a user may keep: no view of a release tells more than their likelihood ratio.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from sudare import Budget, CountTable, Domain, Positions, Unit
from sudare.attacks import audit_epsilon
from sudare.domain import Category
from sudare.noise.additive import noise_for
from sudare.privacy.measurements import LaplaceMeasurement
from sudare.privacy.unit import sensitivity_of_counts
from sudare.tables import margin_tree
from tests.statistical.power import runs_to_refute

pytestmark = pytest.mark.slow

MODULE: Any = import_module("sudare.tables.strategies.margin_tree")
RUNS = 1000
DOMAIN = Domain((Positions("place", 128), Category("sex", ("f", "m"))))
SETTINGS: dict[str, Any] = {"bits": (1, 6), "weights": [(1, 1), (17, 0), (0, 1)], "estimate": "least-squares"}
SCORES = {"total": 1, "total by sex": 1, "areas of 2**6 places": 17, "cells": 1}
"""Shares in twentieths of epsilon. The ratio of likelihoods is a whole number of them."""

NEIGHBOURS: dict[str, tuple[Unit, list[tuple[int, int, int]]]] = {
    "one person": (Unit(), [(0, 0, 1)]),
    "three rows in one area": (Unit.with_rows(3), [(0, 0, 2), (1, 1, 1)]),
    "replaced": (Unit(adjacency="replace"), [(0, 0, 1), (100, 1, -1)]),
}


def people() -> np.ndarray:
    counts = np.zeros(DOMAIN.shape, dtype=np.int64)
    counts[::10] = 3
    return counts


def true_measures(counts: np.ndarray) -> dict[str, np.ndarray]:
    return {
        "total": counts.sum().reshape(1),
        "total by sex": counts.sum(axis=0),
        "areas of 2**6 places": counts.reshape(2, -1).sum(axis=1),
        "cells": counts.ravel(),
    }


def ratios(counts: np.ndarray, neighbours: tuple[np.ndarray, np.ndarray], unit: Unit, runs: int) -> np.ndarray:
    """By how much each run's measurements are likelier under the one neighbour than under the other."""
    table = CountTable.from_dense(counts, DOMAIN)
    one, other = (true_measures(neighbour) for neighbour in neighbours)
    found = []
    for _ in range(runs):
        published = margin_tree(table, Budget(epsilon=1), unit=unit, keep_measurements=True, **SETTINGS)
        assert published.measurements is not None
        noisy = {kept.name: np.asarray(kept.values) for kept in published.measurements}
        assert list(noisy) == list(SCORES)
        found.append(
            sum(
                score * int((abs(noisy[name] - one[name]) - abs(noisy[name] - other[name])).sum())
                for name, score in SCORES.items()
            )
        )
    return np.array(found)


def bound(name: str, runs: int = RUNS) -> float:
    unit, change = NEIGHBOURS[name]
    other = people()
    for place, sex, rows in change:
        other[place, sex] += rows
    neighbours = (people(), other)
    return audit_epsilon(*(ratios(counts, neighbours, unit, runs) for counts in neighbours)).lower_bound


def break_areas(monkeypatch: pytest.MonkeyPatch, epsilon: int) -> None:
    """Areas are drawn by the noise of one row and another budget than the event states."""
    wrong = noise_for(LaplaceMeasurement.for_budget(Budget(epsilon=epsilon), sensitivity_of_counts(Unit())))
    honest = MODULE._TableTree.measure

    def broken(self: Any, groupings: Sequence[Any], samplers: Sequence[Any]) -> Any:
        drawn = [wrong if g.level == 1 else sampler for g, sampler in zip(groupings, samplers, strict=True)]
        return honest(self, groupings, drawn)

    monkeypatch.setattr(MODULE._TableTree, "measure", broken)


FEWER_RUNS = runs_to_refute(1, spent=3)
"""Three rows cost 3 where noise is made for one."""


def test_a_margin_tree_holds_its_claim_and_its_broken_twin_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    assert bound("three rows in one area", FEWER_RUNS) <= 1
    break_areas(monkeypatch, 1)
    assert bound("three rows in one area", FEWER_RUNS) > 1


@pytest.mark.deep
@pytest.mark.parametrize("name", NEIGHBOURS)
def test_margin_trees_hold_their_claim(name: str) -> None:
    assert bound(name) <= 1


@pytest.mark.deep
@pytest.mark.parametrize(("name", "epsilon"), [("one person", 2), ("three rows in one area", 1), ("replaced", 1)])
def test_broken_twins_are_caught(monkeypatch: pytest.MonkeyPatch, name: str, epsilon: int) -> None:
    """An area that is not charged in full, that is made for one row of three, or for adding a person where one is replaced."""
    break_areas(monkeypatch, epsilon)
    assert bound(name, RUNS if epsilon > 1 or name != "replaced" else 2 * RUNS) > 1
