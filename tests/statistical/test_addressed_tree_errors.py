"""Signed errors of the addressed tree: those of the plain wide tree, where people are, where nobody is, and along edges.

Means over runs are compared by their own uncertainty, as independent samples; noise is repeatable, so that no run fails by
chance. A control whose noise is half as wide again is told apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sudare import Budget, CountTable
from sudare.noise.addressed import NoiseKey
from sudare.tables import wide_tree
from sudare.tables.addressed.mechanism import addressed_wide_tree
from tests.contracts.subtree_runs import people

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("repeatable_noise")]

LIMIT = 6.0
"""Standard deviations of a difference of means: by the normal law 2e-9 for each part."""


def parts_of(errors: np.ndarray, truth: np.ndarray) -> list[float]:
    half = truth.shape[1] // 2  # nobody lives east of it
    west, east = errors[:, :half], errors[:, half:]
    return [
        *(float(part.sum()) for part in (errors, west, east, errors[0], errors[-1], errors[:, 0], errors[:, -1])),
        *(float(part.sum()) for part in (west[:, -1], east[:, 0], errors[truth > 0], west[truth[:, :half] == 0])),
    ]


def mean_errors(publish: Callable[[], Any], table: CountTable, runs: int) -> tuple[np.ndarray, np.ndarray]:
    """Of each part the mean error, and the variance of this mean."""
    truth = table.to_dense()
    errors = np.array([parts_of((publish().table.to_dense() - truth).astype(float), truth) for _ in range(runs)])
    return errors.mean(axis=0), errors.var(axis=0, ddof=1) / runs


def differences(ours: tuple[np.ndarray, np.ndarray], theirs: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """In standard deviations."""
    return np.asarray(np.abs(ours[0] - theirs[0]) / np.sqrt(ours[1] + theirs[1]))


@pytest.mark.parametrize("runs", [60, pytest.param(1000, marks=pytest.mark.deep)])
def test_its_errors_are_those_of_the_plain_wide_tree(runs: int) -> None:
    table, budget = people(), Budget(epsilon=1)
    ours = mean_errors(lambda: addressed_wide_tree(table, budget, NoiseKey.fresh()), table, runs)
    theirs = mean_errors(lambda: wide_tree(table, budget, estimate="plain"), table, runs)
    wider = mean_errors(lambda: wide_tree(table, Budget(epsilon="2/3"), estimate="plain"), table, runs)
    assert differences(ours, theirs).max() < LIMIT
    assert differences(wider, theirs).max() > LIMIT, "other noise must be noticed"
    assert abs(ours[0][0]) < LIMIT * np.sqrt(ours[1][0]), "the total has no bias"
    assert ours[0][2] > LIMIT * np.sqrt(ours[1][2]), "people are published where nobody is: counts are not below 0"
