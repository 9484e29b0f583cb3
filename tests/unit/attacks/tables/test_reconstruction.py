"""Reconstruction finds exactly what follows from tables: compared with trying every data set, and with the published block."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest
from benchmarks.disclosure_attacks import TABLES_OF_TOWN, block, publish_with_threshold, town, town_seconds
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.attacks import (
    AttackOutcome,
    Linear,
    Mean,
    Median,
    NoiseLaw,
    PersonDomain,
    PublishedCount,
    Reconstruction,
    reconstruct,
)
from sudare.attacks.tables.published_statistics import Statistic, Value
from sudare.attacks.tables.solver import End, IntegerProgram, Row
from sudare.errors import ParameterError
from sudare.noise import discrete_laplace

pytest.importorskip("ortools", reason="needs the extra 'solver'")

DATA = Path(os.environ.get("SUDARE_DATA", Path(__file__).parents[5] / "shared" / "data")) / "known_answers"
Person = tuple[Value, ...]


def fits(domain: PersonDomain, people: Sequence[Person], statistic: Statistic) -> bool:
    """The obvious reading of a statistic."""
    if isinstance(statistic, Linear):
        return statistic.low <= int(domain.counts(people) @ statistic.coefficients) <= statistic.high
    members = domain.members(statistic.where)
    group = [person for person in people if members[domain.cell(person)]]
    if isinstance(statistic, PublishedCount):
        return statistic.low <= len(group) <= statistic.largest
    numbers = [int(person[domain.names.index(statistic.attribute)]) for person in group]
    if isinstance(statistic, Mean):
        low, high = statistic.bounds()
        return not numbers or low <= Fraction(sum(numbers), len(numbers)) <= high
    return 2 * median(numbers) == statistic.doubled()


def every_data_set(domain: PersonDomain, most: int, statistics: Sequence[Statistic]) -> list[Counter[Person]]:
    kinds = list(product(*domain.values.values()))
    return [
        Counter(people)
        for size in range(most + 1)
        for people in combinations_with_replacement(kinds, size)
        if all(fits(domain, people, statistic) for statistic in statistics)
    ]


def check_against_every_data_set(domain: PersonDomain, most: int, statistics: list[Statistic]) -> Reconstruction:
    result = reconstruct(domain, statistics, limit=10_000)
    tables = np.array([domain.counts(found.elements()) for found in every_data_set(domain, most, statistics)])
    assert result.exists is bool(len(tables))
    assert result.is_every_solution
    assert result.number == len(tables)
    if len(tables):
        assert np.array_equal(result.least, tables.min(axis=0))
        assert np.array_equal(result.largest, tables.max(axis=0))
    return result


@settings(max_examples=25)
@given(
    people=st.lists(st.tuples(st.sampled_from("FM"), st.integers(0, 3)), min_size=1, max_size=4),
    chosen=st.lists(st.integers(0, 6), unique=True, max_size=5),
)
def test_same_as_trying_every_data_set(people: list[tuple[str, int]], chosen: list[int]) -> None:
    domain = PersonDomain({"sex": "FM", "age": range(4)})
    ages = [age for _, age in people]
    women = [age for sex, age in people if sex == "F"]
    offered: list[Statistic] = [
        Mean("age", Fraction(sum(ages), len(ages))),
        Median("age", median(ages)),
        Mean("age", round(sum(ages) / len(ages), 1), 0.05),
        PublishedCount(min(1, len(women)), 3 if women else 0, where={"sex": "F"}),
        PublishedCount(len(women), where={"sex": "F"}),
        Mean("age", Fraction(sum(women), max(1, len(women))), where={"sex": "F"}),
        Linear(np.arange(8) ** 2, 0, int(domain.counts(people) @ np.arange(8) ** 2)),
    ]
    check_against_every_data_set(
        domain, len(people), [PublishedCount(len(people)), *(offered[place] for place in chosen)]
    )


@pytest.mark.parametrize("size", [3, 4])
def test_medians_of_odd_and_even_groups(size: int) -> None:
    domain = PersonDomain({"age": range(7)})
    result = check_against_every_data_set(
        domain, size, [PublishedCount(size), Median("age", 3), Mean("age", Fraction(11, size))]
    )
    assert result.number > 1


def test_contradictions_have_no_solution() -> None:
    domain = PersonDomain({"sex": "FM", "age": range(3)})
    contradictions: list[list[Statistic]] = [
        [PublishedCount(2), PublishedCount(3, where={"sex": "F"})],
        [PublishedCount(2), Mean("age", 2.5)],
        [PublishedCount(2), Median("age", 7)],
        [PublishedCount(0), PublishedCount(1, where={"sex": "F"})],
    ]
    for statistics in contradictions:
        result = reconstruct(domain, statistics)
        assert result.exists is False
        assert result.number == result.revealed == 0
        (verdict,) = result.report().verdicts
        assert verdict.outcome is AttackOutcome.UNDECIDED
        assert "contradict each other" in verdict.sentence.english


def test_the_block_has_one_solution() -> None:
    folder = DATA / "reconstruction"
    if not folder.is_dir():
        pytest.skip("needs known_answers below SUDARE_DATA (or ../shared/data)")
    domain, statistics, known = block(folder)
    result = reconstruct(domain, statistics)
    assert (result.number, result.is_every_solution) == (1, True)
    assert sorted(result.people()) == sorted(tuple(person) for person in known["unique_solution"])
    ages = PersonDomain({"age": range(126)})
    men = reconstruct(ages, [PublishedCount(3), Median("age", 30), Mean("age", 44)])
    assert men.number == known["male_age_triples_median30_mean44"]["ages 0..125"]
    # The attack does not claim more than the tables say: without the mean of the married, three data sets fit.
    fewer = reconstruct(domain, [*statistics[:-5], *statistics[-4:]])
    assert (fewer.number, fewer.is_every_solution, fewer.revealed) == (3, True, 4)
    assert fewer.confirmed(domain.counts(tuple(person) for person in known["unique_solution"])) == 4


def small_town() -> tuple[PersonDomain, np.ndarray]:
    return town(people=60, neighbourhoods=2)


def test_thresholds_are_broken() -> None:
    domain, counts = small_town()
    result = reconstruct(domain, publish_with_threshold(domain, counts, TABLES_OF_TOWN, 3), limit=10)
    assert result.is_exact
    assert result.revealed >= 30  # half of the people
    assert result.confirmed(counts) == result.revealed
    report = result.report()
    assert report.outcome is AttackOutcome.BROKEN
    assert "people are the same in all of them" in report.summary.english
    assert all(verdict.number >= 1 for verdict in report.with_outcome(AttackOutcome.BROKEN))


@pytest.mark.usefixtures("repeatable_noise")
def test_noise_holds() -> None:
    """The same tables with epsilon 1 altogether: read with their noise they reveal nobody, read as exact they fit no data set."""
    domain, counts = small_town()
    published = [s for s in publish_with_threshold(domain, counts, TABLES_OF_TOWN, 1) if isinstance(s, PublishedCount)]
    margins_of_a_person = 1 + 4 + 6 + 4  # the total, attributes, pairs and triples that the tables hold
    noise = discrete_laplace(margins_of_a_person).draw(len(published))
    noisy = [count.low + int(draw) for count, draw in zip(published, noise, strict=True)]
    margin = NoiseLaw.laplace(margins_of_a_person).margin(0.01 / len(published))
    careful = [PublishedCount.around(value, margin, count.where) for value, count in zip(noisy, published, strict=True)]
    result = reconstruct(domain, careful, limit=10)
    assert result.exists
    assert result.revealed == 0
    assert result.report().outcome is AttackOutcome.HELD
    credulous = [PublishedCount.around(value, 0, count.where) for value, count in zip(noisy, published, strict=True)]
    assert reconstruct(domain, credulous, limit=10).exists is False


@pytest.mark.usefixtures("repeatable_noise")
def test_a_noisy_table_taken_for_the_truth_invents_people() -> None:
    domain, counts = small_town()
    noisy = np.maximum(0, counts + discrete_laplace(1).draw(counts.size))
    claimed = reconstruct(
        domain, [PublishedCount(int(count), where=where(domain, kind)) for kind, count in enumerate(noisy)]
    )
    assert claimed.revealed == noisy.sum()
    assert claimed.confirmed(counts) < 0.7 * claimed.revealed


def where(domain: PersonDomain, kind: int) -> dict[str, Value]:
    return dict(zip(domain.names, domain.tuple_of(kind), strict=True))


def test_what_is_known_of_a_group_reveals_its_sensitive_value() -> None:
    domain = PersonDomain({"sex": "FM", "ill": ["yes", "no"]})
    result = reconstruct(
        domain,
        [PublishedCount(5), PublishedCount(2, where={"sex": "F"}), PublishedCount(2, where={"sex": "F", "ill": "yes"})],
    )
    assert result.inferred(["sex"], "ill") == {("F",): "yes"}
    assert result.people() == [("F", "yes"), ("F", "yes")]


def test_time_that_runs_out_is_told() -> None:
    domain, counts = town()
    published = publish_with_threshold(domain, counts, TABLES_OF_TOWN, 3)
    result = reconstruct(domain, published, seconds=0.05)
    assert not result.is_exact
    assert (result.revealed, result.people()) == (0, [])
    assert result.report().outcome is AttackOutcome.UNDECIDED


@pytest.mark.slow
def test_the_town_of_a_thousand() -> None:
    _, result = town_seconds()
    assert result.is_exact
    assert result.revealed > 500


def test_ranges_are_those_of_all_solutions() -> None:
    program = IntegerProgram((0,) * 4, (9,) * 4, (Row((0, 1, 2, 3), (1, 2, 3, 5), 14, 14), Row((0, 3), (1, -1), 0, 3)))
    solutions, ranges = program.solutions(4, limit=10_000, seconds=30), program.ranges(4, seconds=30)
    assert solutions.is_complete
    assert ranges.is_complete
    assert np.array_equal(ranges.least, solutions.values.min(axis=0))
    assert np.array_equal(ranges.largest > ranges.least, solutions.values.max(axis=0) > ranges.least)
    assert program.ends([0, 3], seconds=30) == [
        (End(int(column.min()), True), End(int(column.max()), True)) for column in solutions.values.T[[0, 3]]
    ]
    assert not program.solutions(4, limit=2, seconds=30).is_complete
    impossible = IntegerProgram((0,), (9,), (Row((0,), (2,), 3, 3),))
    assert impossible.ranges(1, seconds=30).exists is False
    assert impossible.ends([0], seconds=30) is None


def test_a_switched_row_holds_where_its_switch_is_on() -> None:
    program = IntegerProgram((0, 0), (1, 5), (Row((1,), (1,), 4, 5, switch=0),))
    found = {tuple(row) for row in program.solutions(2, limit=100, seconds=30).values.tolist()}
    assert found == {(0, value) for value in range(6)} | {(1, 4), (1, 5)}


@pytest.mark.parametrize(
    ("statistics", "message"),
    [
        ([PublishedCount(2, where={"sex": "F"})], "enough to bound the number"),
        ([PublishedCount(2), Median("age", 1, where={"sex": "F"})], "a median needs a Count"),
        ([PublishedCount(2), PublishedCount(1, where={"sex": "X"})], "values that 'sex' can have"),
        ([PublishedCount(2), PublishedCount(1, where={"size": 1})], "about attributes sex, age"),
        ([PublishedCount(2), Mean("sex", 1)], "whole numbers"),
        ([PublishedCount(2), Linear(np.arange(3), 0, 1)], "6 whole-number coefficients"),
    ],
)
def test_mistakes_are_told(statistics: list[Statistic], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        reconstruct(PersonDomain({"sex": "FM", "age": range(3)}), statistics)


@pytest.mark.parametrize(
    "make",
    [
        lambda: PublishedCount(-1),
        lambda: PublishedCount(3, 2),
        lambda: PersonDomain({}),
        lambda: PersonDomain({"sex": ["F", "F"]}),
        lambda: PersonDomain({"a": range(2000), "b": range(2000)}),
        lambda: Median("age", 0.3).doubled(),
        lambda: Mean("age", 1, -1).bounds(),
        lambda: reconstruct(PersonDomain({"a": "x"}), [PublishedCount(1)], limit=0),
        lambda: reconstruct(PersonDomain({"a": "x"}), [PublishedCount(1)], seconds=0),
        lambda: reconstruct(PersonDomain({"a": "x"}), [PublishedCount(1)]).confirmed([1, 2]),
    ],
)
def test_arguments(make: Any) -> None:
    with pytest.raises(ParameterError):
        make()


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("FM"), st.integers(0, 2)), min_size=1, max_size=5), st.sampled_from([2, 100]))
def test_numbers_of_groups_are_those_of_every_data_set(people: list[tuple[str, int]], limit: int) -> None:
    """With few solutions listed, the solver bounds the groups; with all, they are added up."""
    domain = PersonDomain({"sex": ["F", "M"], "age": range(3)})
    women = sum(sex == "F" for sex, _ in people)
    young = sum(age == 0 for _, age in people)
    statistics: list[Statistic] = [
        PublishedCount(len(people)),
        PublishedCount(women, where={"sex": "F"}),
        PublishedCount(young, where={"age": 0}),
    ]
    groups: list[dict[str, Any]] = [{"sex": "F", "age": 0}, {"age": [1, 2]}, {"sex": "M"}, {"sex": "M", "age": [0, 1]}]
    result = reconstruct(domain, statistics, groups=groups, limit=limit)
    numbers = [
        [
            sum(number for person, number in data.items() if domain.members(group)[domain.cell(person)])
            for group in groups
        ]
        for data in every_data_set(domain, len(people), statistics)
    ]
    assert result.groups_are_exact
    least, largest = np.min(numbers, axis=0), np.max(numbers, axis=0)
    assert result.least_of_groups.tolist() == least.tolist()
    assert ((result.largest_of_groups == result.least_of_groups) == (least == largest)).all()
    assert (result.largest_of_groups <= largest).all()


def test_a_count_by_itself_needs_no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IntegerProgram, "solutions", None)
    domain = PersonDomain({"age": ["young", "old", "none"]})
    published = [
        PublishedCount(2, 4, {"age": "young"}),
        PublishedCount(0, 10**6, {"age": "old"}),
        PublishedCount(0, where={"age": "none"}),
    ]
    result = reconstruct(domain, published, groups=[{"age": "old"}], limit=10**6)
    assert (result.least.tolist(), result.largest.tolist()) == ([2, 0, 0], [4, 10**6, 0])
    assert result.is_exact
    assert not result.is_every_solution
    assert reconstruct(domain, [*published, PublishedCount(5, 6, {"age": "young"})]).exists is False


def test_small_counts_are_people_and_large_ones_statistics() -> None:
    domain = PersonDomain({"age": ["young", "middle", "old"]})
    published = [
        PublishedCount(40, where={"age": "young"}),
        PublishedCount(2, where={"age": "old"}),
        PublishedCount(1, 2, {"age": "middle"}),
    ]
    result = reconstruct(domain, published)
    assert result.determined(3).tolist() == [2]
    assert result.determined(2).tolist() == []
    report = result.report(fewer_than=3)
    assert [verdict.target for verdict in report.with_outcome(AttackOutcome.BROKEN)] == ["age old"]
    assert "1 kind(s) of fewer than 3 people are determined, 2 people in all" in report.summary.english
    assert len(result.report().with_outcome(AttackOutcome.BROKEN)) == 3


def test_very_many_data_sets_are_told_by_their_power_of_ten() -> None:
    for kinds in (40, 5000):  # more digits than Python writes out
        domain = PersonDomain({"kind": range(kinds)})
        result = reconstruct(domain, [PublishedCount(0, 9, {"kind": kind}) for kind in range(kinds)])
        assert result.number == 10**kinds
        assert result.report(3).summary.english.startswith(f"At least 10^{kinds} data set(s) fit")
