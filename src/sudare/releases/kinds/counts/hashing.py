"""Hashes of what a release is made from: plain ones of what is public, keyed ones of what is not."""

from __future__ import annotations

import hashlib
from pathlib import Path

from sudare.domain import CountTable
from sudare.errors import InputError
from sudare.io import Source, describe_source
from sudare.storage.hashes import hash_of_file, keyed_digest

__all__ = ["hash_of_public_source", "keyed_hash"]


def keyed_hash(counts: CountTable, key: bytes, reservation: str) -> str:
    """A hash that later proves which counts a release was made from, to anyone with the key.

    A plain hash would let anybody who knows all other people test who is in the data. The key stays in the ledger. The
    hash of the reservation is different for every release, so that nobody can tell whether two releases were made
    from the same counts.

    Args:
        counts: the true counts.
        key: secret bytes.
        reservation: hash of the ledger's entry that reserved the release's cost.

    Example:
        >>> from sudare import CountTable
        >>> from sudare.releases.kinds.counts.hashing import keyed_hash
        >>> table, key = CountTable.from_dense([3, 0, 5]), b"a secret"
        >>> keyed_hash(table, key, "first") == keyed_hash(CountTable.from_dense([3, 0, 5]), key, "first")
        True
        >>> keyed_hash(table, key, "first") == keyed_hash(table, key, "second")
        False
    """
    parts = (reservation.encode(), counts.keys.astype("<u8").tobytes(), counts.counts.astype("<i8").tobytes())
    return keyed_digest(key, "counts", parts)


def hash_of_public_source(source: Source) -> str:
    """SHA-256 of a public file; of several, that of the list of their hashes, a line each, in the order of their names.

    Raises:
        InputError: if a file cannot be read.
    """
    files = describe_source(source).files
    try:
        hashes = [hash_of_file(Path(file)) for file in files]
    except OSError as error:
        name = Path(str(error.filename)).name
        raise InputError(f"'{name}' cannot be read.", f"「{name}」を読めません。") from None
    if len(hashes) == 1:
        return hashes[0]
    return hashlib.sha256("".join(f"{digest}\n" for digest in hashes).encode()).hexdigest()
