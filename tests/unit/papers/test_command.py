"""The command for the papers' experiments: what it asks for, what it tells, how it stops."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sudare.bilingual import Words
from sudare_papers import experiments
from sudare_papers.experiments import Experiment
from sudare_papers.report import Finding, Report
from sudare_papers.settings import Settings
from sudare_papers.steps import Step
from tests.commands import Run


def double(settings: Settings, number: int) -> int:
    return 2 * number * settings.repeats


def interrupt(settings: Settings) -> None:
    raise KeyboardInterrupt


def small(name: str, *, is_interrupted: bool = False) -> Experiment:
    def steps(settings: Settings) -> list[Step]:
        extra = [Step("interrupt", interrupt, is_timed=True)] if is_interrupted else []
        return [Step("double of 3", double, (3,)), *extra]

    def report(settings: Settings, results: Any) -> Report:
        findings = (
            Finding(Words("it doubles", "倍になる"), results["double of 3"] == 6 * settings.repeats, "6"),
            Finding(Words("it triples", "三倍になる"), False, "9"),
        )
        return Report(name, Words(name, name), "A paper", (Words("Data.", "データ。"),), (), findings)

    return Experiment(steps, report)


@pytest.fixture(autouse=True)
def few_experiments(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(
        experiments,
        "EXPERIMENTS",
        {name: small(name) for name in ("zcdp", "power", "pruning", "neg-l2", "pk", "survey")},
    )
    monkeypatch.delenv("SUDARE_DATA", raising=False)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


def test_one_experiment(run: Run, tmp_path: Path) -> None:
    told = run("reproduce", "zcdp", "--out", tmp_path / "out")
    page = tmp_path / "out" / "reproduction" / "zcdp" / "page.md"
    assert told.code == 0
    assert told.out == f"{page}\n"
    assert page.read_text().startswith("# zcdp\n")
    assert "INVENTED" in told.err
    assert "does not hold: it triples (9)" in " ".join(told.err.split())
    assert "1 of 2 findings hold." in told.err
    assert not (tmp_path / "out" / "REPRODUCTION.md").exists()


def test_all_in_japanese(run: Run, tmp_path: Path) -> None:
    told = run("reproduce", "all", "--quick", "--out", tmp_path, "--lang", "ja")
    assert told.out.splitlines()[0] == str(tmp_path / "REPRODUCTION.md")
    page = (tmp_path / "REPRODUCTION.md").read_text(encoding="utf-8")
    assert page.startswith("# 論文の再現")
    assert "--quick --repeats 4" in page
    assert "架空の国" in page
    assert "## 論文の正誤" in page
    assert page.index("## zcdp") < page.index("## pruning") < page.index("## neg-l2")
    assert "簡易実行" in told.err


def test_to_a_program(run: Run, tmp_path: Path) -> None:
    told = run("reproduce", "pruning", "--repeats", "7", "--out", tmp_path, "--json")
    values = json.loads(told.out)
    assert values["repeats"] == 7
    assert values["is_real"] is False
    assert [(finding["holds"], finding["evidence"]) for finding in values["findings"]] == [(True, "6"), (False, "9")]


def test_what_is_refused(run: Run, tmp_path: Path) -> None:
    assert run("reproduce", "another").code == 2
    assert run("reproduce", "zcdp", "--repeats", "0").code == 2
    told = run("reproduce", "zcdp", "--data", tmp_path)
    assert told.code == 3
    assert "japan_mesh500m_2020" in told.err
    (tmp_path / "file").write_text("")
    assert run("reproduce", "zcdp", "--out", tmp_path / "file").code == 6


def test_an_interrupt_keeps_what_was_found(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(experiments.EXPERIMENTS, "zcdp", small("zcdp", is_interrupted=True))
    told = run("reproduce", "zcdp", "--out", tmp_path)
    assert told.code == 130
    assert "goes on from here" in told.err
    kept = (tmp_path / "reproduction" / "zcdp" / "steps.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in kept] == ["double of 3"]
