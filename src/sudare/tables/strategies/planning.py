"""The plan for a map of people with attributes: which margins are measured in which areas, with which shares.

It looks at no count. The error of each part of the workload (a size of area times a margin) is compared with that of a map
made for this part alone with the whole budget, and the weights are those whose ratios are small on average and nowhere large.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.domain.domain import Domain
from sudare.domain.layout import Layout
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.unit import Unit, sensitivity_of_counts
from sudare.refine.components import axes_within
from sudare.tables.arguments import Noise
from sudare.tables.planning.plan import Alternative, Plan, PlannedLevel, PredictedError
from sudare.tables.planning.plan_words import AREAS_CARRY_MARGINS, NOISE_ON_EACH_CELL, WEIGHTS_BY_AREA, other_splits
from sudare.tables.planning.predicted_error import predict_error
from sudare.tables.planning.prediction import flat_variances, wide_tree_variances
from sudare.tables.strategies.area_workload import AreaWorkload
from sudare.tables.strategies.axes import PlacesAndAttributes
from sudare.tables.strategies.groupings import MeasuredGrouping, Strategy
from sudare.tables.strategies.margin_tree import grouping_name, sensitivities_of
from sudare.tables.strategies.margin_tree_plans import margin_tree_plan
from sudare.tables.strategies.weighing import best_weights
from sudare.tables.trees.dense_tree import MAX_DENSE_BITS, variance_of
from sudare.tables.trees.descent import measure_levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["MarginTreeTask", "has_room", "plan_margin_tree"]

DIGITS = 3
USUAL_STEP: dict[Noise, int] = {"laplace": 4, "gaussian": 2}
"""Halvings a level that suit each noise: with Laplace noise few levels win, with Gaussian noise many."""

KNOWN = 1e12
"""The precision of a public total."""

MARGIN_ALONE = 8
"""A margin of all places together is compared with one measured by itself with this part, one eighth, of the budget."""


REASONS = (AREAS_CARRY_MARGINS, WEIGHTS_BY_AREA)


@dataclass(frozen=True)
class _Choice:
    strategy: Strategy
    noise: Noise
    variances: Values
    loss: float


def has_room(parts: PlacesAndAttributes) -> bool:
    """Whether a table is small enough to be published by a margin tree."""
    return parts.categories << parts.layout.depth <= 1 << MAX_DENSE_BITS


def plan_margin_tree(
    parts: PlacesAndAttributes,
    budget: Budget,
    unit: Unit,
    workload: AreaWorkload,
    noises: Sequence[Noise],
    conversion: Conversion,
    plan_map: Callable[[Domain, Noise], Plan],
    *,
    public_total: bool,
) -> Plan:
    """Plan how to publish a map of people with attributes.

    Args:
        parts: the places and the attributes.
        budget: what may be spent.
        unit: who is protected.
        workload: what matters.
        noises: the kinds of noise that give the budget.
        conversion: how (epsilon, delta) is turned into rho for Gaussian noise.
        plan_map: plans a map of places alone.
        public_total: whether the total is published exactly.
    """
    layout = parts.layout
    maps = {kind: plan_map(parts.of_places, kind) for kind in noises}
    of_maps = {kind: _map_variances(plan, workload.heights, public_total) for kind, plan in maps.items()}
    rivals = np.min(list(of_maps.values()), axis=0)
    if public_total:  # a map's total is exact then; margins of the whole are not
        rivals = np.where(np.array(workload.heights) == layout.depth, np.inf, rivals)
    rivals = _with_margins_alone(rivals, workload.heights, layout.depth, budget, unit, noises, conversion)
    task = MarginTreeTask(parts, layout, budget, unit, conversion, workload, rivals, public_total)
    choices = [
        task.choose(bits, kind)
        for kind in noises
        for bits in dict.fromkeys((tuple(maps[kind].settings["bits"]), _even(layout.depth, USUAL_STEP[kind])))
    ]
    best = min(choices, key=lambda choice: choice.loss)
    return task.write(best, choices)


def _with_margins_alone(
    rivals: Values,
    heights: Sequence[int],
    depth: int,
    budget: Budget,
    unit: Unit,
    noises: Sequence[Noise],
    conversion: Conversion,
) -> Values:
    """Rivals for all places together: a margin measured by itself with a part of the budget, where that beats a map's."""
    merged = [sensitivity_of_counts(unit, merged=True)] * 2
    for kind in noises:
        part, _ = measure_levels(budget, [1, MARGIN_ALONE - 1], merged, kind, conversion)
        rivals = np.where(np.array(heights) == depth, np.minimum(rivals, variance_of(part)), rivals)
    return rivals


def _map_variances(plan: Plan, heights: Sequence[int], public_total: bool) -> Values:
    noise = [level.deviation**2 for level in plan.levels]
    return np.array(wide_tree_variances(plan.settings["bits"], [0.0] * public_total + noise, heights, combined=True))


