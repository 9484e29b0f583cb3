"""One contract for every place where a ledger can be kept: an SQLite file, a real PostgreSQL server."""
# ruff: noqa: S608 (statements are put together to tamper with tables)

from __future__ import annotations

import io
import itertools
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from sudare import Budget, Unit
from sudare.errors import BudgetExceededError, EventError, LedgerError, NotPrivateError, ParameterError
from sudare.ledger import Ledger, Reservation, note_publication, open_ledger
from sudare.ledger.amounts import Amount
from sudare.ledger.entries import DatasetAdded, Settled, hash_of
from sudare.ledger.records import NewPublicationError
from sudare.ledger.rules import RhoFilter
from tests.end_to_end.killed import Doomed, hold_work
from tests.processes import SECONDS, start
from tests.unit.ledger.helping import (
    DELTA,
    PERSON,
    PostgresServer,
    allow_changes,
    change,
    event_of,
    fingerprint,
    tables_of,
)
from tests.unit.ledger.racer import race

RACERS = 8
NewLocation = Callable[[], str]


@pytest.fixture
def census(ledger: Ledger) -> Ledger:
    ledger.add_dataset("census", Budget(epsilon=1), unit=PERSON)
    return ledger


def reserve(ledger: Ledger, epsilon: float | Fraction, number: int = 0, name: str = "census") -> Reservation:
    return ledger.reserve(name, Budget(epsilon=epsilon), unit=PERSON, fingerprint=fingerprint(number))


def test_a_new_ledger_is_empty_and_stays_when_opened_again(location: str) -> None:
    with open_ledger(location, create=True) as first:
        assert first.datasets() == []
        assert first.verify() == []
        assert first.head()[0] == 0
        first.add_dataset("国勢調査 2020", Budget(epsilon=1), unit=PERSON, description="人口")
    with open_ledger(location, create=True) as second:
        (dataset,) = second.datasets()
        assert (dataset.name, dataset.description, dataset.total) == ("国勢調査 2020", "人口", Budget(epsilon=1))
        assert second.verify() == []


