"""How far what a reader makes of a publication is from the truth: in cells, and in tables of one, two and three columns.

The measure is the share of people who are counted in the wrong place: half of the sum of all absolute errors, as a share of
all people. It means the same for tables of any size.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from sudare.comparison.views import Axes, View

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = ["SIZES", "Usefulness", "measure_usefulness", "tables_of"]

SIZES = ("one", "two", "three", "all")
"""Columns of the tables that are looked at."""


@dataclass(frozen=True)
class Usefulness:
    """How useful a publication is.

    Attributes:
        misplaced: for each of SIZES, the share of people counted in the wrong place, the mean of all tables of that size.
        absolute: for each, the mean absolute error of a number of such a table, in people.
        unanswered: the share of people whose cell is not shown by itself.
    """

    misplaced: tuple[float, ...]
    absolute: tuple[float, ...]
    unanswered: float


def tables_of(columns: int) -> tuple[tuple[Axes, ...], ...]:
    """The tables of each of SIZES: all with this many of the columns; sizes that there are not are left empty.

    Example:
        >>> [len(tables) for tables in tables_of(5)], [len(tables) for tables in tables_of(3)]
        ([5, 10, 10, 1], [3, 3, 0, 1])
    """
    sizes = [tuple(combinations(range(columns), size)) if size < columns else () for size in (1, 2, 3)]
    return (*sizes, (tuple(range(columns)),))


def measure_usefulness(view: View, truth: Integers) -> Usefulness:
    """Compare a view with the truth.

    Example:
        >>> measure_usefulness(View.of_counts(np.array([[2, 0], [1, 1]])), np.array([[1, 1], [1, 1]])).misplaced
        (0.125, nan, nan, 0.25)
    """
    people = max(1, int(truth.sum()))
    misplaced, absolute = [], []
    for tables in tables_of(truth.ndim):
        gaps = []
        for axes in tables:
            gone = tuple(axis for axis in range(truth.ndim) if axis not in axes)
            gaps.append(np.abs(view.table(axes) - truth.sum(axis=gone)))
        misplaced.append(float(np.mean([gap.sum() / (2 * people) for gap in gaps])) if gaps else float("nan"))
        absolute.append(float(np.mean([gap.mean() for gap in gaps])) if gaps else float("nan"))
    unanswered = float(truth[~view.is_shown].sum()) / people
    return Usefulness(tuple(misplaced), tuple(absolute), unanswered)
