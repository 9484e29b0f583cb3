"""The kind ``tables``: tables that statistical disclosure control protects, from a plan to a folder with the tables and a report.

The order of the steps is described in `sudare.releases.protocol`; here stands what tables add to it: how they are read, judged,
protected, written and attacked. A table that an attack breaks is not shown unless that is asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sudare.attacks.verdicts import AttackReport
from sudare.errors import InputError
from sudare.releases.documents import document_text, document_values
from sudare.releases.header import PlanHeader
from sudare.releases.kind import Attacked, Drawn, Kind, Run
from sudare.releases.kinds.tables.attacking.folder_attacks import attack_folder
from sudare.releases.kinds.tables.attacking.knowledge import REPORT_FORMAT
from sudare.releases.kinds.tables.attacking.linked_attacks import find_comparable
from sudare.releases.kinds.tables.confidential import CONFIDENTIAL, CONFIDENTIAL_PAGE, write_confidential
from sudare.releases.kinds.tables.confidential_document import ConfidentialDocument, attacks_in_full
from sudare.releases.kinds.tables.document import TablesDocument, with_attacks
from sudare.releases.kinds.tables.methods.method import TableDraft
from sudare.releases.kinds.tables.methods.registry import method_named
from sudare.releases.kinds.tables.page import render_table_page
from sudare.releases.kinds.tables.planning.plan_file import TablePlan, read_table_plan
from sudare.releases.kinds.tables.sources import require_table_columns
from sudare.releases.kinds.tables.verification import verify_protected
from sudare.releases.progress import Progress
from sudare.releases.protocol import carry_out
from sudare.releases.verification import Check
from sudare.storage.staging import PAGE

__all__ = ["STAGES", "TABLES", "ProtectedFolder", "run_table_plan"]

STAGES = ("tables.read", "tables.protect", "tables.write", "tables.attack")
"""The stages that progress reports."""


@dataclass(frozen=True, eq=False)
class ProtectedFolder:
    """A plan that was carried out.

    Attributes:
        folder: where the result is.
        document: what ``release.json`` says.
        attacks: what the attacks found; for the holder.
        lost: earlier publications that the ledger knows of, and that are not there any more, or were changed.
        left_out: those that the attacks could not compare with this one: of another value or kind, or contradicting it.
        confidential: what only the holder may know, without the attacks.
    """

    folder: Path
    document: Mapping[str, Any]
    attacks: tuple[AttackReport, ...]
    lost: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    confidential: ConfidentialDocument | None = None


def run_table_plan(
    plan: TablePlan, *, even_if_broken: bool = False, progress: Progress | None = None
) -> ProtectedFolder:
    """Carry out a plan, and write the folder with the protected tables and the report.

    Args:
        plan: what to do.
        even_if_broken: show the tables even if an attack breaks them; the report then says so.
        progress: called with the stage, and the share of it that is done.

    Raises:
        InputError: if the data is not what the plan says, cannot be protected, or an attack breaks the result; nothing is
            written.
        LedgerError: if the plan names a ledger that cannot be used, or does not know the data set.
        OutputError: if the folder exists or cannot be written.
    """
    made = carry_out(TABLES, plan, even_if_broken=even_if_broken, progress=progress)
    own = None if made.draft is None else made.draft.confidential
    return ProtectedFolder(made.folder, made.document, made.attacks, made.lost, made.left_out, own)


class TablesKind(Kind[TablePlan, object, object, TableDraft]):
    """Tables protected by statistical disclosure control; what is particular to a method is asked of the method."""

    name = "tables"
    report_format = REPORT_FORMAT

    def read_plan(self, file: Path, folder: Path | None = None) -> TablePlan:
        """Read a plan; see `sudare.releases.kinds.tables.planning.plan_file`."""
        return read_table_plan(file, folder)

    def header(self, plan: TablePlan) -> PlanHeader:
        """What the protocol needs to know of a plan; it has no price."""
        return plan.header

    def prepare(self, plan: TablePlan, folder: Path) -> None:
        """Earlier folders, and a secret, that are not there are noticed before anything is read."""
        for earlier in plan.earlier:
            _require_sound(earlier.resolve())
        method_named(plan.method).prepare(plan.protection)

    def require_source(self, plan: TablePlan, *, has_opted_out: bool) -> None:
        """Refuse files that are not there or lack a column."""
        require_table_columns(plan)

    def read(self, plan: TablePlan, run: Run) -> object:
        """Read the data, and judge every cell."""
        run.tell("tables.read", None)
        return method_named(plan.method).read_data(plan)

    def draw(self, plan: TablePlan, data: object, run: Run) -> Drawn[object]:
        """Hide, round, perturb or merge."""
        run.tell("tables.protect", None)
        return Drawn(result=method_named(plan.method).protect(plan, plan.protection, data))

    def write(self, plan: TablePlan, drawn: Drawn[object], folder: Path, run: Run) -> TableDraft:
        """Write the tables, and what only the holder gets."""
        run.tell("tables.write", None)
        return method_named(plan.method).write(plan, plan.protection, drawn.result, folder)

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
        confidential = replace(draft.confidential, attacks=attacks_in_full(attacked.reports), report_sha256=digest)
        for name in (CONFIDENTIAL, CONFIDENTIAL_PAGE):
            (folder / name).unlink(missing_ok=True)
        write_confidential(folder / CONFIDENTIAL, document_text(confidential))
        page = render_table_page(folder, values, language=plan.language)
        (folder / PAGE).write_text(page, encoding="utf-8", newline="")
        held = document_values(confidential)
        own = render_table_page(folder, values, confidential=held, language=plan.language)
        write_confidential(folder / CONFIDENTIAL_PAGE, own.encode())
        return document

    def fault_of(self, folder: Path) -> Check | None:
        """What is wrong with the public files of a folder."""
        faults = (check for check in verify_protected(folder) if check.outcome == "failed")
        return next((one for one in faults if one.name in ("report", "tables") or one.name.startswith("file")), None)

    def check(self, folder: Path, ledger: str | None = None) -> list[Check]:
        """Check a folder of protected tables; see `verify_protected`."""
        return verify_protected(folder, ledger)


TABLES = TablesKind()


def _require_sound(folder: Path) -> None:
    """Refuse an earlier folder whose public files are missing or changed, before any data is read."""
    fault = TABLES.fault_of(folder)
    if fault is not None:
        raise InputError(
            f"The earlier folder '{folder}' is not as it was written: {fault.english}. Name the folder as it was published.",
            f"以前のフォルダ「{folder}」が書き出されたときの状態と異なります: {fault.japanese}。"
            "公表したままのフォルダを指定してください。",
        )
