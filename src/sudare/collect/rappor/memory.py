"""Permanent responses that are drawn once and kept for ever, in one SQLite file.

A response is on the disk before a report made from it is handed out: a process that is killed in between has sent nothing, and
one that is killed afterwards finds the same response again. Several processes may use one file at once; the first to write a
response wins, and all others report from it.

What is kept is no text but a keyed hash of person, variable and value, the cohort, and the noisy bits. The key is in the file, so
the file must stay with the person (or with somebody who answers for all of them): with it, values can be guessed and compared.

Proof: ``rappor.md`` beside this file.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.collect.device.durable import DurableFile, drawn_for_research
from sudare.collect.rappor.filters import pack_filters, read_texts
from sudare.collect.rappor.rappor import Rappor
from sudare.errors import Described, InputError, ParameterError
from sudare.noise.entropy import EntropySource, entropy_name
from sudare.noise.sampler import read_entropy
from sudare.parameters import shown

if TYPE_CHECKING:
    import sqlite3

    from numpy.typing import ArrayLike, NDArray

    Integers = NDArray[np.int64]
    Lanes = NDArray[np.uint64]

__all__ = ["PermanentMemory"]

FORMAT_VERSION = 1
APPLICATION_ID = 0x5355_5250
KEY_BYTES = 32

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
        InputError: if the file is something else, is open to others and not the caller's own, or was begun with other bits,
            hashes, cohorts, f or rule for this variable.
        OutputError: if the file cannot be written.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.collect.rappor.rappor import Rappor
        >>> from sudare.collect.rappor.memory import PermanentMemory
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
        self._file = DurableFile(path, APPLICATION_ID, SCHEMA)
        try:
            self._key = self._begin()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> PermanentMemory:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def report(self, people: Sequence[object], values: ArrayLike, entropy: EntropySource | None = None) -> NDArray[Any]:
        """A fresh report of each person from the permanent response to the value, which is drawn now if there is none.

        Args:
            people: who reports: texts or whole numbers that stay the same for a person.
            values: their values.
            entropy: where the bits come from; the secure source by default, and no other one is taken.

        Returns:
            An array of the randomizer's `report_type`.

        Raises:
            NotPrivateError: if the bits would come from research entropy.
        """
        source = self._secure(entropy, "PermanentMemory.report")
        cohorts, permanent = self.permanent(people, values, source)
        return self.rappor.report(cohorts, permanent, source)

    def permanent(
        self, people: Sequence[object], values: ArrayLike, entropy: EntropySource | None = None
    ) -> tuple[Integers, Lanes]:
        """Cohorts and permanent responses. To be shown to nobody: a report is made from them with `report`."""
        source = self._secure(entropy, "PermanentMemory.permanent")
        codes, texts = read_texts(values, "values", "PermanentMemory.report")
        names = _read_people(people, codes.size)
        owners = [self._hash("person", name) for name in names]
        places = [self._hash("value", name, texts[code]) for name, code in zip(names, codes.tolist(), strict=True)]
        with self._file.writing() as connection:
            cohorts = self._cohorts(connection, owners, source)
            return cohorts, self._responses(connection, places, codes, texts, cohorts, source)

    def _secure(self, entropy: EntropySource | None, function: str) -> EntropySource:
        source = read_entropy(entropy, function)
        if entropy_name(source) != "secure":
            raise drawn_for_research(f"the variable {self.variable!r}")
        return source

    def _cohorts(self, connection: sqlite3.Connection, owners: Sequence[bytes], source: EntropySource) -> Integers:
        """The cohort of each person, drawn for those who have none."""
        found = _look_up(connection, "SELECT cohort FROM cohorts WHERE person = ?", owners)
        new = list(dict.fromkeys(owner for owner, cohort in zip(owners, found, strict=True) if cohort is None))
        drawn = dict(zip(new, self.rappor.draw_cohorts(len(new), source).tolist(), strict=True))
        connection.executemany("INSERT INTO cohorts VALUES (?, ?)", list(drawn.items()))
        known = [drawn[owner] if cohort is None else cohort for owner, cohort in zip(owners, found, strict=True)]
        if not all(type(cohort) is int and 0 <= cohort < self.rappor.cohorts for cohort in known):
            raise self._file.damaged()
        return np.array(known, dtype=np.int64)

    def _responses(
        self,
        connection: sqlite3.Connection,
        places: Sequence[bytes],
        codes: Integers,
        texts: Sequence[str],
        cohorts: Integers,
        source: EntropySource,
    ) -> Lanes:
        """The response of each person to the value, drawn where there is none."""
        found = _look_up(connection, "SELECT bits FROM responses WHERE value = ?", places)
        new = {place: i for i, (place, bits) in enumerate(zip(places, found, strict=True)) if bits is None}
        which = np.fromiter(new.values(), dtype=np.int64, count=len(new))
        filters = pack_filters(self.rappor, codes[which], texts, cohorts[which])
        fresh = self.rappor.permanent_response(filters, source).astype("<u8", copy=False)
        drawn = {place: row.tobytes() for place, row in zip(new, fresh, strict=True)}
        connection.executemany("INSERT INTO responses VALUES (?, ?)", list(drawn.items()))
        known = [drawn[place] if bits is None else bits for place, bits in zip(places, found, strict=True)]
        width = 8 * self.rappor.lanes
        if any(type(bits) is not bytes or len(bits) != width for bits in known):
            raise self._file.damaged()
        return np.frombuffer(b"".join(known), dtype="<u8").astype(np.uint64).reshape(-1, self.rappor.lanes)

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

    def _begin(self) -> bytes:
        """See that the file is for these settings, or note them; returns its key."""
        with self._file.writing() as connection:
            row = connection.execute("SELECT version, key FROM settings").fetchone()
            if row is None:
                row = FORMAT_VERSION, secrets.token_bytes(KEY_BYTES)
                connection.execute("INSERT INTO settings VALUES (?, ?)", row)
            if row[0] != FORMAT_VERSION:
                raise self._file.not_a_memory()
            if type(row[1]) is not bytes or len(row[1]) != KEY_BYTES:
                raise self._file.damaged()
            self._key = row[1]
            self._require_same_settings(connection)
            return self._key

    def _require_same_settings(self, connection: sqlite3.Connection) -> None:
        name, own, path = self._hash("variable"), self._fingerprint(), str(self._file.path)
        row = connection.execute("SELECT fingerprint FROM variables WHERE name = ?", (name,)).fetchone()
        if row is None:
            connection.execute("INSERT INTO variables VALUES (?, ?)", (name, own))
        elif row[0] != own:
            raise InputError(
                f"The memory {path!r} holds answers to {self.variable!r} with other bits, hashes, cohorts, f or rule. "
                f"Use the settings it was begun with: a second answer to the same question would give more away.",
                f"記憶ファイル {path!r} の {self.variable!r} への回答は、別の設定（bits、hashes、cohorts、f、rule）の"
                f"ものです。開始時の設定をお使いください。同じ質問に二度答えると、その分だけ情報が漏れます。",
            )


def _look_up(connection: sqlite3.Connection, statement: str, keys: Sequence[bytes]) -> list[Any]:
    rows = (connection.execute(statement, (key,)).fetchone() for key in keys)
    return [None if row is None else row[0] for row in rows]


def _read_people(people: Sequence[object], size: int) -> list[str]:
    """Names of people as texts; a number and its digits are not the same person."""
    requirement = f"{size:,} texts or whole numbers, one for each value"
    listed = people.tolist() if isinstance(people, np.ndarray) else list(people) if not isinstance(people, str) else []
    if len(listed) != size or not all(type(name) in (str, int) for name in listed):
        raise ParameterError("people", "PermanentMemory.report", requirement, Described("something else"))
    return [f"text {name}" if isinstance(name, str) else f"number {name}" for name in listed]
