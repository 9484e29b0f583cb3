"""Pk-anonymity: k from rates, randomizers for a wanted k, and the paper's theorems by brute force."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from sudare.collect import KaryResponse, Randomizer, Retention
from sudare.collect.estimation.pk import (
    NumberAttribute,
    kept_for_rate,
    noise_for_k,
    pk_of,
    randomize_table,
    rate_for_k,
    scale_for_rate,
)
from sudare.collect.randomizers.noisy_numbers import BoundedNoise, UnboundedNoise
from sudare.collect.transitions.grids import Grid
from sudare.errors import GuaranteeError, ParameterError
from sudare.noise import ResearchEntropy


def linking_probability(matrix: np.ndarray, values: tuple[int, ...], reports: tuple[int, ...]) -> float:
    """How likely it is that the first person gave the first report, if the rows were shuffled and all values are known."""
    people = range(len(values))
    weights = {order: math.prod(matrix[values[i], reports[order[i]]] for i in people) for order in permutations(people)}
    return float(sum(w for order, w in weights.items() if order[0] == 0) / sum(weights.values()))


@pytest.mark.parametrize("people", [2, 3])
@pytest.mark.parametrize(
    "randomizer",
    [
        Retention(("a", "b", "c"), Fraction(2, 5)),
        BoundedNoise(Grid(0, 2, 1), 2),
        BoundedNoise(Grid(0, 2, 1), 2, "normal"),
    ],
)
def test_nobody_is_linked_with_more_than_one_over_k(people: int, randomizer: Randomizer) -> None:
    """Over all tables of values and of reports: at most 1/k, and somebody reaches it."""
    matrix = randomizer.transition().probabilities()
    worst = max(
        linking_probability(matrix, values, reports)
        for values in product(range(3), repeat=people)
        for reports in product(range(3), repeat=people)
    )
    assert worst == pytest.approx(1 / float(pk_of(people, [randomizer])), rel=1e-12)


def test_one_over_k_itself_can_be_reached() -> None:
    """The paper's introduction says 'not with probability 1/k or more'; what holds is 'not with more than 1/k'."""
    matrix = np.full((2, 2), 0.5)  # reports that say nothing: rate 1, k = the number of records
    assert linking_probability(matrix, (0, 1, 1), (0, 1, 0)) == pytest.approx(1 / 3)


def test_rates_of_several_attributes_multiply() -> None:
    one, other = Retention(("a", "b"), Fraction(1, 2)), KaryResponse((1, 2, 3), 1)
    pairs = np.kron(one.transition().probabilities(), other.transition().probabilities())
    ratios = pairs[:, None, :] / pairs[None, :, :]
    rate = float((ratios.min(axis=2) / ratios.max(axis=2)).min())
    assert float(pk_of(101, [one, other])) == pytest.approx(1 + 100 * rate)
    assert pk_of(101, {"a": one, "b": other}) == pk_of(101, [one, other])


def test_pk_of_known_rates() -> None:
    coins = Retention(("yes", "no"), Fraction(1, 2))
    assert pk_of(901, [coins]) == 101
    assert pk_of(10, [coins, UnboundedNoise(Grid(0, 1, 1), 1, "normal")]) == 1
    assert pk_of(2, [BoundedNoise(Grid(0, 10, 1), 5)]) < 1 + Fraction(math.exp(-4)) * (1 + Fraction(1, 10**12))


# Theorems 3.1, 5.1 and 5.2, lemma 5.1 and section 5.3.


def laplace_density(x: float, scale: float) -> float:
    return math.exp(-abs(x) / scale) / (2 * scale)


def normal_density(x: float, scale: float) -> float:
    return math.exp(-(x**2) / (2 * scale**2)) / (scale * math.sqrt(2 * math.pi))


def cauchy_density(x: float, scale: float) -> float:
    return scale / (math.pi * (x**2 + scale**2))


def triangle_density(x: float, scale: float) -> float:
    return max(0.0, 1 - abs(x) / (3 * scale)) / (3 * scale)


DENSITIES: list[Any] = [laplace_density, normal_density, cauchy_density, triangle_density]


def cross_ratio(density: Any, scale: float, values: np.ndarray, reports: np.ndarray) -> float:
    """The smallest A[v, u'] A[u, v'] / (A[u, u'] A[v, v']); the factors that bound the noise cancel."""
    matrix = np.array([[density(r - v, scale) for r in reports] for v in values])
    ratios = matrix[:, None, :] / matrix[None, :, :]
    return float((ratios.min(axis=2) / ratios.max(axis=2)).min())


