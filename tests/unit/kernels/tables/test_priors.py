"""Learned priors: densities and posteriors against numerical integration, learning and projection against their laws."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.kernels.tables.priors import learn_weights, likelihood_of_spreads, posterior_of_mixture, project_children

RESIDUALS = [0.0, 0.3, -1.0, 7.0, -40.0, 600.0]
SPREADS = [0.02, 0.5, 1.0, 6.0, 200.0]
SCALES = [0.5, 1.0, 20.0]
SERIES = 2 * 105 / 12.0**8
"""Beyond 12 standard deviations the normal tail is a series, whose first term left out is 105 / x**8."""

NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)


def moments(residual: float, noise: Any, spread: float, scale: float) -> tuple[float, float, float]:
    """Logarithm of the density, and posterior mean and variance, of x normal around 0 and seen with noise: by quadrature.

    The pieces of the integral are as short as the narrowest thing within them: the two laws, and a normal one tilted by
    an exponential, which moves by spread**2 / scale.
    """
    steps = np.linspace(-40, 40, 161)
    shift = spread**2 / scale
    points: list[np.ndarray] = [
        spread * steps,
        shift + spread * steps,
        -shift + spread * steps,
        residual + scale * steps,
        np.array([0.0, residual]),
    ]
    ends = np.unique(np.concatenate(points))
    middle, half = (ends[1:] + ends[:-1]) / 2, (ends[1:] - ends[:-1]) / 2
    x = (middle[:, None] + half[:, None] * NODES).ravel()
    mass = (half[:, None] * WEIGHTS).ravel()
    logs = -0.5 * (x / spread) ** 2 - math.log(spread * math.sqrt(2 * math.pi)) + noise(residual - x)
    highest = float(logs.max())
    likely = np.exp(logs - highest) * mass
    total = float(likely.sum())
    mean = float((likely * x).sum()) / total
    return highest + math.log(total), mean, float((likely * (x - mean) ** 2).sum()) / total


def laplace_noise(scale: float) -> Any:
    return lambda y: -np.abs(y) / scale - math.log(2 * scale)


def normal_noise(variance: float) -> Any:
    return lambda y: -0.5 * y**2 / variance - 0.5 * math.log(2 * math.pi * variance)


def judged(
    residual: float, variance: float, spreads: list[float], weights: list[float], *, is_laplace: bool
) -> tuple[float, ...]:
    means, posteriors, priors = np.empty(1), np.empty(1), np.empty(1)
    evidence = posterior_of_mixture(
        *(np.array([residual]), np.array([variance]), np.array([spreads]), np.array([weights])),
        *(is_laplace, means, posteriors, priors),
    )
    return means.item(), posteriors.item(), priors.item(), float(evidence)


@pytest.mark.parametrize("is_laplace", [True, False])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("spread", SPREADS)
def test_one_component_against_quadrature(is_laplace: bool, scale: float, spread: float) -> None:
    variance = 2 * scale**2
    noise = laplace_noise(scale) if is_laplace else normal_noise(variance)
    for residual in RESIDUALS:
        log_density, mean, square = moments(residual, noise, spread, scale)
        out = np.empty((1, 1))
        likelihood_of_spreads(np.array([residual]), np.array([variance]), np.array([[spread]]), is_laplace, out)
        if log_density > -600:
            assert math.log(out.item()) == pytest.approx(log_density, abs=SERIES, rel=1e-9)
            got_mean, got_variance, _, evidence = judged(residual, variance, [spread], [1.0], is_laplace=is_laplace)
            assert evidence == pytest.approx(log_density, abs=SERIES, rel=1e-9)
            assert got_mean == pytest.approx(mean, rel=1e-6, abs=1e-6 * spread)
            most = 4 * variance  # a posterior is never taken to be vaguer
            # The series of the variance leaves out 518 / x**8, relative to 1 / x**2: 1.7e-4 at the worst.
            assert got_variance == pytest.approx(min(square, most), rel=2e-4, abs=1e-6 * min(variance, spread**2))
        else:
            assert out.item() < 1e-250


def test_no_departure_at_all_is_the_noise_itself() -> None:
    out = np.empty((1, 1))
    likelihood_of_spreads(np.array([3.0]), np.array([2.0]), np.array([[1e-9]]), True, out)
    assert out.item() == pytest.approx(math.exp(-3) / 2)
    assert judged(3.0, 2.0, [1e-9], [1.0], is_laplace=True)[0] == 0


@pytest.mark.parametrize("is_laplace", [True, False])
@pytest.mark.parametrize("residual", [0.0, 4.0, -30.0])
def test_a_mixture_is_the_mean_of_its_components(is_laplace: bool, residual: float) -> None:
    spreads, weights, scale = [0.1, 2.0, 30.0], [0.7, 0.2, 0.1], 1.5
    variance = 2 * scale**2
    noise = laplace_noise(scale) if is_laplace else normal_noise(variance)
    parts = [moments(residual, noise, spread, scale) for spread in spreads]
    shares = np.array([weight * math.exp(part[0]) for weight, part in zip(weights, parts, strict=True)])
    density, shares = shares.sum(), shares / shares.sum()
    means, variances = np.array([part[1] for part in parts]), np.array([part[2] for part in parts])
    mean = float(shares @ means)
    got = judged(residual, variance, spreads, weights, is_laplace=is_laplace)
    assert got[0] == pytest.approx(mean, rel=1e-7, abs=1e-9)
    assert got[1] == pytest.approx(min(float(shares @ (variances + means**2)) - mean**2, 4 * variance), rel=1e-5)
    # The one prior variance that stands for all is such that certainty adds up.
    assert 1 / (got[2] + variance) == pytest.approx(float(shares @ (1 / (np.array(spreads) ** 2 + variance))))
    assert got[3] == pytest.approx(math.log(density))


def test_a_count_beyond_everything_expected_keeps_its_measurement() -> None:
    mean, posterior, prior, _ = judged(1e6, 2.0, [0.1, 1.0], [0.5, 0.5], is_laplace=False)
    assert (mean, posterior) == (1e6, 2.0)
    assert prior >= 1e12


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("strength", [1e-3, 5.0])
def test_every_round_of_learning_raises_the_likelihood(seed: int, strength: float) -> None:
    """With what is believed counted as observations. At the end no component would gain from more weight."""
    generator = np.random.default_rng(seed)
    likelihood = generator.gamma(0.3, size=(40, 6)) + 1e-9
    occurrences = generator.integers(1, 9, size=40).astype(float)
    believed = generator.dirichlet(np.ones(6))

    def objective(weights: np.ndarray) -> float:
        return float(occurrences @ np.log(likelihood @ weights) + strength * (believed @ np.log(weights)))

    def learned(rounds: int) -> np.ndarray:
        weights = np.empty(6)
        learn_weights(likelihood, occurrences, rounds, believed, strength, weights)
        return weights

    scores = [objective(learned(rounds)) for rounds in range(13)]
    assert learned(0) == pytest.approx(believed)
    assert all(later >= earlier - 1e-9 for earlier, later in pairwise(scores))
    assert scores[-1] > scores[0]
    weights = learned(20_000)
    assert weights.sum() == pytest.approx(1)
    gains = likelihood.T @ (occurrences / (likelihood @ weights)) + strength * believed / np.maximum(weights, 1e-300)
    assert gains == pytest.approx(np.full(6, occurrences.sum() + strength), rel=1e-2)
    assert objective(weights) > objective(np.roll(weights, 1))


def test_observations_that_no_component_explains_teach_nothing() -> None:
    likelihood, weights = np.array([[0.0, 0.0], [1.0, 0.0]]), np.empty(2)
    learn_weights(likelihood, np.array([5.0, 3.0]), 4, np.array([0.5, 0.5]), 1.0, weights)
    assert np.isfinite(weights).all()
    assert weights.sum() == pytest.approx(1)
    assert weights[0] > 0.8


def projected(values: Any, variances: Any, parents: Any, words: Any = None) -> np.ndarray:
    out = np.empty(np.shape(values), dtype=np.int64)
    ties = np.zeros(len(out), dtype=np.uint64) if words is None else np.array(words, dtype=np.uint64)
    project_children(
        np.array(values, dtype=float), np.array(variances, dtype=float), np.array(parents, dtype=np.int64), ties, out
    )
    return out


def naive_projection(values: np.ndarray, variances: np.ndarray, parent: int) -> np.ndarray:
    """The level by bisection; then rounding down, and one more for the largest remainders."""
    takes = variances >= 0

    def at(theta: float) -> np.ndarray:
        return np.where(takes, np.maximum(values - theta * variances, 0), 0)

    low, high = -1e7, 1e7
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle).sum() > parent else (low, middle)
    real = at(high)
    whole = np.floor(real).astype(np.int64)
    remainders = np.where(real > 0, real - whole, -1)
    for best in np.argsort(-remainders, kind="stable")[: parent - int(whole.sum())]:
        whole[best] += 1
    return np.asarray(whole)


@settings(max_examples=120)
@given(seed=st.integers(0, 10**6), fan=st.integers(1, 9), parent=st.integers(1, 300), equal=st.booleans())
def test_projection_against_bisection(seed: int, fan: int, parent: int, equal: bool) -> None:
    generator = np.random.default_rng(seed)
    values = generator.normal(parent / fan, 30, size=fan)
    variances = np.full(fan, 5.0) if equal else generator.uniform(0.1, 9, size=fan)
    variances[1:][generator.random(fan - 1) < 0.3] = -1
    got = projected([values], [variances], [parent])[0]
    assert got.tolist() == naive_projection(values, variances, parent).tolist()


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6))
def test_projection_is_nearest_in_standard_deviations(seed: int) -> None:
    """No other point of a small grid with the same sum is nearer than the rounding of the nearest may be."""
    generator = np.random.default_rng(seed)
    values, variances, parent = generator.normal(2, 4, size=3), generator.uniform(0.5, 4, size=3), 6

    def distance(point: np.ndarray) -> float:
        return float(((point - values) ** 2 / variances).sum())

    everywhere = [np.array([a, b, parent - a - b]) for a in range(parent + 1) for b in range(parent + 1 - a)]
    real = naive_real(values, variances, parent)
    assert all(distance(real) <= distance(point) + 1e-6 for point in everywhere)
    assert np.abs(projected([values], [variances], [parent])[0] - real).max() < 1


def naive_real(values: np.ndarray, variances: np.ndarray, parent: int) -> np.ndarray:
    low, high = -1e7, 1e7
    for _ in range(200):
        middle = (low + high) / 2
        over = np.maximum(values - middle * variances, 0).sum() > parent
        low, high = (middle, high) if over else (low, middle)
    return np.asarray(np.maximum(values - high * variances, 0))


@settings(max_examples=150)
@given(data=st.data())
def test_projection_adds_up_whatever_it_is_given(data: st.DataObject) -> None:
    """Huge counts, huge and tiny variances, estimates far from the parent, children without cells, empty parents."""
    fan = data.draw(st.integers(1, 6))
    size = st.one_of(st.floats(-1e4, 1e4), st.floats(-(2.0**62), 2.0**62))
    values = data.draw(st.lists(size, min_size=fan, max_size=fan))
    variances = data.draw(
        st.lists(st.one_of(st.just(-1.0), st.floats(1e-9, 1e12)), min_size=fan, max_size=fan).filter(
            lambda listed: max(listed) >= 0
        )
    )
    parent = data.draw(st.one_of(st.integers(0, 100), st.integers(0, 2**62)))
    out = projected([values], [variances], [parent])[0]
    assert sum(out.tolist()) == parent
    assert out.min() >= 0
    assert not out[np.array(variances) < 0].any()


def test_rows_do_not_meet() -> None:
    generator = np.random.default_rng(3)
    values, variances = generator.normal(10, 20, size=(50, 4)), generator.uniform(0.1, 5, size=(50, 4))
    parents = generator.integers(0, 100, size=50)
    together = projected(values, variances, parents)
    for row in range(50):
        assert together[row].tolist() == projected([values[row]], [variances[row]], [parents[row]])[0].tolist()


@pytest.mark.parametrize("absent", [[], [3], [0, 2]])
def test_no_place_among_equal_children_is_preferred(absent: list[int]) -> None:
    """Over all turns, every child with cells gets the same; a word of 0 starts at the first."""
    variances = np.ones(4)
    variances[absent] = -1
    there = 4 - len(absent)
    for parent in range(1, 9):
        sums = np.sum([projected([[5.0] * 4], [variances], [parent], [word])[0] for word in range(there)], axis=0)
        assert sums.tolist() == [parent if variance >= 0 else 0 for variance in variances]
