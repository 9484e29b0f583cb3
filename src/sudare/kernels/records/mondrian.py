"""Cutting boxes of records: the span of each column, the most balanced cut, and the rows on both sides of it.

``codes`` has a row for each column and a place for each record; ``order`` lists the records, those of one box next to each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import kernel

__all__ = ["NO_CUT", "balanced_cut", "divide", "find_spans", "groups_fit"]

NO_CUT = -1


@kernel("void(int32[:, ::1], int64[::1], int64, int64, int32[::1], int32[::1])", read_only=(0, 1))
def find_spans(codes: Any, order: Any, start: int, end: int, low: Any, high: Any) -> None:
    """The lowest and the highest code of the box in every column."""
    for column in range(codes.shape[0]):
        smallest = largest = codes[column, order[start]]
        for i in range(start + 1, end):
            code = codes[column, order[i]]
            if code < smallest:
                smallest = code
            elif code > largest:
                largest = code
        low[column] = smallest
        high[column] = largest


@kernel("int64(int32[:, ::1], int64, int64[::1], int64, int64, int64)", read_only=(0, 2))
def balanced_cut(codes: Any, column: int, order: Any, start: int, end: int, k: int) -> int:
    """The code that is the last one below the most balanced cut with at least k records on both sides.

    Returns:
        The code, or -1 if there is no such cut. Of two that are equally balanced, the lower.
    """
    rows = end - start
    if rows < 2 * k:
        return NO_CUT
    found = np.empty(rows, dtype=np.int32)
    for i in range(rows):
        found[i] = codes[column, order[start + i]]
    found.sort()
    place, best_gap = 0, rows + 1
    for i in range(k, rows - k + 1):
        if found[i] != found[i - 1]:
            gap = abs(2 * i - rows)
            if gap < best_gap:
                place, best_gap = i, gap
    return int(found[place - 1]) if place else NO_CUT


@kernel("int64(int32[:, ::1], int64, int64[::1], int64, int64, int64, int64[::1])", read_only=(0,))
def divide(codes: Any, column: int, order: Any, start: int, end: int, cut: int, spare: Any) -> int:
    """Bring the records up to the cut to the front of the box, both parts in the order they had.

    Returns:
        Where the second part begins.
    """
    middle, above = start, 0
    for i in range(start, end):
        row = order[i]
        if codes[column, row] <= cut:
            order[middle] = row
            middle += 1
        else:
            spare[above] = row
            above += 1
    for i in range(above):
        order[middle + i] = spare[i]
    return middle


@kernel("boolean(int32[:, ::1], int64, int64[::1], int32[::1], int64, int64[::1])", read_only=(0, 2, 3))
def groups_fit(codes: Any, column: int, order: Any, groups: Any, k: int, counts: Any) -> bool:
    """Whether every group that has a record of the box has at least k; ``counts`` has a zero for each group, and keeps them."""
    for i in range(order.size):
        counts[groups[codes[column, order[i]]]] += 1
    fit = True
    for i in range(order.size):
        group = groups[codes[column, order[i]]]
        if 0 < counts[group] < k:
            fit = False
        counts[group] = 0
    return fit
