"""Words chosen by an adversary go through the tie and tail paths, and the values are those of arbitrary precision."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest

from sudare.noise import bernoulli_exp, discrete_gaussian, discrete_laplace, geometric
from sudare.noise.inversion import InversionSampler
from sudare.noise.sampler import Sampler
from sudare.noise.staircase import StaircaseSampler
from tests.reference import naive
from tests.scripted import ScriptedEntropy, ScriptExhaustedError

pytestmark = pytest.mark.slow

LAST_WORD = 2**64 - 1
NARROW = [Fraction(1, 1000), Fraction(1, 50), Fraction(1, 3), Fraction(1), Fraction(10), Fraction(63999, 1000)]
WIDE = [Fraction(64), Fraction(1000), Fraction(1000003, 7), Fraction(10**12)]


@pytest.fixture(autouse=True)
def _high_precision() -> Any:
    with mpmath.workprec(2400):
        yield


def inversion(sampler: Sampler) -> InversionSampler:
    assert isinstance(sampler, InversionSampler)
    return sampler


def staircase(sampler: Sampler) -> StaircaseSampler:
    assert isinstance(sampler, StaircaseSampler)
    return sampler


def words_around_thresholds(sampler: InversionSampler, most: int = 60) -> list[int]:
    """Every threshold's undecided words and their neighbours, or those of a sample of thresholds and all extreme ones."""
    thresholds = [int(t) for t in sampler.table.thresholds]
    if len(thresholds) > most:
        thresholds = thresholds[:10] + random.sample(thresholds, most - 20) + thresholds[-10:]
    around = {t + d for t in thresholds for d in (-1, 0, 1, 2)} | {0, 1, 2, LAST_WORD, LAST_WORD - 1, LAST_WORD - 2}
    return sorted(word for word in around if 0 <= word <= LAST_WORD)


def draw_one(sampler: Sampler, word: int, extension: list[int]) -> int:
    return int(sampler.draw(1, ScriptedEntropy([word, *extension]))[0])


def extensions() -> list[list[int]]:
    middling = [random.getrandbits(64) for _ in range(30)]
    return [middling, [0, *middling], [LAST_WORD, *middling], [0] * 3 + middling, [LAST_WORD] * 3 + middling]


@pytest.mark.parametrize("scale", NARROW, ids=str)
def test_laplace_is_the_inverse_of_its_cumulative_distribution(scale: Fraction) -> None:
    sampler = inversion(discrete_laplace(scale))
    cumulative = cache(lambda x: naive.laplace_cumulative(scale, x))
    for word in words_around_thresholds(sampler):
        for extension in extensions()[:3]:
            expected = naive.invert(cumulative, [word, *extension])
            assert draw_one(sampler, word, extension) == expected


@pytest.mark.parametrize("scale", NARROW, ids=str)
def test_geometric_is_the_inverse_of_its_cumulative_distribution(scale: Fraction) -> None:
    sampler = inversion(geometric(scale))
    cumulative = cache(lambda x: naive.geometric_cumulative(scale, x))
    for word in words_around_thresholds(sampler, most=30):
        for extension in extensions()[:3]:
            expected = naive.invert(cumulative, [word, *extension])
            assert draw_one(sampler, word, extension) == expected


@pytest.mark.parametrize("sigma", [Fraction(1, 50), Fraction(1, 3), Fraction(1), Fraction(7, 2)], ids=str)
def test_gaussian_is_the_inverse_of_its_cumulative_distribution(sigma: Fraction) -> None:
    sampler = inversion(discrete_gaussian(sigma))
    cumulative = naive.GaussianCumulative(sigma**2)
    for word in words_around_thresholds(sampler):
        for extension in extensions()[:3]:
            assert draw_one(sampler, word, extension) == naive.invert(cumulative, [word, *extension])


@pytest.mark.parametrize(
    "exponent", [Fraction(1, 10**6), Fraction(1, 3), Fraction(1), Fraction(40), Fraction(50)], ids=str
)
def test_coin_compares_the_whole_bit_string(exponent: Fraction) -> None:
    coin = bernoulli_exp(exponent)
    for word in words_around_thresholds(coin._sampler):
        for extension in extensions():
            fell = naive.uniform_number([word, *extension]) < mpmath.exp(-naive.number(exponent))
            assert bool(np.all(coin.draw(1, ScriptedEntropy([word, *extension])))) == fell


def test_coins_that_are_certain_need_no_second_word() -> None:
    assert bernoulli_exp(0).draw(None, ScriptedEntropy([LAST_WORD])) is True
    assert bernoulli_exp(10**6).draw(None, ScriptedEntropy([2])) is False


