"""What an aggregator must not forget: one SQLite file, in which every step is durable before it is answered.

A report is held under its nonce, which is the primary key: it can be held once, whoever sends it and however often. Its
nonce stays for ever; its share is deleted as soon as it is added up. Of a batch only the sum of the output shares is kept.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import sqlite3
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from sudare.collect.durable import is_kept_private
from sudare.errors import LedgerError
from sudare.system.regular_files import require_regular_file
from sudare.system.sqlite_faults import SqliteFault, fault_of, no_room

__all__ = ["Batch", "Held", "Record", "Store"]

VERSION = "1"
HELD, ASSIGNED, ACCEPTED, REJECTED = range(4)
NO_CHECKSUM = bytes(32)
SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE reports (
    nonce BLOB PRIMARY KEY, digest BLOB NOT NULL, state INTEGER NOT NULL, batch INTEGER, payload BLOB, message BLOB
) WITHOUT ROWID;
CREATE INDEX waiting ON reports (state) WHERE state < 2;
CREATE TABLE batches (
    number INTEGER PRIMARY KEY, closed INTEGER NOT NULL, fetched INTEGER NOT NULL, reports INTEGER NOT NULL,
    rejected INTEGER NOT NULL, checksum BLOB NOT NULL, aggregate BLOB NOT NULL
);
"""


@dataclass(frozen=True)
class Held:
    """A report whose turn has come, and the batch it was put into."""

    nonce: bytes
    batch: int
    payload: bytes


@dataclass(frozen=True)
class Record:
    """What became of a report: its message if it was accepted, None if it was dropped."""

    nonce: bytes
    digest: bytes
    message: bytes | None


@dataclass(frozen=True)
class Batch:
    """A batch so far."""

    number: int
    closed: bool
    fetched: bool
    reports: int
    rejected: int
    checksum: bytes
    aggregate: bytes


