"""Carrying out a plan for a table of people: read, protect, write out of sight, check what was written, show.

Where the method is differential privacy of the table the ledger comes first: the cost is reserved before a record is read, given
back if nothing was drawn, and settled with the hash of the report before the folder is shown. Whatever stops a run, nothing is
seen by halves.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sudare.attacks.verdicts import AttackReport, Outcome
from sudare.errors import GuaranteeError, InputError, MissingPackageError
from sudare.ledger import Ledger, open_ledger
from sudare.ledger.reserving import OpenCharge, reserved
from sudare.microdata.records import Records, read_people, write_people
from sudare.microdata_release.attacking import attack_folder, record_of_attacks, require_unbroken
from sudare.microdata_release.charging import (
    charge_of_reservation,
    find_repeated,
    keyed_hash_of_records,
    require_sound,
    settle_and_show,
    without_opted_out,
)
from sudare.microdata_release.document import REPORT_FORMAT, private_document, protected_document
from sudare.microdata_release.folders import PAGE, PEOPLE, PeopleWorkshop, require_free
from sudare.microdata_release.large_running import run_large_plan
from sudare.microdata_release.page import render_people_page
from sudare.microdata_release.plan_file import Charging, PeoplePlan
from sudare.microdata_release.reading import read_planned, read_population, without_identifiers
from sudare.microdata_release.row_numbers import ROW, row_numbers, with_row_numbers
from sudare.microdata_release.step_order import looked_at_before
from sudare.microdata_release.steps import Done, run_private_step, run_step, without_local_claim
from sudare.privacy import ReleaseEvent
from sudare.release.folders import appear, told
from sudare.release.hashing import hash_of_file, seal_of
from sudare.release.noting import find_noted_folders, note_report
from sudare.release.running import WAIT
from sudare.system.interrupts import uninterrupted

__all__ = ["STAGES", "ProtectedPeople", "run_people_plan"]

Progress = Callable[[str, float | None], None]
"""Told what is being done, a word of STAGES, and which share of it is done where this is known."""

STAGES = ("load", "protect", "save", "measure", "attack")


@dataclass(frozen=True, eq=False)
class ProtectedPeople:
    """A plan that was carried out.

    Attributes:
        folder: where the result is.
        document: what ``report.json`` says.
        is_repeated: whether it had been made before, so that nothing was spent.
    """

    folder: Path
    document: Mapping[str, Any]
    is_repeated: bool


def run_people_plan(
    plan: PeoplePlan, *, again: bool = False, even_if_broken: bool = False, progress: Progress | None = None
) -> ProtectedPeople:
    """Carry out a plan, and write the folder with the protected records and the report.

    What is made without a budget is attacked before it is shown; see `attacking`.

    Args:
        plan: what to do.
        again: for methods with a budget, draw and spend anew even if the same result was made before.
        even_if_broken: show it even if an attack succeeds; the report says so.
        progress: told how far it is.

    Raises:
        InputError: if the data is not what the plan says, or an attack on the result succeeds; nothing is written, and nothing
            spent.
        BudgetExceededError: if the budget does not allow it; nothing was looked at.
        LedgerError: if the ledger cannot be used.
        OutputError: if the folder exists or cannot be written.
    """
    tell = progress if progress is not None else _silent
    if plan.charging is not None:
        return _run_private(plan, plan.charging, again, tell)
    require_free(plan.folder)
    if plan.noted_in is not None:
        find_noted_folders(
            plan.noted_in, REPORT_FORMAT
        )  # a ledger that cannot be used is noticed before anything is read
    with PeopleWorkshop.beside(plan.folder) as workshop:
        document, reports = (_make_large if plan.is_large else _make)(plan, workshop.folder, tell)
        if not even_if_broken:
            require_unbroken(reports)
        document["attacks"] = record_of_attacks(reports)
        document["even_if_broken"] = any(report.outcome is Outcome.BROKEN for report in reports)
        with uninterrupted():
            _finish(plan, workshop, document)
            appear(workshop.folder, plan.folder)
    return ProtectedPeople(plan.folder, document, is_repeated=False)


def _make(plan: PeoplePlan, folder: Path, tell: Progress) -> tuple[dict[str, Any], tuple[AttackReport, ...]]:
    """Protect records in memory, write and measure them, and attack what was written."""
    tell("load", None)
    records = without_identifiers(plan, read_planned(plan))
    population = None if plan.population is None else read_population(plan)
    tell("protect", None)
    done = _carry_out_steps(plan, with_row_numbers(records), population, tell)
    tell("save", None)
    whose = row_numbers(done[-1].records)
    file, reread = _write(plan, done[-1].records.without(ROW), folder)
    tell("measure", None)
    input_hash = hash_of_file(plan.source) if plan.source.is_file() else ""
    document = protected_document(plan, records, population, done, reread, [file], input_hash)
    _require_models(document)
    tell("attack", None)
    reports = attack_folder(folder, document, original=records, whose=whose, hierarchies=done[-1].hierarchies)
    return document, reports


def _make_large(plan: PeoplePlan, folder: Path, tell: Progress) -> tuple[dict[str, Any], tuple[AttackReport, ...]]:
    """The same for records that are larger than memory."""
    tell("protect", None)
    with told(plan.folder):
        document = run_large_plan(plan, folder)
    _require_models(document)
    tell("attack", None)
    return document, attack_folder(folder, document)


def _carry_out_steps(plan: PeoplePlan, records: Records, population: Records | None, tell: Progress) -> list[Done]:
    done: list[Done] = []
    for number, (method, step) in enumerate(plan.steps):
        tell("protect", number / len(plan.steps))
        made = run_step(plan, method, step, done[-1].records if done else records, population)
        is_untrue = looked_at_before(plan.steps, number, plan.quasi_identifiers)
        done.append(without_local_claim(made) if is_untrue else made)
    return done


def _run_private(plan: PeoplePlan, charging: Charging, again: bool, tell: Progress) -> ProtectedPeople:
    dataset = charging.ledger.dataset
    with open_ledger(charging.ledger.location) as ledger:
        require_sound(ledger, plan, charging)
        secret = ledger.secret(dataset)
        fingerprint = plan.fingerprint(ledger.opt_outs(dataset).last_entry)
        with ledger.alone_with(dataset, fingerprint, lambda: tell(WAIT, None)):
            repeated = None if again else find_repeated(plan, charging, ledger, fingerprint)
            if repeated is not None:
                return ProtectedPeople(*repeated, is_repeated=True)
            return _make_private(plan, charging, ledger, fingerprint, secret, tell)


def _make_private(
    plan: PeoplePlan, charging: Charging, ledger: Ledger, fingerprint: str, secret: bytes, tell: Progress
) -> ProtectedPeople:
    require_free(plan.folder)
    with (
        PeopleWorkshop.beside(plan.folder) as workshop,
        reserved(
            ledger,
            [charging.ledger.dataset],
            charging.budget,
            unit=charging.unit,
            fingerprint=fingerprint,
            purpose=plan.title,
            refusals=(InputError, MissingPackageError),
        ) as open_charge,
    ):
        reservation = open_charge.reservation
        charge = charge_of_reservation(charging, ledger, reservation)
        done, event, keyed_hash = _draw(plan, charging, ledger, open_charge, charge.hash, tell)
        tell("save", None)
        file, reread = _write(plan, done.records, workshop.folder)
        document = private_document(plan, done, event, charge, reread, [file], keyed_hash)
        with uninterrupted():
            _finish(plan, workshop, document, lambda text: seal_of(text, secret, reservation.number))
            settle_and_show(plan, ledger, reservation, event, workshop.folder)
    return ProtectedPeople(plan.folder, document, is_repeated=False)


def _draw(
    plan: PeoplePlan, charging: Charging, ledger: Ledger, charge: OpenCharge, entry_hash: str, tell: Progress
) -> tuple[Done, ReleaseEvent, str]:
    """Read and draw."""
    tell("load", None)
    everybody = read_planned(plan)
    people = without_opted_out(plan, charging, everybody, ledger)
    keyed_hash = keyed_hash_of_records(people, ledger.secret(charging.ledger.dataset), entry_hash)
    records = without_identifiers(plan, people)
    tell("protect", None)
    charge.begin_drawing()
    done, event = run_private_step(plan, plan.steps[0][1], records)
    if not event.is_private:
        raise GuaranteeError("Records must not be drawn from a seed, for research.")
    charge.keep()
    return done, event, keyed_hash


def _write(plan: PeoplePlan, records: Records, folder: Path) -> tuple[Path, Records]:
    """Write the records, and read again what was written: whatever is said of them is said of the file."""
    file = folder / f"{PEOPLE}.{plan.format}"
    with told(plan.folder):
        write_people(file, records)
    return file, read_people(file)


def _finish(
    plan: PeoplePlan,
    workshop: PeopleWorkshop,
    document: dict[str, Any],
    seal: Callable[[bytes], str] = lambda text: "",
) -> None:
    page = render_people_page(document, language=plan.language)
    with told(plan.folder):
        (workshop.folder / PAGE).write_text(page, encoding="utf-8")
    text = json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n"
    if plan.noted_in is not None:
        note_report(plan.noted_in, text, report_format=REPORT_FORMAT, folder=plan.folder, title=plan.title)
    workshop.complete(text, seal(text))


def _require_models(document: Mapping[str, Any]) -> None:
    if any(model["holds"] is False for model in document["models"]):
        raise AssertionError("the written table does not satisfy its models")  # never seen; nothing may be shown then


def _silent(stage: str, share: float | None) -> None:
    pass
