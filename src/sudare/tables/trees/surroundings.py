"""Where the nodes around a node are, on a level of a tree of which some nodes are visited, or all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain.layout import Layout
from sudare.refine.learning.settlements import MapLevel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Cells = NDArray[np.int32]
    Integers = NDArray[np.int64]
    Keys = NDArray[np.uint64]
    Values = NDArray[np.float64]

__all__ = ["DenseSurroundings", "Surroundings", "last_places", "located"]

MAP_AXES = 2
"""So many ordered axes are taken for a map. Where there are more, neighbours are children of the same parent."""

BLOCK = 3
"""Nodes a side of the block around a node."""

MAX_DEVIATION = 8.0
"""Counts are told apart up to this many standard deviations, when it is asked what foretells them better."""

SURE = 2.0
"""So many standard deviations of what they gain must planes gain to be preferred."""

CELLS_AT_ONCE = 1 << 16
"""Cells whose places are found in one call."""


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

    def expect(self, parents: Keys, values: Values, first: int, last: int) -> Values:
        """What children would count if they had as many people a cell as their neighbours.

        Args:
            parents: all visited ones, ascending.
            values: of their children, NaN for those without cells.
            first: the parent whose children are asked for first.
            last: the one before which to stop.
        """
        from sudare.kernels.tables.surroundings import expect_from_circles, expect_from_grid

        out = np.zeros((last - first, 1 << self.step))
        if len(self.axes) <= MAP_AXES:
            expect_from_grid(parents, values, first, *self._grid, out)
        else:
            expect_from_circles(parents, values, first, *self._circles, out)
        return out

    @cached_property
    def edges(self) -> Integers:
        """Along how many axes of a map each child stands at an end of its parent: this many neighbours are strangers."""
        found = np.zeros(1 << self.step, dtype=np.int64)
        if len(self.axes) <= MAP_AXES:
            for axis in self.axes:
                places = self.places(axis)
                found += ((places == 0) | (places == places.max())) & (places.max() > 1)
        return found

    @cached_property
    def _splits(self) -> tuple[int, ...]:
        """Which axis each halving within a parent is along."""
        return tuple(self.layout.axis_of_split[self.above : self.above + self.step])

    def places(self, axis: int | None) -> Integers:
        """The place of each child along an axis within its parent; with None, along all axes without neighbours."""
        places = np.zeros(1 << self.step, dtype=np.int64)
        children = np.arange(1 << self.step)
        for number, split in enumerate(self._splits):
            if split == axis or (axis is None and split not in self.axes):
                places = places << 1 | children >> (self.step - 1 - number) & 1
        return places

    def _mask(self, axis: int) -> int:
        """The bits of a parent's prefix that belong to an axis."""
        return bits_along(axis, self.layout.axis_of_split[: self.above]) << self.layout.depth - self.above

    def _extents(self, axes: Sequence[int]) -> tuple[Integers, Integers, Integers]:
        """Along each axis: how many nodes of the children's size there are, how many cells, and how wide a node is in bits."""
        below = self.layout.axis_of_split[self.above + self.step :]
        heights = np.array([below.count(axis) for axis in axes], dtype=np.int64)
        lengths = np.array([self.layout.lengths[axis] if axis >= 0 else 1 for axis in axes], dtype=np.int64)
        return -(-lengths >> heights), lengths, heights

    @cached_property
    def _grid(self) -> tuple[Keys, Integers, Integers, Integers, Integers]:
        axes = (*self.axes, *[-1] * (MAP_AXES - len(self.axes)))  # no such axis: one place
        rows, columns, others = (self.places(axis) for axis in (*axes, None))
        child_at = np.empty((others.max() + 1, rows.max() + 1, columns.max() + 1), dtype=np.int64)
        child_at[others, rows, columns] = np.arange(1 << self.step)
        masks = np.array([self._mask(axis) for axis in axes], dtype=np.uint64)
        return masks, child_at, *self._extents(axes)

    @cached_property
    def _circles(self) -> tuple[Keys, Integers, Integers, Integers, Integers, Integers, Integers]:
        masks = np.array([self._mask(axis) for axis in self.axes], dtype=np.uint64)
        places = np.ascontiguousarray(np.stack([self.places(axis) for axis in self.axes], axis=1))
        sizes = places.max(axis=0) + 1
        bits_at = np.zeros((len(self.axes), int(sizes.max())), dtype=np.int64)
        for number, axis in enumerate(self.axes):
            own = sum(1 << (self.step - 1 - i) for i, split in enumerate(self._splits) if split == axis)
            for child in range(1 << self.step):
                bits_at[number, places[child, number]] = child & own
        return masks, places, bits_at, sizes, *self._extents(self.axes)


