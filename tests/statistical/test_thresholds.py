"""The guarantee of unknown keys, audited from outputs alone, each with a broken twin that is caught."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from sudare import Unit
from sudare.attacks import audit_epsilon
from sudare.noise import discrete_laplace
from sudare.noise.thresholds import publish_keys, threshold_for

pytestmark = pytest.mark.slow

RUNS = 400_000
ROWS, EPSILON, DELTA = 3, Fraction(1), Fraction(1, 50)
COMMON = 20

Publish = Callable[[np.ndarray, int, Unit], tuple[np.ndarray, np.ndarray]]

# Counts of four groups: one that others are in, and three that one unit may make; 0: the group is not there.
SPREADS = {
    "one new group": ([0, 3, 0, 0], [0, 0, 0, 0]),
    "three new groups": ([0, 1, 1, 1], [0, 0, 0, 0]),
    "an old group": ([3, 0, 0, 0], [0, 0, 0, 0]),
    "an old and a new group": ([1, 2, 0, 0], [0, 0, 0, 0]),
}
REPLACED = {
    "one new group for another": ([0, 3, 0, 0], [0, 0, 3, 0]),
    "three new groups for an old one": ([0, 1, 1, 1], [3, 0, 0, 0]),
}


def ours(counts: np.ndarray, rows: int, unit: Unit) -> tuple[np.ndarray, np.ndarray]:
    kept = publish_keys(counts, rows, EPSILON, DELTA, unit=unit)
    return kept.positions, kept.counts


def with_a_threshold_too_low(counts: np.ndarray, rows: int, unit: Unit) -> tuple[np.ndarray, np.ndarray]:
    """As if every unit had one row: the right noise, but groups of several rows were not thought of."""
    scale = Fraction((2 if unit.adjacency == "replace" else 1) * rows) / EPSILON
    noisy = counts + discrete_laplace(scale).draw(counts.size)
    kept = np.flatnonzero(noisy >= threshold_for(1, scale, DELTA) - 3)
    return kept, noisy[kept]


def with_noise_for_one_row(counts: np.ndarray, rows: int, unit: Unit) -> tuple[np.ndarray, np.ndarray]:
    kept = publish_keys(counts, 1, EPSILON, DELTA, unit=unit)
    return kept.positions, kept.counts


def audit(publish: Publish, sides: tuple[list[int], list[int]], unit: Unit) -> float:
    """Many runs in one call: each has groups of its own. What is seen of a run: which keys, and the old group's count."""
    seen = []
    for own in sides:
        counts = np.tile(np.array(own) + np.array([COMMON, 0, 0, 0]), RUNS)
        there = np.flatnonzero(counts)
        positions, noisy = publish(counts[there], ROWS, unit)
        run, group = np.divmod(there[positions], 4)
        codes = np.zeros(RUNS, dtype=np.int64)
        np.add.at(codes, run, np.where(group == 0, np.clip(noisy, 0, 200), 1000 * 2**group))
        seen.append(codes)
    return audit_epsilon(seen[0], seen[1], delta=float(DELTA)).lower_bound


@pytest.mark.parametrize("name", SPREADS)
def test_added_units(name: str) -> None:
    assert audit(ours, SPREADS[name], Unit()) <= EPSILON


@pytest.mark.parametrize("name", REPLACED)
def test_replaced_units(name: str) -> None:
    assert audit(ours, REPLACED[name], Unit(adjacency="replace")) <= EPSILON


@pytest.mark.parametrize("name", ["one new group", "three new groups"])
def test_a_threshold_too_low_is_caught(name: str) -> None:
    assert audit(with_a_threshold_too_low, SPREADS[name], Unit()) > EPSILON


@pytest.mark.parametrize("name", ["one new group", "an old group"])
def test_noise_for_one_row_is_caught(name: str) -> None:
    assert audit(with_noise_for_one_row, SPREADS[name], Unit()) > EPSILON


def test_noise_for_one_row_is_caught_where_units_are_replaced() -> None:
    assert audit(with_noise_for_one_row, REPLACED["one new group for another"], Unit(adjacency="replace")) > EPSILON
