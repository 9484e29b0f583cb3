"""``microaggregate``: numbers replaced by means of groups of k records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from sudare.attacks.verdicts import AttackOutcome, Verdict
from sudare.bilingual import Words
from sudare.microdata.grouping import group
from sudare.microdata.models.planned_model import at_least_two
from sudare.microdata.perturb.microaggregation import microaggregate
from sudare.microdata.perturb.outcomes import Outcome
from sudare.microdata.records import Records
from sudare.releases.kinds.records.attacking import attack_words
from sudare.releases.kinds.records.planning.column_plan import PlannedColumn, columns_of
from sudare.releases.kinds.records.steps.perturbing import PerturbingStep
from sudare.sections import Section

if TYPE_CHECKING:
    from sudare.releases.kinds.records.attacking.published_records import PublishedRecords
    from sudare.releases.kinds.records.planning.plan_file import PeoplePlan

__all__ = ["Microaggregate"]

MAX_K = 10**15


@dataclass(frozen=True)
class Microaggregate(PerturbingStep):
    """Numbers replaced by means of groups.

    It leaves groups of k records that are equal in its columns. A later step that changes these columns, or takes records away,
    would break the groups apart.
    """

    columns: tuple[str, ...]
    k: int
    kind: str
    name = "microaggregate"
    keys = ("columns", "k", "kind")
    words = Words("Microaggregation", "ミクロアグリゲーション")

    @classmethod
    def read(cls, section: Section, columns: Mapping[str, PlannedColumn], file: str) -> Self:
        """With ``columns`` and ``k``; ``kind`` may be left out."""
        names = columns_of(section, "columns", columns)
        k = at_least_two(section, "k")
        return cls(names, k, section.choice("kind", ("multivariate", "univariate"), "multivariate"))

    def changed_columns(self, quasi_identifiers: Sequence[str]) -> Sequence[str]:
        """Its columns."""
        return self.columns

    def grouped_columns(self) -> Sequence[str]:
        """Its columns."""
        return self.columns

    def looked_at_columns(self, quasi_identifiers: Sequence[str]) -> Sequence[str]:
        """Its columns: a mean is made of several people's values."""
        return self.columns

    def perturb(self, plan: PeoplePlan, records: Records) -> Outcome:
        """Replace numbers by means."""
        is_single = self.kind == "univariate"
        return microaggregate(records, self.columns, k=self.k, method="univariate" if is_single else "multivariate")

    @classmethod
    def require_settings(cls, settings: Mapping[str, Any]) -> None:
        """Refuse a report without columns, or with a k that is none."""
        super().require_settings(settings)
        k = settings.get("k")
        if not settings.get("columns") or type(k) is not int or not 0 < k <= MAX_K:
            raise ValueError("settings")

    @classmethod
    def check_promise(cls, table: PublishedRecords, settings: Mapping[str, Any]) -> list[Verdict]:
        """Whether every group has k records."""
        columns, k = list(settings["columns"]), settings["k"]
        groups = [columns] if settings.get("kind") == "multivariate" else [[name] for name in columns]
        small = 0
        for names in groups:
            sizes = group([table.records.column(name) for name in names], table.counts).sizes
            small += int(sizes[sizes < k].sum())
        outcome, sentence = (
            (AttackOutcome.BROKEN, attack_words.small_groups(small, k))
            if small
            else (AttackOutcome.HELD, attack_words.KEPT)
        )
        target = f"{cls.name} {', '.join(columns)}"
        return [attack_words.verdict("models", target, outcome, small, sentence, attack_words.MODEL_REMEDY)]
