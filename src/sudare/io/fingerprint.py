"""Fingerprints of data: the same for the same bytes, and telling nothing about them to anyone without the key."""

from __future__ import annotations

import hashlib
import hmac
import re
from pathlib import Path

from sudare.errors import InputError, ParameterError
from sudare.io import complaints
from sudare.io.source import Source, files_and_format
from sudare.parameters import shown

__all__ = ["fingerprint_of"]

CHUNK = 1 << 24
"""Bytes read and hashed at a time: many, so that a thread that loads something beside it has few turns to wait for."""
QUOTED = re.compile(r"'((?:[^']|'')+)'|\"((?:[^\"]|\"\")+)\"")


def fingerprint_of(source: Source, key: bytes) -> str:
    """HMAC-SHA256 over the names and contents of a source's files, and over its query.

    A plain hash would let anybody who guesses the data confirm the guess; the key, which stays with the ledger, prevents
    that. Files that a query names in quotation marks are included.

    Args:
        source: the data.
        key: at least 16 secret bytes.

    Returns:
        64 hexadecimal digits.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.io import Source, fingerprint_of
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "people.csv"
        ...     _ = file.write_text("sex")
        ...     len(fingerprint_of(Source(str(file)), b"sixteen or more."))
        64
    """
    if not isinstance(key, bytes) or len(key) < 16:
        raise ParameterError("key", "fingerprint_of", "at least 16 bytes", shown(None))
    if not isinstance(source, Source):
        raise ParameterError("source", "fingerprint_of", "a Source", shown(source))
    files = set(files_and_format(source)[0])
    digest = hmac.new(key, b"sudare fingerprint 1", hashlib.sha256)
    if source.query is not None:
        _add(digest, source.query.encode())
        files |= _files_in(source.query)
    # What a database has not yet moved from its log belongs to it.
    files |= {f"{file}.wal" for file in files if Path(f"{file}.wal").is_file()}
    for name, file in sorted((_name_of(file, source), file) for file in files):
        _add(digest, name.encode())
        try:
            digest.update(Path(file).stat().st_size.to_bytes(8, "big"))
            with Path(file).open("rb") as stream:
                while chunk := stream.read(CHUNK):
                    digest.update(chunk)
        except OSError:
            raise complaints.unreadable(file) from None
    return digest.hexdigest()


def _name_of(file: str, source: Source) -> str:
    """The file's name, with its folders below that of the source, which may tell values (year=2020)."""
    for path in source.paths:
        if Path(path).is_dir() and Path(file).is_relative_to(path):
            return Path(file).relative_to(path).as_posix()
    return Path(file).name


def _add(digest: hmac.HMAC, part: bytes) -> None:
    # With its length, so that no other division into parts gives the same bytes.
    digest.update(len(part).to_bytes(8, "big"))
    digest.update(part)


def _files_in(query: str) -> set[str]:
    """Files that the texts and names in quotation marks of a query stand for."""
    found: set[str] = set()
    for single, double in QUOTED.findall(query):
        name = single.replace("''", "'") or double.replace('""', '"')
        try:
            found.update(files_and_format(Source(name, format="parquet"))[0])
        except (InputError, ParameterError, OSError, ValueError):
            continue
    return found
