"""The order of everything that is charged: whatever stops it, nothing is handed out unpaid, and nothing is paid for twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from sudare.errors import BudgetExceededError, LedgerError
from sudare.ledger import Ledger, Reservation, open_ledger
from sudare.ledger.charging import ChargeRequest, Completed, charge_once
from sudare.ledger.reserving import OpenCharge
from sudare.noise import SecureEntropy
from sudare.privacy import Budget, ReleaseEvent, Unit
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
