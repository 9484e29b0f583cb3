"""The ledger as a timeline: what was spent, for what, and whether the chain is whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from sudare.ledger import open_ledger
from sudare.privacy import Budget, Unit
from sudare.web.content.spending import timeline_of
from tests.unit.web.asking import Asking

PERSON = Unit("person")


def _ledger(folder: Path) -> Path:
    place = folder / "budget.db"
    with open_ledger(place, create=True) as ledger:
        ledger.add_dataset("people", Budget(epsilon=2), unit=PERSON)
        for number, cost in enumerate(("0.5", "0.25", "0.25")):
            held = ledger.reserve(
                "people", Budget(epsilon=cost), unit=PERSON, fingerprint=str(number) * 64, purpose="<b>map</b>"
            )
            if number == 1:
                ledger.cancel(held, "stopped")
    return place


def test_steps_are_charges_that_stand(tmp_path: Path) -> None:
    with open_ledger(_ledger(tmp_path)) as ledger:
        line = timeline_of(ledger.dataset("people"), list(ledger.entries("people")))
    assert line is not None
    assert [step.state for step in line.steps] == ["reserved", "cancelled", "reserved"]
    heights = [step.y for step in line.steps]
    assert heights[0] == heights[1] > heights[2], "what was given back is no step"
    assert [(one.times, one.cost, one.share) for one in line.sums] == [(2, "ε = 0.75", 0.375)]


def test_an_account_without_charges_has_no_picture(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "b.db", create=True) as ledger:
        ledger.add_dataset("people", Budget(rho=1), unit=PERSON)
        assert timeline_of(ledger.dataset("people"), list(ledger.entries("people"))) is None


@pytest.mark.parametrize(("language", "said"), [("en", "Spent over time"), ("ja", "使用の推移")])
def test_the_page_shows_it(tmp_path: Path, language: str, said: str) -> None:
    _ledger(tmp_path)
    shown = Asking(tmp_path, language=language).get("/ledgers")
    assert said in shown.text
    assert "<b>map" not in shown.text
    assert "sudare ledger verify budget.db" in shown.text


def test_a_ledger_that_was_changed_is_told(tmp_path: Path) -> None:
    import sqlite3

    place = _ledger(tmp_path)
    with sqlite3.connect(place) as connection:
        (table,) = connection.execute(
            "SELECT name FROM sqlite_master WHERE name LIKE '%entries%' AND type = 'table'"
        ).fetchone()
        triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (trigger,) in triggers:
            connection.execute(f'DROP TRIGGER "{trigger}"')
        connection.execute(f"UPDATE {table} SET body = replace(body, 'map', 'mop')")  # noqa: S608
    connection.close()
    shown = Asking(tmp_path).get("/ledgers")
    assert "faults were found" in shown.text
