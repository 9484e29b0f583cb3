"""Cross tables without places, and hierarchies: the guarantee holds in audits whose broken twins are caught.

What is watched are the noisy measurements, which a user may keep: no view of a release tells more than their likelihood ratio.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from sudare import Budget, Category, CountTable, Domain, Hierarchy, Unit
from sudare.attacks import audit_epsilon
from sudare.noise.additive import noise_for
from sudare.privacy.measurements import LaplaceMeasurement
from sudare.privacy.unit import sensitivity_of_counts
from sudare.tables import margin_tree

pytestmark = pytest.mark.slow

MODULE: Any = import_module("sudare.tables.strategies.margin_tree")
RUNS = 300
SEX = Category("sex", ("f", "m"))
CITIES = Hierarchy.from_levels("city", {"prefecture": [1, 1, 1, 2], "city": [11, 12, 13, 21]})
DOMAINS = {"attributes alone": Domain((Category("age", tuple("abcd")), SEX)), "hierarchy": Domain((CITIES, SEX))}
WEIGHTS: dict[str, Any] = {"attributes alone": [(1, 0, 17, 2)], "hierarchy": [(1, 0), (0, 17), (0, 2)]}
SCORES = {
    "attributes alone": {"total": 1, "total by sex": 17, "cells": 2},
    "hierarchy": {"total": 1, "prefecture by sex": 17, "cells": 2},
}
"""Shares in twentieths of epsilon. The ratio of likelihoods is a whole number of them."""

NEIGHBOURS: dict[str, tuple[Unit, list[tuple[int, int, int]]]] = {
    "three rows": (Unit.with_rows(3), [(0, 0, 2), (1, 0, 1)]),
    "replaced": (Unit(adjacency="replace"), [(0, 0, 1), (3, 1, -1)]),
}


@pytest.fixture(autouse=True)
def measured_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is made of the measurements afterwards takes most of the time, and tells nothing more."""

    def nobody(self: Any, *_: Any, **__: Any) -> np.ndarray:
        return np.zeros((1 << self.layout.depth, *self.parts.lengths), dtype=np.int64)

    monkeypatch.setattr(MODULE._TableTree, "refine", nobody)


def true_measures(counts: np.ndarray) -> dict[str, np.ndarray]:
    by_prefecture = np.stack([counts[:3].sum(axis=0), counts[3]])
    return {
        "total": counts.sum().reshape(1),
        "total by sex": counts.sum(axis=0),
        "prefecture by sex": by_prefecture.ravel(),
        "cells": counts.ravel(),
    }


def ratios(kind: str, counts: np.ndarray, pair: Sequence[np.ndarray], unit: Unit) -> np.ndarray:
    """By how much each run's measurements are likelier under the one neighbour than under the other."""
    table = CountTable.from_dense(counts, DOMAINS[kind])
    one, other = (true_measures(neighbour) for neighbour in pair)
    found = []
    for _ in range(RUNS):
        published = margin_tree(table, Budget(epsilon=1), unit=unit, weights=WEIGHTS[kind], keep_measurements=True)
        noisy = {kept.name: np.asarray(kept.values) for kept in published.measurements or ()}
        assert list(noisy) == list(SCORES[kind])
        found.append(
            sum(
                score * int((abs(noisy[name] - one[name]) - abs(noisy[name] - other[name])).sum())
                for name, score in SCORES[kind].items()
            )
        )
    return np.array(found)


def bound(kind: str, name: str) -> float:
    unit, change = NEIGHBOURS[name]
    counts = np.full((4, 2), 3)
    other = counts.copy()
    for place, sex, rows in change:
        other[place, sex] += rows
    pair = (counts, other)
    return audit_epsilon(*(ratios(kind, each, pair, unit) for each in pair)).lower_bound


@pytest.mark.parametrize("name", NEIGHBOURS)
@pytest.mark.parametrize("kind", DOMAINS)
def test_the_claim_holds(kind: str, name: str) -> None:
    assert bound(kind, name) <= 1


@pytest.mark.parametrize("kind", DOMAINS)
def test_broken_twins_are_caught(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """The margin with the most of the budget is drawn by the noise of one row where there are three."""
    wrong = noise_for(LaplaceMeasurement.for_budget(Budget(epsilon=1), sensitivity_of_counts(Unit())))
    honest = MODULE._TableTree.measure

    def broken(self: Any, groupings: Sequence[Any], samplers: Sequence[Any]) -> Any:
        drawn = [wrong if g.weight == 17 else sampler for g, sampler in zip(groupings, samplers, strict=True)]
        return honest(self, groupings, drawn)

    monkeypatch.setattr(MODULE._TableTree, "measure", broken)
    assert bound(kind, "three rows") > 1
