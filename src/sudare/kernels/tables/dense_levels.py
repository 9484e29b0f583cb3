"""Levels of a tree of which every node is measured: the people in each node, and the nodes around it.

Nodes are numbered from left to right; the bits of a number that belong to an axis are its place along it. So the neighbours
of a node follow from its number alone, and no copy of the level in the order of the map is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import called, inlined, kernel
from sudare.kernels.tables.surroundings import moved_along, place_along, sum_circles

__all__ = ["add_to_nodes", "expect_in_circles", "expect_on_grid"]

END_BLOCK = 5
"""Nodes a side of the block of a node at an end of a map."""


@kernel("void(int64[::1], int64[::1], int64, int64[::1])", read_only=(0, 1))
def add_to_nodes(leaves: Any, counts: Any, height: int, out: Any) -> None:
    """Add the counts of cells to the nodes above their leaves, this many halvings up."""
    for i in range(leaves.size):
        out[leaves[i] >> height] += counts[i]


@inlined
def next_along(bits: Any, mask: Any) -> Any:
    """The bits of the next place along the axis that a mask stands for: carries run through the other axes' bits."""
    return ((bits | ~mask) + np.uint64(1)) & mask


@called
def first_along(bits: Any, mask: Any, last: Any, width: Any) -> Any:
    """Where the block around a place begins along an axis; at an end it is moved inwards."""
    if bits == np.uint64(0):
        return bits
    return moved_along(bits, mask, 1 - width) if bits == last else (bits - np.uint64(1)) & mask


