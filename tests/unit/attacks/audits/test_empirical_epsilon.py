"""The audit never accuses the innocent (beyond its stated error) and catches what is broken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sudare.attacks import audit_epsilon
from sudare.distributions import proportion_limits
from sudare.errors import ParameterError
from sudare.noise import discrete_laplace, uniform_below


def test_bound_is_close_to_the_truth_from_below() -> None:
    noise = discrete_laplace(2)
    audit = audit_epsilon(noise.draw(300_000), 1 + noise.draw(300_000))
    assert 0.45 < audit.lower_bound <= 0.5
    assert not audit.refutes(0.5)
    assert audit.refutes(0.4)


def test_equal_mechanisms_have_bound_zero() -> None:
    noise = discrete_laplace(2)
    assert audit_epsilon(noise.draw(50_000), noise.draw(50_000)).lower_bound < 0.05


def test_a_mechanism_that_leaks_with_small_probability_is_caught_and_delta_excuses_it() -> None:
    runs = 100_000
    leak = (uniform_below(100, runs) == 0).astype(np.int64)  # says "1" in 1 % of the runs, on one neighbour only
    silent = np.zeros(runs, dtype=np.int64)
    assert audit_epsilon(leak, silent).lower_bound > 3
    assert audit_epsilon(leak, silent, delta=0.02).lower_bound < 0.1


def test_confidence_limits_are_clopper_pearson() -> None:
    from scipy.stats import binomtest

    low, high = proportion_limits(np.array([0, 3, 50, 100]), 100, 0.025)
    for hits, lower, upper in zip([0, 3, 50, 100], low, high, strict=True):
        exact = binomtest(hits, 100).proportion_ci(0.95, method="exact")
        assert (lower, upper) == pytest.approx((exact.low, exact.high))


@pytest.mark.parametrize("outputs", [[1.0] * 200, [1] * 99, [[1] * 200], "x" * 200, None])
def test_outputs_are_whole_numbers(outputs: Any) -> None:
    with pytest.raises(ParameterError, match="must be at least 100 whole numbers"):
        audit_epsilon(outputs, [1] * 200)


def test_as_many_runs_on_both_sides() -> None:
    with pytest.raises(ParameterError, match="as many as outputs"):
        audit_epsilon([1] * 200, [1] * 201)


@pytest.mark.parametrize(
    "arguments", [{"delta": 1}, {"delta": -0.1}, {"delta": "a"}, {"error_probability": 0}, {"error_probability": 2}]
)
def test_probabilities(arguments: Any) -> None:
    with pytest.raises(ParameterError, match=f"The '{next(iter(arguments))}' parameter of audit_epsilon"):
        audit_epsilon([1] * 200, [1] * 200, **arguments)
