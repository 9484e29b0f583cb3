"""What is learned within classes of places that are alike, no matter how places are sorted into classes.

A judge sorts the children of a level into classes; everything else is common to all judges: the noisy counts of each class
are counted in bins, the distribution of true counts is learned from them (`priors.learn_counts`), and every child is judged by
its class and its own noisy count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from sudare.refine.learning.priors import bins_of, learn_counts
from sudare.refine.trees import JudgeOfLevel, LevelJudgement, OpenLevel, Words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Classes = NDArray[np.uint16]
    Values = NDArray[np.float64]

__all__ = ["SortIntoClasses", "judge_by_classes", "typical_variance"]

ANY_NUMBER = 0
"""No child is kept from taking part because few people would be left for each."""

SortIntoClasses = Callable[[slice, "Classes"], None]
"""Writes the classes of the children of some of the inhabited parents of a level, a row for each. A child's class must not depend
on its own noise."""


def judge_by_classes(
    level: OpenLevel, variance: float, classes: int, sort: SortIntoClasses, *, is_laplace: bool
) -> JudgeOfLevel:
    """Learn the distribution of counts within each class, and judge by it.

    Args:
        level: whose parents are refined.
        variance: of the estimates, typically.
        classes: how many there are, at most 2**16.
        sort: gives the classes of children.
        is_laplace: the shape of the noise, else Gaussian.
    """
    from sudare.kernels.tables.judging import count_in_bins, judge_children

    bin_width, half = bins_of(variance)
    occurrences = np.zeros((classes, 2 * half + 1))
    kinds = np.empty((level.inhabited.size, level.fan), dtype=np.uint16)
    for part in level.parts():
        sort(part, kinds[part])
        count_in_bins(level.values_of(part), kinds[part], bin_width, occurrences)
    learned = learn_counts(occurrences, variance, is_laplace=is_laplace)
    tables = learned.taught, learned.means, learned.variances, learned.occupied, learned.bin_width

    def judge(part: slice, words: Words) -> LevelJudgement:
        values, parents = level.values_of(part), level.parents[level.inhabited[part]]
        known = LevelJudgement(np.empty(values.shape), np.empty(values.shape))
        chance = words(parents.size)
        judge_children(
            values, parents, variance, kinds[part], *tables, ANY_NUMBER, chance, known.values, known.variances
        )
        return known

    return judge


def typical_variance(level: OpenLevel, fewest: int) -> float | None:
    """The median variance of the children with cells of inhabited parents; None if there are fewer than this many."""

    def variances(part: slice) -> Values:
        return level.rows(level.variances, part)[level.rows(level.cells, part) > 0]

    children, lowest, highest = 0, np.inf, -np.inf
    for part in level.parts():
        own = variances(part)
        children += own.size
        lowest, highest = own.min(initial=lowest), own.max(initial=highest)
    if children < fewest:
        return None
    # Most levels have one variance, and then no array of all of them is needed.
    if lowest == highest:
        return float(lowest)
    return float(np.median(np.concatenate([variances(part) for part in level.parts()])))
