"""Samplers have the distribution they claim, and the tests would notice if they had not.

For each law: the sample passes, and the same sample is rejected as one of a scale 3 % larger or smaller, or shifted.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from sudare.noise import bernoulli_exp, discrete_gaussian, discrete_laplace, fair_coins, geometric, uniform_below
from tests.reference import naive
from tests.statistical.goodness import chi_square_rejects, histogram

pytestmark = pytest.mark.slow

DRAWS = 1 << 21
NARROW = [Fraction(1, 2), 1, 5, 20, 63]
WIDE = [64, 65, 1000, Fraction(10**7, 3), 10**9, 10**12]

Cumulative = Callable[[int], Any]


def laplace_law(scale: Fraction) -> Cumulative:
    return lambda x: naive.laplace_cumulative(scale, x)


def geometric_law(scale: Fraction) -> Cumulative:
    return lambda x: naive.geometric_cumulative(scale, x)


def gaussian_law(sigma: Fraction) -> Cumulative:
    """Sums for narrow laws. For wide ones the continuous integral to the midpoint, which differs by less than 1/(24 sigma^2)."""
    if sigma < 64 * Fraction(98, 100):
        return naive.GaussianCumulative(sigma**2)
    return lambda x: mpmath.ncdf((mpmath.mpf(x) + 0.5) / naive.number(sigma))


LAWS: list[tuple[Callable[[Any], Any], Callable[[Fraction], Cumulative], int]] = [
    (discrete_laplace, laplace_law, -1),
    (discrete_gaussian, gaussian_law, -1),
    (geometric, geometric_law, 0),
]


def edges_for(scale: Fraction, lowest: int) -> list[int]:
    """About 80 edges, closer together where the law changes faster; every value is a cell of its own for narrow laws."""
    reach = 8 * float(scale) + 4
    positive = np.unique(
        np.round(np.concatenate([np.linspace(0, reach / 4, 30), np.linspace(reach / 4, reach, 12)])).astype(np.int64)
    )
    edges = np.unique(np.concatenate([-positive, positive, positive + 1] if lowest < 0 else [positive, positive + 1]))
    return [int(edge) for edge in edges if edge > lowest or lowest < 0]


def probabilities(cumulative: Cumulative, edges: list[int]) -> NDArray[np.float64]:
    below = [mpmath.mpf(0), *(cumulative(edge - 1) for edge in edges), mpmath.mpf(1)]
    return np.array([float(b - a) for a, b in pairwise(below)])


@pytest.mark.parametrize("scale", [*NARROW, *WIDE], ids=str)
@pytest.mark.parametrize(("kind", "law", "lowest"), LAWS, ids=lambda value: getattr(value, "__name__", ""))
def test_distribution_with_negative_controls(kind: Any, law: Any, lowest: int, scale: Any) -> None:
    exact = Fraction(scale)
    values = kind(scale).draw(DRAWS)
    edges = edges_for(exact, lowest)
    with mpmath.workprec(120):
        claimed = probabilities(law(exact), edges)
        wider = probabilities(law(exact * Fraction(103, 100)), edges)
        narrower = probabilities(law(exact * Fraction(97, 100)), edges)
    assert not chi_square_rejects(histogram(values, edges), claimed)
    assert chi_square_rejects(histogram(values, edges), wider)
    assert chi_square_rejects(histogram(values, edges), narrower)
    shift = max(1, round(0.03 * float(exact)))
    assert chi_square_rejects(histogram(values + shift, edges), claimed)


@pytest.mark.parametrize("kind", [discrete_laplace, discrete_gaussian, geometric], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("scale", [10**6, 10**12])
def test_low_digits_of_wide_laws_are_uniform(kind: Any, scale: int) -> None:
    """The place within a step is the last bits; at such scales they are uniform far beyond what the sample can tell."""
    values = kind(scale).draw(DRAWS)
    uniform = np.full(256, 1 / 256)
    assert not chi_square_rejects(np.bincount(values & 255, minlength=256).astype(float), uniform)
    tilted = uniform * np.linspace(0.97, 1.03, 256)
    assert chi_square_rejects(np.bincount(values & 255, minlength=256).astype(float), tilted)


@pytest.mark.parametrize("scale", [3, 1000])
def test_neighbouring_draws_are_independent(scale: int) -> None:
    """The joint distribution of signs and size classes of consecutive draws is the product of the margins."""
    values = discrete_laplace(scale).draw(DRAWS)
    classes = np.searchsorted([-scale, 0, scale], values, side="right")
    joint = np.bincount(4 * classes[:-1:2] + classes[1::2], minlength=16).astype(float)
    with mpmath.workprec(120):
        margin = probabilities(laplace_law(Fraction(scale)), [-scale, 0, scale])
    assert not chi_square_rejects(joint, np.outer(margin, margin).ravel())
    overlapping = np.bincount(4 * classes[:-1] + np.maximum(classes[:-1], classes[1:]), minlength=16).astype(float)
    assert chi_square_rejects(overlapping, np.outer(margin, margin).ravel())


@pytest.mark.parametrize("exponent", [Fraction(1, 100), Fraction(1, 2), 3], ids=str)
def test_coins(exponent: Any) -> None:
    tosses = np.asarray(bernoulli_exp(exponent).draw(DRAWS))
    observed = np.array([tosses.sum(), (~tosses).sum()], dtype=float)

    def law(x: float) -> NDArray[np.float64]:
        chance = float(mpmath.exp(-x))
        return np.array([chance, 1 - chance])

    assert not chi_square_rejects(observed, law(float(exponent)))
    # An error of 3 % of the variance-stabilised distance: about sixty standard deviations.
    assert chi_square_rejects(observed, law(float(exponent) * 1.03 + 0.005))


def test_fair_coins() -> None:
    tosses = fair_coins(DRAWS)
    patterns = np.packbits(tosses)
    assert not chi_square_rejects(np.bincount(patterns, minlength=256).astype(float), np.full(256, 1 / 256))
    biased = tosses | (
        fair_coins(DRAWS) & fair_coins(DRAWS) & fair_coins(DRAWS) & fair_coins(DRAWS) & fair_coins(DRAWS)
    )
    assert chi_square_rejects(np.bincount(np.packbits(biased), minlength=256).astype(float), np.full(256, 1 / 256))


@pytest.mark.parametrize("bound", [6, 1000, 3 * 2**62], ids=str)
def test_uniform_below(bound: int) -> None:
    values = uniform_below(bound, DRAWS)
    cells = min(bound, 12)
    classes = np.array([int(v) * cells // bound for v in values[: 1 << 18]], dtype=np.int64)
    share = np.array([(-(-bound * (k + 1) // cells) - -(-bound * k // cells)) / bound for k in range(cells)])
    counts = np.bincount(classes, minlength=cells).astype(float)
    assert not chi_square_rejects(counts, share)
    tilted = share * np.linspace(0.94, 1.06, cells)
    assert chi_square_rejects(counts, tilted / tilted.sum())


def test_a_sampler_that_rounds_continuous_noise_is_rejected() -> None:
    """The classical mistake: rounding Laplace noise to whole numbers is not discrete Laplace noise."""
    rounded = np.rint(np.random.default_rng().laplace(scale=1, size=DRAWS)).astype(np.int64)
    edges = edges_for(Fraction(1), -1)
    with mpmath.workprec(120):
        assert chi_square_rejects(histogram(rounded, edges), probabilities(laplace_law(Fraction(1)), edges))
