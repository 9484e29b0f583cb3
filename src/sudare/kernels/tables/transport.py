"""Tables of whole numbers >= 0 with given sums of rows and columns, as near as can be to given values."""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import called, kernel

__all__ = ["fill_tables"]

CLOSE = 0.25
"""Sums of columns that are missed by less are met by the rounding."""


@called
def level_of(values: Any, is_used: Any, wanted: Any) -> Any:
    """The level at which what the used values exceed it by adds up to what is wanted; marks those above it as used.

    The mean excess of a set that holds all values above the level is a lower bound of it; values not above the bound are
    left out, for good, until none is left out.
    """
    used, total = 0, 0.0
    for i in range(values.size):
        if is_used[i]:
            used += 1
            total += values[i]
    if used == 0:
        return 0.0
    level = (total - wanted) / used
    for _ in range(values.size):
        above, total = 0, 0.0
        for i in range(values.size):
            if is_used[i]:
                if values[i] > level:
                    above += 1
                    total += values[i]
                else:
                    is_used[i] = False
        if above in (used, 0):
            break
        used = above
        level = (total - wanted) / used
    return level


@called
def nearest_real_table(values: Any, rows: Any, columns: Any, rounds: Any, table: Any) -> None:
    """The nearest table >= 0 with these sums: max(value - level of the row - level of the column, 0).

    Levels of rows and of columns are found in turn, each exactly given the other. Sums of rows are met at the end.
    """
    height, width = values.shape
    row_levels, column_levels = np.zeros(height), np.zeros(width)
    along_row, along_column = np.empty(width), np.empty(height)
    in_row, in_column = np.empty(width, dtype=np.bool_), np.empty(height, dtype=np.bool_)
    for turn in range(rounds):
        for i in range(height):
            for k in range(width):
                along_row[k] = values[i, k] - column_levels[k]
                in_row[k] = columns[k] > 0 and rows[i] > 0
            row_levels[i] = level_of(along_row, in_row, rows[i])
            for k in range(width):
                table[i, k] = max(along_row[k] - row_levels[i], 0.0) if in_row[k] else 0.0
        missed = 0.0
        for k in range(width):
            total = 0.0
            for i in range(height):
                total += table[i, k]
            missed = max(missed, abs(total - columns[k]))
        if missed < CLOSE or turn + 1 == rounds:
            break
        for k in range(width):
            for i in range(height):
                along_column[i] = values[i, k] - row_levels[i]
                in_column[i] = columns[k] > 0 and rows[i] > 0
            column_levels[k] = level_of(along_column, in_column, columns[k])


@called
def round_table(table: Any, rows: Any, columns: Any, tie_word: Any, out: Any) -> None:
    """Whole numbers near a real table, with sums of rows and columns that are met exactly.

    What is left after rounding down goes one by one to the largest fractional part whose row and column both miss somebody;
    equal ones take turns from a random place.
    """
    height, width = table.shape
    left_of_rows, left_of_columns = rows.copy(), columns.copy()
    for i in range(height):
        for k in range(width):
            count = min(np.int64(min(np.floor(table[i, k] + 1e-9), 4.0e18)), left_of_rows[i])
            out[i, k] = count
            left_of_rows[i] -= count
            left_of_columns[k] -= count
            table[i, k] -= count
    for k in range(width):
        while left_of_columns[k] < 0:
            least = -1
            for i in range(height):
                if out[i, k] > 0 and (least < 0 or table[i, k] < table[least, k]):
                    least = i
            taken = min(out[least, k], max(-left_of_columns[k] // height, 1))
            out[least, k] -= taken
            table[least, k] += taken
            left_of_columns[k] += taken
            left_of_rows[least] += taken
    missing = np.int64(0)
    for i in range(height):
        missing += left_of_rows[i]
    first_row = np.int64(tie_word % np.uint64(height))
    first_column = np.int64((tie_word >> np.uint64(32)) % np.uint64(width))
    while missing > 0:
        row: Any = -1
        column: Any = -1
        for i in range(height):
            one = i + first_row if i + first_row < height else i + first_row - height
            if left_of_rows[one] <= 0:
                continue
            for k in range(width):
                other = k + first_column if k + first_column < width else k + first_column - width
                if left_of_columns[other] > 0 and (row < 0 or table[one, other] > table[row, column]):
                    row, column = one, other
        # Beyond 2**53 a real number is no longer exact, and more than one may be missing.
        given = max(min(left_of_rows[row], left_of_columns[column]) // 2, 1) if missing > height * width else 1
        out[row, column] += given
        table[row, column] -= given
        left_of_rows[row] -= given
        left_of_columns[column] -= given
        missing -= given


@kernel(
    "void(float64[:, :, ::1], int64[:, ::1], int64[:, ::1], uint64[::1], int64, int64[:, :, ::1])",
    read_only=(0, 1, 2, 3),
)
def fill_tables(values: Any, rows: Any, columns: Any, tie_words: Any, rounds: int, out: Any) -> None:
    """For each of many tables, whole numbers >= 0 near its values whose rows and columns have given sums.

    Args:
        values: of each table, row and column.
        rows: the sums of the rows, >= 0.
        columns: the sums of the columns, >= 0, which add up to the same.
        tie_words: a random word for each table, which decides between equals.
        rounds: how often levels are found in turn, at most.
        out: where the tables are written.
    """
    number, height, width = values.shape
    table = np.empty((height, width))
    for b in range(number):
        people = np.int64(0)
        for i in range(height):
            people += rows[b, i]
        if people == 0:
            for i in range(height):
                for k in range(width):
                    out[b, i, k] = 0
            continue
        nearest_real_table(values[b], rows[b], columns[b], rounds, table)
        round_table(table, rows[b], columns[b], tie_words[b], out[b])
