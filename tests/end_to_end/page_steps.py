"""The journeys of the local page, step by step, by keyboard alone: what is pressed, and where axe looks.

Each begins on the first page of a folder that `fill_folder` has filled, and may be walked several times in it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

import pyarrow.csv

from sudare.examples import PeopleFlow, invent_companies, invent_country, write_people_flow
from sudare.ledger import open_ledger
from sudare.privacy import Budget, Unit
from sudare.privacy.unit import ProtectedTime
from tests.page_walks import PageVisit
from tests.unit.web.test_queries import TEXT
from tests.unit.web.test_records import write_patients
from tests.unit.web.test_series import PLAN

__all__ = ["JOURNEYS", "fill_folder"]

MAX_PRESSED, MAX_SECONDS = 5, 60
"""From the opened page to a released map."""

ROWS = 'person_id,性別,age,note\n1,女,3,a b\n2,男,70,"c""d"\n3,女,40,改\n'
SQL = "SELECT city, count(*) AS people FROM visits GROUP BY city"


def fill_folder(folder: Path) -> None:
    """Files of all kinds, and a series with its ledger."""
    (folder / "people.csv").write_text(ROWS, encoding="utf-8")
    rows = "\n".join(f"{'Tokyo' if age % 3 else 'Osaka'},{age}" for age in range(20, 80))
    (folder / "visits.csv").write_text(f"city,age\n{rows}\n", encoding="utf-8")
    write_patients(folder)
    pyarrow.csv.write_csv(invent_companies(200), folder / "companies.csv")
    country = invent_country(64, people=500)
    place = folder / "flow"
    place.mkdir()
    write_people_flow(PeopleFlow(country, ticks=4), place / "_rows", start=datetime(2025, 4, 1))
    mesh = country.domain.attributes[0]
    window = ", ".join(str(getattr(mesh, name)) for name in ("first_row", "first_column", "rows", "columns"))
    plan = PLAN.replace("WINDOW", window).replace("rows/{date}", "_rows/{date}")
    (place / "series.toml").write_text(plan, encoding="utf-8")
    with open_ledger(place / "budget.db", create=True) as ledger:
        ledger.add_dataset("crowds", Budget(rho=1), unit=Unit("person", time=ProtectedTime("person-day", 2)))


def counts(walk: PageVisit) -> None:
    """From the opened page to a released map, with the slider on the way; what was spent; and a plan from a file."""
    began = time.monotonic()
    walk.examine()
    walk.press("form:has(input[value='invented-country']) button", "body[data-ready]")
    walk.reach("#slider")
    before = float(walk.page.input_value("#value"))
    walk.page.keyboard.press("ArrowLeft")
    assert float(walk.page.input_value("#value")) < before
    walk.page.keyboard.press("ArrowRight")
    walk.examine()
    walk.press("#ask", "dialog[open]")
    walk.examine()
    walk.press("#run button.main", "#map[data-level]")
    assert "/release?folder=" in walk.page.url
    assert (walk.pressed <= MAX_PRESSED, time.monotonic() - began <= MAX_SECONDS) == (True, True), walk.pressed
    walk.press("nav a[href='/ledgers']", "svg.timeline .settled")
    walk.examine()
    walk.press("nav a[href='/']", "#drop")
    walk.press("a[href='/draft?file=people.csv']", "#draft")
    walk.examine()
    walk.press("#draft button.main", "body[data-ready]")
    walk.examine()


def records(walk: PageVisit) -> None:
    """From a file of people to anonymized records that are verified and attacked."""
    walk.press("a[href='/ways?file=patients.csv']", "a[href^='/records/new']")
    walk.examine()
    walk.press("a[href^='/records/new']", "input[name='k']")
    walk.choose("select[name='role-0']", "identifier")
    walk.choose("select[name='role-1']", "quasi-identifier")
    walk.choose("select[name='role-2']", "quasi-identifier")
    walk.choose("select[name='role-3']", "sensitive")
    walk.write("input[name='publisher']", "office")
    walk.examine()
    walk.press("button.main", "input[name='risks']")
    walk.press("form:has(input[name='risks']) button", "svg.lattice .best")
    walk.examine()
    walk.press("form[action='/plan/carry-out'] button.main", "#verify")
    walk.press("#verify button", "body[data-checked]")
    assert walk.page.locator(".checks .good").count() == 2
    walk.examine()


def tables(walk: PageVisit) -> None:
    """From a file of companies over a hidden cell, its rule and its interval to a table that stands up to attacks."""
    walk.press("a[href='/ways?file=companies.csv']", "a[href^='/tables/new']")
    walk.press("a[href^='/tables/new']", "input[name='threshold']")
    walk.write("input[name='publisher']", "office")
    walk.examine()
    walk.press("button.main", "input[name='cells']")
    walk.press("form:has(input[name='cells']) button", "td.primary")
    walk.press("td.primary a", "#cell-facts #cell")
    facts = walk.page.inner_text("#cell-facts")
    assert {"en": "at least 3 contributors", "ja": "提供者が 3 以上"}[walk.view.language] in facts
    walk.examine()
    walk.press("form[action='/plan/carry-out'] button.main", "#verify")
    walk.press("#verify button", "body[data-checked]")
    assert walk.page.locator(".checks .good").count() == 2


def queries(walk: PageVisit) -> None:
    """From a file over metadata, at first not filled in, to the price of a question, the answer, and its free repetition."""
    walk.press("a[href='/ways?file=visits.csv']", "a[href^='/queries/new']")
    walk.press("a[href^='/queries/new']", "textarea[name='text']")
    walk.examine()
    walk.press("button.main", "[role='alert']")
    walk.refused += 1
    walk.examine()
    walk.press("#back", "textarea[name='text']")
    walk.write("textarea[name='text']", TEXT.replace("<b>大阪</b>", "Osaka"))
    walk.press("button.main", "textarea[name='sql']")
    walk.write("textarea[name='sql']", SQL)
    walk.press("form[action='/queries#price'] button", "#price")
    walk.examine()
    walk.press("form[action='/queries/ask'] button.main", "#answer")
    walk.examine()
    walk.press("#history ~ .scroll a", "input[name='confirmed'][value='nothing']")


def series(walk: PageVisit) -> None:
    """From the plan of a series to its window as a film and curves of areas."""
    walk.press("a[href='/plan?file=flow/series.toml']", "input[name='at']")
    if not walk.page.locator("#player").count():  # whoever comes first publishes it
        walk.examine()
        walk.press("input[name='whole']", "input[name='whole']:checked", key="Space")
        walk.press("form[action='/series/run'] button.main", "#player")
    walk.page.wait_for_selector("#caption:not(:empty)")
    before = walk.page.inner_text("#caption")
    walk.press("#next", "#caption")
    assert walk.page.inner_text("#caption") != before
    walk.reach("select[name='area']")
    walk.page.keyboard.press("ArrowDown")
    walk.press("form[action='/series#curves'] button", "polygon.band")
    walk.examine()


JOURNEYS: Mapping[str, Callable[[PageVisit], None]] = {
    "counts": counts,
    "records": records,
    "tables": tables,
    "queries": queries,
    "series": series,
}
