"""The binary tree as a strategy: sums of the changes over 1, 2, 4, ... ticks, with Honaker's estimate.

Every change is in one sum of each length, so that the tree needs more noise the longer the window is, and each move of a person
touches other sums. It is the classical way to publish running sums, and `sudare.series.planning.compare_strategies` compares it
with the others. For Gaussian noise its errors are 2.1 to 3.3 times those of the power, and at 144 ticks above those of fresh
noise from two moves on. For Laplace noise (a pure epsilon) they are 1.2 to 4 times those of the power at 144 ticks, but 0.6 to
0.8 times at 1,440, where a small delta gains far more. No window is measured by it: at a tick it has several numbers, as many as
there are sums that end, for which neither the filter nor the files of a tick have a place. On streams of counts it can be run as
a baseline (`sudare.series.baselines`).

Proof: ``sensitivity.md`` beside this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from sudare.errors import ParameterError
from sudare.parameters import describe_array, exact_integer
from sudare.series.sensitivity import path_l2_squared
from sudare.series.strategies import MAX_TICKS, Norm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Reals = NDArray[np.float64]

__all__ = ["TreeEstimate", "TreeStrategy"]


@dataclass(frozen=True)
class TreeStrategy:
    """Sums over 2**h ticks that begin at a multiple of 2**h and end within the window.

    Args:
        ticks: how many ticks a window has.

    Raises:
        ParameterError: if the number is out of range.

    Example:
        >>> TreeStrategy(4).lengths(3)  # tick 3 ends a sum over itself, one over two ticks, and one over all four
        (1, 2, 4)
        >>> round(TreeStrategy(144).noise_factor(2), 1)
        12.9
    """

    ticks: int

    def __post_init__(self) -> None:
        requirement = f"from 1 to {MAX_TICKS}"
        number = exact_integer(self.ticks, "ticks", "TreeStrategy", requirement, smallest=1, largest=MAX_TICKS)
        object.__setattr__(self, "ticks", number)

    @staticmethod
    def lengths(tick: int) -> tuple[int, ...]:
        """The lengths of the sums that end with a tick, shortest first."""
        lowest = (tick + 1) & -(tick + 1)
        return tuple(1 << height for height in range(lowest.bit_length()))

    def gram(self) -> Counts:
        """How many sums each two ticks share."""
        places = np.arange(self.ticks)
        shared = np.zeros((self.ticks, self.ticks), dtype=np.int64)
        for height in range(self.ticks.bit_length()):
            block = places >> height
            ends = ((block + 1) << height) <= self.ticks
            shared += (block[:, None] == block[None, :]) & ends[:, None]
        return shared

    def l2_squared(self, moves: int, *, may_leave: bool = True) -> int:
        """The squared l2 sensitivity of all sums, by the chain formula."""
        return path_l2_squared(self.gram(), moves, may_leave=may_leave)

    def deviations(self) -> Reals:
        """The standard deviation of the estimated count at each tick, for noise of standard deviation 1 on every sum."""
        estimate, found = TreeEstimate(1), []
        for tick in range(self.ticks):
            estimate.update(np.zeros((len(self.lengths(tick)), 1), dtype=np.int64))
            found.append(sqrt(estimate.variance))
        return np.array(found)

    def l1(self, moves: int, *, may_leave: bool = True) -> int:
        """The l1 sensitivity of all sums: what a stay adds to one is 1, 0 or -1, so that it is the squared l2 norm."""
        return self.l2_squared(moves, may_leave=may_leave)

    def noise_factor(self, moves: int, *, may_leave: bool = True, norm: Norm = "l2") -> float:
        """The largest standard deviation of a count, by which strategies are compared: at rho = 1/2, or at epsilon = 1 in l1."""
        if norm == "l1":
            return float(self.deviations().max()) * sqrt(2) * self.l1(moves, may_leave=may_leave)
        return float(self.deviations().max()) * sqrt(self.l2_squared(moves, may_leave=may_leave))


class TreeEstimate:
    """Running sums from the noisy sums of a tree, each with all sums inside it: Honaker's estimate from below.

    A sum over 2 l ticks is known from its own measurement, with variance 1, and from the estimates of its two halves. Both are
    weighed by their variances. Memory: one number for each node and each power of two within the ticks so far.

    Args:
        nodes: how many series there are.

    Attributes:
        tick: the number of the next tick.
        variance: of the counts after the last tick, for noise of variance 1.

    Reference: J. Honaker, Efficient use of differentially private binary trees, TPDP 2015.

    Example:
        >>> import numpy as np
        >>> estimate = TreeEstimate(1)
        >>> [estimate.update(np.array(rows)).tolist() for rows in ([[6]], [[3], [9]])]
        [[6.0], [9.0]]
    """

    def __init__(self, nodes: int) -> None:
        self.nodes = exact_integer(nodes, "nodes", "TreeEstimate", "at least 1", smallest=1)
        self.tick = 0
        self._ended: list[tuple[Reals, float]] = []

    @property
    def variance(self) -> float:
        """Of the counts after the last tick, for noise of variance 1."""
        return sum(variance for _, variance in self._ended)

    def update(self, measured: Counts) -> Reals:
        """The counts at the next tick.

        Args:
            measured: a row of whole numbers for each sum that ends with the tick, shortest first.

        Raises:
            ParameterError: if there are not as many.
        """
        shape = len(TreeStrategy.lengths(self.tick)), self.nodes
        if not isinstance(measured, np.ndarray) or measured.shape != shape or measured.dtype.kind not in "iu":
            found = describe_array(np.asarray(measured))
            raise ParameterError("measured", "TreeEstimate.update", f"whole numbers of shape {shape}", found)
        value, variance = measured[0].astype(np.float64), 1.0
        for own in measured[1:]:
            left, left_variance = self._ended.pop()
            below = left_variance + variance
            weight = below / (1 + below)
            value, variance = weight * own + (1 - weight) * (left + value), weight
        self._ended.append((value, variance))
        self.tick += 1
        return np.asarray(sum(one for one, _ in self._ended))
