"""A ledger in one SQLite file: write-ahead log, every commit synced to the disk, one writer at a time.

A writer begins with BEGIN IMMEDIATE, so that what it reads cannot change before it commits. Waiting writers ask again
after short, random pauses: SQLite's own pauses grow to a tenth of a second, in which a busy ledger does dozens of
charges.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from sudare.errors import LedgerError
from sudare.ledger.stores import SCHEMA, Row, Value
from sudare.system.interrupts import end_waits
from sudare.system.locks import hold_file, release_file
from sudare.system.regular_files import require_regular_file
from sudare.system.sqlite_faults import SqliteFault, fault_of, no_room

__all__ = ["SqliteStore"]

LONGEST_WAIT = 60.0
"""Seconds until a ledger that another program holds is given up."""

LONGEST_PAUSE = 0.005
"""Seconds. Shorter pauses are slower: those who ask take the processor from the one who writes."""

SMALLEST_DATABASE = 512
_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")

APPEND_ONLY = tuple(
    f"""CREATE TRIGGER sudare_entries_{change.lower()} BEFORE {change} ON sudare_entries
        BEGIN SELECT RAISE(ABORT, 'entries of a ledger are never changed'); END"""
    for change in ("UPDATE", "DELETE")
)


class SqliteStore:
    """A ledger in an SQLite file.

    Args:
        path: where the file is.
        create: make it, readable by its owner only, if it is not there.
    """

    def __init__(self, path: Path, *, create: bool) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._require_file(create)
        with self._told():
            # Without mode=rw SQLite would make a missing file, readable by everybody.
            address = f"{path.absolute().as_uri()}?mode=rw"
            self._connection = sqlite3.connect(
                address, uri=True, timeout=0, isolation_level=None, check_same_thread=False
            )
        # Bytes that are no text must be found by their hash, not stop the search.
        self._connection.text_factory = _decoded
        try:
            self._require_ledger_or_room(create)
            with self._told():
                self._patiently("PRAGMA journal_mode = WAL")
                for setting in ("synchronous = FULL", "fullfsync = ON", "trusted_schema = OFF"):
                    self._connection.execute(f"PRAGMA {setting}")
        except BaseException:
            self._connection.close()
            raise

    def _require_file(self, create: bool) -> None:
        path = self._path
        try:
            if path.is_dir():
                raise LedgerError(
                    f"{str(path)!r} is a folder; a ledger is a file.",
                    f"{str(path)!r} はフォルダです。台帳はファイルで指定してください。",
                )
            if path.exists():
                require_regular_file(path)
                return
            if not path.parent.is_dir():
                raise LedgerError(
                    f"The folder {str(path.parent)!r} for the ledger does not exist; make it first.",
                    f"台帳を置くフォルダ {str(path.parent)!r} がありません。先に作成してください。",
                )
            if not create:
                raise LedgerError(
                    f"There is no ledger {str(path)!r}. Make one with 'sudare ledger create {path}'.",
                    f"台帳 {str(path)!r} がありません。'sudare ledger create {path}' で作成してください。",
                )
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)  # else a power cut could take the name of the new file away
            finally:
                os.close(folder)
        except OSError as error:
            raise self._unusable(error) from None

    def _unusable(self, error: OSError) -> LedgerError:
        return LedgerError(
            f"The ledger {str(self._path)!r} cannot be used: {error.strerror}. Check the path and its permissions.",
            f"台帳 {str(self._path)!r} を使えません（{error.strerror}）。パスと権限をご確認ください。",
        )

    def _require_ledger_or_room(self, create: bool) -> None:
        """Refuse another program's file before any setting of it is touched."""
        with self._told():
            self._patiently("SELECT count(*) FROM sqlite_master")
        # SQLite takes a file of less than one page for an empty database, whatever is in it.
        has_room = create and not self._tables() and not 0 < self._path.stat().st_size < SMALLEST_DATABASE
        if not (self.is_ledger() or has_room):
            raise self.not_a_ledger()

    @contextmanager
    def transaction(self, *, write: bool) -> Iterator[None]:
        """All or nothing; see `Store`."""
        if os.getpid() != self._process:
            raise LedgerError(
                "This ledger was opened by another process; open it again in each process with open_ledger.",
                "この台帳は別のプロセスで開かれたものです。プロセスごとに open_ledger で開き直してください。",
            )
        with self._lock:
            with self._told():
                self._patiently("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                if not write:
                    with self._told():
                        # The first look fixes the moment that a reader sees, and is the only one that may have to wait.
                        self._patiently("SELECT count(*) FROM sqlite_master")
                yield
                with self._told():
                    self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK")
                raise

    def execute(self, statement: str, values: Sequence[Value] = ()) -> None:
        """Change something; see `Store`."""
        with self._told():
            self._connection.execute(statement, values)

    def fetch(self, statement: str, values: Sequence[Value] = ()) -> list[Row]:
        """Read rows; see `Store`."""
        with self._told():
            rows: list[Row] = self._connection.execute(statement, values).fetchall()
            return rows

    def is_ledger(self) -> bool:
        """Whether there is a ledger; see `Store`."""
        return "sudare_ledger" in self._tables()

    def make_tables(self) -> None:
        """Make the tables of an empty ledger; see `Store`."""
        if self._tables():
            raise self.not_a_ledger()
        for statement in (*SCHEMA, *APPEND_ONLY):
            self.execute(statement)

    @contextmanager
    def alone_with(self, work: str, on_wait: Callable[[], None] | None) -> Iterator[None]:
        """By a locked file beside the ledger; see `Store`."""
        path = self._path.resolve()  # one ledger may have several names
        digest = sha256(work.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        lock = path.with_name(f".{path.name}.{digest}.lock")
        try:
            handle = hold_file(lock, on_wait)
        except OSError as error:
            raise self._unusable(error) from None
        try:
            yield
        finally:
            release_file(lock, handle)

    def damages(self) -> list[str]:
        """What SQLite finds wrong with the file; see `Store`."""
        return [str(words) for (words,) in self.fetch("PRAGMA integrity_check(10)") if words != "ok"]

    def close(self) -> None:
        """Close the file; see `Store`."""
        if os.getpid() == self._process:
            with self._lock:
                self._connection.close()

    def not_a_ledger(self) -> LedgerError:
        """What to say where something else is kept."""
        return LedgerError(
            f"The file {str(self._path)!r} is not a ledger. Give the path of a ledger, or make a new one with "
            f"'sudare ledger create'.",
            f"ファイル {str(self._path)!r} は台帳ではありません。台帳のパスを指定するか、"
            f"'sudare ledger create' で新しく作成してください。",
        )

    def _tables(self) -> set[str]:
        return {str(name) for (name,) in self.fetch("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def _patiently(self, statement: str) -> None:
        """Run a statement as soon as nobody else is in its way."""
        deadline = time.monotonic() + LONGEST_WAIT
        while True:
            try:
                self._connection.execute(statement).fetchall()
                return
            except sqlite3.OperationalError as error:
                if not getattr(error, "sqlite_errorname", "").startswith(_BUSY) or time.monotonic() > deadline:
                    raise
            if statement.startswith("BEGIN"):
                end_waits()
            time.sleep(LONGEST_PAUSE * secrets.randbelow(1 << 20) / (1 << 20))

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say in the user's words what SQLite says in its own."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:  # damage may reach the words of SQLite's own message
            raise self._explained(error) from None

    def _explained(self, error: Exception) -> LedgerError:
        name, path, fault = getattr(error, "sqlite_errorname", ""), str(self._path), fault_of(error)
        if fault is SqliteFault.NOT_A_DATABASE:
            return self.not_a_ledger()
        if fault is SqliteFault.BUSY:
            return LedgerError(
                f"Another program has held the ledger {path!r} for {LONGEST_WAIT:.0f} seconds; try again later.",
                f"台帳 {path!r} は {LONGEST_WAIT:.0f} 秒以上ほかのプログラムが使用中です。後でもう一度お試しください。",
            )
        if fault is SqliteFault.NOT_WRITABLE:
            return LedgerError(
                f"The ledger {path!r} cannot be written. The file and its folder must be writable for you.",
                f"台帳 {path!r} に書き込めません。ファイルとフォルダの両方に書き込み権限が必要です。",
            )
        if fault is SqliteFault.NO_ROOM:
            words = no_room(name)
            return LedgerError(f"The ledger {path!r} {words.english}", f"台帳 {path!r} {words.japanese}")
        if fault is SqliteFault.CLOSED:
            return LedgerError(
                f"The ledger {path!r} is closed; open it again.",
                f"台帳 {path!r} は閉じられています。開き直してください。",
            )
        return LedgerError(
            f"The ledger {path!r} is damaged, or was changed by another program ({name or type(error).__name__}). Keep the file "
            "as it is. A copy does not know what was charged after it was made: before one is used, count what was published "
            "since; check it with 'sudare ledger verify'.",
            f"台帳 {path!r} が壊れているか、ほかのプログラムで変更されています（{name or type(error).__name__}）。"
            "ファイルはそのまま保管してください。控えには、その後に使った予算が記録されていません。使う前に、その後の公表を"
            "すべて数え、'sudare ledger verify' でご確認ください。",
        )


def _decoded(raw: bytes) -> str:
    return raw.decode(errors="replace")
