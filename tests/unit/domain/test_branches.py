"""Hierarchies as trees: every node of every level is a node of the layout, and nothing else has places."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sudare import CountTable, Domain, Hierarchy
from sudare.domain.branches import distinct_levels, hierarchy_layout, level_bits
from sudare.tables.trees.dense_tree import cells_of_nodes


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    """Three levels below the root, with families of any size."""
    families = draw(st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=4), min_size=1, max_size=5))
    rows = [
        (top, (top, middle)) for top, inner in enumerate(families) for middle, n in enumerate(inner) for _ in range(n)
    ]
    columns = {
        "top": [top for top, _ in rows],
        "middle": [f"{top}-{middle}" for _, (top, middle) in rows],
        "leaf": list(range(len(rows))),
    }
    return Hierarchy.from_levels("area", columns)


@given(hierarchies())
def test_leaves_come_back_and_nodes_are_those_of_the_levels(area: Hierarchy) -> None:
    domain = Domain((area,))
    layout, bits, levels = hierarchy_layout(domain), level_bits(area), distinct_levels(area)
    keys = np.arange(domain.cells, dtype=np.uint64)
    places = layout.to_tree(keys)
    assert (layout.to_raster(places) == keys).all()
    assert (np.diff(places.astype(np.int64)) > 0).all()
    assert sum(bits) == layout.depth
    for depth, level in enumerate(levels):
        of_nodes = places >> np.uint64(layout.depth - sum(bits[:depth]))
        assert np.unique(of_nodes).size == level.nodes
        _, first = np.unique(of_nodes, return_index=True)
        assert (first == level.edges[:-1]).all()
        counted = cells_of_nodes(layout, bits)[depth]
        assert (counted[counted > 0] == np.diff(level.edges)).all()


def test_levels_that_part_nothing_are_left_out() -> None:
    columns = {"country": [1, 1, 1], "region": [1, 1, 1], "city": [1, 2, 2], "ward": [1, 2, 2], "block": [1, 2, 3]}
    area = Hierarchy.from_levels("block", columns)
    assert [level.nodes for level in distinct_levels(area)] == [1, 2, 3]
    assert level_bits(area) == (1, 1)
    assert level_bits(Hierarchy.from_levels("one", {"one": [7]})) == ()


def test_codes_along_the_branches() -> None:
    area = Hierarchy.from_levels("ward", {"prefecture": [13, 13, 13, 27], "ward": [1, 2, 3, 4]})
    branches = area.branches
    assert branches.shape == (2, 3)
    assert not branches.is_ordered
    assert [along.tolist() for along in branches.places([4, 3])] == [[1, 0], [0, 2]]
    assert branches.values((np.array([1, 0]), np.array([0, 2]))).tolist() == [4, 3]
    table = CountTable.from_dense(np.array([1, 2, 3, 4]), Domain((area,)))
    assert hierarchy_layout(table.domain).to_tree(table.keys).tolist() == [0, 1, 2, 4]
