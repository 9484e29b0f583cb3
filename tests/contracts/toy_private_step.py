"""A toy step with a price: as many equal rows as there are records, with noise. It is this class, and one line.

A section of it::

    [protection]
    method = "only-count"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from sudare.bilingual import Words
from sudare.microdata.records import Records
from sudare.noise import add_noise
from sudare.privacy import Budget, ReleaseEvent, Unit
from sudare.releases.kinds.records.planning.column_plan import PlannedColumn
from sudare.releases.kinds.records.steps.step import Done, PrivateStep
from sudare.sections import Section

if TYPE_CHECKING:
    from sudare.releases.kinds.records.planning.plan_file import PeoplePlan

__all__ = ["OnlyCount"]


@dataclass(frozen=True)
class OnlyCount(PrivateStep):
    """Rows that tell how many people there are, and nothing else."""

    text: str
    name = "only-count"
    keys = ("text",)
    words = Words("Nothing but a count", "件数のみ")
    untold = ("text",)

    @classmethod
    def read(cls, section: Section, columns: Mapping[str, PlannedColumn], file: str) -> Self:
        return cls(section.text("text", "1"))

    def require_budget(self, section: Section, budget: Budget, unit: Unit) -> None:
        if budget.currency == "rho":
            section.refuse("epsilon", "is needed", "が必要です")

    def run_privately(
        self, plan: PeoplePlan, records: Records, budget: Budget, unit: Unit
    ) -> tuple[Done, ReleaseEvent]:
        noisy, event = add_noise([records.rows], budget, unit=unit)
        rows: dict[str, list[Any]] = {name: [self.text] * max(int(noisy[0]), 1) for name in plan.published}
        protects = Words("Differential privacy of every person.", "各人の差分プライバシー。")
        keeps = Words("About how many people there are.", "おおよその人数。")
        return Done(self.name, "only-count", Records.of_columns(rows), protects, keeps), event
