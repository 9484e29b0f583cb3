"""Value hierarchies: they are trees, a column is generalized value by value, and a value without a place is named."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.errors import InputError, ParameterError
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.records import CodedColumn

AGE = Generalization.of_paths("age", [("34", "<50", "*"), ("45", "<50", "*"), ("66", ">=50", "*"), ("70", ">=50", "*")])


@st.composite
def trees(draw: st.DrawFn) -> list[tuple[str, ...]]:
    """Lines of a random tree: the group of a group is drawn once."""
    leaves = draw(st.integers(1, 12))
    groups = list(range(leaves))
    lines = [[str(leaf)] for leaf in range(leaves)]
    for level in range(draw(st.integers(0, 4))):
        parent = {group: draw(st.integers(0, 3)) for group in sorted(set(groups))}
        groups = [parent[group] for group in groups]
        for line, group in zip(lines, groups, strict=True):
            line.append(f"{level}/{group}")
    return [tuple(line) for line in lines]


@given(trees(), st.data())
def test_each_value_becomes_its_group(lines: list[tuple[str, ...]], data: st.DataObject) -> None:
    hierarchy = Generalization.of_paths("x", lines)
    assert hierarchy.paths() == lines
    assert hierarchy.height == len(lines[0]) - 1
    values = data.draw(st.lists(st.sampled_from([line[0] for line in lines])))
    column, by_value = CodedColumn.of("x", values), {line[0]: line for line in lines}
    for level in range(hierarchy.height + 1):
        generalized = hierarchy.generalized(column, level)
        expected = [by_value[value][level] for value in values]
        assert generalized.texts().tolist() == expected
        assert generalized.labels == tuple(dict.fromkeys(expected))
        assert hierarchy.sizes(level).sum() == len(lines)
        assert [int(size) for size in hierarchy.sizes(level)] == [
            sum(line[level] == label for line in lines) for label in hierarchy.levels[level]
        ]


def test_places_are_those_of_labels() -> None:
    column = CodedColumn.of("age", ["70", "34", "70"])
    assert AGE.places(column).tolist() == [3, 0]


def test_a_value_without_a_place_is_named_with_its_row() -> None:
    with pytest.raises(InputError, match="'age' has a value in row 3 of the data") as caught:
        AGE.generalized(CodedColumn.of("age", ["34", "45", "99", "98"]), 1)
    assert "3 行目" in caught.value.japanese
    assert "99" not in caught.value.english + caught.value.japanese


def test_missing_values_need_a_place_of_their_own() -> None:
    column = CodedColumn.of("age", ["34", None])
    with pytest.raises(InputError, match="'age' has an empty field in row 2 of the data"):
        AGE.generalized(column, 1)
    wider = Generalization.of_paths("age", [*AGE.paths(), ("", "unknown", "*")])
    assert wider.generalized(column, 1).texts().tolist() == ["<50", "unknown"]
    assert wider.generalized(column, 0).texts().tolist() == ["34", None]


def test_an_empty_text_is_a_missing_value_on_every_level() -> None:
    blank = Generalization.of_paths("age", [("34", "<50", "*"), ("", "", "*")])
    column = CodedColumn.of("age", ["", "34", None])
    assert blank.generalized(column, 0).texts().tolist() == [None, "34", None]
    assert blank.generalized(column, 1).texts().tolist() == [None, "<50", None]
    assert blank.generalized(column, 2).labels == ("*",)
    with pytest.raises(InputError, match="'age' has an empty field in row 1"):
        AGE.places(column)


def test_levels_are_within_the_hierarchy() -> None:
    for level in (-1, 3, True, 1.0):
        with pytest.raises(ParameterError, match="from 0 to 2"):
            AGE.generalized(CodedColumn.of("age", ["34"]), level)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([("1", "a", "x"), ("2", "a", "y")], "'a' of level 1, which is in two groups of level 2"),
        ([("1", "a"), ("1", "b")], "one line for each value"),
        ([("1", "a"), ("2",)], "lines of one length"),
        ([], "lines of one length"),
    ],
)
def test_what_is_no_tree_is_refused(lines: list[tuple[str, ...]], reason: str) -> None:
    with pytest.raises(ParameterError, match=reason):
        Generalization.of_paths("x", lines)


def test_parts_that_do_not_fit_are_refused() -> None:
    zero = np.arange(2, dtype=np.int32)
    for levels, parents in (
        ((("a", "b"),), (zero[::-1],)),
        ((("a", "b"), ("x",)), (zero,)),
        ((("a", "b"), ("x", "y")), (zero, np.zeros(2, np.int32))),
        ((("a", "b"), ("x",)), (zero, np.zeros(3, np.int32))),
        ((("a", "a"),), (zero,)),
        ((), ()),
    ):
        with pytest.raises(ParameterError):
            Generalization("x", levels, parents)


def test_a_hierarchy_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        AGE.parents[1][0] = 1
