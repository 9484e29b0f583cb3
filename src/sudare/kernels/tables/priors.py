"""Posterior means and variances under priors whose weights are learned, for noise of Laplace or Gaussian shape.

A prior is a mixture with fixed components and learned weights. Weights are learned by expectation maximisation, which
only ever raises the likelihood of the noisy values.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sudare.kernels.compiling import called, kernel

__all__ = ["learn_weights", "posterior_of_mixture", "project_children"]

ROOT_TWO_PI = math.sqrt(2 * math.pi)
TINY = 1e-300
TAIL = -12.0


@kernel("void(float64[:, ::1], float64[::1], int64, float64[::1], float64, float64[::1])", read_only=(0, 1, 3))
def learn_weights(likelihood: Any, occurrences: Any, rounds: int, believed: Any, strength: float, weights: Any) -> None:
    """Weights of components, from the likelihood of each observation (row) under each component (column).

    Args:
        likelihood: of each observation under each component.
        occurrences: how often each observation occurs.
        rounds: of expectation maximisation.
        believed: weights believed before, which add up to 1.
        strength: how many observations that belief is worth.
        weights: where the weights are written.
    """
    observations, components = likelihood.shape
    shares = np.empty(components)
    for j in range(components):
        weights[j] = believed[j]
    for _ in range(rounds):
        for j in range(components):
            shares[j] = strength * believed[j]
        total = strength
        for i in range(observations):
            density = 0.0
            for j in range(components):
                density += likelihood[i, j] * weights[j]
            if density > TINY:
                factor = occurrences[i] / density
                total += occurrences[i]
                for j in range(components):
                    shares[j] += likelihood[i, j] * weights[j] * factor
        for j in range(components):
            weights[j] = shares[j] / total


@called
def cut_off_normal(end: Any, residual: Any, scale: Any, spread: Any) -> Any:
    """One side of `normal_under_laplace`: a standard normal law below ``end``, cut off there.

    Gives the logarithm of its mass times the density of the noise, how far its mean is below its end, and its variance.
    Far out in the tail these are differences of huge numbers; the series there have them cancelled by hand.
    """
    if end > TAIL:
        mass = math.log(0.5 * math.erfc(-end / math.sqrt(2.0)))
        hazard = math.exp(-0.5 * end * end - mass) / ROOT_TWO_PI
        excess = end + hazard
        weight = -residual / scale + spread * spread / (2 * scale * scale) + mass
        return weight, excess, max(1 - hazard * excess, 0.0)
    square = end * end
    series = -1.0 / square + 3.0 / square**2 - 15.0 / square**3
    weight = -0.5 * (residual / spread) ** 2 - math.log(-end * ROOT_TWO_PI) + math.log1p(series)
    return weight, -1 / end + 2 / end**3 - 10 / end**5, 1 / square - 6 / square**2 + 50 / square**3


@called
def normal_under_laplace(residual: Any, scale: Any, spread: Any) -> Any:
    """For x normal around 0 and seen under Laplace noise: the density of what is seen, and mean and mean square of x.

    Where the noise is positive, x is below what is seen and its law is a normal one around +spread^2/scale, cut off there;
    where it is negative, the mirror image.
    """
    if spread < 1e-6 * scale:
        return math.exp(-abs(residual) / scale) / (2 * scale), 0.0, 0.0
    shift = spread * spread / scale
    below, low_excess, low_variance = cut_off_normal((residual - shift) / spread, residual, scale, spread)
    above, high_excess, high_variance = cut_off_normal((-residual - shift) / spread, -residual, scale, spread)
    highest = max(below, above)
    share_below, share_above = math.exp(below - highest), math.exp(above - highest)
    total = share_below + share_above
    mean_below, mean_above = residual - spread * low_excess, residual + spread * high_excess
    square_below = spread * spread * low_variance + mean_below * mean_below
    square_above = spread * spread * high_variance + mean_above * mean_above
    density = math.exp(highest) * total / (2 * scale)
    mean = (share_below * mean_below + share_above * mean_above) / total
    return density, mean, (share_below * square_below + share_above * square_above) / total


@called
def normal_under_normal(residual: Any, variance: Any, spread: Any) -> Any:
    """The same under Gaussian noise of a variance."""
    whole = variance + spread * spread
    share = spread * spread / whole
    mean = share * residual
    density = math.exp(-0.5 * residual * residual / whole) / (ROOT_TWO_PI * math.sqrt(whole))
    return density, mean, mean * mean + share * variance


@kernel(
    "void(float64[::1], float64[::1], float64[:, ::1], boolean, float64[:, ::1])",
    read_only=(0, 1, 2),
)
def likelihood_of_spreads(residuals: Any, variances: Any, spreads: Any, is_laplace: bool, out: Any) -> None:
    """The density of each residual under each of its normal components."""
    for i in range(residuals.size):
        scale = math.sqrt(variances[i] / 2)
        for j in range(spreads.shape[1]):
            if is_laplace:
                out[i, j] = normal_under_laplace(residuals[i], scale, spreads[i, j])[0]
            else:
                out[i, j] = normal_under_normal(residuals[i], variances[i], spreads[i, j])[0]


@kernel(
    "float64(float64[::1], float64[::1], float64[:, ::1], float64[:, ::1], boolean, float64[::1], float64[::1], float64[::1])",
    read_only=(0, 1, 2, 3),
)
def posterior_of_mixture(
    residuals: Any,
    variances: Any,
    spreads: Any,
    weights: Any,
    is_laplace: bool,
    means: Any,
    posteriors: Any,
    priors: Any,
) -> Any:
    """Posterior mean and variance of each residual, and the prior variance that it is judged to come from.

    Returns the logarithm of the likelihood of all residuals.
    """
    evidence = 0.0
    for i in range(residuals.size):
        scale = math.sqrt(variances[i] / 2)
        total = mean = square = precision = 0.0
        for j in range(spreads.shape[1]):
            weight = weights[i, j]
            if weight < 1e-9:
                continue
            if is_laplace:
                density, component_mean, component_square = normal_under_laplace(residuals[i], scale, spreads[i, j])
            else:
                density, component_mean, component_square = normal_under_normal(
                    residuals[i], variances[i], spreads[i, j]
                )
            weight *= density
            total += weight
            mean += weight * component_mean
            square += weight * component_square
            precision += weight / (variances[i] + spreads[i, j] * spreads[i, j])
        if total > TINY:
            means[i] = mean / total
            posteriors[i] = min(max(square / total - means[i] * means[i], 1e-9 * variances[i]), 4 * variances[i])
            priors[i] = max(total / precision - variances[i], 1e-9 * variances[i])
            evidence += math.log(total)
        else:
            means[i], posteriors[i], priors[i] = residuals[i], variances[i], 1e12 * variances[i]
            evidence += math.log(TINY)
    return evidence


@called
def hand_out(missing: Any, turn: Any, taking: Any, rest: Any, order: Any, counts: Any) -> None:
    """One more for those with the largest rests, of equal ones from the child whose turn it is on, until nobody is missing."""
    first = 0
    while first < taking.size and taking[first] < turn:
        first += 1
    for k in range(taking.size):
        order[k] = taking[first + k if first + k < taking.size else first + k - taking.size]
    while missing > 0:
        best, largest = 0, rest[order[0]]
        for k in range(1, taking.size):
            own = rest[order[k]]
            best = k if own > largest else best
            largest = max(own, largest)
        counts[order[best]] += 1
        rest[order[best]] -= 1.0
        missing -= 1


@kernel(
    "void(float64[:, ::1], float64[:, ::1], int64[::1], uint64[::1], int64[:, ::1])",
    read_only=(0, 1, 2, 3),
)
def project_children(values: Any, variances: Any, parents: Any, tie_words: Any, out: Any) -> None:
    """Whole numbers >= 0 for the children of each parent that add up to the parent's count.

    The nearest point to the values where each is measured in its own standard deviation: value - theta * variance, cut
    off at 0, with one theta a parent. Rounded down, what is missing goes to the largest fractional parts; equal ones take
    turns from a random child, so that no place among the children is preferred. A child with a negative variance has no
    cells and gets nothing; at least one child has cells.
    """
    nodes, fan = values.shape
    rest = np.empty(fan)
    members, taking, order = np.empty(fan, dtype=np.int64), np.empty(fan, dtype=np.int64), np.empty(fan, dtype=np.int64)
    for i in range(nodes):
        parent = parents[i]
        for j in range(fan):
            out[i, j] = 0
        if parent <= 0:
            continue
        children: Any = 0
        for j in range(fan):
            members[children] = taking[children] = j
            rest[j] = -2.0
            children += np.int64(variances[i, j] >= 0)
        active, theta = children, 0.0
        left: Any = 0
        while True:
            total = spread = 0.0
            for k in range(active):
                total += values[i, taking[k]]
                spread += variances[i, taking[k]]
            theta = (total - parent) / spread if spread > 0 else 0.0
            left = 0
            for k in range(active):
                j = taking[k]
                taking[left] = j
                left += np.int64(values[i, j] - theta * variances[i, j] > 0)
            if left in (active, 0):
                break
            active = left
        missing = parent
        for k in range(left):
            j = taking[k]
            real = values[i, j] - theta * variances[i, j]
            out[i, j] = min(np.int64(min(np.floor(real), 4.0e18)), missing)
            missing -= out[i, j]
            rest[j] = real - np.floor(real)
        if missing > fan:
            # Beyond 2**53 a real number is no longer exact; the most uncertain child takes what that costs.
            widest = members[0]
            for k in range(1, children):
                widest = members[k] if variances[i, members[k]] > variances[i, widest] else widest
            out[i, widest] += missing - active
            missing = min(np.int64(active), missing)
        if missing > 0:
            turn = members[np.int64(tie_words[i] % np.uint64(children))]
            # Where each of those that take part gets one at most, the others need not be looked at.
            hand_out(missing, turn, taking[:left] if missing <= left else members[:children], rest, order, out[i])
