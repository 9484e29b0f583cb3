"""What SQLite's errors mean for whoever keeps a file: above all, whether the file itself is damaged.

A disk that is full, a quota or a limit on the size of files, a disk that does not answer: none of them harms a file, whose last
commit is whole. To go back to an older copy would then lose what was written since: charges, or what people were promised.
"""

from __future__ import annotations

import sqlite3
from enum import Enum

from sudare.bilingual import Words

__all__ = ["SqliteFault", "fault_of", "no_room"]


class SqliteFault(Enum):
    """What is the matter with a file."""

    BUSY = "busy"
    NOT_WRITABLE = "not writable"
    NO_ROOM = "no room"
    NOT_A_DATABASE = "not a database"
    CLOSED = "closed"
    DAMAGED = "damaged"


NAMES: tuple[tuple[str, SqliteFault], ...] = (
    ("SQLITE_BUSY", SqliteFault.BUSY),
    ("SQLITE_LOCKED", SqliteFault.BUSY),
    ("SQLITE_PROTOCOL", SqliteFault.BUSY),
    ("SQLITE_READONLY", SqliteFault.NOT_WRITABLE),
    ("SQLITE_PERM", SqliteFault.NOT_WRITABLE),
    ("SQLITE_CANTOPEN", SqliteFault.NOT_WRITABLE),
    ("SQLITE_AUTH", SqliteFault.NOT_WRITABLE),
    ("SQLITE_FULL", SqliteFault.NO_ROOM),
    ("SQLITE_IOERR_CORRUPTFS", SqliteFault.DAMAGED),
    ("SQLITE_IOERR_DATA", SqliteFault.DAMAGED),
    ("SQLITE_IOERR", SqliteFault.NO_ROOM),  # a quota or a limit on the size of files comes as this
    ("SQLITE_NOLFS", SqliteFault.NO_ROOM),
    ("SQLITE_TOOBIG", SqliteFault.NO_ROOM),
    ("SQLITE_NOMEM", SqliteFault.NO_ROOM),
    ("SQLITE_NOTADB", SqliteFault.NOT_A_DATABASE),
)
"""The first that fits counts; whatever else SQLite says, the file is not as it should be."""


def fault_of(error: Exception) -> SqliteFault:
    """What an error of SQLite means.

    Example:
        >>> import sqlite3
        >>> try:
        ...     sqlite3.connect("/nowhere/at/all.db")
        ... except sqlite3.Error as error:
        ...     fault_of(error).value
        'not writable'
    """
    name = getattr(error, "sqlite_errorname", "") or ""
    if isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error):
        return SqliteFault.CLOSED
    return next((fault for start, fault in NAMES if name.startswith(start)), SqliteFault.DAMAGED)


def no_room(name: str) -> Words:
    """What to say where nothing could be written, with SQLite's name for it; the file's own name stands before."""
    return Words(
        f"cannot be read or written: the disk is full, a quota or a limit on the size of files is reached, or the disk does not "
        f"answer ({name}). Nothing was written, and what was written before is safe. Free space, then use the same file again; "
        "never an older copy, which would not know what happened since.",
        f"を読み書きできません。ディスクに空きがないか、割り当てやファイルサイズの上限に達したか、ディスクが応答しません（{name}）。"
        "今回は何も書き込まれておらず、以前の内容は無事です。空きを作ってから同じファイルをそのまま使ってください。"
        "古い控えに戻すと、その後の記録が失われます。",
    )
