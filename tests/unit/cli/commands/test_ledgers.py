"""Keeping budgets from the command line."""

from __future__ import annotations

import io
import json
import sqlite3
from pathlib import Path

import pytest

from sudare import Budget, Unit
from sudare.cli.commands.checking import shown_location
from sudare.ledger import open_ledger
from sudare.privacy import ProtectedTime
from tests.unit.cli.conftest import Run
from tests.unit.ledger.helping import event_of, fingerprint


def test_the_life_of_a_ledger(run: Run, tmp_path: Path) -> None:
    location = tmp_path / "budget.db"
    assert run("ledger", "create", location).code == 0
    assert run("ledger", "list", location, "--json").json["datasets"] == []
    assert "no data sets yet" in run("ledger", "list", location).err
    added = run(
        "ledger", "add", location, "visits", "--rho", "0.1", "--who", "patient", "--rows", "3", "--replace", "--json"
    )
    assert added.json["dataset"]["unit"]["rows"] == 3
    assert added.json["dataset"]["unit"]["adjacency"] == "replace"
    assert added.json["dataset"]["remaining"] == {"rho": "0.1"}
    assert "visits" in run("ledger", "list", location).out
    shown = run("ledger", "show", location, "visits")
    assert "one patient, counted in up to 3 rows" in shown.out
    assert run("ledger", "show", location, "visits", "--json").json["entries"][0]["body"]["total"] == {"rho": "1/10"}
    assert "患者1人の置き換え" in run("ledger", "show", location, "visits", "--lang", "ja").out


def test_a_rho_filter_is_told_in_both(run: Run, tmp_path: Path) -> None:
    location = tmp_path / "budget.db"
    run("ledger", "create", location)
    total = ("--epsilon", "1", "--delta", "1e-6")
    added = run("ledger", "add", location, "queries", *total, "--rho-filter", "--reserve", "1e-7", "--json")
    values = added.json["dataset"]
    assert (values["rule"], values["filter"]["reserve"], values["filter"]["conversion_delta"]) == (
        "rho-filter",
        "0.0000001",
        "0.0000009",
    )
    assert values["filter"]["next_epsilon"] == "0.219679"
    assert values["total"] == {"epsilon": "1", "delta": "0.000001"}
    shown = run("ledger", "show", location, "queries")
    assert "rho filter: rho up to ~0.0241296" in " ".join(shown.out.split())
    assert "epsilon = 0.219679 at most" in " ".join(shown.out.split())
    assert "純粋なイプシロンの公表は" in run("ledger", "list", location, "--lang", "ja").out.replace("\n", "")
    assert run("ledger", "add", location, "x", *total, "--reserve", "1e-7").code == 2
    assert run("ledger", "add", location, "x", "--epsilon", "1", "--rho-filter").code == 5
    assert run("ledger", "add", location, "x", *total, "--rho-filter", "--reserve", "much").code == 2


def test_a_rule_is_changed_once_and_told(run: Run, tmp_path: Path) -> None:
    location = tmp_path / "budget.db"
    run("ledger", "create", location)
    run("ledger", "add", location, "census", "--epsilon", "1", "--delta", "1e-6")
    assert run("ledger", "list", location, "--json").json["datasets"][0]["rule"] == "sums"
    with open_ledger(location) as ledger:
        ledger.reserve("census", Budget(epsilon=0.01), unit=Unit("person"), fingerprint="0" * 64)
    assert run("ledger", "rho-filter", location, "census", "--reserve", "1e-7").code == 5
    changed = run("ledger", "rho-filter", location, "census")
    assert (changed.code, "delta = 0.000002 at worst" in changed.err) == (0, True)
    assert run("ledger", "rho-filter", location, "census").code == 5
    assert "those before included" in " ".join(run("ledger", "show", location, "census").out.split())
    committed = run("ledger", "show", location, "census", "--json").json["dataset"]["filter"]["committed"]
    assert committed["delta"] == "0.0000005"
    assert run("ledger", "verify", location).code == 0


