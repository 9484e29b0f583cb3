"""What a step is: everything that a method of protecting records needs, from its keys in a plan to what a verifier checks.

A step is a frozen value that says all that its method needs. Its class is what plans, pages, attacks and verifiers know of the
method. The members stand in the order of use:

1. in a plan: ``name``, ``keys``, ``words``, ``commands``, and `Step.read`;
2. among other steps: ``must_be_last``, `Step.takes_records_away`, `Step.changed_columns`, `Step.grouped_columns`,
   `Step.looked_at_columns`, `Step.randomized_column`;
3. before data is read: ``uses_population``, `Step.promised_models`; the price of a private step: `PrivateStep.require_budget`;
4. running: `PlainStep.run` or `PrivateStep.run_privately` in memory; ``takes_large_files``, `Step.require_possible_out_of_memory`
   and `Step.run_large` where records are larger;
5. in the report: `Step.settings`; on the page: `Step.column_word`;
6. for attacks and verifiers, who have the report alone: ``keeps_values``, ``keeps_rows``, `Step.changed_in`,
   `Step.require_settings`, `Step.check_promise`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sudare.attacks.verdicts import Verdict
from sudare.bilingual import Words
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.models.planned_model import PlannedModel
from sudare.microdata.perturb.outcomes import Outcome
from sudare.microdata.records import Records
from sudare.microdata.search.anonymizing import Anonymized
from sudare.privacy import Budget, ReleaseEvent, Unit
from sudare.sections import Section

if TYPE_CHECKING:
    from sudare.releases.kinds.records.attacking.published_records import PublishedRecords
    from sudare.releases.kinds.records.document_parts import ProtectedRecordsDocument
    from sudare.releases.kinds.records.planning.column_plan import PlannedColumn
    from sudare.releases.kinds.records.planning.plan_file import PeoplePlan

__all__ = ["Done", "PlainStep", "PrivateStep", "Step", "columns_in_settings", "without_local_claim"]

NOT_LOCAL = Words(
    "Values were changed at random, so that a value that is known does not lead to the record for certain. It is not local "
    "differential privacy of a person's own value, because an earlier step looked at this column: what stands in it may be made "
    "of several people's values, or other columns may depend on it. It is no differential privacy of the table either.",
    "値を確率的に変えたため、知られた値から確実にレコードにたどり着くことはできません。ただし、先の手順がこの列を使っており、"
    "値が複数の人の値からできていたり、ほかの列がこの列に依存していたりするため、本人の値についての局所差分プライバシーではありません。"
    "表の差分プライバシーでもありません。",
)


@dataclass(frozen=True, eq=False)
class Done:
    """A step that was carried out.

    Attributes:
        method: as the plan calls it.
        name: which variant, in a word.
        records: the result.
        protects: what it protects from, and what it does not.
        keeps: what stays.
        outcome: of a method that perturbs.
        anonymized: of models of classes.
        hierarchies: that were used.
        tables: that synthetic people were drawn from: the columns that belong together.
        levels: how coarse columns are, where the method has a budget.
        has_stars: whether suppressed records are published, with stars in place of their quasi-identifiers.
    """

    method: str
    name: str
    records: Records
    protects: Words
    keeps: Words
    outcome: Outcome | None = None
    anonymized: Anonymized | None = None
    hierarchies: Mapping[str, Generalization] | None = None
    tables: tuple[tuple[str, ...], ...] = ()
    levels: Mapping[str, int] = field(default_factory=dict)
    has_stars: bool = False


class Step(ABC):
    """What every step answers; a new one is a `PlainStep` or a `PrivateStep`."""

    name: ClassVar[str]
    """What a plan calls its method."""
    keys: ClassVar[tuple[str, ...]]
    """What a plan may say beside the method."""
    words: ClassVar[Words]
    """What the page calls its method."""
    commands: ClassVar[tuple[str, ...]] = ("anonymize",)
    """Commands for tables of people that carry out a plan which begins with it; `sudare run` takes every plan."""
    must_be_last: ClassVar[bool] = False
    """Whether any step after it could undo it."""
    uses_population: ClassVar[bool] = False
    """Whether it can compare with everybody, of whom the records are a part; then it stands alone."""
    takes_large_files: ClassVar[bool] = False
    """Whether it can protect records that are larger than memory."""
    untold: ClassVar[tuple[str, ...]] = ()
    """Attributes that the report has elsewhere, or not at all."""
    keeps_values: ClassVar[bool] = False
    """Whether every published value is that of its person, as it was."""
    keeps_rows: ClassVar[bool] = False
    """Whether every record is still there, in its order."""

    @classmethod
    @abstractmethod
    def read(cls, section: Section, columns: Mapping[str, PlannedColumn], file: str) -> Self:
        """The step that a section of a plan asks for.

        Args:
            section: of the step, without its method.
            columns: of the plan that are published, by name.
            file: the plan's name.

        Raises:
            PlanError: if the section says what cannot be.
            ParameterError: likewise; names the key.
        """

    def takes_records_away(self) -> bool:
        """Whether fewer records may be left."""
        return False

    def changed_columns(self, quasi_identifiers: Sequence[str]) -> Sequence[str]:
        """Columns whose values are others afterwards."""
        return ()

    def grouped_columns(self) -> Sequence[str]:
        """Columns that it makes equal within groups of k records: a later step that breaks the groups is refused."""
        return ()

    def looked_at_columns(self, quasi_identifiers: Sequence[str]) -> Sequence[str]:
        """Columns on whose values it depends what becomes of other records, or of other columns."""
        return ()

    def randomized_column(self) -> str | None:
        """The column of which it changes each value at random, by that value alone: local differential privacy of it."""
        return None

    @property
    def promised_models(self) -> tuple[PlannedModel, ...]:
        """Models that the published table satisfies."""
        return ()

    @property
    def needs_population(self) -> bool:
        """Whether a model compares with everybody, and not with the table alone."""
        return any(model.needs_population for model in self.promised_models)

    def require_possible_out_of_memory(  # noqa: B027 - what there is to refuse is the step's own
        self, plan: PeoplePlan, section: Section, key: str
    ) -> None:
        """Refuse what of this step needs the records in memory, where it can do without in general.

        Args:
            plan: with this step alone.
            section: that says that they are larger.
            key: which says so.

        Raises:
            PlanError: says what needs them.
        """

    def run_large(self, plan: PeoplePlan, folder: Path) -> ProtectedRecordsDocument:
        """Protect a file that is larger than memory into a folder; gives the report.

        Raises:
            InputError: if the data is not what the plan says.
            OutputError: if the file cannot be written.
        """
        raise TypeError(f"{self.name} needs its records in memory")

    def settings(self) -> dict[str, object]:
        """What the plan asked for, as the report tells it: plain values."""
        return {
            name: _plain(value)
            for name, value in vars(self).items()
            if name not in self.untold and value not in (None, (), False)
        }

    @classmethod
    def column_word(cls, step: Mapping[str, Any], column: Mapping[str, Any]) -> str | None:
        """What the page says of a column because of this step, by its name among the texts; None for nothing of its own.

        Args:
            step: as the report has it.
            column: likewise.
        """
        return None

    @classmethod
    def changed_in(cls, settings: Mapping[str, Any]) -> Sequence[str]:
        """Columns in which a value need not be that of its person, by the settings in a report.

        Raises:
            ValueError: if they are not what they should be.
        """
        return ()

    @classmethod
    def require_settings(cls, settings: Mapping[str, Any]) -> None:
        """Refuse settings in a report that the attacks cannot use.

        Raises:
            ValueError: if one that is looked at is not what it should be.
        """
        cls.changed_in(settings)

    @classmethod
    def check_promise(cls, table: PublishedRecords, settings: Mapping[str, Any]) -> list[Verdict]:
        """Whether the published file keeps what the step promises of it, beside its models; counted from the file alone.

        It is asked before the file is shown, when what is broken is refused, and when it is verified.
        """
        return []


class PlainStep(Step):
    """A step without a guarantee of differential privacy, which costs nothing."""

    @abstractmethod
    def run(self, plan: PeoplePlan, records: Records, population: Records | None) -> Done:
        """Protect records in memory.

        Raises:
            InputError: if the data does not fit; names the column and the row.
        """


class PrivateStep(Step):
    """A step that is differential privacy of the table, at a price; it takes the records as they are, and stands alone."""

    def require_budget(self, section: Section, budget: Budget, unit: Unit) -> None:
        """Refuse a budget that the mechanism would refuse, before anything is reserved or read.

        Args:
            section: of the budget.
            budget: that the plan states.
            unit: who is protected.

        Raises:
            PlanError: says what is needed.
        """

    @abstractmethod
    def run_privately(
        self, plan: PeoplePlan, records: Records, budget: Budget, unit: Unit
    ) -> tuple[Done, ReleaseEvent]:
        """Protect records in memory. Everything is checked before anything is drawn; nothing is raised afterwards.

        Raises:
            InputError: if the data does not fit the plan; names the column and the row.
        """


def without_local_claim(done: Done) -> Done:
    """The step without the local differential privacy that its method states for values that are a person's own."""
    outcome = done.outcome
    if outcome is None or (outcome.local_epsilon is None and outcome.local_rho is None):
        return done
    told = replace(outcome, protects=NOT_LOCAL, local_epsilon=None, local_rho=None)
    return replace(done, protects=NOT_LOCAL, outcome=told)


def columns_in_settings(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns that settings in a report name.

    Raises:
        ValueError: if they are no names.
    """
    column, columns = settings.get("column"), settings.get("columns")
    named = [] if column is None else [column]
    listed = [] if columns is None else columns
    if not isinstance(listed, list | tuple) or not all(isinstance(name, str) for name in (*named, *listed)):
        raise ValueError("settings")
    return (*named, *listed)


def _plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Fraction) else value
