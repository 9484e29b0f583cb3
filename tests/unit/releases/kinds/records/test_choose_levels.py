"""Levels of sampled k-anonymity that are chosen with a part of the budget."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sudare.errors import PlanError
from sudare.ledger import open_ledger
from sudare.microdata.records import read_people
from sudare.privacy import Budget, ReleaseEvent
from sudare.releases.kinds.records import read_people_plan, run_people_plan
from sudare.releases.kinds.records.page import render_people_page
from tests.unit.releases.kinds.records.town import SAMPLED, build_town, people

CHOSEN = SAMPLED.replace("level = 1\n", "").replace(
    'method = "sampled-k-anonymity"\n', 'method = "sampled-k-anonymity"\nchoose_levels = 0.2\n'
)


def read(folder: Path, text: str = CHOSEN) -> Any:
    return read_people_plan(build_town(folder, text, people(4000)), folder / "out")


def test_levels_are_chosen_and_paid_for(tmp_path: Path) -> None:
    made = run_people_plan(read(tmp_path))
    document = made.document
    kinds = [measurement["kind"] for measurement in document["event"]["measurements"]]
    assert len(kinds) == 2
    assert kinds[1] == "sampled-groups"
    event = ReleaseEvent.from_json(json.dumps(document["event"]))
    assert event.cost == Budget(epsilon=2, delta=1e-5)
    assert event.measurements[0].epsilon == Fraction(2, 5)
    assert event.measurements[1].epsilon is not None
    assert event.measurements[1].epsilon <= Fraction(8, 5)
    with open_ledger(tmp_path / "budget.db") as ledger:
        assert ledger.verify() == []
        assert ledger.dataset("town").spent == Budget(epsilon=2, delta=1e-5)
    age = next(column for column in document["columns"] if column["name"] == "age")
    # Of single years hardly any group is large enough: coarser ones are chosen all but surely.
    assert age["level"] in (1, 2)
    published = read_people(tmp_path / "out" / "people.csv")
    assert published.rows > 0
    assert document["groups"]["holds"]
    page = render_people_page(document)
    assert "choose the levels was paid for" in page
    assert "段階を選ぶためにデータを見た費用" in page


def test_a_level_that_is_given_stays(tmp_path: Path) -> None:
    columns = CHOSEN.replace(
        '[columns.sex]\nrole = "other"\n', '[columns.sex]\nrole = "other"\nflat = true\nlevel = 1\n'
    )
    made = run_people_plan(read(tmp_path, columns))
    levels = {column["name"]: column["level"] for column in made.document["columns"]}
    assert levels["sex"] == 1
    assert read_people(tmp_path / "out" / "people.csv").column("sex").labels == ("*",)


def test_missing_values_without_a_hierarchy(tmp_path: Path) -> None:
    rows = people(4000)
    for row in rows[:1500]:
        row[2] = ""
    plan = read_people_plan(build_town(tmp_path, CHOSEN, rows), tmp_path / "out")
    assert run_people_plan(plan).document["groups"]["holds"]


@pytest.mark.parametrize(
    ("old", "new", "english"),
    [
        ("choose_levels = 0.2", "choose_levels = 0", "between 0 and 1"),
        ("choose_levels = 0.2", "choose_levels = 1", "between 0 and 1"),
        ("whole = true }", "whole = true }\nlevel = 1", "nothing to choose"),
        ("intervals = { widths = [50], whole = true }", "mask = {}", "depends on the data"),
        ("choose_levels = 0.2", "choose_levels = 0.2\nrate = 0.9", "does not allow this"),
    ],
)
def test_what_cannot_be(tmp_path: Path, old: str, new: str, english: str) -> None:
    with pytest.raises(PlanError) as caught:
        read(tmp_path, CHOSEN.replace(old, new))
    assert english in caught.value.english
