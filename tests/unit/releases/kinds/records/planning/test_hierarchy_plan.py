"""Hierarchies by rules: each value has its groups, and a value without a place is told by its row alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sudare.errors import InputError, PlanError
from sudare.microdata.records import CodedColumn
from sudare.releases.kinds.records.planning.column_plan import COLUMN_KEYS
from sudare.releases.kinds.records.planning.hierarchy_plan import HierarchyRule, hierarchy_of, read_rule
from sudare.sections import Section
from tests.unit.releases.kinds.records.town import UNTOLD


def rule_of(values: dict[str, Any], missing: str | None = None) -> HierarchyRule:
    rule = read_rule(Section(values, "columns.x", "plan.toml", COLUMN_KEYS), "x", Path(), missing)
    assert rule is not None
    return rule


RULES: list[tuple[dict[str, Any], list[str], tuple[str, ...], int | None]] = [
    ({"intervals": {"widths": [5, 10], "whole": True}}, ["7", "23"], ("7", "5-9", "0-9", "*"), 3),
    ({"intervals": {"edges": [[0, 15, 65], [65]]}}, ["7", "70"], ("7", "[0, 15)", "<65", "*"), 3),
    ({"dates": {"steps": ["month", "year"]}}, ["2020-03-01"], ("2020-03-01", "2020-03", "2020", "*"), 3),
    ({"dates": {}}, ["2020-03-01"], ("2020-03-01", "2020-03", "2020-Q1", "2020", "2020s", "*"), 5),
    ({"mesh": {"level": "3"}}, ["53394611"], ("53394611", "533946", "5339", "*"), 3),
    ({"mask": {"letter": "#"}}, ["123"], ("123", "12#", "1##", "###"), None),
    ({"groups": {"a": ["p", "q"], "b": ["r"]}}, ["q"], ("p", "a", "*"), 2),
    ({"flat": True}, ["u"], ("u", "*"), 1),
]


@pytest.mark.parametrize(("said", "values", "path", "height"), RULES)
def test_rules(said: dict[str, Any], values: list[str], path: tuple[str, ...], height: int | None) -> None:
    rule = rule_of(said)
    assert rule.height == height
    assert hierarchy_of(CodedColumn.of("x", values), rule.build).paths()[0] == path


@pytest.mark.parametrize(("said", "values", "path", "height"), [rule for rule in RULES if "flat" not in rule[0]])
def test_a_value_without_a_place(
    said: dict[str, Any], values: list[str], path: tuple[str, ...], height: int | None
) -> None:
    for wrong in (UNTOLD, None):
        column = CodedColumn.of("x", [*values, values[0], wrong, wrong])
        with pytest.raises(InputError, match=rf"'x' has an? .* in row {len(values) + 2} of the data") as caught:
            hierarchy_of(column, rule_of(said).build)
        assert UNTOLD not in caught.value.english + caught.value.japanese
        assert f"{len(values) + 2} 行目" in caught.value.japanese
        assert caught.value.__suppress_context__


@pytest.mark.parametrize("said", [rule[0] for rule in RULES])
def test_missing_values_by_name(said: dict[str, Any]) -> None:
    values = next(rule[1] for rule in RULES if rule[0] is said)
    built = hierarchy_of(CodedColumn.of("x", [*values, None]), rule_of(said, "?").build)
    assert "" in built.levels[0]


def test_nothing_but_missing_values() -> None:
    with pytest.raises(InputError, match="an empty field in row 1"):
        hierarchy_of(CodedColumn.of("x", [None, None]), rule_of({"dates": {}}).build)


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ({"intervals": {}}, "'widths' in section [columns.x.intervals]"),
        ({"intervals": {"widths": ["a"]}}, "must be a list of numbers"),
        ({"intervals": {"edges": [1, 2]}}, "a list of numbers for each level"),
        ({"dates": {"steps": ["week"]}}, "'steps' in section [columns.x.dates]"),
        ({"dates": {"steps": ["year", "month"]}}, "in order"),
        ({"mesh": {"level": "7"}}, "'level' in section [columns.x.mesh]"),
        ({"mesh": {"level": "3", "coarser": ["1/2"]}}, "'coarser'"),
        ({"mask": {"letter": "**"}}, "one letter"),
        ({"groups": {"a": "b"}}, "'groups'"),
        ({"groups": {"a": ["b"], "c": ["b"]}}, "each value in one group"),
        ({"flat": False}, "must be true"),
    ],
)
def test_rules_that_cannot_be(said: dict[str, Any], named: str) -> None:
    with pytest.raises(PlanError) as caught:
        rule_of(said)
    assert named in caught.value.english
