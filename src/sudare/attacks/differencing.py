"""Differencing: published cells, each harmless, whose differences are counts of very few people.

Cells of one or more releases are sets of smallest pieces (meshes, single ages, ...). Pieces that are in exactly the same
cells cannot be told apart and are one. A difference of two nested cells is the count of what is in one and not in the other; in
general any linear combination of cells that leaves a single piece reveals that piece, and elimination with exact fractions
finds out for every piece whether there is one.

With noise in the cells a combination has their noise together; it isolates nobody unless it stays below half a person.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sudare.attacks.verdicts import AttackReport, Outcome, Verdict
from sudare.bilingual import Words
from sudare.errors import Described, ParameterError
from sudare.parameters import exact_integer

__all__ = ["Combination", "Differences", "PublishedCell", "attack_by_differences"]

MOST_CELLS_IN_GENERAL = 400
MOST_STEPS = 3_000_000
LEGIBLE_DEVIATION = 0.25
"""Noise of up to this deviation leaves a count legible: rounding is right in 95 % of the cases."""

REMEDY = Words(
    "Align the areas of the releases, withhold one of the cells, or publish all of them with noise from one budget.",
    "公表間で地域や区分の境界をそろえるか、セルの一つを公表しないか、全てに同じ予算からの雑音を加えて公表してください。",
)


@dataclass(frozen=True)
class PublishedCell:
    """One published count.

    Args:
        name: such as ``"2025, ward 3"``.
        pieces: the smallest pieces that it counts: codes of meshes or streets, single ages, or tuples of them.
        count: as published.
        deviation: the standard deviation of its noise; 0 if it is exact.
    """

    name: str
    pieces: frozenset[Hashable]
    count: int
    deviation: float = 0.0


@dataclass(frozen=True)
class Combination:
    """A combination of published cells that leaves a part of the population.

    Attributes:
        terms: the cells with their coefficients.
        pieces: the smallest pieces that are left.
        count: how many people the combination says are there.
        deviation: of the noise in it.
    """

    terms: tuple[tuple[str, Fraction], ...]
    pieces: frozenset[Hashable]
    count: Fraction
    deviation: float

    def formula(self) -> str:
        """The combination as people write it: ``city - ward 1 - ward 2``."""
        text = ""
        for name, coefficient in sorted(self.terms, key=lambda term: (term[1] < 0, term[0])):
            size = abs(coefficient)
            sign = "-" if coefficient < 0 else "+"
            factor = "" if size == 1 else f"{size} x "
            text += f" {sign} {factor}{name}" if text else f"{'-' if coefficient < 0 else ''}{factor}{name}"
        return text


@dataclass(frozen=True)
class Differences:
    """What combinations of published cells isolate.

    Attributes:
        combinations: those that leave a part that no published cell is by itself, the fewest people first.
        threshold: counts from 1 to below it are too small.
        is_complete: whether combinations of more than two cells were searched, too.
    """

    combinations: tuple[Combination, ...]
    threshold: int
    is_complete: bool

    @property
    def isolating(self) -> tuple[Combination, ...]:
        """The combinations that show a count that is too small, legibly."""
        return tuple(found for found in self.combinations if self._isolates(found))

    def _isolates(self, found: Combination) -> bool:
        return found.deviation <= LEGIBLE_DEVIATION and 0 < found.count < self.threshold

    def report(self) -> AttackReport:
        """A verdict for each part that a combination leaves."""
        broken = len(self.isolating)
        verdicts = [self._verdict(found) for found in self.combinations]
        if not self.is_complete:
            verdicts.append(
                Verdict(
                    "differencing",
                    "combinations of more than two cells",
                    Outcome.UNDECIDED,
                    math.nan,
                    Words(
                        "The system is too large to search all combinations.",
                        "系が大きすぎるため全ての組合せは調べていません。",
                    ),
                    Words("Attack smaller areas one by one.", "より小さな地域ごとに調べてください。"),
                )
            )
        summary = Words(
            f"{broken:,} combination(s) of published cells isolate fewer than {self.threshold} people.",
            f"公表されたセルの組合せのうち {broken:,} 通りが {self.threshold} 人未満の集団を切り出します。",
        )
        return AttackReport.of("differencing", summary, verdicts)

    def _verdict(self, found: Combination) -> Verdict:
        count = f"{found.count}" if found.deviation == 0 else f"{float(found.count):.6g} ± {found.deviation:.2g}"
        return Verdict(
            "differencing",
            found.formula(),
            Outcome.BROKEN if self._isolates(found) else Outcome.HELD,
            float(found.count),
            Words(
                f"The difference is the count of a part by itself: {count}.",
                f"差し引きで一部分の人数がわかります: {count} 人。",
            ),
            REMEDY,
        )


def attack_by_differences(cells: Iterable[PublishedCell], *, threshold: int = 3) -> Differences:
    """Search combinations of published cells that leave few people.

    All pairs of nested cells are compared; and up to 400 cells, if it is not too much work, every piece is tested for a
    combination of any number of cells that leaves it alone.

    Args:
        cells: of all releases.
        threshold: counts from 1 to below it are too small.

    Example:
        >>> from sudare.attacks.differencing import PublishedCell, attack_by_differences
        >>> city = PublishedCell("city", frozenset("abc"), 120)
        >>> old_town = PublishedCell("old town", frozenset("ab"), 119)
        >>> attack_by_differences([city, old_town]).isolating[0].formula()
        'city - old town'
    """
    listed = list(cells)
    least = exact_integer(threshold, "threshold", "attack_by_differences", "a whole number >= 2", smallest=2)
    names = [cell.name for cell in listed]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ParameterError("cells", "attack_by_differences", "cells with different names", Described(twice))
    found: dict[frozenset[Hashable], Combination] = {}
    for combination in _nested(listed):
        _keep(found, combination)
    complete = len(listed) <= MOST_CELLS_IN_GENERAL
    if complete:
        combinations, complete = _isolated_pieces(listed)
        for combination in combinations:
            _keep(found, combination)
    published = {cell.pieces for cell in listed}
    ordered = sorted(
        (combination for pieces, combination in found.items() if pieces not in published),
        key=lambda combination: (combination.count, combination.formula()),
    )
    return Differences(tuple(ordered), least, complete)


def _keep(found: dict[frozenset[Hashable], Combination], new: Combination) -> None:
    """Of several ways to the same part, the one with the least noise, then the shortest."""
    old = found.get(new.pieces)
    if old is None or (new.deviation, len(new.terms)) < (old.deviation, len(old.terms)):
        found[new.pieces] = new


def _nested(cells: Sequence[PublishedCell]) -> Iterable[Combination]:
    by_piece: dict[Hashable, list[int]] = {}
    for place, cell in enumerate(cells):
        for piece in cell.pieces:
            by_piece.setdefault(piece, []).append(place)
    for place, inner in enumerate(cells):
        if not inner.pieces:
            continue
        rarest = min((by_piece[piece] for piece in inner.pieces), key=len)
        for other in rarest:
            outer = cells[other]
            if other != place and inner.pieces < outer.pieces:
                yield Combination(
                    ((outer.name, Fraction(1)), (inner.name, Fraction(-1))),
                    outer.pieces - inner.pieces,
                    Fraction(outer.count - inner.count),
                    math.hypot(outer.deviation, inner.deviation),
                )


def _isolated_pieces(cells: Sequence[PublishedCell]) -> tuple[list[Combination], bool]:
    """For each class of pieces that are in the same cells, a combination that leaves it alone, if there is one.

    The cells' indicator rows are brought to reduced echelon form with exact fractions, noting which cells went into each row.
    A class is alone in the row space exactly if its unit vector is a row of that form.

    Returns:
        The combinations, and whether the search was finished; if not, those found so far are true, but there may be others.
    """
    where: dict[Hashable, list[int]] = {}
    for place, cell in enumerate(cells):
        for piece in cell.pieces:
            where.setdefault(piece, []).append(place)
    classes: dict[tuple[int, ...], list[Hashable]] = {}
    for piece, places in where.items():
        classes.setdefault(tuple(places), []).append(piece)
    groups = sorted(classes.items(), key=lambda group: group[0])  # sets have no order that repeats; these tuples do
    columns: list[set[int]] = [set() for _ in cells]
    for column, (owners, _) in enumerate(groups):
        for place in owners:
            columns[place].add(column)
    echelon = _Echelon()
    # Cells with little noise first, then small ones, so that combinations prefer them.
    for place in sorted(range(len(cells)), key=lambda place: (cells[place].deviation, len(cells[place].pieces), place)):
        if not echelon.add(place, columns[place]):
            break
    alone = [pivot for pivot, row in sorted(echelon.rows.items()) if len(row.entries) == 1 and len(row.used) > 1]
    if any(cell.deviation for cell in cells):
        pieces = [(pivot, frozenset(groups[pivot][1])) for pivot in alone]
        return list(_least_noise(cells, columns, pieces, len(groups))), echelon.is_finished
    found = []
    for pivot in alone:
        used = sorted(echelon.rows[pivot].used.items())
        terms = tuple((cells[place].name, Fraction(value)) for place, value in used)
        count = Fraction(sum(value * cells[place].count for place, value in used))
        found.append(Combination(terms, frozenset(groups[pivot][1]), count, 0.0))
    return found, echelon.is_finished


Exact = int | Fraction
"""Whole numbers stay whole, because arithmetic with them is many times faster."""


@dataclass
class _Row:
    """A combination of cells: its entries by class of pieces, and the cells in it with their coefficients."""

    entries: dict[int, Exact]
    used: dict[int, Exact]

    def subtract(self, other: _Row, factor: Exact) -> int:
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
        if divisor != 1:
            for numbers in (self.entries, self.used):
                for at, value in numbers.items():
                    quotient = Fraction(value) / divisor
                    numbers[at] = quotient.numerator if quotient.denominator == 1 else quotient


class _Echelon:
    """Rows in reduced echelon form, by their pivots."""

    def __init__(self) -> None:
        self.rows: dict[int, _Row] = {}
        self.steps = 0

    @property
    def is_finished(self) -> bool:
        return self.steps <= MOST_STEPS

    def add(self, place: int, columns: Iterable[int]) -> bool:
        """Add a cell; False if this is too much work."""
        row = _Row(dict.fromkeys(sorted(columns), 1), {place: 1})
        for pivot in sorted(set(row.entries) & set(self.rows)):
            self.steps += row.subtract(self.rows[pivot], row.entries[pivot])
        if row.entries:
            pivot = min(row.entries)
            row.divide(row.entries[pivot])
            for other in self.rows.values():
                if pivot in other.entries:
                    self.steps += other.subtract(row, other.entries[pivot])
            self.rows[pivot] = row
        return self.is_finished


def _least_noise(
    cells: Sequence[PublishedCell],
    columns: Sequence[set[int]],
    alone: Sequence[tuple[int, frozenset[Hashable]]],
    number: int,
) -> Iterable[Combination]:
    """Of all combinations that leave a class, the one with the least noise: the more ways there are, the less is left of it."""
    matrix = np.zeros((len(cells), number))
    for place, members in enumerate(columns):
        matrix[place, sorted(members)] = 1.0
    noisy = max(cell.deviation for cell in cells)
    # Exact cells get a noise that is too small to matter, because the formula divides by it.
    deviations = np.array([cell.deviation or 1e-5 * noisy for cell in cells])
    solved = np.linalg.pinv(matrix / deviations[:, None], rcond=1e-12) / deviations  # row: coefficients for one class
    counts = np.array([float(cell.count) for cell in cells])
    true_deviations = np.array([cell.deviation for cell in cells])
    for column, pieces in alone:
        weights = np.where(np.abs(solved[column]) > 1e-7, solved[column], 0.0)
        terms = tuple(
            (cell.name, Fraction(weight).limit_denominator(1000))
            for cell, weight in zip(cells, weights.tolist(), strict=True)
            if weight
        )
        count = Fraction(float(weights @ counts)).limit_denominator(10**6)
        yield Combination(terms, pieces, count, float(np.sqrt(((weights * true_deviations) ** 2).sum())))
