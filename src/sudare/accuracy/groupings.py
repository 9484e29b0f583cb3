"""The sums that people look at in a table: cells, areas, margins, levels of a hierarchy, the total.

Each is a grouping of the cells: the product of a partition of every axis into ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Literal

import numpy as np

from sudare.bilingual import Words
from sudare.domain import Domain, Hierarchy
from sudare.tables.maps import find_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = ["Grouping", "GroupingKind", "Partition", "groupings_of"]

ONE_AXIS = Words.same("{name}")
ROWS = Words("{name}, rows", "{name} の行")
COLUMNS = Words("{name}, columns", "{name} の列")
TIMES = Words(" x ", "×")
GroupingKind = Literal["area", "area of all categories", "margin", "categories", "level", "total"]

MAX_SIDE = 256
MAX_GROUPS = 1 << 62


@dataclass(frozen=True)
class Partition:
    """An axis cut into ranges: blocks of equal length, or ranges between given edges.

    Attributes:
        length: places along the axis.
        block: how long each range is; the last may be shorter.
        edges: where ranges begin, and the end of the last; None for blocks.
    """

    length: int
    block: int = 1
    edges: Integers | None = field(default=None, compare=False)

    @property
    def parts(self) -> int:
        """How many ranges there are."""
        return -(-self.length // self.block) if self.edges is None else self.edges.size - 1

    def part_of(self, places: Integers) -> Integers:
        """The number of the range that each place lies in."""
        if self.edges is None:
            bits = self.block.bit_length() - 1
            return (
                places >> bits if self.block == 1 << bits else places // self.block
            )  # shifting is several times faster
        return np.searchsorted(self.edges, places, side="right") - 1

    def ranges(self, most: int) -> tuple[Integers, Integers]:
        """First places and ends of the ranges, of evenly chosen ones where there are more than this many."""
        chosen = np.unique(np.linspace(0, self.parts - 1, min(self.parts, most)).astype(np.int64))
        if self.edges is None:
            return chosen * self.block, np.minimum((chosen + 1) * self.block, self.length)
        return self.edges[chosen], self.edges[chosen + 1]


@dataclass(frozen=True)
class Grouping:
    """Sums of cells of one kind.

    Attributes:
        kind: what they are.
        name: of the attribute, axis or level; empty for areas and the total.
        side: of areas, in cells.
        partitions: of each axis of the domain.
        name_words: the name for people, where it differs between languages.
    """

    kind: GroupingKind
    name: str
    side: int | None
    partitions: tuple[Partition, ...]
    name_words: Words | None = None

    @property
    def groups(self) -> int:
        """How many sums there are."""
        return prod(partition.parts for partition in self.partitions)

    def group_of(self, domain: Domain, keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The number of the group of each cell."""
        return self.group_at(domain.places_of(keys))

    def group_at(self, places: Sequence[Integers]) -> NDArray[np.uint64]:
        """The same of cells by their places along each axis."""
        groups: NDArray[np.uint64] | None = None
        for partition, along in zip(self.partitions, places, strict=True):
            if partition.parts > 1:
                part = partition.part_of(along).view(np.uint64)
                groups = part if groups is None else groups * np.uint64(partition.parts) + part
        return np.zeros(places[0].size, dtype=np.uint64) if groups is None else groups


def groupings_of(domain: Domain) -> tuple[Grouping, ...]:
    """The groupings of a domain that its users look at, from the cells to the total.

    Areas are squares of a map, or ranges along ordered axes where there is no map. Where other axes are beside them, an area
    is taken in each category, and in all categories together.
    """
    shape = domain.shape
    each, whole = [Partition(n) for n in shape], [Partition(n, n) for n in shape]
    ordered = _ordered_axes(domain)
    beside = [axis for axis in range(len(shape)) if axis not in ordered and shape[axis] > 1]
    found = [Grouping("area", "", 1, tuple(each))]
    for together in (False, True) if beside and ordered else (False,):
        rest, kind = (whole, "area of all categories") if together else (each, "area")
        for side in _sides([round(shape[axis] ** (1 / domain.dimensions[axis])) for axis in ordered]):
            blocks = [
                Partition(n, min(side ** domain.dimensions[axis], n)) if axis in ordered else rest[axis]
                for axis, n in enumerate(shape)
            ]
            if side > 1 or together:
                found.append(Grouping(kind, "", side, tuple(blocks)))  # type: ignore[arg-type]
    found += _margins(domain, each, whole)
    if len(beside) > 1 and ordered:
        mixed = tuple(each[axis] if axis in beside else whole[axis] for axis in range(len(shape)))
        names = Words.joined([_axis_names(domain)[axis] for axis in beside], TIMES)
        found.append(Grouping("categories", names.english, None, mixed, names))
    return (*found, *_levels(domain, whole), Grouping("total", "", None, tuple(whole)))


def _ordered_axes(domain: Domain) -> list[int]:
    """The axes of the map, or else all along which neighbours are alike."""
    axes = find_map(domain)
    if axes is not None:
        return list(axes.axes)
    return list(domain.ordered_axes)


def _sides(lengths: list[int]) -> list[int]:
    return [1 << bits for bits in range(9) if bits == 0 or (1 << bits) < max(lengths, default=0)]


def _margins(domain: Domain, each: list[Partition], whole: list[Partition]) -> list[Grouping]:
    long = [axis for axis, partition in enumerate(each) if partition.length > 1]
    if len(long) < 2:
        return []
    names = _axis_names(domain)
    return [
        Grouping(
            "margin",
            names[axis].english,
            None,
            tuple(each[a] if a == axis else w for a, w in enumerate(whole)),
            names[axis],
        )
        for axis in long
    ]


def _axis_names(domain: Domain) -> list[Words]:
    names = []
    for attribute in domain.attributes:
        is_map = len(attribute.shape) == 2
        names += [words.format(name=attribute.name) for words in ((ROWS, COLUMNS) if is_map else (ONE_AXIS,))]
    return names


def _levels(domain: Domain, whole: list[Partition]) -> list[Grouping]:
    found, axis = [], 0
    for attribute in domain.attributes:
        if isinstance(attribute, Hierarchy):
            for level in attribute.levels:
                if 1 < level.nodes < attribute.shape[0]:
                    cut = Partition(attribute.shape[0], edges=level.edges)
                    parts = tuple(cut if a == axis else w for a, w in enumerate(whole))
                    found.append(Grouping("level", f"{attribute.name}: {level.name}", None, parts))
        axis += len(attribute.shape)
    return found
