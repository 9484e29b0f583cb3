"""What was done to people's data, in a chain: every entry is sealed together with the one before it.

A seal is a keyed hash. Anyone who changes, removes or inserts an entry without the key is found out; anyone who notes the last
seal somewhere else finds out also an end that was cut off, or a log that was rewritten by the holder of the key.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from sudare.bilingual import Worded, Words
from sudare.errors import InputError
from sudare.storage.guarded_json import parse_json
from sudare.system.clock import utc_now

__all__ = ["LogEntry", "LogFinding", "append_entry", "check_chain"]

SCHEMA = "CREATE TABLE log (number INTEGER PRIMARY KEY, time TEXT NOT NULL, body TEXT NOT NULL, seal TEXT NOT NULL)"
BEFORE_ALL = "0" * 64


@dataclass(frozen=True)
class LogEntry:
    """One entry.

    Attributes:
        number: from 1, without gaps.
        time: in UTC.
        body: what was done, as JSON with sorted names.
        seal: keyed hash of all of it and of the seal before.
    """

    number: int
    time: str
    body: str
    seal: str

    def read(self) -> dict[str, Any]:
        """What was done.

        Raises:
            InputError: if somebody has put something else there.
        """
        try:
            values: dict[str, Any] = parse_json(self.body, lenient=True)
        except ValueError:
            raise InputError(
                f"Entry {self.number} of the log cannot be read: it was changed from outside.",
                f"記録 {self.number} を読めません。外部から変更されています。",
            ) from None
        return values


@dataclass(frozen=True)
class LogFinding(Worded):
    """Something that is not as it was written.

    Attributes:
        entry: number of the entry; None if it is not about one.
        words: what is wrong.
    """

    entry: int | None
    words: Words


def seal_of(key: bytes, number: int, time: str, body: str, before: str) -> str:
    """The seal of an entry."""
    text = json.dumps([number, time, body, before], ensure_ascii=False, separators=(",", ":"))
    return blake2b(text.encode("utf-8", "surrogatepass"), key=key, digest_size=32).hexdigest()


def append_entry(connection: sqlite3.Connection, key: bytes, body: Mapping[str, Any]) -> LogEntry:
    """Append an entry, within a transaction that the caller holds."""
    last = connection.execute("SELECT number, seal FROM log ORDER BY number DESC LIMIT 1").fetchone() or (0, BEFORE_ALL)
    number, time = last[0] + 1, utc_now().isoformat(timespec="seconds")
    text = json.dumps(dict(body), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    entry = LogEntry(number, time, text, seal_of(key, number, time, text, last[1]))
    connection.execute("INSERT INTO log VALUES (?, ?, ?, ?)", (entry.number, entry.time, entry.body, entry.seal))
    return entry


def check_chain(entries: list[LogEntry], key: bytes, noted: str | None = None) -> list[LogFinding]:
    """What is wrong with a chain.

    Args:
        entries: all, in the order of their numbers.
        key: of the seals.
        noted: a seal that was noted earlier, and must still be there.
    """
    findings, before = [], BEFORE_ALL
    for place, entry in enumerate(entries, start=1):
        if entry.number != place:
            findings.append(LogFinding(place, Words(f"Entry {place} is missing.", f"記録 {place} がありません。")))
            break
        if entry.seal != seal_of(key, entry.number, entry.time, entry.body, before):
            findings.append(
                LogFinding(
                    place,
                    Words(
                        f"Entry {place} was changed, or one before it was removed.",
                        f"記録 {place} が変更されたか、その前の記録が除かれています。",
                    ),
                )
            )
            break
        before = entry.seal
    if noted is not None and noted not in {entry.seal for entry in entries}:
        findings.append(
            LogFinding(
                None,
                Words(
                    "The seal that was noted is not in the log: its end was cut off, or it was written anew.",
                    "控えた封印が記録にありません。末尾が切り取られたか、書き直されています。",
                ),
            )
        )
    return findings
