"""The guarantee of chosen quantiles, audited from outputs alone, each with a broken twin that is caught."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sudare import Budget, Unit
from sudare.attacks import audit_epsilon
from sudare.noise import exponential_mechanism
from sudare.sql.measures.quantiles import _distances, choose_quantile, sensitivity_of_ranks

pytestmark = pytest.mark.slow

RUNS = 2_500
"""The bounds of the twins are then more than five standard deviations above the claim."""
ROWS, EPSILON, CANDIDATES = 3, Fraction(2), 6
WHERE = [(Fraction(1, 2), 0), (Fraction(9, 10), 0), (Fraction(0), 4)]


def histogram(values: list[int]) -> tuple[np.ndarray, np.ndarray]:
    return np.unique(np.array(values), return_counts=True)


def neighbours(adjacency: str, quantile: Fraction) -> tuple[list[int], list[int]]:
    """A few rows in the middle; one unit has all of its rows at the end that matters, or moves them to the other end."""
    others = [2] * 3 + [3] * 3
    low, high = others + [0] * ROWS, others + [5] * ROWS
    if adjacency == "replace":
        return low, high
    return others, low if quantile == 0 else high


def chosen(values: list[int], quantile: Fraction, offset: int, unit: Unit) -> np.ndarray:
    buckets, counts = histogram(values)
    budget = Budget(epsilon=EPSILON)
    return np.array(
        [
            choose_quantile(buckets, counts, CANDIDATES, quantile, ROWS, budget, offset=offset, unit=unit)[0]
            for _ in range(RUNS)
        ]
    )


def chosen_wrongly(values: list[int], quantile: Fraction, offset: int, unit: Unit) -> np.ndarray:
    """As if each unit had one row, and without the factor 2 for the sum of all weights."""
    scores = -np.asarray(_distances(*histogram(values), CANDIDATES, quantile, offset))
    change = Fraction(sensitivity_of_ranks(quantile, 1, unit.adjacency), 2)
    return np.array(
        [exponential_mechanism(scores, Budget(epsilon=EPSILON), sensitivity=change)[0] for _ in range(RUNS)]
    )


@pytest.mark.parametrize(
    ("quantile", "offset", "adjacency"),
    [(*where, adjacency) for where, adjacency in zip(WHERE, ("add-remove", "replace", "add-remove"), strict=True)],
    ids=str,
)
def test_quantiles(quantile: Fraction, offset: int, adjacency: Any) -> None:
    unit = Unit(adjacency=adjacency)
    one, other = neighbours(adjacency, quantile)
    sound = audit_epsilon(chosen(one, quantile, offset, unit), chosen(other, quantile, offset, unit))
    assert sound.lower_bound <= EPSILON
    broken = audit_epsilon(chosen_wrongly(one, quantile, offset, unit), chosen_wrongly(other, quantile, offset, unit))
    assert broken.lower_bound > EPSILON
