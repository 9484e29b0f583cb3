"""Descriptions of tables are read as written, and mistakes in them and in the tables are told with their places."""

from __future__ import annotations

from pathlib import Path

import pytest

from sudare.errors import InputError, PlanError
from sudare.examination.described_tables import read_described_tables
from tests.unit.examination.village import describe_tables


def test_tables_are_read(tmp_path: Path) -> None:
    tables = read_described_tables(describe_tables(tmp_path, [(0, 1), (2,)]))
    first, second = tables.views
    assert tables.title == "A village"
    assert (first.name, first.threshold, len(first.cells)) == ("table0", 3, 15)
    assert second.leaves == {"work": ("farm", "shop", "none")}
    by_label = {cell.label: cell for cell in first.cells}
    assert by_label["total"].count == 48
    assert by_label["total"].where == {}
    assert by_label["sex F, age 0-19"].where == {"sex": frozenset({"F"}), "age": frozenset({"0-19"})}
    assert (by_label["sex F"].low, by_label["sex F"].high) == (23, 23)


def test_hidden_and_rounded_counts_are_ranges(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("\ufeffage,n\nyoung,x\nold,10\nall,15\n", encoding="utf-8")
    (tmp_path / "d.toml").write_text(
        'threshold = 5\n[[table]]\nfile = "a.csv"\ncount = "n"\nhidden = "x"\ntotal = "all"\nrounding = 5\nname = "ages"\n'
    )
    (view,) = read_described_tables(tmp_path / "d.toml").views
    assert view.name == "ages"
    assert [(cell.low, cell.high, cell.count, cell.label) for cell in view.cells] == [
        (1, 4, None, "age young"),
        (6, 14, None, "age old"),
        (11, 19, None, "total"),
    ]


@pytest.mark.parametrize(
    ("description", "told"),
    [
        ("", "table"),
        ('threshold = 1\n[[table]]\nfile = "a.csv"', "2 or more"),
        ('[[table]]\nfile = "a.csv"\nrounding = 0', "1 or more"),
        ('[[table]]\nfile = "a.csv"\nhiden = "*"', "hiden"),
        ("not toml", "not TOML"),
    ],
)
def test_mistakes_in_a_description(tmp_path: Path, description: str, told: str) -> None:
    (tmp_path / "a.csv").write_text("age,count\nyoung,1\n")
    (tmp_path / "d.toml").write_text(description)
    with pytest.raises(PlanError, match=told):
        read_described_tables(tmp_path / "d.toml")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "cannot be read"),
        ("", "must have a column 'count'"),
        ("count\n1\n", "at least one more"),
        ("age,age,count\n", "different names"),
        ("age,count\nyoung,many\n", "Line 2"),
        ("age,count\nyoung,-1\n", "Line 2"),
        ("age,count\nyoung\n", "Line 2"),
        ("age,count\nyoung,1\nyoung,2\n", "Line 3"),
    ],
)
def test_mistakes_in_a_table(tmp_path: Path, text: str | None, told: str) -> None:
    if text is not None:
        (tmp_path / "a.csv").write_text(text)
    (tmp_path / "d.toml").write_text('[[table]]\nfile = "a.csv"\n')
    with pytest.raises(InputError, match=told) as error:
        read_described_tables(tmp_path / "d.toml")
    assert error.value.japanese != error.value.english


def test_no_description(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="There is no"):
        read_described_tables(tmp_path / "nothing.toml")
