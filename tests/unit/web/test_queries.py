"""Questions in SQL on the page: prices before answers, repeated questions free, and nothing charged that was not confirmed."""

from __future__ import annotations

import html
import re
from pathlib import Path
from urllib.parse import urlencode

import pytest

from sudare.ledger import open_ledger
from tests.unit.web.asking import Answer, Asking

TEXT = """
unit.name = "person"

[tables.visits]
unit = "row"
[tables.visits.columns]
city = { type = "text", values = ["Tokyo", "<b>大阪</b>"], nullable = false }
age = { type = "integer", bounds = [0, 100], nullable = false }
"""
SQL = "SELECT city, count(*) AS people FROM visits GROUP BY city ORDER BY city"
PLACE = {"data": "visits.csv", "metadata": "visits-sql/metadata.toml", "account": "visits-sql/budget.db::visits-sql"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = "\n".join(f"{'Tokyo' if age % 3 else '<b>大阪</b>'},{age}" for age in range(20, 80))
    (tmp_path / "visits.csv").write_text(f"city,age\n{rows}\n", encoding="utf-8")
    return tmp_path


def _saved(folder: Path, language: str = "en") -> Asking:
    asking = Asking(folder, language=language)
    made = asking.post("/queries/new", {"file": "visits.csv", "text": TEXT, "total": "2"})
    assert made.status == 303, made.text
    return asking


def _price(asking: Asking, sql: str = SQL, **more: str) -> Answer:
    return asking.get(f"/queries?{urlencode(PLACE | {'sql': sql, 'epsilon': '0.5'} | more)}")


def _confirmed(priced: Answer) -> str:
    found = re.search(r'name="confirmed" value="([^"]*)"', priced.text)
    assert found, priced.text
    return html.unescape(found[1])


def _spent(folder: Path) -> str:
    with open_ledger(folder / "visits-sql/budget.db") as ledger:
        return str(ledger.dataset("visits-sql").spent)


@pytest.mark.parametrize(("language", "again"), [("en", "nothing was charged"), ("ja", "課金されていません")])
def test_from_a_file_to_an_answer(folder: Path, language: str, again: str) -> None:
    asking = Asking(folder, language=language)
    draft = asking.get("/queries/new?file=visits.csv")
    assert "[tables.visits]" in draft.text
    assert "Tokyo" not in draft.text, "a draft is made without rows"
    asking = _saved(folder, language)
    assert "visits-sql/metadata.toml" in asking.get("/queries").text
    priced = _price(asking)
    assert _spent(folder) == "None", "a price costs nothing"
    assert "sudare sql price" in priced.text
    form = PLACE | {"sql": SQL, "epsilon": "0.5", "confirmed": _confirmed(priced)}
    answer = asking.post("/queries/ask", form)
    assert answer.status == 200, answer.text
    assert _spent(folder) == "epsilon = 0.5"
    assert "±" in answer.text
    assert 'class="reach"' in answer.text, "error bars"
    assert "<b>大阪" not in answer.text, "values become no markup"
    numbers = re.findall(r'<td class="number">([^<]+)</td>', answer.text)
    free = _price(asking)
    assert _confirmed(free) == "nothing"
    repeated = asking.post("/queries/ask", form | {"confirmed": "nothing"})
    assert again in repeated.text
    assert re.findall(r'<td class="number">([^<]+)</td>', repeated.text) == numbers
    assert _spent(folder) == "epsilon = 0.5", "the same question is paid for once"
    history = repeated.text.partition('id="history"')[2]
    assert "SELECT city" in history, "the history has it"
    link = re.search(r'href="(/queries[^"#]+)#price"', history)
    assert link
    assert _confirmed(asking.get(html.unescape(link[1]))) == "nothing", "and shows it once more for free"
    assert ".answers" not in asking.get("/").text, "answers that are kept are no data"


def test_what_belongs_together_is_proposed(folder: Path) -> None:
    (folder / "aaa.csv").write_text("x\n1\n", encoding="utf-8")
    asking = Asking(folder)
    asking.post("/examples", {"name": "invented-survey"})
    assert asking.post("/queries/new", {"file": "visits.csv", "text": TEXT, "total": "2"}).status == 303
    chosen = re.findall(r"<option[^>]* selected>([^<]*)</option>", asking.get("/queries").text)
    assert chosen == ["visits.csv", "visits-sql (visits-sql/budget.db)"]


def test_what_was_not_confirmed_is_not_asked(folder: Path) -> None:
    asking = _saved(folder)
    confirmed = _confirmed(_price(asking))
    for change in ({"confirmed": ""}, {"confirmed": "nothing"}, {"epsilon": "1.5", "confirmed": confirmed}):
        form = PLACE | {"sql": SQL, "epsilon": "0.5", "confirmed": confirmed} | change
        answer = asking.post("/queries/ask", form)
        assert answer.status == 400
        assert "nothing was charged" in answer.text
    assert _spent(folder) == "None"


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT city FROM visits", "aggregates"),
        ("DROP TABLE visits", "SELECT"),
        ("SELECT count(*) FROM nowhere", "nowhere"),
        ("'; <script>alert(1)</script>", ""),
        ("SELECT count(*) FROM read_csv('/etc/passwd')", ""),
    ],
)
def test_what_cannot_be_asked_is_said_and_free(folder: Path, sql: str, said: str) -> None:
    asking = _saved(folder)
    answer = _price(asking, sql)
    assert answer.status == 400
    assert said in answer.text
    assert "<script>alert" not in answer.text
    assert _spent(folder) == "None"


def test_more_than_there_is_cannot_be_asked(folder: Path) -> None:
    asking = _saved(folder)
    priced = _price(asking, epsilon="3")
    assert "does not allow" in priced.text
    assert "confirmed" not in priced.text
    form = PLACE | {"sql": SQL, "epsilon": "3", "confirmed": "epsilon = 3"}
    assert asking.post("/queries/ask", form).status == 400
    assert _spent(folder) == "None"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"text": "unit = 3"}, "unit"),
        ({"text": TEXT + 'x = "?"'}, "metadata.toml"),
        ({"total": "much"}, "no epsilon"),
        ({"file": "../visits.csv"}, "There is no"),
    ],
)
def test_wrong_metadata_leave_nothing(folder: Path, change: dict[str, str], said: str) -> None:
    answer = Asking(folder).post("/queries/new", {"file": "visits.csv", "text": TEXT, "total": "2"} | change)
    assert answer.status == 400
    assert said in answer.text
    assert [path.name for path in folder.iterdir()] == ["visits.csv"]


@pytest.mark.parametrize("change", [{"data": "../x"}, {"metadata": "none"}, {"account": ""}, {"epsilon": "-1"}])
def test_places_that_are_none_are_refused(folder: Path, change: dict[str, str]) -> None:
    assert _price(_saved(folder), **change).status == 400
