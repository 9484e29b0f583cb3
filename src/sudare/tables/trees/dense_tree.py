"""The wide tree with every node measured, so that all levels can tell about each other.

Drawing everything costs time and memory by the number of cells, but a node's own noisy count, the sum of its children's,
and what its surroundings or a public reference say can then be weighed against each other (`sudare.refine.trees`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from sudare.domain.domain import Domain
from sudare.domain.layout import Layout
from sudare.domain.table import CountTable
from sudare.noise.additive import noise_for
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement, Measurement
from sudare.refine.learning.occupancy import Around, use_occupancy
from sudare.refine.learning.settlements import MapLevel, use_settlements
from sudare.refine.margins import correct_margins, meet_margins
from sudare.refine.trees import (
    Estimates,
    Judge,
    JudgeOfLevel,
    NoisyTree,
    OpenLevel,
    Words,
    least_squares,
    refine_from_top,
    use_reference,
)
from sudare.tables.arguments import MechanismRequest
from sudare.tables.trees.descent import Notes
from sudare.tables.trees.short_axes import short_axes
from sudare.tables.trees.surroundings import MAP_AXES, DenseSurroundings, last_places, located

Number = TypeVar("Number", bound=np.generic)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Cells = NDArray[np.int32]
    Keys = NDArray[np.uint64]
    Values = NDArray[np.float64]

__all__ = [
    "MAX_DENSE_BITS",
    "cells_of_nodes",
    "first_leaves",
    "locating",
    "refined_densely",
    "refined_totals",
    "summed_up",
    "variance_of",
]

MAX_DENSE_BITS = 24
"""Depth of the largest tree of which every node is measured."""

AT_ONCE = 1 << 16
"""Cells or nodes that are handled in one call."""


def refined_densely(
    request: MechanismRequest,
    layout: Layout,
    bits: Sequence[int],
    levels: Sequence[Measurement],
    notes: Notes,
    names: Sequence[str],
    *,
    learns: bool,
    reference: CountTable | None,
    margins: Mapping[int, Values] | None = None,
) -> CountTable:
    """Measure every node of every level, estimate all counts together, and refine them from the top.

    Args:
        request: what was asked for, checked.
        layout: how the cells lie along the leaves.
        bits: how many halvings make up each level.
        levels: the measurement of the total, unless it is public, and of each level.
        notes: where the noisy counts are written down.
        names: what the notes call each measurement.
        learns: whether it is learned from the noisy counts which places are likely to be empty.
        reference: a public table over the same domain.
        margins: measured margins of short axes, which the table will have.
    """
    from sudare.kernels.tables.dense_levels import add_to_nodes

    samplers = [noise_for(level) for level in levels]
    cells = cells_of_nodes(layout, bits)
    places, counts = places_in_tree(layout, request.table.keys), np.ascontiguousarray(request.table.counts)
    measured: list[Values | None] = [None] * (len(bits) + 1 - len(levels))
    variances = [0.0] * len(measured)
    for level, sampler, name in zip(levels, samplers, names, strict=True):
        depth = len(measured)
        noisy = sampler.draw(cells[depth].size, request.source, threads=request.threads)
        add_to_nodes(places, counts, layout.depth - sum(bits[:depth]), noisy)
        if notes.wanted:
            has_cells = cells[depth] > 0
            notes.take(name, first_leaves(layout, bits, depth, has_cells), noisy[has_cells])
        measured.append(_as_reals(noisy))
        variances.append(variance_of(level))
    del places
    tree = NoisyTree(
        tuple(bits),
        tuple(measured),
        tuple(variances),
        cells,
        is_laplace=not isinstance(levels[-1], GaussianMeasurement),
        total=request.table.total if request.total_is_public else None,
    )
    leaves = refined_totals(
        tree, layout, request.table.domain, request.source.words, learns=learns, reference=reference
    )
    short = short_axes(request.table.domain)
    if short or margins:
        return _with_margins(request, layout, tree, leaves, short, margins or {})
    positive = np.flatnonzero(leaves)
    keys = layout.to_raster(positive.astype(np.uint64))
    return CountTable.from_unique_cells(request.table.domain, keys, leaves[positive])


def refined_totals(
    tree: NoisyTree,
    layout: Layout,
    domain: Domain,
    words: Words,
    *,
    learns: bool,
    reference: CountTable | None,
    last: int | None = None,
) -> Counts:
    """Whole counts >= 0 of the leaves of a measured tree.

    Args:
        tree: what was measured.
        layout: how the cells of the domain lie along the leaves.
        domain: the cells.
        words: gives random words.
        learns: whether it is learned from the noisy counts which places are likely to be empty.
        reference: a public table over the same domain.
        last: the number of the level of cells, if the tree ends above it.
    """
    axes = layout.axes_of(domain).ordered_axes
    estimates, judge = _estimates(tree, layout, axes, learns, reference, len(tree.bits) if last is None else last)
    return refine_from_top(tree, estimates, words, judge)


def _with_margins(
    request: MechanismRequest,
    layout: Layout,
    tree: NoisyTree,
    leaves: Counts,
    axes: Sequence[int],
    measured: Mapping[int, Values],
) -> CountTable:
    """The table with the margins of short axes brought back: to what was measured of them, or else to the noisy cells' sums."""
    domain, noisy = request.table.domain, tree.measured[-1]
    if noisy is None:
        raise AssertionError("the leaves of a tree are always measured")
    places = places_in_tree(layout, np.arange(domain.cells, dtype=np.uint64))
    counts, of_cells = leaves[places].reshape(domain.shape), noisy[places].reshape(domain.shape)
    del places, leaves
    unmeasured = [axis for axis in axes if axis not in measured]
    counts = correct_margins(counts, of_cells, float(np.mean(tree.variances[-1])), unmeasured, request.source.words)
    counts = meet_margins(counts, measured, request.source.words).reshape(-1)
    keys = np.flatnonzero(counts)
    return CountTable.from_unique_cells(domain, keys.astype(np.uint64), counts[keys])


