"""Published counts as pictures of a map.

Cells are summed into pixels from the keys of those that are not 0, so that the size of the grid does not matter. The picture is a
PNG with a palette; pixels without people are transparent, so that it fits a light page and a dark one. Signed tables have
other colours below 0.
"""

from __future__ import annotations

import math
import struct
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain import Domain, Mesh, MeshList, mesh_level
from sudare.domain.sparse_table import SparseTable
from sudare.tables.palettes import COLD_COLOURS, COLOURS, STEPS, mix_colours, shades_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]

__all__ = ["MapAxes", "Pixels", "colours_of", "find_map", "legend_ticks", "pixels_of", "png_file", "png_of"]

MAX_PIXELS = 1024
MIN_AXIS_LENGTH = 8
"""Tables of two plain axes are shown as a map if both are at least this long."""

SIGNED_SHADES = 127
"""Of each sign, in the palette of a signed map."""


@dataclass(frozen=True)
class MapAxes:
    """Which axes of a table make a map.

    Attributes:
        first: number of the axis that runs from south to north; the next runs from west to east.
        attributes: positions of the attributes that these axes belong to.
        mesh: the mesh, where they are one; or the window around listed meshes.
        listed: the meshes, where they stand in a row along the first axis.
    """

    first: int
    attributes: tuple[int, ...]
    mesh: Mesh | None
    listed: MeshList | None = None

    @property
    def axes(self) -> tuple[int, ...]:
        """All axes of the map."""
        return (self.first,) if self.listed is not None else (self.first, self.first + 1)

    def shape(self, domain: Domain) -> tuple[int, int]:
        """How many cells the map is high and wide."""
        if self.listed is not None:
            return self.listed.window.rows, self.listed.window.columns
        return domain.shape[self.first], domain.shape[self.first + 1]

    def width_over_height(self, rows: int, columns: int) -> float:
        """The shape of the picture: meshes are wider than high, by how much depends on the latitude."""
        if self.mesh is None:
            return columns / rows
        south, _, north, _ = mesh_level(self.mesh.level).bounds(self.mesh.first_row, 0)
        middle = float(south) + float(north - south) * self.mesh.rows / 2
        return columns / rows * 1.5 * math.cos(math.radians(middle))


@dataclass(frozen=True, eq=False)
class Pixels:
    """People in each pixel of a map.

    Attributes:
        counts: the sums, first row in the south.
        block: cells along each side of a pixel.
    """

    counts: NDArray[np.float64]
    block: int

    @property
    def has_negative(self) -> bool:
        """Whether some sums are below 0."""
        return bool((self.counts < 0).any())

    @property
    def most(self) -> float:
        """The largest sum in size."""
        return float(np.abs(self.counts).max(initial=0))


def find_map(domain: Domain) -> MapAxes | None:
    """The first mesh of a domain, or its two plain axes where it has just two that are long enough."""
    axis = 0
    for position, attribute in enumerate(domain.attributes):
        if isinstance(attribute, Mesh):
            return MapAxes(axis, (position,), attribute)
        if isinstance(attribute, MeshList):
            return MapAxes(axis, (position,), attribute.window, attribute)
        axis += len(attribute.shape)
    if len(domain.shape) == 2 and min(domain.shape) >= MIN_AXIS_LENGTH:
        return MapAxes(0, (0, 1), None)
    return None


def pixels_of(table: SparseTable, axes: MapAxes, most: int = MAX_PIXELS) -> Pixels:
    """The counts of a table summed over all other axes, and over squares of cells, to at most this many pixels a side."""
    rows, columns = axes.shape(table.domain)
    block = -(-max(rows, columns) // most)
    height, width = -(-rows // block), -(-columns // block)
    places = tuple(table.domain.places_of(table.keys)[axis] for axis in axes.axes)
    down, right = places if axes.listed is None else axes.listed.window_cells(places)
    pixel = down // block * width + right // block
    counts = np.bincount(pixel, weights=table.counts, minlength=height * width).astype(np.float64, copy=False)
    return Pixels(counts.reshape(height, width), block)


def png_of(pixels: Pixels, most: float) -> str:
    """A picture on a logarithmic scale, north at the top, as base64 text.

    Args:
        pixels: the counts.
        most: the count that gets the last colour; as many below 0 get the last cold one.
    """
    return b64encode(_png(_shades(pixels, most)[::-1], colour_type=3, chunks=[_palette_chunk(pixels)])).decode()


def colours_of(pixels: Pixels, most: float, ground: tuple[int, int, int]) -> Bytes:
    """Red, green and blue of each pixel, north first, as `png_of` colours them; of the ground where nothing is drawn."""
    palette = _palette(pixels.has_negative)
    palette[0] = ground
    coloured: Bytes = palette[_shades(pixels, most)[::-1]]
    return coloured


def png_file(points: Bytes, texts: Mapping[str, str]) -> bytes:
    """A PNG of points in red, green and blue, with texts that say what it is."""
    described = [_chunk(b"iTXt", name.encode() + b"\0\0\0\0\0" + text.encode()) for name, text in texts.items() if text]
    return _png(points, colour_type=2, chunks=described)


def _shades(pixels: Pixels, most: float) -> Bytes:
    """The place of each pixel in the palette, first row in the south."""
    steps = SIGNED_SHADES if pixels.has_negative else STEPS
    shades = shades_of(pixels.counts, most, steps=steps)
    if pixels.has_negative:
        shades = np.minimum(shades, steps) + np.where(pixels.counts < 0, float(steps), 0.0)
    places: Bytes = np.clip(shades, 0, 255).astype(np.uint8)
    return places


def _png(points: Bytes, colour_type: int, chunks: Sequence[bytes]) -> bytes:
    """A file of rows of points, of one byte or of three each."""
    height, width = points.shape[:2]
    # Before each row of bytes: which filter (none).
    lines = np.zeros((height, points[0].size + 1), dtype=np.uint8)
    lines[:, 1:] = points.reshape(height, -1)
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, colour_type, 0, 0, 0)),
            *chunks,
            _chunk(b"IDAT", zlib.compress(lines.tobytes(), 6)),
            _chunk(b"IEND", b""),
        ]
    )


def _palette_chunk(pixels: Pixels) -> bytes:
    return _chunk(b"PLTE", _palette(pixels.has_negative).tobytes()) + _chunk(b"tRNS", b"\0")


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def _palette(is_signed: bool) -> Bytes:
    """256 colours; the first is that of no people, which is transparent. Signed maps share them between both signs."""
    if is_signed:
        parts = [mix_colours(COLOURS, SIGNED_SHADES), mix_colours(COLD_COLOURS, SIGNED_SHADES), np.zeros((1, 3))]
    else:
        parts = [mix_colours(COLOURS, 255)]
    palette: Bytes = np.concatenate([np.zeros((1, 3)), *parts]).astype(np.uint8)
    return palette


def legend_ticks(most: float, apart: float = 0.12) -> list[tuple[int, float]]:
    """Powers of ten up to the largest count, so far from each other, with their places from 0 to 1 on the scale."""
    whole = np.log1p(max(most, 1.0))
    ticks: list[tuple[int, float]] = []
    for power in range(19):
        place = float(np.log1p(10.0**power) / whole)
        if place <= 1 and (not ticks or place - ticks[-1][1] > apart):
            ticks.append((10**power, place))
    return ticks
