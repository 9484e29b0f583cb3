"""Plans of records and tables that are drafted from a file: they can be carried out, and no value of anybody is in them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from sudare.cli.app import main
from sudare.drafting import ColumnShape, SeenColumn
from sudare.drafting.record_drafts import guess_record_columns
from sudare.drafting.table_drafts import guess_table_roles
from sudare.releases.registry import run_plan
from tests.unit.web.test_records import write_patients
from tests.unit.web.test_tables import write_firms

KINDS = ("records", "tables")


def _draft(folder: Path, kind: str, *more: str) -> int:
    write_firms(folder)
    write_patients(folder)
    file = {"records": "patients.csv", "tables": "firms.csv"}[kind]
    return main(["init", str(folder / "drafted"), "--from", str(folder / file), "--kind", kind, *more])


@pytest.mark.parametrize("kind", KINDS)
def test_a_draft_can_be_carried_out_as_it_is(tmp_path: Path, kind: str) -> None:
    assert _draft(tmp_path, kind) == 0
    plan = tmp_path / "drafted/plan.toml"
    text = plan.read_text(encoding="utf-8")
    assert tomllib.loads(text)["kind"] == kind
    for value in ("Patient 1", "nurse", "cancer", "Firm 1", "mines", "n1"):
        assert value not in text
    assert (run_plan(plan).folder / "release.json").is_file()
    assert not (tmp_path / "drafted/budget.db").exists(), "nothing is charged"


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_exists_is_overwritten(tmp_path: Path, kind: str) -> None:
    (tmp_path / "drafted").mkdir()
    assert _draft(tmp_path, kind) == 0
    before = (tmp_path / "drafted/plan.toml").read_bytes()
    assert _draft(tmp_path, kind) != 0
    assert (tmp_path / "drafted/plan.toml").read_bytes() == before


@pytest.mark.parametrize("kind", KINDS)
def test_a_budget_is_refused(tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _draft(tmp_path, kind, "--epsilon", "1", "--lang", "ja") == 2
    assert "予算は指定できません" in capsys.readouterr().err
    assert not (tmp_path / "drafted").exists()


def test_what_is_unknown_is_known_to_others() -> None:
    shapes = {"name": "text", "年収": "whole", "age": "whole", "city": "text", "born": "day", "person_id": "whole"}
    found = guess_record_columns([SeenColumn(name=name, shape=ColumnShape(shape)) for name, shape in shapes.items()])
    assert [one.role for one in found] == [
        "identifier",
        "sensitive",
        "quasi-identifier",
        "quasi-identifier",
        "quasi-identifier",
        "identifier",
    ]
    assert [one.rule for one in found] == ["none", "none", "intervals", "flat", "dates", "none"]


@pytest.mark.parametrize("name", ["firm", "企業名", "company_id", "氏名", "confirmed"])
def test_who_contributes_is_no_axis(name: str) -> None:
    columns = [SeenColumn(name=name, shape=ColumnShape.TEXT), SeenColumn(name="turnover", shape=ColumnShape.WHOLE)]
    first = "dimension" if name == "confirmed" else "holding"
    assert [role for _, role in guess_table_roles(columns)] == [first, "value"]
