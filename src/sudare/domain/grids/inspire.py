"""The grids of INSPIRE, in which Eurostat and European statistical offices publish: ids and cells, by exact whole numbers.

A cell is a square of the Lambert projection EPSG:3035, named by its south-west corner in metres to the north and to the east.
With cells of s metres, the row of a cell is north / s and its column east / s. Three forms of an id are read, the first two are
written:

| form | example | coordinates |
|---|---|---|
| ``"inspire"`` | ``CRS3035RES1000mN2689000E4341000`` | in metres |
| ``"short"`` (Eurostat) | ``1kmN2689E4341``, ``100mN26890E43410`` | without as many zeros as the size in metres ends in |
| of the EEA | ``1kmE4341N2689`` | as in the short form, east first |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sudare.bilingual import Words
from sudare.domain.attributes import Attribute
from sudare.errors import Described, ParameterError
from sudare.parameters import exact_integer, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Integers = NDArray[np.int64]

__all__ = ["GRID_SIZES", "Form", "InspireGrid", "grid_size", "inspire_cells", "inspire_ids"]

GRID_SIZES = {
    (f"{metres}m" if metres < 1000 else f"{metres // 1000}km"): metres
    for metres in (100, 200, 250, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
}
"""Lengths of a cell's side in metres, by name."""

EXTENT = 10_000_000
"""Metres to the north, and to the east, that the grid covers."""

NORTH_FIRST = r"^(?:CRS3035RES(?P<long>[0-9]+)m|(?P<short>[0-9]+k?m))N(?P<north>[0-9]{1,8})E(?P<east>[0-9]{1,8})$"
EAST_FIRST = r"^(?P<short>[0-9]+k?m)E(?P<east>[0-9]{1,8})N(?P<north>[0-9]{1,8})$"

Form = Literal["inspire", "short"]


def grid_size(size: object, function: str = "grid_size") -> int:
    """The side of a cell in metres, by its name, such as ``"1km"`` or ``"100m"``.

    Raises:
        ParameterError: if there is no such grid.
    """
    if not isinstance(size, str) or size not in GRID_SIZES:
        names = ", ".join(f'"{name}"' for name in GRID_SIZES)
        raise ParameterError("size", function, Words(f"one of {names}", f"{names} のいずれか"), shown(size))
    return GRID_SIZES[size]