@dataclass(frozen=True)
class DenseSurroundings(Surroundings):
    """The same on a level of which every node is measured; nodes are told by their numbers, from left to right.

    Attributes:
        lasts: the last place along each axis of the layout that has cells.
    """

    lasts: tuple[int, ...]

    @property
    def is_empty(self) -> bool:
        """Whether no node has a neighbour, however the cells lie."""
        return bool((self._used == 1).all() if len(self.axes) <= MAP_AXES else (self._circles[3] == 1).all())

    def expect_of(self, values: Values, cells: Cells, parents: Integers, *, planes: bool = False) -> Values:
        """What children would count if they had as many people a cell as their neighbours.

        Args:
            values: of all nodes of the level.
            cells: how many each of them has.
            parents: the numbers of those whose children are asked for.
            planes: whether slopes are continued to the ends of a map.
        """
        from sudare.kernels.tables.dense_levels import expect_in_circles, expect_on_grid

        out = np.empty((parents.size, 1 << self.step))
        if len(self.axes) <= MAP_AXES:
            expect_on_grid(values, cells, parents, *self._whole_grid, planes, out)
        else:
            masks, places, bits_at, sizes, *_ = self._circles
            masks = masks >> np.uint64(self.layout.depth - self.above)
            expect_in_circles(values, cells, parents, masks, places, bits_at, sizes, self._used, out)
        return out

    def prefers_planes(self, values: Values, variances: Values, cells: Cells, parents: Integers) -> bool:
        """Whether the noisy counts at the ends of a map are foretold better where slopes are continued to them.

        Args:
            values: of all nodes of the level.
            variances: of them.
            cells: how many each of them has.
            parents: the numbers of those by whose children it is decided.
        """
        moved, continued = (self.expect_of(values, cells, parents, planes=planes) for planes in (False, True))
        rows, children = np.nonzero(moved != continued)
        nodes = (parents[rows] << self.step) + children
        own, by_moved, by_plane = (
            np.clip(some / np.sqrt(variances[nodes]), -MAX_DEVIATION, MAX_DEVIATION)
            for some in (values[nodes], moved[rows, children], continued[rows, children])
        )
        gains = (own - by_moved) ** 2 - (own - by_plane) ** 2
        return bool(gains.sum() > SURE * np.sqrt((gains**2).sum()))

    @cached_property
    def _used(self) -> Integers:
        """How many nodes there are along each axis, up to the last that has cells."""
        below = self.layout.axis_of_split[self.above + self.step :]
        return np.array([(self.lasts[axis] >> below.count(axis)) + 1 for axis in self.axes], dtype=np.int64)

    @cached_property
    def _whole_grid(self) -> tuple[Keys, Keys, Integers]:
        """For each axis of a map: its bits of a node's number, those of the last node, and how wide a block is."""
        masks, lasts, widths = (np.zeros(MAP_AXES, dtype=np.int64) for _ in range(3))
        widths[:] = 1  # along an axis that there is not
        splits = self.layout.axis_of_split[: self.above + self.step]
        for i, (axis, used) in enumerate(zip(self.axes, self._used.tolist(), strict=True)):
            masks[i] = bits_along(axis, splits)
            widths[i] = min(used, BLOCK)
            places = [place for place in range(len(splits)) if masks[i] >> place & 1]
            lasts[i] = sum(1 << place for bit, place in enumerate(places) if used - 1 >> bit & 1)
        return masks.astype(np.uint64), lasts.astype(np.uint64), widths


def located(layout: Layout, lasts: tuple[int, ...], above: int, step: int) -> MapLevel | None:
    """Where the nodes of a level and their parents are on a map of two axes; None for other tables.

    Args:
        layout: how cells lie along the leaves.
        lasts: the last place along each axis that has cells.
        above: how many halvings lead to the parents.
        step: how many halvings tell a parent's children apart.
    """
    if len(layout.lengths) != MAP_AXES or not layout.keeps_neighbours:
        return None
    splits = layout.axis_of_split
    level = Surroundings(layout, above, step, (0, 1))
    rows, columns = (_bits_of_places(axis, lasts[axis], splits, above + step) for axis in (0, 1))
    parent_rows, parent_columns = (_bits_of_places(axis, lasts[axis], splits, above) for axis in (0, 1))
    masks = np.array([bits_along(axis, splits[:above]) for axis in (0, 1)], dtype=np.uint64)
    return MapLevel(rows, columns, parent_rows, parent_columns, masks, level.places(0), level.places(1))


def _bits_of_places(axis: int, last: int, splits: Sequence[int], depth: int) -> Integers:
    """The bits of a node's number for each place along an axis, for nodes this many halvings down, up to the last with cells."""
    used = (last >> splits[depth:].count(axis)) + 1
    mask = bits_along(axis, splits[:depth])
    bits = np.zeros(used, dtype=np.int64)
    for number, place in enumerate(place for place in range(depth) if mask >> place & 1):
        bits |= (np.arange(used) >> number & 1) << place
    return bits


def bits_along(axis: int, splits: Sequence[int]) -> int:
    """The bits of a node's number that belong to an axis, given which axis each halving down to it is along."""
    return sum(1 << len(splits) - 1 - i for i, split in enumerate(splits) if split == axis)


def last_places(layout: Layout) -> tuple[int, ...]:
    """The last place along each axis that has cells: the end of the axis, or before it where no mesh is listed there."""
    if layout.embedding is None:
        return tuple(length - 1 for length in layout.lengths)
    lasts = np.zeros(len(layout.lengths), dtype=np.int64)
    for first in range(0, layout.cells, CELLS_AT_ONCE):
        keys = np.arange(first, min(first + CELLS_AT_ONCE, layout.cells), dtype=np.uint64)
        places = layout.embedding.outer.places_of(layout.embedding.embed(keys))
        lasts = np.maximum(lasts, [along.max() for along in places])
    return tuple(lasts.tolist())
