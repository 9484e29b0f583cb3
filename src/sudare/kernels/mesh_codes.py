"""Regional mesh codes from grid cells and back, digit by digit.

A level is a sequence of stages, coarse to fine, and each stage appends digits for the place of a cell within the one before:

- ``PRIMARY``: four digits, row 00-99 and column 00-99 of the primary mesh;
- ``EIGHTHS``, ``TENTHS``: two digits, row and column among 8 or 10;
- ``QUARTER``: one digit, 1 south-west, 2 south-east, 3 north-west, 4 north-east;
- ``FIFTHS``: three digits, twice the row and twice the column among 5, then a 5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import kernel

__all__ = ["EIGHTHS", "FIFTHS", "PRIMARY", "QUARTER", "TENTHS", "decode_mesh_codes", "encode_mesh_cells"]

PRIMARY, EIGHTHS, TENTHS, QUARTER, FIFTHS = 0, 1, 2, 3, 4


@kernel("void(int64[::1], int64[::1], int64[::1], int64[::1])", read_only=(0, 1, 2))
def encode_mesh_cells(rows: Any, columns: Any, stages: Any, codes: Any) -> None:
    """Write the code of each cell. Rows and columns must be in range."""
    for i in range(rows.size):
        row, column = rows[i], columns[i]
        code = np.int64(0)
        place = np.int64(1)
        for k in range(stages.size - 1, -1, -1):
            stage = stages[k]
            if stage == QUARTER:
                code += place * (1 + (column & 1) + 2 * (row & 1))
                place *= 10
                row >>= 1
                column >>= 1
            elif stage == TENTHS:
                code += place * (10 * (row % 10) + column % 10)
                place *= 100
                row //= 10
                column //= 10
            elif stage == EIGHTHS:
                code += place * (10 * (row & 7) + (column & 7))
                place *= 100
                row >>= 3
                column >>= 3
            elif stage == FIFTHS:
                code += place * (200 * (row % 5) + 20 * (column % 5) + 5)
                place *= 1000
                row //= 5
                column //= 5
            else:
                code += place * (100 * row + column)
        codes[i] = code


@kernel("int64(int64[::1], int64[::1], int64[::1], int64[::1])", read_only=(0, 1))
def decode_mesh_codes(codes: Any, stages: Any, rows: Any, columns: Any) -> int:
    """Write the cell of each code; returns the position of the first code that breaks a digit's rule, or -1."""
    for i in range(codes.size):
        code = codes[i]
        if code < 0:
            return i
        row = column = np.int64(0)
        height = width = np.int64(1)
        for k in range(stages.size - 1, -1, -1):
            stage = stages[k]
            if stage == QUARTER:
                digit = code % 10 - 1
                code //= 10
                if digit < 0 or digit > 3:
                    return i
                row += height * (digit >> 1)
                column += width * (digit & 1)
                height *= 2
                width *= 2
            elif stage in (TENTHS, EIGHTHS):
                digits = code % 100
                code //= 100
                sides = 10 if stage == TENTHS else 8
                if digits // 10 >= sides or digits % 10 >= sides:
                    return i
                row += height * (digits // 10)
                column += width * (digits % 10)
                height *= sides
                width *= sides
            elif stage == FIFTHS:
                digits = code % 1000
                code //= 1000
                if digits % 10 != 5 or (digits // 100) & 1 or (digits // 10) & 1:
                    return i
                row += height * (digits // 200)
                column += width * (digits // 10 % 10 // 2)
                height *= 5
                width *= 5
            else:
                if code > 9999:
                    return i
                row += height * (code // 100)
                column += width * (code % 100)
        rows[i] = row
        columns[i] = column
    return -1
