"""Hierarchies made by a rule: nested, exact, the same for a domain and for a column, and wrong values are named by row."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.domain import mesh_cells
from sudare.errors import InputError, ParameterError
from sudare.microdata.hierarchies.builders import (
    date_hierarchy,
    flat_hierarchy,
    grouped_hierarchy,
    interval_hierarchy,
    masked_hierarchy,
    mesh_hierarchy,
    meshes_within,
)
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.records import CodedColumn
from tests.unit.microdata.arx_data import adult_hierarchy, answers, needs_answers

DECIMALS = st.decimals(-1000, 1000, allow_nan=False, places=3)


def path_of(hierarchy: Generalization, value: str) -> tuple[str, ...]:
    return hierarchy.paths()[hierarchy.levels[0].index(value)]


# --- numbers


@needs_answers
def test_the_ages_of_arx() -> None:
    """ARX's own hierarchy of Adult's ages, from its rule."""
    built = interval_hierarchy("age", range(100), widths=[5, 10, 20], whole=True)
    theirs = {line[0]: line for line in adult_hierarchy("age").paths()}
    assert len(theirs) == 100
    # Their file puts 5 among 0-4, 10 among 5-9, and so on: their labels are one year off where a group ends.
    other = [int(line[0]) for line in built.paths()[1:] if theirs[line[0]] != line]
    assert other == list(range(5, 100, 5))


@given(
    st.lists(DECIMALS, min_size=1, max_size=30),
    st.lists(st.integers(1, 4), min_size=1, max_size=4),
    st.decimals("0.001", 20, places=3),
    DECIMALS,
    st.one_of(st.none(), DECIMALS),
    st.one_of(st.none(), st.decimals("0.001", 100, places=3)),
)
def test_numbers_lie_in_their_intervals(
    numbers: list[Decimal],
    steps: list[int],
    width: Decimal,
    origin: Decimal,
    lowest: Decimal | None,
    span: Decimal | None,
) -> None:
    widths = [Fraction(width)]
    for step in steps:
        widths.append(widths[-1] * step)
    highest = None if span is None else (lowest or Decimal(0)) + span
    hierarchy = interval_hierarchy(
        "x", [str(number) for number in numbers], widths=widths, origin=origin, lowest=lowest, highest=highest
    )
    assert hierarchy.levels[-1] == ("*",)
    for line in hierarchy.paths():
        number = Fraction(line[0])
        for label, wide in zip(line[1:-1], widths, strict=True):
            if label.startswith("<"):
                assert lowest is not None
                assert label == f"<{lowest.normalize():f}"
                assert number < Fraction(lowest)
            elif label.startswith(">="):
                assert highest is not None
                assert number >= Fraction(highest)
            else:
                low, high = (Fraction(end) for end in label[1:-1].split(", "))
                assert low <= number < high
                assert high - low <= wide
                is_cut = low == (lowest if lowest is None else Fraction(lowest)) or high == highest
                assert is_cut or (high - low == wide and ((low - Fraction(origin)) / wide).denominator == 1)


def test_intervals_are_exact() -> None:
    """0.3 is three tenths: in floating point it would lie below the edge at 3 * 0.1."""
    hierarchy = interval_hierarchy("x", ["0.3", "0.29999999999999999999", "-0.05"], widths=[0.1, 0.5])
    assert path_of(hierarchy, "0.3")[1] == "[0.3, 0.4)"
    assert path_of(hierarchy, "0.29999999999999999999")[1] == "[0.2, 0.3)"
    assert path_of(hierarchy, "-0.05")[1:3] == ("[-0.1, 0)", "[-0.5, 0)")
    thirds = interval_hierarchy("x", ["0.5"], widths=[Fraction(1, 3)])
    assert path_of(thirds, "0.5")[1] == "[1/3, 2/3)"


def test_given_edges() -> None:
    income = interval_hierarchy(
        "income", ["0", "99", "100", "250", "1e3"], edges=[[100, 200, 500], [200]], missing="unknown"
    )
    assert [line[1:] for line in income.paths()] == [
        ("<100", "<200", "*"),
        ("<100", "<200", "*"),
        ("[100, 200)", "<200", "*"),
        ("[200, 500)", ">=200", "*"),
        (">=500", ">=200", "*"),
        ("unknown", "unknown", "*"),
    ]


@given(st.lists(DECIMALS, min_size=1, max_size=20), st.lists(DECIMALS, min_size=1, max_size=8, unique=True), st.data())
def test_edges_form_trees(numbers: list[Decimal], edges: list[Decimal], data: st.DataObject) -> None:
    levels = [sorted(edges)]
    while len(levels[-1]) > 1:
        kept = data.draw(st.lists(st.sampled_from(levels[-1]), min_size=1, max_size=len(levels[-1]) - 1, unique=True))
        levels.append(sorted(kept))
    hierarchy = interval_hierarchy("x", [str(number) for number in numbers], edges=levels)
    for line in hierarchy.paths():
        for label, level in zip(line[1:], levels, strict=False):
            below = [edge for edge in level if edge <= Decimal(line[0])]
            assert (label[0] == "<") == (not below)
            assert label.startswith(">=") == (len(below) == len(level))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"widths": [5, 12]}, "no tree"),
        ({"widths": [0]}, "above 0"),
        ({"edges": [[1, 2], [3]]}, "no tree"),
        ({"edges": [[2, 1]]}, "ascending"),
        ({"edges": []}, "ascending"),
        ({}, "or edges"),
        ({"widths": [5], "edges": [[1]]}, "not both"),
        ({"widths": [5], "lowest": 3, "highest": 3}, "above lowest"),
        ({"edges": [[5]], "lowest": 3}, "without lowest"),
        ({"widths": [0.5], "whole": True}, "whole"),
        ({"widths": [float("nan")]}, "numbers above 0"),
    ],
)
def test_rules_that_do_not_nest_are_refused(arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(ParameterError, match=reason):
        interval_hierarchy("x", [1, 2], **arguments)


# --- dates, meshes, texts, categories


@given(st.dates(date(1, 1, 1), date(9999, 12, 31)))
def test_dates_lie_in_their_months(day: date) -> None:
    line = date_hierarchy("born", [day]).paths()[0]
    assert line == (
        day.isoformat(),
        day.isoformat()[:7],
        f"{day.isoformat()[:4]}-Q{1 + (day.month - 1) // 3}",
        day.isoformat()[:4],
        day.isoformat()[:3] + "0s",
        "*",
    )


def test_dates_of_some_steps() -> None:
    days = [date(2019, 12, 31) + timedelta(days=step) for step in range(3)]
    hierarchy = date_hierarchy("day", days, steps=["year"], top=None)
    assert hierarchy.levels[1] == ("2019", "2020")
    with pytest.raises(ParameterError, match="in order"):
        date_hierarchy("day", days, steps=["year", "month"])
    with pytest.raises(ParameterError, match="some of"):
        date_hierarchy("day", days, steps=["week"])


def test_meshes_lie_in_coarser_meshes() -> None:
    codes = meshes_within(["53394611"], "3", "1/4")
    assert len(codes) == len(set(codes)) == 16
    hierarchy = mesh_hierarchy("mesh", codes, "1/4")
    assert [len(labels) for labels in hierarchy.levels] == [16, 4, 1, 1, 1, 1]
    assert path_of(hierarchy, "5339461132") == ("5339461132", "533946113", "53394611", "533946", "5339", "*")
    for level, name in ((1, "1/2"), (2, "3"), (3, "2"), (4, "1")):
        mesh_cells(list(hierarchy.levels[level]), name)  # codes of that level, all of them


def test_meshes_of_other_chains() -> None:
    assert mesh_hierarchy("m", ["533946225"], "2x").paths() == [("533946225", "533946", "5339", "*")]
    two = mesh_hierarchy("m", meshes_within(["5339"], "1", "2x"), "2x")
    assert [len(labels) for labels in two.levels] == [1600, 64, 1, 1]
    five = mesh_hierarchy("m", meshes_within(["533946"], "2", "5x"), "5x", coarser=["1"], top=None)
    assert [len(labels) for labels in five.levels] == [4, 1]
    south = mesh_hierarchy("m", ["0136"], "1")
    assert south.paths() == [("0136", "*")]
    for coarser in (["1/8"], ["2x", "5x"], ["3"]):
        with pytest.raises(ParameterError, match="lie in one another"):
            mesh_hierarchy("m", ["53394611"], "3", coarser=coarser)
    with pytest.raises(ParameterError, match="a level within"):
        meshes_within(["53394611"], "3", "5x")


@needs_answers
def test_the_zip_codes_of_arx() -> None:
    theirs = answers("arx/small_expected.json")["test7"]["hierarchies"]["zipcode"]
    assert [list(line) for line in masked_hierarchy("zipcode", [line[0] for line in theirs]).paths()] == theirs


def test_masks() -> None:
    assert masked_hierarchy("zip", ["123"], from_left=True, mask="#").paths() == [("123", "#23", "##3", "###")]
    assert masked_hierarchy("zip", ["1", "2"]).paths() == [("1", "*"), ("2", "*")]
    assert masked_hierarchy("zip", CodedColumn.of("zip", ["12", None]), missing="?").paths() == [
        ("12", "1*", "**"),
        ("", "?", "**"),
    ]
    with pytest.raises(ParameterError, match="one letter"):
        masked_hierarchy("zip", ["1"], mask="**")


def test_groups_of_groups() -> None:
    nested = {"higher": {"under": ["Bachelors"], "post": ["Masters", "Doctorate"]}, "basic": {"school": ("9th",)}}
    hierarchy = grouped_hierarchy("education", nested, missing="unknown")
    assert hierarchy.paths() == [
        ("Bachelors", "under", "higher", "*"),
        ("Masters", "post", "higher", "*"),
        ("Doctorate", "post", "higher", "*"),
        ("9th", "school", "basic", "*"),
        ("", "unknown", "unknown", "*"),
    ]


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ({"a": ["1"], "b": {"c": ["2"]}}, "equally deep"),
        ({"a": ["1"], "b": ["1"]}, "each value in one group"),
        ({"x": {"a": ["1"]}, "y": {"a": ["2"]}}, "two groups of level 2"),
        ({}, "equally deep"),
        ({"a": 1}, "lists of values"),
        (["1"], "equally deep"),
    ],
)
def test_groups_that_are_no_tree_are_refused(groups: Any, reason: str) -> None:
    with pytest.raises(ParameterError, match=reason):
        grouped_hierarchy("x", groups)


def test_flat_hierarchies_have_a_place_for_missing_values() -> None:
    column = CodedColumn.of("sex", ["m", None, "f"])
    hierarchy = flat_hierarchy("sex", column)
    assert hierarchy.generalized(column, 1).texts().tolist() == ["*", "*", "*"]
    assert flat_hierarchy("sex", ["f"]).levels[0] == ("f",)


# --- what all of them share

BUILDERS: dict[str, tuple[Callable[..., Generalization], list[str], str]] = {
    "numbers": (lambda values: interval_hierarchy("x", values, widths=[10]), ["1", "25", "3.5"], "1 year"),
    "whole": (lambda values: interval_hierarchy("x", values, widths=[10], whole=True), ["1", "25"], "3.5"),
    "dates": (lambda values: date_hierarchy("x", values), ["2020-01-31", "1999-12-01"], "2020-02-30"),
    "short dates": (lambda values: date_hierarchy("x", values), ["2020-01-31"], "20200131"),
    "meshes": (lambda values: mesh_hierarchy("x", values, "3"), ["53394611", "64414277"], "53398611"),
    "masks": (lambda values: masked_hierarchy("x", values), ["81667", "00781"], "816"),
}


@pytest.mark.parametrize("kind", BUILDERS)
def test_a_column_and_a_domain_give_the_same(kind: str) -> None:
    builder, values, wrong = BUILDERS[kind]
    column = CodedColumn.of("x", [*values, *reversed(values)])
    assert builder(column).paths() == builder(values).paths()
    with pytest.raises(InputError, match=rf"'x' has a value in row {2 * len(values) + 1} of the data") as caught:
        builder(CodedColumn.of("x", [*values, *values, wrong]))
    assert f"データ {2 * len(values) + 1} 行目" in caught.value.japanese
    assert repr(wrong) not in caught.value.english + caught.value.japanese
    with pytest.raises(InputError, match=f"'x' has '{wrong}' at place {len(values) + 1} of the values"):
        builder([*values, wrong])


@pytest.mark.parametrize("kind", BUILDERS)
def test_missing_values_have_no_place_unless_named(kind: str) -> None:
    builder, values, _ = BUILDERS[kind]
    column = CodedColumn.of("x", [*values, None])
    with pytest.raises(InputError, match=f"an empty field in row {len(values) + 1}"):
        builder(column).generalized(column, 1)
    with pytest.raises(ParameterError, match="at least one value"):
        builder([])


@pytest.mark.parametrize("text", ["1/2", "nan", "inf", "1_000", "1e99999999", "", " ", "１２", "0x10"])
def test_odd_numbers_are_refused(text: str) -> None:
    with pytest.raises((InputError, ParameterError)):
        interval_hierarchy("x", [text], widths=[10])
