"""The plan for a table over a hierarchy of codes, such as municipalities in prefectures, with or without attributes.

It looks at no count. The tree has the nodes of the hierarchy, so that the areas of every level are measured themselves: a level's
totals are not sums over parts of a tree that cuts through them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain.branches import distinct_levels, first_children, level_bits
from sudare.domain.hierarchy import Hierarchy
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.unit import Unit
from sudare.tables.arguments import Noise
from sudare.tables.planning.plan import Plan
from sudare.tables.planning.plan_words import CELLS_ALONE, HIERARCHY_OF_CODES, WEIGHTS_BY_LEVEL
from sudare.tables.planning.workload import Vocabulary, WorkloadPart
from sudare.tables.strategies.area_workload import BESIDE, AreaWorkload, masks_of, share_out
from sudare.tables.strategies.axes import PlacesAndAttributes
from sudare.tables.strategies.planning import MarginTreeTask
from sudare.tables.strategies.variances import component_noise, margins_of_components

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["hierarchy_variances", "hierarchy_vocabulary", "level_workload", "plan_hierarchy"]

HIERARCHY_WORDS = ("cells", "margins", "totals")

WORST = 0.25
"""How much the largest ratio to noise on each cell alone counts beside their mean."""

REASONS = (HIERARCHY_OF_CODES, WEIGHTS_BY_LEVEL)


def hierarchy_vocabulary(parts: PlacesAndAttributes, area: Hierarchy) -> Vocabulary:
    """Of which parts the workload of such a table may consist."""
    return Vocabulary(HIERARCHY_WORDS, attributes=parts.names, levels=tuple(level.name for level in area.levels))


def plan_hierarchy(
    parts: PlacesAndAttributes,
    area: Hierarchy,
    budget: Budget,
    unit: Unit,
    workload: Sequence[WorkloadPart],
    noises: Sequence[Noise],
    conversion: Conversion,
    *,
    public_total: bool,
) -> Plan:
    """Plan how to publish a table over a hierarchy.

    Args:
        parts: its leaves as places, and the attributes.
        area: the hierarchy.
        budget: what may be spent.
        unit: who is protected.
        workload: what matters; every margin on every level by default.
        noises: the kinds of noise that give the budget.
        conversion: how (epsilon, delta) is turned into rho for Gaussian noise.
        public_total: whether the total is published exactly.
    """
    levels = distinct_levels(area)
    wanted = level_workload(parts, area, workload, public_total=public_total)
    leaves = tuple(levels[-1].nodes / level.nodes for level in levels)
    fans = tuple(lower.nodes / upper.nodes for upper, lower in pairwise(levels))

    def exact(precisions: Values) -> Values:
        return hierarchy_variances(area, parts.lengths, precisions)

    task = MarginTreeTask(
        parts,
        parts.layout,
        budget,
        unit,
        conversion,
        wanted,
        _flat(parts, leaves),
        public_total,
        fans=fans,
        exact=exact,
        places=leaves,
        worst=WORST,
        reasons=REASONS,
    )
    bits = level_bits(area)
    only_cells = np.zeros(wanted.parts.shape)
    only_cells[-1, -1] = 1.0
    choices = []
    for kind in noises:
        flat = task.judged(bits, kind, only_cells, task.alone(bits, kind), wanted.parts)
        choices.append(min(task.choose(bits, kind), flat, key=lambda choice: choice.loss))
    best = min(choices, key=lambda choice: float(np.log(choice.variances[wanted.named]) @ wanted.weights))
    if len(list(best.strategy.groupings())) == 1:
        task = replace(task, reasons=(CELLS_ALONE,))
    return task.write(best, choices)


def _flat(parts: PlacesAndAttributes, leaves: Sequence[float]) -> Values:
    """The variance of each level and margin if the noise of each cell has the variance 1, on average over the level."""
    lengths = parts.lengths
    summed_up = [
        np.prod([float(length) for axis, length in enumerate(lengths) if not mask >> axis & 1])
        for mask in range(1 << len(lengths))
    ]
    return np.outer(leaves, summed_up)


def level_workload(
    parts: PlacesAndAttributes, area: Hierarchy, workload: Sequence[WorkloadPart], *, public_total: bool = False
) -> AreaWorkload:
    """Which levels matter, and which margins there: every margin on every level by default."""
    levels = distinct_levels(area)
    by_nodes = {level.nodes: depth for depth, level in enumerate(levels)}
    depth_of = {level.name: by_nodes[level.nodes] for level in area.levels}
    weights: dict[tuple[int, int], float] = {}
    for part in workload or (WorkloadPart(),):
        depths = range(len(levels)) if part.level is None else [depth_of[part.level]]
        depths = [len(levels) - 1] if part.word == "cells" else depths
        queries = [(depth, mask) for depth in depths for mask in masks_of(part, parts.names)]
        share_out(weights, part.weight, [query for query in queries if not (public_total and query == (0, 0))])
    matrix = np.full((len(levels), 1 << len(parts.attributes)), BESIDE)
    named = np.zeros(matrix.shape, dtype=np.bool_)
    for query, weight in weights.items():
        matrix[query], named[query] = weight * len(weights) / sum(weights.values()), True
    bits = level_bits(area)
    return AreaWorkload(
        tuple(-(-levels[-1].nodes // level.nodes) for level in levels),
        tuple(sum(bits[depth:]) for depth in range(len(levels))),
        tuple(level.nodes for level in levels),
        matrix,
        named,
        tuple(level.name for level in levels),
    )


def hierarchy_variances(area: Hierarchy, lengths: Sequence[int], precisions: Values) -> Values:
    """The variance of each level and margin, on average over the areas of the level, by least squares over all of them.

    Families may differ in size: each node has its own variance.

    Args:
        area: the hierarchy.
        lengths: of the attributes.
        precisions: for each level, from the root, and each margin: one over the variance of the noise, 0 if it is not measured.
    """
    noise = component_noise(lengths, precisions)
    return margins_of_components(lengths, {mask: _of_levels(area, own) for mask, own in noise.items()})


def _of_levels(area: Hierarchy, noise: Values) -> Values:
    """The mean variance of the nodes of each level, with so much noise on each of them."""
    levels = distinct_levels(area)
    families = [first_children(upper, lower) for upper, lower in pairwise(levels)]
    own: list[Values] = [np.full(levels[-1].nodes, noise[-1])]
    sums: list[Values] = []
    for level in range(len(families) - 1, -1, -1):
        below = np.add.reduceat(own[0], families[level][:-1])
        sums.insert(0, below)
        own.insert(0, noise[level] * below / (noise[level] + below))
    final, means = own[0], [float(own[0].mean())]
    for first, below, variance in zip(families, sums, own[1:], strict=True):
        parents = np.repeat(np.arange(first.size - 1), np.diff(first))
        shares = variance / below[parents]
        final = variance * (1 - shares) + shares**2 * final[parents]
        means.append(float(final.mean()))
    return np.array(means)
