"""Whether a choice of levels can be published: which classes hold the models, what must be suppressed, what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sudare.microdata.grouping import Grouped, Tuples, ValueHistogram
from sudare.microdata.models.model import Model
from sudare.microdata.search.metrics import Cost, Metric, prepare

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

__all__ = ["BestLevels", "Checked", "Checker"]

MAX_SNAPSHOTS = 64
WORTH_KEEPING = 0.6
"""A grouping is kept for others to start from if it has at most this share of the classes it was made from."""

MAX_NOTED = 6
"""Choices that are remembered besides the best one: a holder may like one of them better."""


@dataclass(frozen=True, eq=False)
class Checked:
    """One choice of levels, looked at.

    Args:
        levels: the choice.
        grouped: its classes.
        kept: classes that hold every model.
        needed: classes of which a part might hold every model in a finer choice.
        suppressed: rows of classes that are not kept.
        is_allowed: whether it can be published.
        fails_below: whether no finer choice can be published either.
        cost: of publishing it.
    """

    levels: tuple[int, ...]
    grouped: Grouped
    kept: Mask
    needed: Mask
    suppressed: int
    is_allowed: bool
    fails_below: bool
    cost: Cost


@dataclass(frozen=True)
class BestLevels:
    """The best choice of levels of a search.

    Args:
        levels: the choice, one for each column; None if there is none that can be published.
        cost: of the choice.
        bound: no choice costs less than this.
        checked: choices that were looked at.
        choices: that there are.
        is_optimal: whether it is proven that no choice costs less; or, if none was found, that there is none.
    """

    levels: tuple[int, ...] | None
    cost: Cost
    bound: Cost
    checked: int
    choices: int
    is_optimal: bool

    @property
    def gap(self) -> float:
        """How much a better choice could cost less, in the first part of the cost; 0 if proven optimal."""
        return 0.0 if self.is_optimal else max(0.0, self.cost[0] - self.bound[0])


class Checker:
    """Looks at choices of levels for one table, its models and a metric.

    Args:
        tuples: the table.
        models: all of them must hold.
        metric: what to compare by.
        suppression: the largest share of rows that may be suppressed.
        compare_with_published: whether models that compare classes with the table take the rows that stay as the table. Then
            rows are suppressed, the comparison is made again, and so on, until nothing changes.
        publish_suppressed: whether suppressed rows are published as well, without their quasi-identifiers. Then they form a
            class of their own, which must hold every model too.
        absent_if_suppressed: whether suppressed rows are absent for models of presence, as they are from what is published. Some
            programs look at the classes before suppression only.
    """

    def __init__(
        self,
        tuples: Tuples,
        models: Sequence[Model],
        metric: Metric,
        suppression: Fraction = Fraction(0),
        *,
        compare_with_published: bool = False,
        publish_suppressed: bool = False,
        absent_if_suppressed: bool = False,
    ) -> None:
        self.tuples = tuples
        self.models = tuple(models)
        self.most_suppressed = int(suppression * tuples.rows)
        self.compares_again = compare_with_published and any(model.compares_with_table for model in models)
        self.judges_table = any(model.judges_table for model in models)
        self.publishes_suppressed = publish_suppressed
        self.is_absent_if_suppressed = absent_if_suppressed
        smallest = max([1, *(model.smallest_size for model in models)])
        self.objective = prepare(metric, tuples, smallest)
        nothing_suppressed = self.most_suppressed == 0
        self.is_inherited = all(
            model.is_monotonic_with_suppression or (nothing_suppressed and model.is_monotonic) for model in models
        )
        """Whether a choice that cannot be published rules out all finer ones."""
        self.snapshots: list[Grouped] = []
        self.snapshot_levels = np.zeros((MAX_SNAPSHOTS, len(tuples.hierarchies)), dtype=np.int64)
        self.kept_snapshots = 0
        self.checked = 0
        self.allowed: dict[tuple[int, ...], tuple[Cost, int]] = {}
        """The cheapest choices that can be published, of those looked at: cost, and rows that are suppressed."""

    def check(self, levels: Sequence[int]) -> Checked:
        """Look at a choice of levels."""
        self.checked += 1
        grouped = self._grouped(tuple(levels))
        needed = np.ones(grouped.sizes.size, dtype=bool)
        for model in self.models:
            needed &= model.needed(grouped)
        if int(grouped.sizes[~needed].sum()) > self.most_suppressed:
            # Too much must be suppressed already; whatever else fails changes nothing but the cost, which nobody asks for.
            suppressed = int(grouped.sizes[~needed].sum())
            return Checked(grouped.levels, grouped, needed, needed, suppressed, False, True, (np.inf,))
        kept, is_possible = self._kept(grouped)
        suppressed = int(grouped.sizes[~kept].sum())
        is_allowed = is_possible and suppressed <= self.most_suppressed
        fails_below = not is_allowed and self.is_inherited
        if is_allowed and suppressed and self.publishes_suppressed:
            # Finer choices suppress more rows, which may hold the models together: nothing is ruled out there.
            is_allowed = self._hold_together(grouped, ~kept & (grouped.sizes > 0))
        cost = self.objective.cost(grouped, kept) if is_allowed else (np.inf,)
        if is_allowed:
            self._note(grouped.levels, cost, suppressed)
        return Checked(grouped.levels, grouped, kept, needed, suppressed, is_allowed, fails_below, cost)

    def _note(self, levels: tuple[int, ...], cost: Cost, suppressed: int) -> None:
        self.allowed[levels] = cost, suppressed
        if len(self.allowed) > MAX_NOTED:
            del self.allowed[max(self.allowed, key=lambda known: (self.allowed[known][0], known))]

    def cost_of(self, levels: Sequence[int]) -> Cost:
        """The cost of a choice of levels, whether it can be published or not."""
        grouped = self._grouped(tuple(levels))
        return self.objective.cost(grouped, self._kept(grouped)[0])

    def _kept(self, grouped: Grouped) -> tuple[Mask, bool]:
        """Classes that hold every model, and whether the others can be suppressed."""
        kept = np.ones(grouped.sizes.size, dtype=bool)
        for model in self.models:
            if not model.judges_table:
                kept &= model.holds(grouped)
        is_settled = kept.all() and not self.judges_table
        while (self.compares_again or self.judges_table) and not is_settled:
            among = _compared_with(grouped, kept)
            still = kept.copy()
            for model in self.models:
                if model.judges_table or (self.compares_again and model.compares_with_table):
                    still &= model.holds(among)
            is_settled = np.array_equal(still, kept)
            kept = still
        return kept, self._can_be_absent(grouped, ~kept)

    def _can_be_absent(self, grouped: Grouped, absent: Mask) -> bool:
        """Whether the models allow that of these classes nothing is published."""
        if not any(model.needs_every_class for model in self.models):
            return True
        return not bool((absent & (self.is_absent_if_suppressed | (grouped.sizes == 0))).any())

    def _hold_together(self, grouped: Grouped, chosen: Mask) -> bool:
        """Whether the rows of some classes hold every model as one class, beside the others where a model judges all classes."""
        together = _as_one_class(grouped, chosen)
        sizes = np.concatenate([together.sizes, np.where(chosen, 0, grouped.sizes)])
        beside = Grouped((), np.zeros(sizes.size, dtype=np.int64), sizes, sizes)
        return all(bool(model.holds(beside if model.judges_table else together).all()) for model in self.models)

    def _grouped(self, levels: tuple[int, ...]) -> Grouped:
        start = self.tuples.base
        if self.snapshots:
            usable = np.flatnonzero((self.snapshot_levels[: len(self.snapshots)] <= levels).all(axis=1))
            if usable.size:
                start = min(
                    (self.snapshots[place] for place in usable.tolist()), key=lambda grouped: grouped.sizes.size
                )
        grouped = self.tuples.regrouped(start, levels)
        if grouped.sizes.size <= WORTH_KEEPING * start.sizes.size:
            self._keep(grouped)
        return grouped

    def _keep(self, grouped: Grouped) -> None:
        """Keep classes for others to start from, in the place of the oldest if there are many."""
        place = self.kept_snapshots % MAX_SNAPSHOTS
        self.kept_snapshots += 1
        self.snapshot_levels[place] = grouped.levels
        if place < len(self.snapshots):
            self.snapshots[place] = grouped
        else:
            self.snapshots.append(grouped)


def _compared_with(grouped: Grouped, kept: Mask) -> Grouped:
    """The classes that are kept, compared with their own rows only; the others become empty."""
    histograms: dict[str, ValueHistogram] = {}
    for name, counted in grouped.histograms.items():
        lengths = np.diff(counted.edges)
        stays = np.repeat(kept, lengths)
        values, counts = counted.values[stays], counted.counts[stays]
        edges = np.concatenate([[0], np.cumsum(lengths * kept)])
        totals = np.bincount(values, weights=counts, minlength=counted.totals.size).astype(np.int64)
        histograms[name] = ValueHistogram(edges, values, counts, totals, counted.labels)
    return replace(grouped, sizes=np.where(kept, grouped.sizes, 0), histograms=histograms)


def _as_one_class(grouped: Grouped, chosen: Mask) -> Grouped:
    """The rows of some classes as one class, compared with the same table as before."""
    histograms: dict[str, ValueHistogram] = {}
    for name, counted in grouped.histograms.items():
        stays = np.repeat(chosen, np.diff(counted.edges))
        counts = np.zeros(counted.totals.size, dtype=np.int64)
        np.add.at(counts, counted.values[stays], counted.counts[stays])
        found = np.flatnonzero(counts)
        edges = np.array([0, found.size], dtype=np.int64)
        histograms[name] = ValueHistogram(
            edges, found.astype(np.int32), counts[found].astype(np.int64), counted.totals, counted.labels
        )
    sizes, population = (
        np.array([int(numbers[chosen].sum())], dtype=np.int64) for numbers in (grouped.sizes, grouped.population)
    )
    return Grouped((), np.zeros(1, dtype=np.int64), sizes, population, histograms)
