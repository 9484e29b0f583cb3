"""The errors of mechanisms that add noise and do nothing else, by formula: the same for every table.

A sum over a box has the product over the axes of how much noise a range along each takes in, which the mechanism says
(`sudare.tables.mechanism.NoiseAlone`).
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, expm1

import numpy as np

from sudare.accuracy.groupings import Grouping
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement, Measurement
from sudare.tables.mechanism import DividedAxis

__all__ = ["mean_square_of", "noise_variance"]


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


def mean_square_of(grouping: Grouping, noise: float, factor: Callable[[DividedAxis], float]) -> float:
    """The mean squared error of a grouping's sums.

    Args:
        grouping: what is summed.
        noise: the variance of what is drawn.
        factor: how much of it ranges along an axis take in, on average.
    """
    product = 1.0
    for partition in grouping.partitions:
        product *= factor(partition)
    return product * noise
