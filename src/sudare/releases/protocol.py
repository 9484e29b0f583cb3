"""The order in which everything is published, once. Its order is the argument that no crash and no signal gives anything away.

====  ===================================================  ===================================================
step  with a price (differential privacy)                  without one
====  ===================================================  ===================================================
1     **Reserve** the cost. It counts as spent from now.   Ask the ledger, if one is named, what it **knows** to
                                                           have been published about the data.
2     **Read** the data.                                   the same
3     **Draw** noise.                                      Protect.
4     **Write** the files out of sight.                    the same
5     **Attack** them, in every way that applies.          the same, together with what the ledger knows
6     **Seal**: everything is on the disk, the document    Everything is on the disk, the document last.
      last, with a seal of the ledger.
7     The ledger **settles** with the document's hash.     The place is held, and must be free still. The ledger
                                                           **notes** the document's hash. If something else was
                                                           noted since step 1: back to step 5.
8     One rename **shows** the folder.                     the same
====  ===================================================  ===================================================

Why the order is safe:

- Nobody is counted before it is paid for (1 before 2). The place is tried before that, so that a full disk costs nothing.
- An error or a signal before step 3 gives the cost back; so does a mechanism that refuses before its first draw. From the first
  draw on the cost stays spent, because whether and when something fails may depend on the data.
- What can be seen is complete, was attacked, and is in the ledger (8 is last). Nothing half-written is ever seen.
- A crash between 6 and 8 leaves a complete release out of sight. The same plan run again settles and shows it at no cost. Without
  a price it is cleared away, and can be made again.
- Whether a release was made before is decided by the plan alone, never by the data: else it would be seen from outside whether
  anybody had changed. The same plan started twice at the same time is charged once: the second one waits.
- Of two runs that publish about the same data at the same time, the later one to reach step 7 sees the other, and attacks again.
- Of two runs to the same place, the second one finds it taken before the ledger notes anything: every note is of a folder that is
  shown. A run that shows a folder holds its place (`sudare.storage.staging.hold_target`), with a price or without.

A **tick** of a window takes the same steps. Step 1 reserves for the whole window, before its first tick, and is free afterwards.
Between 2 and 3 the ledger **binds** the tick's noise to the keyed hash of its input; before 6 the private state is **kept** on
the disk. An error gives nothing back of a window with several ticks, and a tick that was begun with other input is missing for
good (`sudare.ledger.windows`). A window that is a single release is given back if it ends before its noise is bound, and closed
once it is shown. A tick that was published and whose folder is gone is made again, from the same input and the same
noise, and shown if it is what the ledger settled.

Steps 1, 7 and the search for what was made before are those of `sudare.ledger.charging`, which answers to SQL queries share.
What is read, drawn, written, attacked and reported is a kind's; see `sudare.releases.kind`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

from sudare.bilingual import Words
from sudare.errors import Described, LedgerError, ParameterError
from sudare.ledger import Ledger, Reservation, open_ledger
from sudare.ledger.charging import ChargeRequest, Completed, charge_once, tick_once
from sudare.ledger.records import BegunTick, TickRefusedError, Window
from sudare.ledger.reserving import OpenCharge
from sudare.privacy import ReleaseEvent
from sudare.releases.accounts import Identity, OpenAccount, describe_charge, require_sound
from sudare.releases.documents import ReleaseDocument, document_text, document_values
from sudare.releases.folder_store import FolderStore, Released, completed_folder
from sudare.releases.header import LedgerEntryPoint, PlanHeader, ReleasePrice
from sudare.releases.kind import Attacked, Kind, Run, TickKind, is_tick_kind
from sudare.releases.progress import WAIT, Progress, silent
from sudare.releases.publications import Journal, KnownFolders, too_busy
from sudare.storage.hashes import seal_of
from sudare.storage.staging import (
    Staging,
    hold_target,
    hold_target_if_free,
    publish_folder,
    require_free,
    translate_errors,
)
from sudare.system.interrupts import uninterrupted

__all__ = ["Released", "carry_out", "carry_out_tick"]

MAX_TURNS = 5
"""How often the attacks are run again because something else was published in the meantime."""

PlanT = TypeVar("PlanT")
DataT = TypeVar("DataT")
ResultT = TypeVar("ResultT")
DraftT = TypeVar("DraftT")


def carry_out(
    kind: Kind[PlanT, DataT, ResultT, DraftT],
    plan: PlanT,
    *,
    again: bool = False,
    even_if_broken: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
    ledger: Ledger | None = None,
    on_unfinished: Callable[[Sequence[Reservation]], None] | None = None,
) -> Released[DraftT]:
    """Carry out a plan of any kind, in the order above.

    Args:
        kind: of the release.
        plan: what to do.
        again: with a price, draw and spend anew even if the same release was settled before.
        even_if_broken: show it even if an attack succeeds; the report says so.
        threads: how many threads to use; as many as there are cores, within reason, if left out.
        progress: called with the stage, and the share of it that is done.
        ledger: the plan's ledger, where it is open already.
        on_unfinished: with a price, called before anything is charged if earlier runs of the same plan were stopped after their
            charge was kept; see `sudare.ledger.charging.charge_once`.

    Raises:
        BudgetExceededError: if the data set's budget does not allow it; nothing was looked at.
        LedgerError: if the ledger cannot be used.
        InputError: if the data is not what the plan says, or an attack breaks the result; nothing is shown.
        OutputError: if the folder exists or cannot be written.
    """
    if is_tick_kind(kind):  # its noise would be bound to no input
        raise TypeError("a tick is carried out by carry_out_tick")
    order = _Order(kind, plan, threads, progress, ledger, even_if_broken=even_if_broken, on_unfinished=on_unfinished)
    header = order.header
    if header.price is None:
        return order.publish_and_note()
    if header.ledger is None:
        raise TypeError("a price without a ledger")
    return order.publish_and_charge(header.price, header.ledger, again=again)


def carry_out_tick(
    kind: TickKind[PlanT, DataT, ResultT, DraftT],
    plan: PlanT,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    ledger: Ledger | None = None,
) -> Released[DraftT]:
    """Carry out one tick of a window, in the order above. One that was published before is shown again at no cost.

    Args:
        kind: of the release.
        plan: what to do.
        threads: how many threads to use; as many as there are cores, within reason, if left out.
        progress: called with the stage, and the share of it that is done.
        ledger: the plan's ledger, where it is open already.

    Raises:
        BudgetExceededError: if the data set's budget does not allow the window; nothing was looked at.
        TickRefusedError: if the tick cannot be published any more.
        LedgerError: if the ledger cannot be used.
        InputError: if the data is not there.
        OutputError: if the folder exists or cannot be written.
    """
    order = _Order(kind, plan, threads, progress, ledger)
    header = order.header
    if header.price is None or header.ledger is None:
        raise TypeError("a tick without a price or a ledger")
    return order.publish_tick(kind, header.price, header.ledger)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Written(Generic[DraftT]):
    """Files that are written out of sight.

    Attributes:
        draft: what the kind knows of them.
        event: what was drawn for them.
    """

    draft: DraftT
    event: ReleaseEvent | None


@dataclass(frozen=True, eq=False)
class _Order(Generic[PlanT, DataT, ResultT, DraftT]):
    """One release on its way."""

    kind: Kind[PlanT, DataT, ResultT, DraftT]
    plan: PlanT
    threads: int | None
    progress: Progress | None
    ledger: Ledger | None
    even_if_broken: bool = field(default=False, kw_only=True)
    on_unfinished: Callable[[Sequence[Reservation]], None] | None = field(default=None, kw_only=True)

    @cached_property
    def header(self) -> PlanHeader:
        return self.kind.header(self.plan)

    def tell(self, stage: str, share: float | None) -> None:
        (self.progress or silent)(stage, share)

    def _opened(self, account: LedgerEntryPoint) -> AbstractContextManager[Ledger]:
        """The ledger, which may already have been opened to show the balance.

        Raises:
            ParameterError: if that is another ledger than the plan's.
        """
        if self.ledger is None:
            return open_ledger(account.location)
        if not self.ledger.is_at(account.location):
            raise ParameterError(
                "ledger",
                "carry_out",
                Words("the ledger that the plan names", "計画に書かれた台帳"),
                Described("another one"),
            )
        return nullcontext(self.ledger)

    def publish_and_charge(self, price: ReleasePrice, account: LedgerEntryPoint, *, again: bool) -> Released[DraftT]:
        """All steps of a release with a price; 1, 7 and 8 are taken by `charge_once`."""
        with self._opened(account) as ledger:
            require_sound(ledger)
            self.kind.require_account(self.plan, ledger.dataset(account.dataset))
            identity = self.kind.identity(self.plan, ledger.opt_outs(account.dataset).last_entry)
            request = ChargeRequest(
                accounts=(account.dataset,),
                cost=price.budget,
                unit=price.unit,
                fingerprint=identity.fingerprint,
                purpose=self.header.title,
                refusals=self.kind.refusals,
            )
            store = FolderStore[DraftT](ledger, account.dataset, identity.fingerprint, self.header.folder)

            def make(staging: Staging, charge: OpenCharge) -> Callable[[], Completed[Released[DraftT]]]:
                return self._make_paid(ledger, account, identity, staging, charge)

            return charge_once(
                ledger,
                request,
                store,
                self._staging(),
                make,
                again=again,
                on_wait=lambda: self.tell(WAIT, None),
                on_unfinished=self.on_unfinished,
            )

    def _make_paid(
        self, ledger: Ledger, account: LedgerEntryPoint, identity: Identity, staging: Staging, charge: OpenCharge
    ) -> Callable[[], Completed[Released[DraftT]]]:
        """Steps 2 to 5; gives step 6."""
        run = self._run_with(ledger, account, identity, charge.reservation)
        written = self._write(staging.folder, run, charge)
        return self._sealing(staging, written, run, charge.reservation.number)

    def publish_tick(
        self, kind: TickKind[PlanT, DataT, ResultT, DraftT], price: ReleasePrice, account: LedgerEntryPoint
    ) -> Released[DraftT]:
        """All steps of a tick; those of the ledger are taken by `tick_once`."""
        asked = kind.window(self.plan)
        with self._opened(account) as ledger:
            require_sound(ledger)
            kind.require_account(self.plan, ledger.dataset(account.dataset))
            identity = kind.identity(self.plan, 0)
            name = asked.name_in(ledger, account.dataset)
            known = ledger.windows.find(account.dataset, name)
            window = (
                known.window  # closed, perhaps: what was published in it is shown again all the same
                if known is not None
                else ledger.windows.open(
                    account.dataset,
                    price.budget,
                    unit=price.unit,
                    fingerprint=name,
                    ticks=asked.ticks,
                    purpose=asked.purpose,
                    measurements=asked.measurements,
                )
            )
            run = self._run_with(ledger, account, identity, window.reservation)
            store = FolderStore[DraftT](
                ledger,
                account.dataset,
                identity.fingerprint,
                self.header.folder,
                window,
                lambda digest: self._show_again(kind, run, digest),
            )

            def make(staging: Staging, bind: Callable[[str], BegunTick]) -> Callable[[], Completed[Released[DraftT]]]:
                with (
                    _given_back(ledger, window, lambda: kind.forget(self.plan, run))
                    if asked.is_single
                    else nullcontext()
                ):
                    data = kind.read(self.plan, run)
                    begun = bind(kind.binding(self.plan, data, run))
                return self._make_tick(kind, staging, data, begun, run)

            try:
                released = tick_once(
                    ledger,
                    window,
                    asked.tick,
                    identity.fingerprint,
                    store,
                    self._staging(),
                    make,
                    on_wait=lambda: self.tell(WAIT, None),
                )
            except TickRefusedError as refusal:
                if asked.is_single and refusal.kind == "other input":  # nothing can be drawn for it any more
                    kind.forget(self.plan, run)
                raise
            if asked.is_single:
                kind.forget(self.plan, run)
                state = ledger.windows.find(account.dataset, name)
                if state is not None and not state.is_closed:
                    ledger.windows.close(window, ReleaseEvent.from_json(json.dumps(released.document["event"])))
            return released

    def _show_again(
        self, kind: TickKind[PlanT, DataT, ResultT, DraftT], run: Run, digest: str
    ) -> Released[DraftT] | None:
        """Make a tick again that was published and is lost, and show it if it is what the ledger settled; None if it is not."""
        drawn = kind.recreate(self.plan, run)
        if drawn is None:
            return None
        with Staging.beside(self.header.folder) as staging:
            with translate_errors(self.header.folder):
                draft = kind.write(self.plan, drawn, staging.folder, run)
                document = kind.report(self.plan, draft, staging.folder, Attacked(), even_if_broken=False)
            text = document_text(document)
            if hashlib.sha256(text).hexdigest() != digest:
                return None
            with uninterrupted():
                staging.complete(text)
                with hold_target_if_free(self.header.folder):
                    publish_folder(staging.folder, self.header.folder)
        return Released(folder=self.header.folder, document=document_values(document), is_repeated=True)

    def _make_tick(
        self,
        kind: TickKind[PlanT, DataT, ResultT, DraftT],
        staging: Staging,
        data: DataT,
        begun: BegunTick,
        run: Run,
    ) -> Callable[[], Completed[Released[DraftT]]]:
        """Steps 3 to 5 of a tick; gives step 6."""
        drawn = kind.draw(self.plan, data, run)
        with translate_errors(self.header.folder):
            kind.keep(self.plan, data, drawn, run)
            draft = kind.write(self.plan, drawn, staging.folder, run)
        return self._sealing(staging, _Written(draft=draft, event=drawn.event), run, begun.number)

    def _run_with(self, ledger: Ledger, account: LedgerEntryPoint, identity: Identity, reservation: Reservation) -> Run:
        """What the kind is given for a release that is charged for."""
        opened = OpenAccount(
            ledger=ledger,
            dataset=account.dataset,
            secret=ledger.secret(account.dataset),
            identity=identity,
            charge=describe_charge(account, ledger, reservation),
        )
        return Run(tell=self.tell, threads=self.threads, account=opened)

    def _sealing(
        self, staging: Staging, written: _Written[DraftT], run: Run, number: int
    ) -> Callable[[], Completed[Released[DraftT]]]:
        """Step 5; gives step 6, with a seal for the entry of this number."""
        if written.event is None:
            raise TypeError("a release with a price was made without an event")
        event, secret = written.event, run.paid.secret
        attacked, document = self._attack(written, staging.folder, run, KnownFolders())

        def seal() -> Completed[Released[DraftT]]:
            text = document_text(document)
            staging.complete(text, seal_of(text, secret, number))
            released = self._released(written, document, attacked, KnownFolders())
            return completed_folder(staging.folder, self.header.folder, text, event, released)

        return seal

    def publish_and_note(self) -> Released[DraftT]:
        """All steps of a release without a price."""
        require_free(self.header.folder)
        noted_in = self.header.ledger
        with nullcontext() if noted_in is None else self._opened(noted_in) as ledger:
            journal = Journal(
                ledger,
                "" if noted_in is None else noted_in.dataset,
                self.kind.report_format,
                lambda folder: self.kind.fault_of(folder) is not None,
            )
            known = journal.known()  # 1; a ledger that cannot be used is noticed before anything is read
            run = Run(tell=self.tell, threads=self.threads)
            with self._staging() as staging:
                written = self._write(staging.folder, run)  # 2, 3, 4
                for _ in range(MAX_TURNS):
                    attacked, document = self._attack(written, staging.folder, run, known)  # 5
                    text = document_text(document)
                    if journal.known() == known:  # a folder may have been changed, which the ledger does not know
                        staging.complete(text)  # 6
                        with hold_target(self.header.folder), uninterrupted():
                            require_free(self.header.folder)  # what cannot be shown is not noted
                            if journal.note(text, folder=self.header.folder, title=self.header.title, known=known):  # 7
                                publish_folder(staging.folder, self.header.folder)  # 8
                                return self._released(written, document, attacked, known)
                    known = journal.grown(known)
                raise too_busy()

    @contextmanager
    def _staging(self) -> Iterator[Staging]:
        """The hidden folder, in which whatever can fail without the data was tried."""
        with Staging.beside(self.header.folder) as staging:
            self.kind.prepare(self.plan, staging.folder)
            yield staging

    def _write(self, folder: Path, run: Run, charge: OpenCharge | None = None) -> _Written[DraftT]:
        """Steps 2, 3 and 4. The order itself says where drawing begins and ends, so that no kind can forget it."""
        data = self.kind.read(self.plan, run)
        if charge is not None:
            charge.begin_drawing()
        drawn = self.kind.draw(self.plan, data, run)
        if charge is not None:
            charge.keep()
        with translate_errors(self.header.folder):
            draft = self.kind.write(self.plan, drawn, folder, run)
        return _Written(draft=draft, event=drawn.event)

    def _attack(
        self, written: _Written[DraftT], folder: Path, run: Run, known: KnownFolders
    ) -> tuple[Attacked, ReleaseDocument]:
        """Step 5, and the report that tells of it."""
        attacked = self.kind.attack(self.plan, written.draft, folder, known.found, run)
        if not self.even_if_broken:
            self.kind.require_unbroken(attacked.reports)
        with translate_errors(self.header.folder):
            document = self.kind.report(self.plan, written.draft, folder, attacked, even_if_broken=self.even_if_broken)
        return attacked, document

    def _released(
        self, written: _Written[DraftT], document: ReleaseDocument, attacked: Attacked, known: KnownFolders
    ) -> Released[DraftT]:
        return Released(
            folder=self.header.folder,
            document=document_values(document),
            is_repeated=False,
            draft=written.draft,
            attacks=attacked.reports,
            lost=known.lost,
            left_out=tuple(map(str, attacked.left_out)),
        )


@contextmanager
def _given_back(ledger: Ledger, window: Window, forget: Callable[[], None]) -> Iterator[None]:
    """Give the reservation of a window back if an error or a signal comes before its noise is bound to any input."""
    try:
        yield
    except BaseException as error:
        with uninterrupted(), suppress(LedgerError):  # it refuses once a tick was begun
            ledger.cancel(window.reservation, type(error).__name__)
            forget()
        raise
