"""Carrying out a plan for a protected table: read, judge, protect, write out of sight, attack what was written, show.

Whatever stops a run, nothing is seen by halves; and a table that an attack breaks is not shown unless that is asked for.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sudare.attacks.verdicts import AttackReport, Outcome
from sudare.disclosure.merging import merge_meshes, write_estat
from sudare.disclosure.structure import CellTable, TableSystem
from sudare.disclosure.tau_argus import status_lines
from sudare.disclosure_release.attacking import attack_folder
from sudare.disclosure_release.confidential import (
    CERTIFICATE,
    CONFIDENTIAL,
    CONFIDENTIAL_FORMAT,
    CONFIDENTIAL_PAGE,
    NOTE,
    attacks_in_full,
    confidential_document,
)
from sudare.disclosure_release.document import attacks_in_public, document_of_meshes, document_of_tables
from sudare.disclosure_release.input_plan import ArgusInput, CellsInput, MeshInput
from sudare.disclosure_release.knowledge import REPORT_FORMAT
from sudare.disclosure_release.page import render_table_page
from sudare.disclosure_release.plan_file import TablePlan
from sudare.disclosure_release.protecting import Protected, protect_table
from sudare.disclosure_release.protection_plan import CellKey, MergeMeshes
from sudare.disclosure_release.published_meshes import mesh_text
from sudare.disclosure_release.published_table import STATES, digits_needed_by, table_text
from sudare.disclosure_release.reading import read_judged_table, read_meshes
from sudare.disclosure_release.together import find_comparable
from sudare.disclosure_release.verification import verify_protected
from sudare.errors import InputError
from sudare.ledger.records import NewPublicationError
from sudare.microdata.pseudonyms.keys import read_key
from sudare.release.folders import REPORT_PAGE, ReportWorkshop, appear, require_free, told
from sudare.release.hashing import hash_of_file
from sudare.release.noting import KnownFolders, find_noted_folders, note_report
from sudare.release.verification import Check

__all__ = ["STAGES", "ProtectedFolder", "run_table_plan"]

Progress = Callable[[str, float | None], None]
"""Told what is being done, a word of STAGES, and which share of it is done where this is known."""

STAGES = ("tables.read", "tables.protect", "tables.write", "tables.attack")
ESTAT = "table-estat.csv"
MOST_TURNS = 5
"""How often the attacks are run again because something else was published in the meantime."""


@dataclass(frozen=True, eq=False)
class ProtectedFolder:
    """A plan that was carried out.

    Attributes:
        folder: where the result is.
        document: what ``report.json`` says.
        attacks: what the attacks found; for the holder.
        lost: earlier publications that the ledger knows of, and that are not there any more, or were changed.
        left_out: those that the attacks could not compare with this one: of another value or kind, or contradicting it.
    """

    folder: Path
    document: Mapping[str, Any]
    attacks: tuple[AttackReport, ...]
    lost: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def run_table_plan(
    plan: TablePlan, *, even_if_broken: bool = False, progress: Progress | None = None
) -> ProtectedFolder:
    """Carry out a plan, and write the folder with the protected tables and the report.

    Args:
        plan: what to do.
        even_if_broken: show the tables even if an attack breaks them; the report then says so.
        progress: told how far it is.

    Raises:
        InputError: if the data is not what the plan says, cannot be protected, or an attack breaks the result; nothing is
            written.
        LedgerError: if the plan names a ledger that cannot be used, or does not know the data set.
        OutputError: if the folder exists or cannot be written.
    """
    tell = progress if progress is not None else _silent
    require_free(plan.folder)
    known = _known_to_ledger(plan)
    for folder in plan.earlier:
        _require_sound(folder.resolve())
    if isinstance(plan.protection, CellKey):
        read_key(plan.protection.key_file)  # a secret that is not there is noticed before anything is read
    with ReportWorkshop.beside(plan.folder) as workshop:
        if isinstance(plan.source, MeshInput):
            document, confidential = _merge(plan, plan.source, workshop.folder, tell)
        else:
            document, confidential = _protect(plan, workshop.folder, tell)
        for _ in range(MOST_TURNS):
            tell("tables.attack", None)
            earlier, left_out = _earlier_folders(plan, known, workshop.folder, document)
            reports = attack_folder(workshop.folder, document, earlier=earlier)
            if not even_if_broken:
                _require_unbroken(reports)
            document |= attacks_in_public(reports, even_if_broken=even_if_broken)
            confidential["attacks"] = attacks_in_full(reports)
            text = _finish(plan, workshop.folder, document, confidential)
            latest = _known_to_ledger(plan)
            if latest == known and _is_noted(plan, text, known):
                break
            known = _grown(known, _known_to_ledger(plan))
        else:
            raise _too_busy()
        workshop.complete(text)
        appear(workshop.folder, plan.folder)
    return ProtectedFolder(plan.folder, document, reports, known.lost, tuple(map(str, left_out)))


def _known_to_ledger(plan: TablePlan) -> KnownFolders:
    """What the ledger knows; a folder whose public files were changed is as good as lost."""
    if plan.ledger is None:
        return KnownFolders()
    known = find_noted_folders(plan.ledger, REPORT_FORMAT)
    changed = [folder for folder in known.found if _fault_of(folder) is not None]
    found = tuple(folder for folder in known.found if folder not in changed)
    return KnownFolders(found, (*known.lost, *map(str, changed)), known.publications)


def _earlier_folders(
    plan: TablePlan, known: KnownFolders, folder: Path, document: Mapping[str, Any]
) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Which folders are attacked together with this one, and which of the ledger cannot be compared with it."""
    named = tuple(dict.fromkeys(one.resolve() for one in plan.earlier))
    noted = tuple(one for one in known.found if one not in named)
    return find_comparable(folder, document, named, noted)


