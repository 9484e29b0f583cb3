"""What a reader makes of a publication: one table of estimates, whatever was published.

Records become counts. Coarse records are spread over the cells that they may stand for. Hidden cells get the estimate that
agrees with everything that is shown. Noisy counts are taken as they are. So everything can be judged as one thing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Booleans = NDArray[np.bool_]

__all__ = ["Axes", "View", "spread"]

Axes = tuple[int, ...]
"""Columns of a table, as their places; the others are added up."""


@dataclass(frozen=True, eq=False)
class View:
    """What a reader makes of a publication.

    Attributes:
        estimate: of each cell, by a reader who knows nothing else.
        informed: of each cell, by somebody who knows how many people of each kind there are in the population.
        low: the least that a cell can hold, for a reader who believes the publication.
        high: likewise for the most.
        is_shown: which cells are published by themselves; others are hidden, or only in a sum.
        answer: of a table of some of the columns, where it is published by itself and is not the sum of the cells.
        epsilon: that bounds every attack, for private methods.
        delta: likewise.
    """

    estimate: Floats
    informed: Floats
    low: Floats
    high: Floats
    is_shown: Booleans
    answer: Callable[[Axes], Floats] | None = None
    epsilon: float | None = None
    delta: float = 0.0

    def __post_init__(self) -> None:
        for name in ("informed", "low", "high", "is_shown"):
            if getattr(self, name).shape != self.estimate.shape:
                raise ParameterError(name, "View", "of the shape of the estimate", getattr(self, name).shape)

    @classmethod
    def of_counts(cls, counts: Integers, *, epsilon: float | None = None, delta: float = 0.0) -> View:
        """A table of counts that is shown whole.

        Example:
            >>> View.of_counts(np.array([[1, 0], [3, 2]])).table((0,)).tolist()
            [1.0, 5.0]
        """
        numbers = counts.astype(np.float64)
        shown = np.ones(counts.shape, dtype=np.bool_)
        return cls(numbers, numbers, numbers, numbers, shown, epsilon=epsilon, delta=delta)

    def table(self, axes: Axes) -> Floats:
        """The estimates of a table of some of the columns."""
        return self._sums(axes, self.estimate)

    def informed_table(self, axes: Axes) -> Floats:
        """The same by somebody who knows how many people of each kind there are."""
        return self._sums(axes, self.informed)

    def _sums(self, axes: Axes, cells: Floats) -> Floats:
        if self.answer is not None:
            return self.answer(axes)
        gone = tuple(axis for axis in range(cells.ndim) if axis not in axes)
        return np.asarray(cells.sum(axis=gone), dtype=np.float64)


def spread(totals: Floats, groups: Integers, weights: Floats) -> Floats:
    """The totals of groups, spread over their cells in proportion to weights; evenly in a group without any weight.

    Args:
        totals: of each group.
        groups: the group of each cell.
        weights: of each cell.

    Example:
        >>> spread(np.array([6.0, 4.0]), np.array([0, 0, 1, 1]), np.array([1.0, 2.0, 0.0, 0.0])).tolist()
        [2.0, 4.0, 2.0, 2.0]
    """
    flat = groups.ravel()
    sums = np.bincount(flat, weights=weights.ravel(), minlength=totals.size)
    sizes = np.bincount(flat, minlength=totals.size)
    even = totals / np.maximum(sizes, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(sums[flat] > 0, weights.ravel() * totals[flat] / sums[flat], even[flat])
    return share.reshape(groups.shape)
