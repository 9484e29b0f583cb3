"""Plans of maps: wide trees, their splits, weights and noise.

Candidates are wide trees with a few patterns of splits and weights; their errors are predicted from their noise
(`prediction`), and the best for the workload is taken among those that are nowhere worse than NN-Wavelet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain.domain import Domain
from sudare.domain.layout import Layout
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.measurements import Measurement
from sudare.privacy.unit import Sensitivity, Unit, sensitivity_of_counts
from sudare.tables.areas import Areas
from sudare.tables.dense_tree import MOST_DENSE_BITS, variance_of
from sudare.tables.descent import measure_levels
from sudare.tables.plan import Alternative, Plan, PlannedLevel, PredictedError
from sudare.tables.prediction import flat_variances, haar_variances, wide_tree_variances
from sudare.tables.reading import TOTAL, Noise
from sudare.tables.short_axes import margin_names, planned_margins
from sudare.tables.strategies.axes import CATEGORIES_FIRST
from sudare.tables.wide_tree import MOST_BITS_A_LEVEL, USUAL_MARGIN_SHARE, level_names

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Values = NDArray[np.float64]

__all__ = ["plan_wide_tree"]

GUARD = 0.9
"""At no size up to the guarded one may a plan's predicted error exceed this share of NN-Wavelet's."""

SHARE_OF_CELLS = 0.95
"""Of the budget, where cells are all that matters."""

AS_GOOD = 0.01
"""Plans whose predicted error is this much larger are as good as the best."""

GROWTHS = np.arange(21) / 40
FIRST_FACTORS = (0.4, 0.5, 0.6, 0.7, 0.85, 1.0)
TOTAL_WEIGHTS = (0.02, 0.05, 0.3, 1.0)
INTERVAL = (0.5, 1.1)


def plan_wide_tree(
    domain: Domain,
    areas: Areas,
    wanted: Mapping[int, float],
    budget: Budget,
    unit: Unit,
    noises: Sequence[Noise],
    conversion: Conversion,
    *,
    above: tuple[int, ...] = (),
    public_total: bool = False,
    only_cells: bool = False,
) -> Plan:
    """Plan a wide tree.

    Args:
        domain: what is counted.
        areas: the areas of its layout.
        wanted: the sides of the areas that matter, ascending, and how much each does.
        budget: what may be spent.
        unit: who is protected.
        noises: which noise may be used.
        conversion: how (epsilon, delta) is turned into rho for Gaussian noise.
        above: halvings that part people by each of their attributes, where that comes first.
        public_total: whether the total is published exactly.
        only_cells: whether nothing but single cells matters.

    Returns:
        The plan.
    """
    layout, sides = areas.layout, list(wanted)
    heights = [areas.height(side) for side in sides] + areas.guarded_heights()
    margins = planned_margins(domain) if layout.depth <= MOST_DENSE_BITS else ()
    weights = tuple(wanted.values())
    task = _Task(domain.shape, layout, budget, unit, public_total, conversion, heights, weights, margins, above)
    halving = {kind: task.halving(kind) for kind in noises}
    if only_cells:
        return _write_plan(task, sides, [task.for_cells(kind) for kind in noises], halving)
    candidates = [task.candidates(bits, kind) for kind in noises for bits in task.patterns()]
    rivals = np.min(list(halving.values()), axis=0)
    worst = [task.worst(trees.variances, rivals) for trees in candidates]
    limit = max(GUARD, 1.05 * min(float(ratios.min()) for ratios in worst))
    allowed = [trees.of(ratios <= limit) for trees, ratios in zip(candidates, worst, strict=True)]
    allowed = [trees for trees in allowed if len(trees.weights)]
    return _write_plan(task, sides, allowed, halving)


@dataclass(frozen=True)
class _Candidate:
    bits: tuple[int, ...]
    weights: tuple[float, ...]
    noise: Noise
    variances: tuple[float, ...]
    """Predicted, for the heights of the workload and then for the guarded ones."""


@dataclass(frozen=True)
class _WideTrees:
    """Wide trees with the same splits: a row of weights and of predicted variances for each."""

    bits: tuple[int, ...]
    noise: Noise
    weights: Values
    variances: Values

    def of(self, chosen: NDArray[np.bool_]) -> _WideTrees:
        return replace(self, weights=self.weights[chosen], variances=self.variances[chosen])


@dataclass(frozen=True)
class _Task:
    shape: tuple[int, ...]
    layout: Layout
    budget: Budget
    unit: Unit
    total_is_public: bool
    conversion: Conversion
    heights: list[int]
    weights: tuple[float, ...]
    """How much each size of the workload matters: the first of the heights; the others are guarded."""
    margins: tuple[int, ...] = ()
    """The axes whose margins are measured."""
    above: tuple[int, ...] = ()
    """Halvings that part people by each of their attributes, where that comes first."""
    known: dict[tuple[Sensitivity, str], float] = field(default_factory=dict)

    def patterns(self) -> list[tuple[int, ...]]:
        """Splits of the tree that are tried."""
        return [(*self._by_attributes, *pattern) for pattern in _patterns(self.layout.depth - sum(self.above))]

    @property
    def _by_attributes(self) -> tuple[int, ...]:
        """The levels that part people by their attributes."""
        return (sum(self.above),) if 0 < sum(self.above) <= MOST_BITS_A_LEVEL else self.above

    @property
    def is_dense(self) -> bool:
        return self.layout.depth <= MOST_DENSE_BITS

    def sensitivities(self, levels: int) -> list[Sensitivity]:
        """Of the total, unless it is public, and of so many levels, the last of which is the cells."""
        merged = [sensitivity_of_counts(self.unit, merged=True)] * (levels + 1)
        if levels:
            merged[-1] = sensitivity_of_counts(self.unit)
        return merged[self.total_is_public :]

    def with_margins(self, weights: tuple[float, ...]) -> tuple[float, ...]:
        """Weights of the total, of the levels and of each margin."""
        used = sum(weights[self.total_is_public :])
        return (*weights, *[float(f"{USUAL_MARGIN_SHARE * used:.3g}")] * len(self.margins))

    def measurements(self, weights: Sequence[float], kind: Noise) -> list[Measurement]:
        """Of the total, unless it is public, of the levels, and of the margins."""
        sensitivities = self.sensitivities(len(weights) - len(self.margins) - 1)
        sensitivities += [sensitivity_of_counts(self.unit, merged=True)] * len(self.margins)
        return measure_levels(self.budget, list(weights)[self.total_is_public :], sensitivities, kind, self.conversion)

    def candidates(self, bits: tuple[int, ...], kind: Noise) -> _WideTrees:
        """Wide trees with these splits and many different weights."""
        axes = max(1, sum(length > 1 for length in self.layout.lengths))
        depths = np.array([sum(bits[:level]) / axes for level in range(len(bits) + 1)])
        growths, firsts, totals = (grid.reshape(-1, 1) for grid in np.meshgrid(GROWTHS, FIRST_FACTORS, TOTAL_WEIGHTS))
        weights = 2 ** (growths * depths)
        weights[:, :1] = totals
        weights[:, 1:2] *= firsts
        return self._weighed(bits, kind, weights)

    def _weighed(self, bits: tuple[int, ...], kind: Noise, weights: Values) -> _WideTrees:
        """Trees with these weights, and the variances that follow from them."""
        used = weights[:, self.total_is_public :]
        shares = used / used.sum(axis=1, keepdims=True)
        shares /= 1 + USUAL_MARGIN_SHARE * len(self.margins)
        noise = np.array(self._alone(len(bits), kind)) / shares ** (2 if kind == "laplace" else 1)
        columns = [np.zeros(len(weights))] * self.total_is_public + list(noise.T)
        variances = wide_tree_variances(bits, columns, self.heights, combined=True)
        return _WideTrees(bits, kind, weights, np.stack(variances, axis=1))

    def for_cells(self, kind: Noise) -> _WideTrees:
        """The tree for whoever wants cells alone: few levels, and nearly all of the budget for the last one."""
        depth, bits = self.layout.depth - sum(self.above), list[int]()
        while depth > 0:
            bits.insert(0, min(depth, MOST_BITS_A_LEVEL))
            depth -= bits[0]
        return self._weighed(
            (*self._by_attributes, *bits), kind, self._leaf_heavy(len(bits) + len(self._by_attributes))
        )

    def _leaf_heavy(self, levels: int) -> Values:
        weights = np.full((1, levels + 1), (1 - SHARE_OF_CELLS) / max(levels, 1))
        weights[0, -1] = SHARE_OF_CELLS
        return weights

    def _alone(self, levels: int, kind: Noise) -> list[float]:
        """The variance of each level's noise if it had the whole budget."""
        sensitivities = self.sensitivities(levels)
        for sensitivity in set(sensitivities):
            if (sensitivity, kind) not in self.known:
                (whole,) = measure_levels(self.budget, [1], [sensitivity], kind, self.conversion)
                self.known[sensitivity, kind] = variance_of(whole)
        return [self.known[sensitivity, kind] for sensitivity in sensitivities]

    def halving(self, kind: Noise) -> list[float]:
        levels = self.layout.depth + (not self.total_is_public)
        signed = [sensitivity_of_counts(self.unit, merged=True, signed=True)] * max(levels, 1)
        each = measure_levels(self.budget, [1] * len(signed), signed, kind, self.conversion)[0]
        return haar_variances(self.layout.depth, variance_of(each), self.heights)

    def flat(self, kind: Noise) -> list[float]:
        (cells,) = measure_levels(self.budget, [1], [sensitivity_of_counts(self.unit)], kind, self.conversion)
        return flat_variances(variance_of(cells), self.heights)

    def mean(self, variances: ArrayLike) -> Values:
        """The geometric mean of the errors over the workload, by its weights."""
        chosen = np.maximum(np.asarray(variances)[..., : len(self.weights)], 1e-30)
        return np.asarray(np.exp(np.log(chosen) @ np.array(self.weights) / sum(self.weights) / 2))

    def worst(self, variances: ArrayLike, rivals: ArrayLike) -> Values:
        """The largest ratio to a rival's error over all sizes."""
        return np.asarray(np.sqrt(np.asarray(variances) / np.asarray(rivals)).max(axis=-1))

    def choose(self, allowed: list[_WideTrees]) -> _Candidate:
        """The best for the workload; of those that are as good, the most exact for the smallest areas."""
        good = (1 + AS_GOOD) * min(float(self.mean(trees.variances).min()) for trees in allowed)
        best = [trees.of(self.mean(trees.variances) <= good) for trees in allowed]
        sharpest = min((trees for trees in best if len(trees.weights)), key=lambda t: float(t.variances[:, 0].min()))
        place = int(sharpest.variances[:, 0].argmin())
        # Written with few digits, so that a plan can be read, and repeated, exactly as shown.
        weights = tuple(float(f"{weight:.3g}") for weight in sharpest.weights[place])
        return _Candidate(sharpest.bits, weights, sharpest.noise, tuple(map(float, sharpest.variances[place])))


