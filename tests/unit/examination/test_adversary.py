"""What an adversary found in examinations; each test says what should be so."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from sudare.attacks.verdicts import AttackOutcome
from sudare.errors import InputError
from sudare.examination import examine
from sudare.examination import people as people_module
from sudare.microdata.records import Records
from tests.commands import runner
from tests.unit.examination.test_people import folder_of
from tests.unit.releases.kinds.tables.test_adversary import LAX, PLAN, STAFF, carry_out

ESCAPE = "\x1b]0;title of your window\x07\x1b[2J"


def describe(folder: Path, table: str) -> Path:
    (folder / "table.csv").write_text(table)
    (folder / "tables.toml").write_text('[[table]]\nfile = "table.csv"\n')
    return folder / "tables.toml"


def test_nothing_was_looked_at_and_it_held(tmp_path: Path) -> None:
    # Where no attack could be run the outcome is undecided, never held (the hidden count is 1: its total says so).
    rows = "".join(f"p{number},r{number % 500},5\n" for number in range(600))
    found = examine(describe(tmp_path, f"id,area,count\n{rows}q,r1,*\nq,total,1\n"))
    assert not found.reports
    assert found.outcome is AttackOutcome.UNDECIDED
    assert found.to_dict()["outcome"] == "undecided"


def test_a_folder_that_cannot_be_compared_hides_one_that_breaks_it(tmp_path: Path) -> None:
    # Each further folder is tried by itself: leaving one out must not leave out all.
    carry_out(tmp_path, PLAN, "table")
    carry_out(tmp_path, LAX, "lax")
    carry_out(tmp_path, STAFF, "staff")
    assert examine(tmp_path / "table", others=[tmp_path / "lax"]).outcome is AttackOutcome.BROKEN
    assert examine(tmp_path / "table", others=[tmp_path / "lax", tmp_path / "staff"]).outcome is AttackOutcome.BROKEN


def test_a_record_that_was_not_looked_at_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Where only some records are compared, "not found" is undecided; or all are compared, as exact matches cost little.
    monkeypatch.setattr(people_module, "MAX_PUBLISHED", 10)
    rows = ["sex,job"] + ["m,clerk"] * 10 + ["f,pilot"] + ["m,clerk"] * 10
    subject = folder_of(tmp_path / "records", "\n".join(rows) + "\n")
    outside = Records.of_columns({"sex": ["f"], "job": ["pilot"]})
    assert people_module.link_outside(subject, outside, ["sex", "job"]).outcome is not AttackOutcome.HELD


@pytest.mark.parametrize("count", ["9" * 5_000, "9" * 30])
def test_a_very_large_count_is_an_internal_error(tmp_path: Path, count: str) -> None:
    # InputError, with file and line.
    with pytest.raises(InputError):
        examine(describe(tmp_path, f"age,count\nyoung,{count}\nold,8\ntotal,*\n"))


def test_a_description_quotes_any_file_of_the_machine(tmp_path: Path) -> None:
    # A description names files of its own folder; and what stands in a file that is no table is not quoted.
    (tmp_path / "secret.txt").write_text("the key is 1234\n")
    place = tmp_path / "given"
    place.mkdir()
    (place / "tables.toml").write_text('[[table]]\nfile = "../secret.txt"\n')
    with pytest.raises(InputError) as told:
        examine(place / "tables.toml")
    assert "1234" not in told.value.english


@pytest.mark.parametrize(("key", "value"), [("settings", "x"), ("rules", -1)])
def test_a_hostile_part_of_a_report_is_an_internal_error(tmp_path: Path, key: str, value: object) -> None:
    # A report that says nonsense is an InputError.
    out = tmp_path / "out"
    carry_out(tmp_path, PLAN.replace('value = "turnover"\n', ""))
    document = json.loads((out / "release.json").read_text())
    document[key] = value
    (out / "release.json").write_text(json.dumps(document))
    with pytest.raises(InputError):
        examine(out)


def test_deep_json_is_an_internal_error(tmp_path: Path) -> None:
    # Nesting that the parser gives up on (RecursionError) is a damaged report.
    (tmp_path / "release.json").write_text('{"format": "sudare-people/1", "a": ' + "[" * 50_000 + "]" * 50_000 + "}")
    with pytest.raises(InputError):
        examine(tmp_path)


def test_a_title_reaches_the_terminal_as_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # What a folder says is printed with its control letters taken out or shown.
    carry_out(tmp_path, PLAN)
    report = tmp_path / "out" / "release.json"
    document = json.loads(report.read_text())
    document["title"] = ESCAPE + "Firms"
    report.write_text(json.dumps(document))
    (tmp_path / "out" / "confidential.json").unlink()
    assert "\x1b" not in runner(capsys, monkeypatch, 120)("attack", tmp_path / "out").out


def test_a_code_reaches_the_terminal_as_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # As above: codes stand in the names of cells.
    (tmp_path / "out").mkdir()
    codes = ["Total", f"{ESCAPE}x", "y"]
    table = f"trade,sales,status\nTotal,9,published\n{codes[1]},,hidden\ny,5,published\n"
    (tmp_path / "out" / "table.csv").write_text(table, newline="")
    document = {
        "format": "sudare-protected-table/1",
        "title": "Firms",
        "method": "suppress",
        "settings": {"secondary": False},
        "value": {"name": "sales", "decimals": 0, "is_count": False},
        "dimensions": [{"name": "trade", "codes": codes, "parents": [-1, 0, 0]}],
        "tables": [{"name": "", "file": "table.csv", "dimensions": ["trade"], "cells": 3, "hidden": 1}],
        "rules": [],
        "files": [{"name": "table.csv", "sha256": sha256(table.encode()).hexdigest()}],
    }
    (tmp_path / "out" / "release.json").write_text(json.dumps(document))
    answer = runner(capsys, monkeypatch, 120)("attack", tmp_path / "out")
    assert answer.code == 7
    assert "\x1b" not in answer.out
