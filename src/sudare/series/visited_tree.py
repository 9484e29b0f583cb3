"""Whole numbers >= 0 below nodes that have somebody, level by level: what a single table's large tree does, for one tick.

The children of nodes with a positive count are looked at (`visiting`), judged by their own estimates, by those around them and
by their parents' counts (`sudare.tables.trees.visited_level`), and made to add up to them. One level is looked ahead: what the
children of a node say of it is weighed with what was measured of itself. Where a parent has nobody, nothing below is looked at,
and all of it is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sudare.noise.entropy import EntropySource
from sudare.refine.trees import Words
from sudare.series.design import SeriesDesign
from sudare.series.visiting import MeasuredPast, VisitedEstimate
from sudare.tables.trees.descent import Tree
from sudare.tables.trees.surroundings import Surroundings
from sudare.tables.trees.visited_level import VisitedLevel, as_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Keys = NDArray[np.uint64]
    Reals = NDArray[np.float64]

__all__ = ["refine_below"]


class _TickLevel(VisitedLevel):
    """One level at one tick: its children are estimated from all ticks so far instead of being drawn."""

    def __init__(
        self, design: SeriesDesign, tree: Tree, number: int, estimate: VisitedEstimate, past: MeasuredPast
    ) -> None:
        # Nothing of a single table's level but its rules is used: no people, no noise, no notes.
        self.tree, self.reference, self.estimate, self.past = tree, None, estimate, past
        self.variance, self.is_laplace = float(past.design.variances[past.tick]), False
        above, self.step = design.depths[number - 1], design.bits[number - 1]
        self.bit, self.fan = design.layout.depth - above - self.step, 1 << self.step
        ordered = design.layout.axes_of(design.domain).ordered_axes
        learns = design.learns and design.layout.keeps_neighbours and bool(ordered)
        self.around = Surroundings(design.layout, above, self.step, tuple(ordered)) if learns else None

    def values_below(self, parents: Keys) -> Reals:
        """Estimates of the children of nodes, a row for each; NaN for children without cells."""
        from sudare.kernels.tables.surroundings import add_people

        cells = np.zeros((parents.size, self.fan), dtype=np.int64)
        add_people(self.tree.leaves, self.tree.sums, parents, self.bit, *self.tree.padding, cells)
        values = as_values(cells)
        is_cell = ~np.isnan(values.reshape(-1))
        first = (parents >> np.uint64(self.bit)).astype(np.int64)
        children = (first[:, None] + np.arange(self.fan)).reshape(-1)[is_cell]
        values.reshape(-1)[is_cell] = self.estimate.look_at(children, self.past)
        return values


class _Ties(EntropySource):
    """Words of a key, by which equals are decided."""

    def __init__(self, words: Words) -> None:
        self._words = words

    def fill(self, words: Keys) -> None:
        """The next words."""
        words[...] = self._words(words.size).reshape(words.shape)

    def spawn(self, count: int) -> list[EntropySource]:
        """All decide by the same words, one after the other."""
        return [self] * count


def refine_below(
    design: SeriesDesign,
    counts: Counts,
    estimates: Sequence[VisitedEstimate],
    pasts: Sequence[MeasuredPast],
    words: Words,
) -> tuple[Keys, Counts]:
    """The leaves that have somebody, and their counts.

    Args:
        design: of the series.
        counts: of all nodes of the last level that is looked at as a whole.
        estimates: of the levels below it.
        pasts: what was measured of these.
        words: gives random words.
    """
    whole = len(design.bits) - len(estimates)
    tree = Tree(design.layout, np.zeros(0, dtype=np.uint64), np.zeros(1, dtype=np.int64))
    levels = [
        _TickLevel(design, tree, number, estimate, past)
        for number, (estimate, past) in enumerate(zip(estimates, pasts, strict=True), start=whole + 1)
    ]
    source, nodes = _Ties(words), np.flatnonzero(counts)
    parents = nodes.astype(np.uint64) << np.uint64(design.layout.depth - design.depths[whole])
    refined = counts[nodes]
    for level, below in zip(levels, [*levels[1:], None], strict=True):
        if not parents.size:
            break
        values = level.values_below(parents)
        places, found = level.refine(parents, refined, values, None, source)
        if below is not None and places.size:
            ahead = below.values_below(level.children_at(parents, places))
            spread = np.count_nonzero(~np.isnan(ahead), axis=1) * below.variance
            weight = spread / (spread + level.variance)
            own = values.reshape(-1)[places]
            values.reshape(-1)[places] = weight * own + (1 - weight) * np.nansum(ahead, axis=1)
            places, found = level.refine(parents, refined, values, (places, weight * level.variance), source)
        parents, refined = level.children_at(parents, places), found.copy()
    return parents, refined
