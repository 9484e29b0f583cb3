"""Plans for maps of people with attributes: weights that suit the workload, predictions that hold, words in two languages."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pytest

import sudare
from sudare.privacy.unit import sensitivity_of_counts
from sudare.tables.measured_names import name_by, name_places
from sudare.tables.planning.prediction import wide_tree_variances
from sudare.tables.strategies.groupings import MeasuredGrouping, Strategy
from sudare.tables.strategies.margin_tree import sensitivities_of
from sudare.tables.strategies.weighing import best_weights, ratios_of

ONE = sudare.Budget(epsilon=1)
ATTRIBUTES = (sudare.Category("age", tuple("abcde")), sudare.Category("sex", ("f", "m")))
MESH = sudare.Mesh("mesh", "1/2", 8435, 6191, 64, 64)
DOMAIN = sudare.Domain((MESH, *ATTRIBUTES))


def ratios_to_maps(budget: sudare.Budget) -> np.ndarray:
    """Predicted errors of all areas and margins over those of maps made for each alone."""
    plan = sudare.plan_table(DOMAIN, budget)
    of_map = sudare.plan_table(sudare.Domain((MESH,)), budget)
    noise = [level.deviation**2 for level in of_map.levels]
    variances = wide_tree_variances(of_map.settings["bits"], noise, range(0, 13, 2), combined=True)
    alone = np.sqrt(variances)
    return np.array([error.rmse / alone[error.side.bit_length() - 1] for error in plan.errors])


@pytest.mark.parametrize(("budget", "mean", "worst"), [(ONE, 2.2, 3.0), (sudare.Budget(rho=0.5), 1.55, 1.7)])
def test_no_part_is_much_worse_than_a_map_made_for_it(budget: sudare.Budget, mean: float, worst: float) -> None:
    ratios = ratios_to_maps(budget)
    assert np.exp(np.log(ratios).mean()) < mean
    assert ratios.max() < worst


def test_a_workload_changes_the_plan() -> None:
    """Each is best for its own part, by the same formulas."""

    def error(workload: str | None, side: int, margin: tuple[str, ...]) -> float:
        plan = sudare.plan_table(DOMAIN, ONE, workload=workload)
        return next(e.rmse for e in plan.errors if (e.side, e.margin) == (side, margin))

    everything = ("age", "sex")
    assert error("cells", 1, everything) < 0.8 * error(None, 1, everything)
    assert error("totals", 64, ()) < 0.6 * error(None, 64, ())
    assert error("margins", 64, ("age",)) < 0.9 * error(None, 64, ("age",))  # every size is guarded by default
    areas = sudare.plan_table(DOMAIN, ONE, workload="areas").errors
    usual = {(e.side, e.margin): e.rmse for e in sudare.plan_table(DOMAIN, ONE).errors}
    assert np.log([e.rmse / usual[e.side, e.margin] for e in areas]).mean() < np.log(0.97)


def test_predictions_hold_where_nobody_is_cut_off() -> None:
    """Mean squared errors of many areas and margins, against the plan's own formulas."""
    counts = np.full(DOMAIN.shape, 4000)
    plan = sudare.plan_table(DOMAIN, ONE)
    squares: dict[tuple[int, tuple[str, ...]], list[float]] = {}
    for seed in range(12):
        table = sudare.CountTable.from_dense(counts, DOMAIN)
        settings = {**plan.settings, "estimate": "least-squares"}
        error = (
            sudare.tables.margin_tree(table, ONE, entropy=sudare.ResearchEntropy(seed), **settings).to_dense() - counts
        )
        for side in (1, 4, 16):
            blocks = error.reshape(64 // side, side, 64 // side, side, 5, 2).sum(axis=(1, 3)).astype(float)
            for margin, kept in (((), (2, 3)), (("age",), 3), (("sex",), 2), (("age", "sex"), ())):
                squares.setdefault((side, margin), []).append(float((blocks.sum(axis=kept) ** 2).mean()))
    for error_of in plan.errors:
        found = squares.get((error_of.side, error_of.margin))
        if found is not None:
            assert np.sqrt(np.mean(found)) == pytest.approx(error_of.rmse, rel=0.15)


def test_weights_by_descent_are_as_good_as_many_tries() -> None:
    """No random change of the weights is better by more than a little."""
    bits, lengths, heights = (2, 2), (3,), (0, 2, 4)
    alone, rivals, parts = np.ones((3, 2)), np.ones((3, 2)), np.ones((3, 2))
    shares, ratios = best_weights(bits, lengths, alone, heights, rivals, parts, is_laplace=False)
    assert shares.sum() == pytest.approx(1)

    def loss(found: np.ndarray) -> float:
        logs = np.log(found)
        return float(logs.mean() + np.log(np.exp(16 * logs).mean()) / 16)

    generator = np.random.default_rng(0)
    others = generator.dirichlet(np.full(6, 0.7), size=4000).reshape(-1, 3, 2)
    tried = ratios_of(bits, lengths, alone, heights, rivals, others, is_laplace=False)
    assert loss(ratios) < min(loss(one) for one in tried) + 0.01


@pytest.mark.parametrize("unit", [sudare.Unit(), sudare.Unit.with_rows(3), sudare.Unit(cells=2, rows_per_cell=2)])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_sensitivities_cover_every_neighbour(unit: sudare.Unit, adjacency: str) -> None:
    """All ways in which a unit can be in a small table, against the sensitivity of every grouping."""
    unit = replace(unit, adjacency=adjacency)  # type: ignore[arg-type]
    shape = (4, 2, 3)  # places, and two attributes
    strategy = Strategy((1, 1), 2, ((1.0,) * 4,) * 3)
    one_unit = []
    for rows in range(unit.rows + 1):
        for cells in combinations_with_replacement(range(24), rows):
            counts = np.bincount(cells, minlength=24)
            if (counts > 0).sum() <= unit.cells and counts.max(initial=0) <= unit.rows_per_cell:
                one_unit.append(counts.reshape(shape))
    sample = one_unit if len(one_unit) < 60 else [one_unit[i] for i in range(0, len(one_unit), len(one_unit) // 60)]
    changes = [a - b for a in sample for b in sample] if adjacency == "replace" else one_unit
    groupings = list(strategy.groupings())
    for grouping, sensitivity in zip(groupings, sensitivities_of(strategy, groupings, unit), strict=True):
        axes = tuple(1 + i for i in range(2) if not grouping.mask >> i & 1)
        for change in changes:
            counted = change.reshape(1 << grouping.level, -1, 2, 3).sum(axis=1).sum(axis=axes)
            assert np.abs(counted).sum() <= sensitivity.l1
            assert (counted.astype(float) ** 2).sum() <= float(sensitivity.l2_squared) + 1e-9
    assert sensitivities_of(strategy, [MeasuredGrouping(2, 3, 1.0)], unit) == [sensitivity_of_counts(unit)]


def test_words() -> None:
    plan = sudare.plan_table(DOMAIN, ONE)
    for language in ("en", "ja"):
        text = plan.explain(language)
        assert "age x sex" in text
        assert all(line.rstrip() == line for line in text.splitlines())
    named = name_by(name_places(4), ["age", "sex"])
    assert named.name == "areas of 2**4 places by age, sex"
    assert named.words.to_dict() == {"en": "areas of 16 places by age, sex", "ja": "16 地点の領域（age, sex 別）"}
    assert name_places(0).words.japanese == "各地点"
    assert all(level.words.japanese != level.words.english for level in plan.levels)
    assert all(reason.japanese != reason.english for reason in plan.reasons)
