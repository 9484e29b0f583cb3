"""Published statistics as constraints on how many people there are of each kind.

A person is one tuple of values out of a bounded domain, and a data set is how many people there are of each tuple. People with
equal values are then one number, not several people to be told apart: no data set is counted twice.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.errors import Described, ParameterError
from sudare.parameters import Rational, exact_fraction, exact_integer, shown

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

__all__ = ["Linear", "Mean", "Median", "PersonDomain", "PublishedCount", "Statistic", "Value", "Where"]

Value = str | int
Where = Mapping[str, Value | Collection[Value]]
"""Whom a statistic is about: for each attribute named, the value or the values that count; nothing named is everybody."""

MAX_KINDS = 1_000_000


class PersonDomain:
    """What a person can be: every combination of the values of some attributes.

    Args:
        attributes: the possible values of each attribute, in order.

    Example:
        >>> from sudare.attacks.tables.published_statistics import PersonDomain
        >>> domain = PersonDomain({"sex": ["F", "M"], "age": range(100)})
        >>> domain.size
        200
        >>> int(domain.members({"sex": "F", "age": range(18)}).sum())
        18
    """

    def __init__(self, attributes: Mapping[str, Iterable[Value] | str]) -> None:
        check_arguments(PersonDomain.__init__, locals(), "attributes")
        self.values: dict[str, tuple[Value, ...]] = {name: tuple(values) for name, values in attributes.items()}
        for name, values in self.values.items():
            if not values or len(set(values)) != len(values):
                requirement = "attributes with at least one value each, none of them twice"
                raise ParameterError("attributes", "PersonDomain", requirement, Described(f"the values of '{name}'"))
        self.names = tuple(self.values)
        self._places = {
            name: {value: place for place, value in enumerate(values)} for name, values in self.values.items()
        }
        self.shape = tuple(len(values) for values in self.values.values())
        self.size = math.prod(self.shape)
        if not self.names or self.size > MAX_KINDS:
            requirement = f"at least one, with at most {MAX_KINDS:,} combinations of values"
            raise ParameterError("attributes", "PersonDomain", requirement, Described(f"{self.size:,} combinations"))

    def members(self, where: Where) -> NDArray[np.bool_]:
        """Which combinations belong to a group."""
        chosen = np.ones(self.shape, dtype=np.bool_)
        for name, wanted in where.items():
            values = self.values_of(name, "where")
            asked = {wanted} if isinstance(wanted, (str, int)) else set(wanted)
            places = self._places[name]
            unknown = asked.difference(places)
            if unknown:
                requirement = f"a group of values that '{name}' can have"
                raise ParameterError("where", "PersonDomain.members", requirement, sorted(unknown, key=str)[0])
            flags = np.zeros(len(values), dtype=np.bool_)
            flags[[places[value] for value in asked]] = True
            chosen &= flags.reshape([-1 if other == name else 1 for other in self.names])
        return chosen.ravel()

    def values_of(self, name: str, parameter: str = "attribute") -> tuple[Value, ...]:
        """The possible values of an attribute."""
        if name not in self.values:
            raise ParameterError(parameter, "PersonDomain", "about attributes " + ", ".join(self.names), shown(name))
        return self.values[name]

    def numbers(self, name: str) -> NDArray[np.int64]:
        """The value of a numeric attribute for each combination."""
        values = self.values_of(name)
        if not all(isinstance(value, int) for value in values):
            raise ParameterError("attribute", "PersonDomain", "one whose values are whole numbers", name)
        column = np.array(values, dtype=np.int64).reshape([-1 if other == name else 1 for other in self.names])
        return np.broadcast_to(column, self.shape).ravel()

    def cell(self, values: Sequence[Value]) -> int:
        """The position of one combination, given in the order of the attributes."""
        places = [self.values_of(name).index(value) for name, value in zip(self.names, values, strict=True)]
        return int(np.ravel_multi_index(places, self.shape))

    def tuple_of(self, cell: int) -> tuple[Value, ...]:
        """The combination at a position."""
        places = np.unravel_index(cell, self.shape)
        return tuple(self.values[name][int(place)] for name, place in zip(self.names, places, strict=True))

    def describe(self, cell: int) -> str:
        """The combination at a position, in words: ``sex F, age 36``."""
        return ", ".join(f"{name} {value}" for name, value in zip(self.names, self.tuple_of(cell), strict=True))

    def counts(self, people: Iterable[Sequence[Value]]) -> NDArray[np.int64]:
        """How many people there are of each combination."""
        counts = np.zeros(self.size, dtype=np.int64)
        for person in people:
            counts[self.cell(person)] += 1
        return counts


@dataclass(frozen=True)
class PublishedCount:
    """A published number of people; with two numbers, the range that a suppressed or noisy cell leaves open.

    Args:
        low: the number, or its least possible value.
        high: its largest possible value; the same as ``low`` if not given.
        where: whom it counts.

    Example:
        >>> from sudare.attacks.tables.published_statistics import PublishedCount
        >>> suppressed_below_three = PublishedCount(1, 2, where={"sex": "F", "race": "white"})
    """

    low: int
    high: int | None = None
    where: Where = field(default_factory=dict)

    def __post_init__(self) -> None:
        low = exact_integer(self.low, "low", "PublishedCount", Words("a whole number >= 0", "0 以上の整数"), smallest=0)
        if self.high is not None:
            exact_integer(self.high, "high", "PublishedCount", f"a whole number >= {low}", smallest=low)

    @classmethod
    def around(cls, noisy: int, margin: int, where: Where | None = None) -> Self:
        """A count that was published with noise of at most this margin (see `NoiseLaw.margin`).

        Args:
            noisy: as published; may be negative.
            margin: how far the true count may be from it.
            where: whom it counts.
        """
        return cls(max(0, noisy - margin), max(0, noisy + margin), where if where is not None else {})

    @property
    def largest(self) -> int:
        """The largest possible number."""
        return self.low if self.high is None else self.high


@dataclass(frozen=True)
class Mean:
    """A published mean.

    Args:
        attribute: with whole-number values.
        value: as published.
        rounding: how far the true mean may be from it: 0.05 if it was rounded to one decimal; 0 if it is exact.
        where: whom it is about. If nobody is there, the mean says nothing.
    """

    attribute: str
    value: Rational
    rounding: Rational = 0
    where: Where = field(default_factory=dict)

    def bounds(self) -> tuple[Fraction, Fraction]:
        """The least and the largest true mean."""
        value = exact_fraction(self.value, "value", "Mean", Words("a number", "数"))
        margin = exact_fraction(self.rounding, "rounding", "Mean", Words("a number >= 0", "0 以上の数"))
        if margin < 0:
            raise ParameterError("rounding", "Mean", Words("a number >= 0", "0 以上の数"), self.rounding)
        return value - margin, value + margin


@dataclass(frozen=True)
class Median:
    """A published median: the middle value, or the mean of the two middle values. The number of people must be published too.

    Args:
        attribute: with whole-number values.
        value: as published, unrounded.
        where: whom it is about.
    """

    attribute: str
    value: Rational
    where: Where = field(default_factory=dict)

    def doubled(self) -> int:
        """Twice the median, which is whole."""
        twice = 2 * exact_fraction(self.value, "value", "Median", Words("a multiple of 0.5", "0.5 の倍数"))
        if twice.denominator != 1:
            raise ParameterError("value", "Median", Words("a multiple of 0.5", "0.5 の倍数"), self.value)
        return int(twice)


@dataclass(frozen=True, eq=False)
class Linear:
    """Any linear statistic: low <= sum of coefficients times counts <= high.

    Args:
        coefficients: whole numbers, one for each combination of values.
        low: the least possible value.
        high: the largest.
    """

    coefficients: NDArray[np.int64]
    low: int
    high: int


Statistic = PublishedCount | Mean | Median | Linear
