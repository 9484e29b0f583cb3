"""Whether a reference is believed: by all places together, at any noise, and not because other explanations are poor."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from sudare.refine.learning.priors import PARENT_EDGES, SAMPLE, STRENGTH, evidence_of_counts
from sudare.refine.learning.trust import MIN_EVIDENCE, MIN_NODES, LevelEvidence, departures_if_trusted
from sudare.refine.trees import WORTHWHILE

FAN = 16
DEVIATION = 200.0


def level(seed: int, *, deviation: float = DEVIATION, is_laplace: bool = True, families: int = 150) -> LevelEvidence:
    """Families of 16 places, two of which are inhabited, and a reference of last year."""
    generator = np.random.default_rng(seed)
    counts = np.zeros((families, FAN))
    for row in counts:
        row[generator.choice(FAN, 2, replace=False)] = generator.gamma(1.5, 80, size=2)
    last_year = counts * generator.lognormal(0, 0.1, size=counts.shape)
    noise = generator.laplace(0, deviation / np.sqrt(2), counts.shape)
    if not is_laplace:
        noise = generator.normal(0, deviation, counts.shape)
    parents = np.repeat(np.rint(counts.sum(axis=1) * generator.lognormal(0, 0.2, families)) + 1, FAN)
    shares = (last_year / last_year.sum(axis=1, keepdims=True)).ravel()
    values = (counts + noise).ravel()
    return LevelEvidence(
        values, np.full(values.size, deviation**2), parents, parents * shares, parents / FAN, is_laplace
    )


def moved(good: LevelEvidence, by: int) -> LevelEvidence:
    """The reference is right about every parent, and wrong about its children."""
    return replace(good, expected=np.roll(good.expected.reshape(-1, FAN), by, axis=1).ravel())


def gain(evidence: LevelEvidence) -> float:
    return min(evidence.gains(evidence.departures_from(evidence.expected)))


@pytest.mark.parametrize("is_laplace", [True, False])
def test_a_good_reference_is_believed_where_every_place_is_drowned_in_noise(is_laplace: bool) -> None:
    """The control: for each place it adds less than half of what children need to tell of their parents."""
    good = level(1, is_laplace=is_laplace)
    assert np.quantile(good.expected[good.expected > 0], 0.9) < 2 * DEVIATION
    assert MIN_EVIDENCE < gain(good) < 0.5 * WORTHWHILE * good.values.size
    assert departures_if_trusted(good, is_trusted_above=False) is not None


@pytest.mark.parametrize("deviation", [1.0, DEVIATION])
def test_a_reference_that_is_wrong_within_parents_is_not_believed_even_if_it_is_above(deviation: float) -> None:
    good = level(3, deviation=deviation, families=100 if deviation < 9 else 250)
    assert departures_if_trusted(good, is_trusted_above=True) is not None
    for by in (1, 5):
        assert departures_if_trusted(moved(good, by), is_trusted_above=True) is None
    assert departures_if_trusted(replace(good, expected=good.evenly), is_trusted_above=True) is None


def test_poor_explanations_do_not_make_a_reference_good() -> None:
    """People in one child of three quarters of the parents: neither even nor nobody, but of a law that parents' counts tell.

    A reference that knows of more people in half of the places, a third of them rightly, explains the counts better than
    these two do: it is rejected by the law of counts alone.
    """
    generator = np.random.default_rng(5)
    counts = np.zeros((400, FAN))
    counts[np.arange(400), generator.integers(0, FAN, 400)] = 3000 * (generator.random(400) < 0.75)
    guess = np.where(counts > 0, generator.random(counts.shape) < 0.67, generator.random(counts.shape) < 0.5) + 0.3
    values = (counts + generator.laplace(0, 100, counts.shape)).ravel()
    parents = np.full(values.size, 3000.0)
    expected = parents * (guess / guess.sum(axis=1, keepdims=True)).ravel()
    poor = LevelEvidence(values, np.full(values.size, 2e4), parents, expected, parents / FAN, is_laplace=True)
    any_law, evenly, _ = poor.gains(poor.departures_from(poor.expected))
    assert any_law < -50
    assert any_law < evenly
    assert departures_if_trusted(poor, is_trusted_above=False) is None


def test_what_is_believed_above_needs_less_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    good = level(1)
    for gained, above, wanted in ((1.0, False, False), (1.0, True, True), (-1.0, True, False), (3.5, False, True)):
        monkeypatch.setattr(LevelEvidence, "gains", lambda *_, value=gained: iter([value + 9, value]))
        assert (departures_if_trusted(good, is_trusted_above=above) is not None) == wanted


def first(evidence: LevelEvidence, places: int) -> LevelEvidence:
    """What the first places of a level tell."""
    arrays = {name: array[:places] for name, array in vars(evidence).items() if name != "is_laplace"}
    return replace(evidence, **arrays)


def test_few_places_decide_nothing() -> None:
    good = level(1, deviation=1.0)
    for places in (0, MIN_NODES - 1):
        assert departures_if_trusted(first(good, places), is_trusted_above=True) is None


def naive_evidence(values: np.ndarray, deviation: float, parents: np.ndarray) -> float:
    """Under Gaussian noise, from the definition: filled steps, pooled weights, and weights of each class drawn to them."""
    highest = max(values.max(), 16 * deviation)
    steps = [0.5 * deviation * i for i in range(12)]
    steps += [6 * deviation * (highest / (6 * deviation)) ** (i / 27) for i in range(28)]
    widths = [0.0] + [(b - a) / 2 for a, b in pairwise(steps)]

    def densities(value: float) -> np.ndarray:
        whole = deviation**2 + np.square(widths)
        return np.asarray(np.exp(-0.5 * (value - np.array(steps)) ** 2 / whole) / np.sqrt(2 * np.pi * whole))

    def learned(rows: np.ndarray, believed: np.ndarray, strength: float) -> np.ndarray:
        weights = believed
        for _ in range(60):
            shares = rows * weights
            shares = (shares / shares.sum(axis=1, keepdims=True)).sum(axis=0) + strength * believed
            weights = shares / (len(rows) + strength)
        return weights

    likelihood = np.array([densities(value) for value in values])
    pooled = learned(likelihood, np.full(40, 1 / 40), 0.04)
    kinds = [sum(parent / deviation >= edge for edge in PARENT_EDGES) for parent in parents]
    weights = {kind: learned(likelihood[np.array(kinds) == kind], pooled, STRENGTH) for kind in set(kinds)}
    return float(np.mean([np.log(row @ weights[kind]) for row, kind in zip(likelihood, kinds, strict=True)]))


@pytest.mark.parametrize("seed", range(2))
def test_evidence_of_counts_is_its_naive_twins(seed: int) -> None:
    generator = np.random.default_rng(seed)
    counts = generator.gamma(0.3, 300, size=400)
    values, parents = counts + generator.normal(0, 20, 400), generator.choice([1.0, 30.0, 500.0, 5000.0], 400)
    found = evidence_of_counts(values, np.full(400, 400.0), parents, is_laplace=False)
    assert found == pytest.approx(naive_evidence(values, 20.0, parents), rel=1e-9)


def test_evidence_of_counts_is_learned_from_a_sample_at_most() -> None:
    generator = np.random.default_rng(1)
    values = generator.laplace(50, 20, 3 * SAMPLE)
    given = values, np.full(values.size, 800.0), np.full(values.size, 900.0)
    every = slice(None, None, 3)
    whole, third = (evidence_of_counts(*some, is_laplace=True) for some in (given, tuple(one[every] for one in given)))
    assert whole == third
