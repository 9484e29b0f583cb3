"""The document of a release: as text, which its hash and its seal are made of, and what it says of each published file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from operator import index
from pathlib import Path
from typing import Any

from sudare.storage.hashes import hash_of_file

__all__ = ["describe_file", "document_text"]


def document_text(document: Mapping[str, Any]) -> bytes:
    r"""A document as it is written.

    Args:
        document: in plain values; whole numbers of NumPy are written as whole numbers.

    Example:
        >>> document_text({"title": "町"}).decode()
        '{\n "title": "町"\n}\n'
    """
    return json.dumps(document, ensure_ascii=False, indent=1, default=index).encode() + b"\n"


def describe_file(path: Path) -> dict[str, Any]:
    """Name, size and hash of a published file."""
    return {"name": path.name, "bytes": path.stat().st_size, "sha256": hash_of_file(path)}
