"""Distances between the values of a class and those of the whole table, class by class from sparse counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import kernel

__all__ = ["largest_and_tail", "ordered_distances", "tree_distances"]


@kernel("void(int64[::1], int64[::1], int64, int64[::1], int64[::1])", read_only=(0, 1))
def largest_and_tail(edges: Any, counts: Any, first: Any, largest: Any, tail: Any) -> None:
    """The largest count of each class, and the sum of its counts from the first-th largest (from 1) on."""
    for group in range(edges.size - 1):
        begin, end = edges[group], edges[group + 1]
        ordered = np.sort(counts[begin:end])
        size = end - begin
        largest[group] = ordered[size - 1] if size else 0
        total = np.int64(0)
        for place in range(size - first + 1):
            total += ordered[place]
        tail[group] = total


@kernel("void(int64[::1], int32[::1], int64[::1], int64[::1], float64[::1])", read_only=(0, 1, 2, 3))
def ordered_distances(edges: Any, values: Any, counts: Any, totals: Any, out: Any) -> None:
    """The earth mover's distance of each class to the table, neighbouring values being 1 / (values - 1) apart.

    The sums that are moved from each value to the next are whole numbers, in parts of (rows of the class x rows of the table).

    Args:
        edges: where the entries of each class begin, and the end.
        values: of the entries, numbered in their order.
        counts: of the entries.
        totals: how often each value occurs in the table.
        out: written to.
    """
    table = totals.sum()
    here = np.zeros(totals.size, dtype=np.int64)
    for group in range(edges.size - 1):
        rows = np.int64(0)
        for entry in range(edges[group], edges[group + 1]):
            here[values[entry]] = counts[entry]
            rows += counts[entry]
        moved = np.int64(0)
        distance = 0.0
        for value in range(totals.size):
            moved += here[value] * table - totals[value] * rows
            distance += abs(np.float64(moved))
        for entry in range(edges[group], edges[group + 1]):
            here[values[entry]] = 0
        whole = np.float64(rows) * np.float64(table)
        out[group] = distance / whole / (totals.size - 1) if rows and totals.size > 1 else 0.0


@kernel(
    "void(int64[::1], int32[::1], int64[::1], int64[::1], int32[:, ::1], int64[::1], float64[::1])",
    read_only=(0, 1, 2, 3, 4, 5),
)
def tree_distances(edges: Any, values: Any, counts: Any, totals: Any, parents: Any, sizes: Any, out: Any) -> None:
    """The earth mover's distance of each class to the table along a tree of values.

    Two values that meet on level l of a tree of height h are l / h apart. Below each node, what can be evened out is; the rest
    goes up.

    Args:
        edges: where the entries of each class begin, and the end.
        values: of the entries.
        counts: of the entries.
        totals: how often each value occurs in the table.
        parents: for each level above the values, the group of each value on the level below it (level 1: of the values).
        sizes: the number of groups of each level, level 0 being the values.
        out: written to.
    """
    height = parents.shape[0]
    table = totals.sum()
    most = sizes.max()
    extra = np.zeros(most, dtype=np.int64)
    surplus = np.zeros(most, dtype=np.int64)
    lack = np.zeros(most, dtype=np.int64)
    for group in range(edges.size - 1):
        rows = np.int64(0)
        for entry in range(edges[group], edges[group + 1]):
            rows += counts[entry]
        for value in range(sizes[0]):
            extra[value] = -totals[value] * rows
        for entry in range(edges[group], edges[group + 1]):
            extra[values[entry]] += counts[entry] * table
        distance = 0.0
        for level in range(height):
            for node in range(sizes[level + 1]):
                surplus[node] = 0
                lack[node] = 0
            for child in range(sizes[level]):
                parent = parents[level, child]
                if extra[child] > 0:
                    surplus[parent] += extra[child]
                else:
                    lack[parent] -= extra[child]
            for node in range(sizes[level + 1]):
                distance += np.float64((level + 1) * min(surplus[node], lack[node]))
                extra[node] = surplus[node] - lack[node]
        out[group] = distance / height / (np.float64(rows) * np.float64(table)) if rows else 0.0
