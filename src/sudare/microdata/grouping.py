"""Rows that share their quasi-identifiers: found once for the rows, then merged again and again without looking at them.

Identical rows are compressed first: what is left is each different combination of values with the number of its rows
(`Tuples`). A choice of levels, one for each column, groups combinations (`Grouped`); a coarser choice can be grouped
from a finer one, which has fewer classes than there are combinations. Each class is known by one combination that lies in it,
because all of them look the same on its levels.

The generalized values of a combination are packed into one 64-bit word where they fit, and equal words are found by a hash
table. Where they do not fit, a word's worth of columns is grouped first, and its group numbers stand for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sudare.errors import Described, ParameterError
from sudare.kernels.records.grouping import (
    add_by_group,
    group_keys,
    merge_histograms,
    order_by_group,
    pack_levels,
    sum_by_codes,
    table_size,
)
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.records import CodedColumn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Longs = NDArray[np.int64]
    Words = NDArray[np.uint64]

__all__ = ["Classes", "Grouped", "Tuples", "ValueHistogram", "group", "histogram"]

WORD_BITS = 64


@dataclass(frozen=True, eq=False)
class Classes:
    """Rows that share their quasi-identifiers.

    Args:
        of_row: the class of each row.
        sizes: the number of rows of each class; classes are in the order of their first rows.
        firsts: the first row of each class.
    """

    of_row: Longs
    sizes: Longs
    firsts: Longs


@dataclass(frozen=True, eq=False)
class ValueHistogram:
    """How often each value occurs in each class, without the zeros.

    Args:
        edges: where the entries of each class begin, and the end.
        values: of the entries.
        counts: of the entries, at least 1.
        totals: how often each value occurs in the table that classes are compared with.
        labels: what the values stand for.
    """

    edges: Longs
    values: NDArray[np.int32]
    counts: Longs
    totals: Longs
    labels: tuple[str | None, ...]

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return int(self.edges.size) - 1

    def dense(self) -> Longs:
        """A row for each class and a column for each value; for small tables."""
        result = np.zeros((self.classes, self.totals.size), dtype=np.int64)
        result[np.repeat(np.arange(self.classes), np.diff(self.edges)), self.values] = self.counts
        return result


def group(columns: Sequence[CodedColumn | NDArray[np.int32]], counts: Longs | None = None) -> Classes:
    """The classes of rows that are equal in all columns, in the order of their first rows.

    Args:
        columns: of one length.
        counts: how many people each row stands for; 1 if left out.

    Raises:
        ParameterError: if there is no column, or the columns differ in length.

    Example:
        >>> import numpy as np
        >>> from sudare.microdata.grouping import group
        >>> classes = group([np.array([5, 5, 7, 5], dtype=np.int32), np.array([1, 0, 1, 1], dtype=np.int32)])
        >>> classes.of_row.tolist(), classes.sizes.tolist()
        ([0, 1, 2, 0], [2, 1, 1])
    """
    codes = [column.codes if isinstance(column, CodedColumn) else column for column in columns]
    if not codes:
        raise ParameterError("columns", "group", "at least one column", Described("none"))
    if any(column.shape != codes[0].shape for column in codes):
        raise ParameterError("columns", "group", "of one length", Described("columns of different lengths"))
    of_row, firsts = _group_words(_packed(codes))
    classes = Classes(of_row, np.bincount(of_row, minlength=firsts.size).astype(np.int64), firsts)
    return classes if counts is None else Classes(of_row, _added(classes, counts), firsts)


def histogram(classes: Classes, column: CodedColumn, counts: Longs | None = None) -> ValueHistogram:
    """How often each value of a column occurs in each class.

    Args:
        classes: of the rows.
        column: of the same rows.
        counts: how many people each row stands for; 1 if left out.

    Example:
        >>> from sudare.microdata.grouping import group, histogram
        >>> from sudare.microdata.records import CodedColumn
        >>> city, ill = CodedColumn.of("city", ["a", "b", "a"]), CodedColumn.of("ill", ["no", "no", "yes"])
        >>> histogram(group([city]), ill).dense().tolist()
        [[1, 1], [1, 0]]
    """
    return _counted(classes.of_row, classes.sizes.size, column, counts)


def _added(classes: Classes, counts: Longs) -> Longs:
    """The sum of the counts of each class's rows."""
    result = np.zeros(classes.sizes.size, dtype=np.int64)
    add_by_group(classes.of_row, counts, result)
    return result


def _packed(codes: Sequence[NDArray[np.int32]]) -> Words:
    """One word for each row that is equal for equal rows only."""
    rows = codes[0].size
    words = np.zeros(rows, dtype=np.uint64)
    used = 0
    for column in codes:
        low = int(column.min()) if rows else 0
        bits = (int(column.max()) - low).bit_length() if rows else 0
        if used + bits > WORD_BITS:
            of_row, firsts = _group_words(words)
            words, used = of_row.astype(np.uint64), int(firsts.size - 1).bit_length()
        words |= (column.astype(np.int64) - low).astype(np.uint64) << np.uint64(used)
        used += bits
    return words