class Store:
    """One aggregator's file. Safe for use by several threads; a second process is refused.

    Args:
        path: of the file; made if it does not exist.
        owner: role and task, so that a file is never used for another one.
        empty: the aggregate share of no report.
    """

    def __init__(self, path: str | Path, owner: str, empty: bytes) -> None:
        self._path = Path(path)
        self._empty = empty
        self._lock = threading.RLock()
        self._guard = self._take_alone()
        try:
            # Shares, and sums of batches that are still open: for nobody but this aggregator.
            os.close(os.open(self._path, os.O_CREAT | os.O_WRONLY | os.O_NONBLOCK, 0o600))
            require_regular_file(self._path)
            if not is_kept_private(self._path):
                raise _open_to_others(self._path)
            self._database = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = FULL")
            try:
                self._prepare(owner)
            except LedgerError:
                self._database.close()
                raise
        except (sqlite3.Error, OSError) as problem:
            self._guard.close()
            raise _unusable(self._path, problem) from None
        except LedgerError:
            self._guard.close()
            raise

    def _take_alone(self) -> IO[bytes]:
        try:
            guard = Path(f"{self._path}.lock").open("ab")  # noqa: SIM115
        except OSError as problem:
            raise _unusable(self._path, problem) from None
        try:
            fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            guard.close()
            raise LedgerError(
                f"Another process uses the store {self._path}. Run one aggregator per store.",
                f"別のプロセスが保管ファイル {self._path} を使用中です。保管ファイル一つにつき集計者は一つです。",
            ) from None
        return guard

    def _prepare(self, owner: str) -> None:
        with self._transaction() as database:
            if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'about'").fetchone():
                for statement in SCHEMA.split(";"):
                    database.execute(statement)
                database.execute("INSERT INTO about VALUES ('version', ?), ('owner', ?)", (VERSION, owner))
                self._new_batch(0)
            found = dict(database.execute("SELECT name, value FROM about").fetchall())
        if found.get("version") != VERSION or found.get("owner") != owner:
            raise LedgerError(
                f"The store {self._path} belongs to another task, another role or another version of sudare.",
                f"保管ファイル {self._path} は別のタスク・役割、または別の版の sudare のものです。",
            )

    def close(self) -> None:
        """Let another process have the file."""
        with self._lock:
            self._database.close()
            self._guard.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                self._database.execute("BEGIN IMMEDIATE")
                yield self._database
                self._database.execute("COMMIT")
            except BaseException as problem:
                with suppress(sqlite3.Error):
                    if self._database.in_transaction:
                        self._database.execute("ROLLBACK")
                if isinstance(problem, sqlite3.Error):
                    raise _unusable(self._path, problem) from None
                raise

    def hold(self, nonce: bytes, payload: bytes) -> bool:
        """Hold a report until its turn comes; whether the one held under this nonce is this one."""
        digest = hashlib.sha256(payload).digest()
        with self._transaction() as database:
            database.execute(
                "INSERT OR IGNORE INTO reports VALUES (?, ?, ?, NULL, ?, NULL)", (nonce, digest, HELD, payload)
            )
            kept = database.execute("SELECT digest FROM reports WHERE nonce = ?", (nonce,)).fetchone()
        return bool(kept[0] == digest)

    def next_reports(self, limit: int, aside: Collection[bytes] = ()) -> list[Held]:
        """Reports to work on: those that were put into a batch before a crash, else some of those held.

        They are put into the open batch durably before anybody hears of them. Those that are named as set aside are
        left for another round.
        """

        def assigned() -> list[Held]:
            wanted = "SELECT nonce, batch, payload FROM reports WHERE state = ? LIMIT ?"
            rows = self._database.execute(wanted, (ASSIGNED, limit + len(aside))).fetchall()
            return [Held(*row) for row in rows if row[0] not in aside][:limit]

        with self._transaction() as database:
            rows = assigned()
            if not rows:
                database.execute(
                    "UPDATE reports SET state = ?, batch = ? WHERE nonce IN"
                    " (SELECT nonce FROM reports WHERE state = ? LIMIT ?)",
                    (ASSIGNED, self.open_batch().number, HELD, limit),
                )
                rows = assigned()
        return rows

    def records(self, nonces: Sequence[bytes]) -> dict[bytes, Record]:
        """What became of those of some reports that were seen before."""
        found = {}
        with self._lock:
            for nonce in nonces:
                row = self._database.execute(
                    "SELECT nonce, digest, message FROM reports WHERE nonce = ?", (nonce,)
                ).fetchone()
                if row is not None:
                    found[nonce] = Record(*row)
        return found

    def settle(self, batch: int, records: Sequence[Record], aggregate: bytes) -> None:
        """Note what became of reports, and the batch's new aggregate share, in one step."""
        before = self.batch(batch)
        if before is None or before.closed:
            raise ValueError("a closed batch takes no reports")
        accepted = [record.nonce for record in records if record.message is not None]
        checksum = checksum_of(accepted, before.checksum)
        with self._transaction() as database:
            for record in records:
                state = REJECTED if record.message is None else ACCEPTED
                database.execute(
                    "INSERT INTO reports VALUES (?, ?, ?, ?, NULL, ?) ON CONFLICT (nonce)"
                    " DO UPDATE SET state = excluded.state, payload = NULL, message = excluded.message",
                    (record.nonce, record.digest, state, batch, record.message),
                )
            database.execute(
                "UPDATE batches SET reports = reports + ?, rejected = rejected + ?, checksum = ?, aggregate = ?"
                " WHERE number = ?",
                (len(accepted), len(records) - len(accepted), checksum, aggregate, batch),
            )

    def withdraw(self, batch: int, nonce: bytes, aggregate: bytes) -> None:
        """Reject a report that was accepted into an open batch, and note the batch's aggregate share without it."""
        before = self.batch(batch)
        if before is None or before.closed:
            raise ValueError("nothing is withdrawn from a closed batch")
        checksum = checksum_of([nonce], before.checksum)
        with self._transaction() as database:
            database.execute("UPDATE reports SET state = ?, message = NULL WHERE nonce = ?", (REJECTED, nonce))
            database.execute(
                "UPDATE batches SET reports = reports - 1, rejected = rejected + 1, checksum = ?, aggregate = ?"
                " WHERE number = ?",
                (checksum, aggregate, batch),
            )

    def batch(self, number: int) -> Batch | None:
        """A batch by its number."""
        return self._one_batch("WHERE number = ?", number) if number < 2**63 else None

    def open_batch(self) -> Batch:
        """The batch that reports are put into."""
        found = self._one_batch("WHERE closed = 0 ORDER BY number DESC LIMIT 1")
        assert found is not None  # noqa: S101
        return found

    def unfetched_batch(self) -> Batch | None:
        """A batch that was closed, but that the collector never got."""
        return self._one_batch("WHERE closed = 1 AND fetched = 0 ORDER BY number LIMIT 1")

    def ensure_batch(self, number: int) -> Batch:
        """A batch that the other aggregator named; made if it is new."""
        with self._transaction():
            if self.batch(number) is None:
                self._new_batch(number)
        found = self.batch(number)
        assert found is not None  # noqa: S101
        return found

    def close_batch(self, number: int) -> None:
        """No further report goes into this batch, for ever; the next one is open."""
        with self._transaction() as database:
            database.execute("UPDATE batches SET closed = 1 WHERE number = ?", (number,))
            if self._one_batch("WHERE closed = 0 LIMIT 1") is None:
                self._new_batch(number + 1)

    def mark_fetched(self, number: int) -> None:
        """The collector was given this batch."""
        with self._transaction() as database:
            database.execute("UPDATE batches SET fetched = 1 WHERE number = ?", (number,))

    def _new_batch(self, number: int) -> None:
        self._database.execute(
            "INSERT OR IGNORE INTO batches VALUES (?, 0, 0, 0, 0, ?, ?)", (number, NO_CHECKSUM, self._empty)
        )

    def _one_batch(self, condition: str, *values: int) -> Batch | None:
        columns = "number, closed, fetched, reports, rejected, checksum, aggregate"
        with self._lock:
            # The conditions are this module's own words; nothing of a message gets into them.
            row = self._database.execute(f"SELECT {columns} FROM batches {condition}", values).fetchone()  # noqa: S608
        return None if row is None else Batch(row[0], bool(row[1]), bool(row[2]), *row[3:])


