"""Files that are files: a pipe or a terminal would keep a reader waiting for ever, a device need not end at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

__all__ = ["IrregularFileError", "open_regular_file", "read_regular_file", "require_regular_file"]

KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class IrregularFileError(OSError):
    """Something else than a regular file stands where one should be."""


def open_regular_file(path: str | Path) -> BinaryIO:
    """Open a file for reading, if it is a regular one, without waiting for anything else.

    Raises:
        IrregularFileError: if it is a pipe, a socket or a device.
        OSError: if it cannot be read.

    Example:
        >>> try:
        ...     open_regular_file("/dev/null")
        ... except OSError as error:
        ...     print(error.strerror)
        It is a device, not a file
    """
    require_regular_file(path)
    # Asked again once it is open: it could have been replaced in between, and must not be waited for either.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _require_regular(os.fstat(handle).st_mode, path)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_regular_file(path: str | Path) -> bytes:
    """The bytes of a file, which must be a regular one.

    Raises:
        OSError: if it cannot be read, or is no regular file.
    """
    with open_regular_file(path) as stream:
        return stream.read()


def require_regular_file(path: str | Path) -> None:
    """Refuse what is no regular file, before anybody opens it.

    Raises:
        OSError: if it is not there, or is something else.
    """
    _require_regular(os.stat(path).st_mode, path)  # noqa: PTH116 - a path may be a text


def _require_regular(mode: int, path: str | Path) -> None:
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    kind = next((name for fits, name in KINDS if fits(mode)), "something else")
    raise IrregularFileError(errno.EINVAL, f"It is {kind}, not a file", str(path))
