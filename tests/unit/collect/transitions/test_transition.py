"""Transitions: exact draws from given words, ratios and rates by brute force, inverses."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.collect import DenseTransition, UniformTransition
from sudare.collect.transitions import transition
from sudare.collect.transitions.transition import BUFFER_WORDS, Transition
from sudare.errors import GuaranteeError, ParameterError
from sudare.kernels.collection.responses import count_places
from sudare.noise import ResearchEntropy
from tests.scripted import ScriptedEntropy

UNIFORM = [
    (2, 3, 1),
    (2, 1, 3),
    (5, 9, 2),
    (5, 2, 9),
    (16, 1 << 59, 7),
    (3, 0, 1),
    (3, 1, 0),
    (4, 5, 5),
    (7, (1 << 61) - 5, 1),
]
weights = st.integers(2, 4).flatmap(
    lambda columns: st.lists(st.lists(st.integers(1, 50), min_size=columns, max_size=columns), min_size=2, max_size=4)
)


def equal_sums(rows: list[list[int]]) -> list[list[int]]:
    """Another column makes all sums equal."""
    largest = max(map(sum, rows)) + 1
    return [[*row, largest - sum(row)] for row in rows]


def naive_numbers(total: int, words: list[int]) -> list[int]:
    last_used = 2**64 - 2**64 % total - 1
    return [word % total for word in words if word <= last_used]


def naive_uniform(law: UniformTransition, place: int, number: int) -> int:
    """Count the numbers out: first every value in turn, then what is left of the larger weight."""
    least = min(law.kept, law.other)
    for value in range(law.values):
        if number < least:
            return value
        number -= least
    if law.kept >= law.other:
        return place
    for value in range(law.values):
        if value != place:
            if number < law.other - law.kept:
                return value
            number -= law.other - law.kept
    raise AssertionError


def naive_row(law: DenseTransition, place: int, number: int) -> int:
    for report, weight in enumerate(law.weights()[place].tolist()):
        if number < weight:
            return report
        number -= weight
    raise AssertionError


def words_near(total: int, cuts: list[int]) -> list[int]:
    """Words on both sides of every cut, and some that are dropped."""
    last_used = 2**64 - 2**64 % total - 1
    near = [cut + step for cut in cuts for step in (-1, 0, 1) if 0 <= cut + step < total]
    shift = total * (2**64 // total - 1)
    return [*near, *(number + shift for number in near), last_used, *range(last_used + 1, min(last_used + 4, 2**64))]


@pytest.mark.parametrize(("values", "kept", "other"), UNIFORM)
def test_uniform_draws_are_those_of_a_naive_twin(values: int, kept: int, other: int) -> None:
    law = UniformTransition(values, kept, other)
    least = min(kept, other)
    cuts = [i * least for i in range(values + 1)]
    cuts += [values * least + i * abs(kept - other) for i in range(values)]
    random_words = [random.Random(7).getrandbits(64) for _ in range(300)]
    words = words_near(law.total, cuts) + random_words
    expected = naive_numbers(law.total, words)
    places = np.arange(len(expected)) % values
    drawn = law.draw(places, ScriptedEntropy(words))
    assert drawn.tolist() == [naive_uniform(law, p, n) for p, n in zip(places.tolist(), expected, strict=True)]


def test_quotients_are_exact_at_the_largest_sizes() -> None:
    law = UniformTransition(1 << 31, 1 << 31, (1 << 31) - 1)
    chooser = random.Random(3)
    quotients = [chooser.randrange(1 << 31) for _ in range(2000)]
    numbers = [q * law.other + step for q in quotients for step in (-1, 0, 1) if q * law.other + step >= 0]
    drawn = law.draw(np.zeros(len(numbers), dtype=np.int64), ScriptedEntropy(numbers))
    assert drawn.tolist() == [number // law.other for number in numbers]


@given(rows=weights, seed=st.integers(0, 1000))
def test_dense_draws_are_those_of_a_naive_twin(rows: list[list[int]], seed: int) -> None:
    law = DenseTransition.from_weights(equal_sums(rows))
    words = words_near(law.total, np.cumsum(law.weights(), axis=1).ravel().tolist())
    words += [random.Random(seed).getrandbits(64) for _ in range(20)]
    expected = naive_numbers(law.total, words)
    places = np.arange(len(expected)) % law.values
    drawn = law.draw(places, ScriptedEntropy(words))
    assert drawn.tolist() == [naive_row(law, p, n) for p, n in zip(places.tolist(), expected, strict=True)]


def test_dense_draws_with_a_power_of_two_and_a_column_of_zeros() -> None:
    law = DenseTransition.from_weights([[0, 3, 0, 5], [4, 0, 4, 0]])
    words = list(range(16))
    drawn = law.draw(np.array([0, 1] * 8), ScriptedEntropy(words))
    assert drawn.tolist() == [naive_row(law, i % 2, i % 8) for i in words]


@pytest.mark.parametrize(
    "law", [UniformTransition(3, 5, 1), UniformTransition(4, (1 << 61) - 8, 3), UniformTransition(2, 3, 1)]
)
def test_pieces_of_words_do_not_matter(law: UniformTransition, monkeypatch: pytest.MonkeyPatch) -> None:
    places = np.arange(3 * BUFFER_WORDS + 5) % law.values
    drawn = law.draw(places, ResearchEntropy(5))
    monkeypatch.setattr(transition, "BUFFER_WORDS", 999)
    assert (law.draw(places, ResearchEntropy(5)) == drawn).all()


@pytest.mark.parametrize(("values", "kept", "other"), UNIFORM)
def test_uniform_is_the_dense_matrix(values: int, kept: int, other: int) -> None:
    law = UniformTransition(values, kept, other)
    matrix = law.weights()
    assert (matrix.sum(axis=1) == law.total).all()
    dense = DenseTransition.from_weights(matrix)
    assert law.largest_ratio() == dense.largest_ratio()
    assert law.anonymity_rate() == dense.anonymity_rate()
    shares = np.random.default_rng(1).dirichlet(np.ones(values), size=4)
    assert np.allclose(law.forward(shares), dense.forward(shares))
    assert np.allclose(law.backward(shares), dense.backward(shares))
    if kept != other:
        assert np.allclose(law.solve(shares), dense.solve(shares))
        assert np.allclose(law.squared_inverse(shares), dense.squared_inverse(shares))
        assert np.allclose(law.solve(law.forward(shares)), shares)


@given(rows=weights)
def test_ratio_and_rate_by_brute_force(rows: list[list[int]]) -> None:
    law = DenseTransition.from_weights(equal_sums(rows))
    w = law.weights().tolist()
    values, reports = range(law.values), range(law.reports)
    ratio = max(Fraction(w[u][x], w[v][x]) for u in values for v in values for x in reports)
    rate = min(
        Fraction(w[v][x] * w[u][y], w[u][x] * w[v][y])
        for u, v, x, y in itertools.product(values, values, reports, reports)
    )
    assert law.largest_ratio() == ratio
    assert law.anonymity_rate() == rate
    assert law.epsilon() == 0 if ratio == 1 else np.isclose(float(law.epsilon()), np.log(float(ratio)))


def test_near_ties_are_decided_by_fractions() -> None:
    big = 1 << 60
    law = DenseTransition.from_weights([[big, big - 1, 3], [big - 1, big - 2, 5]])
    assert law.largest_ratio() == Fraction(5, 3)
    assert law.anonymity_rate() == Fraction(3, 5) / Fraction(big - 1, big - 2)


@pytest.mark.parametrize("law", [UniformTransition(3, 5, 0), DenseTransition([[1, 0], [0.5, 0.5]])])
def test_reports_that_rule_out_values(law: Transition) -> None:
    assert law.largest_ratio() is None
    assert law.anonymity_rate() == 0
    with pytest.raises(GuaranteeError, match="no epsilon"):
        law.epsilon()


@pytest.mark.parametrize("law", [UniformTransition(3, 2, 2), DenseTransition([[0.5, 0.5], [0.5, 0.5]])])
def test_nothing_to_tell(law: Transition) -> None:
    assert law.largest_ratio() == 1
    assert law.epsilon() == 0
    assert law.anonymity_rate() == 1
    with pytest.raises(GuaranteeError, match="iterative Bayes"):
        law.solve(np.array([0.5] * law.reports))


def test_more_reports_than_values() -> None:
    law = DenseTransition(
        [[Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)], [Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)]]
    )
    assert law.total == 6
    assert np.allclose(law.solve(law.forward(np.array([0.3, 0.7]))), [0.3, 0.7])
    with pytest.raises(GuaranteeError):
        DenseTransition([[0.5, 0.5], [0.25, 0.75], [0.1, 0.9]]).solve(np.array([0.5, 0.5]))


def test_a_column_that_nobody_reports_is_left_out() -> None:
    law = DenseTransition.from_weights([[3, 1, 0], [1, 3, 0]])
    assert law.largest_ratio() == 3
    assert law.anonymity_rate() == Fraction(1, 9)


def test_equality_is_of_probabilities() -> None:
    assert DenseTransition([[0.75, 0.25], [0.25, 0.75]]) == DenseTransition.from_weights([[30, 10], [10, 30]])
    assert hash(DenseTransition.from_weights([[3, 1], [1, 3]])) == hash(DenseTransition.from_weights([[6, 2], [2, 6]]))
    big, half = (1 << 62) - 4, 1 << 61
    assert DenseTransition.from_weights([[big, 4], [4, big]]) != DenseTransition.from_weights(
        [[half, half], [half, half]]
    )
    assert DenseTransition.from_weights([[1, 2], [2, 1]]) != "a matrix"


def test_weights_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        DenseTransition([[0.5, 0.5], [0.25, 0.75]]).weights()[0, 0] = 1


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([[0.5, 0.4], [0.5, 0.5]], "add up to exactly 1"),
        ([[1.5, -0.5], [0.5, 0.5]], "add up to exactly 1"),
        ([[0.333] * 3] * 2, "Fractions are exact"),
        ([[0.5, 0.5]], "two rows at least"),
        ([[0.5, 0.5], [1]], "equally long"),
        ([[], []], "two rows at least"),
        (5, "for each value"),
        ([[float("nan"), 1], [0, 1]], "for each value"),
        ([[Fraction(1, 2**61 - 1), 1 - Fraction(1, 2**61 - 1)], [Fraction(1, 3), Fraction(2, 3)]], "denominator"),
    ],
)
def test_matrices_that_are_none(rows: object, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        DenseTransition(rows)


@pytest.mark.parametrize(
    "matrix",
    [[[1, 2], [1, 1]], [[0, 0], [0, 0]], [[-1, 2], [0, 1]], [[1, 1]], [[0.5, 0.5]] * 2, [1, 2], [[1 << 62, 1]] * 2],
)
def test_weights_that_are_none(matrix: object) -> None:
    with pytest.raises(ParameterError):
        DenseTransition.from_weights(matrix)  # type: ignore[arg-type]


@pytest.mark.parametrize("law", [(1, 3, 1), (2, -1, 3), (2, 0, 0), (2, 1 << 62, 1), (2, 1.5, 1)])
def test_uniform_weights_that_are_none(law: tuple[int, int, int]) -> None:
    with pytest.raises(ParameterError):
        UniformTransition(*law)


def test_large_matrices_are_not_written_out() -> None:
    law = UniformTransition(1 << 20, 1 << 40, 1)
    assert law.largest_ratio() == 1 << 40
    with pytest.raises(ParameterError, match="when written out"):
        law.weights()


@pytest.mark.parametrize("size", [0, 1, 3, 4, 1001])
def test_counting(size: int) -> None:
    places = np.random.default_rng(size).integers(0, 7, size)
    counts = np.full(7, -1)
    assert count_places(places, counts)
    assert counts.tolist() == np.bincount(places, minlength=7).tolist()


@pytest.mark.parametrize("wrong", [-1, 7, 8, -(2**63), 2**63 - 1])
@pytest.mark.parametrize("where", [0, 4, 8])
def test_counting_notices_what_is_outside(wrong: int, where: int) -> None:
    places = np.zeros(9, dtype=np.int64)
    places[where] = wrong
    assert not count_places(places, np.zeros(7, dtype=np.int64))
