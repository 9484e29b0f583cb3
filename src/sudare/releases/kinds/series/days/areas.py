"""The areas whose counts a report follows through a window: the largest ones of a map, or the values of an attribute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.domain import CountTable, Domain, Mesh, mesh_cells, mesh_codes, mesh_level
from sudare.domain.mesh import MESH_LEVELS
from sudare.errors import InputError, ParameterError
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

NO_AREA = Words(
    "'{name}' is no area of this table: name mesh codes of one size, in quotes, or values of the first column of the domain",
    "「{name}」はこの表の領域ではありません。同じ大きさのメッシュコード（引用符付き）か、最初の列の値を書いてください",
)


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
        chosen: the areas that a plan wants to be followed; none if it leaves the choice to the counts.
    """

    domain: Domain
    number: int
    axes: MapAxes | None
    side: int
    first: tuple[int, int] = (0, 0)
    columns: int = 1
    chosen: tuple[int, ...] = ()

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


def areas_of(domain: Domain, chosen: Sequence[str] = ()) -> FollowedAreas:
    """How a domain is divided into areas: by public facts alone.

    Args:
        domain: the cells.
        chosen: what a plan wants to be followed: mesh codes of one size on a map of meshes, else values of the first attribute.

    Raises:
        InputError: if something was chosen that is no area of the domain.
    """
    axes = find_map(domain)
    if axes is None:
        attribute = domain.attributes[0]
        length = attribute.shape[0]
        # Neighbours of ordered values are one area; names stand for themselves.
        side = -(-length // MAX_AREAS) if attribute.is_ordered and not chosen else 1
        found = FollowedAreas(domain, -(-length // side), None, side)
        names = {label_of_places(attribute, place, place): place for place in range(length)} if chosen else {}
        return replace(found, chosen=tuple(_required(names.get(name), name) for name in chosen))
    rows, columns = axes.shape(domain)
    if axes.mesh is not None:
        return _meshes_of(domain, axes, axes.mesh, chosen)
    if chosen:
        raise _no_area(chosen[0])
    side = -(-max(rows, columns) // BLOCKS_A_SIDE)
    return FollowedAreas(domain, -(-rows // side) * -(-columns // side), axes, side, columns=-(-columns // side))


def _meshes_of(domain: Domain, axes: MapAxes, mesh: Mesh, chosen: Sequence[str]) -> FollowedAreas:
    own = mesh_level(mesh.level)
    levels = sorted(
        (level for level in MESH_LEVELS.values() if own.divisions % level.divisions == 0), key=lambda one: one.divisions
    )
    if chosen:
        levels = [level for level in levels if level.digits == len(chosen[0])]
    if not levels:
        raise _no_area(chosen[0])
    for level in levels:
        side = own.divisions // level.divisions
        corner = mesh.first_row // side, mesh.first_column // side
        high = (mesh.first_row + mesh.rows - 1) // side - corner[0] + 1
        wide = (mesh.first_column + mesh.columns - 1) // side - corner[1] + 1
        if high * wide >= MIN_MAP_AREAS or side == 1:
            break
    places = []
    for code in chosen:
        try:
            rows, columns = mesh_cells([int(code)], level)
        except (ValueError, ParameterError):
            raise _no_area(code) from None
        row, column = int(rows[0]) - corner[0], int(columns[0]) - corner[1]
        is_within = 0 <= row < high and 0 <= column < wide
        places.append(_required(row * wide + column if is_within else None, code))
    first = (mesh.first_row, mesh.first_column)
    return FollowedAreas(domain, high * wide, axes, side, first=first, columns=wide, chosen=tuple(places))


def _required(area: int | None, name: str) -> int:
    if area is None:
        raise _no_area(name)
    return area


def _no_area(name: str) -> InputError:
    return InputError(NO_AREA.format(name=name))


def _level_with(divisions: int) -> str:
    return next(level.name for level in MESH_LEVELS.values() if level.divisions == divisions)


def largest_areas(areas: FollowedAreas, sums: Counts) -> list[int]:
    """The areas that are followed: those that were chosen, all of a few, or the largest of a window, which come first.

    Args:
        areas: of the domain.
        sums: of each area (down), at each tick that was published (across).
    """
    if areas.chosen:
        return list(areas.chosen)
    whole = sums.sum(axis=1)
    if areas.axes is None and areas.number <= MAX_AREAS:
        return list(range(areas.number))
    order = np.argsort(-whole, kind="stable")[:MAX_AREAS]
    return [int(area) for area in order if whole[area] > 0]
