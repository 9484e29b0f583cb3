"""``swap``: values exchanged between records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Self

from sudare.bilingual import Words
from sudare.microdata.models.planned_model import at_least_two
from sudare.microdata.perturb.outcomes import Outcome
from sudare.microdata.perturb.swapping import swap_randomly, swap_ranks, swap_risky
from sudare.microdata.records import Records
from sudare.releases.kinds.records.planning.column_plan import PlannedColumn, columns_of, share_of
from sudare.releases.kinds.records.steps.perturbing import PerturbingStep
from sudare.sections import Section

if TYPE_CHECKING:
    from sudare.releases.kinds.records.planning.plan_file import PeoplePlan

__all__ = ["Swap"]


@dataclass(frozen=True)
class Swap(PerturbingStep):
    """Values exchanged between records."""

    kind: str
    columns: tuple[str, ...]
    within: tuple[str, ...]
    share: Fraction | None
    k: int | None
    distance: Fraction | None
    name = "swap"
    keys = ("kind", "columns", "share", "k", "within", "distance")
    words = Words("Swapping", "データスワッピング")

    @classmethod
    def read(cls, section: Section, columns: Mapping[str, PlannedColumn], file: str) -> Self:
        """With ``columns``, and what each ``kind`` needs."""
        kind = section.choice("kind", ("random", "targeted", "rank"), "random")
        names = columns_of(section, "columns", columns)
        within = columns_of(section, "within", columns) if section.has("within") else ()
        share = k = distance = None
        if kind == "random":
            share = share_of(section, "share")
        elif kind == "targeted":
            k = at_least_two(section, "k")
            if not any(column.role == "quasi-identifier" for column in columns.values()):
                section.refuse(
                    "kind",
                    'is "targeted", which needs a column with role = "quasi-identifier"',
                    'が "targeted" のときは、role = "quasi-identifier" の列が必要です',
                )
        else:
            distance = share_of(section, "distance")
            if within or len(names) != 1:
                section.refuse(
                    "columns",
                    "must name one column of numbers where kind is \"rank\", without 'within'",
                    'は kind が "rank" のとき数値の列一つだけです（「within」は使えません）',
                )
        both = next((name for name in within if name in names), None)
        if both is not None:
            section.refuse(
                "within", f"names '{both}', whose values are swapped", f"の「{both}」は交換する列と重複しています"
            )
        return cls(kind, names, within, share, k, distance)

    def changed_columns(self, quasi_identifiers: Sequence[str]) -> Sequence[str]:
        """Those that are swapped."""
        return self.columns

    def looked_at_columns(self, quasi_identifiers: Sequence[str]) -> Sequence[str]:
        """What is swapped, within what, and by what those at risk are found."""
        return (*self.columns, *self.within, *(quasi_identifiers if self.k is not None else ()))

    def perturb(self, plan: PeoplePlan, records: Records) -> Outcome:
        """Swap at random, between those at risk, or between near ranks."""
        if self.share is not None:
            return swap_randomly(records, self.columns, share=self.share, within=self.within)
        if self.k is not None:
            return swap_risky(records, self.columns, plan.quasi_identifiers, k=self.k, within=self.within)
        return swap_ranks(records, self.columns[0], distance=self.distance or 0)
