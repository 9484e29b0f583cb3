"""Noise that has an address: drawn again, in any order and in any process, it is the same.

Noise that is needed once comes from a stream (`sudare.noise.entropy`), and nobody can repeat it. A series of tables needs the
noise of an earlier tick again, and a task that a cluster starts twice must draw the same bits twice. Here every draw has an
address: a key in a tree of keys, and a node. Its bits are a function of the address alone, so that neither the order of the work
nor how it is cut into parts changes anything.

A key derives the keys below it by HKDF (RFC 5869, SHA-256). Whoever has the key of a part of the domain can draw the noise of
that part, and learns nothing of any other. The bits of a node are AES-256 under its key: block i is the cipher of (node, i), so
that each node has 2**64 blocks of its own.

**One key on two inputs reveals their difference.** The key must be bound to one input before its noise is used. The ledger does
that (`sudare.ledger`); nothing here can.

Proof: ``addressed.md`` beside this file.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sudare.errors import EntropyError, ParameterError
from sudare.noise.entropy import EntropySource
from sudare.noise.sampler import Sampler
from sudare.parameters import describe_array, exact_integer, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.noise.sampler import Integers, Words

__all__ = ["NoiseKey"]

KEY_BYTES = 32
BLOCK_BYTES = 16
MAX_LABEL = 64
CHUNK_NODES = 1 << 14
"""Nodes are worked on in pieces whose blocks stay in the processor's cache."""


