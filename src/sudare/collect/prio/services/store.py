"""What an aggregator must not forget: one private SQLite file, in which every step is durable before it is answered.

A report is held under its nonce, which is the primary key: it can be held once, no matter who sends it or how often. Its nonce
stays for ever; its share is deleted as soon as it is added up, and overwritten, in the file and in its log. Of a batch only the
sum of the output shares is kept.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sudare.bilingual import Words
from sudare.errors import LedgerError, UserError
from sudare.storage.sqlite_faults import FileFault, words_for
from sudare.storage.sqlite_file import Exposure, FileKind, PrivateSqlite
from sudare.system.locks import FileLock

__all__ = ["Batch", "HeldReport", "ReportRecord", "ReportStore"]

APPLICATION_ID = 0x53445052
"""Marks new stores; older ones have no mark and are known by their tables."""

VERSION = "1"
HELD, ASSIGNED, ACCEPTED, REJECTED = range(4)
NO_CHECKSUM = bytes(32)
COLUMN_TYPES = [int, int, int, int, int, bytes, bytes]
"""Of a batch."""
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
class HeldReport:
    """A report whose turn has come, and the batch it was put into."""

    nonce: bytes
    batch: int
    payload: bytes


@dataclass(frozen=True)
class ReportRecord:
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


class ReportStore:
    """One aggregator's file. Safe for use by several threads; a second process is refused.

    Args:
        path: of the file; made if it does not exist.
        owner: role and task, so that a file is never used for another one.
        empty: the aggregate share of no report.
    """

    def __init__(self, path: str | Path, owner: str, empty: bytes) -> None:
        self._path = Path(path)
        self._empty = empty
        self._is_log_empty = False
        self._guard = self._take_alone()
        try:
            # Shares, and sums of batches that are still open: for nobody but this aggregator.
            self._file = PrivateSqlite(self._path, KIND, create=True)
            try:
                self._prepare(owner)
                self._empty_log()  # a process that was killed may have left shares there
            except BaseException:
                self._file.close()
                raise
        except BaseException:
            self._guard.leave()
            raise

    def _take_alone(self) -> FileLock:
        guard = FileLock(Path(f"{self._path}.lock"))
        try:
            is_alone = guard.try_take()
        except OSError as problem:
            raise _explain(self._path, FileFault.SYSTEM, problem.strerror or "it failed") from None
        if not is_alone:
            raise LedgerError(
                f"Another process uses the store {self._path}. Run one aggregator per store.",
                f"別のプロセスが保管ファイル {self._path} を使用中です。保管ファイル一つにつき集計者は一つです。",
            )
        return guard

    def _prepare(self, owner: str) -> None:
        with self._transaction() as database:
            if not self._file.tables():
                for statement in (*SCHEMA.split(";"), self._file.mark):
                    database.execute(statement)
                database.execute("INSERT INTO about VALUES ('version', ?), ('owner', ?)", (VERSION, owner))
                self._new_batch(0)
            found = dict(self._file.rows("SELECT name, value FROM about"))
        if found.get("version") != VERSION or found.get("owner") != owner:
            raise LedgerError(
                f"The store {self._path} belongs to another task, another role or another version of sudare.",
                f"保管ファイル {self._path} は別のタスク・役割、または別の版の sudare のものです。",
            )

    def close(self) -> None:
        """Let another process have the file."""
        self._file.close()
        self._guard.leave()

    @property
    def is_log_empty(self) -> bool:
        """Whether shares that were added up are gone from SQLite's log too.

        If not, another program reads the file. The next report that is settled, or the next process that opens the store, empties
        it.
        """
        return self._is_log_empty

    def _empty_log(self) -> None:
        """Empty the log if nobody is in the way. What was settled is settled, so that nothing is raised."""
        try:
            self._is_log_empty = self._file.is_log_emptied()
        except LedgerError:
            self._is_log_empty = False

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._file.writing() as database:
            yield database

    def hold(self, nonce: bytes, payload: bytes) -> bool:
        """Hold a report until its turn comes; whether the one held under this nonce is this one."""
        digest = hashlib.sha256(payload).digest()
        with self._transaction() as database:
            database.execute(
                "INSERT OR IGNORE INTO reports VALUES (?, ?, ?, NULL, ?, NULL)", (nonce, digest, HELD, payload)
            )
            kept = database.execute("SELECT digest FROM reports WHERE nonce = ?", (nonce,)).fetchone()
            if kept is None:
                raise self._damaged("no report")
        return bool(kept[0] == digest)

    def next_reports(self, limit: int, aside: Collection[bytes] = ()) -> list[HeldReport]:
        """Reports to work on: those that were put into a batch before a crash, else some of those held.

        They are put into the open batch durably before anybody hears of them. Those that are named as set aside are
        left for another round.
        """

        def assigned() -> list[HeldReport]:
            wanted = "SELECT nonce, batch, payload FROM reports WHERE state = ? LIMIT ?"
            rows = self._file.rows(wanted, (ASSIGNED, limit + len(aside)))
            return [HeldReport(*row) for row in rows if row[0] not in aside][:limit]

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

    def records(self, nonces: Sequence[bytes]) -> dict[bytes, ReportRecord]:
        """What became of those of some reports that were seen before."""
        found = {}
        with self._file.reading():
            for nonce in nonces:
                for row in self._file.rows("SELECT nonce, digest, message FROM reports WHERE nonce = ?", (nonce,)):
                    found[nonce] = ReportRecord(*row)
        return found

    def settle(self, batch: int, records: Sequence[ReportRecord], aggregate: bytes) -> None:
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
        self._empty_log()

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
        self._empty_log()

    def batch(self, number: int) -> Batch | None:
        """A batch by its number."""
        return self._one_batch("WHERE number = ?", number) if number < 2**63 else None

    def open_batch(self) -> Batch:
        """The batch that reports are put into."""
        return self._known(self._one_batch("WHERE closed = 0 ORDER BY number DESC LIMIT 1"))

    def unfetched_batch(self) -> Batch | None:
        """A batch that was closed, but that the collector never got."""
        return self._one_batch("WHERE closed = 1 AND fetched = 0 ORDER BY number LIMIT 1")

    def ensure_batch(self, number: int) -> Batch:
        """A batch that the other aggregator named; made if it is new."""
        with self._transaction():
            if self.batch(number) is None:
                self._new_batch(number)
        return self._known(self.batch(number))

    def _known(self, batch: Batch | None) -> Batch:
        """A batch that a sound store has."""
        if batch is None:
            raise self._damaged("no batch")
        return batch

    def _damaged(self, what: str) -> UserError:
        return self._file.error(FileFault.DAMAGED, what)

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
        self._file.rows(
            "INSERT OR IGNORE INTO batches VALUES (?, 0, 0, 0, 0, ?, ?)", (number, NO_CHECKSUM, self._empty)
        )

    def _one_batch(self, condition: str, *values: int) -> Batch | None:
        columns = "number, closed, fetched, reports, rejected, checksum, aggregate"
        # The conditions are this module's own words; nothing of a message gets into them.
        for row in self._file.rows(f"SELECT {columns} FROM batches {condition}", values):  # noqa: S608
            if [type(value) for value in row] != COLUMN_TYPES:
                raise self._damaged("no batch")
            return Batch(row[0], bool(row[1]), bool(row[2]), *row[3:])
        return None


def checksum_of(nonces: Sequence[bytes], before: bytes = NO_CHECKSUM) -> bytes:
    """Names a set of reports, whatever their order: the exclusive or of their nonces' hashes."""
    total = int.from_bytes(before, "little")
    for nonce in nonces:
        total ^= int.from_bytes(hashlib.sha256(nonce).digest(), "little")
    return total.to_bytes(len(NO_CHECKSUM), "little")


