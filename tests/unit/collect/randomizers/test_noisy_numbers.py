"""Noise on numbers: the law, its guarantee from closed forms and by brute force, and what is estimated from it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from sudare.collect.randomizers.noisy_numbers import BoundedNoise, NumberRandomizer, UnboundedNoise
from sudare.collect.transitions.grids import Grid
from sudare.collect.transitions.real_transition import RealTransition
from sudare.errors import GuaranteeError, ParameterError
from sudare.noise import ResearchEntropy
from sudare.privacy.events import ReleaseEvent
from tests.scripted import ScriptedEntropy

GRIDS = [Grid(0, 1, 1), Grid(0, 12, 1), Grid(-2, 3, 0.5), Grid(0, 1, Fraction(1, 7))]
CASES = [
    (kind, grid, base, size)
    for kind in (BoundedNoise, UnboundedNoise)
    for grid in GRIDS
    for base in ("laplace", "normal")
    for size in (Fraction(1, 4), Fraction(3), Fraction(50))
]


def make(kind: Any, grid: Grid, base: Any, size: Fraction) -> NumberRandomizer:
    made: NumberRandomizer = kind(grid, size * grid.step, base)
    return made


def exact_row(noise: NumberRandomizer, place: int) -> list[mpmath.mpf]:
    """Probabilities of the reports of a bounded randomizer."""
    energies = [noise.noise.law.energy(j - place) for j in range(noise.grid.size)]
    weights = [mpmath.exp(-mpmath.mpf(e.numerator) / e.denominator) for e in energies]
    total = mpmath.fsum(weights)
    return [weight / total for weight in weights]


@pytest.mark.parametrize(("kind", "grid", "base", "size"), CASES)
def test_rows_add_up_to_one(kind: Any, grid: Grid, base: str, size: Fraction) -> None:
    probabilities = make(kind, grid, base, size).transition().probabilities()
    assert probabilities.sum(axis=1) == pytest.approx(1, abs=1e-13)
    assert (probabilities >= 0).all()


@pytest.mark.parametrize(("kind", "grid", "base", "size"), [case for case in CASES if case[0] is BoundedNoise])
def test_bounded_matrix_against_fifty_digits(kind: Any, grid: Grid, base: str, size: Fraction) -> None:
    noise = make(kind, grid, base, size)
    probabilities = noise.transition().probabilities()
    with mpmath.workdps(50):
        for place in range(grid.size):
            for j, true in enumerate(exact_row(noise, place)):
                if true > 1e-290:
                    assert abs(mpmath.mpf(float(probabilities[place, j])) / true - 1) < 1e-12


@pytest.mark.parametrize("base", ["laplace", "normal"])
@pytest.mark.parametrize("size", [Fraction(1, 2), Fraction(2), Fraction(9)])
def test_unbounded_matrix_counts_the_tails_with_the_last_columns(base: Any, size: Fraction) -> None:
    noise = UnboundedNoise(Grid(0, 6, 1), size, base)
    transition = noise.transition()
    margin = (transition.reports - 7) // 2
    with mpmath.workdps(40):
        reach = int(60 * size) + 40
        weights = {
            d: mpmath.exp(-mpmath.mpf(noise.noise.law.energy(d).numerator) / noise.noise.law.energy(d).denominator)
            for d in range(-reach - 20, reach + 21)
        }
        total = mpmath.fsum(weights.values())
        for place in range(7):
            row = [mpmath.mpf(0)] * transition.reports
            for d, weight in weights.items():
                row[min(max(place + d, -margin), 6 + margin) + margin] += weight / total
            for j, true in enumerate(row):
                if true > 1e-250:
                    assert abs(mpmath.mpf(float(transition.probabilities()[place, j])) / true - 1) < 1e-11


def test_clamping_laplace_reports_to_the_ends_loses_nothing() -> None:
    """Reports beyond an end are equally likely, in proportion, for all values."""
    noise = UnboundedNoise(Grid(0, 5, 1), 2)
    beyond = [[mpmath.exp(-mpmath.mpf(9 + k - v) / 2) for k in range(4)] for v in range(6)]
    ratios = [[row[k] / row[0] for k in range(4)] for row in beyond]
    for row in ratios:
        assert row == pytest.approx(ratios[0])
    assert noise.transition().reports == 6


@pytest.mark.parametrize("base", ["laplace", "normal"])
@pytest.mark.parametrize("size", [Fraction(1), Fraction(4), Fraction(30)])
def test_epsilon_and_rate_by_brute_force(base: Any, size: Fraction) -> None:
    """The closed forms are the largest ratio and the smallest cross ratio over all values and reports."""
    noise = BoundedNoise(Grid(0, 8, 1), size, base)
    with mpmath.workdps(90):
        rows = [exact_row(noise, place) for place in range(9)]
        ratio = max(rows[u][j] / rows[v][j] for u in range(9) for v in range(9) for j in range(9))
        rate = min(
            rows[v][i] * rows[u][j] / (rows[u][i] * rows[v][j])
            for u in range(9)
            for v in range(9)
            for i in range(9)
            for j in range(9)
        )
        bound, low = noise.largest_ratio(), noise.anonymity_rate()
        assert bound is not None
        assert 0 <= mpmath.mpf(bound.numerator) / bound.denominator / ratio - 1 < mpmath.mpf(10) ** -30
        assert 0 <= 1 - mpmath.mpf(low.numerator) / low.denominator / rate < mpmath.mpf(10) ** -30
        assert abs(mpmath.log(ratio) - mpmath.mpf(noise.epsilon().numerator) / noise.epsilon().denominator) < 1e-30


def test_closed_forms_of_the_paper() -> None:
    assert BoundedNoise(Grid(0, 10, 1), 4).epsilon() == Fraction(10, 4)
    assert float(BoundedNoise(Grid(0, 10, 1), 4).anonymity_rate()) == pytest.approx(math.exp(-2 * 10 / 4), rel=1e-15)
    assert BoundedNoise(Grid(0, 10, 1), 4, "normal").epsilon() == Fraction(100, 32)
    assert float(BoundedNoise(Grid(0, 10, 1), 4, "normal").anonymity_rate()) == pytest.approx(math.exp(-100 / 16))


def test_the_epsilon_of_the_transition_is_never_below_the_exact_one() -> None:
    for base in ("laplace", "normal"):
        noise = BoundedNoise(Grid(0, 10, 1), 7, base)
        assert noise.epsilon() <= noise.transition().epsilon() < noise.epsilon() * (1 + Fraction(1, 10**40))


def test_a_law_that_is_not_log_concave_has_a_larger_epsilon() -> None:
    """Why the proof asks for it: with heavier tails the factors that bound the noise matter."""
    last = 20
    weights = 1 / (1.0 + np.arange(-last, last + 1) ** 2)
    rows = np.array([weights[last - i : 2 * last + 1 - i] for i in range(last + 1)])
    rows /= rows.sum(axis=1, keepdims=True)
    ratio = (rows.max(axis=0) / rows.min(axis=0)).max()
    assert ratio > weights[last] / weights[0] * 1.01


def test_unbounded_guarantees() -> None:
    laplace, normal = UnboundedNoise(Grid(0, 10, 1), 4), UnboundedNoise(Grid(0, 10, 1), 4, "normal")
    assert laplace.epsilon() == Fraction(5, 2)
    assert float(laplace.anonymity_rate()) == pytest.approx(math.exp(-5))
    assert normal.largest_ratio() is None
    assert normal.anonymity_rate() == 0
    with pytest.raises(GuaranteeError, match="no pure epsilon"):
        normal.epsilon()


@pytest.mark.parametrize("grid", [Grid(0, 1, 1), Grid(0, 10, 1), Grid(0, 1, 0.25)])
def test_events(grid: Grid) -> None:
    source = ResearchEntropy(1)
    bounded = BoundedNoise(grid, grid.span / 2).event(source)
    assert 2 <= bounded.cost.epsilon < 2 + Fraction(1, 10**40)
    assert UnboundedNoise(grid, grid.span / 2).event(source).cost.epsilon == 2
    normal = UnboundedNoise(grid, grid.span, "normal").event(source)
    assert normal.cost.rho == Fraction(1, 2)
    for event in (bounded, normal):
        assert ReleaseEvent.from_json(event.to_json()) == event
        assert not event.is_private


def test_an_epsilon_beyond_all_sense_is_not_recorded() -> None:
    with pytest.raises(GuaranteeError, match="138"):
        BoundedNoise(Grid(0, 200, 1), 1).event(ResearchEntropy(1))


@pytest.mark.parametrize(("kind", "grid", "base", "size"), CASES)
def test_operations_agree_with_the_matrix(kind: Any, grid: Grid, base: str, size: Fraction) -> None:
    transition = make(kind, grid, base, size).transition()
    matrix = transition.probabilities()
    generator = np.random.default_rng(1)
    shares, weights = generator.random((2, transition.values)), generator.random((2, transition.reports))
    assert transition.forward(shares) == pytest.approx(shares @ matrix, rel=1e-12)
    assert transition.backward(weights) == pytest.approx(weights @ matrix.T, rel=1e-12)
    if base == "laplace":
        dense = RealTransition(matrix)
        assert transition.solve(transition.forward(shares)) == pytest.approx(shares, rel=1e-9)
        assert transition.squared_inverse(weights) == pytest.approx(dense.squared_inverse(weights), rel=1e-7)
        assert transition.own_squares() == pytest.approx(dense.own_squares(), rel=1e-7)
        targets = generator.random(transition.values)
        assert transition.backward(transition.unbiased_scores(targets)) == pytest.approx(targets, rel=1e-9)


def test_fine_grids_cost_one_pass() -> None:
    noise = BoundedNoise(Grid(0, 1, Fraction(1, 200_000)), Fraction(1, 5))
    shares = np.random.default_rng(2).random(noise.grid.size)
    assert np.abs(noise.transition().solve(noise.transition().forward(shares)) - shares).max() < 1e-5
    with pytest.raises(GuaranteeError, match="too fine"):
        noise.transition().probabilities()


def test_both_methods_report_points_of_the_grid() -> None:
    for method in ("inverse", "rejection"):
        noise = BoundedNoise(Grid(-1, 1, 0.25), 3, "normal", method)
        reports = noise.randomize(np.linspace(-1, 1, 500).reshape(50, 10), ResearchEntropy(4))
        assert reports.shape == (50, 10)
        assert set(reports.ravel().tolist()) <= set(noise.grid.labels())
        assert (
            noise.randomize([0.5] * 20, ResearchEntropy(4)) == noise.randomize([0.5] * 20, ResearchEntropy(4))
        ).all()


def test_rejection_redraws_what_falls_outside() -> None:
    """The naive twin: take the sampler's noise in order, keep what stays inside."""
    noise = BoundedNoise(Grid(0, 4, 1), 3, method="rejection")
    values = np.array([0, 4, 2, 1, 3] * 40)
    reports = noise.randomize(values, ResearchEntropy(8))
    source, pending, expected = ResearchEntropy(8), list(range(values.size)), np.full(values.size, -1)
    while pending:
        drawn = noise.noise.sampler.draw(len(pending), source)
        again = []
        for i, extra in zip(pending, drawn.tolist(), strict=True):
            if 0 <= values[i] + extra <= 4:
                expected[i] = values[i] + extra
            else:
                again.append(i)
        pending = again
    assert reports.tolist() == expected.tolist()


