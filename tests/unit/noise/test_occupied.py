"""The number of non-empty cells: what it states, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sudare import Budget, CountTable, Domain, ReleaseEvent, ResearchEntropy, Unit
from sudare.errors import GuaranteeError, ParameterError
from sudare.noise.occupied import estimate_non_zeros
from sudare.privacy import GaussianMeasurement, LaplaceMeasurement

COUNTS = np.arange(600) % 3


def test_it_is_near_the_truth_and_states_its_cost() -> None:
    estimate, event = estimate_non_zeros(COUNTS, Budget(epsilon=2))
    assert abs(estimate - 400) < 60
    assert event == ReleaseEvent("non-zeros", Unit(), Budget(epsilon=2), event.measurements, "secure")
    assert event.measurements[0].epsilon == 2


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_noise_covers_all_cells_of_a_unit_in_one_number(adjacency: Any) -> None:
    """One number may move by as many as the unit has cells: its square counts, not the number of cells."""
    unit = Unit(cells=7, adjacency=adjacency)
    (laplace,) = estimate_non_zeros(COUNTS, Budget(epsilon=1), unit=unit)[1].measurements
    (gaussian,) = estimate_non_zeros(COUNTS, Budget(rho=1), unit=unit, noise="gaussian")[1].measurements
    assert isinstance(laplace, LaplaceMeasurement)
    assert isinstance(gaussian, GaussianMeasurement)
    assert laplace.scale >= 7
    assert laplace.largest >= 7
    assert gaussian.sigma_squared >= 49 / 2
    assert gaussian.largest >= 7


def test_a_table_of_any_size_and_its_array_are_the_same() -> None:
    table = CountTable.from_dense(COUNTS)
    one, other = (estimate_non_zeros(t, Budget(epsilon=1), entropy=ResearchEntropy(3)) for t in (table, COUNTS))
    assert one == other
    huge = CountTable.from_cells(Domain.of_shape((2**31, 2**31)), [5, 2**61], [1, 2])
    assert 0 <= estimate_non_zeros(huge, Budget(epsilon=1))[0] < 100


def test_it_stays_between_none_and_all() -> None:
    none, everything = np.zeros(3, dtype=np.int64), np.ones(3, dtype=np.int64)
    estimates = {estimate_non_zeros(t, Budget(epsilon=0.1))[0] for t in (none, everything) for _ in range(50)}
    assert estimates <= {0, 1, 2, 3}
    assert {0, 3} <= estimates


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({"counts": [1, 2]}, "counts"),
        ({"counts": np.array([-1])}, "counts"),
        ({"counts": np.array([0.5])}, "counts"),
        ({"counts": np.ma.masked_array([1], [True])}, "counts"),
        ({"budget": 1}, "budget"),
        ({"unit": "person"}, "unit"),
        ({"noise": "uniform"}, "noise"),
        ({"entropy": 3}, "entropy"),
    ],
)
def test_arguments_that_are_refused(arguments: dict[str, Any], parameter: str) -> None:
    working: dict[str, Any] = {"counts": COUNTS, "budget": Budget(epsilon=1)}
    with pytest.raises(ParameterError, match=f"The '{parameter}' parameter"):
        estimate_non_zeros(**{**working, **arguments})


def test_gaussian_noise_needs_a_delta() -> None:
    with pytest.raises(GuaranteeError, match="delta"):
        estimate_non_zeros(COUNTS, Budget(epsilon=1), noise="gaussian")
