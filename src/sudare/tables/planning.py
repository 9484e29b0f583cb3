"""The planner: from domain, budget and workload to a mechanism with its splits, weights and noise.

It looks at no count. Candidates are wide trees with a few patterns of splits and weights; their errors are predicted from
their noise (`prediction`), and the best for the workload is taken among those that are nowhere worse than NN-Wavelet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod, sqrt
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sudare.domain.domain import Domain
from sudare.domain.layout import Layout, axis_bits, map_layout
from sudare.domain.table import CountTable
from sudare.errors import Described, GuaranteeError, ParameterError, SudareError
from sudare.parameters import read_flag, shown
from sudare.privacy.budget import Budget, read_budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement, Measurement
from sudare.privacy.unit import Sensitivity, Unit, sensitivity_of_counts
from sudare.tables.adaptive.planning import plan_adaptive_margins
from sudare.tables.adaptive.suitability import suits_adaptive_margins
from sudare.tables.dense_tree import MOST_DENSE_BITS, variance_of
from sudare.tables.descent import measure_levels
from sudare.tables.histograms.planning import HISTOGRAM_WORKLOADS, is_histogram, plan_histogram
from sudare.tables.plan import Alternative, Plan, PlannedLevel
from sudare.tables.predicted_error import areas_at, predict_error, read_people
from sudare.tables.prediction import flat_variances, haar_variances, wide_tree_variances
from sudare.tables.reading import TOTAL, Noise, read_noise
from sudare.tables.short_axes import margin_names, planned_margins
from sudare.tables.strategies.axes import (
    CATEGORIES_FIRST,
    PlacesAndAttributes,
    categories_first,
    places_and_attributes,
)
from sudare.tables.strategies.planning import AreaWorkload, has_room, plan_margin_tree
from sudare.tables.wide_tree import MOST_BITS_A_LEVEL, USUAL_MARGIN_SHARE, level_names

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Values = NDArray[np.float64]

__all__ = ["plan_table"]

USUAL_LARGEST_SIDE = 64
LARGEST_GUARDED_SIDE = 256
GUARD = 0.9
"""At no size up to the guarded one may a plan's predicted error exceed this share of NN-Wavelet's."""

SHARE_OF_CELLS = 0.95
"""Of the budget, where cells are all that matters."""

AS_GOOD = 0.01
"""Plans whose predicted error is this much larger are as good as the best."""

GROWTHS = np.arange(21) / 40
FIRST_FACTORS = (0.4, 0.5, 0.6, 0.7, 0.85, 1.0)
TOTAL_WEIGHTS = (0.02, 0.05, 0.3, 1.0)
BESIDE = 0.02
"""How much sizes and margins that a workload does not name matter beside those that it names."""


Workload = str | Sequence[int] | None


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


def plan_table(
    table: Domain | CountTable | Any,
    budget: Budget,
    *,
    unit: Unit | None = None,
    workload: Workload = None,
    public_total: bool = False,
    noise: Noise | None = None,
    conversion: Conversion = "optimal",
    with_reference: bool = False,
    people: int | None = None,
) -> Plan:
    """Plan how to publish a table over a domain, and predict how exact it will be. Spends nothing, looks at no count.

    Args:
        table: the domain, or a table or array over it, of which only the domain is looked at.
        budget: what may be spent.
        unit: who is protected; one person in one cell if left out.
        workload: what matters: ``"cells"``, ``"areas"``, ``"margins"``, ``"totals"``, or sides of aligned squares such as
            ``(1, 4, 16)``; left out, all sides from 1 to 64 of a map, and every margin in every area of a map with attributes.
            Of one long ordered axis: ``"ranges"`` (if left out), ``"prefixes"`` or ``"cells"``.
        public_total: whether the total is published exactly.
        noise: which noise to use; the one with the smaller error if left out.
        conversion: how (epsilon, delta) is turned into rho for Gaussian noise.
        with_reference: whether a public reference will be used: the plan is then a tree, which can make use of it.
        people: about how many people the table will have, **where that is public**: the plan stays the same, and its
            predicted errors have narrower intervals.

    Returns:
        The plan; ``print(plan)`` explains it.

    Raises:
        ParameterError: if an argument is not what it should be.

    Example:
        >>> import sudare
        >>> plan = sudare.plan_table(sudare.Domain.of_shape((512, 512)), sudare.Budget(epsilon=1))
        >>> plan.mechanism, plan.settings["bits"]
        ('wide-tree', (2, 4, 4, 4, 4))
    """
    if people is not None:
        number = read_people(people, "plan_table")
        known = {"unit": unit, "workload": workload, "public_total": public_total, "noise": noise}
        more = {"conversion": conversion, "with_reference": with_reference}
        return cast(Callable[..., Plan], plan_table)(table, budget, **known, **more).for_people(number)
    function = "plan_table"
    domain = _read_domain(table, function)
    shape = domain.shape
    read_budget(budget, function)
    protected = Unit() if unit is None else unit
    if not isinstance(protected, Unit):
        raise ParameterError("unit", function, "a Unit", shown(unit))
    if read_flag(public_total, "public_total", function):
        if prod(shape) == 1:
            requirement = "False for a table of one cell: its total is all there is to protect"
            raise ParameterError("public_total", function, requirement, Described("a public total"))
        protected = replace(protected, adjacency="replace")
    noises = [read_noise(noise, function)] if noise is not None else _possible_noises(budget)
    named = workload if isinstance(workload, str) else None
    uses_reference = read_flag(with_reference, "with_reference", function)
    if is_histogram(domain) and not uses_reference and (workload is None or named in HISTOGRAM_WORKLOADS):
        wanted_bins = next((name for name in HISTOGRAM_WORKLOADS if name == named), HISTOGRAM_WORKLOADS[0])
        return plan_histogram(
            domain, budget, protected, wanted_bins, noises, conversion, public_total=bool(public_total)
        )
    layout = map_layout(domain, MOST_DENSE_BITS)
    parts = places_and_attributes(domain)
    if parts is not None and not (parts.places and parts.attributes):
        parts = None
    if parts is None and noise is None and not uses_reference and (workload is None or named == "margins"):
        suits = suits_adaptive_margins(domain, budget, protected, conversion=conversion)
        if suits:
            is_public = bool(public_total)
            return plan_adaptive_margins(domain, budget, protected, conversion, suits.reason, public_total=is_public)
    apart = parts.attributes if parts is not None and layout.depth > MOST_DENSE_BITS else ()
    if apart:
        layout = categories_first(domain)
    dimensions = layout.axes_of(domain).dimensions
    areas = _Areas(layout, tuple(0 if axis in apart else number for axis, number in enumerate(dimensions)))
    sides = _read_workload(workload, areas, function)
    heights = [areas.height(side) for side in sides] + areas.guarded_heights()
    if parts is not None and has_room(parts):

        def plan_map(kind: Noise) -> Plan:
            return plan_table(
                parts.of_places,
                budget,
                unit=protected,
                public_total=public_total,
                noise=kind,
                conversion=conversion,
                with_reference=True,  # a tree, also over places in a row
            )

        wanted = _margin_workload(parts, workload)
        return plan_margin_tree(
            parts, budget, protected, wanted, noises, conversion, plan_map, public_total=public_total
        )
    margins = planned_margins(domain) if layout.depth <= MOST_DENSE_BITS else ()
    above = tuple(axis_bits(shape[axis]) for axis in apart)
    task = _Task(shape, layout, budget, protected, public_total, conversion, heights, len(sides), margins, above)

    halving = {kind: task.halving(kind) for kind in noises}
    if named == "cells":
        return _write_plan(task, sides, [task.for_cells(kind) for kind in noises], halving)
    candidates = [task.candidates(bits, kind) for kind in noises for bits in task.patterns()]
    rivals = np.min(list(halving.values()), axis=0)
    worst = [task.worst(trees.variances, rivals) for trees in candidates]
    limit = max(GUARD, 1.05 * min(float(ratios.min()) for ratios in worst))
    allowed = [trees.of(ratios <= limit) for trees, ratios in zip(candidates, worst, strict=True)]
    allowed = [trees for trees in allowed if len(trees.weights)]
    return _write_plan(task, sides, allowed, halving)


@dataclass(frozen=True)
class _Task:
    shape: tuple[int, ...]
    layout: Layout
    budget: Budget
    unit: Unit
    total_is_public: bool
    conversion: Conversion
    heights: list[int]
    sizes: int
    """How many of the heights belong to the workload; the others are guarded."""
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
        """The geometric mean of the errors over the workload."""
        chosen = np.maximum(np.asarray(variances)[..., : self.sizes], 1e-30)
        return np.asarray(np.exp(np.log(chosen).mean(axis=-1) / 2))

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
        predict_error(side, sqrt(variance), areas_at(task.layout, height), prod(task.shape))
        for side, variance, height in zip(sides, best.variances, task.heights, strict=False)
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


def _possible_noises(budget: Budget) -> list[Noise]:
    kinds: list[Noise] = []
    unit_sensitivity = sensitivity_of_counts(Unit())
    try:
        LaplaceMeasurement.for_budget(budget, unit_sensitivity)
        kinds.append("laplace")
    except SudareError:
        pass
    try:
        GaussianMeasurement.for_budget(budget, unit_sensitivity)
        kinds.append("gaussian")
    except SudareError:
        pass
    if not kinds:
        raise GuaranteeError(f"No noise of this package gives {budget}.")
    return kinds


def _read_domain(table: object, function: str) -> Domain:
    if isinstance(table, Domain):
        return table
    if isinstance(table, CountTable):
        return table.domain
    if isinstance(table, np.ndarray) and table.ndim:
        return Domain.of_shape(table.shape)
    raise ParameterError("table", function, "a Domain, a CountTable or an array", shown(table))


@dataclass(frozen=True)
class _Areas:
    """Aligned areas of a layout by their sides.

    Attributes:
        layout: how the cells lie along the leaves.
        dimensions: of each axis: an area of side s is s to this power places long along it; 0 for categories, one at a time.
    """

    layout: Layout
    dimensions: tuple[int, ...]

    @property
    def longest(self) -> int:
        """The side of the largest area."""
        return max(
            length if number == 1 else 1 << -(-axis_bits(length) // number)
            for length, number in zip(self.layout.lengths, self.dimensions, strict=True)
            if number
        )

    def height(self, side: int) -> int:
        """The height of the node that an aligned area of a side is: a power of two along each axis, or all of it."""
        bits = side.bit_length() - 1
        lengths = zip(self.layout.lengths, self.dimensions, strict=True)
        return sum(min(bits * number, axis_bits(length)) for length, number in lengths)

    def sides_up_to(self, largest: int) -> list[int]:
        """Powers of two that are sides of areas."""
        return [1 << bits for bits in range(max(axis_bits(self.longest), 1)) if 1 << bits <= largest]

    def guarded_heights(self) -> list[int]:
        """Sizes at which a plan may not be worse than NN-Wavelet.

        Where all levels are combined, sums of areas make up for a vague total; else the largest sizes need a guard as well.
        """
        if self.layout.depth > MOST_DENSE_BITS:
            return [*(self.height(side) for side in self.sides_up_to(self.longest)), self.layout.depth]
        return [self.height(side) for side in self.sides_up_to(LARGEST_GUARDED_SIDE)]


def _margin_workload(parts: PlacesAndAttributes, workload: Workload) -> AreaWorkload:
    """What matters in a map of people with attributes: by default every margin in every area, up to the whole map."""
    layout = map_layout(parts.of_places, MOST_DENSE_BITS)
    areas = _Areas(layout, layout.axes_of(parts.of_places).dimensions)
    sides = areas.sides_up_to(areas.longest) if workload is None else _read_workload(workload, areas, "plan_table")
    if workload is None or workload in ("margins", "totals"):
        sides = [*sides, 1 << axis_bits(areas.longest)]
    every = areas.sides_up_to(areas.longest)
    others = [side for side in (*every, 1 << axis_bits(areas.longest)) if side not in sides]
    wanted = np.full((len(sides) + len(others), 1 << len(parts.attributes)), BESIDE)
    wanted[: len(sides)] = 1
    if workload == "cells":
        wanted[: len(sides), :-1] = BESIDE
    elif workload == "totals":
        wanted[: len(sides), 1:] = BESIDE
    return AreaWorkload((*sides, *others), tuple(map(areas.height, (*sides, *others))), wanted)


def _read_workload(workload: Workload, areas: _Areas, function: str) -> list[int]:
    requirement = "left out, 'cells', 'areas', 'margins', 'totals', or sides of areas such as (1, 4, 16)"
    usual = areas.sides_up_to(USUAL_LARGEST_SIDE)
    if workload is None:
        return usual
    if isinstance(workload, str):
        if workload == "cells":
            return usual[:1]
        if workload == "areas":
            return usual[len(usual) // 2 :]
        if workload in ("margins", "totals"):
            largest = areas.sides_up_to(areas.longest)
            return largest[len(largest) // 2 :]
        raise ParameterError("workload", function, requirement, workload)
    if not isinstance(workload, (list, tuple, range)) or not len(workload):
        raise ParameterError("workload", function, requirement, shown(workload))
    longest = areas.longest
    limit = f"sides from 1 to {longest}, the longest axis"
    if not all(isinstance(side, (int, np.integer)) and type(side) is not bool for side in workload):
        raise ParameterError("workload", function, requirement, Described("others"))
    sides = [int(side) for side in workload]
    if not all(1 <= side <= longest for side in sides):
        raise ParameterError("workload", function, limit, Described("others"))
    if any(side & (side - 1) for side in sides):
        raise ParameterError(
            "workload", function, "sides that are powers of two, as the tree's areas are", Described("others")
        )
    return sorted(set(sides))