def test_unbounded_reports_are_values_plus_the_samplers_noise() -> None:
    noise = UnboundedNoise(Grid(0, 1, 0.25), 2)
    drawn = noise.noise.sampler.draw(100, ResearchEntropy(3))
    assert noise.randomize([0.5] * 100, ResearchEntropy(3)) == pytest.approx(0.5 + 0.25 * drawn)


def test_estimates_are_exact_for_expected_reports() -> None:
    """If the shares of reports are exactly the expected ones, the true numbers come out."""
    noise = BoundedNoise(Grid(0, 4, 1), 3)
    truth = np.array([5.0, 0.0, 1.0, 3.0, 1.0])
    assert noise.transition().solve(noise.transition().forward(truth)) == pytest.approx(truth)


def test_estimate_of_counts_and_of_the_mean() -> None:
    values = np.repeat([0, 3, 10], [2000, 5000, 3000])
    for noise in (BoundedNoise(Grid(0, 10, 1), 2), UnboundedNoise(Grid(0, 10, 1), 2)):
        reports = noise.randomize(values, ResearchEntropy(2))
        estimate = noise.estimate(reports)
        assert estimate.people == 10_000
        truth = np.bincount(values, minlength=11)
        assert (np.abs(estimate.unbiased - truth) < 6 * estimate.standard_errors).all()
        mean = noise.estimate_mean(reports)
        assert abs(mean.mean - values.mean()) < 6 * mean.standard_error
        low, high = mean.interval(0.9)
        assert low < mean.mean < high


