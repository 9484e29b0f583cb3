"""Components of margins: generalised least squares and its variances, against dense matrices."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.refine.components import NoisyMargin, centred, estimate_components, margin_of, subsets_of
from sudare.tables.strategies.variances import strategy_variances

Case = tuple[tuple[int, ...], tuple[int, ...], list[list[float]]]


@st.composite
def strategies(draw: st.DrawFn) -> Case:
    """Splits, lengths of attributes, and a variance for each level and margin; infinite where it is not measured."""
    bits = draw(st.sampled_from([(), (1,), (2,), (1, 1), (2, 1), (1, 2)]))
    lengths = tuple(draw(st.lists(st.integers(2, 3), max_size=2)))
    variance = st.sampled_from([0.5, 1.0, 3.0, 10.0, np.inf])
    noise = [[draw(variance) for _ in range(1 << len(lengths))] for _ in range(len(bits) + 1)]
    noise[-1][-1] = draw(st.sampled_from([0.5, 2.0]))
    return bits, lengths, noise


def grouping_matrix(bits: tuple[int, ...], lengths: tuple[int, ...], level: int, mask: int) -> np.ndarray:
    """Which cells each count of a grouping adds up."""
    depth, height = sum(bits), sum(bits[level:])
    matrix = np.kron(np.eye(1 << (depth - height)), np.ones((1, 1 << height)))
    for axis, length in enumerate(lengths):
        matrix = np.kron(matrix, np.eye(length) if mask >> axis & 1 else np.ones((1, length)))
    return matrix


def dense_solution(case: Case) -> tuple[np.ndarray, np.ndarray, list[tuple[int, int]]]:
    """The matrix of all measurements, its inverse variances, and which they are."""
    bits, lengths, noise = case
    measured = [(level, mask) for level, row in enumerate(noise) for mask, v in enumerate(row) if np.isfinite(v)]
    blocks = [grouping_matrix(bits, lengths, level, mask) for level, mask in measured]
    precision = np.concatenate([np.full(len(b), 1 / noise[i][m]) for b, (i, m) in zip(blocks, measured, strict=True)])
    return np.vstack(blocks), precision, measured


@settings(max_examples=60, deadline=None)
@given(strategies(), st.integers(0, 2**32))
def test_components_are_generalised_least_squares(case: Case, seed: int) -> None:
    bits, lengths, noise = case
    matrix, precision, measured = dense_solution(case)
    noisy = np.random.default_rng(seed).normal(0, 10, len(matrix))
    best = np.linalg.solve(matrix.T @ (precision[:, None] * matrix), matrix.T @ (precision * noisy))
    margins, first = [], 0
    for level, mask in measured:
        kept = [length if mask >> axis & 1 else 1 for axis, length in enumerate(lengths)]
        nodes = 1 << sum(bits[:level])
        values = noisy[first : first + nodes * prod(kept)].reshape(nodes, *kept)
        first += values.size
        margins.append(NoisyMargin(level, mask, values, noise[level][mask]))
    cells = [np.full(1 << sum(bits[:level]), 1 << sum(bits[level:])) for level in range(len(bits) + 1)]
    trees = estimate_components(margins, lengths, bits, cells)
    # From the top, each component of a child meets its parent's; then the components of a cell add up.
    table = np.zeros((1 << sum(bits), *lengths))
    for mask, tree in trees.items():
        values = tree.values[0]
        for level, step in enumerate(bits, start=1):
            children = tree.values[level].reshape(-1, 1 << step, *values.shape[1:])
            values = (children + ((values - children.sum(axis=1)) / (1 << step))[:, None]).reshape(
                -1, *values.shape[1:]
            )
        outside = prod(length for axis, length in enumerate(lengths) if not mask >> axis & 1)
        table = table + values / outside
    assert np.allclose(table.ravel(), best, atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(strategies())
def test_variances_are_those_of_generalised_least_squares(case: Case) -> None:
    bits, lengths, noise = case
    matrix, precision, _ = dense_solution(case)
    covariance = np.linalg.inv(matrix.T @ (precision[:, None] * matrix))
    heights = [sum(bits[level:]) for level in range(len(bits) + 1)]
    found = strategy_variances(bits, lengths, 1 / np.array(noise), heights)
    for (place, _), mask in product(enumerate(heights), range(1 << len(lengths))):
        asked = grouping_matrix(bits, lengths, place, mask)
        assert np.allclose(np.diag(asked @ covariance @ asked.T), found[place, mask])


def test_components_add_up_and_do_not_mix() -> None:
    table = np.random.default_rng(0).normal(size=(5, 2, 3, 4))
    whole = sum(
        centred(np.asarray(margin_of(table, mask)), mask)
        / prod(n for axis, n in enumerate(table.shape[1:]) if not mask >> axis & 1)
        for mask in range(8)
    )
    assert np.allclose(whole, table)
    for one, other in product(range(8), repeat=2):
        if one & ~other:
            assert np.allclose(centred(np.asarray(margin_of(centred(table, one), other)), one & other | one), 0)


def test_subsets() -> None:
    assert sorted(subsets_of(5)) == [0, 1, 4, 5]
    assert list(subsets_of(0)) == [0]


def test_what_is_never_measured_is_an_error() -> None:
    with pytest.raises(AssertionError, match="always measured"):
        estimate_components([NoisyMargin(0, 0, np.zeros((1, 1)), 1.0)], (2,), (), [np.ones(1, dtype=np.int64)])
