"""A toy step: every value of a column becomes one letter. It shows all that a new step takes: this class, and one line.

A section of it::

    [protection]
    method = "blank"
    column = "wage"
    letter = "x"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from sudare.attacks.verdicts import AttackOutcome, Verdict
from sudare.bilingual import Words
from sudare.microdata.records import CodedColumn, Records
from sudare.releases.kinds.records.planning.column_plan import PlannedColumn, column_of
from sudare.releases.kinds.records.steps.step import Done, PlainStep, columns_in_settings
from sudare.sections import Section

if TYPE_CHECKING:
    from sudare.releases.kinds.records.attacking.published_records import PublishedRecords
    from sudare.releases.kinds.records.planning.plan_file import PeoplePlan

__all__ = ["BLANK", "Blank"]

BLANK = 'method = "blank"\ncolumn = "wage"\nletter = "x"\n'


@dataclass(frozen=True)
class Blank(PlainStep):
    """One letter in place of every value of a column."""

    column: str
    letter: str
    name = "blank"
    keys = ("column", "letter")
    words = Words("Blank column", "空白の列")
    keeps_rows = True

    @classmethod
    def read(cls, section: Section, columns: Mapping[str, PlannedColumn], file: str) -> Self:
        return cls(column_of(section, "column", section.text("column"), columns), section.text("letter", "*"))

    def changed_columns(self, quasi_identifiers: Sequence[str]) -> Sequence[str]:
        return (self.column,)

    def run(self, plan: PeoplePlan, records: Records, population: Records | None) -> Done:
        blank = CodedColumn.of(self.column, [self.letter] * records.rows)
        protects = Words("The values of one column.", "一つの列の値。")
        keeps = Words("All other columns.", "ほかのすべての列。")
        return Done(self.name, "blank", records.with_columns(blank), protects, keeps)

    @classmethod
    def changed_in(cls, settings: Mapping[str, Any]) -> Sequence[str]:
        return columns_in_settings(settings)

    @classmethod
    def check_promise(cls, table: PublishedRecords, settings: Mapping[str, Any]) -> list[Verdict]:
        others = sum(label != settings.get("letter") for label in table.records.column(settings["column"]).labels)
        outcome = AttackOutcome.BROKEN if others else AttackOutcome.HELD
        sentence = Words(f"{others} other values were found.", f"ほかの値が {others} 種類見つかりました。")
        return [
            Verdict("models", f"blank {settings['column']}", outcome, others, sentence, Words("Blank it.", "空白に。"))
        ]

    @classmethod
    def require_settings(cls, settings: Mapping[str, Any]) -> None:
        if not isinstance(settings.get("column"), str):
            raise ValueError("settings")
        super().require_settings(settings)
