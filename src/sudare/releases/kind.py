"""What every kind of release provides; `sudare.releases.protocol` does everything else.

A kind is one small object without state. It knows one sort of plan and one sort of folder, and nothing of the order in which its
steps are run, of reservations, seals, hidden folders or signals. A new kind is a folder with such an object, and one line in
`sudare.releases.registry`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from sudare.attacks.verdicts import AttackOutcome, AttackReport
from sudare.errors import InputError
from sudare.ledger import Dataset, Ledger
from sudare.privacy import ReleaseEvent
from sudare.privacy.measurements import Measurement
from sudare.releases.accounts import Identity, OpenAccount
from sudare.releases.documents import ReleaseDocument
from sudare.releases.header import PlanHeader
from sudare.releases.progress import Progress
from sudare.releases.verification import Check

__all__ = ["Attacked", "Drawn", "Kind", "Run", "TickKind", "WindowRequest", "is_tick_kind", "refuse_broken"]

PlanT = TypeVar("PlanT")
DataT = TypeVar("DataT")
ResultT = TypeVar("ResultT")
DraftT = TypeVar("DraftT")


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """What a kind is given while it works.

    Attributes:
        tell: called with the stage, and the share of it that is done.
        threads: how many threads to use; None for as many as there are cores, within reason.
        account: the account of a release with a price; None without one.
    """

    tell: Progress
    threads: int | None = None
    account: OpenAccount | None = None

    @property
    def paid(self) -> OpenAccount:
        """The account of a release that has a price."""
        if self.account is None:
            raise TypeError("this release has no price")
        return self.account


@dataclass(frozen=True, kw_only=True, eq=False)
class Drawn(Generic[ResultT]):
    """What was drawn.

    Attributes:
        result: of the kind's own making.
        event: what was drawn and what it costs; None for methods without a guarantee.
    """

    result: ResultT
    event: ReleaseEvent | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Attacked:
    """What attacks found in files that nobody has seen yet.

    Attributes:
        reports: one for each attack.
        left_out: earlier publications that could not be compared with these files.
    """

    reports: tuple[AttackReport, ...] = ()
    left_out: tuple[Path, ...] = ()

    @property
    def is_broken(self) -> bool:
        """Whether an attack succeeded."""
        return any(report.outcome is AttackOutcome.BROKEN for report in self.reports)


class Kind(Protocol[PlanT, DataT, ResultT, DraftT]):
    """One kind of release. Its methods stand in the order in which they are called.

    What a kind promises, and the contract suite tests:

    - `read_plan`, `header`, `identity` and `require_account` look at no data; `require_source` looks at no row of it.
    - `read` looks at the data and draws nothing: what it raises gives the cost back.
    - `draw` writes nothing. Whatever is random in a release with a price is drawn here, from secure entropy.
    - `write` and `report` write into the folder they are given, and nowhere else. In what they write nothing depends on the data
      but through what was drawn; for methods without a guarantee, but through what is published or for the holder alone.
    - `attack` looks at the files, as a reader does, and changes nothing.
    - `check` finds every change of a published file.

    Attributes:
        name: in plans and for people, such as ``"counts"``.
        report_format: what the document says that its format is, such as ``"sudare-release/1"``.
        refusals: exceptions that `draw` raises before its first draw only, besides those of mechanisms.
    """

    name: str
    report_format: str
    refusals: tuple[type[BaseException], ...] = ()

    def read_plan(self, file: Path, folder: Path | None = None) -> PlanT:
        """Read a plan of this kind.

        Args:
            file: the plan.
            folder: where the release goes, in place of what the plan says.

        Raises:
            PlanError: if it says something that cannot be; the message names the key.
        """
        ...

    def header(self, plan: PlanT) -> PlanHeader:
        """What the protocol needs to know: title, folder, price, ledger."""
        ...

    def identity(self, plan: PlanT, last_opt_out: int) -> Identity:
        """What makes a release with a price what it is.

        Args:
            plan: of the release.
            last_opt_out: number of the latest entry by which somebody opted out; 0 if nobody did.
        """
        raise TypeError(f"releases of the kind {self.name} have no price")

    def require_account(self, plan: PlanT, dataset: Dataset) -> None:
        """Refuse an account that does not fit the plan.

        Raises:
            LedgerError: if by the ledger a person may have more in the data than the plan counts with.
        """
        return

    def prepare(self, plan: PlanT, folder: Path) -> None:
        """Try whatever can fail without the data, in a hidden folder, before anything is reserved or read."""
        return

    def rehearse(self, plan: PlanT, folder: Path) -> None:
        """Try what `prepare` tries, for somebody who only plans: without loading what the next steps need."""
        self.prepare(plan, folder)

    def require_source(self, plan: PlanT, *, has_opted_out: bool) -> None:
        """Refuse data that is not there or lacks a column, for somebody who only plans.

        Looks at the names of files and at the names and types of columns (`sudare.io.headers`), never at a row: what it tells
        is the same whoever is in the data, and need not be paid for.

        Args:
            plan: of the release.
            has_opted_out: whether people have opted out of the data set.

        Raises:
            InputError: names the file and the column.
            PlanError: if the plan does not say how those who opted out are left out.
        """
        return

    def read(self, plan: PlanT, run: Run) -> DataT:
        """Read the data.

        Raises:
            InputError: if it is not what the plan says.
        """
        ...

    def draw(self, plan: PlanT, data: DataT, run: Run) -> Drawn[ResultT]:
        """Draw noise, or protect in another way."""
        ...

    def write(self, plan: PlanT, drawn: Drawn[ResultT], folder: Path, run: Run) -> DraftT:
        """Write the files that are published, without the report."""
        ...

    def attack(self, plan: PlanT, draft: DraftT, folder: Path, earlier: Sequence[Path], run: Run) -> Attacked:
        """Attack what was written, in every way that applies.

        Args:
            plan: of the release.
            draft: what was written.
            folder: where it is.
            earlier: folders of the same format that the ledger knows to have been published about the data.
            run: that it belongs to.
        """
        return Attacked()

    def require_unbroken(self, reports: Sequence[AttackReport]) -> None:
        """Refuse what an attack broke.

        Raises:
            InputError: says which attack, on how many, and what would stop it; no value.
        """
        refuse_broken(reports)

    def report(
        self, plan: PlanT, draft: DraftT, folder: Path, attacked: Attacked, *, even_if_broken: bool
    ) -> ReleaseDocument:
        """Write the page, and say what the document says. Called again if the attacks have to be run again.

        The document names its format, and lists its files with their hashes; with a price it has the event and the charge.
        """
        ...

    def fault_of(self, folder: Path) -> Check | None:
        """What is wrong with the public files of a folder that was published before; None if they are as they were."""
        ...

    def check(self, folder: Path, ledger: str | None = None) -> list[Check]:
        """Check a folder, and the ledger's entry where a ledger is named."""
        ...


