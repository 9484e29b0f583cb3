"""The one call: every method by name, plans that are carried out or refused, and arguments that reach the mechanism."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sudare
from sudare import Budget, CountTable, Domain, Hierarchy, Published, ResearchEntropy, Unit, plan_table, publish
from sudare.errors import MixedCurrencyError, ParameterError, SudareError
from sudare.tables.registry import mechanism_names
from tests.scripted import ScriptedEntropy

COUNTS = np.random.default_rng(1).integers(0, 50, size=(12, 10))
BUDGETS = [Budget(epsilon=1), Budget(epsilon=1, delta=1e-6), Budget(rho=0.01)]


def table_for(method: str) -> CountTable:
    if method != "topdown":
        return CountTable.from_dense(COUNTS)
    area = Hierarchy.from_levels("area", {"region": [0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2], "area": list(range(12))})
    return CountTable.from_dense(COUNTS, Domain((area, Domain.of_shape((12, 10)).attributes[1])))


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("method", ["auto", *mechanism_names()])
def test_every_method_with_every_budget(method: str, budget: Budget) -> None:
    """What a mechanism cannot give is refused; all others take what they are given."""
    table = table_for(method)
    if (method, budget.currency) in (("laplace", "rho"), ("gaussian", "epsilon")):
        with pytest.raises(SudareError):
            publish(table, budget, method, entropy=ScriptedEntropy([]))
        return
    published = publish(table, budget, method)
    assert isinstance(published, Published)
    assert published.event.cost == budget
    assert published.event.mechanism == ("wide-tree" if method == "auto" else method)
    assert published.table.domain == table.domain
    assert (published.plan is not None) == (method == "auto")
    assert published.to_dense().shape == COUNTS.shape


@pytest.mark.parametrize("method", mechanism_names())
def test_a_method_by_name_is_the_mechanism(method: str) -> None:
    budget = Budget(rho=0.1) if method == "gaussian" else Budget(epsilon=1)
    table = table_for(method)
    by_name = publish(table, budget, method, entropy=ResearchEntropy(4))
    direct = getattr(sudare.tables, method.replace("-", "_"))(table, budget, entropy=ResearchEntropy(4))
    assert by_name.table == direct.table
    assert by_name.event == direct.event


@pytest.mark.parametrize("shape", [(7,), (5, 6), (3, 4, 2), (2, 2, 2, 2)])
def test_arrays_of_any_dimension(shape: tuple[int, ...]) -> None:
    assert publish(np.ones(shape, dtype=int), Budget(epsilon=1)).to_dense().shape == shape


def test_a_plan_made_before_gives_what_auto_gives() -> None:
    budget = Budget(epsilon=1)
    plan = plan_table(COUNTS, budget)
    by_plan = publish(COUNTS, budget, plan, entropy=ResearchEntropy(2))
    automatic = publish(COUNTS, budget, entropy=ResearchEntropy(2))
    assert by_plan.table == automatic.table
    assert by_plan.event == automatic.event
    assert by_plan.plan is plan
    assert automatic.plan == plan


def test_the_workload_and_the_noise_reach_the_plan() -> None:
    published = publish(COUNTS, Budget(epsilon=1, delta=1e-6), workload="cells", noise="laplace")
    assert published.plan is not None
    assert published.plan.noise == "laplace"
    assert [error.side for error in published.plan.errors] == [1]


def test_the_unit_and_the_public_total_reach_the_plan() -> None:
    published = publish(COUNTS, Budget(epsilon=1), unit=Unit("household", cells=2), public_total=int(COUNTS.sum()))
    assert published.plan is not None
    assert published.plan.unit == published.event.unit == Unit("household", cells=2, adjacency="replace")
    assert published.plan.invariants == published.event.invariants == ("total",)
    assert published.table.total == COUNTS.sum()


def test_settings_reach_the_mechanism() -> None:
    assert publish(COUNTS, Budget(epsilon=1), "laplace", threshold=40).table.counts.min() >= 40
    events = [publish(COUNTS, Budget(epsilon=1), "wide-tree", bits=bits).event for bits in ((8,), (4, 4))]
    assert [len(event.measurements) for event in events] == [2, 3]


def test_plans_for_something_else_are_refused() -> None:
    budget = Budget(epsilon=1)
    plan = plan_table(COUNTS, budget)
    for arguments, named in (
        ({"table": COUNTS.T, "budget": budget}, "method"),
        ({"table": COUNTS[:8, :8], "budget": budget}, "method"),
        ({"table": COUNTS, "budget": Budget(epsilon=2)}, "budget"),
        ({"table": COUNTS, "budget": Budget(rho=1)}, "budget"),
        ({"table": COUNTS, "budget": budget, "bits": (8,)}, "bits"),
    ):
        with pytest.raises(ParameterError) as caught:
            publish(**arguments, method=plan, entropy=ScriptedEntropy([]))  # type: ignore[arg-type]
        assert caught.value.parameter == named


@pytest.mark.parametrize(
    "arguments",
    [
        {"unit": Unit("household", cells=5)},
        {"public_total": True},
        {"public_total": int(COUNTS.sum())},
        {"workload": "cells"},
    ],
    ids=["unit", "public total", "total", "workload"],
)
def test_a_plan_that_says_something_else_is_refused(arguments: dict[str, Any]) -> None:
    """What the plan predicts is part of the result, so it must be about the release that was made."""
    plan = plan_table(COUNTS, Budget(epsilon=1))
    with pytest.raises(ParameterError, match=f"The '{next(iter(arguments))}' parameter"):
        publish(COUNTS, Budget(epsilon=1), plan, entropy=ScriptedEntropy([], then=2**63), **arguments)


def test_a_plan_protects_whom_it_says() -> None:
    """A plan for households, carried out without naming the unit again, does not protect persons alone."""
    household = Unit("household", cells=5)
    plan = plan_table(COUNTS, Budget(epsilon=1), unit=household)
    assert publish(COUNTS, Budget(epsilon=1), plan).event.unit == household
    assert publish(COUNTS, Budget(epsilon=1), plan, unit=household).event.unit == household
    public = plan_table(COUNTS, Budget(epsilon=1), unit=household, public_total=True)
    with pytest.raises(ParameterError, match="The 'public_total' parameter"):
        publish(COUNTS, Budget(epsilon=1), public)
    event = publish(COUNTS, Budget(epsilon=1), public, public_total=True, unit=household).event
    assert event.unit == public.unit == Unit("household", cells=5, adjacency="replace")
    assert event.invariants == public.invariants == ("total",)


def test_a_plan_that_does_not_do_what_it_states_is_refused() -> None:
    budget = Budget(epsilon=1, delta=1e-6)
    plan = plan_table(COUNTS, budget)
    other = "laplace" if plan.noise == "gaussian" else "gaussian"
    with pytest.raises(ParameterError, match="states the noise of its settings"):
        publish(COUNTS, budget, replace(plan, noise=other))
    with pytest.raises(ParameterError, match="states the noise of its settings"):
        publish(COUNTS, budget, replace(plan, settings={**plan.settings, "noise": other}))
    areas = table_for("topdown")
    settings = {"invariants": [("region", ())], "noise": plan.noise}
    open_regions = replace(plan, mechanism="topdown", settings=settings, shape=areas.domain.shape)
    with pytest.raises(ParameterError, match="a plan that settles"):
        publish(areas, budget, open_regions)
    assert publish(areas, budget, replace(open_regions, settings={"noise": plan.noise})).event.invariants == ()


@pytest.mark.parametrize(
    "table",
    [
        COUNTS,
        CountTable.from_dense(COUNTS),
    ],
    ids=["array", "table"],
)
def test_the_table_itself_is_no_reference(table: Any) -> None:
    with pytest.raises(ParameterError, match="The 'reference' parameter"):
        publish(table, Budget(epsilon=1), reference=table, entropy=ScriptedEntropy([], then=2**63))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"method": "best"}, "method"),
        ({"method": None}, "method"),
        ({"method": 5}, "method"),
        ({"workload": "everything"}, "workload"),
        ({"method": "laplace", "workload": "cells"}, "workload"),
        ({"method": "laplace", "reference": CountTable.from_dense(COUNTS)}, "reference"),
        ({"method": "laplace", "reference": COUNTS}, "reference"),
        ({"method": "privelet", "public_total": True}, "public_total"),
        ({"method": "laplace", "conversion": "simple"}, "conversion"),
        ({"method": "laplace", "bits": (8,)}, "bits"),
        ({"method": "auto", "threshold": 5}, "threshold"),
        ({"method": "topdown"}, "hierarchy|table"),
        ({"table": [[1, 2]]}, "table"),
        ({"table": None}, "table"),
        ({"budget": 1.0}, "budget"),
        ({"unit": "person"}, "unit"),
        ({"threads": 0}, "threads"),
        ({"keep_measurements": 1.5}, "keep_measurements"),
        ({"reference": CountTable.from_dense(COUNTS.T)}, "reference"),
        ({"reference": COUNTS.T}, "reference"),
        ({"entropy": 42}, "entropy"),
        ({"conversion": "none"}, "conversion"),
    ],
    ids=lambda value: str(value)[:60].replace("\n", " "),
)
def test_what_is_refused_names_the_parameter(arguments: dict[str, Any], named: str) -> None:
    usual: dict[str, Any] = {"table": COUNTS, "budget": Budget(epsilon=1), "entropy": ScriptedEntropy([])}
    if "conversion" in arguments and "method" not in arguments:
        usual["budget"] = Budget(epsilon=1, delta=1e-6)
    with pytest.raises(ParameterError, match=f"The '({named})' parameter"):
        publish(**{**usual, **arguments})


def test_currencies_that_a_method_has_not() -> None:
    with pytest.raises(MixedCurrencyError, match="gaussian"):
        publish(COUNTS, Budget(rho=1), "laplace")
    with pytest.raises(SudareError, match="delta"):
        publish(COUNTS, Budget(epsilon=1), "gaussian")


def test_threads_do_not_change_a_seed() -> None:
    counts = np.random.default_rng(5).integers(0, 9, size=(64, 64))
    tables = [
        publish(counts, Budget(epsilon=1), entropy=ResearchEntropy(3), threads=threads).table
        for threads in (None, 1, 3)
    ]
    assert tables[0] == tables[1] == tables[2]


def test_the_result_is_all_that_was_asked_for() -> None:
    counts = np.random.default_rng(6).integers(0, 90, size=(16, 16))
    published = publish(counts, Budget(epsilon=1), keep_measurements=True)
    assert published.table.total == published.to_dense().sum() == published.to_frame()["count"].sum()
    assert "wide-tree" in published._repr_html_()
    assert published.measurements is not None
    assert published.plan is not None
    assert [m.name for m in published.measurements] == [level.name for level in published.plan.levels]
