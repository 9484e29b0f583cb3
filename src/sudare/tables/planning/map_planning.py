"""Plans of maps: wide trees, their splits, weights and noise.

Candidates are wide trees with a few patterns of splits and weights; their errors are predicted from their noise
(`prediction`), the best are improved step by step, and the best of all for the workload is taken among those that are at no
size worse than the papers' best method: NN-Wavelet with Gaussian noise. Levels to which this leaves next to nothing of the
budget are left out of it, if no predicted error becomes larger.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from math import prod, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain.domain import Domain
from sudare.domain.layout import Layout
from sudare.errors import SudareError
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.measurements import Measurement
from sudare.privacy.unit import Sensitivity, Unit, sensitivity_of_counts
from sudare.tables.arguments import TOTAL, Noise
from sudare.tables.mechanisms.wide_tree import MAX_BITS_PER_LEVEL, USUAL_MARGIN_SHARE, level_names
from sudare.tables.planning.areas import Areas
from sudare.tables.planning.plan import Alternative, Plan, PlannedLevel
from sudare.tables.planning.plan_words import (
    ALL_LEVELS_TOGETHER,
    LAZY_NOISE,
    MAP_FOR_EACH_COMBINATION,
    MOSTLY_CELLS,
    NOISE_ON_EACH_CELL,
    other_noise,
    other_splits,
    smallest_error,
)
from sudare.tables.planning.predicted_error import areas_at, predict_error
from sudare.tables.planning.prediction import flat_variances, haar_variances, wide_tree_variances
from sudare.tables.planning.unaligned import Overlaps, overlaps_of, unaligned_variances
from sudare.tables.planning.weight_search import improve_weights
from sudare.tables.strategies.axes import CATEGORIES_FIRST
from sudare.tables.trees.dense_tree import MAX_DENSE_BITS, variance_of
from sudare.tables.trees.descent import measure_levels
from sudare.tables.trees.short_axes import margin_names, planned_margins

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Values = NDArray[np.float64]

__all__ = ["plan_wide_tree"]

GUARD = 0.995
"""At no size, up to the whole map, may a plan's predicted error exceed this share of the papers' best."""

NAMED_GUARD = 3.0
"""The same where the user says what matters: sizes that are not named may be this many times as far off."""

PAPERS_DELTA = Fraction(1, 10**6)
"""The papers publish a budget of epsilon alone with this delta: Gaussian noise, by the simple conversion."""

PENALTY = 30.0
"""What an excess over the guard counts when candidates are ranked, relative to the same excess at all sizes of the workload."""

IMPROVED = 4
"""Of this many patterns of splits, the most promising ones, weights are improved."""

MIN_LEVEL_SHARE = 0.01
"""Of the budget: a level with less tells next to nothing, and is left out where nothing gets worse without it."""

SHARE_OF_CELLS = 0.95
"""Of the budget, where cells are all that matters."""

GROWTHS = np.arange(6) / 10
FIRST_FACTORS = (0.5, 0.75, 1.0)
TOTAL_WEIGHTS = (0.02, 0.3)
"""Weights to begin with: how much they grow with each halving of a side, of the first level, and of the total."""

MAX_MIXED_DEPTH = 24
EVEN_STEPS = (3, 4, 5, 6, 8)
"""Trees with equal steps are tried at any depth, others up to this one: deeper trees are visited level by level."""

TINY = 1e-30
UNALIGNED_WEIGHT = 0.4
"""How much a class of rectangles anywhere matters, relative to a side of aligned squares. Where their edges cross empty land,
the noise of cells counts for less than predicted: with whole weights errors on real maps were larger."""


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
    is_named: bool = True,
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
        is_named: whether the user said what matters; otherwise areas anywhere matter as well as aligned ones.

    Returns:
        The plan.
    """
    layout, sides = areas.layout, list(wanted)
    heights = [areas.height(side) for side in sides] + areas.guarded_heights()
    margins = planned_margins(domain) if layout.depth <= MAX_DENSE_BITS else ()
    overlaps = () if is_named or above else tuple(overlaps_of(layout))
    weights = *wanted.values(), *[UNALIGNED_WEIGHT] * len(overlaps)
    guard = NAMED_GUARD if is_named else GUARD
    task = _Task(
        *(domain.shape, layout, budget, unit, public_total, conversion, heights, weights, guard),
        *(overlaps, margins, above),
    )
    halving = {kind: task.halving(kind) for kind in noises}
    if only_cells:
        return _write_plan(task, sides, [task.for_cells(kind) for kind in noises], halving, None)
    rivals = task.rivals()
    candidates = [task.best_of(task.candidates(bits, kind), rivals) for kind in noises for bits in task.patterns()]
    candidates.sort(key=lambda trees: float(task.losses(trees.variances, rivals)[0]))
    of_each = [[trees for trees in candidates if trees.noise == kind][:IMPROVED] for kind in noises]
    improved = [task.improved(trees, rivals) for trees in chain.from_iterable(of_each)]
    return _write_plan(task, sides, improved, halving, rivals)