def _estimates(
    tree: NoisyTree, layout: Layout, axes: Sequence[int], learns: bool, reference: CountTable | None, last: int
) -> tuple[Estimates, Judge]:
    """Estimates of all nodes, and what else is known of them once their parents are refined."""
    judges: list[Judge] = []
    if learns:
        by_occupancy = use_occupancy(_around(tree.bits, layout, axes), is_laplace=tree.is_laplace)
        if len(axes) == MAP_AXES:
            where = locating(tree.bits, layout)
            judges.append(use_settlements(where, last, is_laplace=tree.is_laplace, at_ends=by_occupancy))
        judges.append(by_occupancy)

    def learned(level: OpenLevel) -> JudgeOfLevel | None:
        """The first judge that has anything to say."""
        return next((known for known in (one(level) for one in judges) if known is not None), None)

    if reference is None:
        return least_squares(tree), learned
    estimates, by_reference = use_reference(tree, tuple(_sums_of_nodes(reference, layout, tree.bits)), learned)
    return estimates, lambda level: by_reference(level) or learned(level)


def variance_of(measurement: Measurement) -> float:
    """The variance of a measurement's noise (of the continuous law, which the discrete one is below)."""
    if isinstance(measurement, GaussianMeasurement):
        return float(measurement.sigma_squared)
    if isinstance(measurement, LaplaceMeasurement):
        return 2 * float(measurement.scale) ** 2
    raise AssertionError(f"a {measurement.kind} measurement adds no noise to counts")


def places_in_tree(layout: Layout, keys: Keys) -> Counts:
    """The numbers of the leaves that cells are at, found a part at a time."""
    places = np.empty(keys.size, dtype=np.int64)
    for first in range(0, keys.size, AT_ONCE):
        part = slice(first, first + AT_ONCE)
        places[part] = layout.to_tree(keys[part])
    return places


