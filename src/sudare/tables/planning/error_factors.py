"""By which factors errors differ from what noise alone predicts, measured on real tables.

`python -m benchmarks.plan_calibration` measures and prints them; ``prediction.md`` says how, and on which tables. They are set on
some tables and tested on others (`plan_coverage_*` of `python -m benchmarks predictions`).
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["HISTOGRAM_FACTORS", "LOADS", "TREE_FACTORS", "ErrorFactors"]

LOADS = (1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4)
"""People for each sum, on average over the table, in standard deviations of its noise: a factor stands for each of these."""


@dataclass(frozen=True)
class ErrorFactors:
    """Root mean squared errors over the deviation of the noise alone, for each of the loads.

    Attributes:
        inhabited_low: over sums with people, the lower end of the interval.
        inhabited_high: the upper end.
        all_low: over all sums, the lower end.
        all_middle: the median.
        all_high: the upper end.
    """

    inhabited_low: tuple[float, ...]
    inhabited_high: tuple[float, ...]
    all_low: tuple[float, ...]
    all_middle: tuple[float, ...]
    all_high: tuple[float, ...]


TREE_FACTORS = ErrorFactors(
    inhabited_low=(0.029, 0.062, 0.18, 0.36, 0.54, 0.61, 0.66, 0.67),
    inhabited_high=(1.1, 1.1, 1.1, 1.1, 1.1, 1.12, 1.1, 1.1),
    all_low=(0.011, 0.026, 0.065, 0.1, 0.19, 0.33, 0.46, 0.54),
    all_middle=(0.033, 0.091, 0.25, 0.44, 0.68, 0.83, 0.91, 0.86),
    all_high=(0.048, 0.16, 0.4, 0.73, 1.1, 1.12, 1.1, 1.1),
)
"""Of maps, with and without attributes, and of other tables that are published by trees."""

HISTOGRAM_FACTORS = ErrorFactors(
    inhabited_low=(0.013, 0.026, 0.071, 0.21, 0.43, 0.54, 0.62, 0.72),
    inhabited_high=(1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1),
    all_low=(0.009, 0.017, 0.056, 0.15, 0.27, 0.35, 0.44, 0.52),
    all_middle=(0.018, 0.072, 0.19, 0.37, 0.56, 0.65, 0.69, 0.71),
    all_high=(0.034, 0.17, 0.38, 0.66, 1.1, 1.1, 1.1, 1.1),
)
"""Of bins along one axis."""
