"""A window of a series from what was published: frames of a film, and curves of areas with their intervals.

Only folders of ticks are read, which everybody may have. No private state, no source, and no ledger is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import sqrt
from pathlib import Path

import numpy as np

from sudare.bilingual import Words
from sudare.domain import CountTable, mesh_level
from sudare.errors import InputError
from sudare.releases.documents import StatedDocument
from sudare.releases.kinds.series.clock import read_moment
from sudare.releases.kinds.series.days.areas import FollowedAreas, areas_of, largest_areas
from sudare.releases.kinds.series.days.charts import TimeAxis, round_above, time_curve
from sudare.releases.kinds.series.days.document import expected_errors
from sudare.releases.kinds.series.plan_file import SeriesPlan
from sudare.releases.kinds.series.verification import read_tick_document, read_tick_table
from sudare.releases.verification import UnsoundError
from sudare.storage.staging import DOCUMENT
from sudare.tables.maps import find_map, pixels_of

__all__ = [
    "AreaCurves",
    "FilmFrame",
    "SeriesFilm",
    "curves_of_window",
    "film_of",
    "names_of_pixels",
    "published_windows",
    "tables_of",
]

MAX_SIDE = 64
"""Pixels along a side of a frame: a window has up to 288 of them."""
MAX_TICKS = 288
MAX_AREAS = 8
NINETY_FIVE = 1.96
TOTAL = Words("Everybody", "全員")


@dataclass(frozen=True, kw_only=True)
class FilmFrame:
    """A tick as a picture.

    Attributes:
        begins: when, as it is shown.
        total: that was published.
        error: how far the total may be off with probability 95 %.
        counts: of the pixels, row by row from the north; none where there is no map.
    """

    begins: str
    total: int
    error: float
    counts: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class SeriesFilm:
    """A window as a film.

    Attributes:
        rows: pixels of a frame from north to south; 0 where there is no map.
        columns: from west to east.
        shape: width over height of a frame.
        frames: ticks that were published.
        ticks: that the window has.
    """

    rows: int
    columns: int
    shape: float
    frames: tuple[FilmFrame, ...]
    ticks: int


@dataclass(frozen=True, kw_only=True)
class AreaCurves:
    """Curves of areas.

    Attributes:
        total: of everybody, as SVG.
        curves: names and SVG of areas.
        choices: all areas that may be chosen: number and name.
        chosen: numbers of those that are shown.
    """

    total: str
    curves: tuple[tuple[Words, str], ...]
    choices: tuple[tuple[int, Words], ...]
    chosen: tuple[int, ...]


def published_windows(plan: SeriesPlan) -> dict[datetime, list[tuple[int, Path]]]:
    """The windows of a series with the ticks that were published, the latest first."""
    found: dict[datetime, list[tuple[int, Path]]] = {}
    for document in sorted(plan.folder.glob(f"date=*/time=*/{DOCUMENT}")):
        folder = document.parent
        moment = _moment(folder)
        if moment is None or moment < plan.clock.start:
            continue
        tick = plan.clock.tick_within(moment)
        if tick.begins == moment:
            found.setdefault(tick.window, []).append((tick.number, folder))
    return dict(sorted(found.items(), reverse=True))


def _moment(folder: Path) -> datetime | None:
    day, time = folder.parent.name.removeprefix("date="), folder.name.removeprefix("time=")
    text = ":".join(time[place : place + 2] for place in range(0, len(time), 2))
    return read_moment(f"{day}T{text}")


def tables_of(ticks: Sequence[tuple[int, Path]]) -> dict[int, CountTable]:
    """The published tables of a window; a damaged one is left out, as a missing one is."""
    found = {}
    for number, folder in ticks[:MAX_TICKS]:
        try:
            found[number] = read_tick_table(StatedDocument(folder / DOCUMENT, read_tick_document(folder)))
        except (InputError, UnsoundError):
            continue
    return found


def film_of(plan: SeriesPlan, began: datetime, tables: Mapping[int, CountTable]) -> SeriesFilm:
    """A window as a film.

    Args:
        plan: of the series.
        began: when the window did.
        tables: that were published, by the number of their tick.
    """
    axes = find_map(plan.domain)
    errors = _errors(plan, 0)
    frames, rows, columns = [], 0, 0
    for number, table in tables.items():
        counts: tuple[int, ...] = ()
        if axes is not None:
            pixels = pixels_of(table, axes, MAX_SIDE).counts
            rows, columns = pixels.shape
            counts = tuple(int(one) for one in np.flipud(pixels).reshape(-1))
        begins = plan.clock.tick_of(began, number).begins
        frames.append(
            FilmFrame(begins=f"{begins:%m-%d %H:%M}", total=int(table.total), error=errors[number], counts=counts)
        )
    shape = 1.0 if axes is None or not rows else axes.width_over_height(rows, columns)
    return SeriesFilm(rows=rows, columns=columns, shape=shape, frames=tuple(frames), ticks=plan.clock.ticks)


def names_of_pixels(plan: SeriesPlan, film: SeriesFilm, around: Words, place: Words) -> list[Words]:
    """How the pixels of a frame are called, row by row from the north: by their middle on a map, else by their place.

    Args:
        plan: of the series.
        film: whose pixels they are.
        around: words with ``latitude`` and ``longitude`` in them.
        place: words with ``row`` and ``column`` in them, which count from the south-west.
    """
    axes = find_map(plan.domain)
    if axes is None or not film.rows:
        return []
    cells = [(row, column) for row in range(film.rows - 1, -1, -1) for column in range(film.columns)]
    if axes.mesh is None:
        return [place.format(row=row, column=column) for row, column in cells]
    divisions = mesh_level(axes.mesh.level).divisions
    height, width = axes.shape(plan.domain)
    block = -(-max(height, width) // MAX_SIDE)
    named = []
    for row, column in cells:
        latitude = (axes.mesh.first_row + (row + 0.5) * block) * 2 / (3 * divisions)
        longitude = 100 + (axes.mesh.first_column + (column + 0.5) * block) / divisions
        named.append(around.format(latitude=f"{latitude:.4f}", longitude=f"{longitude:.4f}"))
    return named


def curves_of_window(
    plan: SeriesPlan, began: datetime, tables: Mapping[int, CountTable], chosen: Sequence[int] = ()
) -> AreaCurves:
    """Curves of areas with intervals of 95 %, as the design of the series predicts them.

    Args:
        plan: of the series.
        began: when the window did.
        tables: that were published, by the number of their tick.
        chosen: numbers of areas; the largest ones if none are named, or as the plan says.
    """
    areas = areas_of(plan.domain, plan.areas)
    sums = np.zeros((areas.number, plan.clock.ticks), dtype=np.int64)
    for number, table in tables.items():
        sums[:, number] = areas.sums(table)
    large = largest_areas(areas, sums)
    order = [int(area) for area in np.argsort(-sums.sum(axis=1), kind="stable")[:200]]
    wanted = [area for area in dict.fromkeys(chosen) if 0 <= area < areas.number][:MAX_AREAS] or large[:4]
    axis = TimeAxis(began, plan.clock.every, plan.clock.ticks)
    bands = _errors(plan, _cells_of(areas))
    curves = []
    for area in wanted:
        counts = [int(sums[area, number]) if number in tables else None for number in range(plan.clock.ticks)]
        curves.append((areas.name(area), _curve(counts, axis, areas.name(area), bands)))
    totals = [int(tables[number].total) if number in tables else None for number in range(plan.clock.ticks)]
    return AreaCurves(
        total=_curve(totals, axis, TOTAL, _errors(plan, 0)),
        curves=tuple(curves),
        choices=tuple((area, areas.name(area)) for area in order),
        chosen=tuple(wanted),
    )


def _curve(counts: Sequence[int | None], axis: TimeAxis, name: Words, bands: Sequence[float]) -> str:
    highest = max((count + band for count, band in zip(counts, bands, strict=True) if count is not None), default=1)
    return time_curve(counts, axis, name=name, top=round_above(max(highest, 1.0)), bands=bands)


def _cells_of(areas: FollowedAreas) -> int:
    whole = int(np.prod(areas.domain.shape))
    if areas.axes is None:
        return max(1, areas.side * whole // areas.domain.attributes[0].shape[0])
    rows, columns = areas.axes.shape(areas.domain)
    return max(1, areas.side**2 * whole // (rows * columns))


def _errors(plan: SeriesPlan, cells: int) -> list[float]:
    """How far a sum over so many cells may be off at each tick; 0 for the total. Sums of several nodes add their variances."""
    levels = expected_errors(plan.design)
    if cells == 0:
        return [NINETY_FIVE * deviation for deviation in levels[0].deviations]
    below = [level for level in levels[1:] if level.cells <= cells] or [levels[-1]]
    nearest = max(below, key=lambda level: level.cells)
    factor = sqrt(max(1.0, cells / max(1, nearest.cells)))
    return [NINETY_FIVE * deviation * factor for deviation in nearest.deviations]