def checksum_of(nonces: Sequence[bytes], before: bytes = NO_CHECKSUM) -> bytes:
    """Names a set of reports, whatever their order: the exclusive or of their nonces' hashes."""
    total = int.from_bytes(before, "little")
    for nonce in nonces:
        total ^= int.from_bytes(hashlib.sha256(nonce).digest(), "little")
    return total.to_bytes(len(NO_CHECKSUM), "little")


def _open_to_others(path: Path) -> LedgerError:
    return LedgerError(
        f"The store {path} can be read or written by other users, and is not yours to close to them. It holds shares: let its "
        "owner run 'chmod 600' on it and on its side files, or give a path of your own.",
        f"保管ファイル {path} はほかの利用者も読み書きでき、所有者があなたではないため変更できません。"
        "シェアが入っているので、所有者が付属ファイルとともに chmod 600 を実行するか、自分のパスを指定してください。",
    )


def _unusable(path: Path, problem: Exception) -> LedgerError:
    if isinstance(problem, sqlite3.Error) and fault_of(problem) is SqliteFault.NO_ROOM:
        words = no_room(getattr(problem, "sqlite_errorname", ""))
        return LedgerError(f"The store {path} {words.english}", f"保管ファイル {path} {words.japanese}")
    reason = problem.strerror if isinstance(problem, OSError) else "it is not a store, is damaged, or is locked"
    return LedgerError(
        f"The store {path} cannot be used: {reason}.", f"保管ファイル {path} を使用できません（{reason}）。"
    )