def _group_words(words: Words) -> tuple[Longs, Longs]:
    """The group of each word, and the first row of each group."""
    of_row = np.empty(words.size, dtype=np.int64)
    firsts = np.empty(words.size, dtype=np.int64)
    groups = group_keys(words, np.full(table_size(words.size), -1, dtype=np.int32), of_row, firsts)
    return of_row, firsts[:groups].copy()


def _counted(of_row: Longs, classes: int, column: CodedColumn, counts: Longs | None) -> ValueHistogram:
    """The histogram of each class, from rows that stand for one person each, or for as many as the counts say."""
    column = column.with_one_missing()
    codes, values = column.codes, len(column.labels)
    keys = of_row.astype(np.uint64) * np.uint64(max(values, 1)) + codes.astype(np.uint64)
    of_entry, firsts = _group_words(keys)
    sums = np.zeros(firsts.size, dtype=np.int64)
    add_by_group(of_entry, np.ones(of_row.size, dtype=np.int64) if counts is None else counts, sums)
    present = np.flatnonzero(sums)
    order = present[np.argsort(of_row[firsts[present]], kind="stable")]
    edges = np.zeros(classes + 1, dtype=np.int64)
    np.cumsum(np.bincount(of_row[firsts[order]], minlength=classes), out=edges[1:])
    entries, sums = np.ascontiguousarray(codes[firsts[order]]), sums[order]
    totals = np.bincount(entries, weights=sums, minlength=values).astype(np.int64)
    return ValueHistogram(edges, entries, sums, totals, column.labels)


@dataclass(frozen=True, eq=False)
class Grouped:
    """The classes of one choice of levels.

    Args:
        levels: one for each column.
        members: for each class, a combination that lies in it.
        sizes: the number of rows to publish of each class.
        population: the number of all rows of each class, those of the surrounding population included.
        histograms: of each sensitive column.
    """

    levels: tuple[int, ...]
    members: Longs
    sizes: Longs
    population: Longs
    histograms: Mapping[str, ValueHistogram] = field(default_factory=dict)


