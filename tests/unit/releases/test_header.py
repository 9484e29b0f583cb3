"""What every plan has, and what is said where a part of it is missing."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from sudare.cli.commands.planning import Balance, read_balance
from sudare.errors import PlanError
from sudare.releases.kinds.counts import read_plan
from tests.unit.cli.conftest import PLAN, Run, run, town

__all__ = ["run", "town"]


@pytest.mark.parametrize(
    ("budget", "options"),
    [
        ("epsilon = 0.25", "--epsilon 0.25"),
        ("epsilon = 1\ndelta = 0.000001", "--epsilon 1 --delta 0.000001"),
        ('rho = 0.5\n[unit]\nwho = "a patient"\nrows = 3', "--rho 0.5 --who 'a patient' --rows 3"),
        ("epsilon = 1\n[unit]\ncells = 2", "--epsilon 1 --cells 2 --rows-per-cell 1 --rows 2"),
        ('epsilon = 1\n[unit]\nadjacency = "replace"', "--epsilon 1 --replace"),
    ],
)
def test_a_plan_without_a_ledger_is_told_which_lines_to_add(town: Path, run: Run, budget: str, options: str) -> None:
    """The three lines and the two commands, as they are told, make the plan one that can be carried out."""
    text = PLAN.replace("epsilon = 0.25", budget)
    ledger = '[ledger]\nlocation = "budget.db"\ndataset = "town"\n'
    assert ledger in text
    (town / "plan.toml").write_text(text.replace(ledger, ""), encoding="utf-8")
    with pytest.raises(PlanError) as told:
        read_plan(town / "plan.toml")
    lines = '[ledger]\nlocation = "budget.db"\ndataset = "my-data"'
    for said in (told.value.english, told.value.japanese):
        assert lines in said
        assert said.endswith(f"sudare ledger create budget.db\nsudare ledger add budget.db my-data {options}")
    (town / "plan.toml").write_text(text.replace(ledger, lines.replace("budget.db", "new.db") + "\n"), encoding="utf-8")
    assert run("ledger", "create", town / "new.db").code == 0
    assert run("ledger", "add", town / "new.db", "my-data", *shlex.split(options)).code == 0
    balance = read_balance(read_plan(town / "plan.toml"))
    assert isinstance(balance, Balance)
    assert balance.fits
