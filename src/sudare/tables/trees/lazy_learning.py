"""All that is learned from noisy counts, for trees that are too large to draw as a whole: on the nodes that are visited.

Level by level from the top, the children of nodes with a positive refined count are measured. Each is judged by its own noisy
count, by those of the visited nodes around it and by its parent's refined count, as in `dense_tree`. One level is looked ahead:
children that seem to hold somebody are measured one level further down, their children's sum improves their own estimate,
and all are judged again. Time and memory are in proportion to the visited nodes. Proof: ``tables/mechanisms/wide_tree.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain.layout import Layout
from sudare.domain.table import MAX_TOTAL, CountTable
from sudare.noise.additive import noise_for
from sudare.noise.entropy import EntropySource
from sudare.privacy.measurements import GaussianMeasurement, Measurement
from sudare.tables.arguments import TOTAL, MechanismRequest
from sudare.tables.trees.dense_tree import variance_of
from sudare.tables.trees.descent import Cells, Notes, Tree
from sudare.tables.trees.lazy_reference import CHILDREN_AT_ONCE, LevelReference
from sudare.tables.trees.thin_levels import refine_thinly
from sudare.tables.trees.visited_level import VisitedLevel, as_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Keys = NDArray[np.uint64]
    Values = NDArray[np.float64]

__all__ = ["refined_by_learning"]

MAX_CHILDREN = 1 << 24
"""Of a level that are held in memory. Where there are more, what is left is refined by parts (`thin_levels`)."""


def refined_by_learning(
    request: MechanismRequest,
    layout: Layout,
    steps: Sequence[int],
    levels: Sequence[Measurement],
    notes: Notes,
    names: Sequence[str],
    *,
    learns: bool,
    reference: CountTable | None = None,
) -> CountTable:
    """Descend level by level; each is measured where somebody is left, and judged by what is visited of it.

    Args:
        request: what was asked for, checked.
        layout: how the cells lie along the leaves.
        steps: how many halvings make up each level.
        levels: the measurement of the total, unless it is public, and of each level.
        notes: where the noisy counts are written down.
        names: what the notes call each measurement.
        learns: whether it is learned which places are likely to be empty, else the two levels are combined alone.
        reference: a public table over the same domain.
    """
    from sudare.kernels.tables.sorting import sort_cells

    tree = Tree.over(request.table, layout, request.threads)
    of_total = len(levels) - len(steps)
    ordered = layout.axes_of(request.table.domain).ordered_axes if layout.keeps_neighbours and learns else ()
    measured = levels[of_total:]
    public = _references(reference, layout, steps, measured, request.threads)
    ways = [
        VisitedLevel(tree, level, sum(steps[:i]), step, ordered, notes, name, told)
        for i, (step, level, name, told) in enumerate(zip(steps, measured, names[of_total:], public, strict=True))
    ]
    cells = _cells(request, tree, ways, levels[0] if of_total else None, notes)
    bits = (request.table.domain.cells - 1).bit_length()
    return CountTable(request.table.domain, *sort_cells(cells, bits, request.threads))


def _cells(
    request: MechanismRequest, tree: Tree, ways: Sequence[VisitedLevel], of_total: Measurement | None, notes: Notes
) -> Cells:
    """The cells that have somebody, and their counts, in pieces and in any order."""
    source, prefixes, pending = request.source, np.zeros(1, dtype=np.uint64), None
    total = tree.sums[-1]
    if of_total is not None:
        noisy = total + noise_for(of_total).draw(None, source)
        notes.take(TOTAL, prefixes, np.array([noisy]))
        total, pending = _total(float(noisy), variance_of(of_total), ways, prefixes, source)
    refined = np.array([total], dtype=np.int64)
    prefixes, refined = prefixes[refined > 0], refined[refined > 0]
    for done, way in enumerate(ways):
        if not prefixes.size:
            break
        if pending is None and prefixes.size << way.step > MAX_CHILDREN:
            if way.reference is None:
                return refine_thinly(ways[done:], prefixes, refined, source, request.threads)
            prefixes, refined = _refine_in_parts(ways[done:], prefixes, refined, source)
            break
        values = as_values(way.measure(prefixes, source) if pending is None else pending)
        pending = None  # not needed any more, and large
        below = ways[done + 1] if done + 1 < len(ways) else None
        prefixes, refined, pending = _refine(way, below, prefixes, refined, values, source)
    return [(tree.layout.to_raster(prefixes), refined)]


def _references(
    table: CountTable | None, layout: Layout, steps: Sequence[int], levels: Sequence[Measurement], threads: int
) -> list[LevelReference | None]:
    """What a public table foretells of each level."""
    if table is None:
        return [None] * len(steps)
    tree, above = Tree.over(table, layout, threads), None
    found: list[LevelReference | None] = []
    for done, (step, level) in enumerate(zip(steps, levels, strict=True)):
        bit = layout.depth - sum(steps[:done]) - step
        above = LevelReference(tree, bit, is_laplace=not isinstance(level, GaussianMeasurement), above=above)
        found.append(above)
    return found


def _refine_in_parts(
    ways: Sequence[VisitedLevel], prefixes: Keys, counts: Integers, source: EntropySource
) -> tuple[Keys, Integers]:
    """The leaves below nodes that have somebody, where a level has too many children for one array: judged part by part.

    The level below takes the reference to be believed here if it is by the parts that hold most of the nodes.
    """
    for way in ways:
        at_once = CHILDREN_AT_ONCE >> way.step
        parts, trusting = [], 0
        for first in range(0, prefixes.size, at_once):
            parents, above = prefixes[first : first + at_once], counts[first : first + at_once]
            left, refined = way.refine(parents, above, as_values(way.measure(parents, source)), None, source)
            parts.append((way.children_at(parents, left), refined.copy()))
            if way.reference is not None and way.reference.is_trusted:
                trusting += parents.size
        if way.reference is not None:
            way.reference.is_trusted = 2 * trusting > prefixes.size
        prefixes, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return prefixes, counts


def _total(
    noisy: float, variance: float, ways: Sequence[VisitedLevel], root: Keys, source: EntropySource
) -> tuple[int, Integers | None]:
    """The root's count, by its own measurement and its children's, and the latter."""
    pending, estimate = None, noisy
    if ways:
        pending = ways[0].measure(root, source)
        below, spread = _sums(pending, ways[0].variance)
        weight = float(spread[0]) / (float(spread[0]) + variance)
        estimate = weight * noisy + (1 - weight) * float(below[0])
    return min(round(max(estimate, 0.0)), MAX_TOTAL), pending


def _refine(
    way: VisitedLevel,
    below: VisitedLevel | None,
    parents: Keys,
    counts: Integers,
    values: Values,
    source: EntropySource,
) -> tuple[Keys, Integers, Integers | None]:
    """The children of parents that have somebody, their counts and, where drawn already, their children's noisy counts."""
    first, refined = way.refine(parents, counts, values, None, source)
    if below is None or first.size << below.step > MAX_CHILDREN:
        return way.children_at(parents, first), refined, None
    ahead = below.measure(way.children_at(parents, first), source)
    told, spread = _sums(ahead, below.variance)
    weight = spread / (spread + way.variance)
    values.reshape(-1)[first] = weight * values.reshape(-1)[first] + (1 - weight) * told
    left, refined = way.refine(parents, counts, values, (first, weight * way.variance), source)
    # Those left that were not looked at further down are measured now; nothing is measured twice.
    known = np.searchsorted(first, left)
    is_known = first[np.minimum(known, first.size - 1)] == left if first.size else np.zeros(left.size, dtype=bool)
    prefixes = way.children_at(parents, left)
    if is_known.all():
        return prefixes, refined, ahead if left.size == first.size else ahead[known]
    pending = np.empty((left.size, 1 << below.step), dtype=np.int64)
    pending[is_known] = ahead[known[is_known]]
    pending[~is_known] = below.measure(prefixes[~is_known], source)
    return prefixes, refined, pending


def _sums(noisy: Integers, variance: float) -> tuple[Values, Values]:
    """Sums of the noisy counts of each parent's children, and their variances."""
    from sudare.kernels.tables.surroundings import sum_children

    sums, members = np.empty(len(noisy)), np.empty(len(noisy), dtype=np.int64)
    sum_children(noisy, sums, members)
    return sums, np.asarray(members * variance, dtype=np.float64)
