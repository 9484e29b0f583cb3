"""Finished examples that are one click away: invented people and companies, a plan, and a ledger where one is charged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sudare.bilingual import Language, Words

if TYPE_CHECKING:
    from sudare.domain import Mesh
    from sudare.drafting.plan_drafts import PlanDraft

__all__ = ["EXAMPLES", "Example", "write_country"]

SIDE = 256
PEOPLE = 200_000
SMALL_SIDE = 64
RESPONDENTS = 20_000
COMPANIES = 400
TOTAL, SPENT = "2", "0.5"
"""Epsilon of the ledger, and of the plan."""

PLAN, LEDGER = "plan.toml", "budget.db"
PUBLISHER = Words("Office of Invented Statistics", "架空統計局")


@dataclass(frozen=True, kw_only=True)
class Example:
    """An example.

    Attributes:
        title: for people.
        write: writes its data and its plan into a new folder; returns the plan.
    """

    title: Words
    write: Callable[[Path, Language], Path]


def _write_counts(folder: Path, language: Language, draft_in: Callable[[Path, Language], PlanDraft]) -> Path:
    """Data, ledger and plan of a count table."""
    from sudare.drafting.plan_drafts import plan_text_of
    from sudare.ledger import open_ledger
    from sudare.privacy import Budget, Unit

    folder.mkdir()
    draft = draft_in(folder, language)
    with open_ledger(folder / LEDGER, create=True) as ledger:
        ledger.add_dataset(draft.dataset, Budget(epsilon=TOTAL), unit=Unit("person"))
    plan = folder / PLAN
    plan.write_text(plan_text_of(draft, PLAN), encoding="utf-8")
    return plan


def write_country(folder: Path) -> Mesh:
    """The population of the invented country and the public list of its municipalities; returns its meshes."""
    import pyarrow.csv

    from sudare.domain import Mesh
    from sudare.examples import invent_country, invent_municipalities
    from sudare.io import write_table

    country = invent_country(SIDE, people=PEOPLE)
    write_table(country, folder / "country.parquet", count="population")
    pyarrow.csv.write_csv(invent_municipalities(country), folder / "municipalities.csv")
    mesh = country.domain.attributes[0]
    if not isinstance(mesh, Mesh):
        raise TypeError("the invented country is no mesh")
    return mesh


def _country(folder: Path, language: Language) -> PlanDraft:
    from sudare.drafting.plan_drafts import AttributeDraft, PlanDraft, SourceDraft
    from sudare.privacy import Budget

    mesh = write_country(folder)
    window = (mesh.first_row, mesh.first_column, mesh.rows, mesh.columns)
    return PlanDraft(
        title=Words("Population of an invented country", "架空の国の人口").explain(language),
        publisher=PUBLISHER.explain(language),
        language=language,
        source=SourceDraft(path="country.parquet", rows="counts", count="population"),
        attributes=(AttributeDraft(name=mesh.name, kind="mesh", keys={"level": "1/2", "window": window}),),
        budget=Budget(epsilon=SPENT),
        ledger=LEDGER,
        dataset="invented-country",
        people=PEOPLE,
    )


def _survey(folder: Path, language: Language) -> PlanDraft:
    import pyarrow.parquet

    from sudare.drafting.plan_drafts import AttributeDraft, PlanDraft, SourceDraft
    from sudare.drafting.public_lists import FIVE_YEARS
    from sudare.examples import invent_country, invent_people
    from sudare.privacy import Budget

    people = invent_people(invent_country(SMALL_SIDE, people=RESPONDENTS))
    pyarrow.parquet.write_table(people, folder / "people.parquet")
    return PlanDraft(
        title=Words("Sex and age of invented respondents", "架空の回答者の性別・年齢").explain(language),
        publisher=PUBLISHER.explain(language),
        language=language,
        source=SourceDraft(path="people.parquet", person="person"),
        attributes=(
            AttributeDraft(name="sex", kind="category", keys={"labels": ("female", "male")}),
            AttributeDraft(name="age", kind="bins", keys={"edges": FIVE_YEARS}),
        ),
        left_out=("KEY_CODE",),
        budget=Budget(epsilon=SPENT),
        ledger=LEDGER,
        dataset="invented-survey",
        people=RESPONDENTS,
    )


def _companies(folder: Path, language: Language) -> Path:
    import pyarrow.csv

    from sudare.drafting.plan_files import write_new_plan
    from sudare.examples import invent_companies

    planned: dict[str, object] = {
        "kind": "tables",
        "title": Words("Turnover of invented companies", "架空企業の売上高").explain(language),
        "publisher": PUBLISHER.explain(language),
        "language": language,
        "source": {"path": "companies.csv", "rows": "records", "value": "turnover", "holding": "holding"},
        "dimensions": {"region": {}, "industry": {}},
        "rules": {"threshold": 3, "p_percent": {"p": 10}},
        "protection": {"method": "suppress"},
    }
    plan = write_new_plan(folder, PLAN, planned)
    pyarrow.csv.write_csv(invent_companies(COMPANIES), folder / "companies.csv")
    return plan


EXAMPLES: Mapping[str, Example] = {
    "invented-country": Example(
        title=Words("An invented country: population by 500 m mesh", "架空の国: 500m メッシュ別人口"),
        write=partial(_write_counts, draft_in=_country),
    ),
    "invented-survey": Example(
        title=Words("An invented survey: sex and age group", "架空の調査: 性別・年齢階級"),
        write=partial(_write_counts, draft_in=_survey),
    ),
    "invented-companies": Example(
        title=Words(
            "Invented companies: turnover by region and industry, with unsafe cells hidden",
            "架空の企業: 地域・産業別の売上高（秘匿処理）",
        ),
        write=_companies,
    ),
}
