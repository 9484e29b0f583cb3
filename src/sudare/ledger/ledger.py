"""The ledger: how much of each data set's privacy budget is spent, and on what.

A release first reserves its cost, then draws its noise, then settles. What is reserved counts as spent; a crash in
between leaves it spent. Every step is one transaction that checks the balance and appends an entry. What is guaranteed,
and what is not: ``ledger.md`` beside this file.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from types import TracebackType
from typing import TextIO

from sudare.errors import LedgerError
from sudare.ledger import checks
from sudare.ledger.amounts import NOTHING, Amount, charge_of
from sudare.ledger.entries import (
    COLUMNS,
    Cancelled,
    DatasetAdded,
    Entry,
    OptedOut,
    PublicationNoted,
    Reserved,
    Settled,
    hash_of,
    key_of_publication,
)
from sudare.ledger.records import (
    Dataset,
    Finding,
    NewPublicationError,
    OptOuts,
    Reservation,
    commitment_of,
    digest_of,
)
from sudare.ledger.stores import Row, Store
from sudare.ledger.verification import find_faults
from sudare.privacy.budget import Budget
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.unit import Unit

__all__ = ["Ledger"]

PAGE = 1000
"""Entries read at a time: a reader of a long ledger keeps nobody waiting."""


@dataclass(frozen=True)
class _Account:
    """A data set as a charge sees it."""

    added: DatasetAdded
    spent: Amount
    reserved: Amount

    def remaining(self) -> Budget | None:
        whole, committed = Amount.of(self.added.total), self.spent + self.reserved
        # Not by the subtraction of amounts, which may round up.
        left = Amount(whole.main - committed.main, whole.delta - committed.delta)
        return left.to_budget(self.added.total)


class Ledger:
    """The privacy budgets of data sets and all that was spent; made by `open_ledger`.

    May be used by several threads; each process opens its own.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the ledger; once is enough, twice does no harm."""
        self._store.close()

    def add_dataset(self, name: str, total: Budget, *, unit: Unit, description: str = "") -> Dataset:
        """Bring a data set under the ledger, with all that may ever be spent on it.

        Args:
            name: what it is called from now on.
            total: how much may be spent altogether. Its currency decides which costs it takes.
            unit: who is protected.
            description: for people.

        Raises:
            LedgerError: if the name is taken.
        """
        checks.read_name(name, "add_dataset")
        checks.read_total(total, "add_dataset")
        checks.read_unit(unit, "add_dataset")
        checks.read_text(description, "description", "add_dataset")
        secret, salt = secrets.token_hex(32), secrets.token_hex(32)
        added = DatasetAdded(total, unit, description, commitment_of(secret, salt))
        with self._store.transaction(write=True):
            if self._store.fetch("SELECT name FROM sudare_datasets WHERE name = ?", (name,)):
                raise LedgerError(
                    f"The ledger has a data set {name!r} already; choose another name. A total is never changed.",
                    f"データセット {name!r} は既に台帳にあります。別の名前にしてください。総予算は後から変更できません。",
                )
            entry = self._append("dataset", name, added.to_json())
            self._store.execute(
                "INSERT INTO sudare_datasets (name, entry, spent, reserved, secret, salt) VALUES (?, ?, ?, ?, ?, ?)",
                (name, entry.number, NOTHING.to_text(), NOTHING.to_text(), secret, salt),
            )
        return Dataset(name, total, unit, description, spent=None, reserved=None, remaining=total)

    def datasets(self) -> list[Dataset]:
        """All data sets, in the order in which they were added."""
        with self._store.transaction(write=False):
            names = self._store.fetch("SELECT name FROM sudare_datasets ORDER BY entry")
            return [self._dataset(str(name)) for (name,) in names]

    def dataset(self, name: str) -> Dataset:
        """One data set and its balance.

        Raises:
            LedgerError: if there is none of that name.
        """
        with self._store.transaction(write=False):
            return self._dataset(name)

    def reserve(self, dataset: str, cost: Budget, *, unit: Unit, fingerprint: str, purpose: str = "") -> Reservation:
        """Set a cost aside before a release; it counts as spent from now on.

        Args:
            dataset: which data set.
            cost: the most that the release may cost.
            unit: who the release protects.
            fingerprint: SHA-256 in hexadecimal digits of all that makes the release what it is.
            purpose: for people.

        Raises:
            BudgetExceededError: if less than the cost remains.
            LedgerError: if the cost is in another currency, or the release protects another unit, than the data set.
        """
        checks.read_cost(cost, "reserve")
        checks.read_unit(unit, "reserve")
        checks.read_fingerprint(fingerprint, "reserve")
        checks.read_text(purpose, "purpose", "reserve")
        body = Reserved(cost, unit, fingerprint, purpose).to_json()
        with self._store.transaction(write=True):
            account = self._account(dataset)
            total = account.added.total
            checks.require_same_unit(unit, account.added.unit, dataset)
            charge = charge_of(cost, total, dataset)
            if not (account.spent + account.reserved + charge).fits(Amount.of(total)):
                committed = (account.spent + account.reserved).to_budget(total)
                raise checks.exceeded(dataset, total, committed, cost, account.remaining())
            entry = self._append("reserve", dataset, body)
            self._set_balance(dataset, account.spent, account.reserved + charge)
            self._store.execute("INSERT INTO sudare_reservations (number, closed_by) VALUES (?, NULL)", (entry.number,))
        return Reservation(entry.number, dataset, cost, fingerprint)

    def settle(self, reservation: Reservation, event: ReleaseEvent, result: Mapping[str, str] | None = None) -> Entry:
        """Record a release that was made: the event's cost is spent, what the reservation held beyond it is free again.

        Args:
            reservation: from `reserve`.
            event: of the release.
            result: what is to be found again by `settled`, such as the hash of the published file.

        Raises:
            NotPrivateError: if the noise was drawn from research entropy.
            LedgerError: if the reservation does not cover the event, was closed before, or protects another unit. It
                stays spent.
        """
        number = checks.read_reservation(reservation, "settle").number
        checks.read_cost(checks.read_event(event).cost, "settle")
        body = Settled(number, event, checks.read_result(result)).to_json()
        with self._store.transaction(write=True):
            reserved = self._open_reservation(reservation)
            if event.unit != reserved.unit:
                raise LedgerError(
                    f"The release protects {event.unit}, but {reserved.unit} was reserved for; the reservation stays spent.",
                    f"公表結果の保護単位 {event.unit} が、予約時の {reserved.unit} と異なります。予約分は消費されたままです。",
                )
            account = self._account(reservation.dataset)
            held = charge_of(reserved.cost, account.added.total, reservation.dataset)
            charge = charge_of(event.cost, account.added.total, reservation.dataset)
            if not charge.fits(held):
                raise LedgerError(
                    f"The release cost {event.cost}, but only {reserved.cost} was reserved; the reservation stays spent. "
                    f"Do not publish the result.",
                    f"公表の費用 {event.cost} が予約した {reserved.cost} を超えています。予約分は消費されたままです。"
                    f"結果を公表しないでください。",
                )
            entry = self._append("settle", reservation.dataset, body)
            self._set_balance(reservation.dataset, account.spent + charge, account.reserved - held)
            self._close_reservation(reservation.number, entry.number)
            self._store.execute(
                "INSERT INTO sudare_results (dataset, fingerprint, entry) VALUES (?, ?, ?) "
                "ON CONFLICT (dataset, fingerprint) DO UPDATE SET entry = excluded.entry",
                (reservation.dataset, reserved.fingerprint, entry.number),
            )
        return entry

    def cancel(self, reservation: Reservation, reason: str) -> Entry:
        """Give a reservation back. The caller promises that no noise was drawn for it.

        Raises:
            LedgerError: if the reservation was settled or cancelled before.
        """
        checks.read_text(reason, "reason", "cancel")
        body = Cancelled(checks.read_reservation(reservation, "cancel").number, reason).to_json()
        with self._store.transaction(write=True):
            reserved = self._open_reservation(reservation)
            account = self._account(reservation.dataset)
            held = charge_of(reserved.cost, account.added.total, reservation.dataset)
            entry = self._append("cancel", reservation.dataset, body)
            self._set_balance(reservation.dataset, account.spent, account.reserved - held)
            self._close_reservation(reservation.number, entry.number)
        return entry

    def settled(self, dataset: str, fingerprint: str) -> Entry | None:
        """The latest settled entry of an identical release; None if there is none."""
        checks.read_fingerprint(fingerprint, "settled")
        with self._store.transaction(write=False):
            self._account(dataset)
            found = self._store.fetch(
                "SELECT entry FROM sudare_results WHERE dataset = ? AND fingerprint = ?", (dataset, fingerprint)
            )
            return self._entry(found[0][0]) if found else None

    def settlements(self, dataset: str, fingerprint: str) -> list[tuple[Entry, Settled]]:
        """All settled releases with a fingerprint, in order, with what their entries say."""
        found: list[tuple[Entry, Settled]] = []
        if self.settled(dataset, fingerprint) is None:
            return found
        reserved: dict[int, str] = {}
        for entry in self.entries(dataset):
            body = entry.read() if entry.kind in ("reserve", "settle") else None
            if isinstance(body, Reserved):
                reserved[entry.number] = body.fingerprint
            elif isinstance(body, Settled) and reserved.get(body.reservation) == fingerprint:
                found.append((entry, body))
        return found

    def reservations(self, dataset: str) -> list[Reservation]:
        """Reservations of a data set that are neither settled nor cancelled, in order."""
        with self._store.transaction(write=False):
            self._account(dataset)
            rows = self._store.fetch("SELECT number FROM sudare_reservations WHERE closed_by IS NULL ORDER BY number")
            entries = [self._entry(number) for (number,) in rows]
        bodies = [(entry, entry.read()) for entry in entries if entry.dataset == dataset]
        return [
            Reservation(entry.number, dataset, body.cost, body.fingerprint)
            for entry, body in bodies
            if isinstance(body, Reserved)
        ]

    def entry(self, number: int) -> Entry:
        """One entry.

        Raises:
            LedgerError: if there is none of that number.
        """
        with self._store.transaction(write=False):
            last = self._head()[0]
            if type(number) is int and 0 < number <= last:
                return self._entry(number)
        raise LedgerError(
            f"The ledger has no entry {number!r:.20}; the last one is {last}.",
            f"台帳に {number!r:.20} 番の記録はありません。最後の記録は {last} 番です。",
        )

    def opt_out(self, dataset: str, person: str) -> Entry:
        """Note that a person is not to be counted any more; only a salted hash is kept. Twice is as good as once."""
        with self._store.transaction(write=True):
            salt = self._secret_and_salt(dataset)[1]
            digest = digest_of(salt, person)
            found = self._store.fetch(
                "SELECT entry FROM sudare_opt_outs WHERE dataset = ? AND digest = ?", (dataset, digest)
            )
            if found:
                return self._entry(found[0][0])
            entry = self._append("opt-out", dataset, OptedOut(digest).to_json())
            self._store.execute(
                "INSERT INTO sudare_opt_outs (dataset, digest, entry) VALUES (?, ?, ?)", (dataset, digest, entry.number)
            )
        return entry

    def opt_outs(self, dataset: str) -> OptOuts:
        """Everybody who opted out of a data set, as salted hashes."""
        with self._store.transaction(write=False):
            salt = self._secret_and_salt(dataset)[1]
            rows = self._store.fetch("SELECT digest, entry FROM sudare_opt_outs WHERE dataset = ?", (dataset,))
        last = max((entry for _, entry in rows), default=0)
        return OptOuts(salt, frozenset(digest for digest, _ in rows), last)

    def note_publication(
        self,
        dataset: str,
        *,
        document_sha256: str,
        report_format: str,
        folder: str,
        title: str = "",
        known: int | None = None,
    ) -> Entry:
        """Note that something was published about a data set without differential privacy. Twice is as good as once.

        It costs nothing: no budget covers it. It is noted so that everything known about the data set can be looked at
        together, by `sudare.examination` for one.

        Args:
            dataset: which data set.
            document_sha256: hash of the report beside what was published.
            report_format: of that report, such as ``"sudare-protected-table/1"``.
            folder: where it was published.
            title: for people.
            known: how many publications of the data set were looked at before; None if that does not matter.

        Raises:
            NewPublicationError: if others were noted since; nothing is noted then.
            LedgerError: if there is no such data set.
        """
        checks.read_fingerprint(document_sha256, "note_publication", "document_sha256")
        for name, text in (("report_format", report_format), ("folder", folder), ("title", title)):
            checks.read_text(text, name, "note_publication")
        body = PublicationNoted(document_sha256, report_format, folder, title).to_json()
        with self._store.transaction(write=True):
            self._account(dataset)
            key = key_of_publication(document_sha256)
            found = self._store.fetch(
                "SELECT entry FROM sudare_results WHERE dataset = ? AND fingerprint = ?", (dataset, key)
            )
            if found:
                return self._entry(found[0][0])
            if known is not None and self._publications(dataset) != known:
                raise NewPublicationError(
                    f"Something else was published about {dataset!r} in the meantime. Look at both together, then try again.",
                    f"その間に {dataset!r} について別の公表が記録されました。合わせて確認してから、もう一度お試しください。",
                )
            entry = self._append("publish", dataset, body)
            self._store.execute(
                "INSERT INTO sudare_results (dataset, fingerprint, entry) VALUES (?, ?, ?)",
                (dataset, key, entry.number),
            )
        return entry

    def publications(self, dataset: str) -> list[tuple[Entry, PublicationNoted]]:
        """What was published about a data set without differential privacy, in order."""
        with self._store.transaction(write=False):
            self._account(dataset)
            rows = self._store.fetch(
                f"SELECT {COLUMNS} FROM sudare_entries WHERE kind = ? AND dataset = ? ORDER BY number",  # noqa: S608
                ("publish", dataset),
            )
        bodies = [(entry, entry.read()) for entry in (Entry(*row) for row in rows)]
        return [(entry, body) for entry, body in bodies if isinstance(body, PublicationNoted)]

    def secret(self, dataset: str) -> bytes:
        """A random key of the data set, for keyed hashes of its inputs; never exported."""
        with self._store.transaction(write=False):
            return bytes.fromhex(self._secret_and_salt(dataset)[0])

    def entries(self, dataset: str | None = None) -> Iterator[Entry]:
        """All entries in order, or those of one data set."""
        if dataset is not None:
            self.dataset(dataset)
        return self._pages(dataset)

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

    def head(self) -> tuple[int, str]:
        """Number and hash of the last entry. A copy kept elsewhere proves later that nothing before it has changed."""
        with self._store.transaction(write=False):
            return self._head()

    def export(self, stream: TextIO) -> None:
        """Write all entries as JSON lines, with hashes, without secrets and salts."""
        for entry in self.entries():
            stream.write(entry.to_json() + "\n")

    def verify(self, known: tuple[int, str] | None = None) -> list[Finding]:
        """Everything in the ledger that is not as it was written; nothing if all is well.

        Args:
            known: a `head` of this ledger that was kept elsewhere; it must still be among the entries.
        """
        with self._store.transaction(write=False):
            return find_faults(self._store, known)

    def _dataset(self, name: str) -> Dataset:
        account = self._account(name)
        added, total = account.added, account.added.total
        spent, reserved = account.spent.to_budget(total), account.reserved.to_budget(total)
        noted = self._publications(name)
        return Dataset(name, total, added.unit, added.description, spent, reserved, account.remaining(), noted)

    def _publications(self, dataset: str) -> int:
        rows = self._store.fetch(
            "SELECT count(*) FROM sudare_entries WHERE kind = ? AND dataset = ?", ("publish", dataset)
        )
        return int(rows[0][0])

    def _account(self, name: str) -> _Account:
        number, spent, reserved = self._row_of(name, "entry, spent, reserved")
        added = self._entry(number).read()
        try:
            if not isinstance(added, DatasetAdded):
                raise ValueError("not the entry of a data set")
            account = _Account(added, Amount.from_text(spent), Amount.from_text(reserved))
            if not (account.spent + account.reserved).fits(Amount.of(added.total)):
                raise ValueError("a balance that no entries lead to")
            return account
        except ValueError:
            raise checks.damaged() from None

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

    def _append(self, kind: str, dataset: str, body: str) -> Entry:
        last, previous = self._head()
        number, time = last + 1, datetime.now(UTC).isoformat(timespec="microseconds")
        entry = Entry(number, time, kind, dataset, body, previous, hash_of(number, time, kind, dataset, body, previous))
        self._store.execute(
            f"INSERT INTO sudare_entries ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
            (number, time, kind, dataset, body, previous, entry.hash),
        )
        return entry

    def _set_balance(self, dataset: str, spent: Amount, reserved: Amount) -> None:
        self._store.execute(
            "UPDATE sudare_datasets SET spent = ?, reserved = ? WHERE name = ?",
            (spent.to_text(), reserved.to_text(), dataset),
        )

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
                f"予約 {reservation.number} は {rows[0][0]} 番の記録で既に閉じられています。新しく予約してください。",
            )
        return body

    def _close_reservation(self, number: int, entry: int) -> None:
        self._store.execute("UPDATE sudare_reservations SET closed_by = ? WHERE number = ?", (entry, number))
