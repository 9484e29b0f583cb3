"""Predicted variances against dense linear algebra: the covariance of what is published where nothing is cut off."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.tables.planning.prediction import flat_variances, haar_variances, wide_tree_variances

BITS = [(), (1,), (3,), (1, 1), (2, 1), (1, 2), (1, 1, 1), (2, 2)]


def sums_of_nodes(depth: int, height: int) -> np.ndarray:
    """A row for each node of a height: the leaves below it."""
    return np.kron(np.eye(1 << depth - height), np.ones(1 << height))


def least_squares_covariance(bits: Sequence[int], noise: Sequence[float]) -> np.ndarray:
    """Of all leaves, from the noisy counts of all nodes; an exact total is one of hardly any noise."""
    depth = sum(bits)
    heights = [depth - sum(bits[:level]) for level in range(len(bits) + 1)]
    design = np.vstack([sums_of_nodes(depth, height) for height in heights])
    variances = np.concatenate([[max(v, 1e-9)] * (1 << depth - h) for v, h in zip(noise, heights, strict=True)])
    return np.linalg.inv(design.T @ (design / variances[:, None]))


def from_the_top_covariance(bits: Sequence[int], noise: Sequence[float]) -> np.ndarray:
    """Of all leaves, where each level is projected on the one above: every count is linear in all noise."""
    sizes = [1 << sum(bits[:level]) for level in range(len(bits) + 1)]
    starts = np.cumsum([0, *sizes])
    refined = np.zeros((1, starts[-1]))
    refined[0, 0] = 1
    for level, step in enumerate(bits, start=1):
        own = np.zeros((sizes[level], starts[-1]))
        own[:, starts[level] : starts[level + 1]] = np.eye(sizes[level])
        fan = 1 << step
        siblings = np.kron(np.eye(sizes[level - 1]), np.ones((fan, fan)) / fan)
        refined = own - siblings @ own + np.repeat(refined, fan, axis=0) / fan
    variances = np.concatenate([[v] * size for v, size in zip(noise, sizes, strict=True)])
    return np.asarray(refined @ (variances[:, None] * refined.T))


@settings(max_examples=60)
@given(
    bits=st.sampled_from(BITS),
    noise=st.lists(st.floats(0.1, 50), min_size=4, max_size=4),
    is_public=st.booleans(),
    combined=st.booleans(),
)
def test_wide_trees(bits: tuple[int, ...], noise: list[float], is_public: bool, combined: bool) -> None:
    used = noise[: len(bits) + 1]
    if is_public and bits:
        used[0] = 0.0
    depth = sum(bits)
    covariance = (least_squares_covariance if combined else from_the_top_covariance)(bits, used)
    heights = list(range(depth + 1))
    predicted = wide_tree_variances(bits, used, heights, combined=combined)
    for height, variance in zip(heights, predicted, strict=True):
        members = sums_of_nodes(depth, height)
        dense = np.diag(members @ covariance @ members.T)
        assert dense == pytest.approx(np.full(dense.size, variance), rel=1e-5, abs=1e-7)


def test_combined_levels_are_never_worse() -> None:
    bits, noise, heights = (2, 3, 2), [4.0, 9.0, 1.0, 2.0], list(range(8))
    together = wide_tree_variances(bits, noise, heights, combined=True)
    apart = wide_tree_variances(bits, noise, heights, combined=False)
    assert all(a <= b for a, b in zip(together, apart, strict=True))
    assert together[-1] < apart[-1]


def test_heights_in_any_order() -> None:
    bits, noise = (2, 2), [1.0, 2.0, 3.0]
    upwards = wide_tree_variances(bits, noise, [0, 1, 2, 3, 4], combined=True)
    assert wide_tree_variances(bits, noise, [4, 0, 3, 0], combined=True) == [upwards[i] for i in (4, 0, 3, 0)]


@pytest.mark.parametrize("depth", range(5))
def test_halving(depth: int) -> None:
    """Each count is half of the node above and half of a difference: linear in the noise of all of them."""
    counts = np.zeros((1, 1 << depth))
    counts[0, 0] = 1
    by_height = {depth: counts}
    for level in range(depth):
        differences = np.zeros((1 << level, 1 << depth))
        differences[:, 1 << level : 2 << level] = np.eye(1 << level)
        halves = [(counts + differences) / 2, (counts - differences) / 2]
        counts = np.stack(halves, axis=1).reshape(2 << level, -1)
        by_height[depth - 1 - level] = counts
    for height, rows in by_height.items():
        (predicted,) = haar_variances(depth, 7.0, [height])
        assert 7 * (rows**2).sum(axis=1) == pytest.approx(np.full(len(rows), predicted))


def test_flat() -> None:
    assert flat_variances(3.0, [0, 1, 5]) == [3.0, 6.0, 96.0]
