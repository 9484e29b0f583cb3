"""What `sudare anonymize` prints of its result, to the terminal alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import Run, runner
from tests.unit.releases.kinds.records.town import ANONYMIZE, COLUMNS, HEAD, build_town


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsys, monkeypatch, columns=160)


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return build_town(tmp_path, HEAD + COLUMNS + ANONYMIZE)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", ("What became of the records", "* throughout", "information loss", "records left out", "Runners-up")),
        ("ja", ("匿名化の結果", "すべて *", "情報損失", "除いたレコード", "次点")),
    ],
)
def test_the_result_is_printed(run: Run, plan: Path, language: str, said: tuple[str, ...]) -> None:
    shown = run("anonymize", plan, "--lang", language)
    assert shown.code == 0, shown.err
    for words in said:
        assert words in shown.err
    assert shown.out == f"{plan.parent / 'protected'}\n"


def test_a_program_gets_the_same(run: Run, plan: Path) -> None:
    result = run("anonymize", plan, "--json").json["result"]
    document = json.loads((plan.parent / "protected" / "release.json").read_text(encoding="utf-8"))
    assert {name: one["level"] for name, one in result["levels"].items()} == document["search"]["levels"]
    assert result["loss"] == document["search"]["loss"]
    assert result["records"] == {"read": 240, "published": 240, "suppressed": 0, "suppressed_are": "starred"}
    published = (plan.parent / "protected" / "people.csv").read_text(encoding="utf-8").splitlines()
    header = published[0].split(",")
    columns = dict(zip(header, zip(*(row.split(",") for row in published[1:]), strict=True), strict=True))
    assert [name for name in result["levels"] if set(columns[name]) == {"*"}] == result["starred_throughout"]
    losses = [one["loss"] for one in result["runners_up"]]
    assert len(losses) == 3
    assert [result["loss"], *losses] == sorted([result["loss"], *losses])
    assert all(one["levels"] != document["search"]["levels"] for one in result["runners_up"])


def test_runners_up_are_choices_that_can_be_published(run: Run, plan: Path) -> None:
    """Stated as levels of the columns, one of them gives the loss that was told."""
    first = run("anonymize", plan, "--json").json["result"]["runners_up"][0]
    text = plan.read_text(encoding="utf-8")
    for name, level in first["levels"].items():
        text = text.replace(f"[columns.{name}]", f"[columns.{name}]\nlevel = {level}")
    plan.write_text(text, encoding="utf-8")
    made = run("anonymize", plan, "--out", plan.parent / "other", "--json")
    assert made.code == 0, made.err
    levels = made.json["result"]["levels"]
    assert {name: one["level"] for name, one in levels.items()} == first["levels"]


def test_runners_up_are_in_no_file(run: Run, plan: Path) -> None:
    shown = run("anonymize", plan, "--json").json
    for file in Path(shown["folder"]).iterdir():
        assert b"runner" not in file.read_bytes().lower()
    other = f"{shown['result']['runners_up'][0]['loss'][0]:.6g}".encode()
    assert not [file.name for file in Path(shown["folder"]).iterdir() if other in file.read_bytes()]


def test_records_that_are_left_out_are_counted(run: Run, plan: Path) -> None:
    text = plan.read_text(encoding="utf-8").replace("k = 4", "k = 4\nsuppression = 0.2")
    plan.write_text(text, encoding="utf-8")
    result = run("anonymize", plan, "--json").json["result"]["records"]
    assert result["read"] - result["published"] == result["suppressed"]
