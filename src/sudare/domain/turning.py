"""Padded axes on which no cell is always last: cells near the end of an axis form a circle, which is turned block by block.

An axis whose length is no power of two ends in nodes of a tree that have fewer cells than others. A tree mechanism knows the
counts of nodes and not of cells: where noise outweighs people, a node with one cell is given as many as a node with four, and
the last category of a table gains what its neighbours lose. No rule that looks at the noisy counts of such a node
mends this for all tables. Here, the last cells of an axis stand in a circle, and the circle is turned by an amount that looks
random and differs from block to block of the other axes: each of these cells is at the tree's end in some blocks, none in all.

How far a block is turned follows from a public key alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Keys = NDArray[np.uint64]

__all__ = ["TurnedEnds"]

ALIGNED = 8
"""Areas of this many places a side stay where they are, but for the last whole one: it turns with what is left over."""


def places_that_turn(length: int) -> int:
    """How many of the last places along an axis stand in a circle; 0 where no node of a few cells is cut off."""
    if not length & (length - 1):
        return 0
    left_over = length % ALIGNED
    return length if length < ALIGNED else (ALIGNED + left_over if left_over else 0)


@dataclass(frozen=True)
class TurnedEnds:
    """The cells near the ends of padded axes, turned in circles.

    One axis after the other is turned, by an amount that depends on the blocks of the other axes that the cell is then in. Each
    turn leaves those where they are and can be undone, so all of them together are a permutation of the cells.

    Attributes:
        lengths: places along each axis.
        key: which of the turns; a whole number from 0 to 2**64 - 1.
        fixed: axes that are not turned, because the tree parts each of their places from the others first.
    """

    lengths: tuple[int, ...]
    key: int
    fixed: tuple[int, ...] = ()

    @cached_property
    def _settings(self) -> tuple[Keys, Keys, Keys]:
        """Of each axis: its length, how many places turn, and how many bits of other axes' indices are within a block."""
        turning = [0 if axis in self.fixed else places_that_turn(n) for axis, n in enumerate(self.lengths)]
        bits = [max(places - 1, 0).bit_length() for places in turning]
        of_lengths, of_turning, of_bits = (
            np.array(numbers, dtype=np.uint64) for numbers in (self.lengths, turning, bits)
        )
        return of_lengths, of_turning, of_bits

    def arrange(self, keys: Keys) -> Keys:
        """The places of cells in the new order."""
        return self._turn(keys, backward=False)

    def restore(self, places: Keys) -> Keys:
        """The keys of the cells at these places."""
        return self._turn(places, backward=True)

    def _turn(self, keys: Keys, *, backward: bool) -> Keys:
        from sudare.kernels.tables.layouts import turn_ends

        out = np.empty(keys.size, dtype=np.uint64)
        turn_ends(np.ascontiguousarray(keys), *self._settings, np.uint64(self.key), backward, out)
        return out
