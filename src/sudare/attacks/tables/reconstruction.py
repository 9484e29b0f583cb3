"""Reconstructing the people behind published tables: how many data sets fit, and what is the same in all of them.

Every published statistic is a constraint on how many people there are of each kind (`published_statistics`). If one data set
is left, the tables publish everybody. If several are left, whatever they have in common is published all the same: that a
person of a certain kind exists, or that everybody of a known group has the same sensitive value.

The answers are exact: a kind of person counts as revealed only if no data set that fits the tables is without it.

References:
    Garfinkel, Abowd, Martindale (2018): Understanding database reconstruction attacks on public data.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.attacks.tables.published_statistics import (
    PersonDomain,
    Statistic,
    Value,
    Where,
)
from sudare.attacks.tables.solver import IntegerProgram, Row, SolverFailure
from sudare.attacks.tables.statistic_rows import StatisticRows
from sudare.attacks.verdicts import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words
from sudare.border.frames import Rows
from sudare.border.signatures import check_arguments
from sudare.errors import Described, ParameterError
from sudare.parameters import exact_fraction, exact_integer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Integers = NDArray[np.int64]

__all__ = ["Reconstruction", "reconstruct"]

MAX_WRITTEN_OUT = 10**12
"""From here on, of how many data sets fit only the power of ten is told."""

REMEDY = Words(
    "Publish fewer or coarser tables, or add noise to every count (sudare.publish): thresholds and rounding alone do not "
    "stop this.",
    "公表する表を減らすか粗くする、または全ての度数にノイズを加えてください(sudare.publish)。少数の秘匿や端数処理だけでは防げません。",
)
ALLOW_FOR_NOISE = Words(
    "Attack again with counts that have room for it, such as Count(5, 7).",
    "丸めやノイズの幅を見込んだ範囲、たとえば Count(5, 7) で、もう一度攻撃してください。",
)


@dataclass(frozen=True, eq=False)
class Reconstruction(Rows):
    """What published statistics tell about the people behind them.

    Attributes:
        domain: what a person can be.
        exists: whether any data set fits; None if that could not be decided in time. Statistics with noise that are taken for
            exact ones usually fit none.
        solutions: data sets that fit, one row each, as counts of each kind of person; at most ``limit`` for each part.
        number: how many fit: exactly, or at least.
        is_every_solution: whether ``number`` is exact.
        least: of each kind of person, how many there are at least in all data sets that fit.
        largest: the same number where the tables determine it; else a larger one, of some data set that fits.
        is_exact: whether these two are proved; else time ran out, and nothing is known to be revealed or safe.
        groups: whose numbers were asked for besides.
        least_of_groups: how many people there are at least in each group, in all data sets that fit.
        largest_of_groups: the same number where the tables determine it; else a larger one, of some data set that fits.
        groups_are_exact: whether these two are proved.
    """

    domain: PersonDomain
    exists: bool | None
    solutions: Integers
    number: int
    is_every_solution: bool
    least: Integers
    largest: Integers
    is_exact: bool
    groups: tuple[Where, ...] = ()
    least_of_groups: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    largest_of_groups: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    groups_are_exact: bool = True

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each kind of person that may exist: how many there are in all data sets that fit."""
        kinds = np.flatnonzero(self.largest)
        values = [self.domain.tuple_of(int(kind)) for kind in kinds]
        named = {name: [each[place] for each in values] for place, name in enumerate(self.domain.names)}
        return {**named, "least": self.least[kinds], "largest": self.largest[kinds]}

    @property
    def revealed(self) -> int:
        """How many people are known with all their values: the same in every data set that fits."""
        return int(self.least.sum()) if self.exists and self.is_exact else 0

    def people(self) -> list[tuple[Value, ...]]:
        """The revealed people, one tuple of values for each."""
        if not (self.exists and self.is_exact):
            return []
        return [self.domain.tuple_of(int(kind)) for kind in np.repeat(np.arange(self.domain.size), self.least)]

    def confirmed(self, truth: ArrayLike) -> int:
        """How many of the revealed people really exist, where the true counts of each kind are known.

        All of them, if the statistics were what they claimed to be; fewer, if noise was taken for truth.
        """
        counts = np.asarray(truth)
        if counts.shape != (self.domain.size,):
            requirement = f"{self.domain.size} counts, one for each combination of values"
            raise ParameterError("truth", "Reconstruction.confirmed", requirement, Described(f"shape {counts.shape}"))
        return int(np.minimum(self.least, counts).sum()) if self.exists and self.is_exact else 0

    def inferred(self, known: Sequence[str], sensitive: str) -> dict[tuple[Value, ...], Value]:
        """Groups of people, by what an outsider knows of them, whose sensitive value is the same in all data sets that fit.

        Args:
            known: the attributes that an outsider knows, such as age and sex.
            sensitive: the attribute that nobody should learn.
        """
        if not (self.exists and self.is_exact):
            return {}
        names = self.domain.names
        order = [names.index(name) for name in (*known, sensitive)]
        rest = tuple(axis for axis in range(len(names)) if axis not in order)
        possible = np.transpose(
            self.largest.reshape(self.domain.shape).max(axis=rest, keepdims=True) > 0, [*order, *rest]
        ).reshape(-1, self.domain.shape[order[-1]])
        keys = np.unravel_index(
            np.flatnonzero(possible.sum(axis=1) == 1), [self.domain.shape[axis] for axis in order[:-1]]
        )
        found: dict[tuple[Value, ...], Value] = {}
        for places, row in zip(zip(*keys, strict=True), possible[possible.sum(axis=1) == 1], strict=True):
            group = tuple(self.domain.values[name][int(place)] for name, place in zip(known, places, strict=True))
            found[group] = self.domain.values[sensitive][int(row.argmax())]
        return found

    def determined(self, fewer_than: int) -> Integers:
        """Kinds of people of which there are some, fewer than a number, and exactly as many in every data set that fits."""
        if not (self.exists and self.is_exact):
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero((self.least > 0) & (self.least == self.largest) & (self.least < fewer_than))

    def report(self, fewer_than: int | None = None) -> AttackReport:
        """A verdict for each kind of person that may exist.

        Args:
            fewer_than: for tables of counts, where a large count is a statistic and not a person: a kind counts as broken if
                its number is determined and below this. Without it, everybody who is known to exist is broken.
        """
        return AttackReport.of("reconstruction", self._summary(fewer_than), self._verdicts(fewer_than))

    def _summary(self, fewer_than: int | None = None) -> Words:
        if self.exists is False:
            return Words(
                "No data set fits the tables: they contradict each other, as tables that were rounded or perturbed do. "
                "An attacker who allows for that may still succeed.",
                "表を満たすデータは存在しません。端数処理やノイズを加えた表のように、互いに矛盾しています。"
                "それを見込んだ攻撃は成功するかもしれません。",
            )
        if not self.is_exact:
            return Words(
                "Time ran out before the attack was finished; nothing can be said about the safety of the tables.",
                "時間切れです。表の安全性については何も言えません。",
            )
        is_short = self.number < MAX_WRITTEN_OUT
        number = f"{self.number:,}" if is_short else f"10^{_power_of_ten(self.number)}"
        bound = Words.same("") if self.is_every_solution and is_short else Words("At least ", "以上")
        if fewer_than is None:
            return Words(
                f"{bound.english}{number} data set(s) fit the tables; {self.revealed:,} people are the same in all of them.",
                f"表を満たすデータは {number} 通り{bound.japanese}あり、そのすべてに共通する人が {self.revealed:,} 人います。",
            )
        kinds = self.determined(fewer_than)
        people = int(self.least[kinds].sum())
        return Words(
            f"{bound.english}{number} data set(s) fit the tables; {kinds.size:,} kind(s) of fewer than {fewer_than} people are "
            f"determined, {people:,} people in all.",
            f"表を満たすデータは {number} 通り{bound.japanese}あり、{fewer_than} 人未満の組合せのうち {kinds.size:,} 通り"
            f"(計 {people:,} 人)の人数が確定します。",
        )

    def _verdicts(self, fewer_than: int | None = None) -> Iterable[Verdict]:
        if self.exists is False:
            yield Verdict(
                "reconstruction", "all people", AttackOutcome.UNDECIDED, math.nan, self._summary(), ALLOW_FOR_NOISE
            )
            return
        if not self.is_exact:
            yield Verdict("reconstruction", "all people", AttackOutcome.UNDECIDED, math.nan, self._summary(), REMEDY)
            return
        for kind in np.flatnonzero(self.largest):
            least, largest = int(self.least[kind]), int(self.largest[kind])
            if least > 0:
                exact = least == largest
                sentence = Words(
                    f"{'Exactly' if exact else 'At least'} {least} such {'person exists' if least == 1 else 'people exist'}: "
                    "every data set that fits the tables says so.",
                    f"この組合せの人が{'ちょうど' if exact else '少なくとも'} {least} 人いることが、公表された表から確定します。",
                )
            else:
                sentence = Words(
                    f"There may be nobody like this, or {largest} and perhaps more; the tables do not tell.",
                    f"この組合せの人は 0 人かもしれず、{largest} 人以上かもしれず、表からは決まりません。",
                )
            is_broken = least > 0 if fewer_than is None else 0 < least == largest < fewer_than
            outcome = AttackOutcome.BROKEN if is_broken else AttackOutcome.HELD
            yield Verdict("reconstruction", self.domain.describe(int(kind)), outcome, float(least), sentence, REMEDY)


