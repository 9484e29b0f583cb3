"""A public reference for trees that are too large to draw as a whole: one level at a time, where somebody is left.

It differs from `dense_tree` in that children tell their parents nothing; see ``refine/trees.md`` for the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain.layout import Layout
from sudare.domain.table import CountTable
from sudare.noise.additive import noise_for
from sudare.noise.entropy import EntropySource
from sudare.privacy.measurements import GaussianMeasurement, Measurement
from sudare.refine.trust import LevelEvidence, departures_if_trusted
from sudare.tables.dense_tree import variance_of
from sudare.tables.descent import Nodes, Notes, Tree, start
from sudare.tables.reading import Request

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Keys = NDArray[np.uint64]
    Values = NDArray[np.float64]

__all__ = ["refined_with_reference"]

CHILDREN_AT_ONCE = 1 << 20
"""Children whose noise is held, and whose departures are learned, at the same time."""


def refined_with_reference(
    request: Request,
    layout: Layout,
    steps: Sequence[int],
    levels: Sequence[Measurement],
    notes: Notes,
    names: Sequence[str],
    reference: CountTable,
) -> CountTable:
    """Descend level by level, each with its noise drawn where somebody is left and judged by the reference.

    Args:
        request: what was asked for, checked.
        layout: how the cells lie along the leaves.
        steps: how many halvings make up each level.
        levels: the measurement of the total, unless it is public, and of each level.
        notes: where the noisy counts are written down.
        names: what the notes call each measurement.
        reference: a public table over the same domain.
    """
    tree, known = Tree.over(request.table, layout), Tree.over(reference, layout)
    of_total = len(levels) - len(steps)
    splits = [
        ReferenceSplit(tree, known, level, step, sum(steps[i + 1 :]), notes, name)
        for i, (step, level, name) in enumerate(zip(steps, levels[of_total:], names[of_total:], strict=True))
    ]
    nodes = start(tree, levels[0] if of_total else None, request.source, notes)
    is_trusted = False
    for split in splits:
        nodes, is_trusted = split(nodes, request.source, is_trusted_above=is_trusted)
    return CountTable.from_unique_cells(request.table.domain, layout.to_raster(nodes.prefixes), nodes.refined)


class ReferenceSplit:
    """One level of a descent that makes use of a reference.

    Args:
        tree: the people.
        reference: the people of the public table, along the same leaves.
        level: the measurement of this level.
        step: how many halvings make up this level.
        bit: how many are left below it.
        notes: where the noisy counts are written down.
        name: what the notes call this level.
    """

    def __init__(
        self, tree: Tree, reference: Tree, level: Measurement, step: int, bit: int, notes: Notes, name: str
    ) -> None:
        self.tree, self.reference, self.noise, self.variance = tree, reference, noise_for(level), variance_of(level)
        self.is_laplace = not isinstance(level, GaussianMeasurement)
        self.fan, self.bit, self.notes, self.name = 1 << step, bit, notes, name

    def __call__(self, nodes: Nodes, source: EntropySource, *, is_trusted_above: bool) -> tuple[Nodes, bool]:
        """The children of nodes, and whether the reference was believed in every part of the level."""
        at_once = max(1, CHILDREN_AT_ONCE // self.fan)
        firsts = range(0, len(nodes), at_once)
        parts = [self._split(nodes.between(i, i + at_once), source, is_trusted_above) for i in firsts]
        return Nodes.joined([part for part, _ in parts]), all(is_trusted for _, is_trusted in parts)

    def _split(self, nodes: Nodes, source: EntropySource, is_trusted_above: bool) -> tuple[Nodes, bool]:
        from sudare.kernels.priors import project_children

        children = np.arange(self.fan, dtype=np.uint64) << np.uint64(self.bit)
        prefixes = (nodes.prefixes[:, None] | children).reshape(-1)
        has_cells = _has_cells(self.tree.layout, prefixes)
        counts, starts, ends = self._people(self.tree, prefixes)
        noisy = self.noise.draw(prefixes.size, source)
        noisy += counts
        self.notes.take(self.name, prefixes[has_cells], noisy[has_cells])
        given = nodes, prefixes, has_cells, noisy.astype(np.float64)
        values, variances, is_trusted = self._judge(*given, is_trusted_above)
        refined = np.empty((len(nodes), self.fan), dtype=np.int64)
        variances = np.where(has_cells, variances, -1.0)
        project_children(
            values.reshape(-1, self.fan),
            variances.reshape(-1, self.fan),
            np.ascontiguousarray(nodes.refined),
            source.words(len(nodes)),
            refined,
        )
        left = np.flatnonzero(refined)
        return Nodes(prefixes[left], starts[left], ends[left], refined.reshape(-1)[left]), is_trusted

    def _people(self, tree: Tree, prefixes: Keys) -> tuple[Integers, Integers, Integers]:
        """How many people are below each node, and where its leaves begin and end."""
        last = prefixes | np.uint64((1 << self.bit) - 1)
        starts, ends = np.searchsorted(tree.leaves, prefixes), np.searchsorted(tree.leaves, last, side="right")
        return tree.sums[ends] - tree.sums[starts], starts, ends

    def _judge(
        self, nodes: Nodes, prefixes: Keys, has_cells: NDArray[np.bool_], values: Values, is_trusted_above: bool
    ) -> tuple[Values, Values, bool]:
        """Values and variances of the children, and whether the reference was believed."""
        variances = np.full(values.size, self.variance)
        known = self._people(self.reference, prefixes)[0]
        parents = np.repeat(known.reshape(-1, self.fan).sum(axis=1), self.fan)
        used = np.flatnonzero(has_cells & (parents > 0))
        above = np.repeat(nodes.refined, self.fan)[used].astype(np.float64)
        siblings = np.repeat(has_cells.reshape(-1, self.fan).sum(axis=1), self.fan)[used]
        expected = above * (known[used] / parents[used])
        evidence = LevelEvidence(values[used], variances[used], above, expected, above / siblings, self.is_laplace)
        departures = departures_if_trusted(evidence, is_trusted_above=is_trusted_above)
        if departures is None:
            return values, variances, False
        posterior = departures.judge(evidence.values, evidence.variances, evidence.expected)
        values, variances = values.copy(), variances.copy()
        values[used], variances[used] = posterior.values, posterior.variances
        return values, variances, True


def _has_cells(layout: Layout, prefixes: Keys) -> NDArray[np.bool_]:
    """Whether any leaf below a node is a cell: whether the first one is, along every axis."""
    inside = np.ones(prefixes.size, dtype=bool)
    if layout.is_padded:
        for axis, length in enumerate(layout.lengths):
            index = np.zeros(prefixes.size, dtype=np.uint64)
            for byte, bits in enumerate(layout.gather[axis]):
                index |= bits[(prefixes >> np.uint64(8 * byte)) & np.uint64(255)]
            inside &= index < np.uint64(length)
    return inside
