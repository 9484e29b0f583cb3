"""The ledger: how much of each data set's privacy budget is spent, and on what.

A release first reserves its cost, then draws its noise, then settles. What is reserved counts as spent; a crash in
between leaves it spent. Every step is one transaction that checks the balance and appends an entry. What is guaranteed,
and what is not: ``ledger.md`` beside this file.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TextIO

from sudare.border.frames import RowList
from sudare.errors import LedgerError
from sudare.ledger import checks
from sudare.ledger.amounts import NOTHING
from sudare.ledger.book import Book
from sudare.ledger.entries import (
    COLUMNS,
    KEY_OF_RULE,
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
    key_of_window,
    keys_of_publication,
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
from sudare.ledger.rules import RhoFilter, Sums, total_charge
from sudare.ledger.stores import LedgerStore
from sudare.ledger.verification import find_faults
from sudare.ledger.windows import Windows
from sudare.parameters import Rational
from sudare.privacy.budget import Budget
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.measurements import Measurement
from sudare.privacy.unit import Unit
from sudare.system.closing import Closeable

__all__ = ["Ledger"]


class Ledger(Closeable, Book):
    """The privacy budgets of data sets and all that was spent; made by `open_ledger`.

    May be used by several threads; each process opens its own.

    Args:
        store: where it is kept.
        location: of the store, as `open_ledger` was given it.
    """

    def __init__(self, store: LedgerStore, location: str | Path) -> None:
        super().__init__(store)
        self._location = location

    def is_at(self, location: str | Path) -> bool:
        """Whether this is the ledger that is kept at a location."""
        mine, other = (_place(one) for one in (self._location, location))
        return mine == other

    @property
    def windows(self) -> Windows:
        """Its windows of repeated releases, and their ticks."""
        return Windows(self._store)

    def close(self) -> None:
        """Close the ledger; once is enough, twice does no harm."""
        self._store.close()

    def add_dataset(
        self,
        name: str,
        total: Budget,
        *,
        unit: Unit,
        description: str = "",
        rho_filter: bool = False,
        reserve: Rational | None = None,
    ) -> Dataset:
        """Bring a data set under the ledger, with all that may ever be spent on it.

        Args:
            name: what it is called from now on.
            total: how much may be spent altogether. Its currency decides which costs it takes.
            unit: who is protected.
            description: for people.
            rho_filter: keep a total in (epsilon, delta) as a sum of rhos (`sudare.ledger.rules`): room for many more
                small releases, and for none whose epsilon alone is near the total's.
            reserve: with a rho filter, the part of delta for releases with a delta of their own; by default half.

        Raises:
            LedgerError: if the name is taken, or a rho filter is wanted for a total without a delta.
        """
        checks.read_name(name, "add_dataset")
        checks.read_total(total, "add_dataset")
        checks.read_unit(unit, "add_dataset")
        checks.read_text(description, "description", "add_dataset")
        checks.read_filter(rho_filter, reserve, "add_dataset")
        secret, salt = secrets.token_hex(32), secrets.token_hex(32)
        rule = RhoFilter.for_total(total, reserve) if rho_filter else None
        added = DatasetAdded(total, unit, description, commitment_of(secret, salt), rule)
        nothing = (rule or Sums(total)).to_text(NOTHING)
        with self._store.transaction(write=True):
            if self._store.fetch("SELECT name FROM sudare_datasets WHERE name = ?", (name,)):
                raise LedgerError(
                    f"The ledger has a data set {name!r} already; choose another name. A total is never changed.",
                    f"データセット {name!r} は既に台帳にあります。別の名前にしてください。総予算は後から変更できません。",
                )
            entry = self._append("dataset", name, added.to_json())
            self._store.execute(
                "INSERT INTO sudare_datasets (name, entry, spent, reserved, secret, salt) VALUES (?, ?, ?, ?, ?, ?)",
                (name, entry.number, nothing, nothing, secret, salt),
            )
            return self._dataset(name)

    def use_rho_filter(self, dataset: str, *, reserve: Rational | None = None) -> Dataset:
        """Count all costs of a data set, those before included, by a rho filter from now on. It is not changed back.

        The total stays what it is. Decide this without looking at what was released: ``filters.md`` says what holds else.

        Args:
            dataset: which data set, with a total in (epsilon, delta).
            reserve: the part of delta for releases with a delta of their own; by default half. It can be chosen only
                while nothing is spent or reserved, because a choice must not follow from results.

        Raises:
            BudgetExceededError: if what is spent and reserved takes more than the filter's limit; nothing changes.
            LedgerError: if the total has no delta, or has a filter already, or the reserve cannot be chosen any more.
        """
        checks.read_filter(True, reserve, "use_rho_filter")
        with self._store.transaction(write=True):
            account = self._account(dataset)
            if isinstance(account.rule, RhoFilter):
                raise LedgerError(
                    f"The data set {dataset!r} has a rho filter already; it is not changed again.",
                    f"データセット {dataset!r} には既にローのフィルターがあります。再度の変更はできません。",
                )
            if reserve is not None and account.committed != NOTHING:
                raise LedgerError(
                    f"Something is spent or reserved of {dataset!r}: how its delta is split cannot be chosen any more. "
                    "Leave the reserve out, for half of it.",
                    f"{dataset!r} の予算は既に消費または予約されているため、デルタの分け方は選べません。"
                    "予備の指定を省くと半分になります。",
                )
            rule = RhoFilter.for_total(account.total, reserve, "use_rho_filter")
            spent, reserved = (total_charge(rule, dataset, costs) for costs in self._costs(dataset))
            if not (spent + reserved).fits(rule.limit):
                raise checks.beyond_filter(dataset, rule, spent + reserved)
            entry = self._append("rule", dataset, RuleChanged(rule).to_json())
            self._set_balance(dataset, rule, spent, reserved)
            self._store.execute(
                "INSERT INTO sudare_results (dataset, fingerprint, entry) VALUES (?, ?, ?)",
                (dataset, KEY_OF_RULE, entry.number),
            )
            return self._dataset(dataset)

    def datasets(self) -> RowList[Dataset]:
        """All data sets, in the order in which they were added; ``datasets().to_frame()`` has the balances."""
        with self._store.transaction(write=False):
            names = self._store.fetch("SELECT name FROM sudare_datasets ORDER BY entry")
            return RowList(self._dataset(str(name)) for (name,) in names)

    def dataset(self, name: str) -> Dataset:
        """One data set and its balance.

        Raises:
            LedgerError: if there is none of that name.
        """
        with self._store.transaction(write=False):
            return self._dataset(name)

    def alone_with(
        self, dataset: str, fingerprint: str, on_wait: Callable[[], None] | None = None
    ) -> AbstractContextManager[None]:
        """Be the only process that makes a release: a second process that starts the same waits, and finds it made.

        It ends with the process at the latest, however that ends. It does not wait for anything else that uses the ledger.

        Args:
            dataset: which data set.
            fingerprint: of the release, as in `reserve`.
            on_wait: called once if somebody is making it, before waiting for them.
        """
        checks.read_fingerprint(fingerprint, "alone_with")
        return self._store.alone_with(f"{dataset}\0{fingerprint}", on_wait)

    def reserve(
        self,
        dataset: str,
        cost: Budget,
        *,
        unit: Unit,
        fingerprint: str,
        purpose: str = "",
        measurements: Sequence[Measurement] = (),
    ) -> Reservation:
        """Set a cost aside before a release; it counts as spent from now on.

        Args:
            dataset: which data set.
            cost: the most that the release may cost.
            unit: who the release protects.
            fingerprint: SHA-256 in hexadecimal digits of all that makes the release what it is.
            purpose: for people.
            measurements: everything that will be drawn, where that is known beforehand. A rho filter then sets aside
                what they imply, if that is less than what the cost takes.

        Raises:
            BudgetExceededError: if less than the cost remains.
            LedgerError: if the cost is in another currency, or the release protects another unit, than the data set.
        """
        asked = self._asked("reserve", cost, unit, fingerprint, purpose, measurements)
        with self._store.transaction(write=True):
            entry = self._reserve(dataset, asked)
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
            if reserved.ticks is not None:
                raise checks.still_window(number)
            return self._settle(reservation, reserved, event, body)

    def cancel(self, reservation: Reservation, reason: str) -> Entry:
        """Give a reservation back. The caller promises that no noise was drawn for it.

        Raises:
            LedgerError: if the reservation was settled or cancelled before, or is for a window with a tick that was begun.
        """
        checks.read_text(reason, "reason", "cancel")
        body = Cancelled(checks.read_reservation(reservation, "cancel").number, reason).to_json()
        with self._store.transaction(write=True):
            reserved = self._open_reservation(reservation)
            if reserved.ticks is not None and self._has_ticks(reservation):
                raise checks.still_window(reservation.number)
            account = self._account(reservation.dataset)
            held = account.rule.charge(reserved.cost, reservation.dataset, reserved.noise)
            entry = self._append("cancel", reservation.dataset, body)
            self._set_balance(reservation.dataset, account.rule, account.charged, account.held - held)
            self._close_reservation(reservation.number, entry.number)
        return entry

    def _has_ticks(self, window: Reservation) -> bool:
        latest = self._result(window.dataset, key_of_window(window.fingerprint))
        return latest is None or latest.number != window.number

    def settled(self, dataset: str, fingerprint: str) -> Entry | None:
        """The latest settled entry of an identical release, or of an identical tick; None if there is none."""
        checks.read_fingerprint(fingerprint, "settled")
        with self._store.transaction(write=False):
            self._account(dataset)
            return self._result(dataset, fingerprint)

    def settlements(self, dataset: str, fingerprint: str) -> list[tuple[Entry, Settled | TickSettled]]:
        """All settled releases and ticks with a fingerprint, in order, with what their entries say."""
        found: list[tuple[Entry, Settled | TickSettled]] = []
        if self.settled(dataset, fingerprint) is None:
            return found
        made_for: dict[int, str] = {}
        for entry in self.entries(dataset):
            body = entry.read() if entry.kind in ("reserve", "settle", "begin-tick", "settle-tick") else None
            if isinstance(body, Reserved | TickBegun):
                made_for[entry.number] = body.fingerprint
            elif isinstance(body, Settled | TickSettled):
                number = body.reservation if isinstance(body, Settled) else body.begun
                if made_for.get(number) == fingerprint:
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
            f"台帳に {number!r:.20} 番の項目はありません。最後の項目は {last} 番です。",
        )

    def opt_out(self, dataset: str, person: str) -> Entry:
        """Note that a person is not to be counted any more; only a salted hash is kept. Repeating it changes nothing."""
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

    def opt_outs(self, dataset: str, *, before: int | None = None) -> OptOuts:
        """Everybody who opted out of a data set, as salted hashes.

        Args:
            dataset: which data set.
            before: leave out who opted out by this entry or a later one.
        """
        with self._store.transaction(write=False):
            salt = self._secret_and_salt(dataset)[1]
            found = self._store.fetch("SELECT digest, entry FROM sudare_opt_outs WHERE dataset = ?", (dataset,))
        rows = [row for row in found if before is None or row[1] < before]
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
        """Note that something was published about a data set without differential privacy. Repeating it changes nothing.

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
            key, second = keys_of_publication(document_sha256, folder)
            found = self._result(dataset, key)
            if found is not None and getattr(found.read(), "folder", folder) != folder:
                key, found = second, self._result(dataset, second)
            if found is not None:
                return found
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


def _place(location: str | Path) -> str | Path:
    """A location by which two can be compared: an address as it is, a path without what is relative in it."""
    is_address = isinstance(location, str) and "://" in location
    return location if is_address else Path(location).resolve()
