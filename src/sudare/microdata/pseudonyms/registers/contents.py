"""What a register holds, once as its tables say and once as its log says; both must be the same.

The log is sealed, the tables are not: they are there to be asked quickly. Anyone who changes a table without the key, be it who
is left out, how identifiers are normalised, or which files were made, makes it differ from the log.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sudare.bilingual import Words
from sudare.microdata.pseudonyms.pseudonymizer import Design
from sudare.microdata.pseudonyms.registers.log import LogEntry, LogFinding
from sudare.microdata.pseudonyms.storage import PrivateDatabase

__all__ = ["GONE", "STATES", "Correction", "KnownFile", "RegisterContents", "replay", "written"]

STATES = {"opt-out": "opted out", "delete": "deleted"}
"""What somebody is after an entry."""

GONE = "file gone"
"""What an entry calls a file that was declared to be gone."""


@dataclass(frozen=True)
class KnownFile:
    """A file that was made with the key.

    Attributes:
        path: where it was written.
        encoding: of a text file.
        columns: the design of each column of pseudonyms.
    """

    path: Path
    encoding: str
    columns: Mapping[str, Design]

    @classmethod
    def from_row(cls, path: str, made: str) -> KnownFile:
        """Back from a row of the register."""
        values = json.loads(made)
        columns = {name: Design.from_dict(design) for name, design in values["columns"].items()}
        return cls(Path(path), values["encoding"], columns)


@dataclass(frozen=True)
class Correction:
    """What is to be read instead of what a person said is wrong.

    Attributes:
        tag: the person.
        field: the column.
        wrong: texts that were found.
        right: the text in their place.
    """

    tag: str
    field: str
    wrong: tuple[str, ...]
    right: str


@dataclass(frozen=True)
class RegisterContents:
    """What a register holds.

    Attributes:
        people: state and digest of everybody who is left out, by kind and tag.
        corrections: the hash of every sealed correction, by kind, tag and field.
        kinds: how identifiers of a kind are normalised.
        designs: what was settled, by recipient, kind and epoch.
        files: the hash of every file, the one before, and what it was made with, by its path.
    """

    people: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    corrections: dict[tuple[str, str, str], str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    designs: dict[tuple[str, str, int], str] = field(default_factory=dict)
    files: dict[str, tuple[str, str, str]] = field(default_factory=dict)

    @classmethod
    def in_tables(cls, database: PrivateDatabase, hash_of: Callable[[bytes], str]) -> RegisterContents:
        """What the tables say."""
        kept = database.rows("SELECT kind, tag, field, CAST(sealed AS BLOB) FROM corrections")
        return cls(
            {(k, t): (s, d) for k, t, s, d in database.rows("SELECT kind, tag, state, digest FROM people")},
            {(kind, tag, name): hash_of(sealed) for kind, tag, name, sealed in kept},
            dict(database.rows("SELECT kind, normalize FROM kinds")),
            {(r, k, e): d for r, k, e, d in database.rows("SELECT recipient, kind, epoch, design FROM designs")},
            {p: (h, b, m) for p, h, b, m in database.rows("SELECT path, hash, previous, made FROM files")},
        )

    def differences(self, others: RegisterContents) -> list[LogFinding]:
        """What is not the same, one finding for each matter."""
        findings = []
        if (self.people, self.corrections) != (others.people, others.corrections):
            findings.append(
                LogFinding(
                    None,
                    Words(
                        "Who is left out or corrected is not what the log says.",
                        "除外または訂正の対象が記録と一致しません。",
                    ),
                )
            )
        if (self.kinds, self.designs) != (others.kinds, others.designs):
            findings.append(
                LogFinding(
                    None,
                    Words(
                        "How identifiers are normalised or pseudonyms are made is not what the log says.",
                        "識別子の正規化または仮名の設定が記録と一致しません。",
                    ),
                )
            )
        if self.files != others.files:
            findings.append(
                LogFinding(
                    None,
                    Words(
                        "Which files were made is not what the log says.",
                        "作成したファイルの一覧が記録と一致しません。",
                    ),
                )
            )
        return findings


def replay(entries: list[LogEntry]) -> RegisterContents:
    """What the log says."""
    held = RegisterContents()
    for entry in entries:
        body = entry.read()
        who = (body.get("kind", ""), body.get("person", ""))
        if "normalize" in body:
            held.kinds.setdefault(body["kind"], written(body["normalize"]))
        if body["did"] in STATES:
            held.people[who] = (STATES[body["did"]], body["digest"])
        elif body["did"] == "opt-in":
            held.people.pop(who, None)
        elif body["did"] == "correct":
            held.corrections[(*who, body["field"])] = body["sealed"]
        elif body["did"] == "forget corrections":
            for place in [place for place in held.corrections if place[:2] == who]:
                del held.corrections[place]
        elif body["did"] == GONE:
            held.files.pop(body["file"], None)
        if "made" in body:
            _replay_file(held, body)
    return held


def _replay_file(held: RegisterContents, body: Mapping[str, Any]) -> None:
    for design in body["made"]["columns"].values():
        held.designs.setdefault((design["recipient"], design["kind"], design["epoch"]), written(design))
        held.kinds.setdefault(design["kind"], written(design["normalize"]))
    before = "" if body["did"] == "pseudonymize" else body["before"]
    held.files[body["file"]] = (body["after"], before, written(body["made"]))


def written(values: Any) -> str:
    """Values as they stand in a table: one text for the same values."""
    return json.dumps(values, sort_keys=True)
