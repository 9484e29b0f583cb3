"""``sampled-k-anonymity``: a random sample of which only groups of k or more are kept, which is differential privacy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import ceil, prod
from typing import TYPE_CHECKING, Self

from sudare.bilingual import Words
from sudare.errors import GuaranteeError, ParameterError, words_of_error
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.perturb.sampled_k_anonymity import MAX_CANDIDATES, PROTECTS, choose_levels, sampled_groups
from sudare.microdata.records import CodedColumn, Records
from sudare.privacy import Budget, ReleaseEvent, Unit
from sudare.privacy.sampled_measurements import SampledGroupsMeasurement, changed_records
from sudare.releases.kinds.records.planning.column_plan import PlannedColumn, share_of
from sudare.releases.kinds.records.planning.hierarchy_plan import hierarchy_of
from sudare.releases.kinds.records.steps.step import Done, PrivateStep
from sudare.sections import Section
from sudare.storage.toml_text import toml_key

if TYPE_CHECKING:
    from sudare.releases.kinds.records.planning.plan_file import PeoplePlan

__all__ = ["SampledGroups"]

MAX_MASKED = 255
"""Letters: of a mask, the plan alone says how many levels it has."""
SAMPLED_KEEP = Words(
    "Combinations of values that many share, each in proportion to the sample; rare ones are gone, uncounted.",
    "多くの人に共通する値の組み合わせ（標本の割合で）。まれなものは、数えずに除かれています。",
)


@dataclass(frozen=True)
class SampledGroups(PrivateStep):
    """A random sample of which only groups of k or more are kept: differential privacy.

    Attributes:
        rate: of the sample; None is the largest that the budget allows.
        levels: of all columns; where some are chosen, of those that are not, and 0 for the others.
        choose_levels: the share of epsilon that choosing the levels costs; None if all are decided without the data.
        choices: the levels that each column may have.
    """

    rate: Fraction | None
    levels: Mapping[str, int]
    choose_levels: Fraction | None = None
    choices: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    name = "sampled-k-anonymity"
    keys = ("rate", "choose_levels")
    words = Words("Sampled k-anonymity", "標本抽出付き k-匿名性")
    commands = ("anonymize", "sample")
    untold = ("levels", "choices")

    @classmethod
    def read(cls, section: Section, columns: Mapping[str, PlannedColumn], file: str) -> Self:
        """Levels are decided by the author of the plan, or chosen at a cost: that is what makes the guarantee true."""
        levels, free = {}, {}
        for name, column in columns.items():
            level = column.level or 0
            top = 0 if column.rule is None else column.rule.height
            highest = MAX_MASKED if top is None else top
            if not 0 <= level <= highest:
                section.refuse(
                    "method",
                    f"needs 'level' in [columns.{toml_key(name)}] from 0 to {highest}, as its hierarchy has them",
                    f"には、[columns.{toml_key(name)}] の「level」を 0 から {highest} で指定してください",
                )
            if (
                column.rule is not None
                and column.missing is not None
                and not column.rule.takes_for_missing(column.missing)
            ):
                section.refuse(
                    "method",
                    f"needs another 'missing' in [columns.{toml_key(name)}]: a group of values may be called "
                    f"'{column.missing:.60}' as well",
                    f"には、[columns.{toml_key(name)}] の「missing」に別の名前が必要です"
                    f"（値の区分も「{column.missing:.60}」になりえます）",
                )
            levels[name] = level
            if column.level is None and column.rule is not None:
                free[name] = top
        if not levels:
            section.refuse("method", "needs at least one column to publish", "には、公開する列が一つ以上必要です")
        rate = share_of(section, "rate") if section.has("rate") else None
        if not section.has("choose_levels"):
            return cls(rate, levels)
        share = share_of(section, "choose_levels")
        if not 0 < share < 1:
            section.refuse(
                "choose_levels", "must be a share of epsilon between 0 and 1", "は 0 と 1 の間の、epsilon の割合です"
            )
        return cls(rate, levels, share, _read_choices(section, levels, free))

    def parts(self, budget: Budget) -> tuple[Budget | None, Budget]:
        """What choosing the levels costs, if they are chosen, and what is left for the records."""
        if self.choose_levels is None:
            return None, budget
        epsilon = budget.epsilon * self.choose_levels
        return Budget(epsilon=epsilon), Budget(epsilon=budget.epsilon - epsilon, delta=budget.delta)

    def require_budget(self, section: Section, budget: Budget, unit: Unit) -> None:
        """Refuse a budget that is no epsilon and delta, or that no k can keep."""
        if budget.currency != "epsilon-delta":
            section.refuse(
                "delta",
                'is needed, with an epsilon: "sampled-k-anonymity" gives (epsilon, delta)-differential privacy',
                'と epsilon が必要です（"sampled-k-anonymity" は (epsilon, delta) 差分プライバシーです）',
            )
        try:
            SampledGroupsMeasurement.for_budget(self.parts(budget)[1], rate=self.rate, records=changed_records(unit))
        except (GuaranteeError, ParameterError) as error:
            reason = words_of_error(error)
            section.refuse(
                "epsilon", f"does not allow this: {reason.english}", f"では実行できません: {reason.japanese}"
            )

    def run_privately(
        self, plan: PeoplePlan, records: Records, budget: Budget, unit: Unit
    ) -> tuple[Done, ReleaseEvent]:
        """Sampled k-anonymity; where the plan says so, a part of epsilon pays for choosing the levels before."""
        # Heights and labels are the plan's: nobody's value says how others, or missing values, are called.
        hierarchies = {
            name: hierarchy_of(records.column(name), column.rule.build_to(self.levels[name]))
            for name, column in plan.columns.items()
            if column.rule is not None and column.role != "identifier"
        }
        for_choosing, for_records = self.parts(budget)
        levels = dict(self.levels)
        chosen: ReleaseEvent | None = None
        if for_choosing is not None:
            measurement = SampledGroupsMeasurement.for_budget(
                for_records, rate=self.rate, records=changed_records(unit)
            )
            # Columns without a hierarchy form groups too, by their values.
            all_hierarchies = {
                name: hierarchies.get(name) or _values_alone(records.column(name)) for name in self.levels
            }
            candidates = [dict(zip(self.choices, those, strict=True)) for those in product(*self.choices.values())]
            levels, chosen = choose_levels(
                records,
                all_hierarchies,
                for_choosing,
                threshold=ceil(measurement.k / measurement.rate),
                candidates=candidates,
                unit=unit,
            )
        published, event = sampled_groups(records, levels, hierarchies, for_records, rate=self.rate, unit=unit)
        if chosen is not None:
            both = (*chosen.measurements, *event.measurements)
            event = ReleaseEvent(event.mechanism, unit, budget, both, event.entropy)
        done = Done(
            self.name, "sampled-groups", published, PROTECTS, SAMPLED_KEEP, hierarchies=hierarchies, levels=levels
        )
        return done, event


def _read_choices(
    section: Section, levels: Mapping[str, int], free: Mapping[str, int | None]
) -> dict[str, tuple[int, ...]]:
    """The levels to choose from, all known without the data."""
    masked = next((name for name, top in free.items() if top is None), None)
    if masked is not None:
        section.refuse(
            "choose_levels",
            f"cannot choose the level of '{masked}': how many levels a mask has depends on the data. Give 'level' in "
            f"[columns.{toml_key(masked)}], or a hierarchy file",
            f"では「{masked}」の段階を選べません（mask の段階の数はデータによります）。[columns.{toml_key(masked)}] に「level」"
            "か階層ファイルを指定してください",
        )
    if not free:
        section.refuse(
            "choose_levels",
            "has nothing to choose: no column has a hierarchy without a 'level'",
            "で選ぶ段階がありません（階層があり「level」のない列がありません）",
        )
    choices = {
        name: tuple(range((free[name] or 0) + 1)) if name in free else (level,) for name, level in levels.items()
    }
    if prod(len(those) for those in choices.values()) > MAX_CANDIDATES:
        section.refuse(
            "choose_levels",
            f"has more than {MAX_CANDIDATES:,} choices: give 'level' to some columns",
            f"の選択肢が {MAX_CANDIDATES:,} 通りを超えます。いくつかの列に「level」を指定してください",
        )
    return choices


def _values_alone(column: CodedColumn) -> Generalization:
    """The values of a column, and nothing coarser."""
    return Generalization.of_paths(
        column.name, [(label,) for label in dict.fromkeys(text or "" for text in column.labels or ("",))]
    )
