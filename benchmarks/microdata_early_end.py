"""Why one figure of ARX is not the least cost: a sum of Grassberger's estimate that ends early, repeated step by step.

ARX asks whether the sum of n G(n) over the counts n of a class stays below a limit, and ends as soon as a part of the sum is
above it. That is right if all terms are at least 0; but G(1) = -gamma - log 2 is not. So whether a class is kept depends on the
order of its values, which is the order of a hash table: its size, how it grew and from which tables it was merged. With the
definition more classes are kept, and less is lost.

The figure is repeated here with such tables. Along which choices of levels they were merged is not known; of those that ARX may
keep in its history, one chain was found by trying that gives the figure to all its digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.microdata_adult import Adult
from sudare.microdata.search.checking import Checker

__all__ = ["CHAIN", "cost_with_early_end"]

CHAIN = ((0, 0, 0, 1, 1, 0, 2, 0), (0, 0, 1, 1, 1, 1, 2, 0), (0, 0, 1, 1, 1, 2, 2, 0), (0, 0, 1, 1, 2, 2, 2, 0))
"""Choices of levels, each merged from the one before; the last one is ARX's."""

MIN_TABLE, FILLED = 8, 0.75
Key = tuple[int, ...]


class CountsInHashOrder:
    """Counts of values in a table with open addressing that doubles when it is three quarters full."""

    def __init__(self, places: int = MIN_TABLE) -> None:
        self.places: list[tuple[int, int] | None] = [None] * (1 << max(places - 1, 0).bit_length())

    def add(self, value: int, count: int) -> None:
        """Add to a value's count."""
        place = self._place(value)
        known = self.places[place]
        self.places[place] = (value, count if known is None else known[1] + count)
        if known is None and sum(entry is not None for entry in self.places) > int(FILLED * len(self.places)):
            entries = list(self)
            self.places = [None] * (2 * len(self.places))
            for entry in entries:
                self.places[self._place(entry[0])] = entry

    def _place(self, value: int) -> int:
        place = value % len(self.places)
        while (entry := self.places[place]) is not None and entry[0] != value:
            place = (place + 1) % len(self.places)
        return place

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return (entry for entry in self.places if entry is not None)


def cost_with_early_end(adult: Adult, checker: Checker, limit: float) -> float:
    """The cost of the last choice of the chain, if classes are kept whose sums never exceed what the limit allows."""
    names = [hierarchy.name for hierarchy in checker.tuples.hierarchies]
    records = adult.records()
    leaves = np.stack(
        [adult.hierarchy(name).places(records.column(name))[records.column(name).codes] for name in names]
    )
    values = records.column("occupation").codes.tolist()
    first = _keys(checker, leaves, CHAIN[0])
    tables: dict[Key, CountsInHashOrder] = {}
    rows: dict[Key, int] = {}
    for row, key in enumerate(first):
        rows.setdefault(key, row)
        tables.setdefault(key, CountsInHashOrder()).add(values[row], 1)
    for levels in CHAIN[1:]:
        keys = _keys(checker, leaves[:, list(rows.values())], levels)
        merged: dict[Key, CountsInHashOrder] = {}
        representatives: dict[Key, int] = {}
        for key, row, old in zip(keys, rows.values(), tables.values(), strict=True):
            representatives.setdefault(key, row)
            table = merged.setdefault(key, CountsInHashOrder(len(list(old))))
            for value, count in old:
                table.add(value, count)
        tables, rows = merged, representatives
    grouped = checker._grouped(CHAIN[-1])
    places = checker.tuples.leaves[grouped.members].T
    kept = np.array([_is_kept(list(tables[key]), limit) for key in _keys(checker, places, CHAIN[-1])])
    return checker.objective.cost(grouped, kept)[0]


def _keys(checker: Checker, leaves: np.ndarray[Any, Any], levels: Sequence[int]) -> list[Key]:
    columns = [
        hierarchy.parents[level][column].tolist()
        for hierarchy, level, column in zip(checker.tuples.hierarchies, levels, leaves, strict=True)
    ]
    return list(zip(*columns, strict=True))


def _is_kept(entries: list[tuple[int, int]], limit: float) -> bool:
    rows = sum(count for _, count in entries)
    if len(entries) < limit:
        return False
    allowed = rows * (_logarithm(rows) - math.log(limit))
    spent = 0.0
    for _, count in entries:
        spent += count * _logarithm(count)
        if spent > allowed:
            return False
    return True


def _logarithm(count: int) -> float:
    """Grassberger's G."""
    return -float(np.euler_gamma) - math.log(2) + sum(2 / odd for odd in range(1, count - count % 2, 2))
