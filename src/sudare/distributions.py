"""Tails and quantiles of the distributions that intervals and tests need, without SciPy.

- `normal_probability`, `normal_tail`, `normal_quantile`: of the standard normal distribution.
- `chi_square_quantile`: above which chance alone seldom goes.
- `proportion_limits`: exact limits of a probability from hits in trials (Clopper and Pearson 1934).
- `poisson_quantiles`: Poisson numbers from uniform ones, by inversion.
- `digamma`: the slope of the logarithm of the gamma function, which likelihoods of class sizes need.

Held to SciPy's results by ``tests/unit/test_distributions.py``.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Values = NDArray[np.float64]

__all__ = [
    "chi_square_quantile",
    "digamma",
    "normal_probability",
    "normal_quantile",
    "normal_tail",
    "poisson_quantiles",
    "proportion_limits",
]

MAX_COUNTED_MEAN = 1e6
"""Of a Poisson number that is counted up to; above it an expansion is nearer than a thousandth of a step."""

_complementary_error = np.frompyfunc(math.erfc, 1, 1)
_standard_quantile = np.frompyfunc(NormalDist().inv_cdf, 1, 1)


def normal_probability(values: ArrayLike) -> Values:
    """How likely a standard normal number is at most as large, value by value; small ones keep their digits.

    Example:
        >>> from sudare.distributions import normal_probability
        >>> normal_probability([0.0, 1.96]).round(3).tolist()
        [0.5, 0.975]
    """
    return np.asarray(_complementary_error(np.asarray(values) * -math.sqrt(0.5)), dtype=np.float64) / 2


def normal_tail(values: ArrayLike) -> Values:
    """How likely a standard normal number is larger, value by value; small ones keep their digits."""
    return normal_probability(-np.asarray(values))


def normal_quantile(chance: float) -> float:
    """The number below which a standard normal one lies with a chance; infinite for 0 and 1.

    Example:
        >>> from sudare.distributions import normal_quantile
        >>> round(normal_quantile(0.975), 3)
        1.96
    """
    if chance in (0.0, 1.0):
        return math.inf if chance else -math.inf
    return NormalDist().inv_cdf(chance)


@lru_cache(maxsize=1024)
def chi_square_quantile(degrees: int, chance: float) -> float:
    """The number that a chi-square one of this many degrees of freedom exceeds with a chance; infinite for 0.

    Newton's steps on the logarithm of the smaller tail, which is concave and close to a line, so that no chance that a double can
    hold is too small.

    Example:
        >>> from sudare.distributions import chi_square_quantile
        >>> round(chi_square_quantile(1, 0.05), 3)
        3.841
    """
    if chance in (0.0, 1.0):
        return 0.0 if chance else math.inf
    half = degrees / 2
    middle = 2 / (9 * degrees)  # Wilson and Hilferty (1931)
    value = half * max(1 - middle - NormalDist().inv_cdf(chance) * math.sqrt(middle), 1e-3) ** 3
    is_upper = chance <= 0.5
    target = math.log(chance if is_upper else 1 - chance)
    low, high = 0.0, math.inf
    for _ in range(200):
        below, above, density = _log_gamma_tails(half, value)
        tail = above if is_upper else below
        if (tail > target) == is_upper:
            low = value
        else:
            high = value
        ratio = math.exp(density - tail)  # the slope of the tail's logarithm, without its sign
        following = value + (tail - target) / ratio if is_upper else value * math.exp((target - tail) / (ratio * value))
        if abs(following - value) <= 4e-16 * value:
            break
        value = following if low < following < high else (low + high) / 2 if math.isfinite(high) else 2 * low
    return 2 * value


def _log_gamma_tails(shape: float, value: float) -> tuple[float, float, float]:
    """Logarithms: of the chances that a gamma variable is below a value and above it, and of its density there."""
    more = (value - shape) / shape
    peak = shape * ((math.log1p(more) if abs(more) < 0.5 else math.log(value / shape)) - more)
    # log(shape**shape / exp(shape) / Gamma(shape)), by Stirling's series where that has all digits.
    scale = shape * math.log(shape) - shape - math.lgamma(shape)
    if shape > 32:
        square = 1 / shape**2
        rest = (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680))) / shape
        scale = 0.5 * math.log(shape / (2 * math.pi)) - rest
    power = scale + peak  # of value**shape * exp(-value) / Gamma(shape)
    density = power - math.log(value)
    if value < shape + 1:
        term = total = 1 / shape
        count = shape
        while term > total * 1e-17:
            count += 1
            term *= value / count
            total += term
        below = power + math.log(total)
        return below, _log_of_rest(below), density
    # Legendre's continued fraction, by Lentz's method.
    base = value + 1 - shape
    upper, lower = 1e300, 1 / base
    total = lower
    for step in range(1, 1_000_000):
        term = -step * (step - shape)
        base += 2
        lower = 1 / (term * lower + base)
        upper = base + term / upper
        total *= lower * upper
        if abs(lower * upper - 1) < 1e-16:
            break
    above = power + math.log(total)
    return _log_of_rest(above), above, density


def _log_of_rest(log_chance: float) -> float:
    """The logarithm of 1 less a chance, from the logarithm of the chance."""
    return math.log(-math.expm1(log_chance)) if log_chance < 0 else -math.inf


def proportion_limits(hits: ArrayLike, trials: int, chance: float) -> tuple[Values, Values]:
    """Exact lower and upper limits of a probability from hits in trials, each wrong with at most the given chance.

    Args:
        hits: whole numbers from 0 to the trials.
        trials: how many there were.
        chance: above 0 and below 1.

    Example:
        >>> from sudare.distributions import proportion_limits
        >>> low, high = proportion_limits([0, 5], 10, 0.025)
        >>> low.round(3).tolist(), high.round(3).tolist()
        ([0.0, 0.187], [0.308, 0.813])
    """
    from sudare.kernels.distributions import proportion_limits as limits

    array = np.asarray(hits, dtype=np.int64)
    flat = np.ascontiguousarray(array.reshape(-1))
    low, high = np.empty(flat.size), np.empty(flat.size)
    limits(flat, trials, chance, low, high)
    return low.reshape(array.shape), high.reshape(array.shape)


def poisson_quantiles(chances: ArrayLike, means: ArrayLike) -> Values:
    """For each chance and mean the smallest number that a Poisson one exceeds with at most the rest of the chance.

    Args:
        chances: above 0 and below 1.
        means: numbers >= 0, as many.

    Example:
        >>> from sudare.distributions import poisson_quantiles
        >>> poisson_quantiles([0.5, 0.99], [3.0, 3.0]).tolist()
        [3.0, 8.0]
    """
    from sudare.kernels.distributions import poisson_quantiles as quantiles

    mean = np.asarray(means, dtype=np.float64)
    chance, flat = np.asarray(chances, dtype=np.float64).reshape(-1), mean.reshape(-1)
    numbers = np.empty(flat.size)
    counted = flat <= MAX_COUNTED_MEAN
    numbers[counted] = 0.0
    small = np.empty(int(counted.sum()))
    quantiles(np.ascontiguousarray(chance[counted]), np.ascontiguousarray(flat[counted]), small)
    numbers[counted] = small
    large = flat[~counted]
    normal = np.asarray(_standard_quantile(chance[~counted]), dtype=np.float64)
    expansion = large + np.sqrt(large) * normal + (normal**2 - 1) / 6 + (normal - normal**3) / (72 * np.sqrt(large))
    numbers[~counted] = np.ceil(expansion - 0.5)
    return numbers.reshape(mean.shape)


def digamma(value: float) -> float:
    """The slope of the logarithm of the gamma function at a number above 0.

    Example:
        >>> from sudare.distributions import digamma
        >>> round(digamma(1.0), 4)
        -0.5772
    """
    total = 0.0
    while value < 10:
        total -= 1 / value
        value += 1
    square = 1 / (value * value)
    series = 1 / 12 - square * (
        1 / 120 - square * (1 / 252 - square * (1 / 240 - square * (1 / 132 - square * (691 / 32760 - square / 12))))
    )
    return total + math.log(value) - 0.5 / value - square * series
