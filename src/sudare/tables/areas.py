"""Aligned areas of a map: squares whose sides are powers of two, and the nodes of a tree that they are."""

from __future__ import annotations

from dataclasses import dataclass

from sudare.domain.layout import Layout, axis_bits
from sudare.tables.dense_tree import MOST_DENSE_BITS

__all__ = ["Areas"]

LARGEST_GUARDED_SIDE = 256


@dataclass(frozen=True)
class Areas:
    """Aligned areas of a layout by their sides.

    Attributes:
        layout: how the cells lie along the leaves.
        dimensions: of each axis: an area of side s is s to this power places long along it; 0 for categories, one at a time.
    """

    layout: Layout
    dimensions: tuple[int, ...]

    @property
    def longest(self) -> int:
        """The side of the largest area."""
        return max(
            length if number == 1 else 1 << -(-axis_bits(length) // number)
            for length, number in zip(self.layout.lengths, self.dimensions, strict=True)
            if number
        )

    def height(self, side: int) -> int:
        """The height of the node that an aligned area of a side is: a power of two along each axis, or all of it."""
        bits = side.bit_length() - 1
        lengths = zip(self.layout.lengths, self.dimensions, strict=True)
        return sum(min(bits * number, axis_bits(length)) for length, number in lengths)

    def sides_up_to(self, largest: int) -> list[int]:
        """Powers of two that are sides of areas."""
        return [1 << bits for bits in range(max(axis_bits(self.longest), 1)) if 1 << bits <= largest]

    def guarded_heights(self) -> list[int]:
        """Sizes at which a plan may not be worse than NN-Wavelet.

        Where all levels are combined, sums of areas make up for a vague total; else the largest sizes need a guard as well.
        """
        if self.layout.depth > MOST_DENSE_BITS:
            return [*(self.height(side) for side in self.sides_up_to(self.longest)), self.layout.depth]
        return [self.height(side) for side in self.sides_up_to(LARGEST_GUARDED_SIDE)]
