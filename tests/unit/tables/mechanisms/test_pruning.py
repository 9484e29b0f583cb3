"""The three orders of refining a prepared tree give the same counts, those of a recursion written from the rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sudare import Budget, ResearchEntropy, Unit
from sudare.domain import CountTable, morton_layout, raster_layout
from sudare.errors import GuaranteeError, ParameterError
from sudare.refine.signed import ALL_TO_THE_LEFT
from sudare.tables import nn_wavelet
from sudare.tables.arguments import read_request
from sudare.tables.mechanisms.pruning import PreparedTree, refined_by_pruning
from sudare.tables.trees.descent import Notes
from tests.scripted import ScriptedEntropy

ORDERS: list[Any] = ["vertical", "horizontal", "none"]
MAX_TILT = 2**62
TILTS = st.one_of(st.integers(-6, 7), st.sampled_from([-MAX_TILT, MAX_TILT, ALL_TO_THE_LEFT]))
TREES = st.integers(0, 6).flatmap(
    lambda depth: st.tuples(
        st.one_of(st.integers(0, 20), st.just(MAX_TILT)), st.lists(TILTS, min_size=2**depth, max_size=2**depth)
    )
)
TABLES = st.sampled_from([(1,), (2,), (3,), (4, 4), (3, 5), (2, 2, 3), (7, 9), (1, 6)]).flatmap(
    lambda shape: arrays.arrays(np.int64, shape, elements=st.sampled_from([0, 0, 0, 1, 5, 300]))
)


def prepared(total: int, tilts: list[int]) -> PreparedTree:
    event = PreparedTree.draw(np.zeros(len(tilts), dtype=int), Budget(epsilon=1)).event
    return PreparedTree(morton_layout((len(tilts),)), total, np.array(tilts, dtype=np.int64), event)


def recursion(s: int, node: int, tilts: list[int]) -> list[int]:
    """In Python's whole numbers, which do not overflow."""
    if node >= len(tilts):
        return [s]
    left = min(max((s + tilts[node]) // 2, 0), s)
    return recursion(left, 2 * node, tilts) + recursion(s - left, 2 * node + 1, tilts)


def nodes_left_out(s: int, node: int, tilts: list[int]) -> int:
    """Visit as pruning does, and count everything below a node where it stops."""
    if node >= len(tilts):
        return 0
    if s == 0:
        return nodes_below(node, tilts)
    left = min(max((s + tilts[node]) // 2, 0), s)
    return nodes_left_out(left, 2 * node, tilts) + nodes_left_out(s - left, 2 * node + 1, tilts)


def nodes_below(node: int, tilts: list[int]) -> int:
    return 0 if node >= len(tilts) else 2 + nodes_below(2 * node, tilts) + nodes_below(2 * node + 1, tilts)


@settings(max_examples=200)
@given(tree=TREES)
def test_all_orders_give_what_the_recursion_gives(tree: tuple[int, list[int]]) -> None:
    total, tilts = tree
    wanted = recursion(total, 1, tilts)
    for pruning in ORDERS:
        assert prepared(total, tilts).refine(pruning).tolist() == wanted


@settings(max_examples=100)
@given(tree=TREES)
def test_weighted_pruning_count(tree: tuple[int, list[int]]) -> None:
    total, tilts = tree
    assert prepared(total, tilts).weighted_pruning_count() == nodes_left_out(total, 1, tilts)


def test_weighted_pruning_count_by_hand() -> None:
    """Depth 3: the root gives all to the left, its left half to the right: heights 2 and 1 are pruned, 6 + 2 nodes."""
    tree = prepared(4, [0, 4, -4, 0, 0, 0, 0, 0])
    assert tree.weighted_pruning_count() == 6 + 2
    assert prepared(0, [0] * 8).weighted_pruning_count() == 2 + 4 + 8


@settings(max_examples=60)
@given(counts=TABLES, seed=st.integers(0, 10**6))
def test_nobody_is_put_into_the_padding_and_nobody_is_lost(counts: np.ndarray, seed: int) -> None:
    tree = PreparedTree.draw(counts, Budget(epsilon=2), entropy=ResearchEntropy(seed))
    table = CountTable.from_dense(counts)
    one = tree.to_table(table)
    assert one.total == tree.total
    assert (one.counts > 0).all()
    assert all(np.array_equal(tree.refine(pruning), tree.refine("none")) for pruning in ORDERS)


@settings(max_examples=25)
@given(counts=TABLES)
def test_with_hardly_any_noise_the_table_comes_back(counts: np.ndarray) -> None:
    table = CountTable.from_dense(counts)
    levels = 1 + morton_layout(table.domain.shape).depth
    tree = PreparedTree.draw(table, Budget(epsilon=1).times(1000 * levels))
    assert tree.to_table(table) == table


@pytest.mark.parametrize(
    ("shape", "public"), [((8, 8), False), ((8, 8), True), ((5, 6), False), ((5, 6), True), ((1,), False)]
)
def test_one_seed_gives_one_table_whatever_the_order(shape: tuple[int, ...], public: bool) -> None:
    counts = np.arange(np.prod(shape)).reshape(shape)
    layout = morton_layout(shape)
    event = nn_wavelet(counts, Budget(epsilon=4), public_total=public).event
    tables, notes = [], []
    for pruning in ORDERS:
        request = read_request("nn_wavelet", counts, Budget(epsilon=4), public_total=public, entropy=ResearchEntropy(5))
        names = [f"halves {depth}" for depth in range(layout.depth)]
        total = None if public else event.measurements[0]
        halvings = list(event.measurements[0 if public else 1 :])
        taken = Notes(layout, ([] if public else ["total"]) + names, event.measurements, wanted=True)
        tables.append(refined_by_pruning(request, layout, halvings, total, pruning, taken, names))
        notes.append(taken.read())
    assert tables[0] == tables[1] == tables[2]
    assert tables[0].domain.shape == shape
    measured = notes[0]
    assert measured is not None
    assert all((level.keys < counts.size).all() for level in measured)
    if public:
        assert tables[0].total == counts.sum()


def test_noisy_differences_are_written_down_without_coins() -> None:
    """With hardly any noise they are the differences themselves."""
    counts = np.array([5, 1, 0, 7])
    layout = morton_layout((4,))
    request = read_request("nn_wavelet", counts, Budget(epsilon=1))
    event = nn_wavelet(counts, Budget(epsilon=1).times(3000)).event
    notes = Notes(layout, ["total", "a", "b"], event.measurements, wanted=True)
    refined_by_pruning(request, layout, event.measurements[1:], event.measurements[0], "none", notes, ["a", "b"])
    taken = notes.read()
    assert taken is not None
    assert [level.values.tolist() for level in taken] == [[13], [-1], [4, -7]]
    assert [level.keys.tolist() for level in taken] == [[0], [0], [0, 2]]


def test_huge_counts_and_huge_differences() -> None:
    for counts in ([2**62, 0, 0, 0], [0, 0, 0, 2**62], [2**61, 0, 0, 2**61]):
        for _ in range(10):
            tree = PreparedTree.draw(np.array(counts), Budget(epsilon=0.01))
            leaves = [tree.refine(pruning) for pruning in ORDERS]
            assert np.array_equal(leaves[0], leaves[1])
            assert np.array_equal(leaves[0], leaves[2])
            assert leaves[0].min() >= 0
            assert int(leaves[0].sum()) == tree.total
            assert abs(int(leaves[0][0]) - counts[0]) < 10**5


def test_the_event_costs_the_budget() -> None:
    counts = np.ones((4, 4), dtype=int)
    unit = Unit("household", cells=2)
    event = PreparedTree.draw(counts, Budget(rho=0.1), unit=unit, noise="gaussian").event
    assert event.cost == Budget(rho=0.1)
    assert sum(m.rho for m in event.measurements) == Budget(rho=0.1).rho
    plain = PreparedTree.draw(counts, Budget(epsilon=1), layout=raster_layout((4, 4))).event
    assert plain == nn_wavelet(counts, Budget(epsilon=1)).event


def test_what_is_refused_is_refused_before_anything_is_drawn() -> None:
    source = ScriptedEntropy([])
    domain_too_large = CountTable.from_dense(np.ones((2, 2), dtype=int)).domain.of_shape((2**14, 2**13))
    large = CountTable.from_cells(domain_too_large, [0], [1])
    with pytest.raises(ParameterError, match=r"at most 2\*\*26 cells .* Got 2\*\*27 cells"):
        PreparedTree.draw(large, Budget(epsilon=1), entropy=source)
    tree = PreparedTree.draw(np.ones(4, dtype=int), Budget(epsilon=1))
    wrong_orders: list[Any] = ["lazy", None, 5, ["none"]]
    for wrong in wrong_orders:
        with pytest.raises(ParameterError, match="The 'pruning' parameter"):
            tree.refine(wrong)
    with pytest.raises(ParameterError, match="The 'table' parameter"):
        tree.to_table(CountTable.from_dense(np.ones(5, dtype=int)))
    with pytest.raises(GuaranteeError, match="delta"):
        PreparedTree.draw(np.ones(4, dtype=int), Budget(epsilon=1), noise="gaussian", entropy=source)
