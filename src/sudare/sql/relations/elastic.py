"""How much one unit can change a join, where all that is known is how often a value stands in a column today.

A row that one unit adds may meet as many rows of other units as have the same value in the column that is compared. How
many those are is known for the data as they are; in data that differ by k units it may be k units' rows more. So a
sensitivity here is no number but a `Growth`: a number for each distance k. `smooth_bound` turns it into one number
that noise can follow.

Proof: ``elastic.md`` beside this file.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from math import ceil

from sudare.errors import ParameterError
from sudare.parameters import Rational, exact_fraction
from sudare.privacy.budget import Budget
from sudare.privacy.measurements import SmoothMeasurement
from sudare.sql.metadata.model import Metadata, TableMetadata

__all__ = ["Growth", "Side", "join_sides", "join_stability", "side_of_table", "smooth_bound", "smooth_noise"]

MIN_BETA, MAX_BETA = Fraction(1, 10**8), Fraction(100)
STRICTER = 1 - Fraction(1, 10**6)
"""The bound is made for a slightly smaller beta, so that rounding it up leaves it smooth."""

ROUNDING = Decimal(10) ** -31
"""Relative; larger than the errors of all operations at 60 digits, far smaller than what the stricter beta leaves."""


@dataclass(frozen=True)
class Growth:
    """A whole number for each distance k from the data as they are; it never falls with k.

    Attributes:
        at: the number.
        degree: it grows no faster than this power of k: from k to k + 1 at most by ((k + 1) / k) ** degree, for k >= 1.

    Example:
        >>> from sudare.sql.relations.elastic import Growth
        >>> frequency = Growth.linear(100, 2)
        >>> frequency(0), frequency(3)
        (100, 106)
    """

    at: Callable[[int], int] = field(repr=False)
    degree: int

    def __call__(self, distance: int) -> int:
        """The number at a distance."""
        return self.at(distance)

    @classmethod
    def constant(cls, number: int) -> Growth:
        """The same number at every distance."""
        return cls(lambda _: number, 0)

    @classmethod
    def linear(cls, number: int, step: int) -> Growth:
        """A number that each unit can raise by so much."""
        return cls(lambda distance: number + step * distance, 1) if step else cls.constant(number)

    def times(self, other: Growth | int) -> Growth:
        """The product."""
        if isinstance(other, int):
            return Growth(lambda distance: self.at(distance) * other, self.degree)
        return Growth(lambda distance: self.at(distance) * other.at(distance), self.degree + other.degree)


@dataclass(frozen=True)
class Side:
    """A relation as a join sees it.

    Attributes:
        stability: how many rows one unit can add, and how many it can take away, at most. 0 for public relations.
        max_frequency: for columns where it is known, in how many rows a value stands, at most.
        tables: whose rows it is made of. Two relations that share a name here may both change with one unit; no public
            table is named.

    Example:
        >>> from sudare.sql.relations.elastic import Growth, Side, join_sides
        >>> orders = Side(Growth.constant(1), {"customer": Growth.linear(100, 1)}, frozenset(["orders"]))
        >>> visits = Side(Growth.constant(1), {"guest": Growth.linear(250, 1)}, frozenset(["visits"]))
        >>> joined = join_sides(orders, visits, [("customer", "guest")])
        >>> joined.stability(0), joined.stability(2), joined.max_frequency["customer"](0)
        (250, 252, 25000)
    """

    stability: Growth
    max_frequency: Mapping[Hashable, Growth]
    tables: frozenset[str]

    @property
    def is_public(self) -> bool:
        """Whether no unit can change it."""
        return not self.tables

    def frequency_of(self, columns: Sequence[Hashable]) -> Growth | None:
        """In how many rows the same values stand in all these columns: the least of what is known; None if nothing is."""
        known = [self.max_frequency[column] for column in columns if column in self.max_frequency]
        if not known:
            return None
        if len(known) == 1:
            return known[0]
        return Growth(lambda distance: min(each(distance) for each in known), max(each.degree for each in known))


def join_stability(left: Side, right: Side, pairs: Sequence[tuple[Hashable, Hashable]]) -> Growth | None:
    """How many rows of an inner join one unit can change; None if a frequency that it takes is not known.

    Args:
        left: one relation.
        right: the other one.
        pairs: columns that are equal, of the left and the right relation; at least one.
    """
    if left.is_public and right.is_public:
        return Growth.constant(0)
    ours, theirs = left.frequency_of([pair[0] for pair in pairs]), right.frequency_of([pair[1] for pair in pairs])
    if right.is_public:
        return None if theirs is None else left.stability.times(theirs)
    if left.is_public:
        return None if ours is None else right.stability.times(ours)
    if ours is None or theirs is None:
        return None
    mine, yours, meet = left.stability, right.stability, bool(left.tables & right.tables)

    def at(distance: int) -> int:
        changed_left, changed_right = mine(distance), yours(distance)
        from_left, from_right = changed_left * theirs(distance), changed_right * ours(distance)
        return from_left + from_right + changed_left * changed_right if meet else max(from_left, from_right)

    degrees = [mine.degree + theirs.degree, yours.degree + ours.degree, mine.degree + yours.degree if meet else 0]
    return Growth(at, max(degrees))


def join_sides(left: Side, right: Side, pairs: Sequence[tuple[Hashable, Hashable]]) -> Side | None:
    """The inner join of two relations on equal columns; None if a frequency that it takes is not known.

    The names of their columns must differ. Frequencies that do not follow are left out.
    """
    stability = join_stability(left, right, pairs)
    if stability is None:
        return None
    ours, theirs = left.frequency_of([pair[0] for pair in pairs]), right.frequency_of([pair[1] for pair in pairs])
    frequencies: dict[Hashable, Growth] = {}
    for side, repeats in ((left, theirs), (right, ours)):
        if repeats is not None:
            frequencies |= {column: each.times(repeats) for column, each in side.max_frequency.items()}
    return Side(stability, frequencies, left.tables | right.tables)


def side_of_table(metadata: Metadata, name: str) -> Side | None:
    """A table of the metadata; None if one unit may have any number of its rows.

    Where each row is a unit of its own, it changes alone, and together with the rows of other tables that lead to it. Rows
    of all other private tables belong to the same units, so that they may change together.
    """
    table = metadata.tables[name]
    if table.public:
        return Side(Growth.constant(0), _frequencies(table, 0), frozenset())
    rows = 1 if table.row_is_unit else table.max_rows
    if rows is None:
        return None
    links = metadata.chain(name)
    root = metadata.tables[links[-1].table] if links else table
    whose = f"row of {root.name}" if root.row_is_unit else metadata.who
    return Side(Growth.constant(rows), _frequencies(table, rows), frozenset([whose]))


def _frequencies(table: TableMetadata, rows: int) -> dict[Hashable, Growth]:
    """By column; a value that is unique by the table's key stays so in any data."""
    found: dict[Hashable, Growth] = {}
    for name, column in table.columns.items():
        if column.unique or table.key == (name,):
            found[name] = Growth.constant(1)
        elif column.max_frequency is not None:
            found[name] = Growth.linear(column.max_frequency, rows)
    return found


