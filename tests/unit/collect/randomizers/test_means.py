"""Means from one bit and from the piecewise mechanism: exactly unbiased, never above the epsilon asked for."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.collect.randomizers.means import MeanEstimate, MeanRandomizer, OneBit, Piecewise
from sudare.collect.transitions.grids import Grid
from sudare.collect.transitions.mean_transitions import OneBitTransition, WindowTransition
from sudare.collect.transitions.transition import DenseTransition
from sudare.errors import GuaranteeError, ParameterError
from sudare.noise import ResearchEntropy, uniform_below

KINDS = [OneBit, Piecewise]
GRIDS = [Grid(0, 24, 1), Grid(-1, 1, Fraction(1, 50)), Grid(0, 1, 1), Grid(5, 5.5, 0.1)]


def make(kind: Any, grid: Grid, epsilon: Any) -> MeanRandomizer:
    made: MeanRandomizer = kind(grid, epsilon)
    return made


def moments(randomizer: MeanRandomizer, place: int) -> tuple[Fraction, Fraction]:
    """Mean and variance of what a report counts as, exactly."""
    transition = randomizer.transition()
    middle = (randomizer.grid.low + randomizer.grid.high) / 2
    row = transition.weights()[place].tolist()
    counts = [middle + randomizer.report_step * (k - Fraction(transition.reports - 1, 2)) for k in range(len(row))]
    mean = sum((weight * x for weight, x in zip(row, counts, strict=True)), Fraction(0)) / transition.total
    square = sum((weight * x**2 for weight, x in zip(row, counts, strict=True)), Fraction(0)) / transition.total
    return mean, square - mean**2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("epsilon", [0.3, 8])
def test_exactly_unbiased_with_the_stated_variance(kind: Any, grid: Grid, epsilon: float) -> None:
    randomizer = make(kind, grid, epsilon)
    for place in {0, 1, grid.last // 2, grid.last}:
        mean, variance = moments(randomizer, place)
        assert mean == grid.fraction(place)
        assert randomizer.mean_variance(7, grid.fraction(place)) == pytest.approx(float(variance) / 7, rel=1e-10)
    assert randomizer.mean_variance(1) >= max(
        randomizer.mean_variance(1, grid.fraction(i)) for i in range(grid.size)
    ) * (1 - 1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("epsilon", [0.3, 2, 30])
def test_matrix_and_what_follows_from_it(kind: Any, grid: Grid, epsilon: float) -> None:
    transition = make(kind, grid, epsilon).transition()
    weights = transition.weights()
    assert (weights.sum(axis=1) == transition.total).all()
    assert transition.total <= 1 << 62
    dense = DenseTransition.from_weights(weights)
    assert transition.largest_ratio() == dense.largest_ratio()
    if grid.size <= 30:
        assert transition.anonymity_rate() == dense.anonymity_rate()
    assert transition.epsilon() <= Fraction(str(epsilon))
    assert float(transition.epsilon()) == pytest.approx(epsilon, rel=1e-4)
    generator = np.random.default_rng(3)
    shares, counts = generator.random((2, transition.values)), generator.random((2, transition.reports))
    assert transition.forward(shares) == pytest.approx(dense.forward(shares), rel=1e-9)
    assert transition.backward(counts) == pytest.approx(dense.backward(counts), rel=1e-9)


@given(st.integers(2, 20), st.integers(1, 5), st.integers(1, 9), st.integers(1, 50), st.integers(1, 50))
@settings(max_examples=25)
def test_windows(values: int, shift: int, width: int, other: int, excess: int) -> None:
    transition = WindowTransition(values, shift, width, other + excess, other)
    dense = DenseTransition.from_weights(transition.weights())
    assert dense.total == transition.total
    assert transition.largest_ratio() == dense.largest_ratio()
    assert transition.anonymity_rate() == dense.anonymity_rate()
    shares = np.random.default_rng(values).random(values)
    assert transition.forward(shares) == pytest.approx(dense.forward(shares))


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0, 6.0])
def test_variances_of_the_papers(epsilon: float) -> None:
    """Duchi: ((e^eps + 1) / (e^eps - 1))^2 - v^2. Piecewise: v^2 / (x - 1) + (x + 3) / (3 (x - 1)^2), x = e^(eps/2)."""
    grid = Grid(-1, 1, Fraction(1, 10_000))
    x = math.exp(epsilon / 2)
    for value in (0.0, 0.5, 1.0):
        bit = ((math.exp(epsilon) + 1) / (math.exp(epsilon) - 1)) ** 2 - value**2
        assert OneBit(grid, epsilon).mean_variance(1, value) == pytest.approx(bit, rel=1e-9)
        piece = value**2 / (x - 1) + (x + 3) / (3 * (x - 1) ** 2)
        assert Piecewise(grid, epsilon).mean_variance(1, value) == pytest.approx(piece, rel=1e-3)


def test_the_discretised_window_comes_nearer_to_the_paper_on_finer_grids() -> None:
    x = math.exp(0.75)
    paper = 1 / (x - 1) + (x + 3) / (3 * (x - 1) ** 2)
    coarse, fine = (Piecewise(Grid(-1, 1, Fraction(2, steps)), 1.5) for steps in (1024, 1024 * 64))
    assert abs(fine.mean_variance(1) - paper) < abs(coarse.mean_variance(1) - paper) / 8


@pytest.mark.parametrize("kind", KINDS)
def test_same_words_same_reports_as_the_naive_twin(kind: Any) -> None:
    randomizer = make(kind, Grid(0, 10, 1), 2)
    values = np.arange(11).repeat(50)
    reports = randomizer.randomize(values, ResearchEntropy(6))
    transition = randomizer.transition()
    numbers = uniform_below(transition.total, values.size, ResearchEntropy(6)).tolist()
    expected = []
    for value, number in zip(values.tolist(), numbers, strict=True):
        if isinstance(transition, WindowTransition):
            if number < transition.reports * transition.other:
                expected.append(number // transition.other)
            else:
                rest = number - transition.reports * transition.other
                expected.append(rest // (transition.likely - transition.other) + value * transition.shift)
        else:
            expected.append(int(number < transition.weights()[value, 1]))
    assert reports.tolist() == expected


@pytest.mark.parametrize(
    "transition", [WindowTransition(4, 2, 3, likely=7, other=2), OneBitTransition(4, likely=7, other=2)]
)
def test_every_random_number_leads_to_its_report(transition: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all numbers below the total, as many lead to a report as its weight says."""
    everything = np.arange(transition.total, dtype=np.uint64)
    monkeypatch.setattr(
        "sudare.collect.transitions.mean_transitions.uniform_below", lambda bound, size, source: everything
    )
    for place in range(4):
        drawn = transition.draw(np.full(transition.total, place), ResearchEntropy(1))
        assert np.bincount(drawn, minlength=transition.reports).tolist() == transition.weights()[place].tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_estimated_mean(kind: Any) -> None:
    randomizer = make(kind, Grid(0, 100, 1), 2)
    values = np.random.default_rng(4).integers(20, 60, 50_000)
    estimate = randomizer.estimate_mean(randomizer.randomize(values, ResearchEntropy(7)))
    assert estimate.people == 50_000
    assert abs(estimate.mean - values.mean()) < 6 * estimate.standard_error
    assert estimate.standard_error**2 == pytest.approx(randomizer.mean_variance(50_000, 40), rel=0.3)


