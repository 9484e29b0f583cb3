"""Adult as ARX has it, and searches over it that share what they learn."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from sudare.microdata.grouping import Grouped, Tuples, ValueHistogram
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.models import Model
from sudare.microdata.records import Records, read_people
from sudare.microdata.search.checking import Checker
from sudare.microdata.search.metrics import Metric

__all__ = ["Adult", "SharedChecker"]

Mask = np.ndarray[Any, np.dtype[np.bool_]]
Small = np.ndarray[Any, np.dtype[np.int32]]


@dataclass(frozen=True, eq=False)
class NotKept:
    """The classes of a choice of levels that its models do not keep; small, because thousands of choices are remembered.

    Args:
        members: a combination of each.
        sizes: of each.
        different: sensitive values in each, by column.
        is_possible: whether they can be suppressed.
    """

    members: Small
    sizes: Small
    different: dict[str, Small]
    is_possible: bool

    @classmethod
    def of(cls, grouped: Grouped, kept: Mask, is_possible: bool) -> NotKept:
        """Of all classes and which of them are kept."""
        different = {
            name: np.diff(counted.edges)[~kept].astype(np.int32) for name, counted in grouped.histograms.items()
        }
        members, sizes = (numbers[~kept].astype(np.int32) for numbers in (grouped.members, grouped.sizes))
        return cls(members, sizes, different, is_possible)

    def grouped(self, levels: tuple[int, ...]) -> Grouped:
        """As classes again; which values they have, and how often, is forgotten."""
        nothing = np.zeros(0, dtype=np.int64)
        histograms = {
            name: ValueHistogram(
                np.concatenate([[0], np.cumsum(numbers)]), nothing.astype(np.int32), nothing, nothing, ()
            )
            for name, numbers in self.different.items()
        }
        sizes = self.sizes.astype(np.int64)
        return Grouped(levels, self.members.astype(np.int64), sizes, sizes, histograms)


Judged = dict[tuple[int, ...], NotKept]


class Adult:
    """Adult as ARX has it, with its hierarchies and the subset that stands for the published rows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cache  # noqa: B019 - one object for a run
    def records(self) -> Records:
        """The 30,162 records."""
        return read_people(self.folder / "data" / "adult.csv")

    @cache  # noqa: B019
    def hierarchy(self, name: str) -> Generalization:
        """The hierarchy of a column."""
        with (self.folder / "data" / f"adult_hierarchy_{name}.csv").open(encoding="utf-8", newline="") as file:
            return Generalization.of_paths(name, [tuple(line) for line in csv.reader(file, delimiter=";")])

    @cache  # noqa: B019
    def subset(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Rows of the research subset: of equal rows, the first ones."""
        whole, part = self.records(), read_people(self.folder / "data" / "adult_subset.csv")
        left: dict[tuple[object, ...], int] = {}
        for row in zip(*(part.column(name).texts() for name in whole.names), strict=True):
            left[row] = left.get(row, 0) + 1
        found = np.zeros(whole.rows, dtype=bool)
        for place, row in enumerate(zip(*(whole.column(name).texts() for name in whole.names), strict=True)):
            if left.get(row, 0):
                left[row] -= 1
                found[place] = True
        return found

    @cache  # noqa: B019
    def tuples(self, sensitive: str | None, *, subset: bool, counted: bool = True) -> Tuples:
        """All columns but the sensitive one, which is counted in each class if a model asks for it."""
        records = self.records()
        names = [name for name in records.names if name != sensitive]
        columns = [records.column(name) for name in names]
        private = [records.column(sensitive)] if sensitive is not None and counted else []
        published = self.subset() if subset else None
        return Tuples.of_rows(columns, [self.hierarchy(name) for name in names], private, published)

    @cache  # noqa: B019
    def _judged(self, sensitive: str | None, models: tuple[str, ...]) -> Judged:
        return {}

    def judged(self, sensitive: str | None, models: Sequence[Model]) -> Judged:
        """What is known of the choices of levels, for these models."""
        return self._judged(sensitive, tuple(model.describe() for model in models))


class SharedChecker(Checker):
    """A checker that looks at no choice of levels twice that was judged by the same models, for another metric or limit.

    Of a choice, only the classes that are not kept are remembered: what they cost is all that metrics by column ask for.
    """

    def __init__(
        self, tuples: Tuples, models: Sequence[Model], metric: Metric, suppression: Fraction, judged: Judged
    ) -> None:
        super().__init__(tuples, models, metric, suppression)
        self.judged = judged

    def _grouped(self, levels: tuple[int, ...]) -> Grouped:
        if levels not in self.judged:
            grouped = super()._grouped(levels)
            self.judged[levels] = NotKept.of(grouped, *super()._kept(grouped))
        return self.judged[levels].grouped(levels)

    def _kept(self, grouped: Grouped) -> tuple[Mask, bool]:
        return np.zeros(grouped.sizes.size, dtype=bool), self.judged[grouped.levels].is_possible
