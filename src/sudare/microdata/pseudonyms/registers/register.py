"""The register of a key: who is left out or corrected from now on, which files were made, and a log of all that was done.

It holds nobody's identifier. A person is a keyed hash under a subkey that is used for nothing else; corrections are sealed. It
lies beside the key by default, is made with it, and every run of `pseudonymize` looks into it: what a person asked for
once holds for all files to come.

Nothing is read from it before its tables were compared with its sealed log, when it is opened and whenever somebody else has
changed it since: see `held`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any

from sudare.bilingual import Words
from sudare.errors import InputError, OutputError
from sudare.io.counting import PeopleLeftOut
from sudare.microdata.pseudonyms.hashing import KeyedHash
from sudare.microdata.pseudonyms.keys import SecretKey, require_apart
from sudare.microdata.pseudonyms.notation import TextForm
from sudare.microdata.pseudonyms.pseudonymizer import Design
from sudare.microdata.pseudonyms.registers import log as chain
from sudare.microdata.pseudonyms.registers.agreement import require_agreement
from sudare.microdata.pseudonyms.registers.contents import (
    GONE,
    STATES,
    Correction,
    KnownFile,
    RegisterContents,
    replay,
    written,
)
from sudare.microdata.pseudonyms.registers.log import LogEntry, LogFinding
from sudare.microdata.pseudonyms.sealing import Sealing
from sudare.microdata.pseudonyms.storage import PrivateDatabase
from sudare.system.closing import Closeable
from sudare.system.locks import FileLock

__all__ = ["Correction", "KnownFile", "Register", "make_register", "register_beside"]

HAS_PROGRAMS = Words(
    "Somebody has put triggers or views into it, which change what is noted.",
    "記録の内容を変えるトリガーまたはビューが加えられています。",
)

WHAT = ("register", "登録簿")
APPLICATION = 0x53445247
TAG = TextForm("hex", 32)
SCHEMA = (
    chain.SCHEMA,
    """CREATE TABLE people (kind TEXT, tag TEXT, state TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (kind, tag))
       WITHOUT ROWID""",
    "CREATE TABLE corrections (kind TEXT, tag TEXT, field TEXT, sealed BLOB NOT NULL, PRIMARY KEY (kind, tag, field))",
    """CREATE TABLE designs (recipient TEXT, kind TEXT, epoch INTEGER, design TEXT NOT NULL,
       PRIMARY KEY (recipient, kind, epoch)) WITHOUT ROWID""",
    "CREATE TABLE kinds (kind TEXT PRIMARY KEY, normalize TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE files (path TEXT PRIMARY KEY, hash TEXT NOT NULL, previous TEXT NOT NULL, made TEXT NOT NULL)",
)


def register_beside(key_path: str | Path) -> Path:
    """Where the register of a key lies unless the user says otherwise.

    Example:
        >>> register_beside("keys/study.key").name
        'study.key.register'
    """
    path = Path(key_path)
    return path.with_name(path.name + ".register")


def make_register(path: str | Path, key: SecretKey) -> None:
    """Make an empty register for a key.

    Raises:
        OutputError: if the file exists, or cannot be written.
    """
    require_apart(key, (path, "file", "register"))
    PrivateDatabase.make(path, WHAT, APPLICATION, key.name, SCHEMA)


class Register(Closeable):
    """The register of a key.

    Args:
        path: a file made by `make_register`.
        key: its key.
        check: refuse one that was changed from outside; False only to look at what is wrong with it.

    Raises:
        InputError: if it is missing, of another key, or was changed from outside.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.microdata.pseudonyms.keys import new_key
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     key = new_key(Path(folder) / "study.key")
        ...     make_register(register_beside(key.path), key)
        ...     with Register(register_beside(key.path), key) as register:
        ...         first = register.leave_out("patient", "1234", "opt-out")
        ...         again = register.leave_out("patient", "1234", "opt-out")
        ...         register.verify(), len(register.entries())
        ([], 1)
        >>> first, again
        (True, False)
    """

    def __init__(self, path: str | Path, key: SecretKey, *, check: bool = True) -> None:
        self.key = key
        self._database = PrivateDatabase(path, WHAT, APPLICATION, key.name)
        self._seals, self._hashes = key.subkey("register", "log"), key.subkey("register", "files")
        self._sealing = Sealing(key.subkey("register", "corrections"))
        self._is_checked, self._sound_state = check, -1
        try:
            self._require_sound()
        except BaseException:
            self.close()
            raise

    @property
    def path(self) -> Path:
        """The file."""
        return self._database.path

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def locked(self) -> FileLock:
        """A lock on the files, so that no two processes change them at once."""
        return FileLock(self.path.with_name(self.path.name + ".lock"))

    def _require_sound(self) -> None:
        """Refuse to go on if somebody else has changed the file, and not in the way the log says."""
        with self._database.reading():
            state = self._database.state()
            if not self._is_checked or state == self._sound_state:
                return
            findings = self.verify()
        if findings:
            raise InputError(
                f"The register {str(self.path)!r} was changed from outside or is damaged: {findings[0].english} Nothing was "
                f"done. `sudare person log --verify` tells more.",
                f"登録簿 {str(self.path)!r} が外部から変更されたか、壊れています: {findings[0].japanese}"
                "何も行われていません。`sudare person log --verify` で詳しく調べられます。",
            )
        self._sound_state = state

    def _rows(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        """What a statement finds in a register that was seen to be sound."""
        with self._database.reading():
            self._require_sound()
            return self._database.rows(statement, values)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Change a register that was seen to be sound before the first change; one writer at a time."""
        with self._database.writing() as connection:
            self._require_sound()
            yield connection

    def tags(self, kind: str) -> KeyedHash:
        """The hash that people of a kind are known by here."""
        return KeyedHash(self.key.subkey("register", "people", kind))

    def tag(self, kind: str, person: str) -> str:
        """One person's hash."""
        import pyarrow as pa

        return str(self.tags(kind).texts(pa.array([person], pa.large_string()), TAG)[0])

    def leave_out(self, kind: str, person: str, how: str) -> bool:
        """Note that a person is left out from now on; whether that is new.

        Args:
            kind: of identifier.
            person: the canonical identifier; only hashes of it are kept.
            how: ``"opt-out"`` or ``"delete"``.
        """
        tag, state = self.tag(kind, person), STATES[how]
        digest = sha256(f"{self._salt(kind)}\0{person}".encode("utf-8", "surrogatepass")).hexdigest()
        with self._writing() as connection:
            known = connection.execute("SELECT state FROM people WHERE kind = ? AND tag = ?", (kind, tag)).fetchone()
            # Who was deleted stays deleted.
            if known is not None and (known[0] == state or known[0] == "deleted"):
                return False
            connection.execute("INSERT OR REPLACE INTO people VALUES (?, ?, ?, ?)", (kind, tag, state, digest))
            way = self.normalization(kind)
            _settle(connection, kind, way)
            entry = {"did": how, "kind": kind, "person": tag, "digest": digest, "normalize": list(way)}
            chain.append_entry(connection, self._seals, entry)
        return True

    def take_back(self, kind: str, person: str) -> bool:
        """Note that a person may be in files and releases to come again; whether that is new."""
        tag = self.tag(kind, person)
        with self._writing() as connection:
            done = connection.execute("DELETE FROM people WHERE kind = ? AND tag = ?", (kind, tag))
            if done.rowcount:
                chain.append_entry(connection, self._seals, {"did": "opt-in", "kind": kind, "person": tag})
        return bool(done.rowcount)

    def state(self, kind: str, person: str) -> str | None:
        """``"opted out"``, ``"deleted"``, or None."""
        rows = self._rows("SELECT state FROM people WHERE kind = ? AND tag = ?", (kind, self.tag(kind, person)))
        return str(rows[0][0]) if rows else None

    def left_out(self, kind: str) -> list[str]:
        """The hashes of all people of a kind who are left out."""
        return [tag for (tag,) in self._rows("SELECT tag FROM people WHERE kind = ? ORDER BY tag", (kind,))]

    def kinds_left_out(self) -> list[str]:
        """The kinds of everybody who is left out."""
        return [kind for (kind,) in self._rows("SELECT DISTINCT kind FROM people ORDER BY kind")]

    def opted_out(self, kind: str) -> PeopleLeftOut:
        """All people of a kind who are left out, as `sudare.read_counts` takes them for a release.

        Their digests are those of the canonical identifiers: what the column of persons holds must be written like that.
        """
        rows = self._rows("SELECT digest FROM people WHERE kind = ?", (kind,))
        return PeopleLeftOut(self._salt(kind), frozenset(digest for (digest,) in rows))

    def _salt(self, kind: str) -> str:
        """Of digests for releases: one for each kind, so that nobody sees who is of two kinds."""
        return self.key.subkey("register", "releases", kind).hex()

    def correct(self, kind: str, person: str, field: str, wrong: Sequence[str], right: str) -> bool:
        """Note what a person's field is to be from now on, wherever it is one of the wrong texts; whether that is new."""
        tag = self.tag(kind, person)
        with self._writing() as connection:
            known = {one.field: one for one in self.corrections(kind) if one.tag == tag}.get(field)
            before = set() if known is None else {*known.wrong, known.right}
            texts = tuple(sorted((before | set(wrong)) - {right}))
            if known is not None and (known.right, known.wrong) == (right, texts):
                return False
            sealed = self._sealing.sealed(json.dumps([texts, right]).encode(), _bound(kind, tag, field))
            connection.execute("INSERT OR REPLACE INTO corrections VALUES (?, ?, ?, ?)", (kind, tag, field, sealed))
            way = self.normalization(kind)
            _settle(connection, kind, way)
            entry = {"did": "correct", "kind": kind, "person": tag, "field": field, "normalize": list(way)}
            entry["sealed"] = self._hash(sealed)
            chain.append_entry(connection, self._seals, entry)
        return True

    def corrections(self, kind: str) -> list[Correction]:
        """All corrections of people of a kind."""
        found = []
        for tag, field, sealed in self._rows(
            "SELECT tag, field, CAST(sealed AS BLOB) FROM corrections WHERE kind = ? ORDER BY tag, field", (kind,)
        ):
            opened = self._sealing.opened(sealed, _bound(kind, tag, field))
            if opened is None:
                raise self._database.not_ours()
            wrong, right = json.loads(opened)
            found.append(Correction(tag, field, tuple(wrong), right))
        return found

    def forget_corrections(self, kind: str, person: str) -> None:
        """Drop what is kept to correct a person's data, from the disk too.

        Raises:
            OutputError: if another program reads the register all the while. The corrections are dropped, but still stand in
                the log file; end the other program and ask once more.
        """
        tag = self.tag(kind, person)
        with self._writing() as connection:
            done = connection.execute("DELETE FROM corrections WHERE kind = ? AND tag = ?", (kind, tag))
            if done.rowcount:
                entry = {"did": "forget corrections", "kind": kind, "person": tag}
                chain.append_entry(connection, self._seals, entry)
        # Also where nothing was left to drop: a repeated request is about a log that still held something.
        self._database.empty_log()

    def design(self, recipient: str, kind: str, epoch: int) -> Design | None:
        """What was settled for a recipient, a kind and an epoch by the first file; None before that."""
        rows = self._rows(
            "SELECT design FROM designs WHERE recipient = ? AND kind = ? AND epoch = ?", (recipient, kind, epoch)
        )
        return Design.from_dict(json.loads(rows[0][0])) if rows else None

    def require_agreement(self, design: Design) -> None:
        """Refuse a design by which a person would have other pseudonyms, or another hash here, than in earlier files.

        Raises:
            InputError: if it is not what was settled.
        """
        known = self.design(design.recipient, design.kind, design.epoch)
        require_agreement(design, known, dict(self._kinds()).get(design.kind))

    def normalization(self, kind: str) -> tuple[str, ...]:
        """How identifiers of a kind are normalised; not at all if the kind is new."""
        return dict(self._kinds()).get(kind, ())

    def kinds(self) -> list[str]:
        """All kinds of identifiers that the register has met."""
        return [kind for kind, _ in self._kinds()]

    def _kinds(self) -> list[tuple[str, tuple[str, ...]]]:
        rows = self._rows("SELECT kind, normalize FROM kinds ORDER BY kind")
        return [(kind, tuple(json.loads(normalize))) for kind, normalize in rows]

    def version(self) -> int:
        """The number of the last entry that changes what files may hold."""
        self._require_sound()
        wanted = ("opt-out", "delete", "opt-in", "correct")
        return max((entry.number for entry in self.entries() if entry.read()["did"] in wanted), default=0)

    def record_file(self, file: KnownFile, digest: str, source: Path, before: str, *, version: int) -> None:
        """Note a file that is about to appear, what it was made with, and that it was made.

        Args:
            file: the file as it will be.
            digest: its keyed hash.
            source: what it was made from.
            before: the keyed hash of that.
            version: what the register was at when people were left out of the file.

        Raises:
            OutputError: if somebody opted out or was corrected since.
            InputError: if another file has settled another design since.
        """
        made = {"encoding": file.encoding, "columns": {name: one.to_dict() for name, one in file.columns.items()}}
        # Under the lock of the register: from here on nobody opts out before the file is known.
        with self._writing() as connection:
            if self.version() != version:
                raise OutputError(
                    "Somebody opted out or was corrected while the file was made. Nothing was written; run it again.",
                    "作成中に除外または訂正の申し出がありました。何も書き出されていません。もう一度実行してください。",
                )
            for design in file.columns.values():
                self.require_agreement(design)
                key = (design.recipient, design.kind, design.epoch)
                row = (*key, written(design.to_dict()))
                connection.execute("INSERT OR IGNORE INTO designs VALUES (?, ?, ?, ?)", row)
                _settle(connection, design.kind, design.normalize)
            place = str(file.path.resolve())
            connection.execute("INSERT OR REPLACE INTO files VALUES (?, ?, '', ?)", (place, digest, written(made)))
            entry = {
                "did": "pseudonymize",
                "from": str(source.resolve()),
                "before": before,
                "file": place,
                "after": digest,
                "made": made,
            }
            chain.append_entry(connection, self._seals, entry)

    def record_change(self, path: Path, after: str, before: str, body: Mapping[str, Any]) -> None:
        """Note that a file is about to be replaced; before the replacement, so that no change goes without an entry."""
        place, entry = str(path.resolve()), {**body, "before": before, "after": after}
        with self._writing() as connection:
            statement = (
                "SELECT made FROM files WHERE path = ? UNION ALL SELECT made FROM files WHERE ? IN (hash, previous)"
            )
            known = connection.execute(statement, (place, before)).fetchone()
            if known is not None:  # in its place, or a copy that was found by what it holds
                row = (place, after, before, known[0])
                connection.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)", row)
                entry["made"] = json.loads(known[0])
            chain.append_entry(connection, self._seals, {**entry, "file": place})

    def declare_gone(self, path: Path) -> None:
        """Note that a file which was made with the key is gone for good, so that nobody looks for people in it any more.

        Args:
            path: where it was written.

        Raises:
            InputError: if the register knows no such file, or it is still there.
        """
        places = dict.fromkeys([str(path.resolve()), str(path.absolute())])
        with self._writing() as connection:
            known = None
            for place in places:
                statement = "SELECT path, hash FROM files WHERE path = ?"
                known = known or connection.execute(statement, (place,)).fetchone()
            if known is None:
                raise InputError(
                    f"The register knows no file '{path}'. Name it as it was named when it was made.",
                    f"登録簿にファイル「{path}」はありません。作成時の名前で指定してください。",
                )
            if Path(known[0]).exists() or Path(known[0]).is_symlink():
                raise InputError(
                    f"'{path}' is still there. People can be taken out of it; or remove it first, with all copies.",
                    f"「{path}」はまだ存在します。人を除くことができます。または、控えも含めて先に消してください。",
                )
            connection.execute("DELETE FROM files WHERE path = ?", (known[0],))
            chain.append_entry(connection, self._seals, {"did": GONE, "file": known[0], "before": known[1]})

    def note(self, body: Mapping[str, Any]) -> LogEntry:
        """Append an entry that changes nothing else."""
        with self._writing() as connection:
            return chain.append_entry(connection, self._seals, body)

    def files(self) -> list[KnownFile]:
        """All files that were made with the key, in the order of their paths."""
        return [KnownFile.from_row(*row) for row in self._rows("SELECT path, made FROM files ORDER BY path")]

    def known_file(self, path: Path) -> KnownFile | None:
        """What is known of a file, by its place or, if it was moved or copied, by what it holds."""
        rows = self._rows("SELECT path, made FROM files WHERE path = ?", (str(path.resolve()),))
        if not rows and self._rows("SELECT 1 FROM files LIMIT 1"):
            digest = self.file_hash(path)
            statement = "SELECT path, made FROM files WHERE hash = ? OR previous = ?"
            rows = self._rows(statement, (digest, digest))
        return KnownFile.from_row(*rows[0]) if rows else None

    def file_hash(self, path: Path) -> str:
        """The keyed hash of a file: a plain one would let others test their guesses at what it holds."""
        digest = blake2b(key=self._hashes, digest_size=32)
        with path.open("rb") as stream:
            while piece := stream.read(1 << 20):
                digest.update(piece)
        return digest.hexdigest()

    def entries(self) -> list[LogEntry]:
        """The log."""
        texts = ", ".join(
            f"CAST({name} AS TEXT)" for name in ("time", "body", "seal")
        )  # whatever somebody has put there
        return [LogEntry(*row) for row in self._database.rows(f"SELECT number, {texts} FROM log ORDER BY number")]  # noqa: S608

    def head(self) -> str:
        """The last seal; note it somewhere else."""
        entries = self.entries()
        return entries[-1].seal if entries else chain.BEFORE_ALL

    def verify(self, *, noted: str | None = None, files: bool = False) -> list[LogFinding]:
        """What was changed from outside.

        Args:
            noted: a seal that was noted earlier.
            files: also read the files that are still where they were written, and compare their hashes.
        """
        with self._database.reading():
            entries = self.entries()
            findings = chain.check_chain(entries, self._seals, noted)
            if findings:
                return findings
            if self._database.has_programs():
                return [LogFinding(None, HAS_PROGRAMS)]
            findings = replay(entries).differences(RegisterContents.in_tables(self._database, self._hash))
        return findings + (self._changed_files() if files else [])

    def _changed_files(self) -> list[LogFinding]:
        findings = []
        for place, digest, previous in self._database.rows("SELECT path, hash, previous FROM files ORDER BY path"):
            path = Path(place)
            if path.is_file() and self.file_hash(path) not in (digest, previous):
                findings.append(
                    LogFinding(
                        None,
                        Words(
                            f"The file {place!r} is not what was written.",
                            f"ファイル {place!r} は書き出したものと異なります。",
                        ),
                    )
                )
        return findings

    def _hash(self, data: bytes) -> str:
        return blake2b(data, key=self._hashes, digest_size=32).hexdigest()


def _settle(connection: sqlite3.Connection, kind: str, normalize: Sequence[str]) -> None:
    """From its first use on, a kind is normalised in one way: else the register would not find the same people."""
    connection.execute("INSERT OR IGNORE INTO kinds VALUES (?, ?)", (kind, written(list(normalize))))


def _bound(kind: str, tag: str, field: str) -> bytes:
    return json.dumps([kind, tag, field]).encode()
