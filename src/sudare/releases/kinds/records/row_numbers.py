"""Tracing records: a column of row numbers that follows them while they are changed, and is never written.

It lets the holder judge, after sampling, swapping and suppression, whether an attacker's guess is right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sudare.microdata.records import CodedColumn, Records

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ROW", "row_numbers", "with_row_numbers"]

ROW = "sudare row\n"
"""With a line's end, which no header has."""


def with_row_numbers(records: Records) -> Records:
    """The records, each with the number of its row."""
    codes = np.arange(records.rows, dtype=np.int32)
    return records.with_columns(CodedColumn(ROW, codes, tuple(map(str, range(records.rows)))))


def row_numbers(records: Records) -> NDArray[np.int64]:
    """The row that each record had.

    Example:
        >>> import numpy as np
        >>> from sudare.microdata.records import Records
        >>> people = with_row_numbers(Records.of_columns({"age": [31, 45, 20]}))
        >>> row_numbers(people.take(np.array([2, 0]))).tolist()
        [2, 0]
    """
    column = records.column(ROW)
    return np.array([int(label or 0) for label in column.labels], dtype=np.int64)[column.codes]
