"""Entries: one spelling, one hash, one meaning."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

import pytest

from sudare import Budget, Unit
from sudare.errors import LedgerError
from sudare.ledger.entries import (
    KINDS,
    Body,
    Cancelled,
    DatasetAdded,
    Entry,
    OptedOut,
    PublicationNoted,
    Reserved,
    RuleChanged,
    Settled,
    TickBegun,
    TickSettled,
    TicksMissed,
    hash_of,
)
from sudare.ledger.rules import RhoFilter
from tests.unit.ledger.helping import event_of, fingerprint

BODIES: dict[str, Body] = {
    "dataset": DatasetAdded(Budget(epsilon=1, delta=1e-6), Unit("世帯", adjacency="replace"), "説明", "0" * 64),
    "reserve": Reserved(Budget(rho=0.3), Unit("person", cells=2), fingerprint(1), "a map"),
    "settle": Settled(2, event_of(Budget(epsilon=0.1)), {"file": "abc"}),
    "cancel": Cancelled(2, "the file was missing"),
    "opt-out": OptedOut("f" * 64),
    "publish": PublicationNoted("e" * 64, "sudare-protected-table/1", "表/2025", "a table"),
    "rule": RuleChanged(RhoFilter.for_total(Budget(epsilon=1, delta=1e-6))),
    "begin-tick": TickBegun(2, 7, fingerprint(2), fingerprint(3), 4, 5),
    "settle-tick": TickSettled(2, 7, 9, {"file": "表"}, 5, 5),
    "miss-ticks": TicksMissed(2, 8, 11, "no file", 5, 0),
}


def entry(kind: str, body: str) -> Entry:
    return Entry(3, "2026-01-01T00:00:00.000000+00:00", kind, "census", body, "0" * 64, "1" * 64)


def test_every_kind_is_tried() -> None:
    assert set(BODIES) == set(KINDS)


@pytest.mark.parametrize("kind", BODIES)
def test_bodies_come_back(kind: str) -> None:
    text = BODIES[kind].to_json()
    assert text.isascii()
    assert entry(kind, text).read() == BODIES[kind]


@pytest.mark.parametrize("kind", BODIES)
def test_bodies_of_another_shape_are_refused(kind: str) -> None:
    text = BODIES[kind].to_json()
    values: dict[str, Any] = json.loads(text)
    wrong = ["", "null", "[]", "{", text + " ", json.dumps(values), text.replace("{", '{"extra":1,', 1), "[" * 100_000]
    wrong += [json.dumps(values | {key: 1.5}, sort_keys=True, separators=(",", ":")) for key in values]
    wrong += [
        json.dumps({k: v for k, v in values.items() if k != key}, sort_keys=True, separators=(",", ":"))
        for key in values
    ]
    for body in wrong:
        if body != text:
            with pytest.raises(LedgerError, match="Entry 3"):
                entry(kind, body).read()


def test_a_reservation_for_a_window_says_its_ticks_and_another_one_is_written_as_ever() -> None:
    single = Reserved(Budget(rho=0.3), Unit("person"), fingerprint(1), "a map")
    window = replace(single, ticks=144)
    assert entry("reserve", window.to_json()).read() == window
    assert "ticks" not in single.to_json()
    assert window.to_json() == single.to_json().replace('"unit"', '"ticks":144,"unit"', 1)
    with pytest.raises(LedgerError, match="Entry 3"):
        entry("reserve", window.to_json().replace("144", "null")).read()


def test_unknown_kinds_are_refused() -> None:
    with pytest.raises(LedgerError, match="Entry 3"):
        entry("refund", "{}").read()


def test_hashes_tell_all_fields_apart() -> None:
    fields: list[Any] = [1, "time", "kind", "data", "body", "previous"]
    moved: list[Any] = [1, "time", "kin", "ddata", "body", "previous"]
    variants = [fields, moved] + [
        [*fields[:i], 2 if i == 0 else fields[i] + "x", *fields[i + 1 :]] for i in range(len(fields))
    ]
    hashes = [hash_of(*variant) for variant in variants]
    assert all(one != other for one, other in itertools.combinations(hashes, 2))
    assert hashes[0] == "7c2e1742c6467d98b2a70642c2e07efae5553578a6ebac60aba8a2b31aa1379f"


def test_an_entry_is_one_line_of_json() -> None:
    given = replace(entry("cancel", BODIES["cancel"].to_json()), dataset="国勢\u2028調査")
    line = given.to_json()
    assert len(line.split("\n")) == 1
    assert Entry(**json.loads(line)) == given
