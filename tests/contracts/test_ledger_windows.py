"""Windows of ticks, in every place where a ledger can be kept: upward only, each tick with one input, charged once."""
# ruff: noqa: S608 (statements are put together to tamper with tables)

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from sudare import Budget, ReleaseEvent, Unit
from sudare.errors import BudgetExceededError, LedgerError, NotPrivateError, ParameterError
from sudare.ledger import Entry, Ledger, open_ledger
from sudare.ledger.entries import (
    Body,
    Cancelled,
    Reserved,
    Settled,
    TickBegun,
    TickSettled,
    TicksMissed,
    hash_of,
    key_of_window,
)
from sudare.ledger.records import BegunTick, TickRefusedError, Window, WindowState
from sudare.privacy import ProtectedTime
from tests.end_to_end.killed import Doomed, race_for_ticks
from tests.unit.ledger.helping import change, event_of, fingerprint

DAY = Unit("person", time=ProtectedTime("person-day", 6))
COST = Budget(rho=0.1)
EVENT = event_of(COST, DAY)
TICKS = 6
NewLocation = Callable[[], str]


@pytest.fixture
def crowds(ledger: Ledger) -> Ledger:
    ledger.add_dataset("crowds", Budget(rho=1), unit=DAY)
    return ledger


def open_window(ledger: Ledger, number: int = 0, **others: Any) -> Window:
    values: dict[str, Any] = {"unit": DAY, "fingerprint": window_print(number), "ticks": TICKS} | others
    return ledger.windows.open("crowds", values.pop("cost", COST), **values)


def window_print(number: int) -> str:
    return fingerprint(10**6 + number)


def tick_print(tick: int, number: int = 0) -> str:
    return fingerprint(2 * 10**6 + 1000 * number + tick)


def input_print(content: int) -> str:
    return fingerprint(3 * 10**6 + content)


def begin(ledger: Ledger, window: Window, tick: int, content: int = 0) -> BegunTick:
    number = int(window.fingerprint, 16) - 10**6
    return ledger.windows.begin_tick(window, tick, tick_print(tick, number), input_print(content))


def publish(ledger: Ledger, window: Window, tick: int) -> None:
    ledger.windows.settle_tick(begin(ledger, window, tick), EVENT, {"file": f"tick {tick}"})


def state_of(ledger: Ledger, window: Window) -> WindowState:
    found = ledger.windows.find(window.dataset, window.fingerprint)
    assert found is not None
    return found


def kinds(ledger: Ledger) -> list[str]:
    return [entry.kind for entry in ledger.entries()]


def test_a_window_is_reserved_for_once_and_its_ticks_cost_nothing(crowds: Ledger) -> None:
    window = open_window(crowds, purpose="crowds of 16 November")
    assert crowds.windows.find("crowds", window_print(1)) is None
    assert open_window(crowds) == window
    assert kinds(crowds) == ["dataset", "reserve"]
    assert state_of(crowds, window) == WindowState(
        window, DAY, "crowds of 16 November", crowds.entry(2).time, -1, 0, (), None, None, COST
    )
    for tick in range(TICKS):
        publish(crowds, window, tick)
        assert crowds.dataset("crowds").reserved == COST
    entry = crowds.windows.close(window, EVENT, {"folder": "day"})
    assert (crowds.dataset("crowds").spent, crowds.dataset("crowds").reserved) == (COST, None)
    assert crowds.settled("crowds", window.fingerprint) == entry
    state = state_of(crowds, window)
    assert (state.settled, state.missing, state.is_closed, state.to_come) == (TICKS, (), True, 0)
    assert kinds(crowds) == ["dataset", "reserve"] + ["begin-tick", "settle-tick"] * TICKS + ["settle"]
    assert crowds.verify() == []


def test_a_settled_tick_is_found_again_by_its_fingerprint(crowds: Ledger) -> None:
    window = open_window(crowds)
    entry = crowds.windows.settle_tick(begin(crowds, window, 0), EVENT, {"file": "abc"})
    assert crowds.settled("crowds", tick_print(0)) == entry
    body = entry.read()
    assert isinstance(body, TickSettled)
    assert (body.tick, body.result) == (0, {"file": "abc"})
    assert crowds.settlements("crowds", tick_print(0)) == [(entry, body)]
    assert crowds.settled("crowds", tick_print(1)) is None


