"""Prefixes that never fall, and whole numbers that keep them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sudare.refine.prefixes import rising_prefixes, round_bins, round_prefixes
from tests.reference.histograms import rising_by_definition

BINS = arrays.arrays(np.float64, st.integers(1, 30), elements=st.floats(-50, 50).map(lambda x: round(x, 3)))
COUNTS = arrays.arrays(np.float64, st.integers(1, 200), elements=st.floats(0, 50))
WORDS = st.integers(0, 2**64 - 1)


def words_for(bins: np.ndarray, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2**64, bins.size + 1, dtype=np.uint64)


@given(bins=BINS)
def test_the_nearest_prefixes_that_never_fall(bins: np.ndarray) -> None:
    """Between 0 and the estimated total, which is kept."""
    prefixes = np.cumsum(bins)
    highest = max(prefixes[-1], 0.0)
    expected = np.clip(rising_by_definition(prefixes), 0, highest)
    expected[-1] = highest
    assert rising_prefixes(bins) == pytest.approx(expected, abs=1e-9)


@given(bins=BINS, truth=arrays.arrays(np.int64, 30, elements=st.integers(0, 40)))
def test_with_the_true_total_no_prefix_error_grows(bins: np.ndarray, truth: np.ndarray) -> None:
    """The set of prefixes that never fall contains the true ones, whatever they are."""
    true = np.cumsum(truth[: bins.size])
    estimated = np.cumsum(bins)
    estimated[-1] = true[-1]
    refined = rising_prefixes(np.diff(estimated, prepend=0.0), int(true[-1]))
    assert ((refined - true) ** 2).sum() <= ((estimated - true) ** 2).sum() + 1e-6


@given(bins=COUNTS)
def test_prefixes_that_never_fall_stay_as_they_are(bins: np.ndarray) -> None:
    assert rising_prefixes(bins) == pytest.approx(np.cumsum(bins), abs=1e-9)


@given(bins=COUNTS, word=WORDS)
def test_rounded_prefixes_are_less_than_one_away(bins: np.ndarray, word: int) -> None:
    prefixes = np.cumsum(bins)
    counts = round_prefixes(prefixes, word)
    assert (counts >= 0).all()
    assert (np.abs(np.cumsum(counts) - prefixes) < 1 + 1e-9).all()


def test_rounded_prefixes_are_right_on_average() -> None:
    prefixes = np.cumsum([0.3, 0.0, 2.6, 0.05, 1.0])
    words = [(2 * i + 1) * 2**54 for i in range(512)]
    mean = np.mean([np.cumsum(round_prefixes(prefixes, word)) for word in words], axis=0)
    assert mean == pytest.approx(prefixes, abs=2 / 512)
    assert np.abs(np.rint(prefixes) - prefixes).max() > 0.25  # what rounding to the nearest would leave


@settings(max_examples=60)
@given(bins=COUNTS, seed=st.integers(0, 10**6), certain=st.sampled_from([0.0, 10.0, 1e9]))
def test_rounded_bins_are_whole_and_near(bins: np.ndarray, seed: int, certain: float) -> None:
    measured = np.rint(bins + np.random.default_rng(seed).normal(0, 3, bins.size))
    counts = round_bins(np.cumsum(bins), measured, words_for(bins, seed), certain)
    assert counts.dtype == np.int64
    assert (counts >= 0).all()
    assert (np.abs(counts - bins) <= 1 + 1e-9).all()


@given(bins=COUNTS, seed=st.integers(0, 10**6), word=WORDS)
def test_a_known_total_is_met(bins: np.ndarray, seed: int, word: int) -> None:
    total = int(bins.sum())
    prefixes = rising_prefixes(bins, total)
    assert round_prefixes(prefixes, word, total).sum() == total
    assert round_bins(prefixes, np.rint(bins), words_for(bins, seed), 10.0, total).sum() == total


def test_thinly_spread_people_are_not_rounded_away() -> None:
    """A fifth of a person a bin: 200 in a thousand bins, which the nearest whole numbers would lose."""
    prefixes = np.cumsum(np.full(1000, 0.2))
    assert abs(round_bins(prefixes, np.zeros(1000), words_for(prefixes, 1), 5.0).sum() - 200) <= 1
    assert np.rint(np.full(1000, 0.2)).sum() == 0


def test_counts_beyond_exact_floats() -> None:
    huge = 2**61
    prefixes = rising_prefixes(np.array([2.0**60, 2.0**60, 0.0]), huge)
    by_bins = round_bins(prefixes, np.zeros(3), words_for(prefixes, 1), 5.0, huge)
    for counts in (round_prefixes(prefixes, 2**64 - 1, huge), by_bins):
        assert counts.sum() == huge
        assert (counts >= 0).all()
