"""Aligned areas of a map: squares whose sides are powers of two, the nodes of a tree that they are, and which of them matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sudare.domain.layout import Layout, axis_bits
from sudare.tables.planning.workload import MARGINS, WorkloadPart

__all__ = ["AREA_WORDS", "Areas", "is_area", "wanted_sides"]

USUAL_LARGEST_SIDE = 64

AREA_WORDS = ("cells", "areas", MARGINS, "totals")
"""What a workload may say of a map, besides sides."""


@dataclass(frozen=True)
class Areas:
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
        """Sizes at which a plan may not be worse than the papers' best: all of them, the whole map as well."""
        return [*(self.height(side) for side in self.sides_up_to(self.longest)), self.layout.depth]

    def sides_of(self, part: WorkloadPart) -> list[int]:
        """The sides that a part of a workload means."""
        if part.side is not None:
            return [part.side]
        usual = self.sides_up_to(USUAL_LARGEST_SIDE)
        if part.word == "cells":
            return usual[:1]
        if part.word == "areas":
            return usual[len(usual) // 2 :]
        largest = self.sides_up_to(self.longest)
        return largest[len(largest) // 2 :]


def is_area(part: WorkloadPart) -> bool:
    """Whether a part of a workload means areas and nothing else."""
    return part.side is not None or part.word == "areas"


def wanted_sides(areas: Areas, workload: Sequence[WorkloadPart]) -> dict[int, float]:
    """The sides that matter, ascending, and how much each does; all usual ones alike by default."""
    if not workload:
        return dict.fromkeys(areas.sides_up_to(USUAL_LARGEST_SIDE), 1.0)
    weights: dict[int, float] = {}
    for part in workload:
        sides = areas.sides_of(part)
        for side in sides:
            weights[side] = weights.get(side, 0.0) + part.weight / len(sides)
    return dict(sorted(weights.items()))
