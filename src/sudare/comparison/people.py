"""People as one table of counts: the columns with their coarser values, everybody's cell, and the half that is "the data".

Everybody of the file is the *population*. In each run a fair coin decides for each person whether they are in the data; the
others are people like them who are not. Independent coins, and not a sample of fixed size: so that being in the data changes
nothing but one record, which is what epsilon speaks of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sudare.errors import InputError, ParameterError
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.perturb.exact_draws import toss_coins
from sudare.microdata.records import CodedColumn, Records

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from sudare.noise.entropy import EntropySource

    Integers = NDArray[np.int64]

__all__ = ["MAX_CELLS", "MIN_PEOPLE", "Population", "Sample", "merged_from_level"]

TOP = "*"
MAX_CELLS = 1 << 20
"""Of the table; the methods look at every cell."""

MIN_PEOPLE = 50


def merged_from_level(hierarchy: Generalization, level: int) -> Generalization:
    """The hierarchy above a level, whose groups become its values; with one group for all at the top.

    Example:
        >>> age = Generalization.of_paths("age", [("34", "<50", "*"), ("45", "<50", "*"), ("66", ">=50", "*")])
        >>> merged_from_level(age, 1).paths()
        [('<50', '*'), ('>=50', '*')]
    """
    paths = list(dict.fromkeys(path[level:] for path in hierarchy.paths()))
    if len({path[-1] for path in paths}) > 1 or len(paths[0]) == 1:
        paths = [(*path, TOP) for path in paths]
    return Generalization.of_paths(hierarchy.name, paths)


@dataclass(frozen=True, eq=False)
class Population:
    """Everybody, in a table of all columns.

    Attributes:
        columns: the hierarchy of each column; the first is the area, the last is sensitive.
        codes: for each person (row) and column, the place of the value among the leaves of its hierarchy.
    """

    columns: tuple[Generalization, ...]
    codes: Integers

    def __post_init__(self) -> None:
        if len(self.columns) < 2 or self.codes.ndim != 2 or self.codes.shape[1] != len(self.columns):
            raise ParameterError("codes", "Population", "a row for each person, a column for each", self.codes.shape)
        if len(self.codes) < MIN_PEOPLE:
            raise InputError(
                f"A comparison needs at least {MIN_PEOPLE} people; half of them are the data.",
                f"比較には少なくとも {MIN_PEOPLE} 人が必要です。その半数をデータとして扱います。",
            )
        if int(np.prod(self.shape, dtype=object)) > MAX_CELLS:
            raise InputError(
                f"The table of all columns would have more than {MAX_CELLS:,} cells. Name fewer columns, or coarser levels.",
                f"すべての列を掛け合わせた表が {MAX_CELLS:,} セルを超えます。列を減らすか、粗い段階を指定してください。",
            )

    @classmethod
    def of_records(cls, records: Records, columns: Sequence[tuple[Generalization, int]]) -> Population:
        """People from records.

        Args:
            records: with the columns.
            columns: the hierarchy of each, and the level whose groups are the values of the table.

        Raises:
            InputError: if a value is in no hierarchy, there are too few people, or too many cells.

        Example:
            >>> from sudare.microdata.hierarchies.builders import flat_hierarchy
            >>> people = Records.of_columns({"town": ["a", "b"] * 30, "ill": ["no", "no", "yes"] * 20})
            >>> columns = [(flat_hierarchy(name, people.column(name)), 0) for name in people.names]
            >>> Population.of_records(people, columns).table.tolist()
            [[20, 10], [20, 10]]
        """
        kept, codes = [], []
        for hierarchy, level in columns:
            column = records.column(hierarchy.name)
            coarse = merged_from_level(hierarchy, level)
            places = hierarchy.parents[level][hierarchy.places(column)]
            moved = {label: place for place, label in enumerate(coarse.levels[0])}
            order = np.array([moved[label] for label in hierarchy.levels[level]], dtype=np.int64)
            kept.append(coarse)
            codes.append(order[places][column.codes])
        return cls(tuple(kept), np.stack(codes, axis=1).astype(np.int64))

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each column has."""
        return tuple(column.leaves for column in self.columns)

    @property
    def people(self) -> int:
        """How many there are."""
        return len(self.codes)

    @cached_property
    def cells(self) -> Integers:
        """The cell of each person."""
        return np.asarray(np.ravel_multi_index(tuple(self.codes.T), self.shape), dtype=np.int64)

    @cached_property
    def table(self) -> Integers:
        """How many people there are in each cell."""
        return np.bincount(self.cells, minlength=int(np.prod(self.shape))).reshape(self.shape).astype(np.int64)

    def draw(self, share: Fraction, entropy: EntropySource) -> Sample:
        """The people for whom a coin says that they are in the data."""
        return Sample(self, np.flatnonzero(toss_coins(share, self.people, entropy)))


@dataclass(frozen=True, eq=False)
class Sample:
    """The people who are in the data.

    Attributes:
        population: from whom they are.
        rows: who they are.
    """

    population: Population
    rows: Integers

    @cached_property
    def codes(self) -> Integers:
        """As those of the population, for these people."""
        return self.population.codes[self.rows]

    @cached_property
    def table(self) -> Integers:
        """The truth that methods protect: how many of them are in each cell."""
        return self.count(self.codes)

    def count(self, codes: Integers) -> Integers:
        """A table of the population's shape, of other codes."""
        shape = self.population.shape
        cells = np.ravel_multi_index(tuple(codes.T), shape)
        return np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape).astype(np.int64)

    @cached_property
    def records(self) -> Records:
        """As a table of people, with the labels of the leaves."""
        return Records(
            [
                CodedColumn.of_codes(column.name, self.codes[:, place], column.levels[0])
                for place, column in enumerate(self.population.columns)
            ]
        )

    def codes_of(self, records: Records) -> Integers:
        """The codes of records with the same labels, such as swapped or synthetic ones."""
        found = [column.places(records.column(column.name)) for column in self.population.columns]
        listed = [
            places[records.column(column.name).codes]
            for column, places in zip(self.population.columns, found, strict=True)
        ]
        return np.stack(listed, axis=1).astype(np.int64)
