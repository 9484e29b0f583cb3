"""Power curves: against draws, against closed forms, and epsilon against zCDP."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from sudare import Budget
from sudare.errors import ParameterError
from sudare.evaluate.significance import (
    NoisyCount,
    areas_differ,
    flat_noise,
    halves_noise,
    node_noise,
    power_curve,
    smallest_detectable,
)
from sudare.evaluate.significance.laws import GaussianLaw, LaplaceLaw
from sudare.noise import ResearchEntropy, discrete_laplace, noise_for
from sudare.privacy import GaussianMeasurement, LaplaceMeasurement
from sudare.tables import nn_wavelet


def test_power_is_how_often_the_test_finds_it() -> None:
    """The test of `areas_differ`, run on drawn noise."""
    law = flat_noise(Budget(epsilon=0.2), cells=2)
    drawn = discrete_laplace(5).draw((1500, 2), ResearchEntropy(8))
    measurement = LaplaceMeasurement(Fraction(5), 1, 1, 1)
    for effect in (0, 12, 30):
        found = [
            areas_differ(
                NoisyCount.of_values([int(one) + effect], measurement), NoisyCount.of_values([int(other)], measurement)
            ).is_significant
            for one, other in drawn
        ]
        power = float(power_curve(law, effect))
        assert np.mean(found) == pytest.approx(power, abs=5 * (power * (1 - power) / 1500) ** 0.5 + 1e-9)


def test_wide_gaussian_noise_by_closed_form() -> None:
    law = flat_noise(Budget(rho=0.0005), "gaussian", cells=2)
    effects = np.array([0.0, 50.0, 120.0])
    spread = (2 * 1000) ** 0.5
    expected = norm.sf(1.96 - effects / spread) + norm.cdf(-1.96 - effects / spread)
    assert np.abs(power_curve(law, effects) - expected).max() < 0.01


def test_the_smallest_detectable_difference() -> None:
    law = flat_noise(Budget(epsilon=0.1), cells=2)
    smallest = smallest_detectable(law, 0.8)
    assert power_curve(law, smallest) >= 0.8 > power_curve(law, smallest - 1)
    with pytest.raises(ParameterError, match="power"):
        smallest_detectable(law, 1)


def test_noise_is_that_of_the_mechanisms() -> None:
    """Shares of the budget and sensitivities as the released table has them."""
    table = np.full((8, 16), 9)
    for budget, kind in ((Budget(epsilon=0.5), "laplace"), (Budget(rho=0.1), "gaussian")):
        event = nn_wavelet(table, budget, noise=kind, entropy=ResearchEntropy(1)).event  # type: ignore[arg-type]
        law = halves_noise(budget, 7, kind).terms[0].law  # type: ignore[arg-type]
        assert len({*event.measurements}) == 1
        stated = event.measurements[0]
        if isinstance(stated, LaplaceMeasurement):
            assert law == LaplaceLaw(stated.scale) == LaplaceLaw(Fraction(16))
        else:
            assert isinstance(stated, GaussianMeasurement)
            assert law == GaussianLaw(stated.sigma_squared) == GaussianLaw(Fraction(40))


def test_the_noise_of_a_node_by_the_inverse_transform() -> None:
    """2**depth times the count of a node: the total, plus or minus each difference above, doubled at every step."""
    budget = Budget(epsilon=0.5)
    law = node_noise(budget, 5, 3)
    noise = noise_for(LaplaceMeasurement(Fraction(12), 6, 6, 1))
    drawn = noise.draw((100_000, 4), ResearchEntropy(4)).astype(float)
    count = drawn[:, 0]
    for level in range(1, 4):
        count = (count + drawn[:, level]) / 2
    assert count.std() * 8 == pytest.approx(law.standard_deviation, rel=0.02)
    for value in (-60, 10, 100):
        assert (count * 8 >= value).mean() == pytest.approx(float(law.at_least(value)), abs=0.01)
    assert node_noise(budget, 5, 0) == halves_noise(budget, 5)


def test_zcdp_finds_smaller_differences_in_wavelets_and_not_in_flat_tables() -> None:
    """At the same (epsilon, delta), with the paper's 18 levels."""
    pure, approximate = Budget(epsilon=1), Budget(epsilon=1, delta=1e-6)
    flat = [
        smallest_detectable(flat_noise(budget, kind, cells=2))  # type: ignore[arg-type]
        for budget, kind in ((pure, "laplace"), (approximate, "gaussian"))
    ]
    assert flat[0] < 0.5 * flat[1]
    wavelet = [
        smallest_detectable(halves_noise(budget, 18, kind, conversion=conversion))  # type: ignore[arg-type]
        for budget, kind, conversion in (
            (pure, "laplace", "optimal"),
            (approximate, "gaussian", "simple"),
            (approximate, "gaussian", "optimal"),
        )
    ]
    assert wavelet[0] > 1.1 * wavelet[1]
    assert wavelet[1] > 1.1 * wavelet[2]


def test_what_is_refused() -> None:
    with pytest.raises(ParameterError, match="levels"):
        halves_noise(Budget(epsilon=1), 0)
    with pytest.raises(ParameterError, match="depth"):
        node_noise(Budget(epsilon=1), 4, 5)
    with pytest.raises(ParameterError, match="noise"):
        flat_noise(Budget(epsilon=1), "normal")  # type: ignore[arg-type]
