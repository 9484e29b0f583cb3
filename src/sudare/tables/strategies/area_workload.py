"""Which areas of a map matter, and which margins of their people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain.layout import axis_bits
from sudare.tables.planning.areas import Areas
from sudare.tables.planning.predicted_error import areas_at
from sudare.tables.planning.workload import MARGINS, WorkloadPart
from sudare.tables.strategies.axes import PlacesAndAttributes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["BESIDE", "AreaWorkload", "area_workload", "masks_of", "share_out"]

BESIDE = 0.02
"""How much sizes and margins that a workload does not name matter beside those that it names."""


@dataclass(frozen=True)
class AreaWorkload:
    """Which areas matter, and which margins of their people.

    Attributes:
        sides: of areas.
        heights: the halvings below each of them.
        numbers: how many areas there are of each side.
        parts: for each area and margin, how much it matters; 1 on average over those that the workload names.
        named: which of them the workload names.
        names: of the areas, where they are levels of a hierarchy.
    """

    sides: tuple[int, ...]
    heights: tuple[int, ...]
    numbers: tuple[int, ...]
    parts: Values
    named: NDArray[np.bool_]
    names: tuple[str, ...] = ()

    @property
    def weights(self) -> Values:
        """Of the named parts alone, adding up to 1."""
        chosen = self.parts[self.named]
        return np.asarray(chosen / chosen.sum())


def masks_of(part: WorkloadPart, names: Sequence[str]) -> list[int]:
    """The margins that a part of a workload means; attribute i is in those whose bit i is set."""
    every = range(1 << len(names))
    if part.word == "cells":
        return [every[-1]]
    if part.word == "totals":
        return [0]
    if part.attributes is not None:
        return [sum(1 << names.index(name) for name in part.attributes)]
    if part.word == MARGINS and part.order is not None:
        return [mask for mask in every if mask.bit_count() <= part.order]
    return list(every)


def area_workload(parts: PlacesAndAttributes, workload: Sequence[WorkloadPart]) -> AreaWorkload:
    """What matters in a map of people with attributes: by default, every margin in every area, up to the whole map.

    Args:
        parts: the places and the attributes.
        workload: what is said.
    """
    layout = parts.layout
    areas = Areas(layout, layout.axes_of(parts.of_places).dimensions)
    whole = 1 << axis_bits(areas.longest)
    every = [*areas.sides_up_to(areas.longest), whole]
    weights: dict[tuple[int, int], float] = {}
    for part in workload or (WorkloadPart(),):
        sides = every if part.side is None and not part.word else areas.sides_of(part)
        if part.word in (MARGINS, "totals"):
            sides = [*sides, whole]
        share_out(weights, part.weight, [(side, mask) for side in sides for mask in masks_of(part, parts.names)])
    scale = len(weights) / sum(weights.values())
    ordered = list(dict.fromkeys((*(side for side, _ in sorted(weights)), *every)))
    matrix = np.full((len(ordered), 1 << len(parts.attributes)), BESIDE)
    named = np.zeros(matrix.shape, dtype=np.bool_)
    for (side, mask), weight in weights.items():
        matrix[ordered.index(side), mask], named[ordered.index(side), mask] = scale * weight, True
    heights = tuple(map(areas.height, ordered))
    numbers = tuple(areas_at(layout, height) for height in heights)
    return AreaWorkload(tuple(ordered), heights, numbers, matrix, named)


def share_out(weights: dict[tuple[int, int], float], weight: float, queries: Iterable[tuple[int, int]]) -> None:
    """Add a part's weight to what it means, to each as much."""
    listed = list(dict.fromkeys(queries))
    for query in listed:
        weights[query] = weights.get(query, 0.0) + weight / len(listed)
