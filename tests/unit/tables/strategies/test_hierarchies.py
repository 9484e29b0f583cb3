"""Tables over hierarchies: every level is measured, variances are those of linear algebra, workloads name levels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sudare
from sudare.domain.branches import distinct_levels
from sudare.refine.components import axes_within
from sudare.tables.planning.plan_words import NOISE_ON_EACH_CELL
from sudare.tables.planning.prediction import level_variances
from sudare.tables.strategies.hierarchy_planning import hierarchy_variances

ONE, RHO = sudare.Budget(epsilon=1), sudare.Budget(rho=0.05)
SIZES = (3, 12, 1, 30, 5, 9)
AREA = sudare.Hierarchy.from_levels(
    "city", {"prefecture": np.repeat(np.arange(len(SIZES)), SIZES), "city": np.arange(sum(SIZES))}
)
SEX = sudare.Category("sex", ("f", "m"))
DOMAIN = sudare.Domain((AREA, SEX))


def sums(level: str, mask: int, domain: sudare.Domain = DOMAIN) -> np.ndarray:
    """The matrix that takes the cells of a table to the margins of a level's areas, written out."""
    area: Any = domain.attributes[0]
    nodes = area.level(level)
    areas = np.zeros((nodes.nodes, domain.shape[0]))
    areas[nodes.nodes_at(np.arange(domain.shape[0])), np.arange(domain.shape[0])] = 1
    for axis, length in enumerate(domain.shape[1:]):
        areas = np.kron(areas, np.eye(length) if mask >> axis & 1 else np.ones((1, length)))
    return areas


def test_variances_are_those_of_linear_algebra() -> None:
    small = sudare.Domain(
        (
            sudare.Hierarchy.from_levels("b", {"a": [1, 1, 1, 2, 3, 3], "b": [1, 2, 3, 4, 5, 6]}),
            sudare.Category("x", (1, 2, 3)),
            SEX,
        )
    )
    area: Any = small.attributes[0]
    names = [level.name for level in area.levels]
    precisions = np.random.default_rng(2).exponential(size=(3, 4)) * (np.random.default_rng(3).random((3, 4)) > 0.3)
    precisions[-1, -1] = 0.5
    information = sum(
        precisions[depth, mask] * sums(name, mask, small).T @ sums(name, mask, small)
        for depth, name in enumerate(names)
        for mask in range(4)
    )
    covariance = np.linalg.inv(np.asarray(information))
    found = hierarchy_variances(area, (3, 2), precisions)
    for depth, name in enumerate(names):
        for mask in range(4):
            query = sums(name, mask, small)
            assert found[depth, mask] == pytest.approx(np.mean(np.diag(query @ covariance @ query.T)), rel=1e-6)


def test_families_of_one_size_are_a_closed_form() -> None:
    even = sudare.Hierarchy.from_levels("leaf", {"group": np.repeat(np.arange(5), 7), "leaf": np.arange(35)})
    noise = [3.0, 0.5, 2.0]
    found = hierarchy_variances(even, (), 1 / np.array(noise)[:, None])[:, 0]
    assert found == pytest.approx(level_variances([5, 7], noise))


@pytest.mark.parametrize("budget", [ONE, RHO], ids=str)
def test_every_level_and_margin_is_predicted_and_beats_noise_on_each_cell(budget: sudare.Budget) -> None:
    plan = sudare.plan_table(DOMAIN, budget)
    assert plan.mechanism == "margin-tree"
    assert {(e.name, e.margin) for e in plan.errors} == {
        (level, margin) for level in ("all", "prefecture", "city") for margin in ((), ("sex",))
    }
    flat = next(other for other in plan.alternatives if other.settings == NOISE_ON_EACH_CELL)
    assert flat.ratio > 1.05
    assert "prefecture" in plan.explain()
    assert all(reason.japanese != reason.english for reason in plan.reasons)


