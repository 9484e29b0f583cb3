"""The guarantee of the addressed tree, audited from outputs alone; twins that break its one rule are caught.

One release is many trials: each of 1,024 subtrees has a key of its own and two cells. In the second table every subtree has one
person more. Within a subtree the difference of its cells does not depend on what noise did above it, besides its parity.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sudare import Budget
from sudare.attacks import audit_epsilon
from sudare.domain import raster_layout
from sudare.noise.addressed import NoiseKey
from sudare.tables import wide_tree
from sudare.tables.addressed import tree
from sudare.tables.addressed.mechanism import addressed_wide_tree

EPSILON = 1
SUBTREES, RELEASES = 1024, 2
TABLE = np.full((SUBTREES, 2), 200)
WITH_ONE_MORE = TABLE + np.array([1, 0])
EVERY_OTHER = TABLE + (np.arange(SUBTREES)[:, None] % 2 == 0) * np.array([1, 0])
SETTINGS: Any = {"bits": (10, 1), "weights": (1, 1, 8), "layout": raster_layout(TABLE.shape)}


def differences(table: np.ndarray, key: int, epsilon: int = EPSILON) -> np.ndarray:
    """The difference of the cells of each subtree, as it is published."""
    published = addressed_wide_tree(table, Budget(epsilon=epsilon), NoiseKey.for_research(key), **SETTINGS).to_dense()
    return np.asarray(published[:, 0] - published[:, 1], dtype=np.int64)


Look = Callable[[np.ndarray, int], np.ndarray]


def audit(look: Look, other: np.ndarray = WITH_ONE_MORE) -> float:
    """What is found to be spent at least in a subtree, with one person more and without."""
    sides = [
        np.concatenate([look(table, side * RELEASES + run) for run in range(RELEASES)])
        for side, table in enumerate((TABLE, other))
    ]
    return audit_epsilon(*sides).lower_bound


def test_it_spends_what_it_states() -> None:
    assert tree.ANCHOR_BITS >= 10, "a key for each subtree"
    found = audit(lambda table, key: differences(table, key, 4 * EPSILON))
    assert found <= 4 * EPSILON
    assert found > EPSILON, "the look comes near enough to see twins that spend more"


def test_a_key_that_serves_two_tables_is_caught() -> None:
    """A second table: what it has under the same key takes the noise off the first one."""
    assert audit(lambda table, key: differences(table, key) - differences(TABLE, key)) > 2 * EPSILON


def test_noise_that_is_drawn_again_is_caught() -> None:
    """Attempts at one task, each with noise of its own and all of them seen, as when a lost block is computed again."""

    def attempts(table: np.ndarray, key: int) -> np.ndarray:
        tables = [wide_tree(table, Budget(epsilon=EPSILON), **SETTINGS).to_dense() for _ in range(12)]
        return np.asarray(sum(one[:, 0] - one[:, 1] for one in tables))

    assert audit(attempts) > EPSILON


def test_subtrees_that_share_a_key_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Siblings that do not know their number: their noise is the same, and goes when one is taken from the other."""
    child = NoiseKey.child
    monkeypatch.setattr(
        NoiseKey, "child", lambda self, label, number: child(self, label, 0 if label == "child" else number)
    )
    assert audit(lambda table, key: _beside(differences(table, key)), EVERY_OTHER) > EPSILON


def _beside(values: np.ndarray) -> np.ndarray:
    """Of each subtree what it has more than its neighbour, whom nobody joined."""
    beside: np.ndarray = values - np.roll(values, -1)
    return beside[::2]
