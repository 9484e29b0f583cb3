"""Measurements that may fail with a small probability: what they cost, alone and with others."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare import Budget, ReleaseEvent, Unit
from sudare.errors import EventError, GuaranteeError, ParameterError
from sudare.privacy import (
    GaussianMeasurement,
    KeyReleaseMeasurement,
    LaplaceMeasurement,
    Measurement,
    SelectionMeasurement,
    SmoothMeasurement,
    epsilon_to_rho,
    sensitivity_of_counts,
)
from sudare.privacy.measurements import _reach_of_laplace, read_measurement

ONE = sensitivity_of_counts(Unit())
EPSILONS = st.fractions(Fraction(1, 1000), Fraction(20))
DELTAS = st.fractions(Fraction(1, 10**12), Fraction(1, 3))


def event(cost: Budget, *measurements: Measurement) -> ReleaseEvent:
    return ReleaseEvent("query", Unit(), cost, measurements, "secure")


def laplace(epsilon: Any) -> LaplaceMeasurement:
    return LaplaceMeasurement.for_budget(Budget(epsilon=epsilon), ONE)


def gaussian(rho: Any) -> GaussianMeasurement:
    return GaussianMeasurement.for_budget(Budget(rho=rho), ONE)


def test_kinds_without_delta_have_none() -> None:
    for measurement in (laplace(1), gaussian(1), SelectionMeasurement(Fraction(1), "exponential")):
        assert measurement.delta == 0


def test_keys_cost_delta_alone() -> None:
    keys = KeyReleaseMeasurement(Fraction(1, 10**6))
    assert keys.epsilon == keys.rho == 0
    assert keys.delta == Fraction(1, 10**6)
    assert read_measurement(keys.to_dict()) == keys
    event(Budget(epsilon=1, delta=1e-6), laplace(1), keys)


@pytest.mark.parametrize("cost", [Budget(epsilon=5), Budget(rho=3), Budget(epsilon=5, delta=9e-7)], ids=str)
def test_what_may_fail_is_not_covered_without_its_delta(cost: Budget) -> None:
    with pytest.raises(EventError, match="cost more than the stated"):
        event(cost, laplace(1), KeyReleaseMeasurement(Fraction(1, 10**6)))


def test_deltas_add_up() -> None:
    keys = KeyReleaseMeasurement(Fraction(1, 10**6))
    event(Budget(epsilon=1, delta=2e-6), laplace(1), keys, keys)
    with pytest.raises(EventError, match="cost more than the stated"):
        event(Budget(epsilon=1, delta=1.9e-6), laplace(1), keys, keys)


def test_rho_is_converted_with_the_delta_that_is_left() -> None:
    keys = KeyReleaseMeasurement(Fraction(1, 10**6))
    enough = epsilon_to_rho(Fraction(1), Fraction(1, 10**6))
    event(Budget(epsilon=1, delta=2e-6), gaussian(enough), keys)
    with pytest.raises(EventError):
        event(Budget(epsilon=1, delta=1.9e-6), gaussian(enough), keys)
    with pytest.raises(EventError):  # nothing is left
        event(Budget(epsilon=1, delta=1e-6), gaussian(Fraction(1, 10**6)), keys)


def test_what_has_an_epsilon_and_what_has_none_are_covered_together() -> None:
    rho = epsilon_to_rho(Fraction(1, 2), Fraction(1, 10**6))
    event(Budget(epsilon=8, delta=1e-6), laplace(Fraction(15, 2)), gaussian(rho))
    with pytest.raises(EventError):
        event(Budget(epsilon=8, delta=1e-6), laplace(Fraction(76, 10)), gaussian(rho))


@given(EPSILONS, DELTAS, st.integers(1, 50))
def test_smooth_noise_for_a_budget_costs_hardly_less_than_the_budget(
    epsilon: Fraction, delta: Fraction, cells: int
) -> None:
    budget = Budget._exactly(epsilon, delta, None)
    measurement = SmoothMeasurement.for_budget(budget, cells)
    assert epsilon * (1 - Fraction(1, 10**12)) <= measurement.epsilon <= epsilon
    assert measurement.delta == delta
    made = event(budget, measurement)
    assert ReleaseEvent.from_json(made.to_json()) == made
    with pytest.raises(EventError):
        event(Budget._exactly(epsilon * Fraction(99, 100), delta, None), measurement)


@pytest.mark.parametrize("budget", [Budget(epsilon=1), Budget(rho=1)], ids=str)
def test_smooth_noise_needs_a_delta(budget: Budget) -> None:
    with pytest.raises(GuaranteeError, match="needs an epsilon and a delta"):
        SmoothMeasurement.for_budget(budget)


@pytest.mark.parametrize(
    "values",
    [
        (0, 1, 0.1, 1),
        (1, 0, 0.1, 1),
        (1, 1e-16, 0.1, 1),
        (1, 101, 0.1, 1),
        (1, 1, 1, 1),
        (1, 1, 0.1, 0),
        (1, 1, 0.1, 1.5),
    ],
)
def test_smooth_noise_takes_numbers_in_range(values: Any) -> None:
    with pytest.raises(ParameterError, match="parameter of SmoothMeasurement must be"):
        SmoothMeasurement(*values)


@pytest.mark.parametrize("chance", [0, 1, -1, 2, float("nan"), True, "1", None])
def test_the_chance_of_keys_is_a_probability(chance: Any) -> None:
    with pytest.raises(ParameterError, match="The 'chance' parameter of KeyReleaseMeasurement must be"):
        KeyReleaseMeasurement(chance)


def weights(scale: Any, reach: int) -> np.ndarray:
    q = np.exp(-1 / float(scale))
    return np.asarray((1 - q) / (1 + q) * q ** np.abs(np.arange(-reach, reach + 1)))


def excess(p: np.ndarray, q: np.ndarray, epsilon: Fraction) -> float:
    """By how much the probabilities of p exceed exp(epsilon) times those of q: the smallest delta."""
    return float(np.maximum(p - np.exp(float(epsilon)) * q, 0).sum())


@pytest.mark.parametrize("delta", [Fraction(1, 10), Fraction(1, 1000)], ids=str)
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2), Fraction(8)], ids=str)
@pytest.mark.parametrize("bound", [1, 2, 7, 30])
def test_one_number_keeps_the_guarantee_exactly(epsilon: Fraction, delta: Fraction, bound: int) -> None:
    """The worst shift and the worst change of scale, and those between, summed up from the definition."""
    measurement = SmoothMeasurement.for_budget(Budget(epsilon=epsilon, delta=delta))
    narrow = float(measurement.scale_for(Fraction(bound)))
    reach = int(60 * narrow * np.exp(float(measurement.beta))) + 100
    worst = 0.0
    for share in (0, 0.5, 1):
        wide = narrow * np.exp(share * float(measurement.beta))
        for shift in range(bound + 1):
            one, other = weights(narrow, reach), np.roll(weights(wide, reach), shift)
            worst = max(worst, excess(one, other, epsilon), excess(other, one, epsilon))
    assert worst <= delta
    # With a quarter of the noise it would not hold: the test can fail.
    one, other = weights(narrow / 4, reach), np.roll(weights(narrow / 4, reach), bound)
    assert excess(one, other, epsilon) > worst


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(4)], ids=str)
def test_two_numbers_keep_the_guarantee_exactly(epsilon: Fraction) -> None:
    delta, bound = Fraction(1, 50), 3
    measurement = SmoothMeasurement.for_budget(Budget(epsilon=epsilon, delta=delta), 2)
    narrow = float(measurement.scale_for(Fraction(bound)))
    wide = narrow * float(np.exp(float(measurement.beta)))
    reach = int(30 * wide) + 20
    one = np.multiply.outer(weights(narrow, reach), weights(narrow, reach))
    plain = np.multiply.outer(weights(wide, reach), weights(wide, reach))
    for first in range(bound + 1):
        other = np.roll(plain, (first, bound - first), axis=(0, 1))
        assert excess(one, other, epsilon) <= delta
        assert excess(other, one, epsilon) <= delta


@pytest.mark.parametrize("cells", [1, 2, 3, 10])
@pytest.mark.parametrize("scale", [0.2, 1, 10])
def test_noise_goes_no_further_than_stated(cells: int, scale: float) -> None:
    """Against the exact distribution of the sum of absolute values."""
    for chance in (Fraction(1, 2), Fraction(1, 100), Fraction(1, 10**6)):
        reach = _reach_of_laplace(cells, chance)
        assert reach >= cells
        most = int(80 * scale * cells) + 50
        q = np.exp(-1 / scale)
        single = 2 * (1 - q) / (1 + q) * q ** np.arange(most)
        single[0] /= 2
        together = np.ones(1)
        for _ in range(cells):
            together = np.convolve(together, single)[:most]
        beyond = together[np.arange(together.size) > float(reach) * scale].sum()
        assert beyond <= float(chance)


@given(DELTAS, st.integers(2, 10**6))
def test_the_reach_is_the_smallest_that_its_formula_gives(chance: Fraction, cells: int) -> None:
    reach = _reach_of_laplace(cells, chance)
    with mpmath.workdps(50):
        u = mpmath.mpf(reach.numerator) / reach.denominator
        log_chance = mpmath.log(mpmath.mpf(chance.numerator) / chance.denominator)
        assert cells * mpmath.log(u / cells) + cells - u <= log_chance
        u *= 1 - mpmath.mpf(10) ** -15
        assert cells * mpmath.log(u / cells) + cells - u > log_chance
