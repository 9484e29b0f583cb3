"""Being alone with a piece of work: by a locked file, which the operating system unlocks when a process ends, however it ends."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

__all__ = ["FileLock", "hold_file", "is_held", "release_file"]

PAUSE_SECONDS = 0.02
"""Between two looks whether a file is free."""


def hold_file(path: Path, on_wait: Callable[[], None] | None = None, *, seconds: float | None = None) -> int:
    """Make a file and lock it, so that nobody else holds it at the same time; the handle that holds it.

    Args:
        path: of the file.
        on_wait: called once if somebody holds it, before waiting for them.
        seconds: how long to wait; None for as long as it takes.

    Raises:
        OSError: if the file cannot be made, is a link, or is held for longer than that.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     lock = Path(folder) / "work.lock"
        ...     release_file(lock, hold_file(lock))
        ...     lock.exists()
        False
    """
    is_told = on_wait is None
    deadline = None if seconds is None else time.monotonic() + seconds
    while True:
        handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            if is_held(handle):
                if on_wait is not None and not is_told:
                    is_told = True
                    on_wait()
                _wait_for(handle, deadline)
            # One that was removed while we waited is nobody's any more.
            with suppress(FileNotFoundError):
                if path.stat().st_ino == os.fstat(handle).st_ino:
                    return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _wait_for(handle: int, deadline: float | None) -> None:
    """Wait until nobody else holds an open file.

    Raises:
        TimeoutError: if somebody still does at the deadline.
    """
    if deadline is None:
        fcntl.flock(handle, fcntl.LOCK_EX)
        return
    while is_held(handle):
        if time.monotonic() > deadline:
            raise TimeoutError("somebody else holds it")
        time.sleep(PAUSE_SECONDS)


def release_file(path: Path, handle: int) -> None:
    """Remove a file that is held, and let others have its name."""
    with suppress(OSError):
        path.unlink(missing_ok=True)
    os.close(handle)


def is_held(handle: int) -> bool:
    """Whether somebody else holds an open file or folder; if not, it is ours from now on, until the handle is closed."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    return False


class FileLock:
    """A lock between processes that ends with its holder, however that ends. The file stays.

    Args:
        path: of the file that is locked; made, for its owner alone, if it is not there.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder, FileLock(Path(folder) / "work.lock"):
        ...     FileLock(Path(folder) / "work.lock").try_take()
        False
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def __enter__(self) -> FileLock:
        self.take()
        return self

    def __exit__(self, *error: object) -> None:
        self.leave()

    def take(self) -> None:
        """Wait for it.

        Raises:
            OSError: if the file cannot be made.
        """
        handle = self._opened()
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
        except BaseException:
            os.close(handle)
            raise
        self._handle = handle

    def try_take(self) -> bool:
        """Take it if nobody else has it; whether it is ours now.

        Raises:
            OSError: if the file cannot be made.
        """
        handle = self._opened()
        if is_held(handle):
            os.close(handle)
            return False
        self._handle = handle
        return True

    def leave(self) -> None:
        """Give it back; twice does no harm."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _opened(self) -> int:
        return os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
