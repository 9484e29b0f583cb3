"""What an adversary found in protected tables; each test says what should be so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sudare.errors import InputError
from sudare.ledger import open_ledger
from sudare.privacy import Budget, Unit
from sudare.releases.kinds.tables import (
    ProtectedFolder,
    attack_folder,
    read_table_plan,
    run_table_plan,
    verify_protected,
)
from sudare.releases.kinds.tables.attacking.knowledge import read_report

PLAN = """title = "Firms"
[source]
path = "firms.csv"
value = "turnover"
[dimensions.region]
codes = ["a", "b", "c"]
[dimensions.trade]
codes = ["x", "y", "z"]
[rules]
threshold = 3
[protection]
method = "suppress"
"""
STAFF = PLAN.replace('"turnover"', '"staff"')
LAX = PLAN.replace("threshold = 3", "threshold = 1")
ROUNDED = PLAN.replace('value = "turnover"\n', "").replace('"suppress"', '"round"\nbase = 5')
MESHES = """title = "Meshes"
[source]
rows = "meshes"
path = "meshes.csv"
mesh = "mesh"
level = "1/2"
population = "people"
values = ["men"]
[protection]
method = "merge-meshes"
minimum = 10
"""
NOTED = '[ledger]\nlocation = "budget.db"\ndataset = "firms"\n'

Firm = list[str]


def firms() -> list[Firm]:
    """Six firms in each cell, two in (a, x) and in (b, y); a turnover, and a staff of one each."""
    few = {("a", "x"), ("b", "y")}
    kinds = [(r, t) for r in "abc" for t in "xyz" for _ in range(2 if (r, t) in few else 6)]
    return [[f"f{n}", r, t, str(100 + 7 * n % 50), "1"] for n, (r, t) in enumerate(kinds)]


def carry_out(folder: Path, plan: str, name: str = "out", rows: list[Firm] | None = None) -> ProtectedFolder:
    lines = ["firm,region,trade,turnover,staff", *(",".join(row) for row in (firms() if rows is None else rows))]
    (folder / "firms.csv").write_text("\n".join(lines) + "\n")
    (folder / "meshes.csv").write_text("mesh,people,men\n533946112,84,40\n533946113,3,2\n533946114,30,12\n")
    (folder / "plan.toml").write_text(plan)
    return run_table_plan(read_table_plan(folder / "plan.toml", folder / name))


def public_bytes(folder: Path) -> dict[str, bytes]:
    """All public files, without the time at which they were made."""
    files = {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith("confidential")}
    created = json.loads(files["release.json"])["created"].encode()
    return {name: text.replace(created, b"then") for name, text in files.items() if name != "release.html"}


@pytest.fixture
def office(tmp_path: Path) -> Path:
    with open_ledger(tmp_path / "budget.db", create=True) as ledger:
        ledger.add_dataset("firms", Budget(epsilon=1), unit=Unit())
    return tmp_path


def two_offices(folder: Path) -> tuple[Path, Path]:
    places = folder / "one", folder / "other"
    for place in places:
        place.mkdir()
    return places


def test_public_decimals_tell_the_digits_of_a_hidden_contribution(tmp_path: Path) -> None:
    # Digits are those that the plan states, or that published cells need: hidden values differ, the published bytes do not.
    one, other = two_offices(tmp_path)
    rows = firms()
    rows[0][3], rows[1][3] = "100.25", "106.75"  # 100 and 107 before: the same sum, of two firms in a hidden cell
    assert sum(float(row[3]) for row in rows[:2]) == sum(float(row[3]) for row in firms()[:2])
    carry_out(one, PLAN)
    carry_out(other, PLAN, rows=rows)
    assert public_bytes(one / "out") == public_bytes(other / "out")


def test_public_decimals_tell_the_digits_of_a_hidden_weight(tmp_path: Path) -> None:
    # With decimals stated in the plan, nothing public depends on how weights in a hidden cell are written.
    one, other = two_offices(tmp_path)
    plan = PLAN.replace('value = "turnover"\n', 'value = "turnover"\ndecimals = 0\nweight = "staff"\n')
    rows, others = firms(), firms()
    for row in (*rows[:2], *others[:2]):
        row[3] = "100"
    others[0][4], others[1][4] = "1.5", "0.5"
    carry_out(one, plan, rows=rows)
    carry_out(other, plan, rows=others)
    assert public_bytes(one / "out") == public_bytes(other / "out")


def test_a_table_of_another_value_in_the_ledger_is_refused(office: Path) -> None:
    # Staff and turnover of the same regions are different numbers: cells are linked by equal codes and an equal value only.
    carry_out(office, PLAN + NOTED, "before")
    carry_out(office, STAFF + NOTED, "after")


def test_a_table_after_meshes_in_the_ledger_is_refused(office: Path) -> None:
    # What the ledger finds by itself and cannot be compared is left out and told, not refused.
    carry_out(office, MESHES + NOTED, "before")
    carry_out(office, PLAN + NOTED, "after")


def test_meshes_after_a_table_in_the_ledger_are_refused_as_damaged(office: Path) -> None:
    # As above; and the folder of tables is not "missing, or not what its report describes".
    carry_out(office, PLAN + NOTED, "before")
    carry_out(office, MESHES + NOTED, "after")


def test_what_an_earlier_table_breaks_alone_is_blamed_on_the_next(office: Path) -> None:
    # A cell that was broken before this table came is no reason to refuse a coarser table that tells nothing about it.
    rows = firms()[2:]
    bare = PLAN + "secondary = false\n" + NOTED
    carry_out_broken(office, bare, "before", rows)
    coarser = PLAN.replace('[dimensions.trade]\ncodes = ["x", "y", "z"]\n', "") + NOTED
    carry_out(office, coarser, "after", rows)


def carry_out_broken(folder: Path, plan: str, name: str, rows: list[Firm]) -> None:
    with pytest.raises(InputError, match="--even-if-broken"):
        carry_out(folder, plan, name, rows)
    run_table_plan(read_table_plan(folder / "plan.toml", folder / name), even_if_broken=True)


def test_two_runs_at_once_publish_what_breaks_together(office: Path) -> None:
    # The ledger is asked again, under its lock, when the note is written: the second of two runs is refused.
    carry_out(office, PLAN, "only to write the files")
    (office / "first.toml").write_text(PLAN + NOTED)
    (office / "second.toml").write_text(LAX + NOTED)
    begun: list[str] = []

    def meanwhile(stage: str, share: float | None) -> None:
        if stage == "tables.protect" and not begun:
            begun.append(stage)
            run_table_plan(read_table_plan(office / "first.toml", office / "first"))

    with pytest.raises(InputError):
        run_table_plan(read_table_plan(office / "second.toml", office / "second"), progress=meanwhile)


def spoil(folder: Path, *keys: str, value: Any) -> None:
    document = json.loads((folder / "release.json").read_text())
    part = document
    for key in keys[:-1]:
        part = part[key]
    part[keys[-1]] = value
    (folder / "release.json").write_text(json.dumps(document))
    for path in folder.glob("confidential*"):
        path.unlink()


@pytest.mark.parametrize(
    ("plan", "keys", "value"),
    [
        (PLAN, ("value", "decimals"), float("inf")),
        (ROUNDED, ("settings", "base"), float("inf")),
        (ROUNDED, ("settings", "base"), 10**30),
        (MESHES, ("settings", "minimum"), "x"),
        (MESHES, ("settings", "minimum"), float("inf")),
        (MESHES, ("settings",), None),
    ],
)
def test_a_hostile_number_in_a_report_is_an_internal_error(
    tmp_path: Path, plan: str, keys: tuple[str, ...], value: Any
) -> None:
    # A report that says nonsense is an InputError, never an internal error (OverflowError, KeyError, ...).
    carry_out(tmp_path, plan)
    spoil(tmp_path / "out", *keys, value=value)
    verify_protected(tmp_path / "out")
    with pytest.raises(InputError):
        attack_folder(tmp_path / "out", read_report(tmp_path / "out"))


def test_deep_json_is_an_internal_error(tmp_path: Path) -> None:
    # Nesting that the parser gives up on (RecursionError) is a damaged report.
    (tmp_path / "release.json").write_text(
        '{"format": "sudare-protected-table/1", "a": ' + "[" * 50_000 + "]" * 50_000 + "}"
    )
    with pytest.raises(InputError):
        read_report(tmp_path)


def test_a_hostile_requirement_in_the_holders_file_is_an_internal_error(tmp_path: Path) -> None:
    # Cells and levels of confidential.json are looked at as critically as the rest of it: InputError.
    carry_out(tmp_path, PLAN)
    path = tmp_path / "out" / "confidential.json"
    document = json.loads(path.read_text())
    document["requirements"][0] = [[10**30], 1, 1]
    path.write_text(json.dumps(document))
    with pytest.raises(InputError):
        attack_folder(tmp_path / "out", read_report(tmp_path / "out"))
