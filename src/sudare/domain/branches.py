"""The tree of a hierarchy as axes: which child of its parent each node is, level by level.

A node of a level may have more children than another. Axes have room for the largest family of a level, and the rest of it has no
places. A tree that takes these axes one after the other has just the nodes of the hierarchy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.domain.attributes import Attribute
from sudare.domain.domain import Domain
from sudare.domain.hierarchy import Hierarchy, Level
from sudare.domain.layout import Embedding, Layout, axis_bits, raster_layout

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Integers = NDArray[np.int64]

__all__ = ["Branches", "distinct_levels", "first_children", "hierarchy_layout", "level_bits"]


def distinct_levels(hierarchy: Hierarchy) -> tuple[Level, ...]:
    """The levels from the root down, without those that part no node of the level above."""
    kept = [hierarchy.levels[0]]
    for level in hierarchy.levels[1:]:
        if level.nodes > kept[-1].nodes:
            kept.append(level)
        else:
            kept[-1] = kept[-1] if len(kept) == 1 else level
    return tuple(kept)


def first_children(upper: Level, lower: Level) -> Integers:
    """For each node of a level, its first child on the level below, and at the end how many there are."""
    return np.searchsorted(lower.edges, upper.edges)


@dataclass(frozen=True)
class Branches(Attribute):
    """One axis for each level of a hierarchy below the root: which child of its parent a node is.

    Args:
        name: of the hierarchy.
        hierarchy: whose leaves have places here.
    """

    hierarchy: Hierarchy

    @cached_property
    def _steps(self) -> list[Integers]:
        """For each level below the root, the first child of each node above it."""
        return [first_children(upper, lower) for upper, lower in pairwise(distinct_levels(self.hierarchy))]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The largest family of each level."""
        return tuple(int(np.diff(first).max()) for first in self._steps)

    @property
    def is_ordered(self) -> bool:
        """Whether neighbours are near each other: codes are not."""
        return False

    def cells_of_leaves(self, leaves: Integers) -> tuple[Integers, ...]:
        """The place along each axis of leaves of the hierarchy."""
        found = []
        above = np.zeros(leaves.size, dtype=np.int64)
        for level, first in zip(distinct_levels(self.hierarchy)[1:], self._steps, strict=True):
            here = level.nodes_at(leaves)
            found.append(here - first[above])
            above = here
        return tuple(found)

    def leaves_of_cells(self, cells: tuple[Integers, ...]) -> Integers:
        """The leaves at these places; where there is none, one near it."""
        above = np.zeros(cells[0].size, dtype=np.int64)
        for along, first in zip(cells, self._steps, strict=True):
            above = np.minimum(first[above] + along, first[above + 1] - 1)
        return above

    def places(self, values: ArrayLike) -> tuple[Integers, ...]:
        """The place of each leaf code along each axis."""
        return self.cells_of_leaves(self.hierarchy.places(values)[0])

    def values(self, places: tuple[Integers, ...]) -> NDArray[Any]:
        """The leaf code at each place."""
        return self.hierarchy.values((self.leaves_of_cells(places),))


def level_bits(hierarchy: Hierarchy) -> tuple[int, ...]:
    """How many halvings make room for the children of every node, for each level below the root."""
    return tuple(map(axis_bits, hierarchy.branches.shape)) if hierarchy.shape[0] > 1 else ()


def hierarchy_layout(domain: Domain) -> Layout:
    """The layout of a domain of one hierarchy whose tree has the hierarchy's nodes, after as many halvings as `level_bits` has.

    Example:
        >>> from sudare.domain import Domain, Hierarchy
        >>> from sudare.domain.branches import hierarchy_layout
        >>> import numpy as np
        >>> area = Hierarchy.from_levels("ward", {"prefecture": [13, 13, 13, 27], "ward": [1, 2, 3, 4]})
        >>> layout = hierarchy_layout(Domain((area,)))
        >>> layout.to_tree(np.arange(4, dtype=np.uint64)).tolist()
        [0, 1, 2, 4]
    """
    (area,) = domain.attributes
    if not isinstance(area, Hierarchy) or area.shape[0] == 1:
        return raster_layout(domain.shape)
    outer = Domain((area.branches,))
    around = raster_layout(outer.shape)
    return Layout(around.lengths, around.axis_of_split, embedding=Embedding(domain, outer))
