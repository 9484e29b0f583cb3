"""The values that each column may have, stated beforehand: lists of values, categories and bins.

A domain that is read off the data tells who is in it: a value that one person alone has would appear because of that
person. So every column needs a description that somebody could write down without the data, and a value outside it is
refused, never added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.domain import Attribute, Bins, Category, Domain, Positions
from sudare.domain.allowed_values import numbers_between
from sudare.errors import Described, InputError, ParameterError
from sudare.microdata.records import CodedColumn, Records
from sudare.noise.entropy import EntropySource
from sudare.noise.uniform import uniform_below
from sudare.parameters import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Columns = Domain | Mapping[str, Attribute | Sequence[object]] | Sequence[Attribute]

__all__ = ["PublicColumn", "code_records", "numbers_in_bins", "read_columns", "whole_edges"]

LISTED_VALUES = Words("the {number} values listed for it", "列挙された {number} 個の値")

MAX_VALUES = 1 << 20
MAX_COLUMNS = 1 << 10
MAX_WHOLE, MAX_DIGITS = 2**53, 22
"""Whole numbers and powers of ten up to these are exact doubles."""

_EXPECTED = "a Domain, attributes, or a list of values, a Category or Bins for each column's name"


@dataclass(frozen=True)
class PublicColumn:
    """A column with the values that it may have.

    Attributes:
        name: of the column.
        labels: a text for each place; None is a missing value. For bins, what they print as.
        edges: for bins, the limits, one more than bins; empty otherwise.
    """

    name: str
    labels: tuple[str | None, ...]
    edges: tuple[Decimal, ...] = ()

    @property
    def size(self) -> int:
        """How many places there are."""
        return len(self.labels)

    def places(self, column: CodedColumn) -> NDArray[np.int64]:
        """The place of the value of each row.

        Raises:
            InputError: if a value is not among those described; it names the column and the row.
        """
        known = {label: place for place, label in enumerate(self.labels)}
        places = np.empty(len(column.labels), dtype=np.int64)
        for code, label in enumerate(column.labels):
            place = known.get(label) if not self.edges or label is None else self._bin_of(label)
            if place is None:
                raise self._refused(column.first_row(code), label)
            places[code] = place
        return places[column.codes] if places.size else np.zeros(0, dtype=np.int64)

    def _bin_of(self, label: str) -> int | None:
        try:
            number = Decimal(label)
        except InvalidOperation:
            return None
        if not number.is_finite() or not self.edges[0] <= number < self.edges[-1]:
            return None
        low, high = 0, len(self.edges) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.edges[middle] <= number else (low, middle)
        return low

    def _refused(self, row: int, label: str | None) -> InputError:
        if label is None:
            return InputError(
                f"The column {self.name!r} has no value in row {row} of the data. Name the column in 'missing' if a missing "
                f"value shall count as a value.",
                f"列 {self.name!r} の {row} 行目 (データの行) に値がありません。欠損も一つの値として扱うには、この列を missing に"
                "加えてください。",
            )
        if self.edges:
            allowed = numbers_between(self.edges[0], self.edges[-1])
        else:
            allowed = LISTED_VALUES.format(number=sum(known is not None for known in self.labels))
        return InputError(
            f"The column {self.name!r} has another value in row {row} of the data than its description allows: "
            f"{allowed.english}. Correct the row, or describe the column so that every possible value is covered.",
            f"列 {self.name!r} の {row} 行目 (データの行) の値は、列の説明にある値 ({allowed.japanese}) ではありません。"
            "行を直すか、ありうる値をすべて含むように列の説明を直してください。",
        )

    def drawn(self, places: NDArray[np.int64], entropy: EntropySource) -> CodedColumn:
        """A column of values at these places: the label, or for bins a number drawn fairly from those inside.

        A number has as many digits after the point as the edges have: bins between whole numbers give whole numbers.
        """
        if not self.edges:
            return CodedColumn.of_codes(self.name, places, self.labels)
        numbers, digits = numbers_in_bins(self.edges, np.minimum(places, len(self.edges) - 2), entropy)
        different, codes = np.unique(numbers, return_inverse=True)
        labels: list[str | None] = [str(Decimal(number).scaleb(-digits)) for number in different.tolist()]
        is_missing = places == len(self.edges) - 1
        return CodedColumn.of_codes(self.name, np.where(is_missing, len(labels), codes), [*labels, None])


def numbers_in_bins(
    edges: Sequence[Decimal], places: NDArray[np.int64], entropy: EntropySource
) -> tuple[NDArray[np.int64], int]:
    """A number inside the bin at each place, drawn fairly, with as many digits after the point as the edges have.

    Returns:
        The numbers without their point, and how many digits stand after it.

    Example:
        >>> from decimal import Decimal
        >>> import numpy as np
        >>> from sudare import ResearchEntropy
        >>> from sudare.microdata.synthetic.public_columns import numbers_in_bins
        >>> numbers, digits = numbers_in_bins([Decimal("0.5"), Decimal(1)], np.zeros(3, dtype=np.int64), ResearchEntropy(1))
        >>> set(numbers.tolist()) <= {5, 6, 7, 8, 9}, digits
        (True, 1)
    """
    starts, digits = whole_edges(edges)
    numbers = np.empty(places.size, dtype=np.int64)
    for place in np.unique(places).tolist():
        rows = np.flatnonzero(places == place)
        inside = uniform_below(starts[place + 1] - starts[place], rows.size, entropy)
        numbers[rows] = starts[place] + inside.astype(np.int64)
    return numbers, digits


def whole_edges(edges: Sequence[Decimal]) -> tuple[list[int], int]:
    """The edges of bins without their point, and how many digits stand after it.

    Raises:
        ParameterError: if they have more digits than a double holds exactly.

    Example:
        >>> from decimal import Decimal
        >>> from sudare.microdata.synthetic.public_columns import whole_edges
        >>> whole_edges([Decimal("0.5"), Decimal(2)])
        ([5, 20], 1)
    """
    digits = max(0, *(-int(edge.as_tuple().exponent) for edge in edges))
    starts = [int(edge.scaleb(digits)) for edge in edges] if digits <= MAX_DIGITS else []
    if not starts or max(map(abs, starts)) > MAX_WHOLE:
        requirement = Words(
            "numbers that differ in their first 15 digits, such as 0, 0.5 and 100",
            "上位 15 桁が互いに異なる数（例: 0、0.5、100）",
        )
        raise ParameterError("edges", "Bins", requirement, Described("others"))
    return starts, digits


def read_columns(columns: object, missing: Iterable[str], function: str) -> tuple[PublicColumn, ...]:
    """The descriptions of all columns.

    Raises:
        ParameterError: if there are none, or one is not a list of values, a Category, Bins or Positions.

    Example:
        >>> from sudare.domain import Bins
        >>> from sudare.microdata.synthetic.public_columns import read_columns
        >>> [column.labels for column in read_columns({"sex": ["f", "m"], "age": Bins("age", (0, 15, 120))}, (), "f")]
        [('f', 'm'), ('0 to 15', '15 to 120')]
    """
    named = _named(columns, function)
    absent = {missing} if isinstance(missing, str) else set(missing)
    unknown = sorted(absent - set(named))
    if unknown:
        raise ParameterError("missing", function, f"names of columns, such as {next(iter(named))!r}", unknown[0])
    if len(named) > MAX_COLUMNS:
        raise ParameterError(
            "columns",
            function,
            Words(f"at most {MAX_COLUMNS} columns", f"{MAX_COLUMNS} 列以下"),
            Described(f"{len(named)} columns"),
        )
    return tuple(_read_column(name, value, name in absent, function) for name, value in named.items())


def _named(columns: object, function: str) -> dict[str, object]:
    listed: object = columns.attributes if isinstance(columns, Domain) else columns
    if isinstance(listed, Mapping):
        named = dict(listed)
    elif isinstance(listed, Sequence) and all(isinstance(attribute, Attribute) for attribute in listed):
        named = {attribute.name: attribute for attribute in listed}
        if len(named) < len(listed):
            raise ParameterError(
                "columns",
                function,
                Words("attributes with different names", "互いに異なる名前の属性"),
                Described("a name twice"),
            )
    else:
        hint = "The values must be known without the data: they are published."
        raise ParameterError("columns", function, _EXPECTED, shown(columns), hint)
    if not named or not all(isinstance(name, str) for name in named):
        raise ParameterError("columns", function, _EXPECTED, Described("no names"))
    return named


def _read_column(name: str, value: object, has_missing: bool, function: str) -> PublicColumn:
    edges: tuple[Decimal, ...] = ()
    labels: list[str | None]
    if isinstance(value, Bins):
        edges = tuple(Decimal(str(edge)) for edge in value.edges)
        whole_edges(edges)
        labels = [f"{low} to {high}" for low, high in pairwise(edges)]
    elif isinstance(value, Category):
        labels = [str(label) for label in value.labels]
    elif isinstance(value, Positions) and value.length <= MAX_VALUES:
        labels = [str(place) for place in range(value.length)]
    elif isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        labels = [None if label is None else str(label) for label in value]
    else:
        hint = "The values must be known without the data; a mesh with counts is what people_of_table is for."
        raise ParameterError(f"columns[{name!r}]", function, "a list of values, a Category or Bins", shown(value), hint)
    if has_missing and None not in labels:
        labels.append(None)
    if not 1 <= len(labels) <= MAX_VALUES or len(set(labels)) < len(labels):
        requirement = Words(
            f"different values, from 1 to {MAX_VALUES}", f"互いに異なる 1 個以上 {MAX_VALUES} 個以下の値"
        )
        raise ParameterError(f"columns[{name!r}]", function, requirement, Described(f"{len(labels)} values"))
    return PublicColumn(name, tuple(labels), edges)


def code_records(records: object, columns: Sequence[PublicColumn], function: str) -> list[NDArray[np.int64]]:
    """The place of each row's value, for each column.

    Raises:
        InputError: if a column is missing, is there without a description, or has a value outside of it.
    """
    if not isinstance(records, Records):
        raise ParameterError("records", function, "Records, from read_people or Records.of_columns", shown(records))
    described = {column.name for column in columns}
    for name in records.names:
        if name not in described:
            raise InputError(
                f"Nothing says which values the column {name!r} may have, and they cannot be taken from the data: a value that "
                f"one person alone has would give that person away. List them, or leave the column out "
                f"(records.without({name!r})).",
                f"列 {name!r} の取りうる値が示されていません。データから取ると、一人だけが持つ値からその人の存在が分かってしまう"
                f"ため、使えません。値を列挙するか、列を除いてください (records.without({name!r}))。",
            )
    return [column.places(records.column(column.name)) for column in columns]
