"""Windows of repeated releases: reserved for as a whole before their first tick, then tick by tick, upward only.

The noise of a tick can be drawn again at any time (`sudare.noise.addressed`), so one input alone may ever meet it. Before it is
used, an entry **begins** the tick with the keyed hash of its input. The tick is then **settled**, at no cost of its own, or
**missing** for good: because a later one was begun, because it was begun with other input, because the window was closed, or
because somebody said so. What follows from that: "Windows and ticks" in ``ledger.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sudare.bilingual import Words
from sudare.errors import LedgerError
from sudare.ledger import checks
from sudare.ledger.book import Book
from sudare.ledger.checks import LATER_TICK, OTHER_INPUT, WINDOW_CLOSED
from sudare.ledger.entries import (
    COLUMNS,
    Entry,
    Reserved,
    Settled,
    TickBegun,
    TickBody,
    TickSettled,
    TicksMissed,
    key_of_window,
)
from sudare.ledger.records import BegunTick, TickRefusal, TickRefusedError, Window, WindowState
from sudare.parameters import exact_integer
from sudare.privacy.budget import Budget
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.measurements import Measurement
from sudare.privacy.unit import Unit

__all__ = ["MAX_TICKS", "Windows"]

MAX_TICKS = 2**31


@dataclass(frozen=True)
class _Position:
    """Where a window stands, by its latest entry alone."""

    opened: Entry
    reserved: Reserved
    window: Window
    latest: Entry
    said: TickBody | None
    """What the latest entry says; None before the first tick."""
    closed_by: int | None

    @property
    def settled(self) -> int:
        return 0 if self.said is None else self.said.settled

    @property
    def gap(self) -> int:
        if isinstance(self.said, TicksMissed):
            return self.latest.number
        return 0 if self.said is None else self.said.gap

    @property
    def last_tick(self) -> int:
        if isinstance(self.said, TicksMissed):
            return self.said.last
        return -1 if self.said is None else self.said.tick

    @property
    def open_tick(self) -> int | None:
        return self.said.tick if isinstance(self.said, TickBegun) else None

    @property
    def next_tick(self) -> int:
        """The first tick that may still be declared missing."""
        return self.last_tick + 1 if self.open_tick is None else self.open_tick

    def refusal(self, kind: TickRefusal, tick: int, **blanks: object) -> TickRefusedError:
        return checks.refused_tick(kind, tick, self.window, **blanks)

    def begun(self) -> BegunTick:
        if not isinstance(self.said, TickBegun):
            raise checks.damaged()
        said = self.said
        return BegunTick(
            self.latest.number, self.window, said.tick, said.fingerprint, said.input_hash, self.latest.hash
        )


class Windows(Book):
    """The windows of a ledger; reached by `Ledger.windows`."""

    def open(
        self,
        dataset: str,
        cost: Budget,
        *,
        unit: Unit,
        fingerprint: str,
        ticks: int,
        purpose: str = "",
        measurements: Sequence[Measurement] = (),
    ) -> Window:
        """The open window with a fingerprint; a new one, for which its whole cost is reserved, if there is none.

        Args:
            dataset: which data set.
            cost: the most that all ticks of the window together may cost.
            unit: who is protected, and over which time.
            fingerprint: SHA-256 in hexadecimal digits of all that makes the window what it is, its beginning included.
            ticks: how many ticks it has.
            purpose: for people.
            measurements: everything that will be drawn; see `Ledger.reserve`.

        Raises:
            BudgetExceededError: if less than the cost remains.
            LedgerError: if the window was closed before, was opened for another cost, unit or number of ticks, or if the cost
                is in another currency, or the window protects another unit, than the data set.

        Example:
            >>> import tempfile
            >>> from sudare import Budget, Unit
            >>> from sudare.ledger import open_ledger
            >>> from sudare.privacy import ProtectedTime
            >>> folder, day = tempfile.TemporaryDirectory(), Unit("person", time=ProtectedTime("person-day", 144))
            >>> with open_ledger(folder.name + "/budget.db", create=True) as ledger:
            ...     _ = ledger.add_dataset("crowds", Budget(rho=1), unit=day)
            ...     window = ledger.windows.open("crowds", Budget(rho=0.1), unit=day, fingerprint="a" * 64, ticks=144)
            ...     begun = ledger.windows.begin_tick(window, 0, "b" * 64, "c" * 64)
            ...     ledger.windows.find("crowds", "a" * 64).open_tick
            0
            >>> folder.cleanup()
        """
        requirement = Words(f"a whole number from 1 to {MAX_TICKS}", f"1 以上 {MAX_TICKS} 以下の整数")
        number_of_ticks = exact_integer(ticks, "ticks", "open", requirement, smallest=1, largest=MAX_TICKS)
        asked = self._asked("open", cost, unit, fingerprint, purpose, measurements, number_of_ticks)
        with self._store.transaction(write=True):
            self._account(dataset)
            now = self._position(dataset, fingerprint)
            if now is not None:
                if now.closed_by is not None:
                    raise checks.closed_for_good(now.closed_by)
                if (now.reserved.cost, now.reserved.unit, now.window.ticks) != (cost, unit, number_of_ticks):
                    raise checks.other_window(now.window)
                return now.window
            entry = self._reserve(dataset, asked)
            self._set_result(dataset, key_of_window(fingerprint), entry.number)
        return Window(entry.number, dataset, cost, fingerprint, number_of_ticks)

    def find(self, dataset: str, fingerprint: str) -> WindowState | None:
        """The window with a fingerprint, open or closed; None if there is none. It does not read other entries."""
        checks.read_fingerprint(fingerprint, "find")
        with self._store.transaction(write=False):
            self._account(dataset)
            now = self._position(dataset, fingerprint)
            return None if now is None else self._state(now)

    def of(self, dataset: str) -> list[WindowState]:
        """All windows of a data set, open and closed, in the order in which they were opened."""
        columns = ", ".join(f"e.{column.strip()}" for column in COLUMNS.split(","))
        with self._store.transaction(write=False):
            self._account(dataset)
            # SQLite goes through the left side of a CROSS JOIN: reservations are few, where entries about ticks are many.
            rows = self._store.fetch(
                f"SELECT {columns} FROM sudare_reservations AS r CROSS JOIN sudare_entries AS e "  # noqa: S608
                "WHERE e.number = r.number AND e.dataset = ? AND e.body LIKE ? ORDER BY r.number",
                (dataset, '%"ticks":%'),
            )
            bodies = (Entry(*row).read() for row in rows)
            fingerprints = [
                body.fingerprint for body in bodies if isinstance(body, Reserved) and body.ticks is not None
            ]
            found = (self._position(dataset, fingerprint) for fingerprint in fingerprints)
            return [self._state(now) for now in found if now is not None]

    def begun(self, window: Window) -> BegunTick | None:
        """The tick of a window that was begun, and is neither settled nor missing; None if there is none."""
        checks.read_window(window, "begun")
        with self._store.transaction(write=False):
            now = self._position_of(window)
            return None if now.open_tick is None or now.closed_by is not None else now.begun()

    def require_possible(self, window: Window, tick: int) -> None:
        """Refuse a tick that cannot be begun any more, before anything is read for it; nothing is written.

        Raises:
            TickRefusedError: if it was published, is missing or lies beyond the window, or the window was closed.
        """
        checks.read_window(window, "require_possible")
        number = _read_tick(tick, "require_possible")
        with self._store.transaction(write=False):
            now = self._live(window, number)
            if number <= now.last_tick and number != now.open_tick:
                raise self._past(now, number)

    def begin_tick(self, window: Window, tick: int, fingerprint: str, input_hash: str) -> BegunTick:
        """Bind the noise of a tick to one input, **before it is used**. The ticks before it that were not begun are missing now.

        Somebody who begins the same tick again, because their process ended, gets the same answer for the same input.

        Args:
            window: from `open`.
            tick: which one, from 0; later than every tick before.
            fingerprint: SHA-256 in hexadecimal digits of what is published at this tick, input not included; by it `settled`
                finds the result.
            input_hash: keyed hash of the input, in 64 hexadecimal digits.

        Raises:
            TickRefusedError: if the tick was published, is missing or lies beyond the window, if the window was closed, or if
                the tick was begun with another input: it is missing from then on.
            LedgerError: if the window is not one of this ledger, or something else was published under the fingerprint.
        """
        checks.read_window(window, "begin_tick")
        number = _read_tick(tick, "begin_tick")
        checks.read_fingerprint(fingerprint, "begin_tick")
        checks.read_fingerprint(input_hash, "begin_tick", "input_hash")
        with self._store.transaction(write=True):
            now = self._live(window, number)
            if now.open_tick != number:
                if number <= now.last_tick:
                    raise self._past(now, number)
                self._require_unused(now, fingerprint)
                now = self._missed_until(now, number - 1, LATER_TICK)
                body = TickBegun(window.number, number, fingerprint, input_hash, now.settled, now.gap)
                return self._appended(now, "begin-tick", body).begun()
            begun = now.begun()
            if begun.fingerprint != fingerprint:
                raise now.refusal("other plan", number)
            if begun.input_hash == input_hash:
                return begun
            # Written, and only then refused: whoever comes next must find the tick missing, whatever they bring.
            self._missed_until(now, number, OTHER_INPUT)
            refusal = now.refusal("other input", number)
        raise refusal

    def settle_tick(self, begun: BegunTick, event: ReleaseEvent, result: Mapping[str, str] | None = None) -> Entry:
        """Record a tick that was made; it has no cost of its own. `Ledger.settled` finds it by its fingerprint.

        Args:
            begun: from `begin_tick`.
            event: of the whole window, whose cost was reserved.
            result: what is to be found again, such as the hash of the published file.

        Raises:
            NotPrivateError: if the noise was drawn from research entropy.
            TickRefusedError: if the tick was settled before, is missing by now, or the window was closed: do not publish it.
            LedgerError: if the window's reservation does not cover the event.
        """
        checks.read_begun_tick(begun, "settle_tick")
        checks.read_cost(checks.read_event(event).cost, "settle_tick")
        noted = checks.read_result(result)
        with self._store.transaction(write=True):
            now = self._live(begun.window, begun.tick)
            if now.open_tick != begun.tick and 0 <= begun.tick <= now.last_tick:
                raise self._past(now, begun.tick)
            if now.open_tick != begun.tick or now.begun() != begun:
                raise now.refusal("not begun", begun.tick, entry=begun.number)
            self._covered(begun.dataset, now.reserved, event)
            body = TickSettled(begun.window.number, begun.tick, begun.number, noted, now.settled + 1, now.gap)
            entry = self._appended(now, "settle-tick", body).latest
            self._set_result(begun.dataset, begun.fingerprint, entry.number)
        return entry

    def miss_tick(self, window: Window, tick: int, reason: str) -> Entry:
        """Declare a tick missing for good, and those before it that were not begun. Repeating it changes nothing.

        Raises:
            TickRefusedError: if the tick was published or lies beyond the window, or the window was closed.
        """
        checks.read_window(window, "miss_tick")
        number = _read_tick(tick, "miss_tick")
        checks.read_text(reason, "reason", "miss_tick")
        with self._store.transaction(write=True):
            now = self._live(window, number)
            if number < now.next_tick:
                for entry, missed in self._gaps(now):
                    if missed.first <= number <= missed.last:
                        return entry
                raise now.refusal("published", number)
            now = self._missed_until(now, number - 1, LATER_TICK)
            return self._missed_until(now, number, reason).latest

    def close(self, window: Window, event: ReleaseEvent, result: Mapping[str, str] | None = None) -> Entry:
        """Settle a window; its ticks that were not published are missing for good.

        Args:
            window: from `open`.
            event: of the whole window.
            result: what is to be found again by the window's fingerprint.

        Raises:
            NotPrivateError: if the noise was drawn from research entropy.
            LedgerError: if the window was closed before, or its reservation does not cover the event.
        """
        checks.read_window(window, "close")
        checks.read_cost(checks.read_event(event).cost, "close")
        body = Settled(window.number, event, checks.read_result(result)).to_json()
        with self._store.transaction(write=True):
            reserved = self._open_reservation(window.reservation)
            self._missed_until(self._position_of(window), window.ticks - 1, WINDOW_CLOSED)
            return self._settle(window.reservation, reserved, event, body)

    def require_seen(self, window: Window, entry_number: int, entry_hash: str) -> None:
        """Refuse to go on if an entry that was seen earlier is not there, or is another one: the ledger is an old copy.

        Args:
            window: from `open`.
            entry_number: of the entry, such as the one that settled the last tick.
            entry_hash: of the entry.

        Raises:
            LedgerError: if the entry is not there, or differs, or the window is not one of this ledger.
        """
        checks.read_window(window, "require_seen")
        with self._store.transaction(write=False):
            last = self._head()[0]
            is_there = type(entry_number) is int and 0 < entry_number <= last
            if not is_there or self._entry(entry_number).hash != entry_hash:
                raise checks.old_copy(entry_number)
            self._position_of(window)

    def _position(self, dataset: str, fingerprint: str) -> _Position | None:
        latest = self._result(dataset, key_of_window(fingerprint))
        if latest is None:
            return None
        body = latest.read()
        said = body if isinstance(body, TickBegun | TickSettled | TicksMissed) else None
        opened = latest if said is None else self._entry(said.window)
        reserved = opened.read()
        if not isinstance(reserved, Reserved) or reserved.ticks is None or reserved.fingerprint != fingerprint:
            raise checks.damaged()
        closed = self._store.fetch("SELECT closed_by FROM sudare_reservations WHERE number = ?", (opened.number,))
        if not closed:
            raise checks.damaged()
        window = Window(opened.number, dataset, reserved.cost, fingerprint, reserved.ticks)
        return _Position(opened, reserved, window, latest, said, closed[0][0])

    def _position_of(self, window: Window) -> _Position:
        # What cannot be a name or a hash is asked of no database.
        is_possible = (
            isinstance(window.dataset, str) and window.dataset.isprintable() and checks.is_hash(window.fingerprint)
        )
        now = self._position(window.dataset, window.fingerprint) if is_possible else None
        if now is None or now.window != window:
            raise LedgerError(
                f"Window {window.number} is not one of this ledger.",
                f"期間 {window.number} はこの台帳のものではありません。",
            )
        return now

    def _live(self, window: Window, tick: int) -> _Position:
        now = self._position_of(window)
        if now.closed_by is not None:
            raise now.refusal("closed", tick, entry=now.closed_by)
        if tick >= window.ticks:
            raise now.refusal("beyond", tick)
        return now

    def _state(self, now: _Position) -> WindowState:
        missing: list[range] = []
        for _, missed in self._gaps(now):
            end = missed.last + 1
            if missing and missing[-1].start == end:
                end = missing.pop().stop
            missing.append(range(missed.first, end))
        end_of_it = None if now.closed_by is None else self._entry(now.closed_by).read()
        charged = end_of_it.event.cost if isinstance(end_of_it, Settled) else None
        return WindowState(
            window=now.window,
            unit=now.reserved.unit,
            purpose=now.reserved.purpose,
            opened_at=now.opened.time,
            last_tick=now.last_tick,
            settled=now.settled,
            missing=tuple(reversed(missing)),
            open_tick=now.open_tick if now.closed_by is None else None,
            closed_by=now.closed_by,
            charged=now.window.cost if now.closed_by is None else charged,
        )

    def _gaps(self, now: _Position) -> Iterator[tuple[Entry, TicksMissed]]:
        """The entries that declared ticks missing, the latest first."""
        number, above = now.gap, now.latest.number + 1
        while number:
            if not 0 < number < above:  # each points to an earlier one, or the ledger was changed
                raise checks.damaged()
            entry = self._entry(number)
            body = entry.read()
            if not isinstance(body, TicksMissed):
                raise checks.damaged()
            yield entry, body
            number, above = body.gap, number

    def _past(self, now: _Position, tick: int) -> TickRefusedError:
        """What to say of a tick that is behind the others."""
        for _, missed in self._gaps(now):
            if missed.first <= tick <= missed.last:
                return now.refusal("missing", tick, reason=checks.WHY_MISSING.get(missed.reason, missed.reason))
        return now.refusal("published", tick)

    def _require_unused(self, now: _Position, fingerprint: str) -> None:
        found = self._result(now.window.dataset, fingerprint)
        if found is not None or fingerprint == now.window.fingerprint:
            number = now.window.number if found is None else found.number
            raise LedgerError(
                f"Entry {number} of the ledger has the fingerprint of this tick already; every tick needs one of its own.",
                f"この時点のフィンガープリントは、台帳の {number} 番の項目で使われています。"
                "時点ごとに異なるものが必要です。",
            )

    def _missed_until(self, now: _Position, last: int, reason: str) -> _Position:
        """Declare everything up to a tick missing that is neither settled nor missing, in one entry; none if there is nothing."""
        if now.next_tick > last:
            return now
        body = TicksMissed(now.window.number, now.next_tick, last, reason, now.settled, now.gap)
        return self._appended(now, "miss-ticks", body)

    def _appended(self, now: _Position, kind: str, body: TickBody) -> _Position:
        entry = self._append(kind, now.window.dataset, body.to_json())
        self._set_result(now.window.dataset, key_of_window(now.window.fingerprint), entry.number)
        return _Position(now.opened, now.reserved, now.window, entry, body, now.closed_by)


def _read_tick(value: int, function: str) -> int:
    requirement = Words(f"a whole number from 0 to {MAX_TICKS}", f"0 以上 {MAX_TICKS} 以下の整数")
    return exact_integer(value, "tick", function, requirement, smallest=0, largest=MAX_TICKS)
