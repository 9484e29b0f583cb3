"""Keys of cells in one order from keys in another, by bit tables.

A raster key counts cells row by row (mixed radix, last axis fastest). A tree key is a rearrangement of the bits of the
cell's indices along the axes. Rearranging is linear in the bits, so a table for each byte of each index gives it by a few
look-ups and ORs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import kernel

__all__ = ["raster_to_tree", "tree_to_raster"]


@kernel("void(uint64[::1], uint64[::1], uint64[:, :, ::1], int64[::1], uint64[::1])", read_only=(0, 1, 2, 3))
def raster_to_tree(keys: Any, lengths: Any, spread: Any, bytes_per_axis: Any, out: Any) -> None:
    """Tree keys of raster keys. ``spread[axis, byte, value]`` are the tree bits of one byte of an index."""
    axes = lengths.size
    for i in range(keys.size):
        rest = keys[i]
        tree = np.uint64(0)
        for axis in range(axes - 1, -1, -1):
            quotient = rest // lengths[axis]
            index = rest - quotient * lengths[axis]
            rest = quotient
            for byte in range(bytes_per_axis[axis]):
                tree |= spread[axis, byte, index & np.uint64(255)]
                index >>= np.uint64(8)
        out[i] = tree


@kernel("void(uint64[::1], uint64[::1], uint64[:, :, ::1], int64, uint64[::1])", read_only=(0, 1, 2))
def tree_to_raster(keys: Any, lengths: Any, gather: Any, bytes_per_key: int, out: Any) -> None:
    """Raster keys of tree keys. ``gather[axis, byte, value]`` are the bits of an axis's index in one byte of the tree key."""
    axes = lengths.size
    for i in range(keys.size):
        raster = np.uint64(0)
        for axis in range(axes):
            rest = keys[i]
            index = np.uint64(0)
            for byte in range(bytes_per_key):
                index |= gather[axis, byte, rest & np.uint64(255)]
                rest >>= np.uint64(8)
            raster = raster * lengths[axis] + index
        out[i] = raster
