"""Choices of levels as places in an array with an axis for each column, in C order."""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import kernel

__all__ = ["climb", "count_finer"]


@kernel("void(boolean[::1], int64[::1], int32[::1])", read_only=(0, 1))
def count_finer(is_open: Any, shape: Any, out: Any) -> None:
    """For each choice, how many open ones are nowhere coarser."""
    for place in range(is_open.size):
        out[place] = np.int32(is_open[place])
    stride = is_open.size
    for axis in range(shape.size):
        block = stride
        stride //= shape[axis]
        for begin in range(0, is_open.size, block):
            for place in range(begin + stride, begin + block):
                out[place] += out[place - stride]


@kernel("int64(int64, int32[::1], boolean[::1], int64[::1], int64[::1])", read_only=(1, 2, 3))
def climb(start: Any, finer: Any, ends: Any, shape: Any, chain: Any) -> Any:
    """Go up from a choice, one level of one column at a time, to where the most open choices are finer.

    Args:
        start: place to begin.
        finer: how many open choices are nowhere coarser than each.
        ends: places that end the way.
        shape: of the lattice.
        chain: written to, the places on the way.

    Returns:
        How many places the chain has.
    """
    here = start
    chain[0] = here
    length = 1
    while True:
        best = np.int64(-1)
        most = np.int32(-1)
        stride = ends.size
        for axis in range(shape.size):
            block = stride
            stride //= shape[axis]
            if (here % block) // stride + 1 == shape[axis]:
                continue
            above = here + stride
            if not ends[above] and finer[above] > most:
                most = finer[above]
                best = above
        if best < 0:
            return length
        here = best
        chain[length] = here
        length += 1
