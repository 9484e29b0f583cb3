"""Bringing names and bytes to the disk, so that a power cut takes neither away."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["sync_file", "sync_folder"]


def sync_file(path: Path) -> None:
    """Bring what a file holds to the disk.

    Raises:
        OSError: if the disk does not take it.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk: until then a file that was made or renamed may be gone after a power cut.

    Raises:
        OSError: if the disk does not take them.
    """
    sync_file(folder)
