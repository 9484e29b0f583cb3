"""Counts plus noise: the event states the noise that was drawn."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sudare import Budget, ResearchEntropy, Unit, add_noise
from sudare.errors import GuaranteeError, MixedCurrencyError, ParameterError
from sudare.noise import discrete_gaussian, discrete_laplace, noise_for
from sudare.privacy import GaussianMeasurement, LaplaceMeasurement, SelectionMeasurement, sensitivity_of_counts

COUNTS = np.arange(60).reshape(3, 4, 5)


@pytest.mark.parametrize("unit", [Unit(), Unit(cells=3), Unit.with_rows(2, adjacency="replace")], ids=str)
def test_laplace_noise_has_the_scale_of_the_unit(unit: Unit) -> None:
    noisy, event = add_noise(COUNTS, Budget(epsilon=0.5), unit=unit, entropy=ResearchEntropy(3))
    scale = sensitivity_of_counts(unit).l1 * 2
    assert np.array_equal(noisy - COUNTS, discrete_laplace(scale).draw(COUNTS.shape, ResearchEntropy(3)))
    assert event.cost == Budget(epsilon=0.5)
    assert not event.is_private
    assert event.unit == unit


@pytest.mark.parametrize("budget", [Budget(rho=0.02), Budget(epsilon=0.3, delta=1e-8)], ids=str)
def test_gaussian_noise_has_the_sigma_of_the_event(budget: Budget) -> None:
    noisy, event = add_noise(COUNTS, budget, noise="gaussian", entropy=ResearchEntropy(3))
    measurement = event.measurements[0]
    assert isinstance(measurement, GaussianMeasurement)
    drawn = discrete_gaussian(sigma_squared=measurement.sigma_squared).draw(COUNTS.shape, ResearchEntropy(3))
    assert np.array_equal(noisy - COUNTS, drawn)
    assert event.cost == budget


def test_a_secure_release_is_private_and_leaves_the_input_alone() -> None:
    counts = COUNTS.copy()
    _, event = add_noise(counts, Budget(epsilon=1))
    assert event.is_private
    assert np.array_equal(counts, COUNTS)


@pytest.mark.parametrize("counts", [[], 7, np.array([2**62, -(2**62)]), np.array([1, 2], dtype=np.uint8)])
def test_tables_of_any_shape_and_kind(counts: Any) -> None:
    assert add_noise(counts, Budget(epsilon=1))[0].shape == np.asarray(counts).shape


@pytest.mark.parametrize(
    "counts",
    [[1.5], [True], ["1"], [None], [2**62 + 1], np.array([2**64 - 1], dtype=np.uint64), np.ma.array([1], mask=[True])],
)
def test_what_is_no_table_is_refused(counts: Any) -> None:
    with pytest.raises(ParameterError, match="The 'counts' parameter of add_noise must be whole numbers"):
        add_noise(counts, Budget(epsilon=1))


def test_guarantees_that_cannot_be_given() -> None:
    with pytest.raises(GuaranteeError, match="cannot give"):
        add_noise(COUNTS, Budget(epsilon=1), noise="gaussian")
    with pytest.raises(MixedCurrencyError):
        add_noise(COUNTS, Budget(rho=1))
    with pytest.raises(ParameterError, match="'laplace' or 'gaussian'"):
        add_noise(COUNTS, Budget(rho=1), noise="pink")  # type: ignore[arg-type]


def test_noise_for_a_measurement() -> None:
    assert noise_for(LaplaceMeasurement(Fraction(5), 1, 1, 1)) is discrete_laplace(5)
    assert noise_for(GaussianMeasurement(Fraction(5), 1, 1, 1)) is discrete_gaussian(sigma_squared=5)
    with pytest.raises(GuaranteeError, match="adds no noise"):
        noise_for(SelectionMeasurement(Fraction(1), "exponential"))
