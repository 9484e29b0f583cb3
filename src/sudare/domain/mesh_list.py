"""Meshes of a public list, so that nobody is counted, or published, anywhere else: not in the sea, not in the next prefecture.

The meshes stand in a row along the Morton curve of the whole grid. A run of them is a compact area, so a tree over the row is a
tree over the map, without cells that nobody can live in.
"""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain.allowed_values import listed_meshes
from sudare.domain.attributes import Attribute, Mesh
from sudare.domain.mesh import MeshLevel, mesh_cells, mesh_codes, mesh_level
from sudare.errors import Described, ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Integers = NDArray[np.int64]

__all__ = ["MeshList"]

MAX_MESHES = 1 << 26
MAX_WINDOW = 1 << 29
"""Cells of the window around a list: Japan has a fifth of it at 250 m, and nine tenths at 125 m."""


@dataclass(frozen=True, eq=False)
class MeshList(Attribute):
    """The meshes of a list, which is public; its values are mesh codes, its one axis follows the Morton curve.

    Args:
        name: such as ``"KEY_CODE"``.
        level: the level of the meshes, such as ``"1/2"``.
        codes: the meshes, in any order. A coarser mesh stands for all meshes in it; one that comes twice counts once.

    Example:
        >>> from sudare.domain import MeshList
        >>> coast = MeshList("KEY_CODE", "3", [53394612, 53394611, 53394621])
        >>> coast.shape, coast.values(coast.places([53394621])).tolist(), coast.window.shape
        ((3,), [53394621], (2, 2))
    """

    level: str | MeshLevel
    codes: Any

    def __post_init__(self) -> None:
        self._read_name()
        level = mesh_level(self.level, "MeshList")
        object.__setattr__(self, "level", level)
        rows, columns = _cells_of(self.codes, level)
        if not 1 <= rows.size <= MAX_MESHES:
            requirement = Words(f"from 1 to {MAX_MESHES} meshes", f"1 個以上 {MAX_MESHES} 個以下のメッシュ")
            raise ParameterError("codes", "MeshList", requirement, Described(f"{rows.size} of them"))
        along = np.unique(_along_curve(rows, columns))
        codes = mesh_codes(*_off_curve(along), level)
        codes.setflags(write=False)
        object.__setattr__(self, "codes", codes)
        if self.window.rows * self.window.columns > MAX_WINDOW:
            requirement = Words(
                f"meshes in a window of at most {MAX_WINDOW} cells", f"{MAX_WINDOW} セル以下の範囲に収まるメッシュ"
            )
            raise ParameterError("codes", "MeshList", requirement, Described("meshes further apart"))

    @cached_property
    def _along(self) -> Integers:
        """The place of each mesh along the curve, ascending."""
        return _along_curve(*mesh_cells(self.codes, self.level))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MeshList):
            return NotImplemented
        return (self.name, self.level) == (other.name, other.level) and np.array_equal(self.codes, other.codes)

    def __hash__(self) -> int:
        return hash((self.name, self.level, self.codes.size, int(self.codes[0]), int(self.codes[-1])))

    @property
    def shape(self) -> tuple[int, ...]:
        """Places along each axis."""
        return (int(self.codes.size),)

    @property
    def dimensions(self) -> tuple[int, ...]:
        """The row runs through a map: a square of side s is a run of about s * s meshes."""
        return (2,)

    @cached_property
    def window(self) -> Mesh:
        """The smallest window of the grid that holds all meshes."""
        return Mesh.covering(self.name, self.codes, self.level)

    @property
    def allowed(self) -> Words:
        """What values must be."""
        return listed_meshes(self.codes.size)

    def contains(self, rows: Integers, columns: Integers) -> NDArray[np.bool_]:
        """Which cells of the whole grid are in the list."""
        along = _along_curve(rows, columns)
        return np.asarray(self._along[self._at(along)] == along)

    def _at(self, along: Integers) -> Integers:
        return np.minimum(np.searchsorted(self._along, along), self._along.size - 1)

    def places_of_cells(self, rows: Integers, columns: Integers) -> tuple[Integers, ...]:
        """The places of cells of the whole grid that are in the list."""
        return (self._at(_along_curve(rows, columns)),)

    def window_cells(self, places: tuple[Integers, ...]) -> tuple[Integers, Integers]:
        """Rows and columns of places in the window."""
        rows, columns = _off_curve(self._along[places[0]])
        return rows - self.window.first_row, columns - self.window.first_column

    def places_in_window(self, along: tuple[Integers, ...]) -> tuple[Integers, ...]:
        """The places of rows and columns of the window that are in the list."""
        return self.places_of_cells(along[0] + self.window.first_row, along[1] + self.window.first_column)

    def places(self, values: ArrayLike) -> tuple[Integers, ...]:
        """The place of each value along each axis."""
        rows, columns = mesh_cells(values, self.level)
        outside = np.flatnonzero(~self.contains(rows, columns))
        if outside.size:
            label = np.asarray(values).ravel()[outside[0]].item()
            raise self._refuse(int(outside[0]), self.allowed, label=label)
        return self.places_of_cells(rows, columns)

    def values(self, places: tuple[Integers, ...]) -> NDArray[Any]:
        """The mesh code at each place."""
        listed: NDArray[Any] = self.codes[places[0]]
        return listed

    def to_bitmap(self) -> str:
        """The list as text: a bit for each cell of the window, row by row from the south-west, packed by zlib, in base64."""
        rows, columns = self.window_cells((np.arange(self.codes.size),))
        bits = np.zeros(self.window.rows * self.window.columns, dtype=np.uint8)
        bits[rows * self.window.columns + columns] = 1
        return b64encode(zlib.compress(np.packbits(bits).tobytes(), 9)).decode()

    @classmethod
    def from_bitmap(cls, window: Mesh, bitmap: str) -> MeshList:
        """The list that `to_bitmap` wrote, with its window.

        Raises:
            ParameterError: if the text is none that it writes.
        """
        cells = window.rows * window.columns
        try:
            unpacker = zlib.decompressobj()
            packed = unpacker.decompress(b64decode(bitmap, validate=True), min(cells, MAX_WINDOW) // 8 + 1)
        except (zlib.error, NotBase64, ValueError):
            packed = b""
        if len(packed) != -(-cells // 8):
            raise ParameterError(
                "listed", "MeshList", "a packed bit for each cell of the window", Described("another text")
            )
        bits = np.flatnonzero(np.unpackbits(np.frombuffer(packed, dtype=np.uint8), count=cells))
        rows, columns = bits // window.columns + window.first_row, bits % window.columns + window.first_column
        return cls(window.name, window.level, mesh_codes(rows, columns, window.level))


def _cells_of(codes: ArrayLike, level: MeshLevel) -> tuple[Integers, Integers]:
    """Rows and columns of meshes at a level; all of those in a coarser mesh."""
    given = np.asarray(codes)
    coarser = [known for known in ("1", "2", "3", "1/2", "1/4", "1/8") if mesh_level(known).digits <= level.digits]
    if given.size == 0 or level.name not in coarser:
        return mesh_cells(given.astype(np.int64) if given.size == 0 else given, level)
    digits = len(str(given.ravel()[0]))
    own = next((mesh_level(known) for known in coarser if mesh_level(known).digits == digits), level)
    rows, columns = mesh_cells(given, own)
    finer = level.cells_per_side // own.cells_per_side
    if finer == 1:
        return rows, columns
    inside = np.arange(finer)
    down, right = (along.ravel() for along in np.meshgrid(inside, inside, indexing="ij"))
    return (rows[:, None] * finer + down).ravel(), (columns[:, None] * finer + right).ravel()


def _along_curve(rows: Integers, columns: Integers) -> Integers:
    """The place of cells along the Morton curve of the whole grid."""
    return (_spread(rows) << 1) | _spread(columns)


def _off_curve(along: Integers) -> tuple[Integers, Integers]:
    return _gathered(along >> 1), _gathered(along)


HALVES = (
    (16, 0x0000FFFF0000FFFF),
    (8, 0x00FF00FF00FF00FF),
    (4, 0x0F0F0F0F0F0F0F0F),
    (2, 0x3333333333333333),
    (1, 0x5555555555555555),
)
"""Shifts and masks that put a bit between any two bits of a number below 2**32."""


def _spread(numbers: Integers) -> Integers:
    spread = np.asarray(numbers, dtype=np.int64)
    for shift, mask in HALVES:
        spread = (spread | (spread << shift)) & mask
    return spread


def _gathered(numbers: Integers) -> Integers:
    gathered = np.asarray(numbers, dtype=np.int64) & HALVES[-1][1]
    for (shift, _), (_, mask) in zip(reversed(HALVES), (*reversed(HALVES[:-1]), (0, 0xFFFFFFFF)), strict=True):
        gathered = (gathered | (gathered >> shift)) & mask
    return gathered
