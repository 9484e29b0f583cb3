"""Being alone with a piece of work: by a locked file, which the operating system unlocks when a process ends, however it ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

__all__ = ["hold_file", "is_held", "release_file"]


def hold_file(path: Path, on_wait: Callable[[], None] | None = None) -> int:
    """Make a file and lock it, so that nobody else holds it at the same time; the handle that holds it.

    Args:
        path: of the file.
        on_wait: called once if somebody holds it, before waiting for them.

    Raises:
        OSError: if the file cannot be made.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     lock = Path(folder) / "work.lock"
        ...     release_file(lock, hold_file(lock))
        ...     lock.exists()
        False
    """
    is_told = on_wait is None
    while True:
        handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            if is_held(handle):
                if on_wait is not None and not is_told:
                    is_told = True
                    on_wait()
                fcntl.flock(handle, fcntl.LOCK_EX)
            # One that was removed while we waited is nobody's any more.
            with suppress(FileNotFoundError):
                if path.stat().st_ino == os.fstat(handle).st_ino:
                    return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


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
