"""Plans: from the domain, the budget and the workload, and from nothing else; readable in two languages."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest

from sudare import Budget, CountTable, Domain, Plan, Unit, plan_table
from sudare.errors import GuaranteeError, ParameterError, SudareError
from sudare.tables import nn_wavelet, wide_tree
from sudare.tables.trees.dense_tree import variance_of

BUDGETS = [Budget(epsilon=1), Budget(epsilon=1, delta=1e-6), Budget(rho=0.01)]
SHAPE = (64, 64)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_table(Domain.of_shape(SHAPE), Budget(epsilon=1))


def test_counts_do_not_matter(plan: Plan) -> None:
    generator = np.random.default_rng(1)
    tables: list[Any] = [
        np.zeros(SHAPE, dtype=int),
        generator.integers(0, 10**6, size=SHAPE),
        CountTable.from_dense(generator.integers(0, 2, size=SHAPE)),
        np.full(SHAPE, -5),  # not even a table: only the shape is looked at
    ]
    for table in tables:
        assert plan_table(table, Budget(epsilon=1)) == plan


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("shape", [(1,), (2,), (300,), (1, 7), (33, 20), (6, 5, 4), (2**20, 2**20)])
def test_every_budget_and_shape_has_a_plan(budget: Budget, shape: tuple[int, ...]) -> None:
    made = plan_table(Domain.of_shape(shape), budget)
    assert made.budget == budget
    assert made.shape == shape
    assert sum(level.share for level in made.levels) == pytest.approx(1)
    assert all(level.deviation > 0 for level in made.levels)
    assert all(0 < error.low < error.rmse < error.high for error in made.errors)
    assert made.noise in ("laplace", "gaussian")
    if budget.currency == "epsilon":
        assert made.noise == "laplace"
    if budget.currency == "rho":
        assert made.noise == "gaussian"


def test_the_levels_are_what_will_be_measured(plan: Plan) -> None:
    """Shares and deviations are those of the event of a release by the plan's settings."""
    event = wide_tree(np.ones(SHAPE, dtype=int), plan.budget, **plan.settings).event
    assert len(event.measurements) == len(plan.levels)
    spent: list[Any] = list(event.measurements)
    for level, measurement in zip(plan.levels, spent, strict=True):
        assert level.share == pytest.approx(float(measurement.epsilon))
        assert level.deviation == pytest.approx(sqrt(variance_of(measurement)))


def test_no_plan_is_worse_than_halving_at_any_size(plan: Plan) -> None:
    """The noise of NN-Wavelet is taken from its event, and its errors from the recursion."""
    noise = variance_of(nn_wavelet(np.ones(SHAPE, dtype=int), plan.budget).event.measurements[0])
    variance, halved = noise, {12: noise}
    for height in range(11, -1, -1):
        variance = (variance + noise) / 4
        halved[height] = variance
    assert [error.side for error in plan.errors] == [1, 2, 4, 8, 16, 32]
    for error in plan.errors:
        assert error.rmse < sqrt(halved[2 * (error.side.bit_length() - 1)])
    ratios = {other.mechanism: other.ratio for other in plan.alternatives}
    assert {"nn-wavelet", "laplace"} <= set(ratios)
    assert min(ratios.values()) > 0.98


def test_a_workload_moves_the_errors(plan: Plan) -> None:
    domain, budget = Domain.of_shape((256, 256)), Budget(epsilon=1)
    cells, areas, chosen = (plan_table(domain, budget, workload=w) for w in ("cells", "areas", (1, 16)))
    assert [error.side for error in cells.errors] == [1]
    assert [error.side for error in areas.errors] == [8, 16, 32, 64]
    assert [error.side for error in chosen.errors] == [1, 16]
    of_areas = plan_table(domain, budget, workload=(1, 8, 16, 32, 64)).errors
    assert cells.errors[0].rmse < of_areas[0].rmse
    assert plan_table(domain, budget, workload=[16, 1, 16]).errors == chosen.errors
    assert plan_table(domain, budget, workload=range(1, 3)).errors[-1].side == 2


def test_workload_cells_is_better_at_cells_than_workload_areas() -> None:
    """The errors of cells that a plan for areas would bring are those of its own settings, which are written with few digits."""
    from sudare.tables.planning.prediction import wide_tree_variances

    domain, budget = Domain.of_shape((256, 256)), Budget(epsilon=1)
    cells, areas = (plan_table(domain, budget, workload=w) for w in ("cells", "areas"))

    def error(made: Plan, height: int) -> float:
        noise = [level.deviation**2 for level in made.levels]
        return sqrt(wide_tree_variances(made.settings["bits"], noise, [height], combined=True)[0])

    assert error(cells, 0) == pytest.approx(cells.errors[0].rmse, rel=5e-3)
    assert error(areas, 8) == pytest.approx(areas.errors[1].rmse, rel=5e-3)
    assert error(cells, 0) < 0.97 * error(areas, 0)
    assert error(areas, 8) < 0.97 * error(cells, 8)


