"""The equations behind estimates of unique people have the solutions that SciPy finds."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest
from scipy import optimize, special

from sudare.microdata.uniqueness import _zero_of, _zero_of_two, estimated_uniqueness, likeliest_pitman


@pytest.mark.parametrize("power", [1, 3, 9])
@pytest.mark.parametrize("place", [-2.5, 1e-9, 0.3, 7.0])
def test_where_a_function_is_zero(power: int, place: float) -> None:
    def function(x: float) -> float:
        return (x - place) ** power + 1e-3 * (x - place)

    assert _zero_of(function, -3.0, 20.0) == pytest.approx(place, abs=1e-11)
    assert _zero_of(lambda x: -function(x), -3.0, 20.0) == pytest.approx(place, abs=1e-11)


def test_the_end_where_it_is_zero_already() -> None:
    assert _zero_of(lambda x: x - 2, 2.0, 5.0) == 2.0
    assert _zero_of(lambda x: x - 5, 2.0, 5.0) == 5.0


def test_where_two_functions_are_zero() -> None:
    def both(point: np.ndarray) -> np.ndarray:
        return np.array([exp(point[0]) + point[1] - 3, point[0] * point[1] + point[0] - 1])

    found = _zero_of_two(both, np.array([-1.0, -1.0]))
    assert found is not None
    assert abs(both(found)).max() < 1e-9
    assert _zero_of_two(lambda point: np.array([1 + point[0] ** 2, point[1]]), np.array([1.0, 1.0])) is None


def classes(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    sizes = np.clip(rng.pareto(rng.uniform(0.5, 3), 200) * rng.uniform(0.5, 5) + 1, 1, 10**5).astype(np.int64)
    return np.unique(sizes, return_counts=True)


@pytest.mark.parametrize("seed", range(8))
def test_pitmans_parameters_have_the_largest_likelihood(seed: int) -> None:
    of_size, number = classes(seed)
    sizes, counts = of_size.astype(float), number.astype(float)
    found = likeliest_pitman(sizes, counts)
    assert found is not None
    theta, alpha = found
    people, groups = float(sizes @ counts), float(counts.sum())

    def unlikelihood(point: np.ndarray) -> float:
        mass, share = point
        steps = np.log(mass + share * np.arange(1, groups)).sum()
        rest = special.gammaln(mass + people) - special.gammaln(mass + 1)
        within = counts @ (special.gammaln(sizes - share) - special.gammaln(1 - share))
        return float(rest - steps - within)

    here = unlikelihood(np.array([theta, alpha]))
    best = optimize.minimize(unlikelihood, [theta, alpha], bounds=[(-alpha + 1e-6, None), (1e-3, 1 - 1e-3)])
    assert here <= best.fun + 1e-6 * abs(best.fun)


@pytest.mark.parametrize("model", ["pitman", "zayatz", "slide negative binomial"])
@pytest.mark.parametrize("seed", range(4))
def test_estimates_are_shares(model: str, seed: int) -> None:
    of_size, number = classes(seed)
    estimate = estimated_uniqueness(of_size, number, float(of_size @ number) * 20, model)
    assert estimate is None or 0 < estimate <= 1
