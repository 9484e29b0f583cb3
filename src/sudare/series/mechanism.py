"""One window of a series: people's rows in, a table at every tick out.

At each tick everybody's path is taken one tick further (`paths`). C x + z is measured of every level of the tree, in whole
numbers (`strategies`, `sudare.noise.addressed`). The counts are estimated from what was measured (`estimation`), and refined to
whole numbers >= 0 that add up, as those of a single table are (`sudare.tables.trees`).

Whatever is published is a function of the measured numbers and of public ones. Proof: ``mechanism.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from sudare.domain.table import CountTable
from sudare.errors import ParameterError
from sudare.kernels.series.measuring import add_changes
from sudare.noise.addressed import NoiseKey
from sudare.refine.trees import NoisyTree, Words
from sudare.series.design import LevelDesign, MarginDesign, SeriesDesign
from sudare.series.estimation import RunningEstimate
from sudare.series.filtering import FilteredEstimate
from sudare.series.margins import changes_of_margins, meet_measured_margins
from sudare.series.paths import LevelChanges, Paths
from sudare.series.visited_tree import refine_below
from sudare.series.visiting import MeasuredPast, VisitedEstimate, key_of_tick, noise_of_level
from sudare.tables.trees.dense_tree import cells_of_nodes, places_in_tree, refined_totals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Values = NDArray[np.float64]

__all__ = [
    "History",
    "LevelDesign",
    "MarginDesign",
    "SeriesDesign",
    "SeriesWindow",
    "TickTable",
    "refined_table",
    "sums_of_margins",
]


@dataclass(frozen=True, eq=False)
class TickTable:
    """What is published at one tick.

    Attributes:
        tick: its number in the window, from 0.
        table: whole numbers >= 0.
        measured: what was measured of the nodes of each level, from the total.
        margins: what was measured of the sums along each axis of the design's margins.
        nodes: of each level, which of its nodes were looked at; None where all were.
    """

    tick: int
    table: CountTable
    measured: tuple[Counts, ...]
    margins: tuple[Counts, ...] = ()
    nodes: tuple[Counts | None, ...] = ()


class History(Protocol):
    """The changes of all ticks so far, of levels and then of margins, in memory or in files; None for a tick that is missing."""

    def __len__(self) -> int:
        """How many ticks there were."""
        ...

    def __iter__(self) -> Iterator[tuple[LevelChanges, ...] | None]:
        """From the first tick."""
        ...

    def append(self, changes: tuple[LevelChanges, ...] | None, /) -> None:
        """Add the changes of the next tick."""
        ...


class SeriesWindow:
    """A window on its way: the paths of its people, their changes so far, and the estimates.

    Guarantee: the design's cost, for its unit, for all tables of the window together.

    Sensitivity: that of one path (``sensitivity.md``), at each level.

    Proof: ``mechanism.md`` beside this file.

    Args:
        design: all that is public.
        key: of this window; it must serve nothing else. `publish` binds noise to its input, so that a key that meets a second
            input shows no difference, but gives a second measurement that nobody has paid for.
        people: how many people are known so far.
        history: where changes are kept; in memory if left out.

    Attributes:
        reference: a published table of an earlier window, by which counts are refined at no cost where it explains what was
            measured. Never one of this window: its noise is in the estimates already, and would be believed twice.
    """

    def __init__(self, design: SeriesDesign, key: NoiseKey, people: int = 0, history: History | None = None) -> None:
        self.design, self.key = design, key
        self.paths = Paths(design.caps, people)
        self._bound = ""
        self.history: History = [] if history is None else history
        self.reference: CountTable | None = None
        whole = design.whole_levels
        self._whole: list[RunningEstimate | FilteredEstimate] = [
            level.estimate(1 << depth, filters=design.filters)
            for level, depth in zip(design.levels[:whole], design.depths[:whole], strict=True)
        ]
        self._whole += [
            margin.level.estimate(design.domain.shape[margin.axis], filters=False) for margin in design.margins
        ]
        self._visited = [VisitedEstimate(level) for level in design.levels[whole:]]

    @property
    def estimates(self) -> list[RunningEstimate | FilteredEstimate | VisitedEstimate]:
        """Of the levels that are looked at as a whole, of the margins, and of the other levels."""
        return [*self._whole, *self._visited]

    @property
    def tick(self) -> int:
        """The number of the next tick."""
        return len(self.history)

    @cached_property
    def _cells(self) -> tuple[NDArray[np.int32], ...]:
        return cells_of_nodes(self.design.layout, self.design.bits[: self.design.whole_levels - 1])

    def publish(self, cells: Counts, opted_out: NDArray[np.bool_] | None = None) -> TickTable:
        """Measure, estimate and refine the next tick, with noise that is bound to what is measured: see `draw`.

        Args:
            cells: the cell of each person's row, as a place in the domain; below 0 for somebody without a row.
            opted_out: who is no longer counted from now on.

        Raises:
            ParameterError: if the window is over, or the cells are none of the domain.
        """
        changes = self.advance(cells, opted_out)
        self._bound = self.design.bind(self._bound, self.tick - 1, changes)
        return self.draw(self._bound)

    def advance(self, cells: Counts, opted_out: NDArray[np.bool_] | None = None) -> tuple[LevelChanges, ...]:
        """Take everybody to the next tick. Nothing is drawn; whoever keeps books binds the key to these changes now.

        Args:
            cells: the cell of each person's row, as a place in the domain; below 0 for somebody without a row.
            opted_out: who is no longer counted from now on.

        Raises:
            ParameterError: if the window is over, or the cells are none of the domain.
        """
        tick = self._next_tick("publish")
        return self._remember(self.paths.advance(tick, self._places(cells), opted_out))

    def advance_counts(self, cells: Counts, people: Counts) -> tuple[LevelChanges, ...]:
        """The same where events are protected: counts of the tick, of nobody in particular.

        Args:
            cells: with somebody in them, as places in the domain, each once.
            people: how many.

        Raises:
            ParameterError: if the window is over, or persons are protected rather than events.
        """
        self._next_tick("publish")
        if not self.design.is_of_events:
            raise ParameterError(
                "people", "SeriesWindow.advance_counts", "given where events are protected alone", "counts"
            )
        leaves = self._places(cells)
        counts = []
        for width in self.design.caps.widths:
            nodes, places = np.unique(leaves // width, return_inverse=True)
            sums = np.zeros(nodes.size, dtype=np.int64)  # in whole numbers: counts may pass 2**53
            np.add.at(sums, places, people)
            counts.append(LevelChanges(nodes, sums))
        return self._remember(tuple(counts))

    def _remember(self, levels: tuple[LevelChanges, ...]) -> tuple[LevelChanges, ...]:
        """Add the changes of the margins to those of the levels, and both to the history."""
        design = self.design
        axes = [margin.axis for margin in design.margins]
        changes = (*levels, *changes_of_margins(design.domain, design.layout, axes, levels[-1]))
        self.history.append(changes)
        return changes

    def draw(self, bound: str | None = None) -> TickTable:
        """Measure, estimate and refine the tick to which people were taken last, once.

        Args:
            bound: what `SeriesDesign.bind` gave: the noise is then that of a key for this input alone, below the window's,
                so that even a key that meets two inputs reveals no difference. Left out, the noise is that of the window's key.
        """
        tick, whole = self.tick - 1, self.design.whole_levels
        key = key_of_tick(self.key, tick, bound)
        measured, pasts = self._measured(key, tick, bound)
        estimated = [estimate.update(noisy) for estimate, noisy in zip(self._whole, measured, strict=True)]
        for estimate, past in zip(self._visited, pasts, strict=True):
            estimate.advance(past, bound)
        table = self._refined(key, tick, estimated, pasts)
        looked_at = [estimate.looked_at() for estimate in self._visited]
        return TickTable(
            tick,
            table,
            (*measured[:whole], *(values for _, values in looked_at)),
            measured[whole:],
            (*(None for _ in range(whole)), *(nodes for nodes, _ in looked_at)),
        )

    def skip(self) -> None:
        """Leave out a tick: nobody's change is counted at it, and nothing is drawn."""
        self._next_tick("skip")
        self.history.append(None)
        for estimate in self.estimates:
            estimate.skip()

    def _next_tick(self, function: str) -> int:
        if self.tick >= self.design.ticks:
            raise ParameterError(
                "tick", f"SeriesWindow.{function}", f"below {self.design.ticks}: the window is over", self.tick
            )
        return self.tick

    def _places(self, cells: Counts) -> Counts:
        """Where each person's cell is along the leaves of the tree."""
        present = np.flatnonzero(cells >= 0)
        if present.size and int(cells.max()) >= self.design.domain.cells:
            raise ParameterError("cells", "SeriesWindow.publish", "cells of the domain", "others")
        wished = np.full(cells.size, -1, dtype=np.int64)
        wished[present] = places_in_tree(self.design.layout, cells[present].astype(np.uint64))
        return wished

    def _measured(
        self, key: NoiseKey, tick: int, bound: str | None
    ) -> tuple[tuple[Counts, ...], tuple[MeasuredPast, ...]]:
        """C x + z of every node of the levels that are looked at as a whole, and of all margins, in whole numbers.

        Of the other levels it is told how to find it of any node. The history is read once.
        """
        design, words, whole = self.design, key.child("tick", tick), self.design.whole_levels
        noisy = [
            noise_of_level(words, number, design.depths[number], level.sampler)
            for number, level in enumerate(design.levels[:whole])
        ]
        for margin in design.margins:
            sums = np.arange(design.domain.shape[margin.axis])
            noisy.append(words.child("margin", margin.axis).draw(margin.level.sampler, sums))
        measured = (*design.levels[:whole], *design.measured[len(design.levels) :])
        below: list[tuple[LevelChanges, ...] | None] = []
        for earlier, changes in enumerate(self.history):
            below.append(None if changes is None else changes[whole : len(design.levels)])
            if changes is None or (design.is_of_events and earlier != tick):
                continue  # of events a tick measures its own counts alone, which are none of people who stay
            seen = (*changes[:whole], *changes[len(design.levels) :])
            for level, values, changed in zip(measured, noisy, seen, strict=True):
                coefficient = level.strategy.coefficients[tick - earlier]
                if coefficient:
                    add_changes(values, changed.nodes, changed.changes, coefficient)
        return tuple(noisy), self._pasts(below, bound)

    def _pasts(self, below: Sequence[tuple[LevelChanges, ...] | None], bound: str | None) -> tuple[MeasuredPast, ...]:
        """How to find what was measured of the levels that are not looked at as a whole."""
        if not self._visited:
            return ()
        design, whole = self.design, self.design.whole_levels
        keys = self._visited[0].keys(self.key, [changes is None for changes in below], bound)
        return tuple(
            MeasuredPast(
                design.levels[number],
                number,
                design.depths[number],
                keys,
                [None if changes is None else changes[number - whole] for changes in below],
                design.is_of_events,
            )
            for number in range(whole, len(design.levels))
        )

    def _variances(self, level: int, tick: int) -> float | Values:
        """Of the estimates of a level, or of each of its nodes."""
        estimate = self._whole[level]
        if isinstance(estimate, FilteredEstimate):
            return estimate.variances()
        return float(self.design.levels[level].variances[tick])

    def _refined(
        self, key: NoiseKey, tick: int, estimated: Sequence[Values], pasts: Sequence[MeasuredPast] = ()
    ) -> CountTable:
        design = self.design
        whole = design.whole_levels
        variances = [self._variances(level, tick) for level in range(whole)]
        words = key.child("ties", tick).stream()
        counts = refined_nodes(design, estimated[:whole], variances, words, self._cells, self.reference)
        leaves: NDArray[np.uint64] = np.flatnonzero(counts).astype(np.uint64)
        people = counts[leaves.view(np.int64)]
        if self._visited:
            leaves, people = refine_below(design, counts, self._visited, pasts, words)
        table = table_of_leaves(design, leaves, people)
        return meet_measured_margins(table, sums_of_margins(design, estimated[whole:]), words)