def _is_noted(plan: TablePlan, text: bytes, known: KnownFolders) -> bool:
    """Note the publication; nothing is noted if there is another one that the attacks did not know of."""
    if plan.ledger is None:
        return True
    try:
        note_report(
            plan.ledger,
            text,
            report_format=REPORT_FORMAT,
            folder=plan.folder,
            title=plan.title,
            known=known.publications,
        )
    except NewPublicationError:
        return False
    return True


def _grown(known: KnownFolders, latest: KnownFolders) -> KnownFolders:
    """What the ledger knows now. A run that has noted its result and not yet shown it cannot be attacked."""
    if set(latest.lost) - set(known.lost):
        raise _too_busy()
    return latest


def _too_busy() -> InputError:
    return InputError(
        "Other tables about the same data are being published at this moment, so nothing was written: they have to be attacked "
        "together. Try again when they are there.",
        "同じデータについて、ほかの表が同時に公表されています。合わせて攻撃する必要があるため、何も書き込みませんでした。"
        "公表が終わってから、もう一度お試しください。",
    )


def _protect(plan: TablePlan, folder: Path, tell: Progress) -> tuple[dict[str, Any], dict[str, Any]]:
    tell("tables.read", None)
    judged = read_judged_table(plan)
    tell("tables.protect", None)
    protected = protect_table(judged, plan.protection)
    tell("tables.write", None)
    files = []
    system = judged.table.system
    digits = _digits_shown(plan, protected)
    shown = protected.shown // 10 ** (judged.table.decimals - digits)
    with told(plan.folder):
        for planned, table in zip(plan.tables, system.tables, strict=True):
            text = table_text(
                table,
                shown,
                protected.hidden,
                plan.value_name,
                digits,
                STATES[plan.method],
            )
            (folder / planned.file).write_text(text, encoding="utf-8", newline="")
            files.append(folder / planned.file)
        if "tau-argus" in plan.formats:
            _write_status_codes(plan, protected, folder)
        if protected.suppression is not None:
            text = protected.suppression.certificate.to_text()
            _write_confidential(folder / CERTIFICATE, text.encode() + b"\n")
    document = document_of_tables(plan, protected, files, digits)
    confidential = confidential_document(plan, protected, _hash_of_input(plan))
    _write_confidential(folder / CONFIDENTIAL, _text(confidential))
    return document, confidential


def _digits_shown(plan: TablePlan, protected: Protected) -> int:
    """Those that the plan states, or more if published cells need them; hidden values have no say in it."""
    stated = None if plan.is_of_counts or isinstance(plan.source, ArgusInput | MeshInput) else plan.source.decimals
    table = protected.judged.table
    return digits_needed_by(protected.shown[~protected.hidden], table.decimals, min(stated or 0, table.decimals))