@pytest.mark.parametrize("density", DENSITIES)
@pytest.mark.parametrize("scale", [0.5, 1.0, 4.0])
def test_theorem_5_1_by_brute_force(density: Any, scale: float) -> None:
    """On a grid with both ends the rate is (f(b - a) / f(0))**2, also for noise that is not log-concave."""
    points = np.linspace(2.0, 3.0, 21)
    assert cross_ratio(density, scale, points, points) == pytest.approx(
        (density(1.0, scale) / density(0.0, scale)) ** 2
    )


@pytest.mark.parametrize("density", DENSITIES[:3])
def test_theorem_5_2_bounded_noise_is_never_less_anonymous(density: Any) -> None:
    """Reports beyond the range can only tell more."""
    points, anywhere = np.linspace(0, 1, 11), np.linspace(-3, 4, 71)
    bounded, free = (cross_ratio(density, 0.7, points, reports) for reports in (points, anywhere))
    assert bounded >= free * (1 - 1e-12)
    if density is laplace_density:
        assert bounded == pytest.approx(free)
    else:
        assert bounded > 1.5 * free


def test_theorem_5_2_on_grids() -> None:
    for base in ("laplace", "normal"):
        for scale in (1, 5, 40):
            grid = Grid(0, 10, 1)
            bounded = BoundedNoise(grid, scale, base).anonymity_rate()
            assert bounded >= UnboundedNoise(grid, scale, base).anonymity_rate()
    assert BoundedNoise(grid, 5).anonymity_rate() == UnboundedNoise(grid, 5).anonymity_rate()


def test_theorem_3_1_means_the_scale_not_the_variance() -> None:
    """exp(-2 (b - a) / sigma) belongs to scale sigma; with variance sigma**2 the scale is sigma / sqrt(2)."""
    points, anywhere, sigma = np.linspace(0, 1, 6), np.linspace(-5, 6, 56), 0.8
    assert cross_ratio(laplace_density, sigma, points, anywhere) == pytest.approx(math.exp(-2 / sigma))
    of_that_variance = cross_ratio(laplace_density, sigma / math.sqrt(2), points, anywhere)
    assert of_that_variance == pytest.approx(math.exp(-2 * math.sqrt(2) / sigma))
    assert of_that_variance < 0.5 * math.exp(-2 / sigma)


def test_theorem_5_1_means_an_even_density() -> None:
    """f(x) = -f(-x) >= 0 leaves only f = 0; without symmetry the formula fails."""
    points = np.linspace(0, 1, 11)

    def lopsided(x: float, scale: float) -> float:
        return math.exp(-x / scale) if x >= 0 else math.exp(4 * x / scale)

    assert cross_ratio(lopsided, 1.0, points, points) < 0.2 * lopsided(1.0, 1.0) ** 2


def test_theorem_5_1_needs_continuity_at_both_ends() -> None:
    """The essential infimum does not see single points: noise that is even on (-1, 1) and 0 from there on tells nothing."""
    inner = np.linspace(0.01, 0.99, 50)

    def even(x: float, scale: float) -> float:
        return 0.5 if abs(x) < 1 else 0.0

    assert (even(1.0, 1) / even(0.0, 1)) ** 2 == 0  # what the formula says
    assert cross_ratio(even, 1, inner, inner) == 1  # almost everywhere


def test_minimum_in_the_proof_of_theorem_5_1() -> None:
    """f(c - v) / alpha_v is the least, not the largest, density of a report."""
    v, reports = 0.3, np.linspace(0, 1, 101)
    densities = [laplace_density(r - v, 0.5) for r in reports]
    assert laplace_density(1 - v, 0.5) == pytest.approx(min(densities))
    assert laplace_density(1 - v, 0.5) < max(densities)


def share_inside(v: float, scale: float, low: float = 0.0, high: float = 1.0) -> float:
    value, _ = quad(lambda x: laplace_density(x - v, scale), low, high, points=[v])
    return float(value)


def test_lemma_5_1_speaks_of_the_noise() -> None:
    """f / alpha_v is a density on [a - v, b - v], where the noise is; on [a, b] it does not add up to 1."""
    v, scale = 0.8, 0.4
    of_noise, _ = quad(lambda x: laplace_density(x, scale) / share_inside(v, scale), -v, 1 - v, points=[0])
    of_values, _ = quad(lambda x: laplace_density(x, scale) / share_inside(v, scale), 0, 1)
    assert of_noise == pytest.approx(1)
    assert of_values != pytest.approx(1, abs=0.1)


