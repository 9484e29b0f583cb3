"""The wide tree with every node measured, so that all levels can tell about each other.

Drawing everything costs time and memory by the number of cells, but a node's own noisy count, the sum of its children's,
and what its surroundings or a public reference say can then be weighed against each other (`sudare.refine.trees`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain.domain import Domain
from sudare.domain.layout import Layout
from sudare.domain.table import CountTable
from sudare.noise.additive import noise_for
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement, Measurement
from sudare.refine.margins import correct_margins, meet_margins
from sudare.refine.occupancy import expected_from_neighbours, use_occupancy
from sudare.refine.trees import (
    Estimates,
    Judge,
    Judgement,
    NoisyTree,
    Words,
    least_squares,
    refine_from_top,
    use_reference,
)
from sudare.tables.descent import Notes
from sudare.tables.reading import Request
from sudare.tables.short_axes import short_axes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Values = NDArray[np.float64]

__all__ = ["MOST_DENSE_BITS", "cells_of_nodes", "first_leaves", "refined_densely", "refined_totals", "variance_of"]

MOST_DENSE_BITS = 24
"""Depth of the largest tree of which every node is measured."""

MAP_AXES = 2
"""So many ordered axes are taken for a map. Where there are more, neighbours are children of the same parent."""


def refined_densely(
    request: Request,
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
    samplers = [noise_for(level) for level in levels]
    cells = cells_of_nodes(layout, bits)
    measured: list[Values | None] = [None] * (len(bits) + 1 - len(levels))
    variances = [0.0] * len(measured)
    for counts, level, sampler, name in zip(
        _sums_of_nodes(request.table, layout, bits)[len(measured) :], levels, samplers, names, strict=True
    ):
        noisy = sampler.draw(counts.size, request.source, threads=request.threads)
        noisy += counts
        depth = len(measured)
        if notes.wanted:
            has_cells = cells[depth] > 0
            notes.take(name, first_leaves(layout, bits, depth, has_cells), noisy[has_cells])
        measured.append(noisy.astype(np.float64))
        variances.append(variance_of(level))
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
    tree: NoisyTree, layout: Layout, domain: Domain, words: Words, *, learns: bool, reference: CountTable | None
) -> Counts:
    """Whole counts >= 0 of the leaves of a measured tree.

    Args:
        tree: what was measured.
        layout: how the cells of the domain lie along the leaves.
        domain: the cells.
        words: gives random words.
        learns: whether it is learned from the noisy counts which places are likely to be empty.
        reference: a public table over the same domain.
    """
    estimates, judge = _estimates(tree, layout, layout.axes_of(domain).ordered_axes, learns, reference)
    return refine_from_top(tree, estimates, words, judge)


def _with_margins(
    request: Request,
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
    places = layout.to_tree(np.arange(domain.cells, dtype=np.uint64)).astype(np.int64)
    counts = correct_margins(
        leaves[places].reshape(domain.shape),
        noisy[places].reshape(domain.shape),
        tree.variances[-1],
        [axis for axis in axes if axis not in measured],
        request.source.words,
    )
    counts = meet_margins(counts, measured, request.source.words).reshape(-1)
    keys = np.flatnonzero(counts)
    return CountTable.from_unique_cells(domain, keys.astype(np.uint64), counts[keys])


def _estimates(
    tree: NoisyTree, layout: Layout, axes: Sequence[int], learns: bool, reference: CountTable | None
) -> tuple[Estimates, Judge]:
    """Estimates of all nodes, and what else is known of them once their parents are refined."""
    judges: list[Judge] = []
    estimates = least_squares(tree)
    if learns:
        judges.append(use_occupancy(tree, lambda level: _around(tree, estimates, layout, axes, level)))
    if reference is not None:
        estimates, by_reference = use_reference(tree, tuple(_sums_of_nodes(reference, layout, tree.bits)))
        judges.insert(0, by_reference)

    def judge(level: int, parents: Counts, value: Values, variance: Values) -> Judgement | None:
        """The first judge that has anything to say."""
        for one in judges:
            judgement = one(level, parents, value, variance)
            if judgement is not None:
                return judgement
        return None

    return estimates, judge


def variance_of(measurement: Measurement) -> float:
    """The variance of a measurement's noise (of the continuous law, which the discrete one is below)."""
    if isinstance(measurement, GaussianMeasurement):
        return float(measurement.sigma_squared)
    if isinstance(measurement, LaplaceMeasurement):
        return 2 * float(measurement.scale) ** 2
    raise AssertionError(f"a {measurement.kind} measurement adds no noise to counts")


def _sums_of_nodes(table: CountTable, layout: Layout, bits: Sequence[int]) -> list[Counts]:
    """The counts of all nodes of all levels, from the root."""
    leaves = np.zeros(1 << layout.depth, dtype=np.int64)
    leaves[layout.to_tree(table.keys).astype(np.int64)] = table.counts
    return _summed_up(leaves, bits)


def cells_of_nodes(layout: Layout, bits: Sequence[int]) -> tuple[Counts, ...]:
    """How many cells each node has."""
    if not layout.is_padded:
        heights = [layout.depth - sum(bits[:level]) for level in range(len(bits) + 1)]
        return tuple(np.broadcast_to(np.int64(1 << height), (1 << layout.depth - height,)) for height in heights)
    leaves = np.zeros(1 << layout.depth, dtype=np.int64)
    every_key = np.arange(layout.cells, dtype=np.uint64)
    leaves[layout.to_tree(every_key).astype(np.int64)] = 1
    return tuple(_summed_up(leaves, bits))


def _summed_up(leaves: Counts, bits: Sequence[int]) -> list[Counts]:
    levels = [leaves]
    for step in reversed(bits):
        levels.insert(0, levels[0].reshape(-1, 1 << step).sum(axis=1))
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


def _around(tree: NoisyTree, estimates: Estimates, layout: Layout, axes: Sequence[int], level: int) -> Values | None:
    """What the nodes around each node of a level let expect of it, on the grid that the level is."""
    if not layout.keeps_neighbours:
        return None
    splits = layout.axis_of_split[: sum(tree.bits[:level])]
    shape = tuple(1 << splits.count(axis) for axis in range(len(layout.lengths)))
    grid = Layout(shape, splits)
    values, cells = estimates.values[level], tree.cells[level]
    order = grid.to_tree(np.arange(values.size, dtype=np.uint64)).astype(np.int64)
    on_grid = axes if len(axes) <= MAP_AXES else ()
    here = splits[sum(tree.bits[: level - 1]) :]
    circles = {axis: 1 << here.count(axis) for axis in axes if axis not in on_grid}
    expected = expected_from_neighbours(values[order].reshape(shape), cells[order].reshape(shape), on_grid, circles)
    if expected is None:
        return None
    out = np.empty(values.size)
    out[order] = expected.reshape(-1)
    return out
