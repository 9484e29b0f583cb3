"""exp_minus keeps the error bound that its proof page derives."""

from __future__ import annotations

import sys

import mpmath
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sudare.kernels.exponentials import ERROR_BOUND, LARGEST_ARGUMENT, exp_minus_array
from tests.reference import naive

PROVED = 2.0**-47


def worst_relative_error(arguments: np.ndarray) -> float:
    out = np.empty_like(arguments)
    exp_minus_array(arguments, out)
    worst = 0.0
    with mpmath.workprec(200):
        for x, y in zip(arguments.tolist(), out.tolist(), strict=True):
            true = naive.exp_minus(x)
            worst = max(worst, float(abs(mpmath.mpf(y) - true) / true))
    return worst


@given(st.lists(st.floats(0, LARGEST_ARGUMENT, exclude_max=True), min_size=1, max_size=50))
def test_error_bound(arguments: list[float]) -> None:
    assert worst_relative_error(np.array(arguments)) <= PROVED <= ERROR_BOUND


def test_error_bound_at_edges() -> None:
    wholes = np.arange(64.0)
    edges = np.concatenate([wholes, np.nextafter(wholes[1:], 0), np.nextafter(wholes, 65)])
    tiny = np.array([0.0, 5e-324, sys.float_info.min, 1e-300, 1e-16, 2.0**-53])
    assert worst_relative_error(np.concatenate([edges, tiny])) <= PROVED


def test_large_arguments_give_zero() -> None:
    out = np.ones(4)
    exp_minus_array(np.array([64.0, 1e3, 1e308, np.inf]), out)
    assert out.tolist() == [0.0] * 4
