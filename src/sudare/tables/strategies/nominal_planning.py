"""The plan for a cross table of a few attributes without places: which margins are measured beside the cells.

It looks at no count. Small tables are measured by noise on each cell alone, which no margins beat there; where noise would add
up, margins of the attributes get shares of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.unit import Unit
from sudare.refine.components import axes_within
from sudare.tables.arguments import Noise
from sudare.tables.planning.plan import Alternative, Plan, PlannedLevel, PredictedError
from sudare.tables.planning.plan_words import (
    CELLS_ALONE,
    MARGINS_BESIDE_CELLS,
    NO_MARGIN_MOVED,
    NOISE_ON_EACH_CELL,
    other_noise,
)
from sudare.tables.planning.predicted_error import predict_error
from sudare.tables.planning.workload import MARGINS, WorkloadPart
from sudare.tables.strategies.area_workload import BESIDE, masks_of
from sudare.tables.strategies.axes import PlacesAndAttributes
from sudare.tables.strategies.groupings import Strategy
from sudare.tables.strategies.margin_shares import MarginVariances, best_shares
from sudare.tables.strategies.margin_tree import sensitivities_of
from sudare.tables.strategies.margin_tree_plans import margin_tree_plan
from sudare.tables.trees.dense_tree import variance_of
from sudare.tables.trees.descent import measure_levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["MAX_NOMINAL_CELLS", "NOMINAL_WORDS", "plan_cross_table"]

NOMINAL_WORDS = ("cells", MARGINS, "totals")
"""What a workload may say of a table without places, besides attributes."""

MAX_NOMINAL_CELLS = 1 << 20
USUAL_ORDER = 3
DIGITS = 3


@dataclass(frozen=True)
class _Choice:
    strategy: Strategy
    noise: Noise
    variances: Values
    loss: float


def plan_cross_table(
    parts: PlacesAndAttributes,
    budget: Budget,
    unit: Unit,
    workload: Sequence[WorkloadPart],
    noises: Sequence[Noise],
    conversion: Conversion,
    *,
    public_total: bool,
) -> Plan:
    """Plan how to publish a table of a few attributes.

    Args:
        parts: its attributes; there are no places.
        budget: what may be spent.
        unit: who is protected.
        workload: what matters; all margins of up to three attributes by default.
        noises: the kinds of noise that give the budget.
        conversion: how (epsilon, delta) is turned into rho for Gaussian noise.
        public_total: whether the total is published exactly.
    """
    weights, named = _weights(workload, parts.names)
    if public_total:
        named = named & (np.arange(named.size) > 0)
    task = _Task(parts, budget, unit, conversion, weights, named, public_total)
    choices = [task.choose(kind) for kind in noises]
    best = min(choices, key=lambda choice: task.mean(choice.variances))
    return task.write(best, choices)


def _weights(workload: Sequence[WorkloadPart], names: Sequence[str]) -> tuple[Values, NDArray[np.bool_]]:
    """How much each margin matters, 1 on average over those that are named, and which are."""
    weights = np.zeros(1 << len(names))
    for part in workload or (WorkloadPart(word=MARGINS),):
        masks = masks_of(part, names)
        if part.word == MARGINS:
            most = min(part.order or USUAL_ORDER, len(names))
            masks = [mask for mask in masks if mask.bit_count() <= most]
        orders = [max(mask.bit_count(), 1) for mask in masks]
        for mask, order in zip(masks, orders, strict=True):
            # All margins of one order weigh as much as all of another; the total as much as one of single attributes.
            weights[mask] += part.weight / orders.count(order) / len(set(orders))
    named = weights > 0
    return np.where(named, weights * named.sum() / weights.sum(), BESIDE), named


@dataclass(frozen=True)
class _Task:
    parts: PlacesAndAttributes
    budget: Budget
    unit: Unit
    conversion: Conversion
    weights: Values
    named: NDArray[np.bool_]
    total_is_public: bool

    @property
    def variances(self) -> MarginVariances:
        """Of all margins, by the noise on them."""
        return MarginVariances.of(self.parts.lengths, fixed_total=self.total_is_public)

    def _strategy(self, shares: Values) -> Strategy:
        return Strategy((), len(self.parts.attributes), (tuple(map(float, shares)),))

    def alone(self, kind: Noise) -> Values:
        """The variance of each margin's noise if it had the whole budget."""
        everything = self._strategy(np.ones(self.weights.size))
        sensitivities = sensitivities_of(everything, list(everything.groupings()), self.unit)
        known = {}
        for sensitivity in set(sensitivities):
            (whole,) = measure_levels(self.budget, [1], [sensitivity], kind, self.conversion)
            known[sensitivity] = variance_of(whole)
        return np.array([known[sensitivity] for sensitivity in sensitivities])

    def choose(self, kind: Noise) -> _Choice:
        """The best shares with a kind of noise."""
        alone, power = self.alone(kind), 2 if kind == "laplace" else 1
        shares, loss = best_shares(self.variances, alone, self.weights, power)
        # Written with few digits, so that a plan can be read, and repeated, exactly as shown.
        shares = np.array([float(f"{share:.{DIGITS}g}") for share in shares])
        precisions = (shares / shares.sum()) ** power / alone
        return _Choice(self._strategy(shares), kind, self.variances.of_margins(precisions), loss)

    def flat(self, kind: Noise) -> Values:
        """Variances by noise on each cell alone."""
        cells = np.arange(self.weights.size) == self.weights.size - 1
        return self.variances.of_margins(np.where(cells, 1 / self.alone(kind), 0.0))

    def mean(self, variances: Values) -> float:
        """The geometric mean of the errors over the workload, by its weights."""
        chosen = self.weights[self.named]
        if not chosen.size:
            return 1.0
        return float(np.exp(0.5 * np.log(np.maximum(variances[self.named], 1e-300)) @ chosen / chosen.sum()))

    def write(self, best: _Choice, choices: Sequence[_Choice]) -> Plan:
        """The plan in the words of `Plan`."""
        strategy = best.strategy
        groupings = list(strategy.groupings(without_total=self.total_is_public))
        shares = [grouping.weight for grouping in groupings]
        sensitivities = sensitivities_of(strategy, groupings, self.unit)
        measured = measure_levels(self.budget, shares, sensitivities, best.noise, self.conversion)
        levels = tuple(
            PlannedLevel.of(
                strategy.name(grouping, self.parts.names), share / sum(shares), sqrt(variance_of(measurement))
            )
            for grouping, share, measurement in zip(groupings, shares, measured, strict=True)
        )
        why = MARGINS_BESIDE_CELLS if len(groupings) > 1 else CELLS_ALONE
        return margin_tree_plan(
            strategy,
            best.noise,
            self.conversion,
            shape=self.parts.domain.shape,
            budget=self.budget,
            unit=self.unit,
            total_is_public=self.total_is_public,
            levels=levels,
            errors=self._errors(best),
            alternatives=self._alternatives(best, choices),
            reasons=(why, NO_MARGIN_MOVED),
        )

    def _errors(self, best: _Choice) -> tuple[PredictedError, ...]:
        """The predicted error of each margin of the workload, the smallest first."""
        found = []
        for mask in sorted(np.flatnonzero(self.named).tolist(), key=lambda mask: (mask.bit_count(), mask)):
            margin = tuple(self.parts.names[axis] for axis in axes_within(mask))
            error = sqrt(float(best.variances[mask]))
            sums = prod(self.parts.lengths[axis] for axis in axes_within(mask))
            found.append(predict_error(1, error, sums, self.parts.domain.cells, margin=margin))
        return tuple(found)

    def _alternatives(self, best: _Choice, choices: Sequence[_Choice]) -> list[Alternative]:
        def compared(name: str, settings: Words, variances: Values) -> Alternative:
            ratios = np.sqrt(variances[self.named] / best.variances[self.named])
            ratio = self.mean(variances) / self.mean(best.variances)
            return Alternative(name, settings, ratio, float(ratios.max(initial=0.0)))

        others = [compared("margin-tree", other_noise(c.noise), c.variances) for c in choices if c is not best]
        return [*others, *(compared(c.noise, NOISE_ON_EACH_CELL, self.flat(c.noise)) for c in choices)]
