"""Measured margins of categories: the guarantee holds in audits whose broken twins are caught.

What is watched are the noisy measurements, which a user may keep: no view of a release tells more than their likelihood ratio.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from sudare import Budget, CountTable, Unit
from sudare.attacks import audit_epsilon
from sudare.privacy.measurements import LaplaceMeasurement
from sudare.privacy.unit import sensitivity_of_counts
from sudare.tables import wide_tree
from tests.statistical.power import runs_to_refute

pytestmark = pytest.mark.slow

MODULE: Any = import_module("sudare.tables.mechanisms.wide_tree")
RUNS, MORE_RUNS = 1000, 2000
COUNTS = np.array([[10, 7], [3, 2]])
SHARES = {"margin of axis 1": 18, "total": 1, "cells": 1}
"""In twentieths of epsilon. The ratio of likelihoods is a whole number of them."""

SETTINGS: dict[str, Any] = {"bits": (2,), "weights": (1, 1, 18), "margins": (0,), "estimate": "least-squares"}
NEIGHBOURS: dict[str, tuple[Unit, dict[tuple[int, int], int]]] = {
    "one person": (Unit(), {(0, 0): 1}),
    "three rows in one place": (Unit.with_rows(3), {(0, 0): 2, (0, 1): 1}),
    "replaced": (Unit(adjacency="replace"), {(0, 0): 1, (1, 0): -1}),
}
"""Of each unit: which cells it changes. The margin is changed as much as it can be."""


def true_measures(counts: np.ndarray) -> dict[str, np.ndarray]:
    return {"margin of axis 1": counts.sum(axis=1), "total": counts.sum().reshape(1), "cells": counts.ravel()}


def ratios(counts: np.ndarray, neighbours: tuple[np.ndarray, np.ndarray], unit: Unit, runs: int) -> np.ndarray:
    """By how much each run's measurements are likelier under the one neighbour than under the other."""
    table = CountTable.from_dense(counts)
    one, other = (true_measures(neighbour) for neighbour in neighbours)
    found = []
    for _ in range(runs):
        published = wide_tree(table, Budget(epsilon=1), unit=unit, keep_measurements=True, **SETTINGS)
        assert published.measurements is not None
        noisy = {kept.name: np.asarray(kept.values) for kept in published.measurements}
        assert list(noisy) == list(SHARES)
        found.append(
            sum(
                share * int((abs(noisy[name] - one[name]) - abs(noisy[name] - other[name])).sum())
                for name, share in SHARES.items()
            )
        )
    return np.array(found)


def bound(name: str, runs: int = RUNS) -> float:
    unit, change = NEIGHBOURS[name]
    other = COUNTS.copy()
    for cell, people in change.items():
        other[cell] += people
    neighbours = (COUNTS, other)
    return audit_epsilon(*(ratios(counts, neighbours, unit, runs) for counts in neighbours)).lower_bound


def break_margins(monkeypatch: pytest.MonkeyPatch, drawn: LaplaceMeasurement) -> None:
    """Margins are drawn by another measurement than the event states."""
    honest = MODULE.measure_margins

    def broken(request: Any, axes: Sequence[int], measurements: Sequence[Any], *others: Any) -> Any:
        return honest(request, axes, [drawn] * len(measurements), *others)

    monkeypatch.setattr(MODULE, "measure_margins", broken)


FEWER_RUNS = runs_to_refute(1, spent=2.7)


def test_a_measured_margin_holds_its_claim_and_its_broken_twin_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rows in one place cost 2.7 with the noise of a person with one row."""
    assert bound("three rows in one place", FEWER_RUNS) <= 1
    break_margins(
        monkeypatch, LaplaceMeasurement.for_budget(Budget(epsilon=Fraction(9, 10)), sensitivity_of_counts(Unit()))
    )
    assert bound("three rows in one place", FEWER_RUNS) > 1


@pytest.mark.deep
@pytest.mark.parametrize("name", NEIGHBOURS)
def test_measured_margins_hold_their_claim(name: str) -> None:
    """Epsilon 1 is claimed; one person, three rows or a replaced person in one place of the margin cost no more."""
    assert bound(name) <= 1


@pytest.mark.deep
def test_a_margin_that_is_not_charged_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """It spends 2.5 where the event states 0.9. The bound of 2,000 runs is 2.1."""
    break_margins(
        monkeypatch, LaplaceMeasurement.for_budget(Budget(epsilon=Fraction(5, 2)), sensitivity_of_counts(Unit()))
    )
    assert bound("one person") > 1


@pytest.mark.deep
def test_a_margin_made_for_one_row_of_three_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The noise of a person with one row: three rows in one place cost 2.7. The bound of 2,000 runs is 2.0."""
    break_margins(
        monkeypatch, LaplaceMeasurement.for_budget(Budget(epsilon=Fraction(9, 10)), sensitivity_of_counts(Unit()))
    )
    assert bound("three rows in one place") > 1


@pytest.mark.deep
def test_a_margin_made_for_adding_a_person_is_caught_by_replacing_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is replaced may change two places of a margin, at 0.9 each. The bound is 1.2."""
    break_margins(
        monkeypatch, LaplaceMeasurement.for_budget(Budget(epsilon=Fraction(9, 10)), sensitivity_of_counts(Unit()))
    )
    assert bound("replaced", MORE_RUNS) > 1
