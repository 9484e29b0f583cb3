"""What is learned from the visited nodes of a large tree: its slow twin, on small trees that are taken for large ones."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sudare import Budget, Category, CountTable, Domain, Positions, ResearchEntropy
from sudare.domain import morton_layout, raster_layout
from sudare.errors import ParameterError
from sudare.kernels.tables.judging import judge_children, list_places, settle
from sudare.kernels.tables.priors import project_children
from sudare.kernels.tables.splits import ABSENT
from sudare.kernels.tables.surroundings import children_at
from sudare.refine.learning import priors
from sudare.refine.learning.priors import bins_of, learn_counts
from sudare.tables import wide_tree
from sudare.tables.trees import lazy_learning, lazy_reference, thin_levels, visited_level
from tests.reference.naive_learning import NaiveDescent

MIN_PLACES = 60


@pytest.fixture(autouse=True)
def lazy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tree is taken for one that is too large to be drawn as a whole, and few nodes are enough to learn from."""
    import importlib

    monkeypatch.setattr(importlib.import_module("sudare.tables.mechanisms.wide_tree"), "MAX_DENSE_BITS", 0)
    monkeypatch.setattr(visited_level, "MIN_NODES", MIN_PLACES)
    monkeypatch.setattr(priors, "MIN_PLACES", 5)


def towns(shape: tuple[int, ...], seed: int, people: float = 30.0) -> np.ndarray:
    """A few places with many people, fading out."""
    generator = np.random.default_rng(seed)
    centres = generator.uniform(0, shape, size=(3, len(shape)))
    places = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1)
    apart = ((places[..., None, :] - centres) ** 2).sum(axis=-1)
    density = people * np.exp(-apart / (0.02 * max(shape) ** 2)).sum(axis=-1)
    return np.asarray(generator.poisson(np.where(density > 1, density, 0)), dtype=np.int64)


MESH_AND_SEX = Domain((Positions("row", 16), Positions("column", 13), Category("sex", ("f", "m", "x"))))
CASES: dict[str, tuple[Domain, tuple[int, ...]]] = {
    "a square map": (Domain.of_shape((32, 32)), (2, 4, 4)),
    "a map with ends": (Domain.of_shape((21, 27)), (3, 4, 3)),
    "odd steps": (Domain.of_shape((19, 32)), (1, 2, 3, 1, 3)),
    "a long map": (Domain.of_shape((3, 150)), (4, 2, 4)),
    "one axis": (Domain.of_shape((700,)), (2, 4, 4)),
    "three axes": (Domain.of_shape((9, 8, 7)), (3, 3, 4)),
    "a map of categories": (MESH_AND_SEX, (3, 3, 4)),
    "categories alone": (Domain((Category("a", tuple(range(30))), Category("b", tuple(range(20))))), (4, 6)),
}


@pytest.mark.parametrize(
    "arguments", [{}, {"public_total": True}, {"noise": "gaussian"}], ids=["", "total", "gaussian"]
)
@pytest.mark.parametrize("name", CASES)
def test_the_slow_twin_publishes_the_same(name: str, arguments: dict[str, Any]) -> None:
    domain, bits = CASES[name]
    table = CountTable.from_dense(towns(domain.shape, seed=1), domain)
    layout = morton_layout(domain.shape)
    budget = Budget(rho=0.05) if arguments.get("noise") else Budget(epsilon=0.5)
    for seed in range(2):
        published = wide_tree(
            table, budget, bits=bits, layout=layout, estimate="learned", entropy=ResearchEntropy(seed), **arguments
        )
        levels = published.event.measurements
        expected = NaiveDescent(table, layout, bits, levels, ResearchEntropy(seed), MIN_PLACES).run()
        places = np.stack(np.unravel_index(published.table.keys.astype(np.int64), domain.shape), axis=1)
        found = dict(zip(map(tuple, places.tolist()), published.table.counts.tolist(), strict=True))
        assert found == expected


