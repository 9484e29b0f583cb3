"""The guarantee of noise by a smooth bound, audited from outputs alone, each with a broken twin that is caught."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from sudare import Budget
from sudare.attacks import audit_epsilon
from sudare.noise import discrete_laplace
from sudare.privacy import SmoothMeasurement
from sudare.sql.relations.elastic import Growth, smooth_bound

pytestmark = pytest.mark.slow

RUNS = 400_000
BUDGET = Budget(epsilon=1, delta=Fraction(1, 50))

# A join with a table in which a value stands 5 times, or with one more unit 9 times: what is counted moves by that many.
FREQUENCIES, ROWS = (5, 9), 4


def audit(scale_of: Callable[[Growth], Fraction], cells: int) -> float:
    sides = []
    for frequency, count in zip(FREQUENCIES, (100, 100 + FREQUENCIES[0]), strict=True):
        noise = discrete_laplace(scale_of(Growth.linear(frequency, ROWS))).draw((RUNS, cells))
        noise[:, 0] += count
        width = 10 if cells > 1 else 1
        sides.append((np.clip(noise, -2000, 2000) // width * np.array([10**6, 1][:cells])).sum(axis=1))
    return audit_epsilon(sides[0], sides[1], delta=float(BUDGET.delta)).lower_bound


@pytest.mark.parametrize("cells", [1, 2])
def test_smooth_noise(cells: int) -> None:
    measurement = SmoothMeasurement.for_budget(BUDGET, cells)
    assert measurement.epsilon <= BUDGET.epsilon
    assert audit(lambda growth: measurement.scale_for(smooth_bound(growth, measurement.beta)), cells) <= BUDGET.epsilon


def test_noise_by_what_the_data_have_today_is_caught() -> None:
    """A scale that follows the local sensitivity gives away the frequencies themselves."""
    assert audit(lambda growth: Fraction(growth(0)), 1) > BUDGET.epsilon
