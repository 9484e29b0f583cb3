"""The kind ``tables``: tables that statistical disclosure control protects, from a plan to a folder with the tables and a report.

What is done in which order is said in `sudare.releases.protocol`; here stands what tables add to it: how they are read, judged,
protected, written and attacked. A table that an attack breaks is not shown unless that is asked for.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sudare.attacks.verdicts import AttackReport
from sudare.disclosure.argus.files import status_lines
from sudare.disclosure.merging import MergedMeshes, merge_meshes, write_estat
from sudare.disclosure.structure import CellTable, TableSystem
from sudare.errors import InputError
from sudare.microdata.pseudonyms.keys import read_key
from sudare.releases.documents import document_text, document_values
from sudare.releases.header import PlanHeader
from sudare.releases.kind import Attacked, Drawn, Kind, Run
from sudare.releases.kinds.tables.attacking.folder_attacks import attack_folder
from sudare.releases.kinds.tables.attacking.knowledge import REPORT_FORMAT
from sudare.releases.kinds.tables.attacking.linked_attacks import find_comparable
from sudare.releases.kinds.tables.confidential import (
    CERTIFICATE,
    CONFIDENTIAL,
    CONFIDENTIAL_FORMAT,
    CONFIDENTIAL_PAGE,
    NOTE,
    attacks_in_full,
    confidential_document,
)
from sudare.releases.kinds.tables.document import TablesDocument, document_of_meshes, document_of_tables, with_attacks
from sudare.releases.kinds.tables.page import render_table_page
from sudare.releases.kinds.tables.planning.input_plan import ArgusInput, CellsInput, MeshInput
from sudare.releases.kinds.tables.planning.plan_file import TablePlan, read_table_plan
from sudare.releases.kinds.tables.planning.protection_plan import CellKey, MergeMeshes
from sudare.releases.kinds.tables.protecting import Protected, protect_table
from sudare.releases.kinds.tables.published_meshes import mesh_text
from sudare.releases.kinds.tables.published_table import STATES, digits_needed_by, table_text
from sudare.releases.kinds.tables.sources import JudgedTable, Meshes, read_judged_table, read_meshes
from sudare.releases.kinds.tables.verification import verify_protected
from sudare.releases.progress import Progress
from sudare.releases.protocol import carry_out
from sudare.releases.verification import Check
from sudare.storage.hashes import hash_of_file
from sudare.storage.staging import PAGE

__all__ = ["STAGES", "TABLES", "ProtectedFolder", "run_table_plan"]

STAGES = ("tables.read", "tables.protect", "tables.write", "tables.attack")
"""What progress is told of."""

ESTAT = "table-estat.csv"


@dataclass(frozen=True, eq=False)
class ProtectedFolder:
    """A plan that was carried out.

    Attributes:
        folder: where the result is.
        document: what ``release.json`` says.
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
    made = carry_out(TABLES, plan, even_if_broken=even_if_broken, progress=progress)
    return ProtectedFolder(made.folder, made.document, made.attacks, made.lost, made.left_out)


@dataclass(frozen=True, kw_only=True, eq=False)
class TableDraft:
    """Tables that are written, and what is said of them.

    Attributes:
        document: what ``release.json`` says, without the attacks.
        confidential: what only the holder gets, without the attacks.
    """

    document: TablesDocument
    confidential: Mapping[str, Any]


class TablesKind(Kind[TablePlan, JudgedTable | Meshes, Protected | MergedMeshes, TableDraft]):
    """Tables protected by statistical disclosure control."""

    name = "tables"
    report_format = REPORT_FORMAT

    def read_plan(self, file: Path, folder: Path | None = None) -> TablePlan:
        """Read a plan; see `sudare.releases.kinds.tables.planning.plan_file`."""
        return read_table_plan(file, folder)

    def header(self, plan: TablePlan) -> PlanHeader:
        """What the order needs to know of a plan; it has no price."""
        return plan.header

    def prepare(self, plan: TablePlan, folder: Path) -> None:
        """Earlier folders, and a secret, that are not there are noticed before anything is read."""
        for earlier in plan.earlier:
            _require_sound(earlier.resolve())
        if isinstance(plan.protection, CellKey):
            read_key(plan.protection.key_file)

    def read(self, plan: TablePlan, run: Run) -> JudgedTable | Meshes:
        """Read the data, and judge every cell."""
        run.tell("tables.read", None)
        return read_meshes(plan.source) if isinstance(plan.source, MeshInput) else read_judged_table(plan)

    def draw(self, plan: TablePlan, data: JudgedTable | Meshes, run: Run) -> Drawn[Protected | MergedMeshes]:
        """Hide, round, perturb or merge."""
        run.tell("tables.protect", None)
        if isinstance(data, Meshes):
            return Drawn(result=_merge(plan, data))
        return Drawn(result=protect_table(data, plan.protection))

    def write(self, plan: TablePlan, drawn: Drawn[Protected | MergedMeshes], folder: Path, run: Run) -> TableDraft:
        """Write the tables, and what only the holder gets."""
        run.tell("tables.write", None)
        if isinstance(drawn.result, Protected):
            draft = _write_tables(plan, drawn.result, folder)
        else:
            draft = _write_meshes(plan, drawn.result, folder)
        return draft

    def attack(self, plan: TablePlan, draft: TableDraft, folder: Path, earlier: Sequence[Path], run: Run) -> Attacked:
        """Attack the tables alone, and together with those that the plan names and that the ledger knows."""
        run.tell("tables.attack", None)
        named = tuple(dict.fromkeys(one.resolve() for one in plan.earlier))
        noted = tuple(one for one in earlier if one not in named)
        document = document_values(draft.document)
        usable, left_out = find_comparable(folder, document, named, noted)
        return Attacked(reports=attack_folder(folder, document, earlier=usable), left_out=left_out)

    def report(
        self, plan: TablePlan, draft: TableDraft, folder: Path, attacked: Attacked, *, even_if_broken: bool
    ) -> TablesDocument:
        """Write the pages, and the holder's file with the hash of the report."""
        document = with_attacks(draft.document, attacked.reports, even_if_broken=even_if_broken)
        values = document_values(document)
        digest = hashlib.sha256(document_text(document)).hexdigest()
        confidential = {
            **draft.confidential,
            "attacks": attacks_in_full(attacked.reports),
            "report_sha256": digest,
        }
        for name in (CONFIDENTIAL, CONFIDENTIAL_PAGE):
            (folder / name).unlink(missing_ok=True)
        _write_confidential(folder / CONFIDENTIAL, document_text(confidential))
        page = render_table_page(folder, values, language=plan.language)
        (folder / PAGE).write_text(page, encoding="utf-8", newline="")
        own = render_table_page(folder, values, confidential=confidential, language=plan.language)
        _write_confidential(folder / CONFIDENTIAL_PAGE, own.encode())
        return document

    def fault_of(self, folder: Path) -> Check | None:
        """What is wrong with the public files of a folder."""
        faults = (check for check in verify_protected(folder) if check.outcome == "failed")
        return next((one for one in faults if one.name in ("report", "tables") or one.name.startswith("file")), None)

    def check(self, folder: Path, ledger: str | None = None) -> list[Check]:
        """Check a folder of protected tables; see `verify_protected`."""
        return verify_protected(folder)


