"""What the steps share that draw rows of nobody: synthetic people with about the marginals of the records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from sudare.bilingual import Words
from sudare.microdata.records import Records
from sudare.privacy import Budget, ReleaseEvent, Unit
from sudare.releases.kinds.records.planning.column_plan import PlannedColumn
from sudare.releases.kinds.records.steps.step import Done, PrivateStep
from sudare.sections import Section
from sudare.storage.toml_text import toml_key

if TYPE_CHECKING:
    from sudare.releases.kinds.records.planning.plan_file import PeoplePlan

__all__ = ["Synthesize", "require_described", "whole_from_one"]

SYNTHETIC_PROTECTS = Words(
    "Differential privacy of every person: the rows were drawn from a model of noisy counts, and tell hardly more about a "
    "person than if that person had never been there, whatever else is known. A row may be equal to a real "
    "person's by chance. It is the noise that protects, not that the rows are synthetic.",
    "各人についての差分プライバシーです。行はノイズを加えた集計のモデルから引かれ、ほかに何を知っていても、"
    "その人がいなかった場合とほとんど同じことしか分かりません。偶然、実在の人と同じ行ができることはあります。"
    "守っているのはノイズであり、合成であること自体ではありません。",
)
SYNTHETIC_KEEP = Words(
    "About the counts of each column and of the columns that the model ties together; all other relations are lost.",
    "各列の件数と、モデルが結びつけた列の組の件数を、おおよそ保ちます。そのほかの関係は失われます。",
)

Workload = int | tuple[tuple[str, ...], ...] | None


class Synthesize(PrivateStep):
    """Rows of nobody with about the marginals of the records: differential privacy."""

    mechanism: ClassVar[Literal["mst", "aim"]]
    """What draws them."""
    commands = ("synthesize",)

    def require_budget(self, section: Section, budget: Budget, unit: Unit) -> None:
        """Refuse a budget that Gaussian noise cannot keep."""
        if budget.currency == "epsilon":
            section.refuse(
                "delta",
                "is needed, or rho in place of epsilon: synthetic people are made with Gaussian noise",
                "が必要です（または epsilon の代わりに rho）。合成データはガウスノイズで作ります",
            )

    def synthesize(
        self,
        plan: PeoplePlan,
        records: Records,
        budget: Budget,
        unit: Unit,
        *,
        rows: int | None,
        workload: Workload = None,
        rounds: int | None = None,
    ) -> tuple[Done, ReleaseEvent]:
        """Draw them."""
        from sudare.microdata.synthetic import synthesize

        made, event = synthesize(
            records,
            {name: plan.columns[name].bins or list(plan.columns[name].values or ()) for name in plan.published},
            budget,
            self.mechanism,
            rows=rows,
            workload=workload,
            missing=[name for name in plan.published if plan.columns[name].missing is not None],
            unit=unit,
            rounds=rounds,
        )
        done = Done(self.name, self.name, made.records, SYNTHETIC_PROTECTS, SYNTHETIC_KEEP, tables=made.tables)
        return done, event

    @classmethod
    def column_word(cls, step: Mapping[str, Any], column: Mapping[str, Any]) -> str | None:
        """No value is anybody's."""
        return "drawn_anew" if column["published"] else None


def require_described(section: Section, method: str, columns: Mapping[str, PlannedColumn]) -> list[tuple[int, str]]:
    """Refuse columns of which nothing says what may stand in them; gives how many values each has, the most at the end."""
    from sudare.microdata.synthetic.public_columns import read_columns

    for name, column in columns.items():
        if column.values is None and column.bins is None:
            section.refuse(
                "method",
                f"is \"{method}\", and nothing says what may stand in '{name}': list 'values' or 'bins' in "
                f"[columns.{toml_key(name)}]. They "
                'must be known without the data; or leave the column out with role = "identifier"',
                f'が "{method}" ですが、列「{name}」に入りうる値が示されていません。[columns.{toml_key(name)}] に「values」'
                f"か「bins」を"
                'データを見ずに書くか、role = "identifier" として除いてください',
            )
    described = {name: column.bins or list(column.values or ()) for name, column in columns.items()}
    missing = [name for name, column in columns.items() if column.missing is not None]
    return sorted((column.size, column.name) for column in read_columns(described, missing, "the plan"))


def whole_from_one(section: Section, key: str) -> int | None:
    """A whole number of at least 1, or None if it is left out."""
    number = section.whole(key) if section.has(key) else None
    if number is not None and number < 1:
        section.refuse(key, "must be at least 1", "は 1 以上です")
    return number
