"""From a file or an example to a checked release, through the pages: the same plan files and the same ledger as the commands."""

from __future__ import annotations

import json
import time
from pathlib import Path
from urllib.parse import unquote

import pytest

from sudare.ledger import open_ledger
from sudare.releases.kinds.counts import read_plan, verify_release
from sudare.web.jobs import Jobs
from tests.unit.web.asking import Answer, Asking

SURVEY = {"name": "invented-survey"}


def _done(asking: Asking, started: Answer) -> dict[str, str]:
    """The last event of the work that an answer leads to."""
    assert started.status == 303, started.text
    stream = asking.get(f"{started.headers['location']}/events")
    events = [json.loads(line[6:]) for line in stream.text.splitlines() if line.startswith("data: ")]
    last: dict[str, str] = events[-1]
    return last


@pytest.fixture
def asking(tmp_path: Path) -> Asking:
    return Asking(tmp_path)


def test_from_an_example_to_a_checked_release(asking: Asking, tmp_path: Path) -> None:
    opened = asking.post("/examples", SURVEY)
    place = opened.headers["location"]
    assert unquote(place) == "/plan?file=invented-survey/plan.toml"
    shown = asking.get(place)
    assert "sudare run invented-survey/plan.toml --yes" in shown.text
    curves = json.loads(asking.get(place.replace("/plan?", "/plan/curves?")).text)
    errors = [mark["parts"][0]["rmse"] for mark in curves]
    assert errors == sorted(errors, reverse=True), "more budget, less error"
    with open_ledger(tmp_path / "invented-survey" / "budget.db") as ledger:
        assert ledger.dataset("invented-survey").spent is None, "looking costs nothing"

    last = _done(asking, asking.post("/plan/run", {"file": "invented-survey/plan.toml", "value": "0.4"}))
    assert last["state"] == "done", last
    folder = tmp_path / "invented-survey" / "release"
    assert unquote(last["result"]) == "/release?folder=invented-survey/release"
    ledger_file = str(tmp_path / "invented-survey" / "budget.db")
    assert not [check for check in verify_release(folder, ledger_file) if check.outcome != "passed"]
    assert str(read_plan(tmp_path / "invented-survey" / "plan.toml").budget) == "epsilon = 0.4"

    release = asking.get(last["result"])
    assert release.status == 200
    assert "table.csv" in release.text
    verified = json.loads(asking.post("/release/verify", {"folder": "invented-survey/release"}).text)
    assert verified["is_sound"]
    assert "passed" in {check["outcome"] for check in verified["checks"] if check["name"] == "ledger"}
    balance = asking.get("/ledgers")
    assert "ε = 1.6" in balance.text

    again = _done(asking, asking.post("/plan/run", {"file": "invented-survey/plan.toml", "value": "0.4"}))
    assert again["state"] == "done"
    with open_ledger(ledger_file) as ledger:
        assert str(ledger.dataset("invented-survey").spent) == "epsilon = 0.4", "the same release is paid for once"


def test_another_budget_is_another_version_that_is_paid_for_once(asking: Asking, tmp_path: Path) -> None:
    asking.post("/examples", SURVEY)
    plan = tmp_path / "invented-survey/plan.toml"
    _done(asking, asking.post("/plan/run", {"file": "invented-survey/plan.toml", "value": "0.5"}))
    before = plan.read_bytes()
    assert "another version" in asking.get("/plan?file=invented-survey/plan.toml").text
    for _ in range(2):
        done = _done(asking, asking.post("/plan/run", {"file": "invented-survey/plan.toml", "value": "0.25"}))
        assert done["result"] == "/release?folder=invented-survey/plan-2-release", done
    assert plan.read_bytes() == before, "what was released is described as it was"
    assert sorted(path.name for path in plan.parent.glob("plan*.toml")) == ["plan-2.toml", "plan.toml"]
    with open_ledger(tmp_path / "invented-survey/budget.db") as ledger:
        assert str(ledger.dataset("invented-survey").spent) == "epsilon = 0.75"


def test_files_of_a_release_and_no_others(asking: Asking, tmp_path: Path) -> None:
    asking.post("/examples", SURVEY)
    _done(asking, asking.post("/plan/run", {"file": "invented-survey/plan.toml"}))
    folder = "/release/file?folder=invented-survey/release&name="
    assert asking.get(f"{folder}table.csv").body == (tmp_path / "invented-survey/release/table.csv").read_bytes()
    report = asking.get(f"{folder}release.html")
    assert "sandbox" in report.headers["content-security-policy"]
    (tmp_path / "invented-survey/release/other.txt").write_text("not listed", encoding="utf-8")
    for name in ("other.txt", "../budget.db", "../people.parquet", "/etc/passwd", ""):
        assert asking.get(folder + name).status == 400