@pytest.mark.parametrize(
    "arguments", [{}, {"public_total": True}, {"noise": "gaussian"}], ids=["", "total", "gaussian"]
)
@pytest.mark.parametrize("name", ["a map with ends", "three axes", "categories alone"])
def test_the_slow_twin_publishes_the_same_with_a_reference(name: str, arguments: dict[str, Any]) -> None:
    """A reference without a quarter of the domain: believed on some levels, and silent about some parents."""
    domain, bits = CASES[name]
    generator = np.random.default_rng(4)
    counts = towns(domain.shape, seed=1) * generator.choice([0, 0, 1, 9], size=domain.shape)
    public = generator.poisson(counts)
    public[: domain.shape[0] // 4] = 0
    table, reference = CountTable.from_dense(counts, domain), CountTable.from_dense(public, domain)
    layout = morton_layout(domain.shape)
    budget = Budget(rho=0.05) if arguments.get("noise") else Budget(epsilon=0.5)
    ways: Any = {"bits": bits, "layout": layout, "estimate": "learned", **arguments}
    published = wide_tree(table, budget, reference=reference, entropy=ResearchEntropy(3), **ways)
    twin = NaiveDescent(
        table, layout, bits, published.event.measurements, ResearchEntropy(3), MIN_PLACES, reference=reference
    )
    places = np.stack(np.unravel_index(published.table.keys.astype(np.int64), domain.shape), axis=1)
    found = dict(zip(map(tuple, places.tolist()), published.table.counts.tolist(), strict=True))
    assert found == twin.run()
    assert twin.trusted
    without = wide_tree(table, budget, entropy=ResearchEntropy(3), **ways)
    assert published.table != without.table


@pytest.mark.parametrize("kind", ["shuffled", "nobody", "uniform"])
@pytest.mark.parametrize("epsilon", [1, 0.05])
def test_a_reference_that_is_not_believed_changes_nothing(kind: str, epsilon: float) -> None:
    """To the last count: the same nodes are visited, measured and learned from as without it."""
    counts = towns((64, 64), 3)
    public = {
        "shuffled": np.random.default_rng(1).permutation(counts.ravel()).reshape(counts.shape),
        "nobody": np.zeros_like(counts),
        "uniform": np.full_like(counts, 5),
    }[kind]
    tables = [
        wide_tree(counts, Budget(epsilon=epsilon), estimate="learned", reference=one, entropy=ResearchEntropy(2)).table
        for one in (None, public)
    ]
    assert tables[0] == tables[1]


@pytest.mark.parametrize("most", [1, 300])
def test_a_reference_of_too_many_nodes_is_used_by_parts(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They add up to the same, and it still helps."""
    monkeypatch.setattr(lazy_learning, "MAX_CHILDREN", most)
    monkeypatch.setattr(lazy_learning, "CHILDREN_AT_ONCE", 1 << 9)
    counts = towns((64, 64), 2)
    public = np.random.default_rng(5).poisson(counts)
    missed = []
    for reference in (None, public):
        budget, source = Budget(epsilon=0.3), ResearchEntropy(7)
        published = wide_tree(
            counts, budget, estimate="learned", reference=reference, public_total=True, entropy=source
        ).table
        assert published.total == counts.sum()
        missed.append(np.abs(published.to_dense() - counts).sum())
    assert missed[1] < 0.7 * missed[0]


@pytest.mark.parametrize(("believed", "expected"), [("yyyn", True), ("nnny", False), ("ynyn", False), ("yyyy", True)])
def test_a_reference_in_parts_is_believed_by_most_of_them(believed: str, expected: bool) -> None:
    """Not by the last part alone; the parts are equally large, and half of them are not most."""
    at_once = lazy_reference.CHILDREN_AT_ONCE >> 1
    answers = iter(believed)

    class Level:
        step = 1
        reference = SimpleNamespace(is_trusted=False)

        def measure(self, parents: Any, source: Any) -> Any:
            return np.zeros((parents.size, 2), dtype=np.int64)

        def refine(self, parents: Any, *rest: Any) -> Any:
            self.reference.is_trusted = next(answers) == "y"
            return np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)

        def children_at(self, parents: Any, places: Any) -> Any:
            return parents[places]

    level: Any = Level()
    prefixes = np.arange(len(believed) * at_once, dtype=np.uint64)
    lazy_learning._refine_in_parts([level], prefixes, np.ones(prefixes.size, dtype=np.int64), ResearchEntropy(1))
    assert level.reference.is_trusted is expected


@pytest.mark.parametrize("children", [1 << 9, 1 << 10])
def test_a_reference_is_judged_by_some_of_many_nodes(children: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Evenly taken parents stand for all: a good reference is believed by them, and helps nearly as much."""
    counts = towns((64, 64), 2)
    public = np.random.default_rng(5).poisson(counts)
    missed = []
    for most, reference in ((1 << 20, None), (1 << 20, public), (children, public)):
        monkeypatch.setattr(lazy_reference, "CHILDREN_AT_ONCE", most)
        published = wide_tree(
            counts, Budget(epsilon=0.3), estimate="learned", reference=reference, entropy=ResearchEntropy(7)
        )
        missed.append(np.abs(published.to_dense() - counts).sum())
    assert missed[2] < 0.7 * missed[0]
    assert missed[2] < 1.2 * missed[1]


def test_something_is_learned() -> None:
    """The control of the twin: with what is learned left out, another table is published."""
    domain, bits = CASES["a square map"]
    tables = [
        wide_tree(towns(domain.shape, 1), Budget(epsilon=0.5), bits=bits, estimate=way, entropy=ResearchEntropy(1))
        for way in ("learned", "least-squares")
    ]
    assert tables[0].table != tables[1].table


@pytest.mark.parametrize("estimate", ["learned", "least-squares"])
@pytest.mark.parametrize("most", [1, 64, 300])
def test_too_many_nodes_are_refined_by_parts(estimate: Any, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They add up to the same, and the number of threads changes nothing."""
    monkeypatch.setattr(lazy_learning, "MAX_CHILDREN", most)
    monkeypatch.setattr(thin_levels, "SAMPLE", 8)
    monkeypatch.setattr(thin_levels, "AT_ONCE", 7)
    for seed, shape in enumerate([(64, 64), (50, 37), (64, 64)]):
        counts = towns(shape, 2)
        tables = [
            wide_tree(
                counts,
                Budget(epsilon=2),
                estimate=estimate,
                public_total=True,
                entropy=ResearchEntropy(seed),
                threads=threads,
            ).table
            for threads in (1, 2)
        ]
        assert tables[0] == tables[1]
        assert tables[0].total == counts.sum()
        assert np.corrcoef(tables[0].to_dense().ravel(), counts.ravel())[0, 1] > 0.7


@pytest.mark.parametrize("stride", [2, 3, 10])
def test_all_nodes_are_in_the_sample_or_among_the_others(stride: int) -> None:
    for size in (stride, 30, 31, 47):
        prefixes = np.arange(size, dtype=np.uint64)
        others = np.delete(prefixes, np.arange(0, size, stride))
        for at_once in (1, 7, 100):
            for first in range(0, others.size, at_once):
                last = min(first + at_once, others.size)
                found = thin_levels._not_in_sample(prefixes, prefixes.astype(np.int64) + 5, stride, first, last)
                assert np.array_equal(found[0], others[first:last])
                assert np.array_equal(found[1], others[first:last] + np.uint64(5))


def test_places_are_those_of_children_with_somebody() -> None:
    generator = np.random.default_rng(1)
    refined = generator.integers(-1, 3, size=(50, 8)).clip(0)
    places, counts = np.empty(refined.size, dtype=np.int64), np.empty(refined.size, dtype=np.int64)
    written = list_places(refined[20:], 20, places, counts)
    assert np.array_equal(places[:written], np.flatnonzero(refined)[np.count_nonzero(refined[:20]) :])
    assert np.array_equal(counts[:written], refined.ravel()[places[:written]])
    parents = np.arange(50, dtype=np.uint64) << np.uint64(9)
    children = np.empty(written, dtype=np.uint64)
    children_at(parents, places[:written], 3, 6, children)
    assert np.array_equal(children, places[:written].astype(np.uint64) << np.uint64(6))


@pytest.mark.parametrize("seed", range(4))
def test_settling_is_judging_and_projecting(seed: int) -> None:
    """Where one child takes it all, it is the one that the whole arithmetic finds; no other parent is settled."""
    generator = np.random.default_rng(seed)
    noisy = np.rint(generator.laplace(scale=3, size=(5000, 8))).astype(np.int64)
    noisy[generator.random(noisy.shape) < 0.1] += 9
    noisy[:, 6:][generator.random((5000, 2)) < 0.3] = ABSENT
    counts = generator.integers(1, 9, size=5000) + 40 * (generator.random(5000) < 0.5)
    kinds, edges = (counts >= 5).astype(np.uint16), np.array([5.0])
    values = visited_level.as_values(noisy)
    variance = 18.0
    bin_width, half = bins_of(variance)
    classes = np.repeat(kinds, 8).reshape(noisy.shape)
    occurrences = np.zeros((2, 2 * half + 1))
    for kind in (0, 1):
        seen = values[(classes == kind) & ~np.isnan(values)]
        np.add.at(occurrences[kind], np.rint(seen / bin_width).astype(int) + half, 1)
    learned = learn_counts(occurrences, variance, is_laplace=True)
    words, ties = ResearchEntropy(seed).words(5000), ResearchEntropy(seed + 9).words(5000)
    winners, unsettled = np.empty(5000, dtype=np.int64), np.empty(5000, dtype=np.int64)
    found = np.empty(5000, dtype=np.uint16)
    by_count = thin_levels.by_count(learned)
    left = settle(noisy, counts, edges, learned.taught, by_count, 6, words, found, winners, unsettled)
    assert np.array_equal(found, kinds)
    means, spreads, refined = np.empty(values.shape), np.empty(values.shape), np.empty(values.shape, dtype=np.int64)
    tables = learned.taught, learned.means, learned.variances, learned.occupied, bin_width
    judge_children(values, counts, variance, classes, *tables, 6, words, means, spreads)
    project_children(means, spreads, counts, ties, refined)
    settled = winners >= 0
    assert 500 < settled.sum() == 5000 - left
    assert np.array_equal(np.flatnonzero(~settled), unsettled[:left])
    assert (refined[settled].max(axis=1) == counts[settled]).all()
    assert np.array_equal(refined[settled].argmax(axis=1), winners[settled])


def test_measurements_are_those_of_visited_nodes_once_each() -> None:
    counts = towns((64, 64), 3)
    arguments: dict[str, Any] = {"estimate": "learned", "bits": (4, 4, 4)}
    without = wide_tree(counts, Budget(epsilon=1), entropy=ResearchEntropy(1), **arguments)
    kept = wide_tree(counts, Budget(epsilon=1), entropy=ResearchEntropy(1), keep_measurements=True, **arguments)
    assert kept.table == without.table
    assert kept.measurements is not None
    assert [noisy.name for noisy in kept.measurements] == [
        "total",
        "areas of 2**8 cells",
        "areas of 2**4 cells",
        "cells",
    ]
    for noisy, most in zip(kept.measurements, (1, 16, 256, 4096), strict=True):
        assert len(np.unique(noisy.keys)) == len(noisy.keys) <= most
    cells = kept.measurements[-1]
    assert set(kept.table.keys.tolist()) <= set(cells.keys.tolist())
    assert len(cells.keys) < 4096


def test_nobody_and_somebody() -> None:
    """Trees of few levels, of one and of none; tables of nobody."""
    for shape in ((1,), (2,), (5, 3), (4, 4)):
        for total in (0, 1, 1000):
            counts = np.zeros(shape, dtype=np.int64)
            counts[(0,) * len(shape)] = total
            published = wide_tree(counts, Budget(epsilon=5), estimate="learned", entropy=ResearchEntropy(1))
            assert abs(published.table.total - total) < 30


def test_without_neighbours_levels_are_combined_alone() -> None:
    counts = towns((32, 32), 4)
    tables = [
        wide_tree(
            counts, Budget(epsilon=1), estimate=way, layout=raster_layout((32, 32)), entropy=ResearchEntropy(1)
        ).table
        for way in ("learned", "least-squares")
    ]
    assert tables[0] != tables[1]
    shuffled = [
        wide_tree(counts, Budget(epsilon=1), estimate=way, layout="random", entropy=ResearchEntropy(1)).table
        for way in ("learned", "least-squares")
    ]
    assert shuffled[0] == shuffled[1]


def test_margins_are_refused() -> None:
    with pytest.raises(ParameterError, match="margins"):
        wide_tree(np.ones((8, 8, 3), dtype=np.int64), Budget(epsilon=1), estimate="learned", margins=[2])


def test_time_and_memory_do_not_follow_the_domain() -> None:
    """2**60 cells, three people."""
    domain = Domain.of_shape((2**30, 2**30))
    table = CountTable.from_cells(domain, [5, 2**40, 2**59], [400, 500, 600])
    published = wide_tree(table, Budget(epsilon=20), estimate="learned", entropy=ResearchEntropy(1))
    assert abs(published.table.total - 1500) < 60
    assert published.table.keys.size < 200
