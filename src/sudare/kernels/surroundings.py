"""Nodes of a level of which only some are visited: the people in them, the nodes around them, and what is judged of them.

Visited are all children of some parents. Parents are prefixes of leaf numbers, ascending; values stand in a row of children
for each. A child without cells has the value NaN (``ABSENT`` among whole numbers) and takes part in nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import called, kernel
from sudare.kernels.splits import ABSENT
from sudare.kernels.trees import is_outside

__all__ = ["add_people", "expect_from_circles", "expect_from_grid", "judge_children", "sort_into_classes", "sum_children"]

BLOCK = 3
"""Nodes a side of the block around a node."""

TIE = 1e-9
"""Likelihoods are told apart down to this share of them."""

AT_LEAST = 1e-9
"""The smallest variance that a projection can divide by."""


@called
def find_near(prefixes: Any, key: Any, near: Any) -> Any:
    """Where a prefix stands among ascending ones, searched from a place nearby; -1 if it is not there."""
    size = prefixes.size
    low, high, step = near, near + 1, 1
    if prefixes[near] < key:
        while high < size and prefixes[high] < key:
            low = high
            high += step
            step *= 2
        high = min(high, size)
    else:
        low, high = near - 1, near
        while low >= 0 and prefixes[low] >= key:
            high = low
            low -= step
            step *= 2
        low = max(low, -1)
    while high - low > 1:
        middle = (low + high) >> 1
        if prefixes[middle] < key:
            low = middle
        else:
            high = middle
    return high if high < size and prefixes[high] == key else -1


@called
def place_along(prefix: Any, mask: Any) -> Any:
    """The index along an axis: those bits of a prefix that a mask has, side by side."""
    index, bit = np.int64(0), np.int64(1)
    while mask != np.uint64(0):
        lowest = mask & (~mask + np.uint64(1))
        if prefix & lowest:
            index |= bit
        bit <<= 1
        mask ^= lowest
    return index


@called
def moved_along(prefix: Any, mask: Any, steps: Any) -> Any:
    """The bits of a prefix that a mask has, so many places further along the axis."""
    bits = prefix & mask
    lowest = mask & (~mask + np.uint64(1))
    for _ in range(abs(steps)):
        bits = ((bits | ~mask) + lowest) & mask if steps > 0 else (bits - lowest) & mask
    return bits


@called
def cells_along(index: Any, length: Any, height: Any) -> Any:
    """How many places of an axis a node has that is 2**height wide, up to the end of the axis."""
    return min(np.int64(1) << height, length - (index << height))


@called
def first_of_block(index: Any, used: Any) -> Any:
    """Where the block around a node begins along an axis; at an end it is moved inwards."""
    return max(min(index - BLOCK // 2, used - BLOCK), 0)


@kernel(
    "void(uint64[::1], int64[::1], uint64[::1], int64, boolean, uint64[::1], uint64[:, :, ::1], int64[:, ::1])",
    read_only=(0, 1, 2, 5, 6),
)
def add_people(
    leaves: Any, sums: Any, prefixes: Any, bit: int, padded: bool, lengths: Any, gather: Any, counts: Any
) -> None:
    """Add the people below each child to its noise. Where children have no cells, ABSENT is written."""
    fan = counts.shape[1]
    position: Any = np.int64(0)
    for i in range(prefixes.size):
        prefix = prefixes[i]
        last = prefix | ((np.uint64(fan) << np.uint64(bit)) - np.uint64(1))
        step = 1
        low, high = position, position
        while high < leaves.size and leaves[high] < prefix:
            low = high + 1
            high += step
            step *= 2
        high = min(high, leaves.size)
        while low < high:
            middle = (low + high) >> 1
            if leaves[middle] < prefix:
                low = middle + 1
            else:
                high = middle
        position = low
        while position < leaves.size and leaves[position] <= last:
            child = (leaves[position] - prefix) >> np.uint64(bit)
            counts[i, child] += sums[position + 1] - sums[position]
            position += 1
        if padded:
            for child in range(fan):
                if is_outside(prefix | (np.uint64(child) << np.uint64(bit)), lengths, gather):
                    counts[i, child] = ABSENT


@kernel("void(int64[:, ::1], float64[::1], int64[::1])", read_only=(0,))
def sum_children(counts: Any, sums: Any, members: Any) -> None:
    """The sum of the counts of each parent's children, and how many children have cells."""
    for i in range(counts.shape[0]):
        total, present = 0.0, 0
        for child in range(counts.shape[1]):
            if counts[i, child] != ABSENT:
                total += counts[i, child]
                present += 1
        sums[i], members[i] = total, present


