"""By how much noise exceeds a level, on average: for choices and predictions, which see no data.

Floating point is enough here: nothing that is drawn depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import erfc, exp, expm1, pi, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sudare.noise.exact import LatticeLaw
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement, Measurement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["NoiseMoments", "law_of"]

MAX_SUMMED_SIGMA = 8.0
"""Gaussian noise narrower than this is summed over whole numbers; wider noise is as the normal law."""


def law_of(measurement: Measurement) -> LatticeLaw:
    """The law of the noise that a measurement states."""
    if isinstance(measurement, GaussianMeasurement):
        return LatticeLaw(Fraction(0), 1 / (2 * measurement.sigma_squared), two_sided=True)
    if isinstance(measurement, LaplaceMeasurement):
        return LatticeLaw(1 / measurement.scale, Fraction(0), two_sided=True)
    raise AssertionError(f"a {measurement.kind} measurement adds no noise to counts")


@dataclass(frozen=True)
class NoiseMoments:
    """Moments of two-sided noise X beyond a level t, which may be any number.

    Attributes:
        law: of the noise, linear (Laplace) or quadratic (Gaussian).

    Example:
        >>> from fractions import Fraction
        >>> from sudare.noise.exact import LatticeLaw
        >>> noise = NoiseMoments(LatticeLaw(Fraction(1, 10), Fraction(0), two_sided=True))
        >>> round(noise.excess(0), 3), round(noise.excess(23), 3)
        (4.992, 0.5)
    """

    law: LatticeLaw

    @property
    def variance(self) -> float:
        """Of the noise."""
        return 2 * self.squared_excess(0.0)

    def tail(self, level: float) -> float:
        """P(X > level)."""
        return self._mirrored(level)[0]

    def excess(self, level: float) -> float:
        """The mean of max(X - level, 0)."""
        return self._mirrored(level)[1]

    def squared_excess(self, level: float) -> float:
        """The mean of max(X - level, 0)**2."""
        return self._mirrored(level)[2]

    def _mirrored(self, level: float) -> tuple[float, float, float]:
        """All three; below 0 from what lies beyond -level on the other side, because the law is symmetric."""
        if level >= 0:
            return self._beyond(level)
        tail, excess, squares = self._beyond(-level)
        _, _, half = self._beyond(0.0)
        at_level = self._weight(-level) if float(level).is_integer() else 0.0
        return 1 - tail - at_level, excess - level, level * level + 2 * half - squares

    def _weight(self, value: float) -> float:
        """P(X = value) for a whole number >= 0."""
        if not self.law.quadratic:
            ratio = exp(-float(self.law.linear))
            return (1 - ratio) / (1 + ratio) * exp(-float(self.law.linear) * value)
        square = float(self.law.quadratic)
        reach = np.arange(1, int(6 / sqrt(square)) + 8, dtype=np.float64)
        norm = 1 + 2 * float(np.exp(-square * reach**2).sum()) if square > 1e-4 else sqrt(pi / square)
        return exp(-min(square * value * value, 700.0)) / norm

    def _beyond(self, level: float) -> tuple[float, float, float]:
        """All three for a level >= 0."""
        if not self.law.quadratic:
            return self._beyond_laplace(level)
        sigma = sqrt(0.5 / float(self.law.quadratic))
        if sigma >= MAX_SUMMED_SIGMA:
            return _beyond_normal(level, sigma)
        first = int(level) + 1
        over = np.arange(first, first + int(12 * sigma) + 12, dtype=np.float64)
        weights = np.exp(-float(self.law.quadratic) * over**2) * self._weight(0)
        heights: Values = over - level
        return float(weights.sum()), float((weights * heights).sum()), float((weights * heights**2).sum())

    def _beyond_laplace(self, level: float) -> tuple[float, float, float]:
        """Geometric sums: with r = exp(-1/scale), P(X = k) = (1 - r)/(1 + r) r**k, and d from the level to the next value."""
        slope = float(self.law.linear)
        ratio, rest = exp(-slope), -expm1(-slope)
        first = int(level) + 1
        gap = first - level
        top = exp(-min(slope * first, 700.0)) / (1 + ratio)
        return (
            top,
            top * (gap + ratio / rest),
            top * (gap * gap + 2 * gap * ratio / rest + ratio * (1 + ratio) / rest**2),
        )


def _beyond_normal(level: float, sigma: float) -> tuple[float, float, float]:
    tail = 0.5 * erfc(level / (sigma * sqrt(2)))
    density = exp(-min(level * level / (2 * sigma * sigma), 700.0)) / sqrt(2 * pi)
    excess = max(sigma * density - level * tail, 0.0)
    return tail, excess, max((level * level + sigma * sigma) * tail - level * sigma * density, 0.0)
