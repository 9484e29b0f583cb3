"""Signed counts made non-negative: nearest, with the same sum, without favour for any place, and without an error."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare import ResearchEntropy
from sudare.domain import morton_layout, raster_layout
from sudare.noise import fair_coins
from sudare.refine.signed import counts_down_a_tree, counts_down_axes, counts_with_total, parts_at_once
from tests.reference import naive

VALUES = st.lists(st.integers(-30, 40), min_size=1, max_size=40).map(np.array)
EXTREME = st.lists(
    st.one_of(st.integers(-9, 9), st.sampled_from([2**62, 2**63 - 1, 1 - 2**63, -(2**62)])), min_size=1, max_size=9
).map(lambda values: np.array(values, dtype=np.int64))
WORDS = st.integers(0, 2**64 - 1)
SHAPES = st.lists(st.integers(1, 6), min_size=1, max_size=3).map(tuple)


@given(values=VALUES, word=WORDS)
def test_the_nearest_counts_with_the_same_sum(values: np.ndarray, word: int) -> None:
    counts = counts_with_total(values, word)
    total = max(int(values.sum()), 0)
    assert counts.min() >= 0
    assert counts.sum() == total
    if total:
        nearest = naive.nearest_on_simplex(values.tolist(), total)
        assert all(abs(a - b) < 1 for a, b in zip(counts.tolist(), nearest, strict=True))
        if all(value.denominator == 1 for value in nearest):
            assert counts.tolist() == nearest


@given(values=VALUES)
def test_what_is_not_negative_stays(values: np.ndarray) -> None:
    values = np.abs(values)
    assert np.array_equal(counts_with_total(values, 7), values)
    layout = morton_layout((values.size,))
    assert np.array_equal(counts_down_a_tree(values, layout, ResearchEntropy(3)), values)


@given(values=EXTREME, word=WORDS)
def test_no_number_is_an_error(values: np.ndarray, word: int) -> None:
    total = min(max(sum(values.tolist()), 0), 2**62)
    counts = counts_with_total(values, word)
    assert counts.min() >= 0
    assert sum(counts.tolist()) == total
    layout = morton_layout((values.size,))
    counts = counts_down_a_tree(values, layout, ResearchEntropy(3))
    assert counts.min() >= 0
    assert sum(counts.tolist()) <= 2**62


def test_who_gets_what_is_left_is_decided_fairly() -> None:
    """Five equal cells and three too many people: each gets one with the probability 3/5, at the ends as inside."""
    values = np.array([4, 4, 4, 4, 4, -7])
    words = [(2 * number + 1) << 64 - 12 for number in range(2**11)]
    mean = np.mean([counts_with_total(values, word) for word in words], axis=0)
    assert np.allclose(mean[:5], float(Fraction(13, 5)), atol=2**-9)
    assert mean[5] == 0


@given(shape=SHAPES, seed=st.integers(0, 1000), data=st.data())
def test_down_a_tree_every_node_is_the_sum_of_its_halves(
    shape: tuple[int, ...], seed: int, data: st.DataObject
) -> None:
    layout = data.draw(st.sampled_from([morton_layout, raster_layout]))(shape)
    values = np.random.default_rng(seed).integers(-20, 40, size=int(np.prod(shape)))
    coins = fair_coins(1 << layout.depth, ResearchEntropy(seed))
    found = counts_down_a_tree(values, layout, ResearchEntropy(seed))
    assert np.array_equal(
        found, _naive(values, layout.to_tree(np.arange(values.size, dtype=np.uint64)), layout.depth, coins)
    )
    assert found.sum() == max(int(values.sum()), 0)


def _naive(values: np.ndarray, leaves: np.ndarray, depth: int, coins: np.ndarray) -> np.ndarray:
    """Node by node: the noisy sums of both halves, their parent's count divided by them."""
    noisy = dict(zip(leaves.tolist(), values.tolist(), strict=True))

    def share(node: int, first: int, width: int, count: int) -> dict[int, int]:
        if width == 1:
            return {first: count}
        half = width // 2
        left, right = (
            [noisy[leaf] for leaf in range(start, start + half) if leaf in noisy] for start in (first, first + half)
        )
        part = min(max((count + sum(left) - sum(right) + int(coins[node])) // 2, 0), count) if right else count
        return share(2 * node, first, half, part) | share(2 * node + 1, first + half, half, count - part)

    counts = share(1, 0, 1 << depth, max(int(values.sum()), 0))
    return np.array([counts[leaf] for leaf in leaves.tolist()])


@given(shape=SHAPES, seed=st.integers(0, 1000))
def test_down_axes_every_part_has_its_count(shape: tuple[int, ...], seed: int) -> None:
    values = np.random.default_rng(seed).integers(-20, 40, size=shape)
    found = counts_down_axes(values.ravel(), shape, ResearchEntropy(seed)).reshape(shape)
    parts = parts_at_once(shape)
    assert all(length % part == 0 for length, part in zip(shape, parts, strict=True))
    apart = [number for length, part in zip(shape, parts, strict=True) for number in (part, length // part)]
    inside = tuple(range(1, 2 * len(shape), 2))
    sums, counts = (table.reshape(apart).sum(axis=inside).ravel() for table in (values, found))
    assert found.min() >= 0
    assert np.array_equal(counts, counts_with_total(sums, int(ResearchEntropy(seed).words(1)[0])))
    plenty = np.abs(values) + 1
    assert np.array_equal(counts_down_axes(plenty.ravel(), shape, ResearchEntropy(seed)), plenty.ravel())


@pytest.mark.parametrize(
    ("shape", "parts"),
    [
        ((64, 64, 4), (1, 1, 4)),
        ((64, 64, 24), (1, 1, 24)),
        ((64, 13), (1, 13)),
        ((24,), (3,)),
        ((37,), (1,)),
        ((50, 50), (1, 1)),
        ((48, 48), (3, 3)),
        ((1024, 1024, 3, 20), (1, 1, 3, 20)),
        ((1024, 1024, 5, 20), (1, 1, 5, 5)),
        ((16, 16, 50), (1, 1, 25)),
        ((1, 1), (1, 1)),
    ],
)
def test_what_is_divided_at_once(shape: tuple[int, ...], parts: tuple[int, ...]) -> None:
    assert parts_at_once(shape) == parts


@pytest.mark.parametrize("refine", [0, 1])
def test_a_large_table(refine: int) -> None:
    values = np.random.default_rng(5).integers(-50, 51, size=1 << 16)
    values[1000:1100] += 5000
    counts = (counts_with_total(values, 3), counts_down_axes(values, (256, 256), ResearchEntropy(3)))[refine]
    assert counts.sum() == values.sum()
    assert abs(counts[1000:1100].sum() - values[1000:1100].sum()) < 0.1 * values.sum()
