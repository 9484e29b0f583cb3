"""Controlled rounding: every cell becomes a multiple of a base, and the table still adds up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.disclosure.rounding import MAX_STEPS, RoundedTable, controlled_rounding
from sudare.releases.kinds.tables.methods.cell_method import CellMethod, Protected, problem_of
from sudare.releases.kinds.tables.methods.method import MethodWords
from sudare.releases.kinds.tables.plain_values import whole_number
from sudare.releases.kinds.tables.planning.protection_plan import seconds_of, whole_within
from sudare.releases.kinds.tables.published_table import PublishedTables
from sudare.releases.kinds.tables.sources import JudgedTable
from sudare.sections import Section

if TYPE_CHECKING:
    from sudare.releases.kinds.tables.planning.plan_file import TablePlan

__all__ = ["ROUNDING", "Round", "RoundedCells"]

WORDS = MethodWords(
    name=Words("Controlled rounding", "加法性を保つ丸め"),
    protects=Words(
        "Every cell was rounded to a multiple of {base}, so that small numbers cannot be read exactly. The rounded table "
        "adds up.",
        "すべてのセルを {base} の倍数に丸めているため、小さな数を正確に読み取れません。丸めた後も合計は一致します。",
    ),
    keeps=Words(
        "All sums hold. Each value is near the true one, by at most {reach}.",
        "合計はすべて一致します。各値と真の値の差は最大 {reach} です。",
    ),
    limits=Words(
        "Not covered: other tables about the same data that are not rounded to the same values, and knowledge from elsewhere. A "
        "multiple of the base may be the exact value.",
        "対象外: 同じ値に丸めていない同じデータの別の表、ほかからの知識。基数の倍数は、元の値そのものであることがあります。",
    ),
)


@dataclass(frozen=True)
class Round:
    """Round every cell to a multiple of a base so that the table still adds up.

    Attributes:
        base: in the units in which values are written.
        steps: how many multiples beyond the next one a cell may go; None for as few as possible.
        seconds: time limit.
    """

    base: int
    steps: int | None = None
    seconds: float = 60.0


@dataclass(frozen=True, eq=False)
class RoundedCells(Protected):
    """Cells of which each is shown as a multiple.

    Attributes:
        rounded: the rounded table.
    """

    rounded: RoundedTable


@dataclass(frozen=True, kw_only=True)
class PublicRounding:
    """What everybody may know of rounding.

    Attributes:
        base: of which values are multiples.
        steps: how many multiples away a value may have been moved.
        reach: how far from its value a cell may be published.
        optimal: whether the sum of all changes is the least possible.
    """

    base: int
    steps: int
    reach: int
    optimal: bool


class _Rounding(CellMethod[Round, RoundedCells]):
    """Multiples of a base."""

    name = "round"
    keys = ("base", "steps", "seconds")
    words = WORDS
    state = "rounded"

    def read_settings(self, section: Section, base: Path) -> Round:
        unit = whole_within(section, "base", 2, 10**12)
        steps = whole_within(section, "steps", 0, MAX_STEPS) if section.has("steps") else None
        return Round(unit, steps, seconds_of(section) if section.has("seconds") else 60.0)

    def protect_cells(self, settings: Round, judged: JudgedTable) -> RoundedCells:
        table = judged.table
        nothing, problem = np.zeros(table.system.size, dtype=np.bool_), problem_of(judged)
        base = settings.base * 10**table.decimals
        rounded = controlled_rounding(
            table.system, table.values, base, steps=settings.steps, time_limit=settings.seconds
        )
        return RoundedCells(judged, rounded.values.copy(), nothing, judged.primaries.status, problem, rounded)

    def public_settings(self, plan: TablePlan, settings: Round, result: RoundedCells) -> PublicRounding:
        steps = result.rounded.steps
        return PublicRounding(
            base=settings.base,
            steps=steps,
            # Magnitudes may have more digits than are shown, and come closer to the next multiple than one unit.
            reach=(steps + 1) * settings.base - plan.is_of_counts,
            optimal=result.rounded.optimal,
        )

    def reach(self, published: PublishedTables, settings: Mapping[str, Any]) -> tuple[int, int]:
        steps, unit = whole_number(settings["steps"]), 10**published.decimals
        # Between two multiples are all values; the next multiple itself is excluded where the digits are known.
        reach = (steps + 1) * whole_number(settings["base"], 1) * unit - published.is_finest
        return reach, reach


ROUNDING = _Rounding()