def test_variance_against_the_definition() -> None:
    for noise in (
        BoundedNoise(Grid(0, 6, 1), 2),
        UnboundedNoise(Grid(0, 6, 1), 2),
        BoundedNoise(Grid(0, 3, 1), 0.4, "normal"),
    ):
        transition, size = noise.transition(), noise.grid.size
        matrix = transition.probabilities()
        inverse = np.linalg.pinv(matrix)
        worst = 0.0
        for i in range(size):
            truth = np.full(size, 1000 * 0.7 / (size - 1))
            truth[i] = 300
            # Of each person, the variance of what the report counts for value i.
            worst = max(worst, float((truth * (matrix @ inverse[:, i] ** 2 - (matrix @ inverse[:, i]) ** 2)).sum()))
        assert noise.variance(1000, 0.3) == pytest.approx(worst, rel=1e-9)


@pytest.mark.parametrize("base", ["laplace", "normal"])
@pytest.mark.parametrize("size", [0.001, 0.3, 1.0, 2.5, 40.0])
def test_variance_of_the_unbounded_mean(base: Any, size: float) -> None:
    noise = UnboundedNoise(Grid(0, 10, 2), 2 * size, base)
    with mpmath.workdps(40):
        energies = {d: noise.noise.law.energy(d) for d in range(int(100 * size) + 60)}
        weights = {d: mpmath.exp(-mpmath.mpf(e.numerator) / e.denominator) for d, e in energies.items()}
        total = weights[0] + 2 * mpmath.fsum(w for d, w in weights.items() if d)
        variance = 4 * 2 * mpmath.fsum(d * d * w for d, w in weights.items()) / total
        assert noise.mean_variance(1) == pytest.approx(float(variance), rel=1e-11, abs=1e-300)


