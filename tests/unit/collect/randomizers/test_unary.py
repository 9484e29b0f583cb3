"""Unary encoding: closed forms against the whole matrix, kernels against slow twins from the same words."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.collect import DenseTransition, UnaryResponse
from sudare.collect.randomizers import unary
from sudare.collect.randomizers.unary import fill_biased
from sudare.errors import ParameterError
from sudare.noise import ResearchEntropy
from tests.scripted import ScriptedEntropy
from tests.unit.collect.randomizers.test_categories import is_at_most_exp

Rule = Literal["optimized", "symmetric"]
RULES: tuple[Rule, ...] = ("optimized", "symmetric")


def naive_biased(lanes: int, weight: int, words: list[int]) -> list[list[bool]]:
    """Each of 64 bits of each lane by itself; words are taken from the front, one a lane and round, while a bit is open."""
    digits = [weight >> place & 1 for place in range(59, -1, -1)]
    while digits and not digits[-1]:
        digits.pop()
    result: list[list[bool | None]] = [[None] * 64 for _ in range(lanes)]
    for digit in digits:
        for lane in range(lanes):
            if None not in result[lane]:
                continue
            word = words.pop(0)
            for bit in range(64):
                if result[lane][bit] is None and (word >> bit & 1) != digit:
                    result[lane][bit] = digit == 1
    return [[bool(bit) for bit in lane] for lane in result]


@given(
    weight=st.one_of(st.integers(0, (1 << 60) - 1), st.integers(0, 15).map(lambda x: x << 56)),
    lanes=st.integers(1, 4),
    seed=st.integers(0, 10**6),
)
def test_biased_bits_are_those_of_a_naive_twin(weight: int, lanes: int, seed: int) -> None:
    chooser = random.Random(seed)
    words = [chooser.getrandbits(64) for _ in range(300)]
    out, source = np.empty(lanes, dtype=np.uint64), ScriptedEntropy(words)
    fill_biased(out, weight, source)
    rest = list(words)
    expected = naive_biased(lanes, weight, rest)
    assert [[bool(int(word) >> bit & 1) for bit in range(64)] for word in out] == expected
    assert source.read == len(words) - len(rest), "no word is read in vain"


def test_biased_bits_at_the_ends() -> None:
    out = np.array([7, 7], dtype=np.uint64)
    fill_biased(out, 0, ScriptedEntropy([]))
    assert not out.any()
    fill_biased(out, 1 << 60, ScriptedEntropy([]))
    assert (out == 2**64 - 1).all()
    # A number that agrees with the probability in all digits is not below it; one that falls short in the last digit is.
    weight = 0b101 << 57
    agreeing = [2**64 - 1, 0, 2**64 - 1]
    fill_biased(out[:1], weight, ScriptedEntropy(agreeing))
    assert out[0] == 0
    fill_biased(out[:1], weight, ScriptedEntropy([2**64 - 1, 0, 0]))
    assert out[0] == 2**64 - 1


def test_blocks_are_filled_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unary, "LANES", 8)
    out = np.zeros(8 * 5 + 3, dtype=np.uint64)
    fill_biased(out, (1 << 60) - 1, ResearchEntropy(1))
    assert (out == 2**64 - 1).all()


@pytest.mark.parametrize("values", [2, 7, 8, 9, 63, 64, 65, 130])
@pytest.mark.parametrize("rule", RULES)
def test_reports_are_those_of_a_naive_twin(values: int, rule: Rule) -> None:
    question, people = UnaryResponse(range(values), 1.5, rule), 5
    chooser = random.Random(values)
    words = [chooser.getrandbits(64) for _ in range(2000)]
    places = [chooser.randrange(values) for _ in range(people)]
    reports = question.randomize(places, ScriptedEntropy(words))
    width = -(-values // 8)
    assert reports.shape == (people, width)
    noise = naive_biased(-(-people * width // 8), question.other, words)
    (coins,) = naive_biased(1, question.truth, words)
    stream = [bit for lane in noise for bit in lane]
    for i, place in enumerate(places):
        expected = stream[i * width * 8 : i * width * 8 + values] + [False] * (8 * width - values)
        expected[place] = coins[i]
        assert np.unpackbits(reports[i], bitorder="little").astype(bool).tolist() == expected


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("values", [2, 3, 4, 5])
def test_closed_forms_are_those_of_the_matrix(values: int, rule: Rule) -> None:
    question = UnaryResponse(range(values), Fraction(4, 3), rule)
    matrix = question.transition()
    weights = matrix.weights()
    assert weights.shape == (values, 2**values)
    assert {sum(row) for row in weights.tolist()} == {matrix.total}
    pairs = list(itertools.permutations(range(values), 2))
    ratios = {(u, v): [Fraction(a, b) for a, b in zip(weights[u], weights[v], strict=True)] for u, v in pairs}
    assert question.largest_ratio() == matrix.largest_ratio() == max(map(max, ratios.values()))
    rate = min(min(ratio) / max(ratio) for ratio in ratios.values())
    assert question.anonymity_rate() == matrix.anonymity_rate() == rate
    assert question.epsilon() == matrix.epsilon()
    for value, other in pairs:
        supporting = [x for x in range(2**values) if x >> value & 1]
        assert Fraction(sum(weights[value, x] for x in supporting), matrix.total) == question.truth_support()
        assert Fraction(sum(weights[other, x] for x in supporting), matrix.total) == question.other_support()


@pytest.mark.parametrize("rule", RULES)
def test_estimates_are_an_inverse_of_the_matrix(rule: Rule) -> None:
    question = UnaryResponse(range(4), 1, rule)
    matrix = question.transition()
    truth = np.array([100.0, 40.0, 0.0, 7.0])
    expected = matrix.forward(truth)
    assert expected.sum() == pytest.approx(truth.sum())
    assert matrix.solve(expected) == pytest.approx(truth)
    supports = np.array([expected[[x for x in range(16) if x >> v & 1]].sum() for v in range(4)])
    estimate = question.estimate_counts(supports, 147)
    assert estimate.unbiased == pytest.approx(truth)
    assert estimate.variances == pytest.approx(matrix.squared_inverse(expected) - truth)
    for value in range(4):
        assert question.variance(147, truth[value] / 147) == pytest.approx(estimate.variances[value])
    assert matrix.backward(np.ones(16)) == pytest.approx(np.ones(4))


def test_drawn_numbers_are_the_reports() -> None:
    question = UnaryResponse(range(11), 1)
    places = np.arange(40) % 11
    numbers = question.transition().draw(places, ResearchEntropy(2))
    reports = question.randomize(places, ResearchEntropy(2))
    assert numbers.tolist() == [int.from_bytes(bytes(row), "little") for row in reports]


@given(epsilon=st.fractions(Fraction(1, 10**6), 30, max_denominator=10**6), rule=st.sampled_from(RULES))
def test_epsilon_is_never_above_the_one_asked_for(epsilon: Fraction, rule: Rule) -> None:
    question = UnaryResponse(range(1000), epsilon, rule)
    assert is_at_most_exp(question.largest_ratio(), epsilon)
    assert float(question.epsilon()) == pytest.approx(float(epsilon), rel=1e-4)


def test_known_probabilities() -> None:
    optimized, symmetric = UnaryResponse("ab".__iter__(), 2), UnaryResponse("ab".__iter__(), 2, "symmetric")
    assert optimized.truth_support() == Fraction(1, 2)
    assert float(optimized.other_support()) == pytest.approx(1 / (np.exp(2) + 1), rel=1e-15)
    assert float(symmetric.truth_support()) == pytest.approx(np.e / (np.e + 1), rel=1e-15)
    assert symmetric.truth_support() + symmetric.other_support() == 1
    assert optimized.variance(1000) == pytest.approx(1000 * 4 * np.exp(2) / (np.exp(2) - 1) ** 2)


@pytest.mark.parametrize("values", [3, 8, 20])
def test_counting_is_what_unpacking_gives(values: int) -> None:
    question = UnaryResponse(range(values), 1)
    reports = question.randomize(np.arange(300) % values)
    counts, people = question.count(reports)
    assert people == 300
    assert counts.tolist() == np.unpackbits(reports, axis=1, bitorder="little").sum(axis=0)[:values].tolist()
    # A tiny epsilon divides by a difference that floats would round to 0.
    assert np.isfinite(UnaryResponse(range(values), 1e-16).estimate(reports).unbiased).all()


def test_wrong_arguments() -> None:
    question = UnaryResponse(range(9), 1)
    good = question.randomize([3, 4])
    bad = good.copy()
    bad[0, 1] |= 0x80
    for reports in (bad, good[:, :1], good.astype(np.int64), [[1, 2]], "0102", np.uint8(3)):
        with pytest.raises(ParameterError, match="reports"):
            question.estimate(reports)
    for values in ([9], ["a"], [-1], [2.0]):
        with pytest.raises(ParameterError, match="one of the 9 values"):
            question.randomize(values)
    for epsilon in (0, -1, float("nan"), float("inf"), 31, 1e-19):
        with pytest.raises(ParameterError, match="epsilon_at_most"):
            UnaryResponse(range(9), epsilon)
    with pytest.raises(ParameterError, match="rule"):
        UnaryResponse(range(9), 1, "best")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="people"):
        question.estimate_counts([0] * 9, -1)
    for counts in ([0] * 8, [3] + [0] * 8, [-1] * 9, [float("nan")] * 9):
        with pytest.raises(ParameterError, match="counts"):
            question.estimate_counts(counts, 2)


def test_large_matrices_are_not_written_out() -> None:
    question = UnaryResponse(range(17), 1)
    assert question.largest_ratio() == UnaryResponse(range(2), 1).largest_ratio()
    for call in (question.transition().weights, question.transition().probabilities):
        with pytest.raises(ParameterError, match="at most 16 values"):
            call()


def test_small_matrices_agree_with_the_general_rule() -> None:
    """With coarse probabilities the whole matrix fits into 64 bits, and the general class computes the same."""
    coarse = unary.UnaryTransition(2, 3 << 58, 1 << 58)
    weights = np.array([[int(w) >> 116 for w in row] for row in coarse.weights()])
    dense = DenseTransition.from_weights(weights)
    assert dense.largest_ratio() == coarse.largest_ratio() == 9
    assert dense.anonymity_rate() == coarse.anonymity_rate()


def test_shapes_are_kept() -> None:
    question = UnaryResponse(range(9), 1)
    assert question.randomize(3).shape == (2,)
    assert question.randomize([[1, 2, 3]]).shape == (1, 3, 2)
    assert question.randomize([]).shape == (0, 2)
    assert question.estimate(question.randomize([])).people == 0