@pytest.mark.parametrize("scale", NARROW, ids=str)
def test_all_zeros_and_all_ones_go_to_opposite_tails_and_agree_with_arbitrary_precision(scale: Fraction) -> None:
    """An endless run is no number: after some words of it, ordinary bits follow."""
    cumulative = cache(lambda x: naive.laplace_cumulative(scale, x))
    for run in (1, 2, 5, 24) if scale < 1 else (1, 2, 5):
        follow = [random.getrandbits(64) for _ in range(6)]
        for edge in (0, LAST_WORD):
            words = [edge] * run + follow
            expected = naive.invert(cumulative, words)
            assert draw_one(discrete_laplace(scale), words[0], words[1:]) == expected


def test_an_endless_tie_asks_for_more_bits_for_ever_instead_of_guessing() -> None:
    with pytest.raises(ScriptExhaustedError):
        discrete_laplace(10).draw(1, ScriptedEntropy([0] * 8))


def trial_words(sampler: StaircaseSampler) -> list[tuple[int, int]]:
    """Second words at the edge of sure acceptance, at the exact acceptance, and at both ends of the step and fraction."""
    trials = []
    fraction_bits = sampler.fraction_bits
    places = [0, 1, (1 << sampler.step_bits) // 2, (1 << sampler.step_bits) - 1]
    thresholds = [int(t) for t in sampler.table.thresholds]
    for first in [2**63 + 5, 5, thresholds[3] + 7, thresholds[3], thresholds[5] + 1, LAST_WORD, LAST_WORD - 1]:
        for place in places:
            step = int(np.searchsorted(sampler.table.thresholds, np.uint64(first), side="left"))
            start = step << sampler.step_bits
            rise = sampler.law.energy(start + place) - sampler.law.energy(start)
            exact = int(mpmath.floor(mpmath.exp(-naive.number(rise)) * 2**fraction_bits))
            sure = int(sampler.sure_below[min(step, sampler.sure_below.size - 1)])
            edges = {0, sure - 1, sure, exact - 1, exact, exact + 1, 2**fraction_bits - 1}
            for fraction in edges:
                if 0 <= fraction < 2**fraction_bits:
                    for sign in (0, 1):
                        trials.append((first, sign << 63 | place << fraction_bits | fraction))
    return trials


@pytest.mark.parametrize("scale", WIDE, ids=str)
@pytest.mark.parametrize("kind", [discrete_laplace, discrete_gaussian, geometric], ids=lambda f: f.__name__)
def test_staircase_trials_are_decided_as_in_arbitrary_precision(kind: Any, scale: Fraction) -> None:
    sampler = staircase(kind(scale))
    two_sided = kind is not geometric
    if sampler.law.quadratic:
        widened = Fraction(1) / (2 * sampler.steps.quadratic)
        cumulative: Any = naive.GaussianCumulative(widened, one_sided=True)
    else:
        cumulative = cache(lambda x: naive.geometric_cumulative(1 / sampler.steps.linear, x))
    accepted = [2**63 + 12345, 0]  # a trial that is accepted for sure, to follow a rejected one
    for first, second in trial_words(sampler):
        extension = [random.getrandbits(64) for _ in range(60)]
        words = np.array([first, second, *accepted, *accepted], dtype=np.uint64)
        out = np.zeros(1, dtype=np.int64)
        used, filled, undecided = sampler._fill_from(words, 0, out, 0)
        if undecided and used == 0:
            # Bits for the step come first, then bits for the fraction; the naive twin reads them in the same order.
            source = ScriptedEntropy(extension)
            value = sampler._settle(words[:2], source)
            for_step = _words_needed(sampler, first, extension)
            step = naive.invert(cumulative, [first, *extension[:for_step]])
            expected = naive.staircase_trial(
                sampler.law.energy, sampler.step_bits, step, second, extension[for_step:], two_sided=two_sided
            )
            assert value == expected
            continue
        step = naive.invert(cumulative, [first, *extension])
        expected = naive.staircase_trial(
            sampler.law.energy, sampler.step_bits, step, second, extension, two_sided=two_sided
        )
        if expected is None:
            assert used > 2 or filled == 0
        else:
            assert used == 2
            assert out[0] == expected


def _words_needed(sampler: StaircaseSampler, first: int, extension: list[int]) -> int:
    source = ScriptedEntropy(extension)
    sampler.steps.settle(first, 64, source.next_word)
    return source.read


def test_every_undecided_trial_of_the_staircase_is_reachable() -> None:
    """The band in which double precision does not decide is hit by construction, not by luck."""
    sampler = staircase(discrete_laplace(1000))
    undecided = 0
    for first, second in trial_words(sampler):
        words = np.array([first, second], dtype=np.uint64)
        undecided += sampler._fill_from(words, 0, np.zeros(1, dtype=np.int64), 0)[2]
    assert undecided > 20
