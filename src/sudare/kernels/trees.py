"""One level of a descent through a tree over sorted leaves.

Both kernels take the nodes of a level that have a positive refined count, and write their children that have one, in
order. A node is a prefix of leaf numbers (the bits below are 0), a range of the sorted leaves that hold people, and
its refined count. Nothing is visited below a node whose refined count is 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import called, kernel

__all__ = ["split_by_counts", "split_by_difference"]

ABSENT = -(2**63) + 1
"""Stands for the count of a child without cells."""


@called
def first_at_least(leaves: Any, low: Any, high: Any, wanted: Any) -> Any:
    """Position of the first leaf in a range that is not below the wanted one."""
    while low < high:
        middle = (low + high) >> 1
        if leaves[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@called
def is_outside(prefix: Any, lengths: Any, gather: Any) -> Any:
    """Whether no leaf with this prefix is a cell: along some axis even the first one is beyond the end."""
    for axis in range(lengths.size):
        rest = prefix
        index = np.uint64(0)
        for byte in range(gather.shape[1]):
            index |= gather[axis, byte, rest & np.uint64(255)]
            rest >>= np.uint64(8)
        if index >= lengths[axis]:
            return True
    return False


@kernel(
    "int64(uint64[::1], int64[::1], uint64[::1], int64[::1], int64[::1], int64[::1], int64[::1], boolean[::1], int64, boolean,"
    " uint64[::1], uint64[:, :, ::1], uint64[::1], int64[::1], int64[::1], int64[::1])",
    read_only=(0, 1, 2, 3, 4, 5, 7, 10, 11),
)
def split_by_difference(
    leaves: Any,
    sums: Any,
    prefixes: Any,
    starts: Any,
    ends: Any,
    refined: Any,
    noise: Any,
    coins: Any,
    bit: int,
    padded: bool,
    lengths: Any,
    gather: Any,
    out_prefixes: Any,
    out_starts: Any,
    out_ends: Any,
    out_refined: Any,
) -> int:
    """Split each node in two by the noisy difference of its halves, kept within the node's refined count.

    The left half gets floor((s + d + coin) / 2) with d the noisy difference (written over the noise), clamped to
    [-s, s], and a fair coin for the parity; the right half gets the rest. Returns the number of children written.
    """
    written = 0
    for i in range(prefixes.size):
        start, end, s = starts[i], ends[i], refined[i]
        right_prefix = prefixes[i] | (np.uint64(1) << np.uint64(bit))
        middle = first_at_least(leaves, start, end, right_prefix)
        difference = 2 * sums[middle] - sums[start] - sums[end] + noise[i]
        noise[i] = difference
        difference = min(max(difference, -s), s)
        if padded and is_outside(right_prefix, lengths, gather):
            left = s
        else:
            left = np.int64((np.uint64(s + difference) + np.uint64(coins[i])) >> np.uint64(1))
            left = min(left, s)
        if left > 0:
            out_prefixes[written] = prefixes[i]
            out_starts[written] = start
            out_ends[written] = middle
            out_refined[written] = left
            written += 1
        if s - left > 0:
            out_prefixes[written] = right_prefix
            out_starts[written] = middle
            out_ends[written] = end
            out_refined[written] = s - left
            written += 1
    return written


@kernel(
    "int64(uint64[::1], int64[::1], uint64[::1], int64[::1], int64[::1], int64[::1], int64[:, ::1], uint64[::1], int64,"
    " int64, boolean, uint64[::1], uint64[:, :, ::1], uint64[::1], int64[::1], int64[::1], int64[::1])",
    read_only=(0, 1, 2, 3, 4, 5, 7, 11, 12),
)
def split_by_counts(
    leaves: Any,
    sums: Any,
    prefixes: Any,
    starts: Any,
    ends: Any,
    refined: Any,
    noise: Any,
    tie_words: Any,
    bit: int,
    bits: int,
    padded: bool,
    lengths: Any,
    gather: Any,
    out_prefixes: Any,
    out_starts: Any,
    out_ends: Any,
    out_refined: Any,
) -> int:
    """Split each node into 2**bits children by their noisy counts, projected on the node's refined count.

    The noisy counts z (written over the noise) are whole, so the nearest point of the simplex {b >= 0, sum b = s} is
    z - theta, cut off at 0, with one theta for all children, and the nearest whole point has z - t, cut off at 0,
    with t = ceil(theta), plus 1 for as many of the children with z >= t as it takes. Which of these get it is decided
    by turning through them from a random one. Returns the number of children written.
    """
    fan = 1 << bits
    written = 0
    for i in range(prefixes.size):
        s = refined[i]
        position = starts[i]
        highest = np.int64(ABSENT)
        for child in range(fan):
            below = position
            child_end = prefixes[i] | (np.uint64(child + 1) << np.uint64(bit))
            position = ends[i] if child == fan - 1 else first_at_least(leaves, position, ends[i], child_end)
            z = sums[position] - sums[below] + noise[i, child]
            if padded and is_outside(prefixes[i] | (np.uint64(child) << np.uint64(bit)), lengths, gather):
                z = np.int64(ABSENT)
            noise[i, child] = z
            highest = max(highest, z)
        # The smallest t for which what is above t does not exceed s.
        low, high = highest - s - 1, highest
        while high - low > 1:
            t = low + ((high - low) >> 1)
            above = np.int64(0)
            for child in range(fan):
                if noise[i, child] > t and noise[i, child] != ABSENT:
                    above += noise[i, child] - t
                    if above > s:
                        break
            if above > s:
                low = t
            else:
                high = t
        t = high
        left_over = s
        active = 0
        for child in range(fan):
            if noise[i, child] >= t and noise[i, child] != ABSENT:
                active += 1
                left_over -= noise[i, child] - t
        turn: Any = np.int64(tie_words[i] % np.uint64(active))
        position = starts[i]
        for child in range(fan):
            child_end = prefixes[i] | (np.uint64(child + 1) << np.uint64(bit))
            below = position
            position = ends[i] if child == fan - 1 else first_at_least(leaves, position, ends[i], child_end)
            if noise[i, child] < t or noise[i, child] == ABSENT:
                continue
            count = noise[i, child] - t
            if turn < left_over:
                count += 1
            turn = turn + 1 if turn + 1 < active else 0
            if count > 0:
                out_prefixes[written] = prefixes[i] | (np.uint64(child) << np.uint64(bit))
                out_starts[written] = below
                out_ends[written] = position
                out_refined[written] = count
                written += 1
    return written