def test_a_release_that_the_budget_refuses_says_so(asking: Asking, tmp_path: Path) -> None:
    asking.post("/examples", SURVEY)
    last = _done(asking, asking.post("/plan/run", {"file": "invented-survey/plan.toml", "value": "3"}))
    assert last["state"] == "failed"
    assert "budget" in last["problem"]
    assert not (tmp_path / "invented-survey/release").exists()


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "1e9", "x", ""])
def test_a_value_that_is_no_budget_is_refused(asking: Asking, tmp_path: Path, value: str) -> None:
    asking.post("/examples", SURVEY)
    before = (tmp_path / "invented-survey/plan.toml").read_bytes()
    assert asking.post("/plan/run", {"file": "invented-survey/plan.toml", "value": value}).status == 400
    assert (tmp_path / "invented-survey/plan.toml").read_bytes() == before


FORM = {
    "file": "people.csv",
    "title": "人口",
    "publisher": "office",
    "total": "2",
    "account": "new",
    "rows": "3",
    "role-0": "person",
    "role-1": "category",
    "list-1": "sex-en",
    "role-2": "number",
    "edges-2": "0, 15, 65, 120",
    "role-3": "left out",
}


def _people(folder: Path) -> None:
    (folder / "people.csv").write_text("person_id,sex,age,note\n1,female,3,a\n2,male,70,b\n", encoding="utf-8")


def test_a_file_becomes_the_plan_that_the_form_says(asking: Asking, tmp_path: Path) -> None:
    _people(tmp_path)
    shown = asking.get("/draft?file=people.csv")
    assert "tells people apart" in shown.text
    made = asking.post("/draft", FORM)
    assert unquote(made.headers["location"]) == "/plan?file=人口/plan.toml"
    plan = read_plan(tmp_path / "人口" / "plan.toml")
    assert plan.domain.shape == (2, 3)
    assert (plan.unit.rows, plan.source.person) == (3, "person_id")
    assert str(plan.budget) == "epsilon = 0.5"
    last = _done(asking, asking.post("/plan/run", {"file": "人口/plan.toml"}))
    assert last["state"] == "done", last


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"edges-2": "0, x"}, "is no number"),
        ({"total": "much"}, "is no number"),
        ({"role-1": "left out", "role-2": "left out"}, "at least one column"),
        ({"role-1": "latitude"}, "both a latitude and a longitude"),
        ({"role-1": "time", "from-1": "soon"}, "is no day"),
        ({"list-1": ""}, "labels"),
        ({"file": "none.csv"}, "There is no"),
        ({"account": "none.db::x"}, "There is no"),
    ],
)
def test_a_wrong_form_leaves_nothing(asking: Asking, tmp_path: Path, change: dict[str, str], said: str) -> None:
    _people(tmp_path)
    answer = asking.post("/draft", FORM | change)
    assert answer.status == 400
    assert said in answer.text
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_what_is_dropped_on_the_page_is_copied_whole(asking: Asking, tmp_path: Path) -> None:
    body = b"person_id,sex\n1,female\n"
    answer = asking.put("/files/my%20people.csv".replace("%20", " "), body)
    assert json.loads(answer.text) == {"next": "/draft?file=my-people.csv"}
    assert (tmp_path / "my-people.csv").read_bytes() == body
    assert asking.put("/files/my people.csv", b"x").status == 400, "nothing is overwritten"
    assert (tmp_path / "my-people.csv").read_bytes() == body
    assert asking.put("/files/cut.csv", b"half", content_length="9").status == 400
    assert asking.put("/files/program.exe", b"x").status == 400
    assert sorted(path.name for path in tmp_path.iterdir()) == ["my-people.csv"]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_page_speaks_one_language(tmp_path: Path, language: str) -> None:
    asking = Asking(tmp_path, language=language)
    _people(tmp_path)
    asking.post("/examples", SURVEY)
    pages = ["/", "/ledgers", "/draft?file=people.csv", "/plan?file=invented-survey/plan.toml", "/plan?file=none"]
    for target in pages:
        text = asking.get(target).text
        assert f'<html lang="{language}">' in text
        assert ("この端末だけ" in text) == (language == "ja")


