"""Hashes: plain ones of what is public, keyed ones of what is not."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path

from sudare.domain import CountTable
from sudare.errors import InputError
from sudare.io import Source, describe_source

__all__ = ["hash_of_file", "hash_of_public_source", "keyed_hash"]


def keyed_hash(counts: CountTable, key: bytes) -> str:
    """What tells true counts from others, to whoever has the key; the same for any file that holds them.

    A plain hash would let anybody who knows all other people test who is in the data. The key stays in the ledger.

    Args:
        counts: the true counts.
        key: secret bytes.

    Example:
        >>> from sudare import CountTable
        >>> from sudare.release.hashing import keyed_hash
        >>> table, key = CountTable.from_dense([3, 0, 5]), b"a secret"
        >>> keyed_hash(table, key) == keyed_hash(CountTable.from_dense([3, 0, 5]), key)
        True
        >>> keyed_hash(table, key) == keyed_hash(table, b"another secret")
        False
    """
    mac = hmac.new(key, digestmod="sha256")
    for part in (counts.keys.astype("<u8"), counts.counts.astype("<i8")):
        # With its length, so that no other division into parts gives the same bytes.
        mac.update(part.size.to_bytes(8, "little"))
        mac.update(part.data)
    return mac.hexdigest()


def hash_of_file(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


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
