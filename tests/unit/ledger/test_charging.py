"""The order of everything that is charged: whatever stops it, nothing is handed out unpaid, and nothing is paid for twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from sudare.errors import BudgetExceededError, LedgerError, NotPrivateError
from sudare.ledger import Ledger, Reservation, open_ledger
from sudare.ledger.charging import ChargeRequest, Completed, charge_once, tick_once
from sudare.ledger.records import BegunTick, TickRefusedError
from sudare.ledger.reserving import OpenCharge
from sudare.ledger.windows import Windows
from sudare.noise import SecureEntropy
from sudare.privacy import Budget, ProtectedTime, ReleaseEvent, Unit
from tests.unit.ledger.helping import event_of

PERSON = Unit("person")
REQUEST = ChargeRequest(accounts=("town", "town/ann"), cost=Budget(epsilon=1), unit=PERSON, fingerprint="a" * 64)


class Shelf:
    """Results in memory, in place of a disk: what is on it survives a run that ends."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.steps: list[str] = []
        self.results: dict[str, Sequence[Reservation]] = {}

    def find_settled(self, found_by: Mapping[str, str], entry: int) -> str | None:
        name = found_by["name"]
        return f"{name} again" if name in self.results else None

    def find_abandoned(self) -> Iterator[tuple[Sequence[Reservation], Completed[str]]]:
        still_open = {one.number for name in REQUEST.accounts for one in self.ledger.reservations(name)}
        for name, reservations in self.results.items():
            if {one.number for one in reservations} <= still_open:
                yield reservations, self.completed(name)

    def complain_of_loss(self, entry: int, found_by: Mapping[str, str]) -> LedgerError:
        return LedgerError(f"{found_by['name']} of entry {entry} is gone", "")

    def completed(self, name: str) -> Completed[str]:
        event: ReleaseEvent = event_of(Budget(epsilon=1))
        return Completed(event=event, found_by={"name": name}, hand_out=lambda entry: f"{name} settled as {entry}")

    @contextmanager
    def place(self) -> Iterator[str]:
        self.steps.append("open")
        yield "shelf"
        self.steps.append("close")

    def make(self, place: str, charge: OpenCharge) -> Callable[[], Completed[str]]:
        assert place == "shelf"
        self.steps.append("make")
        charge.begin_drawing()
        SecureEntropy().next_word()

        def complete() -> Completed[str]:
            self.steps.append("complete")
            name = f"result {len(self.results) + 1}"
            self.results[name] = charge.reservations
            return self.completed(name)

        return complete


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with open_ledger(tmp_path / "budget.db", create=True) as ledger:
        for name in REQUEST.accounts:
            ledger.add_dataset(name, Budget(epsilon=3), unit=PERSON)
        yield Shelf(ledger)


def ask(shelf: Shelf, *, again: bool = False) -> str:
    return charge_once(shelf.ledger, REQUEST, shelf, shelf.place(), shelf.make, again=again)


def left(shelf: Shelf) -> list[Budget | None]:
    assert shelf.ledger.verify() == []
    return [shelf.ledger.dataset(name).remaining for name in REQUEST.accounts]


def test_a_result_is_charged_in_every_account_and_found_again(shelf: Shelf) -> None:
    assert ask(shelf) == "result 1 settled as 5"
    assert shelf.steps == ["open", "make", "complete", "close"]
    assert left(shelf) == [Budget(epsilon=2)] * 2
    assert ask(shelf) == "result 1 again"
    assert left(shelf) == [Budget(epsilon=2)] * 2
    assert ask(shelf, again=True).startswith("result 2")
    assert left(shelf) == [Budget(epsilon=1)] * 2


def test_the_place_is_opened_before_anything_is_reserved(shelf: Shelf) -> None:
    @contextmanager
    def full() -> Iterator[str]:
        raise OSError("full")
        yield "never"

    with pytest.raises(OSError, match="full"):
        charge_once(shelf.ledger, REQUEST, shelf, full(), shelf.make)
    assert [entry.kind for entry in shelf.ledger.entries()] == ["dataset", "dataset"]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_what_fails_before_the_first_draw_is_given_back(shelf: Shelf, error: type[BaseException]) -> None:
    def fail(place: str, charge: OpenCharge) -> Callable[[], Completed[str]]:
        raise error

    with pytest.raises(error):
        charge_once(shelf.ledger, REQUEST, shelf, shelf.place(), fail)
    assert left(shelf) == [Budget(epsilon=3)] * 2


