"""Splits of the nodes of a wide tree by the noisy counts of their children, and what can be said without drawing them all.

Nodes are those of `sudare.kernels.tables.trees`. Ties and the ways of pairs are decided by words in equal shares: a word
beyond the last multiple of the number of choices is replaced by the next of SPARE_WORDS spare ones at the end
(`fair_choice`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import called, kernel
from sudare.kernels.tables.trees import is_outside

__all__ = [
    "SPARE_WORDS",
    "fair_choice",
    "leading_bits",
    "pick_high",
    "place_pairs",
    "put_high",
    "split_by_counts",
    "split_quiet",
]

SPARE_WORDS = 8
"""Words at the end of those handed over that stand in for words without a fair meaning. Each of up to 2**32 words is without
one with probability below 2**-52, so that more than these are needed with probability below 2**-160."""

ABSENT = -(2**63) + 1
"""Stands for the count of a child without cells."""

MAX_FACTOR = 2**50
"""Counts up to this size can be multiplied by the number of children, 2**12 at most."""


@called
def fair_choice(words: Any, i: Any, choices: Any, spare: Any) -> Any:
    """A choice below a number by word i, or by the spare words from one on, and the next spare word.

    The remainders of the words up to the last multiple of ``choices`` below 2**64 are equally likely; words beyond it
    are passed over.
    """
    n = np.uint64(choices)
    beyond = (np.uint64(0) - n) % n  # 2**64 % n
    word = words[i]
    while word > np.uint64(0xFFFFFFFFFFFFFFFF) - beyond and spare < words.size:
        word = words[spare]
        spare += 1
    return np.int64(word % n), spare


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
    one = np.uint64(1)
    spare = 3 * prefixes.size
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
        # How many children further on, in a circle, the second one goes.
        further, spare = fair_choice(words, 3 * i + 1, others, spare)
        child = (((first >> bit) & others) + np.uint64(further) + one) & others
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
    spare: Any = prefixes.size
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
            excess, factor = (total - s, count) if highest < MAX_FACTOR else ((total - s) // count, 1)
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
        turn: Any = np.int64(0)
        if left_over > 0:
            turn, spare = fair_choice(tie_words, i, count, spare)
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
    spare: Any = prefixes.size
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
        turn: Any = np.int64(0)
        if left_over > 0:
            turn, spare = fair_choice(tie_words, i, count, spare)
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
