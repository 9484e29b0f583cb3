"""Which places are likely to be empty, learned from the noisy counts around them.

Where neighbours are empty and the area above holds few people, a small noisy count is mostly noise. How much so is learned
from all places of a level at once (`priors.learn_occupancy`), within classes of places whose surroundings look alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from sudare.refine.priors import learn_occupancy
from sudare.refine.trees import Judge, Judgement, NoisyTree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]
    Counts = NDArray[np.int64]

__all__ = ["use_occupancy"]

FEWEST_NODES = 2000
AROUND_EDGES = (-0.2, 0.2, 0.5, 1.0, 2.5, 6.0)
ABOVE_EDGES = (0.5, 1.0, 2.0, 4.0, 8.0, 20.0, 60.0)
"""Limits of the classes: the mean of the neighbours' estimates, and the parent's count, in standard deviations."""

Around = Callable[[int], "Values | None"]
"""The mean estimate of each node's neighbours on a level; None where a level has no neighbourhood."""


def use_occupancy(tree: NoisyTree, around: Around) -> Judge:
    """A judge for `refine_from_top` that knows how often places like this one are empty.

    Args:
        tree: the measurements.
        around: the neighbours' mean estimates.
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