def test_what_fails_after_it_was_made_stays_spent(shelf: Shelf) -> None:
    """Also where whoever made it forgot to say that they drew."""

    def full() -> Completed[str]:
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        charge_once(shelf.ledger, REQUEST, shelf, shelf.place(), lambda place, charge: full)
    assert left(shelf) == [Budget(epsilon=2)] * 2


def test_what_was_complete_is_settled_by_whoever_asks_next(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "settle", killed)
        with pytest.raises(KeyboardInterrupt):
            ask(shelf)
    assert left(shelf) == [Budget(epsilon=2)] * 2
    assert ask(shelf).startswith("result 1 settled")
    assert left(shelf) == [Budget(epsilon=2)] * 2
    assert not shelf.ledger.reservations("town")


def test_what_is_gone_is_not_made_again_unasked(shelf: Shelf) -> None:
    ask(shelf)
    shelf.results.clear()
    with pytest.raises(LedgerError, match="result 1 of entry 5 is gone"):
        ask(shelf)
    assert left(shelf) == [Budget(epsilon=2)] * 2


def test_nothing_is_made_beyond_a_budget(shelf: Shelf) -> None:
    for _ in range(3):
        ask(shelf, again=True)
    shelf.steps.clear()
    with pytest.raises(BudgetExceededError):
        ask(shelf, again=True)
    assert "make" not in shelf.steps


DAY = Unit("person", time=ProtectedTime("person-day", 4))
DAY_COST = Budget(rho=0.1)
FIRST, SECOND = "b" * 64, "c" * 64


class TickShelf:
    """Ticks in memory, in place of a disk: what is on it survives a run that ends."""

    def __init__(self, ledger: Ledger, tick: int = 0, fingerprint: str = FIRST) -> None:
        self.ledger, self.tick, self.fingerprint = ledger, tick, fingerprint
        self.window = ledger.windows.open("crowds", DAY_COST, unit=DAY, fingerprint="a" * 64, ticks=4)
        self.steps: list[str] = []
        self.results: dict[str, int] = {}
        self.event = event_of(DAY_COST, DAY)

    def find_settled(self, found_by: Mapping[str, str], entry: int) -> str | None:
        return f"{found_by['name']} again" if found_by["name"] in self.results else None

    def find_abandoned(self) -> Iterator[tuple[Sequence[BegunTick], Completed[str]]]:
        begun = self.ledger.windows.begun(self.window)
        for name, number in self.results.items():
            if begun is not None and begun.fingerprint == self.fingerprint and begun.number == number:
                yield [begun], self.completed(name)

    def complain_of_loss(self, entry: int, found_by: Mapping[str, str]) -> LedgerError:
        return LedgerError(f"{found_by['name']} of entry {entry} is gone", "")

    def completed(self, name: str) -> Completed[str]:
        return Completed(event=self.event, found_by={"name": name}, hand_out=lambda entry: f"{name} settled as {entry}")

    @contextmanager
    def place(self) -> Iterator[str]:
        self.steps.append("open")
        yield "shelf"
        self.steps.append("close")

    def make(self, place: str, bind: Callable[[str], BegunTick]) -> Callable[[], Completed[str]]:
        self.steps.append("read")
        begun = bind("d" * 64)
        self.steps.append("draw")

        def complete() -> Completed[str]:
            self.steps.append("complete")
            self.results[f"tick {self.tick}"] = begun.number
            return self.completed(f"tick {self.tick}")

        return complete

    def ask(self) -> str:
        return tick_once(self.ledger, self.window, self.tick, self.fingerprint, self, self.place(), self.make)


@pytest.fixture
def ticks(tmp_path: Path) -> Iterator[TickShelf]:
    with open_ledger(tmp_path / "budget.db", create=True) as ledger:
        ledger.add_dataset("crowds", Budget(rho=1), unit=DAY)
        yield TickShelf(ledger)
        assert ledger.verify() == []
        assert ledger.dataset("crowds").reserved == DAY_COST


