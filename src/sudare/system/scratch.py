"""Folders for what does not fit into memory: private, locked while they are used, and cleared away by the next process.

What a database spills holds people's identifiers. A process that is killed cannot clear up after itself, so the next one
does: a folder of ours whose lock nobody holds belongs to nobody. A folder gets the name that is looked for only once it is
locked, so that nobody ever sees one of a living process without its lock. The lock belongs to the open folder and not to a
process: a forked process that ends, or closes what it inherited, unlocks nothing of its parent.
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
"""Of locked folders. Older versions made folders without a lock, under other names; those are left alone."""

UNLOCKED_PREFIX = "sudare-unlocked-"
"""Of folders that are about to be locked. They are empty; what a process leaves that is killed just then names nobody."""


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
    """A new folder with our lock on it, which nobody could clear away before it was locked."""
    unlocked = Path(tempfile.mkdtemp(prefix=UNLOCKED_PREFIX))
    path = unlocked.with_name(PREFIX + unlocked.name.removeprefix(UNLOCKED_PREFIX))
    handle = os.open(unlocked, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        unlocked.rename(path)
    except BaseException:
        os.close(handle)
        unlocked.rmdir()
        raise
    return path, handle


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
