"""Grouping equal rows by a hash table, and merging what is counted in the groups; arrays in, arrays out."""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import inlined, kernel

__all__ = [
    "add_by_group",
    "group_keys",
    "merge_histograms",
    "order_by_group",
    "pack_levels",
    "sum_by_codes",
    "table_size",
]

NOBODY = -1


def table_size(rows: int) -> int:
    """Slots of a hash table that is at most half full: a power of two."""
    return 1 << max(4, (2 * rows - 1).bit_length())


@inlined
def scattered(key: Any) -> Any:
    """The finalizer of SplitMix64: a permutation of the 64-bit words that spreads neighbours over all of them."""
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))


@kernel("int64(uint64[::1], int32[::1], int64[::1], int64[::1])", read_only=(0,))
def group_keys(keys: Any, slots: Any, of_row: Any, firsts: Any) -> Any:
    """Number equal keys from 0 on, in the order of their first appearance.

    Args:
        keys: one for each row.
        slots: the hash table, ``table_size(rows)`` numbers, all -1; used up.
        of_row: written to, the group of each row.
        firsts: written to, the first row of each group.

    Returns:
        The number of groups.
    """
    mask = np.uint64(slots.size - 1)
    groups = 0
    for row in range(keys.size):
        key = keys[row]
        slot = scattered(key) & mask
        while True:
            group = slots[slot]
            if group == NOBODY:
                slots[slot] = groups
                firsts[groups] = row
                of_row[row] = groups
                groups += 1
                break
            if keys[firsts[group]] == key:
                of_row[row] = group
                break
            slot = (slot + np.uint64(1)) & mask
    return groups


@kernel("void(int32[:, ::1], int64[::1], uint64[::1], int64[::1], uint64[::1])", read_only=(0, 1, 2, 3))
def pack_levels(leaves: Any, members: Any, table: Any, starts: Any, keys: Any) -> None:
    """Write the generalized values of rows into one word each.

    Args:
        leaves: of each row and column, the place of its value in the column's hierarchy.
        members: which rows.
        table: for each leaf of each column in turn, the number of its group, shifted to the column's bits.
        starts: where each column begins in the table.
        keys: written to, one word for each member.
    """
    columns = leaves.shape[1]
    for place in range(members.size):
        row = members[place]
        key = np.uint64(0)
        for column in range(columns):
            key |= table[starts[column] + leaves[row, column]]
        keys[place] = key


@kernel("void(int64[::1], int64[::1], int64[::1])", read_only=(0, 1))
def add_by_group(of_row: Any, values: Any, out: Any) -> None:
    """Add the values of the rows to those of their groups."""
    for row in range(of_row.size):
        out[of_row[row]] += values[row]


@kernel("void(int64[::1], int64[::1], int64[::1])", read_only=(0,))
def order_by_group(of_row: Any, edges: Any, order: Any) -> None:
    """Write the rows of each group side by side, in their order.

    Args:
        of_row: the group of each row.
        edges: zeros, one more than there are groups; written to, where each group begins, and the end.
        order: written to.
    """
    for row in range(of_row.size):
        edges[of_row[row] + 1] += 1
    for group in range(1, edges.size):
        edges[group] += edges[group - 1]
    next_place = edges.copy()
    for row in range(of_row.size):
        group = of_row[row]
        order[next_place[group]] = row
        next_place[group] += 1


@kernel("void(int32[:, ::1], int64[::1], int64[::1], int64[::1], int64[::1])", read_only=(0, 1, 2, 3))
def sum_by_codes(leaves: Any, members: Any, counts: Any, starts: Any, out: Any) -> None:
    """Add the counts of rows to the leaf that each column has there.

    Args:
        leaves: of each row and column.
        members: which rows.
        counts: of each member.
        starts: where the leaves of each column begin in the result.
        out: added to.
    """
    for place in range(members.size):
        row = members[place]
        for column in range(leaves.shape[1]):
            out[starts[column] + leaves[row, column]] += counts[place]


@kernel(
    "int64(int64[::1], int64[::1], int64[::1], int32[::1], int64[::1], int64[::1], int64[::1], int32[::1], int64[::1])",
    read_only=(0, 1, 2, 3, 4, 5),
)
def merge_histograms(
    order: Any,
    edges: Any,
    old_edges: Any,
    old_values: Any,
    old_counts: Any,
    place: Any,
    starts: Any,
    values: Any,
    counts: Any,
) -> Any:
    """Merge sparse histograms of old groups into those of new ones.

    Args:
        order: old groups, those of one new group side by side.
        edges: where each new group begins in the order, and the end.
        old_edges: where the entries of each old group begin, and the end.
        old_values: of the entries.
        old_counts: of the entries.
        place: one number for each value that can be; all -1.
        starts: written to, where the entries of each new group begin, and the end.
        values: written to.
        counts: written to.

    Returns:
        The number of entries written.
    """
    where = place.copy()
    written = 0
    for new in range(edges.size - 1):
        begin = written
        starts[new] = begin
        for index in range(edges[new], edges[new + 1]):
            old = order[index]
            for entry in range(old_edges[old], old_edges[old + 1]):
                value = old_values[entry]
                at = where[value]
                if at < begin:
                    where[value] = written
                    values[written] = value
                    counts[written] = old_counts[entry]
                    written += 1
                else:
                    counts[at] += old_counts[entry]
    starts[edges.size - 1] = written
    return written
