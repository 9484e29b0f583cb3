"""Descents through a tree over sorted leaves.

The kernels take nodes that have a positive refined count, and write those below them that have one. A node is a prefix of
leaf numbers (the bits below are 0), a range of the sorted leaves that hold people, and its refined count. Nothing is
visited below a node whose refined count is 0.

A node *without people* has an empty range of leaves: its counts are noise alone. Where it has a refined count of 1 this
one is *alone*: it goes to each child with the same probability, level after level, so that it can be placed at once
(`place_alone`; ``tables/mechanisms/nn_wavelet.md`` and ``tables/mechanisms/wide_tree.md`` prove it).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import called, kernel

__all__ = ["FRACTION_WORDS", "halve", "is_outside", "place_alone"]

FRACTION_WORDS = 4
"""Words that decide where one alone goes among leaves that are not all cells. With 2**62 leaves at most, no cell's chance is
off by more than a part in 2**190."""

NEXT, STACKED, USED, DRIFTED, WRITTEN, ALONE = range(6)
"""Where the state of a descent has the next node to take up, how many wait on the stack, how much noise of either kind is
used, and how many nodes were written by the last call."""


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
    "void(uint64[::1], int64[::1], uint64[::1], int64[::1], int64[::1], int64[::1], int64, int64, int64[::1], uint64[::1],"
    " int64, int64[::1], int64[::1], uint64[::1], boolean, boolean, boolean, uint64[::1], uint64[:, :, ::1],"
    " int64[::1], uint64[::1], int64[:, ::1], uint64[::1], int64[::1], int64[::1], int64[::1], uint64[::1], int64[::1],"
    " uint64[::1], int64[::1])",
    read_only=(0, 1, 2, 3, 4, 5, 9, 11, 12, 13, 17, 18),
)
def halve(
    leaves: Any,
    sums: Any,
    prefixes: Any,
    starts: Any,
    ends: Any,
    refined: Any,
    top: int,
    bottom: int,
    noise: Any,
    coins: Any,
    drift_limit: int,
    drift_levels: Any,
    drift_noise: Any,
    drift_words: Any,
    alone_apart: bool,
    listed: bool,
    padded: bool,
    lengths: Any,
    gather: Any,
    state: Any,
    stack_prefixes: Any,
    stack: Any,
    out_prefixes: Any,
    out_starts: Any,
    out_ends: Any,
    out_refined: Any,
    alone_prefixes: Any,
    alone_heights: Any,
    seen_prefixes: Any,
    seen_heights: Any,
) -> None:
    """Halve nodes of height ``top`` again and again, down to height ``bottom``, as long as there is noise.

    A node is split by the noisy difference d of its halves (written over the noise), kept within [-s, s], s being the node's
    refined count: the left half gets floor((s + d + coin) / 2), with a fair coin, a bit each, for the parity; the right
    half the rest. The left half is taken up first, and the right one waits on the stack, so that one node at most waits
    at each height and everything is written from left to right.

    A node without people and with at most ``drift_limit`` drifts: it goes down ``drift_levels`` levels as a whole, left or
    right as the bits of a word say, and is split at the next one by ``drift_noise``; if that is the limit or more, it goes
    down as a whole once more. A whole descent to the leaves may have drifting nodes, else the limit must be 0.

    Those alone are set apart with their heights if this is wished, and the nodes whose noise is used are listed. When
    noise of either kind is used up the descent stops, and goes on where it was when it is called again with the same state.
    """
    following, stacked, used, drifted = state[NEXT], state[STACKED], state[USED], state[DRIFTED]
    written: Any = 0
    alone: Any = 0
    one = np.uint64(1)
    height: Any = np.int64(0)
    prefix, start, end, s, height = np.uint64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    while True:
        if s == 0:
            if stacked > 0:
                stacked -= 1
                prefix = stack_prefixes[stacked]
                start, end, s, height = stack[stacked, 0], stack[stacked, 1], stack[stacked, 2], stack[stacked, 3]
            elif following < prefixes.size:
                prefix, start, end, s = prefixes[following], starts[following], ends[following], refined[following]
                height = top
                following += 1
            else:
                break
        is_empty = start == end
        if is_empty and s == 1 and alone_apart:
            alone_prefixes[alone] = prefix
            alone_heights[alone] = height
            alone += 1
            s = np.int64(0)
            continue
        drifts = is_empty and s <= drift_limit
        if (drifted == drift_levels.size) if drifts else (used == noise.size):
            stack_prefixes[stacked] = prefix
            stack[stacked, 0], stack[stacked, 1], stack[stacked, 2], stack[stacked, 3] = start, end, s, height
            stacked += 1
            break
        middle = start
        if drifts:
            word, levels, difference = drift_words[drifted], drift_levels[drifted], drift_noise[drifted]
            drifted += 1
            lowest = max(height - levels, bottom)
            if padded:
                for below in range(height - 1, lowest - 1, -1):
                    right_prefix = prefix | (one << np.uint64(below))
                    if (word >> np.uint64(below)) & one and not is_outside(right_prefix, lengths, gather):
                        prefix = right_prefix
            else:
                passed = ((one << np.uint64(height)) - one) ^ ((one << np.uint64(lowest)) - one)
                prefix |= word & passed
            height = lowest
            if height == bottom:
                out_prefixes[written] = prefix
                out_starts[written] = start
                out_ends[written] = end
                out_refined[written] = s
                written += 1
                s = np.int64(0)
                continue
            height -= 1
            right_prefix = prefix | (one << np.uint64(height))
            coin = (word >> np.uint64(height)) & one
            if difference >= drift_limit:
                difference = s if coin else -s
        else:
            height -= 1
            right_prefix = prefix | (one << np.uint64(height))
            coin = (coins[used >> 6] >> np.uint64(used & 63)) & one
            difference = noise[used]
            if not is_empty:
                # The first leaf of the right half. Either part of the range is as long as the other or one longer, so that
                # the steps do not depend on what the leaves are, and the processor need not guess.
                left_to_search = end - start
                while left_to_search > 0:
                    half = (left_to_search + 1) >> 1
                    middle += half * np.int64(leaves[middle + half - 1] < right_prefix)
                    left_to_search -= half
                difference += 2 * sums[middle] - sums[start] - sums[end]
            noise[used] = difference
            if listed:
                seen_prefixes[used] = prefix
                seen_heights[used] = height + 1
            used += 1
        if padded and is_outside(right_prefix, lengths, gather):
            left = s
        else:
            difference = min(max(difference, -s), s)
            left = np.int64((np.uint64(s + difference) + coin) >> one)
            left = min(left, s)
        right = s - left
        # Both halves are written where the next one belongs, and stay if somebody is left in them: no need to guess either.
        if height == bottom:
            out_prefixes[written] = prefix
            out_starts[written] = start
            out_ends[written] = middle
            out_refined[written] = left
            written += np.int64(left > 0)
            out_prefixes[written] = right_prefix
            out_starts[written] = middle
            out_ends[written] = end
            out_refined[written] = right
            written += np.int64(right > 0)
            s = np.int64(0)
        else:
            stack_prefixes[stacked] = right_prefix
            stack[stacked, 0], stack[stacked, 1], stack[stacked, 2], stack[stacked, 3] = middle, end, right, height
            stacked += np.int64(right > 0)
            end, s = middle, left
    state[NEXT], state[STACKED], state[USED], state[DRIFTED] = following, stacked, used, drifted
    state[WRITTEN], state[ALONE] = written, alone


@kernel(
    "void(uint64[::1], int64[::1], uint64[::1], int64[::1], boolean, uint64[::1], uint64[:, :, ::1], uint64[::1])",
    read_only=(0, 1, 3, 5, 6),
)
def place_alone(
    prefixes: Any, heights: Any, words: Any, steps: Any, padded: bool, lengths: Any, gather: Any, out: Any
) -> None:
    """The leaf of each one that is alone in a node: at every level it goes to any of the children with cells.

    ``steps[height]`` is how many bits tell the children of a node of this height apart. Where all leaves are cells, the
    bits below the node are those of a random word. Else FRACTION_WORDS words (overwritten) are one fraction in [0, 1), the
    last word first: the whole part of k times the fraction says which of k children it is, and its fractional part decides
    further down.
    """
    low_half = np.uint64((1 << 32) - 1)
    by = np.uint64(32)
    for i in range(prefixes.size):
        if not padded:
            out[i] = prefixes[i] | (words[i] & ((np.uint64(1) << np.uint64(heights[i])) - np.uint64(1)))
            continue
        prefix, height = prefixes[i], heights[i]
        while height > 0:
            step = steps[height]
            height -= step
            children = np.uint64(0)
            for child in range(1 << step):
                if not is_outside(prefix | (np.uint64(child) << np.uint64(height)), lengths, gather):
                    children += np.uint64(1)
            carried = np.uint64(0)
            for w in range(FRACTION_WORDS * i, FRACTION_WORDS * (i + 1)):
                low = (words[w] & low_half) * children + carried
                high = (words[w] >> by) * children + (low >> by)
                words[w] = (high << by) | (low & low_half)
                carried = high >> by
            chosen = np.int64(carried)
            for child in range(1 << step):
                child_prefix = prefix | (np.uint64(child) << np.uint64(height))
                if not is_outside(child_prefix, lengths, gather):
                    if chosen == 0:
                        prefix = child_prefix
                        break
                    chosen -= 1
        out[i] = prefix
