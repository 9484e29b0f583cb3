"""What a reader of published tables knows of every cell: between which values it must be, from one table or several.

A cell that is published exactly has both ends the same; a hidden one has no upper end; rounding and bounded noise leave an
interval around what is published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.attacks.tables.solver import SolverFailure
from sudare.bilingual import Words
from sudare.disclosure.structure import TableSystem
from sudare.errors import InputError
from sudare.releases.kinds.tables.confidential import HolderView
from sudare.releases.kinds.tables.methods.registry import cell_method_of_document
from sudare.releases.kinds.tables.plain_values import whole_number
from sudare.releases.kinds.tables.published_table import PublishedTables
from sudare.storage.guarded_json import read_stated
from sudare.storage.staging import document_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Booleans = NDArray[np.bool_]

__all__ = [
    "REPORT_FORMAT",
    "Knowledge",
    "TrueCells",
    "completed",
    "contradiction",
    "knowledge_of",
    "read_report",
    "truth_of",
]

CONTRADICTION = Words(
    "{tables}{where}. Name under [earlier] only tables about the same data, with the same meaning of every code.",
    "{tables}{where}矛盾しています。[earlier] には、同じデータについての、コードの意味が同じ表だけを指定してください。",
)
TABLES_CONTRADICT = Words(
    "The published tables contradict each other or the data",
    "公表した表どうし、または表とデータが",
)
TABLE_CONTRADICTS = Words("'{place}' contradicts this table", "前の表「{place}」とこの表が")
ABOUT_CELL = Words(" about the cell '{label}'", "セル「{label}」について")

REPORT_FORMAT = "sudare-protected-table/1"
SECONDS = 60.0


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Between which values a reader knows every cell to be.

    Attributes:
        system: the cells and their sums.
        low: least value of each.
        high: largest value; infinity where there is no bound.
        decimals: digits after the point.
    """

    system: TableSystem
    low: Integers
    high: Floats
    decimals: int

    @property
    def open(self) -> Booleans:
        """Which cells are not known exactly."""
        return np.asarray(self.low < self.high)


def read_report(folder: str | Path) -> dict[str, object]:
    """What ``release.json`` of a folder with protected tables says.

    Raises:
        InputError: if it is missing, damaged, or of another kind.
    """
    return read_stated(
        document_in(Path(folder)), REPORT_FORMAT, Words("folder of protected tables", "保護した表のフォルダ")
    )


def knowledge_of(published: PublishedTables, document: Mapping[str, Any]) -> Knowledge:
    """What the published values say of the true ones, by the method that the report names."""
    values = published.values
    try:
        below, above = cell_method_of_document(document).reach(published, document["settings"])
        whole_number(below)
        whole_number(above)
    except (KeyError, TypeError, ValueError):
        raise InputError("The report does not state its settings.", "報告書に設定の記載がありません。") from None
    low = np.where(published.hidden, 0, np.maximum(0, values - below)).astype(np.int64)
    high = np.where(published.hidden, np.inf, values.astype(np.float64) + above)
    return Knowledge(published.system, low, high, published.decimals)


@dataclass(frozen=True, eq=False)
class TrueCells:
    """What is used after an attack, to tell whether it came too close.

    Attributes:
        values: of each cell, as far as they are known.
        known: for which cells they are.
        targets: cells that must stay uncertain: the unsafe ones, or all hidden ones where nobody tells which are unsafe.
        lower: how far below its value the interval of each must reach.
        upper: how far above.
    """

    values: Integers
    known: Booleans
    targets: Booleans
    lower: Integers
    upper: Integers


def truth_of(published: PublishedTables, holder: HolderView | None) -> TrueCells:
    """What is known for the comparison; little without the holder's file."""
    size = published.system.size
    if holder is None:
        nothing = np.zeros(size, dtype=np.int64)
        return TrueCells(nothing, np.zeros(size, dtype=np.bool_), published.hidden, nothing, nothing)
    everything = np.ones(size, dtype=np.bool_)
    return TrueCells(holder.values, everything, holder.problem.primary, holder.lower, holder.upper)


def completed(knowledge: Knowledge, truth: TrueCells) -> Integers:
    """Values that agree with all that is known: the true ones as far as they are known, and some for the rest.

    The attack compares with them and never uses them; where the truth is not known, any will do.

    Raises:
        InputError: if there are none, because tables contradict each other.
        SolverFailure: if none was found with the digits that are shown.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    wrong = np.flatnonzero(truth.known & ((truth.values < knowledge.low) | (truth.values > knowledge.high)))
    if wrong.size:
        raise contradiction(knowledge.system.label(int(wrong[0])))
    low = np.where(truth.known, truth.values, knowledge.low).astype(np.float64)
    high = np.where(truth.known, truth.values, knowledge.high).astype(np.float64)
    if (low == high).all():
        return low.astype(np.int64)
    size = knowledge.system.size
    rows = knowledge.system.equations.shape[0]
    sums = LinearConstraint(knowledge.system.equations.astype(np.float64), np.zeros(rows), np.zeros(rows))
    for is_whole in (1, 0):
        answer = milp(
            np.zeros(size),
            integrality=np.full(size, is_whole),
            bounds=Bounds(low, high),
            constraints=sums,
            options={"time_limit": SECONDS, "disp": False},
        )
        if answer.x is not None and is_whole:
            break
    else:
        if answer.x is None:
            raise contradiction(None)
        raise SolverFailure("hidden magnitudes have more digits than are shown")
    found: Integers = np.rint(answer.x).astype(np.int64)
    return found


def contradiction(label: str | None, place: Path | None = None) -> InputError:
    """What to say of tables that cannot all be true.

    Args:
        label: of the cell where this shows, if there is one.
        place: folder of the earlier table, if that is known.
    """
    tables = TABLES_CONTRADICT if place is None else TABLE_CONTRADICTS.format(place=place)
    where = Words.same("") if label is None else ABOUT_CELL.format(label=label)
    return InputError(CONTRADICTION.format(tables=tables, where=where))
