"""Whatever is handed to whichever parameter by mistake, no error shows it: it could be a table of true counts."""

from __future__ import annotations

import inspect
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sudare
from sudare.attacks import audit_epsilon
from sudare.refine import nearest_integers, negative_l2, project_on_simplex

MARK = 424242
MISTAKES: list[Any] = [
    np.array([MARK, 5, 7]),
    np.array([[MARK, 5], [7, MARK]]),
    [MARK, 5, 7],
    {"counts": MARK},
    np.array([MARK + 0.5, 1.0]),
]
UNIT, BUDGET = sudare.Unit(), sudare.Budget(epsilon=1)
SENSITIVITY = sudare.sensitivity_of_counts(UNIT)
LAPLACE = sudare.LaplaceMeasurement.for_budget(BUDGET, SENSITIVITY)
DOMAIN = sudare.Domain.of_shape((3,))

# Arguments that work, so that each parameter in turn can be given a wrong one. What is left out keeps its default.
WORKING: dict[str, tuple[Any, dict[str, Any]]] = {
    "Unit": (sudare.Unit, {}),
    "Unit.with_rows": (sudare.Unit.with_rows, {"rows": 2}),
    "Sensitivity": (sudare.Sensitivity, {"l1": 1, "l2_squared": 1, "cells": 1, "largest": 1}),
    "sensitivity_of_counts": (sudare.sensitivity_of_counts, {"unit": UNIT}),
    "Budget": (sudare.Budget, {"epsilon": 1}),
    "Budget rho": (sudare.Budget, {"rho": 1}),
    "Budget.split": (BUDGET.split, {"shares": 2}),
    "Budget.times": (BUDGET.times, {"factor": 2}),
    "Budget.covers": (BUDGET.covers, {"cost": BUDGET}),
    "rho_to_epsilon": (sudare.rho_to_epsilon, {"rho": 1, "delta": 0.1}),
    "epsilon_to_rho": (sudare.epsilon_to_rho, {"epsilon": 1, "delta": 0.1}),
    "rho_to_delta": (sudare.rho_to_delta, {"rho": 1, "epsilon": 1}),
    "compose": (sudare.compose, {"budgets": [BUDGET]}),
    "compose_parallel": (sudare.compose_parallel, {"budgets": [BUDGET]}),
    "for_group": (sudare.for_group, {"budget": BUDGET, "people": 2}),
    "LaplaceMeasurement": (sudare.LaplaceMeasurement, {"scale": Fraction(1), "l1": 1, "cells": 1, "largest": 1}),
    "GaussianMeasurement": (
        sudare.GaussianMeasurement,
        {"sigma_squared": Fraction(1), "l2_squared": 1, "cells": 1, "largest": 1},
    ),
    "SelectionMeasurement": (sudare.SelectionMeasurement, {"chosen_epsilon": Fraction(1), "rule": "exponential"}),
    "LaplaceMeasurement.for_budget": (
        sudare.LaplaceMeasurement.for_budget,
        {"budget": BUDGET, "sensitivity": SENSITIVITY},
    ),
    "GaussianMeasurement.for_budget": (
        sudare.GaussianMeasurement.for_budget,
        {"budget": sudare.Budget(rho=1), "sensitivity": SENSITIVITY},
    ),
    "ReleaseEvent": (
        sudare.ReleaseEvent,
        {"mechanism": "m", "unit": UNIT, "cost": BUDGET, "measurements": (LAPLACE,), "entropy": "secure"},
    ),
    "ReleaseEvent.from_json": (sudare.ReleaseEvent.from_json, {"text": "{}"}),
    "ZcdpAccountant": (sudare.ZcdpAccountant, {}),
    "PureAccountant.add": (sudare.PureAccountant().add, {"event": None}),
    "PureAccountant.epsilon": (sudare.PureAccountant().epsilon, {}),
    "best_power": (sudare.best_power, {"budget": BUDGET, "significance": 0.05}),
    "suggest_delta": (sudare.suggest_delta, {"people": 100}),
    "plot_trade_off": (sudare.plot_trade_off, {"budgets": [BUDGET]}),
    "plot_suggested_delta": (sudare.plot_suggested_delta, {"people": 100}),
    "ResearchEntropy": (sudare.ResearchEntropy, {"seed": 1}),
    "SecureEntropy.words": (sudare.SecureEntropy().words, {"count": 1}),
    "SecureEntropy.fill": (sudare.SecureEntropy().fill, {"words": np.zeros(1, dtype=np.uint64)}),
    "discrete_laplace": (sudare.discrete_laplace, {"scale": 1}),
    "discrete_gaussian": (sudare.discrete_gaussian, {"sigma": 1}),
    "discrete_gaussian squared": (sudare.discrete_gaussian, {"sigma_squared": 1}),
    "geometric": (sudare.geometric, {"scale": 1}),
    "bernoulli_exp": (sudare.bernoulli_exp, {"exponent": 1}),
    "fair_coins": (sudare.fair_coins, {"size": 1}),
    "uniform_below": (sudare.uniform_below, {"bound": 3, "size": 1}),
    "Sampler.draw": (sudare.discrete_laplace(2).draw, {"size": 1}),
    "exponential_mechanism": (sudare.exponential_mechanism, {"scores": [1, 2], "budget": BUDGET}),
    "report_noisy_max": (sudare.report_noisy_max, {"scores": [1, 2], "budget": BUDGET}),
    "add_noise": (sudare.add_noise, {"counts": [1, 2], "budget": BUDGET}),
    "noise_for": (sudare.noise_for, {"measurement": LAPLACE}),
    "audit_epsilon": (audit_epsilon, {"outputs": [1] * 100, "neighbour_outputs": [1] * 100}),
    "Domain": (sudare.Domain, {"attributes": DOMAIN.attributes}),
    "Domain.of_shape": (sudare.Domain.of_shape, {"shape": (3,)}),
    "CountTable.from_dense": (sudare.CountTable.from_dense, {"array": [1, 2, 3]}),
    "CountTable.from_cells": (sudare.CountTable.from_cells, {"domain": DOMAIN, "keys": [0], "counts": [1]}),
    "CountTable.from_frame": (sudare.CountTable.from_frame, {"frame": None, "domain": DOMAIN}),
    "CountTable.from_sparse": (sudare.CountTable.from_sparse, {"matrix": None}),
    "nn_wavelet": (sudare.nn_wavelet, {"table": np.array([1, 2, 3, 4]), "budget": BUDGET}),
    "wide_tree": (sudare.wide_tree, {"table": np.array([1, 2, 3, 4]), "budget": BUDGET}),
    "morton_layout": (sudare.morton_layout, {"shape": (4,)}),
    "project_on_simplex": (project_on_simplex, {"values": [1.0], "total": 1}),
    "negative_l2": (negative_l2, {"values": [1.0], "total": 1, "weight": 0.5}),
    "nearest_integers": (nearest_integers, {"values": [1.0], "total": 1}),
    "mesh_codes": (sudare.mesh_codes, {"rows": [1], "columns": [1], "level": "3"}),
}
CASES = [(name, parameter) for name, (call, _) in WORKING.items() for parameter in inspect.signature(call).parameters]


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
        assert caught is None or isinstance(caught, sudare.SudareError)
