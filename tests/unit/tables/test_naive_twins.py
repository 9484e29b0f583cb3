"""The compiled descents agree with recursion written from the definitions, given the same noise."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.stats import chi2

from sudare import Budget, CountTable, Domain, ResearchEntropy, Unit
from sudare.domain import morton_layout
from sudare.kernels.tables.splits import (
    SPARE_WORDS,
    fair_choice,
    leading_bits,
    pick_high,
    place_pairs,
    put_high,
    split_by_counts,
    split_quiet,
)
from sudare.noise import noise_for, secure_entropy
from sudare.noise.exact import LatticeLaw, bounded_exp
from sudare.privacy import LaplaceMeasurement, sensitivity_of_counts
from sudare.tables import nn_wavelet, wide_tree
from sudare.tables.mechanisms.nn_wavelet import FIRST_AT_ONCE, LEVELS_AT_ONCE, _Halving, _smaller_noise, drift_for
from sudare.tables.trees import descent
from sudare.tables.trees.descent import Nodes
from sudare.tables.trees.splitting import Splitting, WholeDescent, _parted_by

pytestmark = pytest.mark.slow

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


def bits_of(words: np.ndarray) -> list[int]:
    """All bits of words, from the lowest of the first."""
    return [word >> bit & 1 for word in words.tolist() for bit in range(64)]


@settings(max_examples=120)
@given(counts=TABLES, seed=st.integers(0, 10**6))
def test_nn_wavelet(counts: np.ndarray, seed: int) -> None:
    published, event = nn_wavelet(
        counts, Budget(epsilon=2), layout=morton_layout(counts.shape), entropy=ResearchEntropy(seed)
    )
    layout, leaves, is_cell = people_at_leaves(counts)
    source = ResearchEntropy(seed)
    total = int(counts.sum()) + noise_for(event.measurements[0]).draw(None, source)
    nodes = [(0, total)] if total > 0 else []
    for top in range(layout.depth, 0, -LEVELS_AT_ONCE):
        bottom = max(top - LEVELS_AT_ONCE, 0)
        drawn = len(nodes) * (2 ** (top - bottom) - 1)
        noise = iter(noise_for(event.measurements[1]).draw(drawn, source).tolist())
        coins = iter(bits_of(source.words(-(-drawn // 64))))
        nodes = [below for node in nodes for below in naive_halves(leaves, is_cell, *node, top, bottom, noise, coins)]
    assert np.array_equal(published.to_dense(), to_dense(counts, layout, nodes))


def naive_halves(
    leaves: np.ndarray, is_cell: np.ndarray, first: int, s: int, top: int, bottom: int, noise: Any, coins: Any
) -> list[tuple[int, int]]:
    """The nodes at the bottom, from left to right, each half with all that is below it before the next."""
    if s == 0 or top == bottom:
        return [(first, s)] if s else []
    half = 2 ** (top - 1)
    left, right = slice(first, first + half), slice(first + half, first + 2 * half)
    d = min(max(int(leaves[left].sum() - leaves[right].sum()) + next(noise), -s), s)
    coin = next(coins)
    s_left = s if not is_cell[right].any() else (s + d + coin) // 2
    halves = [(first, s_left), (first + half, s - s_left)]
    return [below for node in halves for below in naive_halves(leaves, is_cell, *node, top - 1, bottom, noise, coins)]


@settings(max_examples=120)
@given(counts=TABLES, seed=st.integers(0, 10**6), epsilon=st.sampled_from([1, 10]))
def test_wide_tree(counts: np.ndarray, seed: int, epsilon: int) -> None:
    layout, leaves, is_cell = people_at_leaves(counts)
    bits = [1, layout.depth - 1] if layout.depth > 2 else [layout.depth]
    published, event = wide_tree(
        counts, Budget(epsilon=epsilon), bits=bits, layout=layout, entropy=ResearchEntropy(seed)
    )
    source = ResearchEntropy(seed)
    total = int(counts.sum()) + noise_for(event.measurements[0]).draw(None, source)
    nodes = [(0, total)] if total > 0 else []
    width = 2**layout.depth
    for step, measurement in zip(bits, event.measurements[1:], strict=True):
        width >>= step
        if not nodes:
            break
        noise = noise_for(measurement).draw((len(nodes), 2**step), source)
        words = source.words(len(nodes) + SPARE_WORDS)[: len(nodes)]
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


SPARSE = st.sampled_from([(16,), (4, 4), (2, 2, 2), (3, 5), (6,), (5, 3, 2)]).flatmap(
    lambda shape: arrays.arrays(np.int64, shape, elements=st.sampled_from([0, 0, 0, 1, 2, 12]))
)


@settings(max_examples=60)
@given(counts=SPARSE, seed=st.integers(0, 10**6), epsilon=st.sampled_from([0.1, 0.4, 10]))
def test_nn_wavelet_in_parts(counts: np.ndarray, seed: int, epsilon: float) -> None:
    """Depth first from the root, with nodes that drift and some that are alone, as recursion does it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(descent, "NODES_TO_PART", 1)
        published, event = nn_wavelet(
            counts, Budget(epsilon=epsilon), layout=morton_layout(counts.shape), entropy=ResearchEntropy(seed)
        )
    layout, leaves, is_cell = people_at_leaves(counts)
    depth = layout.depth
    source: Any = ResearchEntropy(seed)
    total = int(counts.sum()) + noise_for(event.measurements[0]).draw(None, source)
    source = source.spawn(descent.PARTS)[-1]  # of the parts of one node, the last one has it
    limit = 0
    if total > 0:
        noise = iter(noise_for(event.measurements[1]).draw(FIRST_AT_ONCE, source).tolist())
        coins = iter(bits_of(source.words(FIRST_AT_ONCE // 64)))
        drift: Any = drift_for(event.measurements[1])
        if drift is not None:
            limit = drift.limit
            drifting = zip(*(array.tolist() for array in drift.draw(FIRST_AT_ONCE // 16, source)), strict=True)
    alone, found = [], []

    def descend(first: int, s: int, height: int) -> None:
        people = leaves[first : first + 2**height].sum()
        if s == 0 or height == 0:
            found.append((first, s))
            return
        if people == 0 and s == 1:
            alone.append((first, height))
            return
        if people == 0 and s <= limit:
            levels, x, word = next(drifting)
            for _ in range(min(levels, height)):
                height -= 1
                goes_right = word >> height & 1 and is_cell[first + 2**height : first + 2 * 2**height].any()
                first += 2**height if goes_right else 0
            if height == 0:
                found.append((first, s))
                return
            coin = word >> (height - 1) & 1
            x = (s if coin else -s) if x == limit else x
        else:
            x, coin = next(noise), next(coins)
        half = 2 ** (height - 1)
        d = int(leaves[first : first + half].sum() - leaves[first + half : first + 2 * half].sum()) + x
        left = s if not is_cell[first + half : first + 2 * half].any() else (s + min(max(d, -s), s) + coin) // 2
        descend(first, left, height - 1)
        descend(first + half, s - left, height - 1)

    descend(0, max(total, 0), depth)
    found += naive_places(alone, source, is_cell, [1] * depth)
    assert np.array_equal(published.to_dense(), to_dense(counts, layout, found))


def naive_places(
    alone: list[tuple[int, int]], source: Any, is_cell: np.ndarray, steps: list[int]
) -> list[tuple[int, int]]:
    """Leaves of those alone: by the bits of a word, or, with padding, by a fraction of four words, the last one first."""
    if is_cell.all():
        return [
            (first | word % 2**height, 1)
            for (first, height), word in zip(alone, words_of(source, alone, 1), strict=True)
        ]
    places = []
    fractions = iter(words_of(source, alone, 4))
    for first, height in alone:
        fraction = sum(next(fractions) << 64 * place for place in range(4))
        while height:
            step = next(step for step in range(1, height + 1) if height - step in below(steps))
            height -= step
            children = [first + (child << height) for child in range(2**step)]
            present = [child for child in children if is_cell[child : child + 2**height].any()]
            fraction *= len(present)
            first, fraction = present[fraction >> 256], fraction % 2**256
        places.append((first, 1))
    return places


def words_of(source: Any, alone: list[Any], each: int) -> list[int]:
    words: list[int] = source.words(each * len(alone)).tolist()
    return words


def below(steps: list[int]) -> set[int]:
    """The heights of the levels."""
    return {sum(steps[level:]) for level in range(1, len(steps) + 1)}


@settings(max_examples=100)
@given(
    shape=st.sampled_from([(4, 4, 4), (5, 3, 6), (64,), (9, 7)]),
    steps=st.sampled_from([[2, 2, 2], [6], [1, 5], [3, 3]]),
    seed=st.integers(0, 10**6),
)
def test_places_of_those_alone(shape: tuple[int, ...], steps: list[int], seed: int) -> None:
    """Also through levels with several bits, from any node of any level."""
    counts = np.zeros(shape, dtype=np.int64)
    layout, _, is_cell = people_at_leaves(counts)
    steps = [layout.depth - 6, *steps] if layout.depth > 6 else steps
    heights = [*sorted(below(steps) - {0}), layout.depth]
    nodes = [
        (first, h) for h in heights for first in range(0, 2**layout.depth, 2**h) if is_cell[first : first + 2**h].any()
    ]
    step_at = np.zeros(layout.depth + 1, dtype=np.int64)
    for level, step in enumerate(steps):
        step_at[sum(steps[level:])] = step
    tree = descent.Tree.over(CountTable.from_dense(counts), layout)
    prefixes, tops = np.array(nodes, dtype=np.uint64).T[0].copy(), np.array(nodes, dtype=np.int64).T[1].copy()
    found, ones = descent.place_alone(tree, prefixes, tops, step_at, ResearchEntropy(seed))
    assert found.tolist() == [leaf for leaf, _ in naive_places(nodes, ResearchEntropy(seed), is_cell, steps)]
    assert (ones == 1).all()
    assert is_cell[found.astype(np.int64)].all()


@settings(max_examples=300)
@given(
    words=st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=5),
    bits=st.integers(3, 5),
    s=st.integers(2, 12),
    seed=st.integers(0, 10**6),
    limit=st.integers(1, 6),
    pairs_apart=st.booleans(),
)
def test_high_noise_is_enough_where_it_says_so(
    words: list[int], bits: int, s: int, seed: int, limit: int, pairs_apart: bool
) -> None:
    """Whatever noise up to the bound the other children have, the nearest point is the same."""
    generator = np.random.default_rng(seed)
    highest_of_others = 3
    children, edges = np.empty(len(words) << bits, dtype=np.uint8), np.empty(len(words) + 1, dtype=np.int64)
    given_words = np.array(words, dtype=np.uint64)
    picked = pick_high(given_words, bits, children, edges)
    high = generator.integers(highest_of_others, 25, size=picked)
    ties = generator.integers(0, 2**63, size=len(words), dtype=np.uint64)
    n = len(words)
    room = Nodes.empty(n << bits), Nodes.empty(n << bits)
    unsettled = np.empty(n, dtype=np.int64)
    no_padding = (False, np.empty(0, dtype=np.uint64), np.empty((0, 1, 256), dtype=np.uint64))
    prefixes = np.arange(n, dtype=np.uint64) << np.uint64(bits + 4)
    twos, singles = np.empty(n << bits, dtype=np.uint64), np.empty(n << bits, dtype=np.uint64)
    written, quiet, pairs, alone, unknown = split_quiet(
        *(prefixes, np.full(n, s), children, edges, high, highest_of_others, ties, 4, limit, pairs_apart, *no_padding),
        *(*room[0].arrays, room[1].prefixes, room[1].refined, twos, singles, unsettled),
    )
    every = np.arange(n, dtype=np.int64)
    leading, rows = np.empty(n << bits, dtype=np.uint64), np.full((n, 1 << bits), -100)
    leading_bits(given_words, bits, leading)
    put_high(every, children, edges, high, rows)
    assert np.array_equal(leading.reshape(n, -1) == 3 << 62, rows > -100)
    assert [word >> 62 for word in leading.tolist()] == [
        2 * (word >> (32 + child) & 1) + (word >> child & 1) for word in words for child in range(2**bits)
    ]
    wanted, few, both, ones = {}, {}, [], []
    for i, word in enumerate(words):
        own = [child for child in range(2**bits) if word >> child & 1 and word >> (32 + child) & 1]
        assert children[edges[i] : edges[i + 1]].tolist() == own
        others = generator.integers(-20, highest_of_others, size=2**bits, endpoint=True).tolist()
        z = {**dict(enumerate(others)), **dict(zip(own, high[edges[i] : edges[i + 1]].tolist(), strict=True))}
        point = nearest_whole_point([z[child] for child in range(2**bits)], s, int(ties[i]))
        if i in unsettled[:unknown]:
            # Rightly so: of the children with high noise alone, less than s is above the bound of the others.
            assert sum(z[child] - highest_of_others for child in own) < s
            continue
        for child, count in enumerate(point):
            place = int(prefixes[i]) | child << 4
            if count > limit:
                wanted[place] = count
            elif count == 2 and pairs_apart:
                both.append(place)
            elif count > 1:
                few[place] = count
            elif count == 1:
                ones.append(place)
    assert dict(zip(room[0].prefixes[:written].tolist(), room[0].refined[:written].tolist(), strict=True)) == wanted
    assert dict(zip(room[1].prefixes[:quiet].tolist(), room[1].refined[:quiet].tolist(), strict=True)) == few
    assert twos[:pairs].tolist() == both
    assert singles[:alone].tolist() == ones


@given(
    z=st.lists(st.integers(-30, 30), min_size=8, max_size=8),
    s=st.integers(1, 100),
    word=st.integers(0, 2**64 - 1),
    far=st.sampled_from([0, 2**49, 2**61]),
)
def test_large_counts_are_projected_like_small_ones(z: list[int], s: int, word: int, far: int) -> None:
    """A nearest point does not change if all children have more people: quotients stand in for products there."""
    counts = np.array([far] * 7)
    leaves = np.arange(7, dtype=np.uint64)
    sums = np.array([0, *np.cumsum(counts)]) if far < 2**60 else np.array([0, *[far] * 7])
    people = np.diff(sums)
    noise = np.array([z], dtype=np.int64)
    out, apart = Nodes.empty(8), Nodes.empty(0)
    no_padding = (False, np.empty(0, dtype=np.uint64), np.empty((0, 1, 256), dtype=np.uint64))
    compiled: Any = split_by_counts
    written, *_ = compiled(
        *(leaves, sums, np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.int64), np.array([7]), np.array([s]), noise),
        *(np.array([word], dtype=np.uint64), 0, 3, 0, False, *no_padding, *out.arrays),
        *(apart.prefixes, apart.refined, apart.prefixes, apart.prefixes),
    )
    point = nearest_whole_point([x + int(n) for x, n in zip(z, [*people, 0], strict=True)], s, word)
    found = dict(zip(out.prefixes[:written].tolist(), out.refined[:written].tolist(), strict=True))
    assert found == {child: count for child, count in enumerate(point) if count}


def laplace(scale: int) -> LaplaceMeasurement:
    return LaplaceMeasurement.for_budget(Budget(epsilon=1).times(Fraction(1, scale)), sensitivity_of_counts(Unit()))


@pytest.mark.parametrize("scale", [5, 25, 61, 250, 10**4])
def test_drifting_is_noise_in_another_order(scale: int) -> None:
    """Ways end as often as noise is small, and then with that noise: to twelve digits, by exact integers."""
    measurement = laplace(scale)
    drift = drift_for(measurement)
    if scale < 10:
        assert drift is None  # too much of the noise is small
        return
    assert drift is not None
    law = LatticeLaw(Fraction(1, scale), Fraction(0), two_sided=True)
    bits = 128
    points = _smaller_noise(law, drift.limit, drift.scale, bits)
    assert max(point.high - point.low for point in points) <= 2
    ends = 2**bits - bounded_exp(1 / drift.scale, bits).low
    chances = np.diff([0, *(float(Fraction(point.low * ends, 2 ** (2 * bits))) for point in points)])
    ratio = np.exp(-1 / scale)
    sizes = np.abs(np.arange(1 - drift.limit, drift.limit))
    assert chances == pytest.approx(ratio**sizes * (1 - ratio) / (1 + ratio), rel=1e-9)
    assert 1 < drift.limit <= 64


@given(
    choices=st.integers(1, 2**12),
    below_end=st.integers(0, 2**13),
    spare=st.lists(st.integers(0, 2**64 - 1), max_size=4),
)
def test_choices_are_fair(choices: int, below_end: int, spare: list[int]) -> None:
    """Words up to the last multiple of the number of choices count, the next spare word stands in for others."""
    words = [2**64 - 1 - below_end, *spare]
    fair = [i for i, word in enumerate(words) if word < 2**64 - 2**64 % choices]
    chosen, following = fair_choice(np.array(words, dtype=np.uint64), 0, choices, 1)
    taken = min(fair, default=len(spare))
    assert (chosen, following) == (words[taken] % choices, taken + 1)


@pytest.mark.parametrize(("scale", "fan"), [(0.5, 2), (1, 4), (3, 16), (20, 8)])
def test_how_often_pairs_part(scale: float, fan: int) -> None:
    """By the definition: over all highest noise values and numbers of children one below, to nine digits."""
    q = np.exp(-1 / scale)

    def mass(x: int) -> float:
        return float(q ** abs(x) * (1 - q) / (1 + q))

    together = 0.0
    reach = int(60 * scale) + 5
    below = 0.0  # P(X <= highest - 2)
    for highest in range(-reach, reach):
        for near in range(fan):
            ways = math.comb(fan - 1, near) * mass(highest - 1) ** near * below ** (fan - 1 - near)
            together += fan * mass(highest) * ways / (near + 1)
        below += mass(highest - 1)
    points = _parted_by((Fraction(scale), Fraction(scale)), (fan, fan), 128)
    assert max(point.high - point.low for point in points) <= 2
    assert [point.low / 2**128 for point in points] == pytest.approx([1 - together, 1 - together**2], rel=1e-9)


@given(
    words=st.lists(st.integers(0, 2**64 - 1), min_size=6, max_size=6),
    levels=st.lists(st.integers(0, 2), min_size=2, max_size=2),
)
def test_places_of_pairs(words: list[int], levels: list[int]) -> None:
    """Two nodes of height 7 above levels of 4 and 3 bits: together down to the level named, then apart."""
    prefixes, tops, steps = [5 << 7, 9 << 7], [7, 3, 0], [4, 3, 0]
    leaves, counts = np.empty(4, dtype=np.uint64), np.empty(4, dtype=np.int64)
    nodes, drawn = np.array(prefixes, dtype=np.uint64), np.array(words, dtype=np.uint64)
    written = place_pairs(nodes, np.array(levels), drawn, np.array(tops), np.array(steps), leaves, counts)
    wanted = []
    for prefix, level, (one, other, last) in zip(prefixes, levels, (words[:3], words[3:]), strict=True):
        first = prefix | one % 2**7
        if level == 2:
            wanted.append((first, 2))
            continue
        fan, bit = 2 ** steps[level], tops[level] - steps[level]
        child = first >> bit & (fan - 1)
        others = [(child + further) % fan for further in range(1, fan)]
        chosen = others[other % (fan - 1)]
        wanted += [(first, 1), (first >> tops[level] << tops[level] | chosen << bit | last % 2**bit, 1)]
    assert list(zip(leaves[:written].tolist(), counts[:written].tolist(), strict=True)) == wanted


def two_samples_differ(one: list[Any], other: list[Any]) -> bool:
    """Chi-square for two samples of equal size; outcomes seen fewer than 20 times together are merged."""
    a, b = Counter(one), Counter(other)
    often = [outcome for outcome in a | b if a[outcome] + b[outcome] >= 20]
    pairs = [(a[outcome], b[outcome]) for outcome in often]
    pairs.append((len(one) - sum(x for x, _ in pairs), len(other) - sum(y for _, y in pairs)))
    statistic = sum((x - y) ** 2 / (x + y) for x, y in pairs if x + y)
    return statistic > float(chi2.isf(1e-9, len(often)))


def outcomes_below(cells: descent.Cells, height: int, nodes: int) -> list[Any]:
    """How each node's people are spread: a tuple of leaves and counts, with leaves cut to their three highest bits."""
    found: list[Counter[int]] = [Counter() for _ in range(nodes)]
    for leaves, counts in cells:
        for leaf, count in zip(leaves.tolist(), counts.tolist(), strict=True):
            found[leaf >> height][leaf >> (height - 3) & 7] += count
    return [(tuple(sorted(one.items()))) for one in found]


NODES = 20_000


@pytest.mark.slow
@pytest.mark.parametrize("s", [1, 5, *(pytest.param(s, marks=pytest.mark.deep) for s in (2, 3))])
def test_shortcuts_have_the_distribution_of_the_long_way(s: int) -> None:
    """Many nodes without people and with s published ones: all the way at once against level by level."""
    height, bits = 8, 8 + 16
    layout = morton_layout((1 << bits,))
    tree = descent.Tree.over(CountTable.from_cells(Domain.of_shape((1 << bits,)), [], []), layout)
    prefixes = np.arange(NODES, dtype=np.uint64) << np.uint64(height)
    nobody = np.zeros(NODES, dtype=np.int64)
    nodes = Nodes(prefixes, nobody, nobody, np.full(NODES, s))
    notes = descent.Notes(layout, [], [], wanted=False)

    def halvings(scale: int, in_steps: bool) -> list[Any]:
        level = laplace(scale)
        way = _Halving(tree, noise_for(level), drift_for(level), notes, [], descent.Workspace([]))
        if not in_steps:
            return outcomes_below(way.finish(nodes, (bits - height) // LEVELS_AT_ONCE, secure_entropy()), height, NODES)
        below = nodes
        for top in range(height, 0, -LEVELS_AT_ONCE):
            below = way.some_levels(top, below, secure_entropy())
        return outcomes_below([(below.prefixes, below.refined)], height, NODES)

    def splits(scale: int, in_steps: bool) -> list[Any]:
        level = laplace(scale)
        ways = [
            Splitting(tree, level, step, bit, notes, "", descent.Workspace([]))
            for step, bit in ((16, 8), (4, 4), (4, 0))
        ]
        if not in_steps:
            # The first level hands on everything as it is: what is quiet or alone below it is set apart by the second.
            return outcomes_below(WholeDescent.through(ways).finish(nodes, 1, secure_entropy()), height, NODES)
        below = nodes
        for way in ways[1:]:
            below = way.one_level(below, secure_entropy())
        return outcomes_below([(below.prefixes, below.refined)], height, NODES)

    for descents, scale, other_scale in ((halvings, 30, 15), (splits, 5, 2)):
        assert not two_samples_differ(descents(scale, False), descents(scale, True))
        if s > 1:  # one alone goes anywhere, whatever the noise
            assert two_samples_differ(descents(scale, False), descents(other_scale, True))


@pytest.mark.parametrize("mechanism", [nn_wavelet, wide_tree])
@pytest.mark.parametrize("shape", [(2**20, 2**20), (3 * 2**18, 5 * 2**17, 3)])
def test_shortcuts_do_not_depend_on_the_number_of_threads(mechanism: Any, shape: tuple[int, ...]) -> None:
    """A sparse table, of which most published cells have drifted there, alone, in pairs or a few together."""
    domain = Domain.of_shape(shape)
    keys = np.unique(np.random.default_rng(5).integers(0, domain.cells, size=3000, dtype=np.uint64))
    table = CountTable.from_cells(domain, keys, np.full(keys.size, 20))
    for keeps in (False, True):
        found = [
            mechanism(table, Budget(epsilon=1), entropy=ResearchEntropy(4), threads=threads, keep_measurements=keeps)
            for threads in (1, 2, 7)
        ]
        assert found[0].table == found[1].table == found[2].table
        assert len(found[0].table.keys) > 10_000
        assert found[0].table.total > 50_000
        if keeps:
            for one, other in zip(found[0].measurements, found[1].measurements, strict=True):
                assert np.array_equal(one.keys, other.keys)
                assert np.array_equal(one.values, other.values)