def test_a_hierarchy_alone() -> None:
    codes = {"prefecture": np.arange(1800) // 40, "city": np.arange(1800)}
    plan = sudare.plan_table(sudare.Domain((sudare.Hierarchy.from_levels("city", codes),)), ONE)
    assert [level.name for level in plan.levels] == ["total", "prefecture", "cells"]
    assert [error.name for error in plan.errors] == ["all", "prefecture", "city"]
    flat = next(other for other in plan.alternatives if other.settings == NOISE_ON_EACH_CELL)
    assert flat.ratio > 2


@pytest.mark.parametrize("sizes", [(1, 1), (2, 1), (3, 3), (2, 3, 4)])
def test_no_plan_is_worse_than_noise_on_each_cell(sizes: tuple[int, ...]) -> None:
    codes = {"group": np.repeat(np.arange(len(sizes)), sizes), "leaf": np.arange(sum(sizes))}
    domain = sudare.Domain((sudare.Hierarchy.from_levels("leaf", codes), SEX))
    for budget in (ONE, RHO):
        for workload in (None, "cells", "totals"):
            plan = sudare.plan_table(domain, budget, workload=workload)
            flat = [other for other in plan.alternatives if other.settings == NOISE_ON_EACH_CELL]
            assert min(other.ratio for other in flat) >= 1 - 1e-9
            if [level.name for level in plan.levels] == ["cells"]:
                assert "noise on each cell alone" in plan.reasons[0].english


@pytest.mark.parametrize("budget", [ONE, RHO], ids=str)
def test_levels_by_name_change_the_plan(budget: sudare.Budget) -> None:
    def error(workload: Any, name: str, margin: tuple[str, ...]) -> float:
        plan = sudare.plan_table(DOMAIN, budget, workload=workload)
        return next(e.rmse for e in plan.errors if (e.name, e.margin) == (name, margin))

    assert error("prefecture", "prefecture", ("sex",)) < 0.8 * error(None, "prefecture", ("sex",))
    assert error("cells", "city", ("sex",)) < 0.8 * error(None, "city", ("sex",))
    assert error("totals", "prefecture", ()) < 0.95 * error(None, "prefecture", ())
    named: Any = [("prefecture", "sex")]
    assert [(e.name, e.margin) for e in sudare.plan_table(DOMAIN, budget, workload=named).errors] == [
        ("prefecture", ("sex",))
    ]
    heavy, light = ({"city": 1, "prefecture": weight} for weight in (9, 0.1))
    assert error(heavy, "prefecture", ()) < 0.8 * error(light, "prefecture", ())
    assert error(light, "city", ()) < error(heavy, "city", ())


@pytest.mark.parametrize("workload", ["areas", (1, 4), "nobody", {("prefecture", "city"): 1}, "ranges"])
def test_what_there_is_not(workload: Any) -> None:
    with pytest.raises(sudare.errors.ParameterError, match=r"workload.*levels \['all', 'prefecture', 'city'\]"):
        sudare.plan_table(DOMAIN, ONE, workload=workload)


@pytest.mark.parametrize("budget", [ONE, RHO], ids=str)
def test_predictions_hold_and_no_level_has_a_bias(budget: sudare.Budget) -> None:
    counts = np.full(DOMAIN.shape, 5000)
    plan = sudare.plan_table(DOMAIN, budget)
    table = sudare.CountTable.from_dense(counts, DOMAIN)
    errors = np.array(
        [
            sudare.publish(table, budget, plan, entropy=sudare.ResearchEntropy(seed)).to_dense() - counts
            for seed in range(150)
        ]
    ).reshape(150, -1)
    for predicted in plan.errors:
        found = errors @ sums(predicted.name, len(predicted.margin)).T
        assert np.sqrt((found**2).mean()) == pytest.approx(predicted.rmse, rel=0.15)
        scores = found.mean(axis=0) / (found.std(axis=0, ddof=1) / np.sqrt(len(found)))
        assert np.abs(scores).max() < 4.5


def test_a_public_total_and_a_reference() -> None:
    counts = np.random.default_rng(1).integers(0, 900, DOMAIN.shape)
    table = sudare.CountTable.from_dense(counts, DOMAIN)
    published = sudare.publish(table, ONE, public_total=True, reference=counts, entropy=sudare.ResearchEntropy(1))
    assert published.event.mechanism == "margin-tree"
    assert published.table.total == counts.sum()
    assert ("all", ()) not in {(e.name, e.margin) for e in published.plan.errors}  # type: ignore[union-attr]


def test_what_is_too_large_or_has_other_places_is_planned_as_before() -> None:
    wide = sudare.Hierarchy.from_levels("leaf", {"group": np.arange(70_000) // 300, "leaf": np.arange(70_000)})
    large = sudare.Domain((wide, sudare.Category("x", tuple(range(60))), sudare.Category("y", tuple(range(60)))))
    assert "group" not in sudare.plan_table(large, ONE).explain()
    for rows in (16, 128):  # a mesh is a map, also a narrow one
        mesh = sudare.Mesh("mesh", "1/2", 8435, 6191, rows, 128)
        plan = sudare.plan_table(sudare.Domain((mesh, AREA)), ONE)
        assert {error.margin for error in plan.errors} == {(), ("city",)}


def test_masks_are_read_as_attributes() -> None:
    assert axes_within(1) == (0,)
    assert [level.nodes for level in distinct_levels(AREA)] == [1, len(SIZES), sum(SIZES)]
