"""Files for their owner alone: how they are made, and how they and what SQLite keeps beside them are closed to others."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from sudare.storage.durable import sync_folder

__all__ = [
    "OPEN_TO_OTHERS",
    "SIDE_FILES",
    "close_to_others",
    "files_open_to_others",
    "make_private_file",
    "with_side_files",
]

PRIVATE_MODE = 0o600
OPEN_TO_OTHERS = stat.S_IRWXG | stat.S_IRWXO
SIDE_FILES = ("-wal", "-shm", "-journal")
"""What SQLite calls the files that it keeps beside a database."""


def make_private_file(path: Path) -> None:
    """Make an empty file that only its owner may read, if there is none, and bring its name to the disk.

    Raises:
        OSError: if it cannot be made.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     make_private_file(Path(folder) / "kept.db")
        ...     oct((Path(folder) / "kept.db").stat().st_mode & 0o777)
        '0o600'
    """
    # Another process that makes it at the same moment makes it like this; a link that leads nowhere is not followed.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, PRIVATE_MODE))
        sync_folder(path.absolute().parent)


def with_side_files(path: Path) -> list[Path]:
    """A database and the files that SQLite may keep beside it."""
    return [path, *(path.with_name(path.name + ending) for ending in SIDE_FILES)]


def files_open_to_others(path: Path) -> list[Path]:
    """Which of a database and its side files others than the owner may read or write.

    The files are not opened: closing one again would take away the locks that this process holds on it.
    """
    found = []
    for file in with_side_files(path):
        with suppress(FileNotFoundError):
            mode = file.stat().st_mode
            if stat.S_ISREG(mode) and mode & OPEN_TO_OTHERS:
                found.append(file)
    return found


def close_to_others(path: Path) -> bool:
    """Close a database and its side files to others; whether nobody but the owner may read or write them now."""
    for file in files_open_to_others(path):
        try:
            about = file.stat()
            if about.st_uid != os.geteuid():
                return False
            file.chmod(stat.S_IMODE(about.st_mode) & ~OPEN_TO_OTHERS)
        except FileNotFoundError:  # SQLite removes them when nobody uses the database any more
            continue
    return True
