"""What one unit changes in all that is measured, by enumeration, against what the event states and what its noise costs.

Tables are published without noise, one person at a time: that gives the matrix of each measured grouping. Every pair of
neighbouring tables differs by what one unit can be, so that all changes of all groupings follow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

import sudare
from sudare.domain import Category, Domain, Hierarchy
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement, Measurement

SEX = Category("sex", ("f", "m"))
WARDS = Hierarchy.from_levels(
    "ward", {"country": [1] * 5, "prefecture": [1, 1, 1, 2, 3], "same": [4, 4, 4, 5, 6], "ward": [1, 2, 3, 4, 5]}
)
ALL_MARGINS = {"weights": [[3, 1, 2, 1, 0.001, 1, 1, 5]]}
CASES: dict[str, tuple[Domain, str, dict[str, Any]]] = {
    "hierarchy x sex": (Domain((WARDS, SEX)), "margin-tree", {"weights": [[1, 2], [3, 0.01], [1, 1]]}),
    "sex x hierarchy, planned": (Domain((SEX, WARDS)), "auto", {}),
    "hierarchy alone": (Domain((WARDS,)), "margin-tree", {}),
    "attributes alone": (
        Domain((SEX, Category("age", (1, 2, 3)), Category("job", (1, 2)))),
        "margin-tree",
        ALL_MARGINS,
    ),
    "attributes alone, planned": (Domain((SEX, Category("age", (1, 2, 3)))), "auto", {"workload": ("margins", 1)}),
    "padded map x sex": (
        Domain((sudare.Positions("y", 3), sudare.Positions("x", 2), SEX)),
        "margin-tree",
        {"bits": (1, 2), "weights": [[1, 1], [0, 2], [1, 1]]},
    ),
    "padded map with a margin": (
        Domain((sudare.Positions("y", 3), sudare.Positions("x", 2), SEX)),
        "wide-tree",
        {"bits": (2, 2), "weights": [0.003, 1, 2, 0.15], "margins": (2,), "estimate": "learned"},
    ),
    "histogram": (Domain((sudare.Positions("x", 11),)), "histogram", {}),
}
UNITS = {
    "one cell": sudare.Unit(),
    "any rows": sudare.Unit.with_rows(2),
    "several cells": sudare.Unit(cells=2),
    "rows within cells": sudare.Unit(cells=2, rows_per_cell=2, rows=3),
}
BUDGETS = {"laplace": sudare.Budget(epsilon=Fraction(1, 3)), "gaussian": sudare.Budget(rho=Fraction(1, 7))}


class Silence:
    """A sampler of nothing, which notes whose noise it stands for."""

    def __init__(self, measurement: Measurement, drawn: list[Measurement]) -> None:
        self.measurement, self.drawn = measurement, drawn

    def draw(self, size: Any, *_: object, **__: object) -> Any:
        self.drawn.append(self.measurement)
        return np.zeros(size, dtype=np.int64)


@dataclass(frozen=True)
class Measured:
    """All that is measured of a table: for each measurement a matrix, with a column for each cell."""

    event: sudare.ReleaseEvent
    matrices: list[tuple[Measurement, np.ndarray]]


MATRICES: dict[tuple[str, str, bool], dict[str, np.ndarray]] = {}
"""Of each case: the matrix of everything that is measured, by its name; units have no part in it."""


def measured_of(
    monkeypatch: pytest.MonkeyPatch, case: str, unit: sudare.Unit, noise: str, *, public_total: bool = False
) -> Measured:
    domain, method, settings = CASES[case]
    drawn: list[Measurement] = []
    for module in ("strategies.margin_tree", "trees.dense_tree", "trees.short_axes", "histograms.mechanism"):
        monkeypatch.setattr(
            import_module(f"sudare.tables.{module}"), "noise_for", lambda measurement: Silence(measurement, drawn)
        )
    known: dict[str, Any] = {"unit": unit, "public_total": public_total}
    chosen: Any = method
    if method == "auto":
        chosen, settings = sudare.plan_table(domain, BUDGETS[noise], noise=noise, **known, **settings), {}  # type: ignore[arg-type]
    else:
        settings = {"noise": noise, **settings}

    def publish(cell: int) -> sudare.Published:
        table = sudare.CountTable.from_cells(domain, np.array([cell], dtype=np.uint64), np.array([1]))
        drawn.clear()
        source = sudare.ResearchEntropy(cell)
        found = sudare.publish(
            table, BUDGETS[noise], chosen, keep_measurements=True, entropy=source, **known, **settings
        )
        # What is drawn, what is kept and what is stated are the same measurements.
        assert found.measurements is not None
        kept = [one.measurement for one in found.measurements]
        assert Counter(drawn) == Counter(found.event.measurements) == Counter(kept)
        return found

    key = case, noise, public_total
    if key not in MATRICES:
        columns = [{one.name: one.values for one in publish(cell).measurements or ()} for cell in range(domain.cells)]
        MATRICES[key] = {name: np.stack([column[name] for column in columns], axis=1) for name in columns[0]}
    published = publish(0)
    kept = published.measurements or ()
    assert len(kept) == len({one.name for one in kept}) == len(MATRICES[key])
    return Measured(published.event, [(one.measurement, MATRICES[key][one.name]) for one in kept])


def contributions(unit: sudare.Unit, cells: int) -> np.ndarray:
    """All ways in which one unit, or nobody, can be in a table, as columns."""

    def ways() -> Iterator[np.ndarray]:
        for rows in range(unit.rows + 1):
            for places in combinations_with_replacement(range(cells), rows):
                counts = np.bincount(np.array(places, dtype=np.int64), minlength=cells)
                if (counts > 0).sum() <= unit.cells and counts.max() <= unit.rows_per_cell:
                    yield counts

    return np.stack(list(ways()), axis=1)


def changes(measured: Measured) -> np.ndarray:
    """All differences of neighbouring tables, as columns."""
    cells = measured.matrices[0][1].shape[1]
    ways = contributions(measured.event.unit, cells)
    if measured.event.unit.adjacency == "add-remove":
        return ways
    first, second = np.triu_indices(ways.shape[1], 1)
    differences = ways[:, first] - ways[:, second]
    return np.asarray(differences[:, differences.sum(axis=0) == 0] if measured.event.invariants else differences)


def norms(measured: Measured, differences: np.ndarray) -> np.ndarray:
    """For each measurement and change: the l1 norm, or the squared l2 norm, of what is measured."""
    powers = [1 if isinstance(one, LaplaceMeasurement) else 2 for one, _ in measured.matrices]
    return np.stack(
        [
            (np.abs(matrix @ differences) ** p).sum(axis=0)
            for p, (_, matrix) in zip(powers, measured.matrices, strict=True)
        ]
    )


def stated(measurement: Measurement) -> int:
    assert isinstance(measurement, (LaplaceMeasurement, GaussianMeasurement))
    return measurement.l1 if isinstance(measurement, LaplaceMeasurement) else measurement.l2_squared


def loss(measurement: Measurement) -> Fraction:
    """The privacy loss of each unit of the norm."""
    assert isinstance(measurement, (LaplaceMeasurement, GaussianMeasurement))
    return 1 / measurement.scale if isinstance(measurement, LaplaceMeasurement) else 1 / (2 * measurement.sigma_squared)


def largest_loss(measured: Measured, of_changes: np.ndarray) -> Fraction:
    """Of all measurements together, for the change that loses most."""
    different = np.unique(of_changes, axis=1).T.tolist()
    losses = [loss(measurement) for measurement, _ in measured.matrices]
    return max(sum((one * norm for one, norm in zip(losses, row, strict=True)), Fraction(0)) for row in different)


def whole(noise: str) -> Fraction:
    budget = BUDGETS[noise]
    return budget.epsilon if noise == "laplace" else budget.rho


def combinations() -> Iterator[tuple[str, str, str]]:
    """Cases, adjacencies and noises; of plans, which take a while, two of them each."""
    for case, (_, method, _) in CASES.items():
        if method == "auto":
            yield from ((case, "add-remove", "gaussian"), (case, "public total", "laplace"))
        else:
            yield from ((case, way, noise) for way in ("add-remove", "replace", "public total") for noise in BUDGETS)


@pytest.mark.parametrize(("case", "adjacency", "noise"), list(combinations()))
def test_no_neighbour_changes_more_than_is_stated_and_paid(
    monkeypatch: pytest.MonkeyPatch, case: str, adjacency: str, noise: str
) -> None:
    for name, unit in UNITS.items():
        if adjacency != "add-remove" and name == "rows within cells":
            continue  # too many pairs; the rows of a replaced unit are covered by the others
        if CASES[case][1] == "auto" and name != "several cells":
            continue  # a plan takes a while
        is_public = adjacency == "public total"
        protected = replace(unit, adjacency="replace") if adjacency == "replace" else unit
        measured = measured_of(monkeypatch, case, protected, noise, public_total=is_public)
        of_changes = norms(measured, changes(measured))
        for (measurement, _), own in zip(measured.matrices, of_changes, strict=True):
            assert own.max() <= stated(measurement), (name, measurement)
        # Weights, however small or rounded, share out the budget and nothing else.
        costs = [stated(measurement) * loss(measurement) for measurement, _ in measured.matrices]
        assert sum(costs) == whole(noise)
        assert measured.event.cost == BUDGETS[noise]
        assert largest_loss(measured, of_changes) <= whole(noise)
        if noise == "laplace" and adjacency == "add-remove":
            assert largest_loss(measured, of_changes) == whole(noise)  # nothing is wasted either


@pytest.mark.parametrize("case", ["hierarchy x sex", "attributes alone", "padded map x sex"])
def test_groupings_partition_the_cells(monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    measured = measured_of(monkeypatch, case, sudare.Unit(), "laplace")
    for _, matrix in measured.matrices:
        assert (matrix.sum(axis=0) == 1).all()
        assert set(np.unique(matrix)) <= {0, 1}


def test_sums_taken_for_cells_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken twin: every grouping is charged as if a unit's cells never met in it."""
    unit = sudare.Unit(cells=2)

    def too_small(_: object, groupings: list[Any], given: sudare.Unit) -> list[sudare.privacy.Sensitivity]:
        return [sudare.privacy.sensitivity_of_counts(given)] * len(groupings)

    monkeypatch.setattr(import_module("sudare.tables.strategies.margin_tree"), "sensitivities_of", too_small)
    measured = measured_of(monkeypatch, "hierarchy x sex", unit, "gaussian")
    of_changes = norms(measured, changes(measured))
    assert any(own.max() > stated(one) for (one, _), own in zip(measured.matrices, of_changes, strict=True))
    assert largest_loss(measured, of_changes) > whole("gaussian")


def test_replacement_charged_as_addition_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another: a unit is replaced, and the noise is that of one that is added."""
    measured = measured_of(monkeypatch, "attributes alone", sudare.Unit(), "laplace")
    ways = contributions(measured.event.unit, measured.matrices[0][1].shape[1])
    first, second = np.triu_indices(ways.shape[1], 1)
    assert largest_loss(measured, norms(measured, ways[:, first] - ways[:, second])) > whole("laplace")
