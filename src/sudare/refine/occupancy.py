"""Which places are likely to be empty, learned from the noisy counts around them.

Where neighbours are empty and the area above holds few people, a small noisy count is mostly noise. How much so is learned
from all places of a level at once (`priors.learn_occupancy`), within classes of places whose surroundings look alike.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from sudare.refine.priors import learn_occupancy
from sudare.refine.trees import Judge, Judgement, NoisyTree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]
    Counts = NDArray[np.int64]

__all__ = ["expected_from_neighbours", "use_occupancy"]

FEWEST_NODES = 2000
AROUND_EDGES = (-0.2, 0.2, 0.5, 1.0, 2.5, 6.0)
ABOVE_EDGES = (0.5, 1.0, 2.0, 4.0, 8.0, 20.0, 60.0)
"""Limits of the classes: the mean of the neighbours' estimates, and the parent's count, in standard deviations."""

WINDOW = 3
"""Nodes a side of the block around a node."""

Around = Callable[[int], "Values | None"]
"""What the neighbours of each node of a level let expect of it; None where a level has no neighbourhood."""


def expected_from_neighbours(
    values: Values, cells: Counts, axes: Collection[int], circles: Mapping[int, int]
) -> Values | None:
    """What each node of a grid would count if it had as many people a cell as the nodes around it.

    A node's own count has no part in it, and neither has what is no cell. Every node is judged by equally many others:
    those judged by fewer would be judged less surely, and what is published in excess goes to those. At the end of an axis the
    block of neighbours is therefore moved inwards.

    With three axes and more, most of the many neighbours are children of the same parent. What they show tells less of a
    node whose parent's count is known as well, and more of one at the parent's end, some of whose neighbours are other
    parents' children. There, the children of one parent stand in a circle, and nobody else is a neighbour.

    Args:
        values: estimated counts, in the shape of the grid.
        cells: how many cells each node has, in the same shape; 0 beyond the end of an axis, and where no mesh is listed.
        axes: along which of the axes neighbours are those on the grid.
        circles: along which others there are neighbours in circles, and how many nodes each circle has, counted from the first.

    Returns:
        An expected count for each node; None if no node has a neighbour.
    """
    inside = cells > 0
    people, places = np.where(inside, values, 0.0), cells.astype(np.float64)
    around_people, around_places = people, places
    for axis in (*axes, *circles):
        others = tuple(other for other in range(values.ndim) if other != axis)
        # Listed meshes may leave out whole rows of a map, so the last place that has cells counts, not how many have.
        used = int(np.flatnonzero(inside.any(axis=others))[-1]) + 1 if inside.any() else 0
        blocks = _blocks(values.shape[axis], used, circles.get(axis))
        around_people, around_places = (_sums_of_blocks(a, axis, blocks) for a in (around_people, around_places))
    around_people, around_places = around_people - people, around_places - places
    has_neighbours = inside & (around_places > 0.5)
    if not has_neighbours.any():
        return None
    return np.where(has_neighbours, around_people * cells / np.maximum(around_places, 1.0), 0.0)


def _blocks(places: int, used: int, circle: int | None) -> list[Counts]:
    """The place itself and its neighbours along an axis, each as an array over all places; -1 for a neighbour too few.

    Args:
        places: along the axis.
        used: how many of them, from the first, there are up to the last that has cells.
        circle: how many follow each other in a circle; None for neighbours on the grid.
    """
    own = np.arange(places)
    first = np.zeros(places, dtype=np.int64) if circle is None else own // circle * circle
    members = np.clip(used - first, 1, places if circle is None else circle)
    if circle is None:
        start = np.clip(own - WINDOW // 2, 0, np.maximum(members - WINDOW, 0))
        blocks = [start + step for step in range(WINDOW)]
        return [np.where((block < members) & (own < used), block, -1) for block in blocks]
    steps = [0, *(sign * far for far in range(1, WINDOW // 2 + 1) for sign in (-1, 1))]
    return [
        np.where((own < used) & (number < members), first + (own - first + step) % members, -1)
        for number, step in enumerate(steps)
    ]


def _sums_of_blocks(values: Values, axis: int, blocks: list[Counts]) -> Values:
    """The sum along an axis of the block around each place."""
    shape = [-1 if other == axis else 1 for other in range(values.ndim)]
    total = np.zeros(values.shape)
    for block in blocks:
        total += np.take(values, np.maximum(block, 0), axis=axis) * (block >= 0).reshape(shape)
    return total


def use_occupancy(tree: NoisyTree, around: Around) -> Judge:
    """A judge for `refine_from_top` that knows how often places like this one are empty.

    Args:
        tree: the measurements.
        around: what the neighbours let expect.
    """

    def judge(level: int, parents: Counts, value: Values, variance: Values) -> Judgement | None:
        used = np.flatnonzero((tree.cells[level] > 0) & (parents > 0))
        if used.size < FEWEST_NODES:
            return None
        typical = float(np.median(variance[used]))
        deviation = np.sqrt(typical)
        neighbours = around(level)
        if deviation < 1 or neighbours is None:  # noise below one person leaves nothing to learn
            return None
        classes = np.digitize(neighbours[used] / deviation, AROUND_EDGES) * (len(ABOVE_EDGES) + 1)
        classes += np.digitize(parents[used] / deviation, ABOVE_EDGES)
        judgement = Judgement(value.copy(), variance.copy(), np.ones(value.size))
        learned = learn_occupancy(value[used], typical, classes, is_laplace=tree.is_laplace)
        judgement.values[used], judgement.variances[used], judgement.occupied[used] = learned
        return judgement

    return judge
