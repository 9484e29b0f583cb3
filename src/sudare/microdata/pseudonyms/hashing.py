"""Keyed hashes of many texts at once: Arrow arrays in, digests or fixed-width texts out, on all processors."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.errors import ParameterError
from sudare.microdata.pseudonyms.notation import TextForm
from sudare.parameters import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["HASHES", "KeyedHash"]

HASHES = ("blake2b", "hmac-sha256")
ROWS = 1 << 14
"""Hashed at a time: their digests stay in the processor's cache until they are written as texts."""

MAX_THREADS = 8
DIGEST_BYTES = 32


class KeyedHash:
    """A keyed hash: BLAKE2b-256 with a key, or HMAC-SHA-256; never a plain hash.

    Args:
        key: 32 to 64 bytes, for one purpose.
        name: ``"blake2b"`` or ``"hmac-sha256"``.
        threads: how many to use; as many as there are processors if left out.

    Example:
        >>> import hashlib, pyarrow as pa
        >>> key = bytes(range(32))
        >>> digest = KeyedHash(key).digests(pa.array(["a"], pa.large_string()))[0].tobytes()
        >>> digest == hashlib.blake2b(b"a", key=key, digest_size=32).digest()
        True
    """

    def __init__(self, key: bytes, name: str = "blake2b", threads: int | None = None) -> None:
        from sudare.kernels.records import keyed_hashing

        if name not in HASHES:
            raise ParameterError(
                "hash",
                "KeyedHash",
                Words(f"one of {', '.join(HASHES)}", f"{', '.join(HASHES)} のいずれか"),
                shown(name),
            )
        if not isinstance(key, bytes) or not 32 <= len(key) <= 64:
            raise ParameterError(
                "key", "KeyedHash", Words("32 to 64 secret bytes", "32 以上 64 以下のバイト数の秘密"), shown(None)
            )
        is_blake = name == "blake2b"
        self.name = name
        self._start = keyed_hashing.blake2b_start(key) if is_blake else keyed_hashing.hmac_start(key)
        self._hash = keyed_hashing.blake2b_digests if is_blake else keyed_hashing.hmac_digests
        self._threads = threads or min(MAX_THREADS, os.cpu_count() or 1)

    def digests(self, texts: Any) -> NDArray[np.uint8]:
        """The digest of each text (large_string), 32 bytes a row; of a missing one as of an empty text."""
        offsets, data = _buffers(texts)
        out = np.empty((len(texts), DIGEST_BYTES), dtype=np.uint8)
        self._in_parts(len(texts), lambda a, b: self._hash(offsets[a : b + 1], data, self._start, out[a:b]))
        return out

    def texts(self, texts: Any, form: TextForm) -> Any:
        """The pseudonym of each text as an Arrow array of texts; of a missing one none."""
        offsets, data = _buffers(texts)
        out = np.empty((len(texts), form.length), dtype=np.uint8)

        def write(first: int, end: int) -> None:
            digests = np.empty((ROWS, DIGEST_BYTES), dtype=np.uint8)
            for a in range(first, end, ROWS):
                b = min(a + ROWS, end)
                self._hash(offsets[a : b + 1], data, self._start, digests[: b - a])
                form.write(digests[: b - a], out[a:b])

        self._in_parts(len(texts), write)
        return texts_of_rows(out, None if not texts.null_count else texts)

    def _in_parts(self, rows: int, work: Any) -> None:
        if self._threads == 1 or rows <= ROWS:
            work(0, rows)
            return
        # More parts than threads: one that is held up holds up the others less.
        size = max(ROWS, -(-rows // (4 * self._threads)))
        with ThreadPoolExecutor(self._threads) as pool:
            for done in [pool.submit(work, a, min(a + size, rows)) for a in range(0, rows, size)]:
                done.result()


def texts_of_rows(rows: NDArray[np.uint8], missing: Any = None) -> Any:
    """Rows of characters as an Arrow array of texts, without a copy; missing where another array has nulls."""
    import pyarrow as pa
    import pyarrow.compute as pc

    count, width = rows.shape
    is_short = count * width < 2**31
    offsets = np.arange(count + 1, dtype=np.int32 if is_short else np.int64)
    offsets *= width
    kind = pa.string() if is_short else pa.large_string()
    made = pa.Array.from_buffers(kind, count, [None, pa.py_buffer(offsets), pa.py_buffer(rows)])
    return made if missing is None else pc.if_else(pc.is_valid(missing), made, pa.scalar(None, kind))


def _buffers(texts: Any) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Offsets and bytes of an array of large_string."""
    _, offsets, data = texts.buffers()
    if not len(texts):
        return np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.uint8)
    places = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    is_empty = data is None or data.size == 0
    return places, np.zeros(0, dtype=np.uint8) if is_empty else np.frombuffer(data, dtype=np.uint8)