@dataclass(frozen=True, kw_only=True)
class WindowRequest:
    """The window that a tick belongs to.

    Attributes:
        fingerprint: of the window.
        ticks: how many it has.
        tick: which one of them is published.
        purpose: for people.
        measurements: everything that will be drawn in the window.
        is_single: whether the window is one release: what stops it before its noise is bound gives its reservation back, and
            it is closed once its tick is shown.
    """

    fingerprint: str
    ticks: int
    tick: int
    purpose: str
    measurements: tuple[Measurement, ...]
    is_single: bool = False

    def name_in(self, ledger: Ledger, dataset: str) -> str:
        """The fingerprint under which the ledger has the window, or will have it: a single one that was given back is none.

        Args:
            ledger: that keeps the account.
            dataset: the account.
        """
        name = self.fingerprint
        while self.is_single:
            known = ledger.windows.find(dataset, name)
            if known is None or not known.is_given_back:
                break
            name = sha256(f"{name} once more".encode()).hexdigest()
        return name


class TickKind(Kind[PlanT, DataT, ResultT, DraftT], Protocol[PlanT, DataT, ResultT, DraftT]):
    """A kind that publishes again and again: a window is charged for as a whole, and each release is one of its ticks.

    What it promises besides: noise is drawn from a key that serves one window, `binding` is a keyed hash of everything that
    the noise of the tick will meet, and `keep` leaves all on the disk that the next tick needs, before this one is settled.
    """

    def window(self, plan: PlanT) -> WindowRequest:
        """The window of a tick."""
        ...

    def binding(self, plan: PlanT, data: DataT, run: Run) -> str:
        """The keyed hash of what was read, to which the ledger binds the tick's noise before it is drawn."""
        ...

    def keep(self, plan: PlanT, data: DataT, drawn: Drawn[ResultT], run: Run) -> None:
        """Keep the private state after the tick, on the disk."""
        ...

    def forget(self, plan: PlanT, run: Run) -> None:
        """Destroy what only a single release on its way needs, keys first: it was shown, given back, or is missing."""
        return

    def recreate(self, plan: PlanT, run: Run) -> Drawn[ResultT] | None:
        """What was drawn for a tick that was published, once more, from what is kept and from the same noise; None if it is gone.

        It is shown only if `write` and `report` make of it what the ledger settled, byte for byte.
        """
        return None


def is_tick_kind(kind: object) -> bool:
    """Whether a kind publishes ticks of a window, each bound to its input, and not releases with a charge of their own."""
    return TickKind in type(kind).__mro__


def refuse_broken(reports: Sequence[AttackReport]) -> None:
    """Refuse what an attack broke, in words that fit every kind.

    Raises:
        InputError: says which attack, on how many, and what would stop it; no value.
    """
    for report in reports:
        broken = report.with_outcome(AttackOutcome.BROKEN)
        if broken:
            first = broken[0]
            raise InputError(
                f"The attack '{report.attack}' breaks {len(broken):,} of {len(report.verdicts):,} targets, such as "
                f"'{first.target}', so nothing was written. {first.remedy.english} To publish all the same, use "
                "--even-if-broken.",
                f"攻撃「{report.attack}」により {len(report.verdicts):,} 個の対象のうち {len(broken):,} 個"
                f"（「{first.target}」など）が破られたため、何も書き込みませんでした。{first.remedy.japanese}"
                "それでも公表する場合は --even-if-broken を付けてください。",
            )
