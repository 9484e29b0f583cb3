"""The guarantee of the number of non-empty cells, audited from outputs alone, with a broken twin that is caught."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sudare import Budget, CountTable, ResearchEntropy, Unit
from sudare.attacks import audit_epsilon
from sudare.noise import discrete_gaussian, discrete_laplace
from sudare.noise.occupied import estimate_non_zeros
from sudare.privacy import rho_to_epsilon

pytestmark = pytest.mark.slow

CELLS = 1000
CALLS = 3_000
"""The bounds of the twins are then more than four standard deviations above the claim."""
UNITS = [Unit(), Unit(cells=3), Unit.with_rows(3), Unit(cells=3, adjacency="replace")]


def neighbours(unit: Unit) -> tuple[CountTable, CountTable]:
    """The unit in cells of its own, and without it or, if it is replaced, in cells that others are in already."""
    others = np.zeros(CELLS, dtype=np.int64)
    others[:400] = 2
    alone, hidden = others.copy(), others.copy()
    alone[400 : 400 + unit.cells] += 1
    if unit.adjacency == "replace":
        hidden[: unit.cells] += 1
    return CountTable.from_dense(alone), CountTable.from_dense(hidden)


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_laplace(unit: Unit) -> None:
    epsilon = Fraction(1)
    one, other = neighbours(unit)

    def estimates(table: CountTable) -> np.ndarray:
        return np.array([estimate_non_zeros(table, Budget(epsilon=epsilon), unit=unit)[0] for _ in range(CALLS)])

    assert audit_epsilon(estimates(one), estimates(other)).lower_bound <= epsilon

    def broken(table: CountTable) -> np.ndarray:
        """Charged as if a unit were in one cell, with noise of half that scale, whoever is protected."""
        return np.asarray(table.keys.size + discrete_laplace(1 / (2 * epsilon)).draw(CALLS))

    assert audit_epsilon(broken(one), broken(other)).lower_bound > epsilon


def test_gaussian_noise_is_for_one_number_that_moves_by_several() -> None:
    unit, rho, delta = Unit(cells=9), Fraction(1, 4), Fraction(1, 100)
    epsilon = rho_to_epsilon(rho, delta)
    one, other = neighbours(unit)

    def estimates(table: CountTable) -> np.ndarray:
        return np.array(
            [estimate_non_zeros(table, Budget(rho=rho), unit=unit, noise="gaussian")[0] for _ in range(CALLS)]
        )

    assert audit_epsilon(estimates(one), estimates(other), delta=float(delta)).lower_bound <= epsilon

    def as_nine_cells(table: CountTable) -> np.ndarray:
        """The l2 sensitivity of nine cells that move by one each: a third of what one number can do."""
        return np.asarray(table.keys.size + discrete_gaussian(sigma_squared=9 / (2 * rho)).draw(CALLS))

    assert audit_epsilon(as_nine_cells(one), as_nine_cells(other), delta=float(delta)).lower_bound > epsilon


def test_runs_repeat_from_a_seed() -> None:
    table = neighbours(Unit())[0]
    runs = [estimate_non_zeros(table, Budget(epsilon=1), entropy=ResearchEntropy(5)) for _ in range(2)]
    assert runs[0] == runs[1]
    assert not runs[0][1].is_private
