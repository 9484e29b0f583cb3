"""One window of a series: people's rows in, a table at every tick out.

At each tick everybody's path is taken one tick further (`paths`). C x + z is measured of every level of the tree, in whole
numbers (`strategies`, `sudare.noise.addressed`). The counts are estimated from what was measured (`estimation`), and refined to
whole numbers >= 0 that add up, as those of a single table are (`sudare.tables.trees`).

Whatever is published is a function of the measured numbers and of public ones. Proof: ``mechanism.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

import numpy as np

from sudare.domain.domain import Domain
from sudare.domain.layout import Layout
from sudare.domain.table import CountTable
from sudare.errors import ParameterError
from sudare.kernels.series.measuring import add_changes
from sudare.noise.addressed import NoiseKey
from sudare.noise.lattice import discrete_gaussian, discrete_laplace
from sudare.noise.sampler import Sampler
from sudare.parameters import shown
from sudare.privacy.budget import Budget
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.series_measurements import SeriesMeasurement
from sudare.privacy.unit import Unit
from sudare.refine.trees import NoisyTree, Words
from sudare.series.estimation import RunningEstimate
from sudare.series.filtering import MAX_AREA, FilteredEstimate, area_of
from sudare.series.paths import Caps, LevelChanges, Paths
from sudare.series.state_space import StateSpace
from sudare.series.strategies import SeriesStrategy
from sudare.tables.trees.dense_tree import MAX_DENSE_BITS, cells_of_nodes, places_in_tree, refined_totals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Values = NDArray[np.float64]

__all__ = ["History", "LevelDesign", "SeriesDesign", "SeriesWindow", "TickTable", "refined_table"]

PART_BITS = 6
"""Noise below this depth of the tree has the keys of its ancestor there, so that a part of the domain can be drawn by itself."""


@dataclass(frozen=True, eq=False)
class LevelDesign:
    """How one level of the tree is measured.

    Attributes:
        strategy: what is measured of the changes.
        measurement: the noise, and what it costs for a window.
    """

    strategy: SeriesStrategy
    measurement: SeriesMeasurement

    @cached_property
    def sampler(self) -> Sampler:
        """Of the noise."""
        if self.measurement.noise == "laplace":
            return discrete_laplace(self.measurement.spread)
        return discrete_gaussian(sigma_squared=self.measurement.spread)

    @property
    def noise_variance(self) -> float:
        """Of the noise, in the whole numbers of the measurement."""
        spread = float(self.measurement.spread)
        return spread if self.measurement.noise == "gaussian" else 2 * spread**2

    @cached_property
    def variances(self) -> Values:
        """Of the plain estimates of counts, at each tick, whatever people do."""
        return self.strategy.deviations() ** 2 * self.noise_variance

    def filtered_variances(self, drift: float, nodes: int = MAX_AREA**2) -> tuple[Values, Values]:
        """Of the filtered estimates of counts, at each tick, where counts change by random steps: from noise, and from lag.

        Args:
            drift: the variance of the change of a count from tick to tick, which is an assumption: with independent people, the
                share of them that comes or goes times the count.
            nodes: how many the level has: with few, their common mean, which is not filtered, is much of each count.
        """
        space = StateSpace.of(self.strategy, self.noise_variance)
        if space is None or nodes == 1:
            return self.variances, np.zeros_like(self.variances)
        noise, lag = space.predicted_variances(self.strategy.ticks, drift)
        whole = 1 / min(nodes, area_of(nodes))
        return noise + (self.variances - noise) * whole, lag * (1 - whole)

    def estimate(self, nodes: int, *, filters: bool) -> RunningEstimate | FilteredEstimate:
        """What estimates the counts of a level of so many nodes."""
        if filters and nodes > 1 and FilteredEstimate.suits(self.strategy):
            return FilteredEstimate(self.strategy, nodes, self.noise_variance)
        return RunningEstimate(self.strategy, nodes)


@dataclass(frozen=True, eq=False, kw_only=True)
class SeriesDesign:
    """Everything about a series that is public before its first tick.

    Args:
        domain: the cells.
        layout: how they lie along the leaves of the tree.
        bits: how many halvings make up each level of the tree.
        levels: how the total and each level of the tree are measured, from the total.
        unit: who is protected, and over which time.
        cost: what a window costs.
        absent_after: after so many ticks without a row somebody counts as absent.
        learns: whether it is learned from the noisy counts which places are likely to be empty.
        filters: whether counts of quiet places are estimated with less noise (`filtering`).
        blocks: how many windows a unit's protected time can meet: two for any so many ticks after each other.

    Raises:
        ParameterError: if the parts do not fit together, or the tree is too deep.
    """

    domain: Domain
    layout: Layout
    bits: tuple[int, ...]
    levels: tuple[LevelDesign, ...]
    unit: Unit
    cost: Budget
    absent_after: int = 1
    learns: bool = True
    filters: bool = True
    blocks: int = 1

    def __post_init__(self) -> None:
        if sum(self.bits) != self.layout.depth or self.layout.depth > MAX_DENSE_BITS:
            requirement = f"steps that add up to the depth of the tree, at most {MAX_DENSE_BITS}"
            raise ParameterError("bits", "SeriesDesign", requirement, shown(self.bits))
        if len(self.levels) != len(self.bits) + 1:
            requirement = f"{len(self.bits) + 1} levels, the total first"
            raise ParameterError("levels", "SeriesDesign", requirement, len(self.levels))
        if len({level.strategy.ticks for level in self.levels}) != 1:
            raise ParameterError("levels", "SeriesDesign", "of windows of the same length", "different ones")
        if self.blocks < (2 if self.unit.time is not None and self.unit.time.span == "person-window" else 1):
            requirement = "2 where any so many ticks after each other are protected, which meet two windows"
            raise ParameterError("blocks", "SeriesDesign", requirement, self.blocks)
        for level in self.levels:
            if self.is_of_events:
                if level.strategy.name != "fresh":
                    requirement = "measured afresh at every tick, where events are protected"
                    raise ParameterError("levels", "SeriesDesign", requirement, level.strategy.name)
                continue
            made_for = level.strategy.l2_squared if level.measurement.noise == "gaussian" else level.strategy.l1
            if level.measurement.sensitivity < made_for(level.measurement.moves):
                requirement = "measured with noise that is made for the sensitivity of its strategy"
                raise ParameterError("levels", "SeriesDesign", requirement, level.strategy.name)

    @property
    def ticks(self) -> int:
        """How many ticks a window has."""
        return self.levels[0].strategy.ticks

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the numbers by which ticks are measured: they must be the same at all ticks of a window."""
        levels = [
            (one.strategy.coefficients, one.measurement.noise, str(one.measurement.spread)) for one in self.levels
        ]
        facts = (self.bits, self.caps.widths, self.caps.moves, self.absent_after, self.is_of_events, levels)
        return sha256(repr(facts).encode()).hexdigest()

    def bind(self, before: str, tick: int, changes: Sequence[LevelChanges]) -> str:
        """SHA-256 of all that is measured up to a tick: of the design, of its changes, and of what this gave for the tick before.

        Args:
            before: what was bound at the last tick that was measured; empty for the first one.
            tick: its number.
            changes: of the tick.
        """
        found = sha256(f"{self.digest} {before} {tick}".encode())
        for part in (array for level in changes for array in (level.nodes, level.changes)):
            found.update(part.size.to_bytes(8, "little"))
            found.update(part.astype("<i8").tobytes())
        return found.hexdigest()

    @property
    def is_of_events(self) -> bool:
        """Whether single appearances are protected, each of which is in one table alone."""
        return self.unit.time is not None and self.unit.time.span == "event"

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """How many halvings lie above each level, from the total."""
        return tuple(int(sum(self.bits[:level])) for level in range(len(self.levels)))

    @cached_property
    def caps(self) -> Caps:
        """How often a person may move at each level."""
        widths = tuple(1 << self.layout.depth - depth for depth in self.depths)
        moves = tuple(level.measurement.moves for level in self.levels)
        return Caps(widths=widths, moves=moves, absent_after=self.absent_after)

    def event(self, entropy: str = "secure") -> ReleaseEvent:
        """What a window costs, and why."""
        measurements = tuple(level.measurement for level in self.levels) * self.blocks
        name = "secure" if entropy == "secure" else "research"
        return ReleaseEvent("series", self.unit, self.cost, measurements, name)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class TickTable:
    """What is published at one tick.

    Attributes:
        tick: its number in the window, from 0.
        table: whole numbers >= 0.
        measured: what was measured of the nodes of each level, from the total.
    """

    tick: int
    table: CountTable
    measured: tuple[Counts, ...]