def test_a_language_that_is_chosen_is_remembered(asking: Asking) -> None:
    answer = asking.get("/?lang=ja")
    assert "sudare-language=ja" in answer.headers["set-cookie"]
    assert '<html lang="ja">' in answer.text


def test_work_that_breaks_tells_its_kind_and_nothing_of_the_data() -> None:
    jobs = Jobs()

    def work(tell: object) -> str:
        raise RuntimeError("Yamada Taro, 42")

    job = jobs.start("x", "/", work)
    events = list(job.events())
    assert events[-1] is not None
    assert events[-1].state == "failed"
    assert "RuntimeError" in str(events[-1].problem)
    assert "Yamada" not in str(events[-1].problem)


def test_the_same_work_is_not_begun_twice_at_a_time() -> None:
    jobs, begun = Jobs(), []

    def work(tell: object) -> str:
        begun.append(1)
        time.sleep(0.2)
        return "/"

    first, second = (jobs.start("x", "/plan?file=a", work) for _ in range(2))
    assert first is second
    assert [event for event in first.events() if event][-1].state == "done"
    assert len(begun) == 1


MESHES = (
    "都道府県市区町村コード,市区町村名,基準メッシュ・コード\n"
    "13101,千代田区,53394611\n13102,中央区,53394612\n12100,千葉市,53402011\n"
)


def _points(folder: Path) -> dict[str, str]:
    (folder / "points.csv").write_text("mesh,sex\n53394611,female\n53394612,male\n", encoding="utf-8")
    (folder / "list.csv").write_text(MESHES, encoding="utf-8")
    form = {"file": "points.csv", "title": "t", "publisher": "p", "total": "1", "account": "new"}
    return form | {"role-0": "mesh", "level-0": "3", "area-0": "list", "meshes-0": "list.csv", "public-0": "yes"}


@pytest.mark.parametrize(
    ("wish", "cells"),
    [
        ({"prefectures-0": "東京都"}, 2),
        ({"prefectures-0": "Tokyo, Chiba"}, 3),
        ({"municipalities-0": "千代田区"}, 1),
        ({"municipalities-0": "13102"}, 1),
        ({}, 3),
    ],
)
def test_prefectures_and_municipalities_by_name(
    asking: Asking, tmp_path: Path, wish: dict[str, str], cells: int
) -> None:
    assert asking.post("/draft", _points(tmp_path) | wish).status == 303
    assert read_plan(tmp_path / "t" / "plan.toml").domain.cells == cells


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"public-0": ""}, "Confirm that the list of meshes is public"),
        ({"meshes-0": "points.csv"}, "points.csv"),
        ({"prefectures-0": "Edo"}, "Edo"),
        ({"municipalities-0": "Nowhere"}, "Nowhere"),
        ({"meshes-0": ""}, "There is no"),
    ],
)
def test_a_list_of_meshes_that_is_not_public_is_refused(
    asking: Asking, tmp_path: Path, change: dict[str, str], said: str
) -> None:
    refused = asking.post("/draft", _points(tmp_path) | change)
    assert (refused.status, said in refused.text) == (400, True), refused.text
    assert not (tmp_path / "t").exists()


def test_values_of_persons_are_shown_only_when_asked_for(asking: Asking, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("person_id,sex,note\n1,female,Yamada <b>\n", encoding="utf-8")
    assert "Yamada" not in asking.get("/draft?file=people.csv").text
    shown = asking.get("/draft?file=people.csv&rows=shown").text
    assert "Yamada &lt;b&gt;" in shown
    assert "CONFIDENTIAL" in shown


def test_an_encoding_that_is_chosen_stands_in_the_plan(asking: Asking, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes("person_id,性別,age,note\n1,女,3,改\n".encode("cp932"))
    asking.post("/draft", FORM | {"list-1": "sex-ja", "encoding": "cp932"})
    assert read_plan(tmp_path / "人口" / "plan.toml").source.encoding == "cp932"


@pytest.mark.parametrize("suffix", ["xlsx", "gpkg"])
def test_workbooks_and_geopackages_become_plans(asking: Asking, tmp_path: Path, suffix: str) -> None:
    from tests.unit.io.formats.test_row_formats import NAMES, PEOPLE, WRITERS

    WRITERS[suffix](tmp_path / f"p.{suffix}", PEOPLE)
    form = {"file": f"p.{suffix}", "title": "t", "publisher": "p", "total": "1", "role-0": "category", "labels-0": "x"}
    made = asking.post("/draft", form)
    assert made.status == 303, made.text
    assert [one.name for one in read_plan(tmp_path / "t" / "plan.toml").domain.attributes] == [NAMES[0]]
