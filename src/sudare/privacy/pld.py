"""The privacy of a sequence of measurements by numerical composition, through ``dp-accounting``.

The privacy loss distribution of discrete Laplace and of discrete Gaussian noise is known exactly; ``dp-accounting`` rounds it
onto a grid, always pessimistically, and convolves. For a vector of which one unit changes at most ``cells`` entries by at most
``largest`` each, the measurement is the composition of this many one-dimensional ones.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from sudare.bilingual import Words
from sudare.errors import GuaranteeError
from sudare.extras import COMPOSITION, optional_module
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement, Measurement

__all__ = ["epsilon_of_measurements"]

MAX_SIGMA = 10**6
MIN_DELTA = Fraction(1, 10**12)
FINEST_GRID, COARSEST_GRID = 1e-7, 1e-4
ROUNDING = Fraction(1, 10**9)
"""Relative, upwards, on top of the grid's pessimism: covers the rounding of the convolutions."""


def epsilon_of_measurements(measurements: Iterable[Measurement], delta: Fraction) -> Fraction:
    """The epsilon that all measurements together guarantee at a delta, rounded up.

    The deltas that measurements have of their own are not part of it; they are to be added to the delta.

    Raises:
        GuaranteeError: if the delta is too small, or the noise too wide, for double precision to answer.
    """
    counted = Counter(measurement for measurement in measurements if measurement.rho)
    if not counted:
        return Fraction(0)
    if delta < MIN_DELTA:
        raise GuaranteeError(
            Words(
                f"Numerical composition is exact enough for delta >= {float(MIN_DELTA):g}. Got {float(delta):g}. "
                "Use the 'optimal' conversion instead.",
                f"数値的な合成が十分に正確なのは delta が {float(MIN_DELTA):g} 以上の場合です（指定: {float(delta):g}）。"
                "'optimal' の換算を使ってください。",
            )
        )
    typical_loss = min(math.sqrt(2 * measurement.rho) for measurement in counted)
    grid = min(max(typical_loss / 500, FINEST_GRID), COARSEST_GRID)
    total: Any = None
    for measurement, times in counted.items():
        single, copies = _loss_distribution(measurement, grid)
        repeated = single.self_compose(copies * times) if copies * times > 1 else single
        total = repeated if total is None else total.compose(repeated)
    epsilon = float(total.get_epsilon_for_delta(float(delta)))
    if not math.isfinite(epsilon):
        raise GuaranteeError(
            Words(
                f"Numerical composition gives no finite epsilon at delta = {float(delta):g}.",
                f"数値的な合成では、delta = {float(delta):g} で有限の epsilon が得られません。",
            )
        )
    return Fraction(epsilon) * (1 + ROUNDING)


def _loss_distribution(measurement: Measurement, grid: float) -> tuple[Any, int]:
    """The distribution of one entry, and how many such entries one unit can change."""
    privacy_loss_distribution = optional_module(
        "dp_accounting.pld.privacy_loss_distribution", "accounting", COMPOSITION
    )
    if isinstance(measurement, LaplaceMeasurement):
        return (
            privacy_loss_distribution.from_discrete_laplace_mechanism(
                _up(1 / measurement.scale), measurement.largest, value_discretization_interval=grid
            ),
            measurement.cells,
        )
    if isinstance(measurement, GaussianMeasurement):
        sigma = math.sqrt(measurement.sigma_squared) * (1 - 1e-15)
        if sigma > MAX_SIGMA:
            raise GuaranteeError(
                Words(
                    f"Numerical composition takes Gaussian noise up to sigma = {MAX_SIGMA}. Got {sigma:g}. "
                    "Use the 'optimal' conversion instead.",
                    f"数値的な合成で扱えるガウスノイズは sigma = {MAX_SIGMA} までです（指定: {sigma:g}）。"
                    "'optimal' の換算を使ってください。",
                )
            )
        return (
            privacy_loss_distribution.from_discrete_gaussian_mechanism(
                sigma, measurement.largest, value_discretization_interval=grid
            ),
            measurement.cells,
        )
    if measurement.epsilon is None:
        raise GuaranteeError(
            Words(
                f"No privacy loss distribution is known for a {measurement.kind} measurement.",
                f"{measurement.kind} の測定のプライバシー損失分布は知られていません。",
            )
        )
    common = optional_module("dp_accounting.pld.common", "accounting", COMPOSITION)
    pure = common.DifferentialPrivacyParameters(_up(measurement.epsilon), 0)
    return privacy_loss_distribution.from_privacy_parameters(pure, value_discretization_interval=grid), 1


def _up(value: Fraction) -> float:
    return math.nextafter(float(value), math.inf)
