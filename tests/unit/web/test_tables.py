"""Tables by disclosure control on the page: from a file to a verified release, and what the holder sees on the way."""

from __future__ import annotations

import csv
import json
import random
import re
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from sudare.releases.registry import verify_folder
from tests.unit.web.asking import Answer, Asking

FORM = {
    "file": "firms.csv",
    "title": "売上 <b>&\"'",
    "publisher": "office",
    "threshold": "3",
    "p": "10",
    "role-1": "dimension",
    "role-2": "dimension",
    "role-3": "value",
}


def write_firms(folder: Path, names: tuple[str, ...] = ("firm", "region", "trade", "turnover")) -> None:
    draw = random.Random(4)
    with (folder / "firms.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for number in range(90):
            region = draw.choices(["n1", "n2", "s1", "s2"], [8, 5, 6, 2])[0]
            trade = draw.choices(["mines", "shops", "boats"], [2, 8, 4])[0]
            writer.writerow([f"Firm {number}", region, trade, round(draw.paretovariate(0.9) * 100)])


def last_event(asking: Asking, started: Answer) -> dict[str, str]:
    assert started.status == 303, started.text
    stream = asking.get(f"{started.headers['location']}/events")
    events = [json.loads(line[6:]) for line in stream.text.splitlines() if line.startswith("data: ")]
    last: dict[str, str] = events[-1]
    return last


def words_in(answer: Answer) -> str:
    return re.sub(r"<[^>]+>", " ", answer.text)


@pytest.mark.parametrize(
    ("language", "primary", "secret"),
    [("en", "primary suppression", "CONFIDENTIAL"), ("ja", "一次秘匿", "秘: データ保有者のみ")],
)
def test_from_a_file_to_a_verified_table(tmp_path: Path, language: str, primary: str, secret: str) -> None:
    write_firms(tmp_path)
    asking = Asking(tmp_path, language=language)
    assert "/tables/new?file=firms.csv" in asking.get("/ways?file=firms.csv").text
    assert asking.get("/tables/new?file=firms.csv").status == 200
    made = asking.post("/tables/new", FORM)
    place = made.headers["location"]
    name = unquote(place.partition("=")[2])
    opened = asking.get(f"/plan?file={quote(name)}")
    assert opened.headers["location"] == place, "plans of this kind open on their own page"
    before = asking.get(place)
    assert secret not in before.text, "nothing of the data is shown unasked"
    assert f"sudare run {name} --yes" in before.text
    shown = asking.get(f"{place}&cells=1&costs=1")
    assert primary in shown.text
    assert secret in shown.text
    assert "<b>" not in shown.text
    hidden = re.findall(r'cell primary"><a href="[^"]+cell=(\d+)"', shown.text)
    assert hidden
    facts = words_in(asking.get(f"{place.replace('/tables?', '/tables/cell?')}&cell={hidden[0]}"))
    assert secret in facts
    by_hand = {"en": "marked by hand", "ja": "手動の指定"}[language]
    assert by_hand not in facts, "a rule of the plan is named, however often the plan is read"
    assert re.search(r"between [\d,]+ and [\d,]+|[\d,]+ から [\d,]+ まで", facts)
    done = last_event(asking, asking.post("/plan/carry-out", {"file": name}))
    assert done["state"] == "done", done
    after = asking.get(place).text
    assert {"en": "was carried out", "ja": "実行済み"}[language] in after
    assert 'action="/plan/carry-out"' not in after, "what is there is not in the way of itself"
    folder = tmp_path / Path(name).parent / "protected"
    assert not [check for check in verify_folder(folder) if check.outcome == "failed"]
    assert "confidential" not in asking.get(done["result"]).text, "what is the holder's is no download"
    verified = json.loads(asking.post("/release/verify", {"folder": f"{Path(name).parent}/protected"}).text)
    assert verified["is_sound"]
    certificate = {"en": "proof that hidden cells are safe", "ja": "秘匿セルの安全性の証明"}[language]
    assert certificate in [check["name"] for check in verified["checks"]]


def test_who_contributes_is_no_axis_unless_somebody_says_so(tmp_path: Path) -> None:
    write_firms(tmp_path)
    chosen = re.findall(r'value="(\w+)" selected', Asking(tmp_path).get("/tables/new?file=firms.csv").text)
    assert chosen == ["holding", "dimension", "dimension", "value"]


def test_another_try_leaves_the_plan_as_it_is(tmp_path: Path) -> None:
    write_firms(tmp_path)
    asking = Asking(tmp_path)
    place = asking.post("/tables/new", FORM | {"title": "firms"}).headers["location"]
    plan = tmp_path / "firms" / "plan.toml"
    before = plan.read_bytes()
    answer = asking.post(
        "/tables/retry", {"file": "firms/plan.toml", "keep-0": "yes", "threshold": "4", "p": "", "method": "round"}
    )
    assert unquote(answer.headers["location"]) == "/tables?file=firms/plan-2.toml&cells=1"
    assert plan.read_bytes() == before
    text = (tmp_path / "firms" / "plan-2.toml").read_text(encoding="utf-8")
    assert "threshold = 4" in text
    assert "p_percent" not in text
    assert "trade" not in text
    assert asking.get(answer.headers["location"]).status == 200
    assert asking.get(place).status == 200


@pytest.mark.parametrize(
    ("target", "form", "said"),
    [
        ("/tables/new", FORM | {"threshold": "many"}, "is no number"),
        ("/tables/new", FORM | {"threshold": "", "p": ""}, "rules"),
        ("/tables/new", FORM | {"role-1": "out", "role-2": "out"}, "at least one"),
        ("/tables/new", FORM | {"role-2": "value"}, "one column to add up"),
        ("/tables/new", FORM | {"file": "../x.csv"}, "There is no"),
        ("/tables/retry", {"file": "firms.csv"}, "not TOML"),
        ("/plan/carry-out", {"file": "none.toml"}, "There is no"),
    ],
)
def test_a_wrong_form_leaves_nothing(tmp_path: Path, target: str, form: dict[str, str], said: str) -> None:
    write_firms(tmp_path)
    answer = Asking(tmp_path).post(target, form)
    assert answer.status == 400
    assert said in answer.text
    assert [path.name for path in tmp_path.iterdir()] == ["firms.csv"]


@pytest.mark.parametrize("cell", ["-1", "x", "", "99999", "9" * 400])
def test_a_cell_that_is_none_is_refused(tmp_path: Path, cell: str) -> None:
    write_firms(tmp_path)
    asking = Asking(tmp_path)
    asking.post("/tables/new", FORM | {"title": "firms"})
    answer = asking.get(f"/tables/cell?file=firms/plan.toml&cell={cell}")
    assert answer.status == 400
    assert "no such cell" in answer.text


def test_columns_with_hostile_names_are_only_names(tmp_path: Path) -> None:
    write_firms(tmp_path, ('"><script>alert(1)</script>', "地域 名", 'it\'s "trade"', "売上"))
    asking = Asking(tmp_path)
    assert "<script>alert" not in asking.get("/tables/new?file=firms.csv").text
    place = asking.post("/tables/new", FORM).headers["location"]
    shown = asking.get(f"{place}&cells=1")
    assert shown.status == 200
    assert "<script>alert" not in shown.text


def test_a_file_with_very_many_columns_is_refused_in_a_sentence(tmp_path: Path) -> None:
    names = ",".join(f"c{number}" for number in range(2_000))
    (tmp_path / "wide.csv").write_text(f"{names}\n{','.join('1' * 2_000)}\n", encoding="utf-8")
    answer = Asking(tmp_path).get("/tables/new?file=wide.csv")
    assert answer.status == 400
    assert "columns" in answer.text
