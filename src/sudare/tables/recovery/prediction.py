"""How far recovered counts are off, bias and variance, from public facts alone: noise, cells, total and a guess of sparsity.

A recovered count is max(x + X - theta, 0) / divisor for a cell with x people and noise X. With many cells theta hardly
varies, and mean and variance are those of the noise beyond theta - x. Formulas: ``recovery.md`` beside this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from sudare.tables.recovery.moments import NoiseMoments

__all__ = ["PredictedCount", "expected_level", "predicted_area", "predicted_count"]

HALVINGS = 100
ROUNDING_VARIANCE = 1 / 6
"""About what rounding to whole numbers adds where a count is above 0: the mean of f (1 - f) over fractional parts f."""


@dataclass(frozen=True)
class PredictedCount:
    """What to expect of a recovered count, or of a sum of several.

    Attributes:
        bias: its mean less the true count.
        variance: around its mean.
    """

    bias: float
    variance: float

    @property
    def rmse(self) -> float:
        """Root mean squared error."""
        return sqrt(self.bias**2 + self.variance)


def expected_level(
    noise: NoiseMoments, cells: float, total: float, share_of_non_zeros: float, divisor: float = 1.0
) -> float:
    """The level theta above which noisy counts add up to divisor * total, if all non-empty cells have the same count.

    Args:
        noise: on every cell.
        cells: how many there are.
        total: people in all, > 0.
        share_of_non_zeros: about, above 0 and at most 1.
        divisor: 1 for projection on the simplex, 1 - weight for negative l2.

    Example:
        >>> from fractions import Fraction
        >>> from sudare.noise.exact import LatticeLaw
        >>> noise = NoiseMoments(LatticeLaw(Fraction(1, 10), Fraction(0), two_sided=True))
        >>> round(expected_level(noise, 64 * 64, 19_700, 0.033))
        20
    """
    non_zeros = min(max(share_of_non_zeros * cells, 1.0), cells)
    each = total / non_zeros

    def left(level: float) -> float:
        return non_zeros * noise.excess(level - each) + (cells - non_zeros) * noise.excess(level)

    deviation = sqrt(noise.variance)
    low, high = -total - 60 * deviation, each + total + 60 * deviation
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if left(middle) >= divisor * total else (low, middle)
    return low


def predicted_count(noise: NoiseMoments, level: float, divisor: float, count: float) -> PredictedCount:
    """Bias and variance of one cell with a true count.

    Args:
        noise: on every cell.
        level: theta: of `expected_level`, or half the weight of a Lasso, or 0 for LM.
        divisor: what is left is divided by it.
        count: people in the cell.
    """
    mean = noise.excess(level - count) / divisor
    variance = noise.squared_excess(level - count) / divisor**2 - mean**2
    is_positive = noise.tail(level - count)
    return PredictedCount(mean - count, max(variance, 0.0) + is_positive * ROUNDING_VARIANCE)


def predicted_area(
    noise: NoiseMoments, level: float, divisor: float, cells: float, people: float, non_zeros: float
) -> PredictedCount:
    """Bias and variance of a sum of cells, of which this many share the people evenly and the others are empty.

    Sums near the whole table are nearer to the truth than this, because the total is kept.
    """
    inhabited = predicted_count(noise, level, divisor, people / non_zeros) if non_zeros else PredictedCount(0.0, 0.0)
    empty = predicted_count(noise, level, divisor, 0.0)
    return PredictedCount(
        non_zeros * inhabited.bias + (cells - non_zeros) * empty.bias,
        non_zeros * inhabited.variance + (cells - non_zeros) * empty.variance,
    )