class History(Protocol):
    """The changes of all ticks so far, kept in memory or in files; None for a tick that is missing."""

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
        self.estimates = [
            level.estimate(1 << depth, filters=design.filters)
            for level, depth in zip(design.levels, design.depths, strict=True)
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
        changes = self.paths.advance(tick, self._places(cells), opted_out)
        self.history.append(changes)
        return changes

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
        self.history.append(tuple(counts))
        return tuple(counts)

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
        return TickTable(tick, self._refined(key, tick, estimated), measured)

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
        """C x + z of every node of every level, in whole numbers. The history is read once."""
        levels, words = self.design.levels, key.child("tick", tick)
        noisy = tuple(
            noise_of_level(words, number, depth, level.sampler)
            for number, (level, depth) in enumerate(zip(levels, self.design.depths, strict=True))
        )
        for earlier, changes in self._seen_at(tick):
            for level, measured, changed in zip(levels, noisy, () if changes is None else changes, strict=False):
                coefficient = level.strategy.coefficients[tick - earlier]
                if coefficient:
                    add_changes(measured, changed.nodes, changed.changes, coefficient)
        return noisy

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
        variances = [self._variances(level, tick) for level in range(len(estimated))]
        words = key.child("ties", tick).stream()
        return refined_table(self.design, estimated, variances, words, self._cells, self.reference)


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
