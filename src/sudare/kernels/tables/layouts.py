"""Keys of cells in one order from keys in another, key by key.

A raster key counts cells row by row (mixed radix, last axis fastest). A tree key is a rearrangement of the bits of the
cell's indices along the axes. Rearranging is linear in the bits, so a table for each byte of each index gives it by a few
look-ups and ORs.

`shuffle` is a permutation of the keys that looks random, `turn_ends` one of those near the ends of axes; the other two follow
Hilbert's curve.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import inlined, kernel

__all__ = [
    "hilbert_to_raster",
    "mix_words",
    "raster_to_hilbert",
    "raster_to_tree",
    "shuffle",
    "tree_to_raster",
    "turn_ends",
]


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


@inlined
def mixed(word: Any) -> Any:
    """A word each of whose bits depends on all bits of another: multiplications by odd numbers and shifts, in turn."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@kernel("void(uint64[::1])")
def mix_words(words: Any) -> None:
    """Replace each word by its mixture."""
    for i in range(words.size):
        words[i] = mixed(words[i])


@kernel(
    "void(uint64[::1], uint64[::1], uint64[::1], uint64[::1], uint64, boolean, uint64[::1])", read_only=(0, 1, 2, 3)
)
def turn_ends(keys: Any, lengths: Any, turning: Any, bits: Any, word: Any, backward: bool, out: Any) -> None:
    """Turn the last ``turning[axis]`` places of each axis in a circle, or undo it.

    How far depends on the word and on the other axes' indices without their lowest ``bits[axis]`` bits. Axes are turned
    one after the other, and back in the opposite order.
    """
    axes = lengths.size
    index = np.empty(axes, dtype=np.uint64)
    for i in range(keys.size):
        rest = keys[i]
        for axis in range(axes - 1, -1, -1):
            quotient = rest // lengths[axis]
            index[axis] = rest - quotient * lengths[axis]
            rest = quotient
        for number in range(axes):
            axis = axes - 1 - number if backward else number
            circle = turning[axis]
            first = lengths[axis] - circle
            if circle < np.uint64(2) or index[axis] < first:
                continue
            block = word
            for other in range(axes):
                seen = np.uint64(0) if other == axis else index[other] >> bits[axis]
                block = mixed(block + seen + np.uint64(0x9E3779B97F4A7C15))
            by = block % circle
            index[axis] = first + (index[axis] - first + (circle - by if backward else by)) % circle
        key = np.uint64(0)
        for axis in range(axes):
            key = key * lengths[axis] + index[axis]
        out[i] = key


@kernel("void(uint64[::1], uint64, int64, uint64[::1], boolean, uint64[::1])", read_only=(0, 3))
def shuffle(keys: Any, cells: Any, bits: int, rounds: Any, backward: bool, out: Any) -> None:
    """Permute the keys below ``cells``, or undo it. A key that is no cell stays.

    A round parts the bits into an upper and a lower half and hands on (lower, upper XOR mixture of lower). Where there
    is an odd number of bits the halves change their widths in every round; the rounds are even in number, so that
    they end as they began. Below 2**bits this is a permutation. A result that is no cell goes round again: cycles
    close, so a cell's cycle always comes back to a cell.
    """
    for i in range(keys.size):
        key = keys[i]
        if key < cells and bits > 0:
            while True:
                width = bits // 2  # of the lower half, at the beginning and, because rounds are even, at the end
                for turn in range(rounds.size):
                    number = rounds[rounds.size - 1 - turn] if backward else rounds[turn]
                    mask = (np.uint64(1) << np.uint64(width)) - np.uint64(1)
                    other_mask = (np.uint64(1) << np.uint64(bits - width)) - np.uint64(1)
                    if backward:
                        # A round made (lower, upper XOR mixture): what was mixed is the upper half now.
                        lower = key >> np.uint64(width)
                        upper = (key & mask) ^ (mixed(lower + number) & mask)
                        key = (upper << np.uint64(bits - width)) | lower
                    else:
                        lower = key & mask
                        upper = (key >> np.uint64(width)) ^ (mixed(lower + number) & other_mask)
                        key = (lower << np.uint64(bits - width)) | upper
                    width = bits - width
                if key < cells:
                    break
        out[i] = key


@kernel("void(uint64[::1], int64, uint64[::1])", read_only=(0,))
def raster_to_hilbert(keys: Any, bits: int, out: Any) -> None:
    """Places along Hilbert's curve of the cells of a square of 2**bits a side.

    From the coarsest quarters to the finest: the curve visits the quarters (0, 0), (0, 1), (1, 1), (1, 0) of (column,
    row). In the first it runs with the axes exchanged, in the last with the axes exchanged and reversed.
    """
    every_bit = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    for i in range(keys.size):
        row, column = keys[i] >> np.uint64(bits), keys[i] & every_bit
        place = np.uint64(0)
        for level in range(bits - 1, -1, -1):
            down, right = (row >> np.uint64(level)) & np.uint64(1), (column >> np.uint64(level)) & np.uint64(1)
            place = (place << np.uint64(2)) | ((down << np.uint64(1)) | (down ^ right))
            if right == np.uint64(0):
                if down == np.uint64(1):
                    row, column = row ^ every_bit, column ^ every_bit
                row, column = column, row
        out[i] = place


@kernel("void(uint64[::1], int64, uint64[::1])", read_only=(0,))
def hilbert_to_raster(places: Any, bits: int, out: Any) -> None:
    """Cells at places of Hilbert's curve: the steps of `raster_to_hilbert` undone, from the finest quarters up."""
    for i in range(places.size):
        row, column = np.uint64(0), np.uint64(0)
        for level in range(bits):
            quarter = (places[i] >> np.uint64(2 * level)) & np.uint64(3)
            down = quarter >> np.uint64(1)
            right = (quarter ^ down) & np.uint64(1)
            if right == np.uint64(0):
                row, column = column, row
                if down == np.uint64(1):
                    every_bit = (np.uint64(1) << np.uint64(level)) - np.uint64(1)
                    row, column = row ^ every_bit, column ^ every_bit
            row |= down << np.uint64(level)
            column |= right << np.uint64(level)
        out[i] = (row << np.uint64(bits)) | column