@dataclass(frozen=True)
class _Candidate:
    bits: tuple[int, ...]
    weights: tuple[float, ...]
    noise: Noise
    variances: tuple[float, ...]
    """Predicted, for the heights of the workload, for areas anywhere, and then for the guarded heights."""


@dataclass(frozen=True)
class _WideTrees:
    """Wide trees with the same splits: a row of weights and of predicted variances for each."""

    bits: tuple[int, ...]
    noise: Noise
    weights: Values
    variances: Values


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
    """How much each size of the workload, and each class of areas anywhere, matters. The other heights are guarded."""
    guard: float
    """How far off, relative to the papers' best, no size may be."""
    overlaps: tuple[Overlaps, ...] = ()
    """Of the areas anywhere that matter."""
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
        return (sum(self.above),) if 0 < sum(self.above) <= MAX_BITS_PER_LEVEL else self.above

    @property
    def is_dense(self) -> bool:
        return self.layout.depth <= MAX_DENSE_BITS

    def sensitivities(self, levels: int) -> list[Sensitivity]:
        """Of the total, unless it is public, and of this many levels, the last of which is the cells."""
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
        return _WideTrees(bits, kind, weights, np.stack(self._variances(bits, columns), axis=1))

    def _variances(self, bits: Sequence[int], noise: Sequence[Any]) -> list[Any]:
        """Of all that matters, and then of what is guarded, of a tree whose levels are combined."""
        aligned = wide_tree_variances(bits, noise, self.heights, combined=True)
        return self._in_order(aligned, unaligned_variances(bits, noise, self.overlaps))

    def _in_order(self, aligned: list[Any], unaligned: list[Any]) -> list[Any]:
        sizes = len(self.weights) - len(self.overlaps)
        return [*aligned[:sizes], *unaligned, *aligned[sizes:]]

    def for_cells(self, kind: Noise) -> _Candidate:
        """The tree for workloads of cells alone: few levels, and nearly all of the budget for the last one."""
        depth, bits = self.layout.depth - sum(self.above), list[int]()
        while depth > 0:
            bits.insert(0, min(depth, MAX_BITS_PER_LEVEL))
            depth -= bits[0]
        splits = (*self._by_attributes, *bits)
        return self._written(splits, kind, self._leaf_heavy(len(splits)))

    def _leaf_heavy(self, levels: int) -> Values:
        weights = np.full(levels + 1, (1 - SHARE_OF_CELLS) / max(levels, 1))
        weights[-1] = SHARE_OF_CELLS
        return weights

    def _alone(self, levels: int, kind: Noise) -> list[float]:
        """The variance of each level's noise if it had the whole budget."""
        sensitivities = self.sensitivities(levels)
        for sensitivity in set(sensitivities):
            if (sensitivity, kind) not in self.known:
                (whole,) = measure_levels(self.budget, [1], [sensitivity], kind, self.conversion)
                self.known[sensitivity, kind] = variance_of(whole)
        return [self.known[sensitivity, kind] for sensitivity in sensitivities]

    def halving(self, kind: Noise, budget: Budget | None = None, conversion: Conversion | None = None) -> list[float]:
        """Variances of NN-Wavelet."""
        levels, depth = self.layout.depth + (not self.total_is_public), self.layout.depth
        signed = [sensitivity_of_counts(self.unit, merged=True, signed=True)] * max(levels, 1)
        each, *_ = measure_levels(budget or self.budget, [1] * len(signed), signed, kind, conversion or self.conversion)
        noise = variance_of(each)
        # A difference of variance v parts a node in two whose halves depart from half of it by v / 4.
        unaligned = unaligned_variances([1] * depth, [noise, *[noise / 2] * depth], self.overlaps, combined=False)
        return self._in_order(haar_variances(depth, noise, self.heights), unaligned)

    def rivals(self) -> Values:
        """The smallest variances of NN-Wavelet with any noise that the budget allows, and as the papers would publish it."""
        ways: list[tuple[Noise, Budget, Conversion]] = [
            ("laplace", self.budget, self.conversion),
            ("gaussian", self.budget, self.conversion),
        ]
        if self.budget.currency == "epsilon" and self.is_dense:
            # Nobody asked for this budget: its warnings are not for the caller.
            ways.append(("gaussian", Budget._exactly(self.budget.epsilon, PAPERS_DELTA, None), "simple"))
        found = []
        for way in ways:
            with suppress(SudareError):  # noise that the budget does not allow, or that cannot be drawn
                found.append(self.halving(*way))
        return np.asarray(np.min(found, axis=0))

    def flat(self, kind: Noise) -> list[float]:
        (cells,) = measure_levels(self.budget, [1], [sensitivity_of_counts(self.unit)], kind, self.conversion)
        noise = variance_of(cells)
        return self._in_order(flat_variances(noise, self.heights), [noise * overlap[0] for overlap in self.overlaps])

    def mean(self, variances: ArrayLike) -> Values:
        """The geometric mean of the errors over the workload, by its weights."""
        chosen = np.maximum(np.asarray(variances)[..., : len(self.weights)], TINY)
        return np.asarray(np.exp(np.log(chosen) @ np.array(self.weights) / sum(self.weights) / 2))

    def worst(self, variances: ArrayLike, rivals: ArrayLike) -> Values:
        """The largest ratio to a rival's error over all guarded sizes."""
        return np.asarray(np.sqrt(self._ratios(variances, rivals).max(axis=-1)))

    def _ratios(self, variances: ArrayLike, rivals: ArrayLike) -> Values:
        """To a rival's variances, for all guarded sizes; a public total has none in any strategy."""
        mine, theirs = (
            np.maximum(np.asarray(all_of)[..., len(self.weights) :], TINY) for all_of in (variances, rivals)
        )
        return np.asarray(mine / theirs)

    def excesses(self, variances: ArrayLike, rivals: ArrayLike) -> Values:
        """By how much the guard is exceeded at each guarded size, as a logarithm; negative where it is kept."""
        return np.asarray(np.log(self._ratios(variances, rivals)) / 2 - np.log(self.guard))

    def losses(self, variances: ArrayLike, rivals: ArrayLike | None) -> Values:
        """By what candidates are ranked: errors of the workload, and what exceeds the guard, if there is one."""
        if rivals is None:
            return np.log(self.mean(variances))
        excess = np.maximum(self.excesses(variances, rivals), 0.0).max(axis=-1)
        return np.asarray(np.log(self.mean(variances)) + PENALTY * excess)

    def best_of(self, trees: _WideTrees, rivals: ArrayLike) -> _WideTrees:
        """The best of some trees, alone."""
        place = int(self.losses(trees.variances, rivals).argmin())
        return replace(trees, weights=trees.weights[place][None, :], variances=trees.variances[place][None, :])

    def improved(self, tree: _WideTrees, rivals: ArrayLike) -> _Candidate:
        """A tree with better weights."""

        def aim(weights: Values) -> tuple[Values, Values]:
            variances = self._weighed(tree.bits, tree.noise, weights).variances
            return np.log(self.mean(variances)), self.excesses(variances, rivals)

        return self._written(tree.bits, tree.noise, improve_weights(tree.weights[0], aim))

    def without_idle_levels(self, tree: _Candidate) -> _Candidate:
        """The tree without levels that measure next to nothing: their nodes' children become those of the nodes above.

        Levels that part people by their attributes stay, as do the total and the cells. No predicted error may become larger.
        """
        whole = sum(tree.weights[self.total_is_public :])
        for level in range(len(self._by_attributes) + 1, len(tree.bits)):
            together = tree.bits[level - 1] + tree.bits[level]
            if tree.weights[level] >= MIN_LEVEL_SHARE * whole or together > MAX_BITS_PER_LEVEL:
                continue
            bits = *tree.bits[: level - 1], together, *tree.bits[level + 1 :]
            fewer = self._written(bits, tree.noise, np.array([*tree.weights[:level], *tree.weights[level + 1 :]]))
            if all(np.array(fewer.variances) <= tree.variances):
                return self.without_idle_levels(fewer)
        return tree

    def _written(self, bits: tuple[int, ...], kind: Noise, weights: Values) -> _Candidate:
        """A tree whose weights have few digits, so that a plan can be read, and repeated, exactly as shown."""
        shown = tuple(float(f"{weight:.3g}") for weight in weights)
        (variances,) = self._weighed(bits, kind, np.array([shown])).variances
        return _Candidate(bits, shown, kind, tuple(map(float, variances)))


