"""Cross tabulation: axis by axis as with the whole matrix, and what the estimates promise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sudare.collect import DenseTransition, KaryResponse, UniformTransition
from sudare.collect.estimation.crosstab import (
    RandomizedAttribute,
    count_reports,
    invert,
    iterative_bayes,
    maximum_likelihood,
    rounded,
)
from sudare.collect.estimation.crosstab_intervals import bootstrap_tables, fisher_variances
from sudare.collect.estimation.interior_point import fit_by_interior_point
from sudare.collect.estimation.likelihood import Likelihood, fit_by_bayes
from sudare.collect.transitions.kronecker import Kronecker
from sudare.collect.transitions.transition import Transition
from sudare.errors import GuaranteeError, ParameterError

Values = NDArray[np.float64]

COINS = UniformTransition(2, 3, 1)
SKEWED = DenseTransition([[0.75, 0.25], [0.4, 0.6]])
WIDE = DenseTransition([[0.5, 0.25, 0.25, 0], [0.125, 0.5, 0.25, 0.125], [0.125, 0.125, 0.25, 0.5]])
SINGULAR = DenseTransition([[0.5, 0.5], [0.5, 0.5]])


def random_dense(values: int, reports: int, generator: np.random.Generator) -> DenseTransition:
    weights = generator.multinomial(1000, generator.dirichlet(np.ones(reports)), size=values)
    weights[:, 0] += 1500  # more than all others together, so that there is an inverse
    return DenseTransition.from_weights(np.stack([np.roll(row, place) for place, row in enumerate(weights)]))


def random_problem(seed: int) -> tuple[list[Transition], NDArray[np.int64], NDArray[np.int64]]:
    """Transitions, a population and its reports."""
    generator = np.random.default_rng(seed)
    transitions: list[Transition] = []
    for _ in range(int(generator.integers(1, 4))):
        values = int(generator.integers(2, 5))
        if generator.random() < 0.5:
            transitions.append(UniformTransition(values, int(generator.integers(2, 20)), 1))
        else:
            transitions.append(random_dense(values, values + int(generator.integers(0, 3)), generator))
    operator = Kronecker(transitions)
    shares = generator.dirichlet(np.full(int(np.prod(operator.values)), 0.5))
    people = generator.multinomial(int(generator.integers(5, 3000)), shares).reshape(operator.values)
    return transitions, people, operator.draw(people, generator)


def whole_matrix(transitions: Sequence[Transition]) -> Values:
    matrix: Values = np.ones((1, 1))
    for transition in transitions:
        matrix = np.asarray(np.kron(matrix, transition.weights() / transition.total), dtype=np.float64)
    return matrix


def naive_bayes(told: Values, matrix: Values, start: Values, steps: int) -> Values:
    """The textbook's loop, with the whole matrix."""
    shares = start.copy()
    for _ in range(steps):
        after = np.zeros_like(shares)
        for j in range(matrix.shape[1]):
            expected = sum(matrix[i, j] * shares[i] for i in range(len(shares)))
            for i in range(len(shares)):
                if told[j] > 0:
                    after[i] += told[j] * matrix[i, j] * shares[i] / expected
        shares = after
    return shares


@given(seed=st.integers(0, 10**6))
def test_axis_by_axis_is_the_whole_matrix(seed: int) -> None:
    transitions, _, told = random_problem(seed)
    operator, matrix = Kronecker(transitions), whole_matrix(transitions)
    generator = np.random.default_rng(seed)
    values, reports = generator.normal(size=operator.values), generator.normal(size=operator.reports)
    assert np.allclose(operator.written_out(), matrix)
    assert np.allclose(operator.forward(values).ravel(), values.ravel() @ matrix)
    assert np.allclose(operator.backward(reports).ravel(), matrix @ reports.ravel())
    assert np.allclose(operator.squared_backward(reports).ravel(), matrix**2 @ reports.ravel())
    inverse = np.linalg.pinv(matrix)
    assert np.allclose(operator.solve(told.astype(float)).ravel(), told.ravel() @ inverse, atol=1e-6 * told.sum())
    squared = operator.squared_inverse(told.astype(float)).ravel()
    assert np.allclose(squared, told.ravel() @ inverse**2, rtol=1e-6)


