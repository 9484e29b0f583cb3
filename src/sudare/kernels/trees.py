"""Descents through a tree over sorted leaves.

The kernels take nodes that have a positive refined count, and write those below them that have one. A node is a prefix of
leaf numbers (the bits below are 0), a range of the sorted leaves that hold people, and its refined count. Nothing is
visited below a node whose refined count is 0.

A node *without people* has an empty range of leaves: its counts are noise alone. Where it has a refined count of 1 this
one is *alone*: it goes to each child with the same probability, level after level, so that it can be placed at once
(`place_alone`; ``tables/nn_wavelet.md`` and ``tables/wide_tree.md`` prove it).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import called, kernel

__all__ = [
    "halve",
    "leading_bits",
    "pick_high",
    "place_alone",
    "place_pairs",
    "put_high",
    "split_by_counts",
    "split_quiet",
]

ABSENT = -(2**63) + 1
"""Stands for the count of a child without cells."""

LARGEST_FACTOR = 2**50
"""Counts up to this size can be multiplied by the number of children, 2**12 at most."""

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
    read_only=(0, 1, 2, 3, 5, 6),
)
def place_alone(
    prefixes: Any, heights: Any, words: Any, steps: Any, padded: bool, lengths: Any, gather: Any, out: Any
) -> None:
    """The leaf of each one that is alone in a node: at every level it goes to any of the children with cells.

    ``steps[height]`` is how many bits tell the children of a node of this height apart. Where all leaves are cells, the
    bits below the node are those of a random word. Else two words are one fraction in [0, 1): the whole part of
    k times the fraction says which of k children it is, and its fractional part decides further down.
    """
    for i in range(prefixes.size):
        if not padded:
            out[i] = prefixes[i] | (words[i] & ((np.uint64(1) << np.uint64(heights[i])) - np.uint64(1)))
            continue
        low_half = np.uint64((1 << 32) - 1)
        by = np.uint64(32)
        prefix, height = prefixes[i], heights[i]
        high, low = words[2 * i], words[2 * i + 1]
        while height > 0:
            step = steps[height]
            height -= step
            children = np.uint64(0)
            for child in range(1 << step):
                if not is_outside(prefix | (np.uint64(child) << np.uint64(height)), lengths, gather):
                    children += np.uint64(1)
            # (high, low) times the number of children, in pieces of 32 bits, because the product has up to 140.
            first = (low & low_half) * children
            second = (low >> by) * children + (first >> by)
            third = (high & low_half) * children + (second >> by)
            fourth = (high >> by) * children + (third >> by)
            low = (second << by) | (first & low_half)
            high = (fourth << by) | (third & low_half)
            chosen = np.int64(fourth >> by)
            for child in range(1 << step):
                child_prefix = prefix | (np.uint64(child) << np.uint64(height))
                if not is_outside(child_prefix, lengths, gather):
                    if chosen == 0:
                        prefix = child_prefix
                        break
                    chosen -= 1
        out[i] = prefix


@kernel(
    "int64(uint64[::1], int64[::1], uint64[::1], int64[::1], int64[::1], uint64[::1], int64[::1])",
    read_only=(0, 1, 2, 3, 4),
)
def place_pairs(prefixes: Any, levels: Any, words: Any, tops: Any, steps: Any, out_leaves: Any, out_counts: Any) -> int:
    """The leaves of two that are in one node, given the level at which they part, where all leaves are cells.

    The bits of a word say where the first one goes. The second one goes along until, at a level whose nodes have height
    ``tops[level]`` and children told apart by ``steps[level]`` bits, it goes to any of the other children with the same
    probability, and from there by the bits of another word. A top of 0 means that they never part.

    Returns the number of leaves written.
    """
    low_half = np.uint64((1 << 32) - 1)
    by = np.uint64(32)
    one = np.uint64(1)
    top_of_all = np.uint64(tops[0])
    written = 0
    for i in range(prefixes.size):
        top, step = np.uint64(tops[levels[i]]), np.uint64(steps[levels[i]])
        first = prefixes[i] | (words[3 * i] & ((one << top_of_all) - one))
        out_leaves[written] = first
        if top == np.uint64(0):
            out_counts[written] = 2
            written += 1
            continue
        bit = top - step
        others = (one << step) - one
        word = words[3 * i + 1]
        # The whole part of (word / 2**64) * others: how many children further on, in a circle, the second one goes.
        further = (((word >> by) * others + (((word & low_half) * others) >> by)) >> by) + one
        child = (((first >> bit) & others) + further) & others
        second = ((first >> top) << top) | (child << bit) | (words[3 * i + 2] & ((one << bit) - one))
        out_leaves[written + 1] = second
        out_counts[written] = 1
        out_counts[written + 1] = 1
        written += 2
    return written


@kernel(
    "UniTuple(int64, 4)(uint64[::1], int64[::1], uint64[::1], int64[::1], int64[::1], int64[::1], int64[:, ::1], uint64[::1],"
    " int64, int64, int64, boolean, boolean, uint64[::1], uint64[:, :, ::1], uint64[::1], int64[::1], int64[::1],"
    " int64[::1], uint64[::1], int64[::1], uint64[::1], uint64[::1])",
    read_only=(0, 1, 2, 3, 4, 5, 7, 13, 14),
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
    quiet_limit: int,
    pairs_apart: bool,
    padded: bool,
    lengths: Any,
    gather: Any,
    out_prefixes: Any,
    out_starts: Any,
    out_ends: Any,
    out_refined: Any,
    quiet_prefixes: Any,
    quiet_refined: Any,
    pair_prefixes: Any,
    alone_prefixes: Any,
) -> tuple[int, int, int, int]:
    """Split each node into 2**bits children by their noisy counts, projected on the node's refined count.

    The noisy counts z (written over the noise) are whole, so the nearest point of the simplex {b >= 0, sum b = s} is
    z - theta, cut off at 0, with one theta for all children, and the nearest whole point has z - t, cut off at 0,
    with t = ceil(theta), plus 1 for as many of the children with z > theta as it takes. Which of these get it is decided
    by turning through them from a random one.

    Theta is found by leaving out children: the mean excess over s of those still there is a lower bound of theta, and
    children that are not above it are 0. When none is left out any more, the bound is theta.

    Children without people are set apart from the others if their count is 1 (alone), 2 (pairs, if this is wished), or at
    most ``quiet_limit``; a limit of 0 sets nobody apart. Returns how many other children, quiet ones, pairs and ones alone
    were written.
    """
    fan = 1 << bits
    edges = np.empty(fan + 1, dtype=np.int64)
    above = np.empty(fan, dtype=np.int64)
    written, quiet, pairs, alone = 0, 0, 0, 0
    for i in range(prefixes.size):
        prefix, start, end, s = prefixes[i], starts[i], ends[i], refined[i]
        row = noise[i]
        position = start
        if start < end:
            edges[0] = start
            for child in range(fan - 1):
                child_end = prefix | (np.uint64(child + 1) << np.uint64(bit))
                if end - position > fan:
                    high = end
                    while position < high:
                        middle = (position + high) >> 1
                        if leaves[middle] < child_end:
                            position = middle + 1
                        else:
                            high = middle
                else:
                    while position < end and leaves[position] < child_end:
                        position += 1
                edges[child + 1] = position
            edges[fan] = end
            before = sums[start]
            for child in range(fan):
                people = sums[edges[child + 1]]
                row[child] += people - before
                before = people
        else:
            edges[:] = start
        highest = np.int64(ABSENT)
        if padded:
            for child in range(fan):
                if is_outside(prefix | (np.uint64(child) << np.uint64(bit)), lengths, gather):
                    row[child] = ABSENT
        for child in range(fan):
            highest = max(highest, row[child])
        # No child that is s or more below the highest gets anybody; the place of one without cells is far below all.
        lowest = max(highest - s, np.int64(ABSENT + 1))
        count: Any = 0
        total = np.int64(0)
        for child in range(fan):
            if row[child] >= lowest:
                above[count] = child
                total += row[child]
                count += 1
        while True:
            # Above the bound (total - s) / count; a product takes less time than a quotient, but may be too large.
            excess, factor = (total - s, count) if highest < LARGEST_FACTOR else ((total - s) // count, 1)
            still: Any = 0
            total = np.int64(0)
            for k in range(count):
                child = above[k]
                above[still] = child
                stays = np.int64(row[child] * factor > excess)
                total += stays * row[child]
                still += stays
            if still == count:
                break
            count = still
        bound = (total - s) // count if count > 1 else total - s
        t = bound + np.int64(bound * count < total - s)
        left_over = s - (total - count * t)
        turn: Any = np.int64(tie_words[i] % np.uint64(count)) if left_over > 0 else np.int64(0)
        for k in range(count):
            child = above[k]
            people = row[child] - t + np.int64(turn < left_over)
            turn = turn + 1 if turn + 1 < count else 0
            if people == 0:
                continue
            child_prefix = prefix | (np.uint64(child) << np.uint64(bit))
            if people > quiet_limit or edges[child] < edges[child + 1]:
                out_prefixes[written] = child_prefix
                out_starts[written] = edges[child]
                out_ends[written] = edges[child + 1]
                out_refined[written] = people
                written += 1
            elif people > 2 or (people == 2 and not pairs_apart):
                quiet_prefixes[quiet] = child_prefix
                quiet_refined[quiet] = people
                quiet += 1
            elif people == 2:
                pair_prefixes[pairs] = child_prefix
                pairs += 1
            else:
                alone_prefixes[alone] = child_prefix
                alone += 1
    return written, quiet, pairs, alone


@kernel("int64(uint64[::1], int64, uint8[::1], int64[::1])", read_only=(0,))
def pick_high(words: Any, bits: int, children: Any, edges: Any) -> int:
    """Which of 2**bits children of each node have noise in the highest quarter: both of their bits in the node's word are set.

    The bits of child c are c and 32 + c. The children of node i go from ``edges[i]`` to before ``edges[i + 1]``.
    Returns how many there are.
    """
    picked: Any = 0
    edges[0] = 0
    for i in range(words.size):
        both = words[i] & (words[i] >> np.uint64(32))
        for child in range(1 << bits):
            children[picked] = child
            picked += np.int64((both >> np.uint64(child)) & np.uint64(1))
        edges[i + 1] = picked
    return int(picked)


@kernel("void(uint64[::1], int64, uint64[::1])", read_only=(0,))
def leading_bits(words: Any, bits: int, out: Any) -> None:
    """The two bits of every child in the words of `pick_high`, where the two leading bits of a word are."""
    one = np.uint64(1)
    place = 0
    for i in range(words.size):
        for child in range(1 << bits):
            first = (words[i] >> np.uint64(32 + child)) & one
            second = (words[i] >> np.uint64(child)) & one
            out[place] = (first << np.uint64(63)) | (second << np.uint64(62))
            place += 1


@kernel("void(int64[::1], uint8[::1], int64[::1], int64[::1], int64[:, ::1])", read_only=(0, 1, 2, 3))
def put_high(nodes: Any, children: Any, edges: Any, high: Any, out: Any) -> None:
    """Write the high noise of some nodes where it belongs among the noise of all their children."""
    for i in range(nodes.size):
        for k in range(edges[nodes[i]], edges[nodes[i] + 1]):
            out[i, children[k]] = high[k]


@kernel(
    "UniTuple(int64, 5)(uint64[::1], int64[::1], uint8[::1], int64[::1], int64[::1], int64, uint64[::1], int64, int64, boolean,"
    " boolean, uint64[::1], uint64[:, :, ::1], uint64[::1], int64[::1], int64[::1], int64[::1], uint64[::1], int64[::1],"
    " uint64[::1], uint64[::1], int64[::1])",
    read_only=(0, 1, 2, 3, 4, 6, 11, 12),
)
def split_quiet(
    prefixes: Any,
    refined: Any,
    children: Any,
    edges: Any,
    high: Any,
    below_high: int,
    tie_words: Any,
    bit: int,
    quiet_limit: int,
    pairs_apart: bool,
    padded: bool,
    lengths: Any,
    gather: Any,
    out_prefixes: Any,
    out_starts: Any,
    out_ends: Any,
    out_refined: Any,
    quiet_prefixes: Any,
    quiet_refined: Any,
    pair_prefixes: Any,
    alone_prefixes: Any,
    unsettled: Any,
) -> tuple[int, int, int, int, int]:
    """Split nodes without people as `split_by_counts` does, where the children with high noise are enough to know.

    The noise of the other children is ``below_high`` at most. If theta of the children with high noise is not below that,
    it is theta of all of them. Nodes of which this cannot be said are listed as unsettled.

    Returns how many children of each kind were written, as `split_by_counts` does, and how many nodes are unsettled.
    """
    above = np.empty(64, dtype=np.int64)
    written, quiet, pairs, alone, open_nodes = 0, 0, 0, 0, 0
    for i in range(prefixes.size):
        prefix, s = prefixes[i], refined[i]
        highest, second = np.int64(ABSENT), np.int64(ABSENT)
        first: Any = np.int64(0)
        for k in range(edges[i], edges[i + 1]):
            if padded and is_outside(prefix | (np.uint64(children[k]) << np.uint64(bit)), lengths, gather):
                continue
            first = k if high[k] > highest else first
            second = max(second, min(highest, high[k]))
            highest = max(highest, high[k])
        # Mostly, all of a small count goes to the child with the highest noise: theta is as far below it as s.
        count, total = 1, highest
        above[0] = first
        if highest - s < second:
            count, total = 0, np.int64(0)
            for k in range(edges[i], edges[i + 1]):
                if padded and is_outside(prefix | (np.uint64(children[k]) << np.uint64(bit)), lengths, gather):
                    continue
                above[count] = k
                total += high[k]
                count += 1
        while count > 1:
            excess = total - s  # noise alone: the products below are small enough
            still: Any = 0
            total = np.int64(0)
            for j in range(count):
                k = above[j]
                above[still] = k
                stays = np.int64(high[k] * count > excess)
                total += stays * high[k]
                still += stays
            if still == count:
                break
            count = still
        if highest == ABSENT or total - s < below_high * count:
            unsettled[open_nodes] = i
            open_nodes += 1
            continue
        bound = (total - s) // count if count > 1 else total - s
        t = bound + np.int64(bound * count < total - s)
        left_over = s - (total - count * t)
        turn: Any = np.int64(tie_words[i] % np.uint64(count)) if left_over > 0 else np.int64(0)
        for j in range(count):
            k = above[j]
            people = high[k] - t + np.int64(turn < left_over)
            turn = turn + 1 if turn + 1 < count else 0
            if people == 0:
                continue
            child_prefix = prefix | (np.uint64(children[k]) << np.uint64(bit))
            if people > quiet_limit:
                out_prefixes[written] = child_prefix
                out_starts[written] = 0
                out_ends[written] = 0
                out_refined[written] = people
                written += 1
            elif people > 2 or (people == 2 and not pairs_apart):
                quiet_prefixes[quiet] = child_prefix
                quiet_refined[quiet] = people
                quiet += 1
            elif people == 2:
                pair_prefixes[pairs] = child_prefix
                pairs += 1
            else:
                alone_prefixes[alone] = child_prefix
                alone += 1
    return written, quiet, pairs, alone, open_nodes
