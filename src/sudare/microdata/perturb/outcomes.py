"""What a method that perturbs records gives back: the records, and in words what they are protected from.

None of these methods is differential privacy of the table; each says what it is instead, in both languages, so that a report
can say it too. The share of records that were changed is for the holder of the data: it is computed from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sudare.bilingual import Words
from sudare.border.frames import Rows
from sudare.microdata.records import CodedColumn, Records

__all__ = ["Outcome", "share_changed"]


@dataclass(frozen=True, eq=False)
class Outcome(Rows):
    """Perturbed records and their description.

    Args:
        records: the result.
        method: its name, such as ``"random-swap"``.
        protects: what this protects from, and what it does not.
        keeps: what stays exactly as it was.
        touched: the share of the records that the method chose or drew for.
        changed: the share of the records in which a text is now another one.
        local_epsilon: of one value of one record, where the method is local differential privacy of that value; else None.
        local_rho: the same for zero-concentrated differential privacy.

    Example:
        >>> from sudare.microdata.records import Records
        >>> from sudare.microdata.perturb.swapping import swap_randomly
        >>> people = Records.of_columns({"town": ["a", "b", "c", "d"], "age": [1, 2, 3, 4]})
        >>> outcome = swap_randomly(people, ["town"], share=0.5)
        >>> outcome.touched, outcome.changed, outcome.records.rows
        (Fraction(1, 2), Fraction(1, 2), 4)
    """

    records: Records
    method: str
    protects: Words
    keeps: Words
    touched: Fraction
    changed: Fraction
    local_epsilon: Fraction | None = None
    local_rho: Fraction | None = None

    def frame_columns(self) -> Mapping[str, Any]:
        """The resulting records, every column as texts."""
        return self.records.frame_columns()


def share_changed(before: Records, after: Records) -> Fraction:
    """The share of the rows in which at least one column has another text; both tables have the same rows and columns.

    Example:
        >>> from sudare.microdata.records import Records
        >>> share_changed(Records.of_columns({"a": [1, 2]}), Records.of_columns({"a": [1, 3]}))
        Fraction(1, 2)
    """
    if before.rows == 0:
        return Fraction(0)
    different = np.zeros(before.rows, dtype=np.bool_)
    for old, new in zip(before.columns, after.columns, strict=True):
        if old is not new:
            different |= _recoded(old, new) != new.codes
    return Fraction(int(np.count_nonzero(different)), before.rows)


def _recoded(old: CodedColumn, new: CodedColumn) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The old texts as codes of the new column; -1 where it has them not."""
    places = {label: place for place, label in enumerate(new.labels)}
    codes = np.array([places.get(label, -1) for label in old.labels], dtype=np.int64)
    return codes[old.codes]
