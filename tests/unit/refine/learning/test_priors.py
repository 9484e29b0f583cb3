"""Learned priors: what is learned from noisy counts alone makes them more accurate, and leaves the unlike ones alone."""

from __future__ import annotations

import numpy as np
import pytest

from sudare.refine.learning.priors import MIN_PLACES, learn_departures
from tests.reference.naive_trees import learn_occupancy

SCALE = 8.0
VARIANCE = 2 * SCALE**2


def noise(generator: np.random.Generator, size: int, *, is_laplace: bool) -> np.ndarray:
    return generator.laplace(0, SCALE, size) if is_laplace else generator.normal(0, np.sqrt(VARIANCE), size)


def naive_posterior_means(values: np.ndarray, *, is_laplace: bool, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """Expectation maximisation on a fine grid, each value by itself: posterior means, and probabilities of 0."""
    grid = np.concatenate([np.arange(0, 60, 0.2), np.geomspace(60, 400, 60)]) * SCALE / 8
    distance = values[:, None] - grid
    likelihood = np.exp(-np.abs(distance) / SCALE) if is_laplace else np.exp(-0.5 * distance**2 / VARIANCE)
    weights = np.full(grid.size, 1 / grid.size)
    for _ in range(rounds):
        shares = likelihood * weights
        weights = (shares / shares.sum(axis=1, keepdims=True)).mean(axis=0)
    shares = likelihood * weights
    shares /= shares.sum(axis=1, keepdims=True)
    return shares @ grid, shares[:, 0]


@pytest.mark.parametrize("is_laplace", [True, False])
@pytest.mark.parametrize("empty", [0.5, 0.9])
def test_occupancy_comes_near_to_a_finer_twin_and_nearer_to_the_truth(is_laplace: bool, empty: float) -> None:
    generator = np.random.default_rng(1)
    truth = np.where(generator.random(3000) < empty, 0, generator.integers(20, 120, size=3000)).astype(float)
    values = truth + noise(generator, 3000, is_laplace=is_laplace)
    classes = np.zeros(3000, dtype=np.int64)
    means, variances, occupied = learn_occupancy(values, VARIANCE, classes, is_laplace=is_laplace)
    twin, zero = naive_posterior_means(values, is_laplace=is_laplace, rounds=60)

    def distance(one: np.ndarray, other: np.ndarray) -> float:
        return float(np.sqrt(((one - other) ** 2).mean()))

    assert distance(means, twin) < 0.25 * distance(values, twin)
    assert distance(means, truth) < 0.95 * distance(values, truth)
    assert distance(means, truth) < 1.05 * distance(twin, truth)
    # The twin's grid is finer next to 0, and divides the probability of 0 among more values; so both are cut at a half.
    assert ((occupied > 0.5) == (truth > 0)).mean() > 0.85
    assert abs(occupied.mean() - (truth > 0).mean()) < 0.15
    assert np.corrcoef(occupied, 1 - zero)[0, 1] > 0.9
    assert (variances > 0).all()


def test_classes_learn_by_themselves() -> None:
    """Empty places in one class, inhabited ones in the other: the same noisy count means other things."""
    generator = np.random.default_rng(2)
    classes = np.repeat([0, 1], 1000)
    truth = np.where(classes == 0, 0.0, 25.0)
    values = truth + noise(generator, 2000, is_laplace=True)
    values[[0, 1000]] = 12.0
    means, _, occupied = learn_occupancy(values, VARIANCE, classes, is_laplace=True)
    assert means[0] < 6 < 18 < means[1000]
    assert occupied[0] < 0.5 < occupied[1000]
    together = learn_occupancy(values, VARIANCE, np.zeros(2000, dtype=np.int64), is_laplace=True)[0]
    assert together[0] == together[1000]


def test_few_places_and_large_counts_keep_their_measurements() -> None:
    generator = np.random.default_rng(3)
    classes = np.zeros(500, dtype=np.int64)
    classes[: MIN_PLACES - 1] = 1
    values = noise(generator, 500, is_laplace=True)
    values[-5:] = [1e4, -1e4, 41 * SCALE, 1e12, 3e18]
    means, variances, occupied = learn_occupancy(values, VARIANCE, classes, is_laplace=True)
    for kept in (slice(0, MIN_PLACES - 1), slice(-5, None)):
        assert (means[kept] == values[kept]).all()
        assert (variances[kept] == VARIANCE).all()
        assert (occupied[kept] == 1).all()
    assert (means[MIN_PLACES - 1 : -5] != values[MIN_PLACES - 1 : -5]).any()


def test_nothing_to_learn_from() -> None:
    results = learn_occupancy(np.empty(0), VARIANCE, np.empty(0, dtype=np.int64), is_laplace=True)
    assert [result.size for result in results] == [0, 0, 0]


@pytest.mark.parametrize("is_laplace", [True, False])
@pytest.mark.parametrize("exponent", [0.5, 1.0])
def test_departures_grow_with_the_expected_count_as_they_do(is_laplace: bool, exponent: float) -> None:
    generator = np.random.default_rng(4)
    expected = generator.gamma(0.5, 4000, size=4000)
    spread = 0.2 * expected if exponent == 1 else 3 * np.sqrt(expected)
    truth = np.maximum(expected + generator.normal(0, spread), 0)
    values, variances = truth + noise(generator, 4000, is_laplace=is_laplace), np.full(4000, VARIANCE)
    learned = learn_departures(values, variances, expected, is_laplace=is_laplace)
    assert abs(learned.exponent - exponent) <= 0.25
    assert learned.weights.sum(axis=1) == pytest.approx(np.ones(len(learned.weights)))
    posterior = learned.judge(values, variances, expected)
    errors = [np.abs(one - truth) for one in (posterior.values, values, expected)]
    assert np.sqrt((errors[0] ** 2).mean()) < np.sqrt((errors[1] ** 2).mean())
    assert errors[0].mean() < 0.97 * min(errors[1].mean(), errors[2].mean())
    # The stated variances are right on the whole.
    assert 0.7 < float((errors[0] ** 2).mean() / posterior.variances.mean()) < 1.4
    assert (posterior.variances <= 4 * VARIANCE * (1 + 1e-9)).all()


@pytest.mark.parametrize("is_laplace", [True, False])
def test_the_right_expectation_has_more_evidence_than_a_shuffled_one(is_laplace: bool) -> None:
    generator = np.random.default_rng(5)
    expected = generator.gamma(0.5, 400, size=1500)
    values = expected * generator.normal(1, 0.1, size=1500) + noise(generator, 1500, is_laplace=is_laplace)
    variances = np.full(1500, VARIANCE)
    right, wrong = (
        learn_departures(values, variances, guess, is_laplace=is_laplace).evidence
        for guess in (expected, generator.permutation(expected))
    )
    assert right > wrong + 0.3


def test_a_place_unlike_the_others_keeps_its_measurement() -> None:
    generator = np.random.default_rng(6)
    expected = np.full(1000, 50.0)
    values = expected + noise(generator, 1000, is_laplace=True)
    values[0] = 5000.0
    variances = np.full(1000, VARIANCE)
    posterior = learn_departures(values, variances, expected, is_laplace=True).judge(values, variances, expected)
    assert abs(posterior.values[0] - 5000) < 3 * SCALE
    assert np.abs(posterior.values[1:] - 50).mean() < 0.3 * np.abs(values[1:] - 50).mean()
    assert posterior.spreads[0] > 100 * np.median(posterior.spreads[1:])


def test_judging_in_parts_is_judging_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(7)
    expected = generator.gamma(0.5, 400, size=700)
    values, variances = expected + noise(generator, 700, is_laplace=True), np.full(700, VARIANCE)
    learned = learn_departures(values, variances, expected, is_laplace=True)
    whole = learned.judge(values, variances, expected)
    monkeypatch.setattr("sudare.refine.learning.priors.AT_ONCE", 64)
    parts = learned.judge(values, variances, expected)
    assert (whole.values == parts.values).all()
    assert (whole.variances == parts.variances).all()
    assert (whole.spreads == parts.spreads).all()
