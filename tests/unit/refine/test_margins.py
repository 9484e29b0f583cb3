"""Margins of categories: moved where noisy cells contradict them, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.refine.margins import _possible, correct_margins


def words(count: int) -> np.ndarray:
    return np.random.default_rng(count).integers(0, 2**64, size=count, dtype=np.uint64)


def margin(table: np.ndarray, axis: int) -> np.ndarray:
    return np.asarray(np.moveaxis(table, axis, -1).reshape(-1, table.shape[axis]).sum(axis=0))


def blurred(seed: int, shape: tuple[int, ...] = (40, 30, 3)) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Truth with unequal categories, refined counts from which people went to the small ones, noisy cells, their variance."""
    generator = np.random.default_rng(seed)
    crowded = generator.random(shape[:-1]) < 0.1
    density = np.where(crowded, 200, 5)[..., None] * np.array([0.8, 0.15, 0.05])
    truth = generator.poisson(density)
    even = generator.multinomial(truth.sum(axis=-1), np.full(3, 1 / 3))
    refined = np.where(crowded[..., None], truth, even)
    deviation = 20.0
    return truth, refined, truth + generator.normal(0, deviation, size=shape), deviation**2


@pytest.mark.parametrize("seed", range(3))
def test_contradicted_margins_are_moved(seed: int) -> None:
    truth, refined, noisy, variance = blurred(seed)
    moved = correct_margins(refined, noisy, variance, (2,), words)
    before, after = (np.abs(margin(table, 2) - margin(truth, 2)) for table in (refined, moved))
    noise = np.sqrt(truth[..., 0].size * variance)
    assert before.max() > 3 * noise
    assert after.max() < 3 * noise
    assert (moved.sum(axis=2) == refined.sum(axis=2)).all()
    assert ((moved - truth) ** 2).mean() < ((refined - truth) ** 2).mean(), "cells do not pay for it"


@settings(max_examples=60)
@given(
    shape=st.lists(st.integers(1, 6), min_size=1, max_size=3).map(tuple),
    seed=st.integers(0, 10**6),
    size=st.sampled_from([1, 50, 10**9]),
    deviation=st.sampled_from([0.01, 5.0, 1e6]),
)
def test_other_sums_stay_and_counts_are_whole_and_not_negative(
    shape: tuple[int, ...], seed: int, size: int, deviation: float
) -> None:
    generator = np.random.default_rng(seed)
    counts = generator.integers(0, size + 1, size=shape) * (generator.random(shape) < 0.5)
    noisy = generator.normal(0, deviation, size=shape) + generator.permutation(counts.reshape(-1)).reshape(shape)
    for axis in range(len(shape)):
        moved = correct_margins(counts, noisy, deviation**2, (axis,), words)
        assert moved.dtype == np.int64
        assert moved.min() >= 0
        assert (moved.sum(axis=axis) == counts.sum(axis=axis)).all()
    assert correct_margins(counts, noisy, deviation**2, tuple(range(len(shape))), words).sum() == counts.sum()


def test_margins_that_noise_explains_stay() -> None:
    """One in two hundred is moved without need: of 400, more than 14 with probability below 1e-8."""
    generator, moved = np.random.default_rng(1), 0
    truth = generator.poisson(50, size=(10, 3))
    for _ in range(400):
        noisy = truth + generator.normal(0, 20, size=truth.shape)
        moved += int((correct_margins(truth, noisy, 400.0, (1,), words) != truth).any())
    assert moved < 15


def test_huge_counts_and_single_lines_stay() -> None:
    huge = np.full((4, 2), 2**58)
    assert (correct_margins(huge, np.zeros((4, 2)), 1.0, (0, 1), words) == huge).all()
    line = np.array([[5, 0, 9]])
    assert (correct_margins(line, np.array([[0.0, 1000, 0]]), 1.0, (0, 1), words) == line).all()


def test_possible_margins() -> None:
    assert _possible(np.array([5.0, 3.0, -2.0])).tolist() == [4.0, 2.0, 0.0]
    assert _possible(np.array([5.0, 3.0])).tolist() == [5.0, 3.0]
    assert _possible(np.zeros(3)).tolist() == [0, 0, 0]
