"""Differences that leave few people are found, whatever the number of cells; sound releases are not accused."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Hashable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sudare.attacks import AttackOutcome, PublishedCell, attack_by_differences
from sudare.attacks.tables.solver import SolverFailure
from sudare.errors import ParameterError

needs_solver = pytest.mark.skipif(importlib.util.find_spec("ortools") is None, reason="needs the extra 'solver'")


def cell(name: str, pieces: str, people: dict[str, int], deviation: float = 0.0) -> PublishedCell:
    return PublishedCell(name, frozenset(pieces), sum(people[piece] for piece in pieces), deviation)


PEOPLE = {"a": 40, "b": 30, "c": 2, "d": 50, "e": 1}


def test_nested_areas_of_two_releases() -> None:
    old, new = cell("2024", "ab", PEOPLE), cell("2025", "abc", PEOPLE)
    found = attack_by_differences([old, new])
    assert [each.formula() for each in found.isolating] == ["2025 - 2024"]
    assert found.isolating[0].count == 2
    verdict = found.report().verdicts[0]
    assert verdict.outcome is AttackOutcome.BROKEN
    assert verdict.number == 2
    assert not attack_by_differences([old, new], threshold=2).isolating


def test_three_overlapping_areas_isolate_a_piece_that_no_pair_does() -> None:
    cells = [cell("ab", "ab", PEOPLE), cell("bc", "bc", PEOPLE), cell("ac", "ac", PEOPLE)]
    found = attack_by_differences(cells)
    (only,) = found.isolating
    assert only.pieces == frozenset("c")
    assert only.count == 2
    assert only.formula() == "1/2 x ac + 1/2 x bc - 1/2 x ab"


def test_a_sum_of_parts_against_another_release() -> None:
    cells = [cell("city", "abcde", PEOPLE), cell("north", "ab", PEOPLE), cell("south", "cd", PEOPLE)]
    found = attack_by_differences(cells)
    assert [each.formula() for each in found.isolating] == ["city - north - south"]


def test_overlaps_that_isolate_nobody_are_not_accused() -> None:
    cells = [cell("left", "ab", PEOPLE), cell("right", "bd", PEOPLE)]
    found = attack_by_differences(cells)
    assert found.combinations == ()
    assert found.report().outcome is AttackOutcome.HELD


def test_noise_stops_a_difference_until_it_is_averaged_away() -> None:
    noisy = [cell("2024", "ab", PEOPLE, 2.0), cell("2025", "abc", PEOPLE, 2.0)]
    found = attack_by_differences(noisy)
    assert found.isolating == ()
    assert found.combinations[0].deviation == pytest.approx(np.sqrt(8))
    often = [
        cell(f"{year} {time}", pieces, PEOPLE, 2.0)
        for time in range(150)
        for year, pieces in (("o", "ab"), ("n", "abc"))
    ]
    assert attack_by_differences(often).isolating[0].deviation == pytest.approx(np.sqrt(8 / 150), rel=1e-3)


@settings(max_examples=40)
@given(st.lists(st.frozensets(st.integers(0, 5), min_size=1), min_size=1, max_size=6, unique=True))
def test_every_piece_in_the_row_space_is_found(areas: list[frozenset[Hashable]]) -> None:
    people = [7, 1, 9, 2, 8, 1]
    cells = [
        PublishedCell(f"cell {place}", area, sum(people[int(str(piece))] for piece in area))
        for place, area in enumerate(areas)
    ]
    found = attack_by_differences(cells)
    matrix = np.array([[float(piece in area) for piece in range(6)] for area in areas])
    rank = np.linalg.matrix_rank(matrix)
    for piece in range(6):
        unit = np.eye(6)[piece]
        isolated = matrix[:, piece].any() and np.linalg.matrix_rank(np.vstack([matrix, unit])) == rank
        expected = isolated and frozenset([piece]) not in areas
        assert any(each.pieces == frozenset([piece]) for each in found.combinations) == expected
    for combination in found.combinations:  # what is told is true
        assert combination.count == sum(people[int(str(piece))] for piece in combination.pieces)
        total = sum(value * next(c.count for c in cells if c.name == name) for name, value in combination.terms)
        assert total == combination.count


def least_noise(matrix: NDArray[np.float64], noise: NDArray[np.float64], part: NDArray[np.float64]) -> float:
    """Of all combinations of rows that give a part; infinite if there is none."""
    weights = np.linalg.lstsq(matrix.T, part, rcond=None)[0]
    if np.abs(matrix.T @ weights - part).max() > 1e-9:
        return np.inf
    _, sizes, right = np.linalg.svd(matrix.T)
    free = right[int((sizes > 1e-9).sum()) :].T
    outer, sizes, right = np.linalg.svd(noise[:, None] * free, full_matrices=False)
    inverse = np.where(sizes > 1e-9, 1 / np.maximum(sizes, 1e-9), 0.0)
    weights = weights - free @ (right.T @ (inverse * (outer.T @ (noise * weights))))
    return float(np.linalg.norm(noise * weights))


areas_with_noise = st.lists(
    st.tuples(st.frozensets(st.integers(0, 4), min_size=1), st.sampled_from([0.0, 0.0, 0.1, 0.2, 1.0])),
    min_size=1,
    max_size=6,
)


@needs_solver
@settings(max_examples=60, deadline=None)
@given(areas_with_noise, st.lists(st.sampled_from([0, 1, 2, 5, 30]), min_size=5, max_size=5))
def test_no_part_of_few_people_is_missed(areas: list[tuple[frozenset[Hashable], float]], people: list[int]) -> None:
    """As by trying all parts: one that no cell shows, and that has no smaller one inside, is found."""
    cells = [
        PublishedCell(f"cell {place}", area, sum(people[int(str(piece))] for piece in area), deviation)
        for place, (area, deviation) in enumerate(areas)
    ]
    matrix = np.array([[float(piece in cell.pieces) for piece in range(5)] for cell in cells])
    noise = np.array([cell.deviation for cell in cells])
    small: dict[frozenset[Hashable], float] = {}
    for chosen in product((0, 1), repeat=5):
        part: frozenset[Hashable] = frozenset(np.flatnonzero(chosen).tolist())
        if 0 < sum(people[int(str(piece))] for piece in part) < 3:
            deviation = least_noise(matrix, noise, np.array(chosen, dtype=np.float64))
            if deviation < 0.25 - 1e-6:
                small[part] = deviation
    found = attack_by_differences(cells)
    isolating = {each.pieces: each for each in found.isolating}
    for part, each in isolating.items():  # nothing is told that is not so
        assert part in small
        assert small[part] - 1e-6 <= each.deviation <= 0.25
        assert each.count == sum(people[int(str(piece))] for piece in part)
    shown = {cell.pieces for cell in cells if cell.deviation <= small.get(cell.pieces, -1) + 1e-9}
    new = [
        part for part in small if part not in shown and not any(other < part and small[other] < 1e-9 for other in small)
    ]
    assert found.is_complete
    assert not new or isolating
    if not noise.any():
        assert set(new) <= set(isolating)


def test_searches_that_end_early_are_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [cell("left", "ab", PEOPLE), cell("right", "bd", PEOPLE)]

    def fails(*_: Any, **__: Any) -> None:
        raise SolverFailure("no time")

    monkeypatch.setattr("sudare.attacks.tables.solver.IntegerProgram.solutions", fails)
    found = attack_by_differences(cells)
    assert not found.is_complete
    assert found.report().outcome is AttackOutcome.UNDECIDED


@needs_solver
def test_parts_of_several_pieces_with_their_formula() -> None:
    people = {"a": 50, "b": 50, "p": 1, "q": 1, "x": 39}
    cells = [cell(*each, people) for each in (("city", "abpq"), ("ward 1", "a"), ("ward 2", "b"), ("district", "px"))]
    (only,) = attack_by_differences(cells).isolating
    assert only.formula() == "city - ward 1 - ward 2"
    assert only.count == 2
    assert only.pieces == frozenset("pq")


def test_wide_noise_needs_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("no search is needed")

    monkeypatch.setattr("sudare.attacks.tables.solver.IntegerProgram.solutions", never)
    cells = [cell(pieces, pieces, PEOPLE, 2.0) for pieces in ("ab", "bc", "cd", "abcd", "de")]
    assert attack_by_differences(cells).is_complete


def test_counts_that_contradict_each_other_are_undecided() -> None:
    cells = [
        PublishedCell("city", frozenset("ab"), 100),
        PublishedCell("city again", frozenset("ab"), 90),
        PublishedCell("ward", frozenset("a"), 50),
    ]
    found = attack_by_differences(cells)
    assert found.contradicts
    assert found.report().outcome is AttackOutcome.UNDECIDED
    assert attack_by_differences(cells[1:]).report().outcome is AttackOutcome.HELD
    below_zero = [PublishedCell("city", frozenset("ab"), 40), cells[2]]
    assert attack_by_differences(below_zero).report().outcome is AttackOutcome.UNDECIDED


def test_large_systems_say_what_was_not_searched() -> None:
    cells = [PublishedCell(f"cell {place}", frozenset([place, place + 1]), 50) for place in range(401)]
    report = attack_by_differences(cells).report()
    assert report.outcome is AttackOutcome.UNDECIDED
    nested = [*cells, PublishedCell("three", frozenset([7, 8, 9]), 51)]
    assert attack_by_differences(nested).isolating[0].formula() == "three - cell 7"


def test_too_much_work_is_told_and_what_was_found_is_true() -> None:
    random = np.random.default_rng(0)
    people = random.integers(1, 9, 90)
    areas = [frozenset(np.flatnonzero(random.random(90) < 0.3).tolist()) for _ in range(90)]
    cells = [PublishedCell(f"cell {place}", area, int(people[list(area)].sum())) for place, area in enumerate(areas)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sudare.attacks.tables.differencing.MAX_STEPS", 20_000)
        found = attack_by_differences(cells)
    assert not found.is_complete
    assert found.report().with_outcome(AttackOutcome.UNDECIDED)
    for combination in found.combinations:
        assert combination.count == people[[int(str(piece)) for piece in combination.pieces]].sum()


def test_the_same_combinations_whatever_the_order_of_sets() -> None:
    script = (
        "from sudare.attacks import PublishedCell, attack_by_differences as attack\n"
        "areas = ['abc', 'bcd', 'acd', 'abd', 'abcde', 'xyz', 'abcdexyz', 'yz']\n"
        "print([c.formula() for c in attack([PublishedCell(a, frozenset(a), len(a)) for a in areas]).combinations])\n"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            timeout=60,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(printed) == 1


def test_mistakes_are_told() -> None:
    with pytest.raises(ParameterError, match="different names"):
        attack_by_differences([PublishedCell("a", frozenset("x"), 1)] * 2)
    with pytest.raises(ParameterError, match="threshold"):
        attack_by_differences([], threshold=1)