def _even(depth: int, step: int) -> tuple[int, ...]:
    return (*([depth % step] if depth % step else []), *[step] * (depth // step))


@dataclass(frozen=True)
class MarginTreeTask:
    """A table whose weights are looked for: what is measured, what matters, and whom it is compared with."""

    parts: PlacesAndAttributes
    layout: Layout
    budget: Budget
    unit: Unit
    conversion: Conversion
    workload: AreaWorkload
    rivals: Values
    total_is_public: bool
    fans: tuple[float, ...] | None = None
    """Of a hierarchy: how many children nodes of each level have, on average."""
    exact: Callable[[Values], Values] | None = None
    """Of a hierarchy: variances of levels and margins from precisions, for families of every size."""
    places: tuple[float, ...] | None = None
    """Of a hierarchy: how many leaves nodes of each level have, on average."""
    worst: float = 1.0
    """How much the largest ratio to a rival counts beside their mean."""
    reasons: tuple[Words, ...] = REASONS

    def choose(self, bits: tuple[int, ...], kind: Noise) -> _Choice:
        """The best weights for a tree."""
        alone = self.alone(bits, kind)
        shares, ratios = best_weights(
            bits,
            self.parts.lengths,
            alone,
            self.workload.heights,
            self._rivals,
            self.workload.parts,
            is_laplace=kind == "laplace",
            fixed_total=self.total_is_public,
            fans=self.fans,
            worst=self.worst,
        )
        return self.judged(bits, kind, shares, alone, ratios**2 * self._rivals)

    @property
    def _rivals(self) -> Values:
        """Of each area and margin."""
        margins = 1 << len(self.parts.attributes)
        return np.asarray(np.repeat(self.rivals[:, None], margins, axis=1) if self.rivals.ndim == 1 else self.rivals)

    def alone(self, bits: tuple[int, ...], kind: Noise) -> Values:
        """For each level and margin, the variance of its noise if it had the whole budget."""
        margins = 1 << len(self.parts.attributes)
        everything = Strategy(bits, len(self.parts.attributes), ((1.0,) * margins,) * (len(bits) + 1))
        found = self._noise(everything, list(everything.groupings()), kind, together=False)
        return found.reshape(len(bits) + 1, margins)

    def judged(self, bits: tuple[int, ...], kind: Noise, shares: Values, alone: Values, variances: Values) -> _Choice:
        """Shares with what follows from them."""
        if self.exact is not None:
            precisions = shares ** (2 if kind == "laplace" else 1) / alone
            if self.total_is_public:
                precisions[0, 0] = KNOWN
            variances = self.exact(precisions)
        # Written with few digits, so that a plan can be read, and repeated, exactly as shown.
        rows = tuple(tuple(float(f"{share:.{DIGITS}g}") for share in row) for row in shares)
        logs = 0.5 * np.log((variances / self._rivals)[self.workload.named])
        loss = float(logs @ self.workload.weights + self.worst * logs.max())
        return _Choice(Strategy(bits, len(self.parts.attributes), rows), kind, variances, loss)

    def _noise(self, strategy: Strategy, groupings: list[MeasuredGrouping], kind: Noise, *, together: bool) -> Values:
        """The variance of each grouping's noise, with its share or, each by itself, with the whole budget."""
        sensitivities = sensitivities_of(strategy, groupings, self.unit)
        if together:
            weights = [grouping.weight for grouping in groupings]
            measured = measure_levels(self.budget, weights, sensitivities, kind, self.conversion)
            return np.array([variance_of(measurement) for measurement in measured])
        known = {}
        for sensitivity in set(sensitivities):
            (whole,) = measure_levels(self.budget, [1], [sensitivity], kind, self.conversion)
            known[sensitivity] = variance_of(whole)
        return np.array([known[sensitivity] for sensitivity in sensitivities])

    def write(self, best: _Choice, choices: Sequence[_Choice]) -> Plan:
        """The plan in the words of `Plan`."""
        strategy = best.strategy
        groupings = list(strategy.groupings(without_total=self.total_is_public))
        variances = self._noise(strategy, groupings, best.noise, together=True)
        spent = sum(grouping.weight for grouping in groupings)
        levels = tuple(
            PlannedLevel.of(grouping_name(strategy, grouping, self.parts), grouping.weight / spent, sqrt(variance))
            for grouping, variance in zip(groupings, variances, strict=True)
        )
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
            reasons=self.reasons,
        )

    def _errors(self, best: _Choice) -> tuple[PredictedError, ...]:
        """The predicted error of each part of the workload."""
        found = []
        for mask in range(1 << len(self.parts.attributes)):
            margin = tuple(self.parts.names[axis] for axis in axes_within(mask))
            categories = prod(self.parts.lengths[axis] for axis in axes_within(mask))
            for place, side in enumerate(self.workload.sides):
                if self.workload.named[place, mask]:
                    error = sqrt(float(best.variances[place, mask]))
                    sums, cells = categories * self.workload.numbers[place], self.parts.domain.cells
                    name = self.workload.names[place] if self.workload.names else ""
                    found.append(predict_error(side, error, sums, cells, margin=margin, name=name))
        return tuple(found)

    def _alternatives(self, best: _Choice, choices: Sequence[_Choice]) -> list[Alternative]:
        """Other trees, one map with noise on each cell alone, and maps made for one part alone."""

        def compared(name: str, settings: Words, variances: Values) -> Alternative:
            logs = 0.5 * np.log(variances / best.variances)[self.workload.named]
            return Alternative(name, settings, float(np.exp(logs @ self.workload.weights)), float(np.exp(logs.max())))

        others = [c for c in choices if c is not best]
        found = [compared("margin-tree", other_splits(c.strategy.bits, c.noise), c.variances) for c in others]
        return [*found, compared(best.noise, NOISE_ON_EACH_CELL, self._flat(best.noise))]

    def _flat(self, kind: Noise) -> Values:
        margins = 1 << len(self.parts.attributes)
        cells = Strategy((), len(self.parts.attributes), ((0.0,) * (margins - 1) + (1.0,),))
        (variance,) = self._noise(cells, list(cells.groupings()), kind, together=True)
        of_cells = np.array(flat_variances(float(variance), self.workload.heights))
        if self.places is not None:
            of_cells = float(variance) * np.array(self.places)
        lengths = self.parts.lengths
        summed_up = [
            np.prod([float(lengths[axis]) for axis in range(len(lengths)) if not mask >> axis & 1])
            for mask in range(margins)
        ]
        return of_cells[:, None] * np.array(summed_up)[None, :]