def test_ticks_that_are_left_out_are_missing_in_one_entry(crowds: Ledger) -> None:
    window = open_window(crowds)
    publish(crowds, window, 0)
    publish(crowds, window, 4)
    assert kinds(crowds)[4:] == ["miss-ticks", "begin-tick", "settle-tick"]
    state = state_of(crowds, window)
    assert (state.last_tick, state.settled, state.missing, state.missed, state.to_come) == (4, 2, (range(1, 4),), 3, 1)
    for tick in (1, 2, 3):
        with pytest.raises(TickRefusedError, match="missing for good") as refusal:
            begin(crowds, window, tick)
        assert refusal.value.kind == "missing"
        assert "後の時点" in refusal.value.japanese
    for tick in (0, 4):
        with pytest.raises(TickRefusedError, match="published before") as refusal:
            begin(crowds, window, tick)
        assert refusal.value.kind == "published"
    assert crowds.verify() == []


def test_a_tick_that_was_begun_goes_on_with_the_same_input_only(crowds: Ledger, location: str) -> None:
    window = open_window(crowds)
    begun = begin(crowds, window, 2, 7)
    assert state_of(crowds, window).open_tick == 2
    with open_ledger(location) as other:
        assert begin(other, window, 2, 7) == begun == other.windows.begun(window)
    head = crowds.head()
    with pytest.raises(TickRefusedError, match="another plan") as plan:
        crowds.windows.begin_tick(window, 2, tick_print(99), input_print(7))
    assert (plan.value.kind, crowds.head()) == ("other plan", head)
    with pytest.raises(TickRefusedError, match="another input") as refusal:
        begin(crowds, window, 2, 8)
    assert refusal.value.kind == "other input"
    for words in (refusal.value.english, refusal.value.japanese):
        assert input_print(7) not in words
        assert input_print(8) not in words
    state = state_of(crowds, window)
    assert (state.open_tick, state.missing, state.last_tick) == (None, (range(3),), 2)
    for content in (7, 8):
        with pytest.raises(TickRefusedError, match="missing for good"):
            begin(crowds, window, 2, content)
    with pytest.raises(TickRefusedError, match="missing for good"):
        crowds.windows.settle_tick(begun, EVENT)
    publish(crowds, window, 3)
    assert crowds.verify() == []


def test_a_later_tick_leaves_the_one_that_was_begun_missing(crowds: Ledger) -> None:
    window = open_window(crowds)
    begun = begin(crowds, window, 1)
    publish(crowds, window, 3)
    assert state_of(crowds, window).missing == (range(3),)
    with pytest.raises(TickRefusedError, match="missing for good"):
        crowds.windows.settle_tick(begun, EVENT)
    assert crowds.verify() == []


def test_a_tick_beyond_the_window_is_refused(crowds: Ledger) -> None:
    window = open_window(crowds)
    for tick in (TICKS, 10**6):
        with pytest.raises(TickRefusedError, match=r"6 ticks, 0 to 5") as refusal:
            begin(crowds, window, tick)
        assert refusal.value.kind == "beyond"
    for wrong in (-1, 1.5, "0", None, 10**30):
        with pytest.raises(ParameterError, match="tick"):
            crowds.windows.begin_tick(window, wrong, tick_print(0), input_print(0))  # type: ignore[arg-type]
    assert kinds(crowds) == ["dataset", "reserve"]


def test_a_closed_window_stays_closed(crowds: Ledger) -> None:
    window = open_window(crowds)
    publish(crowds, window, 1)
    begun = begin(crowds, window, 3)
    crowds.windows.close(window, EVENT)
    assert state_of(crowds, window).missing == (range(1), range(2, 6))
    assert crowds.windows.begun(window) is None
    for call in (
        lambda: begin(crowds, window, 5),
        lambda: begin(crowds, window, 1),
        lambda: crowds.windows.settle_tick(begun, EVENT),
        lambda: crowds.windows.miss_tick(window, 5, ""),
        lambda: crowds.windows.require_possible(window, 5),
    ):
        with pytest.raises(TickRefusedError, match="was closed by entry") as refusal:
            call()
        assert refusal.value.kind == "closed"
    with pytest.raises(LedgerError, match="never opened again") as again:
        open_window(crowds)
    assert "再び開くことはできません" in again.value.japanese
    with pytest.raises(LedgerError, match="closed before"):
        crowds.windows.close(window, EVENT)
    assert crowds.verify() == []


