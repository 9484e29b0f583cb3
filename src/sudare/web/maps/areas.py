"""Maps of areas: a table by municipality or prefecture, coloured on the meshes that public lists in the folder give to each.

An area is what its meshes cover, so its outline is right to a mesh of the list; a mesh that several share goes to the first that
names it. The browser gets the number of the area of each mesh once, and a number for each area for every layer.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Language
from sudare.domain import Category, Domain, Hierarchy, Mesh, mesh_cells
from sudare.domain.mesh import MeshLevel, likely_level
from sudare.domain.prefectures import PREFECTURES, prefecture_number
from sudare.errors import InputError, SudareError
from sudare.releases.data.mesh_lists import read_municipality_meshes
from sudare.web.maps.tiles import TOO_LARGE, MapCells

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from sudare.domain.sparse_table import SparseTable

    Integers = NDArray[np.int64]

__all__ = ["AreaAxis", "AreaShapes", "amounts_of", "area_shapes", "find_areas", "names_of_areas"]

PER_PREFECTURE = 1000
WITH_CHECK_DIGIT = 100_000
MIN_NUMBERS = 20
"""So many numbers from 1 to 47 are those of prefectures; fewer may be anything."""

MAX_KEPT = 2
MAX_SUM = np.iinfo(np.int32).max

_kept: OrderedDict[tuple[object, ...], AreaShapes | None] = OrderedDict()
_lock = threading.Lock()


@dataclass(frozen=True, kw_only=True, eq=False)
class AreaAxis:
    """The axis of a table whose places are areas.

    Attributes:
        axis: its number.
        position: of its attribute.
        codes: of each place: five digits of a municipality, or the number of a prefecture.
        are_prefectures: whether they are prefectures.
    """

    axis: int
    position: int
    codes: tuple[int, ...]
    are_prefectures: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class AreaShapes:
    """Which meshes each area covers.

    Attributes:
        cells: meshes in their window; the value of one is the number of its area, from 1.
        level: of the meshes.
        first_row: of the window, in the whole grid.
        first_column: of the window.
        names: of municipalities, by their codes, as far as the lists name them.
    """

    cells: MapCells
    level: MeshLevel
    first_row: int
    first_column: int
    names: Mapping[int, str]

    @property
    def window(self) -> Mesh:
        """All meshes around them."""
        return Mesh("meshes", self.level, self.first_row, self.first_column, self.cells.height, self.cells.width)


def find_areas(domain: Domain) -> AreaAxis | None:
    """The first attribute whose places are municipalities or prefectures, by their codes or names."""
    axis = 0
    for position, attribute in enumerate(domain.attributes):
        if isinstance(attribute, Hierarchy):
            labels = attribute.levels[-1].labels.tolist()
        else:
            labels = list(attribute.labels) if isinstance(attribute, Category) else []
        codes = _codes_of([str(label).strip() for label in labels])
        if codes is not None:
            return AreaAxis(axis=axis, position=position, codes=codes[0], are_prefectures=codes[1])
        axis += len(attribute.shape)
    return None


def _codes_of(labels: Sequence[str]) -> tuple[tuple[int, ...], bool] | None:
    if not labels:
        return None
    if all(label.isascii() and label.isdigit() and 4 <= len(label) <= 6 for label in labels):
        # Of prefectures below 10 a leading 0 is often lost; a sixth digit checks the others.
        codes = tuple(int(label) if int(label) < WITH_CHECK_DIGIT else int(label) // 10 for label in labels)
        return (codes, False) if len(set(codes)) == len(codes) else None
    numbers = [prefecture_number(label) for label in labels]
    if len(labels) < MIN_NUMBERS and any(label.isdigit() for label in labels):
        return None
    found = tuple(number for number in numbers if number is not None)
    return (found, True) if len(set(found)) == len(labels) else None


def area_shapes(axis: AreaAxis, lists: Sequence[Path]) -> AreaShapes | None:
    """The meshes of areas by public lists; None if the lists name no mesh of any of them."""
    stamps = tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in lists)
    key = (stamps, axis.codes)
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    shapes = _read_shapes(axis, lists)
    with _lock:
        _kept[key] = shapes
        while len(_kept) > MAX_KEPT:
            _kept.popitem(last=False)
    return shapes


def _read_shapes(axis: AreaAxis, lists: Sequence[Path]) -> AreaShapes | None:
    level: MeshLevel | None = None
    parts, names = [], dict[int, str]()
    for path in lists:
        found = read_municipality_meshes(path)
        own = likely_level(int(found.meshes[0])) if found is not None and found.meshes.size else None
        if found is None or own is None or level not in (None, own) or found.repeats:
            continue
        try:
            rows, columns = mesh_cells(found.meshes, own)
        except SudareError:
            continue
        level = own
        parts.append(np.stack([rows, columns, found.municipalities]))
        names |= found.names
    if level is None:
        return None
    rows, columns, codes = np.concatenate(parts, axis=1)
    order = np.argsort(axis.codes, kind="stable")
    known = np.asarray(axis.codes, dtype=np.int64)[order]
    wanted = codes // PER_PREFECTURE if axis.are_prefectures else codes
    at = np.minimum(np.searchsorted(known, wanted), known.size - 1)
    is_known = known[at] == wanted
    rows, columns, numbers = rows[is_known], columns[is_known], order[at[is_known]] + 1
    if not rows.size:
        return None
    south, west = int(rows.min()), int(columns.min())
    height, width = int(rows.max()) - south + 1, int(columns.max()) - west + 1
    _, first = np.unique((rows - south) * width + columns - west, return_index=True)
    cells = MapCells(
        height=height, width=width, rows=rows[first] - south, columns=columns[first] - west, values=numbers[first]
    )
    return AreaShapes(cells=cells, level=level, first_row=south, first_column=west, names=names)


def names_of_areas(axis: AreaAxis, shapes: AreaShapes, language: Language) -> list[str]:
    """The names of the areas of an axis, with their codes where lists name them."""
    if axis.are_prefectures:
        return [PREFECTURES[code][language == "ja"] if code in PREFECTURES else str(code) for code in axis.codes]
    return [f"{shapes.names[code]} ({code})" if code in shapes.names else str(code) for code in axis.codes]


def amounts_of(table: SparseTable, axis: AreaAxis, fixed: Mapping[int, int]) -> bytes:
    """A number for each area, in 32 bits, summed over all axes beside it that are not held at one place.

    Raises:
        InputError: if a number is more than 32 bits hold.
    """
    places, values = table.domain.places_of(table.keys), table.counts
    if fixed:
        kept = np.logical_and.reduce([places[other] == place for other, place in fixed.items()])
        places, values = tuple(along[kept] for along in places), values[kept]
    sums: NDArray[Any] = np.zeros(len(axis.codes), dtype=np.int64)
    np.add.at(sums, places[axis.axis], values)
    if float(np.abs(sums).max(initial=0)) > MAX_SUM:
        raise InputError(TOO_LARGE)
    return sums.astype("<i4").tobytes()