def test_processes_that_make_a_ledger_at_once_make_one(location: str) -> None:
    code = """
import sys
from sudare.ledger import open_ledger
with open_ledger(sys.argv[1], create=True) as ledger:
    print(ledger.head()[1])
"""
    makers = [
        subprocess.Popen([sys.executable, "-c", code, location], stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    identities = {maker.communicate(timeout=60)[0].strip() for maker in makers}
    with open_ledger(location) as ledger:
        assert identities == {ledger.head()[1]}
        assert ledger.verify() == []


def test_a_release_costs_what_its_event_says(census: Ledger) -> None:
    reservation = reserve(census, 0.6)
    held = census.dataset("census")
    assert (held.spent, held.reserved, held.remaining) == (None, Budget(epsilon=0.6), Budget(epsilon=0.4))
    entry = census.settle(reservation, event_of(Budget(epsilon=0.5)), {"release_json_sha256": "abc"})
    after = census.dataset("census")
    assert (after.spent, after.reserved, after.remaining) == (Budget(epsilon=0.5), None, Budget(epsilon=0.5))
    body = entry.read()
    assert isinstance(body, Settled)
    assert (body.event.cost, body.result) == (Budget(epsilon=0.5), {"release_json_sha256": "abc"})
    assert census.settled("census", fingerprint(0)) == entry
    assert census.settled("census", fingerprint(1)) is None
    assert [entry.kind for entry in census.entries("census")] == ["dataset", "reserve", "settle"]


def test_the_latest_identical_release_is_found(census: Ledger) -> None:
    for _ in range(2):
        latest = census.settle(reserve(census, 0.1), event_of(Budget(epsilon=0.1)))
    assert census.settled("census", fingerprint(0)) == latest


def test_cancelling_gives_everything_back(census: Ledger) -> None:
    reservation = reserve(census, 1)
    assert census.dataset("census").remaining is None
    census.cancel(reservation, "the input file was not readable")
    assert census.dataset("census").remaining == Budget(epsilon=1)
    assert census.verify() == []


def test_three_thirds_are_one(census: Ledger) -> None:
    for number in range(3):
        census.settle(reserve(census, Fraction(1, 3), number), event_of(Budget(epsilon=Fraction(1, 3))))
    assert census.dataset("census").spent == Budget(epsilon=1)
    with pytest.raises(BudgetExceededError):
        reserve(census, Fraction(1, 10**300))


def test_a_cost_that_does_not_fit_is_refused_and_leaves_no_trace(census: Ledger) -> None:
    reserve(census, 0.7)
    head = census.head()
    with pytest.raises(BudgetExceededError) as refusal:
        reserve(census, 0.4)
    for words in (refusal.value.english, refusal.value.japanese):
        assert all(f"epsilon = {number}" in words for number in ("1", "0.7", "0.4", "0.3")), words
    assert census.head() == head


def test_a_reservation_closes_once(census: Ledger) -> None:
    settled, cancelled = reserve(census, 0.1), reserve(census, 0.1, 1)
    census.settle(settled, event_of(Budget(epsilon=0.1)))
    census.cancel(cancelled, "")
    for reservation in (settled, cancelled):
        with pytest.raises(LedgerError, match="closed before"):
            census.settle(reservation, event_of(Budget(epsilon=0.1)))
        with pytest.raises(LedgerError, match="closed before"):
            census.cancel(reservation, "")
    assert census.dataset("census").spent == Budget(epsilon=0.1)


def test_a_reservation_of_another_ledger_is_refused(census: Ledger) -> None:
    reservation = reserve(census, 0.1)
    strangers = (
        replace(reservation, number=99),
        replace(reservation, number=10**30),
        replace(reservation, number="2"),  # type: ignore[arg-type]
        replace(reservation, number=1),
        replace(reservation, cost=Budget(epsilon=0.2)),
        replace(reservation, dataset="other"),
        replace(reservation, fingerprint=fingerprint(9)),
    )
    for stranger in strangers:
        with pytest.raises(LedgerError, match="not one of this ledger"):
            census.settle(stranger, event_of(Budget(epsilon=0.1)))
        with pytest.raises(LedgerError, match="not one of this ledger"):
            census.cancel(stranger, "")


def test_single_entries_and_open_reservations(census: Ledger) -> None:
    census.add_dataset("survey", Budget(epsilon=1), unit=PERSON)
    first, second, third = (reserve(census, 0.1, number) for number in range(3))
    other = reserve(census, 0.1, name="survey")
    assert census.reservations("census") == [first, second, third]
    census.settle(first, event_of(Budget(epsilon=0.1)))
    census.cancel(third, "")
    assert census.reservations("census") == [second]
    assert census.reservations("survey") == [other]
    assert census.entry(second.number) == list(census.entries())[second.number - 1]
    for number in (0, -1, 99, 10**30, "1", None):
        with pytest.raises(LedgerError, match="has no entry"):
            census.entry(number)  # type: ignore[arg-type]
    with pytest.raises(LedgerError, match="no data set"):
        census.reservations("other")


def test_a_release_that_was_not_reserved_for_leaves_the_reservation_spent(census: Ledger) -> None:
    reservation = reserve(census, 0.4)
    with pytest.raises(LedgerError, match=r"only epsilon = 0\.4 was reserved"):
        census.settle(reservation, event_of(Budget(epsilon=0.5)))
    with pytest.raises(LedgerError, match="was reserved for"):
        census.settle(reservation, event_of(Budget(epsilon=0.4), Unit("person", cells=2)))
    with pytest.raises(NotPrivateError):
        census.settle(reservation, event_of(Budget(epsilon=0.4), entropy="research"))
    with pytest.raises(EventError):
        census.settle(reservation, "an event")  # type: ignore[arg-type]
    with pytest.raises(LedgerError, match="a total of epsilon = 1"):
        census.settle(reservation, event_of(Budget(epsilon=0.4, delta=DELTA)))
    assert census.dataset("census").reserved == Budget(epsilon=0.4)
    assert census.verify() == []


def test_other_units_are_refused(census: Ledger) -> None:
    for unit in (Unit("household"), Unit("person", adjacency="replace")):
        with pytest.raises(LedgerError, match="different units"):
            census.reserve("census", Budget(epsilon=0.1), unit=unit, fingerprint=fingerprint(0))
    wider = Unit("person", cells=3)
    census.reserve("census", Budget(epsilon=0.1), unit=wider, fingerprint=fingerprint(0))


@pytest.mark.parametrize(
    ("total", "cost", "charged"),
    [
        (Budget(epsilon=1), Budget(epsilon=0.2), Budget(epsilon=0.2)),
        (Budget(epsilon=1), Budget(epsilon=0.2, delta=DELTA), None),
        (Budget(epsilon=1), Budget(rho=0.1), None),
        (Budget(epsilon=1, delta=1e-5), Budget(epsilon=0.2), Budget(epsilon=0.2)),
        (Budget(epsilon=1, delta=1e-5), Budget(epsilon=0.2, delta=DELTA), Budget(epsilon=0.2, delta=DELTA)),
        (Budget(epsilon=1, delta=1e-5), Budget(rho=0.1), None),
        (Budget(rho=1), Budget(rho=0.1), Budget(rho=0.1)),
        (Budget(rho=1), Budget(epsilon=0.2), Budget(rho=Fraction(1, 50))),
        (Budget(rho=1), Budget(epsilon=0.2, delta=DELTA), None),
    ],
    ids=str,
)
def test_currencies(ledger: Ledger, total: Budget, cost: Budget, charged: Budget | None) -> None:
    ledger.add_dataset("survey", total, unit=PERSON)
    if charged is None:
        with pytest.raises(LedgerError, match="cannot be taken from it"):
            ledger.reserve("survey", cost, unit=PERSON, fingerprint=fingerprint(0))
        return
    reservation = ledger.reserve("survey", cost, unit=PERSON, fingerprint=fingerprint(0))
    assert ledger.dataset("survey").reserved == charged
    ledger.settle(reservation, event_of(cost))
    assert (ledger.dataset("survey").spent, ledger.dataset("survey").reserved) == (charged, None)
    assert ledger.verify() == []


def test_delta_runs_out_on_its_own(ledger: Ledger) -> None:
    ledger.add_dataset("survey", Budget(epsilon=1, delta=1e-6), unit=PERSON)
    ledger.reserve("survey", Budget(epsilon=0.1, delta=1e-6), unit=PERSON, fingerprint=fingerprint(0))
    assert ledger.dataset("survey").remaining == Budget(epsilon=0.9)
    with pytest.raises(BudgetExceededError):
        ledger.reserve("survey", Budget(epsilon=0.1, delta=1e-9), unit=PERSON, fingerprint=fingerprint(1))
    reserve(ledger, 0.9, name="survey")


def test_a_rho_reservation_covers_a_pure_release(ledger: Ledger) -> None:
    ledger.add_dataset("survey", Budget(rho=1), unit=PERSON)
    reservation = ledger.reserve("survey", Budget(rho=0.02), unit=PERSON, fingerprint=fingerprint(0))
    ledger.settle(reservation, event_of(Budget(epsilon=0.2)))
    assert ledger.dataset("survey").spent == Budget(rho=0.02)


def test_data_sets_do_not_mix(census: Ledger) -> None:
    census.add_dataset("survey", Budget(rho=1), unit=Unit("household", adjacency="replace"))
    reserve(census, 0.5)
    assert [dataset.name for dataset in census.datasets()] == ["census", "survey"]
    assert census.dataset("survey").remaining == Budget(rho=1)
    assert [entry.dataset for entry in census.entries()] == ["census", "survey", "census"]
    assert len(list(census.entries("survey"))) == 1
    assert census.secret("census") != census.secret("survey")


def test_names(census: Ledger) -> None:
    with pytest.raises(LedgerError, match="already"):
        census.add_dataset("census", Budget(epsilon=5), unit=PERSON)
    with pytest.raises(LedgerError, match="Did you mean 'census'") as refusal:
        census.dataset("cencus")
    assert "'census' のことでしょうか" in refusal.value.japanese
    with pytest.raises(LedgerError, match="It has 'census'"):
        census.entries("zzz")
    for unknown in ("census ", "census\0", "\ud800", ""):
        with pytest.raises(LedgerError, match="no data set"):
            census.dataset(unknown)
    with pytest.raises(ParameterError):
        census.secret(None)  # type: ignore[arg-type]
    for bad in ("", " census", "a\0b", "a\nb", "x" * 201, 7, None):
        with pytest.raises(ParameterError):
            census.add_dataset(bad, Budget(epsilon=1), unit=PERSON)  # type: ignore[arg-type]


def test_wrong_arguments(census: Ledger) -> None:
    cost, mark = Budget(epsilon=0.1), fingerprint(0)
    wrong: list[Callable[[], object]] = [
        lambda: census.reserve("census", 0.1, unit=PERSON, fingerprint=mark),  # type: ignore[arg-type]
        lambda: census.reserve("census", cost, unit="person", fingerprint=mark),  # type: ignore[arg-type]
        lambda: census.reserve("census", cost, unit=PERSON, fingerprint="A" * 64),
        lambda: census.reserve("census", cost, unit=PERSON, fingerprint="0" * 63),
        lambda: census.reserve("census", cost, unit=PERSON, fingerprint=mark, purpose=None),  # type: ignore[arg-type]
        lambda: census.settle(1, event_of(cost)),  # type: ignore[arg-type]
        lambda: census.settle(reserve(census, 0.1), event_of(cost), {"a": 1}),  # type: ignore[dict-item]
        lambda: census.opt_out("census", ""),
        lambda: census.opt_out("census", 17),  # type: ignore[arg-type]
    ]
    for call in wrong:
        with pytest.raises(ParameterError):
            call()


def test_any_text_is_kept(census: Ledger) -> None:
    odd = "簾 \0 \ud800 \u2028 ' \" % ? {} \\"
    reservation = census.reserve("census", Budget(epsilon=0.1), unit=PERSON, fingerprint=fingerprint(0), purpose=odd)
    census.cancel(reservation, odd)
    assert [
        json.loads(entry.body).get(key) for entry, key in zip(census.entries(), ("", "purpose", "reason"), strict=True)
    ] == [
        None,
        odd,
        odd,
    ]
    assert census.verify() == []


def test_opt_outs_keep_no_identifier(census: Ledger) -> None:
    assert (census.opt_outs("census").digests, census.opt_outs("census").last_entry) == (frozenset(), 0)
    first = census.opt_out("census", "person 17")
    assert census.opt_out("census", "person 17") == first
    second = census.opt_out("census", "人 18")
    kept = census.opt_outs("census")
    assert kept.last_entry == second.number == 3
    assert kept.digests == {sha256(f"{kept.salt}\0{who}".encode()).hexdigest() for who in ("person 17", "人 18")}
    assert "person 17" in kept
    assert "person 19" not in kept
    census.add_dataset("survey", Budget(rho=1), unit=PERSON)
    census.opt_out("survey", "person 17")
    assert not census.opt_outs("survey").digests & kept.digests
    stream = io.StringIO()
    census.export(stream)
    assert "person 17" not in stream.getvalue()
    assert kept.salt not in repr(kept)
    assert census.verify() == []


def test_publications_without_a_guarantee_are_noted_once_and_cost_nothing(census: Ledger, location: str) -> None:
    assert (census.dataset("census").publications, census.publications("census")) == (0, [])
    census.add_dataset("survey", Budget(epsilon=1), unit=PERSON)
    census.settle(reserve(census, 0.2, 1), event_of(Budget(epsilon=0.2)))
    before = census.dataset("census")
    # The hash of a report may be a fingerprint, too: neither is taken for the other.
    first = census.note_publication(
        "census", document_sha256=fingerprint(1), report_format="table/1", folder="a", title="A"
    )
    again = census.note_publication("census", document_sha256=fingerprint(1), report_format="table/1", folder="a")
    second = note_publication(
        location, "census", document_sha256=fingerprint(2), report_format="people/1", folder="tables/x"
    )
    assert (again, second.number) == (first, first.number + 1)
    assert census.dataset("census") == replace(before, publications=2)
    assert census.dataset("survey").publications == 0
    assert [(body.document_sha256, body.folder) for _, body in census.publications("census")] == [
        (fingerprint(1), "a"),
        (fingerprint(2), str(Path("tables/x").resolve())),
    ]
    settled = census.settled("census", fingerprint(1))
    assert settled is not None
    assert settled.kind == "settle"
    assert census.settled("census", fingerprint(2)) is None
    census.settle(reserve(census, 0.1, 2), event_of(Budget(epsilon=0.1)))
    assert len(census.publications("census")) == 2
    assert census.verify() == []


def test_a_publication_is_refused_if_there_is_another_that_was_not_looked_at(census: Ledger, location: str) -> None:
    def note(ledger: Ledger, number: int, known: int | None) -> int:
        return ledger.note_publication(
            "census", document_sha256=fingerprint(number), report_format="table/1", folder="a", known=known
        ).number

    census.add_dataset("survey", Budget(epsilon=1), unit=PERSON)
    census.note_publication("survey", document_sha256=fingerprint(9), report_format="table/1", folder="a")
    first = note(census, 1, 0)  # those of other data sets do not count
    with pytest.raises(NewPublicationError, match="in the meantime"), open_ledger(location) as other:
        note(other, 2, 0)
    assert len(census.publications("census")) == 1
    assert note(census, 1, 0) == first
    assert note(census, 2, 1) == first + 1
    assert note(census, 3, None) == first + 2
    assert census.verify() == []


def test_a_document_that_stands_in_two_folders_is_noted_for_both(census: Ledger) -> None:
    def note(folder: str, known: int | None = None) -> int:
        return census.note_publication(
            "census", document_sha256=fingerprint(1), report_format="table/1", folder=folder, known=known
        ).number

    first = note("a")
    with pytest.raises(NewPublicationError, match="in the meantime"):
        note("b", known=0)
    assert note("b", known=1) == first + 1
    assert note("c") == first + 2
    assert [note("a"), note("b"), note("c")] == [first, first + 1, first + 2]
    assert [body.folder for _, body in census.publications("census")] == ["a", "b", "c"]
    assert census.verify() == []


def test_wrong_publications_are_refused(census: Ledger) -> None:
    with pytest.raises(LedgerError, match="no data set 'nowhere'"):
        census.note_publication("nowhere", document_sha256=fingerprint(1), report_format="", folder="")
    with pytest.raises(ParameterError, match="document_sha256"):
        census.note_publication("census", document_sha256="abc", report_format="", folder="")
    with pytest.raises(ParameterError, match="folder"):
        census.note_publication("census", document_sha256=fingerprint(1), report_format="", folder=Path("x"))  # type: ignore[arg-type]
    assert [entry.kind for entry in census.entries()] == ["dataset"]


def test_a_publication_that_was_noted_twice_is_found(ledger: Ledger) -> None:
    filled(ledger)
    body = next(entry.body for entry in ledger.entries() if entry.kind == "publish")
    rewrite(ledger, 6, kind="publish", body=body)
    assert any("repeats a publication" in finding.english for finding in ledger.verify())


def test_an_export_can_be_checked_by_anybody_and_holds_no_secret(census: Ledger) -> None:
    census.settle(reserve(census, 0.1), event_of(Budget(epsilon=0.1)))
    census.opt_out("census", "person 17")
    stream = io.StringIO()
    census.export(stream)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["number"] for line in lines] == [1, 2, 3, 4]
    for before, line in itertools.pairwise(lines):
        assert line["previous"] == before["hash"]
    for line in lines:
        fields = [line[name] for name in ("number", "time", "kind", "dataset", "body", "previous")]
        assert line["hash"] == sha256(json.dumps(fields, separators=(",", ":")).encode()).hexdigest()
    assert (lines[-1]["number"], lines[-1]["hash"]) == census.head()
    assert len(census.secret("census")) == 32
    for hidden in (census.secret("census").hex(), census.opt_outs("census").salt):
        assert hidden not in stream.getvalue()


def test_many_entries_come_in_order(census: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sudare.ledger.book.PAGE", 3)
    monkeypatch.setattr("sudare.ledger.verification.PAGE", 3)
    for person in range(8):
        census.opt_out("census", str(person))
        assert [entry.number for entry in census.entries()] == list(range(1, person + 3))
        assert census.verify() == []


def test_a_clock_that_jumps_does_no_harm(census: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    from datetime import UTC, datetime

    moments = itertools.cycle([datetime(year, 1, 1, tzinfo=UTC).timestamp() for year in (2031, 1970, 9999)])
    # In this module alone: threads of other tests have a clock of their own.
    monkeypatch.setattr("sudare.system.clock.time", SimpleNamespace(**{**vars(time), "time": lambda: next(moments)}))
    for number in range(5):
        census.settle(reserve(census, 0.1, number), event_of(Budget(epsilon=0.1)))
    assert census.dataset("census").spent == Budget(epsilon=0.5)
    assert census.verify() == []
    assert [entry.number for entry in census.entries()] == list(range(1, 12))


def test_numbers_of_thousands_of_digits_do_not_choke_the_ledger(ledger: Ledger) -> None:
    ledger.add_dataset("survey", Budget(rho=1), unit=PERSON)
    exact = Fraction(0)
    for prime in (10**150 + 67, 10**151 + 1, 10**152 + 3, 10**700 + 7):
        cost = Budget(epsilon=Fraction(prime // 10, prime))
        ledger.settle(ledger.reserve("survey", cost, unit=PERSON, fingerprint=fingerprint(0)), event_of(cost))
        exact += cost.epsilon**2 / 2
    spent = ledger.dataset("survey").spent
    assert spent is not None
    assert exact < spent.rho < exact + Fraction(1, 10**59)
    assert ledger.verify() == []
    endless = Budget(epsilon=0.1)
    for one, other in ((7, 11), (17, 13), (19, 23), (37, 31), (41, 43), (59, 53), (61, 67), (79, 73)):
        endless = endless.times(Fraction(one**500, other**500))
    with pytest.raises(LedgerError, match="thousands of digits"):
        ledger.reserve("survey", endless, unit=PERSON, fingerprint=fingerprint(1))
    with pytest.raises(LedgerError, match="100 digits"):
        ledger.add_dataset("odd", Budget(epsilon=Fraction(10**120, 10**120 + 1)), unit=PERSON)


def test_entries_cannot_be_changed_by_accident(census: Ledger) -> None:
    for statement in ("UPDATE sudare_entries SET body = '{}'", "DELETE FROM sudare_entries"):
        with pytest.raises(LedgerError):
            change(census, statement)
    assert census.verify() == []


def filled(ledger: Ledger) -> Ledger:
    """A ledger with every kind of entry, in which any row can be changed."""
    ledger.add_dataset("census", Budget(epsilon=1), unit=PERSON)
    ledger.add_dataset("survey", Budget(rho=1), unit=Unit("household"))
    reserve(ledger, 0.1)
    ledger.cancel(reserve(ledger, 0.1, 1), "")
    ledger.opt_out("census", "person 17")
    ledger.settle(reserve(ledger, 0.3, 2), event_of(Budget(epsilon=0.2)), {"file": "abc"})
    ledger.note_publication(
        "census", document_sha256=fingerprint(2), report_format="table/1", folder="tables", title="2025"
    )
    ledger.add_dataset("queries", Budget(epsilon=1, delta=DELTA), unit=PERSON)
    ledger.settle(reserve(ledger, 0.02, 3, "queries"), event_of(Budget(epsilon=0.01)))
    reserve(ledger, 0.03, 4, "queries")
    ledger.use_rho_filter("queries")
    ledger.add_dataset("answers", Budget(epsilon=2, delta=DELTA), unit=PERSON, rho_filter=True)
    ledger.settle(reserve(ledger, 0.02, 5, "answers"), event_of(Budget(epsilon=0.02)))
    window = ledger.windows.open("census", Budget(epsilon=0.1), unit=PERSON, fingerprint=fingerprint(6), ticks=4)
    for tick in (0, 2):
        begun = ledger.windows.begin_tick(window, tick, fingerprint(7 + tick), fingerprint(9))
        ledger.windows.settle_tick(begun, event_of(Budget(epsilon=0.1)), {"file": "abc"})
    ledger.windows.begin_tick(window, 3, fingerprint(10), fingerprint(9))
    allow_changes(ledger)
    assert ledger.verify() == []
    return ledger


def literal(value: object) -> str:
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


def changed(value: object) -> list[object]:
    if value is None:
        return [1]
    if isinstance(value, int):
        return [value + 1000]
    text = str(value)
    return [text[:-1] + ("1" if text[-1] == "0" else "0"), "", text.replace("1", "2", 1) if "1" in text else "x"]


def test_a_change_of_any_field_of_any_row_is_found(ledger: Ledger) -> None:
    filled(ledger)
    tried = 0
    for table, (columns, rows) in tables_of(ledger).items():
        for row in rows:
            for position, column in enumerate(columns):
                for value in changed(row[position]):
                    tampered = [*row[:position], value, *row[position + 1 :]]

                    def only(fields: list[object], columns: list[str] = columns) -> str:
                        pairs = zip(columns, fields, strict=True)
                        return " AND ".join(
                            f"{name} IS NULL" if field is None else f"{name} = {literal(field)}"
                            for name, field in pairs
                        )

                    change(ledger, f"UPDATE {table} SET {column} = {literal(value)} WHERE {only(list(row))}")
                    assert ledger.verify(), (table, column, value)
                    change(ledger, f"UPDATE {table} SET {column} = {literal(row[position])} WHERE {only(tampered)}")
                    tried += 1
    assert tried > 150
    assert ledger.verify() == []


def test_a_row_too_few_or_too_many_is_found(ledger: Ledger) -> None:
    filled(ledger)
    for table, (columns, rows) in tables_of(ledger).items():
        for row in rows:
            key = f"{columns[0]} = {literal(row[0])} AND {columns[1]} " + (
                "IS NULL" if row[1] is None else f"= {literal(row[1])}"
            )
            change(ledger, f"DELETE FROM {table} WHERE {key}")
            assert ledger.verify(), (table, row)
            change(ledger, f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(map(literal, row))})")
        if table != "sudare_ledger":
            stranger = [value + 500 if isinstance(value, int) else value for value in rows[0]]
            stranger[0] = stranger[0] if isinstance(stranger[0], int) else "stranger"
            change(ledger, f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(map(literal, stranger))})")
            assert ledger.verify(), table
            change(ledger, f"DELETE FROM {table} WHERE {columns[0]} = {literal(stranger[0])}")
    assert ledger.verify() == []


def test_swapped_entries_are_found(ledger: Ledger) -> None:
    filled(ledger)
    swap = [f"UPDATE sudare_entries SET number = {new} WHERE number = {old}" for old, new in ((3, 99), (4, 3), (99, 4))]
    change(ledger, *swap)
    assert {finding.entry for finding in ledger.verify()} >= {3, 4}


def rewrite(ledger: Ledger, start: int, **values: str) -> None:
    """Change an entry and make all hashes from there on fit again, as a thorough forger would."""
    previous = None
    for entry in list(ledger.entries()):
        fields = vars(entry) | (values if entry.number == start else {})
        previous = fields["previous"] if previous is None else previous
        new = hash_of(entry.number, entry.time, fields["kind"], entry.dataset, fields["body"], previous)
        change(
            ledger,
            f"UPDATE sudare_entries SET kind = {literal(fields['kind'])}, body = {literal(fields['body'])}, "
            f"previous = {literal(previous)}, hash = {literal(new)} WHERE number = {entry.number}",
        )
        previous = new


@pytest.mark.parametrize(
    ("forged", "told"),
    [
        ({"kind": "refund"}, "unknown"),
        ({"body": "{}"}, "cannot be read"),
        ({"body": "not json"}, "cannot be read"),
        ({"body": '{"reason":"","reservation":3,"reason":""}'}, "cannot be read"),
        ({"kind": "cancel", "body": '{"reason":"","reservation":1}'}, "never made"),
        ({"kind": "cancel", "body": '{"reason":"","reservation":4}'}, "once more"),
    ],
)
def test_entries_that_fit_the_chain_but_make_no_sense_are_found(
    ledger: Ledger, forged: dict[str, str], told: str
) -> None:
    filled(ledger)
    rewrite(ledger, 6, **forged)
    assert any(finding.entry == 6 and told in finding.english for finding in ledger.verify())


def test_over_spending_is_found(ledger: Ledger) -> None:
    filled(ledger)
    added = next(ledger.entries()).read()
    assert isinstance(added, DatasetAdded)
    rewrite(ledger, 1, body=replace(added, total=Budget(epsilon=0.2)).to_json())
    findings = ledger.verify()
    assert any("more than remained" in finding.english for finding in findings)
    assert all(finding.explain("ja") != finding.explain("en") for finding in findings)


def test_a_rewritten_ledger_is_found_only_with_a_hash_kept_elsewhere(ledger: Ledger) -> None:
    filled(ledger)
    number, kept = ledger.head()
    assert ledger.verify((number, kept)) == []
    added = next(ledger.entries()).read()
    assert isinstance(added, DatasetAdded)
    rewrite(ledger, 1, body=replace(added, total=Budget(epsilon=9)).to_json())
    assert ledger.verify() == []
    assert [finding.entry for finding in ledger.verify((number, kept))] == [number]
    assert "missing at its end" in ledger.verify((number + 1, kept))[0].english


def problems_of_race(location: str, folder: Path, *, has_lock: bool = True, rho_filter: bool = False) -> list[str]:
    """Let processes race for parts of a budget; what went wrong, if anything."""
    part = Fraction(1, 23)
    with open_ledger(location, create=True) as ledger:
        total = Budget(epsilon=1, delta=DELTA) if rho_filter else Budget(epsilon=1)
        added = ledger.add_dataset("census", total, unit=PERSON, rho_filter=rho_filter)
        charge = added.charge(Budget(epsilon=part)).main
        parts = int(added.left.main / charge)
        racers = [start(race, location, part, folder, number, has_lock) for number in range(RACERS)]
        try:
            while len(list(folder.glob("*.ready"))) < RACERS:
                assert all(racer.is_alive() for racer in racers)
                time.sleep(0.005)
            (folder / "go").touch()
            for racer in racers:
                racer.join(SECONDS)
            outcomes = [json.loads(file.read_text(encoding="utf-8")) for file in folder.glob("*.json")]
        finally:
            for racer in racers:
                racer.kill()
                racer.join()
        assert len(outcomes) == RACERS
        problems = [finding.english for finding in ledger.verify()]
        reserved, settled, errors = (sum(o[name] for o in outcomes) for name in ("reserved", "settled", "errors"))
        problems += [f"{reserved} reservations"] if reserved != parts else []
        problems += [f"{errors} errors"] if errors else []
        if problems:
            return problems
        dataset = ledger.dataset("census")
        expected = (added.rule.to_budget(Amount(settled * charge)), added.left.main - parts * charge)
        return ["another balance"] if (dataset.spent, dataset.left.main) != expected else []


@pytest.mark.slow
def test_processes_that_race_for_the_last_budget_get_exactly_all_of_it(location: str, tmp_path: Path) -> None:
    assert problems_of_race(location, tmp_path) == []


@pytest.mark.slow
def test_processes_that_race_for_the_last_of_a_filter_get_no_more_than_it_allows(location: str, tmp_path: Path) -> None:
    assert problems_of_race(location, tmp_path, rho_filter=True) == []


@pytest.mark.slow
def test_a_ledger_without_its_lock_would_be_caught(location: str, tmp_path: Path) -> None:
    assert problems_of_race(location, tmp_path, has_lock=False)


def test_threads_share_a_ledger(census: Ledger) -> None:
    got: list[int] = []

    def work() -> None:
        for number in range(10):
            try:
                got.append(reserve(census, Fraction(1, 10), number).number)
            except BudgetExceededError:
                return

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == list(range(2, 12))
    assert census.verify() == []


class AgainstNaiveModel(RuleBasedStateMachine):
    """A ledger against plain sums in memory, over any sequence of steps."""

    def __init__(self, new_location: NewLocation) -> None:
        super().__init__()
        self.location = new_location()
        self.ledger = open_ledger(self.location, create=True)
        kept = RhoFilter.for_total(Budget(epsilon=5, delta=1e-3))
        self.totals = {"pure": Fraction(1), "rho": Fraction(1, 4), "filter": kept.rho}
        self.ledger.add_dataset("pure", Budget(epsilon=1), unit=PERSON)
        self.ledger.add_dataset("rho", Budget(rho=0.25), unit=PERSON)
        self.ledger.add_dataset("filter", kept.total, unit=PERSON, rho_filter=True)
        self.spent = dict.fromkeys(self.totals, Fraction(0))
        self.open: dict[Reservation, Fraction] = {}
        self.closed: list[Reservation] = []
        self.entries = 3
        self.people: set[tuple[str, str]] = set()

    def held(self, name: str) -> Fraction:
        return sum((charge for reservation, charge in self.open.items() if reservation.dataset == name), Fraction(0))

    @rule(name=st.sampled_from(["pure", "rho", "filter"]), twelfths=st.integers(1, 12))
    def reserve(self, name: str, twelfths: int) -> None:
        epsilon = Fraction(twelfths, 12)
        charge = epsilon if name == "pure" else epsilon**2 / 2
        if self.spent[name] + self.held(name) + charge > self.totals[name]:
            with pytest.raises(BudgetExceededError):
                reserve(self.ledger, epsilon, name=name)
            return
        self.open[reserve(self.ledger, epsilon, self.entries, name)] = charge
        self.entries += 1

    @precondition(lambda self: self.open)
    @rule(data=st.data(), part=st.sampled_from([1, 2, 3]), over=st.booleans())
    def settle(self, data: st.DataObject, part: int, over: bool) -> None:
        reservation = data.draw(st.sampled_from(list(self.open)))
        if over:
            with pytest.raises(LedgerError):
                self.ledger.settle(reservation, event_of(reservation.cost.times(1.5)))
            return
        event = event_of(reservation.cost.times(Fraction(1, part)))
        entry = self.ledger.settle(reservation, event)
        pure = reservation.dataset == "pure"
        self.spent[reservation.dataset] += event.cost.epsilon if pure else event.cost.epsilon**2 / 2
        self.close(reservation)
        assert self.ledger.settled(reservation.dataset, reservation.fingerprint) == entry

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        reservation = data.draw(st.sampled_from(list(self.open)))
        self.ledger.cancel(reservation, "")
        self.close(reservation)
        assert self.ledger.settled(reservation.dataset, reservation.fingerprint) is None

    @precondition(lambda self: self.closed)
    @rule(data=st.data())
    def close_again(self, data: st.DataObject) -> None:
        with pytest.raises(LedgerError):
            self.ledger.cancel(data.draw(st.sampled_from(self.closed)), "")

    @rule(name=st.sampled_from(["pure", "rho"]), person=st.sampled_from("abc"))
    def opt_out(self, name: str, person: str) -> None:
        self.ledger.opt_out(name, person)
        self.entries += (name, person) not in self.people
        self.people.add((name, person))

    @rule()
    def open_again(self) -> None:
        self.ledger.close()
        self.ledger = open_ledger(self.location)

    def close(self, reservation: Reservation) -> None:
        del self.open[reservation]
        self.closed.append(reservation)
        self.entries += 1

    @invariant()
    def balances_agree(self) -> None:
        for name, total in self.totals.items():
            dataset, held = self.ledger.dataset(name), self.held(name)
            for budget, expected in (
                (dataset.spent, self.spent[name]),
                (dataset.reserved, held),
                (dataset.remaining, total - self.spent[name] - held),
            ):
                number = Fraction(0) if budget is None else budget.epsilon if name == "pure" else budget.rho
                assert number == expected
            assert len(self.ledger.opt_outs(name).digests) == sum(known == name for known, _ in self.people)
        assert self.ledger.head()[0] == self.entries

    def teardown(self) -> None:
        assert self.ledger.verify() == []
        self.ledger.close()


@pytest.mark.slow
def test_any_sequence_of_steps_agrees_with_plain_sums(new_location: NewLocation) -> None:
    few = settings(max_examples=25, stateful_step_count=25, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(lambda: AgainstNaiveModel(new_location), settings=few)  # type: ignore[arg-type]


def test_a_postgresql_server_that_answers_before_the_disk_is_overruled(server: PostgresServer) -> None:
    schema = server.new_location().partition("search_path%3D")[2]
    options = f"-csearch_path={schema} -csynchronous_commit=off -cdefault_transaction_isolation=serializable"
    with open_ledger(server.url(options=options), create=True) as ledger:
        with ledger._store.transaction(write=True):
            assert ledger._store.fetch("SHOW synchronous_commit") == [("on",)]
            assert ledger._store.fetch("SHOW transaction_isolation") == [("read committed",)]
        with ledger._store.transaction(write=False):
            assert ledger._store.fetch("SHOW transaction_isolation") == [("repeatable read",)]


def test_a_postgresql_database_without_a_ledger(server: PostgresServer) -> None:
    with pytest.raises(LedgerError, match="has no ledger") as refusal:
        open_ledger(server.new_location())
    assert "台帳がありません" in refusal.value.japanese


def test_a_lost_postgresql_connection_is_told(server: PostgresServer) -> None:
    location = server.new_location()
    with open_ledger(location, create=True) as ledger, open_ledger(location) as other:
        ledger.add_dataset("census", Budget(epsilon=1), unit=PERSON)
        change(
            other,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'sudare ledger' AND pid <> pg_backend_pid() AND datname = current_database()",
        )
        for _ in range(2):
            with pytest.raises(LedgerError, match="cannot be reached"):
                reserve(ledger, 0.1)
        assert other.verify() == []
        assert other.head()[0] == 1


def test_a_postgresql_ledger_that_is_held_is_given_up_in_the_end(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    location = server.new_location()
    with open_ledger(location, create=True) as holder:
        monkeypatch.setattr("sudare.ledger.postgres_store.MAX_WAIT", 1)
        with open_ledger(location) as waiting, holder._store.transaction(write=True):
            with pytest.raises(LedgerError, match="Another program"):
                waiting.add_dataset("census", Budget(epsilon=1), unit=PERSON)
            assert waiting.datasets() == []


def test_a_postgresql_user_who_may_only_read(server: PostgresServer) -> None:
    location = server.new_location()
    schema = location.partition("search_path%3D")[2]
    with open_ledger(location, create=True) as ledger:
        ledger.add_dataset("census", Budget(epsilon=1), unit=PERSON)
        change(
            ledger,
            f"CREATE ROLE reader_{schema} LOGIN",
            f"GRANT USAGE ON SCHEMA {schema} TO reader_{schema}",
            f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO reader_{schema}",
        )
    with open_ledger(location.replace("//postgres@", f"//reader_{schema}@")) as reader:
        assert reader.verify() == []
        with pytest.raises(LedgerError, match="may not do that") as refusal:
            reserve(reader, 0.1)
        assert "権限" in refusal.value.japanese
        assert reader.dataset("census").remaining == Budget(epsilon=1)


def test_a_balance_beyond_the_total_is_not_believed(ledger: Ledger) -> None:
    filled(ledger)
    for balance in ("2 0", "1/2 3/2", "-1 0", "", "nonsense"):
        change(ledger, f"UPDATE sudare_datasets SET spent = '{balance}' WHERE name = 'census'")
        for call in (lambda: ledger.dataset("census"), ledger.datasets, lambda: reserve(ledger, 0.01, 9)):
            with pytest.raises(LedgerError, match="damaged"):
                call()


def test_one_process_at_a_time_makes_a_release(census: Ledger, location: str, tmp_path: Path) -> None:
    first = Doomed(hold_work, tmp_path / "first", location, fingerprint(1))
    first.wait_for(1)
    with census.alone_with("census", fingerprint(2)):
        reserve(census, 0.1)  # neither another release nor the ledger itself has to wait
    second = Doomed(hold_work, tmp_path / "second", location, fingerprint(1))
    second.wait_for(1)
    assert first.kill() == ["holds"]
    second.wait_for(2)
    assert second.kill() == ["waits", "holds"]
    waits: list[str] = []
    with census.alone_with("census", fingerprint(1), lambda: waits.append("for a killed process")):
        pass
    # A server learns a moment later that a client was killed; a lock of the operating system is free at once.
    assert not waits or location.startswith("postgresql:")


def test_threads_wait_for_each_other(census: Ledger) -> None:
    steps: list[str] = []

    def work() -> None:
        with census.alone_with("census", fingerprint(1), lambda: steps.append("waits")):
            steps.append("second")

    with census.alone_with("census", fingerprint(1)):
        thread = threading.Thread(target=work)
        thread.start()
        while not steps:
            time.sleep(0.01)
        steps.append("first")
    thread.join()
    assert steps == ["waits", "first", "second"]
