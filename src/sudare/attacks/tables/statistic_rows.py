"""Published statistics as rows of an integer program over the kinds of people that can exist.

A count, a mean or a linear statistic is one row or two. A median needs variables of its own: how many people have at most each
value, and a switch for each pair of values that the two people in the middle may have.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sudare.attacks.tables.published_statistics import Linear, Mean, Median, PersonDomain, PublishedCount, Statistic
from sudare.attacks.tables.solver import IntegerProgram, Row
from sudare.errors import Described, ParameterError
from sudare.extras import TABLE_ATTACKS, optional_module

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = ["StatisticRows"]


class StatisticRows:
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