def _merge(plan: TablePlan, source: MeshInput, folder: Path, tell: Progress) -> tuple[dict[str, Any], dict[str, Any]]:
    tell("tables.read", None)
    meshes = read_meshes(source)
    tell("tables.protect", None)
    minimum = plan.protection.minimum if isinstance(plan.protection, MergeMeshes) else 0
    try:
        merged = merge_meshes(
            meshes.codes, source.level, {source.population: meshes.population}, meshes.values, minimum
        )
    except InputError as error:
        raise InputError(f"{source.path.name}: {error.english}", f"{source.path.name}: {error.japanese}") from None
    tell("tables.write", None)
    files = [folder / "table.csv"]
    with told(plan.folder):
        files[0].write_text(mesh_text(merged), encoding="utf-8", newline="")
    if "e-stat" in plan.formats:
        files.append(folder / ESTAT)
        write_estat(files[-1], merged)
    confidential = {
        "format": CONFIDENTIAL_FORMAT,
        "note": {"english": NOTE.english, "japanese": NOTE.japanese},
        "input": {"sha256": _hash_of_input(plan)},
    }
    return document_of_meshes(plan, merged, files), confidential


def _write_status_codes(plan: TablePlan, protected: Protected, folder: Path) -> None:
    """Status codes as tau-ARGUS writes them. They tell which cells are unsafe, and why: they stay in the house."""
    table = protected.judged.table
    for planned, part in zip(plan.tables, table.system.tables, strict=True):
        cells = part.cells.reshape(-1)
        own = CellTable(
            TableSystem.of_dimensions(part.dimensions),
            table.values[cells],
            table.counts[cells],
            table.largest[cells],
            table.decimals,
        )
        lines = status_lines(own, protected.status[cells])
        name = f"confidential-tau-argus-{planned.name}.csv" if planned.name else "confidential-tau-argus.csv"
        _write_confidential(folder / name, "".join(f"{line}\r\n" for line in lines).encode())


def _require_sound(folder: Path) -> None:
    """Refuse an earlier folder whose public files are missing or changed, before any data is read."""
    fault = _fault_of(folder)
    if fault is not None:
        raise InputError(
            f"The earlier folder '{folder}' is not as it was written: {fault.english}. Name the folder as it was published.",
            f"以前のフォルダ「{folder}」が書き出されたときの状態と異なります: {fault.japanese}。"
            "公表したままのフォルダを指定してください。",
        )


def _fault_of(folder: Path) -> Check | None:
    """What is wrong with the public files of a folder."""
    faults = (check for check in verify_protected(folder) if check.outcome == "failed")
    return next((one for one in faults if one.name in ("report", "tables") or one.name.startswith("file")), None)


def _hash_of_input(plan: TablePlan) -> str:
    """Of the data; of several files, of the list of their hashes."""
    source = plan.source
    paths = [source.path] if source.path is not None else []
    if isinstance(source, CellsInput) and source.path is None:
        paths = [table.path for table in plan.tables if table.path is not None]
    hashes = [hash_of_file(path) for path in paths if path.is_file()]
    return " ".join(hashes)


def _require_unbroken(reports: Sequence[AttackReport]) -> None:
    for report in reports:
        broken = report.with_outcome(Outcome.BROKEN)
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


def _finish(plan: TablePlan, folder: Path, document: dict[str, Any], confidential: dict[str, Any]) -> bytes:
    """Write the pages and the holder's file with the hash of the report; the text of the report, which comes last."""
    text = _text(document)
    confidential["report_sha256"] = _hash(text)
    with told(plan.folder):
        for name in (CONFIDENTIAL, CONFIDENTIAL_PAGE):
            (folder / name).unlink(missing_ok=True)
        _write_confidential(folder / CONFIDENTIAL, _text(confidential))
        page = render_table_page(folder, document, language=plan.language)
        (folder / REPORT_PAGE).write_text(page, encoding="utf-8", newline="")
        own = render_table_page(folder, document, confidential=confidential, language=plan.language)
        _write_confidential(folder / CONFIDENTIAL_PAGE, own.encode())
    return text


def _write_confidential(path: Path, text: bytes) -> None:
    """A file that nobody but its owner can read, from its first byte on."""
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(text)


def _text(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, indent=1, default=_plain).encode() + b"\n"


def _plain(value: object) -> object:
    if isinstance(value, np.integer):
        return int(value)
    raise TypeError(type(value).__name__)


def _hash(text: bytes) -> str:
    import hashlib

    return hashlib.sha256(text).hexdigest()


def _silent(stage: str, share: float | None) -> None:
    pass