def test_normal_noise_cannot_be_inverted_and_says_what_to_do() -> None:
    noise = BoundedNoise(Grid(0, 20, 1), 8, "normal")
    reports = noise.randomize([3] * 100, ResearchEntropy(1))
    with pytest.raises(GuaranteeError, match="iterative Bayes"):
        noise.estimate(reports)
    with pytest.raises(GuaranteeError, match="iterative Bayes"):
        noise.estimate_mean(reports)


def test_fit_finds_the_distribution() -> None:
    noise = BoundedNoise(Grid(0, 20, 1), 8, "normal")
    reports = noise.randomize(np.repeat([3, 16], [60_000, 40_000]), ResearchEntropy(1))
    table = noise.fit(reports)
    assert table.labels == (noise.grid.labels(),)
    assert table.constrained.sum() == pytest.approx(100_000)
    mean = float(table.constrained @ np.arange(21)) / 100_000
    assert mean == pytest.approx(0.6 * 3 + 0.4 * 16, abs=0.4)
    assert abs(reports.mean() - mean) > 0.5  # the reports' own mean is drawn to the middle


def test_specifications_are_read_again() -> None:
    for noise in (BoundedNoise(Grid(-3, 3, 0.5), 2, "normal"), UnboundedNoise(Grid(0, 7, 1), 1.5)):
        told = noise.to_dict()
        assert type(noise).from_parameters({k: v for k, v in told.items() if k not in ("version", "kind")}) == noise
    inverse, rejection = BoundedNoise(Grid(0, 3, 1), 2), BoundedNoise(Grid(0, 3, 1), 2, method="rejection")
    assert inverse.fingerprint() == rejection.fingerprint()  # the same law: reports mean the same
    assert inverse.fingerprint() != BoundedNoise(Grid(0, 3, 1), 2, "normal").fingerprint()


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf"), "one", "-1", True, 0.0005, 1e13])
def test_impossible_scales(scale: Any) -> None:
    for kind in (BoundedNoise, UnboundedNoise):
        with pytest.raises(ParameterError, match="scale"):
            kind(Grid(0, 10, 1), scale)


