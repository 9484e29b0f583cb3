"""exp(-x) in double precision, by additions and multiplications alone, with a proven error bound.

The C library's ``exp`` is accurate but promises nothing. This one uses only operations that IEEE 754 rounds
correctly, so its error bound is a theorem (``exponentials.md`` beside this file), and the same on every machine up
to that bound.
"""

from __future__ import annotations

from decimal import Context, Decimal
from typing import Any

import numpy as np

from sudare.kernels.compiling import inlined, kernel

__all__ = ["ERROR_BOUND", "MAX_ARGUMENT", "exp_minus", "exp_minus_array"]

MAX_ARGUMENT = 64.0
"""Arguments from here on give 0.0; the true value is then below 2**-92."""

ERROR_BOUND = 2.0**-45
"""Relative error of `exp_minus` for arguments below `MAX_ARGUMENT`, argument taken as exact."""

_TERMS = 15
_RECIPROCALS = np.array([1.0, *(1.0 / k for k in range(1, _TERMS))])
_WHOLE_POWERS = np.array([float(Context(prec=40).exp(Decimal(-n))) for n in range(64)])


@inlined
def exp_minus(x: float) -> float:
    """exp(-x) for x >= 0."""
    if not x < 64.0:
        return 0.0
    whole = int(x)
    half = (x - whole) * 0.5
    series = 1.0
    for k in range(_TERMS - 1, 0, -1):
        series = 1.0 - half * _RECIPROCALS[k] * series
    return series * series * _WHOLE_POWERS[whole]  # type: ignore[no-any-return]


@kernel("void(float64[::1], float64[::1])")
def exp_minus_array(x: Any, out: Any) -> None:
    """exp(-x), value by value."""
    for i in range(x.size):
        out[i] = exp_minus(x[i])
