"""All that is learned from noisy counts, for trees that are too large to draw as a whole: on the nodes that are visited.

Level by level from the top, the children of nodes with a positive refined count are measured. Each is judged by its own noisy
count, by those of the visited nodes around it and by its parent's refined count, as in `dense_tree`. One level is looked ahead:
children that seem to hold somebody are measured one level further down, their children's sum improves their own estimate,
and all are judged again. Time and memory are in proportion to the visited nodes. Proof: ``wide_tree.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain.layout import Layout
from sudare.domain.table import LARGEST_TOTAL, CountTable
from sudare.noise.additive import noise_for
from sudare.noise.entropy import EntropySource
from sudare.noise.sampler import Sampler
from sudare.privacy.measurements import GaussianMeasurement, Measurement
from sudare.refine.occupancy import ABOVE_EDGES, AROUND_EDGES, FEWEST_NODES
from sudare.refine.priors import bins_of, learn_counts
from sudare.tables.dense_tree import MAP_AXES, variance_of
from sudare.tables.descent import Nodes, Notes, Tree
from sudare.tables.reading import TOTAL, Request

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Keys = NDArray[np.uint64]
    Values = NDArray[np.float64]

__all__ = ["refined_by_learning"]

MOST_CHILDREN = 1 << 24
"""Of a level. Where more would have to be measured, what is left is refined without learning."""

PARENTS_AT_ONCE = 1 << 12
"""Parents whose children are judged and projected in one call: as much as stays in the cache."""

FAINT_NODES, FAINT_CELLS = (1.0, 3), (0.5, 6)
"""How much of a place counts as occupied whose people are too few to be told from none, but so many or more; with fewer, less in
proportion. A node that is held empty is lost with all below it, and one too many is found out further down; a cell too many stays."""

Rest = Callable[[Nodes, int], CountTable]
"""Publishes what is below some nodes after so many levels, without learning."""


def refined_by_learning(
    request: Request,
    layout: Layout,
    steps: Sequence[int],
    levels: Sequence[Measurement],
    notes: Notes,
    names: Sequence[str],
    rest: Rest,
    *,
    learns: bool,
) -> CountTable:
    """Descend level by level; each is measured where somebody is left, and judged by what is visited of it.

    Args:
        request: what was asked for, checked.
        layout: how the cells lie along the leaves.
        steps: how many halvings make up each level.
        levels: the measurement of the total, unless it is public, and of each level.
        notes: where the noisy counts are written down.
        names: what the notes call each measurement.
        rest: publishes what is left where a level has too many nodes.
        learns: whether it is learned which places are likely to be empty, else the two levels are combined alone.
    """
    tree, source = Tree.over(request.table, layout, request.threads), request.source
    of_total = len(levels) - len(steps)
    ordered = layout.axes_of(request.table.domain).ordered_axes if layout.keeps_neighbours and learns else ()
    ways = [
        Level(tree, level, sum(steps[:i]), step, ordered, notes, name)
        for i, (step, level, name) in enumerate(zip(steps, levels[of_total:], names[of_total:], strict=True))
    ]
    prefixes, pending = np.zeros(1, dtype=np.uint64), None
    total = tree.sums[-1]
    if of_total:
        noisy = total + noise_for(levels[0]).draw(None, source)
        notes.take(TOTAL, prefixes, np.array([noisy]))
        total, pending = _total(float(noisy), variance_of(levels[0]), ways, prefixes, source)
    refined = np.array([total], dtype=np.int64)
    prefixes, refined = prefixes[refined > 0], refined[refined > 0]
    for done, way in enumerate(ways):
        if not prefixes.size:
            break
        if pending is None and prefixes.size << way.step > MOST_CHILDREN:
            return rest(_with_ranges(tree, prefixes, refined, way.bit + way.step), done)
        noisy_children = way.measure(prefixes, source) if pending is None else pending
        below = ways[done + 1] if done + 1 < len(ways) else None
        prefixes, refined, pending = _refine(way, below, prefixes, refined, noisy_children, source)
    return CountTable.from_unique_cells(request.table.domain, layout.to_raster(prefixes), refined)


def _total(
    noisy: float, variance: float, ways: Sequence[Level], root: Keys, source: EntropySource
) -> tuple[int, Integers | None]:
    """The root's count, by its own measurement and its children's, and the latter."""
    pending, estimate = None, noisy
    if ways:
        pending = ways[0].measure(root, source)
        below, spread = _sums(pending, ways[0].variance)
        weight = float(spread[0]) / (float(spread[0]) + variance)
        estimate = weight * noisy + (1 - weight) * float(below[0])
    return min(round(max(estimate, 0.0)), LARGEST_TOTAL), pending


def _refine(
    way: Level, below: Level | None, parents: Keys, counts: Integers, noisy: Integers, source: EntropySource
) -> tuple[Keys, Integers, Integers | None]:
    """The children of parents that have somebody, with their counts and, where these were drawn, their children's noisy counts."""
    from sudare.kernels.splits import ABSENT

    values = noisy.astype(np.float64)
    values[noisy == ABSENT] = np.nan
    variances = np.full(values.shape, way.variance)
    refined = way.refine(parents, counts, values, variances, way.variance, source)
    first = np.flatnonzero(refined)
    if below is None or first.size << below.step > MOST_CHILDREN:
        return way.children_at(parents, first), refined.reshape(-1)[first], None
    ahead = below.measure(way.children_at(parents, first), source)
    told, spread = _sums(ahead, below.variance)
    weight = spread / (spread + way.variance)
    values.reshape(-1)[first] = weight * values.reshape(-1)[first] + (1 - weight) * told
    variances.reshape(-1)[first] = weight * way.variance
    typical = way.variance * (float(np.median(weight)) if 2 * first.size > values.size else 1.0)
    refined = way.refine(parents, counts, values, variances, typical, source)
    left = np.flatnonzero(refined)
    # Those left that were not looked at further down are measured now; nothing is measured twice.
    known = np.searchsorted(first, left)
    is_known = first[np.minimum(known, first.size - 1)] == left if first.size else np.zeros(left.size, dtype=bool)
    prefixes = way.children_at(parents, left)
    pending = np.empty((left.size, 1 << below.step), dtype=np.int64)
    pending[is_known] = ahead[known[is_known]]
    pending[~is_known] = below.measure(prefixes[~is_known], source)
    return prefixes, refined.reshape(-1)[left], pending


