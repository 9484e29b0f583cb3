"""Mesh cells from points: two columns, latitude and longitude, stand for the mesh that the point lies in.

The result is that of `mesh_cells_of_points` exactly. SQL places the points that are clearly inside a cell, by the same two
floating-point operations; the few that are nearly on a border are grouped by their coordinates and placed by exact
arithmetic on their decimals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain import Mesh, MeshList, mesh_cells_of_points, mesh_level
from sudare.domain.allowed_values import point_in, points_within
from sudare.domain.mesh import SUSPICIOUS
from sudare.errors import ParameterError
from sudare.io import complaints
from sudare.io.bounding.encoding import POINT
from sudare.io.columns import AttributeColumn, WrongValueError, family_of, number_of_text
from sudare.io.engine import identifier, numpy_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = ["PointColumn"]

DEGREES = Words("degrees", "度の数値")


@dataclass(frozen=True)
class PointColumn(AttributeColumn):
    """Two columns that hold a mesh attribute as points.

    Attributes:
        longitude: the name of the second column; the first one is the latitude.
        longitude_kind: DuckDB's type of it.
    """

    longitude: str = ""
    longitude_kind: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Every column that is read for it."""
        return (self.name, self.longitude)

    @property
    def is_missing(self) -> str:
        """The SQL condition for rows with an empty field."""
        return f"{identifier(self.name)} IS NULL OR {identifier(self.longitude)} IS NULL"

    def check_type(self, file: str | None) -> None:
        """Refuse types that cannot hold degrees."""
        for name, kind in ((self.name, self.kind), (self.longitude, self.longitude_kind)):
            if family_of(kind) not in ("text", "integer", "real"):
                raise complaints.wrong_type(name, kind, DEGREES, file)

    @property
    def is_placed_by_sql(self) -> bool:
        """Cells are numbered by SQL, but over the whole grid."""
        return False

    @property
    def grouped_kind(self) -> str:
        """A cell, or coordinates."""
        return POINT

    @property
    def _mesh(self) -> Mesh | MeshList:
        assert isinstance(self.attribute, (Mesh, MeshList))  # noqa: S101 - tells the type checker what the caller saw to
        return self.attribute

    @property
    def _side(self) -> int:
        return mesh_level(self._mesh.level).cells_per_side

    def _along_axes(self) -> tuple[str, str, str, str]:
        """Latitude and longitude in degrees, then in cells of the whole grid."""
        latitude, longitude = _degrees(self.name, self.kind), _degrees(self.longitude, self.longitude_kind)
        divisions = float(mesh_level(self._mesh.level).divisions)
        return (
            latitude,
            longitude,
            f"(({latitude}) * {1.5 * divisions!r}::DOUBLE)",
            f"((({longitude}) - 100) * {divisions!r}::DOUBLE)",
        )

    @property
    def raw(self) -> str:
        """The cell's number in the whole grid, -1 outside of it; or the coordinates of a point near a border."""
        latitude, longitude, up, right = self._along_axes()
        nowhere = " OR ".join(f"isnan({degrees}) OR abs({degrees}) > 1000" for degrees in (latitude, longitude))
        near = " OR ".join(f"abs({along} - round({along})) < {SUSPICIOUS!r}::DOUBLE" for along in (up, right))
        in_grid = " AND ".join(f"{along} >= 0 AND {along} < {self._side}" for along in (up, right))
        cell = f"CAST(floor({up}) AS BIGINT) * {self._side} + CAST(floor({right}) AS BIGINT)"
        return (
            f"CASE WHEN {self.is_missing} THEN NULL WHEN {nowhere} THEN {_point(cell='-1')} "
            f"WHEN {near} THEN {_point(latitude=latitude, longitude=longitude)} "
            f"WHEN {in_grid} THEN {_point(cell=cell)} ELSE {_point(cell='-1')} END"
        )

    def _cells(self, values: Any) -> tuple[Integers, Integers]:
        """Rows and columns in the whole grid."""
        cell, latitude, longitude = (values.field(name) for name in ("cell", "latitude", "longitude"))
        numbers = numpy_of(cell.fill_null(0))
        if numbers.size and numbers.min() < 0:
            raise self._outside()
        rows, columns = numbers // self._side, numbers % self._side
        near = np.flatnonzero(numpy_of(cell.is_null()))
        if near.size:
            y, x = (numpy_of(along.take(near)) for along in (latitude, longitude))
            try:
                rows[near], columns[near] = mesh_cells_of_points(y, x, self._mesh.level)
            except ParameterError:
                raise self._outside() from None
        return rows, columns

    def inside(self, values: Any) -> NDArray[np.bool_]:
        """Which points are in the window; one outside of the whole grid is a mistake all the same."""
        return self._mesh.contains(*self._cells(values))

    def places(self, values: Any) -> tuple[Integers, ...]:
        """The places of points in the window."""
        rows, columns = self._cells(values)
        if not self._mesh.contains(rows, columns).all():
            raise self._outside()
        return self._mesh.places_of_cells(rows, columns)

    def _outside(self) -> WrongValueError:
        window = self._mesh.window
        allowed = points_within(window.rows, window.columns)
        if isinstance(self._mesh, MeshList):
            allowed = point_in(self._mesh.allowed)
        return WrongValueError(None, allowed, is_label=False)

    def finds(self, value: Any) -> str:
        """The SQL condition for rows with a point outside of the window."""
        mesh = self._mesh.window
        latitude, longitude, up, right = self._along_axes()
        limits = ((up, mesh.first_row, mesh.rows), (right, mesh.first_column, mesh.columns))
        # Nearly on the window's border, exact arithmetic decides, which SQL has not: such a row is then not named.
        beyond = [
            f"{along} < {first - SUSPICIOUS!r} OR {along} > {first + n + SUSPICIOUS!r}" for along, first, n in limits
        ]
        return " OR ".join([f"isnan({latitude})", f"isnan({longitude})", *beyond])


def _degrees(name: str, kind: str) -> str:
    column = identifier(name)
    if family_of(kind) == "text":
        return number_of_text(column)
    # A short float is read as the decimal that it prints as.
    return f"CAST(CAST({column} AS VARCHAR) AS DOUBLE)" if kind == "FLOAT" else f"CAST({column} AS DOUBLE)"


def _point(cell: str = "NULL", latitude: str = "NULL", longitude: str = "NULL") -> str:
    return (
        f"{{'cell': CAST({cell} AS BIGINT), 'latitude': CAST({latitude} AS DOUBLE), "
        f"'longitude': CAST({longitude} AS DOUBLE)}}"
    )