@given(seed=st.integers(0, 10**6))
def test_plain_steps_are_those_of_the_naive_twin(seed: int) -> None:
    transitions, _, told = random_problem(seed)
    operator = Kronecker(transitions)
    start = np.full(operator.values, 1 / np.prod(operator.values))
    fit = fit_by_bayes(Likelihood(operator, told / told.sum()), start, 1e-15, 7, accelerate=False)
    if fit.iterations < 7:
        return
    twin = naive_bayes(told.ravel() / told.sum(), whole_matrix(transitions), start.ravel(), 7)
    assert np.allclose(fit.shares.ravel(), twin, rtol=1e-9, atol=1e-15)
    assert fit.shares.sum() == pytest.approx(1)


@given(seed=st.integers(0, 10**6), accelerate=st.booleans())
def test_the_likelihood_rises_and_the_gap_is_a_bound(seed: int, accelerate: bool) -> None:
    transitions, _, told = random_problem(seed)
    operator = Kronecker(transitions)
    likelihood = Likelihood(operator, told / told.sum())
    start = np.full(operator.values, 1 / np.prod(operator.values))
    best = fit_by_interior_point(likelihood, start, 1e-10)
    before = -np.inf
    for steps in range(0, 24, 2):
        fit = fit_by_bayes(likelihood, start, 1e-15, steps, accelerate)
        assert fit.log_likelihood >= before - 1e-13
        assert -1e-9 <= best.log_likelihood - fit.log_likelihood <= fit.gap + 1e-12
        before = fit.log_likelihood


@given(seed=st.integers(0, 10**6))
def test_both_ways_to_the_maximum_agree(seed: int) -> None:
    transitions, _, told = random_problem(seed)
    slow = iterative_bayes(told, transitions, tolerance=1e-5, most_iterations=100_000)
    fast = maximum_likelihood(told, transitions, tolerance=1e-9)
    assert slow.fit is not None
    assert fast.fit is not None
    assert fast.fit.converged
    assert slow.fit.converged
    assert 0 <= fast.fit.log_likelihood - slow.fit.log_likelihood + 1e-9 <= 1.1e-5
    expected = fast.operator.forward(fast.constrained)[told > 0]
    assert np.allclose(slow.operator.forward(slow.constrained)[told > 0], expected, rtol=0.05, atol=0.03 * told.sum())


def test_inside_the_simplex_the_maximum_is_the_inverse() -> None:
    told = np.array([[900, 700], [800, 700]])
    likely = maximum_likelihood(told, [COINS, SKEWED], tolerance=1e-10)
    unbiased = invert(told, [COINS, SKEWED])
    assert np.allclose(likely.constrained, unbiased.unbiased, rtol=1e-4)
    assert np.allclose(likely.unbiased, unbiased.unbiased)
    assert np.allclose(fisher_variances(likely), unbiased.variances, rtol=1e-3)


def test_a_report_split_in_two_that_mean_the_same_adds_no_information() -> None:
    told, split = np.array([520, 480]), np.array([260, 260, 480])
    other = DenseTransition([[0.375, 0.375, 0.25], [0.2, 0.2, 0.6]])
    one, two = maximum_likelihood(told, [SKEWED]), maximum_likelihood(split, [other])
    assert np.allclose(one.constrained, two.constrained, rtol=1e-3)
    assert np.allclose(fisher_variances(one), fisher_variances(two), rtol=1e-3)


@pytest.mark.parametrize("transitions", [[COINS, SKEWED], [WIDE], [UniformTransition(3, 5, 2), WIDE]])
def test_unbiased_with_the_variance_of_a_fixed_population(transitions: list[Transition]) -> None:
    operator, matrix = Kronecker(transitions), whole_matrix(transitions)
    people = np.random.default_rng(1).integers(0, 50, size=operator.values)
    expected = operator.forward(people.astype(float))
    assert np.allclose(operator.solve(expected), people)
    covariance = sum(n * (np.diag(row) - np.outer(row, row)) for n, row in zip(people.ravel(), matrix, strict=True))
    inverse = np.linalg.pinv(matrix)
    exact = np.diag(inverse.T @ covariance @ inverse)
    assert np.allclose(operator.squared_inverse(expected).ravel() - people.ravel(), exact)


def test_constrained_inversion_is_on_the_simplex() -> None:
    table = invert([[90, 3], [3, 4]], [COINS, COINS])
    assert table.unbiased.min() < 0
    assert table.constrained.min() >= 0
    assert table.constrained.sum() == pytest.approx(100)
    low, high = table.intervals()
    assert (low < table.unbiased).all()
    assert (high - table.unbiased == pytest.approx(1.959964 * table.standard_errors)) is True


