"""The planner: its predictions are those of the randomizers, and come true."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from sudare.collect import KaryResponse
from sudare.collect.randomizers.hashing import LocalHashing
from sudare.collect.randomizers.means import OneBit, Piecewise
from sudare.collect.randomizers.noisy_numbers import UnboundedNoise
from sudare.collect.randomizers.planning import (
    CollectionPlan,
    Prediction,
    _largest_of_normals,
    plan_collection,
    plan_mean,
)
from sudare.collect.randomizers.randomizer import Randomizer
from sudare.collect.randomizers.unary import UnaryResponse
from sudare.collect.transitions.grids import Grid
from sudare.errors import ParameterError


def prediction(plan: CollectionPlan, kind: str) -> Prediction:
    return next(each for each in plan.alternatives if each.kind == kind)


@given(
    values=st.integers(2, 300),
    epsilon=st.fractions(Fraction(1, 10), 6, max_denominator=100),
    share=st.floats(0, 1),
)
def test_predictions_are_the_variances_of_the_randomizers(values: int, epsilon: Fraction, share: float) -> None:
    plan = plan_collection(1000, values, epsilon=epsilon)
    made: dict[str, Randomizer] = {
        "kary-response": KaryResponse(range(values), epsilon),
        "unary-response-optimized": UnaryResponse(range(values), epsilon),
        "unary-response-symmetric": UnaryResponse(range(values), epsilon, "symmetric"),
        "local-hashing": LocalHashing(range(values), epsilon),
    }
    assert {each.kind for each in plan.alternatives} == set(made)
    for kind, randomizer in made.items():
        error = prediction(plan, kind).standard_error(share)
        assert error**2 == pytest.approx(randomizer.variance(1000, share), rel=1e-5)
    errors = [each.standard_error() for each in plan.alternatives]
    assert errors == sorted(errors)
    assert type(plan.randomizer(range(values))) is type(made[plan.chosen.kind])


@given(values=st.integers(2, 50), k=st.fractions(2, 500, max_denominator=10), epsilon=st.fractions(Fraction(1, 10), 6))
def test_stated_epsilons_are_never_too_small(values: int, k: Fraction, epsilon: Fraction) -> None:
    plan = plan_collection(1000, values, k=k)
    exact = plan.randomizer(range(values)).epsilon()
    assert exact <= Fraction(plan.chosen.epsilon)
    assert float(exact) == pytest.approx(plan.chosen.epsilon, rel=1e-12)
    assert all(Fraction(each.epsilon) >= epsilon for each in plan_collection(9, values, epsilon=epsilon).alternatives)


@given(values=st.integers(3, 2000), epsilon=st.floats(0.1, 6))
def test_the_choice_turns_where_the_theory_says(values: int, epsilon: float) -> None:
    border = 3 * np.exp(epsilon) + 2
    if abs(values - border) < 1:
        return
    chosen = plan_collection(10**6, values, epsilon=epsilon).chosen.kind
    assert (chosen == "kary-response") == (values < border)


def test_long_reports_are_avoided() -> None:
    plan = plan_collection(10**6, 100_000, epsilon=1)
    assert plan.chosen.kind == "local-hashing"
    assert plan.alternatives[1].kind == "unary-response-optimized"
    assert (
        plan_collection(10**6, 100_000, epsilon=1, largest_report_bits=10**6).chosen.kind == plan.alternatives[1].kind
    )
    assert plan_collection(10**6, 100_000, epsilon=1, largest_report_bits=20).chosen.kind == "kary-response"
    text = plan.to_text().splitlines()
    assert text[1].startswith("* local-hashing")
    assert len(text) == 5
    with pytest.raises(ParameterError, match="largest_report_bits"):
        plan_collection(10**6, 100_000, epsilon=1, largest_report_bits=2)


@pytest.mark.usefixtures("repeatable_noise")
@pytest.mark.parametrize(("values", "epsilon"), [(2, 1), (4, 2), (40, 1), (300, 2)])
def test_predicted_errors_come_true(values: int, epsilon: int) -> None:
    people, runs = 4000, 60
    plan = plan_collection(people, values, epsilon=epsilon)
    randomizer = plan.randomizer(range(values))
    truth = np.arange(people) % values
    counts = np.bincount(truth)
    errors = np.array([randomizer.estimate(randomizer.randomize(truth)).unbiased - counts for _ in range(runs)])
    assert np.sqrt((errors**2).mean()) == pytest.approx(
        plan.chosen.standard_error(1 / values), rel=0.5 if values == 2 else 0.25
    )
    assert np.abs(errors).max(axis=1).mean() == pytest.approx(
        plan.chosen.largest_error, rel=0.5 if values == 2 else 0.2
    )


@pytest.mark.usefixtures("repeatable_noise")
def test_a_detectable_share_is_detected() -> None:
    people, runs = 20_000, 300
    plan = plan_collection(people, 10, epsilon=2)
    randomizer = plan.randomizer(range(10))
    some = round(plan.chosen.detectable_share * people)
    truth = np.where(np.arange(people) < some, 1, 0)
    critical = 1.6448536 * plan.chosen.standard_error()
    estimates = np.array([randomizer.estimate(randomizer.randomize(truth)).unbiased for _ in range(runs)])
    assert binom.cdf((estimates[:, 1] > critical).sum(), runs, 0.94) > 1e-9
    assert binom.sf((estimates[:, 2] > critical).sum() - 1, runs, 0.06) > 1e-9
    assert (estimates[:, 1] > 2 * critical).mean() < 0.75  # it is not much larger than needed
    assert plan_collection(3, 10, epsilon=0.01).chosen.detectable_share == 1


def test_the_largest_of_normals() -> None:
    assert _largest_of_normals(1) == pytest.approx(np.sqrt(2 / np.pi))
    assert _largest_of_normals(2) == pytest.approx(2 / np.sqrt(np.pi))
    drawn = np.abs(np.random.default_rng(1).normal(size=(2000, 1000))).max(axis=1).mean()
    assert _largest_of_normals(1000) == pytest.approx(drawn, rel=0.01)
    assert 6 < _largest_of_normals(1 << 31) < 7


@given(values=st.integers(2, 500), k=st.integers(2, 50), records=st.integers(1000, 10**6))
def test_a_wanted_k_is_reached(values: int, k: int, records: int) -> None:
    plan = plan_collection(500, values, k=k, records=records)
    randomizer = plan.randomizer(range(values))
    assert plan.k is not None
    assert k <= plan.k < k * 1.001
    assert 1 + (records - 1) * randomizer.anonymity_rate() == plan.k
    assert plan.chosen.epsilon == pytest.approx(float(randomizer.epsilon()))
    assert plan.chosen.standard_error(0.2) ** 2 == pytest.approx(randomizer.variance(500, 0.2), rel=1e-6)


@given(epsilon=st.fractions(Fraction(1, 10), 6, max_denominator=100), low=st.integers(-50, 50), steps=st.integers(1, 9))
def test_predicted_means_are_those_of_the_randomizers(epsilon: Fraction, low: int, steps: int) -> None:
    grid = Grid(low, low + 100 * steps, Fraction(steps, 10))
    plan = plan_mean(1000, epsilon, low=low, high=low + 100 * steps)
    made = {
        "one-bit": OneBit(grid, epsilon).mean_variance(1000),
        "piecewise": Piecewise(grid, epsilon).mean_variance(1000),
        "unbounded-noise": UnboundedNoise(grid, grid.span / epsilon).mean_variance(1000),
    }
    for each in plan.alternatives:
        assert each.standard_error() ** 2 == pytest.approx(made[each.kind], rel=0.02)
    errors = [each.standard_error() for each in plan.alternatives]
    assert errors == sorted(errors)
    assert plan.randomizer(grid).kind == plan.chosen.kind
    assert plan.to_text().splitlines()[1].startswith(f"* {plan.chosen.kind}")


def test_numbers_near_the_middle_change_the_choice() -> None:
    assert plan_mean(1000, 1).chosen.kind == "one-bit"
    assert plan_mean(1000, 1, spread=0.1).chosen.kind == "piecewise"


def test_a_predicted_mean_comes_true() -> None:
    grid = Grid(0, 100, 1)
    plan = plan_mean(2000, 2, low=0, high=100, spread=0.5)
    randomizer: Any = plan.randomizer(grid)
    truth = np.where(np.arange(2000) % 2, 25, 75)
    errors = [randomizer.estimate_mean(randomizer.randomize(truth)).mean - 50 for _ in range(200)]
    assert np.sqrt(np.square(errors).mean()) == pytest.approx(plan.chosen.standard_error(0.5), rel=0.35)


def test_bad_input() -> None:
    good: dict[str, Any] = {"people": 1000, "values": 4, "epsilon": 1}
    for name, value in (
        ("people", 0),
        ("people", 1.5),
        ("values", 1),
        ("values", [2, 3]),
        ("epsilon", 0),
        ("epsilon", -1),
        ("epsilon", float("inf")),
        ("epsilon", float("nan")),
        ("epsilon", None),
        ("k", 3),
    ):
        with pytest.raises(ParameterError, match="epsilon" if name == "k" else name):
            plan_collection(**{**good, name: value})
    for k in (1, 1000, float("nan")):
        with pytest.raises(ParameterError, match="'k'"):
            plan_collection(1000, 4, k=k)
    with pytest.raises(ParameterError, match="labels"):
        plan_collection(1000, 4, epsilon=1).randomizer("abc")
    mean: dict[str, Any] = {"people": 10, "epsilon": 1}
    for name, value in (("people", 0), ("epsilon", 0), ("high", -1), ("low", float("nan")), ("spread", 2)):
        with pytest.raises(ParameterError, match=name):
            plan_mean(**{**mean, name: value})
