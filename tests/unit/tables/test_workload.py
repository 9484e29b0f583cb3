"""Workloads: parts with weights, as a user types them; each has a predicted error, and weights move it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare import Budget, Domain, plan_table
from sudare.errors import ParameterError
from sudare.tables.histograms.strategy import best_strategy, cell_variance, prefix_variance, range_variance
from sudare.tables.planning.workload import Vocabulary, WorkloadPart, read_workload

ONE = Budget(epsilon=1)
MAP = Domain.of_shape((128, 128))
MIXED = Domain(
    (
        sudare.Mesh("mesh", "1/2", 8435, 6191, 32, 32),
        sudare.Category("age", tuple("abcde")),
        sudare.Category("sex", ("f", "m")),
    )
)
BINS = Domain((sudare.Bins("income", tuple(range(0, 2001, 10))),))
MANY = Domain(tuple(sudare.Category(f"q{i}", tuple("abcdefgh")) for i in range(7)))
WORDS = Vocabulary(("cells", "margins"), 64, ("age", "sex"), ("prefecture", "ward"))


def mean_log(plan: sudare.Plan, chosen: set[tuple[int, tuple[str, ...]]]) -> float:
    return float(np.mean([np.log(e.rmse) for e in plan.errors if (e.side, e.margin) in chosen]))


@pytest.mark.parametrize(
    ("typed", "parts"),
    [
        (None, ()),
        ("cells", (WorkloadPart(word="cells"),)),
        ("sex", (WorkloadPart(attributes=("sex",)),)),
        ("prefecture", (WorkloadPart(level="prefecture"),)),
        (("margins", 2), (WorkloadPart(word="margins", order=2),)),
        ([("margins", 1)], (WorkloadPart(word="margins", order=1),)),
        (["margins", "cells"], (WorkloadPart(word="margins"), WorkloadPart(word="cells"))),
        ([16, 1, 16], (WorkloadPart(side=16), WorkloadPart(side=1))),
        ([("sex", "age")], (WorkloadPart(attributes=("age", "sex")),)),
        ({"cells": 1, 16: 0.5}, (WorkloadPart(1.0, "cells"), WorkloadPart(0.5, side=16))),
        ({("ward", "sex"): 3}, (WorkloadPart(3.0, level="ward", attributes=("sex",)),)),
    ],
)
def test_what_may_be_typed(typed: Any, parts: tuple[WorkloadPart, ...]) -> None:
    assert read_workload(typed, WORDS, "plan_table") == parts


@pytest.mark.parametrize(
    "typed",
    [
        "areas",
        {},
        {"cells": 0},
        {"cells": -1},
        {"cells": True},
        {"cells": "2"},
        {"cells": float("nan")},
        {"nobody": 1},
        {3: 1},
        {("sex", "sex"): 1},
        {("prefecture", "ward"): 1},
        {("margins", 3): 1},
        ("margins", 0),
        [("margins", True)],
        [["nobody"]],
        {True: 1},
        [True],
        range(10**9),
    ],
)
def test_what_is_refused_says_what_is_allowed(typed: Any) -> None:
    with pytest.raises(ParameterError, match="The 'workload' parameter of plan_table") as caught:
        read_workload(typed, WORDS, "plan_table")
    assert any(word in str(caught.value) for word in ("'margins'", "weights above 0", "powers of two"))


@settings(max_examples=25)
@given(st.dictionaries(st.sampled_from(["cells", "areas", 1, 4, 16, 64]), st.integers(1, 5), min_size=1))
def test_every_part_of_a_map_has_a_predicted_error(weights: dict[Any, int]) -> None:
    sides = {error.side for error in plan_table(MAP, ONE, workload=weights).errors}
    assert sides == {
        side
        for part in weights
        for side in ([1] if part == "cells" else [8, 16, 32, 64] if part == "areas" else [part])
    }


def test_weights_scale_freely_and_equal_weights_are_a_list() -> None:
    listed = plan_table(MAP, ONE, workload=(1, 16))
    assert plan_table(MAP, ONE, workload={1: 1, 16: 1}) == listed
    assert plan_table(MAP, ONE, workload={16: 2.5, 1: 2.5}).settings == listed.settings
    assert plan_table(MIXED, ONE, workload={"cells": 7}).settings == plan_table(MIXED, ONE, workload="cells").settings


def test_weights_move_the_errors_of_a_map() -> None:
    small, large = (plan_table(MAP, ONE, workload=w) for w in ({1: 20, 32: 1}, {1: 1, 32: 20}))
    assert small.errors[0].rmse < 0.9 * large.errors[0].rmse
    assert large.errors[1].rmse < 0.9 * small.errors[1].rmse


def test_weights_move_the_errors_of_a_map_with_attributes() -> None:
    cells: set[Any] = {(1, ("age", "sex"))}
    whole: set[Any] = {(32, ())}
    one = plan_table(MIXED, ONE, workload={"cells": 10, ("sex",): 1})
    other = plan_table(MIXED, ONE, workload={"cells": 1, ("sex",): 10})
    assert mean_log(one, cells) < mean_log(other, cells) - 0.1
    by_sex: set[Any] = {(e.side, e.margin) for e in other.errors if e.margin == ("sex",)}
    assert {side for side, _ in by_sex} == {1, 2, 4, 8, 16, 32}
    assert mean_log(other, by_sex) < mean_log(one, by_sex) - 0.1
    totals = plan_table(MIXED, ONE, workload={"totals": 10, "cells": 1})
    assert mean_log(totals, whole) < mean_log(plan_table(MIXED, ONE), whole)


def test_margins_up_to_an_order() -> None:
    plan = plan_table(MIXED, ONE, workload=("margins", 1))
    assert {error.margin for error in plan.errors} == {(), ("age",), ("sex",)}
    assert {error.margin for error in plan_table(MIXED, ONE, workload="margins").errors} == {
        *((), ("age",), ("sex",), ("age", "sex"))
    }


def test_margins_of_many_attributes_reach_the_mechanism() -> None:
    assert "workload_margins" not in plan_table(MANY, ONE).settings
    assert plan_table(MANY, ONE, workload=("margins", 2)).settings["workload_margins"] == 2
    plan = plan_table(MANY, ONE, workload={("q1", "q0"): 3, ("margins", 1): 7})
    single: dict[Any, float] = {(f"q{i}",): 1.0 for i in range(7)}
    assert plan.settings["workload_margins"] == {("q0", "q1"): 3.0, **single}
    with pytest.raises(ParameterError, match="up to 4"):
        plan_table(MANY, ONE, workload=("margins", 5))
    with pytest.raises(ParameterError, match="workload"):
        plan_table(MANY, ONE, workload={("margins", 2): 1, 4: 1})


def test_a_histogram_for_several_purposes_lies_between() -> None:
    """Each part is at least as accurate as where it is not asked for, and at most as where it is all that is."""
    noises: tuple[Any, ...] = ("laplace", "gaussian")
    for noise in noises:
        mixed = best_strategy(4096, {"ranges": 1, "cells": 1}, noise)
        power = 2 if noise == "laplace" else 1

        def variances(strategy: Any, power: int = power) -> np.ndarray:
            levels = [np.inf if share == 0 else share**-power for share in strategy.shares]
            return np.array([f(strategy.steps, levels) for f in (range_variance, cell_variance, prefix_variance)])

        ranges = variances(best_strategy(4096, "ranges", noise))
        cells = variances(best_strategy(4096, "cells", noise))
        found = variances(mixed)
        assert found[0] < 0.8 * cells[0]
        assert found[1] < ranges[1]
        assert found[0] * found[1] < 1.02 * min(ranges[0] * ranges[1], cells[0] * cells[1])
        assert np.isfinite(found).all()


def test_a_histogram_for_several_purposes_is_planned_and_carried_out() -> None:
    plan = plan_table(BINS, ONE, workload={"ranges": 1, "prefixes": 1, "cells": 2})
    assert plan.settings["workload"] == {"ranges": 1.0, "prefixes": 1.0, "cells": 2.0}
    assert [error.name for error in plan.errors[-2:]] == ["ranges", "prefixes"]
    assert "prefixes" in plan.explain()
    counts = np.arange(200)
    published = sudare.publish(sudare.CountTable.from_dense(counts, BINS), ONE, plan, entropy=sudare.ResearchEntropy(1))
    assert len(published.event.measurements) == len(plan.levels)
    heavier = plan_table(BINS, ONE, workload={"ranges": 1, "cells": 50})
    assert heavier.errors[0].rmse < plan.errors[0].rmse
    with pytest.raises(ParameterError, match="workload"):
        plan_table(BINS, ONE, workload={"ranges": 1, 16: 1})
    for wrong in ({"areas": 1}, {"ranges": 0}, {"ranges": "one"}, {"ranges": "-1"}, {}):
        with pytest.raises(ParameterError, match="The 'workload' parameter of histogram"):
            sudare.publish(counts, ONE, "histogram", workload=wrong)


@pytest.mark.parametrize("order", [("margins", 1), [("margins", 2)]])
def test_tables_without_attributes_have_no_orders_of_margins(order: Any) -> None:
    """What is allowed is listed, and not an empty range of orders."""
    with pytest.raises(ParameterError, match="must be left out, or one or several of: 'cells', 'areas'"):
        plan_table(sudare.Domain.of_shape((64, 64)), ONE, workload=order)
