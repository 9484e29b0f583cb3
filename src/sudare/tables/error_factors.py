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
    inhabited_low=(0.028, 0.076, 0.17, 0.35, 0.52, 0.61, 0.6, 0.66),
    inhabited_high=(1.1, 1.1, 1.1, 1.1, 1.1, 1.14, 1.1, 1.1),
    all_low=(0.012, 0.031, 0.062, 0.11, 0.18, 0.33, 0.42, 0.57),
    all_middle=(0.035, 0.098, 0.24, 0.44, 0.68, 0.83, 0.86, 0.89),
    all_high=(0.052, 0.16, 0.4, 0.73, 1.1, 1.14, 1.1, 1.1),
)
"""Of maps, with and without attributes, and of other tables that are published by trees."""

HISTOGRAM_FACTORS = ErrorFactors(
    inhabited_low=(0.0037, 0.019, 0.068, 0.21, 0.47, 0.55, 0.65, 0.68),
    inhabited_high=(1.1, 1.1, 1.1, 1.17, 1.1, 1.1, 1.1, 1.1),
    all_low=(0.0023, 0.014, 0.052, 0.17, 0.26, 0.36, 0.47, 0.47),
    all_middle=(0.014, 0.064, 0.21, 0.39, 0.56, 0.64, 0.64, 0.67),
    all_high=(0.032, 0.16, 0.4, 0.69, 1.1, 1.1, 1.1, 1.1),
)
"""Of bins along one axis."""
