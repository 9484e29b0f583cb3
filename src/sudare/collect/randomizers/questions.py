"""How the keys of a question become what a randomizer is made from: values, numbers, grids and rows of probabilities.

A randomizer names its keys in `Randomizer.question_keys` and reads them in `Randomizer.from_question`, with these.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sudare.sections import Section

if TYPE_CHECKING:
    from sudare.collect.transitions.grids import Grid

__all__ = ["RANGE", "VALUES", "read_grid", "read_number", "read_rows"]

VALUES, RANGE = ("values",), ("low", "high", "step")
_WRITTEN_FRACTION = re.compile(r"[-+]?[0-9]{1,60}(\.[0-9]{1,60}|/[0-9]{1,60})?")


def read_number(section: Section, key: str) -> Any:
    """A number, or a fraction in quotes such as "1/3"."""
    if section.is_text(key):
        try:
            return _fraction(section.text(key))
        except (ValueError, ZeroDivisionError):
            section.refuse(key, "must be a number, or a fraction in quotes", "は数値、または引用符で囲んだ分数です")
    return section.number(key)


def read_grid(section: Section) -> Grid:
    """The numbers from ``low`` to ``high``, a ``step`` apart."""
    from sudare.collect.transitions.grids import Grid

    return Grid(*(read_number(section, key) for key in RANGE))


def read_rows(section: Section) -> list[list[Any]]:
    """A matrix of numbers, or fractions in quotes, under ``rows``."""
    rows = section.items("rows")
    if not all(isinstance(row, list) for row in rows):
        section.refuse("rows", "must be a list of lists", "はリストのリストです")
    try:
        return [[_fraction(x) if isinstance(x, str) else x for x in row] for row in rows]
    except (ValueError, ZeroDivisionError):
        section.refuse("rows", "must hold numbers, or fractions in quotes", "は数値、または引用符で囲んだ分数です")


def _fraction(text: str) -> Fraction:
    if not _WRITTEN_FRACTION.fullmatch(text):  # an exponent could stand for a number without end
        raise ValueError
    return Fraction(text)
