"""Published counts as pictures of a map.

Cells are summed into pixels from the keys of the inhabited ones, so that the size of the grid does not matter. The picture is a
PNG with a palette; pixels without people are transparent, so that it fits a light page and a dark one.
"""

from __future__ import annotations

import math
import struct
import zlib
from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain import CountTable, Domain, Mesh, mesh_level

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]

__all__ = ["COLOURS", "MapAxes", "Pixels", "find_map", "legend_ticks", "pixels_of", "png_of"]

MOST_PIXELS = 1024
SHORTEST_AXIS = 8
"""Tables of two plain axes are shown as a map if both are at least this long."""

COLOURS = ("#fde3a7", "#fbb877", "#f5875e", "#de4968", "#a8327d", "#721f81", "#411070", "#150e38")
"""From few people to many, in even steps of the logarithm; dark means many, in print too."""


@dataclass(frozen=True)
class MapAxes:
    """Which axes of a table make a map.

    Attributes:
        first: number of the axis that runs from south to north; the next runs from west to east.
        attributes: positions of the attributes that these axes belong to.
        mesh: the mesh, where they are one.
    """

    first: int
    attributes: tuple[int, ...]
    mesh: Mesh | None

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


def find_map(domain: Domain) -> MapAxes | None:
    """The first mesh of a domain, or its two plain axes where it has just two that are long enough."""
    axis = 0
    for position, attribute in enumerate(domain.attributes):
        if isinstance(attribute, Mesh):
            return MapAxes(axis, (position,), attribute)
        axis += len(attribute.shape)
    if len(domain.shape) == 2 and min(domain.shape) >= SHORTEST_AXIS:
        return MapAxes(0, (0, 1), None)
    return None


def pixels_of(table: CountTable, axes: MapAxes, most: int = MOST_PIXELS) -> Pixels:
    """The counts of a table summed over all other axes, and over squares of cells, to at most so many pixels a side."""
    rows, columns = table.domain.shape[axes.first : axes.first + 2]
    block = -(-max(rows, columns) // most)
    height, width = -(-rows // block), -(-columns // block)
    places = table.domain.places_of(table.keys)
    pixel = places[axes.first] // block * width + places[axes.first + 1] // block
    counts = np.bincount(pixel, weights=table.counts, minlength=height * width).astype(np.float64, copy=False)
    return Pixels(counts.reshape(height, width), block)


def png_of(pixels: Pixels, most: float) -> str:
    """A picture on a logarithmic scale, north at the top, as base64 text.

    Args:
        pixels: the counts.
        most: the count that gets the last colour.
    """
    scale = 254 / np.log1p(max(most, 1.0))
    shades = np.ceil(np.log1p(pixels.counts) * scale)
    # One row of bytes: which filter (none), then a palette index for each pixel.
    height, width = shades.shape
    lines = np.zeros((height, width + 1), dtype=np.uint8)
    lines[:, 1:] = np.clip(shades, 0, 255)[::-1]
    picture = b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", _palette().tobytes()),
            _chunk(b"tRNS", b"\0"),
            _chunk(b"IDAT", zlib.compress(lines.tobytes(), 6)),
            _chunk(b"IEND", b""),
        ]
    )
    return b64encode(picture).decode()


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def _palette() -> Bytes:
    """256 colours between the given ones; the first is that of no people, which is transparent."""
    given = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in COLOURS], dtype=np.float64)
    steps = np.linspace(0, 1, len(given))
    shades = np.linspace(0, 1, 255)
    mixed = np.stack([np.interp(shades, steps, given[:, part]) for part in range(3)], axis=1)
    palette: Bytes = np.concatenate([np.zeros((1, 3)), mixed.round()]).astype(np.uint8)
    return palette


def legend_ticks(most: float) -> list[tuple[int, float]]:
    """Powers of ten up to the largest count, not too near each other, with their places from 0 to 1 on the scale."""
    whole = np.log1p(max(most, 1.0))
    ticks: list[tuple[int, float]] = []
    for power in range(19):
        place = float(np.log1p(10.0**power) / whole)
        if place <= 1 and (not ticks or place - ticks[-1][1] > 0.12):
            ticks.append((10**power, place))
    return ticks
