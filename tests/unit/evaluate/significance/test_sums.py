"""Laws of sums: against brute force in fractions, wide laws on coarse grids, and laws of counts that vary."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, poisson, skellam

from sudare import Budget, Unit
from sudare.errors import GuaranteeError, ParameterError
from sudare.evaluate.significance import LawOfSum, Term, law_of_noise, sums
from sudare.evaluate.significance.laws import BinomialLaw, GaussianLaw, LaplaceLaw, Law, PoissonLaw
from sudare.noise import ResearchEntropy, noise_for
from sudare.privacy import GaussianMeasurement, LaplaceMeasurement, sensitivity_of_counts
from sudare.privacy.measurements import KeyReleaseMeasurement
from tests.reference.naive import BITS_OF_LAWS, law_of_weighted_sum

NAIVE = tuple[str, Fraction, int, int]
ERROR = sums.TRANSFORM_ERROR


def law_of(kind: str, size: Fraction) -> Law:
    return LaplaceLaw(size) if kind == "laplace" else GaussianLaw(size)


def sum_of(terms: list[NAIVE]) -> LawOfSum:
    return LawOfSum(tuple(Term(law_of(kind, size), weight, times) for kind, size, weight, times in terms))


def naive_tails(terms: list[NAIVE]) -> tuple[np.ndarray, np.ndarray]:
    """All values, and P(sum >= value)."""
    law = law_of_weighted_sum(terms)
    values = sorted(law)
    tails = list(accumulate(law[value] for value in reversed(values)))[::-1]
    return np.array(values), np.array([tail / 2**BITS_OF_LAWS for tail in tails])


@st.composite
def few_terms(draw: st.DrawFn) -> list[NAIVE]:
    kinds = st.sampled_from(["laplace", "gaussian"])
    sizes = st.fractions(Fraction(1, 50), Fraction(1), max_denominator=50)
    weights = st.sampled_from([1, -1, 2, 3, -5])
    return draw(st.lists(st.tuples(kinds, sizes, weights, st.integers(1, 2)), min_size=1, max_size=2))


@settings(max_examples=40)
@given(few_terms())
def test_tails_are_those_of_brute_force_and_never_below(terms: list[NAIVE]) -> None:
    values, exact = naive_tails(terms)
    law = sum_of(terms)
    for found in (law.at_least(values), law.at_most(-values)):  # these laws are the same on both sides
        excess = found - np.minimum(exact, 1)
        assert excess.min() >= -1e-15
        assert excess.max() <= 1.01 * ERROR


@given(few_terms(), st.floats(1e-6, 0.4))
@settings(max_examples=30)
def test_critical_values_are_the_first_that_are_rare(terms: list[NAIVE], chance: float) -> None:
    law = sum_of(terms)
    upper, lower = law.upper_critical(chance), law.lower_critical(chance)
    assert lower == -upper
    assert law.at_least(upper) <= chance < law.at_least(upper - 1)


@pytest.mark.parametrize(
    "terms",
    [[("laplace", Fraction(5), 1, 2)], [("gaussian", Fraction(90), 1, 1), ("laplace", Fraction(3), 2, 1)]],
)
def test_wider_laws(terms: list[NAIVE]) -> None:
    values, exact = naive_tails(terms)
    excess = sum_of(terms).at_least(values) - np.minimum(exact, 1)
    assert excess.min() >= -1e-15
    assert excess.max() <= 1.01 * ERROR


@pytest.mark.parametrize(
    "terms",
    [
        [("laplace", Fraction(5), 1, 2)],
        [("gaussian", Fraction(150), 1, 2)],
        [("gaussian", Fraction(60), 37, 1), ("laplace", Fraction(4), -24, 1)],
    ],
)
def test_a_coarse_grid_errs_on_the_safe_side(terms: list[NAIVE], monkeypatch: pytest.MonkeyPatch) -> None:
    """Brute force is fine; the grid is made coarse."""
    values, exact = naive_tails(terms)
    monkeypatch.setattr(sums, "MAX_POINTS", 128)
    grid = sums._Grid.of(sum_of(terms).terms)
    assert grid.step > 1
    assert grid.upper.size <= 128
    found = grid.tails(values.astype(float), up=True)
    assert (found - exact).min() >= -1e-15
    moved = np.searchsorted(values, values - 2 * grid.slack - grid.step)
    assert (found - exact[moved]).max() <= 1.01 * ERROR, "and by no more than it says"
    critical = grid.critical(0.05, up=True)
    before, there = grid.tails(np.array([critical - 1.0, critical]), up=True)
    assert there <= 0.05 < before
    assert grid.critical(0.05, up=False) == -critical


def test_many_wide_terms_lose_little() -> None:
    law = LawOfSum((Term(LaplaceLaw(Fraction(10**7)), times=1000),))
    assert law.upper_critical(0.025) / law.standard_deviation == pytest.approx(1.96, abs=0.003)


def test_counts_that_vary() -> None:
    difference = LawOfSum((Term(PoissonLaw(40.3)), Term(PoissonLaw(7.0), -1)))
    values = np.arange(-30, 120)
    assert np.abs(difference.at_least(values) - skellam.sf(values - 1, 40.3, 7.0)).max() < 1.1 * ERROR
    successes = LawOfSum((Term(BinomialLaw(60, 0.25)),))
    assert np.abs(successes.at_most(values) - binom.cdf(values, 60, 0.25)).max() < 1.1 * ERROR
    one_coin = LawOfSum((Term(BinomialLaw(1, 0.5)),))
    assert np.abs(one_coin.at_least([0, 1, 2]) - [1, 0.5, 0]).max() < 1.1 * ERROR
    certain = LawOfSum((Term(BinomialLaw(9, 1.0)), Term(PoissonLaw(0.0))))
    assert certain.at_least([9, 10]).tolist() == pytest.approx([1, ERROR], rel=1e-3)


def test_large_poisson_numbers_keep_their_digits() -> None:
    rate, last = 3e6, 3_007_805
    exact = float(np.sum(np.exp(poisson.logpmf(np.arange(last, last + 12_000), rate))[::-1]))
    assert float(LawOfSum((Term(PoissonLaw(rate)),)).at_least(last)) == pytest.approx(exact, rel=1e-4)


def test_a_sum_of_nothing() -> None:
    assert LawOfSum(()).at_least([0, 1]).tolist() == [1, ERROR]
    assert sums.merged([Term(LaplaceLaw(Fraction(1)), 0), Term(LaplaceLaw(Fraction(1)))] * 2) == (
        Term(LaplaceLaw(Fraction(1)), 1, 2),
    )


def test_the_law_is_that_of_what_is_drawn() -> None:
    sensitivity = sensitivity_of_counts(Unit())
    for measurement in (
        LaplaceMeasurement.for_budget(Budget(epsilon=0.3), sensitivity),
        GaussianMeasurement.for_budget(Budget(rho=0.02), sensitivity),
    ):
        drawn = noise_for(measurement).draw((200_000, 3), ResearchEntropy(5)).sum(axis=1)
        law = LawOfSum((Term(law_of_noise(measurement), times=3),))
        for value in (-12, -3, 0, 1, 9, 20):
            chance = float(law.at_least(value))
            share = float((drawn >= value).mean())
            assert abs(share - chance) < 6 * (chance * (1 - chance) / drawn.size) ** 0.5
        assert drawn.std() == pytest.approx(law.standard_deviation, rel=0.02)


def test_what_adds_no_noise_is_refused() -> None:
    with pytest.raises(GuaranteeError, match="key-release"):
        law_of_noise(KeyReleaseMeasurement(Fraction(1, 10**6)))
    with pytest.raises(ParameterError, match="LaplaceMeasurement"):
        law_of_noise("laplace")  # type: ignore[arg-type]
