"""Whatever is handed to whichever parameter by mistake, no error shows it: it could be a table of true counts."""

from __future__ import annotations

import inspect
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sudare
from sudare.attacks import audit_epsilon
from sudare.evaluate import (
    error_by_area,
    error_by_value,
    error_of_rectangles,
    measure_errors,
    non_zero_share,
    random_rectangles,
    zero_cell_bias,
)
from sudare.noise.thresholds import publish_keys, threshold_for
from sudare.refine import (
    clip_and_scale,
    controlled_rounding,
    lasso,
    nearest_integers,
    negative_l2,
    negative_l2_by_iteration,
    nonnegative_lasso,
    project_on_simplex,
    round_two_way,
    weight_by_public_data,
    weight_by_sparsity,
)
from sudare.sql.measures.quantiles import choose_quantile
from sudare.sql.measures.sparse import publish_sparse

MARK = 424242
MISTAKES: list[Any] = [
    np.array([MARK, 5, 7]),
    np.array([[MARK, 5], [7, MARK]]),
    [MARK, 5, 7],
    {"counts": MARK},
    np.array([MARK + 0.5, 1.0]),
]
UNIT, BUDGET = sudare.Unit(), sudare.Budget(epsilon=1)
SENSITIVITY = sudare.privacy.sensitivity_of_counts(UNIT)
LAPLACE = sudare.privacy.LaplaceMeasurement.for_budget(BUDGET, SENSITIVITY)
DOMAIN = sudare.Domain.of_shape((3,))
COUNTS = np.array([1, 2, 3, 4])
AREAS = sudare.Hierarchy.from_parents("area", {"all": None, "a": "all", "b": "all"})
BY_AREA = sudare.CountTable.from_dense([[1, 2], [3, 4]], sudare.Domain((AREAS, sudare.Category("sex", ("f", "m")))))
PUBLISHED = sudare.tables.topdown(BY_AREA, BUDGET)
PREPARED = sudare.tables.PreparedTree.draw(COUNTS, BUDGET)
PLAN = sudare.plan_table(sudare.Domain.of_shape((4,)), BUDGET)
MAP = np.arange(16).reshape(4, 4)

