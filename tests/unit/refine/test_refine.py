"""Refinements are the minima they claim to be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sudare.errors import ParameterError
from sudare.refine import (
    clip_and_scale,
    nearest_integers,
    negative_l2,
    negative_l2_by_iteration,
    nonnegative_lasso,
    project_on_simplex,
)

VALUES = arrays.arrays(np.float64, st.integers(1, 40), elements=st.floats(-100, 100).map(lambda x: round(x, 3)))
TOTALS = st.floats(0.01, 500).map(lambda x: round(x, 2))


def by_sorting(z: np.ndarray, total: float) -> np.ndarray:
    """Equations 8 to 10 of the paper: sort, and find how many stay positive."""
    ordered = np.sort(z)[::-1]
    sums = np.cumsum(ordered)
    positive = [k for k in range(1, z.size + 1) if ordered[k - 1] - (sums[k - 1] - total) / k > 0]
    k = max(positive)
    return np.asarray(np.maximum(z - (sums[k - 1] - total) / k, 0))


@given(VALUES, TOTALS)
def test_projection_is_that_by_sorting(z: np.ndarray, total: float) -> None:
    b = project_on_simplex(z, total)
    assert np.allclose(b, by_sorting(z, total), atol=1e-9)
    assert b.min() >= 0
    assert b.sum() == pytest.approx(total)


@given(VALUES, TOTALS)
def test_projection_twice_is_projection_once(z: np.ndarray, total: float) -> None:
    once = project_on_simplex(z, total)
    assert np.allclose(project_on_simplex(once, total), once, atol=1e-9)


@given(VALUES, TOTALS, st.floats(0, 0.95, allow_subnormal=False))
def test_negative_l2_is_the_minimum_of_its_objective(z: np.ndarray, total: float, weight: float) -> None:
    """Against random feasible points and moves along edges: the objective of eq. 11 as printed is convex for weight < 1."""
    b = negative_l2(z, total, weight)
    assert b.sum() == pytest.approx(total)

    def objective(x: np.ndarray) -> float:
        return float(((z - x) ** 2).sum() - weight * (x**2).sum())

    best = objective(b)
    slack = 1e-6 * (1 + abs(best))
    for i in range(z.size):
        for j in range(z.size):
            step = min(b[i], 0.01)
            moved = b.copy()
            moved[i] -= step
            moved[j] += step
            assert objective(moved) >= best - slack


@given(VALUES, TOTALS, st.floats(0, 0.9, allow_subnormal=False))
def test_iteration_agrees_with_the_closed_form(z: np.ndarray, total: float, weight: float) -> None:
    assert np.allclose(negative_l2_by_iteration(z, total, weight), negative_l2(z, total, weight), atol=1e-6)


@given(VALUES, TOTALS, st.floats(0, 50, allow_subnormal=False))
def test_others_are_feasible(z: np.ndarray, total: float, weight: float) -> None:
    for b in (
        clip_and_scale(z, total),
        nonnegative_lasso(z, total, weight),
        nonnegative_lasso(z, total, weight, correct_by="shift"),
    ):
        assert b.min() >= 0
        assert b.sum() == pytest.approx(total)


def test_lasso_is_soft_thresholding() -> None:
    assert nonnegative_lasso([5.0, 2.0, 0.5, -3.0], 5, 2).tolist() == [4.0, 1.0, 0.0, 0.0]


@given(VALUES, st.integers(0, 300))
def test_integers_are_a_nearest_point(z: np.ndarray, total: int) -> None:
    b = project_on_simplex(z, total)
    whole = nearest_integers(b, total)
    assert whole.sum() == total
    assert whole.min() >= 0
    assert np.abs(whole - b).max() <= 1
    # No move of one unit comes nearer.
    for i in np.flatnonzero(whole):
        gain = (whole - b) - (whole[i] - b[i]) + 1
        gain[i] = 0
        assert gain.min() >= -1e-9


def test_shapes_are_kept() -> None:
    z = np.arange(12.0).reshape(3, 4)
    assert project_on_simplex(z, 5).shape == (3, 4)
    assert nearest_integers(project_on_simplex(z, 5), 5).shape == (3, 4)


def test_a_total_of_zero_leaves_nothing() -> None:
    assert project_on_simplex([3.0, -1.0], 0).tolist() == [0, 0]
    assert clip_and_scale([-3.0, -1.0], 4).tolist() == [2, 2]


def test_large_vectors() -> None:
    rng = np.random.default_rng(2)
    z = rng.laplace(scale=10, size=200_000)
    z[:500] += 300
    b = project_on_simplex(z, 150_000)
    assert np.allclose(b, by_sorting(z, 150_000), atol=1e-7)


@pytest.mark.parametrize("values", [[], [float("nan")], [float("inf")], ["a"], [True], None])
def test_values_that_are_none(values: Any) -> None:
    for refine in (
        lambda v: project_on_simplex(v, 1),
        lambda v: negative_l2(v, 1, 0.1),
        lambda v: nearest_integers(v, 1),
    ):
        with pytest.raises(ParameterError, match="The 'values' parameter"):
            refine(values)


@pytest.mark.parametrize("total", [-1, float("nan"), True, "five", "-5", 2**54])
def test_totals_that_are_none(total: Any) -> None:
    for refine in (project_on_simplex, clip_and_scale, nearest_integers):
        with pytest.raises(ParameterError, match="The 'total' parameter"):
            refine([1.0], total)


@pytest.mark.parametrize("weight", [-0.1, 1, 1.5, float("nan"), True])
def test_weights_out_of_range(weight: Any) -> None:
    for refine in (negative_l2, negative_l2_by_iteration):
        with pytest.raises(ParameterError, match="The 'weight' parameter"):
            refine([1.0, 2.0], 1, weight)
    with pytest.raises(ParameterError, match="'scale' or 'shift'"):
        nonnegative_lasso([1.0], 1, 1, correct_by="both")  # type: ignore[arg-type]


def test_integers_far_from_the_total_are_refused() -> None:
    for values, total in (([1.0, 2.0], 10), ([1.0, 2.0], 1), ([-1.0, 2.0], 1)):
        with pytest.raises(ParameterError, match="The 'values' parameter"):
            nearest_integers(values, total)
