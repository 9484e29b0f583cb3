"""Junction trees and models: every marginal against the full table, and fits that find what they are shown."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.tables.adaptive.graphical_model import GraphicalModel, fit_model, loss_of
from sudare.tables.adaptive.junction_tree import junction_tree, tree_cells
from sudare.tables.adaptive.measured import Evidence


@st.composite
def models(draw: st.DrawFn) -> tuple[list[int], dict[tuple[int, ...], np.ndarray]]:
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=6))
    columns = st.sets(st.integers(0, len(sizes) - 1), min_size=1, max_size=3).map(lambda s: tuple(sorted(s)))
    cliques = draw(st.lists(columns, max_size=7, unique=True))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    return sizes, {clique: generator.normal(0, 2, [sizes[c] for c in clique]) for clique in cliques}


def full_table(sizes: list[int], potentials: dict[tuple[int, ...], np.ndarray], total: float) -> np.ndarray:
    logs = np.zeros(sizes)
    for clique, table in potentials.items():
        logs = logs + table.reshape([size if column in clique else 1 for column, size in enumerate(sizes)])
    weights = np.exp(logs)
    return np.asarray(weights * (total / weights.sum()))


@given(models())
@settings(deadline=None, max_examples=40)
def test_every_marginal_is_that_of_the_full_table(case: tuple[list[int], dict[tuple[int, ...], np.ndarray]]) -> None:
    sizes, potentials = case
    model = GraphicalModel(sizes, 50.0, potentials)
    full = full_table(sizes, potentials, 50.0)
    for length in range(1, min(len(sizes), 4) + 1):
        for clique in combinations(range(len(sizes)), length):
            others = tuple(column for column in range(len(sizes)) if column not in clique)
            np.testing.assert_allclose(model.marginal(clique), full.sum(axis=others), atol=1e-9)


@given(models())
@settings(deadline=None, max_examples=40)
def test_a_junction_tree_has_all_cliques_and_a_connected_part_for_each_column(
    case: tuple[list[int], dict[tuple[int, ...], np.ndarray]],
) -> None:
    sizes, potentials = case
    tree = junction_tree(potentials, sizes)
    assert all(tree.holder(clique) >= 0 for clique in [*potentials, *((column,) for column in range(len(sizes)))])
    for place, (up, separator) in enumerate(zip(tree.parents, tree.separators, strict=True)):
        assert up < place
        assert set(separator) == (set() if up < 0 else set(tree.cliques[place]) & set(tree.cliques[up]))
    for column in range(len(sizes)):
        # The tables with a column hang together: all but one of them share it with their parent.
        having = [place for place, clique in enumerate(tree.cliques) if column in clique]
        assert sum(column not in tree.separators[place] for place in having) == 1
    assert tree_cells(potentials, sizes) == sum(prod(sizes[c] for c in clique) for clique in tree.cliques)


def test_a_fit_finds_marginals_that_agree_with_each_other() -> None:
    generator = np.random.default_rng(3)
    full = generator.gamma(1.0, 10.0, (3, 2, 4, 2))
    evidence = []
    for clique in [(0, 1), (1, 2), (2, 3), (0,), (0, 3)]:
        seen = full.sum(axis=tuple(column for column in range(4) if column not in clique))
        evidence.append(Evidence(clique, seen, np.ones(seen.shape)))
    model = fit_model(full.shape, evidence, float(full.sum()), steps=3000)
    for item in evidence:
        np.testing.assert_allclose(model.marginal(item.clique), item.values, rtol=0.02)


def test_noisier_evidence_counts_less() -> None:
    sharp = Evidence((0,), np.array([90.0, 10.0]), np.full(2, 1.0))
    vague = Evidence((0,), np.array([10.0, 90.0]), np.full(2, 9.0))
    assert fit_model([2], [sharp, vague], 100.0, steps=500).marginal((0,))[0] == pytest.approx(82, abs=0.5)


def test_a_fit_is_never_worse_than_where_it_starts() -> None:
    generator = np.random.default_rng(4)
    evidence = [Evidence((0, 1), generator.normal(5, 9, (4, 4)), np.full((4, 4), 81.0))]
    few = fit_model([4, 4], evidence, 80.0, steps=5)
    more = fit_model([4, 4], evidence, 80.0, steps=300, start=few)
    assert loss_of(more, evidence) < loss_of(few, evidence)
    assert (more.marginal((0, 1)) >= 0).all()
    assert more.marginal((0, 1)).sum() == pytest.approx(80)


def test_enormous_and_hopeless_evidence_gives_a_model_all_the_same() -> None:
    evidence = [
        Evidence((0, 1), np.array([[1e12, -1e12], [0.0, 1e12]]), np.full((2, 2), 1e-6)),
        Evidence((1,), np.array([-1e9, 1e9]), np.full(2, 1e18)),
    ]
    model = fit_model([2, 2], evidence, 1.0, steps=200)
    assert np.isfinite(model.marginal((0, 1))).all()
