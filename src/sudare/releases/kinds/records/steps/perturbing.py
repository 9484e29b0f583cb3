"""What the steps share that change the values of single columns, and keep the records."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sudare.microdata.perturb.outcomes import Outcome
from sudare.microdata.records import Records
from sudare.releases.kinds.records.steps.step import Done, PlainStep, columns_in_settings

if TYPE_CHECKING:
    from sudare.releases.kinds.records.planning.plan_file import PeoplePlan

__all__ = ["OutcomeStep", "PerturbingStep"]


class OutcomeStep(PlainStep):
    """A step whose method tells its own words, and how many records it touched."""

    @abstractmethod
    def perturb(self, plan: PeoplePlan, records: Records) -> Outcome:
        """Carry out the method."""

    def run(self, plan: PeoplePlan, records: Records, population: Records | None) -> Done:
        """Protect records in memory."""
        outcome = self.perturb(plan, records)
        return Done(self.name, outcome.method, outcome.records, outcome.protects, outcome.keeps, outcome)


class PerturbingStep(OutcomeStep):
    """A step after which a value need not be that of its person, while every record is still there."""

    keeps_rows = True

    @classmethod
    def changed_in(cls, settings: Mapping[str, Any]) -> Sequence[str]:
        """The columns that the settings name."""
        return columns_in_settings(settings)
