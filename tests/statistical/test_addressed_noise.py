"""Values at addresses have the sampler's law, over nodes and over ticks; and the tests would notice if they had not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sudare.noise import discrete_gaussian, discrete_laplace
from sudare.noise.addressed import NoiseKey
from tests.reference import naive
from tests.statistical.goodness import chi_square_rejects, histogram

DRAWS = 1 << 18
LAW = Fraction(5)
EDGES = list(range(-30, 31))
KEY = NoiseKey.for_research(20)


def probabilities(cumulative: Any) -> Any:
    points = [0.0, *(float(cumulative(edge - 1)) for edge in EDGES), 1.0]
    return np.diff(points)


def over_nodes(sampler: Any) -> Any:
    return KEY.child("nodes", 0).draw(sampler, np.arange(DRAWS) * 977)


def over_ticks(sampler: Any) -> Any:
    ticks = (KEY.child("tick", tick) for tick in range(DRAWS >> 8))
    return np.concatenate([tick.draw(sampler, np.arange(1 << 8)) for tick in ticks])


@pytest.mark.parametrize("values", [over_nodes, over_ticks])
def test_values_at_addresses_have_the_law(values: Any) -> None:
    drawn = histogram(values(discrete_laplace(LAW)), EDGES)
    law = probabilities(lambda x: naive.laplace_cumulative(LAW, x))
    off = probabilities(lambda x: naive.laplace_cumulative(LAW * Fraction(103, 100), x))
    assert not chi_square_rejects(drawn, law)
    assert chi_square_rejects(drawn, off), "a scale 3 % off must be noticed"


def test_wide_values_at_addresses_have_the_law() -> None:
    sigma = 2**20
    drawn = histogram(over_nodes(discrete_gaussian(sigma)) // (sigma // 8), EDGES)
    law = naive.GaussianCumulative(Fraction(64))
    shifted = probabilities(law)
    # A step is an eighth of sigma: in steps the law is that of a Gaussian of 8 whose cells begin at whole numbers.
    exact = np.diff([0.0, *(_normal(edge / 8) for edge in EDGES), 1.0])
    assert not chi_square_rejects(drawn, exact)
    assert chi_square_rejects(drawn, shifted), "half a step aside must be noticed"


def _normal(x: float) -> float:
    from math import erf, sqrt

    return 0.5 * (1 + erf(x / sqrt(2)))


def test_neighbours_in_space_and_time_are_independent() -> None:
    sampler = discrete_laplace(LAW)
    here = KEY.child("tick", 1).draw(sampler, np.arange(DRAWS)).astype(float)
    later = KEY.child("tick", 2).draw(sampler, np.arange(DRAWS)).astype(float)
    limit = 6.2 / np.sqrt(DRAWS)  # a normal quantile of one in a billion
    assert abs(np.corrcoef(here[1:], here[:-1])[0, 1]) < limit
    assert abs(np.corrcoef(here, later)[0, 1]) < limit
    assert abs(np.corrcoef(here, here + later)[0, 1]) > limit, "dependence must be noticed"


def test_one_key_on_two_inputs_reveals_their_difference() -> None:
    sampler, nodes = discrete_laplace(100), np.arange(50)
    counts, others = np.arange(50) * 3, np.arange(50) * 3 + (np.arange(50) == 17)
    published = [KEY.draw(sampler, nodes) + table for table in (counts, others)]
    assert np.flatnonzero(published[1] - published[0]).tolist() == [17]
    fresh = [NoiseKey.fresh().draw(sampler, nodes) + table for table in (counts, others)]
    assert np.count_nonzero(fresh[1] - fresh[0]) > 40
