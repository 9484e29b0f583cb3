"""What all methods for tables of cells have in common: how such tables are read, written, attacked and checked.

A method of this sort says what is shown of each cell (`CellMethod.protect_cells`), how far from it the true value may be
(`CellMethod.reach`), and what follows for its report; everything else has an answer here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from sudare.attacks.verdicts import AttackReport
from sudare.bilingual import Words
from sudare.disclosure.argus.files import status_lines
from sudare.disclosure.structure import CellTable, TableSystem
from sudare.disclosure.suppression.problem import SuppressionProblem
from sudare.disclosure.suppression.singletons import joint_cells, lone_contributors
from sudare.releases.documents import document_text
from sudare.releases.kinds.tables.attacking.cell_attacks import AttackedCells, attack_cells
from sudare.releases.kinds.tables.confidential import CONFIDENTIAL, write_confidential
from sudare.releases.kinds.tables.confidential_document import confidential_document
from sudare.releases.kinds.tables.document import document_of_tables
from sudare.releases.kinds.tables.methods.method import DisclosureMethod, SettingsT, TableDraft
from sudare.releases.kinds.tables.planning.input_plan import ArgusInput, MeshInput
from sudare.releases.kinds.tables.published_table import (
    PublishedTables,
    digits_needed_by,
    read_published_tables,
    table_text,
)
from sudare.releases.kinds.tables.sources import JudgedTable, RecordCells, hash_of_input, read_judged_table
from sudare.releases.verification import UnsoundError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from numpy.typing import NDArray

    from sudare.releases.kinds.tables.planning.plan_file import TablePlan

    Integers = NDArray[np.int64]
    Booleans = NDArray[np.bool_]

__all__ = ["CellMethod", "Cost", "Protected", "problem_of"]

Cost = Literal["value", "count", "equal"]

ATTACK_WORDS = {
    "interval": Words(
        "Bounds of the unsafe cells from all that is published, by linear programs",
        "公表された値から、一次秘匿対象セルの範囲を線形計画で求める",
    ),
    "earlier": Words("The same with tables that were published before", "以前に公表した表も使って同じことをする"),
}


@dataclass(frozen=True, eq=False)
class Protected:
    """What becomes of every cell.

    Attributes:
        judged: the table as it is, and its unsafe cells.
        shown: the value that is published; 0 where it is hidden.
        hidden: cells whose value is not published.
        status: as tau-ARGUS numbers it.
        problem: what must remain uncertain.
    """

    judged: JudgedTable
    shown: Integers
    hidden: Booleans
    status: Integers
    problem: SuppressionProblem

    @classmethod
    def without_hiding(cls, judged: JudgedTable, shown: Integers) -> Protected:
        """All cells are shown, as they are or changed."""
        nothing = np.zeros(judged.table.system.size, dtype=np.bool_)
        return cls(judged, shown, nothing, judged.primaries.status, problem_of(judged))


ProtectedT = TypeVar("ProtectedT", bound=Protected)


class CellMethod(DisclosureMethod[SettingsT, JudgedTable, ProtectedT]):
    """A method for tables of cells.

    Attributes:
        hides_cells: whether it can hide cells that a file of tau-ARGUS marks.
        state: what the status column says of a cell that is shown.
        adds_up: whether published cells add up to published totals.
    """

    attack_words = ATTACK_WORDS
    hides_cells: bool = False
    state: str = "published"
    adds_up: bool = True

    def columns_of_records(self, settings: SettingsT) -> tuple[str, ...]:
        """Columns of the records that it needs besides those of the plan; none by default."""
        return ()

    def keys_of_cells(self, settings: SettingsT, cells: RecordCells) -> Integers | None:
        """A number for each cell that depends on the records in it; None by default.

        Raises:
            InputError: if the records do not give any.
        """
        return None

    def read_data(self, plan: TablePlan) -> JudgedTable:
        """All tables of the plan as one system, and which of its cells are unsafe."""
        return read_judged_table(plan)

    def protect(self, plan: TablePlan, settings: SettingsT, data: JudgedTable) -> ProtectedT:
        """What becomes of every cell of a table that adds up."""
        data.table.check()
        return self.protect_cells(settings, data)

    @abstractmethod
    def protect_cells(self, settings: SettingsT, judged: JudgedTable) -> ProtectedT:
        """What becomes of every cell.

        Args:
            settings: of the plan.
            judged: all tables of a plan, as one system.

        Raises:
            InputError: if protection is impossible, or the time was too short for a safe answer.
        """

    def confidential_record(self, result: ProtectedT) -> DataclassInstance | None:
        """What ``confidential.json`` says besides what it says of all methods; nothing by default."""
        return None

    def confidential_files(self, result: ProtectedT) -> Mapping[str, bytes]:
        """What the holder gets besides, by name (`confidential_names`); nothing by default."""
        return {}

    def write(self, plan: TablePlan, settings: SettingsT, result: ProtectedT, folder: Path) -> TableDraft:
        """Write the tables, what only the holder gets, and return their description."""
        table = result.judged.table
        digits = _digits_shown(plan, result)
        shown = result.shown // 10 ** (table.decimals - digits)
        files = []
        for planned, part in zip(plan.tables, table.system.tables, strict=True):
            text = table_text(part, shown, result.hidden, plan.value_name, digits, self.state)
            (folder / planned.file).write_text(text, encoding="utf-8", newline="")
            files.append(folder / planned.file)
        if "tau-argus" in plan.formats:
            _write_status_codes(plan, result, folder)
        for name, content in self.confidential_files(result).items():
            write_confidential(folder / name, content)
        told = self.public_settings(plan, settings, result)
        document = document_of_tables(plan, self.words_for(settings), told, result, files, digits)
        confidential = confidential_document(
            plan,
            result,
            hash_of_input(plan),
            shows_true_values=self.shows_true_values,
            record=self.confidential_record(result),
        )
        write_confidential(folder / CONFIDENTIAL, document_text(confidential))
        return TableDraft(document=document, confidential=confidential)

    def reach(self, published: PublishedTables, settings: Mapping[str, Any]) -> tuple[int, int]:
        """How far below and above a value that is shown the true one may be, as everybody knows; not at all by default.

        Args:
            published: what everybody has.
            settings: the public ones, as the report states them. They may be hostile.

        Raises:
            KeyError: if a setting is missing; likewise TypeError and ValueError if it is none.
        """
        return 0, 0

    def hides_unsafe_cells_only(self, settings: Mapping[str, Any]) -> bool:
        """Whether everybody knows, by the public settings, that all hidden cells are unsafe ones; they do not by default."""
        return False

    def attack(self, folder: Path, document: Mapping[str, Any], earlier: Sequence[Path]) -> tuple[AttackReport, ...]:
        """The interval attack, those of the method, and the interval attack with earlier tables."""
        return attack_cells(folder, document, earlier, self.further_attacks)

    def further_attacks(self, cells: AttackedCells) -> tuple[AttackReport, ...]:
        """Attacks that are about the method itself; none by default."""
        return ()

    def check_published(self, folder: Path, document: Mapping[str, Any]) -> tuple[str, str]:
        """Every cell is there once, and every sum whose cells are all shown holds, for methods that keep sums."""
        published = read_published_tables(folder, document)
        hidden = [int(published.hidden[table.cells].sum()) for table in published.system.tables]
        if hidden != [table["hidden"] for table in document["tables"]]:
            raise UnsoundError("other cells are hidden than stated", "秘匿セルの数が記載と異なります")
        if not self.adds_up:
            return "every cell is there", "すべてのセルがあります"
        shown = np.flatnonzero(abs(published.system.equations) @ published.hidden.astype(np.int64) == 0)
        gaps = published.system.equations[shown] @ published.values
        if gaps.any():
            raise UnsoundError("published cells do not add up", "公表されたセルの合計が合いません")
        return "every cell is there, and what is shown adds up", "すべてのセルがあり、公表された合計が一致します"


def problem_of(judged: JudgedTable, *, cost: Cost = "value", singletons: bool = False) -> SuppressionProblem:
    """What must remain uncertain in a table, and what hiding each cell costs.

    Args:
        judged: the table, and its unsafe cells.
        cost: of hiding a cell: its value, its contributors, or the same for all.
        singletons: whether contributors who are alone in a cell, or dominate several, count as attackers.

    Raises:
        InputError: if a cell is larger than the solver's numbers are exact.
    """
    table, primaries = judged.table, judged.primaries
    costs = {
        "value": np.abs(table.values),
        "count": table.counts,
        "equal": np.ones(table.system.size, dtype=np.int64),
    }[cost]
    if not singletons:
        return SuppressionProblem.of_table(table, primaries, costs=costs)
    lone = lone_contributors(table)
    return SuppressionProblem.of_table(
        table,
        primaries,
        costs=costs,
        insiders=lone.insiders,
        insider_rest=lone.rest,
        unions=joint_cells(table, primaries),
    )


def _digits_shown(plan: TablePlan, protected: Protected) -> int:
    """Those that the plan states, or more if published cells need them; hidden values have no say in it."""
    stated = None if plan.is_of_counts or isinstance(plan.source, ArgusInput | MeshInput) else plan.source.decimals
    table = protected.judged.table
    return digits_needed_by(protected.shown[~protected.hidden], table.decimals, min(stated or 0, table.decimals))


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
        write_confidential(folder / name, "".join(f"{line}\r\n" for line in lines).encode())