def test_a_ledger_is_not_made_twice(run: Run, town: Path) -> None:
    assert run("ledger", "create", town / "budget.db").code == 5


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["list", "nowhere.db"], 5),
        (["show", "budget.db", "twon"], 5),
        (["add", "budget.db", "town", "--epsilon", "1"], 5),
        (["add", "budget.db", "new"], 2),
        (["add", "budget.db", "new", "--epsilon", "-1"], 2),
        (["add", "budget.db", "new", "--epsilon", "1e999999"], 2),
        (["opt-out", "budget.db", "twon", "7"], 5),
        (["opt-out", "budget.db", "town", ""], 2),
        (["verify", "budget.db", "--known", "7"], 2),
        (["export", "budget.db", "--out", "people.csv"], 6),
    ],
)
def test_mistakes(run: Run, town: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int) -> None:
    monkeypatch.chdir(town)
    assert run("ledger", *arguments).code == code
    assert run("ledger", *arguments, "--json").error["exit_code"] == code


def test_opting_out(run: Run, town: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    location = town / "budget.db"
    assert run("ledger", "opt-out", location, "town", "person 7").code == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("person 8\n\nperson 9\r\n"))
    assert run("ledger", "opt-out", location, "town", "-", "--json").json["people"] == 2
    with open_ledger(location) as ledger:
        opted_out = ledger.opt_outs("town")
    assert all(person in opted_out for person in ("person 7", "person 8", "person 9"))
    monkeypatch.setattr("sys.stdin", io.StringIO("\ufeffperson 10\r\n"))
    run("ledger", "opt-out", location, "town", "-")
    monkeypatch.setattr("sys.stdin", io.StringIO("person 11\nperson 12 \n"))
    assert run("ledger", "opt-out", location, "town", "-").code == 2
    with open_ledger(location) as ledger:
        opted_out = ledger.opt_outs("town")
    assert "person 10" in opted_out
    assert "person 11" not in opted_out, "another spelling is another person; nobody is opted out by half"
    assert "person" not in run("ledger", "export", location).out.replace('"who"', "").replace("person\\", "")


def test_export_is_one_entry_a_line(run: Run, town: Path) -> None:
    location = town / "budget.db"
    lines = run("ledger", "export", location).out.splitlines()
    assert [json.loads(line)["number"] for line in lines] == [1]
    assert run("ledger", "export", location, "--out", town / "entries.jsonl").out == f"{town / 'entries.jsonl'}\n"
    assert (town / "entries.jsonl").read_text(encoding="utf-8").splitlines() == lines
    assert run("ledger", "export", location, "--json").json["entries"][0]["kind"] == "dataset"


def test_a_sound_ledger_and_a_changed_one(run: Run, town: Path) -> None:
    location = town / "budget.db"
    sound = run("ledger", "verify", location)
    assert sound.code == 0
    head = sound.err.strip().split()[-1]
    assert run("ledger", "verify", location, "--known", head).code == 0
    assert run("ledger", "verify", location, "--known", "1:" + "0" * 64).code == 7
    with sqlite3.connect(location) as connection:
        connection.execute("UPDATE sudare_datasets SET spent = '1/2 0'")
    connection.close()
    changed = run("ledger", "verify", location, "--json")
    assert changed.code == 7
    assert changed.json["sound"] is False
    assert changed.json["findings"]
    assert "CHANGED" in run("ledger", "verify", location).out
    assert "改変" in run("ledger", "verify", location, "--lang", "ja").out


def test_passwords_are_not_shown() -> None:
    assert "secret" not in shown_location("postgresql://me:secret@host:5432/budgets")
    assert "host:5432/budgets" in shown_location("postgresql://me:secret@host:5432/budgets")


def test_units_by_rows_and_by_cells(town: Path, run: Run) -> None:
    ledger = town / "budget.db"
    cases: list[tuple[list[str], dict[str, int]]] = [
        ([], {"rows": 1, "cells": 1, "rows_per_cell": 1}),
        (["--rows", "3"], {"rows": 3, "cells": 3, "rows_per_cell": 3}),
        (["--cells", "3"], {"rows": 3, "cells": 3, "rows_per_cell": 1}),
        (["--cells", "3", "--rows-per-cell", "2"], {"rows": 6, "cells": 3, "rows_per_cell": 2}),
        (["--cells", "3", "--rows-per-cell", "2", "--rows", "4"], {"rows": 4, "cells": 3, "rows_per_cell": 2}),
    ]
    for number, (options, unit) in enumerate(cases):
        told = run("ledger", "add", ledger, f"set{number}", "--epsilon", "1", *options, "--json")
        assert told.json["dataset"]["unit"].items() >= unit.items()
    assert "3 cells with up to 2 in each" in run("ledger", "show", ledger, "set3").out


