"""``noise``: noise added to the numbers of a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Self

from sudare.bilingual import Words
from sudare.microdata.perturb.noisy_values import add_noise_to_numbers
from sudare.microdata.perturb.outcomes import Outcome
from sudare.microdata.records import Records
from sudare.releases.kinds.records.planning.column_plan import PlannedColumn, column_of
from sudare.releases.kinds.records.planning.hierarchy_plan import numbers_of
from sudare.releases.kinds.records.steps.perturbing import PerturbingStep
from sudare.sections import Section

if TYPE_CHECKING:
    from sudare.releases.kinds.records.planning.plan_file import PeoplePlan

__all__ = ["Noise"]


@dataclass(frozen=True)
class Noise(PerturbingStep):
    """Noise added to numbers; one of epsilon, scale and sigma is given."""

    column: str
    epsilon: Fraction | None
    scale: Fraction | None
    sigma: Fraction | None
    bounds: tuple[Fraction, Fraction] | None
    decimals: int | None
    name = "noise"
    keys = ("column", "epsilon", "scale", "sigma", "bounds", "decimals")
    words = Words("Noise on numbers", "数値へのノイズ")

    @classmethod
    def read(cls, section: Section, columns: Mapping[str, PlannedColumn], file: str) -> Self:
        """With ``column``, and ``epsilon``, ``scale`` or ``sigma``."""
        column = column_of(section, "column", section.text("column"), columns)
        stated = [key for key in ("epsilon", "scale", "sigma") if section.has(key)]
        if len(stated) != 1:
            section.refuse(
                "scale",
                "or 'epsilon' or 'sigma' must be given, and no two of them",
                "、「epsilon」、「sigma」のうち一つだけを指定してください",
            )
        amount = Fraction(section.number(stated[0]))
        if amount <= 0:
            section.refuse(stated[0], "must be above 0", "は正の数です")
        bounds = None
        if section.has("bounds"):
            ends = numbers_of(section, "bounds")
            if len(ends) != 2 or ends[0] >= ends[1]:
                section.refuse("bounds", "must be two numbers, the smaller one first", "は小さい順の二つの数値です")
            bounds = (Fraction(ends[0]), Fraction(ends[1]))
        decimals = section.whole("decimals") if section.has("decimals") else None
        if stated[0] == "epsilon" and bounds is None:
            section.refuse("bounds", "is needed with 'epsilon'", "は「epsilon」と共に必要です")
        if bounds is not None and decimals is None:
            section.refuse("decimals", "is needed with 'bounds'", "は「bounds」と共に必要です")
        amounts = {key: amount if key in stated else None for key in ("epsilon", "scale", "sigma")}
        return cls(column, amounts["epsilon"], amounts["scale"], amounts["sigma"], bounds, decimals)

    def changed_columns(self, quasi_identifiers: Sequence[str]) -> Sequence[str]:
        """Its column."""
        return (self.column,)

    def randomized_column(self) -> str:
        """Its column."""
        return self.column

    def perturb(self, plan: PeoplePlan, records: Records) -> Outcome:
        """Add noise."""
        return add_noise_to_numbers(
            records,
            self.column,
            epsilon=self.epsilon,
            scale=self.scale,
            sigma=self.sigma,
            bounds=self.bounds,
            decimals=self.decimals,
        )
