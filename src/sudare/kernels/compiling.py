"""How every kernel is compiled: cached on disk, without the GIL, with IEEE arithmetic as written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core.sigutils import normalize_signature

__all__ = ["called", "inlined", "kernel"]

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(signature: str, read_only: tuple[int, ...] = ()) -> Callable[[Function], Function]:
    """Compile a function for one signature, once per machine.

    Args:
        signature: types of the result and the arguments, as numba writes them.
        read_only: positions of arrays that the kernel does not write to, so that protected arrays can be handed in.
    """
    arguments, result = normalize_signature(signature)
    kinds = [kind.copy(readonly=True) if i in read_only else kind for i, kind in enumerate(arguments)]
    compiled: Callable[[Function], Function] = numba.njit(result(*kinds), cache=True, nogil=True, error_model="numpy")
    return compiled


def inlined(function: Function) -> Function:
    """Compile a helper that becomes part of the kernels that call it."""
    compiled: Function = numba.njit(nogil=True, error_model="numpy", inline="always")(function)
    return compiled


def called(function: Function) -> Function:
    """Compile a helper that stays a function of its own, for paths that are rarely taken."""
    compiled: Function = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    return compiled