def test_windows_are_told_with_what_they_cost_together(run: Run, tmp_path: Path) -> None:
    location = tmp_path / "budget.db"
    run("ledger", "create", location)
    added = run("ledger", "add", location, "crowds", "--rho", "1", "--protects", "person-day", "--ticks", "6", "--json")
    assert added.json["dataset"]["unit"]["time"] == {"span": "person-day", "ticks": 6}
    assert run("ledger", "show", location, "crowds", "--json").json["windows"] == []
    assert "Windows" not in run("ledger", "show", location, "crowds").out
    day, cost = Unit("person", time=ProtectedTime("person-day", 6)), Budget(rho=0.1)
    with open_ledger(location) as ledger:
        for number in range(3):
            window = ledger.windows.open(
                "crowds", cost, unit=day, fingerprint=fingerprint(number), ticks=6, purpose=f"day {number}"
            )
            begun = ledger.windows.begin_tick(window, 2, fingerprint(100 + number), fingerprint(7))
            ledger.windows.settle_tick(begun, event_of(cost, day))
            if number == 0:
                ledger.windows.close(window, event_of(cost, day))
    shown = run("ledger", "show", location, "crowds")
    rows = [line.split() for line in shown.out.splitlines()]
    assert ["2", "day", "0", "1", "5", "closed", "rho", "=", "0.1"] in rows
    assert ["12", "day", "2", "1", "2", "3", "rho", "=", "0.1"] in rows
    told = " ".join(shown.out.split())
    assert "everything within a window of 6 ticks" in told
    assert "a window of 6 ticks: rho = 0.1 for day 0" in told
    assert "Each window costs rho = 0.1; 3 so far: rho = 0.3." in told
    assert "10 entries about single ticks are not listed here" in told
    japanese = "".join(run("ledger", "show", location, "crowds", "--lang", "ja").out.split())
    assert "1期間の費用はrho=0.1、これまでの3期間の合計はrho=0.3です。" in japanese
    values = run("ledger", "show", location, "crowds", "--json").json
    assert values["windows_together"] == {"rho": "0.3"}
    assert [(one["settled"], one["missing"], one["to_come"], one["is_closed"]) for one in values["windows"]] == [
        (1, [[0, 1], [3, 5]], 0, True),
        (1, [[0, 1]], 3, False),
        (1, [[0, 1]], 3, False),
    ]
    assert len(values["entries"]) == 15


def test_windows_of_different_costs_are_summed(run: Run, tmp_path: Path) -> None:
    location, day = tmp_path / "budget.db", Unit("person", time=ProtectedTime("person-window", 6))
    with open_ledger(location, create=True) as ledger:
        ledger.add_dataset("crowds", Budget(rho=1), unit=day)
        for number, cost in enumerate((Budget(rho=0.1), Budget(rho=0.25))):
            ledger.windows.open("crowds", cost, unit=day, fingerprint=fingerprint(number), ticks=6)
    told = " ".join(run("ledger", "show", location, "crowds").out.split())
    assert "2 windows so far cost rho = 0.35." in told
    assert "everything in any 6 ticks in a row" in told


def test_a_span_and_its_ticks_belong_together(run: Run, tmp_path: Path) -> None:
    location = tmp_path / "budget.db"
    run("ledger", "create", location)
    for wrong in (("--protects", "person-day"), ("--ticks", "6"), ("--protects", "event", "--ticks", "6")):
        refused = run("ledger", "add", location, "crowds", "--rho", "1", *wrong)
        assert (refused.code, "--ticks" in refused.err) == (2, True)
    assert run("ledger", "add", location, "crowds", "--rho", "1", "--protects", "event").code == 0
    assert "one appearance at one tick" in " ".join(run("ledger", "show", location, "crowds").out.split())
