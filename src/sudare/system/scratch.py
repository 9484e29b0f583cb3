"""Folders for what does not fit into memory: private, locked while they are used, and cleared away by whoever comes next.

What a database spills holds people's identifiers. A process that is killed cannot clear up after itself, so the next one
does: a folder of ours whose lock nobody holds belongs to nobody.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sudare.system.interrupts import uninterrupted
from sudare.system.locks import is_held

__all__ = ["ScratchFolder", "clear_abandoned", "scratch_folder"]

PREFIX = "sudare-scratch-"
"""Older versions made folders without a lock, under other names; those are left alone."""


class ScratchFolder:
    """A private folder in the system's folder for temporary files, which `remove` removes.

    Attributes:
        path: where it is.

    Raises:
        OSError: if it cannot be made.
    """

    def __init__(self) -> None:
        clear_abandoned()
        with uninterrupted():
            self.path, handle = _made()
            self._end = weakref.finalize(self, _remove, self.path, handle, os.getpid())

    def remove(self) -> None:
        """Remove it with all that is in it; twice does no harm."""
        self._end()


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A private folder that is gone afterwards.

    Example:
        >>> with scratch_folder() as folder:
        ...     folder.is_dir()
        True
        >>> folder.exists()
        False
    """
    folder = ScratchFolder()
    try:
        yield folder.path
    finally:
        folder.remove()


def _made() -> tuple[Path, int]:
    """A new folder with our lock on it."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX))
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(handle, fcntl.LOCK_EX)
        if path.exists():
            return path, handle
        os.close(handle)  # cleared away by somebody who saw it before it was locked


def _remove(path: Path, handle: int, process: int) -> None:
    if os.getpid() != process:  # a forked process ends, and its parent works on
        return
    with uninterrupted():
        shutil.rmtree(path, ignore_errors=True)
        os.close(handle)


def clear_abandoned() -> None:
    """Remove the folders that killed processes of this user left behind."""
    with suppress(OSError):
        for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
            with suppress(OSError):
                _clear(path)


def _clear(path: Path) -> None:
    # Not through a link, and nothing of other users: anybody may write in a place for temporary files.
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        about = os.fstat(handle)
        if about.st_uid == os.getuid() and stat.S_ISDIR(about.st_mode) and not is_held(handle):
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(handle)
