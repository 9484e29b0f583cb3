"""A table of nobody is published like any other: an error would tell for nothing that a slice is empty."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet
import pytest

from sudare import Budget, Unit
from sudare.errors import InputError
from sudare.ledger import open_ledger
from sudare.releases.kinds.counts import Release, read_plan, run_release, verify_release
from sudare.tables.registry import mechanism_names
from tests.unit.releases.kinds.counts.offices import PLAN, open_office

AREAS = """[[domain]]
name = "KEY_CODE"
kind = "hierarchy"
levels = ["region", "town"]
leaves = [["a", "1"], ["a", "2"], ["b", "3"], ["b", "4"]]
"""
MESHES = PLAN[PLAN.index("[[domain]]") : PLAN.index("[budget]")]
TAKES_A_TOTAL = ("auto", "wide-tree", "nn-wavelet", "topdown-bisection", "negative-l2", "simplex", "lasso", "lm")
WITHOUT_LAST_YEAR = "KEY_CODE,year,count\n533900001,2020,3\n"


def release_nobody(folder: Path, text: str, unit: Unit | None = None) -> Release:
    """Run a plan on a file without rows; what it costs is charged, and the folder verifies."""
    open_office(folder)
    people = pyarrow.parquet.read_table(folder / "people.parquet")
    pyarrow.parquet.write_table(people.slice(0, 0), folder / "people.parquet")
    return release_and_verify(folder, text, unit)


def release_and_verify(folder: Path, text: str, unit: Unit | None = None) -> Release:
    with open_ledger(folder / "budget.db") as ledger:
        ledger.add_dataset("nobody", Budget(epsilon=3, delta=1e-5), unit=unit or Unit("person"))
    (folder / "plan.toml").write_text(text.replace('dataset = "town"', 'dataset = "nobody"'), encoding="utf-8")
    plan = read_plan(folder / "plan.toml")
    release = run_release(plan)
    with open_ledger(folder / "budget.db") as ledger:
        remaining = ledger.dataset("nobody").remaining
        assert remaining is not None
        assert remaining.epsilon == 2
        assert not ledger.reservations("nobody")
    assert {check.outcome for check in verify_release(release.folder, plan.ledger.location)} == {"passed"}
    return release


def plan_with(method: str, more: str = "", domain: str = MESHES) -> str:
    text = PLAN.replace(MESHES, domain).replace("epsilon = 1", "epsilon = 1\ndelta = 1e-6")
    return text.replace("[output]", f'[method]\nname = "{method}"\n{more}[output]\nmeasurements = true')


@pytest.mark.parametrize("method", ["auto", *mechanism_names()])
def test_every_mechanism_publishes_nobody(tmp_path: Path, method: str) -> None:
    release = release_nobody(tmp_path, plan_with(method, domain=AREAS if method == "topdown" else MESHES))
    assert release.table is not None
    assert release.document["published"]["total"] == release.table.total
    assert release.document["accuracy"] is not None
    assert "<html" in (release.folder / "release.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("method", TAKES_A_TOTAL)
def test_with_a_public_total_nobody_is_what_is_published(tmp_path: Path, method: str) -> None:
    text = plan_with(method, "public_total = true\n")
    release = release_nobody(tmp_path, text, Unit("person", adjacency="replace"))
    assert release.document["published"]["total"] == 0


@pytest.mark.parametrize(
    "source",
    [
        'where = { person = "nobody" }',
        'where = { person = "nobody" }\nperson = "person"',
        'where = { person = "nobody" }\nperson = "person"\n[unit]\ncells = 2\nrows_per_cell = 2\n',
        'where = { person = "nobody" }\nrows = "counts"\ncount = "number"',
        'outside = "leave out"',
    ],
)
def test_a_slice_without_anybody_is_charged_and_published(tmp_path: Path, source: str) -> None:
    open_office(tmp_path)
    people = pyarrow.parquet.read_table(tmp_path / "people.parquet").slice(0, 50)
    people = people.append_column("number", pyarrow.array([1] * 50))
    pyarrow.parquet.write_table(people, tmp_path / "people.parquet")
    text = PLAN.replace("[source]", '[source]\nrows = "people"') if 'rows = "counts"' not in source else PLAN
    text = text.replace('path = "people.parquet"', f'path = "people.parquet"\n{source}')
    if "outside" in source:
        text = text.replace("[8560, 6400, 32, 32]", "[8000, 6000, 16, 16]")
    release_and_verify(tmp_path, text, Unit("person", cells=2, rows_per_cell=2) if "[unit]" in source else None)


def test_a_public_reference_of_nobody_is_a_mistake_that_may_be_told(tmp_path: Path) -> None:
    reference = """[reference]
name = "Last census"
public = true
path = "census.csv"
count = "count"
where = { year = 2031 }
[output]"""
    plan = open_office(tmp_path)
    (tmp_path / "census.csv").write_text(WITHOUT_LAST_YEAR)
    plan.file.write_text(PLAN.replace("[output]", reference))
    with pytest.raises(InputError, match="'Last census' has nobody in it") as caught:
        run_release(read_plan(plan.file))
    assert "Last census" in caught.value.japanese
    with open_ledger(tmp_path / "budget.db") as ledger:
        assert ledger.dataset("town").remaining == Budget(epsilon=3)
