"""How accurate a histogram will be, from its noise alone: for planning, before anything is counted.

What is learned from the noisy counts, and that prefixes never fall, lowers errors further. Proof: ``histogram.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.unit import Unit
from sudare.tables.arguments import Noise
from sudare.tables.histograms.mechanism import planned_measurements
from sudare.tables.histograms.strategy import (
    WeightedWorkload,
    best_strategy,
    cell_variance,
    prefix_variance,
    range_variance,
    range_variance_of_length,
    total_variance,
)
from sudare.tables.trees.dense_tree import variance_of

__all__ = ["PredictedHistogram", "predict_histogram"]


@dataclass(frozen=True)
class PredictedHistogram:
    """Variances of what a histogram will publish, by noise alone.

    Attributes:
        steps: how many halvings make up each level, from the top.
        noise: the variance of the noise on the total (0 if it is public, infinite if it is not measured) and on each level.
    """

    steps: tuple[int, ...]
    noise: tuple[float, ...]

    @property
    def cell(self) -> float:
        """Of one bin."""
        return cell_variance(self.steps, self.noise)

    @property
    def total(self) -> float:
        """Of all bins together."""
        return total_variance(self.steps, self.noise)

    @property
    def prefix(self) -> float:
        """Of a prefix, on average over all of them."""
        return prefix_variance(self.steps, self.noise)

    @property
    def any_range(self) -> float:
        """Of a range, on average over all of them."""
        return range_variance(self.steps, self.noise)

    def range_of(self, length: int) -> float:
        """Of a range of this many bins, on average over where it starts."""
        return range_variance_of_length(self.steps, self.noise, length)


def predict_histogram(
    cells: int,
    budget: Budget,
    *,
    workload: WeightedWorkload = "ranges",
    unit: Unit | None = None,
    public_total: bool = False,
    noise: Noise = "laplace",
    conversion: Conversion = "optimal",
) -> PredictedHistogram:
    """Predict the variances of a histogram with this many bins. Nothing is looked at but these arguments.

    Args:
        cells: how many bins.
        budget: what may be spent in all.
        workload: ``"ranges"``, ``"prefixes"``, ``"cells"`` or weights of several, as for `histogram`.
        unit: who is protected; one person in one cell if left out.
        public_total: whether the total is published exactly; the unit is then protected against being replaced.
        noise: which noise is added.
        conversion: how (epsilon, delta) is turned into rho for Gaussian noise.

    Raises:
        SudareError: if the budget cannot pay for the noise.

    Example:
        >>> import sudare
        >>> predicted = predict_histogram(4096, sudare.Budget(epsilon=1))
        >>> round(predicted.any_range**0.5, 1), round(predicted.cell**0.5, 1)
        (16.9, 5.6)
    """
    protected = Unit() if unit is None else unit
    if public_total:
        protected = replace(protected, adjacency="replace")
    strategy = best_strategy(cells, workload, noise, public_total=public_total)
    heights, measurements = planned_measurements(strategy, budget, protected, noise, conversion)
    variances = [variance_of(measurement) for measurement in measurements]
    if len(heights) == len(strategy.steps):  # the total is not measured
        variances.insert(0, 0.0 if public_total else float("inf"))
    return PredictedHistogram(strategy.steps, tuple(variances))
