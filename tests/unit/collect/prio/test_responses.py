"""Randomized response: exact coins, an unbiased estimate, and intervals that cover."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from sudare.collect.prio.responses import RandomizedResponse, exact_estimates
from sudare.collect.transitions.rounding import float_above
from sudare.errors import ParameterError
from sudare.noise import EntropySource, ResearchEntropy


class Scripted(EntropySource):
    """Gives the words it was told to give."""

    def __init__(self, *words: int) -> None:
        self.left = list(words)

    def fill(self, words: Any) -> None:
        words[:] = [self.left.pop(0) for _ in words]

    def spawn(self, count: int) -> list[EntropySource]:
        raise NotImplementedError


def test_the_coins_are_exact() -> None:
    response = RandomizedResponse(values=5, keep=Fraction(3, 7))
    found = Counter(response(2, Scripted(coin, other)) for coin in range(7) for other in range(5))
    # Of 7 * 5 equally likely draws, 3 * 5 keep the value, and the rest falls on each value 4 times.
    assert found == {0: 4, 1: 4, 2: 19, 3: 4, 4: 4}
    worst = Fraction(19, 4)
    assert math.isclose(response.epsilon, math.log(worst))


@pytest.mark.parametrize("values", [2, 3, 5, 17, 1000])
@pytest.mark.parametrize("keep", ["1/2", "3/7", "1/1000", "999/1000"])
def test_the_stated_epsilon_is_never_below_the_exact_one(values: int, keep: str) -> None:
    """The exact one is bracketed with 90 digits; nearest floats lie below it for about half of these."""
    response = RandomizedResponse(values, Fraction(keep))
    ratio = 1 + response.probability * values / (1 - response.probability)
    context = Context(prec=90)
    exact = context.ln(context.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)))
    assert exact <= Decimal(float_above(response.epsilon)), "as a float, too"
    assert exact < context.divide(Decimal(response.epsilon.numerator), Decimal(response.epsilon.denominator))
    assert math.isclose(response.epsilon, exact, rel_tol=1e-15)


def test_warner_with_two_coins_costs_ln_3() -> None:
    assert math.isclose(RandomizedResponse(values=2, keep=0.5).epsilon, math.log(3))


def test_estimates_are_unbiased_and_intervals_cover() -> None:
    truth, response = [60, 30, 10], RandomizedResponse(values=3, keep=0.4)
    entropy, people, trials = ResearchEntropy(3), np.repeat([0, 1, 2], [60, 30, 10]).tolist(), 100
    covered, totals = 0, np.zeros(3)
    for _ in range(trials):
        counts = np.bincount([response(value, entropy) for value in people], minlength=3).tolist()
        estimates = response.estimate(counts)
        assert math.isclose(sum(each.count for each in estimates), 100)
        totals += [each.count for each in estimates]
        covered += sum(each.lower <= t <= each.upper for each, t in zip(estimates, truth, strict=True))
    error = max(each.standard_error for each in response.estimate([60, 30, 10])) / math.sqrt(trials)
    assert np.abs(totals / trials - truth).max() < 5.5 * error
    # Three intervals a trial are dependent, so the bound is that of the trials alone.
    low, high = stats.binom.ppf([1e-7, 1 - 1e-7], trials, 0.95)
    assert low - 3 <= covered / 3 <= high + 3


def test_a_wrong_keep_is_caught_by_the_same_test() -> None:
    response, wrong = RandomizedResponse(values=3, keep=0.4), RandomizedResponse(values=3, keep=0.6)
    entropy = ResearchEntropy(4)
    counts = np.bincount([wrong(0, entropy) for _ in range(2000)], minlength=3).tolist()
    first = response.estimate(counts)[0]
    assert abs(first.count - 2000) > 5.5 * first.standard_error


def test_untouched_counts_have_no_error() -> None:
    assert [(e.count, e.standard_error, e.lower, e.upper) for e in exact_estimates([3])] == [(3.0, 0.0, 3.0, 3.0)]


@pytest.mark.parametrize(
    "keep", [0, 1, -0.1, 1.5, "half", "0.5 ", "nan", "1/0", math.nan, True, None, Fraction(1, 2**65)]
)
def test_probabilities_are_checked(keep: Any) -> None:
    with pytest.raises(ParameterError, match="keep"):
        RandomizedResponse(values=3, keep=keep)


@pytest.mark.parametrize("value", [3, -1, 1.0, "1", True, None])
def test_values_are_checked_and_not_shown(value: Any) -> None:
    with pytest.raises(ParameterError, match="not shown"):
        RandomizedResponse(values=3, keep=0.5)(value)
    with pytest.raises(ParameterError, match="values"):
        RandomizedResponse(values=1, keep=0.5)
