"""A tree with every node measured: the fast way through it is the slow one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sudare
from sudare.domain import Domain, MeshList
from sudare.domain.layout import Layout, map_layout, morton_layout
from sudare.refine import trees
from sudare.refine.learning import occupancy, priors
from sudare.refine.trees import Estimates, NoisyTree, OpenLevel, least_squares, refine_from_top
from sudare.tables.trees import dense_tree
from sudare.tables.trees.dense_tree import cells_of_nodes, places_in_tree
from tests.reference.naive_trees import judge_occupancy, refine_naively

MIN_PLACES = 60

Case = tuple[Layout, tuple[int, ...]]
"""A layout, and the axes along which there are neighbours."""


def listed(axes: int = 2) -> Layout:
    """Meshes of a ragged coast, of which whole rows are missing, with or without a third axis."""
    generator = np.random.default_rng(8)
    rows, columns = np.divmod(np.arange(40 * 50), 50)
    land = (generator.random(rows.size) < 0.6) & (rows % 11 != 7) & (rows + columns < 70)
    window = sudare.Mesh("m", "3", 4160, 3040, 40, 50)
    meshes = MeshList("m", "3", window.values((rows[land], columns[land])))
    others = [sudare.Bins("hour", tuple(range(6)))] if axes == 3 else []
    return map_layout(Domain((meshes, *others)), 24)


CASES: dict[str, Case] = {
    "a map": (morton_layout((64, 64)), (0, 1)),
    "a padded map": (morton_layout((41, 50)), (0, 1)),
    "a map with turned ends": (morton_layout((37, 45)).turned(5), (0, 1)),
    "a long map": (morton_layout((8, 300)), (0, 1)),
    "a map of two rows": (morton_layout((2, 700)), (0, 1)),
    "a map with categories": (morton_layout((24, 3, 20)), (0, 2)),
    "a line": (morton_layout((3000,)), (0,)),
    "a line of categories": (morton_layout((5, 300)), (1,)),
    "a cube": (morton_layout((16, 16, 16)), (0, 1, 2)),
    "a padded cube": (morton_layout((13, 7, 30)), (0, 1, 2)),
    "four axes": (morton_layout((8, 5, 8, 9)), (0, 1, 2, 3)),
    "listed meshes": (listed(), (0, 1)),
    "listed meshes by hour": (listed(3), (0, 1, 2)),
}


def steps_of(depth: int, generator: np.random.Generator) -> tuple[int, ...]:
    """Levels of 1 to 6 halvings."""
    steps: list[int] = []
    while sum(steps) < depth:
        steps.append(min(int(generator.integers(1, 7)), depth - sum(steps)))
    return tuple(steps)


def noisy_tree(layout: Layout, bits: tuple[int, ...], generator: np.random.Generator, *, is_public: bool) -> NoisyTree:
    """Clustered people under Laplace noise, whole numbers."""
    leaves = 1 << layout.depth
    people = np.zeros(leaves, dtype=np.int64)
    cells = places_in_tree(layout, np.arange(layout.cells, dtype=np.uint64))
    towns = np.repeat(generator.gamma(0.1, 60, size=-(-leaves // 16)), 16)[:leaves]
    people[cells] = generator.poisson(towns * generator.gamma(0.5, 2, size=leaves))[cells]
    measured: list[Any] = []
    scales = generator.uniform(3, 9, size=len(bits) + 1)
    for level, scale in enumerate(scales):
        counts = people.reshape(1 << sum(bits[:level]), -1).sum(axis=1)
        measured.append(np.rint(counts + generator.laplace(0, scale, size=counts.size)))
    total = int(people.sum()) if is_public else None
    if is_public:
        measured[0] = None
    return NoisyTree(
        bits, tuple(measured), tuple(2 * scale**2 for scale in scales), cells_of_nodes(layout, bits), True, total
    )


@pytest.fixture
def learning_from_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(occupancy, "MIN_NODES", MIN_PLACES)
    monkeypatch.setattr(priors, "MIN_PLACES", 12)


def both_ways(case: Case, seed: int, *, is_public: bool = False) -> tuple[np.ndarray, list[np.ndarray], NoisyTree]:
    """The leaves as they are refined, all levels as the slow twin has them, and the tree."""
    layout, axes = case
    generator = np.random.default_rng(seed)
    tree = noisy_tree(layout, steps_of(layout.depth, generator), generator, is_public=is_public)
    estimates = least_squares(tree)
    judge = occupancy.use_occupancy(dense_tree._around(tree.bits, layout, axes), is_laplace=True)
    fast = refine_from_top(tree, estimates, sudare.ResearchEntropy(seed).words, judge)

    def judge_slowly(level: int, parents: np.ndarray) -> Any:
        return judge_occupancy(tree, layout, axes, level, parents, estimates, MIN_PLACES)

    return fast, refine_naively(tree, estimates, sudare.ResearchEntropy(seed).words, judge_slowly), tree


@pytest.mark.usefixtures("learning_from_few")
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_the_fast_way_is_the_slow_one(name: str, seed: int) -> None:
    """Count by count, and at every node the children add up."""
    fast, slow, tree = both_ways(CASES[name], seed, is_public=seed == 1)
    assert np.array_equal(fast, slow[-1])
    for level, counts in enumerate(slow):
        assert np.array_equal(fast.reshape(counts.size, -1).sum(axis=1), counts), level
    assert not fast[tree.cells[-1] == 0].any()


@pytest.mark.usefixtures("learning_from_few")
def test_what_is_learned_changes_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: without learning, or with neighbours that are others, the twins would differ."""
    _, slow, tree = both_ways(CASES["a padded map"], 0)
    unlearned = refine_from_top(tree, least_squares(tree), sudare.ResearchEntropy(0).words)
    assert not np.array_equal(unlearned, slow[-1])
    monkeypatch.setattr(dense_tree, "last_places", lambda layout: tuple(np.array(layout.lengths) * 0 + 63))
    other, _, _ = both_ways(CASES["a padded map"], 0)
    assert not np.array_equal(other, slow[-1])