class NoiseKey:
    """A key of the tree of keys.

    Args:
        material: 32 bytes that were drawn uniformly, and that nobody else has.
        origin: ``"secure"`` for bytes of the operating system, ``"research"`` for a key that can be repeated from a seed:
            nothing that is drawn from such a key is private, and the ledger refuses it.

    Raises:
        ParameterError: if the material is not 32 bytes.

    Example:
        >>> import numpy as np
        >>> from sudare.noise import discrete_laplace
        >>> from sudare.noise.addressed import NoiseKey
        >>> tick = NoiseKey.fresh().child("tick", 7)
        >>> once = tick.draw(discrete_laplace(3), np.array([5, 2**40, 9]))
        >>> again = tick.draw(discrete_laplace(3), np.array([9, 5]))
        >>> bool(again[0] == once[2] and again[1] == once[0])
        True
    """

    __slots__ = ("_encryptor", "_material", "origin")

    def __init__(self, material: bytes, origin: Literal["secure", "research"] = "secure") -> None:
        if not isinstance(material, bytes | bytearray) or len(material) != KEY_BYTES:
            raise ParameterError("material", "NoiseKey", f"{KEY_BYTES} bytes", shown(type(material).__name__))
        if origin not in ("secure", "research"):
            raise ParameterError("origin", "NoiseKey", "'secure' or 'research'", shown(origin))
        self._material: bytearray | None = bytearray(material)
        self._encryptor: Any = None
        self.origin: Literal["secure", "research"] = origin

    @classmethod
    def fresh(cls) -> NoiseKey:
        """A new key from the operating system: the root of a tree."""
        return cls(os.urandom(KEY_BYTES))

    @classmethod
    def for_research(cls, seed: int) -> NoiseKey:
        """A key that can be repeated, for experiments and tests; nothing that is drawn from it is private."""
        number = exact_integer(seed, "seed", "NoiseKey.for_research", "a whole number >= 0", smallest=0)
        text = number.to_bytes(number.bit_length() // 8 + 1, "little")
        return cls(blake2b(text, digest_size=KEY_BYTES, person=b"sudare key").digest(), "research")

    def __repr__(self) -> str:
        return f"NoiseKey(<{self.origin}>)"

    def __reduce__(self) -> tuple[Any, ...]:
        raise EntropyError(
            "A NoiseKey is not pickled: what is handed to another process is written out by name, with `material()`."
        )

    def material(self) -> bytes:
        """The key itself, for whoever keeps it in a private file or hands it to the process that works on its part.

        Raises:
            EntropyError: if the key was destroyed.
        """
        if self._material is None:
            raise EntropyError("This key was destroyed; its noise cannot be drawn again.")
        return bytes(self._material)

    def child(self, label: str, number: int) -> NoiseKey:
        """The key below this one, for example ``child("tick", 12)``.

        Two children differ unless both their label and their number are the same.

        Args:
            label: what the number counts; at most 64 characters of ASCII.
            number: from 0 to 2**64 - 1.

        Raises:
            ParameterError: if an argument is not of this kind.
            EntropyError: if the key was destroyed.
        """
        if not isinstance(label, str) or not label.isascii() or not 0 < len(label) <= MAX_LABEL:
            raise ParameterError("label", "NoiseKey.child", f"1 to {MAX_LABEL} characters of ASCII", shown(label))
        place = exact_integer(number, "number", "NoiseKey.child", "from 0 to 2**64 - 1", smallest=0, largest=2**64 - 1)
        text = label.encode("ascii")
        return NoiseKey(_expanded(self.material(), bytes((len(text),)) + text + place.to_bytes(8, "big")), self.origin)

    def draw(self, sampler: Sampler, nodes: NDArray[Any]) -> Integers:
        """The noise of nodes under this key: for each node a value that depends on key, sampler and node alone.

        One key must serve one sampler: the noise of two samplers at the same address comes from the same bits.

        Args:
            sampler: of the noise.
            nodes: whole numbers from 0 to 2**63 - 1, in any order, in one dimension.

        Raises:
            ParameterError: if an argument is not of this kind.
            EntropyError: if the key was destroyed.
        """
        if not isinstance(sampler, Sampler):
            raise ParameterError("sampler", "NoiseKey.draw", "a Sampler, such as discrete_laplace(2)", shown(sampler))
        addresses = _read_nodes(nodes)
        out = np.empty(addresses.size, dtype=np.int64)
        for start in range(0, addresses.size, CHUNK_NODES):
            self._draw_chunk(sampler, addresses[start : start + CHUNK_NODES], out[start : start + CHUNK_NODES])
        return out

    def _draw_chunk(self, sampler: Sampler, nodes: Words, out: Integers) -> None:
        """One trial for every node; whoever's trial is rejected has the next one from its next block."""
        places = np.arange(nodes.size)
        block = 0
        while places.size:
            words = self.blocks(nodes[places], block)
            values, rejected, undecided = sampler.try_each(words)
            for row in np.flatnonzero(undecided):
                source = _NodeWords(self, int(nodes[places[row]]), 2 * block + sampler.words_per_trial)
                value = sampler._settle(words[row, : sampler.words_per_trial], source)
                values[row], rejected[row] = (source.draw_on(sampler), False) if value is None else (value, False)
            out[places] = values
            places = places[rejected]
            block += 1

    def blocks(self, nodes: Words, block: int) -> Words:
        """One block of bits of each node: two words a row.

        Args:
            nodes: as unsigned 64-bit words.
            block: which of each node's blocks.
        """
        if self._encryptor is None:
            from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

            # One block at a time and each with an address of its own: what is unsafe for messages is a keyed permutation here.
            self._encryptor = Cipher(algorithms.AES(self.material()), modes.ECB()).encryptor()  # noqa: S305
        elif self._material is None:
            self.material()
        if nodes.size == 0:
            return np.empty((0, 2), dtype=np.uint64)
        addresses = np.empty((nodes.size, 2), dtype="<u8")
        addresses[:, 0], addresses[:, 1] = nodes, block
        bits = np.empty(addresses.nbytes + BLOCK_BYTES, dtype=np.uint8)  # the cipher asks for room of one block more
        plain: Any = addresses
        room: Any = bits
        self._encryptor.update_into(memoryview(plain).cast("B"), memoryview(room))
        words: Words = bits[: addresses.nbytes].view("<u8").astype(np.uint64, copy=False).reshape(-1, 2)
        return words

    def stream(self) -> Callable[[int], Words]:
        """Words of this key one after the other, for what is decided by chance beside the noise: call it for the next so many.

        The key must serve nothing else.
        """
        taken = 0

        def words(count: int) -> Words:
            nonlocal taken
            first, last = taken // 2, -(-(taken + count) // 2)
            made = self.blocks(np.arange(first, last, dtype=np.uint64), 0).reshape(-1)
            skipped, taken = taken % 2, taken + count
            return made[skipped : skipped + count].copy()

        return words

    def destroy(self) -> None:
        """Overwrite the key; what it could draw cannot be drawn again from here. Keys below it that somebody holds stay."""
        if self._material is not None:
            self._material[:] = bytes(KEY_BYTES)
        self._material = None
        self._encryptor = None


class _NodeWords(EntropySource):
    """The words of one node from a place on, for the rare draw that two words do not settle."""

    __slots__ = ("_key", "_next", "_node")

    def __init__(self, key: NoiseKey, node: int, start: int) -> None:
        self._key, self._node, self._next = key, np.array([node], dtype=np.uint64), start

    def fill(self, words: Words) -> None:
        """The next words of the node."""
        for place in range(words.size):
            words[place] = self._key.blocks(self._node, self._next // 2)[0, self._next % 2]
            self._next += 1

    def spawn(self, count: int) -> list[EntropySource]:
        """A node has one sequence of words.

        Raises:
            EntropyError: always.
        """
        raise EntropyError("The words of a node cannot be divided.")

    def draw_on(self, sampler: Sampler) -> int:
        """The value of further trials of this node."""
        return sampler.draw(None, self)


def _expanded(key: bytes, context: bytes) -> bytes:
    """HKDF-Expand of RFC 5869 with SHA-256, for 32 bytes; the key is uniform, so nothing needs to be extracted before."""
    return hmac.digest(key, context + b"\x01", "sha256")


def _read_nodes(nodes: object) -> Words:
    array = np.asarray(nodes)
    requirement = "whole numbers from 0 to 2**63 - 1 in one dimension"
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ParameterError("nodes", "NoiseKey.draw", requirement, describe_array(array))
    if array.size and (int(array.min()) < 0 or int(array.max()) >= 2**63):
        raise ParameterError("nodes", "NoiseKey.draw", requirement, describe_array(array))
    return array.astype(np.uint64)
