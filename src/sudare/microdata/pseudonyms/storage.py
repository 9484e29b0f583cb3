"""Private SQLite files: made once, readable by their owner only, on the disk at every commit, safe between processes.

What the mapping of a random table and the register of people share. A file is made on purpose and opened on purpose: a mistyped
path never becomes a second, empty mapping.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import sqlite3
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sudare.errors import InputError, OutputError
from sudare.system.sqlite_faults import SqliteFault, fault_of, no_room

__all__ = ["FileLock", "PrivateDatabase"]

LONGEST_WAIT = 60.0
LONGEST_PAUSE = 0.005
SIDE_FILES = ("-wal", "-shm", "-journal")
OPEN_TO_OTHERS = stat.S_IRWXG | stat.S_IRWXO
BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")
SETTINGS = (
    "synchronous = FULL",
    "fullfsync = ON",
    "secure_delete = ON",
    "trusted_schema = OFF",
    "cache_size = -65536",
)
"""A commit is on the disk before it returns; what is deleted is overwritten; 64 MB are kept in memory."""


class PrivateDatabase:
    """One SQLite file with one purpose.

    Args:
        path: the file, which is there.
        what: what it is called, in English and in Japanese.
        application: the number that marks files of this purpose.
        key_name: the name of the key it belongs to.

    Raises:
        InputError: if it is missing, something else, of another key, or open to others.
    """

    def __init__(self, path: str | Path, what: tuple[str, str], application: int, key_name: str) -> None:
        self.path, self.what, self.process = Path(path), what, os.getpid()
        if not self.path.is_file():
            raise self._missing()
        with self._told():
            self._require_private()
            self._connection = _connected(self.path)
            try:
                if self._patiently("PRAGMA application_id") != [(application,)]:
                    raise self.not_ours()
                for setting in SETTINGS:
                    self._connection.execute(f"PRAGMA {setting}")
                if self._patiently("SELECT value FROM about WHERE name = 'key'") != [(key_name,)]:
                    raise self._other_key()
            except BaseException:
                self._connection.close()
                raise

    @staticmethod
    def make(path: str | Path, what: tuple[str, str], application: int, key_name: str, schema: Sequence[str]) -> None:
        """Make a new file; whole or not at all.

        Raises:
            OutputError: if it exists, or cannot be written.
        """
        target = Path(path)
        if target.exists() or any(target.with_name(target.name + end).exists() for end in SIDE_FILES):
            raise OutputError(
                f"The {what[0]} {str(target)!r} exists already, and is never overwritten. Use it as it is, or choose "
                f"another name.",
                f"{what[1]} {str(target)!r} は既にあり、上書きされません。そのまま使うか、別の名前にしてください。",
            )
        temporary = target.with_name(f".{secrets.token_hex(8)}.part.db")
        try:
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            connection = _connected(temporary)
            try:
                for statement in (
                    "BEGIN",
                    "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
                    *schema,
                    f"PRAGMA application_id = {application}",
                ):
                    connection.execute(statement)
                connection.execute("INSERT INTO about VALUES ('key', ?)", (key_name,))
                connection.execute("COMMIT")
                connection.execute("PRAGMA journal_mode = WAL")
            finally:
                connection.close()
            os.link(temporary, target)  # unlike a rename, never in the place of another file
            folder = os.open(target.absolute().parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as failure:
            reason = os.strerror(failure.errno or 0)
            raise OutputError(
                f"The {what[0]} {str(target)!r} cannot be made ({reason}). Its folder must be there and writable for you.",
                f"{what[1]} {str(target)!r} を作れません（{reason}）。フォルダの有無と書き込み権限をご確認ください。",
            ) from None
        finally:
            for end in ("", *SIDE_FILES):
                with suppress(OSError):
                    temporary.with_name(temporary.name + end).unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if os.getpid() == self.process:
            self._connection.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One writer at a time, all or nothing, on the disk at the end; what is read meanwhile cannot change."""
        with self._told():
            self._patiently("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        """All that is read within it is of one moment, whatever others write meanwhile."""
        if self._connection.in_transaction:
            yield
            return
        with self._told():
            self._patiently("BEGIN")
            try:
                yield
            finally:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")

    def state(self) -> int:
        """A number that is another one after somebody else has changed the file."""
        return int(self.rows("PRAGMA data_version")[0][0])

    def has_programs(self) -> bool:
        """Whether somebody has put triggers or views into the file, which would change what is written to it or read from it."""
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE type NOT IN ('table', 'index') LIMIT 1"))

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        """What a statement finds, as soon as nobody is in its way."""
        with self._told():
            return self._patiently(statement, values)

    def empty_log(self) -> None:
        """Bring everything into the file itself and empty SQLite's log, in which older states still stand."""
        deadline = time.monotonic() + LONGEST_WAIT / 10
        while self.rows("PRAGMA wal_checkpoint(TRUNCATE)")[0][0] and time.monotonic() < deadline:
            time.sleep(LONGEST_PAUSE)

    def _patiently(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        if os.getpid() != self.process:
            raise OutputError(
                f"The {self.what[0]} was opened by another process; open it again in each process.",
                f"{self.what[1]}は別のプロセスで開かれたものです。プロセスごとに開き直してください。",
            )
        deadline = time.monotonic() + LONGEST_WAIT
        while True:
            try:
                return self._connection.execute(statement, values).fetchall()
            except sqlite3.OperationalError as error:
                if not getattr(error, "sqlite_errorname", "").startswith(BUSY) or time.monotonic() > deadline:
                    raise
            time.sleep(LONGEST_PAUSE * secrets.randbelow(1 << 20) / (1 << 20))

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say what went wrong with the file, and nothing of what it holds."""
        try:
            yield
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", "") or "it failed"
            if fault_of(error) is SqliteFault.NO_ROOM:
                words = no_room(name)
                raise OutputError(
                    f"The {self.what[0]} {str(self.path)!r} {words.english}",
                    f"{self.what[1]} {str(self.path)!r} {words.japanese}",
                ) from None
            if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT", "SQLITE_ERROR")):
                raise self.not_ours() from None
            raise self._unusable(name) from None
        except OSError as error:
            raise self._unusable(os.strerror(error.errno or 0)) from None

    def _require_private(self) -> None:
        for end in ("", *SIDE_FILES):
            file = self.path.with_name(self.path.name + end)
            with suppress(FileNotFoundError):
                if file.stat().st_mode & OPEN_TO_OTHERS:
                    raise InputError(
                        f"The {self.what[0]} {str(file)!r} can be read or changed by other users. Run: chmod 600 {file.name}",
                        f"{self.what[1]} {str(file)!r} はほかの利用者も読み書きできます。"
                        f"chmod 600 {file.name} を実行してください。",
                    )

    def not_ours(self) -> InputError:
        """The file has another purpose, or is damaged."""
        return InputError(
            f"The file {str(self.path)!r} is not a {self.what[0]}, or is damaged.",
            f"ファイル {str(self.path)!r} は{self.what[1]}ではないか、壊れています。",
        )

    def _other_key(self) -> InputError:
        return InputError(
            f"The {self.what[0]} {str(self.path)!r} belongs to another key. Give the key that it was made with.",
            f"{self.what[1]} {str(self.path)!r} は別の鍵のものです。作ったときの鍵を指定してください。",
        )

    def _missing(self) -> InputError:
        return InputError(
            f"There is no {self.what[0]} at {str(self.path)!r}. Check the spelling; a new one is made only on purpose.",
            f"{str(self.path)!r} に{self.what[1]}がありません。つづりを確かめてください（自動では作られません）。",
        )

    def _unusable(self, reason: str) -> OutputError:
        return OutputError(
            f"The {self.what[0]} {str(self.path)!r} cannot be used ({reason}). It and its folder must be writable for you, "
            f"the disk not full, and no other program may hold it.",
            f"{self.what[1]} {str(self.path)!r} を使えません（{reason}）。書き込み権限、ディスクの空き、"
            "ほかのプログラムの使用をご確認ください。",
        )


class FileLock:
    """A lock between processes that ends with its holder, however that ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def __enter__(self) -> FileLock:
        self.take()
        return self

    def __exit__(self, *error: object) -> None:
        self.leave()

    def take(self) -> None:
        """Wait for it."""
        self._descriptor = os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def leave(self) -> None:
        """Give it back; twice does no harm."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _connected(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=0, isolation_level=None, check_same_thread=False
    )
