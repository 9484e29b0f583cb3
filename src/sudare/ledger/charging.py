"""A charge from its first question to its last: found again, or reserved, drawn, sealed, settled and handed out, once.

This is the part of the order that everything with a cost shares, answers to queries and releases alike:

1. A request is alone with what it asks for. A second request for the same result waits, and finds it made.
2. What was settled before is handed out again, at no cost. What was complete when its process ended is settled and handed out.
   Both are decided by the fingerprint alone, never by the data: else it would be seen from outside whether anybody had changed.
3. The place is opened in which the result is made, so that a full disk or a folder in the way is noticed while it is free.
4. The cost is **reserved**, in every account or in none. From here on it counts as spent.
5. The result is made. An error before the first draw gives the cost back (`sudare.ledger.reserving`); a later one does not.
6. The result is **completed**: all of it is on the disk, sealed, out of sight.
7. The ledger **settles** with what the result is found by, in the first account first.
8. The result is **handed out**.

No signal comes between 6 and 8. A crash between 4 and 6 leaves the cost spent. A crash between 6 and 8 leaves a complete result,
which the next request for it gets by step 2.

What is made, where it is kept and how it is shown are the caller's; see `ResultStore` and `Completed`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from sudare.errors import LedgerError
from sudare.ledger.entries import Entry, Settled, TickSettled
from sudare.ledger.ledger import Ledger
from sudare.ledger.records import BegunTick, Reservation, Window
from sudare.ledger.reserving import OpenCharge, reserved
from sudare.privacy.budget import Budget
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.measurements import Measurement
from sudare.privacy.unit import Unit
from sudare.system.interrupts import uninterrupted

__all__ = ["ChargeRequest", "Completed", "ResultStore", "charge_once", "settle_in_all", "tick_once"]

Place = TypeVar("Place")
Result = TypeVar("Result")
ResultOut = TypeVar("ResultOut", covariant=True)


@dataclass(frozen=True, kw_only=True)
class ChargeRequest:
    """What is to be charged, and to whom.

    Attributes:
        accounts: the data set's account, and further ones within it.
        cost: the most that the result may cost.
        unit: who is protected.
        fingerprint: SHA-256 in hexadecimal digits of all that makes the result what it is; the data is no part of it.
        purpose: for people.
        measurements: everything that will be drawn, where that is known; see `Ledger.reserve`.
        refusals: exceptions, besides those of mechanisms, that are raised before the first draw only.
    """

    accounts: tuple[str, ...]
    cost: Budget
    unit: Unit
    fingerprint: str
    purpose: str = ""
    measurements: tuple[Measurement, ...] = ()
    refusals: tuple[type[BaseException], ...] = ()

    @property
    def dataset(self) -> str:
        """The data set's account."""
        return self.accounts[0]


@dataclass(frozen=True, kw_only=True, eq=False)
class Completed(Generic[ResultOut]):
    """A result that is on the disk, sealed, and that nobody has seen.

    Attributes:
        event: what was drawn, and what it cost; for a tick, that of its whole window.
        found_by: what the ledger notes, so that a `ResultStore` finds the result again.
        hand_out: shows the result, given the number of the entry that settled it.
    """

    event: ReleaseEvent
    found_by: Mapping[str, str]
    hand_out: Callable[[int], ResultOut]


class ResultStore(Protocol[ResultOut]):
    """Where results are kept, and found again. It trusts nothing but the ledger and its seals."""

    def find_settled(self, found_by: Mapping[str, str], entry: int) -> ResultOut | None:
        """A result that the ledger settled, as it was then; None if it is gone or was changed.

        Args:
            found_by: what the ledger noted of it.
            entry: number of the entry that settled it.
        """
        ...

    def find_abandoned(self) -> Iterable[tuple[Sequence[Reservation | BegunTick], Completed[ResultOut]]]:
        """Results that were complete when their process ended, each with its reservations, or its tick, still open."""
        ...

    def complain_of_loss(self, entry: int, found_by: Mapping[str, str]) -> LedgerError:
        """What to say where a result was settled, and is gone.

        Args:
            entry: number of the latest entry that settled it.
            found_by: what that entry noted.
        """
        ...


