"""What is judged of nodes by learned distributions of counts, and who takes part in the division of a parent's count.

Values stand in a row of children for each parent, as in `sudare.kernels.tables.surroundings`; NaN, or ABSENT, is a child
without cells.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import called, kernel
from sudare.kernels.tables.splits import ABSENT

__all__ = ["count_in_bins", "judge_children", "list_children", "list_places", "settle", "sort_into_classes"]

TIE = 1e-9
"""Likelihoods are told apart down to this share of them."""

AT_LEAST = 1e-9
"""The smallest variance that a projection can divide by."""

NO_CELLS = -1.0
"""The rank of a child without cells; the other ranks are likelihoods below a half."""

MAX_SEARCHES = 8
"""From how many children on one partition costs less than a search for each."""


@kernel(
    "void(float64[:, ::1], int64[::1], int64[::1], float64, float64[::1], float64[::1], uint16[:, ::1])",
    read_only=(0, 1, 2, 4, 5),
)
def sort_into_classes(
    expected: Any,
    parents: Any,
    edges: Any,
    deviation: float,
    around_edges: Any,
    above_edges: Any,
    classes: Any,
) -> None:
    """The class of each child, by what is expected of it and by its parent's count.

    Args:
        expected: of each by those around it.
        parents: refined counts of the parents.
        edges: along how many axes each child stands at an end of its parent.
        deviation: of the noise; the other edges are in units of it.
        around_edges: between classes of expected counts.
        above_edges: between classes of parents' counts.
        classes: where the classes are written.
    """
    for i in range(expected.shape[0]):
        above = 0
        while above < above_edges.size and parents[i] / deviation >= above_edges[above]:
            above += 1
        for child in range(expected.shape[1]):
            around = 0
            share = expected[i, child] / deviation
            while around < around_edges.size and share >= around_edges[around]:
                around += 1
            classes[i, child] = (edges[child] * (around_edges.size + 1) + around) * (above_edges.size + 1) + above


@kernel("void(float64[:, ::1], uint16[:, ::1], float64, float64[:, ::1])", read_only=(0, 1))
def count_in_bins(values: Any, classes: Any, bin_width: float, occurrences: Any) -> None:
    """Add how often values fall into each bin, in a row for each class. The bin of 0 is in the middle; NaN is no value."""
    half = occurrences.shape[1] // 2
    reach = half * bin_width
    for i in range(values.shape[0]):
        for child in range(values.shape[1]):
            value = values[i, child]
            if abs(value) <= reach:
                occurrences[classes[i, child], np.int64(np.rint(value / bin_width)) + half] += 1


@called
def mixed(word: Any) -> Any:
    """Another word that looks random (the last steps of SplitMix64)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@called
def value_in_order(values: Any, place: Any) -> Any:
    """The number that would stand at a place if all were sorted, by Hoare's selection; the numbers change places.

    ``np.partition`` would do, but brings checks and messages along that take ten times longer to compile than this.
    """
    first: Any = np.int64(0)
    last: Any = np.int64(values.size - 1)
    while first < last:
        pivot = values[(first + last) >> 1]
        low, high = first, last
        while low <= high:
            while values[low] < pivot:
                low += 1
            while values[high] > pivot:
                high -= 1
            if low <= high:
                values[low], values[high] = values[high], values[low]
                low += 1
                high -= 1
        if place <= high:
            last = high
        elif place >= low:
            first = low
        else:
            return values[place]
    return values[first]


@called
def mark_likeliest(rank: Any, places: Any) -> None:
    """Change the sign of this many of the highest ranks; ranks up to 0 stay."""
    if places <= MAX_SEARCHES:
        for _ in range(places):
            best = 0
            for child in range(1, rank.size):
                if rank[child] > rank[best]:
                    best = child
            if rank[best] <= 0.0:
                break
            rank[best] = -rank[best]
        return
    copied = np.empty(rank.size)
    for child in range(rank.size):
        copied[child] = rank[child]
    least = value_in_order(copied, max(rank.size - places, 0))
    for child in range(rank.size):
        if places > 0 and rank[child] > 0.0 and rank[child] >= least:
            rank[child] = -rank[child]
            places -= 1


