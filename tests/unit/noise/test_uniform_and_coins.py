"""Whole numbers below a bound, and coins."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sudare import ResearchEntropy
from sudare.errors import ParameterError
from sudare.noise import bernoulli_exp, fair_coins, uniform_below
from tests.scripted import ScriptedEntropy


def test_words_beyond_the_last_whole_multiple_are_dropped() -> None:
    bound = 3 * 2**62  # only words below this may be used, else small remainders would be twice as likely
    source = ScriptedEntropy([bound, 2**64 - 1, bound - 1, 5])
    assert uniform_below(bound, 2, source).tolist() == [bound - 1, 5]


@pytest.mark.parametrize("bound", [1, 2, 3, 10, 2**32, 2**63 + 1, 2**64 - 1, 2**64])
def test_values_are_below_the_bound(bound: int) -> None:
    values = uniform_below(bound, (5, 20))
    assert values.shape == (5, 20)
    assert int(values.max()) < bound


@pytest.mark.parametrize("bound", [0, -1, 2**64 + 1, 1.0, True, None])
def test_bounds_out_of_range(bound: Any) -> None:
    with pytest.raises(ParameterError, match="The 'bound' parameter of uniform_below"):
        uniform_below(bound, 3)


def test_fair_coins_are_the_bits_of_the_stream() -> None:
    words = ResearchEntropy(4).words(3)
    bits = np.unpackbits(words.view(np.uint8))
    assert np.array_equal(fair_coins(150, ResearchEntropy(4)), bits[:150].astype(bool))
    assert fair_coins((3, 5)).shape == (3, 5)
    assert fair_coins(0).shape == (0,)


@pytest.mark.parametrize("size", [-1, 1.5, True, 10**30])
def test_sizes_out_of_range(size: Any) -> None:
    for function in (fair_coins, lambda s: uniform_below(3, s)):
        with pytest.raises(ParameterError, match="The 'size' parameter"):
            function(size)


def test_coin_returns_plain_and_array_truth() -> None:
    assert bernoulli_exp(0).draw() is True
    tosses: Any = bernoulli_exp(Fraction(1, 2)).draw((3, 4))
    assert tosses.dtype == np.bool_
    assert tosses.shape == (3, 4)


@pytest.mark.parametrize("exponent", [-1, -0.5, 10**6 + 1, float("nan"), float("inf"), True, "one", "-1", None])
def test_exponents_out_of_range(exponent: Any) -> None:
    with pytest.raises(ParameterError, match="The 'exponent' parameter of bernoulli_exp"):
        bernoulli_exp(exponent)
