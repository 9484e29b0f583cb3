"""One private SQLite file: for its owner alone, on the disk at every commit, safe between processes.

The ledger, memories of permanent answers, tables of pseudonyms, registers and Prio's aggregators keep what they know in one. A
`FileKind` says what is different: the number that marks the files, what is done where others may read one, and the words for what
can go wrong. The rest is the same for all:

- A file that is a link, a pipe, another program's or of another kind is refused before anything of it is changed.
- A writer begins with BEGIN IMMEDIATE, so that what it reads cannot change before it commits. A commit is on the disk before it
  returns. Whatever fails leaves no transaction open.
- Waiting writers ask again after short, random pauses: SQLite's own pauses grow to a tenth of a second, in which a busy ledger
  does dozens of charges.
- What is deleted is overwritten. Older states still stand in the write-ahead log, until `PrivateSqlite.empty_log` has emptied it;
  it says so if it cannot.
- A connection belongs to the process that opened it: a forked one is refused.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from sudare.bilingual import Words
from sudare.errors import UserError
from sudare.storage.durable import sync_folder
from sudare.storage.private_files import close_to_others, files_open_to_others, make_private_file, with_side_files
from sudare.storage.sqlite_faults import FileFault, fault_of
from sudare.system.interrupts import end_waits
from sudare.system.reasons import reason_of
from sudare.system.regular_files import require_regular_file

__all__ = ["Exposure", "FileKind", "PrivateSqlite", "make_whole_file"]

MAX_WAIT_SECONDS = 60.0
"""Until a file that another program holds is given up."""

MAX_LOG_WAIT_SECONDS = 5.0
"""Until a log that others still read is left as it is."""

MAX_PAUSE_SECONDS = 0.005
"""Shorter pauses are slower: those who ask take the processor from the one who writes."""

MIN_DATABASE_BYTES = 512
BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")
SETTINGS = (
    "journal_mode = WAL",
    "synchronous = FULL",
    "fullfsync = ON",
    "secure_delete = ON",
    "temp_store = MEMORY",
)
"""A commit is on the disk before it returns and before others see it; what is deleted is overwritten; nothing of it is in other
files."""

Explain = Callable[[Path, FileFault, str | Words], UserError]


class Exposure(Enum):
    """What is done with a file that others than its owner may read or write."""

    CLOSED = "closed to them if it is the caller's own, else refused"
    REFUSED = "refused"
    ALLOWED = "allowed: several people may share it"


@dataclass(frozen=True, kw_only=True)
class FileKind:
    """What is different between private files of different purposes.

    Attributes:
        application_id: the number that marks them.
        explain: the error for a fault of a file, with a detail such as SQLite's name for it, and nothing of what it holds.
        exposure: what is done with one that others may read.
        older_table: a table by which those are known that older versions made without a mark.
        settings: of SQLite, besides those that all share.
        is_text_mended: whether bytes that are no text are read as signs for unknown letters, so that they can be looked for.
    """

    application_id: int
    explain: Explain
    exposure: Exposure = Exposure.CLOSED
    older_table: str | None = None
    settings: tuple[str, ...] = ()
    is_text_mended: bool = False


class PrivateSqlite:
    """A private SQLite file.

    Args:
        path: where it is.
        kind: its purpose.
        create: make it if it is not there, and take an empty one.
        schema: the statements that fill a new one, the mark left out; without any it stays empty.

    Raises:
        UserError: the message of this kind of file about a fault.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.errors import OutputError
        >>> from sudare.storage.sqlite_file import FileKind, PrivateSqlite
        >>> def explain(path: Path, fault: FileFault, detail: str | Words) -> OutputError:
        ...     return OutputError(f"{path.name}: {fault.value}", "...")
        >>> kind = FileKind(application_id=7, explain=explain)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = PrivateSqlite(Path(folder) / "kept.db", kind, create=True, schema=["CREATE TABLE kept (word TEXT)"])
        ...     with file.writing() as connection:
        ...         _ = connection.execute("INSERT INTO kept VALUES ('yes')")
        ...     words = file.rows("SELECT word FROM kept")
        ...     file.close()
        >>> words
        [('yes',)]
    """

    def __init__(self, path: str | Path, kind: FileKind, *, create: bool = False, schema: Sequence[str] = ()) -> None:
        self.path, self.kind, self.process = Path(path), kind, os.getpid()
        self._lock = threading.RLock()
        with self._explained_system():
            self._require_private_file(create)
            with self._explained():
                self._connection = _connect(self.path)
            if kind.is_text_mended:
                self._connection.text_factory = _mended
            try:
                self._begin(create, schema)
            except BaseException:
                self._connection.close()
                raise

    def _require_private_file(self, create: bool) -> None:
        """See that there is a regular file, or make one, and that only those may read it who should."""
        if self.path.is_symlink():
            raise self.error(FileFault.LINK)
        if self.path.exists():
            require_regular_file(self.path)
        elif create:
            make_private_file(self.path)
        else:
            raise self.error(FileFault.MISSING)
        if self.kind.exposure is Exposure.CLOSED and not close_to_others(self.path):
            raise self.error(FileFault.OPEN_TO_OTHERS, self.path.name)
        if self.kind.exposure is Exposure.REFUSED:
            for file in files_open_to_others(self.path):
                raise self.error(FileFault.OPEN_TO_OTHERS, file.name)

    def _begin(self, create: bool, schema: Sequence[str]) -> None:
        """See that the file is what it should be before anything of it is changed, then set it up."""
        self.rows("PRAGMA trusted_schema = OFF")  # of the connection; it changes nothing of the file
        with self.reading():  # of one moment: else a file that somebody fills in between is neither empty nor ours
            if not (self._is_ours() or (create and self._is_empty())):
                raise self.error(FileFault.NOT_OURS)
        for setting in (*SETTINGS, *self.kind.settings):
            self.rows(f"PRAGMA {setting}")
        if schema:
            with self.writing() as connection:
                if not self.tables():  # else somebody else has just filled it
                    for statement in (*schema, self.mark):
                        connection.execute(statement)

    @property
    def mark(self) -> str:
        """The statement that marks a new file as one of its kind."""
        return f"PRAGMA application_id = {self.kind.application_id}"

    def _mark_found(self) -> int:
        return int(self.rows("PRAGMA application_id")[0][0])

    def _is_ours(self) -> bool:
        mark = self._mark_found()
        return mark == self.kind.application_id or (mark == 0 and self.kind.older_table in self.tables())

    def _is_empty(self) -> bool:
        # SQLite takes a file of less than one page for an empty database, whatever is in it.
        is_other = 0 < self.path.stat().st_size < MIN_DATABASE_BYTES
        return not is_other and self._mark_found() == 0 and not self.tables()

    def tables(self) -> set[str]:
        """The names of all tables."""
        return {str(name) for (name,) in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def close(self) -> None:
        """Close the file; twice does no harm. A forked process leaves it to the one that opened it."""
        if os.getpid() == self.process:
            with self._lock:
                self._connection.close()

    def error(self, fault: FileFault, detail: str | Words = "") -> UserError:
        """The message to the user about a fault."""
        return self.kind.explain(self.path, fault, detail)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say in the user's words what SQLite says in its own, and nothing of what the file holds."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:  # damage may reach the words of SQLite's own message
            name = getattr(error, "sqlite_errorname", "") or type(error).__name__
            raise self.error(fault_of(error), name) from None

    @contextmanager
    def _explained_system(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self.error(FileFault.SYSTEM, reason_of(error)) from None

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One writer at a time, all or nothing, on the disk at the end; what is read meanwhile cannot change."""
        self._require_own_process()  # before the lock, which another thread may have held when this process was forked
        with self._explained(), self._lock:
            self._patiently("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        """All that is read within it is of one moment, whatever others write meanwhile."""
        self._require_own_process()
        with self._explained(), self._lock:
            if self._connection.in_transaction:
                yield
                return
            self._patiently("BEGIN")
            try:
                # The first look fixes the moment that a reader sees, and is the only one that may have to wait.
                self._patiently("SELECT count(*) FROM sqlite_master")
                yield
            finally:
                self._roll_back()

    def _roll_back(self) -> None:
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        """What a statement finds, as soon as nobody is in its way."""
        self._require_own_process()
        with self._explained(), self._lock:
            return self._patiently(statement, values)

    def _patiently(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        self._require_own_process()
        deadline = time.monotonic() + MAX_WAIT_SECONDS
        while True:
            try:
                return self._connection.execute(statement, values).fetchall()
            except sqlite3.OperationalError as error:
                if not getattr(error, "sqlite_errorname", "").startswith(BUSY) or time.monotonic() > deadline:
                    raise
            if statement.startswith("BEGIN"):
                end_waits()
            _pause()

    def _require_own_process(self) -> None:
        if os.getpid() != self.process:
            raise self.error(FileFault.OTHER_PROCESS)

    def state(self) -> int:
        """A number that is another one after somebody else has changed the file."""
        return int(self.rows("PRAGMA data_version")[0][0])

    def has_programs(self) -> bool:
        """Whether there are triggers or views in the file, which would change what is written to it or read from it."""
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE type NOT IN ('table', 'index') LIMIT 1"))

    def damages(self) -> list[str]:
        """What SQLite finds wrong with the file, in its own words."""
        return [str(words) for (words,) in self.rows("PRAGMA integrity_check(10)") if words != "ok"]

    def empty_log(self) -> None:
        """Bring everything into the file itself and empty the log, in which older states of the file still stand.

        Raises:
            UserError: if somebody reads the file all the while: then the log keeps what was deleted.
        """
        deadline = time.monotonic() + MAX_LOG_WAIT_SECONDS
        while not self.is_log_emptied():
            if time.monotonic() > deadline:
                raise self.error(FileFault.LOG_KEPT, f"{self.path}-wal")
            _pause()

    def is_log_emptied(self) -> bool:
        """Empty the log if nobody is in the way; whether it is empty now."""
        return not self.rows("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]


def make_whole_file(path: Path, kind: FileKind, statements: Sequence[tuple[str, Sequence[object]]]) -> None:
    """Make a new file and fill it; whole or not at all, and never in the place of another one.

    Args:
        path: where it shall be.
        kind: its purpose.
        statements: that fill it, with their values, the mark left out.

    Raises:
        UserError: the message of this kind of file about a fault: of one that is there already, or cannot be written.
    """
    if any(file.exists() or file.is_symlink() for file in with_side_files(path)):
        raise kind.explain(path, FileFault.EXISTS, "")
    temporary = path.with_name(f".{secrets.token_hex(8)}.part.db")
    try:
        make_private_file(temporary)
        _fill(temporary, [*statements, (f"PRAGMA application_id = {kind.application_id}", ())])
        os.link(temporary, path)  # unlike a rename, never in the place of another file
        sync_folder(path.absolute().parent)
    except FileExistsError:
        raise kind.explain(path, FileFault.EXISTS, "") from None
    except OSError as error:
        raise kind.explain(path, FileFault.NOT_MADE, reason_of(error)) from None
    except sqlite3.Error as error:
        raise kind.explain(path, fault_of(error), getattr(error, "sqlite_errorname", "")) from None
    finally:
        for file in with_side_files(temporary):
            with suppress(OSError):
                file.unlink(missing_ok=True)


def _fill(path: Path, statements: Sequence[tuple[str, Sequence[object]]]) -> None:
    connection = _connect(path)
    try:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN")
        for statement, values in statements:
            connection.execute(statement, values)
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()


def _connect(path: Path) -> sqlite3.Connection:
    # Without mode=rw SQLite would make a missing file, readable by everybody.
    address = f"{path.absolute().as_uri()}?mode=rw"
    return sqlite3.connect(address, uri=True, timeout=0, isolation_level=None, check_same_thread=False)


def _pause() -> None:
    """A short while, different for everybody who waits."""
    time.sleep(MAX_PAUSE_SECONDS * secrets.randbelow(1 << 20) / (1 << 20))


def _mended(raw: bytes) -> str:
    return raw.decode(errors="replace")
