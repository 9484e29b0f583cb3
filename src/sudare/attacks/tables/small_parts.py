"""Parts of few people that combinations of published cells leave, whole classes of pieces each.

A part is a vector of 0s and 1s over the classes, in the row space of the cells. In reduced echelon form its entries at the pivots
determine all others, so the search is a program of 0-1 variables: every other entry is 0 or 1, too, and the count is small. The
solver lists all parts, or says that it did not finish.

Two things keep the search small. A part that contains a smaller one of somebody is left out: what it has besides is a part
itself. And noise: a combination with coefficients w of cells with deviations s has noise of sqrt(sum (w s)^2). For any numbers
f over the classes that are 0 on all exact cells, f times the part is the sum of w times (f times cell), so at most the noise
times sqrt(sum (f times cell)^2 / s^2). Where legible noise leaves less than one step of f, f times the part is 0.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from fractions import Fraction

from sudare.attacks.tables.cell_system import CellSystem, CombinedPart
from sudare.attacks.tables.echelon import Echelon, Exact
from sudare.attacks.tables.solver import IntegerProgram, Row, SolverFailure
from sudare.errors import MissingPackageError

__all__ = ["find_small_parts"]

MAX_ENTRIES = 100_000
MAX_PARTS = 100
MAX_ROUNDS = 40
AT_ONCE = 50
MAX_COEFFICIENT = 1 << 40


class _TooLargeError(Exception):
    """The program would be too large for the solver."""


def find_small_parts(
    system: CellSystem, *, threshold: int, legible: float, seconds: float
) -> tuple[list[CombinedPart], bool]:
    """Parts of at least one and fewer than a number of people, whose counts are legible; whether these are all there are.

    A part that contains another one of at least one person, found or published exactly, is not listed: what it has besides it is
    a part itself, or nobody.

    Args:
        system: of the cells.
        threshold: parts of this many people are large enough.
        legible: noise up to this deviation leaves a count legible.
        seconds: how long to search.
    """
    deadline = time.monotonic() + seconds
    found: list[CombinedPart] = []
    try:
        limits = _limits_of_noise(system, legible) if system.noisy else {}
        if any(limit for _, limit in limits.values()):
            everything = range(len(system.classes))
            search = _Search(system, everything, system.all, threshold, legible, deadline)
            return search.run(_relations(system.all, everything).values(), limits.values())
        # No combination with a noisy cell is legible: the exact cells are all there is.
        complete, relations = True, _relations(system.exact, range(len(system.classes)))
        for classes in _connected(system.exact):
            if len(classes) > 1:  # a class by itself is found by elimination
                search = _Search(system, classes, system.exact, threshold, legible, deadline)
                parts, ended = search.run([relations[column] for column in classes if column in relations])
                found += parts
                complete = complete and ended
    except (_TooLargeError, MissingPackageError):
        return found, False
    return found, complete


def _connected(echelon: Echelon) -> list[list[int]]:
    """Columns that rows connect."""
    leader: dict[int, int] = {}

    def find(column: int) -> int:
        while leader.setdefault(column, column) != column:
            leader[column] = leader[leader[column]]
            column = leader[column]
        return column

    for row in echelon.rows.values():
        first, *others = row.entries
        for other in others:
            leader[find(other)] = find(first)
        find(first)
    groups: dict[int, list[int]] = {}
    for column in sorted(leader):
        groups.setdefault(find(column), []).append(column)
    return list(groups.values())


def _relations(echelon: Echelon, columns: Iterable[int]) -> dict[int, dict[int, int]]:
    """For each column that is no pivot: whole numbers that are 0 on every row."""
    by_column: dict[int, dict[int, Exact]] = {}
    for pivot, row in echelon.rows.items():
        for column, value in row.entries.items():
            if column != pivot:
                by_column.setdefault(column, {})[pivot] = value
    if sum(map(len, by_column.values())) > MAX_ENTRIES:
        raise _TooLargeError
    relations = {}
    for column in columns:
        if column in echelon.rows:
            continue
        entries = by_column.get(column, {})
        scale = math.lcm(1, *(Fraction(value).denominator for value in entries.values()))
        relations[column] = {pivot: -int(value * scale) for pivot, value in entries.items()} | {column: scale}
    return relations


def _limits_of_noise(system: CellSystem, legible: float) -> dict[int, tuple[dict[int, int], int]]:
    """Relations that all exact cells keep, and how far a part with legible noise can be from keeping each."""
    relations = _relations(system.exact, system.others)
    return {
        column: (relation, math.floor(legible * relation[column] * reach + 1e-6))
        for (column, relation), reach in zip(relations.items(), system.reach_of_noise().tolist(), strict=True)
    }


class _Search:
    """One search: among some classes, for vectors of 0s and 1s in the space of an echelon's rows."""

    def __init__(
        self,
        system: CellSystem,
        classes: Sequence[int],
        echelon: Echelon,
        threshold: int,
        legible: float,
        deadline: float,
    ) -> None:
        self.system, self.classes, self.echelon = system, list(classes), echelon
        self.threshold, self.legible, self.deadline = threshold, legible, deadline
        self.place = {column: place for place, column in enumerate(self.classes)}
        self.found: list[CombinedPart] = []
        self.rows: list[Row] = []

    def run(
        self, relations: Iterable[dict[int, int]], limits: Iterable[tuple[dict[int, int], int]] = ()
    ) -> tuple[list[CombinedPart], bool]:
        for relation in relations:
            self._bound(relation, 0, 0)
        for relation, limit in limits:
            self._bound(relation, -limit, limit)
        self._bound_count()
        for place, columns in enumerate(self.system.columns):
            is_small = not self.system.deviations[place] and 0 < self.system.counts[place] < self.threshold
            if is_small and columns <= self.place.keys():
                self._leave_out(columns)
        size, is_clear = len(self.classes), True
        for _ in range(MAX_ROUNDS):
            program = IntegerProgram((0,) * size, (1,) * size, tuple(self.rows))
            left = self.deadline - time.monotonic()
            if left <= 0 or len(self.found) >= MAX_PARTS:
                return self.found, False
            try:
                listed = program.solutions(size, limit=AT_ONCE, seconds=left)
            except SolverFailure:
                return self.found, False
            vectors = [
                frozenset(column for column, value in zip(self.classes, row, strict=True) if value)
                for row in listed.values.tolist()
            ]
            for vector in sorted(vectors, key=lambda one: (len(one), sorted(one))):
                is_clear &= self._look_at(vector)
            if listed.is_complete:
                return self.found, is_clear
            if not vectors:
                return self.found, False
        return self.found, False

    def _look_at(self, vector: frozenset[int]) -> bool:
        """Note a part unless it contains one that was noted; False if nothing can be said of it."""
        if any(part.classes <= vector for part in self.found):
            return True
        part = self.system.part(vector)
        if (
            part is not None
            and part.deviation <= self.legible
            and self._is_small(part)
            and not self._is_published(part)
        ):
            self.found.append(part)
            self._leave_out(vector)
            return True
        self._bound({column: 1 if column in vector else -1 for column in self.classes}, None, len(vector) - 1)
        return part is not None

    def _is_small(self, part: CombinedPart) -> bool:
        return 0 < (part.count if part.deviation == 0 else round(part.count)) < self.threshold

    def _is_published(self, part: CombinedPart) -> bool:
        return any(
            columns == part.classes and deviation * (1 - 1e-9) <= part.deviation  # but for rounding
            for columns, deviation in zip(self.system.columns, self.system.deviations, strict=True)
        )

    def _leave_out(self, columns: Iterable[int]) -> None:
        """Leave out vectors that contain all of some classes."""
        relation = dict.fromkeys(columns, 1)
        self._bound(relation, None, len(relation) - 1)

    def _bound_count(self) -> None:
        """The count is at least one person and below the threshold; with noise, after rounding."""
        if self.echelon is self.system.exact:
            counts = {
                pivot: sum((value * self.system.counts[place] for place, value in row.used.items()), Fraction())
                for pivot, row in self.echelon.rows.items()
                if pivot in self.place
            }
            scale = math.lcm(1, *(count.denominator for count in counts.values()))
            whole = {pivot: int(count * scale) for pivot, count in counts.items()}
            self._bound(whole, 1, scale * self.threshold - 1)
            return
        scale = 10**6
        estimates = [round(float(value) * scale) for value in self.system.estimates]
        room = len(estimates) + scale // 20
        high = scale * self.threshold + room  # exact parts are below the threshold, noisy ones round to less
        self._bound(dict(enumerate(estimates)), scale // 2 - room, high)

    def _bound(self, relation: dict[int, int], low: int | None, high: int) -> None:
        entries = {self.place[column]: value for column, value in relation.items() if value}
        reach = sum(abs(value) for value in entries.values())
        if reach > MAX_COEFFICIENT * 1000 or abs(high) > MAX_COEFFICIENT * 1000:
            raise _TooLargeError
        places = tuple(sorted(entries))
        least = -reach if low is None else low
        if not places:
            if not least <= 0 <= high:
                self.rows.append(Row((0,), (1,), 2, 2))  # nothing fits
            return
        self.rows.append(Row(places, tuple(entries[place] for place in places), least, high))
