"""Nodes of a level of which only some are visited: the people in them, and the nodes around them.

Visited are all children of some parents. Parents are prefixes of leaf numbers, ascending; values stand in a row of children
for each. A child without cells has the value NaN (``ABSENT`` among whole numbers) and takes part in nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import called, kernel
from sudare.kernels.tables.splits import ABSENT
from sudare.kernels.tables.trees import is_outside

__all__ = ["add_people", "as_reals", "children_at", "expect_from_circles", "expect_from_grid", "sum_children"]

BLOCK = 3
"""Nodes a side of the block around a node."""


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
    """The bits of a prefix that a mask has, this many places further along the axis."""
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


@kernel("void(int64[:, ::1], float64[:, ::1])", read_only=(0,))
def as_reals(counts: Any, values: Any) -> None:
    """Noisy counts as estimates: NaN for children without cells."""
    for i in range(counts.shape[0]):
        for child in range(counts.shape[1]):
            values[i, child] = np.nan if counts[i, child] == ABSENT else np.float64(counts[i, child])


@kernel("void(uint64[::1], int64[::1], int64, int64, uint64[::1])", read_only=(0, 1))
def children_at(prefixes: Any, places: Any, step: int, bit: int, out: Any) -> None:
    """The prefixes of children, given by their places in the rows of their parents."""
    mask = (np.uint64(1) << np.uint64(step)) - np.uint64(1)
    for i in range(places.size):
        place = np.uint64(places[i])
        out[i] = prefixes[place >> np.uint64(step)] | ((place & mask) << np.uint64(bit))


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
    "void(uint64[::1], float64[:, ::1], int64, uint64[::1], int64[:, :, ::1], int64[::1], int64[::1], int64[::1],"
    " float64[:, ::1])",
    read_only=(0, 1, 3, 4, 5, 6, 7),
)
def expect_from_grid(
    prefixes: Any,
    values: Any,
    start: int,
    masks: Any,
    child_at: Any,
    used: Any,
    lengths: Any,
    heights: Any,
    out: Any,
) -> None:
    """What each child would count if it had as many people a cell as the nodes around it on a map of two axes.

    Nodes that are not visited have nobody: their parents' refined counts are 0. At an end of the map the block of
    neighbours is moved inwards, so that every node is judged by equally many others.

    Args:
        prefixes: the parents, ascending.
        values: of their children.
        start: the first parent whose children are asked for; as many as there is room for.
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
    for i in range(start, start + out.shape[0]):
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
                    out[i - start, child] = people * own_cells / cells if cells > 0 else 0.0


@called
def sum_circles(people: Any, cells: Any, places: Any, bits_at: Any, members: Any, summed: Any) -> None:
    """Replace what the children of one parent count by sums over blocks, along one axis after the other.

    Args:
        people: of the children.
        cells: of the children.
        places: of each child along each axis, within the parent.
        bits_at: the bits of a child's number that stand for each place along each axis.
        members: how many of the places along each axis have cells, from the first; they stand in a circle.
        summed: room for two numbers of each child.
    """
    fan, axes = places.shape
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


@kernel(
    "void(uint64[::1], float64[:, ::1], int64, uint64[::1], int64[:, ::1], int64[:, ::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], float64[:, ::1])",
    read_only=(0, 1, 3, 4, 5, 6, 7, 8, 9),
)
def expect_from_circles(
    prefixes: Any,
    values: Any,
    start: int,
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
        start: the first parent whose children are asked for; as many as there is room for.
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
    for i in range(start, start + out.shape[0]):
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
        sum_circles(people, cells, places, bits_at, members, summed)
        for child in range(fan):
            around = cells[child] - own_cells[child]
            out[i - start, child] = 0.0
            if own_cells[child] > 0 and around > 0.5:
                out[i - start, child] = (people[child] - values[i, child]) * own_cells[child] / around
