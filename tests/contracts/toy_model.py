"""A toy model: every class has a multiple of so many records. It shows all that a new model takes: this class, and one line.

A plan asks for it with ``models = [{ name = "even-classes", divisor = 2 }]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

import numpy as np

from sudare.bilingual import Words
from sudare.microdata.grouping import Grouped
from sudare.microdata.models.planned_model import ModelColumns, PlannedModel, at_least_two
from sudare.microdata.models.record_fields import whole_of
from sudare.parameters import exact_integer
from sudare.sections import Section

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EvenClasses"]


@dataclass(frozen=True)
class EvenClasses(PlannedModel):
    """Sums of multiples are multiples: a coarser table keeps it if nothing is suppressed."""

    divisor: int
    plan_name = record_name = "even-classes"
    plan_keys = ("divisor",)
    record_fields = MappingProxyType({"divisor": whole_of})

    def __post_init__(self) -> None:
        exact_integer(self.divisor, "divisor", "EvenClasses", "a whole number of at least 2", smallest=2)

    @classmethod
    def from_plan(cls, section: Section, columns: ModelColumns) -> Self:
        return cls(at_least_two(section, "divisor"))

    @property
    def smallest_size(self) -> int:
        return self.divisor

    def holds(self, grouped: Grouped) -> NDArray[np.bool_]:
        held: NDArray[np.bool_] = grouped.sizes % self.divisor == 0
        return held

    @property
    def words(self) -> Words:
        return Words(
            f"each class has a multiple of {self.divisor} records", f"各クラスの件数は {self.divisor} の倍数です"
        )
