"""The guarantees of noise on counts, audited from outputs alone, each with a broken twin that is caught."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from sudare import Budget, Unit, add_noise
from sudare.attacks import audit_epsilon
from sudare.noise import discrete_gaussian, discrete_laplace
from sudare.privacy import GaussianMeasurement, LaplaceMeasurement, rho_to_epsilon, sensitivity_of_counts

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


Draw = Callable[[np.ndarray], np.ndarray]


def repeated(table: np.ndarray) -> np.ndarray:
    """As many independent runs as the audit needs: every row is a table of its own."""
    return np.broadcast_to(table, (RUNS, 2))


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)], ids=str)
def test_laplace(unit: Unit, epsilon: Fraction) -> None:
    budget = Budget(epsilon=epsilon)
    measurement = LaplaceMeasurement.for_budget(budget, sensitivity_of_counts(unit))
    one, other = neighbours(unit)

    def both_cells(noisy: np.ndarray) -> np.ndarray:
        return np.asarray(np.clip(noisy[:, 0], -50, 50) * 1000 + np.clip(noisy[:, 1], -50, 50))

    def audit(draw: Draw) -> float:
        sides = [draw(repeated(table)) for table in (one, other)]
        return max(audit_epsilon(view(sides[0]), view(sides[1])).lower_bound for view in (statistic, both_cells))

    def with_half_the_noise(tables: np.ndarray) -> np.ndarray:
        return tables + discrete_laplace(measurement.scale / 2).draw(tables.shape)

    assert audit(lambda tables: add_noise(tables, budget, unit=unit)[0]) <= epsilon
    assert audit(with_half_the_noise) > epsilon


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_gaussian(unit: Unit) -> None:
    delta = Fraction(1, 100)
    budget = Budget(rho=Fraction(1, 4))
    epsilon = rho_to_epsilon(budget.rho, delta)
    measurement = GaussianMeasurement.for_budget(budget, sensitivity_of_counts(unit))
    one, other = neighbours(unit)

    def audit(draw: Draw) -> float:
        sides = [draw(repeated(table)) for table in (one, other)]
        views = [statistic(side) if unit.adjacency == "replace" else side[:, 0] for side in sides]
        return audit_epsilon(views[0], views[1], delta=float(delta)).lower_bound

    def with_half_the_noise(tables: np.ndarray) -> np.ndarray:
        return tables + discrete_gaussian(sigma_squared=measurement.sigma_squared / 4).draw(tables.shape)

    assert audit(lambda tables: add_noise(tables, budget, unit=unit, noise="gaussian")[0]) <= epsilon
    assert audit(with_half_the_noise) > epsilon