def _power_of_ten(number: int) -> int:
    """The largest power of ten up to a number, which may have more digits than Python writes out."""
    power = int(math.log10(number))
    return power if 10**power <= number else power - 1


def reconstruct(
    domain: PersonDomain,
    statistics: Iterable[Statistic],
    *,
    groups: Iterable[Where] = (),
    limit: int = 100,
    seconds: float = 60.0,
) -> Reconstruction:
    """Find the data sets that fit published statistics, and what they have in common.

    Args:
        domain: what a person can be.
        statistics: what was published, and what everybody knows (``Count(0, where=...)`` for what cannot be).
        groups: of people whose numbers are asked for as well, such as those of hidden cells.
        limit: how many data sets to list at most for each independent part of the data.
        seconds: how long to search; when it is over, the result says that it is not exact.

    Raises:
        ParameterError: if a statistic speaks of unknown attributes or values, if nothing bounds the number of some people, or
            if a median comes without the number of its people.
        MissingPackageError: if OR-tools is not installed.

    Example:
        >>> from sudare.attacks.tables.reconstruction import reconstruct
        >>> from sudare.attacks.tables.published_statistics import PublishedCount, Mean, PersonDomain
        >>> domain = PersonDomain({"sex": ["F", "M"], "age": range(90)})
        >>> published = [PublishedCount(3), PublishedCount(1, 2, where={"sex": "F"}), Mean("age", 89)]
        >>> result = reconstruct(domain, published)
        >>> result.number, result.people()
        (2, [('F', 89), ('M', 89)])
    """
    check_arguments(reconstruct, locals(), "domain", "statistics", "groups")
    exact_integer(limit, "limit", "reconstruct", Words("a whole number >= 1", "1 以上の整数"), smallest=1)
    above = Words("a number above 0", "0 より大きい数")
    allowed = exact_fraction(seconds, "seconds", "reconstruct", above)
    if not allowed > 0:
        raise ParameterError("seconds", "reconstruct", above, seconds)
    deadline = time.monotonic() + float(allowed)
    compiled = StatisticRows(domain, list(statistics))
    if compiled.contradicts:
        nothing = np.zeros(domain.size, dtype=np.int64)
        return Reconstruction(domain, False, nothing[:0].reshape(0, domain.size), 0, True, nothing, nothing, True)
    parts = [_solve_part(compiled, part, limit, deadline) for part in compiled.parts()]
    found, asked = _put_together(domain, parts), tuple(groups)
    if not asked or not found.exists:
        return found
    least, largest, is_exact = _bound_groups(compiled, parts, asked, deadline)
    return replace(found, groups=asked, least_of_groups=least, largest_of_groups=largest, groups_are_exact=is_exact)


