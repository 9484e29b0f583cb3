"""The privacy of Gaussian noise, digit for digit as mpmath has it."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import mpmath
import pytest

from sudare.privacy import gaussian_tradeoff as fast
from tests.reference import naive_gaussian_tradeoff as naive

RHOS = [Fraction(text) for text in ("1e-30", "3e-12", "1/7", "0.2717", "12.5", "40000")]
EPSILONS = [Fraction(text) for text in ("1e-10", "1/3", "2", "41.7121", "3000")]
DELTAS = [Fraction(text) for text in ("0.9", "1e-6", "3e-40", "1e-900")]


@pytest.mark.parametrize("rho", RHOS)
def test_deltas_and_epsilons_are_those_of_the_twin(rho: Fraction) -> None:
    assert [fast.delta_of(rho, one) for one in EPSILONS] == [naive.delta_of(rho, one) for one in EPSILONS]
    assert [fast.epsilon_of(rho, one) for one in DELTAS[1:]] == [naive.epsilon_of(rho, one) for one in DELTAS[1:]]
    assert fast.epsilon_of(rho, DELTAS[0]) == naive.epsilon_of(rho, DELTAS[0])


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_rhos_are_those_of_the_twin(epsilon: Fraction) -> None:
    assert [fast.rho_of(epsilon, one) for one in DELTAS] == [naive.rho_of(epsilon, one) for one in DELTAS]


@pytest.mark.parametrize("text", ["0", "1e-18", "0.3", "5.999", "6", "6.001", "9", "56.2", "1e4", "1e15"])
def test_mills_ratio_has_its_digits(text: str) -> None:
    """Where the series ends, and where few terms of the fraction seem enough."""
    with mpmath.workdps(160):
        t = mpmath.mpf(text)
        exact = (
            mpmath.erfc(t / mpmath.sqrt(2)) / 2 / mpmath.npdf(t)
            if t < 10**6
            else 1 / t - t**-3 + 3 * t**-5 - 15 * t**-7
        )
        with fast._many_digits():
            ours = mpmath.mpf(str(fast._mills(Decimal(text))))
        assert abs(ours / exact - 1) < mpmath.mpf(10) ** -(fast.DIGITS + 10)


def test_a_fraction_that_ends_early_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast, "_terms_at", lambda t: 8)
    rho, epsilon = Fraction("0.2717"), Fraction("41.7121")
    assert fast.delta_of(rho, epsilon) != naive.delta_of(rho, epsilon)