def test_a_window_is_settled_by_closing_and_given_back_only_before_its_first_tick(crowds: Ledger) -> None:
    first, second = open_window(crowds), open_window(crowds, 1)
    with pytest.raises(LedgerError, match=r"windows\.close"):
        crowds.settle(first.reservation, EVENT)
    begin(crowds, first, 0)
    with pytest.raises(LedgerError, match="not given back"):
        crowds.cancel(first.reservation, "")
    crowds.cancel(second.reservation, "planned by mistake")
    with pytest.raises(LedgerError, match="never opened again"):
        open_window(crowds, 1)
    assert crowds.dataset("crowds").reserved == COST
    listed = crowds.windows.of("crowds")
    assert [(one.window, one.charged) for one in listed] == [(first, COST), (second, None)]
    assert crowds.verify() == []


def test_a_tick_is_declared_missing_once(crowds: Ledger) -> None:
    window = open_window(crowds)
    publish(crowds, window, 0)
    begin(crowds, window, 1)
    entry = crowds.windows.miss_tick(window, 3, "no file")
    assert crowds.windows.miss_tick(window, 3, "again") == entry
    assert crowds.windows.miss_tick(window, 1, "again").number == entry.number - 1
    with pytest.raises(TickRefusedError, match=r"\(no file\)"):
        begin(crowds, window, 3)
    with pytest.raises(TickRefusedError, match="published before"):
        crowds.windows.miss_tick(window, 0, "")
    with pytest.raises(TickRefusedError, match="has no tick 6"):
        crowds.windows.miss_tick(window, 6, "")
    assert state_of(crowds, window).missing == (range(1, 4),)
    assert crowds.verify() == []


def test_what_was_not_reserved_for_is_not_settled(crowds: Ledger) -> None:
    window = open_window(crowds)
    begun = begin(crowds, window, 0)
    settling: tuple[Callable[[ReleaseEvent], Entry], ...] = (
        lambda event: crowds.windows.settle_tick(begun, event),
        lambda event: crowds.windows.close(window, event),
    )
    for settle in settling:
        with pytest.raises(NotPrivateError):
            settle(event_of(COST, DAY, entropy="research"))
        with pytest.raises(LedgerError, match=r"only rho = 0\.1 was reserved"):
            settle(event_of(Budget(rho=0.2), DAY))
        with pytest.raises(LedgerError, match="was reserved for"):
            settle(event_of(COST, Unit("person")))
    for stranger in (
        replace(begun, number=99),
        replace(begun, entry_hash="0" * 64),
        replace(begun, input_hash=input_print(1)),
        replace(begun, tick=1),
    ):
        with pytest.raises(TickRefusedError, match="not begun"):
            crowds.windows.settle_tick(stranger, EVENT)
    assert crowds.verify() == []


def test_windows_of_another_ledger_are_refused(crowds: Ledger) -> None:
    window = open_window(crowds)
    for stranger in (
        replace(window, number=1),
        replace(window, cost=Budget(rho=0.2)),
        replace(window, ticks=7),
        replace(window, dataset="other"),
        replace(window, fingerprint=window_print(5)),
        replace(window, dataset=5),  # type: ignore[arg-type]
        replace(window, fingerprint=None),  # type: ignore[arg-type]
    ):
        with pytest.raises(LedgerError, match="not one of this ledger"):
            crowds.windows.begin_tick(stranger, 0, tick_print(0), input_print(0))
    with pytest.raises(ParameterError, match="window"):
        crowds.windows.begin_tick(window.reservation, 0, tick_print(0), input_print(0))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="begun"):
        crowds.windows.settle_tick(window, EVENT)  # type: ignore[arg-type]
    with pytest.raises(LedgerError, match="no data set"):
        crowds.windows.of("other")


