"""Keyed BLAKE2b (RFC 7693) and HMAC-SHA-256 (RFC 2104) of many short messages, and digests as fixed-width texts.

Messages come as Arrow keeps texts: one run of bytes, and offsets into it. The key is taken in once for all messages: what is left
for a message of up to 128 bytes is one compression of BLAKE2b, or two of SHA-256. Digests have 32 bytes; texts are cut
from them as ``hexdigest()[:width]`` would, without a Python object for each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import inlined, kernel

__all__ = ["blake2b_digests", "blake2b_start", "digits_of_digests", "hmac_digests", "hmac_start", "symbols_of_digests"]

BLAKE2B_IV = np.array(
    [
        0x6A09E667F3BCC908,
        0xBB67AE8584CAA73B,
        0x3C6EF372FE94F82B,
        0xA54FF53A5F1D36F1,
        0x510E527FADE682D1,
        0x9B05688C2B3E6C1F,
        0x1F83D9ABFB41BD6B,
        0x5BE0CD19137E2179,
    ],
    dtype=np.uint64,
)
SIGMA = np.array(
    [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
        [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
        [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
        [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
        [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
        [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
        [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
        [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    ],
    dtype=np.uint64,
)
"""Which word of the message each step of each round takes; unsigned, so that no index is checked for its sign."""

SHA256_IV = np.array(
    [0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19], dtype=np.uint32
)


def _cube_root_words() -> Any:
    """The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2)."""
    primes = [n for n in range(2, 312) if all(n % d for d in range(2, int(n**0.5) + 1))]
    words = []
    for prime in primes:
        scaled, root = prime << 96, 1 << 40
        while root**3 > scaled:  # Newton's method from above ends at the whole part of the cube root
            root = (2 * root + scaled // (root * root)) // 3
        words.append(root & 0xFFFFFFFF)
    return np.array(words, dtype=np.uint32)


SHA256_K = _cube_root_words()

BLAKE2B_BLOCK, SHA256_BLOCK, DIGEST_BYTES = 128, 64, 32
U64_8, U64_16, U64_24, U64_32, U64_40, U64_63 = (np.uint64(n) for n in (8, 16, 24, 32, 40, 63))
U64_1, LOW_32 = np.uint64(1), np.uint64(0xFFFFFFFF)


@inlined
def mixed(a: Any, b: Any, c: Any, d: Any, x: Any, y: Any) -> Any:
    """The function G of RFC 7693: four words of the state mixed with two of the message."""
    a = a + b + x
    d = d ^ a
    d = (d >> U64_32) | (d << U64_32)
    c = c + d
    b = b ^ c
    b = (b >> U64_24) | (b << U64_40)
    a = a + b + y
    d = d ^ a
    d = (d >> U64_16) | (d << np.uint64(48))
    c = c + d
    b = b ^ c
    b = (b >> U64_63) | (b << U64_1)
    return a, b, c, d


@kernel("void(uint64[::1], uint64[::1], uint64, uint64)", read_only=(1,))
def blake2b_compress(h: Any, m: Any, counter: Any, last: Any) -> None:
    """Take one block of 16 words into the state; ``last`` is all ones for the last block, else 0."""
    v0, v1, v2, v3, v4, v5, v6, v7 = h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7]
    v8, v9, v10, v11 = BLAKE2B_IV[0], BLAKE2B_IV[1], BLAKE2B_IV[2], BLAKE2B_IV[3]
    v12, v13, v14, v15 = BLAKE2B_IV[4] ^ counter, BLAKE2B_IV[5], BLAKE2B_IV[6] ^ last, BLAKE2B_IV[7]
    for step in range(12):
        s = SIGMA[step]
        v0, v4, v8, v12 = mixed(v0, v4, v8, v12, m[s[0]], m[s[1]])
        v1, v5, v9, v13 = mixed(v1, v5, v9, v13, m[s[2]], m[s[3]])
        v2, v6, v10, v14 = mixed(v2, v6, v10, v14, m[s[4]], m[s[5]])
        v3, v7, v11, v15 = mixed(v3, v7, v11, v15, m[s[6]], m[s[7]])
        v0, v5, v10, v15 = mixed(v0, v5, v10, v15, m[s[8]], m[s[9]])
        v1, v6, v11, v12 = mixed(v1, v6, v11, v12, m[s[10]], m[s[11]])
        v2, v7, v8, v13 = mixed(v2, v7, v8, v13, m[s[12]], m[s[13]])
        v3, v4, v9, v14 = mixed(v3, v4, v9, v14, m[s[14]], m[s[15]])
    h[0] ^= v0 ^ v8
    h[1] ^= v1 ^ v9
    h[2] ^= v2 ^ v10
    h[3] ^= v3 ^ v11
    h[4] ^= v4 ^ v12
    h[5] ^= v5 ^ v13
    h[6] ^= v6 ^ v14
    h[7] ^= v7 ^ v15


def blake2b_start(key: bytes) -> Any:
    """Two states under a key of 1 to 64 bytes: after its block, and finished, which is the digest of the empty message."""
    h = BLAKE2B_IV.copy()
    h[0] ^= np.uint64(0x01010000 ^ (len(key) << 8) ^ DIGEST_BYTES)
    block = np.frombuffer(key.ljust(BLAKE2B_BLOCK, b"\0"), dtype="<u8").astype(np.uint64)
    states = np.stack([h, h])
    blake2b_compress(states[0], block, np.uint64(BLAKE2B_BLOCK), np.uint64(0))
    blake2b_compress(states[1], block, np.uint64(BLAKE2B_BLOCK), np.uint64(2**64 - 1))
    return states


@kernel("void(int64[::1], uint8[::1], uint64[:,::1], uint8[:,::1])", read_only=(0, 1, 2))
def blake2b_digests(offsets: Any, data: Any, start: Any, out: Any) -> None:
    """Keyed BLAKE2b-256 of each message ``data[offsets[i]:offsets[i + 1]]``."""
    h, m = np.empty(8, dtype=np.uint64), np.empty(16, dtype=np.uint64)
    for row in range(out.shape[0]):
        first, end = offsets[row], offsets[row + 1]
        if first == end:
            h[:] = start[1]
        else:
            h[:] = start[0]
            counter = np.uint64(BLAKE2B_BLOCK)
            while first < end:
                taken = min(np.int64(BLAKE2B_BLOCK), end - first)
                m[:] = np.uint64(0)
                for i in range(taken):
                    m[i >> 3] |= np.uint64(data[first + i]) << np.uint64((i & 7) << 3)
                first += taken
                counter += np.uint64(taken)
                last = np.uint64(0xFFFFFFFFFFFFFFFF) if first == end else np.uint64(0)
                blake2b_compress(h, m, counter, last)
        for i in range(DIGEST_BYTES):
            out[row, i] = np.uint8((h[i >> 3] >> np.uint64((i & 7) << 3)) & np.uint64(255))


@inlined
def turned(word: Any, by: int) -> Any:
    """Rotate 32 bits to the right."""
    return (word >> np.uint32(by)) | (word << np.uint32(32 - by))


@kernel("void(uint32[::1], uint32[::1])")
def sha256_compress(state: Any, w: Any) -> None:
    """Take one block into the state; ``w`` has room for 64 words, of which the first 16 are the block."""
    for i in range(16, 64):
        x, y = w[i - 15], w[i - 2]
        s0 = turned(x, 7) ^ turned(x, 18) ^ (x >> np.uint32(3))
        s1 = turned(y, 17) ^ turned(y, 19) ^ (y >> np.uint32(10))
        w[i] = np.uint32(w[i - 16] + s0 + w[i - 7] + s1)
    a, b, c, d, e, f, g, h = state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7]
    for i in range(64):
        s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)
        one = np.uint32(h + s1 + ((e & f) ^ (~e & g)) + SHA256_K[i] + w[i])
        s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)
        two = np.uint32(s0 + ((a & b) ^ (a & c) ^ (b & c)))
        h, g, f, e, d, c, b, a = g, f, e, np.uint32(d + one), c, b, a, np.uint32(one + two)
    state[0] += a
    state[1] += b
    state[2] += c
    state[3] += d
    state[4] += e
    state[5] += f
    state[6] += g
    state[7] += h


def hmac_start(key: bytes) -> Any:
    """The states of the inner and the outer hash after their block of the key, which has up to 64 bytes."""
    states = np.stack([SHA256_IV, SHA256_IV])
    for state, pad in zip(states, (0x36, 0x5C), strict=True):
        block = bytes(byte ^ pad for byte in key.ljust(SHA256_BLOCK, b"\0"))
        words = np.zeros(64, dtype=np.uint32)
        words[:16] = np.frombuffer(block, dtype=">u4")
        sha256_compress(state, words)
    return states


@kernel("void(int64[::1], uint8[::1], uint32[:,::1], uint8[:,::1])", read_only=(0, 1, 2))
def hmac_digests(offsets: Any, data: Any, start: Any, out: Any) -> None:
    """HMAC-SHA-256 of each message ``data[offsets[i]:offsets[i + 1]]``."""
    state, w = np.empty(8, dtype=np.uint32), np.empty(64, dtype=np.uint32)
    for row in range(out.shape[0]):
        first, length = offsets[row], offsets[row + 1] - offsets[row]
        state[:] = start[0]
        # The message, a byte 0x80, zeros, and eight bytes with the length in bits, the block of the key included.
        blocks = (length + 9 + SHA256_BLOCK - 1) // SHA256_BLOCK
        bits = np.uint64((length + SHA256_BLOCK) * 8)
        for block in range(blocks):
            w[:16] = np.uint32(0)
            begin = block * SHA256_BLOCK
            for i in range(min(np.int64(SHA256_BLOCK), max(np.int64(0), length - begin))):
                w[i >> 2] |= np.uint32(np.uint32(data[first + begin + i]) << np.uint32(24 - ((i & 3) << 3)))
            if begin <= length < begin + SHA256_BLOCK:
                i = length - begin
                w[i >> 2] |= np.uint32(np.uint32(0x80) << np.uint32(24 - ((i & 3) << 3)))
            if block == blocks - 1:
                w[14], w[15] = np.uint32(bits >> U64_32), np.uint32(bits & LOW_32)
            sha256_compress(state, w)
        w[:8] = state
        w[8], w[15] = np.uint32(0x80000000), np.uint32((SHA256_BLOCK + DIGEST_BYTES) * 8)
        w[9:15] = np.uint32(0)
        state[:] = start[1]
        sha256_compress(state, w)
        for i in range(DIGEST_BYTES):
            out[row, i] = np.uint8((state[i >> 2] >> np.uint32(24 - ((i & 3) << 3))) & np.uint32(255))


@kernel("void(uint8[:,::1], uint8[::1], int64, uint8[:,::1])", read_only=(0, 1))
def symbols_of_digests(digests: Any, alphabet: Any, bits: int, out: Any) -> None:
    """The first symbols of each digest, each of 4 or 5 bits, as ``hex`` and ``base64.b32encode`` write them."""
    mask = np.uint64((1 << bits) - 1)
    for row in range(digests.shape[0]):
        held, count, place = np.uint64(0), 0, 0
        for i in range(out.shape[1]):
            if count < bits:
                held = (held << U64_8) | np.uint64(digests[row, place])
                place += 1
                count += 8
            count -= bits
            out[row, i] = alphabet[(held >> np.uint64(count)) & mask]


@kernel("void(uint8[:,::1], uint8[:,::1])", read_only=(0,))
def digits_of_digests(digests: Any, out: Any) -> None:
    """The digest, read as a fraction of 1 in 256 bits, as digits: the first one of 1 to 9, the others of 0 to 9."""
    limbs = np.empty(8, dtype=np.uint64)
    for row in range(digests.shape[0]):
        for i in range(8):
            word = np.uint64(0)
            for j in range(4):
                word = (word << U64_8) | np.uint64(digests[row, 4 * i + j])
            limbs[i] = word
        place, width = 0, out.shape[1]
        while place < width:
            # One digit in base 9 first, then nine digits at a time.
            size = 1 if place == 0 else min(9, width - place)
            factor = np.uint64(9) if place == 0 else np.uint64(10**9)
            if place and size < 9:
                factor = np.uint64(1)
                for _ in range(size):
                    factor *= np.uint64(10)
            carry = np.uint64(0)
            for i in range(7, -1, -1):
                product = limbs[i] * factor + carry
                limbs[i] = product & LOW_32
                carry = product >> U64_32
            if place == 0:
                carry += U64_1
            for i in range(size - 1, -1, -1):
                out[row, place + i] = np.uint8(np.uint64(48) + carry % np.uint64(10))
                carry = carry // np.uint64(10)
            place += size