@pytest.mark.usefixtures("learning_from_few")
@pytest.mark.parametrize("name", ["a padded map", "a padded cube"])
def test_parts_of_any_size_give_one_result(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    layout, axes = CASES[name]
    tree = noisy_tree(layout, (2, 3, layout.depth - 5), np.random.default_rng(3), is_public=False)
    results = []
    for children in (1, 1 << 7, 1 << 16):
        monkeypatch.setattr(trees, "CHILDREN_AT_ONCE", children)
        judge = occupancy.use_occupancy(dense_tree._around(tree.bits, layout, axes), is_laplace=True)
        results.append(refine_from_top(tree, least_squares(tree), lambda count: np.full(count, 7, np.uint64), judge))
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])


def test_memory_of_trees_without_padding_is_that_of_the_noisy_counts() -> None:
    """Cells and variances that are one number for a level are no arrays, and noisy counts become reals where they are."""
    cells = cells_of_nodes(morton_layout((64, 64)), (4, 8))
    tree = NoisyTree((4, 8), (np.zeros(1), np.zeros(16), np.zeros(4096)), (1.0, 1.0, 1.0), cells, is_laplace=True)
    estimates = least_squares(tree)
    assert estimates.values[-1] is tree.measured[-1]
    assert cells[-1].strides == estimates.variances[-1].strides == (0,)
    integers = np.array([-3, 0, 2**53, -(2**53)])
    reals = dense_tree._as_reals(integers)
    assert reals.tolist() == [-3.0, 0.0, 2.0**53, -(2.0**53)]
    assert np.shares_memory(reals, integers)


def test_nothing_below_nobody_is_looked_at() -> None:
    values = np.arange(8.0)
    parents = np.array([0, 5, 0, 1])
    level = OpenLevel(1, 2, values, np.ones(8), np.array([1, 1, 1, 0, 1, 1, 1, 1], dtype=np.int32), parents)
    (part,) = level.parts()
    assert level.inhabited.tolist() == [1, 3]
    assert level.rows(values, part).tolist() == [[2, 3], [6, 7]]
    assert np.isnan(level.values_of(part)).tolist() == [[False, True], [False, False]]
    assert values.tolist() == list(range(8)), "what is handed in is not written to"
    assert level.judge_as_estimated(part).variances.tolist() == [[1, -1], [1, 1]]


@pytest.mark.parametrize("shape", [pytest.param((1100, 1000), marks=pytest.mark.deep), (520, 300), (64, 70)])
def test_threads_and_kept_measurements_change_nothing(shape: tuple[int, ...]) -> None:
    generator = np.random.default_rng(4)
    counts = generator.poisson(generator.gamma(0.02, 300, size=shape))
    budget, layout = sudare.Budget(epsilon=0.5), morton_layout(shape)
    settings: list[dict[str, Any]] = [{}, {"threads": 2}, {"keep_measurements": True}]
    results = [
        sudare.tables.wide_tree(
            counts, budget, estimate="learned", layout=layout, entropy=sudare.ResearchEntropy(2), **one
        )
        for one in settings
    ]
    assert all(np.array_equal(results[0].to_dense(), other.to_dense()) for other in results[1:])
    kept = results[2].measurements
    assert kept is not None
    noisy = np.zeros(counts.size)
    noisy[kept[-1].keys.astype(np.int64)] = kept[-1].values
    assert kept[-1].keys.size == counts.size
    assert abs((noisy - counts.ravel()).mean()) < 1


def test_estimates_of_a_level_can_have_any_variances() -> None:
    """Where variances differ, as under padding, the typical one is their median."""
    from sudare.refine.learning.classes import typical_variance

    cells = np.array([1, 1, 0, 1, 1, 1], dtype=np.int32)
    variances = np.array([4.0, 9.0, 0.0, 1.0, 100.0, 100.0])
    level = OpenLevel(1, 2, np.zeros(6), variances, cells, np.array([1, 1, 0]))
    assert typical_variance(level, 3) == 4
    assert typical_variance(level, 4) is None
    assert Estimates((np.zeros(6),), (variances,)).variances[0][-1] == 100