def test_a_singular_matrix_is_named_and_the_other_estimate_works() -> None:
    attributes = [RandomizedAttribute("sex", COINS), RandomizedAttribute("town", SINGULAR)]
    with pytest.raises(GuaranteeError, match=r"'town'.*iterative Bayes"):
        invert([[5, 6], [7, 8]], attributes)
    table = iterative_bayes([[500, 600], [700, 800]], attributes)
    assert table.constrained.sum() == pytest.approx(2600)
    margin = table.margin("sex")
    assert margin.constrained[0] == pytest.approx(invert([1100, 1500], [COINS]).unbiased[0], rel=0.05)


def test_margins_are_those_of_the_margin_of_the_reports() -> None:
    attributes = [RandomizedAttribute("a", COINS), RandomizedAttribute("b", SKEWED), RandomizedAttribute("c", WIDE)]
    told = np.random.default_rng(2).integers(1, 99, size=(2, 2, 4))
    table = invert(told, attributes)
    margin = table.margin("c", "a")
    own = invert(told.sum(axis=1).T, [attributes[2], attributes[0]])
    assert margin.names == ("c", "a")
    assert np.allclose(margin.unbiased, own.unbiased)
    assert np.allclose(margin.variances, own.variances)
    assert np.allclose(margin.constrained, table.constrained.sum(axis=1).T)
    square = invert(told.sum(axis=2), attributes[:2])
    assert np.allclose(square.margin("a").unbiased, square.unbiased.sum(axis=1))
    assert (margin.intervals()[0] <= margin.intervals()[1]).all()
    for wrong in ((), ("a", "a"), ("d",)):
        with pytest.raises(ParameterError, match="margin"):
            table.margin(*wrong)


def test_whole_tables_and_text() -> None:
    sex = RandomizedAttribute.of("sex", KaryResponse(("f", "m"), 1))
    age = RandomizedAttribute("age", WIDE, ("young", "middle", "old"))
    table = iterative_bayes(np.arange(1, 9).reshape(2, 4) * 100, [sex, age])
    counted = table.to_table()
    assert counted.total == table.people == 3600
    assert counted.domain.shape == (2, 3)
    assert table.labels == (("f", "m"), ("young", "middle", "old"))
    text = table.to_text(most_rows=2)
    assert text.splitlines()[0].split() == ["sex", "age", "people"], (
        "errors of inversion are not those of this estimate"
    )
    inverted = invert(table.reports[:, :2], [sex, RandomizedAttribute("age", COINS)])
    head, *cells = inverted.to_text().splitlines()
    assert head.split() == ["sex", "age", "people", "standard", "error"]
    assert float(cells[0].split()[-1].replace(",", "")) == pytest.approx(
        inverted.standard_errors.ravel()[inverted.constrained.argmax()], abs=0.06
    )
    assert text.endswith("... and 4 more cells")
    assert repr(table) == "CrossTab(sex x age, shape=(2, 3), method='iterative-bayes')"
    assert rounded(np.array([0.5, 0.5, 1.0]), 2).sum() == 2


def test_counting_records() -> None:
    sex = RandomizedAttribute("sex", COINS, ("f", "m"))
    age = RandomizedAttribute("age", UniformTransition(3, 3, 1), edges=(0, 18, 65, 120))
    told = count_reports({"age": [0, 18, 17.5, 120], "sex": ["f", "f", "m", "m"]}, [sex, age])
    assert told.tolist() == [[1, 1, 0], [1, 0, 1]]
    assert age.labels == ("0 - 18", "18 - 65", "65 - 120")
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"sex": ["f"]}, "no column 'age'"),
        ({"sex": ["f"], "age": [1, 2]}, "equal length"),
        ({"sex": ["x"], "age": [1]}, "one of 'f', 'm'"),
        ({"sex": ["f"], "age": [121]}, "numbers from 0 to 120"),
        ({"sex": ["f"], "age": [np.nan]}, "numbers from 0 to 120"),
        ({"sex": ["f"], "age": ["old"]}, "numbers from 0 to 120"),
    ]
    for columns, match in wrong:
        with pytest.raises(ParameterError, match=match):
            count_reports(columns, [sex, age])


