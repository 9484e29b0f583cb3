"""Tails and quantiles agree with SciPy's over wide ranges, and with sums that are obvious."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from sudare.distributions import (
    chi_square_quantile,
    digamma,
    normal_probability,
    normal_quantile,
    normal_tail,
    poisson_quantiles,
    proportion_limits,
)


def test_normal_probabilities_keep_their_digits_in_both_tails() -> None:
    values = np.linspace(-37, 37, 2001)
    assert normal_probability(values) == pytest.approx(special.ndtr(values), rel=1e-12)
    assert normal_tail(values) == pytest.approx(special.ndtr(-values), rel=1e-12)
    assert normal_probability(np.zeros((2, 3))).tolist() == [[0.5] * 3] * 2


def test_normal_quantiles() -> None:
    chances = [*(10.0**-power for power in range(1, 300, 7)), *np.linspace(1e-6, 1 - 1e-6, 301).tolist()]
    found = [normal_quantile(chance) for chance in chances]
    assert found == pytest.approx(special.ndtri(chances), rel=1e-12, abs=1e-14)
    assert (normal_quantile(0.0), normal_quantile(1.0)) == (-math.inf, math.inf)


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 5, 7, 10, 31, 63, 64, 65, 66, 100, 999, 10_000, 100_000])
@pytest.mark.parametrize("chance", [0.99, 0.5, 0.05, 0.005, 1e-6, 1e-12, 1e-30, 1e-100, 1e-200, 1e-300])
def test_chi_square_quantiles(degrees: int, chance: float) -> None:
    assert chi_square_quantile(degrees, chance) == pytest.approx(special.chdtri(degrees, chance), rel=1e-12)


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 5, 10, 31, 66, 999, 10_000])
@pytest.mark.parametrize("rest", [1e-6, 1e-9, 1e-12])
def test_chi_square_quantiles_that_are_nearly_always_exceeded(degrees: int, rest: float) -> None:
    assert chi_square_quantile(degrees, 1 - rest) == pytest.approx(special.chdtri(degrees, 1 - rest), rel=1e-11)


def test_chi_square_quantiles_at_the_ends() -> None:
    assert (chi_square_quantile(3, 0.0), chi_square_quantile(3, 1.0)) == (math.inf, 0.0)
    smallest = 5e-324  # two degrees have a formula
    assert chi_square_quantile(2, smallest) == pytest.approx(-2 * math.log(smallest), rel=1e-12)


@pytest.mark.parametrize("trials", [1, 2, 3, 10, 37, 1000, 12_345, 10**6, 10**7])
@pytest.mark.parametrize("chance", [0.3, 0.025, 0.005, 1e-4, 1e-9])
def test_limits_of_a_proportion(trials: int, chance: float) -> None:
    drawn = np.random.default_rng(trials).integers(0, trials + 1, 60)
    hits = np.unique(np.clip([0, 1, 2, trials - 1, trials, *drawn], 0, trials))
    low, high = proportion_limits(hits, trials, chance)
    expected = np.where(hits == 0, 0.0, special.betaincinv(np.maximum(hits, 1), trials - hits + 1, chance))
    assert low == pytest.approx(expected, rel=3e-12)
    # From the other side, because 1 - chance has lost the digits of a small chance.
    others = np.where(hits == trials, 0.0, special.betaincinv(np.maximum(trials - hits, 1), hits + 1, chance))
    assert 1 - high == pytest.approx(others, rel=3e-12, abs=1e-15)
    assert proportion_limits(0, trials, chance)[1] == pytest.approx(-math.expm1(math.log(chance) / trials), rel=1e-12)


@given(st.integers(1, 60), st.floats(1e-6, 0.4), st.data())
def test_the_limits_have_the_tails_that_they_promise(trials: int, chance: float, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, trials))
    low, high = (float(limit) for limit in proportion_limits(hits, trials, chance))

    def from_to(first: int, last: int, p: float) -> float:
        return math.fsum(math.comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(first, last + 1))

    assert low == 0 if hits == 0 else from_to(hits, trials, low) == pytest.approx(chance, rel=1e-9)
    assert high == 1 if hits == trials else from_to(0, hits, high) == pytest.approx(chance, rel=1e-9)
    assert low <= hits / trials <= high


@pytest.mark.parametrize("mean", [0.0, 1e-3, 0.9, 1.0, 5.0, 15.99, 16.0, 100.5, 1234.5, 1e5, 9.9e5, 1.1e6, 1e8])
def test_poisson_quantiles(mean: float) -> None:
    chances = (np.random.default_rng(5).integers(0, 1 << 53, 400) + 0.5) * 2.0**-53
    chances = np.concatenate([chances, [2.0**-54, 1e-30]])
    found = poisson_quantiles(chances, np.full(chances.size, mean))
    assert found.tolist() == stats.poisson.ppf(chances, mean).tolist()


@pytest.mark.parametrize("mean", [0.9, 5.0, 15.99, 16.0, 1234.5, 1e5, 9.9e5])
def test_the_upper_tail_of_poisson_numbers(mean: float) -> None:
    """SciPy's quantile is one too low here: its distribution function has rounded to 1."""
    number = poisson_quantiles([1 - 2.0**-53], [mean]).item()
    assert special.pdtrc(number, mean) <= 2.0**-53 < special.pdtrc(number - 1, mean)


def test_poisson_quantiles_keep_the_shape() -> None:
    assert poisson_quantiles(np.full((2, 3), 0.5), np.full((2, 3), 4.0)).tolist() == [[4.0] * 3] * 2


@pytest.mark.parametrize("value", [1e-6, 0.01, 0.5, 1.0, 1.4616, 2.0, 9.99, 10.0, 123.4, 1e6, 1e12])
def test_digamma(value: float) -> None:
    assert digamma(value) == pytest.approx(special.digamma(value), rel=1e-13, abs=1e-14)
