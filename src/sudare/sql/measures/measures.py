"""What is measured in the database: whole numbers with a known sensitivity, each about every group."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from sqlglot import exp

from sudare.bilingual import Words
from sudare.privacy.unit import Adjacency, Sensitivity
from sudare.sql.expressions.facts import Facts
from sudare.sql.relations.elastic import Growth

__all__ = [
    "Change",
    "Key",
    "QuantileMeasure",
    "SumMeasure",
    "coarsened",
    "sensitivity_of_rows",
    "sensitivity_of_units",
]

KEPT_DIGITS = 7
"""Of a sensitivity; sums keep digits down to there."""


@dataclass(frozen=True)
class Change:
    """A way in which an answer means something else than the query as it was written.

    Attributes:
        reason: a short name, such as ``"clipped"``.
        words: what is different.
    """

    reason: str
    words: Words


@dataclass(frozen=True)
class Key:
    """What groups are formed by.

    Attributes:
        name: its column in the measured table.
        tree: its expression in the rewritten query.
        facts: what is known of it.
        values_from: the public table and column whose values groups are published for; None if there is none.
    """

    name: str
    tree: exp.Expr
    facts: Facts
    values_from: tuple[str, str] | None = None

    @property
    def is_public(self) -> bool:
        """Whether all groups are known without the data."""
        return self.facts.values is not None or self.values_from is not None


@dataclass(frozen=True)
class SumMeasure:
    """A sum of bounded numbers on a grid: counts too.

    Attributes:
        name: its column in the measured table.
        what: the aggregate as the query has it, or what it is needed for.
        tree: the aggregate in the rewritten query; for sums over units, of what a unit adds.
        inner: what one unit adds to a group, before it is clipped to its bounds; None where rows are summed.
        scale: the sum times 10 to this power is a whole number.
        coarse: digits of that whole number that are cut off before the noise, where it is far larger than they are.
        sensitivity: of all groups together, in whole numbers after that.
        reason: how the sensitivity came about.
        is_row_count: whether it counts the rows of the group.
        growth: the sensitivity at each distance from the data as they are, where it has no limit that holds for all data;
            ``sensitivity`` is that of the data as they are then.
    """

    name: str
    what: str
    tree: exp.Expr
    inner: exp.Expr | None
    scale: int
    coarse: int
    sensitivity: Sensitivity
    reason: Words
    is_row_count: bool = False
    growth: Growth | None = None


@dataclass(frozen=True)
class QuantileMeasure:
    """A quantile of bounded values, chosen among the points of a grid.

    Attributes:
        name: its column in the measured table.
        what: the aggregate as the query has it.
        bucket: the number of the grid point that a row's value is rounded to, from 0; NULL where there is none.
        low: the first grid point.
        step: from one to the next.
        points: how many there are.
        share: the part of the rows that lies below: 0 for the minimum, 1 for the maximum.
        condition: of the rows that count; None if all do.
        rows: how many rows one unit can change.
        facts: of the values.
        reason: how the sensitivity came about.
    """

    name: str
    what: str
    bucket: exp.Expr
    low: Fraction
    step: Fraction
    points: int
    share: Fraction
    condition: exp.Expr | None
    rows: int
    facts: Facts
    reason: Words


def coarsened(sensitivity: Sensitivity) -> tuple[int, Sensitivity]:
    """How many digits of sums are not worth keeping beside their noise, and the sensitivity of what is left.

    Cutting off j digits (rounding down) divides every difference by 10**j and moves it by less than 1, in the cells that
    differ; what is left still has seven digits of the sensitivity.

    Example:
        >>> coarsened(Sensitivity(l1=3 * 10**12, l2_squared=9 * 10**24, cells=1, largest=3 * 10**12))
        (6, Sensitivity(l1=3000001, l2_squared=9000006000001, cells=1, largest=3000001))
    """
    digits = max(len(str(sensitivity.l1)) - KEPT_DIGITS, 0)
    if digits == 0:
        return 0, sensitivity
    size, cells = 10**digits, sensitivity.cells
    l1 = -(-sensitivity.l1 // size) + cells
    largest = -(-sensitivity.largest // size) + 1
    # The l2 norm grows by sqrt(cells) at most; whole numbers from above.
    root = -(-(isqrt(sensitivity.l2_squared - 1) + 1) // size) + isqrt(cells - 1) + 1
    squares = min(max(root**2, cells, largest**2), cells * largest**2)
    return digits, Sensitivity(l1=min(l1, cells * largest), l2_squared=squares, cells=cells, largest=largest)


def sensitivity_of_rows(rows: int, low: int, high: int, *, grouped: bool, adjacency: Adjacency) -> Sensitivity:
    """The sensitivity of sums over groups, where one unit can change this many rows.

    Each row adds a whole number from ``low`` to ``high`` to one group. Adding or removing a unit changes the sums by ``rows *
    largest`` altogether, at most, in the worst case all in one group. Replacing a unit takes this many rows away and brings as
    many: a single sum moves from one end of what they can add up to to the other, a count by ``rows``. Over groups the absolute
    differences add up to twice as much, and the squares to those of two groups, or of one that moves from one end to the other.

    Example:
        >>> sensitivity_of_rows(3, -2, 5, grouped=True, adjacency="add-remove").l1
        15
        >>> sensitivity_of_rows(3, -2, 5, grouped=False, adjacency="replace").l1
        21
        >>> sensitivity_of_rows(1, 0, 1, grouped=False, adjacency="replace").l1
        1
        >>> sensitivity_of_rows(1, 0, 1, grouped=True, adjacency="replace")
        Sensitivity(l1=2, l2_squared=2, cells=2, largest=1)
    """
    most = rows * max(abs(low), abs(high), 1)
    if adjacency == "add-remove":
        return Sensitivity(l1=most, l2_squared=most**2, cells=min(rows, most) if grouped else 1, largest=most)
    span = rows * max(max(high, 0) - min(low, 0), 1)
    if not grouped:
        return Sensitivity(l1=span, l2_squared=span**2, cells=1, largest=span)
    return Sensitivity(l1=2 * most, l2_squared=max(2 * most**2, span**2), cells=2 * rows, largest=max(span, most))


def sensitivity_of_units(groups: int, low: int, high: int, *, grouped: bool, adjacency: Adjacency) -> Sensitivity:
    """The sensitivity of sums over groups, where one unit adds a whole number from ``low`` to ``high`` to this many of them.

    Example:
        >>> sensitivity_of_units(4, 0, 5, grouped=True, adjacency="add-remove")
        Sensitivity(l1=20, l2_squared=100, cells=4, largest=5)
    """
    largest = max(abs(low), abs(high), 1)
    if adjacency == "add-remove":
        return Sensitivity(groups * largest, groups * largest**2, groups, largest)
    span = max(max(high, 0) - min(low, 0), 1)
    if not grouped:
        return Sensitivity(span, span**2, 1, span)
    # Two units' groups may be the same or others: twice as many groups, or the span in each.
    l1, squares = 2 * groups * largest, max(2 * groups * largest**2, groups * span**2)
    return Sensitivity(l1, squares, 2 * groups, max(span, largest))