@called
def offset_of_end_block(index: Any, last: Any) -> Any:
    """How many places before a node the block for the ends of a map begins along an axis; at an end it is moved inwards."""
    return index - min(max(index - END_BLOCK // 2, 0), last - END_BLOCK + 1)


@called
def expect_at_end(values: Any, cells: Any, node: Any, masks: Any, rows: Any, columns: Any) -> Any:
    """What a node at an end of a map would count on the plane that fits the people a cell of the nodes around best.

    The weight of a node that is i rows and j columns away is a + b i + c j, where (a, b, c) solves the normal equations: the
    weights of all but the node itself add up to 1, and their mean place is that of the node.

    Args:
        values: of all nodes of the level.
        cells: how many each of them has.
        node: the number of the node.
        masks: the bits of a node's number that belong to each of the two axes.
        rows: how many rows before the node its block begins.
        columns: the same for columns.

    Returns:
        The expected count; NaN where a node of the block has no cells.
    """
    side = END_BLOCK
    shift = side * (side - 1) // 2
    row_sum, column_sum = shift - side * rows, shift - side * columns
    squares = side * (side - 1) * (2 * side - 1) // 6
    row_squares = side * (squares - 2 * rows * shift + side * rows * rows)
    column_squares = side * (squares - 2 * columns * shift + side * columns * columns)
    both = row_sum * column_sum
    row_sum, column_sum = side * row_sum, side * column_sum
    level = row_squares * column_squares - both * both
    down, right = both * column_sum - row_sum * column_squares, both * row_sum - row_squares * column_sum
    people, places = 0.0, 0.0
    neither = node & ~(masks[0] | masks[1])
    along = moved_along(node, masks[0], -rows)
    first = moved_along(node, masks[1], -columns)
    for i in range(-rows, side - rows):
        across = first
        for j in range(-columns, side - columns):
            other = neither | along | across
            if cells[other] == 0:
                return np.nan
            if other != node:
                weight = np.float64(level + down * i + right * j)
                people += weight * values[other]
                places += weight * cells[other]
            across = next_along(across, masks[1])
        along = next_along(along, masks[0])
    return people * cells[node] / places if places > 0.0 else np.nan


@kernel(
    "void(float64[::1], int32[:], int64[::1], uint64[::1], uint64[::1], int64[::1], boolean, float64[:, ::1])",
    read_only=(0, 1, 2, 3, 4, 5),
)
def expect_on_grid(
    values: Any, cells: Any, parents: Any, masks: Any, lasts: Any, widths: Any, planes: bool, out: Any
) -> None:
    """What children would count if they had as many people a cell as the nodes around them on a map of two axes.

    A node's own count has no part in it, and neither has what is no cell. At an end of the map the block of neighbours is
    moved inwards, so that every node is judged by equally many others. If planes are wanted, one is fitted there to a larger
    block, which tells of the node about as surely as the smaller one; not where
    the map is too small for that, or cells are missing.

    Args:
        values: of all nodes of the level.
        cells: how many each of them has.
        parents: the numbers of those whose children are asked for.
        masks: the bits of a node's number that belong to each of the two axes; none for an axis that there is not.
        lasts: those bits of the last node along each axis that has cells.
        widths: nodes of a block along each axis.
        planes: whether planes tell of the nodes at the ends of the map.
        out: where expected counts are written, a row for each parent; 0 without cells or without neighbours.
    """
    fan = out.shape[1]
    neither = ~(masks[0] | masks[1])
    last_row, last_column = place_along(lasts[0], masks[0]), place_along(lasts[1], masks[1])
    has_planes = planes and min(last_row, last_column) >= END_BLOCK - 1
    for i in range(parents.size):
        for child in range(fan):
            node = np.uint64(parents[i] * fan + child)
            own_cells = np.int64(cells[node])
            out[i, child] = 0.0
            if own_cells == 0:
                continue
            row, left = node & masks[0], node & masks[1]
            if has_planes and (row == 0 or left == 0 or row == lasts[0] or left == lasts[1]):
                rows = offset_of_end_block(place_along(node, masks[0]), last_row)
                columns = offset_of_end_block(place_along(node, masks[1]), last_column)
                out[i, child] = expect_at_end(values, cells, node, masks, rows, columns)
                if not np.isnan(out[i, child]):
                    continue
                out[i, child] = 0.0
            row = first_along(row, masks[0], lasts[0], widths[0])
            left = first_along(left, masks[1], lasts[1], widths[1])
            people, places = 0.0, np.int64(-own_cells)
            for _ in range(widths[0]):
                column = left
                for _ in range(widths[1]):
                    other = (node & neither) | row | column
                    if other != node and cells[other] > 0:
                        people += values[other]
                    places += np.int64(cells[other])
                    column = next_along(column, masks[1])
                row = next_along(row, masks[0])
            if places > 0:
                out[i, child] = people * own_cells / places


@kernel(
    "void(float64[::1], int32[:], int64[::1], uint64[::1], int64[:, ::1], int64[:, ::1], int64[::1], int64[::1],"
    " float64[:, ::1])",
    read_only=(0, 1, 2, 3, 4, 5, 6, 7),
)
def expect_in_circles(
    values: Any,
    cells: Any,
    parents: Any,
    masks: Any,
    places: Any,
    bits_at: Any,
    sizes: Any,
    used: Any,
    out: Any,
) -> None:
    """The same with three ordered axes and more: along each, the children of one parent stand in a circle.

    Args:
        values: of all nodes of the level.
        cells: how many each of them has.
        parents: the numbers of those whose children are asked for.
        masks: the bits of a parent's number that belong to each axis.
        places: of each child along each axis, within the parent.
        bits_at: the bits of a child's number that stand for each place along each axis.
        sizes: how many places a parent has along each axis.
        used: how many nodes of the children's size there are along each axis, up to the last that has cells.
        out: where expected counts are written, a row for each parent; 0 without cells or without neighbours.
    """
    fan, axes = out.shape[1], masks.size
    members = np.empty(axes, dtype=np.int64)
    people, places_around, summed = np.empty(fan), np.empty(fan), np.empty((2, fan))
    for i in range(parents.size):
        start = parents[i] * fan
        for axis in range(axes):
            before = place_along(np.uint64(parents[i]), masks[axis]) * sizes[axis]
            members[axis] = min(max(used[axis] - before, 1), sizes[axis])
        for child in range(fan):
            places_around[child] = cells[start + child]
            people[child] = values[start + child] if cells[start + child] > 0 else 0.0
        sum_circles(people, places_around, places, bits_at, members, summed)
        for child in range(fan):
            own_cells = cells[start + child]
            around = places_around[child] - own_cells
            out[i, child] = 0.0
            if own_cells > 0 and around > 0.5:
                out[i, child] = (people[child] - values[start + child]) * own_cells / around
