"""``aim``: synthetic people, drawn from what a workload needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sudare.bilingual import Words
from sudare.microdata.records import Records
from sudare.privacy import Budget, ReleaseEvent, Unit
from sudare.releases.kinds.records.planning.column_plan import PlannedColumn, column_of
from sudare.releases.kinds.records.steps.step import Done
from sudare.releases.kinds.records.steps.synthesis import Synthesize, Workload, require_described, whole_from_one
from sudare.sections import Section

if TYPE_CHECKING:
    from sudare.releases.kinds.records.planning.plan_file import PeoplePlan

__all__ = ["AimStep"]


@dataclass(frozen=True)
class AimStep(Synthesize):
    """Synthetic people from tables that a workload needs, chosen in rounds."""

    rows: int | None
    workload: int | tuple[tuple[str, ...], ...] | None
    rounds: int | None
    name = mechanism = "aim"
    keys = ("rows", "workload", "rounds")
    words = Words("Synthetic people (AIM)", "合成データ（AIM）")

    @classmethod
    def read(cls, section: Section, columns: Mapping[str, PlannedColumn], file: str) -> Self:
        """``rows``, ``rounds`` and ``workload`` may be left out; every column needs what may stand in it."""
        require_described(section, cls.name, columns)
        rows, rounds = whole_from_one(section, "rows"), whole_from_one(section, "rounds")
        return cls(rows, _read_workload(section, columns) if section.has("workload") else None, rounds)

    def run_privately(
        self, plan: PeoplePlan, records: Records, budget: Budget, unit: Unit
    ) -> tuple[Done, ReleaseEvent]:
        """Draw them."""
        return self.synthesize(plan, records, budget, unit, rows=self.rows, workload=self.workload, rounds=self.rounds)


def _read_workload(section: Section, columns: Mapping[str, PlannedColumn]) -> Workload:
    if section.is_whole("workload"):
        number = section.whole("workload")
        if not 1 <= number <= len(columns):
            section.refuse("workload", f"must be from 1 to {len(columns)}", f"は 1 から {len(columns)} です")
        return number
    tables = section.items("workload")
    if not tables or not all(isinstance(table, list) and table for table in tables):
        section.refuse(
            "workload",
            'must be a number of columns, or a list of tables such as [["age", "job"]]',
            'は列の数か、[["age", "job"]] のような表のリストです',
        )
    return tuple(tuple(column_of(section, "workload", str(name), columns) for name in table) for table in tables)
