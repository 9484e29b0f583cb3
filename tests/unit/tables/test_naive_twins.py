"""The compiled descents agree with recursion written from the definitions, given the same noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sudare import Budget, ResearchEntropy, fair_coins, morton_layout, nn_wavelet, noise_for, wide_tree

TABLES = st.sampled_from([(4,), (2, 4), (4, 4), (2, 2, 2), (3, 5), (6,)]).flatmap(
    lambda shape: arrays.arrays(np.int64, shape, elements=st.integers(0, 12))
)


def people_at_leaves(counts: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """Counts along the padded leaves, and which leaves are cells."""
    layout = morton_layout(counts.shape)
    leaves = np.zeros(2**layout.depth, dtype=np.int64)
    is_cell = np.zeros(2**layout.depth, dtype=bool)
    order = layout.to_tree(np.arange(counts.size, dtype=np.uint64)).astype(np.int64)
    leaves[order] = counts.ravel()
    is_cell[order] = True
    return layout, leaves, is_cell


def to_dense(counts: np.ndarray, layout: Any, nodes: list[tuple[int, int]]) -> np.ndarray:
    order = layout.to_tree(np.arange(counts.size, dtype=np.uint64)).astype(np.int64)
    at = dict(nodes)
    return np.array([at.get(int(leaf), 0) for leaf in order]).reshape(counts.shape)


@settings(max_examples=120)
@given(counts=TABLES, seed=st.integers(0, 10**6))
def test_nn_wavelet(counts: np.ndarray, seed: int) -> None:
    published, event = nn_wavelet(counts, Budget(epsilon=2), entropy=ResearchEntropy(seed))
    layout, leaves, is_cell = people_at_leaves(counts)
    source = ResearchEntropy(seed)
    total = int(counts.sum()) + noise_for(event.measurements[0]).draw(None, source)
    nodes = [(0, total)] if total > 0 else []
    for level, measurement in enumerate(event.measurements[1:], start=1):
        half = 2 ** (layout.depth - level)
        noise = noise_for(measurement).draw(len(nodes), source)
        coins = fair_coins(len(nodes), source)
        children = []
        for (first, s), x, coin in zip(nodes, noise.tolist(), coins.tolist(), strict=True):
            left, right = slice(first, first + half), slice(first + half, first + 2 * half)
            d = min(max(int(leaves[left].sum() - leaves[right].sum()) + x, -s), s)
            s_left = s if not is_cell[right].any() else (s + d + coin) // 2
            children += [(first, s_left), (first + half, s - s_left)]
        nodes = [(first, s) for first, s in children if s > 0]
    assert np.array_equal(published.to_dense(), to_dense(counts, layout, nodes))


@settings(max_examples=120)
@given(counts=TABLES, seed=st.integers(0, 10**6), epsilon=st.sampled_from([1, 10]))
def test_wide_tree(counts: np.ndarray, seed: int, epsilon: int) -> None:
    layout, leaves, is_cell = people_at_leaves(counts)
    bits = [1, layout.depth - 1] if layout.depth > 2 else [layout.depth]
    published, event = wide_tree(counts, Budget(epsilon=epsilon), bits=bits, entropy=ResearchEntropy(seed))
    source = ResearchEntropy(seed)
    total = int(counts.sum()) + noise_for(event.measurements[0]).draw(None, source)
    nodes = [(0, total)] if total > 0 else []
    width = 2**layout.depth
    for step, measurement in zip(bits, event.measurements[1:], strict=True):
        width >>= step
        if not nodes:
            break
        noise = noise_for(measurement).draw((len(nodes), 2**step), source)
        words = source.words(len(nodes))
        children = []
        for (first, s), row, word in zip(nodes, noise, words.tolist(), strict=True):
            areas = [slice(first + i * width, first + (i + 1) * width) for i in range(2**step)]
            real = [i for i, area in enumerate(areas) if is_cell[area].any()]
            z = [int(leaves[areas[i]].sum()) + int(row[i]) for i in real]
            for i, share in zip(real, nearest_whole_point(z, s, word), strict=True):
                children.append((areas[i].start, share))
        nodes = [(first, s) for first, s in children if s > 0]
    assert np.array_equal(published.to_dense(), to_dense(counts, layout, nodes))


def nearest_whole_point(z: list[int], s: int, word: int) -> list[int]:
    """Lower the level t until what is above it fits, then hand out the rest in turn from a random one."""
    t = max(z)
    while sum(max(x - (t - 1), 0) for x in z) <= s:
        t -= 1
    active = [i for i, x in enumerate(z) if x >= t]
    rest = s - sum(max(x - t, 0) for x in z)
    turn = word % len(active)
    lucky = {active[k] for k in range(len(active)) if (turn + k) % len(active) < rest}
    return [max(x - t, 0) + (i in lucky) for i, x in enumerate(z)]


@given(z=st.lists(st.integers(-20, 20), min_size=1, max_size=7), s=st.integers(0, 25), word=st.integers(0, 2**64 - 1))
def test_the_naive_point_is_a_nearest_one(z: list[int], s: int, word: int) -> None:
    """No move of a unit from one child to another comes nearer: enough, because the distance is convex."""
    b = nearest_whole_point(z, s, word)
    assert sum(b) == s
    assert min(b) >= 0
    for i in range(len(z)):
        for j in range(len(z)):
            if i != j and b[i] > 0:
                # moving one unit from i to j changes the squared distance by 2 * ((b_j - z_j) - (b_i - z_i) + 1)
                assert (b[j] - z[j]) - (b[i] - z[i]) + 1 >= 0


@pytest.mark.parametrize("mechanism", [nn_wavelet, wide_tree])
def test_nothing_is_drawn_below_an_empty_node(mechanism: Any) -> None:
    """A table with one inhabited corner reads few words, though the domain has 2**24 cells."""
    from tests.scripted import ScriptedEntropy

    class Counting(ScriptedEntropy):
        def __init__(self) -> None:
            super().__init__([])
            self.real = ResearchEntropy(8)

        def fill(self, words: np.ndarray) -> None:
            self.real.fill(words)
            self.read += words.size

        def spawn(self, count: int) -> list[Any]:
            return [self] * count

    counts = np.zeros((4096, 4096), dtype=np.int64)
    counts[:4, :4] = 1000
    source = Counting()
    mechanism(counts, Budget(epsilon=20), entropy=source)
    assert source.read < 20_000
