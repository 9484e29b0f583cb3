"""Thresholds for keys that nobody knew of: against the worst that brute force can find."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare import Budget, ReleaseEvent, ResearchEntropy, Unit
from sudare.errors import EventError, ParameterError
from sudare.noise.thresholds import chance_of_a_key, measurement_of_rows, publish_keys, threshold_for


def spreads(rows: int, largest: int) -> Iterator[tuple[int, ...]]:
    """All ways to put at most so many rows into new groups, at most so many into each."""
    yield ()
    for first in range(1, min(rows, largest) + 1):
        for rest in spreads(rows - first, first):
            yield (first, *rest)


def passes(scale: Fraction, least: int) -> Any:
    """P(noise >= least), from the definition."""
    q = mpmath.exp(-mpmath.mpf(scale.denominator) / scale.numerator)
    return q**least / (1 + q) if least >= 0 else 1 - q ** (1 - least) / (1 + q)


def worst(rows: int, largest: int, scale: Fraction, threshold: int) -> Any:
    """The largest probability, over all spreads, that any of the new groups reaches the threshold."""
    return max(
        1 - mpmath.fprod(1 - passes(scale, threshold - count) for count in spread) for spread in spreads(rows, largest)
    )


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 8, 12])
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(12), Fraction(100)], ids=str)
@pytest.mark.parametrize("delta", [Fraction(1, 2), Fraction(1, 100), Fraction(1, 10**9)], ids=str)
def test_the_smallest_threshold_that_hides_every_spread(rows: int, scale: Fraction, delta: Fraction) -> None:
    with mpmath.workdps(60):
        limit = mpmath.mpf(delta.numerator) / delta.denominator
        found = threshold_for(rows, scale, delta)
        assert worst(rows, rows, scale, found) <= limit
        assert worst(rows, rows, scale, found - 1) > limit
        alone = threshold_for(rows, scale, delta, rows_per_group=1)
        assert worst(rows, 1, scale, alone) <= limit < worst(rows, 1, scale, alone - 1)


@pytest.mark.parametrize(("rows", "each"), [(5, 2), (6, 2), (9, 4), (10, 7), (12, 5)])
def test_a_limit_for_each_group_hides_every_spread_within_it(rows: int, each: int) -> None:
    with mpmath.workdps(60):
        for scale in (Fraction(1, 2), Fraction(4), Fraction(40)):
            for delta in (Fraction(1, 3), Fraction(1, 10**6)):
                found = threshold_for(rows, scale, delta, rows_per_group=each)
                assert worst(rows, each, scale, found) <= mpmath.mpf(delta.numerator) / delta.denominator
                assert found <= threshold_for(rows, scale, delta)


@settings(max_examples=25)
@given(
    st.integers(1, 10**6),
    st.integers(1, 10**6),
    st.fractions(Fraction(1, 100), Fraction(10**6)),
    st.fractions(Fraction(1, 10**12), Fraction(1, 2)),
)
def test_probabilities_are_rounded_up_and_hardly_at_all(rows: int, each: int, scale: Fraction, delta: Fraction) -> None:
    each = min(rows, each)
    threshold = threshold_for(rows, scale, delta, rows_per_group=each)
    stated = chance_of_a_key(rows, each, scale, threshold)
    with mpmath.workdps(260):
        apart = 1 - (1 - passes(scale, threshold - 1)) ** rows
        together = 1 - (1 - passes(scale, threshold - each)) ** (mpmath.mpf(rows) / each)
        exact = max(apart, together)
        assert exact <= mpmath.mpf(stated.numerator) / stated.denominator <= exact + mpmath.mpf(10) ** -100
    assert stated <= delta


def test_more_of_anything_needs_a_higher_threshold() -> None:
    base = threshold_for(3, 10, 1e-6)
    assert threshold_for(4, 10, 1e-6) > base
    assert threshold_for(3, 11, 1e-6) > base
    assert threshold_for(3, 10, 1e-7) > base


@pytest.mark.parametrize(
    "change",
    [
        {"rows": 0},
        {"rows": 1.5},
        {"rows": True},
        {"rows": 2**31 + 1},
        {"scale": 0},
        {"scale": 1e13},
        {"scale": float("nan")},
        {"delta": 0},
        {"delta": 0.6},
        {"delta": 1e-61},
        {"rows_per_group": 0},
        {"rows_per_group": "1"},
    ],
    ids=str,
)
def test_thresholds_take_numbers_in_range(change: dict[str, Any]) -> None:
    values = {"rows": 3, "scale": 3, "delta": 1e-6} | change
    with pytest.raises(ParameterError, match=f"The '{next(iter(change))}' parameter of threshold_for must be"):
        threshold_for(**values)


@pytest.mark.parametrize("extreme", [(2**31, 10**12, 1e-60), (1, Fraction(1, 1000), 0.5), (2**31, 0.001, 1e-60)])
def test_extremes_are_answered(extreme: tuple[Any, Any, Any]) -> None:
    assert extreme[0] < threshold_for(*extreme) < 2**62


def test_published_groups_reach_the_threshold_and_keep_their_places() -> None:
    counts = np.arange(0, 2000, dtype=np.int64)
    kept = publish_keys(counts, 2, 1, 1e-6, entropy=ResearchEntropy(4))
    threshold = threshold_for(2, 2, 1e-6)
    assert kept.counts.min() >= threshold
    assert (np.diff(kept.positions) > 0).all()
    assert set(range(200, 2000)) <= set(kept.positions.tolist())
    assert np.abs(kept.counts - counts[kept.positions]).max() < 100
    again = publish_keys(counts, 2, 1, 1e-6, entropy=ResearchEntropy(4))
    assert (again.counts == kept.counts).all()


@pytest.mark.parametrize(("adjacency", "scale"), [("add-remove", 6), ("replace", 12)])
def test_noise_covers_what_one_unit_changes(adjacency: Any, scale: int) -> None:
    unit = Unit("customer", adjacency=adjacency)
    kept = publish_keys(np.array([9000]), 3, 0.5, 1e-6, unit=unit)
    noise, keys = kept.measurements
    assert noise.scale == scale
    assert (noise.epsilon, keys.delta) == (Fraction(1, 2), Fraction(1, 10**6))
    event = ReleaseEvent("keys", unit, Budget(epsilon=0.5, delta=1e-6), kept.measurements, "secure")
    assert ReleaseEvent.from_json(event.to_json()) == event
    with pytest.raises(EventError, match="cost more than the stated"):
        ReleaseEvent("keys", unit, Budget(epsilon=0.5), kept.measurements, "secure")


def test_a_limit_for_each_group_is_part_of_the_measurement() -> None:
    noise = measurement_of_rows(12, 1, rows_per_group=3)
    assert (noise.l1, noise.cells, noise.largest) == (12, 12, 3)
    with pytest.raises(ParameterError, match="'epsilon' parameter of measurement_of_rows"):
        measurement_of_rows(3, 0)


@pytest.mark.parametrize(
    "counts", [np.array([], dtype=np.int64), np.array([2**70, 5], dtype=object), np.array([2**64 - 1], dtype=np.uint64)]
)
def test_counts_of_any_size_are_taken(counts: np.ndarray) -> None:
    kept = publish_keys(counts, 1, 1, 1e-6)
    assert kept.counts.dtype == np.int64
    assert (kept.counts > 0).all()


@pytest.mark.parametrize(
    "counts",
    [
        np.array([1.0]),
        np.array([[1]]),
        np.array(["1"]),
        np.ma.MaskedArray([1], mask=[True]),
        np.array([1.5], dtype=object),
    ],
    ids=lambda counts: str(counts.dtype),
)
def test_counts_are_whole_numbers(counts: Any) -> None:
    with pytest.raises(ParameterError, match="The 'counts' parameter of publish_keys must be"):
        publish_keys(counts, 1, 1, 1e-6)


def test_a_unit_is_a_unit() -> None:
    with pytest.raises(ParameterError, match="'unit' parameter of publish_keys"):
        publish_keys(np.array([1]), 1, 1, 1e-6, unit="person")  # type: ignore[arg-type]
