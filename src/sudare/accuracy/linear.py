"""The errors of mechanisms that add noise and do nothing else, by formula: the same for every table.

Flat noise on every cell: a sum of n cells has n times the variance. Privelet along each axis: a sum over a box has the
product over the axes of how much noise a range along each takes in; see ``tables/mechanisms/privelet.md``.
"""

from __future__ import annotations

from math import exp, expm1
from typing import TYPE_CHECKING

import numpy as np

from sudare.accuracy.groupings import Grouping, Partition
from sudare.domain.layout import axis_bits
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement, Measurement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Values = NDArray[np.float64]

__all__ = ["flat_mean_square", "noise_variance", "privelet_mean_square"]

MAX_RANGES = 4096
"""Of an axis with more ranges, so many are evenly chosen."""


def noise_variance(measurement: Measurement) -> float:
    """The variance of the discrete noise of a measurement."""
    if isinstance(measurement, LaplaceMeasurement):
        rate = 1 / float(measurement.scale)
        # 2 q / (1 - q)^2 with q = exp(-rate).
        return 2 * exp(-rate) / expm1(-rate) ** 2
    if isinstance(measurement, GaussianMeasurement):
        return _discrete_gaussian_variance(float(measurement.sigma_squared))
    raise AssertionError(f"a {measurement.kind} measurement adds no noise to counts")


def _discrete_gaussian_variance(sigma_squared: float) -> float:
    if sigma_squared > 100:
        return sigma_squared
    values = np.arange(0, 400)
    weights = np.exp(-(values**2) / (2 * sigma_squared))
    return float(2 * (values**2 * weights).sum() / (2 * weights.sum() - 1))


def flat_mean_square(grouping: Grouping, noise: float) -> float:
    """The mean squared error of a grouping's sums, each cell with noise of this variance."""
    cells = 1.0
    for partition in grouping.partitions:
        cells *= partition.length / partition.parts
    return cells * noise


def privelet_mean_square(grouping: Grouping, noise: float) -> float:
    """The mean squared error of a grouping's sums, from Haar coefficients along each axis with noise of this variance."""
    factor = 1.0
    for partition in grouping.partitions:
        factor *= float(_squared_weights(partition).mean())
    return factor * noise


def _squared_weights(partition: Partition) -> Values:
    """For each range, the sum of the squared weights with which coefficients enter the range's sum.

    The total enters with (cells) / 2^H; the node of height h with (cells in its left half - in its right half) / 2^h.
    """
    first, end = partition.ranges(MAX_RANGES)
    bits = axis_bits(partition.length)
    squares = ((end - first) / 2.0**bits) ** 2
    for height in range(1, bits + 1):
        lower, upper = first >> height, (end - 1) >> height
        squares += (_unbalanced(lower, height, first, end) / 2.0**height) ** 2
        squares += np.where(upper > lower, (_unbalanced(upper, height, first, end) / 2.0**height) ** 2, 0.0)
    return np.asarray(squares)


def _unbalanced(node: Integers, height: int, first: Integers, end: Integers) -> Integers:
    """How many more of a range's places lie in the left half of a node than in its right half."""
    start, half = node << height, 1 << (height - 1)

    def overlap(low: Integers, high: Integers) -> Integers:
        return np.asarray(np.maximum(np.minimum(end, high) - np.maximum(first, low), 0))

    return overlap(start, start + half) - overlap(start + half, start + 2 * half)
