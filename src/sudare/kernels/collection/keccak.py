"""TurboSHAKE128 (RFC 9861) of many messages of one length: the permutation Keccak-p[1600, 12] in a sponge of 168 bytes.

The state is 25 words, named by column and row (``a30`` is column 3, row 0). A round is written out, because an array
for the state costs four times as much.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import inlined, kernel

__all__ = ["RATE_WORDS", "sponge"]

RATE_WORDS = 21
"""Words that a permutation takes in or gives out."""

WORD_BITS = np.uint64(64)
ROUND_CONSTANTS = np.array(
    [
        0x000000008000808B,
        0x800000000000008B,
        0x8000000000008089,
        0x8000000000008003,
        0x8000000000008002,
        0x8000000000000080,
        0x000000000000800A,
        0x800000008000000A,
        0x8000000080008081,
        0x8000000000008080,
        0x0000000080000001,
        0x8000000080008008,
    ],
    dtype=np.uint64,
)
"""Of the last 12 of Keccak's 24 rounds."""


@inlined
def turn(word: Any, by: int) -> Any:
    """Rotate a word to the left by 1 to 63 bits."""
    places = np.uint64(by)
    return (word << places) | (word >> (WORD_BITS - places))


@kernel("void(uint64[::1])")
def permute(state: Any) -> None:
    """Keccak-p[1600, 12] in place.

    Each round mixes the columns, turns and moves every word, combines the rows, and adds its constant.
    """
    a00, a10, a20, a30, a40 = state[0], state[1], state[2], state[3], state[4]
    a01, a11, a21, a31, a41 = state[5], state[6], state[7], state[8], state[9]
    a02, a12, a22, a32, a42 = state[10], state[11], state[12], state[13], state[14]
    a03, a13, a23, a33, a43 = state[15], state[16], state[17], state[18], state[19]
    a04, a14, a24, a34, a44 = state[20], state[21], state[22], state[23], state[24]
    for step in range(12):
        c0 = a00 ^ a01 ^ a02 ^ a03 ^ a04
        c1 = a10 ^ a11 ^ a12 ^ a13 ^ a14
        c2 = a20 ^ a21 ^ a22 ^ a23 ^ a24
        c3 = a30 ^ a31 ^ a32 ^ a33 ^ a34
        c4 = a40 ^ a41 ^ a42 ^ a43 ^ a44
        d0 = c4 ^ turn(c1, 1)
        d1 = c0 ^ turn(c2, 1)
        d2 = c1 ^ turn(c3, 1)
        d3 = c2 ^ turn(c4, 1)
        d4 = c3 ^ turn(c0, 1)
        b00 = a00 ^ d0
        b13 = turn(a01 ^ d0, 36)
        b21 = turn(a02 ^ d0, 3)
        b34 = turn(a03 ^ d0, 41)
        b42 = turn(a04 ^ d0, 18)
        b02 = turn(a10 ^ d1, 1)
        b10 = turn(a11 ^ d1, 44)
        b23 = turn(a12 ^ d1, 10)
        b31 = turn(a13 ^ d1, 45)
        b44 = turn(a14 ^ d1, 2)
        b04 = turn(a20 ^ d2, 62)
        b12 = turn(a21 ^ d2, 6)
        b20 = turn(a22 ^ d2, 43)
        b33 = turn(a23 ^ d2, 15)
        b41 = turn(a24 ^ d2, 61)
        b01 = turn(a30 ^ d3, 28)
        b14 = turn(a31 ^ d3, 55)
        b22 = turn(a32 ^ d3, 25)
        b30 = turn(a33 ^ d3, 21)
        b43 = turn(a34 ^ d3, 56)
        b03 = turn(a40 ^ d4, 27)
        b11 = turn(a41 ^ d4, 20)
        b24 = turn(a42 ^ d4, 39)
        b32 = turn(a43 ^ d4, 8)
        b40 = turn(a44 ^ d4, 14)
        a00 = b00 ^ (~b10 & b20)
        a10 = b10 ^ (~b20 & b30)
        a20 = b20 ^ (~b30 & b40)
        a30 = b30 ^ (~b40 & b00)
        a40 = b40 ^ (~b00 & b10)
        a01 = b01 ^ (~b11 & b21)
        a11 = b11 ^ (~b21 & b31)
        a21 = b21 ^ (~b31 & b41)
        a31 = b31 ^ (~b41 & b01)
        a41 = b41 ^ (~b01 & b11)
        a02 = b02 ^ (~b12 & b22)
        a12 = b12 ^ (~b22 & b32)
        a22 = b22 ^ (~b32 & b42)
        a32 = b32 ^ (~b42 & b02)
        a42 = b42 ^ (~b02 & b12)
        a03 = b03 ^ (~b13 & b23)
        a13 = b13 ^ (~b23 & b33)
        a23 = b23 ^ (~b33 & b43)
        a33 = b33 ^ (~b43 & b03)
        a43 = b43 ^ (~b03 & b13)
        a04 = b04 ^ (~b14 & b24)
        a14 = b14 ^ (~b24 & b34)
        a24 = b24 ^ (~b34 & b44)
        a34 = b34 ^ (~b44 & b04)
        a44 = b44 ^ (~b04 & b14)
        a00 ^= ROUND_CONSTANTS[step]
    state[0], state[1], state[2], state[3], state[4] = a00, a10, a20, a30, a40
    state[5], state[6], state[7], state[8], state[9] = a01, a11, a21, a31, a41
    state[10], state[11], state[12], state[13], state[14] = a02, a12, a22, a32, a42
    state[15], state[16], state[17], state[18], state[19] = a03, a13, a23, a33, a43
    state[20], state[21], state[22], state[23], state[24] = a04, a14, a24, a34, a44


@kernel("void(uint64[:,::1], uint64[:,::1])", read_only=(0,))
def sponge(blocks: Any, out: Any) -> None:
    """Absorb each row of whole, padded blocks, and squeeze as many words as a row of ``out`` holds."""
    state = np.empty(25, dtype=np.uint64)
    for row in range(blocks.shape[0]):
        state[:] = np.uint64(0)
        for start in range(0, blocks.shape[1], RATE_WORDS):
            for i in range(RATE_WORDS):
                state[i] ^= blocks[row, start + i]
            permute(state)
        for start in range(0, out.shape[1], RATE_WORDS):
            if start:
                permute(state)
            for i in range(min(RATE_WORDS, out.shape[1] - start)):
                out[row, start + i] = state[i]
