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
from sudare.noise.sampler import Sampler
from sudare.refine.trees import NoisyTree, Words
from sudare.series.design import LevelDesign, MarginDesign, SeriesDesign
from sudare.series.estimation import RunningEstimate
from sudare.series.filtering import FilteredEstimate
from sudare.series.margins import changes_of_margins, meet_measured_margins
from sudare.series.paths import LevelChanges, Paths
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

PART_BITS = 6
"""Noise below this depth of the tree has the keys of its ancestor there, so that a part of the domain can be drawn by itself."""


@dataclass(frozen=True, eq=False)
class TickTable:
    """What is published at one tick.

    Attributes:
        tick: its number in the window, from 0.
        table: whole numbers >= 0.
        measured: what was measured of the nodes of each level, from the total.
        margins: what was measured of the sums along each axis of the design's margins.
    """

    tick: int
    table: CountTable
    measured: tuple[Counts, ...]
    margins: tuple[Counts, ...] = ()


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
        key: of this window; it must serve nothing else, and no second input.
        people: how many people are known so far.
        history: where changes are kept; in memory if left out.

    Attributes:
        reference: a published table of an earlier window, by which counts are refined at no cost where it explains what was
            measured. Never one of this window: its noise is in the estimates already, and would be believed twice.
    """

    def __init__(self, design: SeriesDesign, key: NoiseKey, people: int = 0, history: History | None = None) -> None:
        self.design, self.key = design, key
        self.paths = Paths(design.caps, people)
        self.history: History = [] if history is None else history
        self.reference: CountTable | None = None
        self.estimates: list[RunningEstimate | FilteredEstimate] = [
            level.estimate(1 << depth, filters=design.filters)
            for level, depth in zip(design.levels, design.depths, strict=True)
        ]
        self.estimates += [
            margin.level.estimate(design.domain.shape[margin.axis], filters=False) for margin in design.margins
        ]

    @property
    def tick(self) -> int:
        """The number of the next tick."""
        return len(self.history)

    @cached_property
    def _cells(self) -> tuple[NDArray[np.int32], ...]:
        return cells_of_nodes(self.design.layout, self.design.bits)

    def publish(self, cells: Counts, opted_out: NDArray[np.bool_] | None = None) -> TickTable:
        """Measure, estimate and refine the next tick.

        Args:
            cells: the cell of each person's row, as a place in the domain; below 0 for somebody without a row.
            opted_out: who is no longer counted from now on.

        Raises:
            ParameterError: if the window is over, or the cells are none of the domain.
        """
        self.advance(cells, opted_out)
        return self.draw()

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
        tick = self.tick - 1
        key = self.key if bound is None else self.key.child(bound, tick)
        measured = self._measured(key, tick)
        estimated = [estimate.update(noisy) for estimate, noisy in zip(self.estimates, measured, strict=True)]
        levels = len(self.design.levels)
        return TickTable(tick, self._refined(key, tick, estimated), measured[:levels], measured[levels:])

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

    def _measured(self, key: NoiseKey, tick: int) -> tuple[Counts, ...]:
        """C x + z of every node of every level and of all margins, in whole numbers. The history is read once."""
        design, words = self.design, key.child("tick", tick)
        noisy = [
            noise_of_level(words, number, depth, level.sampler)
            for number, (level, depth) in enumerate(zip(design.levels, design.depths, strict=True))
        ]
        for margin in design.margins:
            sums = np.arange(design.domain.shape[margin.axis])
            noisy.append(words.child("margin", margin.axis).draw(margin.level.sampler, sums))
        for earlier, changes in self._seen_at(tick):
            for level, measured, changed in zip(
                design.measured, noisy, () if changes is None else changes, strict=False
            ):
                coefficient = level.strategy.coefficients[tick - earlier]
                if coefficient:
                    add_changes(measured, changed.nodes, changed.changes, coefficient)
        return tuple(noisy)

    def _seen_at(self, tick: int) -> Iterator[tuple[int, tuple[LevelChanges, ...] | None]]:
        """The changes that a tick measures; of events its own counts alone, which are none of people who stay."""
        for earlier, changes in enumerate(self.history):
            if earlier == tick or not self.design.is_of_events:
                yield earlier, changes

    def _variances(self, level: int, tick: int) -> float | Values:
        """Of the estimates of a level, or of each of its nodes."""
        estimate = self.estimates[level]
        if isinstance(estimate, FilteredEstimate):
            return estimate.variances()
        return float(self.design.levels[level].variances[tick])

    def _refined(self, key: NoiseKey, tick: int, estimated: Sequence[Values]) -> CountTable:
        design = self.design
        levels = len(design.levels)
        variances = [self._variances(level, tick) for level in range(levels)]
        words = key.child("ties", tick).stream()
        table = refined_table(design, estimated[:levels], variances, words, self._cells, self.reference)
        return meet_measured_margins(table, sums_of_margins(design, estimated[levels:]), words)


def sums_of_margins(design: SeriesDesign, estimated: Sequence[Values]) -> Mapping[int, Values]:
    """The estimated sums along each axis of the design's margins, by axis."""
    return {margin.axis: sums for margin, sums in zip(design.margins, estimated, strict=True)}


def refined_table(
    design: SeriesDesign,
    estimated: Sequence[Values],
    variances: Sequence[float | Values],
    words: Words,
    cells: tuple[NDArray[np.int32], ...] | None = None,
    reference: CountTable | None = None,
) -> CountTable:
    """Whole numbers >= 0 that add up, from estimates of the nodes of all levels.

    Args:
        design: of the series.
        estimated: the counts of each level, from the total.
        variances: of them, of a level or of each of its nodes.
        words: gives random words, by which equals are decided.
        cells: how many cells each node of each level has; found if left out.
        reference: a published table of another window.
    """
    known = cells_of_nodes(design.layout, design.bits) if cells is None else cells
    values = tuple(values.copy() for values in estimated)
    tree = NoisyTree(design.bits, values, tuple(variances), known, is_laplace=False)
    leaves = refined_totals(tree, design.layout, design.domain, words, learns=design.learns, reference=reference)
    positive = np.flatnonzero(leaves)
    keys = design.layout.to_raster(positive.astype(np.uint64))
    return CountTable.from_unique_cells(design.domain, keys, leaves[positive])


def noise_of_level(key: NoiseKey, level: int, depth: int, sampler: Sampler) -> Counts:
    """The noise of all nodes of a level at a tick, part by part.

    Args:
        key: of the tick.
        level: its number.
        depth: how many halvings lie above it.
        sampler: of the noise.
    """
    if depth <= PART_BITS:
        return key.child("level", level).draw(sampler, np.arange(1 << depth))
    within = np.arange(1 << depth - PART_BITS)
    parts = (key.child("part", part).child("level", level) for part in range(1 << PART_BITS))
    return np.concatenate([part.draw(sampler, within) for part in parts])
