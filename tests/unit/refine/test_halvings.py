"""Estimates of bins: against one dense system of equations, and by laws that any estimate has to follow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.refine.halvings import NoisyBlocks, _Departures, _learned, _pass, estimate_bins, least_squares_of_bins
from tests.reference.histograms import blocks_matrix, departures_of, posterior_of_bins


@st.composite
def noisy_blocks(draw: st.DrawFn, largest: int = 40) -> NoisyBlocks:
    bins = draw(st.integers(1, largest))
    depth = (bins - 1).bit_length()
    heights = {0, *draw(st.sets(st.integers(0, depth)))}
    generator = np.random.default_rng(draw(st.integers(0, 10**6)))
    variances = {height: float(generator.uniform(0.5, 50)) for height in heights}
    counts = generator.integers(0, 30, bins) * generator.integers(0, 2, bins)
    measured = {
        height: blocks_matrix(bins, height) @ counts
        + generator.normal(0, variances[height] ** 0.5, (bins - 1 >> height) + 1)
        for height in heights
    }
    total = int(counts.sum()) if depth and draw(st.booleans()) else None
    return NoisyBlocks(bins, measured, variances, total)


def some_spreads(blocks: NoisyBlocks, seed: int) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    return [generator.uniform(0.1, 100, blocks.nodes(height)) for height in range(1, blocks.depth + 1)]


@settings(max_examples=60)
@given(blocks=noisy_blocks())
def test_least_squares_is_that_of_the_normal_equations(blocks: NoisyBlocks) -> None:
    mean, _ = posterior_of_bins(blocks.bins, blocks.measured, blocks.variances, {}, blocks.total)
    assert least_squares_of_bins(blocks) == pytest.approx(mean, rel=1e-7, abs=1e-7)


@settings(max_examples=60)
@given(blocks=noisy_blocks(), seed=st.integers(0, 1000))
def test_one_pass_is_the_posterior_of_all_bins(blocks: NoisyBlocks, seed: int) -> None:
    """And what is seen of each departure is its posterior without its own prior."""
    spreads = some_spreads(blocks, seed)
    by_height = dict(enumerate(spreads, start=1))
    seen = _Departures.of(blocks)
    mean, covariance = posterior_of_bins(blocks.bins, blocks.measured, blocks.variances, by_height, blocks.total)
    assert _pass(blocks, spreads, seen) == pytest.approx(mean, rel=1e-7, abs=1e-7)
    for height in range(1, blocks.depth + 1):
        rows = departures_of(blocks.bins, height)
        pairs = rows.any(axis=1)
        assert np.isinf(seen.noise[height - 1][~pairs]).all()
        for row, value, noise, spread in zip(
            rows[pairs],
            seen.values[height - 1][pairs],
            seen.noise[height - 1][pairs],
            spreads[height - 1][pairs],
            strict=True,
        ):
            variance = row @ covariance @ row
            assert 1 / noise == pytest.approx(1 / variance - 1 / spread, rel=1e-6)
            assert value == pytest.approx(noise * (row @ mean) / variance, rel=1e-6, abs=1e-6)


@settings(max_examples=30)
@given(blocks=noisy_blocks(300), exponent=st.integers(-3, 6))
def test_counts_in_other_units_are_the_same_estimates(blocks: NoisyBlocks, exponent: int) -> None:
    factor = 2.0**exponent
    other = NoisyBlocks(
        blocks.bins,
        {height: factor * values for height, values in blocks.measured.items()},
        {height: factor**2 * variance for height, variance in blocks.variances.items()},
        None,
    )
    plain = NoisyBlocks(blocks.bins, blocks.measured, blocks.variances, None)
    assert estimate_bins(other) == pytest.approx(factor * estimate_bins(plain), rel=1e-6, abs=1e-6 * factor)


@settings(max_examples=30)
@given(depth=st.integers(0, 8), seed=st.integers(0, 10**6))
def test_no_end_is_preferred(depth: int, seed: int) -> None:
    """Read from the other end, estimates are the same from the other end."""
    generator = np.random.default_rng(seed)
    heights = {0, depth // 2, depth}
    measured = {height: generator.normal(5, 9, 1 << depth - height) for height in heights}
    variances = dict.fromkeys(heights, 40.0)
    mirrored = {height: values[::-1] for height, values in measured.items()}
    one, other = (estimate_bins(NoisyBlocks(1 << depth, values, variances)) for values in (measured, mirrored))
    assert one == pytest.approx(other[::-1], rel=1e-6, abs=1e-6)


@settings(max_examples=30)
@given(blocks=noisy_blocks(200))
def test_a_public_total_is_met(blocks: NoisyBlocks) -> None:
    if blocks.total is not None:
        assert estimate_bins(blocks).sum() == pytest.approx(blocks.total, abs=1e-6)


def test_even_bins_lose_their_noise_and_one_that_stands_out_does_not() -> None:
    counts = np.full(1024, 20.0)
    counts[300] = 5000
    generator = np.random.default_rng(4)
    noisy = counts + generator.laplace(0, 5, counts.size)
    blocks = NoisyBlocks(1024, {0: noisy}, {0: 50.0})
    errors = estimate_bins(blocks) - counts
    assert np.sqrt((np.delete(errors, 300) ** 2).mean()) < 0.35 * np.sqrt(50)
    assert abs(errors[300]) < 30
    control = least_squares_of_bins(blocks) - counts
    assert np.sqrt((control**2).mean()) > 0.8 * np.sqrt(50)


def test_where_counts_are_far_above_the_noise_nothing_is_lost() -> None:
    counts = np.random.default_rng(1).integers(0, 10**6, 512).astype(float)
    noisy = counts + np.random.default_rng(2).laplace(0, 1, 512)
    assert estimate_bins(NoisyBlocks(512, {0: noisy}, {0: 2.0})) == pytest.approx(noisy, abs=0.2)


def test_a_node_with_one_half_alone_learns_nothing() -> None:
    blocks = NoisyBlocks(5, {0: np.array([1.0, 2, 3, 4, 50])}, {0: 2.0})
    seen = _Departures.of(blocks)
    _pass(blocks, [np.full(blocks.nodes(height), np.inf) for height in (1, 2, 3)], seen)
    spreads = _learned(blocks, seen)
    assert [np.isinf(spread[-1]) for spread in spreads[:2]] == [True, True]
    assert [len(spread) for spread in spreads] == [3, 2, 1]