# Arguments that work, so that each parameter in turn can be given a wrong one. What is left out keeps its default.
WORKING: dict[str, tuple[Any, dict[str, Any]]] = {
    "Unit": (sudare.Unit, {}),
    "Unit.with_rows": (sudare.Unit.with_rows, {"rows": 2}),
    "Sensitivity": (sudare.privacy.Sensitivity, {"l1": 1, "l2_squared": 1, "cells": 1, "largest": 1}),
    "sensitivity_of_counts": (sudare.privacy.sensitivity_of_counts, {"unit": UNIT}),
    "Budget": (sudare.Budget, {"epsilon": 1}),
    "Budget rho": (sudare.Budget, {"rho": 1}),
    "Budget.split": (BUDGET.split, {"shares": 2}),
    "Budget.times": (BUDGET.times, {"factor": 2}),
    "Budget.covers": (BUDGET.covers, {"cost": BUDGET}),
    "rho_to_epsilon": (sudare.privacy.rho_to_epsilon, {"rho": 1, "delta": 0.1}),
    "epsilon_to_rho": (sudare.privacy.epsilon_to_rho, {"epsilon": 1, "delta": 0.1}),
    "rho_to_delta": (sudare.privacy.rho_to_delta, {"rho": 1, "epsilon": 1}),
    "compose": (sudare.compose, {"budgets": [BUDGET]}),
    "compose_parallel": (sudare.privacy.compose_parallel, {"budgets": [BUDGET]}),
    "for_group": (sudare.privacy.for_group, {"budget": BUDGET, "people": 2}),
    "LaplaceMeasurement": (
        sudare.privacy.LaplaceMeasurement,
        {"scale": Fraction(1), "l1": 1, "cells": 1, "largest": 1},
    ),
    "GaussianMeasurement": (
        sudare.privacy.GaussianMeasurement,
        {"sigma_squared": Fraction(1), "l2_squared": 1, "cells": 1, "largest": 1},
    ),
    "SelectionMeasurement": (
        sudare.privacy.SelectionMeasurement,
        {"chosen_epsilon": Fraction(1), "rule": "exponential"},
    ),
    "ResponseMeasurement": (sudare.privacy.ResponseMeasurement, {"ratio": Fraction(3)}),
    "KeyReleaseMeasurement": (sudare.privacy.KeyReleaseMeasurement, {"chance": Fraction(1, 10)}),
    "SampledGroupsMeasurement": (
        sudare.privacy.SampledGroupsMeasurement,
        {"rate": Fraction(1, 2), "k": 40, "record_epsilon": Fraction(1), "records": 1},
    ),
    "SampledGroupsMeasurement.for_budget": (
        sudare.privacy.SampledGroupsMeasurement.for_budget,
        {"budget": sudare.Budget(epsilon=1, delta=0.1), "records": 1},
    ),
    "SmoothMeasurement": (
        sudare.privacy.SmoothMeasurement,
        {"slide": Fraction(1), "beta": Fraction(1), "chance": Fraction(1, 10), "cells": 1},
    ),
    "SmoothMeasurement.for_budget": (
        sudare.privacy.SmoothMeasurement.for_budget,
        {"budget": sudare.Budget(epsilon=1, delta=0.1), "cells": 1},
    ),
    "threshold_for": (threshold_for, {"rows": 1, "scale": 1, "delta": 0.1}),
    "publish_keys": (publish_keys, {"counts": np.array([1, 2]), "rows": 1, "epsilon": 1, "delta": 0.1}),
    "choose_quantile": (
        choose_quantile,
        {
            "buckets": np.array([1]),
            "counts": np.array([2]),
            "candidates": 3,
            "quantile": 0.5,
            "rows": 1,
            "budget": BUDGET,
        },
    ),
    "publish_sparse": (
        publish_sparse,
        {"keys": np.array([1]), "counts": np.array([2]), "domain_size": 3, "rows": 1, "epsilon": 1},
    ),
    "LaplaceMeasurement.for_budget": (
        sudare.privacy.LaplaceMeasurement.for_budget,
        {"budget": BUDGET, "sensitivity": SENSITIVITY},
    ),
    "GaussianMeasurement.for_budget": (
        sudare.privacy.GaussianMeasurement.for_budget,
        {"budget": sudare.Budget(rho=1), "sensitivity": SENSITIVITY},
    ),
    "ReleaseEvent": (
        sudare.ReleaseEvent,
        {"mechanism": "m", "unit": UNIT, "cost": BUDGET, "measurements": (LAPLACE,), "entropy": "secure"},
    ),
    "ReleaseEvent.from_json": (sudare.ReleaseEvent.from_json, {"text": "{}"}),
    "ZcdpAccountant": (sudare.privacy.ZcdpAccountant, {}),
    "PureAccountant.add": (sudare.privacy.PureAccountant().add, {"event": None}),
    "PureAccountant.epsilon": (sudare.privacy.PureAccountant().epsilon, {}),
    "best_power": (sudare.privacy.best_power, {"budget": BUDGET, "significance": 0.05}),
    "suggest_delta": (sudare.privacy.suggest_delta, {"people": 100}),
    "plot_trade_off": (sudare.privacy.plot_trade_off, {"budgets": [BUDGET]}),
    "plot_suggested_delta": (sudare.privacy.plot_suggested_delta, {"people": 100}),
    "ResearchEntropy": (sudare.ResearchEntropy, {"seed": 1}),
    "SecureEntropy.words": (sudare.noise.SecureEntropy().words, {"count": 1}),
    "SecureEntropy.fill": (sudare.noise.SecureEntropy().fill, {"words": np.zeros(1, dtype=np.uint64)}),
    "discrete_laplace": (sudare.noise.discrete_laplace, {"scale": 1}),
    "discrete_gaussian": (sudare.noise.discrete_gaussian, {"sigma": 1}),
    "discrete_gaussian squared": (sudare.noise.discrete_gaussian, {"sigma_squared": 1}),
    "geometric": (sudare.noise.geometric, {"scale": 1}),
    "bernoulli_exp": (sudare.noise.bernoulli_exp, {"exponent": 1}),
    "fair_coins": (sudare.noise.fair_coins, {"size": 1}),
    "uniform_below": (sudare.noise.uniform_below, {"bound": 3, "size": 1}),
    "Sampler.draw": (sudare.noise.discrete_laplace(2).draw, {"size": 1}),
    "exponential_mechanism": (sudare.noise.exponential_mechanism, {"scores": [1, 2], "budget": BUDGET}),
    "report_noisy_max": (sudare.noise.report_noisy_max, {"scores": [1, 2], "budget": BUDGET}),
    "add_noise": (sudare.add_noise, {"counts": [1, 2], "budget": BUDGET}),
    "noise_for": (sudare.noise.noise_for, {"measurement": LAPLACE}),
    "audit_epsilon": (audit_epsilon, {"outputs": [1] * 100, "neighbour_outputs": [1] * 100}),
    "Domain": (sudare.Domain, {"attributes": DOMAIN.attributes}),
    "Domain.of_shape": (sudare.Domain.of_shape, {"shape": (3,)}),
    "CountTable.from_dense": (sudare.CountTable.from_dense, {"array": [1, 2, 3]}),
    "CountTable.from_cells": (sudare.CountTable.from_cells, {"domain": DOMAIN, "keys": [0], "counts": [1]}),
    "CountTable.from_frame": (sudare.CountTable.from_frame, {"frame": None, "domain": DOMAIN}),
    "CountTable.from_sparse": (sudare.CountTable.from_sparse, {"matrix": None}),
    "nn_wavelet": (sudare.tables.nn_wavelet, {"table": np.array([1, 2, 3, 4]), "budget": BUDGET}),
    "wide_tree": (sudare.tables.wide_tree, {"table": np.array([1, 2, 3, 4]), "budget": BUDGET}),
    "wide_tree, least squares": (
        sudare.tables.wide_tree,
        {"table": COUNTS, "budget": BUDGET, "estimate": "least-squares", "reference": COUNTS[::-1]},
    ),
    "margin_tree": (sudare.tables.margin_tree, {"table": COUNTS, "budget": BUDGET}),
    "topdown_bisection": (sudare.tables.topdown_bisection, {"table": COUNTS, "budget": BUDGET}),
    "topdown": (sudare.tables.topdown, {"table": BY_AREA, "budget": BUDGET}),
    "table_at_level": (sudare.tables.table_at_level, {"published": PUBLISHED, "level": "level 1"}),
    "histogram": (sudare.tables.histogram, {"table": COUNTS, "budget": BUDGET}),
    "laplace": (sudare.tables.laplace, {"table": COUNTS, "budget": BUDGET}),
    "gaussian": (sudare.tables.gaussian, {"table": COUNTS, "budget": sudare.Budget(rho=1)}),
    "negative_l2": (sudare.tables.negative_l2, {"table": COUNTS, "budget": BUDGET}),
    "simplex": (sudare.tables.simplex, {"table": COUNTS, "budget": BUDGET}),
    "lasso": (sudare.tables.lasso, {"table": COUNTS, "budget": BUDGET}),
    "lm": (sudare.tables.lm, {"table": COUNTS, "budget": BUDGET}),
    "privelet": (sudare.tables.privelet, {"table": COUNTS, "budget": BUDGET}),
    "adaptive_margins": (sudare.tables.adaptive_margins, {"table": COUNTS, "budget": BUDGET, "rounds": 4}),
    "suits_adaptive_margins": (sudare.tables.suits_adaptive_margins, {"domain": DOMAIN, "budget": BUDGET}),
    "publish": (sudare.publish, {"table": COUNTS, "budget": BUDGET}),
    "publish by a plan": (sudare.publish, {"table": COUNTS, "budget": BUDGET, "method": PLAN}),
    "publish by laplace": (sudare.publish, {"table": COUNTS, "budget": BUDGET, "method": "laplace"}),
    "plan_table": (sudare.plan_table, {"table": COUNTS, "budget": BUDGET}),
    "Plan.explain": (PLAN.explain, {}),
    "Published.to_frame": (PUBLISHED.to_frame, {}),
    "PreparedTree.draw": (sudare.tables.PreparedTree.draw, {"table": COUNTS, "budget": BUDGET}),
    "PreparedTree.refine": (PREPARED.refine, {}),
    "PreparedTree.to_table": (PREPARED.to_table, {"table": sudare.CountTable.from_dense(COUNTS)}),
    "estimate_non_zeros": (sudare.noise.estimate_non_zeros, {"counts": COUNTS, "budget": BUDGET}),
    "raster_layout": (sudare.domain.raster_layout, {"shape": (4,)}),
    "random_layout": (sudare.domain.random_layout, {"shape": (4,), "key": 1}),
    "hilbert_layout": (sudare.domain.hilbert_layout, {"shape": (4, 4)}),
    "layout_named": (sudare.domain.layout_named, {"name": "morton", "shape": (4,)}),
    "Hierarchy.from_parents": (
        sudare.Hierarchy.from_parents,
        {"name": "area", "codes_and_parents": {"all": None, "a": "all"}},
    ),
    "Hierarchy.from_levels": (sudare.Hierarchy.from_levels, {"name": "area", "columns": {"a": [1, 2], "b": [3, 4]}}),
    "Hierarchy.level": (AREAS.level, {"wanted": 0}),
    "Hierarchy.down_to": (AREAS.down_to, {"wanted": 0}),
    "clip_and_scale": (clip_and_scale, {"values": [1.0], "total": 1}),
    "refine.lasso": (lasso, {"values": [1.0], "weight": 1}),
    "nonnegative_lasso": (nonnegative_lasso, {"values": [1.0], "total": 1, "weight": 1}),
    "negative_l2_by_iteration": (negative_l2_by_iteration, {"values": [1.0], "total": 1, "weight": 0.5, "rounds": 3}),
    "controlled_rounding": (controlled_rounding, {"values": [0.5, 0.5], "parents": [0, 0], "parent_sums": [1]}),
    "round_two_way": (
        round_two_way,
        {"values": [[0.5, 0.5], [0.5, 0.5]], "row_sums": [1, 1], "column_sums": [1, 1]},
    ),
    "weight_by_public_data": (weight_by_public_data, {"public_counts": [1, 2, 3], "noise": 1, "candidates": [0, 0.5]}),
    "weight_by_sparsity": (weight_by_sparsity, {"values": [1.0, 2.0], "total": 3, "share_of_non_zeros": 0.5}),
    "measure_errors": (measure_errors, {"true": MAP, "published": MAP}),
    "error_by_area": (error_by_area, {"true": MAP, "published": MAP}),
    "error_by_value": (error_by_value, {"true": MAP, "published": MAP}),
    "error_of_rectangles": (error_of_rectangles, {"true": MAP, "published": MAP, "rectangles": [[0, 0, 1, 1]]}),
    "random_rectangles": (
        random_rectangles,
        {"shape": (4, 4), "count": 2, "smallest": 1, "largest": 2, "seed": 1},
    ),
    "non_zero_share": (non_zero_share, {"true": MAP, "published": MAP}),
    "zero_cell_bias": (zero_cell_bias, {"true": MAP, "published": MAP}),
    "morton_layout": (sudare.domain.morton_layout, {"shape": (4,)}),
    "project_on_simplex": (project_on_simplex, {"values": [1.0], "total": 1}),
    "refine.negative_l2": (negative_l2, {"values": [1.0], "total": 1, "weight": 0.5}),
    "nearest_integers": (nearest_integers, {"values": [1.0], "total": 1}),
    "mesh_codes": (sudare.domain.mesh_codes, {"rows": [1], "columns": [1], "level": "3"}),
}
CASES = [
    (name, parameter.name)
    for name, (call, _) in WORKING.items()
    for parameter in inspect.signature(call).parameters.values()
    if parameter.kind is not parameter.VAR_KEYWORD
]


@pytest.mark.parametrize("name", WORKING)
def test_the_arguments_do_work(name: str) -> None:
    """Else every mistake would be hidden behind the same error."""
    needs_more = {"CountTable.from_frame", "CountTable.from_sparse", "PureAccountant.add", "ReleaseEvent.from_json"}
    call, arguments = WORKING[name]
    if name not in needs_more:
        call(**arguments)


def test_every_mechanism_is_among_them() -> None:
    from sudare.tables.registry import mechanism_names

    assert {method.replace("-", "_") for method in mechanism_names()} <= set(WORKING)


@pytest.mark.parametrize(("name", "parameter"), CASES, ids=lambda value: str(value))
def test_no_error_shows_what_was_handed_in(name: str, parameter: str) -> None:
    call, arguments = WORKING[name]
    for mistake in MISTAKES:
        caught: Exception | None = None
        try:
            call(**{**arguments, parameter: mistake})
        except Exception as error:
            caught = error
        assert str(MARK) not in str(caught) + repr(caught) + repr(getattr(caught, "got", ""))
        assert caught is None or isinstance(caught, sudare.errors.SudareError)
