"""A family of hash functions, one for each seed, and how many reports support each value.

``hash(seed, value) = (top half of mix(seed ^ mix(value + 1))) * range >> 32``, where `mix` is a bijection of 64-bit words:
two rounds of xorshift and multiplication and a last xorshift, with the constants of Stafford's variant 13. A device computes the
same in a few lines of any language; ``collect/randomizers/hashing.md`` says what is proved of it and what is assumed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import inlined, kernel

__all__ = ["count_supports", "hash_places"]

BLOCK = 4096


@inlined
def mix(word: Any) -> Any:
    """A bijection of words in which every bit of the argument moves every bit of the result."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@inlined
def hashed(seed: Any, key: Any, size: Any) -> Any:
    """The top half of the mixed word, scaled to the range."""
    return ((mix(seed ^ key) >> np.uint64(32)) * size) >> np.uint64(32)


@kernel("void(uint64[::1], int64[::1], int64, int64[::1])", read_only=(0, 1))
def hash_places(seeds: Any, places: Any, size: int, out: Any) -> None:
    """The hash of each person's value under that person's seed."""
    for i in range(places.size):
        out[i] = np.int64(hashed(seeds[i], mix(np.uint64(places[i] + 1)), np.uint64(size)))


@kernel("void(uint64[:, ::1], int64, int64[::1])", read_only=(0,))
def count_supports(reports: Any, size: int, supports: Any) -> None:
    """Add to each value how many reports (seed, hash) it could have come from: its hash under the seed is the one reported."""
    seeds, told = np.empty(BLOCK, dtype=np.uint64), np.empty(BLOCK, dtype=np.uint64)
    for start in range(0, reports.shape[0], BLOCK):
        length = min(BLOCK, reports.shape[0] - start)
        for i in range(length):
            seeds[i], told[i] = reports[start + i, 0], reports[start + i, 1]
        for value in range(supports.size):
            key = mix(np.uint64(value + 1))
            found: Any = 0
            for i in range(length):
                found += np.int64(hashed(seeds[i], key, np.uint64(size)) == told[i])
            supports[value] += found
