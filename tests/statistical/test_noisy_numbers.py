"""Reports of noisy numbers and of mean randomizers: their laws, their epsilon, and the intervals of their estimates.

Every test has a control that must fail, or a twin with half the noise that must be caught.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from sudare.attacks import audit_epsilon
from sudare.collect.randomizers.means import OneBit, Piecewise
from sudare.collect.randomizers.noisy_numbers import BoundedNoise, NumberRandomizer, UnboundedNoise
from sudare.collect.randomizers.randomizer import Randomizer
from sudare.collect.transitions.bins import grouped, laplace_bins
from sudare.collect.transitions.grids import Grid
from sudare.noise import secure_entropy
from tests.statistical.goodness import ERROR_PROBABILITY, chi_square_rejects

pytestmark = pytest.mark.slow

DRAWS = 400_000
GRID = Grid(0, 12, 1)
NOISES: list[NumberRandomizer] = [
    BoundedNoise(GRID, 4, base, method) for base in ("laplace", "normal") for method in ("inverse", "rejection")
]
ALL: list[Randomizer] = [
    *NOISES,
    BoundedNoise(Grid(0, 1, Fraction(1, 2000)), Fraction(1, 2)),
    UnboundedNoise(GRID, 6),
    UnboundedNoise(GRID, 30, "normal"),
    OneBit(GRID, 1.5),
    Piecewise(GRID, 1.5),
]


def counts(randomizer: Any, place: int, draws: int = DRAWS) -> np.ndarray:
    transition = randomizer.transition()
    reports = transition.draw(np.full(draws, place), secure_entropy())
    return np.bincount(reports, minlength=transition.reports).astype(float)


@pytest.mark.parametrize("randomizer", ALL)
def test_reports_have_the_stated_law(randomizer: Any) -> None:
    for place in (0, 5, randomizer.grid.last):
        row = randomizer.transition().backward(np.eye(randomizer.transition().reports))[:, place]
        observed = counts(randomizer, place)
        assert not chi_square_rejects(observed, row)
        bent = row * (0.75 + 0.5 * np.cumsum(row))
        assert chi_square_rejects(observed, bent / bent.sum())


@pytest.mark.parametrize("base", ["laplace", "normal"])
def test_both_methods_have_the_same_law(base: Any) -> None:
    """A two-sample test, with more noise as the control."""
    inverse, rejection = (counts(BoundedNoise(GRID, 4, base, method), 2) for method in ("inverse", "rejection"))
    other = counts(BoundedNoise(GRID, Fraction(9, 2), base), 2, 4 * DRAWS)

    def differ(one: np.ndarray, two: np.ndarray) -> bool:
        pooled = (one + two) / (one + two).sum()
        # Each sample is nearer to the pool than to the truth, so this test errs on the side of agreement.
        return chi_square_rejects(one, pooled) or chi_square_rejects(two, pooled)

    assert not differ(inverse, rejection)
    assert differ(inverse, other)


@pytest.mark.parametrize(
    ("randomizer", "broken"),
    [
        (BoundedNoise(GRID, 8), BoundedNoise(GRID, 4)),
        (BoundedNoise(GRID, 8, method="rejection"), BoundedNoise(GRID, 4, method="rejection")),
        (BoundedNoise(GRID, 10, "normal"), BoundedNoise(GRID, 5, "normal")),
        (UnboundedNoise(GRID, 8), UnboundedNoise(GRID, 4)),
        (OneBit(GRID, 1), OneBit(GRID, 2)),
        (Piecewise(GRID, 1), Piecewise(GRID, 2)),
    ],
)
def test_audits_refute_half_the_noise_only(randomizer: Any, broken: Any) -> None:
    def outputs(of: Any, value: int) -> np.ndarray:
        return np.asarray(of.randomize(np.full(DRAWS, value), secure_entropy()), dtype=np.int64)

    claimed = float(randomizer.epsilon())
    honest = audit_epsilon(outputs(randomizer, 0), outputs(randomizer, 12), error_probability=ERROR_PROBABILITY)
    assert not honest.refutes(claimed)
    assert honest.lower_bound > claimed / 2
    caught = audit_epsilon(outputs(broken, 0), outputs(broken, 12), error_probability=ERROR_PROBABILITY)
    assert caught.refutes(claimed)


@pytest.mark.parametrize(
    "randomizer",
    [
        BoundedNoise(GRID, 3),
        UnboundedNoise(GRID, 6),
        UnboundedNoise(GRID, 6, "normal"),
        OneBit(GRID, 2),
        Piecewise(GRID, 2),
    ],
)
def test_intervals_of_means_cover(randomizer: Any) -> None:
    """At least as often as they say, for numbers that are fixed; intervals of a tenth the width do not."""
    values = np.repeat([0, 2, 3, 11, 12], 400)
    runs = 1500
    covered = narrow = 0
    total = 0.0
    for _ in range(runs):
        estimate = randomizer.estimate_mean(randomizer.randomize(values, secure_entropy()))
        low, high = estimate.interval(0.9)
        covered += low <= values.mean() <= high
        narrow += abs(estimate.mean - values.mean()) <= (high - low) / 20
        total += estimate.mean
    fewest = binom.ppf(ERROR_PROBABILITY, runs, 0.885)  # the normal law is near, not exact, for 2,000 reports
    assert covered >= fewest
    assert narrow < fewest
    error = float(np.sqrt(estimate.standard_error**2 / runs))
    assert abs(total / runs - values.mean()) < 6.2 * error


@pytest.mark.parametrize(
    "randomizer", [BoundedNoise(Grid(0, 3, 1), 1), UnboundedNoise(Grid(0, 3, 1), 1), Piecewise(Grid(0, 3, 1), 3)]
)
def test_intervals_of_counts_cover(randomizer: Any) -> None:
    values = np.repeat([0, 1, 3], [500, 1000, 500])
    truth, runs = np.bincount(values, minlength=4), 1000
    covered = np.zeros(4)
    sums = np.zeros(4)
    for _ in range(runs):
        estimate = randomizer.estimate(randomizer.randomize(values, secure_entropy()))
        low, high = estimate.intervals(0.9)
        covered += (low <= truth) & (truth <= high)
        sums += estimate.unbiased
    assert (covered >= binom.ppf(ERROR_PROBABILITY, runs, 0.885)).all()
    assert (covered <= binom.ppf(1 - ERROR_PROBABILITY, runs, 0.915)).all()
    assert (np.abs(sums / runs - truth) < 6.5 * estimate.standard_errors / np.sqrt(runs)).all()


def test_binned_reports_follow_the_continuous_matrix() -> None:
    """True values spread evenly inside their bins, on a fine grid; a wrong scale is told apart."""
    cells = 500
    grid = Grid(Fraction(1, 2 * cells), 4 - Fraction(1, 2 * cells), Fraction(1, cells))
    noise = BoundedNoise(grid, 2)
    places = np.tile(np.arange(cells), DRAWS // cells)
    reports = noise.transition().draw(places, secure_entropy())
    observed = np.bincount(reports // cells, minlength=4).astype(float)
    assert not chi_square_rejects(observed, laplace_bins(range(5), 2).probabilities()[0])
    assert not chi_square_rejects(observed, grouped(noise.transition(), [0, 500, 1000, 1500]).probabilities()[0])
    assert chi_square_rejects(observed, laplace_bins(range(5), 2.2).probabilities()[0])
