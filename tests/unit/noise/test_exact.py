"""Whole-number bounds hold against mpmath, and are as tight as promised."""

from __future__ import annotations

import random
from fractions import Fraction

import mpmath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sudare.noise.exact import LatticeLaw, bounded_exp, is_below
from tests.reference import naive

EXPONENTS = st.fractions(min_value=0, max_value=3000)


@given(exponent=EXPONENTS, bits=st.integers(0, 700))
def test_bounded_exp_encloses_the_exponential_within_two(exponent: Fraction, bits: int) -> None:
    low, high = bounded_exp(exponent, bits)
    with mpmath.workprec(bits + 200):
        true = mpmath.mpf(2) ** bits * mpmath.exp(-naive.number(exponent))
        assert low <= true <= high
    assert high - low <= 2


@pytest.mark.parametrize("bits", [4000, 20000])
def test_bounded_exp_holds_at_thousands_of_bits(bits: int) -> None:
    for exponent in (Fraction(1, 10**12), Fraction(1, 3), Fraction(2000, 7)):
        low, high = bounded_exp(exponent, bits)
        with mpmath.workprec(bits + 200):
            assert low <= mpmath.mpf(2) ** bits * mpmath.exp(-naive.number(exponent)) <= high
        assert high - low <= 2


@given(
    numerator=st.integers(0, 2**20),
    bits=st.integers(1, 20),
    words=st.lists(st.integers(0, 2**64 - 1), min_size=3, max_size=3),
)
def test_is_below_compares_the_whole_string_also_with_dyadic_probabilities(
    numerator: int, bits: int, words: list[int]
) -> None:
    """A dyadic probability has no bits that ever differ from zero: the comparison must still end, and be right."""
    probability = Fraction(min(numerator, 2**bits), 2**bits)
    rest = iter([*words[1:], *(random.getrandbits(64) for _ in range(4))])
    string = words[0]

    def bounds(n: int) -> tuple[int, int]:
        scaled = probability * 2**n
        return int(scaled) - 1, int(scaled) + 1

    read = [words[0]]

    def next_word() -> int:
        read.append(next(rest))
        return read[-1]

    below = is_below(bounds, string, 64, next_word)  # type: ignore[arg-type]
    with mpmath.workprec(1000):
        assert below == (naive.uniform_number(read) < naive.number(probability))


@given(
    linear=st.fractions(Fraction(1, 20), 20),
    quadratic=st.one_of(st.just(Fraction(0)), st.fractions(Fraction(1, 10**4), 20)),
    two_sided=st.booleans(),
    bits=st.integers(8, 200),
)
@example(linear=Fraction(38018331, 5033536), quadratic=Fraction(20), two_sided=False, bits=133)
def test_cumulative_bounds_enclose_the_sums(linear: Fraction, quadratic: Fraction, two_sided: bool, bits: int) -> None:
    law = LatticeLaw(linear, quadratic, two_sided)
    lowest, bounds = law.cumulative(bits)
    with mpmath.workprec(bits + 150):
        reach = max(abs(lowest), lowest + len(bounds)) + 60
        weights = [mpmath.exp(-naive.number(law.energy(x))) for x in range(reach + 1)]
        # Beyond the reach a geometric series with the last ratio bounds what is left out of the plain sum.
        total = weights[0] + (2 if two_sided else 1) * sum(weights[1:])
        running = sum(weights[-lowest + 1 :]) if two_sided else mpmath.mpf(0)
        missing = weights[-1] / (1 - weights[-1] / weights[-2])
        rounding = mpmath.mpf(2) ** -100  # of the sums here, which have 150 bits more than the bounds
        for i, (low, high) in enumerate(bounds):
            running += weights[abs(lowest + i)]
            tolerance = 4 * missing / total * mpmath.mpf(2) ** bits + rounding
            true = running / total * mpmath.mpf(2) ** bits
            assert low - tolerance <= true <= high + tolerance
            assert high - low <= 2


def test_first_bound_of_a_two_sided_law_leaves_the_lower_tail_open() -> None:
    _, bounds = LatticeLaw(Fraction(1, 10), Fraction(0), two_sided=True).cumulative(64)
    assert bounds[0].low == 0
