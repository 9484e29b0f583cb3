"""The refinement of a tree with every node measured, level by level on whole arrays: slow and obvious.

Levels are brought into the order of the map, neighbours are added up along one axis after the other, and everything that is known
of a level is an array of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.domain.layout import Layout
from sudare.kernels.tables.priors import project_children
from sudare.refine.learning.occupancy import ABOVE_EDGES, AROUND_EDGES
from sudare.refine.learning.priors import bins_of, learn_counts
from sudare.refine.trees import Estimates, NoisyTree

Values = NDArray[np.float64]
Counts = NDArray[np.int64]
Known = tuple[Values, Values, Values]
"""Of all nodes of a level: estimates, variances, and how likely each is not to be empty."""

WINDOW = 3
END_WINDOW = 5
TIE = 1e-9
MAP_AXES = 2


def learn_occupancy(values: Values, variance: float, classes: Any, *, is_laplace: bool) -> Known:
    """Posterior means and variances of counts, and how likely each is not to be 0, learned within each class."""
    bin_width, half = bins_of(variance)
    within = np.abs(values) <= half * bin_width
    bins = np.clip(np.rint(values / bin_width), -half, half).astype(np.int64) + half
    kinds, size = int(classes.max(initial=0)) + 1, 2 * half + 1
    occurrences = np.bincount(classes[within] * size + bins[within], minlength=kinds * size)
    learned = learn_counts(occurrences.reshape(kinds, size).astype(np.float64), variance, is_laplace=is_laplace)
    applies = within & learned.taught[classes]
    places = classes[applies], bins[applies]
    results = values.copy(), np.full(values.size, variance), np.ones(values.size)
    for result, told in zip(results, (learned.means, learned.variances, learned.occupied), strict=True):
        result[applies] = told[places]
    return results


def expected_on_map(
    values: Values, cells: Any, axes: Sequence[int], circles: Mapping[int, int], *, planes: bool = False
) -> Values | None:
    """What each node of a grid would count if it had as many people a cell as the nodes around it; None if none has neighbours.

    Args:
        values: estimated counts, in the shape of the grid.
        cells: how many cells each node has, in the same shape.
        axes: along which of the axes neighbours are those on the grid.
        circles: along which others there are neighbours in circles, and how many nodes each circle has, counted from the first.
        planes: whether slopes are continued to the ends of a map.
    """
    inside = cells > 0
    people, places = np.where(inside, values, 0.0), cells.astype(np.float64)
    around_people, around_places = people, places
    for axis in (*axes, *circles):
        others = tuple(other for other in range(values.ndim) if other != axis)
        used = int(np.flatnonzero(inside.any(axis=others))[-1]) + 1 if inside.any() else 0
        blocks = _blocks(values.shape[axis], used, circles.get(axis))
        around_people, around_places = (_sums_of_blocks(a, axis, blocks) for a in (around_people, around_places))
    around_people, around_places = around_people - people, around_places - places
    has_neighbours = inside & (around_places > 0.5)
    if not has_neighbours.any():
        return None
    expected = np.where(has_neighbours, around_people * cells / np.maximum(around_places, 1.0), 0.0)
    return expected if len(axes) < MAP_AXES or not planes else _with_planes_at_ends(expected, values, cells, axes)


def _with_planes_at_ends(expected: Values, values: Values, cells: Any, axes: Sequence[int]) -> Values:
    """What is expected at the ends of a map of two axes by planes through the people a cell of larger blocks."""
    found = expected.copy()
    others = [tuple(other for other in range(values.ndim) if other != axis) for axis in axes]
    used = [int(np.flatnonzero((cells > 0).any(axis=other))[-1]) + 1 for other in others]
    for place in np.argwhere(cells > 0):
        own = [int(place[axis]) for axis in axes]
        if min(used) < END_WINDOW or not any(at in (0, size - 1) for at, size in zip(own, used, strict=True)):
            continue
        starts = [min(max(at - END_WINDOW // 2, 0), size - END_WINDOW) for at, size in zip(own, used, strict=True)]
        block, offsets = [], []
        for row, column in np.ndindex(END_WINDOW, END_WINDOW):
            other = place.copy()
            other[list(axes)] = starts[0] + row, starts[1] + column
            offset = [1, starts[0] + row - own[0], starts[1] + column - own[1]]
            if any(offset[1:]):
                block.append(tuple(other))
                offsets.append(offset)
        if all(cells[other] > 0 for other in block):
            weights = np.linalg.pinv(np.array(offsets, dtype=np.float64))[0]
            people, around = (sum(w * of[b] for w, b in zip(weights, block, strict=True)) for of in (values, cells))
            if around > 0:
                found[tuple(place)] = people * cells[tuple(place)] / around
    return found


def _blocks(places: int, used: int, circle: int | None) -> list[Counts]:
    """The place itself and its neighbours along an axis, each as an array over all places; -1 for a neighbour too few."""
    own = np.arange(places)
    first = np.zeros(places, dtype=np.int64) if circle is None else own // circle * circle
    members = np.clip(used - first, 1, places if circle is None else circle)
    if circle is None:
        start = np.clip(own - WINDOW // 2, 0, np.maximum(members - WINDOW, 0))
        return [np.where((start + s < members) & (own < used), start + s, -1) for s in range(WINDOW)]
    return [
        np.where((own < used) & (number < members), first + (own - first + step) % members, -1)
        for number, step in enumerate((0, -1, 1))
    ]


def _sums_of_blocks(values: Values, axis: int, blocks: list[Counts]) -> Values:
    shape = [-1 if other == axis else 1 for other in range(values.ndim)]
    total = np.zeros(values.shape)
    for block in blocks:
        total += np.take(values, np.maximum(block, 0), axis=axis) * (block >= 0).reshape(shape)
    return total


def expected_around(
    values: Values,
    cells: Any,
    layout: Layout,
    bits: Sequence[int],
    axes: Sequence[int],
    level: int,
    *,
    planes: bool = False,
) -> Values | None:
    """The same for all nodes of a level of a tree, in the order of the tree."""
    splits = layout.axis_of_split[: sum(bits[:level])]
    shape = tuple(1 << splits.count(axis) for axis in range(len(layout.lengths)))
    order = Layout(shape, splits).to_tree(np.arange(values.size, dtype=np.uint64)).astype(np.int64)
    on_grid = axes if len(axes) <= MAP_AXES else ()
    here = splits[sum(bits[: level - 1]) :]
    circles = {axis: 1 << here.count(axis) for axis in axes if axis not in on_grid}
    on_map = values[order].reshape(shape), cells[order].reshape(shape)
    expected = expected_on_map(*on_map, on_grid, circles, planes=planes)
    if expected is None:
        return None
    out = np.empty(values.size)
    out[order] = expected.ravel()
    return out


def judge_occupancy(
    tree: NoisyTree, layout: Layout, axes: Sequence[int], level: int, parents: Counts, estimates: Estimates, fewest: int
) -> Known | None:
    """What surroundings tell of all nodes of a level; None where there is nothing to learn."""
    value, variance = estimates.values[level], estimates.variances[level]
    used = np.flatnonzero((tree.cells[level] > 0) & (parents > 0))
    if used.size < fewest:
        return None
    typical = float(np.median(variance[used]))
    deviation = np.sqrt(typical)
    around, continued = (
        expected_around(value, tree.cells[level], layout, tree.bits, axes, level, planes=planes)
        for planes in (False, len(layout.lengths) == MAP_AXES)
    )
    if deviation < 1 or around is None or continued is None:
        return None
    ends = used[around[used] != continued[used]]
    own, moved, planes = (np.clip(some[ends] / np.sqrt(variance[ends]), -8, 8) for some in (value, around, continued))
    gains = (own - moved) ** 2 - (own - planes) ** 2
    if gains.sum() > 2 * np.sqrt((gains**2).sum()):
        around = continued
    classes = np.digitize(around[used] / deviation, AROUND_EDGES) * (len(ABOVE_EDGES) + 1)
    classes += np.digitize(parents[used] / deviation, ABOVE_EDGES)
    known = value.copy(), variance.copy(), np.ones(value.size)
    for whole, part in zip(
        known, learn_occupancy(value[used], typical, classes, is_laplace=tree.is_laplace), strict=True
    ):
        whole[used] = part
    return known


def chance_of(word: int, child: int) -> float:
    """A number from 0 to 1 for a child, from its parent's random word: the last steps of SplitMix64."""
    mask = 2**64 - 1
    mixed = (word + (child + 1) * 0x9E3779B97F4A7C15) & mask
    mixed = ((mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9) & mask
    mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & mask
    return (mixed ^ mixed >> 31) / 2**64


def likely_occupied(occupied: Values, has_cells: NDArray[np.bool_], word: int) -> NDArray[np.bool_]:
    """Which children of one parent take part: the likely ones, and as many of the others as are expected to be occupied."""
    taking = has_cells & (occupied >= 0.5)
    unlikely = np.where(has_cells & (occupied < 0.5), occupied, 0.0)
    more = max(int(np.rint(unlikely.sum())), int(not taking.any()))
    ranks = [likely * (1 + chance_of(word, child) * TIE) for child, likely in enumerate(unlikely)]
    likeliest = sorted(range(occupied.size), key=lambda child: -ranks[child])[:more]
    taking[[child for child in likeliest if unlikely[child] > 0]] = True
    return taking if taking.any() else has_cells


def refine_naively(
    tree: NoisyTree,
    estimates: Estimates,
    words: Callable[[int], NDArray[np.uint64]],
    judge: Callable[[int, Counts], Known | None],
) -> list[Counts]:
    """The refined counts of every level, from the root."""
    root = round(max(float(estimates.values[0][0]), 0.0)) if tree.total is None else tree.total
    levels = [np.array([root], dtype=np.int64)]
    for level, bits in enumerate(tree.bits, start=1):
        counts, fan = levels[-1], 1 << bits
        value, variance = estimates.values[level], estimates.variances[level]
        taking = (tree.cells[level] > 0).reshape(-1, fan)
        known = judge(level, np.repeat(counts, fan))
        inhabited = np.flatnonzero(counts)
        if known is not None:
            value, variance, occupied = known
            for parent, word in zip(inhabited, words(inhabited.size).tolist(), strict=True):
                taking[parent] = likely_occupied(occupied.reshape(-1, fan)[parent], taking[parent], word)
        ties = np.zeros(counts.size, dtype=np.uint64)
        ties[inhabited] = words(inhabited.size)
        spreads = np.where(taking, np.maximum(variance.reshape(-1, fan), 1e-9), -1.0)
        children = np.empty((counts.size, fan), dtype=np.int64)
        project_children(np.ascontiguousarray(value).reshape(-1, fan), spreads, counts, ties, children)
        levels.append(children.reshape(-1))
    return levels
