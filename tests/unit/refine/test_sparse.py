"""Refinements of the large values alone are those of the whole table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sudare.errors import ParameterError
from sudare.refine import lasso, negative_l2, nonnegative_lasso, project_on_simplex

VALUES = arrays.arrays(np.float64, st.integers(1, 40), elements=st.floats(-100, 100).map(lambda x: round(x, 3)))
TOTALS = st.floats(0.01, 500).map(lambda x: round(x, 2))
METHODS: dict[str, Callable[..., np.ndarray]] = {
    "projection": project_on_simplex,
    "negative l2": lambda z, total, **more: negative_l2(z, total, 0.4, **more),
    "lasso, scaled": lambda z, total, **more: nonnegative_lasso(z, total, 20, **more),
    "lasso, shifted": lambda z, total, **more: nonnegative_lasso(z, total, 20, correct_by="shift", **more),
}


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@given(z=VALUES, total=TOTALS, cut_off=st.integers(-50, 60))
def test_large_values_alone(method: Any, z: np.ndarray, total: float, cut_off: int) -> None:
    """Either the result of the whole table, all others being 0, or an error; an error only where it is needed."""
    kept = z > cut_off
    assume(kept.any())
    whole = method(z, total)
    try:
        alone = method(z[kept], total, cut_off=cut_off)
    except ParameterError as error:
        refused = error.parameter
    else:
        refused = ""
    if refused:
        assert refused == "cut_off"
        # Values below the cut-off, down to it, could have been positive in the result.
        lifted = np.append(z[kept], np.full(1000, float(cut_off)))
        assert method(lifted, total)[kept.sum() :].max() > 0
        return
    assert np.allclose(alone, whole[kept], atol=1e-9)
    assert np.allclose(whole[~kept], 0, atol=1e-9)


def test_a_cut_off_that_is_too_high_is_refused() -> None:
    calls: list[Callable[[], Any]] = [
        lambda: project_on_simplex([10.0, 9.0], 30, cut_off=8),
        lambda: negative_l2([10.0, 9.0], 30, 0.1, cut_off=8),
        lambda: nonnegative_lasso([10.0, 9.0], 30, 2, cut_off=8),
        lambda: nonnegative_lasso([10.0, 9.0], 30, 2, cut_off=8, correct_by="shift"),
        lambda: nonnegative_lasso([10.0, 9.0], 30, 40, cut_off=8),
    ]
    for call in calls:
        with pytest.raises(ParameterError, match="lower cut-off"):
            call()
    with pytest.raises(ParameterError, match="The 'cut_off' parameter"):
        project_on_simplex([1.0], 1, cut_off="low")


def test_a_large_sparse_table() -> None:
    rng = np.random.default_rng(3)
    z = rng.laplace(scale=10, size=300_000)
    z[:3000] += 200
    kept = z > 15
    whole = project_on_simplex(z, 600_000)
    assert np.allclose(project_on_simplex(z[kept], 600_000, cut_off=15), whole[kept], atol=1e-7)
    assert not whole[~kept].any()


@given(VALUES, st.floats(0, 100, allow_subnormal=False))
def test_lasso_is_the_minimum_of_its_objective(z: np.ndarray, weight: float) -> None:
    b = lasso(z, weight)
    best = (z - b) ** 2 + weight * np.abs(b)
    for step in (-1.0, -0.01, 0.01, 1.0):
        moved = b + step
        assert ((z - moved) ** 2 + weight * np.abs(moved) >= best - 1e-9).all()


@given(VALUES, TOTALS, st.floats(0, 50, allow_subnormal=False), st.sampled_from(["scale", "shift"]))
def test_lasso_meets_the_total(z: np.ndarray, total: float, weight: float, correct_by: Any) -> None:
    free, bound = lasso(z, weight), lasso(z, weight, total, correct_by)
    assume(correct_by == "shift" or abs(free.sum()) > 1e-6)
    assert bound.sum() == pytest.approx(total, abs=1e-6)
    if free.sum() > 0:
        assert not bound[free == 0].any()


def test_lasso_keeps_no_negative_zero() -> None:
    assert not np.signbit(lasso([-0.5, 0.5, 0.0], 2)).any()


@pytest.mark.parametrize("weight", [-1, float("inf"), True, None])
def test_lasso_refuses_weights(weight: Any) -> None:
    with pytest.raises(ParameterError, match="The 'weight' parameter of lasso"):
        lasso([1.0], weight)


def test_masks_and_ragged_lists_are_refused() -> None:
    for values in (np.ma.masked_array([1.0, 2.0], [True, False]), [[1.0], [2.0, 3.0]]):
        with pytest.raises(ParameterError, match="The 'values' parameter"):
            project_on_simplex(values, 1)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("place", [0, 1, 70_000])
def test_long_vectors_with_a_value_that_is_not_finite(bad: float, place: int) -> None:
    z = np.random.default_rng(1).laplace(scale=10, size=100_000)
    z[place] = bad
    calls: list[Callable[[], Any]] = [
        lambda: project_on_simplex(z, 100),
        lambda: negative_l2(z, 100, 0.2),
        lambda: project_on_simplex(z, 0),
    ]
    for call in calls:
        with pytest.raises(ParameterError, match="finite numbers"):
            call()