def smooth_bound(sensitivity: Growth, beta: Rational) -> Fraction:
    """The largest of exp(-beta k) times the sensitivity at distance k, over all k >= 0, rounded up.

    From one data set to a neighbour it changes by a factor of at most exp(beta), in spite of the rounding.

    Args:
        sensitivity: for each distance.
        beta: a number from 1e-8 to 100.

    Raises:
        ParameterError: if beta is out of range.

    Example:
        >>> from sudare.sql.relations.elastic import Growth, smooth_bound
        >>> round(float(smooth_bound(Growth.linear(10, 1), 0.05)), 2)  # 20 exp(-0.5)
        12.13
    """
    requirement = "a number from 1e-8 to 100"
    exact = exact_fraction(beta, "beta", "smooth_bound", requirement)
    if not MIN_BETA <= exact <= MAX_BETA:
        raise ParameterError("beta", "smooth_bound", requirement, beta)
    stricter = exact * STRICTER
    last = max(1, ceil(sensitivity.degree / stricter))
    with localcontext(Context(prec=60)):
        slope = -Decimal(stricter.numerator) / Decimal(stricter.denominator)

        def bound(low: int, high: int) -> Decimal:
            """No value from low to high is larger; the value itself where they are the same."""
            return (slope * low).exp() * sensitivity(high)

        best = max(bound(0, 0), bound(1, 1), bound(last, last))
        parts = [(-bound(1, last), 1, last)]
        while parts and -parts[0][0] > best:
            _, low, high = heapq.heappop(parts)
            middle = (low + high) // 2
            best = max(best, bound(middle, middle))
            for start, end in ((low, middle), (middle + 1, high)):
                if start < end:
                    heapq.heappush(parts, (-bound(start, end), start, end))
                elif start == end:
                    best = max(best, bound(start, end))
        return Fraction(Context(prec=40, rounding=ROUND_CEILING).plus(best * (1 + ROUNDING)))


def smooth_noise(sensitivity: Growth, budget: Budget, cells: int = 1) -> tuple[Fraction, SmoothMeasurement]:
    """The scale of the discrete Laplace noise that follows a sensitivity, and what it costs.

    Guarantee: (epsilon, delta), the budget's.

    Proof: ``elastic.md`` beside this file.

    Args:
        sensitivity: of the sum of the absolute differences of all numbers that get noise. Not 0 everywhere: what no unit
            can change needs no noise.
        budget: an epsilon and a delta.
        cells: how many numbers get noise. It must be public.

    Raises:
        GuaranteeError: for a budget without delta, or in rho.
        ParameterError: if the budget is so small that no bound can be found.

    Example:
        >>> from sudare import Budget
        >>> from sudare.sql.relations.elastic import Growth, smooth_noise
        >>> scale, cost = smooth_noise(Growth.constant(3), Budget(epsilon=1, delta=1e-6))
        >>> round(float(scale), 6), cost.epsilon <= 1
        (6.0, True)
    """
    measurement = SmoothMeasurement.for_budget(budget, cells)
    return measurement.scale_for(smooth_bound(sensitivity, measurement.beta)), measurement
