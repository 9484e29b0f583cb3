"""Plans for cross tables without places: flat noise where that is best, margins where noise adds up; predictions that hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sudare
from sudare.refine.components import axes_within
from sudare.tables.planning.plan_words import NOISE_ON_EACH_CELL
from sudare.tables.strategies.margin_shares import MarginVariances, best_shares
from sudare.tables.strategies.variances import strategy_variances

ONE, RHO = sudare.Budget(epsilon=1), sudare.Budget(rho=0.5)
SHAPES = [(5, 2), (9, 7), (16, 5, 2), (8, 6, 7, 2), (40, 12, 3)]


def nominal(shape: tuple[int, ...]) -> sudare.Domain:
    return sudare.Domain(tuple(sudare.Category(f"a{i}", tuple(range(n))) for i, n in enumerate(shape)))


def errors_of(plan: sudare.Plan) -> dict[tuple[str, ...], float]:
    return {error.margin: error.rmse for error in plan.errors}


@pytest.mark.parametrize("fixed_total", [False, True])
@pytest.mark.parametrize("shape", [(3,), (3, 2), (4, 2, 3)])
def test_variances_are_those_of_a_tree_of_one_place(shape: tuple[int, ...], fixed_total: bool) -> None:
    generator = np.random.default_rng(len(shape))
    precisions = generator.exponential(size=1 << len(shape))
    known = precisions.copy()
    if fixed_total:
        known[0] = 1e12
    twin = strategy_variances((), shape, known[None, :], [0])[0]
    found = MarginVariances.of(shape, fixed_total=fixed_total).of_margins(precisions)
    assert found == pytest.approx(twin, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("shape", [(5, 2), (9, 7), (6, 4, 3)])
def test_no_random_shares_are_much_better(shape: tuple[int, ...], power: int) -> None:
    """By a loss that is written down again: mean logarithm relative to flat noise, and a quarter of a smooth largest one."""
    variances, size = MarginVariances.of(shape), 1 << len(shape)
    flat = variances.of_margins(np.eye(size)[-1])

    def loss(shares: np.ndarray) -> float:
        logs = 0.5 * np.log(variances.of_margins(shares**power) / flat)
        return float(logs.mean() + 0.25 * np.log(np.mean(np.exp(16 * logs))) / 16)

    best, found = best_shares(variances, np.ones(size), np.ones(size), power)
    assert found == pytest.approx(loss(best))
    generator = np.random.default_rng(1)
    tries = [generator.dirichlet(np.full(size, a)) for a in (0.2, 0.5, 1.0, 3.0) for _ in range(150)]
    near = [np.abs(best * np.exp(generator.normal(0, s, size))) for s in (0.02, 0.1, 0.5) for _ in range(80)]
    others = [t / t.sum() for t in [*tries, *near]]
    assert found <= min(loss(shares) for shares in others if shares[-1] > 0.02) + 0.004


@pytest.mark.parametrize("budget", [ONE, RHO], ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_no_plan_is_worse_than_noise_on_each_cell(shape: tuple[int, ...], budget: sudare.Budget) -> None:
    plan = sudare.plan_table(nominal(shape), budget)
    assert plan.mechanism == "margin-tree"
    flat = next(other for other in plan.alternatives if other.settings == NOISE_ON_EACH_CELL)
    assert flat.ratio >= 1 - 1e-9
    worst = next(o for o in plan.alternatives if o.mechanism == flat.mechanism)
    assert worst.worst_ratio >= 1 - 1e-9
    assert set(errors_of(plan)) == {
        tuple(f"a{axis}" for axis in axes_within(mask)) for mask in range(1 << len(shape)) if mask.bit_count() <= 3
    }


def test_a_small_table_is_measured_by_its_cells() -> None:
    plan = sudare.plan_table(nominal((5, 2)), ONE)
    assert [level.name for level in plan.levels] == ["cells"]
    assert plan.errors[-1].rmse == pytest.approx(np.sqrt(2), rel=1e-6)


@pytest.mark.parametrize("budget", [ONE, RHO], ids=str)
def test_a_workload_changes_the_plan(budget: sudare.Budget) -> None:
    domain = nominal((40, 12, 3))
    everything = ("a0", "a1", "a2")
    usual, cells, totals = (errors_of(sudare.plan_table(domain, budget, workload=w)) for w in (None, "cells", "totals"))
    assert list(cells) == [everything]
    assert cells[everything] < 0.95 * usual[everything]
    assert list(totals) == [()]
    assert totals[()] < 0.5 * usual[()]
    single = errors_of(sudare.plan_table(domain, budget, workload=("margins", 1)))
    assert set(single) == {(), ("a0",), ("a1",), ("a2",)}
    assert np.mean([np.log(single[m] / usual[m]) for m in single]) < -0.1
    one = errors_of(sudare.plan_table(domain, budget, workload=[("a0", "a2")]))
    assert one[("a0", "a2")] < 0.9 * usual[("a0", "a2")]
    light, heavy = (
        errors_of(sudare.plan_table(domain, budget, workload={"cells": 1, "a1": weight})) for weight in (0.2, 5)
    )
    assert heavy[("a1",)] < 0.8 * light[("a1",)]
    assert light[everything] < heavy[everything]


@pytest.mark.parametrize("workload", ["areas", 4, (1, 4), "ranges", "nobody", ("margins", 4), {"a0": 0}])
def test_what_there_is_not_without_places(workload: Any) -> None:
    with pytest.raises(sudare.errors.ParameterError, match="workload"):
        sudare.plan_table(nominal((40, 12, 3)), ONE, workload=workload)


@pytest.mark.parametrize("budget", [ONE, RHO], ids=str)
@pytest.mark.parametrize("public_total", [False, True])
def test_predictions_hold_where_nobody_is_cut_off(budget: sudare.Budget, public_total: bool) -> None:
    domain = nominal((9, 4, 3))
    counts = np.full(domain.shape, 5000)
    plan = sudare.plan_table(domain, budget, public_total=public_total)
    table = sudare.CountTable.from_dense(counts, domain)
    made = [
        sudare.publish(table, budget, plan, public_total=public_total, entropy=sudare.ResearchEntropy(seed)).to_dense()
        for seed in range(150)
    ]
    errors = np.array(made) - counts
    assert len(plan.errors) == 8 - public_total
    for predicted in plan.errors:
        summed = tuple(1 + axis for axis in range(3) if f"a{axis}" not in predicted.margin)
        found = errors.sum(axis=summed).reshape(len(errors), -1)
        # Rounding adds up to a quarter of a person's square to each cell.
        assert np.sqrt((found**2).mean()) == pytest.approx(predicted.rmse, rel=0.15)
        scores = found.mean(axis=0) / (found.std(axis=0, ddof=1) / np.sqrt(len(errors)))
        assert np.abs(scores).max() < 4.5, predicted.margin


def test_levels_and_reasons_have_japanese_words() -> None:
    for budget in (ONE, RHO):
        for shape in ((5, 2), (40, 12, 3)):
            plan = sudare.plan_table(nominal(shape), budget)
            assert all(reason.japanese != reason.english for reason in plan.reasons)
            assert all(level.words.japanese != level.words.english for level in plan.levels)
            assert plan.explain("ja") != plan.explain("en")


def test_long_lists_of_categories_are_no_places() -> None:
    """Areas of categories without an order mean nothing; with an ordered axis beside them they are a map as before."""
    jobs = sudare.Category("job", tuple(range(300)))
    plan = sudare.plan_table(sudare.Domain((jobs, sudare.Category("sex", ("f", "m")))), ONE)
    assert plan.settings["bits"] == ()
    assert {error.margin for error in plan.errors} == {(), ("job",), ("sex",), ("job", "sex")}
    ordered = sudare.Domain((jobs, sudare.Bins("age", tuple(range(100)))))
    assert sudare.plan_table(ordered, ONE).settings["bits"] != ()


def test_a_reference_keeps_the_tree() -> None:
    domain = nominal((9, 7))
    assert sudare.plan_table(domain, ONE, with_reference=True).mechanism == "wide-tree"
    ordered = sudare.Domain((sudare.Bins("age", tuple(range(21))),))
    assert sudare.plan_table(ordered, ONE).mechanism == "margin-tree"
    assert sudare.plan_table(ordered, ONE, workload=(1, 4)).mechanism == "wide-tree"
