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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sudare.attacks.tables.published_statistics import (
    Linear,
    Mean,
    Median,
    PersonDomain,
    PublishedCount,
    Statistic,
    Value,
    Where,
)
from sudare.attacks.tables.solver import IntegerProgram, Row, SolverFailure
from sudare.attacks.verdicts import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words
from sudare.errors import Described, ParameterError
from sudare.extras import TABLE_ATTACKS, optional_module
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
class Reconstruction:
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
    exact_integer(limit, "limit", "reconstruct", Words("a whole number >= 1", "1 以上の整数"), smallest=1)
    if not exact_fraction(seconds, "seconds", "reconstruct", Words("a number above 0", "0 より大きい数")) > 0:
        raise ParameterError("seconds", "reconstruct", Words("a number above 0", "0 より大きい数"), seconds)
    deadline = time.monotonic() + seconds
    compiled = _Compiler(domain, list(statistics))
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


def _solve_part(compiled: _Compiler, part: tuple[Integers, list[Row]], limit: int, deadline: float) -> _Part:
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
    compiled: _Compiler, parts: list[_Part], groups: Sequence[Where], deadline: float
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


class _Compiler:
    """Turns statistics into rows over the kinds of people that can exist at all."""

    def __init__(self, domain: PersonDomain, statistics: list[Statistic]) -> None:
        self.domain = domain
        self.contradicts = False
        bounds = np.full(domain.size, -1, dtype=np.int64)  # -1: nothing known yet
        self.counts: dict[bytes, PublishedCount] = {}
        for statistic in statistics:
            if isinstance(statistic, PublishedCount):
                members = domain.members(statistic.where)
                known = self.counts.get(members.tobytes())
                if known is None or statistic.largest - statistic.low < known.largest - known.low:
                    self.counts[members.tobytes()] = statistic
                bounds[members & ((bounds < 0) | (bounds > statistic.largest))] = statistic.largest
        if (bounds < 0).any():
            kind = domain.describe(int(np.flatnonzero(bounds < 0)[0]))
            requirement = "enough to bound the number of all people, such as Count(total)"
            raise ParameterError("statistics", "reconstruct", requirement, Described(f"no bound for: {kind}"))
        self.high = bounds
        self.place = np.cumsum(bounds > 0) - 1  # of each kind among those that can exist
        self.possible = np.flatnonzero(bounds > 0)
        self.extra_high: list[int] = []  # auxiliary variables, numbered after the kinds
        self.rows: list[Row] = []
        for statistic in statistics:
            self._add(statistic)

    def _add(self, statistic: Statistic) -> None:
        if isinstance(statistic, PublishedCount):
            counted = self.domain.members(statistic.where).astype(np.int64)
            self._row(counted, statistic.low, statistic.largest)
        elif isinstance(statistic, Linear):
            coefficients = np.asarray(statistic.coefficients)
            if coefficients.shape != (self.domain.size,) or not np.issubdtype(coefficients.dtype, np.integer):
                requirement = (
                    f"linear with {self.domain.size} whole-number coefficients, one for each combination of values"
                )
                raise ParameterError("statistics", "reconstruct", requirement, Described(f"shape {coefficients.shape}"))
            self._row(coefficients.astype(np.int64), statistic.low, statistic.high)
        elif isinstance(statistic, Mean):
            members, numbers = self.domain.members(statistic.where), self.domain.numbers(statistic.attribute)
            low, high = statistic.bounds()
            count = self.counts.get(members.tobytes())
            if count is not None and count.low == count.largest:
                self._row(np.where(members, numbers, 0), math.ceil(low * count.low), math.floor(high * count.low))
                return
            # low <= mean <= high is linear even if the number is not known: the sum of (value - low) is not negative.
            for end, sign in ((low, 1), (high, -1)):
                weights = sign * (numbers * end.denominator - end.numerator)
                self._row(np.where(members, weights, 0), 0, int((np.maximum(weights, 0) * self.high).sum()))
        else:
            self._add_median(statistic)

    def _row(self, coefficients: Integers, low: int, high: int, switch: int | None = None) -> None:
        kinds = np.flatnonzero(coefficients * (self.high > 0))
        if kinds.size == 0:
            self.contradicts |= not low <= 0 <= high
            return
        places = tuple(int(place) for place in self.place[kinds])
        self.rows.append(Row(places, tuple(int(value) for value in coefficients[kinds]), low, high, switch))

    def _new(self, high: int) -> int:
        self.extra_high.append(high)
        return len(self.possible) + len(self.extra_high) - 1

    def _add_median(self, median: Median) -> None:
        members, numbers = self.domain.members(median.where), self.domain.numbers(median.attribute)
        count = self.counts.get(members.tobytes())
        if count is None or count.low != count.largest or count.low == 0:
            requirement = "complete: a median needs a Count of the same people, exactly known and not 0"
            raise ParameterError(
                "statistics", "reconstruct", requirement, Described(f"a median of '{median.attribute}'")
            )
        size, twice = count.low, median.doubled()
        values: list[int] = np.unique(numbers[members]).tolist()
        below: dict[
            int, int
        ] = {}  # how many members have at most this value: a variable for each value that is possible
        for value in values:
            previous = below[values[len(below) - 1]] if below else None
            below[value] = self._cumulative(members & (numbers == value), size, previous)
        pairs = [(low, twice - low) for low in values if twice - low in below and low <= twice - low]
        if size % 2:
            pairs = [(low, high) for low, high in pairs if low == high]
        if not pairs:
            self.contradicts = True
            return
        before = {value: below[other] for other, value in pairwise(values)}
        middle = (
            (size + 1) // 2,
            size // 2 + 1,
        )  # the ranks of the two middle people; the same one if the number is odd
        switches = []
        for pair in pairs:
            switch = self._new(1)
            switches.append(switch)
            for value, rank in zip(pair, middle, strict=True):
                self.rows.append(Row((below[value],), (1,), rank, size, switch))
                if value in before:
                    self.rows.append(Row((before[value],), (1,), 0, rank - 1, switch))
        self.rows.append(Row(tuple(switches), (1,) * len(switches), 1, 1))

    def _cumulative(self, chosen: NDArray[np.bool_], size: int, previous: int | None) -> int:
        variable = self._new(size)
        kinds = np.flatnonzero(chosen & (self.high > 0))
        added = [*(int(place) for place in self.place[kinds]), *([] if previous is None else [previous])]
        self.rows.append(Row((*added, variable), (1,) * len(added) + (-1,), 0, 0))
        return variable

    def parts(self) -> list[tuple[Integers, list[Row]]]:
        """Kinds that rows connect, with their rows: each part can be solved for itself."""
        sparse = optional_module("scipy.sparse", "solver", TABLE_ATTACKS)
        connected_components = optional_module("scipy.sparse.csgraph", "solver", TABLE_ATTACKS).connected_components
        size = len(self.possible) + len(self.extra_high)
        if not size:
            return []
        links: list[tuple[int, int]] = []
        for row in self.rows:
            places = row.places if row.switch is None else (*row.places, row.switch)
            links.extend((places[0], place) for place in places[1:])
        starts, ends = np.array(links, dtype=np.int64).reshape(-1, 2).T
        graph = sparse.csr_array((np.ones(len(starts), dtype=np.int8), (starts, ends)), shape=(size, size))
        number, labels = connected_components(graph, directed=False)
        rows: list[list[Row]] = [[] for _ in range(number)]
        for row in self.rows:
            rows[labels[row.places[0]]].append(row)
        order = np.argsort(labels, kind="stable")
        groups = np.split(order, np.cumsum(np.bincount(labels, minlength=number))[:-1])
        return [(group, rows[label]) for label, group in enumerate(groups)]

    def program_of_groups(self, groups: Integers) -> IntegerProgram:
        """The whole program, behind a variable for the number of people in each group."""
        number = len(groups)
        high = [*(int(value) for value in self.high[self.possible]), *self.extra_high]
        sums, tops = [], []
        for place, chosen in enumerate(groups[:, self.possible]):
            kinds = np.flatnonzero(chosen).tolist()
            tops.append(sum(high[kind] for kind in kinds))
            sums.append(Row((*(kind + number for kind in kinds), place), (1,) * len(kinds) + (-1,), 0, 0))
        moved = [
            Row(
                tuple(place + number for place in row.places),
                row.coefficients,
                row.low,
                row.high,
                None if row.switch is None else row.switch + number,
            )
            for row in self.rows
        ]
        return IntegerProgram((0,) * (number + len(high)), (*tops, *high), (*sums, *moved))

    def program(self, members: Integers, rows: list[Row]) -> tuple[IntegerProgram, int]:
        """The program of a part, kinds of people first, and how many of its variables are kinds."""
        new_place = {int(member): place for place, member in enumerate(members)}
        kinds = len(self.possible)
        high = tuple(
            int(self.high[self.possible[member]]) if member < kinds else self.extra_high[member - kinds]
            for member in members.tolist()
        )
        renamed = tuple(
            Row(
                tuple(new_place[place] for place in row.places),
                row.coefficients,
                row.low,
                row.high,
                None if row.switch is None else new_place[row.switch],
            )
            for row in rows
        )
        program = IntegerProgram((0,) * len(members), high, renamed)
        return program, int((members < kinds).sum())
