"""Estimates made whole and non-negative with given sums: of the children of a node, or of rows and columns at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import called, kernel
from sudare.kernels.tables.simplex import descend

__all__ = ["fit_margins", "split_cells"]


@kernel(
    "void(int64[:, ::1], float64[:, ::1], int64[:, ::1], int64[::1], uint64[:, ::1], int64[:, ::1])",
    read_only=(0, 1, 2, 3, 4),
)
def split_cells(whole: Any, fractions: Any, totals: Any, edges: Any, tie_words: Any, out: Any) -> None:
    """Split every cell of every parent among its children: the nearest whole numbers >= 0 with the parent's sum.

    Child c of parent p stands in the rows from ``edges[p]`` to before ``edges[p + 1]``; its estimate for a cell is
    ``whole + fractions`` with fractions in [0, 1). Let t be the smallest whole number for which whole - t, cut off at 0,
    does not exceed the total. What is missing then goes, one each, to children with whole >= t that have the largest
    fractions. Equal fractions take turns from a random one. Only whole numbers are compared and added.
    """
    most = 0
    for parent in range(edges.size - 1):
        most = max(most, edges[parent + 1] - edges[parent])
    active_rows = np.empty(most, dtype=np.int64)
    keys = np.empty(most, dtype=np.float64)
    for parent in range(edges.size - 1):
        first, last = edges[parent], edges[parent + 1]
        for cell in range(totals.shape[1]):
            total = totals[parent, cell]
            if total == 0:
                for row in range(first, last):
                    out[row, cell] = 0
                continue
            highest = whole[first, cell]
            for row in range(first + 1, last):
                highest = max(highest, whole[row, cell])
            low, high = highest - total - 1, highest
            while high - low > 1:
                t = low + ((high - low) >> 1)
                above = np.int64(0)
                for row in range(first, last):
                    if whole[row, cell] > t:
                        above += whole[row, cell] - t
                        if above > total:
                            break
                if above > total:
                    low = t
                else:
                    high = t
            missing = total
            active = 0
            for row in range(first, last):
                count = np.int64(0)
                if whole[row, cell] >= high:
                    count = whole[row, cell] - high
                    active_rows[active] = row
                    active += 1
                out[row, cell] = count
                missing -= count
            if missing > 0:
                turn = np.int64(tie_words[parent, cell] % np.uint64(active))
                for i in range(active):
                    keys[i] = -fractions[active_rows[(i + turn) % active], cell]
                order = np.argsort(keys[:active], kind="mergesort")
                for i in range(missing):
                    out[active_rows[(order[i] + turn) % active], cell] += 1


@called
def level_of(values: Any, wanted: Any) -> Any:
    """The level above which the values add up to a sum; the highest value if that is 0. Overwrites the values."""
    if wanted == 0:
        return values.max()
    return descend(values, values.size, np.float64(wanted))


@kernel("void(float64[:, ::1], int64[::1], int64[::1], int64, int64[:, ::1])", read_only=(0, 1, 2))
def fit_margins(estimates: Any, rows: Any, columns: Any, rounds: int, out: Any) -> None:
    """Whole numbers >= 0 near the estimates, with given sums of rows and of columns, which have the same sum.

    The nearest real numbers are max(estimate - a_row - b_column, 0). The a are found from the b and the b from the a, in
    turn. Then all are rounded down, and raised by one, largest fractions first, where row and column both lack something.
    What is lacking after that is brought from a row to a column by a chain of entries that are raised and lowered in
    turn; the sums allow it up to rounding errors, and what those leave is added without regard to fractions.
    Whatever the floats were, the sums are exact.
    """
    m, n = rows.size, columns.size
    a, b = np.zeros(m), np.zeros(n)
    row_room, column_room = np.empty(n), np.empty(m)
    for _ in range(rounds):
        for i in range(m):
            for j in range(n):
                row_room[j] = estimates[i, j] - b[j]
            a[i] = level_of(row_room, rows[i])
        for j in range(n):
            for i in range(m):
                column_room[i] = estimates[i, j] - a[i]
            b[j] = level_of(column_room, columns[j])
        worst = 0.0
        for i in range(m):
            total = 0.0
            for j in range(n):
                total += max(estimates[i, j] - a[i] - b[j], 0.0)
            worst = max(worst, abs(total - rows[i]))
        if worst < 1e-6:
            break

    fractions = np.empty((m, n))
    row_lacks, column_lacks = rows.copy(), columns.copy()
    for i in range(m):
        for j in range(n):
            value = max(estimates[i, j] - a[i] - b[j], 0.0)
            count = min(np.int64(np.floor(min(value, 4.0e18))), min(rows[i], columns[j]))
            fractions[i, j] = value - count
            out[i, j] = count
            row_lacks[i] -= count
            column_lacks[j] -= count
    # Rounding errors, or too few rounds, may have given too much: first where row and column both have too much.
    for attempt in range(2):
        for i in range(m):
            for j in range(n):
                row_excess, column_excess = -row_lacks[i], -column_lacks[j]
                excess = max(row_excess, column_excess) if attempt else min(row_excess, column_excess)
                taken = min(out[i, j], max(excess, 0))
                out[i, j] -= taken
                row_lacks[i] += taken
                column_lacks[j] += taken

    raised = np.zeros((m, n), dtype=np.bool_)
    order = np.argsort(-fractions.reshape(m * n), kind="mergesort")
    for position in order:
        i, j = position // n, position % n
        if fractions[i, j] <= 0.0:
            break
        if row_lacks[i] > 0 and column_lacks[j] > 0:
            raised[i, j] = True
            row_lacks[i] -= 1
            column_lacks[j] -= 1
    column_from, row_from = np.empty(n, dtype=np.int64), np.empty(m, dtype=np.int64)
    queue = np.empty(m, dtype=np.int64)
    for start in range(m):
        while row_lacks[start] > 0:
            column_from[:], row_from[:] = -1, -1
            queue[0], head, tail, end = start, 0, 1, -1
            row_from[start] = n
            while head < tail and end < 0:
                i = queue[head]
                head += 1
                for j in range(n):
                    if column_from[j] >= 0 or raised[i, j] or fractions[i, j] <= 0.0:
                        continue
                    column_from[j] = i
                    if column_lacks[j] > 0:
                        end = j
                        break
                    for other in range(m):
                        if row_from[other] < 0 and raised[other, j]:
                            row_from[other] = j
                            queue[tail] = other
                            tail += 1
            if end < 0:
                break
            row_lacks[start] -= 1
            column_lacks[end] -= 1
            j = end
            while True:
                i = column_from[j]
                raised[i, j] = True
                if i == start:
                    break
                j = row_from[i]
                raised[i, j] = False
    for i in range(m):
        for j in range(n):
            rest = min(row_lacks[i], column_lacks[j])
            row_lacks[i] -= rest
            column_lacks[j] -= rest
            out[i, j] += rest + np.int64(raised[i, j])
