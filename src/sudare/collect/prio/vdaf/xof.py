"""Extendable output functions: from a seed, a tag and a binder, as many bytes or field elements as are wanted.

Prio3 uses `TURBOSHAKE128` alone. It works on many rows at once, because expanding shares is most of what an aggregator
does. The two built on AES are those of the draft's IDPF and of libprio-rs; they are here for their known answers.
"""

from __future__ import annotations

import hmac
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from sudare.collect.prio.vdaf.fields import Field

if TYPE_CHECKING:
    from sudare.collect.prio.vdaf.fields import Elements, Octets

__all__ = ["FIXED_KEY_AES128", "HMAC_SHA256_AES128", "TURBOSHAKE128", "Xof"]

RATE_BYTES = 168
LAST_BIT = 0x80
BLOCK = 16


class Xof(ABC):
    """A function from (seed, tag, binder) to a stream of bytes."""

    seed_size: int

    @abstractmethod
    def stream(self, seeds: Octets, tag: bytes, binders: Octets, length: int) -> Octets:
        """The first bytes of the stream of each row of seeds and binders."""

    def derive(self, seeds: Octets, tag: bytes, binders: Octets) -> Octets:
        """A seed from each row."""
        return self.stream(seeds, tag, binders, self.seed_size)

    def expand(self, field: Field, seeds: Octets, tag: bytes, binders: Octets, length: int) -> Elements:
        """A vector of uniform field elements from each row.

        Numbers from p on are passed over, so that each element is equally likely. This happens once in 2**32 elements
        of the smaller field and once in 2**59 of the larger, so a row in which it happened is simply made again, longer.
        """
        found, valid = field.decode(self.stream(seeds, tag, binders, length * field.size))
        for row in np.flatnonzero(~valid.all(axis=1)):
            spare = 1
            while True:
                longer = self.stream(seeds[[row]], tag, binders[[row]], (length + spare) * field.size)
                more, below = field.decode(longer)
                if int(below.sum()) >= length:
                    found[row] = more[0, np.flatnonzero(below[0])[:length]]
                    break
                spare *= 2
        return found


class TurboShake128(Xof):
    """XofTurboShake128: TurboSHAKE128 of the lengths, the tag, the seed and the binder."""

    seed_size = 32

    def stream(self, seeds: Octets, tag: bytes, binders: Octets, length: int) -> Octets:
        """The first bytes of the stream of each row of seeds and binders."""
        head = len(tag).to_bytes(2, "little") + tag + bytes([seeds.shape[1]])
        return turboshake128((head, seeds, binders), 1, length, rows=seeds.shape[0])


def turboshake128(parts: tuple[bytes | Octets, ...], domain: int, length: int, *, rows: int = 1) -> Octets:
    """TurboSHAKE128 of rows that are made of parts: bytes that all rows share, or an array with a row each."""
    from sudare.kernels.collection.keccak import sponge

    message = sum(len(part) if isinstance(part, bytes) else part.shape[1] for part in parts)
    padded = np.zeros((rows, (message // RATE_BYTES + 1) * RATE_BYTES), dtype=np.uint8)
    start = 0
    for part in parts:
        columns = np.frombuffer(part, dtype=np.uint8) if isinstance(part, bytes) else part
        padded[:, start : start + columns.shape[-1]] = columns
        start += columns.shape[-1]
    padded[:, message] = domain
    padded[:, -1] ^= LAST_BIT
    out = np.empty((rows, -(-length // 8)), dtype=np.uint64)
    sponge(padded.view("<u8").astype(np.uint64, copy=False), out)
    return out.astype("<u8", copy=False).view(np.uint8)[:, :length]


class FixedKeyAes128(Xof):
    """XofFixedKeyAes128: a hash built on AES under a key that depends on tag and binder only."""

    seed_size = 16

    def stream(self, seeds: Octets, tag: bytes, binders: Octets, length: int) -> Octets:
        """The first bytes of the stream of each row of seeds and binders."""
        return _row_by_row(self._row, seeds, tag, binders, length)

    def _row(self, seed: bytes, tag: bytes, binder: bytes, length: int) -> bytes:
        key = turboshake128((len(tag).to_bytes(2, "little"), tag, binder), 2, BLOCK).tobytes()
        blocks = -(-length // BLOCK)
        words = np.frombuffer(seed, dtype="<u8") ^ np.array([[i, 0] for i in range(blocks)], dtype="<u8").reshape(-1, 2)
        spread = np.stack([words[:, 1], words[:, 1] ^ words[:, 0]], axis=1).astype("<u8")
        out = np.frombuffer(_aes_ecb(key, spread.tobytes()), dtype="<u8").reshape(-1, 2) ^ spread
        return bytes(out.tobytes()[:length])


class HmacSha256Aes128(Xof):
    """XofHmacSha256Aes128 of libprio-rs: AES in counter mode, keyed by HMAC-SHA256 of tag and binder under the seed."""

    seed_size = 32

    def stream(self, seeds: Octets, tag: bytes, binders: Octets, length: int) -> Octets:
        """The first bytes of the stream of each row of seeds and binders."""
        return _row_by_row(self._row, seeds, tag, binders, length)

    def _row(self, seed: bytes, tag: bytes, binder: bytes, length: int) -> bytes:
        digest = hmac.digest(seed, bytes([len(tag)]) + tag + binder, "sha256")
        upper, counter = digest[16:24], int.from_bytes(digest[24:], "big")
        counters = ((counter + i) % 2**64 for i in range(-(-length // BLOCK)))
        return _aes_ecb(digest[:16], b"".join(upper + number.to_bytes(8, "big") for number in counters))[:length]


def _row_by_row(
    one: Callable[[bytes, bytes, bytes, int], bytes], seeds: Octets, tag: bytes, binders: Octets, length: int
) -> Octets:
    rows = [one(s.tobytes(), tag, b.tobytes(), length) for s, b in zip(seeds, binders, strict=True)]
    return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), length)


def _aes_ecb(key: bytes, blocks: bytes) -> bytes:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    # Each block is one call of the permutation, as the definitions ask for; nothing is encrypted here.
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305
    return encryptor.update(blocks) + encryptor.finalize()


TURBOSHAKE128 = TurboShake128()
FIXED_KEY_AES128 = FixedKeyAes128()
HMAC_SHA256_AES128 = HmacSha256Aes128()