def charge_once(
    ledger: Ledger,
    request: ChargeRequest,
    store: ResultStore[Result],
    place: AbstractContextManager[Place],
    make: Callable[[Place, OpenCharge], Callable[[], Completed[Result]]],
    *,
    again: bool = False,
    on_wait: Callable[[], None] | None = None,
    on_unfinished: Callable[[Sequence[Reservation]], None] | None = None,
) -> Result:
    """Hand out a result: the one that was made before, or a new one that is charged for.

    Args:
        ledger: that keeps the accounts.
        request: what is charged, and to whom.
        store: where results are found again.
        place: in which the result is made; entered only if it is not found, and left when it is handed out.
        make: makes the result in its place; gives what completes it, which no signal interrupts. It calls
            `OpenCharge.begin_drawing` before the first draw, or `OpenCharge.keep` before the first look.
        again: draw anew, and charge anew, even if the result was made before.
        on_wait: called once if somebody is making the same, before waiting for them.
        on_unfinished: called before anything is charged if earlier runs left the same result unfinished, with what they reserved,
            which stays spent. Whoever does not want to pay once more raises; not called where ``again`` asks for it, nor by a
            run that waited for another one.

    Raises:
        BudgetExceededError: if an account does not allow it; nothing was looked at.
        LedgerError: if the ledger cannot be used, or a result that was settled is gone.
    """
    has_waited = False

    def note_wait() -> None:
        nonlocal has_waited
        has_waited = True
        if on_wait is not None:
            on_wait()

    with ledger.alone_with(request.dataset, request.fingerprint, note_wait):
        found = None if again else _made_before(ledger, request.dataset, request.fingerprint, store)
        if found is not None:
            return found
        if on_unfinished is not None and not again and not has_waited:
            # What is still open was left behind. Whoever waited for another run, which was then killed, was started to make the
            # result whatever became of that run.
            left = [one for one in ledger.reservations(request.dataset) if one.fingerprint == request.fingerprint]
            if left:
                on_unfinished(left)
        with (
            place as opened,
            reserved(
                ledger,
                request.accounts,
                request.cost,
                unit=request.unit,
                fingerprint=request.fingerprint,
                purpose=request.purpose,
                measurements=request.measurements,
                refusals=request.refusals,
            ) as charge,
        ):
            complete = make(opened, charge)
            charge.keep()
            with uninterrupted():
                return _settle_and_hand_out(ledger, charge.reservations, complete())


def tick_once(
    ledger: Ledger,
    window: Window,
    tick: int,
    fingerprint: str,
    store: ResultStore[Result],
    place: AbstractContextManager[Place],
    make: Callable[[Place, Callable[[str], BegunTick]], Callable[[], Completed[Result]]],
    *,
    on_wait: Callable[[], None] | None = None,
) -> Result:
    """Hand out a tick of a window: the one that was made before, or a new one. The window was charged for as a whole.

    The order is that of `charge_once`. In place of a reservation stands the entry that binds the tick's noise to its input; an
    error never gives anything back. One tick of a window is made at a time: others wait.

    Args:
        ledger: that keeps the account.
        window: from `Windows.open`.
        tick: which one, from 0.
        fingerprint: SHA-256 in hexadecimal digits of what is published at this tick; the data is no part of it.
        store: where results are found again.
        place: in which the tick is made; entered only if it is not found, and left when it is handed out.
        make: makes the tick in its place; gives what completes it, which no signal interrupts. It is given a function that
            begins the tick with the keyed hash of its input, and calls it **before the first draw**.
        on_wait: called once if somebody is making a tick of this window, before waiting for them.

    Raises:
        TickRefusedError: if the tick is missing, was begun with other input or lies beyond the window, or the window was closed.
        LedgerError: if the ledger cannot be used, a tick that was settled is gone, or it was completed without being begun.
    """
    with ledger.alone_with(window.dataset, window.fingerprint, on_wait):
        found = _made_before(ledger, window.dataset, fingerprint, store)
        if found is not None:
            return found
        ledger.windows.require_possible(window, tick)
        begun: list[BegunTick] = []

        def bind(input_hash: str) -> BegunTick:
            begun.append(ledger.windows.begin_tick(window, tick, fingerprint, input_hash))
            return begun[-1]

        with place as opened:
            complete = make(opened, bind)
            if not begun:
                raise LedgerError(
                    f"Tick {tick} was made without being begun in the ledger; it is not published.",
                    f"時点 {tick} は台帳で開始されないまま作成されたため、公表されません。",
                )
            with uninterrupted():
                return _settle_and_hand_out(ledger, begun[-1:], complete())


def settle_in_all(
    ledger: Ledger, charges: Sequence[Reservation | BegunTick], event: ReleaseEvent, result: Mapping[str, str]
) -> int:
    """Settle the reservations of one result, or its tick, in their order; the number of the first entry."""
    entries = [
        ledger.windows.settle_tick(charge, event, result)
        if isinstance(charge, BegunTick)
        else ledger.settle(charge, event, result)
        for charge in charges
    ]
    return entries[0].number


def _settle_and_hand_out(ledger: Ledger, charges: Sequence[Reservation | BegunTick], done: Completed[Result]) -> Result:
    return done.hand_out(settle_in_all(ledger, charges, done.event, done.found_by))


def _made_before(ledger: Ledger, dataset: str, fingerprint: str, store: ResultStore[Result]) -> Result | None:
    """The same result, made before. The data is not looked at."""
    latest = ledger.settled(dataset, fingerprint)
    for entry, said in _settlements(ledger, latest, dataset, fingerprint):
        found = store.find_settled(said.result, entry.number)
        if found is not None:
            return found
    for charges, done in store.find_abandoned():
        with uninterrupted():
            return _settle_and_hand_out(ledger, charges, done)
    if latest is not None:
        body = latest.read()
        raise store.complain_of_loss(latest.number, body.result if isinstance(body, Settled | TickSettled) else {})
    return None


def _settlements(
    ledger: Ledger, latest: Entry | None, dataset: str, fingerprint: str
) -> Iterator[tuple[Entry, Settled | TickSettled]]:
    """What was settled with a fingerprint, the latest first; earlier ones take reading the whole ledger."""
    if latest is None:
        return
    body = latest.read()
    if isinstance(body, Settled | TickSettled):
        yield latest, body
    yield from reversed(ledger.settlements(dataset, fingerprint)[:-1])
