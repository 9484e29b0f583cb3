"""Cells and sums: what must hold, and what is refused."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.disclosure.structure import CellTable, Dimension, TableSystem
from sudare.errors import InputError, ParameterError

REGION = Dimension.of_tree("region", {"north": {"n1": {}, "n2": {}}, "south": {}})
SEX = Dimension.flat("sex", ["f", "m"])


@st.composite
def trees(draw: st.DrawFn, name: str = "x", most: int = 7) -> Dimension:
    size = draw(st.integers(1, most))
    parents = [-1] + [draw(st.integers(0, place - 1)) for place in range(1, size)]
    return Dimension(name, tuple(f"c{place}" for place in range(size)), tuple(parents))


def test_a_tree_knows_its_children_paths_and_depths() -> None:
    assert REGION.codes == ("Total", "north", "n1", "n2", "south")
    assert [REGION.children(code) for code in range(5)] == [(1, 4), (2, 3), (), (), ()]
    assert REGION.inner == (0, 1)
    assert REGION.leaves == (2, 3, 4)
    assert REGION.path(3) == (3, 1, 0)
    assert REGION.depth == (0, 1, 2, 2, 1)
    assert REGION.extended(["east", "n1"]).codes[-1] == "east"


@pytest.mark.parametrize("parents", [(0, 0), (-1,), (-1, 1), (-1, -1)])
def test_trees_with_gaps_are_refused(parents: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError):
        Dimension("x", ("a", "b"), parents)


def test_a_code_that_stands_twice_is_refused() -> None:
    with pytest.raises(InputError, match="'a' stands twice"):
        Dimension.flat("x", ["a", "a"])


@given(trees("x"), trees("y", 5))
@settings(max_examples=40, deadline=None)
def test_every_sum_is_there_once_and_holds_for_sums_of_leaves(one: Dimension, other: Dimension) -> None:
    system = TableSystem.of_dimensions([one, other])
    cells = np.arange(system.size).reshape(len(one), len(other))
    expected = set()
    for a, b in product(range(len(one)), range(len(other))):
        if one.children(a):
            expected.add((int(cells[a, b]), *sorted(int(cells[child, b]) for child in one.children(a))))
        if other.children(b):
            expected.add((int(cells[a, b]), *sorted(int(cells[a, child]) for child in other.children(b))))
    sums = [(total, *sorted(parts)) for total, parts in system.sums()]
    assert len(sums) == len(set(sums))
    assert set(sums) == expected

    values = np.zeros(cells.shape, dtype=np.int64)
    for number, (a, b) in enumerate(product(one.leaves, other.leaves)):
        for above, beside in product(one.path(a), other.path(b)):
            values[above, beside] += 3 * number + 1
    system.check(values.reshape(-1))
    if expected:
        broken = values.reshape(-1).copy()
        broken[next(iter(expected))[0]] += 1
        with pytest.raises(InputError, match="does not add up"):
            system.check(broken)


def test_sums_beyond_64_bits_are_still_exact() -> None:
    system = TableSystem.of_sums(["all", "a", "b"], [(0, [1, 2])])
    large = 2**63 - 1
    assert not system.failing(np.array([2 * large, large, large], dtype=object)).size
    # Wrapped around, 2 * large + 2 is 0: the sum must not be taken for right.
    assert system.failing(np.array([0, large, large], dtype=object)).size
    assert system.failing(np.array([-2, large, large], dtype=np.int64)).size


def test_linked_tables_share_cells_of_the_same_name_and_sums_only_once() -> None:
    first, second = (
        TableSystem.of_dimensions([SEX, REGION]),
        TableSystem.of_dimensions([REGION, Dimension.flat("age", "ab")]),
    )
    linked = first.linked_with(second)
    shared = set(first.names) & set(second.names)
    assert len(shared) == len(REGION)
    assert linked.size == first.size + second.size - len(shared)
    assert linked.names[: first.size] == first.names
    assert (
        linked.equations.shape[0] == first.equations.shape[0] + second.equations.shape[0] - 2
    )  # the region's own sums
    assert linked.tables[1].cells[1, 0] == first.cell(region="north")
    with pytest.raises(ParameterError):
        _ = linked.keys


def test_pairs_link_cells_of_different_names() -> None:
    first = TableSystem.of_dimensions([Dimension.flat("county", ["1", "2"])])
    second = TableSystem.of_dimensions([Dimension.flat("group", ["big", "small"])])
    assert first.linked_with(second).size == 5
    linked = first.linked_with(second, [(1, 2)])
    assert linked.size == 4
    assert linked.sums()[1] == (0, [3, 1])
    with pytest.raises(ParameterError):
        first.linked_with(second, [(9, 0)])


def test_names_and_labels() -> None:
    system = TableSystem.of_dimensions([SEX, REGION])
    assert system.label(0) == "total"
    assert system.label(system.cell(sex="m", region="n2")) == "region=n2, sex=m"
    assert system.keys[system.cell(sex="m", region="n2")].tolist() == [2, 3]
    assert system.is_total.sum() == 3 * 5 - 2 * 3
    with pytest.raises(ParameterError):
        system.cell(sex="x")


def test_a_system_of_plain_sums_is_checked() -> None:
    with pytest.raises(ParameterError):
        TableSystem.of_sums(["a", "a"], [])
    with pytest.raises(ParameterError):
        TableSystem.of_sums(["a", "b"], [(0, [2])])
    with pytest.raises(ParameterError):
        TableSystem.of_dimensions([SEX, SEX])


def test_tables_too_large_are_refused_before_they_are_made() -> None:
    wide = Dimension.flat("x", [str(code) for code in range(9999)])
    with pytest.raises(InputError, match="cells"):
        TableSystem.of_dimensions([wide, Dimension("y", wide.codes, wide.parents)])


def test_a_cell_table_is_checked_and_cannot_be_changed() -> None:
    system = TableSystem.of_dimensions([SEX])
    values, largest = np.array([3, 1, 2]), np.array([[2, 1], [1, 0], [2, 0]])
    table = CellTable(system, values, np.array([2, 1, 0]), largest)
    assert table.empty.tolist() == [False, False, True]
    table.check()
    with pytest.raises(ValueError, match="read-only"):
        table.values[0] = 4
    for wrong in ({"values": values[:2]}, {"largest": largest[:, :1]}, {"weights": largest}, {"owners": largest[:2]}):
        arguments = {"values": values, "counts": values, "largest": largest} | wrong
        with pytest.raises(ParameterError):
            CellTable(system, **arguments)  # type: ignore[arg-type]
    with pytest.raises(InputError):
        CellTable(system, np.array([4, 1, 2]), values, largest).check()
