"""Quantiles of counts: limits of a proportion from the binomial distribution, and Poisson numbers from uniform ones.

The tails of the binomial distribution are incomplete beta integrals, by their continued fraction; what stands before the fraction
is a binomial probability, written as Loader (2000) does, so that no digits are lost for large counts.
"""

from __future__ import annotations

from math import exp, floor, lgamma, log, log1p, pi, sqrt
from typing import Any

import numpy as np

from sudare.kernels.compiling import called, kernel

__all__ = ["poisson_quantiles", "proportion_limits"]

TINY = 1e-300
FRACTIONS = 100_000
"""Terms of a continued fraction at most; about the root of the count are needed."""

STEPS = 200
NOTHING = 1e-20
SMALL = 16
_ERRORS = np.array([0.0, *(lgamma(n + 1) - (n + 0.5) * log(n) + n - 0.5 * log(2 * pi) for n in range(1, SMALL))])


@called
def stirling_error(count: Any) -> Any:
    """log(n!) less Stirling's formula, for a whole number >= 1."""
    if count < SMALL:
        return _ERRORS[int(count)]
    square = 1 / (count * count)
    return (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))) / count


@called
def deviance(count: Any, mean: Any) -> Any:
    """N log(n / m) + m - n, for n and m above 0."""
    more = (mean - count) / count
    return count * (more - (log1p(more) if abs(more) < 0.5 else log(mean / count)))


@called
def beta_fraction(a: Any, b: Any, x: Any) -> Any:
    """The continued fraction of the incomplete beta integral, by Lentz's method; converges fast below the mean."""
    lower = 1.0 - (a + b) * x / (a + 1)
    lower = 1 / (lower if abs(lower) > TINY else TINY)
    upper, value = 1.0, lower
    for m in range(1, FRACTIONS):
        term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        lower, upper = 1 + term * lower, 1 + term / upper
        lower = 1 / (lower if abs(lower) > TINY else TINY)
        upper = upper if abs(upper) > TINY else TINY
        value *= lower * upper
        term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        lower, upper = 1 + term * lower, 1 + term / upper
        lower = 1 / (lower if abs(lower) > TINY else TINY)
        upper = upper if abs(upper) > TINY else TINY
        value *= lower * upper
        if abs(lower * upper - 1) < 1e-16:
            break
    return value


@called
def beta_quantile(a: Any, b: Any, log_chance: Any) -> Any:
    """The log odds of where the beta distribution of two whole numbers has so much below it.

    Newton's method for the logarithm of the tail, which is a concave function of the log odds; halves where it leaves what
    is known.
    """
    n = a + b
    constant = stirling_error(n) - stirling_error(a) - stirling_error(b) + 0.5 * log(a / n * b / (2 * pi))
    low, high = -800.0, 800.0
    odds = log(a / b)
    for _ in range(STEPS):
        x = 1 / (1 + exp(-odds)) if odds > -700 else exp(odds)
        y = 1 / (1 + exp(odds)) if odds < 700 else exp(-odds)
        slope = constant - deviance(a, n * x) - deviance(b, n * y)  # the log density of the log odds
        if x * (n + 2) < a + 1:
            tail = slope + log(beta_fraction(a, b, x) / a)
        else:
            tail = log1p(-min(exp(slope) * beta_fraction(b, a, y) / b, 1.0 - 1e-16))
        if tail < log_chance:
            low = odds
        else:
            high = odds
        step = (log_chance - tail) * exp(min(tail - slope, 700.0))
        if abs(step) <= 4e-16 * max(1.0, abs(odds)):
            return odds + step
        odds += step
        if not low < odds < high:
            odds = (low + high) / 2
    return odds


@kernel("void(int64[::1], int64, float64, float64[::1], float64[::1])", read_only=(0,))
def proportion_limits(hits: Any, trials: Any, chance: Any, low: Any, high: Any) -> None:
    """Exact lower and upper limits of a probability from hits in trials, each wrong with at most the given chance.

    Clopper and Pearson (1934).
    """
    log_chance = log(chance)
    for i in range(hits.size):
        hit = float(hits[i])
        if hits[i] == 0:
            low[i] = 0.0
        else:
            odds = beta_quantile(hit, trials - hit + 1.0, log_chance)
            low[i] = 1 / (1 + exp(-odds)) if odds > -700 else exp(odds)
        if hits[i] == trials:
            high[i] = 1.0
        else:
            odds = beta_quantile(trials - hit, hit + 1.0, log_chance)  # of one less the probability
            high[i] = 1 / (1 + exp(odds)) if odds < 700 else exp(-odds)


@called
def poisson_quantile(chance: Any, mean: Any) -> Any:
    """The smallest whole number at which the distribution function reaches a chance above 0 and below 1."""
    if mean <= 0:
        return 0.0
    number = floor(mean)
    share = exp(-mean)
    if number > 0:
        share = exp(-stirling_error(number) - deviance(number, mean)) / sqrt(2 * pi * number)
    # To where nothing is left, and back: small numbers are added first, so that both tails keep their digits.
    if chance < 0.5:
        while number > 0 and share > NOTHING * chance:
            share *= number / mean
            number -= 1
        reached = share
        while reached < chance:
            number += 1
            share *= mean / number
            reached += share
        return number
    above = 1 - chance
    while share > NOTHING * above:
        number += 1
        share *= mean / number
    beyond = share
    while number > 0 and beyond <= above:
        share *= number / mean
        number -= 1
        beyond += share
    return number


@kernel("void(float64[::1], float64[::1], float64[::1])", read_only=(0, 1))
def poisson_quantiles(chances: Any, means: Any, numbers: Any) -> None:
    """The Poisson number of each mean at each chance."""
    for i in range(chances.size):
        numbers[i] = poisson_quantile(chances[i], means[i])
