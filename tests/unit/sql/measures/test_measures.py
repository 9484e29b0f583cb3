"""Sensitivities of sums, by brute force over what units can add."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.privacy.unit import Adjacency, Sensitivity
from sudare.sql.measures.measures import coarsened, sensitivity_of_rows, sensitivity_of_units

BOUNDS = [(0, 1), (0, 3), (-2, 1), (-3, 0), (2, 3), (-1, -1)]


def norms(vector: list[int]) -> tuple[int, int]:
    return sum(abs(value) for value in vector), sum(value**2 for value in vector)


def sums_of_rows(rows: int, low: int, high: int, groups: int) -> set[tuple[int, ...]]:
    """All that one unit with up to so many rows can add to the groups."""
    found = {(0,) * groups}
    for _ in range(rows):
        found |= {
            tuple(value + (step if i == place else 0) for i, value in enumerate(vector))
            for vector in found
            for place, step in product(range(groups), range(low, high + 1))
        }
    return found


def sums_of_units(most: int, low: int, high: int, groups: int) -> set[tuple[int, ...]]:
    """All that one unit can add that adds a number to up to so many groups."""
    options = product([0, *range(low, high + 1)], repeat=groups)
    return {vector for vector in options if sum(1 for value in vector if value) <= most}


def largest_norms(contributions: set[tuple[int, ...]], adjacency: Adjacency) -> tuple[int, int]:
    if adjacency == "add-remove":
        found = [norms(list(vector)) for vector in contributions]
    else:
        found = [
            norms([a - b for a, b in zip(one, two, strict=True)]) for one in contributions for two in contributions
        ]
    return max(l1 for l1, _ in found), max(squares for _, squares in found)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_no_unit_changes_sums_over_rows_by_more(rows: int, bounds: tuple[int, int], adjacency: Adjacency) -> None:
    for groups in (1, 2):
        stated = sensitivity_of_rows(rows, *bounds, grouped=groups > 1, adjacency=adjacency)
        l1, squares = largest_norms(sums_of_rows(rows, *bounds, groups), adjacency)
        assert l1 <= stated.l1
        assert squares <= stated.l2_squared


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
@pytest.mark.parametrize("most", [1, 2])
def test_no_unit_changes_sums_over_units_by_more(most: int, bounds: tuple[int, int], adjacency: Adjacency) -> None:
    for groups in (1, 3):
        stated = sensitivity_of_units(most if groups > 1 else 1, *bounds, grouped=groups > 1, adjacency=adjacency)
        contributions = sums_of_units(most if groups > 1 else 1, *bounds, groups)
        l1, squares = largest_norms(contributions, adjacency)
        assert l1 <= stated.l1
        assert squares <= stated.l2_squared


def test_a_sum_over_rows_is_not_covered_by_the_bound_of_one_row() -> None:
    """The control: one row fewer is not enough."""
    l1, _ = largest_norms(sums_of_rows(3, 0, 2, 2), "add-remove")
    assert l1 > sensitivity_of_rows(2, 0, 2, grouped=True, adjacency="add-remove").l1


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_what_is_left_after_cutting_digits_changes_by_no_more(data: st.DataObject) -> None:
    cells = data.draw(st.integers(1, 6))
    largest = data.draw(st.integers(10**7, 10**12))
    before = data.draw(st.lists(st.integers(-(10**13), 10**13), min_size=cells, max_size=cells))
    steps = data.draw(st.lists(st.integers(-largest, largest), min_size=cells, max_size=cells))
    changed = max(sum(1 for step in steps if step), 1)
    l1 = max(sum(abs(step) for step in steps), largest, changed)
    squares = max(sum(step**2 for step in steps), largest**2, changed)
    stated = Sensitivity(min(l1, changed * largest), min(squares, changed * largest**2), changed, largest)
    digits, left = coarsened(stated)
    after = [value + step for value, step in zip(before, steps, strict=True)]
    moved = [a // 10**digits - b // 10**digits for a, b in zip(after, before, strict=True)]
    found = norms(moved)
    assert digits > 0
    assert found[0] <= left.l1
    assert found[1] <= left.l2_squared


def test_small_sensitivities_keep_all_digits() -> None:
    stated = Sensitivity(9_999_999, 9_999_999**2, 1, 9_999_999)
    assert coarsened(stated) == (0, stated)