def test_holding_out_keeps_the_noise_of_sparse_tables_out() -> None:
    generator = np.random.default_rng(4)
    distance = np.abs(np.subtract.outer(np.arange(60), np.arange(60)))
    weights = np.rint(10**6 * np.exp(-distance / 8)).astype(int)
    weights[np.arange(60), np.arange(60)] += weights.sum(axis=1).max() - weights.sum(axis=1)
    blurred = DenseTransition.from_weights(weights)
    people = generator.multinomial(2000, np.exp(-0.5 * ((np.arange(60) - 25) / 9) ** 2) / 22.56)
    told = Kronecker([blurred]).draw(people, generator)
    stopped, finished = iterative_bayes(told, [blurred], hold_out=0.2), maximum_likelihood(told, [blurred])
    assert stopped.fit is not None
    assert 0 < stopped.fit.iterations < 500
    error = [np.abs(table.constrained - people).sum() for table in (stopped, finished)]
    assert error[0] < 0.8 * error[1]


def test_intervals_choose_their_method() -> None:
    inside = maximum_likelihood([[900, 700], [500, 600]], [COINS, COINS])
    low, high = inside.intervals()
    assert np.allclose(high - low, 2 * 1.959964 * np.sqrt(fisher_variances(inside)), rtol=1e-4)
    edge = maximum_likelihood([300, 100], [UniformTransition(2, 3, 1)])
    with pytest.raises(GuaranteeError, match="bootstrap"):
        edge.intervals(method="fisher")
    low, high = edge.intervals(replicates=40, seed=1)
    assert (low <= edge.constrained + 1e-6).all()
    assert (high >= edge.constrained - 1e-6).all()
    assert low.min() >= 0
    assert high.max() <= 400
    again = edge.intervals(replicates=40, seed=1)
    assert np.array_equal(low, again[0])
    with pytest.raises(ParameterError, match="unbiased"):
        invert([300, 100], [COINS]).intervals(method="bootstrap")


def test_the_bootstrap_draws_reports_of_the_population() -> None:
    transitions: list[Transition] = [UniformTransition(3, 5, 1), WIDE]
    people = np.array([[4000, 0, 1000], [0, 3000, 0], [500, 500, 1000]])
    operator, generator = Kronecker(transitions), np.random.default_rng(3)
    drawn = np.mean([operator.draw(people, generator) for _ in range(400)], axis=0)
    assert drawn.sum() == pytest.approx(people.sum())
    assert np.allclose(drawn, operator.forward(people.astype(float)), atol=5 * np.sqrt(3000 / 400) * 2)
    table = maximum_likelihood([300, 100], [COINS])
    assert bootstrap_tables(table, 20, 0).shape == (20, 2)


def test_bad_input() -> None:
    for function in (invert, iterative_bayes, maximum_likelihood):
        for counts in ([1, 2, 3], [[1, 2]], [0, 0], [-1, 2], [0.5, 1.5], ["a", "b"]):
            with pytest.raises(ParameterError, match="counts"):
                function(counts, [COINS])
        for attributes in ([], COINS, [3], "ab"):
            with pytest.raises(ParameterError, match="attributes"):
                function([1, 2], attributes)  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match="twice"):
            function([[1, 2], [3, 4]], [RandomizedAttribute("a", COINS)] * 2)
    never = DenseTransition([[0.5, 0.5, 0], [0.25, 0.75, 0]])
    with pytest.raises(ParameterError, match="no value of axis 0 leads to"):
        iterative_bayes([1, 2, 3], [never])
    for name, value in (
        ("tolerance", 0),
        ("tolerance", np.nan),
        ("most_iterations", 0),
        ("start", "x"),
        ("hold_out", 1),
    ):
        options: dict[str, Any] = {name: value}
        with pytest.raises(ParameterError, match=name):
            iterative_bayes([1, 2], [COINS], **options)
    table = iterative_bayes([10, 20], [COINS])
    unfit: list[dict[str, Any]] = [
        {"level": 1.0},
        {"level": 2},
        {"method": "x"},
        {"method": "bootstrap", "replicates": 3},
    ]
    for options in unfit:
        with pytest.raises(ParameterError):
            table.intervals(**options)
    with pytest.raises(ParameterError, match="different labels"):
        RandomizedAttribute("a", COINS, ("x", "x"))
    with pytest.raises(ParameterError, match="ascending"):
        RandomizedAttribute("a", COINS, edges=(0, 2, 1))
    with pytest.raises(ParameterError, match="name"):
        RandomizedAttribute(" ", COINS)
    with pytest.raises(ParameterError, match="Transition"):
        RandomizedAttribute("a", 3)  # type: ignore[arg-type]
