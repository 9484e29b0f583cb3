"""Estimates: intervals, and the nearest point on the simplex."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.collect import Estimate
from sudare.errors import ParameterError


def made(unbiased: list[float], people: int, variances: list[float] | None = None) -> Estimate:
    return Estimate(
        tuple(range(len(unbiased))), people, np.array(unbiased), np.array(variances or [1.0] * len(unbiased))
    )


def test_intervals_of_a_normal_law() -> None:
    low, high = made([10.0, 20.0], 30, [4.0, 9.0]).intervals(0.95)
    assert high - [10, 20] == pytest.approx([1.959964 * 2, 1.959964 * 3], rel=1e-6)
    assert [10, 20] - low == pytest.approx(high - [10, 20])
    assert made([1.0], 1, [-0.5]).standard_errors.tolist() == [0]


@pytest.mark.parametrize("level", [0, 1, 0.0, 1.0, -0.5, 95, float("nan"), "95 %", "95"])
def test_levels_that_are_none(level: object) -> None:
    with pytest.raises(ParameterError, match="level"):
        made([1.0], 1).intervals(level)  # type: ignore[arg-type]


@given(unbiased=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20), people=st.integers(0, 10**6))
def test_constrained_estimates_add_up_and_are_not_negative(unbiased: list[float], people: int) -> None:
    constrained = made(unbiased, people).constrained
    assert constrained.min() >= 0
    assert constrained.sum() == pytest.approx(people, abs=1e-6)


@given(st.lists(st.floats(0, 100), min_size=2, max_size=10), st.randoms())
def test_constrained_estimates_are_never_farther_from_the_truth(truth: list[float], chance: object) -> None:
    people = round(sum(truth))
    scaled = np.array(truth) * (people / sum(truth)) if sum(truth) >= 1 else np.eye(len(truth))[0] * people
    noisy = scaled + np.random.default_rng(hash(chance) % 2**32).normal(0, 20, scaled.size)
    estimate = made(noisy.tolist(), people)
    assert np.linalg.norm(estimate.constrained - scaled) <= np.linalg.norm(noisy - scaled) + 1e-9
