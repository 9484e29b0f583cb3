"""The areas whose counts a report follows through a window: the largest ones of a map, or the values of an attribute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.domain import Bins, CountTable, Domain, Mesh, mesh_codes, mesh_level
from sudare.domain.mesh import MESH_LEVELS
from sudare.releases.page_numbers import label_of_places, show_distance
from sudare.tables.maps import MapAxes, find_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]

__all__ = ["MAX_AREAS", "FollowedAreas", "areas_of", "largest_areas"]

MAX_AREAS = 8
"""That are followed, of a map or of an attribute with many values."""

MIN_MAP_AREAS = 9
"""A map is divided into meshes of the largest size that gives so many."""

BLOCKS_A_SIDE = 8
"""Of a map that is no mesh."""

MESH = Words("Mesh {code} ({size})", "メッシュ {code}（{size}）")
BLOCK = Words("rows {top}–{bottom}, columns {left}–{right}", "行 {top}–{bottom}、列 {left}–{right}")


@dataclass(frozen=True, eq=False)
class FollowedAreas:
    """Areas of a domain, by number.

    Attributes:
        domain: the cells.
        number: how many areas there are.
        axes: the map, if the domain is one.
        side: of an area in cells, on a map; else how many neighbouring values of the first attribute are one area.
        first: row and column of the first cell of the map in its grid; 0 where it is no mesh.
        columns: how many areas lie beside each other on a map.
    """

    domain: Domain
    number: int
    axes: MapAxes | None
    side: int
    first: tuple[int, int] = (0, 0)
    columns: int = 1

    def sums(self, table: CountTable) -> Counts:
        """What was published of each area."""
        places = self.domain.places_of(table.keys)
        if self.axes is None:
            areas = places[0] // self.side
        else:
            along = tuple(places[axis] for axis in self.axes.axes)
            down, right = along if self.axes.listed is None else self.axes.listed.window_cells(along)
            corner = self._corner
            areas = ((down + self.first[0]) // self.side - corner[0]) * self.columns
            areas = areas + (right + self.first[1]) // self.side - corner[1]
        found = np.zeros(self.number, dtype=np.int64)
        np.add.at(found, areas, table.counts)
        return found

    def name(self, area: int) -> Words:
        """What an area is called."""
        if self.axes is None:
            attribute = self.domain.attributes[0]
            last = min(attribute.shape[0], (area + 1) * self.side) - 1
            return Words.same(label_of_places(attribute, area * self.side, last))
        row, column = divmod(area, self.columns)
        if self.axes.mesh is not None:
            level = _level_with(mesh_level(self.axes.mesh.level).divisions // self.side)
            code = mesh_codes(np.array([row + self._corner[0]]), np.array([column + self._corner[1]]), level)
            return MESH.format(code=int(code[0]), size=show_distance(mesh_level(level).metres))
        rows, columns = self.axes.shape(self.domain)
        return BLOCK.format(
            top=row * self.side,
            bottom=min(rows, (row + 1) * self.side) - 1,
            left=column * self.side,
            right=min(columns, (column + 1) * self.side) - 1,
        )

    @property
    def _corner(self) -> tuple[int, int]:
        return self.first[0] // self.side, self.first[1] // self.side


def areas_of(domain: Domain) -> FollowedAreas:
    """How a domain is divided into areas: by public facts alone."""
    axes = find_map(domain)
    if axes is None:
        attribute = domain.attributes[0]
        length = attribute.shape[0]
        # Neighbours of ordered values are one area; names stand for themselves.
        is_grouped = isinstance(attribute, Bins) or attribute.is_ordered
        side = -(-length // MAX_AREAS) if is_grouped else 1
        return FollowedAreas(domain, -(-length // side), None, side)
    rows, columns = axes.shape(domain)
    if axes.mesh is None:
        side = -(-max(rows, columns) // BLOCKS_A_SIDE)
        return FollowedAreas(domain, -(-rows // side) * -(-columns // side), axes, side, columns=-(-columns // side))
    return _meshes_of(domain, axes, axes.mesh)


def _meshes_of(domain: Domain, axes: MapAxes, mesh: Mesh) -> FollowedAreas:
    own = mesh_level(mesh.level)
    coarser = sorted(
        (level for level in MESH_LEVELS.values() if own.divisions % level.divisions == 0), key=lambda one: one.divisions
    )
    first = (mesh.first_row, mesh.first_column)
    for level in coarser:
        side = own.divisions // level.divisions
        high, wide = (
            (start + length - 1) // side - start // side + 1
            for start, length in zip(first, (mesh.rows, mesh.columns), strict=True)
        )
        if high * wide >= MIN_MAP_AREAS or side == 1:
            break
    return FollowedAreas(domain, high * wide, axes, side, first=first, columns=wide)


def _level_with(divisions: int) -> str:
    return next(level.name for level in MESH_LEVELS.values() if level.divisions == divisions)


def largest_areas(areas: FollowedAreas, sums: Counts) -> list[int]:
    """The areas that are followed: all of a few, else the largest of a window; the largest first on maps and among names.

    Args:
        areas: of the domain.
        sums: of each area (down), at each tick that was published (across).
    """
    whole = sums.sum(axis=1)
    if areas.axes is None and areas.number <= MAX_AREAS:
        return list(range(areas.number))
    order = np.argsort(-whole, kind="stable")[:MAX_AREAS]
    return [int(area) for area in order if whole[area] > 0]
