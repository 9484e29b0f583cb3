"""An invented country: a coast, mountains, valleys, cities by Zipf's law, roads between them, and where people live.

Each feature is a field over the grid. Relief and valleys are fractal noise, made by shaping the spectrum of white noise.
A valley or a country road runs where such a field is 0. Cities take the best places near the coast and in valleys, each
at some distance from the larger ones, and fade outwards exponentially. The fields give every cell a weight, and the
people are dealt out by these weights, so that the total is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain import CountTable, Domain, Mesh
from sudare.errors import ParameterError
from sudare.examples.triangles import delaunay_edges
from sudare.parameters import exact_integer, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Field = NDArray[np.float32]
    Doubles = NDArray[np.float64]
    Mask = NDArray[np.bool_]

__all__ = ["invent_country"]

SIDES = tuple(1 << bits for bits in range(6, 13))
FIRST_ROW, FIRST_COLUMN = 6814, 3670
"""South-west corner of a window of 4096 x 4096 meshes of 500 m around Japan; smaller countries lie in its middle."""

LAND_SHARE = 0.3
INHABITED_SHARE = 0.24
"""At most this share of the land is inhabited."""

CITY_SHARE = 0.74
"""Of all people, those who live in cities and towns; the others live in villages."""

CROWDED = 2500.0
"""People in the densest cell of a large city, about."""


def invent_country(side: int = 2048, seed: int = 2020, people: int = 12_000_000) -> CountTable:
    """The population of an invented island country, in meshes of 500 m.

    Most inhabited cells have fewer than 100 people, city centres some thousand, and most cells are sea, forest or
    mountains. The same arguments give the same country. About three people for each cell of the grid look natural.

    Args:
        side: cells along each side of the grid: a power of two from 64 to 4096.
        seed: which country; a whole number >= 0.
        people: how many live there, exactly.

    Raises:
        ParameterError: if an argument is out of its range.

    Example:
        >>> from sudare.examples import invent_country
        >>> country = invent_country(128, people=50_000)
        >>> country.total, country.domain.shape
        (50000, (128, 128))
    """
    if isinstance(side, bool) or not isinstance(side, (int, np.integer)) or side not in SIDES:
        raise ParameterError("side", "invent_country", "a power of two from 64 to 4096", shown(side))
    number = exact_integer(seed, "seed", "invent_country", "a whole number from 0 to 2**62", smallest=0, largest=2**62)
    total = exact_integer(
        people, "people", "invent_country", "a whole number from 0 to 2**40", smallest=0, largest=2**40
    )
    edge = int(side)
    generator = np.random.default_rng(number)
    terrain = _invent_terrain(edge, generator)
    cities = _found_cities(terrain, max(total, 1), generator)
    weights = _settle(terrain, cities, generator)
    keys = np.flatnonzero(weights)
    shares = weights.ravel()[keys].astype(np.float64)
    counts = generator.multinomial(total, shares / shares.sum())
    margin = (SIDES[-1] - edge) // 2
    mesh = Mesh("KEY_CODE", "1/2", FIRST_ROW + margin, FIRST_COLUMN + margin, edge, edge)
    return CountTable.from_cells(Domain((mesh,)), keys, counts)


@dataclass(frozen=True, eq=False)
class _Terrain:
    """The country before people came.

    Attributes:
        land: where there is land.
        mildness: how good the ground is to build on: 1 in coastal plains, little in the mountains, 0 at sea.
        coast: 1 at the coast, falling to 0 inland.
        valleys: 1 in the middle of a valley, falling to 0 beside it.
    """

    land: Mask
    mildness: Field
    coast: Field
    valleys: Field


@dataclass(frozen=True, eq=False)
class _Cities:
    """Cities from the largest to the smallest: their cells and how many people they have."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    sizes: NDArray[np.float64]


def _fractal(side: int, roughness: float, longest: float, generator: np.random.Generator) -> Field:
    """Noise with mean 0 and deviation 1 whose amplitudes fall with the frequency to the given power.

    Waves longer than ``longest`` (in sides of the grid) have no more amplitude than those of that length.
    """
    along, across = np.fft.fftfreq(side).astype(np.float32), np.fft.rfftfreq(side).astype(np.float32)
    squared = np.maximum((along * along)[:, None] + (across * across)[None, :], np.float32(1 / (longest * side) ** 2))
    amplitude = np.exp(np.float32(-roughness / 2) * np.log(squared))
    amplitude[0, 0] = 0
    waves = generator.standard_normal((*amplitude.shape, 2), dtype=np.float32).view(np.complex64)[..., 0]
    waves *= amplitude
    field = np.asarray(np.fft.irfft2(waves, s=(side, side)), dtype=np.float32)
    field /= field.std()
    return field


