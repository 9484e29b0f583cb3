"""Where random bits come from.

There are two sources, and they are two classes. `SecureEntropy` is keyed by the operating system and cannot be
seeded, copied or repeated: it is the default everywhere, and the only source whose results count as private.
`ResearchEntropy` repeats its stream for a seed, for experiments and tests; every release event made with it is marked
*not private*, and accountants and ledgers refuse it.

Both are AES-256 in counter mode. No other generator exists in this package.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sudare.errors import EntropyError, ParameterError, SeedError
from sudare.parameters import describe_array, exact_integer, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

__all__ = ["EntropySource", "ResearchEntropy", "SecureEntropy", "entropy_name", "secure_entropy", "times_drawn"]

KEY_BYTES = 32
COUNTER_BYTES = 16
CHUNK_BYTES = 1 << 18
"""The keystream is made in pieces that stay in the processor's cache, yet are long enough for threads not to wait for
each other between them."""

REKEY_BYTES = 1 << 36
"""A key is replaced after this much output: 2**32 blocks of AES are distinguishable from random with advantage <
2**-64."""

_ZEROS = bytes(CHUNK_BYTES)
_forks = 0
_draws = 0


def times_drawn() -> int:
    """How often this process has asked for secure bits. If it is the same as before, nothing was drawn in between.

    Example:
        >>> before = times_drawn()
        >>> _ = SecureEntropy().words(4)
        >>> times_drawn() > before
        True
    """
    return _draws


def _count_fork() -> None:
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_count_fork)


def _this_process() -> tuple[int, int]:
    """What tells a process from its ancestors, also where process ids repeat, and also after forks that Python did not make."""
    return os.getpid(), _forks


class _Keystream:
    """AES-256 in counter mode over zeros, in one thread of one process."""

    def __init__(self, key: bytes, counter: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        self._encryptor = Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor()
        self.process = _this_process()
        self.remaining = REKEY_BYTES

    def write(self, target: memoryview) -> None:
        for start in range(0, len(target), CHUNK_BYTES):
            piece = target[start : start + CHUNK_BYTES]
            zeros = _ZEROS if len(piece) == CHUNK_BYTES else _ZEROS[: len(piece)]
            self._encryptor.update_into(zeros, piece)
        self.remaining -= len(target)


class EntropySource(ABC):
    """A stream of uniform 64-bit words."""

    __slots__ = ()

    @abstractmethod
    def fill(self, words: Words) -> None:
        """Overwrite a contiguous array of words with fresh ones."""

    @abstractmethod
    def spawn(self, count: int) -> list[EntropySource]:
        """Sources whose streams are independent of this one and of each other, for work side by side."""

    def words(self, count: int) -> Words:
        """An array of fresh words."""
        words = np.empty(_read_count(count, "words"), dtype=np.uint64)
        self.fill(words)
        return words

    def next_word(self) -> int:
        """One fresh word."""
        return int(self.words(1)[0])


class SecureEntropy(EntropySource):
    """Random bits for releases: keyed by the operating system, never repeated.

    Every thread has its own key, drawn from the operating system when the thread first asks; a forked process notices
    that it is one and draws new keys. Copying or pickling gives a source with fresh keys, never a second copy of a
    stream.

    Example:
        >>> from sudare.noise import SecureEntropy
        >>> SecureEntropy().words(4).shape
        (4,)
    """

    __slots__ = ("_own",)

    def __init__(self, *seed: object, **named_seed: object) -> None:
        if seed or named_seed:
            raise SeedError(
                next(iter(named_seed), "seed"),
                "SecureEntropy",
                "left out: a release must not be repeatable",
                shown((*seed, *named_seed.values())[0]),
                "Use ResearchEntropy(seed) for experiments; its results are marked not private.",
            )
        self._own = threading.local()

    def fill(self, words: Words) -> None:
        """Overwrite a contiguous array of words with fresh ones."""
        global _draws
        _draws += 1  # two threads at once may count as one, never as none
        target = _as_bytes(words)
        stream: _Keystream | None = getattr(self._own, "stream", None)
        if stream is None or stream.process != _this_process() or stream.remaining < len(target):
            stream = self._own.stream = _Keystream(os.urandom(KEY_BYTES), os.urandom(COUNTER_BYTES))
        stream.write(target)

    def spawn(self, count: int) -> list[EntropySource]:
        """Sources with keys of their own."""
        return [SecureEntropy() for _ in range(_read_count(count, "spawn"))]

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), ())


class ResearchEntropy(EntropySource):
    """A repeatable stream for experiments and tests: nothing drawn from it is private.

    The seed is hashed into the cipher's key. One instance is one stream; it is not for use by several threads
    at once (`spawn` gives each its own), and it refuses to go on in a forked process.

    Args:
        seed: any whole number >= 0.

    Example:
        >>> from sudare.noise import ResearchEntropy
        >>> bool((ResearchEntropy(7).words(4) == ResearchEntropy(7).words(4)).all())
        True
    """

    def __init__(self, seed: int) -> None:
        number = exact_integer(seed, "seed", "ResearchEntropy", "a whole number >= 0", smallest=0)
        self._label = f"ResearchEntropy({number})"
        self._start(b"seed " + number.to_bytes(number.bit_length() // 8 + 1, "little"))

    def __repr__(self) -> str:
        return self._label

    def _start(self, material: bytes) -> None:
        self._material = material
        self._spawned = 0
        key = blake2b(material, digest_size=KEY_BYTES + COUNTER_BYTES, person=b"sudare research").digest()
        self._stream = _Keystream(key[:KEY_BYTES], key[KEY_BYTES:])

    def fill(self, words: Words) -> None:
        """Overwrite a contiguous array of words with the next ones of the stream."""
        if self._stream.process != _this_process():
            raise EntropyError(
                "A ResearchEntropy was used on both sides of a fork: both would see the same stream. "
                "Call spawn() before forking and give each process its own source."
            )
        self._stream.write(_as_bytes(words))

    def spawn(self, count: int) -> list[EntropySource]:
        """Sources that depend on the seed and on how many were spawned before, not on what was drawn."""
        children: list[EntropySource] = []
        for number in range(self._spawned, self._spawned + _read_count(count, "spawn")):
            child = ResearchEntropy.__new__(ResearchEntropy)
            child._label = f"{self._label}.spawn({number})"
            child._start(blake2b(self._material, digest_size=32, person=b"sudare spawn").digest() + b" %d" % number)
            children.append(child)
        self._spawned += len(children)
        return children

    def __reduce__(self) -> tuple[Any, ...]:
        raise EntropyError(
            "A ResearchEntropy cannot be copied or pickled: both copies would give the same stream. Use spawn()."
        )


def _as_bytes(words: Words) -> memoryview:
    is_array = isinstance(words, np.ndarray) and words.dtype == np.uint64 and words.dtype.isnative
    if not is_array or not words.flags.c_contiguous or not words.flags.writeable:
        raise ParameterError(
            "words", "fill", "a writable, contiguous NumPy array of native uint64", describe_array(words)
        )
    memory: Any = words
    return memoryview(memory).cast("B")


def entropy_name(source: EntropySource) -> Literal["secure", "research"]:
    """How a release event names a source: ``secure`` for the secure source itself, ``research`` for any other.

    Args:
        source: of random bits.
    """
    return "secure" if type(source) is SecureEntropy else "research"


def _read_count(count: int, function: str) -> int:
    return exact_integer(count, "count", function, "a whole number >= 0", smallest=0, largest=1 << 48)


_default = SecureEntropy()


def secure_entropy() -> SecureEntropy:
    """The source that is used wherever no other is given."""
    return _default
