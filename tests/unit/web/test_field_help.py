"""Help stands beside the fields of every form, in both languages, and every text of help is used."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlencode

import pytest

from sudare.examples import invent_country
from sudare.ledger import open_ledger
from sudare.privacy import Budget, Unit
from sudare.privacy.unit import ProtectedTime
from sudare.web.words import TEXTS
from tests.unit.web.asking import Asking
from tests.unit.web.maps.small_release import make_release
from tests.unit.web.page_fields import without_help
from tests.unit.web.test_queries import PLACE, TEXT
from tests.unit.web.test_records import FORM as PATIENTS
from tests.unit.web.test_records import write_patients
from tests.unit.web.test_series import PLAN
from tests.unit.web.test_tables import FORM as FIRMS
from tests.unit.web.test_tables import write_firms

TEMPLATES = Path(__import__("sudare.web").web.__file__).parent / "templates"
USED = {
    name for file in TEMPLATES.glob("*.jinja") for name in re.findall(r'help\("([a-z-]+)"', file.read_text("utf-8"))
}


SPACE = re.compile(r"。[ \n]+[ぁ-んァ-ヶ一-龯]")
"""Between Japanese sentences, which have none."""


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A folder with something of everything, and the pages that have fields."""
    folder = tmp_path_factory.mktemp("fields")
    write_firms(folder)
    write_patients(folder)
    (folder / "visits.csv").write_text("city,age,day\nTokyo,3,2025-01-01\n", encoding="utf-8")
    mesh = invent_country(64, people=100).domain.attributes[0]
    window = ", ".join(str(getattr(mesh, name)) for name in ("first_row", "first_column", "rows", "columns"))
    (folder / "series.toml").write_text(PLAN.replace("WINDOW", window), encoding="utf-8")
    (folder / "rows").mkdir()
    with open_ledger(folder / "budget.db", create=True) as ledger:
        ledger.add_dataset("crowds", Budget(rho=1), unit=Unit("person", time=ProtectedTime("person-day", 2)))
    asking = Asking(folder)
    asking.post("/examples", {"name": "invented-survey"})
    table = asking.post("/tables/new", FIRMS).headers["location"]
    people = asking.post("/records/new", PATIENTS).headers["location"]
    assert asking.post("/queries/new", {"file": "visits.csv", "text": TEXT, "total": "2"}).status == 303
    (folder / "town").mkdir()
    make_release(folder / "town")
    pages = [
        "/",
        *(f"{page}?file=visits.csv" for page in ("/draft", "/tables/new", "/records/new", "/queries/new")),
        "/plan?file=invented-survey/plan.toml",
        "/release?folder=town/release",
        f"{table}&cells=1",
        f"{people}&risks=1",
        "/queries",
        f"/queries?{urlencode(PLACE)}",
        "/series?file=series.toml",
    ]
    return folder, pages


def test_every_text_of_help_is_used_and_there() -> None:
    assert {name.removeprefix("help.") for name in TEXTS if name.startswith("help.")} == USED


@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_field_has_help_beside_it(targets: tuple[Path, list[str]], language: str) -> None:
    asking = Asking(targets[0], language=language)
    for target in targets[1]:
        answer = asking.get(target)
        assert answer.status == 200, answer.text
        assert without_help(answer.text) == [], target
        assert not SPACE.search(answer.text), target
        said = {"en": "Help: ", "ja": "説明: "}[language]
        assert said in answer.text or target == "/"


def test_a_field_without_help_is_noticed() -> None:
    helped = '<details class="help"><summary>?</summary><p>x</p></details>'
    assert without_help(f'<form><div class="field"><input name="a">{helped}</div><input name="b"></form>') == ["b"]
    assert without_help(f'<table><tr><th>{helped}</th></tr><tr><td><select name="c"></select></td></tr></table>') == []
    assert without_help('<section><div class="field"><textarea name="d"></textarea></div></section>') == ["d"]
