"""``pram``: values replaced by a matrix of probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Self

from sudare.bilingual import Words
from sudare.microdata.perturb.outcomes import Outcome
from sudare.microdata.perturb.pram import TransitionMatrix, randomize_values
from sudare.microdata.records import Records
from sudare.releases.kinds.records.planning.column_plan import PlannedColumn, column_of, share_of
from sudare.releases.kinds.records.steps.perturbing import PerturbingStep
from sudare.sections import Section
from sudare.storage.toml_text import toml_key

if TYPE_CHECKING:
    from sudare.releases.kinds.records.planning.plan_file import PeoplePlan

__all__ = ["Pram"]


@dataclass(frozen=True)
class Pram(PerturbingStep):
    """Values replaced by a matrix of probabilities."""

    column: str
    matrix: TransitionMatrix
    invariant: bool
    name = "pram"
    keys = ("column", "keep", "matrix", "invariant")
    words = Words("Randomized values (PRAM)", "値の確率的な置き換え（PRAM）")
    untold = ("matrix",)

    @classmethod
    def read(cls, section: Section, columns: Mapping[str, PlannedColumn], file: str) -> Self:
        """With ``column``, and ``keep`` or ``matrix``."""
        column = column_of(section, "column", section.text("column"), columns)
        values = columns[column].values
        if values is None:
            section.refuse(
                "column",
                f"needs all values that may stand in '{column}': list them as 'values' in [columns.{toml_key(column)}]",
                f"の「{column}」に入りうる値を [columns.{toml_key(column)}] の「values」に並べてください",
            )
        labels = (*values, None) if columns[column].missing is not None else values
        invariant = section.flag("invariant", False)
        if section.has("matrix") == section.has("keep"):
            section.refuse(
                "keep", "or 'matrix' must be given, and not both", "か「matrix」のどちらか一方を指定してください"
            )
        if section.has("keep"):
            return cls(column, TransitionMatrix.keeping(labels, share_of(section, "keep")), invariant)
        rows = section.items("matrix")
        if not all(isinstance(row, list) and all(isinstance(item, (int, Decimal)) for item in row) for row in rows):
            section.refuse("matrix", "must be a list of rows of probabilities", "は確率の行のリストです")
        return cls(column, TransitionMatrix(labels, tuple(tuple(map(Fraction, row)) for row in rows)), invariant)

    def changed_columns(self, quasi_identifiers: Sequence[str]) -> Sequence[str]:
        """Its column."""
        return (self.column,)

    def looked_at_columns(self, quasi_identifiers: Sequence[str]) -> Sequence[str]:
        """Its column, if all values together change the matrix."""
        return (self.column,) if self.invariant else ()

    def randomized_column(self) -> str:
        """Its column."""
        return self.column

    def perturb(self, plan: PeoplePlan, records: Records) -> Outcome:
        """Replace values at random."""
        return randomize_values(records, self.column, self.matrix, invariant=self.invariant)

    def settings(self) -> dict[str, object]:
        """In place of the matrix, the least chance that a value stays."""
        return super().settings() | {"keep": str(min(row[place] for place, row in enumerate(self.matrix.rows)))}
