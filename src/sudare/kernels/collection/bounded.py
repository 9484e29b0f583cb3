"""Noise that stays on a grid: one 64-bit word for each value, looked up in running sums that all values share.

``sums[k]`` is at most 2 below the running sum of the weights of the noise -last, ..., last over its first k terms, in the same
units. The noise of a value at ``place`` has ``last + 1`` terms, from ``last - place`` on; a uniform number U picks the first one
whose running sum is above U times their total. Where rounding could matter the value is left to the caller.

And for estimates, sums over a grid with weights that fall by one factor a step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import inlined, kernel

__all__ = ["UNDECIDED", "bounded_response", "times_powers"]

UNDECIDED = -1
MARGIN = 8
"""How close a sum may come to the uniform number before the word does not decide; ``collect/randomizers/noisy_numbers.md``
proves 6."""


@inlined
def upper_word(a: Any, b: Any) -> Any:
    """The upper 64 bits of a product of 64-bit words."""
    mask = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    a_high, a_low = a >> half, a & mask
    b_high, b_low = b >> half, b & mask
    first, second = a_high * b_low, a_low * b_high
    middle = ((a_low * b_low) >> half) + (first & mask) + (second & mask)
    return a_high * b_high + (first >> half) + (second >> half) + (middle >> half)


@kernel("int64(int64[::1], uint64[::1], int64[::1], int64, int64[::1])", read_only=(0, 1, 2))
def bounded_response(places: Any, words: Any, sums: Any, last: int, out: Any) -> int:
    """A report for each place.

    Returns:
        How many were left undecided, and are -1.
    """
    undecided = 0
    for i in range(places.size):
        start = last - places[i]
        end = start + last + 1
        target = np.int64(upper_word(words[i], np.uint64(sums[end] - sums[start]))) + sums[start]
        low, high = start + 1, end
        while low < high:
            middle = (low + high) >> 1
            if sums[middle] > target:
                high = middle
            else:
                low = middle + 1
        sure_above = low == end or sums[low] - target >= MARGIN
        sure_below = low == start + 1 or target - sums[low - 1] >= MARGIN
        if sure_above and sure_below:
            out[i] = low - start - 1
        else:
            out[i] = UNDECIDED
            undecided += 1
    return undecided


@kernel("void(float64[:, ::1], float64, float64[:, ::1])", read_only=(0,))
def times_powers(rows: Any, q: float, out: Any) -> None:
    """Each row times the matrix of the powers q**abs(i - j), for 0 <= q < 1: one pass up, one pass down."""
    for r in range(rows.shape[0]):
        running = 0.0
        for i in range(rows.shape[1]):
            running = q * running + rows[r, i]
            out[r, i] = running
        running = 0.0
        for i in range(rows.shape[1] - 1, -1, -1):
            out[r, i] += running
            running = q * (running + rows[r, i])