TABLES = TablesKind()


def _write_tables(plan: TablePlan, protected: Protected, folder: Path) -> TableDraft:
    files = []
    table = protected.judged.table
    digits = _digits_shown(plan, protected)
    shown = protected.shown // 10 ** (table.decimals - digits)
    for planned, part in zip(plan.tables, table.system.tables, strict=True):
        text = table_text(part, shown, protected.hidden, plan.value_name, digits, STATES[plan.method])
        (folder / planned.file).write_text(text, encoding="utf-8", newline="")
        files.append(folder / planned.file)
    if "tau-argus" in plan.formats:
        _write_status_codes(plan, protected, folder)
    if protected.suppression is not None:
        certificate = protected.suppression.certificate.to_text()
        _write_confidential(folder / CERTIFICATE, certificate.encode() + b"\n")
    document = document_of_tables(plan, protected, files, digits)
    confidential = confidential_document(plan, protected, _hash_of_input(plan))
    _write_confidential(folder / CONFIDENTIAL, document_text(confidential))
    return TableDraft(document=document, confidential=confidential)


def _digits_shown(plan: TablePlan, protected: Protected) -> int:
    """Those that the plan states, or more if published cells need them; hidden values have no say in it."""
    stated = None if plan.is_of_counts or isinstance(plan.source, ArgusInput | MeshInput) else plan.source.decimals
    table = protected.judged.table
    return digits_needed_by(protected.shown[~protected.hidden], table.decimals, min(stated or 0, table.decimals))


def _merge(plan: TablePlan, meshes: Meshes) -> MergedMeshes:
    if not isinstance(plan.source, MeshInput):
        raise TypeError("meshes of a plan for other tables")
    source = plan.source
    minimum = plan.protection.minimum if isinstance(plan.protection, MergeMeshes) else 0
    try:
        return merge_meshes(meshes.codes, source.level, {source.population: meshes.population}, meshes.values, minimum)
    except InputError as error:
        raise InputError(f"{source.path.name}: {error.english}", f"{source.path.name}: {error.japanese}") from None


def _write_meshes(plan: TablePlan, merged: MergedMeshes, folder: Path) -> TableDraft:
    files = [folder / "table.csv"]
    files[0].write_text(mesh_text(merged), encoding="utf-8", newline="")
    if "e-stat" in plan.formats:
        files.append(folder / ESTAT)
        write_estat(files[-1], merged)
    confidential = {
        "format": CONFIDENTIAL_FORMAT,
        "note": {"english": NOTE.english, "japanese": NOTE.japanese},
        "input": {"sha256": _hash_of_input(plan)},
    }
    return TableDraft(document=document_of_meshes(plan, merged, files), confidential=confidential)


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
    fault = TABLES.fault_of(folder)
    if fault is not None:
        raise InputError(
            f"The earlier folder '{folder}' is not as it was written: {fault.english}. Name the folder as it was published.",
            f"以前のフォルダ「{folder}」が書き出されたときの状態と異なります: {fault.japanese}。"
            "公表したままのフォルダを指定してください。",
        )


def _hash_of_input(plan: TablePlan) -> str:
    """Of the data; of several files, of the list of their hashes."""
    source = plan.source
    paths = [source.path] if source.path is not None else []
    if isinstance(source, CellsInput) and source.path is None:
        paths = [table.path for table in plan.tables if table.path is not None]
    hashes = [hash_of_file(path) for path in paths if path.is_file()]
    return " ".join(hashes)


def _write_confidential(path: Path, text: bytes) -> None:
    """A file that nobody but its owner can read, from its first byte on."""
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(text)
