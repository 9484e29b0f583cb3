"""Hashes of files, and keyed hashes that seal what was written: a seal can only be made or checked with the key."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from pathlib import Path

__all__ = ["hash_of_file", "keyed_digest", "seal_of"]


def hash_of_file(path: Path) -> str:
    """SHA-256 of a file.

    Raises:
        OSError: if it cannot be read.
    """
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def keyed_digest(key: bytes, purpose: str, parts: Sequence[bytes]) -> str:
    """A keyed hash (HMAC-SHA-256) of several parts for one purpose; no other purpose, and no other division, gives the same.

    Args:
        key: secret bytes.
        purpose: a word that says what it is for.
        parts: what is hashed, in order.

    Example:
        >>> keyed_digest(b"key", "seal", [b"ab", b"c"]) == keyed_digest(b"key", "seal", [b"a", b"bc"])
        False
    """
    mac = hmac.new(key, purpose.encode(), "sha256")
    for part in parts:
        # With its length, so that no other division into parts gives the same bytes.
        mac.update(len(part).to_bytes(8, "little"))
        mac.update(part)
    return mac.hexdigest()


def seal_of(document: bytes, key: bytes, reservation: int) -> str:
    """What shows that a complete release, found beside its place, is the one that was drawn for a reservation.

    Args:
        document: the bytes of its document, which names all other files.
        key: the data set's secret, which stays in the ledger.
        reservation: the number of the ledger's entry that reserved its cost.
    """
    return keyed_digest(key, "seal", (str(reservation).encode(), document))
