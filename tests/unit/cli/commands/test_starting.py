"""A plan to start from is a plan, in both languages; nothing is overwritten."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from sudare.ledger import open_ledger
from sudare.privacy import Budget
from sudare.releases.kinds.counts import read_plan
from tests.unit.cli.conftest import Run


@pytest.fixture(params=["few trials", pytest.param("all trials", marks=pytest.mark.deep)])
def _trials(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How often a plan tries its method to predict errors, on a map as large as that of the templates."""
    runs = 2 if request.param == "few trials" else 6
    monkeypatch.setattr("sudare.accuracy.predicting._read_runs", lambda *_: runs)


@pytest.mark.usefixtures("_trials")
@pytest.mark.parametrize(
    ("language", "options", "total", "first"),
    [
        ("en", [], Budget(epsilon=1), Budget(epsilon=0.25)),
        ("ja", ["--epsilon", "2", "--delta", "1e-6"], Budget(epsilon=2, delta=1e-6), Budget(epsilon=0.5, delta=2.5e-7)),
        ("ja", ["--rho", "0.1"], Budget(rho=0.1), Budget(rho=0.025)),
    ],
)
def test_what_is_written_can_be_read(
    run: Run, tmp_path: Path, language: str, options: list[str], total: Budget, first: Budget
) -> None:
    folder = tmp_path / "new" / "census"
    shown = run("init", folder, "--lang", language, "--dataset", 'Fukui "2025"', *options)
    assert shown.code == 0
    assert shown.out == f"{folder / 'plan.toml'}\n"
    plan = read_plan(folder / "plan.toml")
    assert (plan.language, plan.budget, plan.ledger.dataset) == (language, first, 'Fukui "2025"')
    with open_ledger(plan.ledger.location) as ledger:
        assert ledger.dataset(plan.ledger.dataset).total == total
    assert run("plan", folder / "plan.toml", "--json").json["ledger"]["allows"] is True


def test_both_languages_have_the_same_settings(run: Run, tmp_path: Path) -> None:
    settings = []
    for language in ("en", "ja"):
        run("init", tmp_path / language, "--lang", language)
        text = (tmp_path / language / "plan.toml").read_text(encoding="utf-8")
        words = ("title", "publisher", "description", "language")
        lines = [line.split("#")[0].strip() for line in text.splitlines()]
        settings.append([line for line in lines if line and not line.startswith(words)])
    assert settings[0] == settings[1]


@pytest.mark.parametrize("taken", ["plan.toml", "budget.db"])
def test_nothing_is_overwritten(run: Run, tmp_path: Path, taken: str) -> None:
    (tmp_path / taken).write_text("mine", encoding="utf-8")
    shown = run("init", tmp_path, "--json")
    assert shown.code == 6
    assert taken in shown.error["english"]
    assert [path.name for path in tmp_path.iterdir()] == [taken]
    assert (tmp_path / taken).read_text(encoding="utf-8") == "mine"


def test_an_impossible_budget_writes_nothing(run: Run, tmp_path: Path) -> None:
    assert run("init", tmp_path / "new", "--epsilon", "0").code == 2
    assert run("init", tmp_path / "new", "--epsilon", "much").code == 2
    assert run("init", tmp_path / "new", "--dataset", " blank ").code == 2
    assert not (tmp_path / "new").exists()


def test_a_folder_that_cannot_be_made(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert run("init", tmp_path / "file" / "folder").code == 6


def test_the_demonstration_gets_what_was_asked_for(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run_demo(folder: Path, language: str, side: int, console: Console) -> Any:
        console.print(language)
        errors = {"sudare": {"1": float(side)}}
        return SimpleNamespace(folder=folder, release=SimpleNamespace(folder=folder / "r"), seconds=1.5, errors=errors)

    monkeypatch.setitem(sys.modules, "sudare.demo", SimpleNamespace(run_demo=run_demo))
    told = run("demo", "--out", tmp_path, "--side", "64", "--lang", "ja", "--json")
    assert told.json == {
        "folder": str(tmp_path),
        "release": str(tmp_path / "r"),
        "seconds": 1.5,
        "errors": {"sudare": {"1": 64.0}},
    }
    assert told.err == ""
    assert run("demo", "--out", tmp_path, "--lang", "ja").out == "ja\n"
    assert run("demo", "--side", "5").code == 2
