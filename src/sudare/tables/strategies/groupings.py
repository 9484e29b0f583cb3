"""Strategies, written down: of every level of a tree and every margin of the attributes, its share of the budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sudare.refine.components import axes_within
from sudare.tables.measured_names import MeasuredName, name_by, name_cells, name_level, name_places, name_total

__all__ = ["MeasuredGrouping", "Strategy"]


@dataclass(frozen=True)
class MeasuredGrouping:
    """A level of the tree times a margin: what is counted for each node and each combination of some attributes.

    Attributes:
        level: of the tree, 0 for all places together.
        mask: the attributes: number i where bit i is set.
        weight: its share of the budget, in proportion to the others'.
    """

    level: int
    mask: int
    weight: float


@dataclass(frozen=True)
class Strategy:
    """A weighted set of groupings.

    Attributes:
        bits: how many halvings of the map make up each level, from the top.
        attributes: how many attributes there are beside the map.
        weights: for each level, from the root, the weight of each margin, numbered by its mask; 0 where it is not measured.
    """

    bits: tuple[int, ...]
    attributes: int
    weights: tuple[tuple[float, ...], ...]

    @property
    def whole(self) -> int:
        """The mask of all attributes."""
        return (1 << self.attributes) - 1

    def groupings(self, *, without_total: bool = False) -> Iterator[MeasuredGrouping]:
        """The groupings that are measured, level by level.

        Args:
            without_total: leave the total out, because it is public.
        """
        for level, weights in enumerate(self.weights):
            for mask, weight in enumerate(weights):
                if weight > 0 and not (without_total and level == 0 and mask == 0):
                    yield MeasuredGrouping(level, mask, weight)

    def is_cells(self, grouping: MeasuredGrouping) -> bool:
        """Whether a grouping is that of the cells themselves."""
        return grouping.level == len(self.bits) and grouping.mask == self.whole

    def name(self, grouping: MeasuredGrouping, names: Sequence[str], levels: Sequence[str] = ()) -> MeasuredName:
        """What a grouping measures.

        Args:
            grouping: one of this strategy.
            names: of the attributes.
            levels: names of the levels, where they are those of a hierarchy.
        """
        if self.is_cells(grouping):
            return name_cells()
        areas = name_places(sum(self.bits[grouping.level :]))
        if levels:
            areas = name_level(levels[grouping.level])
        of_level = name_total() if grouping.level == 0 else areas
        return name_by(of_level, [names[axis] for axis in axes_within(grouping.mask)])