def _explain(path: Path, fault: FileFault, detail: str | Words) -> LedgerError:
    """The message about a fault of a store."""
    words = WORDS.get(fault)
    if words is None:
        words = words_for(Words("store", "保管ファイル"), path, fault, detail)
        return LedgerError(words.english, words.japanese)
    return LedgerError(words.english.format(path=path, detail=detail), words.japanese.format(path=path, detail=detail))


WORDS = {
    FileFault.NOT_OURS: Words(
        "The store {path} cannot be used: it is not a store of an aggregator, or is damaged.",
        "保管ファイル {path} を使用できません。集計者の保管ファイルではないか、壊れています。",
    ),
    FileFault.BUSY: Words(
        "The store {path} cannot be used: another program holds it ({detail}). Try again later.",
        "保管ファイル {path} を使用できません。ほかのプログラムが使用中です（{detail}）。後でもう一度お試しください。",
    ),
    FileFault.SYSTEM: Words(
        "The store {path} cannot be used: {detail}.",
        "保管ファイル {path} を使用できません（{detail}）。",
    ),
    FileFault.OPEN_TO_OTHERS: Words(
        "The store {path} can be read or written by other users, and is not yours to close to them. It holds shares: let its "
        "owner run 'chmod 600' on it and on its side files, or give a path of your own.",
        "保管ファイル {path} はほかの利用者も読み書きでき、所有者があなたではないため変更できません。"
        "シェアが入っているので、所有者が付属ファイルとともに chmod 600 を実行するか、自分のパスを指定してください。",
    ),
}
"""Where a store has other words than other private files."""

KIND = FileKind(
    application_id=APPLICATION_ID,
    explain=_explain,
    exposure=Exposure.CLOSED,
    older_table="batches",
)
