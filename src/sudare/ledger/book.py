"""Reading and appending the entries of a ledger, within a transaction: what its steps have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from sudare.border.frames import Rows
from sudare.errors import LedgerError
from sudare.ledger import checks
from sudare.ledger.amounts import Amount
from sudare.ledger.entries import (
    COLUMNS,
    KEY_OF_RULE,
    Cancelled,
    DatasetAdded,
    Entry,
    Reserved,
    RuleChanged,
    Settled,
    hash_of,
)
from sudare.ledger.records import Dataset, Reservation
from sudare.ledger.rules import CompositionRule, Cost, RhoFilter, Sums, amount_of_noise
from sudare.ledger.stores import LedgerStore, Row
from sudare.privacy.budget import Budget
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.measurements import Measurement
from sudare.privacy.unit import Unit
from sudare.system.clock import utc_now

__all__ = ["Book"]

PAGE = 1000
"""Entries read at a time: a reader of a long ledger keeps nobody waiting."""


class Book(Rows):
    """The tables of a ledger; every method is called within a transaction."""

    def __init__(self, store: LedgerStore) -> None:
        self._store = store

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each entry; what it says is JSON."""
        listed = list(self._pages(None))
        names = ("number", "time", "kind", "dataset", "body", "hash")
        return {name: [getattr(entry, name) for entry in listed] for name in names}

    def _pages(self, dataset: str | None) -> Iterator[Entry]:
        after = 0
        while True:
            with self._store.transaction(write=False):
                rows = self._store.fetch(
                    f"SELECT {COLUMNS} FROM sudare_entries WHERE number > ? ORDER BY number LIMIT ?",  # noqa: S608
                    (after, PAGE),
                )
            page = [Entry(*row) for row in rows]
            yield from (entry for entry in page if dataset in (None, entry.dataset))
            if len(page) < PAGE:
                return
            after = page[-1].number

    def _dataset(self, name: str) -> Dataset:
        """A data set with everything that is known about it."""
        return replace(self._account(name), publications=self._publications(name))

    def _publications(self, dataset: str) -> int:
        rows = self._store.fetch(
            "SELECT count(*) FROM sudare_entries WHERE kind = ? AND dataset = ?", ("publish", dataset)
        )
        return int(rows[0][0])

    def _account(self, name: str) -> Dataset:
        """A data set as a charge sees it: without what was published besides."""
        number, spent, reserved = self._row_of(name, "entry, spent, reserved")
        added = self._entry(number).read()
        try:
            if not isinstance(added, DatasetAdded):
                raise ValueError("not the entry of a data set")
            rule = self._rule(name, added)
            amounts = rule.from_text(spent), rule.from_text(reserved)
            account = Dataset(name, added.unit, added.description, rule, *amounts)
            if not account.committed.fits(account.rule.limit):
                raise ValueError("a balance that no entries lead to")
            return account
        except ValueError:
            raise checks.damaged() from None

    def _rule(self, name: str, added: DatasetAdded) -> CompositionRule:
        found = self._result(name, KEY_OF_RULE)
        if found is None:
            return Sums(added.total) if added.rule is None else added.rule
        changed = found.read()
        if not isinstance(changed, RuleChanged) or changed.rule.total != added.total:
            raise ValueError("not the entry of a changed rule")
        return changed.rule

    def _result(self, dataset: str, key: str) -> Entry | None:
        """The entry that stands under a key in the table of results; None if there is none."""
        found = self._store.fetch(
            "SELECT entry FROM sudare_results WHERE dataset = ? AND fingerprint = ?", (dataset, key)
        )
        return self._entry(found[0][0]) if found else None

    def _costs(self, dataset: str) -> tuple[list[Cost], list[Cost]]:
        """What every release of a data set cost, and what is reserved, both in order."""
        rows = self._store.fetch(
            f"SELECT {COLUMNS} FROM sudare_entries WHERE dataset = ? ORDER BY number",  # noqa: S608
            (dataset,),
        )
        releases: list[Cost] = []
        reserved: dict[int, Cost] = {}
        for entry in (Entry(*row) for row in rows):
            body = entry.read() if entry.kind in ("reserve", "settle", "cancel") else None
            if isinstance(body, Reserved):
                reserved[entry.number] = body.cost, body.noise
            elif isinstance(body, Settled | Cancelled):
                reserved.pop(body.reservation, None)
            if isinstance(body, Settled):
                releases.append((body.event.cost, amount_of_noise(body.event.measurements)))
        return releases, list(reserved.values())

    def _row_of(self, name: str, columns: str) -> Row:
        # What cannot be a name is asked of no database: PostgreSQL refuses some characters.
        is_possible = checks.read_text(name, "dataset", "Ledger").isprintable()
        statement = f"SELECT {columns} FROM sudare_datasets WHERE name = ?"  # noqa: S608
        rows = self._store.fetch(statement, (name,)) if is_possible else []
        if not rows:
            raise self._unknown(name)
        return rows[0]

    def _unknown(self, name: str) -> LedgerError:
        names = [str(known) for (known,) in self._store.fetch("SELECT name FROM sudare_datasets ORDER BY entry")]
        near = get_close_matches(str(name), names, n=1)
        listed = ", ".join(repr(known) for known in names[:10])
        if near:
            english, japanese = f"Did you mean {near[0]!r}?", f"{near[0]!r} のことでしょうか。"
        elif names:
            english, japanese = f"It has {listed}.", f"台帳にあるのは {listed} です。"
        else:
            english, japanese = "It has none yet; add one first.", "まだ一つもありません。先に追加してください。"
        return LedgerError(
            f"The ledger has no data set {name!r}. {english}", f"台帳にデータセット {name!r} はありません。{japanese}"
        )

    def _secret_and_salt(self, name: str) -> tuple[str, str]:
        secret, salt = self._row_of(name, "secret, salt")
        if not (checks.is_hash(secret) and checks.is_hash(salt)):
            raise checks.damaged()
        return secret, salt

    def _entry(self, number: int) -> Entry:
        rows = self._store.fetch(f"SELECT {COLUMNS} FROM sudare_entries WHERE number = ?", (number,))  # noqa: S608
        if not rows:
            raise checks.damaged()
        return Entry(*rows[0])

    def _head(self) -> tuple[int, str]:
        rows = self._store.fetch("SELECT number, hash FROM sudare_entries ORDER BY number DESC LIMIT 1")
        if rows:
            return rows[0][0], rows[0][1]
        return 0, self._store.fetch("SELECT identity FROM sudare_ledger")[0][0]

    def _set_result(self, dataset: str, key: str, entry: int) -> None:
        """Let an entry stand under a key in the table of results, in place of the one before."""
        self._store.execute(
            "INSERT INTO sudare_results (dataset, fingerprint, entry) VALUES (?, ?, ?) "
            "ON CONFLICT (dataset, fingerprint) DO UPDATE SET entry = excluded.entry",
            (dataset, key, entry),
        )

    def _append(self, kind: str, dataset: str, body: str) -> Entry:
        last, previous = self._head()
        number, time = last + 1, utc_now().isoformat(timespec="microseconds")
        entry = Entry(number, time, kind, dataset, body, previous, hash_of(number, time, kind, dataset, body, previous))
        self._store.execute(
            f"INSERT INTO sudare_entries ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
            (number, time, kind, dataset, body, previous, entry.hash),
        )
        return entry

    def _set_balance(self, dataset: str, rule: CompositionRule, spent: Amount, reserved: Amount) -> None:
        self._store.execute(
            "UPDATE sudare_datasets SET spent = ?, reserved = ? WHERE name = ?",
            (rule.to_text(spent), rule.to_text(reserved), dataset),
        )

    def _asked(
        self,
        function: str,
        cost: Budget,
        unit: Unit,
        fingerprint: str,
        purpose: str,
        measurements: Sequence[Measurement],
        ticks: int | None = None,
    ) -> Reserved:
        """What is to be reserved, as a function was asked for it, checked."""
        checks.read_cost(cost, function)
        checks.read_unit(unit, function)
        checks.read_fingerprint(fingerprint, function)
        checks.read_text(purpose, "purpose", function)
        implied = amount_of_noise(checks.read_measurements(measurements)) if measurements else None
        return Reserved(cost, unit, fingerprint, purpose, implied, ticks)

    def _reserve(self, dataset: str, body: Reserved) -> Entry:
        """Set a cost aside; the noise that the body states counts under a rho filter only, and stands there only."""
        account = self._account(dataset)
        checks.require_same_unit(body.unit, account.unit, dataset)
        stated = body if isinstance(account.rule, RhoFilter) else replace(body, noise=None)
        charge = account.rule.charge(stated.cost, dataset, stated.noise)
        if not (account.committed + charge).fits(account.rule.limit):
            raise checks.exceeded(account, stated.cost, charge)
        entry = self._append("reserve", dataset, stated.to_json())
        self._set_balance(dataset, account.rule, account.charged, account.held + charge)
        self._store.execute("INSERT INTO sudare_reservations (number, closed_by) VALUES (?, NULL)", (entry.number,))
        return entry

    def _settle(self, reservation: Reservation, reserved: Reserved, event: ReleaseEvent, body: str) -> Entry:
        """Close an open reservation with the event that it was made for."""
        account, held, charge = self._covered(reservation.dataset, reserved, event)
        entry = self._append("settle", reservation.dataset, body)
        self._set_balance(reservation.dataset, account.rule, account.charged + charge, account.held - held)
        self._close_reservation(reservation.number, entry.number)
        self._set_result(reservation.dataset, reserved.fingerprint, entry.number)
        return entry

    def _covered(self, dataset: str, reserved: Reserved, event: ReleaseEvent) -> tuple[Dataset, Amount, Amount]:
        """The account, what was reserved and what an event takes of it; refuses an event that the reservation is not for."""
        if event.unit != reserved.unit:
            raise LedgerError(
                f"The release protects {event.unit}, but {reserved.unit} was reserved for; the reservation stays spent.",
                f"公表結果の保護単位 {event.unit} が、予約時の {reserved.unit} と異なります。予約分は消費されたままです。",
            )
        account = self._account(dataset)
        held = account.rule.charge(reserved.cost, dataset, reserved.noise)
        charge = account.rule.charge(event.cost, dataset, amount_of_noise(event.measurements))
        if not charge.fits(held):
            raise LedgerError(
                f"The release cost {event.cost}, but only {reserved.cost} was reserved; the reservation stays spent. "
                f"Do not publish the result.",
                f"公表の費用 {event.cost} が予約した {reserved.cost} を超えています。予約分は消費されたままです。"
                f"結果を公表しないでください。",
            )
        return account, held, charge

    def _open_reservation(self, reservation: Reservation) -> Reserved:
        known = type(reservation.number) is int and 0 < reservation.number <= self._head()[0]
        number = reservation.number if known else 0
        rows = self._store.fetch("SELECT closed_by FROM sudare_reservations WHERE number = ?", (number,))
        entry = self._entry(reservation.number) if rows else None
        body = entry.read() if entry else None
        if (
            entry is None
            or not isinstance(body, Reserved)
            or (entry.dataset, body.cost, body.fingerprint)
            != (reservation.dataset, reservation.cost, reservation.fingerprint)
        ):
            raise LedgerError(
                f"Reservation {reservation.number} is not one of this ledger.",
                f"予約 {reservation.number} はこの台帳のものではありません。",
            )
        if rows[0][0] is not None:
            raise LedgerError(
                f"Reservation {reservation.number} was closed before, by entry {rows[0][0]}; make a new one.",
                f"予約 {reservation.number} は {rows[0][0]} 番の項目で既に閉じられています。新しく予約してください。",
            )
        return body

    def _close_reservation(self, number: int, entry: int) -> None:
        self._store.execute("UPDATE sudare_reservations SET closed_by = ? WHERE number = ?", (entry, number))
