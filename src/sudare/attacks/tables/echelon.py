"""Elimination with exact fractions, noting which rows went into each result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Echelon", "EchelonRow", "Exact"]

Exact = int | Fraction
"""Whole numbers stay whole, because arithmetic with them is many times faster."""


@dataclass
class EchelonRow:
    """A combination of the rows that were added: its entries by column, and these rows with their coefficients."""

    entries: dict[int, Exact]
    used: dict[int, Exact]

    def subtract(self, other: EchelonRow, factor: Exact) -> int:
        """Subtract a multiple of another row; how much work it was."""
        for target, source in ((self.entries, other.entries), (self.used, other.used)):
            for at, value in source.items():
                left = target.get(at, 0) - factor * value
                if left:
                    target[at] = left
                else:
                    target.pop(at, None)
        return (len(other.entries) + len(other.used)) * (1 if isinstance(factor, int) else 8)

    def divide(self, divisor: Exact) -> None:
        """Divide the row by a number."""
        if divisor != 1:
            for numbers in (self.entries, self.used):
                for at, value in numbers.items():
                    quotient = Fraction(value) / divisor
                    numbers[at] = quotient.numerator if quotient.denominator == 1 else quotient


class Echelon:
    """Rows in reduced echelon form, by their pivots: a column in which one row has a 1 and all others nothing.

    Args:
        most_steps: how much work to do at most.

    Example:
        >>> from sudare.attacks.tables.echelon import Echelon
        >>> echelon = Echelon(1000)
        >>> all(echelon.add(place, columns) for place, columns in enumerate(([0, 1], [1, 2], [0, 2])))
        True
        >>> echelon.rows[2].entries, echelon.used_for({2: 1})
        ({2: 1}, {0: Fraction(-1, 2), 1: Fraction(1, 2), 2: Fraction(1, 2)})
    """

    def __init__(self, most_steps: int) -> None:
        self.rows: dict[int, EchelonRow] = {}
        self.dependent: list[dict[int, Exact]] = []
        """Combinations of added rows that leave nothing."""
        self.steps = 0
        self.most_steps = most_steps

    @property
    def is_finished(self) -> bool:
        """Whether all the work could be done."""
        return self.steps <= self.most_steps

    def copy(self) -> Echelon:
        """Another one, to which further rows can be added."""
        other = Echelon(self.most_steps)
        other.rows = {pivot: EchelonRow(dict(row.entries), dict(row.used)) for pivot, row in self.rows.items()}
        other.dependent, other.steps = list(self.dependent), self.steps
        return other

    def add(self, place: int, columns: Iterable[int]) -> bool:
        """Add a row that is 1 in some columns; False if this is too much work."""
        row = EchelonRow(dict.fromkeys(sorted(columns), 1), {place: 1})
        for pivot in sorted(set(row.entries) & set(self.rows)):
            self.steps += row.subtract(self.rows[pivot], row.entries[pivot])
        if row.entries:
            pivot = min(row.entries)
            row.divide(row.entries[pivot])
            for other in self.rows.values():
                if pivot in other.entries:
                    self.steps += other.subtract(row, other.entries[pivot])
            self.rows[pivot] = row
        else:
            self.dependent.append(row.used)
        return self.is_finished

    def used_for(self, vector: Mapping[int, Exact]) -> dict[int, Exact] | None:
        """The rows that were added, with the coefficients that make a vector of them; None if none do."""
        whole = EchelonRow(dict(vector), {})
        for pivot in sorted(set(vector) & set(self.rows)):
            whole.subtract(self.rows[pivot], vector[pivot])
        return None if whole.entries else {place: -value for place, value in sorted(whole.used.items())}
