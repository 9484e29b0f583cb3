"""Finished examples that are one click away: invented people, a plan, and a ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sudare.bilingual import Language, Words
from sudare.drafting.plan_drafts import AttributeDraft, PlanDraft, SourceDraft, plan_text_of
from sudare.privacy import Budget, Unit

__all__ = ["EXAMPLES", "Example"]

SIDE = 256
PEOPLE = 200_000
SMALL_SIDE = 64
RESPONDENTS = 20_000
TOTAL = Budget(epsilon=2)
SPENT = Budget(epsilon="0.5")
PLAN, LEDGER = "plan.toml", "budget.db"


@dataclass(frozen=True, kw_only=True)
class Example:
    """An example.

    Attributes:
        title: for people.
        draft: writes its data into a folder, and drafts its plan.
    """

    title: Words
    draft: Callable[[Path, Language], PlanDraft]

    def write(self, folder: Path, language: Language) -> Path:
        """Write data, ledger and plan into a new folder; returns the plan."""
        from sudare.ledger import open_ledger

        folder.mkdir()
        draft = self.draft(folder, language)
        with open_ledger(folder / LEDGER, create=True) as ledger:
            ledger.add_dataset(draft.dataset, TOTAL, unit=Unit("person"))
        plan = folder / PLAN
        plan.write_text(plan_text_of(draft, PLAN), encoding="utf-8")
        return plan


def _country(folder: Path, language: Language) -> PlanDraft:
    from sudare.domain import Mesh
    from sudare.examples import invent_country
    from sudare.io import write_table

    country = invent_country(SIDE, people=PEOPLE)
    write_table(country, folder / "country.parquet", count="population")
    mesh = country.domain.attributes[0]
    if not isinstance(mesh, Mesh):
        raise TypeError("the invented country is no mesh")
    window = (mesh.first_row, mesh.first_column, mesh.rows, mesh.columns)
    return PlanDraft(
        title=Words("Population of an invented country", "架空の国の人口").explain(language),
        publisher=Words("Office of Invented Statistics", "架空統計局").explain(language),
        language=language,
        source=SourceDraft(path="country.parquet", rows="counts", count="population"),
        attributes=(AttributeDraft(name=mesh.name, kind="mesh", keys={"level": "1/2", "window": window}),),
        budget=SPENT,
        ledger=LEDGER,
        dataset="invented-country",
        people=PEOPLE,
    )


def _survey(folder: Path, language: Language) -> PlanDraft:
    import pyarrow.parquet

    from sudare.drafting.public_lists import FIVE_YEARS
    from sudare.examples import invent_country, invent_people

    people = invent_people(invent_country(SMALL_SIDE, people=RESPONDENTS))
    pyarrow.parquet.write_table(people, folder / "people.parquet")
    return PlanDraft(
        title=Words("Sex and age of invented respondents", "架空の回答者の性別・年齢").explain(language),
        publisher=Words("Office of Invented Statistics", "架空統計局").explain(language),
        language=language,
        source=SourceDraft(path="people.parquet", person="person"),
        attributes=(
            AttributeDraft(name="sex", kind="category", keys={"labels": ("female", "male")}),
            AttributeDraft(name="age", kind="bins", keys={"edges": FIVE_YEARS}),
        ),
        left_out=("KEY_CODE",),
        budget=SPENT,
        ledger=LEDGER,
        dataset="invented-survey",
        people=RESPONDENTS,
    )


EXAMPLES: Mapping[str, Example] = {
    "invented-country": Example(
        title=Words("An invented country: population by 500 m mesh", "架空の国: 500m メッシュ別人口"), draft=_country
    ),
    "invented-survey": Example(
        title=Words("An invented survey: sex and age group", "架空の調査: 性別・年齢階級"), draft=_survey
    ),
}
