"""Layouts: every order is a bijection with an inverse, follows its curve, and none looks at the data."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare import Budget, ResearchEntropy
from sudare.domain import (
    Layout,
    hilbert_layout,
    layout_named,
    morton_layout,
    random_layout,
    raster_layout,
)
from sudare.domain.layout import HilbertCurve, Shuffle, sorted_layout
from sudare.domain.turning import TurnedEnds, places_that_turn
from sudare.errors import GuaranteeError, ParameterError
from sudare.tables import nn_wavelet, wide_tree

SHAPES = st.lists(st.integers(1, 9), min_size=1, max_size=3).map(tuple)
KEYS = st.integers(0, 2**64 - 1)


def all_keys(cells: int) -> np.ndarray:
    return np.arange(cells, dtype=np.uint64)


def is_outside_by_definition(layout: Layout, prefix: int, height: int) -> bool:
    """Whether none of the leaves below a node is the place of a cell."""
    places = set(layout.to_tree(all_keys(prod(layout.lengths))).tolist())
    return not any(leaf in places for leaf in range(prefix, prefix + 2**height))


@given(shape=SHAPES, key=KEYS)
def test_a_random_layout_is_a_bijection_with_its_inverse(shape: Any, key: int) -> None:
    layout = random_layout(shape, key)
    keys = all_keys(prod(shape))
    leaves = layout.to_tree(keys)
    assert np.array_equal(layout.to_raster(leaves), keys)
    assert sorted(leaves.tolist()) == sorted(raster_layout(shape).to_tree(keys).tolist())
    assert (layout.lengths, layout.depth) == (shape, raster_layout(shape).depth)


@given(cells=st.integers(1, 2**62), key=KEYS, seed=st.integers(0, 1000))
def test_a_shuffle_of_any_number_of_cells_stays_within_them(cells: int, key: int, seed: int) -> None:
    some = np.random.default_rng(seed).integers(0, cells, size=50, dtype=np.uint64)
    order = Shuffle(cells, key)
    places = order.arrange(some)
    assert (places < cells).all()
    assert np.array_equal(order.restore(places), some)
    assert np.array_equal(order.arrange(order.restore(some)), some)
    assert np.unique(places).size == np.unique(some).size


def test_a_key_that_is_no_cell_stays_and_does_not_go_round_for_ever() -> None:
    order = Shuffle(5, 3)
    assert order.arrange(np.array([5, 6, 7, 100], dtype=np.uint64)).tolist() == [5, 6, 7, 100]


def test_the_order_depends_on_the_key_and_on_nothing_else() -> None:
    keys = all_keys(35)
    first, again, other = (random_layout((5, 7), key).to_tree(keys) for key in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert random_layout((5, 7), 1) == random_layout((5, 7), 1) != random_layout((5, 7), 2)
    backward = random_layout((5, 7), 1).to_tree(keys[::-1])  # a view that is not contiguous
    assert np.array_equal(backward[::-1], first)


def test_a_random_layout_spreads() -> None:
    """Where a cell goes is about uniform over keys, and neighbours on the map are far apart in the tree."""
    cells, rounds = 12, 6000
    places = np.array([Shuffle(cells, key).arrange(np.array([7], dtype=np.uint64))[0] for key in range(rounds)])
    expected = rounds / cells
    statistic = (((np.bincount(places.astype(int), minlength=cells) - expected) ** 2) / expected).sum()
    assert statistic < 60.6  # chi-square with 11 degrees of freedom, 1e-8
    layout = random_layout((256, 256), 9)
    leaves = layout.to_tree(all_keys(65536)).astype(np.int64)
    distance = np.abs(np.diff(leaves)).mean()
    assert abs(distance - 65536 / 3) < 300
    assert np.abs(np.diff(raster_layout((256, 256)).to_tree(all_keys(65536)).astype(np.int64))).mean() == 1


@pytest.mark.parametrize("bits", range(6))
def test_the_hilbert_curve_passes_from_cell_to_cell(bits: int) -> None:
    side = 2**bits
    layout = hilbert_layout((side, side))
    keys = layout.to_raster(all_keys(side * side))
    assert np.array_equal(layout.to_tree(keys), all_keys(side * side))
    assert sorted(keys.tolist()) == list(range(side * side))
    rows, columns = np.divmod(keys.astype(int), side)
    assert (np.abs(np.diff(rows)) + np.abs(np.diff(columns)) == 1).all()
    assert (rows[0], columns[0]) == (0, 0)
    for size in [4**level for level in range(bits + 1)]:  # every block of the tree is a square
        block_rows, block_columns = rows.reshape(-1, size), columns.reshape(-1, size)
        for along in (block_rows, block_columns):
            assert (along.max(axis=1) - along.min(axis=1) == size**0.5 - 1).all()


def naive_hilbert(bits: int) -> list[tuple[int, int]]:
    """(row, column) along the curve, by joining four smaller curves."""
    if bits == 0:
        return [(0, 0)]
    small, half = naive_hilbert(bits - 1), 2 ** (bits - 1)
    first = [(c, r) for r, c in small]
    second = [(r, c + half) for r, c in small]
    third = [(r + half, c + half) for r, c in small]
    last = [(2 * half - 1 - c, half - 1 - r) for r, c in small]
    return first + second + third + last


@pytest.mark.parametrize("bits", range(6))
def test_the_hilbert_curve_is_the_recursive_one(bits: int) -> None:
    side = 2**bits
    keys = hilbert_layout((side, side)).to_raster(all_keys(side * side)).astype(int)
    assert [divmod(key, side) for key in keys.tolist()] == naive_hilbert(bits)


def test_a_huge_square() -> None:
    layout = hilbert_layout((2**31, 2**31))
    keys = np.random.default_rng(1).integers(0, 2**62, size=1000, dtype=np.uint64)
    assert np.array_equal(layout.to_raster(layout.to_tree(keys)), keys)
    assert layout.depth == 62


@pytest.mark.parametrize(
    ("shape", "advice"), [((4, 8), r"\(8, 8\)"), ((5, 5), r"\(8, 8\)"), ((16,), "two axes"), ((2, 2, 2), "two axes")]
)
def test_shapes_the_hilbert_curve_does_not_fill(shape: Any, advice: str) -> None:
    with pytest.raises(ParameterError, match=advice):
        hilbert_layout(shape)


@pytest.mark.parametrize("shape", [(5, 7), (3, 4), (6,), (4, 4), (3, 2, 5)])
def test_padding_is_found_from_prefixes(shape: Any) -> None:
    """What the descents ask of `gather` holds for shuffled cells too."""
    from sudare.kernels.tables.trees import is_outside

    layout = random_layout(shape, 5)
    lengths = np.array(layout.lengths, dtype=np.uint64)
    assert layout.is_padded == (2**layout.depth != prod(shape))
    for height in range(layout.depth + 1):
        for prefix in range(0, 2**layout.depth, 2**height):
            found = is_outside(np.uint64(prefix), lengths, layout.gather)
            assert bool(found) == is_outside_by_definition(layout, prefix, height)


@pytest.mark.parametrize("mechanism", [nn_wavelet, wide_tree])
@pytest.mark.parametrize("layout", [random_layout((9, 11), 4), random_layout((16, 16)), hilbert_layout((16, 16))])
def test_mechanisms_publish_along_any_layout(mechanism: Any, layout: Layout) -> None:
    counts = np.random.default_rng(2).integers(0, 50, size=layout.lengths)
    exact = mechanism(counts, Budget(epsilon=1).times(1000), layout=layout, keep_measurements=True)
    assert np.array_equal(exact.to_dense(), counts)
    assert all((noisy.keys < counts.size).all() for noisy in exact.measurements)
    rough = mechanism(counts, Budget(epsilon=0.01), layout=layout, entropy=ResearchEntropy(1))
    assert (rough.table.keys < counts.size).all()


def test_layouts_by_name() -> None:
    shape = (4, 4)
    assert layout_named("morton", shape) == morton_layout(shape)
    assert layout_named("raster", shape) == raster_layout(shape)
    assert layout_named("hilbert", shape) == hilbert_layout(shape)
    assert layout_named("random", shape, key=3) == random_layout(shape, 3)
    for wrong in ("Morton", "", None, 3, ["morton"], np.arange(3)):
        with pytest.raises(ParameterError, match="The 'name' parameter of layout_named"):
            layout_named(wrong, shape)  # type: ignore[arg-type]


def test_sorted_is_refused_with_the_reason() -> None:
    with pytest.raises(GuaranteeError, match="looks at the counts"):
        sorted_layout((4, 4))
    with pytest.raises(GuaranteeError, match="looks at the counts"):
        layout_named("sorted", (4, 4))
    with pytest.raises(ParameterError):
        sorted_layout("x")  # type: ignore[arg-type]


@pytest.mark.parametrize("key", [-1, 2**64, 1.0, True, "1", None, float("nan")])
def test_keys_are_whole_numbers(key: Any) -> None:
    with pytest.raises(ParameterError, match="The 'key' parameter of random_layout"):
        random_layout((4, 4), key)


def test_no_layout_is_made_of_an_order_that_was_handed_in() -> None:
    order = np.array([2, 1, 3, 0], dtype=np.uint64)  # the cells of [[0, 3], [9, 1]], fullest first
    for arrangement in (order, order.tolist(), object()):
        with pytest.raises(ParameterError, match="arrangement") as caught:
            Layout((2, 2), (0, 1), arrangement)  # type: ignore[arg-type]
        assert "9" not in str(caught.value)
    for wrong in (Shuffle(5, 0), HilbertCurve(2), TurnedEnds((2, 3), 0)):
        with pytest.raises(ParameterError, match="arrangement"):
            Layout((2, 2), (0, 1), wrong)


LONG_SHAPES = st.lists(st.integers(1, 45), min_size=1, max_size=3).map(tuple)


def test_places_that_turn() -> None:
    """The whole of a short axis; of a long one, the last area of eight and what is left over."""
    lengths = [1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 37, 50, 300, 2**40 + 3]
    assert [places_that_turn(n) for n in lengths] == [0, 0, 3, 0, 5, 7, 0, 9, 12, 15, 0, 9, 0, 13, 10, 12, 11]


@settings(max_examples=60)
@given(shape=LONG_SHAPES, key=KEYS)
def test_turned_ends_are_a_bijection_that_turns_circles(shape: Any, key: int) -> None:
    """Along each line of an axis, places before the circle stay; the circle is turned as a whole, all in a block alike."""
    layout = morton_layout(shape).turned(key)
    keys = all_keys(prod(shape))
    assert np.array_equal(layout.to_raster(layout.to_tree(keys)), keys)
    assert sorted(layout.to_tree(keys).tolist()) == sorted(morton_layout(shape).to_tree(keys).tolist())
    if len(shape) == 1 and places_that_turn(shape[0]):
        (length,) = shape
        first = length - places_that_turn(length)
        turned = layout.to_raster(morton_layout(shape).to_tree(keys)).astype(np.int64)
        assert (turned[:first] == np.arange(first)).all()
        by = turned[first] - first
        assert (turned[first:] == first + (np.arange(length - first) + by) % (length - first)).all()


def test_each_block_is_turned_in_its_own_way_and_no_way_is_preferred() -> None:
    """A map of 256 x 256 cells, 5 categories: blocks of 8 x 8 cells turn alike, by each of five amounts equally often."""
    shape = (256, 256, 5)
    arrangement = morton_layout(shape).turned(7).arrangement
    assert arrangement is not None
    rows, columns, category = np.unravel_index(arrangement.arrange(all_keys(prod(shape))).astype(np.int64), shape)
    assert (rows.reshape(shape)[:, :, 0] == np.arange(256)[:, None]).all()
    assert (columns.reshape(shape)[:, :, 0] == np.arange(256)).all()
    by = category.reshape(shape)[:, :, 0]
    blocks = by.reshape(32, 8, 32, 8).transpose(0, 2, 1, 3).reshape(-1, 64)
    assert (blocks == blocks[:, :1]).all()
    often = np.bincount(blocks[:, 0], minlength=5)
    assert ((often - 1024 / 5) ** 2 / (1024 / 5)).sum() < 50, "chi-square of 4 degrees of freedom: below 1e-9"
    other = morton_layout(shape).turned(8).arrangement
    assert other is not None
    assert (other.arrange(all_keys(1000)) != arrangement.arrange(all_keys(1000))).any()


@pytest.mark.parametrize("mechanism", [nn_wavelet, wide_tree])
def test_a_turned_tree_is_morton_of_the_turned_table(mechanism: Any) -> None:
    """And it is what is taken where no layout is given: the key is drawn first. With measurements, nothing turns."""
    counts = np.random.default_rng(3).integers(0, 40, size=(13, 6, 5))
    key = ResearchEntropy(5).next_word()
    plain, turned = morton_layout(counts.shape), morton_layout(counts.shape).turned(key)
    assert turned.arrangement is not None
    order = turned.arrangement.restore(all_keys(counts.size)).astype(np.int64)
    moved = counts.reshape(-1)[order].reshape(counts.shape)

    def published(table: np.ndarray, layout: Layout | None, **settings: Any) -> np.ndarray:
        return np.asarray(
            mechanism(table, Budget(epsilon=1), layout=layout, entropy=ResearchEntropy(5), **settings).to_dense()
        )

    along = published(counts, turned).reshape(-1)[order]
    assert np.array_equal(along, published(moved, plain).reshape(-1))
    assert not np.array_equal(published(counts, turned), published(counts, plain))
    assert np.array_equal(
        published(counts, None, keep_measurements=True), published(counts, plain, keep_measurements=True)
    )
    source = ResearchEntropy(5)
    source.next_word()
    drawn = mechanism(counts, Budget(epsilon=1), layout=turned, entropy=source).to_dense()
    assert np.array_equal(published(counts, None), drawn)


def test_layouts_without_partly_filled_nodes_do_not_turn() -> None:
    for layout in (morton_layout((4, 16)), morton_layout((24, 40)), random_layout((3, 5)), hilbert_layout((4, 4))):
        assert layout.turned(5) is layout
