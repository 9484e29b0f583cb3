"""Many biased coins at once, and vectors of bits packed into bytes.

**Coins.** A coin with probability 0.d1 d2 d3 ... (binary) is a uniform number compared with it, digit by digit from the left: the
first digit in which they differ decides. Sixty-four such comparisons go on in the 64 bits of a *lane*; each round reads one
word a lane, and half of the bits that were open are decided by it. So a lane needs about seven words, not sixty-four, and
the coins are exact.

**Packed bits.** A row of ``ceil(values / 8)`` bytes for each person; bit v is bit ``v % 8`` of byte ``v // 8``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import kernel

__all__ = ["compare_digit", "count_bytes", "place_true_bits"]


@kernel("int64(uint64[::1], boolean, int32[::1], int64, uint64[::1], uint64[::1])", read_only=(0,))
def compare_digit(words: Any, digit: bool, lanes: Any, active: int, undecided: Any, result: Any) -> int:
    """One digit of the probability against one word of each lane that is still open.

    Args:
        words: one for each open lane.
        digit: of the probability.
        lanes: the open ones first; those that stay open are moved to the front, in order.
        active: how many are open.
        undecided: for each lane, the bits that are open.
        result: for each lane, the bits decided as 1.

    Returns:
        How many lanes stay open.
    """
    left: Any = 0
    for j in range(active):
        lane = lanes[j]
        word, still_open = words[j], undecided[lane]
        if digit:
            result[lane] |= still_open & ~word
            still_open &= word
        else:
            still_open &= ~word
        undecided[lane] = still_open
        lanes[left] = lane
        left += np.int64(still_open != np.uint64(0))
    return int(left)


@kernel("void(uint8[:, ::1], int64[::1], uint64[::1], int64)", read_only=(1, 2))
def place_true_bits(reports: Any, places: Any, coins: Any, values: int) -> None:
    """The bit of each person's true value becomes that person's coin; bits behind the last value become 0."""
    last = reports.shape[1] - 1
    used = np.uint8((1 << (values - 8 * last)) - 1)
    for i in range(places.size):
        place = places[i]
        coin = (coins[i >> 6] >> np.uint64(i & 63)) & np.uint64(1)
        mask = np.uint8(1 << (place & 7))
        reports[i, last] &= used
        reports[i, place >> 3] = (reports[i, place >> 3] & ~mask) | (mask * np.uint8(coin))


@kernel("void(uint8[:, ::1], int64[:, ::1])", read_only=(0,))
def count_bytes(reports: Any, histogram: Any) -> None:
    """How often each column holds each byte: one step for eight bits."""
    width = reports.shape[1]
    for i in range(reports.shape[0]):
        for column in range(width):
            histogram[column, reports[i, column]] += 1
