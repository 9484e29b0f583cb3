"""What a plan says of its workload: each part with its predicted error, in both languages and as JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.conftest import PLAN, Run


def planned(town: Path, workload: str) -> Path:
    text = PLAN.replace("[output]", f"[method]\nworkload = {workload}\n\n[output]")
    (town / "plan.toml").write_text(text, encoding="utf-8")
    return town / "plan.toml"


def test_each_part_is_shown(run: Run, town: Path) -> None:
    plan = planned(town, "{ cells = 3, 4 = 1 }")
    shown = run("plan", plan)
    assert shown.code == 0
    assert "What the workload asks for" in shown.out
    assert "areas of side 4" in shown.out
    japanese = run("plan", plan, "--lang", "ja").out
    assert "重視するもの" in japanese
    assert "領域の一辺 4" in japanese
    told = run("plan", plan, "--json").json["area_errors"]
    assert [part["side"] for part in told] == [1, 4]
    assert all(0 < part["low"] < part["rmse"] < part["high"] for part in told)


def test_nothing_is_shown_where_nothing_was_asked_for(run: Run, town: Path) -> None:
    assert "What the workload asks for" not in run("plan", town / "plan.toml").out


@pytest.mark.parametrize("workload", ['"cell"', "{ 3 = 1 }", "{ cells = 0 }"])
def test_what_is_wrong_is_said(run: Run, town: Path, workload: str) -> None:
    shown = run("plan", planned(town, workload))
    assert shown.code != 0
    assert "workload" in shown.err
