"""Windows of ticks, in every place where a ledger can be kept: upward only, each tick with one input, charged once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sudare import Budget, ReleaseEvent, Unit
from sudare.errors import BudgetExceededError, LedgerError, NotPrivateError, ParameterError
from sudare.ledger import Entry, Ledger, open_ledger
from sudare.ledger.entries import TickSettled
from sudare.ledger.records import BegunTick, TickRefusedError, Window, WindowState
from sudare.privacy import ProtectedTime
from tests.unit.ledger.helping import event_of, fingerprint

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
