"""The kind ``records``: records of people, from a plan to a folder with the protected records and a report.

The order of the steps is described in `sudare.releases.protocol`; here stands what records add to it. They are protected in one
of three ways, as the plan says: with a price, by a method that is differential privacy of the table; without one, in memory; or
without one, file by file, where they are larger than memory. What has no guarantee is attacked before it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.attacks.verdicts import AttackReport
from sudare.bilingual import Words
from sudare.errors import GuaranteeError, InputError, MissingPackageError
from sudare.ledger import Dataset, Ledger, Reservation
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.records import Records, read_people, write_people
from sudare.microdata.search.anonymizing import Search
from sudare.privacy import ReleaseEvent
from sudare.releases.accounts import Identity
from sudare.releases.documents import StatedDocument, document_values
from sudare.releases.header import PlanHeader
from sudare.releases.kind import Attacked, Drawn, Kind, Run
from sudare.releases.kinds.records.attacking.earlier_records import find_comparable_records
from sudare.releases.kinds.records.attacking.folder_attacks import attack_folder, record_of_attacks, require_unbroken
from sudare.releases.kinds.records.attacking.published_records import read_published_records
from sudare.releases.kinds.records.charging import (
    keyed_hash_of_records,
    require_opt_outs_known,
    require_rows_allowed,
    without_opted_out,
)
from sudare.releases.kinds.records.document import REPORT_FORMAT, private_document, protected_document
from sudare.releases.kinds.records.document_parts import (
    PrivateRecordsDocument,
    ProtectedRecordsDocument,
    RecordsDocument,
)
from sudare.releases.kinds.records.folders import PAGE, PEOPLE
from sudare.releases.kinds.records.page import render_people_page
from sudare.releases.kinds.records.planning.plan_file import Charging, PeoplePlan, read_people_plan
from sudare.releases.kinds.records.planning.step_order import looked_at_before
from sudare.releases.kinds.records.row_numbers import ROW, row_numbers, with_row_numbers
from sudare.releases.kinds.records.sources import (
    read_planned,
    read_population,
    require_planned_columns,
    without_identifiers,
)
from sudare.releases.kinds.records.steps.step import Done, PlainStep, PrivateStep, without_local_claim
from sudare.releases.kinds.records.verification import read_report, verify_people
from sudare.releases.progress import Progress
from sudare.releases.protocol import carry_out
from sudare.releases.verification import Check, check_files
from sudare.storage.hashes import hash_of_file
from sudare.storage.staging import document_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["RECORDS", "STAGES", "ProtectedPeople", "run_people_plan"]

STAGES = ("load", "protect", "save", "measure", "attack")
"""The stages that progress reports."""


@dataclass(frozen=True, eq=False)
class ProtectedPeople:
    """A plan that was carried out.

    Attributes:
        folder: where the result is.
        document: what ``release.json`` says.
        is_repeated: whether it had been made before, so that nothing was spent.
        attacks: what the attacks found; for the holder.
        lost: earlier publications that the ledger knows of, and that are not there any more, or were changed.
        left_out: those that the attacks could not compare with this one.
        search: what the search for levels found, with runners-up; for the holder. None where nothing was searched for, or the
            records are larger than memory.
        constant: quasi-identifiers whose values all became one, such as ``*``.
    """

    folder: Path
    document: Mapping[str, Any]
    is_repeated: bool
    attacks: tuple[AttackReport, ...] = ()
    lost: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    search: Search | None = None
    constant: tuple[str, ...] = ()


def run_people_plan(
    plan: PeoplePlan,
    *,
    again: bool = False,
    even_if_broken: bool = False,
    progress: Progress | None = None,
    ledger: Ledger | None = None,
    on_unfinished: Callable[[Sequence[Reservation]], None] | None = None,
) -> ProtectedPeople:
    """Carry out a plan, and write the folder with the protected records and the report.

    What is made without a budget is attacked before it is shown; see `attacking`.

    Args:
        plan: what to do.
        again: for methods with a budget, draw and spend anew even if the same result was made before.
        even_if_broken: show it even if an attack succeeds; the report says so.
        progress: called with the stage, and the share of it that is done.
        ledger: the plan's ledger, where it is open already.
        on_unfinished: called before anything is charged if earlier runs of the plan were stopped after their charge was kept.

    Raises:
        InputError: if the data is not what the plan says, or an attack on the result succeeds; nothing is written, and nothing
            spent.
        BudgetExceededError: if the budget does not allow it; nothing was looked at.
        LedgerError: if the ledger cannot be used.
        OutputError: if the folder exists or cannot be written.
    """
    made = carry_out(
        RECORDS,
        plan,
        again=again,
        even_if_broken=even_if_broken,
        progress=progress,
        ledger=ledger,
        on_unfinished=on_unfinished,
    )
    draft = made.draft
    return ProtectedPeople(
        made.folder,
        made.document,
        made.is_repeated,
        made.attacks,
        made.lost,
        made.left_out,
        None if draft is None else draft.search,
        () if draft is None else _constant(draft),
    )


def _constant(draft: PeopleDraft) -> tuple[str, ...]:
    """The columns that were made so coarse that one value is left."""
    levels = {one.name: one.level for one in draft.document.work.columns if one.level is not None}
    hierarchies = draft.hierarchies or {}
    return tuple(
        name for name, level in levels.items() if name in hierarchies and len(hierarchies[name].levels[level]) == 1
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class PeopleRead:
    """The records of a plan; none where they are larger than memory.

    Attributes:
        records: that are protected, without identifiers.
        population: everybody, if the records are a part of them.
        keyed_hash: of the records of a plan with a price.
    """

    records: Records
    population: Records | None = None
    keyed_hash: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class PeopleProtected:
    """Records that are protected, in memory.

    Attributes:
        read: what was read.
        done: what each step did.
    """

    read: PeopleRead
    done: tuple[Done, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class PeopleDraft:
    """Records that are written, and what attacks learn about them from the holder of the data.

    Attributes:
        document: what ``release.json`` says, without the attacks.
        original: the records as they were.
        whose: for each published record, the row of its person in ``original``.
        hierarchies: that made quasi-identifiers coarser.
        search: what the search for levels found, with runners-up; for the holder's terminal, never for a file.
    """

    document: ProtectedRecordsDocument | PrivateRecordsDocument
    original: Records | None = None
    whose: NDArray[np.int64] | None = None
    hierarchies: Mapping[str, Generalization] | None = None
    search: Search | None = None


class RecordsKind(Kind[PeoplePlan, PeopleRead, PeopleProtected, PeopleDraft]):
    """Records of people, with a price or without."""

    name = "records"
    report_format = REPORT_FORMAT
    refusals = (InputError, MissingPackageError)

    def read_plan(self, file: Path, folder: Path | None = None) -> PeoplePlan:
        """Read a plan; see `sudare.releases.kinds.records.planning.plan_file`."""
        return read_people_plan(file, folder)

    def header(self, plan: PeoplePlan) -> PlanHeader:
        """What the protocol needs to know of a plan; only methods with differential privacy have a price."""
        return plan.header

    def identity(self, plan: PeoplePlan, last_opt_out: int) -> Identity:
        """The plan, its hierarchies, and who opted out where persons are told apart."""
        return Identity(fingerprint=plan.fingerprint(last_opt_out))

    def require_account(self, plan: PeoplePlan, dataset: Dataset) -> None:
        """Refuse an account by which a person may have more rows than the plan says."""
        require_rows_allowed(plan, _charging_of(plan), dataset)

    def require_source(self, plan: PeoplePlan, *, has_opted_out: bool) -> None:
        """Refuse files that are not there or lack a column, and a plan that does not say who opted out."""
        require_planned_columns(plan)
        if plan.charging is not None:
            require_opt_outs_known(plan, plan.charging, has_opted_out=has_opted_out)

    def read(self, plan: PeoplePlan, run: Run) -> PeopleRead:
        """Read the records, without identifiers and, with a price, without those who opted out."""
        if plan.is_large:
            return PeopleRead(records=Records([]))
        run.tell("load", None)
        everybody = read_planned(plan)
        if run.account is None:
            population = None if plan.population is None else read_population(plan)
            return PeopleRead(records=without_identifiers(plan, everybody), population=population)
        people = without_opted_out(plan, _charging_of(plan), everybody, run.account.ledger)
        digest = keyed_hash_of_records(people, run.account.secret, run.account.charge.hash)
        return PeopleRead(records=without_identifiers(plan, people), keyed_hash=digest)

    def draw(self, plan: PeoplePlan, data: PeopleRead, run: Run) -> Drawn[PeopleProtected]:
        """Carry out the steps of the plan; records that are larger than memory are protected while they are written."""
        run.tell("protect", None)
        if plan.is_large:
            return Drawn(result=PeopleProtected(read=data, done=()))
        if run.account is None:
            done = _carry_out_steps(plan, with_row_numbers(data.records), data.population, run.tell)
            return Drawn(result=PeopleProtected(read=data, done=tuple(done)))
        made, event = run_private_step(plan, data.records)
        if not event.is_private:
            raise GuaranteeError(
                Words(
                    "Records must not be drawn from a seed, for research.",
                    "レコードを、研究用のシードから引いてはいけません。",
                )
            )
        return Drawn(result=PeopleProtected(read=data, done=(made,)), event=event)

    def write(self, plan: PeoplePlan, drawn: Drawn[PeopleProtected], folder: Path, run: Run) -> PeopleDraft:
        """Write the records, and say of them what the written file shows."""
        if plan.is_large:
            draft = PeopleDraft(document=plan.steps[0].run_large(plan, folder))
        elif run.account is None:
            draft = _write_protected(plan, drawn.result, folder, run.tell)
        else:
            return _write_private(plan, drawn, folder, run)
        _require_models(draft)
        return draft

    def attack(self, plan: PeoplePlan, draft: PeopleDraft, folder: Path, earlier: Sequence[Path], run: Run) -> Attacked:
        """Attack what has no guarantee; what an attack finds in records with a price is bounded beforehand."""
        if run.account is not None:
            return Attacked()
        run.tell("attack", None)
        usable: tuple[Path, ...] = ()
        left_out: tuple[Path, ...] = ()
        if earlier:
            own = read_published_records(folder, document_values(draft.document))
            usable, left_out = find_comparable_records(own, earlier, draft.hierarchies)
        reports = attack_folder(
            folder,
            document_values(draft.document),
            original=draft.original,
            whose=draft.whose,
            hierarchies=draft.hierarchies,
            earlier=usable,
        )
        return Attacked(reports=reports, left_out=left_out)

    def require_unbroken(self, reports: Sequence[AttackReport]) -> None:
        """Refuse records that an attack broke."""
        require_unbroken(reports)

    def report(
        self, plan: PeoplePlan, draft: PeopleDraft, folder: Path, attacked: Attacked, *, even_if_broken: bool
    ) -> RecordsDocument:
        """Write ``release.html``."""
        document: RecordsDocument = draft.document
        if isinstance(document, ProtectedRecordsDocument):
            found = record_of_attacks(attacked.reports)
            document = replace(document, attacks=found, even_if_broken=attacked.is_broken)
        page = render_people_page(document_values(document), language=plan.language)
        (folder / PAGE).write_text(page, encoding="utf-8")
        return document

    def fault_of(self, folder: Path) -> Check | None:
        """What is wrong with the published file of a folder."""
        checks = check_files(StatedDocument(document_in(folder), read_report(folder)))
        return next((check for check in checks if check.outcome == "failed"), None)

    def check(self, folder: Path, ledger: str | None = None) -> list[Check]:
        """Check a folder of protected records; see `verify_people`."""
        return verify_people(folder, ledger)


RECORDS = RecordsKind()


def _charging_of(plan: PeoplePlan) -> Charging:
    if plan.charging is None:
        raise TypeError("this plan has no price")
    return plan.charging


def run_private_step(plan: PeoplePlan, records: Records) -> tuple[Done, ReleaseEvent]:
    """The step of a plan with a price. Everything is checked before anything is drawn; nothing is raised afterwards.

    Raises:
        InputError: if the data does not fit the plan; names the column and the row.
    """
    step, charging = plan.steps[0], _charging_of(plan)
    if not isinstance(step, PrivateStep):
        raise TypeError("a step without a price in a plan with one")
    return step.run_privately(plan, records, charging.budget, charging.unit)


def _carry_out_steps(plan: PeoplePlan, records: Records, population: Records | None, tell: Progress) -> list[Done]:
    done: list[Done] = []
    for number, step in enumerate(plan.steps):
        if not isinstance(step, PlainStep):
            raise TypeError("a step with a price in a plan without one")
        tell("protect", number / len(plan.steps))
        made = step.run(plan, done[-1].records if done else records, population)
        is_untrue = looked_at_before(plan.steps, number, plan.quasi_identifiers)
        done.append(without_local_claim(made) if is_untrue else made)
    return done


def _write_protected(plan: PeoplePlan, made: PeopleProtected, folder: Path, tell: Progress) -> PeopleDraft:
    tell("save", None)
    last = made.done[-1]
    whose = row_numbers(last.records)
    file, reread = _write(plan, last.records.without(ROW), folder)
    tell("measure", None)
    input_hash = hash_of_file(plan.source) if plan.source.is_file() else ""
    document = protected_document(plan, made.read.records, made.read.population, made.done, reread, [file], input_hash)
    return PeopleDraft(
        document=document,
        original=made.read.records,
        whose=whose,
        hierarchies=last.hierarchies,
        search=None if last.anonymized is None else last.anonymized.search,
    )


def _write_private(plan: PeoplePlan, drawn: Drawn[PeopleProtected], folder: Path, run: Run) -> PeopleDraft:
    if drawn.event is None:
        raise TypeError("records with a price were drawn without an event")
    run.tell("save", None)
    done, digest = drawn.result.done[0], drawn.result.read.keyed_hash
    file, reread = _write(plan, done.records, folder)
    return PeopleDraft(document=private_document(plan, done, drawn.event, run.paid.charge, reread, [file], digest))


def _write(plan: PeoplePlan, records: Records, folder: Path) -> tuple[Path, Records]:
    """Write the records, and read again what was written: all statements are about the file."""
    file = folder / f"{PEOPLE}.{plan.format}"
    write_people(file, records)
    return file, read_people(file)


def _require_models(draft: PeopleDraft) -> None:
    document = draft.document
    if isinstance(document, ProtectedRecordsDocument) and any(one.holds is False for one in document.models):
        raise AssertionError("the written table does not satisfy its models")  # never seen; nothing may be shown then
