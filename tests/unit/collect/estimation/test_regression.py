"""Regression on randomized answers: derivatives, known cases, and coverage on simulated truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

import sudare.collect
from sudare.collect import DenseTransition, UniformTransition
from sudare.collect.estimation import regression
from sudare.collect.estimation.regression import (
    RegressionFit,
    _logistic_terms,
    linear_regression_of_answer,
    linear_regression_on_answer,
    logistic_regression,
)
from sudare.collect.transitions.transition import Transition
from sudare.errors import GuaranteeError, ParameterError

Values = NDArray[np.float64]

COINS = UniformTransition(2, 3, 1)
THREE = DenseTransition([[0.7, 0.2, 0.1], [0.15, 0.7, 0.15], [0.1, 0.3, 0.6]])
SINGULAR = DenseTransition([[0.5, 0.5], [0.5, 0.5]])


def randomized(answers: NDArray[np.int64], transition: Transition, generator: np.random.Generator) -> NDArray[np.int64]:
    sums = np.cumsum(transition.probabilities(), axis=1)[answers]
    return np.asarray((generator.random(len(answers))[:, None] > sums).sum(axis=1))


def answers_of(scores: Values, generator: np.random.Generator) -> NDArray[np.int64]:
    weights = np.exp(scores)
    sums = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    return np.asarray((generator.random(len(scores))[:, None] > sums).sum(axis=1))


def covers(fits: list[RegressionFit], truth: Values, shrink: float = 1.0) -> bool:
    """Whether 95 % intervals hold each coefficient as often as they say: both binomial tails at 1e-9, with 1.5 % leeway."""
    hits = sum(np.abs(fit.coefficients - truth) <= 1.959964 * shrink * fit.standard_errors for fit in fits)
    return bool(
        (binom.cdf(hits, len(fits), 0.935) > 1e-9).all() and (binom.sf(hits - 1, len(fits), 0.965) > 1e-9).all()
    )


def test_derivatives_are_those_of_the_likelihood() -> None:
    generator = np.random.default_rng(1)
    design = np.c_[np.ones(50), generator.normal(size=(50, 2))]
    likelihoods = THREE.probabilities()[:, generator.integers(0, 3, 50)].T
    beta = generator.normal(size=(3, 2))
    _, gradient, hessian = _logistic_terms(design, likelihoods, beta)
    for place in range(6):
        step = np.zeros(6)
        step[place] = 1e-5
        high = _logistic_terms(design, likelihoods, beta + step.reshape(3, 2))
        low = _logistic_terms(design, likelihoods, beta - step.reshape(3, 2))
        assert (high[0] - low[0]) / 2e-5 == pytest.approx(gradient[place], rel=1e-5, abs=1e-6)
        assert np.allclose((high[1] - low[1]) / 2e-5, hessian[place], rtol=1e-5, atol=1e-6)


def test_without_randomizing_it_is_ordinary_regression() -> None:
    generator = np.random.default_rng(2)
    covariates = generator.normal(size=(500, 2))
    answers = answers_of(np.c_[np.zeros(500), 0.3 + covariates @ [1.0, -0.5]], generator)
    truth = UniformTransition(2, 1, 0)
    design = np.c_[np.ones(500), covariates]
    fit = logistic_regression(covariates, answers, truth, names=("x", "z"))
    residuals = answers - 1 / (1 + np.exp(-design @ fit.coefficients))
    assert np.allclose(design.T @ residuals, 0, atol=1e-6)
    linear = linear_regression_of_answer(covariates, answers, truth, [0, 1])
    assert np.allclose(linear.coefficients, np.linalg.lstsq(design, answers, rcond=None)[0])
    response = generator.normal(size=500) + answers
    on = linear_regression_on_answer(response, answers, truth, covariates)
    full = np.c_[answers == 0, answers == 1, covariates]
    assert np.allclose(on.coefficients, np.linalg.lstsq(full.astype(float), response, rcond=None)[0])
    assert fit.names == ("constant", "x", "z")
    assert fit.to_text().splitlines()[2].startswith("x")


def test_logistic_intervals_cover_and_half_of_them_do_not() -> None:
    generator = np.random.default_rng()
    truth = np.array([-0.5, 1.0])
    fits, plain = [], []
    for _ in range(250):
        covariates = generator.normal(size=(2000, 1))
        answers = answers_of(np.c_[np.zeros(2000), truth[0] + covariates @ truth[1:]], generator)
        reports = randomized(answers, COINS, generator)
        fits.append(logistic_regression(covariates, reports, COINS))
        plain.append(logistic_regression(covariates, reports, UniformTransition(2, 1, 0)))
    assert covers(fits, truth)
    assert not covers(fits, truth, shrink=0.5)
    assert not covers(plain, truth)  # as if the reports were the answers


def test_three_answers_cover() -> None:
    generator = np.random.default_rng()
    truth = np.array([[0.5, -0.3], [0.8, -0.6]])
    fits = []
    for _ in range(200):
        covariates = generator.normal(size=(3000, 1))
        design = np.c_[np.ones(3000), covariates]
        answers = answers_of(np.c_[np.zeros(3000), design @ truth], generator)
        fits.append(logistic_regression(covariates, randomized(answers, THREE, generator), THREE))
    assert fits[0].names[1] == "constant: value 2"
    assert covers(fits, truth.ravel())
    assert not covers(fits, truth.ravel(), shrink=0.5)


def test_linear_regression_of_an_answer_covers() -> None:
    generator = np.random.default_rng()
    fits = []
    for _ in range(400):
        covariates = generator.random((1000, 1))
        answers = (generator.random(1000) < 0.2 + 0.5 * covariates[:, 0]).astype(np.int64)
        fits.append(linear_regression_of_answer(covariates, randomized(answers, COINS, generator), COINS, [0, 1]))
    assert covers(fits, np.array([0.2, 0.5]))
    assert not covers(fits, np.array([0.2, 0.5]), shrink=0.5)


def test_linear_regression_on_an_answer_covers() -> None:
    generator = np.random.default_rng()
    truth = np.array([1.0, 3.0, -1.0, 0.7])
    fits = []
    for _ in range(400):
        answers = generator.integers(0, 3, 1500)
        # The covariate goes with the answer, as it would in life.
        covariates = generator.normal(size=1500) + 0.5 * answers
        response = truth[answers] + 0.7 * covariates + generator.normal(size=1500)
        reports = randomized(answers, THREE, generator)
        fits.append(linear_regression_on_answer(response, reports, THREE, covariates[:, None], labels="abc"))
    assert fits[0].names == ("a", "b", "c", "covariate 0")
    assert covers(fits, truth)
    assert not covers(fits, truth, shrink=0.5)


def test_what_cannot_be_estimated_is_said() -> None:
    told, covariates = np.tile([0, 1], 20), np.arange(40.0)[:, None]
    with pytest.raises(GuaranteeError):
        logistic_regression(covariates, told, SINGULAR)
    with pytest.raises(GuaranteeError, match="inverted"):
        linear_regression_of_answer(covariates, told, SINGULAR, [0, 1])
    with pytest.raises(GuaranteeError, match="determine"):
        logistic_regression(np.c_[covariates, covariates], told, COINS)
    with pytest.raises(GuaranteeError, match="determine"):
        linear_regression_on_answer(told * 1.0, told * 0, UniformTransition(2, 1, 0))


def test_bad_input() -> None:
    good: dict[str, Any] = {"covariates": np.ones((4, 1)), "reports": [0, 1, 0, 1], "transition": COINS}
    for name, value in (
        ("covariates", [1.0, 2]),
        ("covariates", [[np.nan]] * 4),
        ("covariates", [["a"]] * 4),
        ("reports", [0, 1]),
        ("reports", [0, 1, 2, 0]),
        ("reports", [0.0, 1, 0, 1]),
        ("transition", "coins"),
        ("names", ("a", "b")),
    ):
        with pytest.raises(ParameterError, match=name):
            logistic_regression(**{**good, name: value})
    with pytest.raises(ParameterError, match="scores"):
        linear_regression_of_answer(**good, scores=[1])
    with pytest.raises(ParameterError, match="response"):
        linear_regression_on_answer([1.0, np.inf, 0, 0], [0, 1, 0, 1], COINS)
    with pytest.raises(ParameterError, match="labels"):
        linear_regression_on_answer(np.arange(8.0), [0, 0, 0, 1, 1, 1, 1, 0], COINS, labels=("a",))
    with pytest.raises(ParameterError, match="level"):
        linear_regression_on_answer(np.arange(8.0), [0, 0, 0, 1, 1, 1, 1, 0], COINS).intervals(1.5)


def test_everything_is_exported_and_documented() -> None:
    page = Path(__file__).resolve().parents[4] / "docs" / "reference" / "api" / "collect.md"
    assert "::: sudare.collect.estimation.regression\n" in page.read_text(encoding="utf-8")
    for name in regression.__all__:
        assert name in sudare.collect.__all__
        assert getattr(sudare.collect, name) is getattr(regression, name)
