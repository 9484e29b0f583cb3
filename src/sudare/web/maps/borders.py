"""Borders of prefectures and municipalities on a map, from public lists of meshes that lie in the folder of the page.

The Statistics Bureau publishes, for each prefecture, the meshes of 1 km that its municipalities touch. A border runs where two
neighbouring meshes belong to different ones, so it is right to a mesh; a mesh that several share counts to the first that names
it. A list names no mesh of a municipality twice: a file that does is one of people, and no border is drawn from it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain import mesh_cells, mesh_level
from sudare.domain.mesh import likely_level
from sudare.errors import SudareError
from sudare.releases.data.mesh_lists import MunicipalityMeshes, names_municipalities, read_municipality_meshes
from sudare.web.maps.layers import map_axes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.domain.attributes import Mesh
    from sudare.domain.sparse_table import SparseTable
    from sudare.web.workspace import WorkFolder

    Integers = NDArray[np.int64]

__all__ = ["MapBorders", "borders_in", "borders_of", "lists_in", "pack_borders"]

SUFFIXES = (".csv", ".txt", ".tsv")
MAX_FILE, MAX_FILES = 1 << 25, 60
HEAD = 4096
MAX_KEPT = 2
PER_PREFECTURE = 1000

_kept: OrderedDict[tuple[object, ...], MapBorders] = OrderedDict()
_lock = threading.Lock()


@dataclass(frozen=True, kw_only=True, eq=False)
class MapBorders:
    """Lines along meshes, each as its ends: row, column, row, column, in cells of the map.

    Attributes:
        prefectures: between prefectures, and around them.
        municipalities: between municipalities of one prefecture.
    """

    prefectures: NDArray[np.float32]
    municipalities: NDArray[np.float32]


def lists_in(workspace: WorkFolder) -> list[Path]:
    """Files of a folder that look like lists of meshes with municipalities, told by their first line."""
    names = [name for name in workspace.data_files() if name.lower().endswith(SUFFIXES)]
    paths = [workspace.place(name) for name in names]
    return [path for path in paths if path.stat().st_size <= MAX_FILE and _looks_like_a_list(path)][:MAX_FILES]


def _looks_like_a_list(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            head = stream.read(HEAD).partition(b"\n")[0]
    except OSError:
        return False
    return any(names_municipalities(head.decode(encoding, errors="ignore")) for encoding in ("utf-8", "cp932"))


def borders_of(table: SparseTable, lists: Sequence[Path], block: int = 1) -> MapBorders:
    """The borders that lists tell, in the window of a map; none if it is no map of meshes."""
    return borders_in(map_axes(table).mesh, lists, block)


def borders_in(mesh: Mesh | None, lists: Sequence[Path], block: int = 1) -> MapBorders:
    """The borders that lists tell, in a window; none without one."""
    if mesh is None or not lists:
        return _none()
    stamps = tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in lists)
    window = (mesh_level(mesh.level).name, mesh.first_row, mesh.first_column, mesh.rows, mesh.columns, block)
    with _lock:
        known = _kept.get((stamps, window))
    if known is None:
        known = _drawn(mesh, [found for path in lists if (found := read_municipality_meshes(path)) is not None], block)
    with _lock:
        _kept[stamps, window] = known
        _kept.move_to_end((stamps, window))
        while len(_kept) > MAX_KEPT:
            _kept.popitem(last=False)
    return known


def pack_borders(borders: MapBorders) -> bytes:
    """How many lines there are of each sort (32 bits), and their ends (32 bits each), little endian."""
    counts = np.array([len(borders.prefectures), len(borders.municipalities)], dtype="<i4")
    parts = (borders.prefectures, borders.municipalities)
    return counts.tobytes() + b"".join(part.astype("<f4").tobytes() for part in parts)


def _none() -> MapBorders:
    empty = np.zeros((0, 4), dtype=np.float32)
    return MapBorders(prefectures=empty, municipalities=empty)


def _drawn(mesh: Mesh, lists: Iterable[MunicipalityMeshes], block: int) -> MapBorders:
    own = mesh_level(mesh.level)
    areas: Integers | None = None
    divisions, south, west = 0, 0, 0
    for found in lists:
        level = likely_level(int(found.meshes[0])) if found.meshes.size else None
        if level is None or found.repeats or divisions not in (0, level.divisions):
            continue
        try:
            rows, columns = mesh_cells(found.meshes, level)
        except SudareError:
            continue
        if areas is None:
            # One mesh more on every side: a line needs two neighbours.
            divisions = level.divisions
            south, west = (first * divisions // own.divisions - 1 for first in (mesh.first_row, mesh.first_column))
            high, wide = (-(-cells * divisions // own.divisions) + 3 for cells in (mesh.rows, mesh.columns))
            areas = np.zeros((high, wide), dtype=np.int64)
        down, right = rows - south, columns - west
        inside = (down >= 0) & (down < areas.shape[0]) & (right >= 0) & (right < areas.shape[1])
        down, right, codes = down[inside][::-1], right[inside][::-1], found.municipalities[inside][::-1]
        is_free = areas[down, right] == 0
        areas[down[is_free], right[is_free]] = codes[is_free]
    if areas is None:
        return _none()
    scale = own.divisions / divisions / block
    first = np.array([mesh.first_row, mesh.first_column] * 2) / block

    def placed(lines: Integers) -> NDArray[np.float32]:
        corners: NDArray[np.float32] = ((lines + np.array([south, west] * 2)) * scale - first).astype(np.float32)
        return corners

    prefectures = areas // PER_PREFECTURE
    between = _lines(prefectures, np.ones_like(prefectures, dtype=bool))
    within = _lines(areas, prefectures > 0, prefectures)
    return MapBorders(prefectures=placed(between), municipalities=placed(within))


def _lines(areas: Integers, known: NDArray[np.bool_], same: Integers | None = None) -> Integers:
    """Lines between neighbours of different areas, as long as they run straight; only where both are the same otherwise."""
    parts = []
    for is_upright in (True, False):
        here, there = (areas[:, :-1], areas[:, 1:]) if is_upright else (areas[:-1].T, areas[1:].T)
        differ = here != there
        if same is not None:
            left, right = (same[:, :-1], same[:, 1:]) if is_upright else (same[:-1].T, same[1:].T)
            differ &= (left == right) & (known[:, :-1] if is_upright else known[:-1].T)
        # Along each line of the grid: where a run begins, and where it ends.
        edge = np.zeros((1, differ.shape[1]), dtype=np.int8)
        turns = np.diff(np.concatenate([edge, differ.astype(np.int8), edge]), axis=0).T
        line, begins = np.nonzero(turns == 1)
        ends = np.nonzero(turns == -1)[1]
        at = line + 1
        parts.append(np.stack([begins, at, ends, at] if is_upright else [at, begins, at, ends], axis=1))
    return np.concatenate(parts).astype(np.int64)
