"""Randomizers by their reports: the law is the matrix, epsilon holds, half the noise is caught, intervals cover."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from sudare.attacks import audit_epsilon
from sudare.collect import KaryResponse, LocalHashing, MatrixResponse, Randomizer, Retention, UnaryResponse
from tests.statistical.goodness import ERROR_PROBABILITY, chi_square_rejects

pytestmark = pytest.mark.slow

DRAWS = 400_000


def as_numbers(reports: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Bits as the number they write, values as they are."""
    if reports.dtype == np.uint8:
        return np.asarray(reports @ (1 << 8 * np.arange(reports.shape[1])))
    return reports


LISTED: list[Any] = [
    KaryResponse(range(16), 1),
    KaryResponse(range(3), 4),
    Retention(range(7), 0.3),
    MatrixResponse(range(3), [[0.5, 0.3, 0.2], [0.25, 0.5, 0.25], [0.1, 0.2, 0.7]]),
    UnaryResponse(range(5), 1),
    UnaryResponse(range(5), 1, "symmetric"),
    UnaryResponse(range(9), 3),
]


@pytest.mark.parametrize("randomizer", LISTED, ids=lambda r: f"{r.kind}-{len(r.labels)}")
def test_reports_follow_the_matrix(randomizer: Any) -> None:
    matrix = randomizer.transition().probabilities()
    for value in (0, len(randomizer.labels) - 1):
        reports = as_numbers(randomizer.randomize(np.full(DRAWS, value)))
        counts = np.bincount(reports, minlength=matrix.shape[1]).astype(float)
        assert not chi_square_rejects(counts, matrix[value])
        assert chi_square_rejects(counts, matrix[1]), "the row of another value must not fit"


def test_reports_of_neighbours_are_independent() -> None:
    """Words and lanes are shared by neighbours in an array; their reports must not be."""
    for randomizer in (UnaryResponse(range(3), 1), UnaryResponse(range(3), 1, "symmetric"), KaryResponse(range(8), 1)):
        reports = as_numbers(randomizer.randomize(np.zeros(2 * DRAWS, dtype=np.int64))).reshape(-1, 2)
        counts = np.bincount(reports[:, 0].astype(int) * 8 + reports[:, 1].astype(int), minlength=64).astype(float)
        row = randomizer.transition().probabilities()[0]
        assert not chi_square_rejects(counts, np.outer(row, row).ravel())
        same = np.bincount(reports[:, 0].astype(int) * 9, minlength=64).astype(float)
        assert chi_square_rejects(same, np.outer(row, row).ravel()), "copies must be noticed"


def test_supports_of_hashes_follow_their_probabilities() -> None:
    randomizer = LocalHashing(range(30), 1.5)
    counts, people = randomizer.count(randomizer.randomize(np.full(DRAWS, 4)))
    for value in range(30):
        chance = float(randomizer.truth_support() if value == 4 else randomizer.other_support())
        observed = np.array([counts[value], people - counts[value]], dtype=float)
        assert not chi_square_rejects(observed, np.array([chance, 1 - chance]))
    wrong = float(randomizer.other_support())
    assert chi_square_rejects(np.array([counts[4], people - counts[4]], dtype=float), np.array([wrong, 1 - wrong]))


def hash_agreement(randomizer: LocalHashing, value: int) -> np.ndarray[Any, Any]:
    """What tells the values 0 and 1 apart best: which of them the report supports."""
    reports = randomizer.randomize(np.full(DRAWS, value))
    hashes = [randomizer._hashes(reports[:, 0].copy(), np.full(DRAWS, v)) for v in (0, 1)]
    zero, one = (h == reports[:, 1].astype(np.int64) for h in hashes)
    return np.asarray(2 * zero.astype(np.int64) + one)


def two_bits(randomizer: Randomizer, value: int) -> np.ndarray[Any, Any]:
    return np.asarray(as_numbers(randomizer.randomize(np.full(DRAWS, value))) & 3)


