"""Whole tables >= 0 near estimates: the nearest by a naive solver, sums that stay, nobody moved between categories."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from sudare import Budget, Category, CountTable, Domain, ResearchEntropy, publish
from sudare.refine.whole_tables import nearest_above_zero, round_table
from sudare.tables import margin_tree

SHAPES = [(4,), (3, 4), (2, 3, 4)]


def words(seed: int) -> Any:
    generator = np.random.default_rng(seed)
    return lambda size: generator.integers(0, 2**64, size=size, dtype=np.uint64)


def projections(shape: tuple[int, ...]) -> list[np.ndarray]:
    """The matrix that takes a table to each of its components, written out."""
    found = []
    for kept in product((0, 1), repeat=len(shape)):
        matrix = np.ones((1, 1))
        for is_kept, length in zip(kept, shape, strict=True):
            mean = np.full((length, length), 1 / length)
            matrix = np.kron(matrix, np.eye(length) - mean if is_kept else mean)
        found.append((sum(is_kept << axis for axis, is_kept in enumerate(kept)), matrix))
    return [matrix for _, matrix in sorted(found, key=lambda pair: pair[0])]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_table_is_that_of_a_naive_solver(shape: tuple[int, ...], seed: int) -> None:
    generator = np.random.default_rng(seed)
    estimate = generator.normal(1, 3, size=shape)
    weights = np.exp(generator.normal(0, 1.5, size=1 << len(shape)))
    root = sum(np.sqrt(weight) * matrix for weight, matrix in zip(weights, projections(shape), strict=True))
    naive, _ = nnls(np.asarray(root), np.asarray(root) @ estimate.reshape(-1))
    found = nearest_above_zero(estimate, weights, 1e-9)
    assert found.min() >= 0
    assert np.abs(found.reshape(-1) - naive).max() < 0.02


def test_an_estimate_above_zero_stays() -> None:
    estimate = np.array([[1.5, 0.0], [2.0, 7.25]])
    assert (nearest_above_zero(estimate, np.ones(4), 0.1) == estimate).all()


@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=3),
    st.integers(0, 2**40),
    st.integers(0, 1000),
    st.sampled_from([0.0, 0.3, 1.0, 1e6]),
)
def test_rounding_keeps_the_total_and_hardly_moves_sums(shape: list[int], people: int, seed: int, scale: float) -> None:
    values = scale * np.random.default_rng(seed).exponential(size=shape)
    counts = round_table(values, people, words(seed))
    assert counts.shape == tuple(shape)
    assert counts.min() >= 0
    assert counts.sum() == people
    if values.sum() > 0:
        exact = values * (people / values.sum())
        for axis in range(len(shape)):
            others = tuple(other for other in range(len(shape)) if other != axis)
            assert np.ptp((counts - exact).sum(axis=others)) < 2 + 1e-3


def test_rounding_has_no_bias() -> None:
    values = np.full((3, 7), 10 / 21)
    mean = np.mean([round_table(values, 10, words(seed)) for seed in range(2000)], axis=0)
    assert np.abs(mean - values).max() < 5 * np.sqrt(0.25 / 2000)


SKEWED = np.round(20_000 * np.outer([0.75, 0.2, 0.04, 0.01], [0.7, 0.25, 0.04, 0.01])).astype(np.int64)[:, :, None]
COUNTS = np.concatenate([SKEWED, SKEWED // 50, np.zeros_like(SKEWED)], axis=2)


def signed_errors(errors: np.ndarray, margin: tuple[int, ...]) -> np.ndarray:
    """Of each cell of a margin: its mean error over all runs, in the standard errors of the mean."""
    summed = tuple(1 + axis for axis in range(COUNTS.ndim) if axis not in margin)
    found = errors.sum(axis=summed).reshape(len(errors), -1)
    return np.asarray(found.mean(axis=0) / (found.std(axis=0, ddof=1) / np.sqrt(len(errors))))


def test_no_margin_of_one_attribute_is_moved() -> None:
    """Most cells are near 0. The control: noise on each cell, brought to the noisy total, moves all categories."""
    domain = Domain(tuple(Category(f"a{i}", tuple(range(length))) for i, length in enumerate(COUNTS.shape)))
    table, budget = CountTable.from_dense(COUNTS, domain), Budget(epsilon=0.05)

    def errors(call: Any, **settings: Any) -> np.ndarray:
        made = [call(table, budget, entropy=ResearchEntropy(seed), **settings).to_dense() for seed in range(200)]
        return np.asarray(np.array(made) - COUNTS)

    ours = errors(margin_tree, weights=[[0] * 7 + [1]])
    # Of the pairs, those are looked at whose people are many beside the noise.
    for margin, checked in (((0,), slice(None)), ((1,), slice(None)), ((0, 1), [0, 1, 4])):
        assert np.abs(signed_errors(ours, margin)[checked]).max() < 4.5, margin
    control = errors(publish, method="laplace", refine="counts")
    assert np.abs(signed_errors(control, (0,))).max() > 6


@pytest.mark.parametrize("people", [0, 1, 10**6])
def test_a_public_total_is_met(people: int) -> None:
    counts = np.zeros((3, 4, 2), dtype=np.int64)
    counts[0, 0, 0] = people
    domain = Domain(tuple(Category(f"a{i}", tuple(range(length))) for i, length in enumerate(counts.shape)))
    table = CountTable.from_dense(counts, domain)
    for seed in range(5):
        made = margin_tree(table, Budget(epsilon=0.1), public_total=True, entropy=ResearchEntropy(seed)).to_dense()
        assert made.sum() == people
        assert made.min() >= 0
    assert prod(made.shape) == counts.size