def _sums(noisy: Integers, variance: float) -> tuple[Values, Values]:
    """Sums of the noisy counts of each parent's children, and their variances."""
    from sudare.kernels.surroundings import sum_children

    sums, members = np.empty(len(noisy)), np.empty(len(noisy), dtype=np.int64)
    sum_children(noisy, sums, members)
    return sums, members * variance


def _with_ranges(tree: Tree, prefixes: Keys, refined: Integers, height: int) -> Nodes:
    last = prefixes | np.uint64((1 << height) - 1)
    starts, ends = np.searchsorted(tree.leaves, prefixes), np.searchsorted(tree.leaves, last, side="right")
    return Nodes(prefixes, starts, ends, refined)


class Level:
    """One level of the descent: how the children of visited nodes are measured, judged and refined.

    Args:
        tree: the people.
        measurement: of this level.
        above: how many halvings lead to the parents.
        step: how many halvings make up this level.
        ordered: the axes along which neighbours tell about a node; empty where nothing is learned.
        notes: where the noisy counts are written down.
        name: what the notes call this level.
    """

    def __init__(
        self,
        tree: Tree,
        measurement: Measurement,
        above: int,
        step: int,
        ordered: Sequence[int],
        notes: Notes,
        name: str,
    ) -> None:
        self.tree, self.notes, self.name = tree, notes, name
        self.noise: Sampler = noise_for(measurement)
        self.variance, self.is_laplace = variance_of(measurement), not isinstance(measurement, GaussianMeasurement)
        self.step, self.bit = step, tree.layout.depth - above - step
        self.fan = 1 << step
        self.around = Surroundings(tree.layout, above, step, tuple(ordered)) if ordered else None

    def measure(self, parents: Keys, source: EntropySource) -> Integers:
        """The noisy counts of the children of some nodes, a row for each; ABSENT for children without cells."""
        from sudare.kernels.splits import ABSENT
        from sudare.kernels.surroundings import add_people

        noisy = np.empty((parents.size, self.fan), dtype=np.int64)
        self.noise.fill(noisy.reshape(-1), source)
        add_people(self.tree.leaves, self.tree.sums, parents, self.bit, *self.tree.padding, noisy)
        if self.notes.wanted:
            has_cells = np.flatnonzero(noisy != ABSENT)
            self.notes.take(self.name, self.children_at(parents, has_cells), noisy.reshape(-1)[has_cells])
        return noisy

    def children_at(self, parents: Keys, places: Integers) -> Keys:
        """The prefixes of children, given by their places in the rows of their parents."""
        children = (places & (self.fan - 1)).astype(np.uint64)
        return np.asarray(parents[places >> self.step] | children << np.uint64(self.bit))

    def refine(
        self,
        parents: Keys,
        counts: Integers,
        values: Values,
        variances: Values,
        typical: float,
        source: EntropySource,
    ) -> Integers:
        """Whole numbers >= 0 for the children that add up to their parents' counts.

        Args:
            parents: prefixes, ascending.
            counts: of the parents.
            values: estimates of the children, NaN for those without cells.
            variances: of the estimates.
            typical: the variance of most of them.
            source: of the words that decide between equals.
        """
        from sudare.kernels.priors import project_children
        from sudare.kernels.surroundings import judge_children, sort_into_classes

        refined = np.empty(values.shape, dtype=np.int64)
        learns = self.around is not None and values.size >= FEWEST_NODES and typical >= 1
        if learns and self.around is not None:
            expected = self.around.expect(parents, values)
            bin_width, half = bins_of(typical)
            around, above = np.array(AROUND_EDGES), np.array(ABOVE_EDGES)
            classes = np.empty(values.shape, dtype=np.uint8)
            occurrences = np.zeros(((around.size + 1) * (above.size + 1), 2 * half + 1))
            deviation = np.sqrt(typical)
            sort_into_classes(
                values, expected, counts, deviation, around, above, bin_width, classes, occurrences
            )
            share, people = FAINT_NODES if self.bit else FAINT_CELLS
            faint = share * min(1.0, bin_width / people)
            learned = learn_counts(occurrences, typical, is_laplace=self.is_laplace, faint=faint)
            tables = learned.taught, learned.means, learned.variances, learned.occupied, learned.bin_width
        for first in range(0, parents.size, PARENTS_AT_ONCE):
            part = slice(first, first + PARENTS_AT_ONCE)
            words = source.words(2 * counts[part].size)
            if learns:
                means, spreads = np.empty(values[part].shape), np.empty(values[part].shape)
                judge_children(values[part], typical, classes[part], *tables, words[::2].copy(), means, spreads)
            else:
                absent = np.isnan(values[part])
                means, spreads = np.where(absent, 0.0, values[part]), np.where(absent, -1.0, variances[part])
            project_children(means, spreads, counts[part], words[1::2].copy(), refined[part])
        return refined


