"""The smallest combinations that make people unique: those of trying every subset, and none in a k-anonymous file."""

from __future__ import annotations

import csv
import os
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.attacks import AttackOutcome, find_special_uniques, population_uniques
from sudare.errors import ParameterError


def naive(records: list[tuple[int, ...]], most: int) -> list[set[tuple[int, ...]]]:
    found: list[set[tuple[int, ...]]] = [set() for _ in records]
    for size in range(1, most + 1):
        for chosen in combinations(range(4), size):
            counts = Counter(tuple(record[c] for c in chosen) for record in records)
            for place, record in enumerate(records):
                smaller = any(set(other) < set(chosen) for other in found[place])
                if counts[tuple(record[c] for c in chosen)] == 1 and not smaller:
                    found[place].add(chosen)
    return found


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=1, max_size=8), st.integers(1, 4))
def test_same_as_trying_every_subset(records: list[tuple[int, ...]], most: int) -> None:
    columns = {str(column): [record[column] for record in records] for column in range(4)}
    found = find_special_uniques(columns, largest_size=most)
    expected = naive(records, most)
    assert [{tuple(int(name) for name in one) for one in own} for own in found.combinations] == expected
    assert [int(smallest) for smallest in found.smallest] == [min(map(len, own), default=0) for own in expected]


def test_fewer_attributes_score_higher() -> None:
    columns = {"a": [1, 2, 2, 2, 2], "b": [1, 1, 2, 2, 1], "c": [1, 1, 1, 2, 2], "d": [1] * 5}
    found = find_special_uniques(columns, largest_size=2)
    assert found.combinations[0] == (("a",),)
    assert found.scores[0] == 3  # (4 - 1)! / (4 - 2)!
    assert found.scores[2] == 1
    assert found.scores[0] > found.scores[1:].max()
    assert found.report().verdicts[0].sentence.english.startswith("Nobody else has the same a;")


@pytest.mark.parametrize(
    ("names", "score"), [("urbrur roof walls water sex", 2), ("urbrur roof walls water electcon relat sex", 180)]
)
def test_known_scores(names: str, score: int) -> None:
    """Those that the tests of sdcMicro's suda2 expect of the first record of its testdata2."""
    path = (
        Path(os.environ.get("SUDARE_DATA", Path(__file__).parents[5] / "shared" / "data"))
        / "known_answers"
        / "sdcMicro"
    )
    if not path.is_dir():
        pytest.skip("needs known_answers below SUDARE_DATA (or ../shared/data)")
    with (path / "testdata2.csv").open(encoding="utf-8", newline="") as file:
        records = list(csv.DictReader(file))
    columns = {name: [record[name] for record in records] for name in names.split()}
    assert find_special_uniques(columns, largest_size=len(columns) - 1).scores[0] == score


def test_a_two_anonymous_file_has_no_uniques() -> None:
    found = find_special_uniques({"age": [30, 30, 40, 40], "sex": ["F", "F", "M", "M"]}, largest_size=2)
    assert not found.scores.any()
    assert found.report().outcome is AttackOutcome.HELD


def test_unique_with_all_values_but_not_with_few() -> None:
    rows = [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 1, 1), (1, 1, 1)]
    columns = {name: [row[place] for row in rows] for place, name in enumerate("abc")}
    found = find_special_uniques(columns, largest_size=2)
    assert found.unique_with_all.tolist() == [True] * 7 + [False] * 2
    report = found.report()
    assert [verdict.target for verdict in report.with_outcome(AttackOutcome.HELD)] == ["record 7", "record 8"]
    assert len(report.with_outcome(AttackOutcome.UNDECIDED)) == 7


def test_unique_in_the_population_too() -> None:
    population: dict[str, Any] = {"age": [30, 40, 40, 50, 60, 60], "sex": ["F", "F", "M", "M", "F", "F"]}
    sample: dict[str, Any] = {"sex": ["F", "F", "F"], "age": [30, 60, 40]}
    assert population_uniques(sample, population).tolist() == [True, False, True]
    twice: dict[str, Any] = {"age": [30, 30], "sex": ["F", "F"]}
    assert not population_uniques(twice, population).any()


@pytest.mark.parametrize(
    "call",
    [
        lambda: find_special_uniques({}),
        lambda: find_special_uniques({"a": [1], "b": [1, 2]}),
        lambda: find_special_uniques({"a": [1]}, largest_size=0),
        lambda: find_special_uniques({str(column): [1] for column in range(60)}, largest_size=5),
        lambda: population_uniques({"a": [1]}, {"b": [1]}),
        lambda: population_uniques({"a": [1]}, {"a": [2, 3]}),
    ],
)
def test_mistakes_are_told(call: Any) -> None:
    with pytest.raises(ParameterError):
        call()
