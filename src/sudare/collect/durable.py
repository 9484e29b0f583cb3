"""A memory's file: SQLite, readable by its owner only, on the disk before anything is answered, safe between processes.

What `sudare.collect.memory` and `sudare.collect.rappor_memory` share: how the file is made and opened, how a writer waits for
others, how a change becomes durable, and how what is forgotten leaves the disk. It needs the standard library only.

Proof and limits: ``memory.md`` beside this file.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sudare.errors import InputError, NotPrivateError, OutputError
from sudare.system.regular_files import require_regular_file
from sudare.system.sqlite_faults import SqliteFault, fault_of, no_room

__all__ = ["DurableFile", "drawn_for_research", "is_kept_private"]

LONGEST_WAIT = 60.0
"""Seconds until a memory that another process holds is given up."""

LONGEST_ERASURE = 5.0
"""Seconds that forgetting waits for those who read the file."""

LONGEST_PAUSE = 0.005
SMALLEST_DATABASE = 512
OPEN_TO_OTHERS = stat.S_IRWXG | stat.S_IRWXO
SIDE_FILES = ("-wal", "-shm", "-journal")
BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")


class DurableFile:
    """One SQLite file with one purpose; whoever opens it gets its connection, and is told in words what is wrong with it.

    Args:
        path: the file; made if it is not there, and closed to others if it is.
        application: the number that marks files of this purpose.
        schema: the statements that make a new one, the mark left out.

    Raises:
        InputError: if the file is something else, damaged, or open to others and not the caller's own.
        OutputError: if it cannot be written.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.collect.durable import DurableFile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = DurableFile(Path(folder) / "kept.db", 7, ["CREATE TABLE kept (word TEXT)"])
        ...     with file.writing() as connection:
        ...         _ = connection.execute("INSERT INTO kept VALUES ('yes')")
        ...     words = file.rows("SELECT word FROM kept")
        ...     file.close()
        >>> words
        [('yes',)]
    """

    def __init__(self, path: str | Path, application: int, schema: Sequence[str]) -> None:
        self.path = Path(path)
        self.process = os.getpid()
        self._lock = threading.RLock()
        with self.told():
            _make_private(self.path)
            if not is_kept_private(self.path):
                raise self._open_to_others()
            self._connection = sqlite3.connect(
                f"{self.path.absolute().as_uri()}?mode=rw",
                uri=True,
                timeout=0,
                isolation_level=None,
                check_same_thread=False,
            )
            try:
                self._begin(application, schema)
            except BaseException:
                self._connection.close()
                raise

    def _begin(self, application: int, schema: Sequence[str]) -> None:
        """Set the file up, or see that it is what it should be before anything of it is changed."""
        tables = self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
        marked = self.rows("PRAGMA application_id") == [(application,)]
        # SQLite takes a file of less than one page for an empty database, whatever is in it.
        if not marked and (tables or 0 < self.path.stat().st_size < SMALLEST_DATABASE):
            raise self.not_a_memory()
        # A commit is on the disk before it returns, and before others see it; what is forgotten is overwritten.
        settings = ("journal_mode = WAL", "synchronous = FULL", "fullfsync = ON", "secure_delete = ON")
        for setting in (*settings, "trusted_schema = OFF"):
            self.rows(f"PRAGMA {setting}")
        with self.writing() as connection:
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                for statement in (*schema, f"PRAGMA application_id = {application}"):
                    connection.execute(statement)

    def close(self) -> None:
        """Close the file."""
        if os.getpid() == self.process:
            with self._lock:
                self._connection.close()

    @contextmanager
    def told(self) -> Iterator[None]:
        """Say in the user's words what went wrong with the file, and nothing of what it holds."""
        try:
            yield
        except sqlite3.Error as error:
            name, fault = getattr(error, "sqlite_errorname", ""), fault_of(error)
            if fault is SqliteFault.NOT_A_DATABASE or name.startswith("SQLITE_CORRUPT"):
                raise self.not_a_memory() from None
            if fault is SqliteFault.NO_ROOM:
                raise self._no_room(name) from None
            if fault in (SqliteFault.NOT_WRITABLE, SqliteFault.BUSY):
                raise self._not_writable(name) from None
            raise self.damaged() from None
        except OSError as error:
            raise self._not_writable(os.strerror(error.errno or 0)) from None

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One writer at a time, all or nothing, on the disk at the end; what is read meanwhile cannot change."""
        with self.told(), self._lock:
            self._patiently("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK")
                raise

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        """What a statement finds, as soon as nobody is in its way."""
        with self.told(), self._lock:
            return self._patiently(statement, values)

    def _patiently(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        if os.getpid() != self.process:
            raise OutputError(
                "This memory was opened by another process; open it again in each process.",
                "この記憶ファイルは別のプロセスで開かれたものです。プロセスごとに開き直してください。",
            )
        deadline = time.monotonic() + LONGEST_WAIT
        while True:
            try:
                return self._connection.execute(statement, values).fetchall()
            except sqlite3.OperationalError as error:
                if not getattr(error, "sqlite_errorname", "").startswith(BUSY) or time.monotonic() > deadline:
                    raise
            _pause()

    def empty_log(self) -> None:
        """Bring everything into the file itself and empty the log, in which older states of the file still stand.

        Raises:
            OutputError: if somebody reads the file all the while: then the log keeps what was forgotten.
        """
        deadline = time.monotonic() + LONGEST_ERASURE
        while self.rows("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]:
            if time.monotonic() > deadline:
                raise self._still_in_the_log()
            _pause()

    def not_a_memory(self) -> InputError:
        """The file has another purpose or another version."""
        path = str(self.path)
        return InputError(
            f"The file {path!r} is not a memory of permanent answers, is damaged, or is of another version. "
            "Give another path; a new file is made by itself.",
            f"ファイル {path!r} は永続回答の記憶ファイルではないか、壊れているか、バージョンが異なります。"
            "別のパスを指定してください（なければ新しく作られます）。",
        )

    def damaged(self) -> InputError:
        """The file does not hold what it should."""
        path = str(self.path)
        return InputError(
            f"The memory {path!r} cannot be used: it is closed, damaged, or was changed by another program; nothing was "
            "reported.",
            f"記憶ファイル {path!r} は閉じられたか、壊れているか、ほかのプログラムで変更されているため使えません。"
            "何も報告されていません。",
        )

    def _not_writable(self, reason: str) -> OutputError:
        path = str(self.path)
        return OutputError(
            f"The memory {path!r} cannot be used ({reason}); nothing was reported. It and its folder must be there and writable "
            "for you, the disk not full, and no other program may hold it.",
            f"記憶ファイル {path!r} を使えません（{reason}）。何も報告されていません。"
            "フォルダの有無・書き込み権限・ディスクの空き・ほかのプログラムの使用をご確認ください。",
        )

    def _no_room(self, name: str) -> OutputError:
        words = no_room(name)
        return OutputError(
            f"The memory {str(self.path)!r} {words.english} Nothing was reported.",
            f"記憶ファイル {str(self.path)!r} {words.japanese}何も報告されていません。",
        )

    def _open_to_others(self) -> InputError:
        path = str(self.path)
        return InputError(
            f"The memory {path!r} can be read or written by other users, and is not yours to close to them. It holds "
            f"people's answers: let its owner run 'chmod 600' on it and on its side files, or give a path of your own.",
            f"記憶ファイル {path!r} はほかの利用者も読み書きでき、所有者があなたではないため変更できません。"
            f"回答が入っているので、所有者が付属ファイルとともに chmod 600 を実行するか、自分のパスを指定してください。",
        )

    def _still_in_the_log(self) -> OutputError:
        path = str(self.path)
        return OutputError(
            f"The answers are forgotten in the memory {path!r} and will not be used again, but another program is reading it, so "
            f"that they still stand in the log file '{path}-wal'. End the other program, then forget once more: that "
            f"empties the log.",
            f"回答は記憶ファイル {path!r} から消去され、二度と使われません。ただし、ほかのプログラムが読み取り中のため、"
            f"ログファイル「{path}-wal」にはまだ残っています。そのプログラムを終了してから、もう一度消去（forget）を"
            f"実行すると、ログも空になります。",
        )


def is_kept_private(path: Path) -> bool:
    """Close a file and what SQLite keeps beside it to others; whether nobody but the owner may read or write it now.

    The files are not opened: closing one again would take away the locks that this process holds on it.
    """
    for file in (path, *(path.with_name(path.name + ending) for ending in SIDE_FILES)):
        try:
            about = file.stat()
            if not stat.S_ISREG(about.st_mode) or not about.st_mode & OPEN_TO_OTHERS:
                continue
            if about.st_uid != os.geteuid():
                return False
            file.chmod(stat.S_IMODE(about.st_mode) & ~OPEN_TO_OTHERS)
        except FileNotFoundError:
            continue
    return True


def drawn_for_research(what: str) -> NotPrivateError:
    """The refusal to keep what was not drawn by the secure source."""
    return NotPrivateError(
        f"The answers of {what} would be drawn from research entropy: they are not private, and must not be kept or sent."
    )


def _make_private(path: Path) -> None:
    """Make an empty file that only its owner may read, and bring its name to the disk."""
    if path.exists():
        require_regular_file(path)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        folder = os.open(path.absolute().parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # else a power cut could take the name of the new file away
        finally:
            os.close(folder)


def _pause() -> None:
    """A short while, different for everybody who waits."""
    time.sleep(LONGEST_PAUSE * secrets.randbelow(1 << 20) / (1 << 20))
