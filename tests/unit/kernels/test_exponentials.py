"""exp_minus keeps the error bound that its proof page derives."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import mpmath
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sudare.kernels.exponentials import ERROR_BOUND, MAX_ARGUMENT, exp_minus_array
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


@given(st.lists(st.floats(0, MAX_ARGUMENT, exclude_max=True), min_size=1, max_size=50))
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


def test_constants_do_not_depend_on_the_callers_decimal_context(tmp_path: Path) -> None:
    """They are compiled into the kernel and cached on disk: a careless context must not spoil them for everybody."""
    code = (
        "import decimal, math; decimal.getcontext().prec = 1\n"
        "from sudare.kernels.exponentials import _WHOLE_POWERS as powers\n"
        "print(max(abs(power / math.exp(-n) - 1) for n, power in enumerate(powers.tolist())))"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert float(shown.stdout) < 1e-15
