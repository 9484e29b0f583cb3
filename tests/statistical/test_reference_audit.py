"""A public reference costs nothing because it is public: one that follows the table itself is caught."""

from __future__ import annotations

import numpy as np
import pytest

from sudare import Budget, CountTable
from sudare.attacks import audit_epsilon
from sudare.tables import wide_tree

pytestmark = pytest.mark.deep

RUNS = 400
CLAIMED = 0.5
PLACE = (1, 2)


def town(people: int) -> CountTable:
    """Homes of 30 people all over a map, and so many people alone in an empty part of it."""
    counts = np.where(np.random.default_rng(1).random((16, 16)) < 0.25, 30, 0)
    counts[:4, :4] = 0
    counts[PLACE] = people
    return CountTable.from_dense(counts)


def seen(people: int, in_reference: int) -> np.ndarray:
    """Whether somebody is published where the person may live, run by run."""
    found = []
    for _ in range(RUNS):
        published = wide_tree(
            town(people),
            Budget(epsilon=CLAIMED),
            bits=(4, 4),
            weights=(1, 3, 3),
            estimate="learned",
            reference=town(in_reference),
        )
        found.append(int(published.table.to_dense().reshape(16, 16)[PLACE] > 0))
    return np.array(found)


@pytest.mark.parametrize("in_reference", [0, 1])
def test_a_public_reference_costs_nothing(in_reference: int) -> None:
    assert audit_epsilon(seen(1, in_reference), seen(0, in_reference)).lower_bound <= CLAIMED


def test_a_reference_that_is_the_table_itself_is_caught() -> None:
    """The person is in the reference if and only if they are in the table."""
    assert audit_epsilon(seen(1, 1), seen(0, 0)).lower_bound > CLAIMED
