"""Layouts: in which order a tree descends into the axes of a domain.

A tree over a domain splits the cells in two, bit by bit. A layout says which axis each split takes: from the top,
alternately for a Morton layout, or all of the first axis before the second for a raster layout. Axes are padded to powers
of two; the padding has no cells and is never seen outside.

Layouts that look at the data (sorting the cells by their counts) are not private and do not exist here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sudare.errors import ParameterError
from sudare.parameters import exact_integer, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Keys = NDArray[np.uint64]

__all__ = ["Layout", "morton_layout", "raster_layout"]

MOST_BITS = 63


@dataclass(frozen=True)
class Layout:
    """Which axis each split of the tree takes, from the top.

    Attributes:
        lengths: places along each axis of the domain.
        axis_of_split: the axis of each split; axis a appears as often as its length has bits.
    """

    lengths: tuple[int, ...]
    axis_of_split: tuple[int, ...]

    def __post_init__(self) -> None:
        wanted = sorted(axis for axis, length in enumerate(self.lengths) for _ in range(axis_bits(length)))
        if sorted(self.axis_of_split) != wanted:
            raise ParameterError("axis_of_split", "Layout", f"an arrangement of {wanted}", self.axis_of_split)
        if self.depth > MOST_BITS:
            raise ParameterError(
                "lengths", "Layout", f"at most {MOST_BITS} bits when padded to powers of two", self.lengths
            )

    @property
    def depth(self) -> int:
        """How many splits lead from the whole domain to a cell."""
        return len(self.axis_of_split)

    @property
    def is_padded(self) -> bool:
        """Whether some leaves of the tree are no cells."""
        return any(length & (length - 1) for length in self.lengths)

    @cached_property
    def _positions(self) -> tuple[tuple[int, ...], ...]:
        """For each axis, the place in the tree key of each bit of its index, lowest first."""
        positions: list[list[int]] = [[] for _ in self.lengths]
        for place, axis in enumerate(reversed(self.axis_of_split)):
            positions[axis].append(place)
        return tuple(map(tuple, positions))

    @cached_property
    def _spread(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        bytes_per_axis = [max(1, -(-len(places) // 8)) for places in self._positions]
        table = np.zeros((len(self.lengths), max(bytes_per_axis), 256), dtype=np.uint64)
        values = np.arange(256, dtype=np.uint64)
        for axis, places in enumerate(self._positions):
            for bit, place in enumerate(places):
                table[axis, bit // 8] |= (values >> np.uint64(bit % 8) & np.uint64(1)) << np.uint64(place)
        return table, np.array(bytes_per_axis, dtype=np.int64)

    @cached_property
    def gather(self) -> NDArray[np.uint64]:
        """For each axis and each byte of a leaf's number, the bits of the index along the axis."""
        table = np.zeros((len(self.lengths), max(1, -(-self.depth // 8)), 256), dtype=np.uint64)
        values = np.arange(256, dtype=np.uint64)
        for axis, places in enumerate(self._positions):
            for bit, place in enumerate(places):
                table[axis, place // 8] |= (values >> np.uint64(place % 8) & np.uint64(1)) << np.uint64(bit)
        return table

    def to_tree(self, keys: Keys) -> Keys:
        """The places of cells among the leaves of the tree, from left to right."""
        from sudare.kernels.layouts import raster_to_tree

        out = np.empty(keys.size, dtype=np.uint64)
        raster_to_tree(np.ascontiguousarray(keys), np.array(self.lengths, dtype=np.uint64), *self._spread, out)
        return out

    def to_raster(self, leaves: Keys) -> Keys:
        """The keys of the cells at these leaves."""
        from sudare.kernels.layouts import tree_to_raster

        out = np.empty(leaves.size, dtype=np.uint64)
        lengths = np.array(self.lengths, dtype=np.uint64)
        tree_to_raster(np.ascontiguousarray(leaves), lengths, self.gather, self.gather.shape[1], out)
        return out


def _read_shape(shape: object, function: str) -> tuple[int, ...]:
    requirement = "a tuple of whole numbers >= 1, such as the shape of a domain"
    if not isinstance(shape, tuple) or not shape:
        raise ParameterError("shape", function, requirement, shown(shape))
    return tuple(exact_integer(length, "shape", function, requirement, smallest=1) for length in shape)


def axis_bits(length: int) -> int:
    """Bits of an index along an axis."""
    return (length - 1).bit_length()


def morton_layout(shape: tuple[int, ...]) -> Layout:
    """The axes in turn, so that every block of the tree is as square as can be. Longer axes are split first.

    Example:
        >>> from sudare.domain import morton_layout
        >>> morton_layout((4, 16)).axis_of_split
        (1, 1, 0, 1, 0, 1)
    """
    shape = _read_shape(shape, "morton_layout")
    left = [axis_bits(length) for length in shape]
    splits: list[int] = []
    while any(left):
        longest = max(left)
        for axis in range(len(shape)):
            if left[axis] == longest:
                splits.append(axis)
                left[axis] -= 1
    return Layout(shape, tuple(splits))


def raster_layout(shape: tuple[int, ...]) -> Layout:
    """All of the first axis, then all of the second, and so on: the cells in the order of their keys.

    Example:
        >>> from sudare.domain import raster_layout
        >>> raster_layout((4, 4)).axis_of_split
        (0, 0, 1, 1)
    """
    shape = _read_shape(shape, "raster_layout")
    return Layout(shape, tuple(axis for axis, length in enumerate(shape) for _ in range(axis_bits(length))))