@dataclass(frozen=True, eq=False)
class _Part:
    """The outcome for kinds of people that no statistic connects with others."""

    kinds: Integers
    exists: bool | None
    solutions: Integers
    is_every_solution: bool
    least: Integers
    largest: Integers
    is_exact: bool


def _solve_part(compiled: StatisticRows, part: tuple[Integers, list[Row]], limit: int, deadline: float) -> _Part:
    members, rows = part
    program, shown = compiled.program(members, rows)
    kinds = compiled.possible[members[:shown]]
    if len(members) == shown == 1:
        return _solve_alone(kinds, program, limit)
    undecided = np.zeros(shown, dtype=np.int64)
    none_found = undecided[:0].reshape(0, shown)
    try:
        found = program.solutions(shown, limit=limit, seconds=_left(deadline))
        if found.is_complete:
            exists = len(found.values) > 0
            least, largest = (found.values.min(axis=0), found.values.max(axis=0)) if exists else (undecided, undecided)
            return _Part(kinds, exists, found.values, True, least, largest, True)
        ranges = program.ranges(shown, seconds=_left(deadline))
    except SolverFailure:
        return _Part(kinds, None, none_found, False, undecided, undecided, False)
    if not ranges.exists:
        return _Part(kinds, ranges.exists, none_found, ranges.exists is False, undecided, undecided, ranges.is_complete)
    return _Part(kinds, True, found.values, False, ranges.least, ranges.largest, ranges.is_complete)


