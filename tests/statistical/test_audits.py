"""The guarantees of noise on counts, audited from outputs alone, each with a broken twin that is caught."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sudare import (
    Budget,
    GaussianMeasurement,
    LaplaceMeasurement,
    Unit,
    discrete_gaussian,
    discrete_laplace,
    rho_to_epsilon,
    sensitivity_of_counts,
)
from sudare.attacks import audit_epsilon

pytestmark = pytest.mark.slow

RUNS = 400_000
UNITS = [Unit(), Unit.with_rows(3), Unit(adjacency="replace")]


def neighbours(unit: Unit) -> tuple[np.ndarray, np.ndarray]:
    """Two tables of two cells that differ as much as one unit can make them."""
    table = np.array([10, 10])
    largest = sensitivity_of_counts(unit)
    if unit.adjacency == "replace":
        return table + np.array([largest.largest, 0]), table + np.array([0, largest.largest])
    return table, table + np.array([largest.l1, 0])


def statistic(noisy: np.ndarray) -> np.ndarray:
    """The best one-dimensional view of two cells that move against each other, or of the one that moves."""
    return np.asarray(noisy[:, 0] - noisy[:, 1], dtype=np.int64)


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)], ids=str)
def test_laplace(unit: Unit, epsilon: Fraction) -> None:
    measurement = LaplaceMeasurement.for_budget(Budget(epsilon=epsilon), sensitivity_of_counts(unit))
    one, other = neighbours(unit)

    def audit(scale: Fraction) -> float:
        noise = discrete_laplace(scale)
        sides = [table + noise.draw((RUNS, 2)) for table in (one, other)]
        views = (statistic, lambda noisy: np.clip(noisy[:, 0], -50, 50) * 1000 + np.clip(noisy[:, 1], -50, 50))
        return max(audit_epsilon(view(sides[0]), view(sides[1])).lower_bound for view in views)

    assert audit(measurement.scale) <= epsilon
    assert audit(measurement.scale / 2) > epsilon


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_gaussian(unit: Unit) -> None:
    delta = Fraction(1, 100)
    rho = Fraction(1, 4)
    epsilon = rho_to_epsilon(rho, delta)
    measurement = GaussianMeasurement.for_budget(Budget(rho=rho), sensitivity_of_counts(unit))
    one, other = neighbours(unit)

    def audit(sigma_squared: Fraction) -> float:
        noise = discrete_gaussian(sigma_squared=sigma_squared)
        sides = [
            statistic(table + noise.draw((RUNS, 2)))
            if unit.adjacency == "replace"
            else (table + noise.draw((RUNS, 2)))[:, 0]
            for table in (one, other)
        ]
        return audit_epsilon(sides[0], sides[1], delta=float(delta)).lower_bound

    assert audit(measurement.sigma_squared) <= epsilon
    assert audit(measurement.sigma_squared / 4) > epsilon