def as_reported(randomizer: Randomizer, value: int) -> np.ndarray[Any, Any]:
    return np.asarray(randomizer.randomize(np.full(DRAWS, value)))


AUDITED: list[tuple[Any, Any, Callable[[Any, int], np.ndarray[Any, Any]]]] = [
    (KaryResponse(range(8), 1), KaryResponse(range(8), 2), as_reported),
    (Retention(range(2), 0.5), Retention(range(2), 0.8), as_reported),
    (
        MatrixResponse(range(2), [[0.75, 0.25], [0.4, 0.6]]),
        MatrixResponse(range(2), [[0.9, 0.1], [0.1, 0.9]]),
        as_reported,
    ),
    (UnaryResponse(range(20), 1), UnaryResponse(range(20), 2), two_bits),
    (UnaryResponse(range(20), 1, "symmetric"), UnaryResponse(range(20), 2, "symmetric"), two_bits),
    (LocalHashing(range(20), 1), LocalHashing(range(20), 2), hash_agreement),
]


@pytest.mark.parametrize(("randomizer", "half_the_noise", "seen"), AUDITED, ids=lambda x: getattr(x, "kind", ""))
def test_epsilon_holds_and_half_the_noise_is_caught(randomizer: Any, half_the_noise: Any, seen: Any) -> None:
    claim = float(randomizer.epsilon())
    audit = audit_epsilon(seen(randomizer, 0), seen(randomizer, 1), error_probability=ERROR_PROBABILITY)
    assert not audit.refutes(claim)
    assert audit.lower_bound > 0.8 * claim, "the audit comes near enough to mean something"
    broken = audit_epsilon(seen(half_the_noise, 0), seen(half_the_noise, 1), error_probability=ERROR_PROBABILITY)
    assert broken.refutes(claim)


RUNS, PEOPLE, LEVEL = 300, 4000, 0.9
SURVEYED: list[Any] = [
    KaryResponse(range(5), 1),
    Retention(range(5), 0.3),
    MatrixResponse(range(3), [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8]]),
    UnaryResponse(range(5), 1),
    UnaryResponse(range(5), 1, "symmetric"),
    LocalHashing(range(5), 1),
]


@pytest.mark.parametrize("randomizer", SURVEYED, ids=lambda r: r.kind)
def test_estimates_are_unbiased_and_intervals_cover(randomizer: Any) -> None:
    values = len(randomizer.labels)
    truths = np.minimum(np.arange(PEOPLE) % (values + 3), values - 1)
    numbers = np.bincount(truths, minlength=values)
    estimates = [randomizer.estimate(randomizer.randomize(truths)) for _ in range(RUNS)]
    found = np.stack([estimate.unbiased for estimate in estimates])
    spread = found.std(axis=0, ddof=1)
    # Six standard errors of the mean; and the truth is not found by chance, a bias of a tenth of the spread would show.
    assert (np.abs(found.mean(axis=0) - numbers) < 6.2 * spread / np.sqrt(RUNS)).all()
    stated = np.sqrt(np.mean([estimate.variances for estimate in estimates], axis=0))
    assert spread == pytest.approx(stated, rel=0.25)
    covered = np.sum([_holds(estimate, numbers, LEVEL) for estimate in estimates], axis=0)
    low, high = binom.ppf(ERROR_PROBABILITY, RUNS, LEVEL), binom.isf(ERROR_PROBABILITY, RUNS, LEVEL)
    assert ((low <= covered) & (covered <= high)).all(), covered
    # Intervals of half the length cover 59 %: they must fail.
    halved = np.sum([_holds(estimate, numbers, LEVEL, 0.5) for estimate in estimates], axis=0)
    assert (halved < low).all()


def _holds(estimate: Any, numbers: np.ndarray[Any, Any], level: float, scale: float = 1.0) -> np.ndarray[Any, Any]:
    low, high = estimate.intervals(level)
    middle, reach = (low + high) / 2, (high - low) / 2 * scale
    return np.asarray(np.abs(numbers - middle) <= reach)