@kernel(
    "void(float64[:, ::1], int64[::1], float64, uint16[:, ::1], boolean[::1], float64[:, ::1], float64[:, ::1],"
    " float64[:, ::1], float64, int64, uint64[::1], float64[:, ::1], float64[:, ::1])",
    read_only=(0, 1, 3, 4, 5, 6, 7, 10),
)
def judge_children(
    values: Any,
    parents: Any,
    variance: float,
    classes: Any,
    taught: Any,
    means: Any,
    variances: Any,
    occupied: Any,
    bin_width: float,
    few: int,
    words: Any,
    out_values: Any,
    out_variances: Any,
) -> None:
    """Posterior means and variances of children, and who of them takes part: the others have the variance -1.

    Those take part that are likely to be occupied, and of the unlikely ones, the likeliest first, as many as are expected to be
    occupied; at least one, and, unless ``few`` is 0, not more than leaves this many people for each of all who take part. Of
    those that are equally likely, chance takes the ones or the others.

    Args:
        values: of the children.
        parents: refined counts of the parents.
        variance: of their noise.
        classes: of the children.
        taught: which classes have learned anything.
        means: for each class and bin.
        variances: for each class and bin.
        occupied: for each class and bin, how likely a place is not to be empty.
        bin_width: of the bins.
        few: this many people each; 0 for any number.
        words: one for each parent.
        out_values: where means are written.
        out_variances: where variances are written.
    """
    fan = values.shape[1]
    half = means.shape[1] // 2
    reach = half * bin_width
    rank = np.empty(fan)
    for i in range(values.shape[0]):
        expected, taking = 0.0, 0
        for child in range(fan):
            value = values[i, child]
            rank[child] = 0.0
            if np.isnan(value):
                out_values[i, child], out_variances[i, child] = 0.0, -1.0
                rank[child] = NO_CELLS
                continue
            kind = classes[i, child]
            if not taught[kind] or abs(value) > reach:
                out_values[i, child], out_variances[i, child] = value, variance
                taking += 1
                continue
            place = np.int64(np.rint(value / bin_width)) + half
            out_values[i, child] = means[kind, place]
            likely = occupied[kind, place]
            if likely >= 0.5:
                out_variances[i, child] = max(variances[kind, place], AT_LEAST)
                taking += 1
                continue
            out_variances[i, child] = -1.0
            expected += likely
            chance = mixed(words[i] + np.uint64(child + 1) * np.uint64(0x9E3779B97F4A7C15))
            rank[child] = likely * (1 + np.float64(chance) * (TIE / 2.0**64))
        more: Any = np.int64(np.rint(expected))
        if few > 0:
            more = min(more, parents[i] // few - taking)
        if taking == 0:
            more = max(more, 1)
        if more > 0:
            mark_likeliest(rank, more)
            for child in range(fan):
                if NO_CELLS < rank[child] < 0.0:
                    place = np.int64(np.rint(values[i, child] / bin_width)) + half
                    out_variances[i, child] = max(variances[classes[i, child], place], AT_LEAST)
                    taking += 1
        if taking == 0:
            for child in range(fan):
                if rank[child] >= 0.0:
                    place = np.int64(np.rint(values[i, child] / bin_width)) + half
                    out_variances[i, child] = max(variances[classes[i, child], place], AT_LEAST)


@kernel(
    "int64(int64[:, ::1], int64[::1], float64[::1], boolean[::1], float64[:, ::1], int64, uint64[::1], uint16[::1],"
    " int64[::1], int64[::1])",
    read_only=(0, 1, 2, 3, 4, 6),
)
def settle(
    counts: Any,
    parents: Any,
    edges: Any,
    taught: Any,
    occupied: Any,
    few: int,
    words: Any,
    kinds: Any,
    winners: Any,
    unsettled: Any,
) -> int:
    """For parents all of whose children are unlikely to be occupied, and one takes part: which one takes it all.

    It is what `judge_children` and a projection would give, without the arithmetic. Other parents are listed as unsettled, their
    winners are -1.

    Args:
        counts: noisy counts of the children.
        parents: refined counts of the parents.
        edges: between the classes of parents' counts.
        taught: which classes have learned anything.
        occupied: for each class and noisy count, 0 in the middle, how likely a place is not to be empty.
        few: as in `judge_children`.
        words: one for each parent.
        kinds: where the class of each parent's children is written: one for all of them.
        winners: where the number of the child is written.
        unsettled: where the numbers of the other parents are written.

    Returns:
        How many parents are unsettled.
    """
    fan = np.uint64(counts.shape[1])  # unsigned: a signed place might count from the end, and asking takes time
    reach, width = occupied.shape[1] // 2, np.uint64(occupied.shape[1])
    likelihoods = np.empty(counts.shape[1])
    left = 0
    for i in range(counts.shape[0]):
        kind = np.uint64(0)
        for edge in range(np.uint64(edges.size)):
            kind += np.uint64(parents[i] >= edges[edge])
        kinds[i] = kind
        winners[i] = -1
        expected, highest, second = 0.0, 0.0, 0.0
        winner: Any = np.int64(-1)
        is_open = not taught[kind]
        for child in range(fan):
            likely = 0.0
            place = np.uint64(counts[i, child] + reach)  # what is below the bins is beyond them as well
            if place < width:
                likely = occupied[kind, place]
            elif counts[i, child] != ABSENT:
                is_open = True
            likelihoods[child] = likely
            expected += likely
            winner = np.int64(child) if likely > highest else winner
            second = max(second, min(likely, highest))
            highest = max(highest, likely)
        takes_one = np.rint(expected) <= 1.0 or parents[i] // few <= 1
        if takes_one and not is_open and 0.0 < highest < 0.5:
            winners[i] = winner
            ranked, least = 0.0, highest * (1 - TIE)
            for child in range(fan if second >= least else np.uint64(0)):
                if likelihoods[child] >= least:
                    chance = mixed(words[i] + (child + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15))
                    rank = likelihoods[child] * (1 + np.float64(chance) * (TIE / 2.0**64))
                    if rank > ranked:
                        ranked = rank
                        winners[i] = np.int64(child)
        else:
            unsettled[left] = i
            left += 1
    return left


@kernel(
    "int64(uint64[::1], int64[::1], int64[::1], int64[:, ::1], int64, uint64[::1], int64[::1])",
    read_only=(0, 1, 2, 3),
)
def list_children(
    prefixes: Any, counts: Any, winners: Any, refined: Any, bit: int, out_prefixes: Any, out_counts: Any
) -> int:
    """The children with somebody, from left to right: the winners, and those of the rows of parents without one.

    Returns how many there are.
    """
    written, row = 0, 0
    for i in range(prefixes.size):
        if winners[i] >= 0:
            out_prefixes[written] = prefixes[i] | (np.uint64(winners[i]) << np.uint64(bit))
            out_counts[written] = counts[i]
            written += 1
            continue
        for child in range(refined.shape[1]):
            if refined[row, child] > 0:
                out_prefixes[written] = prefixes[i] | (np.uint64(child) << np.uint64(bit))
                out_counts[written] = refined[row, child]
                written += 1
        row += 1
    return written


@kernel("int64(int64[:, ::1], int64, int64[::1], int64[::1])", read_only=(0,))
def list_places(refined: Any, first: int, out_places: Any, out_counts: Any) -> int:
    """The places of children with somebody in the rows of all parents, of which these start with ``first``, and their counts.

    Returns how many there are.
    """
    written = 0
    for i in range(refined.shape[0]):
        for child in range(refined.shape[1]):
            if refined[i, child] > 0:
                out_places[written] = (first + i) * refined.shape[1] + child
                out_counts[written] = refined[i, child]
                written += 1
    return written
