"""Where people of an invented country go: an inhabited cell in some distance, the more likely the more people live there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sudare.domain import CountTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Cells = NDArray[np.int32]

__all__ = ["NearbyCells"]

BLOCK_BITS = 3
"""Cells are drawn in blocks of 8 x 8."""

CROWDING = 1.6
"""Goals are more crowded than homes: they are drawn by this power of the number of inhabitants."""

TRIES = 3
CENTRE_CELLS = 6


class NearbyCells:
    """The inhabited cells of a country, to draw from.

    Args:
        country: a map of two axes.
    """

    def __init__(self, country: CountTable) -> None:
        self._height, self._width = country.domain.shape
        self._keys, self._counts = country.keys.astype(np.int64), country.counts
        rows, columns = self._keys // self._width, self._keys % self._width
        self._across = (self._width >> BLOCK_BITS) + 1
        blocks = (rows >> BLOCK_BITS) * self._across + (columns >> BLOCK_BITS)
        order = np.argsort(blocks, kind="stable")
        self._cells = self._keys[order].astype(np.int32)
        weights = np.concatenate([[0.0], np.cumsum(self._counts[order] ** CROWDING)])
        number = ((self._height >> BLOCK_BITS) + 1) * self._across
        ends = np.searchsorted(blocks[order], np.arange(number + 1))
        self._weights, self._low, self._high = weights, weights[ends[:-1]], weights[ends[1:]]

    def draw(self, starts: Cells, mean: float, generator: np.random.Generator, choices: int = 1) -> Cells:
        """A goal for each start: about so many cells away, in any direction, and another cell wherever there is one.

        Args:
            starts: cells of the map.
            mean: of the distances, in cells.
            generator: of random numbers.
            choices: among so many blocks the most crowded one is gone to.
        """
        goals = starts.copy()
        wanting = np.arange(starts.size)
        for _ in range(TRIES):
            found = self._draw_once(starts[wanting], mean, generator, choices)
            goals[wanting] = found
            wanting = wanting[found == starts[wanting]]
            if not wanting.size:
                break
        return goals

    def _draw_once(self, starts: Cells, mean: float, generator: np.random.Generator, choices: int) -> Cells:
        rows, columns = starts // self._width, starts % self._width
        block = (rows >> BLOCK_BITS).astype(np.int64) * self._across + (columns >> BLOCK_BITS)
        for choice in range(choices):
            distance = generator.standard_exponential(starts.size, dtype=np.float32) * np.float32(mean)
            angle = generator.random(starts.size, dtype=np.float32) * np.float32(2 * np.pi)
            up = np.clip(rows + distance * np.sin(angle), 0, self._height - 1).astype(np.int64)
            right = np.clip(columns + distance * np.cos(angle), 0, self._width - 1).astype(np.int64)
            there = (up >> BLOCK_BITS) * self._across + (right >> BLOCK_BITS)
            crowd = self._high[there] - self._low[there]
            # Where nobody lives nobody goes; the first choice is taken before the block where one is already.
            is_better = crowd > (0 if choice == 0 else self._high[block] - self._low[block])
            block = np.where(is_better, there, block)
        low, high = self._low[block], self._high[block]
        place = np.searchsorted(self._weights, low + (high - low) * generator.random(starts.size), side="right") - 1
        found: Cells = self._cells[np.clip(place, 0, self._cells.size - 1)]
        return found

    def quiet_cell_near_centre(self) -> int:
        """The inhabited cell with the fewest people close to the most crowded cell: a place for a stadium."""
        centre = int(self._keys[np.argmax(self._counts)])
        near = self.distance(self._keys.astype(np.int32), centre) <= CENTRE_CELLS
        return int(self._keys[near][np.argmin(self._counts[near])])

    def distance(self, cells: Cells, goal: int) -> NDArray[np.float32]:
        """How far cells are from a goal."""
        up = (cells // self._width - goal // self._width).astype(np.float32)
        right = (cells % self._width - goal % self._width).astype(np.float32)
        return np.hypot(up, right)
