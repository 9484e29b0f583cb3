"""In a private table, what a value is called depends on the value and the plan, and on nobody else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sudare.errors import PlanError
from sudare.microdata.hierarchies.builders import masked_hierarchy
from sudare.microdata.records import CodedColumn, read_people
from sudare.releases.kinds.records import read_people_plan, run_people_plan
from sudare.releases.kinds.records.planning.column_plan import COLUMN_KEYS
from sudare.releases.kinds.records.planning.hierarchy_plan import hierarchy_of, read_rule
from sudare.sections import Section
from tests.unit.releases.kinds.records.test_adversary import private_plan
from tests.unit.releases.kinds.records.town import build_town, people

RULES: list[tuple[dict[str, Any], list[str]]] = [
    ({"mask": {}}, ["8", "81667", "816", "*", "8*"]),
    ({"mask": {"from_left": True, "letter": "#"}}, ["8", "81667", "816", "#", "#8"]),
    ({"intervals": {"widths": [10, 50], "whole": True}}, ["7", "07", "-3", "1e3"]),
    ({"intervals": {"edges": [[0, 15, 65], [15]]}}, ["7", "07.5", "-3", "1e3"]),
    ({"dates": {}}, ["2020-01-31", "1999-12-31", "2020-02-01"]),
    ({"mesh": {"level": "1/2"}}, ["533946112", "533946113", "644142474"]),
    ({"flat": True}, ["f", "m", "*"]),
    ({"groups": {"a": ["f"], "b": ["m"]}}, ["f", "m"]),
]
SAMPLED = '[protection]\nmethod = "sampled-k-anonymity"\n'


@pytest.mark.parametrize(("said", "values"), RULES)
def test_a_label_is_a_matter_of_the_value_alone(said: dict[str, Any], values: list[str]) -> None:
    rule = read_rule(Section(said, "columns.x", "plan.toml", COLUMN_KEYS), "x", Path(), "untold")
    assert rule is not None
    everybody = [*values, None]
    for level in range((rule.height or 6) + 1):
        column = CodedColumn.of("x", everybody)
        beside_others = hierarchy_of(column, rule.build_to(level)).generalized(column, level).texts().tolist()
        for value, expected in zip(everybody, beside_others, strict=True):
            alone = CodedColumn.of("x", [value])
            built = hierarchy_of(alone, rule.build_to(level))
            assert built.generalized(alone, level).texts().tolist() == [expected]
            assert built.height == (rule.height or max(level, 1))


@pytest.mark.parametrize(("said", "values"), RULES)
def test_nobody_has_a_hierarchy_too(said: dict[str, Any], values: list[str]) -> None:
    rule = read_rule(Section(said, "columns.x", "plan.toml", COLUMN_KEYS), "x", Path(), "untold")
    assert rule is not None
    for level in range((rule.height or 6) + 1):
        nobody, somebody = CodedColumn.of("x", []), CodedColumn.of("x", values)
        built = hierarchy_of(nobody, rule.build_to(level))
        assert built.generalized(nobody, level).rows == 0
        assert built.height == hierarchy_of(somebody, rule.build_to(level)).height


def test_masks_of_so_many_levels() -> None:
    values = CodedColumn.of("zip", ["8", "81667", None])
    assert masked_hierarchy("zip", values, levels=2, missing="?").paths() == [
        ("8", "*", "*"),
        ("81667", "8166*", "816**"),
        ("", "?", "?"),
    ]


def test_nobody_has_a_text_to_mask() -> None:
    assert masked_hierarchy("zip", CodedColumn.of("zip", [None]), missing="?").paths() == [("", "*")]


def test_masks_in_a_private_plan_take_texts_of_any_length(tmp_path: Path) -> None:
    rows = people(4000)
    for place, row in enumerate(rows):
        row[3] = ("8", "81667", "")[place % 3]
    plan = private_plan("mask = {}", "level = 3\n" + SAMPLED)
    document = run_people_plan(read_people_plan(build_town(tmp_path, plan, rows), tmp_path / "out")).document
    assert set(read_people(tmp_path / "out" / "people.csv").column("zip").labels) == {"*", "81***", "untold"}
    assert document["columns"][0]["height"] is None


@pytest.mark.parametrize(
    ("rule", "missing"),
    [
        ("dates = {}", "1987"),
        ("intervals = { widths = [10, 50], whole = true }", "30-39"),
        ('mesh = { level = "1/2" }', "5339"),
        ("mask = {}", "81*"),
    ],
)
def test_missing_values_cannot_be_called_as_a_group_may_be(tmp_path: Path, rule: str, missing: str) -> None:
    # Else it is an error, or not, whether somebody is in the group.
    plan = private_plan(rule, "level = 1\n" + SAMPLED).replace('"untold"', f'"{missing}"')
    with pytest.raises(PlanError) as caught:
        read_people_plan(build_town(tmp_path, plan), tmp_path / "out")
    assert "needs another 'missing' in [columns.zip]" in caught.value.english
    assert "「missing」に別の名前" in caught.value.japanese


@pytest.mark.parametrize(("rule", "missing"), [("dates = {}", "*"), ("mask = {}", "***"), ("flat = true", "3")])
def test_other_names_of_missing_values(tmp_path: Path, rule: str, missing: str) -> None:
    plan = private_plan(rule, "level = 1\n" + SAMPLED).replace('"untold"', f'"{missing}"')
    assert read_people_plan(build_town(tmp_path, plan), tmp_path / "out").published == ("zip",)


def test_a_mask_has_no_end_of_levels(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="from 0 to 255"):
        read_people_plan(build_town(tmp_path, private_plan("mask = {}", "level = 256\n" + SAMPLED)))
