"""Regional meshes of Japan (JIS X 0410): codes, grid cells and points, by exact whole numbers.

At every level the meshes form one grid over the whole range of the codes. A cell of the grid is a pair of whole numbers:
its row, counted from latitude 0 to the north, and its column, counted from longitude 100 to the east. With n cells along
each side of a primary mesh (2/3 degree by 1 degree), the row of a point is floor(latitude * 1.5 * n) and its column
floor((longitude - 100) * n).

| level | code | side of a primary mesh in cells | about |
|---|---|---|---|
| ``"1"`` | 4 digits | 1 | 80 km |
| ``"2"`` | 6 | 8 | 10 km |
| ``"5x"`` | 7 | 16 | 5 km |
| ``"2x"`` | 9, ending in 5 | 40 | 2 km |
| ``"3"`` | 8 | 80 | 1 km |
| ``"1/2"`` | 9 | 160 | 500 m |
| ``"1/4"`` | 10 | 320 | 250 m |
| ``"1/8"`` | 11 | 640 | 125 m |
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain.allowed_values import WHOLE_NUMBERS, codes_of
from sudare.domain.arguments import read_array
from sudare.errors import Described, ParameterError
from sudare.parameters import shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Integers = NDArray[np.int64]

__all__ = [
    "MESH_LEVELS",
    "MeshLevel",
    "likely_level",
    "mesh_cells",
    "mesh_cells_of_points",
    "mesh_codes",
    "mesh_level",
    "other_level",
]

PRIMARY_MESHES = 100
"""Primary meshes have two digits for the row and two for the column."""

MAX_PLAIN = 1 << 14
"""So many codes are made and read by arrays alone, in milliseconds; more are worth loading compiled loops for."""

SUSPICIOUS = 1e-6
"""Points nearer than this to a border, in cells, are placed by exact arithmetic on their decimals."""


@dataclass(frozen=True)
class MeshLevel:
    """A level of the regional mesh.

    Attributes:
        name: such as ``"3"`` for 1 km meshes or ``"1/2"`` for 500 m.
        digits: length of a code.
        divisions: cells along a side of a primary mesh.
        stages: how the digits are made, for the kernels.
    """

    name: str
    digits: int
    divisions: int
    stages: tuple[int, ...]

    @property
    def metres(self) -> int:
        """About how long a side of a cell is."""
        return 80_000 // self.divisions

    @property
    def size(self) -> str:
        """About how long a side of a cell is, such as ``"500m"`` or ``"1km"``; `mesh_level` takes it as a name too."""
        return f"{self.metres}m" if self.metres < 1000 else f"{self.metres // 1000}km"

    @property
    def cells_per_side(self) -> int:
        """Rows, and columns, of the whole grid."""
        return PRIMARY_MESHES * self.divisions

    def bounds(self, row: int, column: int) -> tuple[Fraction, Fraction, Fraction, Fraction]:
        """South, west, north and east of a cell in degrees, exactly.

        Example:
            >>> from sudare.domain import mesh_cells, mesh_level
            >>> row, column = mesh_cells([53394611], "3")
            >>> [float(x) for x in mesh_level("3").bounds(int(row[0]), int(column[0]))][:2]
            [35.675, 139.7625]
        """
        height, width = Fraction(2, 3 * self.divisions), Fraction(1, self.divisions)
        return row * height, 100 + column * width, (row + 1) * height, 100 + (column + 1) * width


def _levels() -> dict[str, MeshLevel]:
    # The order of the kernel's stages: primary 0, eighths 1, tenths 2, quarter 3, fifths 4.
    return {
        level.name: level
        for level in (
            MeshLevel("1", 4, 1, (0,)),
            MeshLevel("2", 6, 8, (0, 1)),
            MeshLevel("5x", 7, 16, (0, 1, 3)),
            MeshLevel("2x", 9, 40, (0, 1, 4)),
            MeshLevel("3", 8, 80, (0, 1, 2)),
            MeshLevel("1/2", 9, 160, (0, 1, 2, 3)),
            MeshLevel("1/4", 10, 320, (0, 1, 2, 3, 3)),
            MeshLevel("1/8", 11, 640, (0, 1, 2, 3, 3, 3)),
        )
    }


MESH_LEVELS = _levels()


_BY_SIZE = {level.size: level for level in MESH_LEVELS.values()}
LEVELS_IN_WORDS = Words.joined([f"{level.name!r} ({level.size})" for level in MESH_LEVELS.values()])
ONE_LEVEL = Words("one of {levels}", "次のいずれか: {levels}")
OTHER_LEVEL = Words(
    " It has {digits} digits, as meshes of {size} have: if all codes do, write level = {level} in the plan.",
    "{digits} 桁のコードは {size} メッシュのものです。すべてのコードがそうなら、計画に level = {level} と書いてください。",
)


def mesh_level(level: str | MeshLevel, function: str = "mesh_level") -> MeshLevel:
    """The level of a name, or of a size such as ``"500m"`` or ``"1 km"``.

    Args:
        level: its name, or the level itself.
        function: that was handed it, for the error.

    Example:
        >>> from sudare.domain import mesh_level
        >>> mesh_level("1/2").divisions, mesh_level("500m").name
        (160, '1/2')
    """
    if isinstance(level, MeshLevel):
        return level
    typed = "".join(unicodedata.normalize("NFKC", level).lower().split()) if isinstance(level, str) else ""
    found = MESH_LEVELS.get(typed) or _BY_SIZE.get(typed)
    if found is None:
        raise ParameterError("level", function, ONE_LEVEL.format(levels=LEVELS_IN_WORDS), shown(level))
    return found


def likely_level(code: object) -> MeshLevel | None:
    """The level that a code has by its digits; None if it is no code.

    Example:
        >>> from sudare.domain.mesh import likely_level
        >>> [likely_level(code).name for code in (5339, 53394611, "533946113", 533946225)]
        ['1', '3', '1/2', '2x']
    """
    if isinstance(code, float) and code.is_integer():
        code = int(code)
    text = str(code).strip() if isinstance(code, (int, str, np.integer)) else ""
    for level in MESH_LEVELS.values():
        if len(text) == level.digits and text.isascii() and text.isdigit():
            _, _, bad = _cells_of_codes(np.array([int(text)], dtype=np.int64), level)
            if bad < 0:
                return level
    return None


def other_level(code: object, level: str | MeshLevel) -> Words:
    """Which level to write, if a code is one of another level; else nothing. Tells of a code how many digits it has."""
    likely = likely_level(code)
    if likely is None or likely == mesh_level(level):
        return Words.same("")
    return OTHER_LEVEL.format(digits=likely.digits, size=likely.size, level=f'"{likely.name}"')


def mesh_codes(rows: ArrayLike, columns: ArrayLike, level: str | MeshLevel) -> Integers:
    """The codes of grid cells.

    Args:
        rows: rows of the cells, whole numbers.
        columns: columns of the cells, as many.
        level: the level of the grid.

    Raises:
        ParameterError: if a cell is outside the grid, or the numbers are not whole.

    Example:
        >>> from sudare.domain import mesh_codes
        >>> mesh_codes([4281], [3181], "3")
        array([53394611])
    """
    exact = mesh_level(level, "mesh_codes")
    row, column = _whole_numbers(rows, "rows", "mesh_codes"), _whole_numbers(columns, "columns", "mesh_codes")
    if row.shape != column.shape:
        raise ParameterError(
            "columns", "mesh_codes", f"of the shape {row.shape}, as rows", Described(str(column.shape))
        )
    for name, values in (("rows", row), ("columns", column)):
        if values.size and not (values.min() >= 0 and values.max() < exact.cells_per_side):
            requirement = Words(
                f"from 0 to {exact.cells_per_side - 1} at level {exact.name!r}",
                f"階層 {exact.name!r} では 0 以上 {exact.cells_per_side - 1} 以下",
            )
            worst = values.max() if values.max() >= exact.cells_per_side else values.min()
            raise ParameterError(name, "mesh_codes", requirement, int(worst))
    if row.size <= MAX_PLAIN:
        return _codes_of_cells(row, column, exact)
    from sudare.kernels.mesh_codes import encode_mesh_cells

    codes = np.empty(row.size, dtype=np.int64)
    encode_mesh_cells(row.ravel(), column.ravel(), _stages(exact), codes)
    return codes.reshape(row.shape)


def mesh_cells(codes: ArrayLike, level: str | MeshLevel) -> tuple[Integers, Integers]:
    """The grid cells of codes: rows and columns.

    Args:
        codes: whole numbers, or text (which codes with leading zeros must be: those south of latitude 6.7).
        level: the level that all of them have.

    Raises:
        ParameterError: if a code breaks a rule of its digits; the message names the first such code, its place and the rules.

    Example:
        >>> from sudare.domain import mesh_cells
        >>> mesh_cells([53394611], "3")
        (array([4281]), array([3181]))
    """
    exact = mesh_level(level, "mesh_cells")
    values = _read_codes(codes, exact)
    if values.size <= MAX_PLAIN:
        rows, columns, bad = _cells_of_codes(values.ravel(), exact)
    else:
        from sudare.kernels.mesh_codes import decode_mesh_codes

        rows, columns = np.empty(values.size, dtype=np.int64), np.empty(values.size, dtype=np.int64)
        bad = decode_mesh_codes(values.ravel(), _stages(exact), rows, columns)
    if bad >= 0:
        _refuse_code(int(values.ravel()[bad]), bad, exact)
    return rows.reshape(values.shape), columns.reshape(values.shape)


def mesh_cells_of_points(
    latitudes: ArrayLike, longitudes: ArrayLike, level: str | MeshLevel
) -> tuple[Integers, Integers]:
    """The grid cells that points lie in: rows and columns. A point on a border belongs to the cell north or east of it.

    A float is read as the shortest decimal that prints the same, so that 35.0125 is on the border that it was typed to be on.

    Args:
        latitudes: degrees north.
        longitudes: degrees east.
        level: the level of the grid.

    Raises:
        ParameterError: if a point is not within the range of the codes (latitude 0 to 66.6, longitude 100 to 200), or not finite.

    Example:
        >>> from sudare.domain import mesh_cells_of_points, mesh_codes
        >>> mesh_codes(*mesh_cells_of_points([35.681236], [139.767125], "1/2"), "1/2")
        array([533946113])
    """
    exact = mesh_level(level, "mesh_cells_of_points")
    function = "mesh_cells_of_points"
    latitude = _degrees(latitudes, "latitudes", function)
    longitude = _degrees(longitudes, "longitudes", function)
    if latitude.shape != longitude.shape:
        raise ParameterError(
            "longitudes", function, f"of the shape {latitude.shape}, as latitudes", Described(str(longitude.shape))
        )
    rows = _cells_along_axis(latitude, 0, Fraction(3, 2) * exact.divisions)
    columns = _cells_along_axis(longitude, 100, Fraction(exact.divisions))
    for name, cells, allowed in (
        ("latitudes", rows, "from 0 to below 66.6667"),
        ("longitudes", columns, "from 100 to below 200"),
    ):
        if cells.size and not (cells.min() >= 0 and cells.max() < exact.cells_per_side):
            position = int(np.flatnonzero((cells.ravel() < 0) | (cells.ravel() >= exact.cells_per_side))[0])
            raise ParameterError(name, function, allowed, Described(f"a point outside at position {position}"))
    return rows, columns


def _cells_along_axis(degrees: NDArray[np.float64], origin: int, per_degree: Fraction) -> Integers:
    flat = degrees.reshape(-1)
    scaled = (flat - origin) * float(per_degree)
    cells = np.floor(scaled).astype(np.int64)
    for position in np.flatnonzero(np.abs(scaled - np.rint(scaled)) < SUSPICIOUS).tolist():
        typed = Fraction(repr(float(flat[position])))
        cells[position] = (typed - origin) * per_degree // 1
    return cells.reshape(degrees.shape)


# For each of the kernel's stages: cells along a side, the power of ten of its digits, and how many of it a row and a column
# count. A quarter's digit begins at 1, and fifths end in a 5.
_STAGES = {
    0: (100, 10**4, 100, 1, 0),
    1: (8, 100, 10, 1, 0),
    2: (10, 100, 10, 1, 0),
    3: (2, 10, 2, 1, 1),
    4: (5, 1000, 200, 20, 5),
}


def _codes_of_cells(rows: Integers, columns: Integers, level: MeshLevel) -> Integers:
    """What `sudare.kernels.mesh_codes.encode_mesh_cells` writes, by arrays."""
    codes, place = np.zeros_like(rows), 1
    for stage in reversed(level.stages):
        sides, power, of_row, of_column, plus = _STAGES[stage]
        codes += place * (of_row * (rows % sides) + of_column * (columns % sides) + plus)
        rows, columns, place = rows // sides, columns // sides, place * power
    return codes


def _cells_of_codes(codes: Integers, level: MeshLevel) -> tuple[Integers, Integers, int]:
    """What `sudare.kernels.mesh_codes.decode_mesh_codes` writes and returns, by arrays."""
    rows, columns, side = np.zeros_like(codes), np.zeros_like(codes), 1
    is_bad = codes < 0
    for stage in reversed(level.stages):
        sides, power, of_row, of_column, plus = _STAGES[stage]
        digits = codes % power - plus
        row = digits // of_row
        column = (digits - row * of_row) // of_column
        # Digits that no cell has are not those of the cell that they are read as.
        is_bad |= (row < 0) | (row >= sides) | (column >= sides) | (row * of_row + column * of_column != digits)
        rows, columns = rows + side * row, columns + side * column
        codes, side = codes // power, side * sides
    is_bad |= codes != 0
    wrong = np.flatnonzero(is_bad)
    return rows, columns, int(wrong[0]) if wrong.size else -1


def _stages(level: MeshLevel) -> Integers:
    return np.array(level.stages, dtype=np.int64)


def _degrees(values: ArrayLike, parameter: str, function: str) -> NDArray[np.float64]:
    array = read_array(values, parameter, function, "numbers")
    if array.dtype.kind not in "fiu":
        raise ParameterError(parameter, function, "numbers", Described(f"an array of {array.dtype}"))
    # Shorter floats are read as the decimals they print as, like all floats.
    is_short = array.dtype.kind == "f" and array.dtype.itemsize < 8
    degrees = np.ascontiguousarray(array.astype(str).astype(np.float64) if is_short else array.astype(np.float64))
    degrees = degrees.reshape(array.shape)
    if not np.isfinite(degrees).all() or (np.abs(degrees) > 1000).any():
        bad = int(np.flatnonzero(~(np.abs(degrees.ravel()) <= 1000))[0])
        raise ParameterError(
            parameter, function, Words("finite degrees", "有限の度"), Described(f"another number at position {bad}")
        )
    return degrees


def _whole_numbers(values: ArrayLike, parameter: str, function: str) -> Integers:
    array = read_array(values, parameter, function, "whole numbers")
    is_empty = array.size == 0
    if array.dtype.kind not in "iu" and not is_empty:
        raise ParameterError(parameter, function, WHOLE_NUMBERS, Described(f"an array of {array.dtype}"))
    if array.dtype.kind == "u" and not is_empty and int(array.max()) > np.iinfo(np.int64).max:
        raise ParameterError(
            parameter, function, Words("whole numbers below 2**63", "2**63 未満の整数"), int(array.max())
        )
    return np.ascontiguousarray(array, dtype=np.int64).reshape(array.shape)


def _read_codes(codes: ArrayLike, level: MeshLevel) -> Integers:
    requirement = codes_of(level.digits, level.name)
    array = read_array(codes, "codes", "mesh_cells", requirement)
    if array.dtype.kind not in "UTO":
        numbers = _whole_numbers(array, "codes", "mesh_cells")
        short = np.flatnonzero(numbers.ravel() < 10 ** (level.digits - 1))
        if short.size:
            got = Described(f"{numbers.ravel()[short[0]]} at position {short[0]}")
            raise ParameterError("codes", "mesh_cells", requirement, got, "A code with leading zeros must be text.")
        return numbers
    flat: list[Any] = array.ravel().tolist()
    for position, code in enumerate(flat):
        is_text = isinstance(code, str) and len(code) == level.digits and code.isascii() and code.isdigit()
        if not is_text and not (type(code) is int and 10 ** (level.digits - 1) <= code < 10**level.digits):
            raise ParameterError("codes", "mesh_cells", requirement, Described(f"{code!r:.40} at position {position}"))
    return np.array([int(code) for code in flat], dtype=np.int64).reshape(array.shape)


def _refuse_code(code: int, position: int, level: MeshLevel) -> None:
    rules = {
        1: "digits 5 and 6 from 0 to 7",
        2: "digits 7 and 8 from 0 to 9",
        3: "each further digit from 1 to 4",
        4: "digits 7 and 8 even and the last digit 5",
    }
    wanted = [f"codes of {level.digits} digits", *(rules[stage] for stage in dict.fromkeys(level.stages[1:]))]
    raise ParameterError(
        "codes",
        "mesh_cells",
        f"{', '.join(wanted)} (level {level.name!r})",
        Described(f"{code} at position {position}"),
    )
