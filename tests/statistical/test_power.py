"""The number of runs is enough for a broken twin, and not much more than enough."""

from __future__ import annotations

import numpy as np
import pytest

from sudare.attacks import audit_epsilon
from sudare.noise import discrete_laplace
from tests.statistical.power import runs_to_refute

REPEATS = 40


@pytest.mark.parametrize("spent", [2, 3])
def test_so_many_runs_catch_a_twin(spent: int) -> None:
    """Each of 40 audits does: were it one in a hundred that fails, all would do so with probability 0.67 only."""
    runs, noise = runs_to_refute(1, spent), discrete_laplace(1 / spent)

    def caught(runs: int) -> int:
        views = noise.draw((REPEATS, 2, runs)) + np.array([[10], [11]])
        return sum(audit_epsilon(*pair).refutes(1) for pair in views)

    assert caught(runs) == REPEATS
    assert caught(runs // 2) < REPEATS


def test_less_is_harder_to_catch() -> None:
    needed = [runs_to_refute(1, spent) for spent in (1.8, 2, 2.5, 3)]
    assert needed == sorted(needed, reverse=True)
    assert runs_to_refute(1, 2, power=0.5) < runs_to_refute(1, 2)