def test_more_budget_is_less_error() -> None:
    errors = [plan_table(Domain.of_shape(SHAPE), Budget(epsilon=e)).errors[0].rmse for e in (0.5, 1, 2)]
    assert errors[0] > errors[1] > errors[2]
    assert errors[0] == pytest.approx(2 * errors[1], rel=1e-6)


def test_units_and_public_totals(plan: Plan) -> None:
    domain = Domain.of_shape(SHAPE)
    household = plan_table(domain, Budget(epsilon=1), unit=Unit("household", cells=3))
    assert household.errors[0].rmse > 2 * plan.errors[0].rmse
    public = plan_table(domain, Budget(epsilon=1), public_total=True)
    assert public.invariants == ("total",)
    assert public.unit.adjacency == "replace"
    assert "total" not in [level.name for level in public.levels]
    assert sum(level.share for level in public.levels) == pytest.approx(1)


def test_the_noise_can_be_chosen() -> None:
    domain, budget = Domain.of_shape(SHAPE), Budget(epsilon=1, delta=1e-6)
    free, laplace, gaussian = (plan_table(domain, budget, noise=kind) for kind in (None, "laplace", "gaussian"))
    assert (laplace.noise, gaussian.noise) == ("laplace", "gaussian")
    means = [float(np.exp(np.mean([np.log(error.rmse) for error in p.errors]))) for p in (free, laplace, gaussian)]
    assert means[0] <= 1.02 * min(means[1:])
    with pytest.raises(GuaranteeError, match="delta"):
        plan_table(domain, Budget(epsilon=1), noise="gaussian")
    with pytest.raises(SudareError):
        plan_table(domain, Budget(rho=1), noise="laplace")


def test_explanations(plan: Plan) -> None:
    english, japanese = plan.explain(), plan.explain("ja")
    assert str(plan) == english
    for level in plan.levels:
        assert level.name in english
        assert level.words.japanese in japanese
    for alternative in plan.alternatives:
        assert alternative.settings.english in english
        assert alternative.words.japanese in japanese
    assert "4,096" in english
    assert "4,096" in japanese
    assert "wide-tree" in english
    assert "幅広木" in japanese
    assert "share of the budget" in english
    assert "予算の割合" in japanese
    assert "Published exactly: total" in plan_table(Domain.of_shape(SHAPE), plan.budget, public_total=True).explain()
    assert plan._repr_html_().startswith("<pre>")
    for language in ("fr", None, 5, ["en"]):
        with pytest.raises(ParameterError, match=r"The 'language' parameter of Plan\.explain"):
            plan.explain(language)  # type: ignore[arg-type]


def test_a_plan_cannot_be_changed(plan: Plan) -> None:
    with pytest.raises(TypeError):
        plan.settings["bits"] = (12,)  # type: ignore[index]
    with pytest.raises(AttributeError):
        plan.noise = "gaussian"  # type: ignore[misc]


@pytest.mark.parametrize(
    "workload",
    ["everything", "", 5, (), [], (0,), (-1,), (3,), (1, 128), (1.5,), (True,), ("1",), {1, 2}, np.array([1]), (None,)],
)
def test_workloads_that_there_are_not(workload: Any) -> None:
    with pytest.raises(ParameterError, match="The 'workload' parameter of plan_table"):
        plan_table(Domain.of_shape(SHAPE), Budget(epsilon=1), workload=workload)


@pytest.mark.parametrize(
    ("parameter", "wrong"),
    [
        ("table", [[1, 2]]),
        ("table", None),
        ("table", np.array(5)),
        ("budget", 1.0),
        ("unit", "person"),
        ("public_total", "yes"),
        ("public_total", 100),
        ("noise", "pink"),
        ("conversion", "gaussian"),
    ],
)
def test_what_is_refused(parameter: str, wrong: Any) -> None:
    arguments: dict[str, Any] = {"table": Domain.of_shape((8, 8)), "budget": Budget(epsilon=1, delta=1e-6)}
    with pytest.raises(SudareError, match=parameter):
        plan_table(**{**arguments, parameter: wrong})


def test_a_huge_domain_is_planned_at_once() -> None:
    """2**60 cells: what is planned is lazy, and says so."""
    made = plan_table(Domain.of_shape((2**30, 2**30)), Budget(epsilon=1))
    assert made.settings["estimate"] == "learned"
    assert "2**24" in made.explain()
    assert plan_table(Domain.of_shape((4096, 4096)), Budget(epsilon=1)).settings["estimate"] == "learned"


def test_one_cell_with_a_public_total_is_refused() -> None:
    """As the mechanisms refuse it: nothing would be left to measure."""
    with pytest.raises(ParameterError, match="public_total"):
        plan_table(Domain.of_shape((1,)), Budget(epsilon=1), public_total=True)
