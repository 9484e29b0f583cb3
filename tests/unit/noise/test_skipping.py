"""Skipping: bounds against mpmath, decisions against a process written from the definition, huge numbers of places."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare import ResearchEntropy
from sudare.noise import geometric
from sudare.noise.exact import Bounds, LatticeLaw
from sudare.noise.inversion import InversionSampler
from sudare.noise.lattice import MAX_SCALE, lattice_tail
from sudare.noise.skipping import Skipping, _quotient_of_coins, approximate_tail, tail_probability
from sudare.noise.staircase import StaircaseSampler
from tests.scripted import ScriptedEntropy

BITS = 300


def laplace(scale: Any) -> LatticeLaw:
    return LatticeLaw(1 / Fraction(scale), Fraction(0), two_sided=True)


def gaussian(sigma_squared: Any) -> LatticeLaw:
    return LatticeLaw(Fraction(0), 1 / (2 * Fraction(sigma_squared)), two_sided=True)


def exact_tail(law: LatticeLaw, threshold: int) -> Any:
    """P(X >= threshold) as a quotient of two sums, or in closed form where the law is linear."""
    a, b = (mpmath.mpf(part.numerator) / part.denominator for part in (law.linear, law.quadratic))
    if not law.quadratic:
        return mpmath.exp(-a * threshold) / (1 + mpmath.exp(-a))
    reach = int(mpmath.sqrt(2 * BITS / b)) + threshold + 2
    weights = [mpmath.exp(-b * x * x) for x in range(reach)]
    return mpmath.fsum(weights[threshold:]) / (2 * mpmath.fsum(weights) - 1)


LAWS = [laplace(s) for s in (Fraction(1, 1000), Fraction(1, 3), 1, 10, 12345, 10**12)]
LAWS += [gaussian(v) for v in (Fraction(1, 10**6), Fraction(1, 4), 1, Fraction(1000, 7), 10**4)]


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("threshold", [1, 2, 7, 100])
@pytest.mark.parametrize("bits", [64, 77, 200])
def test_bounds_hold_the_probability_and_are_close(law: LatticeLaw, threshold: int, bits: int) -> None:
    with mpmath.workprec(2 * BITS):
        exact = exact_tail(law, threshold) * mpmath.mpf(2) ** bits
        bounds = tail_probability(law, threshold, bits)
        assert bounds.low <= exact <= bounds.high
        assert bounds.high - bounds.low <= 2
        rough = approximate_tail(law, threshold)
        assert abs(rough - exact / mpmath.mpf(2) ** bits) <= 1e-12 * max(rough, 1e-3)


def test_a_wrong_probability_is_outside_the_bounds() -> None:
    with mpmath.workprec(2 * BITS):
        for law in LAWS[1:5]:
            exact = exact_tail(law, 7) * mpmath.mpf(2) ** 200
            low, high = tail_probability(law, 8, 200)
            assert not low <= exact <= high


@pytest.mark.parametrize("law", [laplace(1), laplace(10), gaussian(1), gaussian(100), laplace(10**9)], ids=str)
@pytest.mark.parametrize("threshold", [1, 3, 40, 10**4])
def test_gaps_are_never_too_long_and_the_rest_is_thinned(law: LatticeLaw, threshold: int) -> None:
    probability = partial(tail_probability, law, threshold)
    scale = Skipping(probability, min(approximate_tail(law, threshold), 0.75)).scale
    with mpmath.workprec(2 * BITS):
        often = 1 - mpmath.exp(-mpmath.mpf(scale.denominator) / scale.numerator)
        exact = exact_tail(law, threshold)
        assert exact <= often
        if scale < MAX_SCALE:
            assert exact / often > 1 - 2.0**-28
        for bits in (64, 128):
            low, high = _quotient_of_coins(probability, scale, bits)
            assert low <= exact / often * mpmath.mpf(2) ** bits <= high
            assert high - low <= 2


def constant(value: Fraction, bits: int) -> Bounds:
    scaled = (value.numerator << bits) // value.denominator
    return Bounds(scaled, scaled + 1)


@pytest.mark.parametrize("roughly", [0.0, 1e-13, 0.01, 0.3, 0.75])
def test_a_bad_rough_guess_costs_time_only(roughly: float) -> None:
    skipping = Skipping(partial(constant, Fraction(1, 5)), roughly)
    assert 1 - np.exp(-1 / float(skipping.scale)) >= 0.2 - 1e-12
    drawn = skipping.draw(40_000, ResearchEntropy(1))
    assert abs(drawn.size - 8000) < 600


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), places=st.integers(0, 300), share=st.sampled_from([0.3, 0.1, 0.01]))
def test_naive_twin(seed: int, places: int, share: float) -> None:
    """Gap by gap in Python: so many failures, then a success, kept by its coin."""
    skipping = Skipping(partial(constant, Fraction(share)), share)
    found = skipping.draw(places, ResearchEntropy(seed))
    source, passing, first = ResearchEntropy(seed), [], 0
    while first < places:
        wanted = 1.02 * (places - first) / float(skipping.scale)
        gaps = geometric(skipping.scale).draw(int(wanted + 4 * wanted**0.5 + 8), source)
        at, reached = first - 1, []
        for gap in gaps.tolist():
            at += gap + 1
            if at >= places:
                break
            reached.append(at)
        kept = skipping.thinning.draw(len(reached), source)
        passing += [place for place, coin in zip(reached, kept.tolist(), strict=True) if coin == 0]
        first = at + 1
    assert found.tolist() == passing


def test_places_are_ascending_and_within_their_number() -> None:
    skipping = Skipping(partial(tail_probability, laplace(1), 35), approximate_tail(laplace(1), 35))
    for places in (2**62, 2**61 + 12345):
        found = skipping.draw(places, ResearchEntropy(4))
        assert (np.diff(found.astype(np.int64)) > 0).all()
        assert int(found[-1]) < places
        assert abs(found.size - places * approximate_tail(laplace(1), 35)) < 7 * found.size**0.5


def test_the_longest_gaps_do_not_overflow() -> None:
    """Words of ones ask for gaps without end: the first is beyond the last place, whatever follows."""
    skipping = Skipping(partial(tail_probability, laplace(1), 60), 0.0)
    assert skipping.scale == MAX_SCALE
    words = [2**64 - 1, 0] * 40
    assert skipping.draw(2**30, ScriptedEntropy(words, then=2**63)).size == 0


def test_what_is_almost_impossible_does_not_happen() -> None:
    skipping = Skipping(partial(tail_probability, laplace(1), 10**6), 0.0)
    assert skipping.draw(2**60, ResearchEntropy(3)).size == 0


def test_nothing_is_drawn_for_no_places() -> None:
    skipping = Skipping(partial(constant, Fraction(1, 10)), 0.1)
    assert skipping.draw(0, ScriptedEntropy([])).size == 0


def test_threads_do_not_matter() -> None:
    skipping = Skipping(partial(constant, Fraction(1, 10)), 0.1)
    one, two = (skipping.draw(30_000_000, ResearchEntropy(5), threads=threads) for threads in (1, 2))
    assert np.array_equal(one, two)


@pytest.mark.parametrize(
    ("law", "threshold", "kind"),
    [
        (laplace(3), 5, InversionSampler),
        (laplace(1000), 5, StaircaseSampler),
        (gaussian(9), 4, InversionSampler),
        (gaussian(10**6), 4, StaircaseSampler),
        (gaussian(10**6), 10**5, InversionSampler),
        (gaussian(10**6), 10**3, StaircaseSampler),
        (gaussian(10**24), 1, StaircaseSampler),
        (gaussian(Fraction(1, 10**6)), 1000, InversionSampler),
    ],
    ids=str,
)
def test_tails_have_the_mean_of_what_exceeds_the_threshold(law: LatticeLaw, threshold: int, kind: type) -> None:
    sampler = lattice_tail(law, threshold)
    assert type(sampler) is kind
    drawn = sampler.draw(20_000, ResearchEntropy(6))
    assert drawn.min() >= 0
    a, b = float(law.linear + 2 * law.quadratic * threshold), float(law.quadratic)
    width = min(1 / a if a else np.inf, 1 / np.sqrt(2 * b) if b else np.inf)
    step = max(1.0, width / 2000)
    y = np.arange(0, 60 * width + 2, step)
    weights = np.exp(-(a * y + b * y * y))
    mean = float((weights * y).sum() / weights.sum())
    spread = float(np.sqrt((weights * (y - mean) ** 2).sum() / weights.sum()))
    assert abs(drawn.mean() - mean) <= 6 * spread / np.sqrt(drawn.size) + step
