"""Weights chosen by public data and by sparsity do what they are chosen for."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare import Budget, CountTable, ResearchEntropy, Unit
from sudare.errors import ParameterError
from sudare.noise import discrete_laplace
from sudare.noise.occupied import estimate_non_zeros
from sudare.privacy import GaussianMeasurement, LaplaceMeasurement, sensitivity_of_counts
from sudare.refine import (
    nearest_integers,
    negative_l2,
    nonnegative_lasso,
    weight_by_public_data,
    weight_by_sparsity,
)

SENSITIVITY = sensitivity_of_counts(Unit())


def city(cells: int = 4096, share: float = 0.03) -> np.ndarray:
    """Few cells with people, most without."""
    counts = np.zeros(cells, dtype=np.int64)
    counts[: int(cells * share)] = np.random.default_rng(0).geometric(1 / 150, int(cells * share))
    return counts


REFINE: dict[Any, Any] = {
    "negative_l2": negative_l2,
    "nonnegative_lasso": nonnegative_lasso,
}


@pytest.mark.parametrize("method", list(REFINE))
def test_the_curve_is_that_of_the_refinement_itself(method: Any) -> None:
    """The naive twin: the same noise, all cells, nothing skipped."""
    counts = city(1000)
    candidates = [0, 0.2, 0.7] if method == "negative_l2" else [0, 5, 40]
    choice = weight_by_public_data(counts, 10, candidates, method=method, repeats=3, entropy=ResearchEntropy(4))
    source = ResearchEntropy(4)
    errors, shares = np.zeros(3), np.zeros(3)
    for _ in range(3):
        noisy = counts + discrete_laplace(10).draw(counts.size, source)
        for i, weight in enumerate(candidates):
            whole = nearest_integers(REFINE[method](noisy, counts.sum(), weight), int(counts.sum()))
            errors[i] += np.sqrt(((whole - counts) ** 2).mean()) / 3
            shares[i] += (whole > 0).mean() / 3
    assert [score.rmse for score in choice.curve] == pytest.approx(errors.tolist())
    assert [score.non_zero_share for score in choice.curve] == pytest.approx(shares.tolist())
    assert choice.weight == candidates[int(errors.argmin())]


def test_a_weight_helps_a_sparse_table() -> None:
    choice = weight_by_public_data(city(), Fraction(10), repeats=4, entropy=ResearchEntropy(1))
    by_weight = {score.weight: score.rmse for score in choice.curve}
    assert choice.weight > 0
    assert by_weight[choice.weight] < by_weight[0.0]
    assert by_weight[choice.weight] == min(by_weight.values())


@pytest.mark.parametrize("method", list(REFINE))
def test_measurements_and_tables_are_taken(method: Any) -> None:
    table = CountTable.from_dense(city(200).reshape(10, 20))
    for noise in (
        LaplaceMeasurement.for_budget(Budget(epsilon=1), SENSITIVITY),
        GaussianMeasurement.for_budget(Budget(rho=1), SENSITIVITY),
    ):
        choice = weight_by_public_data(table, noise, method=method, repeats=1)
        assert len(choice.curve) >= 20
        assert choice.method == method


@pytest.mark.parametrize("method", list(REFINE))
@given(seed=st.integers(0, 2**32), share=st.sampled_from([0.01, 0.03, 0.05, 0.1]))
def test_sparsity_is_met_and_not_by_more_than_needed(method: Any, seed: int, share: float) -> None:
    counts = city(1000)
    noisy = counts + np.random.default_rng(seed).laplace(scale=10, size=counts.size)
    total = int(counts.sum())

    def left(weight: float) -> float:
        return float((nearest_integers(REFINE[method](noisy, total, weight), total) > 0).mean())

    weight = weight_by_sparsity(noisy, total, share, method=method)
    assert left(weight) <= share
    if weight > 0:
        assert left(weight * (1 - 1e-6)) > share


def test_a_private_estimate_of_the_share_will_do() -> None:
    counts = city()
    estimate, event = estimate_non_zeros(counts, Budget(epsilon=0.5), entropy=ResearchEntropy(6))
    noisy = counts + discrete_laplace(10).draw(counts.size, ResearchEntropy(7))
    total = int(counts.sum())
    weight = weight_by_sparsity(noisy, total, Fraction(estimate, counts.size))
    shares = [(nearest_integers(negative_l2(noisy, total, w), total) > 0).mean() for w in (weight, 0)]
    assert 0 < weight < 1
    assert shares[0] <= estimate / counts.size < shares[1]
    assert event.cost == Budget(epsilon=0.5)


def test_corners_of_sparsity() -> None:
    assert weight_by_sparsity([5.0, 1.0, 0.0], 6, 1) == 0
    assert weight_by_sparsity([5.0, 1.0, 0.0], 0, 0.5) == 0
    assert weight_by_sparsity([5.0, 1.0, 0.0], 6, 0) == pytest.approx(1, abs=1e-5)
    assert weight_by_sparsity([5.0, 5.0], 10, 0.5) == pytest.approx(1, abs=1e-5)
    assert weight_by_sparsity([-5.0, -1.0], 3, 0.5, method="nonnegative_lasso") == 0


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({"public_counts": [1.5]}, "public_counts"),
        ({"public_counts": [-1]}, "public_counts"),
        ({"public_counts": []}, "public_counts"),
        ({"noise": "wide"}, "noise"),
        ({"noise": 0}, "noise"),
        ({"candidates": []}, "candidates"),
        ({"candidates": [1]}, "candidates"),
        ({"candidates": [True]}, "candidates"),
        ({"candidates": 0.5}, "candidates"),
        ({"method": "lasso"}, "method"),
        ({"repeats": 0}, "repeats"),
        ({"entropy": 5}, "entropy"),
    ],
)
def test_choices_that_are_refused(arguments: dict[str, Any], parameter: str) -> None:
    working: dict[str, Any] = {"public_counts": [1, 2, 3], "noise": 1}
    with pytest.raises(ParameterError, match=f"The '{parameter}' parameter of weight_by_public_data"):
        weight_by_public_data(**{**working, **arguments})


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({"values": [float("nan")]}, "values"),
        ({"total": 1.5}, "total"),
        ({"share_of_non_zeros": -0.1}, "share_of_non_zeros"),
        ({"share_of_non_zeros": 1.5}, "share_of_non_zeros"),
        ({"method": None}, "method"),
    ],
)
def test_sparsities_that_are_refused(arguments: dict[str, Any], parameter: str) -> None:
    working: dict[str, Any] = {"values": [1.0, 2.0], "total": 3, "share_of_non_zeros": 0.5}
    with pytest.raises(ParameterError, match=f"The '{parameter}' parameter of weight_by_sparsity"):
        weight_by_sparsity(**{**working, **arguments})
