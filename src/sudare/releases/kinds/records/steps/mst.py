"""``mst``: synthetic people, drawn from a tree of pairs of columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sudare.bilingual import Words
from sudare.microdata.records import Records
from sudare.privacy import Budget, ReleaseEvent, Unit
from sudare.releases.kinds.records.planning.column_plan import PlannedColumn
from sudare.releases.kinds.records.steps.step import Done
from sudare.releases.kinds.records.steps.synthesis import Synthesize, require_described, whole_from_one
from sudare.sections import Section

if TYPE_CHECKING:
    from sudare.releases.kinds.records.planning.plan_file import PeoplePlan

__all__ = ["MstStep"]


@dataclass(frozen=True)
class MstStep(Synthesize):
    """Synthetic people from a tree of pairs."""

    rows: int | None
    name = mechanism = "mst"
    keys = ("rows",)
    words = Words("Synthetic people (MST)", "合成データ（MST）")

    @classmethod
    def read(cls, section: Section, columns: Mapping[str, PlannedColumn], file: str) -> Self:
        """``rows`` may be left out; every column needs what may stand in it."""
        from sudare.microdata.synthetic.synthesizing import MAX_CELLS

        sizes = require_described(section, cls.name, columns)
        if len(sizes) > 1 and sizes[-1][0] * sizes[-2][0] > MAX_CELLS:  # which the method would refuse later
            section.refuse(
                "method",
                f"is \"mst\", and '{sizes[-1][1]}' and '{sizes[-2][1]}' have more than {MAX_CELLS:,} combinations of values: "
                "make bins, or list fewer values",
                f'が "mst" ですが、「{sizes[-1][1]}」と「{sizes[-2][1]}」の値の組み合わせが {MAX_CELLS:,} を超えます。'
                "bins を使うか、値を減らしてください",
            )
        return cls(whole_from_one(section, "rows"))

    def run_privately(
        self, plan: PeoplePlan, records: Records, budget: Budget, unit: Unit
    ) -> tuple[Done, ReleaseEvent]:
        """Draw them."""
        return self.synthesize(plan, records, budget, unit, rows=self.rows)