def kinds(ledger: Ledger) -> list[str]:
    return [entry.kind for entry in ledger.entries()][2:]


def test_a_tick_is_made_once_and_found_again_for_nothing(ticks: TickShelf) -> None:
    assert ticks.ask() == "tick 0 settled as 4"
    assert ticks.steps == ["open", "read", "draw", "complete", "close"]
    assert ticks.ask() == "tick 0 again"
    assert len(ticks.steps) == 5
    assert kinds(ticks.ledger) == ["begin-tick", "settle-tick"]


def test_what_fails_before_a_tick_is_begun_leaves_no_trace(ticks: TickShelf) -> None:
    def fail(place: str, bind: object) -> Callable[[], Completed[str]]:
        raise OSError("no file")

    with pytest.raises(OSError, match="no file"):
        tick_once(ticks.ledger, ticks.window, 0, FIRST, ticks, ticks.place(), fail)
    assert kinds(ticks.ledger) == []
    assert ticks.ask() == "tick 0 settled as 4"


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_tick_that_was_begun_goes_on(ticks: TickShelf, error: type[BaseException]) -> None:
    def fail(place: str, bind: Callable[[str], BegunTick]) -> Callable[[], Completed[str]]:
        bind("d" * 64)
        raise error

    with pytest.raises(error):
        tick_once(ticks.ledger, ticks.window, 0, FIRST, ticks, ticks.place(), fail)
    assert kinds(ticks.ledger) == ["begin-tick"]
    assert ticks.ask() == "tick 0 settled as 4"
    assert kinds(ticks.ledger) == ["begin-tick", "settle-tick"]


def test_a_tick_that_was_begun_does_not_go_on_with_other_input(ticks: TickShelf) -> None:
    ticks.ledger.windows.begin_tick(ticks.window, 0, FIRST, "e" * 64)
    with pytest.raises(TickRefusedError) as refusal:
        ticks.ask()
    assert refusal.value.kind == "other input"
    assert "draw" not in ticks.steps
    ticks.steps.clear()
    with pytest.raises(TickRefusedError, match="missing for good"):
        ticks.ask()
    assert ticks.steps == [], "a missing tick is refused before anything is read for it"


def test_a_tick_that_was_complete_is_settled_by_whoever_asks_next(
    ticks: TickShelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Windows, "settle_tick", killed)
        with pytest.raises(KeyboardInterrupt):
            ticks.ask()
    assert kinds(ticks.ledger) == ["begin-tick"]
    ticks.steps.clear()
    assert ticks.ask() == "tick 0 settled as 4"
    assert ticks.steps == []


def test_a_tick_that_is_gone_is_not_made_again(ticks: TickShelf) -> None:
    ticks.ask()
    ticks.results.clear()
    with pytest.raises(LedgerError, match="tick 0 of entry 4 is gone"):
        ticks.ask()


def test_a_tick_that_nobody_began_is_not_handed_out(ticks: TickShelf) -> None:
    with pytest.raises(LedgerError, match="without being begun"):
        tick_once(ticks.ledger, ticks.window, 0, FIRST, ticks, ticks.place(), lambda place, bind: pytest.fail)
    assert kinds(ticks.ledger) == []


def test_a_tick_from_research_entropy_is_not_handed_out(ticks: TickShelf) -> None:
    ticks.event = event_of(DAY_COST, DAY, entropy="research")
    with pytest.raises(NotPrivateError):
        ticks.ask()
    assert kinds(ticks.ledger) == ["begin-tick"]


def test_a_published_tick_is_handed_out_after_its_window_was_closed(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "budget.db", create=True) as ledger:
        ledger.add_dataset("crowds", Budget(rho=1), unit=DAY)
        first = TickShelf(ledger)
        first.ask()
        ledger.windows.close(first.window, first.event)
        assert first.ask() == "tick 0 again"
        first.tick, first.fingerprint = 1, SECOND
        with pytest.raises(TickRefusedError, match="was closed"):
            first.ask()
