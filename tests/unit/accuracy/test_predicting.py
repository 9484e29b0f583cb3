"""Predictions: by formula they are the truth; by trials they hold for tables that they have not seen."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import sudare
from sudare.accuracy import Accuracy, invent_table, predict_accuracy
from sudare.accuracy.groupings import groupings_of
from sudare.accuracy.linear import mean_square_of, noise_variance
from sudare.accuracy.trials import Tried, try_out
from sudare.examples import invent_country
from sudare.tables.registry import mechanism_named, mechanism_names

ONE = sudare.Budget(epsilon=1)
TENTH = sudare.Budget(epsilon=0.1)
DOMAIN = sudare.Domain.of_shape((20, 12, 3))
NEED_A_HIERARCHY = {"topdown"}


def publish(
    table: sudare.CountTable, budget: sudare.Budget, method: Any, settings: dict[str, Any], entropy: Any
) -> Any:
    return sudare.publish(table, budget, method, entropy=entropy, **settings)


def measured(table: sudare.CountTable, budget: sudare.Budget, method: str, runs: int, **settings: Any) -> list[Tried]:
    draw = partial(publish, table, budget, method, settings)
    return try_out(table, draw, groupings_of(table.domain), runs, 500)


@pytest.mark.parametrize("method", ["auto", *mechanism_names()])
def test_every_method_is_predicted(method: str) -> None:
    domain = DOMAIN
    if method in NEED_A_HIERARCHY:
        cities = sudare.Hierarchy.from_levels("city", {"prefecture": [1, 1, 2], "city": [11, 12, 21]})
        domain = sudare.Domain((cities, sudare.Category("sex", ("f", "m"))))
    budget = sudare.Budget(rho=0.1) if method == "gaussian" else ONE
    predicted = predict_accuracy(domain, budget, method, people=5000)
    assert [error.kind for error in predicted.errors] == [grouping.kind for grouping in groupings_of(domain)]
    for error in predicted.errors:
        assert 0 <= error.low <= error.rmse <= error.high
        assert error.rmse > 0
        assert error.systematic <= max(error.systematic_high, 1e-12)
    assert "total" in str(predicted)
    assert "総計" in predicted.explain("ja")


@pytest.mark.parametrize(("shape", "epsilon"), [((5,), 0.5), ((6, 5), 2), ((4, 3, 2), 1)])
def test_formulas_are_the_truth(shape: tuple[int, ...], epsilon: float) -> None:
    """Privelet's and flat noise's mean squared errors, from many draws of the mechanisms themselves."""
    domain, budget, runs = sudare.Domain.of_shape(shape), sudare.Budget(epsilon=epsilon), 800
    table = sudare.CountTable.from_dense(np.full(shape, 10_000), domain)
    for method in ("laplace", "privelet"):
        predicted = predict_accuracy(domain, budget, method)
        assert predicted.basis == "formula"
        for error, found in zip(predicted.errors, measured(table, budget, method, runs), strict=True):
            # Rounding to whole cells adds at most a quarter each; a mean of squares is off by a few percent in so many runs.
            assert found.mean_square == pytest.approx(error.rmse**2, rel=0.2, abs=0.25 * domain.cells / error.groups)
            assert abs(found.mean_error) < 4.5 * error.rmse / np.sqrt(runs)


def test_weights_of_privelet_against_its_matrix() -> None:
    """The naive twin: the transform's inverse as a matrix."""
    length, padded = 6, 8
    rows = [np.ones(padded)]
    for height in (3, 2, 1):
        for node in range(padded >> height):
            row = np.zeros(padded)
            row[node << height : (node << height) + (1 << height - 1)] = 1
            row[(node << height) + (1 << height - 1) : (node + 1) << height] = -1
            rows.append(row)
    inverse = np.linalg.inv(np.array(rows))[:length]
    alone = mechanism_named("privelet").noise_alone
    assert alone is not None
    for grouping in groupings_of(sudare.Domain.of_shape((length,))):
        (partition,) = grouping.partitions
        first, end = partition.ranges(100)
        squares = [float((inverse[a:b].sum(axis=0) ** 2).sum()) for a, b in zip(first, end, strict=True)]
        assert mean_square_of(grouping, 1.0, alone.factor) == pytest.approx(np.mean(squares))


