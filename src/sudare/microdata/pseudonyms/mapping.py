"""The random table: random pseudonyms, kept in a file that says nothing without the key.

A person is found in it by a keyed hash, and the identifier itself is kept sealed (AES-256-GCM), so that the whole table can be
handed over as identifiers and pseudonyms by the holder of the key, and by nobody else. Key and mapping are two files in two
folders; each alone links nobody to a pseudonym.

A pseudonym is drawn when somebody is seen for the first time, under a lock that all processes share. Two people never have the
same one: the file refuses it, and another is drawn.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sudare.errors import InputError
from sudare.microdata.pseudonyms.hashing import KeyedHash
from sudare.microdata.pseudonyms.keys import SecretKey, require_apart
from sudare.microdata.pseudonyms.notation import TextForm
from sudare.microdata.pseudonyms.sealing import Sealing
from sudare.microdata.pseudonyms.storage import PrivateDatabase
from sudare.storage.guarded_json import parse_json
from sudare.system.closing import Closeable

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Mapping", "Scope", "make_mapping"]

WHAT = ("mapping", "対応表")
APPLICATION = 0x53444D50
TAG_BYTES = 16
SCHEMA = (
    """CREATE TABLE names (scope TEXT NOT NULL, tag BLOB NOT NULL, sealed BLOB NOT NULL, pseudonym TEXT NOT NULL,
       PRIMARY KEY (scope, tag)) WITHOUT ROWID""",
    "CREATE UNIQUE INDEX one_person ON names (scope, pseudonym)",
)
PAGE = 1 << 14
LOOKED_UP = 500
"""Tags that one statement asks for; every SQLite takes this many."""

MAX_DRAWS = 200
"""At least half of all pseudonyms are free: chance alone refuses as many draws of one person less than once in 10**60 times."""

FULLEST = 2
"""A table may give away one in this many of the pseudonyms of its length; beyond, drawing a free one takes too long."""


@dataclass(frozen=True)
class Scope:
    """What pseudonyms are for; those of different scopes have nothing in common.

    Attributes:
        recipient: who gets them.
        kind: of identifier.
        epoch: of the key.
        is_indexed: whether a person has several, and an index stands before the identifier.
    """

    recipient: str
    kind: str
    epoch: int
    is_indexed: bool = False

    @cached_property
    def text(self) -> str:
        """As it stands in the file; no two scopes have the same text."""
        return json.dumps([self.recipient, self.kind, self.epoch, self.is_indexed], ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> Scope:
        """Back from `text`."""
        return cls(*parse_json(text, lenient=True))


def indexed_message(index: str, identifier: str) -> str:
    """An index and an identifier as one text that no other pair gives."""
    return f"{len(index.encode())}:{index}{identifier}"


def index_and_identifier(message: str) -> tuple[str, str]:
    """Back from `indexed_message`."""
    length, _, rest = message.partition(":")
    encoded = rest.encode()
    return encoded[: int(length)].decode(), encoded[int(length) :].decode()


def make_mapping(path: str | Path, key: SecretKey) -> None:
    """Make an empty mapping for a key.

    Raises:
        OutputError: if the file exists, or cannot be written.
        InputError: if it would be the key itself, or lie in the folder of the key.
    """
    require_apart(key, (path, "beside", "mapping"))
    PrivateDatabase.make(path, WHAT, APPLICATION, key.name, SCHEMA)


class Mapping(Closeable):
    """A random table of pseudonyms.

    Args:
        path: a file made by `make_mapping`.
        key: the key that it was made with, in another folder.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.microdata.pseudonyms.keys import new_key
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     (Path(folder) / "keys").mkdir()
        ...     key = new_key(Path(folder) / "keys" / "study.key")
        ...     make_mapping(Path(folder) / "names.db", key)
        ...     with Mapping(Path(folder) / "names.db", key) as mapping:
        ...         scope = Scope("university", "patient", 1)
        ...         first = mapping.pseudonyms(scope, ["a", "b", "a"], TextForm("digits", 8))
        ...         again = mapping.pseudonyms(scope, ["a"], TextForm("digits", 8))
        >>> first[0] == first[2] == again[0] != first[1]
        True
    """

    def __init__(self, path: str | Path, key: SecretKey) -> None:
        require_apart(key, (path, "beside", "mapping"))
        self._database = PrivateDatabase(path, WHAT, APPLICATION, key.name)
        self._tags = KeyedHash(key.subkey("mapping", "tags"))
        self._sealing = Sealing(key.subkey("mapping", "sealing"))
        if self._database.has_programs():
            self.close()
            raise self._database.not_ours()

    @property
    def path(self) -> Path:
        """The file."""
        return self._database.path

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def pseudonyms(self, scope: Scope, identifiers: Sequence[str], form: TextForm) -> list[str]:
        """The pseudonym of each identifier in a scope; drawn and kept where there is none yet.

        Args:
            scope: what the pseudonyms are for; those of different scopes have nothing in common.
            identifiers: canonical texts.
            form: how new ones are written.

        Raises:
            InputError: if pseudonyms of that length are running out.
        """
        places = {identifier: place for place, identifier in enumerate(dict.fromkeys(identifiers))}
        different = list(places)
        tags = self._tags_of(scope, different)
        found = self._found(scope, tags)
        new = [place for place, pseudonym in enumerate(found) if pseudonym is None]
        if new:
            with self._database.writing() as connection:
                # Again, under the lock: another process may have seen them meanwhile.
                drawn = self._found(scope, [tags[place] for place in new])
                rows = [place for place, pseudonym in zip(new, drawn, strict=True) if pseudonym is None]
                self._insert(connection, scope, [(tags[place], different[place]) for place in rows], form)
                for place, pseudonym in zip(new, self._found(scope, [tags[place] for place in new]), strict=True):
                    found[place] = pseudonym
        return [str(found[places[identifier]]) for identifier in identifiers]

    def known(self, scope: Scope, identifiers: Sequence[str]) -> list[str | None]:
        """The pseudonyms that were given already; nothing is drawn."""
        return self._found(scope, self._tags_of(scope, identifiers))

    def entries(self, scope: Scope) -> Iterator[tuple[str, str]]:
        """All identifiers and pseudonyms of a scope, in the order of the pseudonyms, which is random."""
        last = ""
        while True:
            rows = self._database.rows(
                "SELECT tag, CAST(sealed AS BLOB), pseudonym FROM names WHERE scope = ? AND pseudonym > ? "
                "ORDER BY pseudonym LIMIT ?",
                (scope.text, last, PAGE),
            )
            if not rows:
                return
            for tag, sealed, pseudonym in rows:
                opened = self._sealing.opened(sealed, _bound(scope, tag, pseudonym))
                if opened is None:
                    raise self._database.not_ours()
                yield opened.decode("utf-8", "surrogatepass"), pseudonym
            last = rows[-1][2]

    def scopes(self) -> list[Scope]:
        """All scopes that somebody has a pseudonym in."""
        rows = self._database.rows("SELECT DISTINCT scope FROM names ORDER BY scope")
        try:
            return [Scope.from_text(text) for (text,) in rows]
        except (TypeError, ValueError):
            raise self._database.not_ours() from None

    def add(self, scope: Scope, entries: Sequence[tuple[str, str]]) -> None:
        """Take in identifiers and pseudonyms that were exported; all or nothing.

        Raises:
            InputError: if one person has another pseudonym already, or one pseudonym another person.
        """
        tags = self._tags_of(scope, [identifier for identifier, _ in entries])
        with self._database.writing() as connection:
            for number, (tag, (identifier, pseudonym)) in enumerate(zip(tags, entries, strict=True), start=1):
                known = self._found(scope, [tag])[0]
                if known == pseudonym:
                    continue
                row = (scope.text, tag, self._sealed(scope, tag, identifier, pseudonym), pseudonym)
                try:
                    connection.execute("INSERT INTO names VALUES (?, ?, ?, ?)", row)
                except sqlite3.IntegrityError:
                    raise InputError(
                        f"Data row {number}: the person or the pseudonym is in the mapping already, with another one. "
                        f"Nothing was taken in.",
                        f"データ {number} 行目: その人または仮名は、別の組み合わせで既に対応表にあります。"
                        f"何も取り込まれていません。",
                    ) from None

    def forget_person(self, kind: str, person: str) -> int:
        """Take a person of a kind out of the table, for all recipients and epochs; how many entries there were.

        Pseudonyms for a value each, such as a visit, are found by reading the whole table once.

        Raises:
            OutputError: if another program reads the table all the while. The person is out of it, but still stands in the log
                file; end the other program and ask once more.
        """
        removed = 0
        for scope in [scope for scope in self.scopes() if scope.kind == kind]:
            if scope.is_indexed:
                entries = self.entries(scope)
                theirs = [name for message, name in entries if index_and_identifier(message)[1] == person]
            else:
                theirs = [name for name in self.known(scope, [person]) if name is not None]
            with self._database.writing() as connection:
                for name in theirs:
                    connection.execute("DELETE FROM names WHERE scope = ? AND pseudonym = ?", (scope.text, name))
            removed += len(theirs)
        # Also where nobody was left to take out: a repeated request is about a log that still held them.
        self._database.empty_log()
        return removed

    def forget_epoch(self, epoch: int) -> None:
        """Take everything of an epoch out of the table, for all recipients and kinds.

        Raises:
            OutputError: if another program reads the table all the while; see `forget_person`.
        """
        with self._database.writing() as connection:
            for scope in [scope for scope in self.scopes() if scope.epoch == epoch]:
                connection.execute("DELETE FROM names WHERE scope = ?", (scope.text,))
        self._database.empty_log()

    def _tags_of(self, scope: Scope, identifiers: Sequence[str]) -> list[bytes]:
        import pyarrow as pa

        prefix = scope.text  # its brackets and quotes end it
        texts = pa.array([prefix + identifier for identifier in identifiers], pa.large_string())
        digests = np.ascontiguousarray(self._tags.digests(texts)[:, :TAG_BYTES])
        return [bytes(row) for row in digests]

    def _found(self, scope: Scope, tags: Sequence[bytes]) -> list[str | None]:
        found: dict[bytes, str] = {}
        for start in range(0, len(tags), LOOKED_UP):
            part = tags[start : start + LOOKED_UP]
            blanks = ", ".join("?" * len(part))
            statement = f"SELECT tag, pseudonym FROM names WHERE scope = ? AND tag IN ({blanks})"  # noqa: S608
            found.update(self._database.rows(statement, (scope.text, *part)))
        return [found.get(tag) for tag in tags]

    def _insert(
        self, connection: sqlite3.Connection, scope: Scope, people: list[tuple[bytes, str]], form: TextForm
    ) -> None:
        self._require_room(connection, scope, len(people), form)
        # By tag: neighbours in the file are written together.
        waiting = sorted(people)
        for _ in range(MAX_DRAWS):
            if not waiting:
                return
            names = _drawn(form, len(waiting))
            rows = [
                (scope.text, tag, self._sealed(scope, tag, identifier, name), name)
                for (tag, identifier), name in zip(waiting, names, strict=True)
            ]
            connection.executemany("INSERT OR IGNORE INTO names VALUES (?, ?, ?, ?)", rows)
            # A pseudonym that somebody has already is refused by the file: those people draw again.
            found = self._found(scope, [tag for tag, _ in waiting])
            waiting = [person for person, name in zip(waiting, found, strict=True) if name is None]
        raise self._database.not_ours()  # a damaged file takes rows that it does not give back

    def _require_room(self, connection: sqlite3.Connection, scope: Scope, more: int, form: TextForm) -> None:
        if form.size > 2**50:
            return  # nobody has this many people
        (taken,) = connection.execute("SELECT count(*) FROM names WHERE scope = ?", (scope.text,)).fetchone()
        if FULLEST * (taken + more) > form.size:
            raise InputError(
                f"Pseudonyms of {form.length} characters ({form.name}) are running out: more than half of them would be in use. "
                f"Choose a greater length.",
                f"{form.length} 文字（{form.name}）の仮名が足りません（半数を超えます）。長さを増やしてください。",
            )

    def _sealed(self, scope: Scope, tag: bytes, identifier: str, pseudonym: str) -> bytes:
        data = identifier.encode("utf-8", "surrogatepass")
        return self._sealing.sealed(data, _bound(scope, tag, pseudonym))


def _bound(scope: Scope, tag: bytes, pseudonym: str) -> bytes:
    """What a sealed identifier is bound to, so that nobody can move it to another row."""
    return tag + pseudonym.encode() + b"\0" + scope.text.encode()


def _drawn(form: TextForm, count: int) -> list[str]:
    rows: NDArray[np.uint8] = form.draw(count)
    text = rows.tobytes().decode("ascii")
    return [text[place : place + form.length] for place in range(0, len(text), form.length)]
