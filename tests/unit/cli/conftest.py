"""A small project to run commands in, and a way to run them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import Answer as Answer
from tests.commands import Run as Run
from tests.commands import runner
from tests.one_engine import one_engine as one_engine
from tests.quick_plans import quick_plans as quick_plans

PLAN = """
title = "A small town"

[source]
path = "people.csv"

[[domain]]
name = "KEY_CODE"
kind = "mesh"
level = "1/2"
corners = ["53394611", "53394647"]

[budget]
epsilon = 0.25

[ledger]
location = "budget.db"
dataset = "town"

[output]
formats = ["parquet", "csv"]
"""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsys, monkeypatch, columns=120)


@pytest.fixture
def town(tmp_path: Path) -> Path:
    """A folder with a plan, invented people and a ledger with a total of 1."""
    from sudare.ledger import open_ledger
    from sudare.privacy import Budget, Unit

    cells = [f"533946{row}{column}{quarter}" for row in (1, 2, 3, 4) for column in (1, 4, 7) for quarter in (1, 2, 4)]
    people = [cell for number, cell in enumerate(cells) for _ in range(3 * number)]
    (tmp_path / "people.csv").write_text("KEY_CODE\n" + "\n".join(people) + "\n", encoding="utf-8")
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    with open_ledger(tmp_path / "budget.db", create=True) as ledger:
        ledger.add_dataset("town", Budget(epsilon=1), unit=Unit("person"))
    return tmp_path
