"""``anonymize``: coarser values, and suppression, until models hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sudare.bilingual import Words
from sudare.errors import InputError
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.models.planned_model import PlannedModel
from sudare.microdata.models.registry import names_with_population
from sudare.microdata.records import CodedColumn, Records
from sudare.microdata.search.anonymizing import anonymize
from sudare.microdata.search.metrics import METRICS
from sudare.microdata.search.pinned_levels import pinned_columns, pinned_hierarchies, with_pins
from sudare.releases.kinds.records.measuring import rest_of_population
from sudare.releases.kinds.records.planning.column_plan import PlannedColumn, share_of
from sudare.releases.kinds.records.planning.hierarchy_plan import hierarchy_of
from sudare.releases.kinds.records.planning.model_plan import read_models
from sudare.releases.kinds.records.steps.step import Done, PlainStep
from sudare.sections import Section
from sudare.storage.toml_text import toml_key

if TYPE_CHECKING:
    from sudare.releases.kinds.records.document_parts import ProtectedRecordsDocument
    from sudare.releases.kinds.records.planning.plan_file import PeoplePlan

__all__ = ["CLASSES_KEEP", "CLASSES_PROTECT", "Anonymize", "build_hierarchies", "pinned_levels"]

SEARCHES = ("optimal", "heuristic", "local")
LOCAL_RECODING = "local-recoding"
CLASSES_PROTECT = Words(
    "Whoever knows somebody's quasi-identifiers finds a class of records that look alike, never one record, as "
    "long as nothing "
    "but these columns is known. The models of a sensitive column limit what the class itself gives away. Columns "
    "that are not "
    "quasi-identifiers are published as they are, several releases of the same people can be put together, and knowledge "
    "from elsewhere may exclude some of a class. k-anonymity and its family are not differential privacy.",
    "準識別子を知っている人がたどり着けるのは、同じ値をもつレコードの等価クラスまでで、一件のレコードには届きません"
    "（ほかの列を知られていない限り）。機微な列の条件は、等価クラスそのものから分かることを抑えます。"
    "準識別子でない列はそのまま公開され、"
    "同じ人々についての複数の公開は突き合わせることができ、外部の知識によって等価クラスの一部が除かれることもあります。"
    "k-匿名性と関連モデルは差分プライバシーではありません。",
)
STARRED_PROTECT = Words(
    CLASSES_PROTECT.english
    + " Suppressed records are published with stars in place of their quasi-identifiers, and with all "
    "their other columns: whoever is in no other class is known to be one of them. They are a class of their own, for which the "
    "models hold as well, and which gives away what its records have in common.",
    CLASSES_PROTECT.japanese
    + "秘匿したレコードは、準識別子を伏せ、ほかの列はそのまま公開されます。ほかの等価クラスにいない人は、"
    "そのどれかであると分かります。"
    "伏せたレコードも一つの等価クラスであり、同じ条件を満たしますが、共通することは分かります。",
)
CLASSES_KEEP = Words(
    "Every value, made coarser where a level says so; the other columns of the records that are kept.",
    "各値（段階に応じて粗くしたもの）と、残したレコードのほかの列。",
)


@dataclass(frozen=True, eq=False)
class Anonymize(PlainStep):
    """Coarser values, and suppression, until models hold; see ``sudare.microdata.search.anonymizing``."""

    models: tuple[PlannedModel, ...]
    suppression: Fraction
    suppressed: str
    metric: str
    search: str
    seconds: float | None
    name = "anonymize"
    keys = ("k", "models", "suppression", "suppressed", "metric", "search", "seconds")
    words = Words("k-anonymity and its family", "k-匿名性と関連モデル")
    must_be_last = True
    uses_population = True
    takes_large_files = True
    untold = ("models",)

    @classmethod
    def read(cls, section: Section, columns: Mapping[str, PlannedColumn], file: str) -> Self:
        """With ``k`` or ``models``; how they are searched for may be left out."""
        quasi = _require_hierarchies(section, columns)
        sensitive = {name: column.rule for name, column in columns.items() if column.role == "sensitive"}
        models = read_models(section, file, sensitive, quasi)
        search = section.choice("search", SEARCHES, "optimal")
        seconds = float(section.number("seconds")) if section.has("seconds") else None
        if seconds is not None and (seconds <= 0 or search == "local"):
            section.refuse(
                "seconds",
                'must be above 0, for search = "optimal" or "heuristic"',
                'は正の数で、search が "optimal" か "heuristic" のときに指定できます',
            )
        suppression = share_of(section, "suppression") if section.has("suppression") else Fraction(0)
        if search == "local" and suppression:
            section.refuse(
                "suppression",
                'must be left out where search is "local": classes are cut so that nothing is suppressed',
                'は search が "local" のとき指定できません（秘匿が起きないように組を作ります）',
            )
        if search == "local" and any(model.needs_population for model in models):
            names = names_with_population()
            section.refuse(
                "search",
                f'must not be "local" with {" or ".join(names)}',
                f'は {" や ".join(names)} では "local" にできません',
            )
        _require_levels(section, {name: columns[name] for name in quasi}, search)
        suppressed = section.choice("suppressed", ("removed", "starred"), "removed")
        metric = section.choice("metric", tuple(METRICS), "loss")
        return cls(models, suppression, suppressed, metric, search, seconds)

    def takes_records_away(self) -> bool:
        """If records may be suppressed, and are not starred."""
        return self.suppressed == "removed" and self.suppression > 0

    def changed_columns(self, quasi_identifiers: Sequence[str]) -> Sequence[str]:
        """All quasi-identifiers."""
        return quasi_identifiers

    @property
    def promised_models(self) -> tuple[PlannedModel, ...]:
        """All that the plan asks for."""
        return self.models

    def run(self, plan: PeoplePlan, records: Records, population: Records | None) -> Done:
        """Search for levels, or cut classes."""
        hierarchies = build_hierarchies(plan, records, population)
        pins = pinned_levels(plan, hierarchies)
        others = None if population is None else rest_of_population(records, population, list(hierarchies))
        made = anonymize(
            records.with_columns(*pinned_columns(records, hierarchies, pins)),
            pinned_hierarchies(hierarchies, pins),
            self.models,
            sensitive=[name for name, column in plan.columns.items() if column.role == "sensitive"],
            suppression=self.suppression,
            metric=self.metric,
            method=self.search,
            time_limit=self.seconds,
            suppressed=self.suppressed,
            others=None if others is None else others.with_columns(*pinned_columns(others, hierarchies, pins)),
        )
        if made.search is not None:
            made = replace(made, search=with_pins(made.search, pins))
        return Done(
            self.name,
            LOCAL_RECODING if self.search == "local" else "global-recoding",
            made.records,
            STARRED_PROTECT if self.suppressed == "starred" and not made.kept.all() else CLASSES_PROTECT,
            CLASSES_KEEP,
            anonymized=made,
            hierarchies=hierarchies,
            has_stars=self.suppressed == "starred",
        )

    def require_possible_out_of_memory(self, plan: PeoplePlan, section: Section, key: str) -> None:
        """Refuse classes that are cut from the records, starred records, and a population."""
        if self.search == "local":
            section.refuse(
                key,
                'cannot go with search = "local", which cuts the records themselves into classes',
                'は search = "local" と併用できません（レコードそのものを組に分けるため）',
            )
        if self.suppressed == "starred":
            section.refuse(
                key,
                'cannot go with suppressed = "starred": suppressed records are left out',
                'は suppressed = "starred" と併用できません（秘匿したレコードは除かれます）',
            )
        if plan.population is not None or self.needs_population:
            names = names_with_population()
            section.refuse(
                key,
                f"cannot go with a population: {' and '.join(names)} compare with everybody in memory",
                f"は population と併用できません（{' と '.join(names)} は母集団をメモリに載せて比べます）",
            )

    def run_large(self, plan: PeoplePlan, folder: Path) -> ProtectedRecordsDocument:
        """Anonymize file by file."""
        from sudare.releases.kinds.records.large_running import anonymize_large_plan

        return anonymize_large_plan(plan, self, folder)

    def settings(self) -> dict[str, object]:
        """What the plan asked for, without what local recoding does not do."""
        unused = ("suppression", "suppressed", "metric") if self.search == "local" else ()
        return {name: value for name, value in super().settings().items() if name not in unused}

    @classmethod
    def column_word(cls, step: Mapping[str, Any], column: Mapping[str, Any]) -> str | None:
        """In local recoding, each class has its own groups of values."""
        is_recoded = step["name"] == LOCAL_RECODING and column["role"] == "quasi-identifier"
        return "own_boxes" if is_recoded else None


def _require_hierarchies(section: Section, columns: Mapping[str, PlannedColumn]) -> list[str]:
    """The quasi-identifiers: at least one, each with a hierarchy."""
    quasi = [name for name, column in columns.items() if column.role == "quasi-identifier"]
    if not quasi:
        section.refuse(
            "method",
            'is "anonymize", which needs at least one column with role = "quasi-identifier"',
            'が "anonymize" のときは、role = "quasi-identifier" の列が一つ以上必要です',
        )
    for name in quasi:
        if columns[name].rule is None:
            section.refuse(
                "method",
                f"is \"anonymize\", and the quasi-identifier '{name}' has no hierarchy: add a file, or intervals, "
                f"dates, mesh, "
                f"mask, groups or flat to [columns.{toml_key(name)}]",
                f'が "anonymize" ですが、準識別子「{name}」に階層がありません。'
                f"[columns.{toml_key(name)}] に hierarchy（ファイル）、"
                "intervals、dates、mesh、mask、groups、flat のいずれかを加えてください",
            )
    return quasi


def _require_levels(section: Section, columns: Mapping[str, PlannedColumn], search: str) -> None:
    """Refuse levels that are decided where there are none, or that a hierarchy has not."""
    for name, column in columns.items():
        height = None if column.rule is None else column.rule.height
        if column.level is None:
            continue
        if search == "local":
            section.refuse(
                "search",
                f"is \"local\", which has no levels: leave 'level' out of [columns.{toml_key(name)}]",
                f'が "local" のときは段階がありません。[columns.{toml_key(name)}] の「level」を除いてください',
            )
        if column.level < 0 or (height is not None and column.level > height):
            section.refuse(
                "method",
                f"needs 'level' in [columns.{toml_key(name)}] from 0 to {height or 0}, as its hierarchy has them, or none",
                f"では、[columns.{toml_key(name)}] の「level」は 0 から {height or 0} です（省略もできます）",
            )


def pinned_levels(plan: PeoplePlan, hierarchies: Mapping[str, Generalization]) -> dict[str, int]:
    """The levels of quasi-identifiers that the plan decides.

    Raises:
        InputError: if a hierarchy turns out to have no such level.
    """
    pins = {name: level for name in hierarchies if (level := plan.columns[name].level) is not None}
    for name, level in pins.items():
        if level > hierarchies[name].height:
            raise InputError(
                f"The plan asks for level {level} of the column {name!r}, which its hierarchy has not for these values.",
                f"計画は列 {name!r} の段階 {level} を指定していますが、この値の階層にはその段階がありません。",
            )
    return pins


def build_hierarchies(
    plan: PeoplePlan, records: Records, population: Records | None = None
) -> dict[str, Generalization]:
    """The hierarchies of the quasi-identifiers, for the values that there are.

    Raises:
        InputError: if a value is none that its rule takes; names the column and the row.
    """
    built = {}
    for name in plan.quasi_identifiers:
        rule, column = plan.columns[name].rule, records.column(name)
        if rule is None:
            continue
        built[name] = hierarchy_of(column, rule.build)
        if population is not None and not rule.is_fixed:
            both = dict.fromkeys([*column.labels, *population.column(name).labels])
            hierarchy_of(population.column(name), rule.build)
            built[name] = rule.build(CodedColumn.of(name, list(both)))
    return built