def test_one_bit_tells_no_more_than_the_mean() -> None:
    randomizer = OneBit(Grid(0, 10, 1), 2)
    with pytest.raises(GuaranteeError, match="inverted"):
        randomizer.estimate([0, 1, 1])
    two = OneBit(Grid(0, 1, 1), 2)
    estimate = two.estimate(two.randomize([0] * 4000 + [1] * 6000, ResearchEntropy(1)))
    assert abs(estimate.unbiased[1] - 6000) < 6 * estimate.standard_errors[1]
    assert two.variance(100, 0.5) > 0


def test_piecewise_tells_the_distribution_too() -> None:
    randomizer = Piecewise(Grid(0, 3, 1), 4)
    estimate = randomizer.estimate(randomizer.randomize([0] * 3000 + [2] * 7000, ResearchEntropy(1)))
    assert (np.abs(estimate.unbiased - [3000, 0, 7000, 0]) < 6 * estimate.standard_errors).all()
    assert randomizer.variance(100, 0.5) > 0


@pytest.mark.parametrize("kind", KINDS)
def test_specifications_and_events(kind: Any) -> None:
    randomizer = make(kind, Grid(-3, 3, 0.5), 1.25)
    assert type(randomizer).from_parameters(randomizer.parameters()) == randomizer
    assert randomizer.event(ResearchEntropy(1)).cost.epsilon <= Fraction(5, 4)
    assert hash(randomizer) == hash(make(kind, Grid(-3, 3, 0.5), 1.25))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", [0, -1, float("inf"), float("nan"), 31, "one", "31", None, 1e-30])
def test_impossible_epsilons(kind: Any, epsilon: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon_at_most"):
        kind(Grid(0, 1, 1), epsilon)


@pytest.mark.parametrize("kind", KINDS)
def test_values_and_reports_outside_the_domain(kind: Any) -> None:
    randomizer = make(kind, Grid(0, 10, 1), 1)
    with pytest.raises(ParameterError):
        randomizer.randomize([11])
    for reports in ([-1], [0.5], [10**9], ["a"], [float("nan")]):
        with pytest.raises(ParameterError, match="whole numbers"):
            randomizer.decode(reports)
    with pytest.raises(ParameterError, match="two or more"):
        randomizer.estimate_mean([1])
    with pytest.raises(ParameterError, match="Grid"):
        kind(7, 1)


def test_interval_levels() -> None:
    estimate = MeanEstimate(10, 0.0, 1.0)
    assert estimate.interval(0.6827)[1] == pytest.approx(1, rel=1e-3)
    for level in (0.0, 1.0, 95, "x"):
        with pytest.raises(ParameterError, match="level"):
            estimate.interval(level)


def test_matrix_too_large_to_write_out() -> None:
    with pytest.raises(ParameterError, match="written out"):
        Piecewise(Grid(0, 100_000, 1), 1).transition().weights()
