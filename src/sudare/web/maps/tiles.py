"""Cells of a map as the browser gets them: those that are not 0, sorted into square tiles.

All numbers are little endian. Six of 32 bits say what follows: the version, the side of a tile, rows and columns of tiles, tiles
that are not empty, and cells. Then come the numbers of these tiles (row * columns + column, from the south-west), where the cells
of each begin (one more than there are tiles), the value of each cell, all in 32 bits; and the place of each cell in its tile
(row * side + column) in 16 bits. A country of half a million inhabited cells takes 3 MB; between two processes of one machine
that is sent sooner than it could be packed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = ["MAX_TILES", "TILE_SIDE", "MapCells", "pack_cells", "unpack_cells"]

VERSION = 1
TILE_SIDE = 256
MAX_TILES = 512
"""Tiles with people in them: 128 MB of a texture."""

TOO_LARGE = Words(
    "The numbers of this map are too large to be drawn; they are in the table and in the files.",
    "数値が大きすぎて地図にできません。表とファイルにはすべてあります。",
)


@dataclass(frozen=True, kw_only=True, eq=False)
class MapCells:
    """Cells of a map that are not 0.

    Attributes:
        height: rows of the map.
        width: its columns.
        rows: of the cells, from the south.
        columns: of the cells, from the west.
        values: of the cells.
    """

    height: int
    width: int
    rows: Integers
    columns: Integers
    values: Integers

    def tiles(self) -> int:
        """How many tiles have cells in them."""
        return int(np.unique(self._tile_numbers()).size)

    def coarser(self, block: int) -> MapCells:
        """The same map with squares of so many cells a side summed up."""
        if block == 1:
            return self
        height, width = -(-self.height // block), -(-self.width // block)
        places, inverse = np.unique(self.rows // block * width + self.columns // block, return_inverse=True)
        sums = np.zeros(places.size, dtype=np.int64)
        np.add.at(sums, inverse, self.values)
        kept = sums != 0
        places, sums = places[kept], sums[kept]
        return MapCells(height=height, width=width, rows=places // width, columns=places % width, values=sums)

    def _tile_numbers(self) -> Integers:
        across = -(-self.width // TILE_SIDE)
        return self.rows // TILE_SIDE * across + self.columns // TILE_SIDE


def pack_cells(cells: MapCells) -> bytes:
    """The cells as bytes.

    Raises:
        InputError: if the people of a tile are more than 32 bits hold.
    """
    numbers = cells._tile_numbers()
    inside = cells.rows % TILE_SIDE * TILE_SIDE + cells.columns % TILE_SIDE
    order = np.argsort(numbers * (TILE_SIDE * TILE_SIDE) + inside, kind="stable")
    numbers, values = numbers[order], cells.values[order]
    tiles, starts = np.unique(numbers, return_index=True)
    if values.size and float(np.add.reduceat(np.abs(values).astype(np.float64), starts).max()) > np.iinfo(np.int32).max:
        raise InputError(TOO_LARGE)
    down, across = -(-cells.height // TILE_SIDE), -(-cells.width // TILE_SIDE)
    head = [VERSION, TILE_SIDE, down, across, tiles.size, values.size]
    parts = [head, tiles, [*starts.tolist(), values.size], values]
    return b"".join(
        [*(np.asarray(part, dtype="<i4").tobytes() for part in parts), inside[order].astype("<u2").tobytes()]
    )


def unpack_cells(packed: bytes, height: int, width: int) -> MapCells:
    """The cells that `pack_cells` wrote, in the order of tiles."""
    _, side, _, across, tiles, number = np.frombuffer(packed, dtype="<i4", count=6).tolist()
    rest = np.frombuffer(packed, dtype="<i4", offset=24, count=tiles + tiles + 1 + number).astype(np.int64)
    numbers, starts, values = rest[:tiles], rest[tiles : 2 * tiles + 1], rest[2 * tiles + 1 :]
    inside = np.frombuffer(packed, dtype="<u2", offset=24 + 4 * rest.size).astype(np.int64)
    of_cells = np.repeat(numbers, np.diff(starts))
    rows = of_cells // across * side + inside // side
    columns = of_cells % across * side + inside % side
    return MapCells(height=height, width=width, rows=rows, columns=columns, values=values)
