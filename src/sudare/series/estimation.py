"""Counts from what was measured so far: the running sum of the changes, estimated from the noisy series alone.

With y = C x + z, the changes are estimated as w = C^-1 y, one tick after the other, and the count is their running sum.
Strategies with buffers need a few numbers of memory for each node, whatever the length of the window; others need
all earlier w.

This is post-processing: it sees what could be published, never a true count.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

from sudare.errors import ParameterError
from sudare.parameters import describe_array, exact_integer
from sudare.series.strategies import SeriesStrategy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

__all__ = ["KeptEstimate", "RunningEstimate", "read_measured", "restore_arrays"]

MAX_NODES = 1 << 32


class RunningEstimate:
    """Estimated counts of the nodes of one level, tick after tick.

    Args:
        strategy: by which the level is measured.
        nodes: how many nodes the level has.

    Example:
        >>> import numpy as np
        >>> from sudare.series.strategies import strategy_for
        >>> estimate = RunningEstimate(strategy_for("fresh", 3, 0), 2)
        >>> estimate.update(np.array([5, 7])).tolist(), estimate.update(np.array([6, 7])).tolist()
        ([5.0, 7.0], [6.0, 7.0])
    """

    def __init__(self, strategy: SeriesStrategy, nodes: int) -> None:
        count = exact_integer(nodes, "nodes", "RunningEstimate", "at least 1", smallest=1, largest=MAX_NODES)
        self.strategy = strategy
        self.tick = 0
        self.counts: Reals = np.zeros(count)
        memory = strategy.ticks if strategy.buffers is None else strategy.buffers.weights.size
        self.memory: Reals = np.zeros((memory, count))
        self._coefficients = strategy.real_coefficients()

    @classmethod
    def restored(
        cls, strategy: SeriesStrategy, nodes: int, tick: int, arrays: Mapping[str, NDArray[np.generic]]
    ) -> Self:
        """An estimate as it was when `arrays` was called: from here on it gives the same bytes.

        Args:
            strategy: by which the level is measured.
            nodes: how many nodes the level has.
            tick: how many ticks were estimated or left out so far.
            arrays: what `arrays` gave then.

        Raises:
            ParameterError: if the arrays are not those of such an estimate.
        """
        estimate = cls(strategy, nodes)
        estimate.restore(tick, arrays)
        return estimate

    def restore(self, tick: int, arrays: Mapping[str, NDArray[np.generic]]) -> None:
        """Become what an estimate was when `arrays` was called: from here on it gives the same bytes.

        Args:
            tick: how many ticks were estimated or left out until then.
            arrays: what `arrays` gave.

        Raises:
            ParameterError: if the arrays are not those of such an estimate.
        """
        restore_arrays(self, "RunningEstimate.restore", tick, arrays)

    def at_tick(self, tick: int) -> None:
        """Set the tick, and with it how much is remembered."""
        self.tick = tick

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """All that the estimate remembers besides its tick. These are the arrays themselves: save them before the next update."""
        used = len(self.memory) if self.strategy.buffers is not None else self.tick
        return {"counts": self.counts, "memory": self.memory[:used]}

    def update(self, measured: NDArray[np.int64]) -> Reals:
        """The counts at the next tick, given what was measured at it.

        Args:
            measured: whole numbers, one for each node.

        Raises:
            ParameterError: if the numbers do not fit, or the window is over.
        """
        read_measured(measured, self.counts.size, "RunningEstimate.update")
        return self._advance((measured / self.strategy.scale - self._expected()) / self._coefficients[0])

    def skip(self) -> Reals:
        """The counts at a tick that was not measured, and at which nobody's change is counted."""
        return self._advance(np.zeros_like(self.counts))

    def _expected(self) -> Reals:
        """What the estimated changes of earlier ticks add to what is measured now."""
        buffers = self.strategy.buffers
        weights = self._coefficients[self.tick : 0 : -1] if buffers is None else buffers.weights
        # Row by row: a product of matrices may add in another order on another machine, and a resumed day has the same bytes.
        expected = np.zeros_like(self.counts)
        for weight, row in zip(weights, self.memory, strict=False):
            expected += weight * row
        return expected

    def _advance(self, change: Reals) -> Reals:
        if self.tick >= self.strategy.ticks:
            raise ParameterError(
                "tick", "RunningEstimate", f"below {self.strategy.ticks}: the window is over", self.tick
            )
        buffers = self.strategy.buffers
        if buffers is not None:
            self.memory *= buffers.decays[:, None]
            self.memory += change
        else:
            self.memory[self.tick] = change
        self.counts = self.counts + change
        self.tick += 1
        return self.counts


class KeptEstimate(Protocol):
    """What goes from tick to tick and can be kept in between."""

    strategy: SeriesStrategy

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """All that is remembered besides the tick."""
        ...

    def at_tick(self, tick: int) -> None:
        """Set the tick, and with it how much is remembered."""
        ...


def restore_arrays(estimate: KeptEstimate, function: str, tick: int, arrays: Mapping[str, NDArray[np.generic]]) -> None:
    """Fill an estimate with what another remembered.

    Raises:
        ParameterError: if the arrays are not those of such an estimate at such a tick.
    """
    ticks = estimate.strategy.ticks
    number = exact_integer(tick, "tick", function, f"from 0 to {ticks}", smallest=0, largest=ticks)
    estimate.at_tick(number)
    for name, now in estimate.arrays().items():
        before = arrays.get(name)
        if not isinstance(before, np.ndarray) or before.shape != now.shape or before.dtype != now.dtype:
            requirement = f"{name} of shape {now.shape} and type {now.dtype}"
            found = "none" if before is None else describe_array(np.asarray(before))
            raise ParameterError("arrays", function, requirement, found)
        now[...] = before


def read_measured(measured: object, nodes: int, function: str) -> NDArray[np.int64]:
    """Whole numbers, one for each node.

    Raises:
        ParameterError: if they are not of this kind.
    """
    if not isinstance(measured, np.ndarray) or measured.shape != (nodes,) or measured.dtype.kind not in "iu":
        found = describe_array(np.asarray(measured))
        raise ParameterError("measured", function, f"{nodes} whole numbers", found)
    return measured
