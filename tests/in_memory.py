"""Folders of tests in memory: what is written is made durable all the same, but no disk is waited for.

A tick makes about twenty files durable, one after the other. On a disk that others use, too, tests of days wait for it most of
their time. Whoever is killed leaves the same files in memory as on a disk.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

__all__ = ["MemoryFolders", "tmp_path", "tmp_path_factory"]

MEMORY = Path("/dev/shm")  # noqa: S108 - a file system in memory, in which a private folder is made
MIN_FREE = 1 << 28


class MemoryFolders:
    """New folders in one.

    Args:
        folder: which is there.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._numbers = folder, count()

    def mktemp(self, name: str) -> Path:
        """A new folder."""
        made = self._folder / f"{name}{next(self._numbers)}"
        made.mkdir()
        return made


@pytest.fixture(scope="session")
def tmp_path_factory() -> Iterator[MemoryFolders]:
    """In the place of pytest's, for the tests of a folder whose ``conftest`` names it, and of a module that does."""
    has_room = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= MIN_FREE
    with tempfile.TemporaryDirectory(prefix="sudare-tests-", dir=MEMORY if has_room else None) as folder:
        yield MemoryFolders(Path(folder))


@pytest.fixture
def tmp_path(tmp_path_factory: MemoryFolders) -> Iterator[Path]:
    """A new folder, which is removed after the test."""
    folder = tmp_path_factory.mktemp("test")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