def test_a_fingerprint_is_for_one_tick(crowds: Ledger) -> None:
    window = open_window(crowds)
    publish(crowds, window, 0)
    for taken in (tick_print(0), window.fingerprint):
        with pytest.raises(LedgerError, match="one of its own"):
            crowds.windows.begin_tick(window, 1, taken, input_print(0))


def test_the_conditions_of_a_window_do_not_change(crowds: Ledger) -> None:
    open_window(crowds)
    for others in ({"cost": Budget(rho=0.2)}, {"ticks": 7}, {"unit": replace(DAY, cells=2, rows=2)}):
        with pytest.raises(LedgerError, match="in the middle of a window"):
            open_window(crowds, **others)
    for wrong in (0, -1, 2.5, "6"):
        with pytest.raises(ParameterError, match="ticks"):
            open_window(crowds, 1, ticks=wrong)


def test_a_lifetime_takes_as_many_costs_as_days(crowds: Ledger) -> None:
    """Each day resets who is protected: somebody present on all of them is protected by the sum of their costs."""
    for day in range(10):
        window = open_window(crowds, day)
        publish(crowds, window, day % TICKS)
        crowds.windows.close(window, EVENT)
        assert crowds.dataset("crowds").spent == Budget(rho=f"{(day + 1) / 10:.1f}")
    with pytest.raises(BudgetExceededError):
        open_window(crowds, 10)
    assert len(crowds.windows.of("crowds")) == 10
    assert crowds.verify() == []


def test_units_over_other_times_do_not_mix(crowds: Ledger) -> None:
    for time in (
        None,
        ProtectedTime("event"),
        ProtectedTime("person-day", 7),
        ProtectedTime("person-window", 6),
    ):
        with pytest.raises(LedgerError, match="different units"):
            open_window(crowds, unit=Unit("person", time=time))
        with pytest.raises(LedgerError, match="different units"):
            crowds.reserve("crowds", COST, unit=Unit("person", time=time), fingerprint=fingerprint(0))
    crowds.add_dataset("census", Budget(rho=1), unit=Unit("person"))
    with pytest.raises(LedgerError, match="different units") as refusal:
        crowds.windows.open("census", COST, unit=DAY, fingerprint=window_print(0), ticks=TICKS)
    assert "person-day of 6 ticks" in refusal.value.english
    assert kinds(crowds) == ["dataset", "dataset"]


def test_an_old_copy_is_noticed(crowds: Ledger, new_location: NewLocation) -> None:
    window = open_window(crowds)
    begun = begin(crowds, window, 0)
    entry = crowds.windows.settle_tick(begun, EVENT)
    crowds.windows.require_seen(window, begun.number, begun.entry_hash)
    crowds.windows.require_seen(window, entry.number, entry.hash)
    for number, digest in (
        (entry.number + 1, entry.hash),
        (entry.number, begun.entry_hash),
        (0, entry.hash),
        (None, entry.hash),
        (10**30, entry.hash),
    ):
        with pytest.raises(LedgerError, match="old copy") as refusal:
            crowds.windows.require_seen(window, number, digest)  # type: ignore[arg-type]
        assert "古い控え" in refusal.value.japanese
    with open_ledger(new_location(), create=True) as other:
        other.add_dataset("crowds", Budget(rho=1), unit=DAY)
        begin(other, open_window(other), 0)
        with pytest.raises(LedgerError, match="old copy"):
            other.windows.require_seen(window, begun.number, begun.entry_hash)


def test_a_window_and_its_ticks_survive_an_export(crowds: Ledger) -> None:
    """Whoever reads only what is exported, without any secret, finds the same ticks, and the same chain of hashes."""
    window = open_window(crowds)
    publish(crowds, window, 1)
    publish(crowds, window, 4)
    crowds.windows.close(window, EVENT)
    exported = io.StringIO()
    crowds.export(exported)
    entries = [Entry(**json.loads(line)) for line in exported.getvalue().splitlines()]
    assert entries == list(crowds.entries())
    for entry in entries:
        fields = (entry.number, entry.time, entry.kind, entry.dataset, entry.body, entry.previous)
        assert hash_of(*fields) == entry.hash
    bodies = [entry.read() for entry in entries]
    assert [body.tick for body in bodies if isinstance(body, TickSettled)] == [1, 4]
    assert [(body.first, body.last) for body in bodies if isinstance(body, TicksMissed)] == [(0, 0), (2, 3), (5, 5)]
    assert crowds.verify(crowds.head()) == []


