"""Which places are likely to be empty, learned from the noisy counts around them.

Where neighbours are empty and the area above holds few people, a small noisy count is mostly noise. How much so is learned
from all places of a level at once (`classes.judge_by_classes`), within classes of places whose surroundings look alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from sudare.refine.learning.classes import SortIntoClasses, judge_by_classes, typical_variance
from sudare.refine.trees import Judge, JudgeOfLevel, OpenLevel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Classes = NDArray[np.uint16]
    Values = NDArray[np.float64]

__all__ = ["ABOVE_EDGES", "AROUND_EDGES", "MIN_NODES", "Around", "use_occupancy"]

MIN_NODES = 2000
AROUND_EDGES = (-0.2, 0.2, 0.5, 1.0, 2.5, 6.0)
ABOVE_EDGES = (0.5, 1.0, 2.0, 4.0, 8.0, 20.0, 60.0)
"""Limits of the classes: the mean of the neighbours' estimates, and the parent's count, in standard deviations."""

Around = Callable[[OpenLevel], "Callable[[slice], Values] | None"]
"""What the neighbours of each child let expect of it, a row for each of some inhabited parents; None where a level has no
neighbourhood."""


def use_occupancy(around: Around, *, is_laplace: bool) -> Judge:
    """A judge for `refine_from_top` that knows how often places like this one are empty.

    Args:
        around: what the neighbours let expect.
        is_laplace: the shape of the noise, else Gaussian.
    """
    limits = np.array(AROUND_EDGES), np.array(ABOVE_EDGES)

    def judge(level: OpenLevel) -> JudgeOfLevel | None:
        variance, expect = typical_variance(level, MIN_NODES), around(level)
        if variance is None or expect is None or variance < 1:  # noise below one person leaves nothing to learn
            return None
        sort = _sort_by_surroundings(level, expect, float(np.sqrt(variance)), limits)
        classes = (limits[0].size + 1) * (limits[1].size + 1)
        return judge_by_classes(level, variance, classes, sort, is_laplace=is_laplace)

    return judge


def _sort_by_surroundings(
    level: OpenLevel, expect: Callable[[slice], Values], deviation: float, limits: tuple[Values, Values]
) -> SortIntoClasses:
    from sudare.kernels.tables.judging import sort_into_classes

    edges = np.zeros(
        level.fan, dtype=np.int64
    )  # all children have equally many neighbours, at an end of a parent as well

    def sort(part: slice, out: Classes) -> None:
        sort_into_classes(expect(part), level.parents[level.inhabited[part]], edges, deviation, *limits, out)

    return sort