def test_exponents_in_the_proof_of_lemma_5_1() -> None:
    """After at most i redraws the density is f(v') times the sum of (1 - alpha)**r for r = 0 ... i."""
    alpha, density = 0.3, 0.2
    right = printed = density
    for i in range(1, 200):
        right += (1 - alpha) ** i * density
        printed += (1 - alpha) ** (i - 1) * density
    assert right == pytest.approx(density / alpha)
    assert printed == pytest.approx(density + density / alpha)


def test_redraws_are_many_where_alpha_is_small() -> None:
    """Section 5.3 says large; the expected number of draws is 1 / alpha."""
    wide, narrow = share_inside(0.5, 20.0), share_inside(0.5, 0.05)
    assert wide < 0.05 < 0.95 < narrow
    assert 1 / wide > 20 > 1.1 > 1 / narrow


def test_alpha_of_section_5_3() -> None:
    """The exponent is negative, and there is no f(x) in front of it."""
    v, scale = 0.3, 0.6
    closed = 1 - math.exp(-v / scale) / 2 - math.exp(-(1 - v) / scale) / 2
    assert share_inside(v, scale) == pytest.approx(closed)
    printed, _ = quad(lambda x: math.exp(abs(x - v) / scale) / (2 * scale), 0, 1, points=[v])
    assert printed != pytest.approx(closed, rel=0.5)


def test_inverse_of_section_5_3_gives_the_report_itself() -> None:
    """Its formula already adds v; adding v once more leaves the range."""
    v, scale = 0.7, 0.5
    alpha = share_inside(v, scale)

    def inverse(x: float) -> float:
        below = math.exp(-v / scale)
        if x < (1 - below) / (2 * alpha):
            return scale * math.log(2 * alpha * x + below) + v
        return -scale * math.log(2 - 2 * alpha * x - below) + v

    for x in (0.0, 0.2, 0.7, 1.0):
        cumulative, _ = quad(lambda r: laplace_density(r - v, scale) / alpha, 0, inverse(x), points=[v])
        assert cumulative == pytest.approx(x, abs=1e-9)
    assert v + inverse(0.9) > 1


# Randomizers for a wanted k.


@given(
    st.integers(3, 10**9),
    st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=10**6),
    st.sampled_from(["laplace", "normal"]),
)
@settings(max_examples=60, deadline=None)
def test_the_wanted_k_is_reached_and_hardly_exceeded(records: int, part: Fraction, base: Any) -> None:
    k = 1 + (records - 1) * part
    attributes: dict[str, Any] = {"number": NumberAttribute(Grid(0, 50, 1), base), "sex": ("f", "m"), "code": range(20)}
    try:
        plan = noise_for_k(records, k, attributes)
    except GuaranteeError:
        assert part > Fraction(9, 10)
        return
    assert plan.k == pk_of(records, plan.randomizers) >= k
    assert float((plan.k - 1) / (k - 1)) == pytest.approx(1, abs=1e-4)


@given(st.fractions(Fraction(1, 10**9), Fraction(999_999, 10**6)), st.integers(2, 1000))
@settings(max_examples=100)
def test_kept_is_the_largest_with_thirty_digits(rate: Fraction, values: int) -> None:
    def rate_of(kept: Fraction) -> Fraction:
        return ((1 - kept) / (1 - kept + values * kept)) ** 2

    try:
        kept = kept_for_rate(values, rate)
    except GuaranteeError:
        assert rate_of(Fraction(1, 1 << 30)) < rate
        return
    assert rate_of(kept) >= rate
    assert kept + Fraction(1, 1 << 30) == 1 or rate_of(kept + Fraction(1, 1 << 30)) < rate
    assert Retention(range(values), kept).anonymity_rate() == rate_of(kept)


@given(st.fractions(Fraction(1, 10**9), Fraction(999_999, 10**6)), st.sampled_from(["laplace", "normal"]))
@settings(max_examples=100)
def test_scale_is_the_smallest_with_fifteen_digits(rate: Fraction, base: Any) -> None:
    scale = scale_for_rate(10, rate, base)
    grid = Grid(0, 10, 1)
    assert BoundedNoise(grid, scale, base).anonymity_rate() >= rate
    assert BoundedNoise(grid, scale * (1 - Fraction(2, 10**14)), base).anonymity_rate() < rate
    closed = 2 * 10 / math.log(1 / rate) if base == "laplace" else 10 / math.sqrt(math.log(1 / rate))
    assert float(scale) == pytest.approx(closed, rel=1e-9)


