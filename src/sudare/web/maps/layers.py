"""What a map shows: the published counts, or the true ones of whoever holds them; of everybody or of one category.

True counts are read from the source of the plan that a release was made by, when somebody asks for them and says so. They stay in
the memory of this process, are sent to the page that asked, and are written nowhere. The expected error and the difference of two
layers are made of these two by the browser.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from sudare.bilingual import Words
from sudare.domain.sparse_table import SparseTable
from sudare.errors import InputError
from sudare.ledger import open_ledger
from sudare.releases.kinds.counts import read_document, read_plan, read_published_table
from sudare.releases.kinds.counts.running import read_release_source
from sudare.storage.staging import DOCUMENT
from sudare.tables.maps import MapAxes, find_map
from sudare.web.maps.areas import find_areas
from sudare.web.maps.tiles import MAX_TILES, TILE_SIDE, MapCells
from sudare.web.workspace import WorkFolder

__all__ = ["attributes_on_map", "block_of", "cells_of", "map_axes", "published_table", "slices_of", "true_table"]

MAX_KEPT = 3
NO_MAP = Words("This release has no map.", "この公表に地図はありません。")
NO_PLAN = Words(
    "The plan of this release is not in the folder of this page, so the true counts are not known here.",
    "この公表の計画がこのページのフォルダにないため、真値は分かりません。",
)
OTHER_PLAN = Words(
    "The plan has been changed since this release: its cells are others now.",
    "公表の後に計画が変更されており、セルが一致しません。",
)
NO_CATEGORY = Words("This map has no such category.", "この地図にその区分はありません。")

_kept: OrderedDict[tuple[object, ...], SparseTable] = OrderedDict()
_lock = threading.Lock()


def published_table(folder: Path) -> SparseTable:
    """The table of a release, which is read once as long as its document stays the same."""
    return _once(
        ("published", folder, *_stamp(folder / DOCUMENT)), lambda: read_published_table(folder, read_document(folder))
    )


def true_table(workspace: WorkFolder, folder: Path) -> SparseTable:
    """The true counts behind a release, without the people who opted out. **Not private**: for the holder's eyes alone.

    Raises:
        InputError: if the plan of the release is not in this folder, or is about other cells by now.
    """
    found = workspace.plan_of(folder)
    if found is None or found.kind != "counts":
        raise InputError(NO_PLAN)
    file = workspace.place(found.file)
    plan = read_plan(file)
    if plan.domain != published_table(folder).domain:
        raise InputError(OTHER_PLAN)
    with open_ledger(plan.ledger.location) as ledger:
        opted_out = ledger.opt_outs(plan.ledger.dataset).last_entry
        key = ("true", folder, plan.fingerprint(), opted_out, *_stamps(plan.source.paths))
        charged = read_document(folder)["ledger"]
        paid = str(charged["hash"]) if isinstance(charged, dict) else ""
        return _once(key, lambda: read_release_source(plan, ledger, reservation=paid))


def map_axes(table: SparseTable) -> MapAxes:
    """The map of a table.

    Raises:
        InputError: if it has none.
    """
    axes = find_map(table.domain)
    if axes is None:
        raise InputError(NO_MAP)
    return axes


def attributes_on_map(table: SparseTable) -> tuple[int, ...]:
    """Positions of the attributes that are the map, or the one whose places are its areas.

    Raises:
        InputError: if there is neither.
    """
    areas = None if find_map(table.domain) is not None else find_areas(table.domain)
    return map_axes(table).attributes if areas is None else (areas.position,)


def slices_of(table: SparseTable, asked: Mapping[str, str]) -> dict[int, int]:
    """Which axis is held at which place, from what a form says: ``slice-1 = 3`` is the fourth place of the second attribute.

    Raises:
        InputError: if there is no such attribute or place.
    """
    fixed = {}
    on_map, axis = attributes_on_map(table), 0
    for position, attribute in enumerate(table.domain.attributes):
        text = asked.get(f"slice-{position}", "")
        if text:
            is_place = text.isascii() and text.isdigit() and int(text) < attribute.shape[0]
            if not is_place or position in on_map or len(attribute.shape) != 1:
                raise InputError(NO_CATEGORY)
            fixed[axis] = int(text)
        axis += len(attribute.shape)
    return fixed


def cells_of(table: SparseTable, fixed: Mapping[int, int], block: int = 1) -> MapCells:
    """The map of a table: summed over all axes beside it that are not held at one place.

    Args:
        table: that is shown.
        fixed: axes and places.
        block: cells along a side that are summed up.
    """
    axes, domain = map_axes(table), table.domain
    height, width = axes.shape(domain)
    places, values = domain.places_of(table.keys), table.counts
    if fixed:
        kept = np.logical_and.reduce([places[axis] == place for axis, place in fixed.items()])
        places, values = tuple(along[kept] for along in places), values[kept]
    own = tuple(places[axis] for axis in axes.axes)
    rows, columns = own if axes.listed is None else axes.listed.window_cells(own)
    cells = MapCells(height=height, width=width, rows=rows, columns=columns, values=values)
    if len(domain.shape) > len(axes.axes) + len(fixed):
        cells = _summed(cells)
    return cells.coarser(block)


def block_of(table: SparseTable) -> int:
    """How many cells a side are summed up so that a browser can hold the map: 1 but for very large ones."""
    height, width = map_axes(table).shape(table.domain)
    if -(-height // TILE_SIDE) * -(-width // TILE_SIDE) <= MAX_TILES:
        return 1
    cells, block = cells_of(table, {}), 1
    while cells.coarser(block).tiles() > MAX_TILES:
        block *= 2
    return block


def _summed(cells: MapCells) -> MapCells:
    """Cells that come several times, once."""
    places, inverse = np.unique(cells.rows * cells.width + cells.columns, return_inverse=True)
    sums = np.zeros(places.size, dtype=np.int64)
    np.add.at(sums, inverse, cells.values)
    kept = sums != 0
    places, sums = places[kept], sums[kept]
    rows, columns = places // cells.width, places % cells.width
    return MapCells(height=cells.height, width=cells.width, rows=rows, columns=columns, values=sums)


def _once(key: tuple[object, ...], read: Callable[[], SparseTable]) -> SparseTable:
    with _lock:
        table = _kept.get(key)
    if table is None:
        table = read()
    with _lock:
        _kept[key] = table
        _kept.move_to_end(key)
        while len(_kept) > MAX_KEPT:
            _kept.popitem(last=False)
    return table


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size


def _stamps(paths: tuple[str, ...]) -> tuple[object, ...]:
    """When files were written; of other sources nothing tells, and they are read again each time."""
    files = [Path(name) for name in paths]
    return tuple(map(_stamp, files)) if files and all(file.is_file() for file in files) else (object(),)