class Tuples:
    """Each different combination of quasi-identifying values with the number of its rows.

    Example:
        >>> from sudare.microdata.grouping import Tuples
        >>> from sudare.microdata.hierarchies.hierarchy import Generalization
        >>> from sudare.microdata.records import CodedColumn
        >>> age = Generalization.of_paths("age", [("34", "<50"), ("45", "<50"), ("66", ">=50")])
        >>> tuples = Tuples.of_rows([CodedColumn.of("age", ["45", "66", "34", "45"])], [age])
        >>> tuples.base.sizes.tolist(), tuples.regrouped(tuples.base, (1,)).sizes.tolist()
        ([2, 1, 1], [3, 1])
    """

    def __init__(
        self,
        hierarchies: Sequence[Generalization],
        leaves: NDArray[np.int32],
        counts: Longs,
        population: Longs | None = None,
        histograms: Mapping[str, ValueHistogram] | None = None,
    ) -> None:
        """Combinations that are all different.

        Args:
            hierarchies: of the columns.
            leaves: of each combination and column, the place of its value in the hierarchy.
            counts: the number of rows to publish of each combination.
            population: the number of all rows; the same if left out.
            histograms: of each sensitive column, among the rows to publish.
        """
        self.hierarchies = tuple(hierarchies)
        self.leaves = np.ascontiguousarray(leaves, dtype=np.int32)
        self.rows = int(counts.sum())
        self.base = Grouped(
            (0,) * len(self.hierarchies),
            np.arange(counts.size, dtype=np.int64),
            counts,
            counts if population is None else population,
            dict(histograms or {}),
        )
        self.starts = np.cumsum([0, *(hierarchy.leaves for hierarchy in self.hierarchies)]).astype(np.int64)
        self._parts = self._word_parts()
        self._tables = [self._level_tables(column) for column in range(len(self.hierarchies))]

    @classmethod
    def of_rows(
        cls,
        columns: Sequence[CodedColumn],
        hierarchies: Sequence[Generalization],
        sensitive: Sequence[CodedColumn] = (),
        published: NDArray[np.bool_] | None = None,
        counts: Longs | None = None,
    ) -> Tuples:
        """The combinations of a table's rows.

        Args:
            columns: the quasi-identifiers.
            hierarchies: of each of them.
            sensitive: columns to count in each class.
            published: which rows are to be published, if the others are the population around them.
            counts: how many people each row stands for; 1 if left out.

        Raises:
            InputError: if a value is not in its hierarchy.
        """
        # By leaves, not by labels: a missing value and an empty text share a leaf.
        placed = [
            hierarchy.places(column)[column.codes] for column, hierarchy in zip(columns, hierarchies, strict=True)
        ]
        classes = group(placed)
        leaves = np.stack([places[classes.firsts] for places in placed], axis=1)
        weights = counts
        if published is not None:
            weights = published.astype(np.int64) if counts is None else np.where(published, counts, 0)
        histograms = {
            column.name: _counted(classes.of_row, classes.sizes.size, column, weights) for column in sensitive
        }
        everybody = classes.sizes if counts is None else _added(classes, counts)
        if published is None or weights is None:
            return cls(hierarchies, leaves, everybody, None, histograms)
        return cls(hierarchies, leaves, _added(classes, weights), everybody, histograms)

    @property
    def heights(self) -> tuple[int, ...]:
        """The highest level of each column."""
        return tuple(hierarchy.height for hierarchy in self.hierarchies)

    def _word_parts(self) -> list[tuple[int, int]]:
        """Runs of columns whose values fit into a word together with the number of a group."""
        room = WORD_BITS - int(self.base.sizes.size).bit_length()
        parts, begin, used = [], 0, 0
        whole = sum((hierarchy.leaves - 1).bit_length() for hierarchy in self.hierarchies)
        if whole <= WORD_BITS:
            return [(0, len(self.hierarchies))]
        for place, hierarchy in enumerate(self.hierarchies):
            bits = (hierarchy.leaves - 1).bit_length()
            if used + bits > room:
                parts.append((begin, place))
                begin, used = place, 0
            used += bits
        return [*parts, (begin, len(self.hierarchies))]

    def _level_tables(self, column: int) -> list[Words]:
        """For each level of a column, the group of each leaf, shifted to the column's bits of its word."""
        begin = next(first for first, last in self._parts if first <= column < last)
        shift = np.uint64(sum((other.leaves - 1).bit_length() for other in self.hierarchies[begin:column]))
        return [groups.astype(np.uint64) << shift for groups in self.hierarchies[column].parents]

    def keys(self, members: Longs, levels: Sequence[int]) -> Words:
        """One word for each combination, equal where the generalized values are."""
        words = np.empty(members.size, dtype=np.uint64)
        for number, (first, last) in enumerate(self._parts):
            table = np.concatenate([self._tables[column][levels[column]] for column in range(first, last)])
            starts = self.starts[first:last] - self.starts[first]
            leaves = self.leaves if last - first == self.leaves.shape[1] else self.leaves[:, first:last].copy()
            if number == 0:
                pack_levels(leaves, members, table, starts, words)
            else:
                more = np.empty(members.size, dtype=np.uint64)
                of_row, firsts = _group_words(words)
                pack_levels(leaves, members, table, starts, more)
                room = np.uint64(WORD_BITS - int(firsts.size).bit_length())
                words = of_row.astype(np.uint64) << room | more
        return words

    def regrouped(self, finer: Grouped, levels: Sequence[int]) -> Grouped:
        """The classes of a choice of levels, merged from those of a choice that is nowhere coarser."""
        of_class, firsts = _group_words(self.keys(finer.members, levels))
        sizes = np.zeros(firsts.size, dtype=np.int64)
        add_by_group(of_class, finer.sizes, sizes)
        if finer.population is finer.sizes:
            population = sizes
        else:
            population = np.zeros(firsts.size, dtype=np.int64)
            add_by_group(of_class, finer.population, population)
        histograms: dict[str, ValueHistogram] = {}
        if finer.histograms:
            order = np.empty(of_class.size, dtype=np.int64)
            edges = np.zeros(firsts.size + 1, dtype=np.int64)
            order_by_group(of_class, edges, order)
            for name, old in finer.histograms.items():
                histograms[name] = _merged(old, order, edges)
        return Grouped(tuple(levels), finer.members[firsts], sizes, population, histograms)

    def leaf_counts(self, members: Longs, counts: Longs) -> Longs:
        """How often each leaf of each column occurs, the columns one after the other as in ``starts``."""
        result = np.zeros(int(self.starts[-1]), dtype=np.int64)
        sum_by_codes(self.leaves, members, counts, self.starts, result)
        return result


def _merged(old: ValueHistogram, order: Longs, edges: Longs) -> ValueHistogram:
    starts = np.zeros(edges.size, dtype=np.int64)
    values = np.empty(old.values.size, dtype=np.int32)
    counts = np.empty(old.values.size, dtype=np.int64)
    nowhere = np.full(max(old.totals.size, 1), -1, dtype=np.int64)
    written = merge_histograms(order, edges, old.edges, old.values, old.counts, nowhere, starts, values, counts)
    return ValueHistogram(starts, values[:written].copy(), counts[:written].copy(), old.totals, old.labels)