def sums_of_margins(design: SeriesDesign, estimated: Sequence[Values]) -> Mapping[int, Values]:
    """The estimated sums along each axis of the design's margins, by axis."""
    return {margin.axis: sums for margin, sums in zip(design.margins, estimated, strict=True)}


def refined_table(
    design: SeriesDesign, estimated: Sequence[Values], variances: Sequence[float | Values], words: Words
) -> CountTable:
    """Whole numbers >= 0 that add up, from estimates of all nodes of all levels; see `refined_nodes`."""
    counts = refined_nodes(design, estimated, variances, words)
    leaves = np.flatnonzero(counts)
    return table_of_leaves(design, leaves.astype(np.uint64), counts[leaves])


def refined_nodes(
    design: SeriesDesign,
    estimated: Sequence[Values],
    variances: Sequence[float | Values],
    words: Words,
    cells: tuple[NDArray[np.int32], ...] | None = None,
    reference: CountTable | None = None,
) -> Counts:
    """Whole numbers >= 0 of the nodes of the last of some levels, which add up to those of levels above it.

    Args:
        design: of the series.
        estimated: the counts of each level, from the total.
        variances: of them, of a level or of each of its nodes.
        words: gives random words, by which equals are decided.
        cells: how many cells each node of each level has; found if left out.
        reference: a published table of another window.
    """
    bits = design.bits[: len(estimated) - 1]
    known = cells_of_nodes(design.layout, bits) if cells is None else cells
    values = tuple(values.copy() for values in estimated)
    tree = NoisyTree(bits, values, tuple(variances), known, is_laplace=False)
    public = reference if len(bits) == len(design.bits) else None  # known for all cells, or not at all
    return refined_totals(
        tree,
        design.layout,
        design.domain,
        words,
        learns=design.learns,
        reference=public,
        last=len(design.bits),
    )


def table_of_leaves(design: SeriesDesign, leaves: NDArray[np.uint64], people: Counts) -> CountTable:
    """A table of the leaves that have somebody."""
    return CountTable.from_unique_cells(design.domain, design.layout.to_raster(leaves), people)