def inspire_ids(rows: ArrayLike, columns: ArrayLike, size: str, form: Form = "inspire") -> NDArray[Any]:
    """The ids of cells.

    Args:
        rows: how many cells lie south of each.
        columns: how many lie west of each.
        size: of the cells.
        form: of the ids.

    Example:
        >>> from sudare.domain.grids.inspire import inspire_ids
        >>> inspire_ids([2689], [4341], "1km").tolist(), inspire_ids([26890], [43410], "100m", "short").tolist()
        (['CRS3035RES1000mN2689000E4341000'], ['100mN26890E43410'])
    """
    metres = grid_size(size, "inspire_ids")
    if form not in ("inspire", "short"):
        allowed = Words("'inspire' or 'short'", "'inspire' または 'short'")
        raise ParameterError("form", "inspire_ids", allowed, shown(form))
    start, unit = (f"CRS3035RES{metres}m", 1) if form == "inspire" else (size, _unit(metres))
    north, east = (np.asarray(places, dtype=np.int64) * metres // unit for places in (rows, columns))
    return np.array([f"{start}N{n}E{e}" for n, e in zip(north.tolist(), east.tolist(), strict=True)], dtype=np.str_)


def inspire_cells(ids: ArrayLike, size: str) -> tuple[Integers, Integers]:
    """Rows and columns of cells, from ids in any form.

    Args:
        ids: of cells of this size.
        size: such as ``"1km"``.

    Raises:
        ParameterError: if one is no id of a cell of this size; its position is named.

    Example:
        >>> from sudare.domain.grids.inspire import inspire_cells
        >>> inspire_cells(["CRS3035RES1000mN2689000E4341000", "1kmN2689E4341", "1kmE4341N2689"], "1km")
        (array([2689, 2689, 2689]), array([4341, 4341, 4341]))
    """
    import pyarrow as pa
    import pyarrow.compute

    metres = grid_size(size, "inspire_cells")
    try:
        texts = pa.array(np.asarray(ids, dtype=object).ravel().tolist(), pa.string())
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise _no_id(size, 0) from None
    found = [pa.compute.extract_regex(texts, pattern) for pattern in (NORTH_FIRST, EAST_FIRST)]
    both = pa.compute.is_valid(found[0]).to_numpy(zero_copy_only=False)
    either = both | pa.compute.is_valid(found[1]).to_numpy(zero_copy_only=False)
    if not either.all():
        raise _no_id(size, int(np.flatnonzero(~either)[0]))
    fields = {
        name: pa.compute.coalesce(*(pa.compute.struct_field(one, name) for one in found))
        for name in ("short", "north", "east")
    }
    is_long = pa.compute.starts_with(texts, "CRS").to_numpy(zero_copy_only=False)
    sizes = pa.compute.if_else(pa.array(is_long), pa.compute.struct_field(found[0], "long"), fields["short"])
    fits = np.where(is_long, _equal(sizes, str(metres)), _equal(sizes, size) | _equal(sizes, f"{metres}m"))
    units = np.where(is_long, 1, _unit(metres))
    north, east = (pa.compute.cast(fields[name], pa.int64()).to_numpy() * units for name in ("north", "east"))
    fits &= (north % metres == 0) & (east % metres == 0) & (np.maximum(north, east) < EXTENT)
    if not fits.all():
        raise _no_id(size, int(np.flatnonzero(~fits)[0]))
    return north // metres, east // metres


@dataclass(frozen=True)
class InspireGrid(Attribute):
    """A window of an INSPIRE grid; its values are ids of cells, its two axes south to north and west to east.

    Args:
        name: such as ``"GRD_ID"``.
        size: of the cells, such as ``"1km"`` or ``"100m"``.
        first_row: the southernmost row of the window: metres to the north, divided by the size.
        first_column: its westernmost column.
        rows: how many rows.
        columns: how many columns.
        form: in which ids are written; all forms are read.

    Example:
        >>> from sudare.domain.grids.inspire import InspireGrid
        >>> grid = InspireGrid("GRD_ID", "1km", first_row=2689, first_column=4341, rows=4, columns=8)
        >>> grid.places(["CRS3035RES1000mN2690000E4342000", "1kmN2692E4341"])
        (array([1, 3]), array([1, 0]))
    """

    size: str
    first_row: int
    first_column: int
    rows: int
    columns: int
    form: Form = "inspire"

    def __post_init__(self) -> None:
        self._read_name()
        side = EXTENT // grid_size(self.size, "InspireGrid")
        for first, length in (("first_row", "rows"), ("first_column", "columns")):
            words = Words(f"a whole number from 0 to {side - 1}", f"0 以上 {side - 1} 以下の整数")
            start = exact_integer(getattr(self, first), first, "InspireGrid", words, smallest=0, largest=side - 1)
            most = side - start
            words = Words(f"a whole number from 1 to {most}", f"1 以上 {most} 以下の整数")
            count = exact_integer(getattr(self, length), length, "InspireGrid", words, smallest=1, largest=most)
            object.__setattr__(self, first, start)
            object.__setattr__(self, length, count)
        inspire_ids([], [], self.size, self.form)  # refuses another form

    @classmethod
    def between(cls, name: str, size: str, south_west: str, north_east: str) -> InspireGrid:
        """The window from one cell to another, both included.

        Example:
            >>> from sudare.domain.grids.inspire import InspireGrid
            >>> InspireGrid.between("GRD_ID", "1km", "1kmN2689E4341", "1kmN2692E4348").shape
            (4, 8)
        """
        rows, columns = (places.tolist() for places in inspire_cells([south_west, north_east], size))
        if rows[0] > rows[1] or columns[0] > columns[1]:
            wanted = Words("ids of a south-western and a north-eastern cell", "南西と北東のセルの ID")
            raise ParameterError("corners", "InspireGrid.between", wanted, Described("another order"))
        return cls(name, size, rows[0], columns[0], rows[1] - rows[0] + 1, columns[1] - columns[0] + 1)

    @property
    def shape(self) -> tuple[int, ...]:
        """Places along each axis."""
        return (self.rows, self.columns)

    @property
    def everywhere(self) -> InspireGrid:
        """The whole grid of cells of this size."""
        side = EXTENT // grid_size(self.size)
        return InspireGrid(self.name, self.size, 0, 0, side, side, self.form)

    def contains(self, rows: Integers, columns: Integers) -> NDArray[np.bool_]:
        """Which cells of the whole grid are in the window."""
        in_rows = (rows >= self.first_row) & (rows < self.first_row + self.rows)
        return in_rows & (columns >= self.first_column) & (columns < self.first_column + self.columns)

    def places(self, values: ArrayLike) -> tuple[Integers, ...]:
        """The place of each value along each axis."""
        rows, columns = inspire_cells(values, self.size)
        outside = np.flatnonzero(~self.contains(rows, columns))
        if outside.size:
            words = Words(
                f"ids of cells within the window of {self.rows} x {self.columns} cells",
                f"{self.rows} x {self.columns} セルの範囲内のセルの ID",
            )
            raise self._refuse(int(outside[0]), words, label=str(np.asarray(values, dtype=object).ravel()[outside[0]]))
        return rows - self.first_row, columns - self.first_column

    def values(self, places: tuple[Integers, ...]) -> NDArray[Any]:
        """The id of the cell at each place."""
        return inspire_ids(places[0] + self.first_row, places[1] + self.first_column, self.size, self.form)


def _unit(metres: int) -> int:
    """By what coordinates are divided in the short form: as many zeros as the size in metres ends in."""
    unit = 1
    while metres % (10 * unit) == 0:
        unit *= 10
    return unit


def _equal(texts: Any, text: str) -> NDArray[np.bool_]:
    return np.array([one == text for one in texts.to_pylist()], dtype=np.bool_)


def _no_id(size: str, position: int) -> ParameterError:
    metres = GRID_SIZES[size]
    words = Words(
        f"ids of cells of {size}, such as CRS3035RES{metres}mN{metres * 20}E{metres * 30}",
        f"{size} のセルの ID（CRS3035RES{metres}mN{metres * 20}E{metres * 30} など）",
    )
    return ParameterError("ids", "inspire_cells", words, Described(f"another value at position {position}"))
