"""``sudare compare``: from a plan or from nothing to a folder with table, pictures, document and page."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.commands import Run, runner

PLAN = """
title = "Two districts"
repeats = 2

[source]
path = "people.csv"

[columns.district]
role = "area"
[columns.age]
role = "known"
[columns.job]
role = "known"
[columns.ill]
role = "sensitive"

[[methods]]
name = "none"
[[methods]]
name = "k-anonymity"
settings = [5]
[[methods]]
name = "flat"
settings = [0.1, 10]
"""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsys, monkeypatch, 120)


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    rows = ["district,age,job,ill"]
    for place in range(600):
        words = ("north" if place % 3 else "south", str(place * 7 % 80 // 10 * 10), f"job {place * 13 % 11}")
        rows.append(",".join((*words, "yes" if place * place % 7 < 2 else "no")))
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    file = tmp_path / "plan.toml"
    file.write_text(PLAN, encoding="utf-8")
    return file


def test_a_plan_becomes_a_folder(run: Run, plan: Path, tmp_path: Path) -> None:
    answer = run("compare", plan, "--out", tmp_path / "out")
    assert answer.code == 0, answer.err
    assert answer.out.strip() == str(tmp_path / "out")
    assert "no protection" in answer.err
    assert "for research, or for whoever holds the data" in answer.err
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["comparison.csv", "picture-en.svg", "picture-ja.svg", "report.html", "report.json"]
    with (tmp_path / "out" / "comparison.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["method"], row["setting"]) for row in rows] == [
        ("none", ""),
        ("k-anonymity", "5.0"),
        ("flat", "0.1"),
        ("flat", "10.0"),
    ]
    assert float(rows[0]["area"]) > 0.9 > 0.65 > float(rows[2]["area"])
    document = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert document["format"] == "sudare-comparison/1"
    assert document["people"] == 600


def test_the_same_plan_gives_the_same_bytes(run: Run, plan: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert run("compare", plan, "--out", tmp_path / name).code == 0
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()


def test_japanese(run: Run, plan: Path, tmp_path: Path) -> None:
    plan.write_text('language = "ja"\n' + PLAN, encoding="utf-8")
    answer = run("compare", plan, "--out", tmp_path / "out", "--lang", "ja")
    assert answer.code == 0, answer.err
    assert "保護なし" in answer.err
    assert '<html lang="ja">' in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_to_a_program(run: Run, plan: Path, tmp_path: Path) -> None:
    answer = run("compare", plan, "--out", tmp_path / "out", "--repeats", "3", "--json")
    assert answer.code == 0
    assert {one["repeats"] for one in answer.json["results"]} == {3}
    assert answer.json["folder"] == str(tmp_path / "out")


def test_a_folder_that_exists_is_left_alone(run: Run, plan: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    answer = run("compare", plan, "--out", tmp_path / "out", "--json")
    assert answer.code != 0
    assert "exists already" in answer.error["english"]
    assert not list((tmp_path / "out").iterdir())


def test_a_plan_or_an_invented_town(run: Run, plan: Path, tmp_path: Path) -> None:
    for arguments in ((), (plan, "--quick")):
        answer = run("compare", *arguments, "--out", tmp_path / "out", "--json")
        assert answer.code == 2
        assert "--quick" in answer.error["japanese"]
    assert not (tmp_path / "out").exists()


def test_wrong_data_leave_nothing_behind(run: Run, plan: Path, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("district,age\nnorth,3\n", encoding="utf-8")
    answer = run("compare", plan, "--out", tmp_path / "out", "--json")
    assert answer.code != 0
    assert "job" in answer.error["english"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "plan.toml"]


@pytest.mark.slow
@pytest.mark.deep
def test_the_invented_town(run: Run, tmp_path: Path) -> None:
    answer = run("compare", "--quick", "--repeats", "2", "--out", tmp_path / "out", "--json")
    assert answer.code == 0, answer.err
    values = {(one["method"], one["setting"]): one["measures"] for one in answer.json["results"]}
    assert values["suppression", 3.0]["alone_found"]["value"] == 0.0
    assert values["primary-only", 3.0]["alone_found"]["value"] > 0.2
    assert values["none", None]["area"]["value"] > 0.9
    assert values["mst", 1.0]["area"]["value"] < 0.65
