"""Haar trees in dense arrays: the transform along an axis, and the descent of a prepared tree in three orders.

A vector of 2**depth numbers is turned into its total and, for every node of the binary tree above it, the sum of the
node's left half minus that of its right half. Nodes are numbered as in a heap: the root is 1, the halves of node i
are 2 i and 2 i + 1; place 0 holds the total.

The descents take the same tree with noise on it and give each node's count to its halves by one rule, `left_share`.
They differ only in which nodes they visit, so their results are equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import inlined, kernel

__all__ = ["counts_along", "differences_along", "refine_by_levels", "refine_depth_first", "refine_with_skips"]

COLUMNS_AT_ONCE = 64
"""Vectors transformed side by side: their numbers at one place share cache lines."""

MAX_DEPTH = 64


@kernel("void(int64[:, :, ::1])")
def differences_along(numbers: Any) -> None:
    """Replace every vector along the middle axis, of a power of two numbers, by its total and its differences."""
    before, length, after = numbers.shape
    columns = min(after, COLUMNS_AT_ONCE)
    sums = np.empty((length, columns), dtype=np.int64)
    for i in range(before):
        for first in range(0, after, columns):
            width = min(columns, after - first)
            for place in range(length):
                for j in range(width):
                    sums[place, j] = numbers[i, place, first + j]
            nodes = length >> 1
            while nodes > 0:
                for node in range(nodes):
                    for j in range(width):
                        left, right = sums[2 * node, j], sums[2 * node + 1, j]
                        sums[node, j] = left + right
                        numbers[i, nodes + node, first + j] = left - right
                nodes >>= 1
            for j in range(width):
                numbers[i, 0, first + j] = sums[0, j]


@kernel("void(int64[:, :, ::1], uint64[::1])", read_only=(1,))
def counts_along(numbers: Any, coins: Any) -> None:
    """Undo `differences_along` in whole numbers: a node's halves are half its sum plus and minus half its difference.

    Where the sum and the difference are not both even or both odd, one of the halves gets a half more and the other a half
    less, by the coin of the difference's place; so the halves add up to the node. ``coins`` has a bit for each number.

    Nothing overflows as long as all numbers are from -(2**63 - 1) to 2**63 - 1: neither half is larger in size than the larger
    of sum and difference, and what the additions in between lose beyond 64 bits does not reach the results.
    """
    before, length, after = numbers.shape
    columns = min(after, COLUMNS_AT_ONCE)
    sums = np.empty((length, columns), dtype=np.int64)
    for i in range(before):
        for first in range(0, after, columns):
            width = min(columns, after - first)
            for j in range(width):
                sums[0, j] = numbers[i, 0, first + j]
            nodes = 1
            while nodes < length:
                for node in range(nodes - 1, -1, -1):  # from the right, so that no sum is overwritten before it is used
                    place = (i * length + nodes + node) * after + first
                    for j in range(width):
                        whole, difference = sums[node, j], numbers[i, nodes + node, first + j]
                        coin = np.int64(coins[(place + j) >> 6] >> np.uint64((place + j) & 63) & np.uint64(1))
                        left = (whole & difference) + ((whole ^ difference) >> 1) + ((whole ^ difference) & coin)
                        sums[2 * node, j] = left
                        sums[2 * node + 1, j] = whole - left
                nodes <<= 1
            for place in range(length):
                for j in range(width):
                    numbers[i, place, first + j] = sums[place, j]


@inlined
def left_share(s: Any, tilt: Any) -> Any:
    """What the left half gets of a count s: floor((s + tilt) / 2), kept from 0 to s.

    Written so that nothing overflows for s up to 2**62 and tilts from -2**62 to 2**62 + 1.
    """
    return max(s + min((tilt - s) >> 1, 0), 0)


@kernel("void(int64, int64[::1], int64[::1])", read_only=(1,))
def refine_by_levels(total: int, tilts: Any, out: Any) -> None:
    """Level by level, every node; within the result, from the right, so that no count is overwritten before its use."""
    out[0] = total
    nodes = 1
    while nodes < tilts.size:
        for i in range(nodes - 1, -1, -1):
            s = out[i]
            left = left_share(s, tilts[nodes + i])
            out[2 * i] = left
            out[2 * i + 1] = s - left
        nodes *= 2


@kernel("void(int64, int64[::1], int64[::1])", read_only=(1,))
def refine_with_skips(total: int, tilts: Any, out: Any) -> None:
    """Level by level, with a memory of how many nodes to skip, which doubles at each level.

    A level is a list of the counts of its nodes from left to right, in which a run of k empty nodes is one entry, -k.
    """
    leaves = tilts.size
    above, below = np.empty(leaves, dtype=np.int64), np.empty(leaves, dtype=np.int64)
    entries = 1
    above[0] = total if total > 0 else -1
    nodes = 1
    while nodes < leaves:
        written = 0
        run = np.int64(0)
        node = nodes
        for entry in range(entries):
            s = above[entry]
            if s < 0:
                run += 2 * s
                node -= s
                continue
            left = left_share(s, tilts[node])
            node += 1
            if left > 0:
                if run < 0:
                    below[written] = run
                    written += 1
                    run = np.int64(0)
                below[written] = left
                written += 1
            else:
                run -= 1
            if s - left > 0:
                if run < 0:
                    below[written] = run
                    written += 1
                    run = np.int64(0)
                below[written] = s - left
                written += 1
            else:
                run -= 1
        if run < 0:
            below[written] = run
            written += 1
        above, below = below, above
        entries = written
        nodes *= 2
    place = 0
    for entry in range(entries):
        s = above[entry]
        if s > 0:
            out[place] = s
            place += 1
        else:
            out[place : place - s] = 0
            place -= s


@kernel("void(int64, int64[::1], int64[::1])", read_only=(1,))
def refine_depth_first(total: int, tilts: Any, out: Any) -> None:
    """Depth first, leaving out everything below an empty node.

    Right halves wait on a stack while the left ones are finished. The last two levels are worked out without asking:
    their four leaves cost less than a processor's wrong guesses about them.
    """
    leaves = tilts.size
    if leaves < 4:
        left = left_share(total, tilts[1]) if leaves == 2 else total
        out[0] = left
        if leaves == 2:
            out[1] = total - left
        return
    out[:] = 0
    if total == 0:
        return
    waiting_nodes = np.empty(MAX_DEPTH, dtype=np.int64)
    waiting_counts = np.empty(MAX_DEPTH, dtype=np.int64)
    waiting = 0
    last = leaves >> 2
    node, s = np.int64(1), total
    while True:
        left = left_share(s, tilts[node])
        right = s - left
        if node < last:
            if left > 0:
                if right > 0:
                    waiting_nodes[waiting] = 2 * node + 1
                    waiting_counts[waiting] = right
                    waiting += 1
                node, s = 2 * node, left
            else:
                node, s = 2 * node + 1, right
            continue
        first, third = left_share(left, tilts[2 * node]), left_share(right, tilts[2 * node + 1])
        place = 4 * (node - last)
        out[place] = first
        out[place + 1] = left - first
        out[place + 2] = third
        out[place + 3] = right - third
        if waiting == 0:
            return
        waiting -= 1
        node, s = waiting_nodes[waiting], waiting_counts[waiting]
