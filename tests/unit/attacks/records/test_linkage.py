"""Linkage finds people in a file that was hardly changed, and does no better than guessing where nothing is left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sudare.attacks import AttackOutcome, KeyColumn, link_records
from sudare.attacks.records.distances import codes_of_values, distances_by_part
from sudare.errors import ParameterError


def naive_distance(columns: list[KeyColumn], first: int, second: int) -> float:
    total = 0.0
    for column in columns:
        a, b = np.asarray(column.first)[first], np.asarray(column.second)[second]
        total += column.weight * (float(a != b) if column.scale is None else min(1.0, abs(a - b) / column.scale))
    return total


def test_distances_are_those_of_the_obvious_formula() -> None:
    columns = [
        KeyColumn("sex", ["F", "M", "M"], ["M", "F"], weight=2),
        KeyColumn("age", [10, 20, 34], [15.5, 90], scale=20),
    ]
    whole = np.concatenate([part for _, part in distances_by_part(columns, "test")])
    assert whole == pytest.approx(np.array([[naive_distance(columns, a, b) for b in range(2)] for a in range(3)]))


def people(size: int = 300) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(5)
    return random.integers(0, 90, size), random.integers(0, 20, size), random.normal(300, 80, size).round()


def test_small_changes_of_numbers_do_not_hide_people() -> None:
    age, town, income = people()
    random = np.random.default_rng(6)
    order = random.permutation(age.size)
    released = income[order] + random.normal(0, 5, age.size).round()
    columns = [
        KeyColumn("age", age, age[order], scale=10),
        KeyColumn("town", town, town[order]),
        KeyColumn("income", income, released, scale=100),
    ]
    links = link_records(columns, truth=np.argsort(order))
    assert links.share_right > 0.9
    report = links.report()
    assert report.outcome is AttackOutcome.BROKEN
    assert "blind guessing" in report.summary.english


def test_independent_columns_give_no_more_than_guessing() -> None:
    age, town, _ = people()
    other_age, other_town, _ = (np.random.default_rng(8).permutation(column) for column in people())
    links = link_records(
        [KeyColumn("age", age, other_age, scale=10), KeyColumn("town", town, other_town)], truth=np.arange(300)
    )
    assert links.share_right < 0.03
    assert links.blind == pytest.approx(1 / 300)


def test_ties_are_guessed_among() -> None:
    columns = [KeyColumn("sex", ["F", "M"], ["F", "F", "M", "M", "M"])]
    links = link_records(columns, truth=[1, 0])
    assert links.ties.tolist() == [2, 3]
    assert links.right is not None
    assert links.right.tolist() == [0.5, 0.0]
    assert links.nearest.tolist() == [0, 2]
    assert not links.is_certain.any()


def test_certain_links_are_alone_on_both_sides() -> None:
    columns = [KeyColumn("name", ["a", "b", "b", "c", "z"], ["c", "a", "b", "d"])]
    links = link_records(columns)
    assert links.is_certain.tolist() == [True, False, False, True, False]
    assert np.isnan(links.share_right)
    broken = links.report(["Ann", "Bob", "Ben", "Cy", "Zoe"]).with_outcome(AttackOutcome.BROKEN)
    assert [verdict.target for verdict in broken] == ["Ann", "Cy"]
    absent = link_records(columns, truth=[1, 2, -1, 0, -1])
    assert absent.share_right == 1.0


def test_near_links_of_unknown_truth_are_undecided() -> None:
    columns = [KeyColumn("age", [30, 41, 70], [31, 41, 60, 60.0, 80, 80], scale=5)]
    links = link_records(columns)
    assert [verdict.outcome for verdict in links.report().verdicts] == [
        AttackOutcome.BROKEN, AttackOutcome.UNDECIDED, AttackOutcome.HELD,
    ]  # fmt: skip
    assert "not known" in links.report().with_outcome(AttackOutcome.UNDECIDED)[0].sentence.english


def test_missing_numbers_are_far_from_numbers_and_like_each_other() -> None:
    columns = [KeyColumn("age", [30, np.nan, np.inf], [np.nan, 30, np.inf], scale=10)]
    (whole,) = [part for _, part in distances_by_part(columns, "test")]
    assert whole.tolist() == [[1, 0, 1], [0, 1, 1], [1, 1, 0]]


@pytest.mark.parametrize(
    ("first", "second", "agree"),
    [
        ([34, 5], [34.0, 5.5], [True, False]),
        (["34", "x"], [34.0, 1], [True, False]),
        (["007", "34"], ["7", "34.0"], [False, True]),  # among texts, 007 is a code
        (["007"], [7], [True]),
        ([-0.0, 1e16], [0, 10**16], [True, True]),
        (["1" * 40, "a"], ["1" * 39 + "2", "A"], [False, False]),
        ([None, True], ["None", "True"], [True, True]),
    ],
)
def test_categories_agree_as_numbers_or_as_texts(first: Any, second: Any, agree: list[bool]) -> None:
    codes = codes_of_values(np.asarray(first), np.asarray(second))
    assert (codes[0] == codes[1]).tolist() == agree


@pytest.mark.parametrize(
    ("columns", "truth"),
    [
        ([], None),
        ([KeyColumn("a", [1], [1]), KeyColumn("b", [1, 2], [1])], None),
        ([KeyColumn("a", [1], [1], scale=0)], None),
        ([KeyColumn("a", ["x"], ["y"], scale=1)], None),
        ([KeyColumn("a", [1], [1], weight=-1)], None),
        ([KeyColumn("a", [1], [])], None),
        ([KeyColumn("a", [1], [1])], [1]),
        ([KeyColumn("a", [1], [1])], [0, 0]),
    ],
)
def test_mistakes_are_told(columns: Any, truth: Any) -> None:
    with pytest.raises(ParameterError):
        link_records(columns, truth=truth)
