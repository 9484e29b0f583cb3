"""Carrying out a plan for a table of people: read, protect, write out of sight, check what was written, show.

Where the method is differential privacy of the table the ledger comes first: the cost is reserved before a record is read, given
back if nothing was drawn, and settled with the hash of the report before the folder is shown. Whatever stops a run, nothing is
seen by halves.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sudare.errors import GuaranteeError, InputError, LedgerError, MissingPackageError, ParameterError
from sudare.ledger import Ledger, Reservation, open_ledger
from sudare.microdata.records import Records, read_people, write_people
from sudare.microdata_release.charging import (
    charge_of_reservation,
    find_repeated,
    keyed_hash_of_records,
    require_sound,
    settle_and_show,
    without_opted_out,
)
from sudare.microdata_release.document import private_document, protected_document
from sudare.microdata_release.folders import PAGE, PEOPLE, PeopleWorkshop, require_free
from sudare.microdata_release.page import render_people_page
from sudare.microdata_release.plan_file import Charging, PeoplePlan
from sudare.microdata_release.step_order import looked_at_before
from sudare.microdata_release.steps import Done, run_private_step, run_step, without_local_claim
from sudare.privacy import ReleaseEvent
from sudare.release.folders import appear, told
from sudare.release.hashing import hash_of_file, seal_of
from sudare.sections import nearest

__all__ = ["STAGES", "ProtectedPeople", "run_people_plan"]

Progress = Callable[[str, float | None], None]
"""Told what is being done, a word of STAGES, and which share of it is done where this is known."""

STAGES = ("load", "protect", "save", "measure")


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


def run_people_plan(plan: PeoplePlan, *, again: bool = False, progress: Progress | None = None) -> ProtectedPeople:
    """Carry out a plan, and write the folder with the protected records and the report.

    Args:
        plan: what to do.
        again: for methods with a budget, draw and spend anew even if the same result was made before.
        progress: told how far it is.

    Raises:
        InputError: if the data is not what the plan says; nothing is written, and nothing spent.
        BudgetExceededError: if the budget does not allow it; nothing was looked at.
        LedgerError: if the ledger cannot be used.
        OutputError: if the folder exists or cannot be written.
    """
    tell = progress if progress is not None else _silent
    if plan.charging is not None:
        return _run_private(plan, plan.charging, again, tell)
    require_free(plan.folder)
    with PeopleWorkshop.beside(plan.folder) as workshop:
        tell("load", None)
        records = _without_identifiers(plan, _read(plan))
        population = None if plan.population is None else _read_population(plan)
        tell("protect", None)
        done: list[Done] = []
        for number, (method, step) in enumerate(plan.steps):
            tell("protect", number / len(plan.steps))
            made = run_step(plan, method, step, done[-1].records if done else records, population)
            is_untrue = looked_at_before(plan.steps, number, plan.quasi_identifiers)
            done.append(without_local_claim(made) if is_untrue else made)
        tell("save", None)
        file, reread = _write(plan, done[-1].records, workshop.folder)
        tell("measure", None)
        document = protected_document(
            plan, records, population, done, reread, [file], hash_of_file(plan.source) if plan.source.is_file() else ""
        )
        _require_models(document)
        _finish(plan, workshop, document)
        appear(workshop.folder, plan.folder)
    return ProtectedPeople(plan.folder, document, is_repeated=False)


def _run_private(plan: PeoplePlan, charging: Charging, again: bool, tell: Progress) -> ProtectedPeople:
    dataset = charging.ledger.dataset
    with open_ledger(charging.ledger.location) as ledger:
        require_sound(ledger, plan, charging)
        secret = ledger.secret(dataset)
        fingerprint = plan.fingerprint(ledger.opt_outs(dataset).last_entry)
        repeated = None if again else find_repeated(plan, charging, ledger, fingerprint)
        if repeated is not None:
            return ProtectedPeople(*repeated, is_repeated=True)
        require_free(plan.folder)
        with PeopleWorkshop.beside(plan.folder) as workshop:
            reservation = ledger.reserve(
                dataset, charging.budget, unit=charging.unit, fingerprint=fingerprint, purpose=plan.title
            )
            charge = charge_of_reservation(charging, ledger, reservation)
            done, event, keyed_hash = _draw(plan, charging, ledger, reservation, charge.hash, tell)
            tell("save", None)
            file, reread = _write(plan, done.records, workshop.folder)
            document = private_document(plan, done, event, charge, reread, [file], keyed_hash)
            _finish(plan, workshop, document, lambda text: seal_of(text, secret, reservation.number))
            settle_and_show(plan, ledger, reservation, event, workshop.folder)
    return ProtectedPeople(plan.folder, document, is_repeated=False)


def _draw(
    plan: PeoplePlan, charging: Charging, ledger: Ledger, reservation: Reservation, entry_hash: str, tell: Progress
) -> tuple[Done, ReleaseEvent, str]:
    """Read and draw. What fails before the first draw, or refuses to draw, gives the reservation back."""
    is_drawing = False
    try:
        tell("load", None)
        everybody = _read(plan)
        if not everybody.rows:
            raise InputError(f"{plan.source.name} has no rows.", f"{plan.source.name} に行がありません。")
        people = without_opted_out(plan, charging, everybody, ledger)
        keyed_hash = keyed_hash_of_records(people, ledger.secret(charging.ledger.dataset), entry_hash)
        records = _without_identifiers(plan, people)
        tell("protect", None)
        is_drawing = True
        done, event = run_private_step(plan, plan.steps[0][1], records)
        if not event.is_private:
            raise GuaranteeError("Records must not be drawn from a seed, for research.")
    except BaseException as error:
        # A mechanism refuses before it draws, and never afterwards (a contract of every mechanism).
        refusals = (ParameterError, GuaranteeError, InputError, MissingPackageError)
        if not is_drawing or isinstance(error, refusals):
            with suppress(LedgerError):
                ledger.cancel(reservation, type(error).__name__)
        raise
    return done, event, keyed_hash


def _read(plan: PeoplePlan) -> Records:
    """The records, with the columns that the plan names.

    Raises:
        InputError: if a column is missing, or one is there that the plan does not name.
    """
    wanted = list(plan.columns)
    if plan.person is not None and plan.person not in wanted:
        wanted.append(plan.person)
    if plan.others == "drop":
        return read_people(plan.source, encoding=plan.encoding, columns=wanted)
    records = read_people(plan.source, encoding=plan.encoding)
    for name in wanted:
        records.column(name)
    for name in records.names:
        if name not in wanted:
            english, japanese = nearest(name, wanted)
            raise InputError(
                f"{plan.source.name} has a column '{name:.60}' that the plan does not name.{english} Add "
                f"[columns.{name:.60}] with "
                'a role ("identifier" leaves it out), or write others = "drop" under [input].',
                f"{plan.source.name} の列「{name:.60}」が計画にありません。{japanese}[columns.{name:.60}] に role を書くか"
                '（"identifier" なら除かれます）、[input] に others = "drop" と書いてください。',
            )
    return records


def _read_population(plan: PeoplePlan) -> Records:
    return read_people(plan.population or plan.source, encoding=plan.encoding, columns=plan.quasi_identifiers)


def _without_identifiers(plan: PeoplePlan, records: Records) -> Records:
    return records.without(*(name for name in records.names if name not in plan.published))


def _write(plan: PeoplePlan, records: Records, folder: Path) -> tuple[Path, Records]:
    """Write the records, and read again what was written: whatever is said of them is said of the file."""
    file = folder / f"{PEOPLE}.{plan.format}"
    with told(plan.folder):
        write_people(file, records)
    return file, read_people(file) if records.rows else records


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
    workshop.complete(text, seal(text))


def _require_models(document: Mapping[str, Any]) -> None:
    if any(model["holds"] is False for model in document["models"]):
        raise AssertionError("the written table does not satisfy its models")  # never seen; nothing may be shown then


def _silent(stage: str, share: float | None) -> None:
    pass