def _patterns(depth: int) -> list[tuple[int, ...]]:
    """Even splits with the rest at the top; or even splits with one or two wider ones at the bottom."""
    patterns: set[tuple[int, ...]] = {(depth,)} if 0 < depth <= MOST_BITS_A_LEVEL else set()
    if depth == 0:
        patterns.add(())
    for step in (2, 3, 4, 5, 6, 8):
        if step <= depth:
            patterns.add(_even(depth, step))
        for bottom in (6, 8):
            for repeated in (1, 2):
                rest = depth - bottom * repeated
                if step in (2, 4) and rest > 0:
                    patterns.add((*_even(rest, step), *[bottom] * repeated))
    for step in (4, 6):
        rest = depth % step
        if rest and depth > 2 * step and rest + step <= MOST_BITS_A_LEVEL:
            patterns.add((rest + step, *[step] * (depth // step - 1)))
    return sorted(patterns)


def _even(depth: int, step: int) -> tuple[int, ...]:
    return (*([depth % step] if depth % step else []), *[step] * (depth // step))


def _write_plan(task: _Task, sides: list[int], allowed: list[_WideTrees], halving: dict[Noise, list[float]]) -> Plan:
    best = task.choose(allowed)
    count = sum(len(trees.weights) for trees in allowed)
    settings = {
        "bits": best.bits,
        "weights": task.with_margins(best.weights),
        "noise": best.noise,
        "estimate": "learned",
        "conversion": task.conversion,
        **({"margins": task.margins} if task.margins else {}),
        **({"layout": CATEGORIES_FIRST} if task.above else {}),
    }
    weights = task.with_margins(best.weights)
    measurements = task.measurements(weights, best.noise)
    names = [*level_names(best.bits)[task.total_is_public :], *margin_names(task.margins)]
    used = weights[task.total_is_public :]
    levels = tuple(
        PlannedLevel(name, weight / sum(used), sqrt(variance_of(m)))
        for name, weight, m in zip(names, used, measurements, strict=True)
    )
    errors = tuple(
        PredictedError(side, sqrt(variance), INTERVAL[0] * sqrt(variance), INTERVAL[1] * sqrt(variance))
        for side, variance in zip(sides, best.variances, strict=False)
    )
    sizes = f"sides {sides[0]} to {sides[-1]}" if len(sides) > 1 else f"side {sides[0]}"
    choice = f"of {count:,} wide trees that are at no size worse than NN-Wavelet"
    if task.worst(best.variances, np.min(list(halving.values()), axis=0)) > 1:
        choice = f"of {count:,} wide trees that come nearest to NN-Wavelet at the sizes where it is better"
    aim = f"smallest predicted error, geometric mean over {sizes}, {choice}"
    if count <= len(halving):
        aim = "nearly all of the budget goes to single cells, as the workload asks; areas are less accurate"
    reasons = [
        aim,
        "all levels are weighed together, and empty surroundings learned from the noisy counts"
        if task.is_dense
        else "more than 2**24 cells: noise is drawn only where somebody is left",
        *(["a map of its own for each combination of attributes"] if task.above else []),
    ]
    return Plan(
        "wide-tree",
        settings,
        best.noise,
        task.shape,
        task.budget,
        task.unit,
        (TOTAL,) if task.total_is_public else (),
        levels,
        errors,
        tuple(_alternatives(task, best, allowed, halving)),
        tuple(reasons),
    )


def _alternatives(
    task: _Task, best: _Candidate, allowed: list[_WideTrees], halving: dict[Noise, list[float]]
) -> Iterator[Alternative]:
    mine = task.mean(best.variances)

    def compared(name: str, settings: str, variances: Sequence[float]) -> Alternative:
        ratio, worst = task.mean(variances) / mine, task.worst(variances, best.variances)
        return Alternative(name, settings, float(ratio), float(worst))

    for kind in sorted({trees.noise for trees in allowed} - {best.noise}):
        other = task.choose([trees for trees in allowed if trees.noise == kind])
        yield compared("wide-tree", f"{kind} noise, bits {other.bits}", other.variances)
    others = [trees for trees in allowed if trees.noise == best.noise and trees.bits != best.bits]
    if others:
        second = task.choose(others)
        yield compared("wide-tree", f"bits {second.bits}", second.variances)
    for kind, variances in halving.items():
        yield compared("nn-wavelet", f"{kind} noise", variances)
    for kind in halving:
        yield compared(kind, "noise on each cell alone", task.flat(kind))
