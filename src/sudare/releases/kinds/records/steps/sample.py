"""``sample``: some of the records, drawn fairly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Self

from sudare.bilingual import Words
from sudare.microdata.perturb.outcomes import Outcome
from sudare.microdata.perturb.sampling import sample_by_coins, sample_of_size, sample_of_strata
from sudare.microdata.records import Records
from sudare.releases.kinds.records.planning.column_plan import PlannedColumn, column_of, share_of
from sudare.releases.kinds.records.steps.perturbing import OutcomeStep
from sudare.sections import Section

if TYPE_CHECKING:
    from sudare.releases.kinds.records.planning.plan_file import PeoplePlan

__all__ = ["SampleStep"]


@dataclass(frozen=True)
class SampleStep(OutcomeStep):
    """Some of the records: by coins, or this many, of all or of each stratum."""

    rate: Fraction | None
    rows: int | None
    by: str | None
    name = "sample"
    keys = ("rate", "rows", "by")
    words = Words("Sampling", "標本抽出")
    commands = ("anonymize", "sample")
    keeps_values = True

    @classmethod
    def read(cls, section: Section, columns: Mapping[str, PlannedColumn], file: str) -> Self:
        """With ``rate`` or ``rows``; ``by`` may name strata."""
        if section.has("rate") == section.has("rows"):
            section.refuse(
                "rate", "or 'rows' must be given, and not both", "か「rows」のどちらか一方を指定してください"
            )
        rate = share_of(section, "rate") if section.has("rate") else None
        rows = section.whole("rows") if section.has("rows") else None
        if rows is not None and rows < 1:
            section.refuse("rows", "must be at least 1", "は 1 以上です")
        by = column_of(section, "by", section.text("by"), columns) if section.has("by") else None
        if by is not None and rate is None:
            section.refuse(
                "rows", "must be 'rate' where 'by' names a column", "ではなく「rate」を「by」と組み合わせてください"
            )
        return cls(rate, rows, by)

    def takes_records_away(self) -> bool:
        """It does: that is what it is."""
        return True

    def looked_at_columns(self, quasi_identifiers: Sequence[str]) -> Sequence[str]:
        """The strata."""
        return () if self.by is None else (self.by,)

    def perturb(self, plan: PeoplePlan, records: Records) -> Outcome:
        """Draw."""
        if self.by is not None:
            return sample_of_strata(records, self.by, self.rate or 0)
        return sample_of_size(records, self.rows) if self.rows is not None else sample_by_coins(records, self.rate or 0)