def test_weights_move_noise_from_one_attribute_to_another() -> None:
    attributes = {"age": Grid(0, 100, 1), "income": Grid(0, 100, 1)}
    even = noise_for_k(1000, 10, attributes)
    tilted = noise_for_k(1000, 10, attributes, {"age": 3, "income": 1})
    scales = {name: float(one.scale) for name, one in tilted.randomizers.items() if isinstance(one, BoundedNoise)}
    assert scales["income"] == pytest.approx(3 * scales["age"], rel=1e-9)
    assert float(tilted.k) == pytest.approx(float(even.k), rel=1e-9)


def test_rate_for_k() -> None:
    assert rate_for_k(1001, 11) == Fraction(1, 100)
    for records, k in ((10, 1), (10, 10), (10, 0.5), (10, float("nan")), (1, 1.5), (2.5, 2)):
        with pytest.raises(ParameterError):
            rate_for_k(records, k)  # type: ignore[arg-type]


def test_impossible_arguments() -> None:
    with pytest.raises(ParameterError, match="attributes"):
        noise_for_k(100, 5, {})
    with pytest.raises(ParameterError, match="weights"):
        noise_for_k(100, 5, {"a": ("x", "y")}, {"b": 1})
    with pytest.raises(ParameterError, match="weights"):
        noise_for_k(100, 5, {"a": ("x", "y")}, {"a": 0})
    with pytest.raises(ParameterError, match="labels"):
        noise_for_k(100, 5, {"a": ("x",)})
    for rate in (0, 1, 2, float("inf")):
        with pytest.raises(ParameterError, match="rate"):
            scale_for_rate(1, rate)
        with pytest.raises(ParameterError, match="rate"):
            kept_for_rate(2, rate)
    with pytest.raises(ParameterError, match="span"):
        scale_for_rate(0, 0.5)
    with pytest.raises(ParameterError, match="base"):
        scale_for_rate(1, 0.5, "cauchy")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="randomizers"):
        pk_of(10, [])
    with pytest.raises(GuaranteeError, match="kept"):
        kept_for_rate(2, Fraction(10**12 - 1, 10**12))


def test_randomize_table() -> None:
    plan = noise_for_k(1000, 20, {"age": Grid(0, 100, 1), "sex": ("f", "m")})
    columns = {"age": np.arange(50), "sex": np.array(["f", "m"] * 25)}
    table, event = randomize_table(columns, plan.randomizers, ResearchEntropy(5))
    source = ResearchEntropy(5)
    assert table["age"].tolist() == plan.randomizers["age"].randomize(columns["age"], source).tolist()
    assert table["sex"].tolist() == plan.randomizers["sex"].randomize(columns["sex"], source).tolist()
    epsilon = sum(one.event(source).cost.epsilon for one in plan.randomizers.values())
    assert event.cost.epsilon == epsilon
    assert not event.is_private
    # All rates here are exp(-2 epsilon), so k and epsilon say the same.
    assert float(plan.k) == pytest.approx(1 + 999 * math.exp(-2 * float(epsilon)), rel=1e-6)


def test_a_table_with_normal_noise_is_charged_in_rho() -> None:
    randomizers = {"x": UnboundedNoise(Grid(0, 10, 1), 10, "normal"), "y": Retention((0, 1), Fraction(1, 2))}
    _, event = randomize_table({"x": [1, 2], "y": [0, 1]}, randomizers, ResearchEntropy(1))
    assert float(event.cost.rho) == pytest.approx(0.5 + math.log(3) ** 2 / 2)


def test_tables_that_do_not_fit() -> None:
    randomizers = {"x": Retention((0, 1), Fraction(1, 2))}
    source = ResearchEntropy(1)
    with pytest.raises(ParameterError, match="a mismatch: name"):
        randomize_table({"x": [0], "name": ["Ann"]}, randomizers, source)
    with pytest.raises(ParameterError, match="same length"):
        randomize_table({"x": [0], "y": [0, 1]}, {**randomizers, "y": randomizers["x"]}, source)
    with pytest.raises(ParameterError, match="same length"):
        randomize_table({"x": [[0]]}, randomizers, source)
    with pytest.raises(ParameterError, match="columns"):
        randomize_table({}, {}, source)
    with pytest.raises(ParameterError, match="randomizers"):
        randomize_table({"x": [0]}, {"x": 3}, source)  # type: ignore[dict-item]
    with pytest.raises(ParameterError, match="one of 0, 1"):
        randomize_table({"x": [2]}, randomizers, source)