def _as_reals(integers: Counts) -> Values:
    """The same numbers as reals, in the same memory."""
    reals = integers.view(np.float64)
    for first in range(0, integers.size, AT_ONCE):
        part = slice(first, first + AT_ONCE)
        reals[part] = integers[part].astype(np.float64)
    return reals


def _sums_of_nodes(table: CountTable, layout: Layout, bits: Sequence[int]) -> list[Counts]:
    """The counts of all nodes of all levels, from the root."""
    leaves = np.zeros(1 << layout.depth, dtype=np.int64)
    leaves[places_in_tree(layout, table.keys)] = table.counts
    return summed_up(leaves, bits)


def cells_of_nodes(layout: Layout, bits: Sequence[int]) -> tuple[Cells, ...]:
    """How many cells each node has. Where there is no padding, this takes no memory.

    Args:
        layout: how the cells lie along the leaves.
        bits: how many halvings make up each level, from the top; not always down to the cells.
    """
    rest = layout.depth - sum(bits)
    if not layout.is_padded:
        heights = [layout.depth - sum(bits[:level]) for level in range(len(bits) + 1)]
        return tuple(np.broadcast_to(np.int32(1 << height), (1 << layout.depth - height,)) for height in heights)
    leaves = np.zeros(1 << layout.depth - rest, dtype=np.int32)
    for first in range(0, layout.cells, AT_ONCE):
        keys = np.arange(first, min(first + AT_ONCE, layout.cells), dtype=np.uint64)
        if rest:
            np.add.at(leaves, layout.to_tree(keys).view(np.int64) >> rest, 1)
        else:
            leaves[layout.to_tree(keys).view(np.int64)] = 1
    return tuple(summed_up(leaves, bits))


def summed_up(leaves: NDArray[Number], bits: Sequence[int]) -> list[NDArray[Number]]:
    """What the nodes of all levels have in sum, from the root."""
    levels = [leaves]
    for step in reversed(bits):
        levels.insert(0, levels[0].reshape(-1, 1 << step).sum(axis=1, dtype=leaves.dtype))
    return levels


def first_leaves(layout: Layout, bits: Sequence[int], level: int, has_cells: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """The first leaf that is a cell of each node of a level that has any."""
    height = layout.depth - sum(bits[:level])
    leaves = np.flatnonzero(has_cells).astype(np.uint64) << np.uint64(height)
    if layout.embedding is None:
        return leaves
    # Where cells are missing anywhere, the first leaf of a node may be none.
    cells = np.sort(layout.to_tree(np.arange(layout.cells, dtype=np.uint64)))
    return cells[np.searchsorted(cells, leaves)]


def locating(bits: Sequence[int], layout: Layout) -> Callable[[OpenLevel], MapLevel | None]:
    """Where the nodes of each level are on a map."""
    lasts = last_places(layout)
    return lambda level: located(layout, lasts, sum(bits[: level.number - 1]), bits[level.number - 1])


def _around(bits: Sequence[int], layout: Layout, axes: Sequence[int]) -> Around:
    """What the nodes around each node let expect of it, on the grid that a level is."""
    lasts = last_places(layout)

    def around(level: OpenLevel) -> Callable[[slice], Values] | None:
        above, step = sum(bits[: level.number - 1]), bits[level.number - 1]
        near = DenseSurroundings(layout, above, step, tuple(axes), lasts)
        if not layout.keeps_neighbours or near.is_empty:
            return None
        place = located(layout, lasts, above, step)
        planes = place is not None and near.prefers_planes(
            level.values, level.variances, level.cells, level.inhabited[place.is_at_end(level.inhabited)]
        )
        return lambda part: near.expect_of(level.values, level.cells, level.inhabited[part], planes=planes)

    return around