def test_other_impossible_arguments() -> None:
    grid = Grid(0, 10, 1)
    with pytest.raises(ParameterError, match="'laplace' or 'normal'"):
        BoundedNoise(grid, 1, "cauchy")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'inverse' or 'rejection'"):
        BoundedNoise(grid, 1, method="fast")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="a Grid"):
        BoundedNoise((0, 10), 1)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="Use method='inverse'"):
        BoundedNoise(grid, 10_000, method="rejection")
    with pytest.raises(ParameterError, match="epsilon of at most"):
        BoundedNoise(Grid(0, 1000, 1), 0.005)
    with pytest.raises(ParameterError, match=r"2\*\*20"):
        BoundedNoise(Grid(0, 1 << 20, 1), 10)


@pytest.mark.parametrize("kind", [BoundedNoise, UnboundedNoise])
def test_values_and_reports_outside_the_domain(kind: Any) -> None:
    noise = kind(Grid(0, 10, 1), 3)
    for values in ([11], [float("nan")], ["x"], [True]):
        with pytest.raises(ParameterError):
            noise.randomize(values)
    for reports in ([0.5], [float("nan")], ["x"]):
        with pytest.raises(ParameterError):
            noise.estimate(reports)
    with pytest.raises(ParameterError):
        noise.estimate_mean([])
    if kind is BoundedNoise:
        with pytest.raises(ParameterError):
            noise.estimate([12])


def test_the_entropy_is_a_source() -> None:
    with pytest.raises(ParameterError, match="ResearchEntropy"):
        BoundedNoise(Grid(0, 10, 1), 3).randomize([1], 5)  # type: ignore[arg-type]


def test_one_word_for_each_value_whatever_it_is() -> None:
    for value in (0, 5, 10):
        source = ScriptedEntropy([(k * 0x9E3779B97F4A7C15) % 2**64 for k in range(1, 101)])
        BoundedNoise(Grid(0, 10, 1), 3, "normal").randomize([value] * 100, source)
        assert source.read == 100


def test_shares_of_nearly_nothing_do_not_overflow() -> None:
    """Everybody has the same number: the shares of the others fall below what one can be divided by."""
    noise = BoundedNoise(Grid(0, 20, 1), 6, "normal")
    fit = noise.fit(noise.randomize(np.full(3000, 5), ResearchEntropy(1)))
    assert fit.constrained.sum() == pytest.approx(3000)