def append(ledger: Ledger, kind: str, body: Body, window: Window | None = None) -> int:
    """An entry that the ledger would not have written, with its place in the chain and in the table of results."""
    with ledger._store.transaction(write=True):
        entry = ledger._append(kind, "crowds", body.to_json())
        if window is not None:
            ledger._set_result("crowds", key_of_window(window.fingerprint), entry.number)
    return entry.number


UNUSED, INPUT = tick_print(900), input_print(0)


@pytest.mark.parametrize(
    ("kind", "body", "told"),
    [
        ("begin-tick", TickBegun(2, 3, UNUSED, INPUT, 1, 3), "not the next ones"),
        ("begin-tick", TickBegun(2, 2, tick_print(2), input_print(5), 1, 3), "not the next ones"),
        ("begin-tick", TickBegun(2, 0, UNUSED, INPUT, 1, 3), "not the next ones"),
        ("begin-tick", TickBegun(3, 3, UNUSED, INPUT, 1, 3), "never opened"),
        ("begin-tick", TickBegun(99, 3, UNUSED, INPUT, 1, 3), "never opened"),
        ("settle-tick", TickSettled(2, 2, 4, {}, 2, 3), "was not begun"),
        ("settle-tick", TickSettled(2, 3, 6, {}, 2, 3), "was not begun"),
        ("settle-tick", TickSettled(2, 1, 6, {}, 2, 3), "was not begun"),
        ("miss-ticks", TicksMissed(2, 3, 4, "", 1, 3), "not the next ones"),
        ("miss-ticks", TicksMissed(2, 1, 4, "", 1, 3), "not the next ones"),
        ("miss-ticks", TicksMissed(2, 2, 1, "", 1, 3), "not the next ones"),
        ("miss-ticks", TicksMissed(2, 2, TICKS, "", 1, 3), "beyond the end"),
        ("miss-ticks", TicksMissed(2, 2, 2, "", 2, 3), "not what the entries add up to"),
        ("miss-ticks", TicksMissed(2, 2, 2, "", 1, 0), "not what the entries add up to"),
        ("settle", Settled(2, EVENT, {}), "neither settled nor missing"),
        ("cancel", Cancelled(2, ""), "after its first tick"),
        ("reserve", Reserved(COST, DAY, window_print(0), "", None, TICKS), "opens a window again"),
        ("reserve", Reserved(COST, DAY, window_print(8), "", None, 0), "without ticks"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_every_fault_among_ticks_is_found(crowds: Ledger, kind: str, body: Body, told: str) -> None:
    """Entries 3 to 6: tick 0 is missing, tick 1 was settled, tick 2 was begun."""
    window = open_window(crowds)
    publish(crowds, window, 1)
    begin(crowds, window, 2)
    assert crowds.verify() == []
    number = append(crowds, kind, body, window)
    assert [finding.entry for finding in crowds.verify() if told in finding.english] == [number]


def test_ticks_after_a_window_was_closed_are_found(crowds: Ledger) -> None:
    window = open_window(crowds)
    publish(crowds, window, TICKS - 1)
    crowds.windows.close(window, EVENT)
    missed = 3
    for kind, body in (
        ("begin-tick", TickBegun(2, TICKS, UNUSED, INPUT, 1, missed)),
        ("miss-ticks", TicksMissed(2, TICKS, TICKS, "", 1, missed)),
    ):
        number = append(crowds, kind, body)
        (finding,) = [finding for finding in crowds.verify() if finding.entry == number]
        assert "closed before" in finding.english


def test_a_tick_under_the_fingerprint_of_another_is_found(crowds: Ledger) -> None:
    window = open_window(crowds)
    publish(crowds, window, 0)
    gap = 0
    for tick, taken in enumerate((tick_print(0), window.fingerprint), start=1):
        number = append(crowds, "begin-tick", TickBegun(2, tick, taken, INPUT, 1, gap), window)
        gap = append(crowds, "miss-ticks", TicksMissed(2, tick, tick, "", 1, gap), window)
        assert any(finding.entry == number and "something else has" in finding.english for finding in crowds.verify())
        assert not any(finding.entry == gap for finding in crowds.verify())


def test_an_index_that_points_to_another_entry_is_found_and_not_believed(crowds: Ledger) -> None:
    window = open_window(crowds)
    publish(crowds, window, 0)
    publish(crowds, window, 2)
    for entry in (1, 4, 99):
        change(
            crowds,
            f"UPDATE sudare_results SET entry = {entry} WHERE fingerprint = '{key_of_window(window.fingerprint)}'",
        )
        assert crowds.verify()
    for entry in (1, 99):
        change(
            crowds,
            f"UPDATE sudare_results SET entry = {entry} WHERE fingerprint = '{key_of_window(window.fingerprint)}'",
        )
        with pytest.raises(LedgerError):
            crowds.windows.find("crowds", window.fingerprint)


def test_finding_a_window_does_not_read_what_it_does_not_need(crowds: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    window = open_window(crowds, ticks=100)
    for tick in range(0, 60, 3):
        publish(crowds, window, tick)
    fetched: list[str] = []
    fetch = type(crowds._store).fetch

    def counted(self: Any, statement: str, values: Any = ()) -> list[Any]:
        rows = fetch(self, statement, values)
        fetched.extend(statement for _ in rows)
        return rows

    monkeypatch.setattr(type(crowds._store), "fetch", counted)
    state = state_of(crowds, window)
    assert (state.settled, state.missed, len(state.missing)) == (20, 38, 19)
    assert len(fetched) <= 19 + 10, "one row for each gap, and a few"
    fetched.clear()
    begin(crowds, window, 60)
    assert len(fetched) <= 15, "the gaps are not read to go on"


class AgainstNaiveTicks(RuleBasedStateMachine):
    """Windows against a list of what became of each tick, over any sequence of steps."""

    def __init__(self, new_location: NewLocation) -> None:
        super().__init__()
        self.location = new_location()
        self.ledger = open_ledger(self.location, create=True)
        self.ledger.add_dataset("crowds", Budget(rho=4), unit=DAY)
        self.windows: list[Window] = []
        self.begun: list[BegunTick] = []
        self.open_new_window()

    @rule()
    def open_new_window(self) -> None:
        self.windows.append(open_window(self.ledger, len(self.windows)))
        self.is_closed = False
        self.ticks: list[str | int] = [""] * TICKS
        """What became of each: nothing yet, published, missing, or begun with this content."""

    @property
    def window(self) -> Window:
        return self.windows[-1]

    @property
    def last(self) -> int:
        return max((tick for tick, what in enumerate(self.ticks) if what != ""), default=-1)

    def miss_up_to(self, tick: int) -> None:
        for number in range(tick + 1):
            if self.ticks[number] == "" or isinstance(self.ticks[number], int):
                self.ticks[number] = "missing"

    def expected_refusal(self, tick: int) -> str | None:
        """Of a tick that somebody begins, declares missing or settles, by public facts alone."""
        if self.is_closed:
            return "closed"
        if tick >= TICKS:
            return "beyond"
        what = self.ticks[tick]
        return what if isinstance(what, str) and what else None

    def refused(self, kind: str, call: Callable[[], object]) -> None:
        head = self.ledger.head()
        with pytest.raises(TickRefusedError) as refusal:
            call()
        assert refusal.value.kind == kind
        assert kind == "other input" or self.ledger.head() == head

    @rule(tick=st.integers(0, TICKS), content=st.integers(0, 1))
    def begin(self, tick: int, content: int) -> None:
        def call() -> BegunTick:
            return begin(self.ledger, self.window, tick, content)

        kind = self.expected_refusal(tick)
        if kind is not None:
            self.refused(kind, call)
            return
        before = self.ticks[tick]
        if before not in ("", content):
            self.refused("other input", call)
            self.ticks[tick] = "missing"
            return
        begun = call()
        if before == "":
            self.miss_up_to(tick - 1)
            self.ticks[tick] = content
            self.begun.append(begun)
        assert begun == self.begun[-1]

    @precondition(lambda self: self.begun)
    @rule(data=st.data())
    def settle(self, data: st.DataObject) -> None:
        begun = data.draw(st.sampled_from(self.begun))
        is_live = begun == self.begun[-1] and begun.window == self.window and not self.is_closed
        if is_live and isinstance(self.ticks[begun.tick], int):
            entry = self.ledger.windows.settle_tick(begun, EVENT, {"tick": str(begun.tick)})
            assert self.ledger.settled("crowds", begun.fingerprint) == entry
            self.ticks[begun.tick] = "published"
            return
        with pytest.raises(TickRefusedError):
            self.ledger.windows.settle_tick(begun, EVENT)

    @rule(tick=st.integers(0, TICKS))
    def miss(self, tick: int) -> None:
        kind = self.expected_refusal(tick)
        if kind in ("closed", "beyond", "published"):
            self.refused(kind, lambda: self.ledger.windows.miss_tick(self.window, tick, "no file"))
            return
        self.ledger.windows.miss_tick(self.window, tick, "no file")
        if kind is None:
            self.miss_up_to(tick)

    @rule()
    def close(self) -> None:
        if self.is_closed:
            with pytest.raises(LedgerError, match="closed before"):
                self.ledger.windows.close(self.window, EVENT)
            return
        self.ledger.windows.close(self.window, EVENT)
        self.miss_up_to(TICKS - 1)
        self.is_closed = True

    @rule()
    def open_again(self) -> None:
        self.ledger.close()
        self.ledger = open_ledger(self.location)

    @invariant()
    def states_agree(self) -> None:
        state = state_of(self.ledger, self.window)
        is_open = [tick for tick, what in enumerate(self.ticks) if isinstance(what, int)]
        assert state.last_tick == self.last
        assert state.settled == self.ticks.count("published")
        assert [tick for ticks in state.missing for tick in ticks] == [
            tick for tick, what in enumerate(self.ticks) if what == "missing"
        ]
        assert ([] if state.open_tick is None else [state.open_tick]) == is_open
        assert state.is_closed == self.is_closed
        assert state.to_come == (0 if self.is_closed else self.ticks.count("") + len(is_open))

    def teardown(self) -> None:
        assert self.ledger.verify() == []
        assert [state.window for state in self.ledger.windows.of("crowds")] == self.windows
        charged = self.ledger.dataset("crowds")
        spent, held = (Fraction(0) if part is None else part.rho for part in (charged.spent, charged.reserved))
        assert spent + held == len(self.windows) * COST.rho
        self.ledger.close()


@pytest.mark.slow
@pytest.mark.parametrize("examples", [5, pytest.param(100, marks=pytest.mark.deep)])
def test_any_sequence_of_ticks_agrees_with_a_plain_list(new_location: NewLocation, examples: int) -> None:
    few = settings(max_examples=examples, stateful_step_count=25, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(lambda: AgainstNaiveTicks(new_location), settings=few)  # type: ignore[arg-type]


@pytest.mark.slow
def test_processes_that_begin_the_same_ticks_with_other_input_never_both_publish(location: str, tmp_path: Path) -> None:
    rounds = 12
    with open_ledger(location, create=True) as ledger:
        ledger.add_dataset("crowds", Budget(rho=1), unit=DAY)
        window = open_window(ledger, ticks=rounds)
        racers = [Doomed(race_for_ticks, tmp_path / f"racer {number}", location, number) for number in range(2)]
        told = [line.split(" ") for racer in racers for line in racer.end()]
        published = [tick for tick, what in told if what == "published"]
        assert len(set(published)) == len(published), "two processes published the same tick"
        assert len(told) == 2 * rounds
        state = state_of(ledger, window)
        assert state.settled == len(published)
        assert state.settled + state.missed == rounds
        assert all(what in ("published", "other-input", "missing", "published-before") for _, what in told)
        assert ledger.verify() == []