def _bound_groups(
    compiled: StatisticRows, parts: list[_Part], groups: Sequence[Where], deadline: float
) -> tuple[Integers, Integers, bool]:
    """How many people each group has, at least and at most, over all data sets that fit."""
    members = np.array([compiled.domain.members(group) for group in groups], dtype=np.int64)
    if all(part.is_every_solution for part in parts):
        least, largest = (np.zeros(len(groups), dtype=np.int64) for _ in range(2))
        for part in parts:  # what one part says does not depend on the others
            sums = part.solutions @ members[:, part.kinds].T
            least, largest = least + sums.min(axis=0), largest + sums.max(axis=0)
        return least, largest, True
    program = compiled.program_of_groups(members)
    try:
        ranges = program.ranges(len(groups), seconds=_left(deadline))
    except SolverFailure:
        nothing = np.zeros(len(groups), dtype=np.int64)
        return nothing, nothing, False
    return ranges.least, ranges.largest, bool(ranges.exists) and ranges.is_complete


def _solve_alone(kinds: Integers, program: IntegerProgram, limit: int) -> _Part:
    """A kind that no statistic connects with another needs no solver: its number lies in an interval."""
    low, high = program.low[0], program.high[0]
    for row in program.rows:
        factor = row.coefficients[0]
        ends = (row.low, row.high) if factor > 0 else (-row.high, -row.low)
        low, high = max(low, -(-ends[0] // abs(factor))), min(high, ends[1] // abs(factor))
    found = np.arange(low, min(high + 1, low + limit), dtype=np.int64).reshape(-1, 1)
    exists = low <= high
    least, largest = (np.array([low]), np.array([high])) if exists else (np.zeros(1, np.int64), np.zeros(1, np.int64))
    return _Part(kinds, exists, found, high - low < limit, least, largest, True)


def _left(deadline: float) -> float:
    """Seconds until the deadline; a little more than none, in which a solver says that it has no answer."""
    return max(0.01, deadline - time.monotonic())


def _put_together(domain: PersonDomain, parts: list[_Part]) -> Reconstruction:
    least, largest = np.zeros(domain.size, dtype=np.int64), np.zeros(domain.size, dtype=np.int64)
    exists: bool | None = True
    for part in parts:
        least[part.kinds], largest[part.kinds] = part.least, part.largest
    if any(part.exists is False for part in parts):
        exists = False
    elif any(part.exists is None for part in parts):
        exists = None
    number = math.prod(len(part.solutions) for part in parts) if exists else 0
    every = exists is False or all(part.is_every_solution for part in parts)
    # Combining the parts' solutions would list products; one after another shows each solution of each part at least once.
    shown = max((len(part.solutions) for part in parts), default=1) if number else 0
    solutions = np.zeros((shown, domain.size), dtype=np.int64)
    for part in parts if shown else []:
        solutions[:, part.kinds] = part.solutions[np.arange(shown) % len(part.solutions)]
    if exists is False:
        least[:], largest[:] = 0, 0
    is_exact = exists is False or all(part.is_exact for part in parts)
    return Reconstruction(domain, exists, solutions, number, every, least, largest, is_exact)
