"""GeoParquet 1.1: meshes as polygons, written by pyarrow and NumPy alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain import Mesh, MeshList
from sudare.domain.sparse_table import SparseTable
from sudare.errors import Described, ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["JGD2011", "mesh_bounds", "polygons_as_wkb", "with_geometry"]

JGD2011: dict[str, object] = {
    "type": "GeographicCRS",
    "name": "JGD2011",
    "datum": {
        "type": "GeodeticReferenceFrame",
        "name": "Japanese Geodetic Datum 2011",
        "ellipsoid": {"name": "GRS 1980", "semi_major_axis": 6378137, "inverse_flattening": 298.257222101},
    },
    "coordinate_system": {
        "subtype": "ellipsoidal",
        "axis": [
            {"name": "Geodetic latitude", "abbreviation": "Lat", "direction": "north", "unit": "degree"},
            {"name": "Geodetic longitude", "abbreviation": "Lon", "direction": "east", "unit": "degree"},
        ],
    },
    "id": {"authority": "EPSG", "code": 6668},
}
"""The coordinates of Japan's mesh statistics since 2011, as PROJJSON."""

CORNERS = 5
POLYGON = np.dtype(
    [("order", "u1"), ("kind", "<u4"), ("rings", "<u4"), ("corners", "<u4"), ("points", "<f8", (CORNERS, 2))]
)
"""A polygon of one ring of five points in well-known binary, packed: 93 bytes."""


def mesh_bounds(mesh: Mesh, rows: NDArray[Any], columns: NDArray[Any]) -> tuple[NDArray[np.float64], ...]:
    """South, west, north and east of cells of a window in degrees, each the float nearest to the exact border.

    Neighbours get the same float for the border that they share.
    """
    divisions = mesh.level.divisions  # type: ignore[union-attr]
    south, west = rows + mesh.first_row, columns + mesh.first_column + 100 * divisions
    height, width = 3.0 * divisions, float(divisions)
    return south * 2.0 / height, west / width, (south + 1) * 2.0 / height, (west + 1) / width


def polygons_as_wkb(
    south: NDArray[np.float64], west: NDArray[np.float64], north: NDArray[np.float64], east: NDArray[np.float64]
) -> Any:
    """Rectangles in well-known binary, counter-clockwise from the south-west, as a pyarrow array."""
    import pyarrow

    polygons = np.empty(south.size, dtype=POLYGON)
    polygons["order"], polygons["kind"], polygons["rings"], polygons["corners"] = 1, 3, 1, CORNERS
    for corner, (x, y) in enumerate(((west, south), (east, south), (east, north), (west, north), (west, south))):
        polygons["points"][:, corner, 0] = x
        polygons["points"][:, corner, 1] = y
    offsets = np.arange(south.size + 1, dtype=np.int64) * POLYGON.itemsize
    buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(polygons.tobytes())]
    return pyarrow.Array.from_buffers(pyarrow.large_binary(), south.size, buffers)


def with_geometry(table: SparseTable, rows: Any) -> Any:
    """The rows of a table with the polygon of each one's mesh, and the metadata that GeoParquet asks for."""
    domain = table.domain
    axis = 0
    for attribute in domain.attributes:
        if isinstance(attribute, (Mesh, MeshList)):
            break
        axis += len(attribute.shape)
    else:
        raise ParameterError(
            "table",
            "write_table",
            Words("a table with a Mesh attribute for GeoParquet", "GeoParquet にはメッシュの属性をもつ表"),
            Described("none"),
        )
    places = domain.places_of(table.keys)
    mesh = attribute.window
    bounds = mesh_bounds(mesh, *attribute.window_cells(places[axis : axis + len(attribute.shape)]))
    if "geometry" in rows.column_names:
        raise ParameterError(
            "table",
            "write_table",
            Words("without an attribute named 'geometry'", "'geometry' という名前の属性がないこと"),
            Described("one"),
        )
    window = mesh_bounds(mesh, np.array([0, mesh.rows - 1]), np.array([0, mesh.columns - 1]))
    column = {
        "encoding": "WKB",
        "geometry_types": ["Polygon"],
        "crs": JGD2011,
        "orientation": "counterclockwise",
        "edges": "planar",
        # Of the window, which is public, also where only few of its meshes are published.
        "bbox": [float(window[1][0]), float(window[0][0]), float(window[3][1]), float(window[2][1])],
    }
    metadata = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": column}}
    geometry = polygons_as_wkb(*bounds)
    return rows.append_column("geometry", geometry).replace_schema_metadata({"geo": json.dumps(metadata)})