@dataclass(frozen=True)
class Surroundings:
    """Where the nodes around a node are, on one level of a tree.

    Attributes:
        layout: how cells lie along the leaves.
        above: how many halvings lead to the parents.
        step: how many halvings tell a parent's children apart.
        axes: along which nodes have neighbours. Up to two are a map, and any visited node is a neighbour; with more of
            them, neighbours are children of the same parent, in circles.
    """

    layout: Layout
    above: int
    step: int
    axes: tuple[int, ...]

    def expect(self, parents: Keys, values: Values) -> Values:
        """What each child would count if it had as many people a cell as its neighbours."""
        from sudare.kernels.surroundings import expect_from_circles, expect_from_grid

        out = np.zeros(values.shape)
        if len(self.axes) <= MAP_AXES:
            expect_from_grid(parents, values, *self._grid, out)
        else:
            expect_from_circles(parents, values, *self._circles, out)
        return out

    @cached_property
    def _splits(self) -> tuple[int, ...]:
        """Which axis each halving within a parent is along."""
        return tuple(self.layout.axis_of_split[self.above : self.above + self.step])

    def _places(self, axis: int | None) -> Integers:
        """The place of each child along an axis within its parent; with None, along all axes without neighbours."""
        places = np.zeros(1 << self.step, dtype=np.int64)
        children = np.arange(1 << self.step)
        for number, split in enumerate(self._splits):
            if split == axis or (axis is None and split not in self.axes):
                places = places << 1 | children >> (self.step - 1 - number) & 1
        return places

    def _mask(self, axis: int) -> int:
        """The bits of a parent's prefix that belong to an axis."""
        depth = self.layout.depth
        return sum(1 << (depth - 1 - i) for i, split in enumerate(self.layout.axis_of_split[: self.above]) if split == axis)

    def _extents(self, axes: Sequence[int]) -> tuple[Integers, Integers, Integers]:
        """Along each axis: how many nodes of the children's size there are, how many cells, and how wide a node is in bits."""
        below = self.layout.axis_of_split[self.above + self.step :]
        heights = np.array([below.count(axis) for axis in axes], dtype=np.int64)
        lengths = np.array([self.layout.lengths[axis] if axis >= 0 else 1 for axis in axes], dtype=np.int64)
        return -(-lengths >> heights), lengths, heights

    @cached_property
    def _grid(self) -> tuple[Keys, Integers, Integers, Integers, Integers]:
        axes = (*self.axes, *[-1] * (MAP_AXES - len(self.axes)))  # no such axis: one place
        rows, columns, others = (self._places(axis) for axis in (*axes, None))
        child_at = np.empty((others.max() + 1, rows.max() + 1, columns.max() + 1), dtype=np.int64)
        child_at[others, rows, columns] = np.arange(1 << self.step)
        masks = np.array([self._mask(axis) for axis in axes], dtype=np.uint64)
        return masks, child_at, *self._extents(axes)

    @cached_property
    def _circles(self) -> tuple[Keys, Integers, Integers, Integers, Integers, Integers, Integers]:
        masks = np.array([self._mask(axis) for axis in self.axes], dtype=np.uint64)
        places = np.ascontiguousarray(np.stack([self._places(axis) for axis in self.axes], axis=1))
        sizes = places.max(axis=0) + 1
        bits_at = np.zeros((len(self.axes), int(sizes.max())), dtype=np.int64)
        for number, axis in enumerate(self.axes):
            own = sum(1 << (self.step - 1 - i) for i, split in enumerate(self._splits) if split == axis)
            for child in range(1 << self.step):
                bits_at[number, places[child, number]] = child & own
        return masks, places, bits_at, sizes, *self._extents(self.axes)
