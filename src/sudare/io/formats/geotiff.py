"""GeoTIFF: a raster with one number for each cell, north up, in the coordinates of the mesh (JGD2011, EPSG:6668).

Counts are written as int32 where all fit, else as float64, which holds whole numbers up to 2**53: more programs read these
two than 64-bit integers. Rows of a mesh run from south to north and those of a raster from north to south. A domain of two
plain `Positions` is a raster without coordinates, first row first.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sudare.bilingual import Words
from sudare.domain import Domain, Mesh, MeshList, Positions
from sudare.domain.sparse_table import SparseTable
from sudare.errors import Described, InputError, ParameterError
from sudare.extras import GEOTIFF, missing_package
from sudare.io import complaints
from sudare.io.formats.geoparquet import mesh_bounds

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["check_raster", "read_geotiff", "require_rasters", "write_geotiff"]

Table = TypeVar("Table", bound=SparseTable)

FIRST_BYTES = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
CRS = "EPSG:6668"
TILE = 256
MAX_SIDE = (1 << 31) - 1
NEAR = 1e-3
"""How far a raster's border may be from the mesh's, in cells: coordinates are often rounded."""


@contextmanager
def _rasterio() -> Iterator[Any]:
    try:
        import rasterio
        from rasterio.errors import NotGeoreferencedWarning
    except ImportError:
        raise missing_package("rasterio", "geo", GEOTIFF) from None
    with warnings.catch_warnings():
        # Plain positions have no coordinates, and need none.
        warnings.simplefilter("ignore", NotGeoreferencedWarning)
        yield rasterio


def _mesh_of(domain: Domain) -> Mesh | None:
    """The mesh of a domain that is one, None for two plain positions."""
    attributes = domain.attributes
    if len(attributes) == 1 and isinstance(attributes[0], (Mesh, MeshList)):
        return attributes[0].window
    if len(attributes) == 2 and all(isinstance(attribute, Positions) for attribute in attributes):
        return None
    requirement = "of one Mesh, or two Positions, for GeoTIFF"
    raise ParameterError("domain", "GeoTIFF", requirement, Described(f"{len(attributes)} attributes"))


def require_rasters(files: Sequence[str]) -> None:
    """Refuse files that do not begin as a TIFF does, before anything is planned for them.

    Raises:
        InputError: names the file.
    """
    for file in files:
        with Path(file).open("rb") as stream:
            if stream.read(4) not in FIRST_BYTES:
                raise complaints.damaged(file, "GeoTIFF")


def check_raster(table: SparseTable) -> None:
    """Refuse a table that a raster cannot hold, and a missing package, before anything is written."""
    _mesh_of(table.domain)
    if max(table.domain.shape) > MAX_SIDE:
        raise ParameterError(
            "table",
            "write_table",
            Words("a table of sides below 2**31 for GeoTIFF", "GeoTIFF には一辺が 2**31 未満の表"),
            Described("a longer one"),
        )
    if _largest(table) > 2**53:
        raise ParameterError(
            "table",
            "write_table",
            Words("counts up to 2**53 for GeoTIFF", "GeoTIFF には 2**53 以下の度数"),
            Described("larger ones"),
        )
    with _rasterio():
        pass


def _largest(table: SparseTable) -> int:
    """The largest count in size."""
    return max(int(table.counts.max(initial=0)), -int(table.counts.min(initial=0)))


def write_geotiff(table: SparseTable, path: Path) -> None:
    """Write a raster, tiled and compressed, strip by strip: the whole raster is never in memory."""
    table = _on_window(table)
    mesh, (rows, columns) = _mesh_of(table.domain), table.domain.shape
    is_small = _largest(table) < 2**31
    kind = "int32" if is_small else "float64"
    options: dict[str, object] = {
        "driver": "GTiff",
        "height": rows,
        "width": columns,
        "count": 1,
        "dtype": kind,
        "tiled": True,
        "blockxsize": TILE,
        "blockysize": TILE,
        "compress": "deflate",
        "predictor": 2 if is_small else 3,
        "sparse_ok": True,
        "bigtiff": "if_safer",
    }
    with _rasterio() as rasterio:
        if mesh is not None:
            west, south, east, north = _edges(mesh)
            cell = rasterio.Affine((east - west) / columns, 0.0, west, 0.0, (south - north) / rows, north)
            options |= {"crs": CRS, "transform": cell}
        # GDAL does not tell of a full disk when it closes a file, so it writes to memory: compressed, this is little.
        with rasterio.MemoryFile() as memory:
            with memory.open(**options) as raster:
                for top in range(0, rows, TILE):
                    height = min(TILE, rows - top)
                    # The raster's first row is the northernmost, the table's the southernmost.
                    first = rows - top - height if mesh is not None else top
                    strip = _strip(table, first, height, kind)
                    if strip is None:
                        continue
                    window = rasterio.windows.Window(0, top, columns, height)
                    raster.write(strip[::-1] if mesh is not None else strip, 1, window=window)
            with path.open("wb") as stream:
                stream.write(memory.getbuffer())


def _on_window(table: SparseTable) -> SparseTable:
    """A table of listed meshes as one of all meshes of the window around them; other tables as they are."""
    listed = table.domain.attributes[0]
    if not isinstance(listed, MeshList):
        return table
    window = Domain((listed.window,))
    return type(table).from_cells(
        window, window.keys_at(*listed.window_cells(table.domain.places_of(table.keys))), table.counts
    )


def _off_window(keys: NDArray[np.uint64], domain: Domain, file: str) -> NDArray[np.uint64]:
    """The keys of listed meshes from those of the window around them; other keys as they are."""
    listed = domain.attributes[0]
    if not isinstance(listed, MeshList):
        return keys
    window = listed.window
    rows, columns = (
        (keys // np.uint64(window.columns)).astype(np.int64),
        (keys % np.uint64(window.columns)).astype(np.int64),
    )
    rows, columns = rows + window.first_row, columns + window.first_column
    if not listed.contains(rows, columns).all():
        raise complaints.wrong_value("raster", listed.allowed, complaints.Spot(file))
    return domain.keys_at(*listed.places_of_cells(rows, columns))


def _strip(table: SparseTable, first: int, height: int, kind: str) -> NDArray[Any] | None:
    """Some rows of the table as an array; None where they are empty."""
    columns = table.domain.shape[1]
    low, high = np.searchsorted(table.keys, np.array([first * columns, (first + height) * columns], dtype=np.uint64))
    if low == high:
        return None
    strip = np.zeros(height * columns, dtype=kind)
    strip[(table.keys[low:high] - np.uint64(first * columns)).astype(np.int64)] = table.counts[low:high]
    return strip.reshape(height, columns)


def _edges(mesh: Mesh) -> tuple[float, float, float, float]:
    """West, south, east and north of a window."""
    south, west, north, east = mesh_bounds(mesh, np.array([0, mesh.rows - 1]), np.array([0, mesh.columns - 1]))
    return float(west[0]), float(south[0]), float(east[1]), float(north[1])


def read_geotiff(files: Sequence[str], domain: Domain, table_kind: type[Table]) -> Table:
    """The counts of a raster of one band whose grid is that of the domain. Cells without data count nobody.

    Raises:
        InputError: if the raster is damaged, has another grid, or holds other numbers than the table may have.
    """
    if len(files) != 1:
        raise InputError(
            "A GeoTIFF source must be one file; several were given. Name one of them.",
            "GeoTIFF は一つのファイルだけを指定してください。",
        )
    file, mesh = files[0], _mesh_of(domain)
    rows, columns = domain.shape if mesh is None else mesh.shape
    with _rasterio() as rasterio:
        try:
            with rasterio.open(file) as raster:
                _check_grid(raster, file, mesh, rows, columns)
                keys, counts = [], []
                for top in range(0, rows, TILE):
                    height = min(TILE, rows - top)
                    window = rasterio.windows.Window(0, top, columns, height)
                    values = raster.read(1, window=window, masked=True).filled(0)
                    strip = _whole_numbers(values, file, top, table_kind)
                    strip = strip[::-1] if mesh is not None else strip
                    first = rows - top - height if mesh is not None else top
                    filled = np.flatnonzero(strip)
                    keys.append(filled.astype(np.uint64) + np.uint64(first * columns))
                    counts.append(strip.ravel()[filled])
        except rasterio.errors.RasterioError:
            raise complaints.damaged(file, "GeoTIFF") from None
    try:
        return table_kind.from_cells(domain, _off_window(np.concatenate(keys), domain, file), np.concatenate(counts))
    except ParameterError:
        raise complaints.too_many("raster") from None


def _check_grid(raster: Any, file: str, mesh: Mesh | None, rows: int, columns: int) -> None:
    name = Path(file).name
    if raster.count != 1:
        raise InputError(
            f"The raster {name!r} has {raster.count} bands; it must have one.",
            f"ラスタ {name!r} には {raster.count} 個のバンドがあります。一つでなければなりません。",
        )
    if (raster.height, raster.width) != (rows, columns):
        raise InputError(
            f"The raster {name!r} has {raster.height} rows and {raster.width} columns; the plan has {rows} and {columns}.",
            f"ラスタ {name!r} は {raster.height} 行 {raster.width} 列ですが、計画は {rows} 行 {columns} 列です。",
        )
    if mesh is None:
        return
    west, south, east, north = _edges(mesh)
    transform = raster.transform
    width, height = (east - west) / columns, (north - south) / rows
    is_upright = transform.b == 0 and transform.d == 0 and transform.a > 0 and transform.e < 0
    offsets = [
        (transform.c - west) / width,
        (transform.c + transform.a * columns - east) / width,
        (transform.f - north) / height,
        (transform.f + transform.e * rows - south) / height,
    ]
    is_geographic = raster.crs is None or raster.crs.is_geographic
    if not is_upright or not is_geographic or max(map(abs, offsets)) > NEAR:
        raise InputError(
            f"The grid of the raster {name!r} is not that of the plan's mesh: it must be north up, in degrees, from "
            f"{west:.6f} to {east:.6f} east and {south:.6f} to {north:.6f} north.",
            f"ラスタ {name!r} の格子が計画のメッシュと一致しません。北が上、度単位で、東経 {west:.6f}–{east:.6f}、"
            f"北緯 {south:.6f}–{north:.6f} でなければなりません。",
        )


def _whole_numbers(values: NDArray[Any], file: str, top: int, table: type[SparseTable]) -> NDArray[np.int64]:
    wrong = values < table.lowest
    if values.dtype.kind == "f":
        wrong |= ~(np.isfinite(values) & (values == np.floor(values)) & (np.abs(values) <= 2.0**53))
    elif values.dtype.kind == "u" and values.dtype.itemsize == 8:
        wrong |= values > np.uint64(2**62)
    elif values.dtype.kind not in "iu":
        raise complaints.wrong_type("raster", str(values.dtype), complaints.numbers_of(table), file)
    if wrong.any():
        row = top + int(np.flatnonzero(wrong.any(axis=1))[0]) + 1
        raise complaints.wrong_count("raster", complaints.Spot(file, row), table)
    return values.astype(np.int64)
