"""Matrices between bins: every entry against quadrature, the paper's equations as printed and as they should be."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from sudare.collect import KaryResponse, UniformTransition
from sudare.collect.randomizers.noisy_numbers import BoundedNoise
from sudare.collect.transitions.bins import grouped, laplace_bins, normal_bins
from sudare.collect.transitions.grids import Grid
from sudare.collect.transitions.real_transition import RealTransition
from sudare.errors import GuaranteeError, ParameterError
from sudare.noise import ResearchEntropy

MAKERS: dict[str, Callable[..., RealTransition]] = {"laplace": laplace_bins, "normal": normal_bins}
UNEVEN = [0.0, 0.7, 1.1, 2.0, 3.0]
SCALES = [1e8, 3.0, 0.1]


def mass(base: str, low: Any, high: Any, v: Any, sigma: Any) -> Any:
    """The probability that v plus noise without bounds falls between low and high, to many digits."""
    low, high = (low - v) / sigma, (high - v) / sigma
    if base == "normal":
        return (mpmath.erfc(low / mpmath.sqrt(2)) - mpmath.erfc(high / mpmath.sqrt(2))) / 2
    if low >= 0:
        return (mpmath.exp(-low) - mpmath.exp(-high)) / 2
    if high <= 0:
        return (mpmath.exp(high) - mpmath.exp(low)) / 2
    return 1 - mpmath.exp(-high) / 2 - mpmath.exp(low) / 2


def exact_entry(base: str, edges: Any, sigma: float, cuts: list[Any], j: int) -> Any:
    """The mean over the true values between the cuts of the probability of bin j."""
    first, last, low, high = (mpmath.mpf(edges[k]) for k in (0, -1, j, j + 1))
    width = mpmath.mpf(sigma)

    def integrand(v: Any) -> Any:
        return mass(base, low, high, v, width) / mass(base, first, last, v, width)

    return mpmath.quad(integrand, cuts) / (cuts[-1] - cuts[0])


@pytest.mark.parametrize(
    ("base", "scale"),
    [
        *(("laplace", scale) for scale in SCALES),
        pytest.param("normal", 3.0, marks=pytest.mark.slow),
        *(pytest.param("normal", scale, marks=pytest.mark.deep) for scale in (1e8, 0.1)),
    ],
)
def test_every_entry_against_thirty_digits(base: str, scale: float) -> None:
    matrix = MAKERS[base](UNEVEN, scale, 3).probabilities()
    with mpmath.workdps(30):
        for i in range(4):
            ends = [
                mpmath.mpf(UNEVEN[i]) + (mpmath.mpf(UNEVEN[i + 1]) - mpmath.mpf(UNEVEN[i])) * k / 3 for k in range(4)
            ]
            for j in range(4):
                true = exact_entry(base, UNEVEN, scale, ends, j)
                assert abs(mpmath.mpf(float(matrix[i, j])) - true) < 1e-13
                if base == "laplace":
                    assert abs(mpmath.mpf(float(matrix[i, j])) / true - 1) < 1e-12


@pytest.mark.parametrize("base", MAKERS)
@pytest.mark.parametrize("scale", [50.0, 7.0, 1.5])
def test_every_entry_against_scipy(base: str, scale: float) -> None:
    """Equal bins, with the density written down as the paper defines it."""
    edges = np.linspace(-5, 5, 9)
    matrix = MAKERS[base](edges, scale, 2).probabilities()

    def cumulative(x: float) -> float:
        if base == "laplace":
            return math.exp(x) / 2 if x < 0 else 1 - math.exp(-x) / 2
        return math.erfc(-x / math.sqrt(2)) / 2

    def into(v: float, j: int) -> float:
        at = [cumulative((edge - v) / scale) for edge in (edges[j], edges[j + 1], -5.0, 5.0)]
        return (at[1] - at[0]) / (at[3] - at[2])

    for i in range(8):
        for j in range(8):
            true, _ = quad(into, edges[i], edges[i + 1], args=(j,), epsabs=1e-13, epsrel=1e-13)
            assert matrix[i, j] == pytest.approx(true / (edges[i + 1] - edges[i]), abs=2e-12)


@pytest.mark.parametrize("base", MAKERS)
@given(
    st.lists(st.floats(0.01, 1.0), min_size=2, max_size=8),
    st.floats(-3.9, 7.0),
    st.integers(1, 5),
)
@settings(max_examples=20, deadline=None)
def test_rows_add_up_to_one_and_mirror_images_agree(base: str, widths: list[float], power: float, finer: int) -> None:
    edges = np.concatenate([[0.0], np.cumsum(widths)])
    scale = float(edges[-1]) * 10.0**power  # of the range; below 1/10,000 of it normal noise is refused
    matrix = MAKERS[base](edges, scale, finer).probabilities()
    assert np.abs(matrix.sum(axis=1) - 1).max() < 1e-12
    mirrored = MAKERS[base](edges[-1] - edges[::-1], scale, finer).probabilities()[::-1, ::-1]
    assert np.abs(matrix - mirrored).max() < 1e-11


@pytest.mark.parametrize("scale", [1e-9, 1e-6, 1e-3, 1.0, 1e3, 1e9])
def test_laplace_for_all_scales(scale: float) -> None:
    """Nothing overflows, nothing cancels: hundreds of bins, from no noise to nothing but noise."""
    matrix = laplace_bins(np.linspace(0, 1, 301), scale, 4).probabilities()
    assert np.isfinite(matrix).all()
    assert np.abs(matrix.sum(axis=1) - 1).max() < 1e-12
    if scale <= 1e-6:
        assert matrix[150, 150] > 0.99
    if scale >= 1e3:
        assert np.abs(matrix - 1 / 300).max() < 1e-5


@pytest.mark.parametrize("base", MAKERS)
def test_finer_parts_change_nothing_where_values_are_spread_evenly(base: str) -> None:
    coarse, fine = (MAKERS[base](UNEVEN, 0.8, finer).probabilities() for finer in (1, 16))
    assert np.abs(coarse - fine).max() < 1e-13


@pytest.mark.parametrize("base", MAKERS)
def test_shares_of_the_parts(base: str) -> None:
    """A part with all the weight is a bin of its own."""
    shares = np.zeros((4, 3))
    shares[:, 1] = 1
    matrix = MAKERS[base](UNEVEN, 0.8, 3, shares).probabilities()
    with mpmath.workdps(30):
        for i in range(4):
            low, high = mpmath.mpf(UNEVEN[i]), mpmath.mpf(UNEVEN[i + 1])
            cuts = [low + (high - low) / 3, low + 2 * (high - low) / 3]
            for j in range(4):
                assert float(matrix[i, j]) == pytest.approx(float(exact_entry(base, UNEVEN, 0.8, cuts, j)), abs=1e-13)


@pytest.mark.parametrize("base", MAKERS)
def test_even_and_uneven_bins_take_different_ways_to_the_same_matrix(base: str) -> None:
    edges = np.linspace(0, 7, 15)
    bent = edges.copy()
    bent[3] += 1e-9
    for scale in (100.0, 2.0, 0.05):
        assert (
            np.abs(MAKERS[base](edges, scale, 2).probabilities() - MAKERS[base](bent, scale, 2).probabilities()).max()
            < 1e-6
        )


@pytest.mark.parametrize("base", MAKERS)
def test_grids_come_nearer_to_the_continuous_matrix(base: Any) -> None:
    """Points in the middle of small cells: the difference falls with the square of the step."""
    edges = [0.0, 1.0, 2.0, 3.0, 4.0]
    continuous = MAKERS[base](edges, 1.5).probabilities()
    errors = []
    for cells in (10, 20, 40):
        step = Fraction(1, cells)
        noise = BoundedNoise(Grid(step / 2, 4 - step / 2, step), Fraction(3, 2), base)
        binned = grouped(noise.transition(), [0, cells, 2 * cells, 3 * cells])
        errors.append(np.abs(binned.probabilities() - continuous).max())
    assert errors[-1] < 5e-4
    for coarse, fine in pairwise(errors):
        assert 3.5 < coarse / fine < 4.5


def test_grouped_is_the_sum_of_the_entries() -> None:
    noise = BoundedNoise(Grid(0, 9, 1), 4)
    matrix = noise.transition().probabilities()
    shares = np.arange(1.0, 11.0)
    binned = grouped(noise.transition(), [0, 2, 7], shares)
    for i, rows in enumerate((slice(0, 2), slice(2, 7), slice(7, 10))):
        for j, columns in enumerate((slice(0, 2), slice(2, 7), slice(7, 10))):
            expected = (shares[rows, None] * matrix[rows, columns]).sum() / shares[rows].sum()
            assert binned.probabilities()[i, j] == pytest.approx(expected)
    assert binned.largest_ratio() == noise.largest_ratio()
    assert binned.anonymity_rate() == noise.anonymity_rate()


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(6, 12))
@settings(max_examples=40)
def test_promises_hold_for_groups(seed: int, bins: int, values: int) -> None:
    """The ratio of a mixture is no larger, its rate no smaller, than those of what it is mixed from."""
    generator = np.random.default_rng(seed)
    matrix = generator.dirichlet(np.ones(values), values) * 0.9 + 0.1 / values
    ratio = Fraction(float((matrix.max(axis=0) / matrix.min(axis=0)).max()))
    rate = Fraction(_rate(matrix))
    starts = np.concatenate([[0], np.sort(generator.choice(np.arange(1, values), bins - 1, replace=False))])
    binned = grouped(RealTransition(matrix, ratio, rate), starts).probabilities()
    assert (binned.max(axis=0) / binned.min(axis=0)).max() <= float(ratio) * (1 + 1e-12)
    assert _rate(binned) >= float(rate) * (1 - 1e-12)


def _rate(matrix: np.ndarray) -> float:
    ratios = matrix[:, None, :] / matrix[None, :, :]
    return float((ratios.min(axis=2) / ratios.max(axis=2)).min())


def test_promises_of_the_continuous_matrices() -> None:
    laplace, normal = laplace_bins(UNEVEN, 2), normal_bins(UNEVEN, 2)
    assert float(laplace.epsilon()) == pytest.approx(1.5)
    assert float(normal.epsilon()) == pytest.approx(9 / 8)
    for transition, exponent in ((laplace, 3.0), (normal, 9 / 4)):
        assert float(transition.anonymity_rate()) == pytest.approx(math.exp(-exponent))
        matrix = transition.probabilities()
        assert (matrix.max(axis=0) / matrix.min(axis=0)).max() <= float(transition.largest_ratio() or 0)
        assert _rate(matrix) >= float(transition.anonymity_rate())
    assert laplace_bins([0, 1, 2], 1e-6).largest_ratio() is None


def test_operations_of_a_real_transition() -> None:
    transition = laplace_bins(UNEVEN, 0.4)
    matrix = transition.probabilities()
    shares = np.array([[0.1, 0.2, 0.3, 0.4], [1.0, 0.0, 0.0, 0.0]])
    assert transition.forward(shares) == pytest.approx(shares @ matrix)
    assert transition.backward(shares) == pytest.approx(shares @ matrix.T)
    assert transition.solve(transition.forward(shares)) == pytest.approx(shares, abs=1e-12)
    assert transition.squared_inverse(shares) == pytest.approx(shares @ np.linalg.inv(matrix) ** 2)
    with pytest.raises(GuaranteeError, match="irrational"):
        transition.weights()
    with pytest.raises(GuaranteeError, match="for estimates"):
        transition.draw(np.array([0]), ResearchEntropy(1))
    with pytest.raises(GuaranteeError, match="cannot be inverted"):
        normal_bins(np.linspace(0, 1, 30), 1).solve(np.ones(29))
    with pytest.raises(ValueError, match="read-only"):
        transition.probabilities()[0, 0] = 1


@pytest.mark.parametrize(
    "matrix",
    [[[0.5, 0.5]], [[0.5, 0.6], [0.5, 0.5]], [[1.5, -0.5], [0.5, 0.5]], [[float("nan"), 1], [0, 1]], [1.0, 0.0]],
)
def test_what_is_no_matrix_of_probabilities(matrix: Any) -> None:
    with pytest.raises(ParameterError, match="add up to 1"):
        RealTransition(matrix)


@pytest.mark.parametrize("make", MAKERS.values())
def test_impossible_bins(make: Any) -> None:
    for edges in ([0, 1], [0, 2, 1], [0, 0, 1], [0, 1, float("inf")], [[0, 1, 2]]):
        with pytest.raises(ParameterError, match="edges"):
            make(edges, 1)
    for scale in (0, -1, float("nan"), 1e12, 1e-12, "one", "-1"):
        with pytest.raises(ParameterError, match="scale"):
            make([0, 1, 2], scale)
    for finer in (0, 1.5, True):
        with pytest.raises(ParameterError, match="finer"):
            make([0, 1, 2], 1, finer)
    for shares in ([[1.0], [1.0]], [[0.0, 0.0], [1.0, 1.0]], [[-1.0, 2.0], [1.0, 1.0]]):
        with pytest.raises(ParameterError, match="shares"):
            make([0, 1, 2], 1, 2, shares)


def test_noise_too_small_for_the_bins() -> None:
    with pytest.raises(ParameterError, match="1/10,000 of the range"):
        normal_bins([0, 1, 2], 1e-5)


def test_impossible_groups() -> None:
    transition = UniformTransition(6, 3, 1)
    for starts in ([0], [1, 3], [0, 3, 3], [0, 6], [0.0, 2.0], [[0, 2]]):
        with pytest.raises(ParameterError, match="starts"):
            grouped(transition, starts)
    for shares in ([1.0] * 5, [0.0] * 6, [-1.0] * 6):
        with pytest.raises(ParameterError, match="shares"):
            grouped(transition, [0, 3], shares)
    with pytest.raises(ParameterError, match="transition"):
        grouped(KaryResponse(("a", "b"), 1), [0, 1])  # type: ignore[arg-type]


# The paper's section 6 as it is printed, in units of sigma, against what holds.

A, B = 0.0, 3.0
G, H = 1.0, 1.5  # a finer bin J
ROOT = math.sqrt(1 - math.exp(A - B))
BETA, BETA_ = (1 + ROOT) / math.exp(A), (1 - ROOT) / math.exp(A)
GAMMA, GAMMA_ = (1 + ROOT) / math.exp(-B), (1 - ROOT) / math.exp(-B)


def alpha(v: float) -> float:
    return 1 - math.exp(A - v) / 2 - math.exp(v - B) / 2


def between(integrand: Callable[[float], float]) -> float:
    value, _ = quad(integrand, G, H, epsabs=1e-13)
    return float(value)


def equation_21(low: float, high: float, z_from: float, z_to: float) -> float:
    def bracket(z: float) -> float:
        return BETA * math.log(abs(z - BETA)) - BETA_ * math.log(abs(z - BETA_))

    return (math.exp(high) - math.exp(low)) / math.exp(A) / (BETA - BETA_) * (bracket(z_to) - bracket(z_from))


def equation_25(low: float, high: float, z_from: float, z_to: float) -> float:
    def bracket(z: float) -> float:
        apart, log, log_ = BETA - BETA_, math.log(abs(z - BETA)), math.log(abs(z - BETA_))
        return (
            2 * (log - log_) / apart
            - math.exp(low) * (BETA * log - BETA_ * log_) / apart
            - math.exp(-high) * (math.log(z) / (BETA * BETA_) + log / (BETA * apart) - log_ / (BETA_ * apart))
        )

    return (bracket(z_to) - bracket(z_from)) / math.exp(A)


def equation_26_without_its_sign(low: float, high: float, z_from: float, z_to: float) -> float:
    def bracket(z: float) -> float:
        return GAMMA * math.log(abs(z - GAMMA)) - GAMMA_ * math.log(abs(z - GAMMA_))

    return (math.exp(-high) - math.exp(-low)) / ((GAMMA - GAMMA_) * math.exp(-B)) * (bracket(z_to) - bracket(z_from))


def test_limits_of_equation_21() -> None:
    true = between(lambda v: (math.exp(0.8) - math.exp(0.2)) * math.exp(-v) / (2 * alpha(v)))
    assert equation_21(0.2, 0.8, math.exp(-G), math.exp(-H)) == pytest.approx(true)
    assert equation_21(0.2, 0.8, math.exp(G), math.exp(H)) != pytest.approx(true, rel=0.1)


def test_limits_of_equation_25() -> None:
    true = between(lambda v: (2 - math.exp(0.9 - v) - math.exp(v - 1.6)) / (2 * alpha(v)))
    assert equation_25(0.9, 1.6, math.exp(-G), math.exp(-H)) == pytest.approx(true)
    assert equation_25(0.9, 1.6, math.exp(G), math.exp(H)) != pytest.approx(true, rel=0.1)


def test_sign_and_variable_of_equation_26() -> None:
    """With z = exp(+v / sigma), and without the minus in front; as printed it gives negative probabilities."""
    true = between(lambda v: (math.exp(v - 1.7) - math.exp(v - 2.4)) / (2 * alpha(v)))
    assert equation_26_without_its_sign(1.7, 2.4, math.exp(G), math.exp(H)) == pytest.approx(true)
    assert -equation_26_without_its_sign(1.7, 2.4, math.exp(G), math.exp(H)) < 0


def test_denominator_of_equation_19() -> None:
    """exp(a) z^2 - 2 z + exp(-b) is exp(a) (z - beta) (z - beta'), with z, not a, in the second factor."""
    for z in (0.2, 0.5, 0.9):
        true = math.exp(A) * z**2 - 2 * z + math.exp(-B)
        assert math.exp(A) * (z - BETA) * (z - BETA_) == pytest.approx(true)
        assert math.exp(A) * (z - BETA) * (A - BETA_) != pytest.approx(true, rel=0.1)


def test_equations_6_and_14_are_means() -> None:
    """With the density R of the true values in them and 1 / (h - g) in front, a row adds up to R; the mean has no R."""
    density = 1 / (B - A)
    sums = {}
    for name, factor in (("printed", density), ("mean", 1.0)):
        row = [
            between(lambda v, low=low, high=high: inside(low, high, v) * factor) / (H - G)  # type: ignore[misc]  # noqa: B023
            for low, high in ((A, 0.7), (0.7, 1.9), (1.9, B))
        ]
        sums[name] = sum(row)
    assert sums["printed"] == pytest.approx(density)
    assert sums["mean"] == pytest.approx(1)


def inside(low: float, high: float, v: float) -> float:
    """The probability that v is reported between low and high."""
    return float(mass("laplace", low, high, v, 1.0)) / alpha(v)


def test_equation_13_is_for_parts_with_equal_shares() -> None:
    """Parts of a bin count by the shares of the values in them; 1 / m is right only if these are equal."""
    parts = laplace_bins([0, 1, 2, 3], 1).probabilities()
    shares = np.array([[0.9, 0.1], [0.5, 0.5]])
    bins = laplace_bins([0, 2, 3], 1, 2, np.array([[0.9, 0.1], [0.5, 0.5]])).probabilities()
    weighted = shares[0] @ parts[:2, 2]
    assert bins[0, 1] == pytest.approx(weighted)
    assert parts[:2, 2].mean() != pytest.approx(weighted, rel=0.1)