def _blur(field: Field, radius: float) -> Field:
    """A field averaged with a bell curve of that radius in cells; beyond its edge it goes on as at the edge."""
    reach = int(3 * radius + 0.5)
    bell = np.exp(-0.5 / (radius * radius) * np.arange(-reach, reach + 1) ** 2)
    bell /= bell.sum()
    blurred = field
    for axis in (0, 1):
        across = [(reach, reach) if axis == each else (0, 0) for each in (0, 1)]
        wide = np.pad(blurred, across, mode="edge").astype(np.float64)
        length = field.shape[axis]

        def part(start: int, wide: Doubles = wide, axis: int = axis, length: int = length) -> Doubles:
            return wide[start : start + length] if axis == 0 else wide[:, start : start + length]

        total = part(reach) * bell[reach]
        for step in range(reach):  # the same on both sides
            total += (part(step) + part(2 * reach - step)) * bell[step]
        blurred = total.astype(np.float32)
    return blurred


def _blur_widely(field: Field, radius: float) -> Field:
    """The same for a large radius: averaged in blocks first, and spread out again in straight lines."""
    side = field.shape[0]
    block = max(1, min(side // 64, 1 << int(np.log2(max(radius / 3, 1)))))
    small = field.reshape(side // block, block, side // block, block).mean(axis=(1, 3), dtype=np.float32)
    wide = _blur(small, radius / block).astype(np.float64)
    place = np.clip((np.arange(side) + 0.5) / block - 0.5, 0, side // block - 1)
    low = place.astype(np.int64)
    high, share = np.minimum(low + 1, side // block - 1), place - low
    wide = wide[low] * (1 - share)[:, None] + wide[high] * share[:, None]
    return np.asarray(wide[:, low] * (1 - share) + wide[:, high] * share, dtype=np.float32)


def _lines(field: Field, width: float) -> Field:
    """1 where a field crosses 0, falling to 0 over this many cells."""
    slope_north, slope_east = np.gradient(field)
    squared = field * field / (slope_north**2 + slope_east**2 + np.float32(1e-9))
    return np.asarray(1 / (1 + squared / np.float32(width * width)), dtype=np.float32)


def _invent_terrain(side: int, generator: np.random.Generator) -> _Terrain:
    """A bent main island with lesser ones around it, mountains in its middle."""
    place = np.linspace(-1, 1, side, dtype=np.float32)
    north, east = place[:, None], place[None, :]
    along, beside = (east + north) / np.sqrt(np.float32(2)), (north - east) / np.sqrt(np.float32(2))
    axis = np.float32(0.26) * np.cos(2.4 * along) - np.float32(0.12)
    body = -2.3 * np.abs(beside - axis) - 0.7 * np.abs(along * along * along)
    frame = -9 * np.maximum(np.maximum(np.abs(north), np.abs(east)) - 0.78, 0)
    relief: Field = (body + frame + 0.5 * _fractal(side, 1.7, 0.35, generator)).astype(np.float32)
    sea_level = np.float32(np.quantile(relief[:: max(1, side // 512), :: max(1, side // 512)], 1 - LAND_SHARE))
    land = relief > sea_level
    inland = _blur_widely(land.astype(np.float32), side / 90)
    ridges = np.abs(_fractal(side, 1.7, 0.12, generator))
    depth = np.clip(2 * _blur_widely(land.astype(np.float32), side / 24) - 1, 0, 1)
    rise = np.clip(2 * inland - 1.1, 0, 1)
    height = rise * (0.12 + 0.18 * depth + 0.42 * ridges)
    coast: Field = land * np.clip(1 - 2 * np.abs(inland - 0.6), 0, 1)
    valleys = _lines(_fractal(side, 2.0, 0.07, generator), 1.3)
    return _Terrain(land, land * np.exp(-7 * height), coast, valleys)


def _found_cities(terrain: _Terrain, people: int, generator: np.random.Generator) -> _Cities:
    """Cities on the best free places; the larger a city is, the more room it keeps around it."""
    side = terrain.land.shape[0]
    wanted = max(6, side * 3 // 8)
    plains = _blur_widely(terrain.mildness, side / 40)
    mainland = _blur_widely(terrain.land.astype(np.float32), side / 20)
    appeal = (terrain.mildness * plains * mainland) ** 2 * (0.05 + terrain.coast) * (0.25 + terrain.valleys)
    rows, columns = np.nonzero(terrain.land)
    # The largest keys of a race with exponential times are a sample without replacement in order of appeal.
    race = appeal[rows, columns] / generator.standard_exponential(rows.size, dtype=np.float32)
    best = np.argpartition(-race, min(40 * wanted, race.size - 1))[: 40 * wanted]
    best = best[np.argsort(-race[best], kind="stable")]
    rows, columns = rows[best], columns[best]
    taken = np.zeros((side, side), dtype=bool)
    chosen: list[int] = []
    for place in range(rows.size):
        row, column = int(rows[place]), int(columns[place])
        if not taken[row, column]:
            reach = max(2, int(0.1 * side / (1 + len(chosen)) ** 0.38))
            taken[max(0, row - reach) : row + reach + 1, max(0, column - reach) : column + reach + 1] = True
            chosen.append(place)
            if len(chosen) == wanted:
                break
    ranks = np.arange(1, len(chosen) + 1)
    sizes = 1 / ranks
    return _Cities(rows[chosen], columns[chosen], CITY_SHARE * people * sizes / sizes.sum())


def _settle(terrain: _Terrain, cities: _Cities, generator: np.random.Generator) -> Field:
    """The weight of each cell: about the people who live there, 0 where nobody does."""
    side = terrain.land.shape[0]
    patches = np.exp(0.6 * _fractal(side, 0.7, 0.05, generator))
    urban = _spread_cities(terrain, cities, generator) * np.sqrt(patches * terrain.mildness)
    roads = _build_roads(terrain, cities, generator)
    lanes = _lines(_fractal(side, 1.9, 0.03, generator), 0.8)
    plains = _blur_widely((terrain.mildness * (0.1 + terrain.coast)).astype(np.float32), side / 60)
    rural = terrain.mildness * (0.06 * plains + 0.35 * terrain.valleys**2 + roads + 1.4 * lanes**2 * plains)
    rural *= patches * patches
    weights: Field = urban * np.float32(cities.sizes.sum() / max(float(urban.sum()), 1e-9))
    share = (1 - CITY_SHARE) / CITY_SHARE * cities.sizes.sum() / max(float(rural.sum()), 1e-9)
    weights += rural * np.float32(share)
    on_land = weights[terrain.land]
    keep = int(INHABITED_SHARE * on_land.size)
    weights[weights < np.partition(on_land, on_land.size - keep)[on_land.size - keep]] = 0
    return weights


def _spread_cities(terrain: _Terrain, cities: _Cities, generator: np.random.Generator) -> Field:
    """Each city as a centre that fades outwards, with suburbs in the directions that it grew in."""
    side = terrain.land.shape[0]
    density = np.zeros((side, side), dtype=np.float32)
    peaks = CROWDED * (cities.sizes / cities.sizes[0]) ** 0.28
    radii = np.clip(np.sqrt(cities.sizes / (2 * np.pi * peaks)), 0.45, side / 24)
    phases = generator.uniform(0, 2 * np.pi, (len(radii), 2))
    for row, column, size, radius, phase in zip(cities.rows, cities.columns, cities.sizes, radii, phases, strict=True):
        reach = int(np.ceil(8 * radius))
        south, north = max(0, row - reach), min(side, row + reach + 1)
        west, east = max(0, column - reach), min(side, column + reach + 1)
        up = np.arange(south - row, north - row, dtype=np.float32)[:, None]
        right = np.arange(west - column, east - column, dtype=np.float32)[None, :]
        angle = np.arctan2(up, right)
        grown = 1 + 0.22 * np.cos(3 * angle + phase[0]) + 0.18 * np.cos(5 * angle + phase[1])
        profile = np.exp(-np.hypot(up, right) / (np.float32(radius) * grown.astype(np.float32)))
        density[south:north, west:east] += np.float32(size / (2 * np.pi * radius**2)) * profile
    return density


def _build_roads(terrain: _Terrain, cities: _Cities, generator: np.random.Generator) -> Field:
    """Winding roads that join each city to its neighbours overland; people live along them."""
    side = terrain.land.shape[0]
    points = np.stack([cities.rows, cities.columns], axis=1).astype(np.float64)
    edges = np.array(delaunay_edges(list(zip(cities.rows.tolist(), cities.columns.tolist(), strict=True))))
    lengths = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    is_near = lengths < 2.2 * np.median(lengths)
    edges, length = edges[is_near], lengths[is_near]
    steps = np.linspace(0, 1, 2 * max(8, int(length.max())), dtype=np.float64)
    bends = generator.normal(0, 0.07, (len(edges), 2, 3))
    waves = np.sin(np.pi * steps[None, :] * np.arange(1, 4)[:, None])
    start, end = points[edges[:, 0]], points[edges[:, 1]]
    along = start[:, :, None] + (end - start)[:, :, None] * steps
    path = np.clip((along + (bends @ waves) * length[:, None, None]).round().astype(np.int64), 0, side - 1)
    is_land = terrain.land[path[:, 0], path[:, 1]]
    overland = is_land.mean(axis=1) > 0.9
    busy = (cities.sizes[edges] / cities.sizes[0]).prod(axis=1) ** 0.3
    roads = np.zeros((side, side), dtype=np.float32)
    np.maximum.at(roads, (path[overland, 0], path[overland, 1]), (4 * busy[overland, None]).astype(np.float32))
    built: Field = np.minimum(2.5 * _blur(roads, 0.8), 1.5) * terrain.land
    return built
