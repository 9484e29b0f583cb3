"""Permanent responses that are drawn once and kept for ever, in one SQLite file.

A response is on the disk before a report made from it is handed out: whoever is killed in between has sent nothing, and whoever
was killed afterwards finds the same response again. Several processes may use one file at once; the first to write a response
wins, and all others report from it.

What is kept is no text but a keyed hash of person, variable and value, the cohort, and the noisy bits. The key is in the file, so
the file must stay with the person (or with whoever answers for all of them): with it, values can be guessed and compared.

Proof: ``rappor.md`` beside this file.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.collect.rappor import Rappor
from sudare.collect.rappor_filters import pack_filters, read_texts
from sudare.errors import Described, InputError, OutputError, ParameterError
from sudare.noise.entropy import EntropySource
from sudare.noise.sampler import read_entropy
from sudare.parameters import shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Integers = NDArray[np.int64]
    Lanes = NDArray[np.uint64]

__all__ = ["PermanentMemory"]

FORMAT_VERSION = 1
APPLICATION_ID = 0x5355_5250
SMALLEST_DATABASE = 512
LONGEST_WAIT = 60.0
LONGEST_PAUSE = 0.005
_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")

SCHEMA = (
    "CREATE TABLE settings (version INTEGER NOT NULL, key BLOB NOT NULL)",
    "CREATE TABLE variables (name BLOB PRIMARY KEY, fingerprint TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE cohorts (person BLOB PRIMARY KEY, cohort INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE responses (value BLOB PRIMARY KEY, bits BLOB NOT NULL) WITHOUT ROWID",
    *(
        f"CREATE TRIGGER {table}_{change.lower()} BEFORE {change} ON {table} "
        "BEGIN SELECT RAISE(ABORT, 'kept for ever'); END"
        for table in ("settings", "variables", "cohorts", "responses")
        for change in ("UPDATE", "DELETE")
    ),
)


class PermanentMemory:
    """One permanent response for each person, variable and value, for ever; and fresh reports from them.

    Args:
        path: the file; made, readable by its owner only, if it is not there.
        rappor: how values are randomized; with f above 0.
        variable: the question that the values answer.

    Raises:
        ParameterError: if f is 0, so that nothing permanent protects the values.
        InputError: if the file is something else, or was begun with other bits, hashes, cohorts, f or rule for this variable.
        OutputError: if the file cannot be written.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.collect.rappor import Rappor
        >>> from sudare.collect.rappor_memory import PermanentMemory
        >>> rappor = Rappor(bits=16, hashes=2, cohorts=4, f=0.5, p=0.5, q=0.75)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with PermanentMemory(Path(folder) / "memory.db", rappor, "browser") as memory:
        ...         monday = memory.report(["Ann", "Bob"], ["Firefox", "Chrome"])
        ...         tuesday = memory.report(["Ann", "Bob"], ["Firefox", "Chrome"])
        >>> bool((monday["cohort"] == tuesday["cohort"]).all())
        True
    """

    def __init__(self, path: str | Path, rappor: Rappor, variable: str) -> None:
        if not isinstance(rappor, Rappor):
            raise ParameterError("rappor", "PermanentMemory", "a Rappor", shown(rappor))
        if rappor.f == 0:
            requirement = "one with f above 0: otherwise the permanent response is the value itself"
            raise ParameterError("rappor", "PermanentMemory", requirement, Described("f = 0"))
        if not isinstance(variable, str) or not variable:
            raise ParameterError("variable", "PermanentMemory", "a name", shown(variable))
        self.rappor, self.variable = rappor, variable
        self._path = Path(path)
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._connection = self._open()
        try:
            self._key = self._begin()
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> PermanentMemory:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if os.getpid() == self._process:
            with self._lock:
                self._connection.close()

    def report(self, people: Sequence[object], values: ArrayLike, entropy: EntropySource | None = None) -> NDArray[Any]:
        """A fresh report of each person from the permanent response to the value, which is drawn now if there is none.

        Args:
            people: who reports: texts or whole numbers that stay the same for a person.
            values: their values.
            entropy: where the bits come from; the secure source by default.

        Returns:
            An array of the randomizer's `report_type`.
        """
        source = read_entropy(entropy, "PermanentMemory.report")
        cohorts, permanent = self.permanent(people, values, source)
        return self.rappor.report(cohorts, permanent, source)

    def permanent(
        self, people: Sequence[object], values: ArrayLike, entropy: EntropySource | None = None
    ) -> tuple[Integers, Lanes]:
        """Cohorts and permanent responses. To be shown to nobody: a report is made from them with `report`."""
        source = read_entropy(entropy, "PermanentMemory.permanent")
        codes, texts = read_texts(values, "values", "PermanentMemory.report")
        names = _read_people(people, codes.size)
        owners = [self._hash("person", name) for name in names]
        places = [self._hash("value", name, texts[code]) for name, code in zip(names, codes.tolist(), strict=True)]
        with self._writing():
            cohorts = self._cohorts(owners, source)
            return cohorts, self._responses(places, codes, texts, cohorts, source)

    def _cohorts(self, owners: Sequence[bytes], source: EntropySource) -> Integers:
        """The cohort of each person, drawn for those who have none."""
        found = self._look_up("SELECT cohort FROM cohorts WHERE person = ?", owners)
        new = list(dict.fromkeys(owner for owner, cohort in zip(owners, found, strict=True) if cohort is None))
        drawn = dict(zip(new, self.rappor.draw_cohorts(len(new), source).tolist(), strict=True))
        self._connection.executemany("INSERT INTO cohorts VALUES (?, ?)", list(drawn.items()))
        known = [drawn[owner] if cohort is None else cohort for owner, cohort in zip(owners, found, strict=True)]
        return np.array(known, dtype=np.int64)

    def _responses(
        self, places: Sequence[bytes], codes: Integers, texts: Sequence[str], cohorts: Integers, source: EntropySource
    ) -> Lanes:
        """The response of each person to the value, drawn where there is none."""
        found = self._look_up("SELECT bits FROM responses WHERE value = ?", places)
        new = {place: i for i, (place, bits) in enumerate(zip(places, found, strict=True)) if bits is None}
        which = np.fromiter(new.values(), dtype=np.int64, count=len(new))
        filters = pack_filters(self.rappor, codes[which], texts, cohorts[which])
        fresh = self.rappor.permanent_response(filters, source).astype("<u8", copy=False)
        drawn = {place: row.tobytes() for place, row in zip(new, fresh, strict=True)}
        self._connection.executemany("INSERT INTO responses VALUES (?, ?)", list(drawn.items()))
        known = [drawn[place] if bits is None else bits for place, bits in zip(places, found, strict=True)]
        width = 8 * self.rappor.lanes
        if any(len(bits) != width for bits in known):
            raise self._damaged()
        return np.frombuffer(b"".join(known), dtype="<u8").astype(np.uint64).reshape(-1, self.rappor.lanes)

    def _look_up(self, statement: str, keys: Sequence[bytes]) -> list[Any]:
        rows = (self._connection.execute(statement, (key,)).fetchone() for key in keys)
        return [None if row is None else row[0] for row in rows]

    def _hash(self, *parts: str) -> bytes:
        """A keyed hash of a variable and parts, each with its length before it, so that no two lists of parts are alike."""
        encoded = [part.encode() for part in (self.variable, *parts)]
        message = b"".join(len(part).to_bytes(8, "big") + part for part in encoded)
        return hmac.digest(self._key, message, "sha256")

    def _fingerprint(self) -> str:
        """Of what permanent responses depend on; p and q may change."""
        rappor = self.rappor
        settings = f"{rappor.bits} {rappor.hashes} {rappor.cohorts} {rappor.f} {rappor.rule}"
        return hashlib.sha256(settings.encode()).hexdigest()[:16]

    def _open(self) -> sqlite3.Connection:
        path = self._path
        try:
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
                folder = os.open(path.parent, os.O_RDONLY)
                try:
                    os.fsync(folder)  # else a power cut could take the name of the new file away
                finally:
                    os.close(folder)
            address = f"{path.absolute().as_uri()}?mode=rw"
            return sqlite3.connect(address, uri=True, timeout=0, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error):
            raise OutputError(
                f"The memory {str(path)!r} cannot be written. Its folder must exist and be writable for you.",
                f"記憶ファイル {str(path)!r} に書き込めません。フォルダの有無と書き込み権限をご確認ください。",
            ) from None

    def _begin(self) -> bytes:
        """Set the file up, or check that it is what it should be; returns its key."""
        with self._told():
            tables = self._patiently("SELECT name FROM sqlite_master WHERE type = 'table'")
            marked = self._patiently("PRAGMA application_id") == [(APPLICATION_ID,)]
        # SQLite takes a file of less than one page for an empty database, whatever is in it.
        if not marked and (tables or 0 < self._path.stat().st_size < SMALLEST_DATABASE):
            raise self._not_a_memory()
        with self._told():
            self._patiently("PRAGMA journal_mode = WAL")
            for setting in ("synchronous = FULL", "fullfsync = ON", "trusted_schema = OFF"):
                self._patiently(f"PRAGMA {setting}")
        with self._writing():
            if not self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                for statement in SCHEMA:
                    self._connection.execute(statement)
                self._connection.execute(
                    "INSERT INTO settings VALUES (?, ?)", (FORMAT_VERSION, secrets.token_bytes(32))
                )
                self._connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            version, key = self._connection.execute("SELECT version, key FROM settings").fetchone()
            if version != FORMAT_VERSION:
                raise self._not_a_memory()
            self._key = bytes(key)
            self._require_same_settings()
            return self._key

    def _require_same_settings(self) -> None:
        name, own = self._hash("variable"), self._fingerprint()
        row = self._connection.execute("SELECT fingerprint FROM variables WHERE name = ?", (name,)).fetchone()
        if row is None:
            self._connection.execute("INSERT INTO variables VALUES (?, ?)", (name, own))
        elif row[0] != own:
            raise InputError(
                f"The memory {str(self._path)!r} holds answers to {self.variable!r} with other bits, hashes, cohorts, f or rule. "
                f"Use the settings it was begun with: a second answer to the same question would give more away.",
                f"記憶ファイル {str(self._path)!r} の {self.variable!r} への回答は、別の設定（bits, hashes, cohorts, f, rule）の"
                f"ものです。開始時の設定をお使いください。同じ質問に二度答えると、その分だけ情報が漏れます。",
            )

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """All or nothing, and on the disk when it ends; what is read cannot change before."""
        if os.getpid() != self._process:
            raise OutputError(
                "This memory was opened by another process; open it again in each process.",
                "この記憶ファイルは別のプロセスで開かれたものです。プロセスごとに開き直してください。",
            )
        with self._lock, self._told():
            self._patiently("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK")
                raise

    def _patiently(self, statement: str) -> list[Any]:
        """Run a statement as soon as nobody else is in its way; returns its rows."""
        deadline = time.monotonic() + LONGEST_WAIT
        while True:
            try:
                return self._connection.execute(statement).fetchall()
            except sqlite3.OperationalError as error:
                if not getattr(error, "sqlite_errorname", "").startswith(_BUSY) or time.monotonic() > deadline:
                    raise
            time.sleep(LONGEST_PAUSE * secrets.randbelow(1 << 20) / (1 << 20))

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say in the user's words what SQLite says in its own."""
        try:
            yield
        except sqlite3.Error as error:
            name, path = getattr(error, "sqlite_errorname", ""), str(self._path)
            if name.startswith("SQLITE_NOTADB"):
                raise self._not_a_memory() from None
            if name.startswith(("SQLITE_READONLY", "SQLITE_PERM", "SQLITE_CANTOPEN", "SQLITE_FULL", *_BUSY)):
                raise OutputError(
                    f"The memory {path!r} cannot be written ({name}); nothing was reported. Check permissions and room on the "
                    f"disk, and that no other program holds it.",
                    f"記憶ファイル {path!r} に書き込めません（{name}）。何も報告されていません。権限・ディスクの空き・"
                    f"ほかのプログラムの使用をご確認ください。",
                ) from None
            raise self._damaged() from None

    def _not_a_memory(self) -> InputError:
        return InputError(
            f"The file {str(self._path)!r} is no memory of permanent responses that this version reads; give another path.",
            f"ファイル {str(self._path)!r} は、この版で読める記憶ファイルではありません。別のパスを指定してください。",
        )

    def _damaged(self) -> InputError:
        return InputError(
            f"The memory {str(self._path)!r} is closed, damaged, or was changed by another program; nothing was reported.",
            f"記憶ファイル {str(self._path)!r} は閉じられたか、壊れているか、ほかのプログラムで変更されています。"
            f"何も報告されていません。",
        )


def _read_people(people: Sequence[object], size: int) -> list[str]:
    """Names of people as texts; a number and its digits are not the same person."""
    requirement = f"{size:,} texts or whole numbers, one for each value"
    listed = people.tolist() if isinstance(people, np.ndarray) else list(people) if not isinstance(people, str) else []
    if len(listed) != size or not all(type(name) in (str, int) for name in listed):
        raise ParameterError("people", "PermanentMemory.report", requirement, Described("something else"))
    return [f"text {name}" if isinstance(name, str) else f"number {name}" for name in listed]