@pytest.mark.parametrize("epsilon", [0.03, 0.4, 1, 3.5])
def test_variances_of_discrete_noise(epsilon: float) -> None:
    one = sudare.privacy.sensitivity_of_counts(sudare.Unit())
    values = np.arange(-4000, 4001)
    laplace = sudare.privacy.LaplaceMeasurement.for_budget(sudare.Budget(epsilon=epsilon), one)
    weights = np.exp(-np.abs(values) / float(laplace.scale))
    assert noise_variance(laplace) == pytest.approx(float((values**2 * weights).sum() / weights.sum()))
    gaussian = sudare.privacy.GaussianMeasurement.for_budget(sudare.Budget(rho=epsilon), one)
    weights = np.exp(-(values**2) / (2 * float(gaussian.sigma_squared)))
    assert noise_variance(gaussian) == pytest.approx(float((values**2 * weights).sum() / weights.sum()), rel=1e-6)


@pytest.mark.parametrize("method", ["auto", "nn-wavelet", "topdown-bisection"])
def test_the_invented_country_is_as_predicted(method: str) -> None:
    """Another country, by another inventor: errors within the stated interval, from the domain and a rounded total alone."""
    country = invent_country(128, people=52_000)
    predicted = predict_accuracy(country.domain, TENTH, method, people=50_000)
    assert predicted.basis == "invented"
    for error, found in zip(predicted.errors, measured(country, TENTH, method, 6), strict=True):
        assert error.low <= np.sqrt(found.mean_square) <= error.high, error
        smallest = max(found.systematic_square - 3 * found.resolution, 0.0)
        assert np.sqrt(smallest) <= max(error.systematic_high, 0.1 * error.rmse), error


def test_a_wrong_noise_is_seen() -> None:
    """The control: a tenth of the budget is outside the interval of the whole one."""
    country = invent_country(128, people=52_000)
    predicted = predict_accuracy(country.domain, ONE, "nn-wavelet", people=50_000)
    outside = [
        not error.low <= np.sqrt(found.mean_square) <= error.high
        for error, found in zip(predicted.errors, measured(country, TENTH, "nn-wavelet", 4), strict=True)
    ]
    assert np.mean(outside) > 0.7


def test_intervals_state_their_percentage() -> None:
    expected = predict_accuracy(sudare.Domain.of_shape((8, 8)), sudare.Budget(epsilon=1), "laplace")
    assert "95 % interval" in expected.explain("en").splitlines()[2]
    assert "95 % 区間" in expected.explain("ja").splitlines()[2]
    assert "95 times out of 100" in expected.note("en")
    assert "100回に95回" in expected.note("ja")


def test_a_public_table_that_stands_in_narrows_the_interval() -> None:
    table = invent_table(DOMAIN, 3000, 9)
    known = predict_accuracy(DOMAIN, ONE, "nn-wavelet", stand_in=table)
    guessed = predict_accuracy(DOMAIN, ONE, "nn-wavelet")
    assert (known.basis, known.people) == ("stand-in", (3000,))
    assert known.errors[0].high / known.errors[0].low < guessed.errors[0].high / guessed.errors[0].low


@pytest.mark.parametrize("side", [64, pytest.param(128, marks=pytest.mark.deep)])
def test_a_reference_is_part_of_the_prediction(side: int) -> None:
    before = invent_country(side, people=200_000 * side**2 // 128**2)
    without = predict_accuracy(before.domain, sudare.Budget(epsilon=0.05), stand_in=before)
    with_it = predict_accuracy(before.domain, sudare.Budget(epsilon=0.05), reference=before)
    assert with_it.errors[0].rmse < 0.8 * without.errors[0].rmse


def test_nothing_is_drawn_from_the_secure_source(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: object, count: int) -> None:
        raise AssertionError("a prediction needs no secure bits")

    monkeypatch.setattr("sudare.noise.entropy.SecureEntropy.words", refuse)
    predict_accuracy(DOMAIN, ONE, people=1000)


@pytest.mark.parametrize(
    ("parameter", "wrong"),
    [("people", 0), ("people", "many"), ("runs", 1), ("stand_in", [1, 2]), ("stand_in", np.zeros((2, 2), dtype=int))],
)
def test_what_is_refused(parameter: str, wrong: Any) -> None:
    with pytest.raises(sudare.errors.ParameterError) as error:
        predict_accuracy(DOMAIN, ONE, "nn-wavelet", **{parameter: wrong})
    assert error.value.parameter == parameter


def test_plain_values(tmp_path: Any) -> None:
    import json

    predicted = predict_accuracy(DOMAIN, ONE, "nn-wavelet", people=1000)
    assert isinstance(predicted, Accuracy)
    assert json.loads(json.dumps(predicted.to_dict()))["errors"][0]["kind"] == "area"
