from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from sudare.comparison.plan_file import quick_plan, read_comparison_plan
from sudare.errors import InputError, PlanError

PLAN = """
title = "A town"
repeats = 5
seed = 12

[source]
path = "people.csv"

[columns.ill]
role = "sensitive"

[columns.age]
role = "known"
intervals = { widths = [20, 40], whole = true }
level = 1

[columns.town]
role = "area"

[[methods]]
name = "flat"
settings = [3, 0.5]

[[methods]]
name = "suppression"

[[methods]]
name = "none"
repeats = 2
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "plan.toml"
    file.write_text(text, encoding="utf-8")
    rows = [f"{'north' if place % 3 else 'south'},{place % 90},{'yes' if place % 4 else 'no'}" for place in range(200)]
    (folder / "people.csv").write_text("\n".join(["town,age,ill", *rows]) + "\n", encoding="utf-8")
    return file


def test_a_plan_is_read(tmp_path: Path) -> None:
    plan = read_comparison_plan(write(tmp_path, PLAN))
    assert [column.name for column in plan.columns] == ["town", "age", "ill"]
    assert plan.folder == tmp_path / "plan-compared"
    assert plan.seed == 12
    flat, suppression, nothing = plan.chosen
    assert flat.settings == (Fraction(1, 2), Fraction(3))
    assert (flat.repeats, suppression.repeats, nothing.repeats) == (5, 4, 2)
    people = plan.people()
    assert people.shape == (2, 5, 2)
    assert people.people == 200


def test_repeats_of_the_command_line_count_more(tmp_path: Path) -> None:
    plan = read_comparison_plan(write(tmp_path, PLAN), tmp_path / "out", 7)
    assert {one.repeats for one in plan.chosen} == {7}
    assert plan.folder == tmp_path / "out"


def test_without_methods_the_usual_ones_are_compared(tmp_path: Path) -> None:
    plan = read_comparison_plan(write(tmp_path, PLAN[: PLAN.index("[[methods]]")]))
    names = [one.method.name for one in plan.chosen]
    assert {"suppression", "k-anonymity", "swapping", "cell-key", "flat", "nn-wavelet", "wide-tree", "mst"} <= set(
        names
    )


@pytest.mark.parametrize(
    ("old", "new", "english", "japanese"),
    [
        ('role = "area"', 'role = "known"', 'role = "area"', 'role = "area"'),
        ('role = "area"', 'role = "place"', "must be one of", "いずれか"),
        ("settings = [3, 0.5]", "settings = [3, 3]", "different", "異なる"),
        ("settings = [3, 0.5]", "settings = []", "different", "異なる"),
        ("settings = [3, 0.5]", "settings = [100]", "epsilons from 0.001 to 50", "ε"),
        ("settings = [3, 0.5]", "setting = [1]", "settings", "settings"),
        ('name = "flat"', 'name = "flet"', "Did you mean 'flat'", "flat"),
        ('name = "none"\n', 'name = "none"\nsettings = [1]\n', "no dial", "設定値"),
        ('name = "none"\n', 'name = "flat"\n', "twice", "二度"),
        ("repeats = 5", "repeats = 1", "from 2 to 1000", "1000"),
        ("level = 1", "level = 9", "from 0 to 3", "3"),
        ("seed = 12", "seed = -1", "0 or more", "0 以上"),
    ],
)
def test_mistakes_are_told(tmp_path: Path, old: str, new: str, english: str, japanese: str) -> None:
    assert old in PLAN
    with pytest.raises(PlanError) as caught:
        read_comparison_plan(write(tmp_path, PLAN.replace(old, new, 1)))
    assert english in str(caught.value)
    assert japanese in caught.value.explain("ja")


def test_a_share_is_no_whole_number(tmp_path: Path) -> None:
    text = PLAN.replace('name = "suppression"', 'name = "suppression"\nsettings = [2.5]')
    with pytest.raises(PlanError, match="whole numbers"):
        read_comparison_plan(write(tmp_path, text))


def test_values_without_a_place_are_told_by_row(tmp_path: Path) -> None:
    plan = read_comparison_plan(write(tmp_path, PLAN))
    people = tmp_path / "people.csv"
    people.write_text(people.read_text().replace("south,0,no", "south,old,no", 1))
    with pytest.raises(InputError, match="row 1"):
        plan.people()


def test_the_quick_plan_is_told_in_two_languages() -> None:
    assert quick_plan(Path("x")).title != quick_plan(Path("x"), language="ja").title
    assert {one.repeats for one in quick_plan(Path("x"), 2).chosen} == {2}
