"""Rates of false alarms of tests on published tables: at most the stated one, near it, and far above it without the noise.

Limits are exact binomial quantiles. Sizes by enumeration are in ``tests/unit/evaluate/significance``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from sudare import Budget, add_noise
from sudare.evaluate.significance import LawOfSum, NoisyCount, Term, area_changed, areas_differ, find_hot_spots
from sudare.evaluate.significance.hot_spots import _window_sums
from sudare.evaluate.significance.laws import law_of_noise
from sudare.privacy.measurements import Measurement
from tests.statistical.goodness import ERROR_PROBABILITY

pytestmark = pytest.mark.slow

BUDGETS: dict[str, Any] = {"laplace": Budget(epsilon=0.2), "gaussian": Budget(epsilon=1, delta=1e-6)}


def most_alarms(runs: int, level: float) -> int:
    """More would contradict a chance of the level."""
    return int(binom.isf(ERROR_PROBABILITY, runs, level))


def fewest_alarms(runs: int, level: float) -> int:
    """Fewer would contradict a chance of the level."""
    return int(binom.ppf(ERROR_PROBABILITY, runs, level))


def released(truth: np.ndarray, kind: Any) -> tuple[np.ndarray, Measurement]:
    noisy, event = add_noise(truth, BUDGETS[kind], noise=kind)
    return noisy, event.measurements[0]


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_equal_counts(kind: str) -> None:
    """Areas of three and two cells in two releases: nothing changed."""
    runs, level = 4000, 0.05
    before, noise = released(np.full((runs, 3), 25), kind)
    after, _ = released(np.full((runs, 3), 25), kind)
    alarms = sum(
        area_changed(NoisyCount.of_values(old, noise), NoisyCount.of_values(new, noise)).is_significant
        for old, new in zip(before, after, strict=True)
    )
    assert fewest_alarms(runs, 0.04) <= alarms <= most_alarms(runs, level)
    unaware = int((before.sum(axis=1) != after.sum(axis=1)).sum())
    assert unaware > 0.9 * runs, "whoever takes published counts for true ones sees a change nearly everywhere"


@pytest.mark.parametrize("rate", [3, 400])
def test_equal_rates(rate: float) -> None:
    """Poisson counts with the same mean, and Laplace noise on both."""
    runs, level = 60, 0.05
    counts = np.random.default_rng(17).poisson(rate, (runs, 2))
    noisy, noise = released(counts, "laplace")
    alarms = by_noise_alone = unaware = 0
    for one, other in noisy:
        first, second = NoisyCount.of_values([one], noise), NoisyCount.of_values([other], noise)
        alarms += areas_differ(first, second, null="rates", significance=level).is_significant
        by_noise_alone += areas_differ(first, second, significance=level).is_significant
        unaware += abs(one - other) > 1.96 * max(one + other, 1) ** 0.5
    assert alarms <= most_alarms(runs, level)
    if rate == 3:
        assert unaware > most_alarms(runs, level), "Poisson tests that forget the noise"
    else:
        assert by_noise_alone > most_alarms(runs, level), "tests of the noise that forget that counts vary"


@pytest.mark.deep
@pytest.mark.parametrize(("rates", "exposures"), [((4, 4), (1, 1)), ((200, 200), (1, 1)), ((30, 90), (1, 3))])
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_equal_rates_at_length(rates: tuple[int, int], exposures: tuple[int, int], kind: str) -> None:
    runs, level = 1000, 0.05
    counts = np.random.default_rng(23).poisson(rates, (runs, 2))
    noisy, noise = released(counts, kind)
    alarms = sum(
        areas_differ(
            NoisyCount.of_values([one], noise), NoisyCount.of_values([other], noise), null="rates", exposures=exposures
        ).is_significant
        for one, other in noisy
    )
    assert fewest_alarms(runs, 0.01) <= alarms <= most_alarms(runs, level)


@pytest.mark.deep
def test_equal_shares_at_length() -> None:
    runs, level, people = 1000, 0.05, (400, 700)
    counts = np.random.default_rng(29).binomial(people, 0.3, (runs, 2))
    noisy, noise = released(counts, "laplace")
    alarms = sum(
        areas_differ(
            NoisyCount.of_values([one], noise), NoisyCount.of_values([other], noise), null="shares", exposures=people
        ).is_significant
        for one, other in noisy
    )
    assert fewest_alarms(runs, 0.01) <= alarms <= most_alarms(runs, level)


@pytest.mark.parametrize("kind", ["laplace", pytest.param("gaussian", marks=pytest.mark.deep)])
def test_no_hot_spot_anywhere(kind: str) -> None:
    """Whole maps without a hot spot: one chance of a false alarm for all windows together."""
    runs, level, sides = 250, 0.1, (1, 2, 4)
    alarms = unadjusted = 0
    for run in range(runs):
        noisy, noise = released(np.full((12, 12), 40), kind)
        alarms += bool(
            find_hot_spots(noisy, noise, expected=40, sides=sides, simulations=39, significance=level, seed=run).found
        )
        tails = [
            LawOfSum((Term(law_of_noise(noise), times=side**2),)).at_least(_window_sums(noisy - 40.0, side)).min()
            for side in sides
        ]
        unadjusted += min(tails) <= level
    assert 0 < fewest_alarms(runs, level) <= alarms <= most_alarms(runs, level)
    assert unadjusted > 0.99 * runs, "nearly every map has a window that stands out by itself"


def test_bonferroni_keeps_the_level() -> None:
    runs, level = 400, 0.1
    alarms = 0
    for _ in range(runs):
        noisy, noise = released(np.zeros((16, 16), dtype=np.int64), "laplace")
        spots = find_hot_spots(noisy, noise, sides=(1, 4), calibration="bonferroni", significance=level)
        alarms += bool(spots.found)
    assert fewest_alarms(runs, 0.06) <= alarms <= most_alarms(runs, level)


@pytest.mark.deep
def test_no_hot_spot_where_counts_vary() -> None:
    runs, level = 300, 0.1
    generator = np.random.default_rng(31)
    expected = np.linspace(2, 60, 144).reshape(12, 12)
    alarms = 0
    for run in range(runs):
        noisy, noise = released(generator.poisson(expected), "laplace")
        spots = find_hot_spots(
            noisy, noise, expected=expected, varies=True, sides=(1, 3), simulations=39, significance=level, seed=run
        )
        alarms += bool(spots.found)
    assert fewest_alarms(runs, level) <= alarms <= most_alarms(runs, level)
