"""A series on the page: ticks published as jobs, and the window as a film and curves from published files alone."""

from __future__ import annotations

import json
import shutil
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

import pytest

from sudare.examples import PeopleFlow, invent_country, write_people_flow
from sudare.ledger import open_ledger
from sudare.privacy import Budget, Unit
from sudare.privacy.unit import ProtectedTime
from sudare.releases.registry import verify_folder
from tests.unit.web.asking import Asking
from tests.unit.web.page_fields import without_help
from tests.unit.web.test_tables import last_event

PLAN = """
kind = "series"
title = "<i>人流</i>"
publisher = "office"
[source]
path = "rows/{date}T{time}.parquet"
person = "person"
[[domain]]
name = "KEY_CODE"
kind = "mesh"
level = "1/2"
window = [WINDOW]
[unit]
who = "person"
[series]
every = "12 hours"
window = "1 day"
start = 2025-04-01
protects = "person-day"
moves = 2
[budget]
rho = 0.5
[ledger]
location = "budget.db"
dataset = "crowds"
[output]
folder = "out"
revision = false
"""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("series")
    country = invent_country(64, people=2_000)
    write_people_flow(PeopleFlow(country, ticks=4), folder / "rows", start=datetime(2025, 4, 1))
    mesh = country.domain.attributes[0]
    window = ", ".join(str(getattr(mesh, name)) for name in ("first_row", "first_column", "rows", "columns"))
    (folder / "series.toml").write_text(PLAN.replace("WINDOW", window), encoding="utf-8")
    with open_ledger(folder / "budget.db", create=True) as ledger:
        ledger.add_dataset("crowds", Budget(rho=1), unit=Unit("person", time=ProtectedTime("person-day", 2)))
    asking = Asking(folder)
    empty = asking.get("/series?file=series.toml")
    assert "No tick was published" in empty.text
    done = last_event(asking, asking.post("/series/run", {"file": "series.toml", "at": "2025-04-01T00:00"}))
    assert done["state"] == "done", done
    done = last_event(
        asking, asking.post("/series/run", {"file": "series.toml", "at": "2025-04-01T12:00", "whole": "yes"})
    )
    assert done["state"] == "done", done
    shutil.rmtree(folder / "rows")
    return folder


@pytest.mark.parametrize(("language", "said"), [("en", "The window as a film"), ("ja", "期間の動画")])
def test_a_window_is_shown_from_what_was_published(published: Path, language: str, said: str) -> None:
    asking = Asking(published, language=language)
    assert asking.get("/plan?file=series.toml").headers["location"] == "/series?file=series.toml"
    shown = asking.get("/series?file=series.toml&area=0&area=1")
    assert said in shown.text
    assert "<i>人流" not in shown.text
    assert without_help(shown.text) == []
    assert shown.text.count('class="band"') == 3, "everybody and two areas, with intervals"
    film = json.loads(asking.get(f"/series/film?file=series.toml&window={quote('2025-04-01T00:00:00')}").text)
    assert len(film["frames"]) == 2
    assert all(len(frame["counts"]) == film["rows"] * film["columns"] for frame in film["frames"])
    assert all(sum(frame["counts"]) == frame["total"] for frame in film["frames"])
    assert len(film["names"]) == len(set(film["names"])) == film["rows"] * film["columns"], "each pixel by its place"


def test_a_window_is_paid_for_once_and_verifies(published: Path) -> None:
    with open_ledger(published / "budget.db") as ledger:
        assert str(ledger.dataset("crowds").spent) == "rho = 0.5"
    for tick in sorted((published / "out").glob("date=*/time=*")):
        assert not [check for check in verify_folder(tick, str(published / "budget.db")) if check.outcome == "failed"]


@pytest.mark.parametrize(("language", "said"), [("en", "Tick 1 released"), ("ja", "時点 1 を公表")])
def test_entries_of_ticks_are_told_in_words(published: Path, language: str, said: str) -> None:
    shown = Asking(published, language=language).get("/ledgers").text
    assert said in shown
    assert "tick-" not in shown
    every = {"en": "12 hours", "ja": "12 時間"}[language]
    assert every in Asking(published, language=language).get("/series?file=series.toml").text


@pytest.mark.parametrize("at", ["soon", "", "2025-04-01T00:30", "2024-01-01T00:00", "2999-01-01T00:00"])
def test_a_tick_that_is_none_is_refused(published: Path, at: str) -> None:
    assert Asking(published).post("/series/run", {"file": "series.toml", "at": at}).status == 400


@pytest.mark.parametrize("window", ["x", "2030-01-01T00:00:00"])
def test_a_window_that_is_none_is_refused(published: Path, window: str) -> None:
    assert Asking(published).get(f"/series?file=series.toml&window={window}").status == 400
