"""Comparisons of published counts: exact sizes by enumeration, intervals, sampling models, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from sudare import Budget, Unit
from sudare.domain import CountTable, Domain
from sudare.errors import ParameterError
from sudare.evaluate.significance import NoisyCount, area_changed, areas_differ, dense_values
from sudare.noise import ResearchEntropy
from sudare.privacy import GaussianMeasurement, LaplaceMeasurement, sensitivity_of_counts
from sudare.privacy.measurements import Measurement
from sudare.tables import NoisyCounts, gaussian, laplace, nn_wavelet, privelet

COUNTS = sensitivity_of_counts(Unit())
LAPLACE = LaplaceMeasurement.for_budget(Budget(epsilon=0.5), COUNTS)
GAUSSIAN = GaussianMeasurement.for_budget(Budget(rho=0.05), COUNTS)
NARROW = LaplaceMeasurement.for_budget(Budget(epsilon=3), COUNTS)


@pytest.mark.parametrize("measurement", [LAPLACE, GAUSSIAN, NARROW], ids=["laplace", "gaussian", "narrow"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("level", [0.05, 0.001])
def test_the_size_by_enumeration(measurement: Measurement, alternative: Any, level: float) -> None:
    """The chance of a false alarm, summed over all differences: at most the level, and above it with one value more."""
    counts = NoisyCount.of_values([0], measurement)
    noise = counts.combined(1, counts, -1).noise
    assert noise is not None
    values = np.arange(-90, 91)
    chances = noise.at_least(values) - noise.at_least(values + 1)
    p_values = np.array(
        [
            areas_differ(NoisyCount.of_values([int(x)], measurement), counts, alternative=alternative).p_value
            for x in values
        ]
    )
    alarms = p_values <= level
    assert chances[alarms].sum() <= level
    next_ones = np.isclose(p_values, p_values[~alarms].min(), rtol=1e-6)
    assert chances[alarms | next_ones].sum() > level - 1e-9


def test_all_cells_of_both_areas_have_noise() -> None:
    first, second = NoisyCount.of_values([30, 40, 50], LAPLACE), NoisyCount.of_values([10, 20], GAUSSIAN)
    compared = areas_differ(first, second)
    assert compared.difference == 90
    spread = (3 * 7.8364 + 2 * 10) ** 0.5  # of discrete Laplace noise of scale 2, and of sigma squared 10
    assert (compared.high - compared.low) / 2 == pytest.approx(1.96 * spread, rel=0.1)
    assert compared.is_exact
    assert compared.is_significant
    assert "exact" in str(compared)


def test_areas_of_different_size() -> None:
    """Three cells against one: 90 people against 30 is no difference."""
    large, small = NoisyCount.of_values([30, 30, 30], LAPLACE), NoisyCount.of_values([30], LAPLACE)
    compared = areas_differ(large, small, exposures=(3, 1))
    assert (compared.difference, compared.p_value) == (0, 1)
    twice = areas_differ(large, small, exposures=(6, 2))
    assert (twice.p_value, 2 * twice.high) == (compared.p_value, compared.high)
    assert areas_differ(large, small).is_significant
    huge = areas_differ(large, small, exposures=(1_000_003, 333_331))
    assert huge.p_value > 0.9
    assert huge.difference == pytest.approx(0, abs=1e-8)


def test_intervals_cover_as_often_as_they_say() -> None:
    """The interval covers the true difference unless the noise is beyond its critical values: summed over all noise."""
    counts = NoisyCount.of_values([0], LAPLACE)
    noise = counts.combined(1, counts, -1).noise
    assert noise is not None
    missed = 0.0
    for drawn in range(-150, 151):
        compared = areas_differ(NoisyCount.of_values([7 + drawn], LAPLACE), counts, significance=0.1)
        if not compared.low <= 7 <= compared.high:
            missed += float(noise.at_least(drawn) - noise.at_least(drawn + 1))
    assert 0.06 < missed <= 0.1


@settings(max_examples=25)
@given(st.integers(-40, 200), st.integers(-40, 200), st.sampled_from(["counts", "rates"]))
def test_sides_and_order(first: int, second: int, null: Any) -> None:
    one, other = NoisyCount.of_values([first], LAPLACE), NoisyCount.of_values([second], LAPLACE)
    both, greater, less = (
        areas_differ(one, other, null=null, alternative=alternative).p_value
        for alternative in ("two-sided", "greater", "less")
    )
    assert areas_differ(other, one, null=null).p_value == pytest.approx(both, abs=1e-9)
    assert areas_differ(other, one, null=null, alternative="less").p_value == pytest.approx(greater, abs=1e-9)
    changed = area_changed(other, one, null=null)
    assert (changed.difference, changed.p_value) == (first - second, both)
    assert both >= min(greater, less)


def test_counts_that_vary_need_a_larger_difference() -> None:
    one, other = NoisyCount.of_values([1050], LAPLACE), NoisyCount.of_values([1000], LAPLACE)
    by_noise, by_chance = (areas_differ(one, other, null=null) for null in ("counts", "rates"))
    assert by_noise.p_value < 1e-6
    spread = (2050 + 2 * 7.84) ** 0.5
    assert by_chance.p_value == pytest.approx(2 * norm.sf(50 / spread), rel=0.15)
    assert by_chance.p_value > 2 * norm.sf(50 / spread)
    shares = areas_differ(one, other, null="shares", exposures=(1200, 1200))
    assert by_noise.p_value < shares.p_value < by_chance.p_value, "shares near 1 vary less"


def test_refined_counts_are_approximate() -> None:
    table = CountTable.from_dense(np.array([[5, 0], [7, 100]]))
    first = NoisyCount.of_refined(table, [0, 1, 2], standard_error=3.0)
    second = NoisyCount.of_refined(table, [3], standard_error=4.0)
    assert (first.value, second.value) == (12, 100)
    compared = areas_differ(second, first)
    assert not compared.is_exact
    assert "approximate" in str(compared)
    assert compared.p_value == pytest.approx(2 * norm.sf(88 / 5), rel=1e-6)
    assert (compared.low, compared.high) == pytest.approx((88 - 1.96 * 5, 88 + 1.96 * 5), rel=1e-3)
    mixed = areas_differ(second, NoisyCount.of_values([80], LAPLACE), null="rates")
    assert mixed.p_value == pytest.approx(2 * norm.sf(20 / (16 + 7.8364 + 180) ** 0.5), rel=1e-3)
    assert not mixed.is_exact


def test_measured_areas_by_key() -> None:
    noisy = NoisyCounts("cells", LAPLACE, np.array([4, 1, 9], dtype=np.uint64), np.array([10, -3, 8]))
    assert NoisyCount.of_area(noisy, [9, 1]) == NoisyCount.of_values([8, -3], LAPLACE)
    with pytest.raises(ParameterError, match="keys that were measured"):
        NoisyCount.of_area(noisy, [4, 5])
    with pytest.raises(ParameterError, match="each once"):
        NoisyCount.of_area(noisy, [4, 4])
    with pytest.raises(ParameterError, match="NoisyCounts"):
        NoisyCount.of_area([1, 2], [0])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"null": "equal"}, "'counts', 'rates', 'shares'"),
        ({"alternative": "more"}, "'two-sided'"),
        ({"significance": 0}, "from 1e-9 to 0.5"),
        ({"significance": True}, "from 1e-9 to 0.5"),
        ({"exposures": (1, 0)}, "two whole numbers"),
        ({"exposures": 3}, "two whole numbers"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], words: str) -> None:
    count = NoisyCount.of_values([1], LAPLACE)
    with pytest.raises(ParameterError, match=words):
        areas_differ(count, count, **arguments)
    with pytest.raises(ParameterError, match=words):
        area_changed(count, count, **arguments)


def test_what_is_no_count() -> None:
    with pytest.raises(ParameterError, match="a NoisyCount"):
        areas_differ(3, NoisyCount.of_values([1], LAPLACE))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="whole numbers"):
        NoisyCount.of_values([1.5], LAPLACE)
    with pytest.raises(ParameterError, match="above 0"):
        NoisyCount.of_estimate(3, 0)
    with pytest.raises(ParameterError, match="finite"):
        NoisyCount.of_estimate(float("nan"), 1)
    table = CountTable.from_dense(np.array([[5, 0]]))
    with pytest.raises(ParameterError, match="below the number of cells"):
        NoisyCount.of_refined(table, [2], 1.0)


def test_a_measured_difference_by_itself() -> None:
    """The halves of an area, as NN-Wavelet measures them: one number with noise of its own."""
    published = nn_wavelet(
        np.array([[900, 20], [15, 30]]), Budget(epsilon=3), entropy=ResearchEntropy(3), keep_measurements=True
    )
    assert published.measurements is not None
    halves = published.measurements[1]
    assert halves.name.startswith("halves")
    compared = areas_differ(NoisyCount.of_area(halves, halves.keys[:1]), NoisyCount.of_public(0))
    assert compared.is_exact
    assert compared.is_significant
    assert compared.low <= 900 + 20 - 15 - 30 <= compared.high
    assert areas_differ(NoisyCount.of_public(3), NoisyCount.of_public(3)).p_value == 1
    with pytest.raises(ParameterError, match="whole number"):
        NoisyCount.of_public(0.5)  # type: ignore[arg-type]


def test_all_cells_as_an_array() -> None:
    domain = Domain.of_shape((2, 2))
    noisy = NoisyCounts("cells", LAPLACE, np.array([3, 0, 1, 2], dtype=np.uint64), np.array([30, 0, 10, -20]))
    assert dense_values(noisy, domain).tolist() == [[0, 10], [-20, 30]]
    with pytest.raises(ParameterError, match="all 4 cells"):
        dense_values(NoisyCounts("cells", LAPLACE, noisy.keys[:3], noisy.values[:3]), domain)
    with pytest.raises(ParameterError, match="NoisyCounts"):
        dense_values(noisy.values, domain)  # type: ignore[arg-type]


def test_flat_tables_as_published() -> None:
    truth = np.array([[40, 0, 3], [70, 0, 2]])
    for kind, budget in ((laplace, Budget(epsilon=1)), (gaussian, Budget(rho=0.3))):
        published = kind(truth, budget, entropy=ResearchEntropy(6))
        dense = published.to_dense()
        first, second = NoisyCount.of_flat(published, [0, 1, 2]), NoisyCount.of_flat(published, [3, 4, 5])
        noise = published.event.measurements[0]
        assert first == NoisyCount.of_values(dense[0], noise)
        assert areas_differ(second, first).difference == dense[1].sum() - dense[0].sum()
        assert areas_differ(second, first).is_exact
        assert NoisyCount.of_refined(published, [3], 2.0).value == dense[1, 0]


def test_tables_that_are_not_as_drawn() -> None:
    truth, budget = np.array([[40, 0, 3], [70, 0, 2]]), Budget(epsilon=1)
    for published in (laplace(truth, budget, threshold=5), privelet(truth, budget), nn_wavelet(truth, budget)):
        with pytest.raises(ParameterError, match="of_refined"):
            NoisyCount.of_flat(published, [0])