def _patterns(depth: int) -> list[tuple[int, ...]]:
    """Splits into 2 x 2 to 8 x 8 children, 16 x 16 in the last level; an odd halving comes first."""
    if depth == 0:
        return [()]
    if depth > MAX_MIXED_DEPTH:
        return [_even(depth, step) for step in EVEN_STEPS]
    patterns = {_even(depth, step) for step in (2, *EVEN_STEPS) if step <= depth}
    if depth <= MAX_BITS_PER_LEVEL:
        patterns.add((depth,))
    levels = -(-depth // 4) + 1
    for first in (1, 3, 5) if depth % 2 else (0,):
        for rest in _sums_to(depth - first, levels - (first > 0)):
            patterns.add((first, *rest) if first else rest)
    return sorted(patterns)


def _sums_to(depth: int, levels: int) -> Iterator[tuple[int, ...]]:
    """All ways to write an even depth as at most this many steps; the widest is the last one."""
    if depth <= 0:
        if depth == 0:
            yield ()
        return
    for last in (2, 4, 6, 8):
        for before in _inner_sums(depth - last, levels - 1):
            yield (*before, last)


def _inner_sums(depth: int, levels: int) -> Iterator[tuple[int, ...]]:
    if depth == 0:
        yield ()
    if depth > 0 and levels > 0:
        for step in (2, 4, 6):
            for rest in _inner_sums(depth - step, levels - 1):
                yield (step, *rest)


def _even(depth: int, step: int) -> tuple[int, ...]:
    return (*([depth % step] if depth % step else []), *[step] * (depth // step))


def _write_plan(
    task: _Task,
    sides: list[int],
    candidates: list[_Candidate],
    halving: dict[Noise, list[float]],
    rivals: Values | None,
) -> Plan:
    """The plan of the best candidate; without rivals, cells are all that matters."""
    ranked = sorted(candidates, key=lambda tree: float(task.losses(tree.variances, rivals)))
    best, others = ranked[0] if rivals is None else task.without_idle_levels(ranked[0]), ranked[1:]
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
        PlannedLevel.of(name, weight / sum(used), sqrt(variance_of(m)))
        for name, weight, m in zip(names, used, measurements, strict=True)
    )
    errors = tuple(
        predict_error(side, sqrt(variance), areas_at(task.layout, height), prod(task.shape))
        for side, variance, height in zip(sides, best.variances, task.heights, strict=False)
    )
    reasons = [
        _aim(task, sides, best, rivals),
        ALL_LEVELS_TOGETHER if task.is_dense else LAZY_NOISE,
        *([MAP_FOR_EACH_COMBINATION] if task.above else []),
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
        tuple(_alternatives(task, best, others, halving)),
        tuple(reasons),
    )


def _aim(task: _Task, sides: list[int], best: _Candidate, rivals: Values | None) -> Words:
    """By what the tree was chosen."""
    if rivals is None:
        return MOSTLY_CELLS
    has_overlaps = bool(task.overlaps)
    if task.guard > 1:
        return smallest_error(sides, with_rectangles=has_overlaps, times=task.guard)
    is_nearest = bool(task.worst(best.variances, rivals) > 1)
    return smallest_error(sides, with_rectangles=has_overlaps, is_nearest=is_nearest)


def _alternatives(
    task: _Task, best: _Candidate, others: list[_Candidate], halving: dict[Noise, list[float]]
) -> Iterator[Alternative]:
    mine = task.mean(best.variances)

    def compared(name: str, settings: Words, variances: Sequence[float]) -> Alternative:
        ratio, worst = task.mean(variances) / mine, task.worst(variances, best.variances)
        return Alternative(name, settings, float(ratio), float(worst))

    for kind in sorted({tree.noise for tree in others} - {best.noise}):
        other = next(tree for tree in others if tree.noise == kind)
        yield compared("wide-tree", other_splits(other.bits, kind), other.variances)
    second = next((tree for tree in others if tree.noise == best.noise and tree.bits != best.bits), None)
    if second is not None:
        yield compared("wide-tree", other_splits(second.bits), second.variances)
    for kind, variances in halving.items():
        yield compared("nn-wavelet", other_noise(kind), variances)
    for kind in halving:
        yield compared(kind, NOISE_ON_EACH_CELL, task.flat(kind))