@kernel(
    "void(uint64[::1], float64[:, ::1], uint64[::1], int64[:, :, ::1], int64[::1], int64[::1], int64[::1],"
    " float64[:, ::1])",
    read_only=(0, 1, 2, 3, 4, 5, 6),
)
def expect_from_grid(
    prefixes: Any, values: Any, masks: Any, child_at: Any, used: Any, lengths: Any, heights: Any, out: Any
) -> None:
    """What each child would count if it had as many people a cell as the nodes around it on a map of two axes.

    Nodes that are not visited have nobody: their parents' refined counts are 0. At an end of the map the block of neighbours is moved
    inwards, so that every node is judged by equally many others.

    Args:
        prefixes: the parents, ascending.
        values: of their children.
        masks: the bits of parents' prefixes that belong to each of the two axes.
        child_at: the child of a parent at each place along the two axes, for each of the maps that its children make up.
        used: how many nodes of the children's size there are along each axis.
        lengths: cells along each axis.
        heights: a child is 2**height cells wide along each axis.
        out: where expected counts are written; those of children beyond the ends of the map stay as they are.
    """
    maps, rows, columns = child_at.shape
    reach = BLOCK - 1
    near = np.empty((2 * reach + 1, 2 * reach + 1), dtype=np.int64)
    patch = np.empty((rows + reach, columns + reach))
    for i in range(prefixes.size):
        prefix = prefixes[i]
        row, column = place_along(prefix, masks[0]), place_along(prefix, masks[1])
        rest = prefix & ~(masks[0] | masks[1])
        end_row, end_column = min((row + 1) * rows, used[0]), min((column + 1) * columns, used[1])
        # The patch of nodes that are in a block around one of the children, and the parents of these nodes.
        top, left = first_of_block(row * rows, used[0]), first_of_block(column * columns, used[1])
        bottom = min(first_of_block(end_row - 1, used[0]) + reach, used[0] - 1)
        right = min(first_of_block(end_column - 1, used[1]) + reach, used[1] - 1)
        for r in range(top // rows, bottom // rows + 1):
            along_rows = moved_along(prefix, masks[0], r - row)
            for c in range(left // columns, right // columns + 1):
                key = rest | along_rows | moved_along(prefix, masks[1], c - column)
                near[r - row + reach, c - column + reach] = i if key == prefix else find_near(prefixes, key, i)
        for one_map in range(maps):
            for r in range(top, bottom + 1):
                parent_row = r // rows
                for c in range(left, right + 1):
                    parent_column = c // columns
                    parent = near[parent_row - row + reach, parent_column - column + reach]
                    patch[r - top, c - left] = 0.0
                    if parent >= 0:
                        child = child_at[one_map, r - parent_row * rows, c - parent_column * columns]
                        patch[r - top, c - left] = values[parent, child]
            for r in range(row * rows, end_row):
                first_r = first_of_block(r, used[0])
                cells_of_row, cells_of_rows = cells_along(r, lengths[0], heights[0]), np.int64(0)
                for other in range(first_r, min(first_r + BLOCK, used[0])):
                    cells_of_rows += cells_along(other, lengths[0], heights[0])
                for c in range(column * columns, end_column):
                    first_c = first_of_block(c, used[1])
                    own_cells, cells_of_columns = (
                        cells_of_row * cells_along(c, lengths[1], heights[1]),
                        np.int64(0),
                    )
                    people = -patch[r - top, c - left]
                    for other in range(first_c, min(first_c + BLOCK, used[1])):
                        cells_of_columns += cells_along(other, lengths[1], heights[1])
                        for above in range(first_r, min(first_r + BLOCK, used[0])):
                            people += patch[above - top, other - left]
                    cells = cells_of_rows * cells_of_columns - own_cells
                    child = child_at[one_map, r - row * rows, c - column * columns]
                    out[i, child] = people * own_cells / cells if cells > 0 else 0.0


@kernel(
    "void(uint64[::1], float64[:, ::1], uint64[::1], int64[:, ::1], int64[:, ::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], float64[:, ::1])",
    read_only=(0, 1, 2, 3, 4, 5, 6, 7, 8),
)
def expect_from_circles(
    prefixes: Any,
    values: Any,
    masks: Any,
    places: Any,
    bits_at: Any,
    sizes: Any,
    used: Any,
    lengths: Any,
    heights: Any,
    out: Any,
) -> None:
    """The same with three ordered axes and more: along each, the children of one parent stand in a circle.

    Args:
        prefixes: the parents.
        values: of their children.
        masks: the bits of parents' prefixes that belong to each axis.
        places: of each child along each axis, within the parent.
        bits_at: the bits of a child's number that stand for each place along each axis.
        sizes: how many places a parent has along each axis.
        used: how many nodes of the children's size there are along each axis.
        lengths: cells along each axis.
        heights: a child is 2**height cells wide along each axis.
        out: where expected counts are written.
    """
    fan, axes = values.shape[1], masks.size
    first, members = np.empty(axes, dtype=np.int64), np.empty(axes, dtype=np.int64)
    people, cells, own_cells, summed = np.empty(fan), np.empty(fan), np.empty(fan), np.empty((2, fan))
    for i in range(prefixes.size):
        for axis in range(axes):
            first[axis] = place_along(prefixes[i], masks[axis]) * sizes[axis]
            members[axis] = min(max(used[axis] - first[axis], 1), sizes[axis])
        for child in range(fan):
            is_absent = np.isnan(values[i, child])
            people[child] = 0.0 if is_absent else values[i, child]
            own_cells[child] = 0.0 if is_absent else 1.0
            for axis in range(axes):
                if not is_absent:
                    place = first[axis] + places[child, axis]
                    own_cells[child] *= cells_along(place, lengths[axis], heights[axis])
            cells[child] = own_cells[child]
        # Sums over blocks, along one axis after the other.
        for axis in range(axes):
            for child in range(fan):
                summed[0, child], summed[1, child] = people[child], cells[child]
                own = places[child, axis]
                if own < members[axis]:
                    others = child & ~bits_at[axis, own]
                    for turn in range(1, min(members[axis], BLOCK)):
                        neighbour = others | bits_at[axis, (own + (-1 if turn == 1 else 1)) % members[axis]]
                        summed[0, child] += people[neighbour]
                        summed[1, child] += cells[neighbour]
            for child in range(fan):
                people[child], cells[child] = summed[0, child], summed[1, child]
        for child in range(fan):
            around = cells[child] - own_cells[child]
            out[i, child] = 0.0
            if own_cells[child] > 0 and around > 0.5:
                out[i, child] = (people[child] - values[i, child]) * own_cells[child] / around


@kernel(
    "void(float64[:, ::1], float64[:, ::1], int64[::1], float64, float64[::1], float64[::1], float64, uint8[:, ::1],"
    " float64[:, ::1])",
    read_only=(0, 1, 2, 4, 5),
)
def sort_into_classes(
    values: Any,
    expected: Any,
    parents: Any,
    deviation: float,
    around_edges: Any,
    above_edges: Any,
    bin_width: float,
    classes: Any,
    occurrences: Any,
) -> None:
    """The class of each child, by what is expected of it and by its parent's count, and how often values occur in each class.

    Args:
        values: of the children.
        expected: of each by those around it.
        parents: refined counts of the parents.
        deviation: of the noise; the edges are in units of it.
        around_edges: between classes of expected counts.
        above_edges: between classes of parents' counts.
        bin_width: values are counted in bins of this width, with the bin of 0 in the middle.
        classes: where the classes are written.
        occurrences: where occurrences are added, a row for each class.
    """
    half = occurrences.shape[1] // 2
    reach = half * bin_width
    for i in range(values.shape[0]):
        above = 0
        while above < above_edges.size and parents[i] / deviation >= above_edges[above]:
            above += 1
        for child in range(values.shape[1]):
            value = values[i, child]
            if np.isnan(value):
                classes[i, child] = 0
                continue
            around = 0
            share = expected[i, child] / deviation
            while around < around_edges.size and share >= around_edges[around]:
                around += 1
            kind = around * (above_edges.size + 1) + above
            classes[i, child] = kind
            if abs(value) <= reach:
                occurrences[kind, np.int64(np.rint(value / bin_width)) + half] += 1


@called
def mixed(word: Any) -> Any:
    """Another word that looks random (the last steps of SplitMix64)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@kernel(
    "void(float64[:, ::1], float64, uint8[:, ::1], boolean[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], float64,"
    " uint64[::1], float64[:, ::1], float64[:, ::1])",
    read_only=(0, 2, 3, 4, 5, 6, 8),
)
def judge_children(
    values: Any,
    variance: float,
    classes: Any,
    taught: Any,
    means: Any,
    variances: Any,
    occupied: Any,
    bin_width: float,
    words: Any,
    out_values: Any,
    out_variances: Any,
) -> None:
    """Posterior means and variances of children, and who of them takes part: the others have the variance -1.

    Those take part that are likely to be occupied, and of the unlikely ones, the likeliest first, as many as are expected to be
    occupied; at least one. Of those that are equally likely, chance takes the ones or the others.

    Args:
        values: of the children.
        variance: of their noise.
        classes: of the children.
        taught: which classes have learned anything.
        means: for each class and bin.
        variances: for each class and bin.
        occupied: for each class and bin, how likely a place is not to be empty.
        bin_width: of the bins.
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
                rank[child] = -1.0
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
        more = np.int64(np.rint(expected))
        if taking == 0:
            more = max(more, 1)
        for _ in range(more):
            best = 0
            for child in range(1, fan):
                if rank[child] > rank[best]:
                    best = child
            if rank[best] <= 0.0:
                break
            place = np.int64(np.rint(values[i, best] / bin_width)) + half
            out_variances[i, best] = max(variances[classes[i, best], place], AT_LEAST)
            rank[best] = 0.0
            taking += 1
        if taking == 0:
            for child in range(fan):
                if rank[child] >= 0.0:
                    place = np.int64(np.rint(values[i, child] / bin_width)) + half
                    out_variances[i, child] = max(variances[classes[i, child], place], AT_LEAST)
