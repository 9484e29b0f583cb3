"""Maps for other programs: rasters as rasterio reads them, polygons decoded by hand."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

from sudare.domain import Category, CountTable, Domain, Mesh, Positions, mesh_cells_of_points
from sudare.errors import InputError, ParameterError
from sudare.io import Source, read_counts, write_table
from sudare.io.formats.geoparquet import JGD2011

rasterio = pytest.importorskip("rasterio")

MESH = Mesh("KEY_CODE", "1/2", 8307, 6063, 300, 520)
DOMAIN = Domain((MESH,))
TABLE = CountTable.from_cells(DOMAIN, [0, 519, 520, 299 * 520, 300 * 520 - 1], [1, 2, 3, 4, 70000])


def test_a_raster_has_the_coordinates_of_the_mesh(tmp_path: Path) -> None:
    path = write_table(TABLE, tmp_path / "map.tif")
    with rasterio.open(path) as raster:
        assert raster.crs.to_epsg() == 6668
        assert (raster.height, raster.width, raster.count) == (300, 520, 1)
        assert raster.dtypes == ("int32",)
        assert raster.block_shapes == [(256, 256)]
        cell = raster.transform
        assert [cell.c, cell.f] == pytest.approx([100 + 6063 / 160, 8607 / 240], abs=1e-12)
        values = raster.read(1)
        points = [(int(row), int(column)) for row, column in np.argwhere(values)]
        for row, column in points:
            # The middle of each pixel must lie in the mesh whose count it holds.
            latitude, longitude = cell.f + cell.e * (row + 0.5), cell.c + cell.a * (column + 0.5)
            (mesh_row,), (mesh_column,) = mesh_cells_of_points([latitude], [longitude], "1/2")
            key = (mesh_row - MESH.first_row) * 520 + mesh_column - MESH.first_column
            assert values[row, column] == dict(zip(TABLE.keys.tolist(), TABLE.counts.tolist(), strict=True))[int(key)]
    assert len(points) == TABLE.keys.size
    assert values[0, 519] == 70000
    assert values[299, 0] == 1


def test_large_counts_are_floats(tmp_path: Path) -> None:
    large = CountTable.from_cells(DOMAIN, [5], [2**53])
    path = write_table(large, tmp_path / "map.tif")
    with rasterio.open(path) as raster:
        assert raster.dtypes == ("float64",)
    assert read_counts(Source(str(path)), DOMAIN) == large
    with pytest.raises(ParameterError, match=r"2\*\*53"):
        write_table(CountTable.from_cells(DOMAIN, [5], [2**53 + 1]), tmp_path / "larger.tif")


def raster(path: Path, values: np.ndarray, **options: object) -> str:
    defaults = {
        "driver": "GTiff",
        "height": values.shape[0],
        "width": values.shape[1],
        "count": 1,
        "dtype": values.dtype,
    }
    with rasterio.open(path, "w", **{**defaults, "crs": "EPSG:4326", **options}) as target:
        target.write(values, 1)
    return str(path)


SMALL = Domain((Mesh("KEY_CODE", "3", 4280, 3180, 2, 3),))
RIGHT = rasterio.Affine(1 / 80, 0, 139.75, 0, -1 / 120, 4282 / 120)


@pytest.mark.parametrize("kind", ["uint8", "int16", "uint16", "int32", "float32", "float64", "int64", "uint64"])
def test_rasters_of_others(kind: str, tmp_path: Path) -> None:
    values = np.array([[0, 1, 2], [3, 0, 5]], dtype=kind)
    path = raster(tmp_path / "map.tif", values, transform=RIGHT)
    assert read_counts(Source(path), SMALL).to_dense().tolist() == [[3, 0, 5], [0, 1, 2]]


def test_cells_without_data_count_nobody(tmp_path: Path) -> None:
    values = np.array([[-1, 1, 2], [3, -1, 5]], dtype="int32")
    path = raster(tmp_path / "map.tif", values, transform=RIGHT, nodata=-1)
    assert read_counts(Source(path), SMALL).to_dense().tolist() == [[3, 0, 5], [0, 1, 2]]


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        (
            np.array([[1, 2, 3], [4, -424242, 6]]),
            {},
            "'raster' must hold whole numbers from 0 on.* in 'map.tif', row 2",
        ),
        (np.array([[1, 2.5, 3], [4, 5, 6]]), {}, "'raster' must hold whole numbers from 0 on.* in 'map.tif', row 1"),
        (np.array([[1, np.nan, 3], [4, 5, 6]]), {}, "'raster' must hold whole numbers from 0 on.* in 'map.tif', row 1"),
        (np.ones((3, 3), dtype=int), {}, "has 3 rows and 3 columns; the plan has 2 and 3"),
        (
            np.ones((2, 3), dtype=int),
            {"transform": rasterio.Affine(1 / 80, 0, 139.7625, 0, -1 / 120, 4282 / 120)},
            "grid",
        ),
        (np.ones((2, 3), dtype=int), {"transform": rasterio.Affine(1 / 80, 0, 139.75, 0, 1 / 120, 4280 / 120)}, "grid"),
        (np.ones((2, 3), dtype=int), {"crs": "EPSG:3857"}, "grid"),
    ],
)
def test_rasters_that_do_not_fit(values: np.ndarray, options: dict[str, object], message: str, tmp_path: Path) -> None:
    path = raster(tmp_path / "map.tif", values, **{"transform": RIGHT, **options})
    with pytest.raises(InputError, match=message) as caught:
        read_counts(Source(path), SMALL)
    assert "424242" not in str(caught.value)


def test_files_that_are_no_raster(tmp_path: Path) -> None:
    path = write_table(TABLE, tmp_path / "map.tif")
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(InputError, match="not a whole GeoTIFF file"):
        read_counts(Source(str(path)), DOMAIN)
    write_table(TABLE, tmp_path / "other.tif")
    with pytest.raises(InputError, match="one file"):
        read_counts(Source(str(tmp_path)), DOMAIN)


def test_domains_that_are_no_raster(tmp_path: Path) -> None:
    domain = Domain((MESH, Category("sex", ("f", "m"))))
    with pytest.raises(ParameterError, match="one Mesh, or two Positions"):
        write_table(CountTable.from_cells(domain, [0], [1]), tmp_path / "map.tif")
    with pytest.raises(ParameterError, match="Mesh attribute"):
        write_table(CountTable.from_dense([[1]]), tmp_path / "map.geoparquet")
    assert list(tmp_path.iterdir()) == []


def test_positions_keep_their_order(tmp_path: Path) -> None:
    domain = Domain((Positions("row", 3), Positions("column", 2)))
    table = CountTable.from_dense([[1, 0], [2, 3], [0, 4]], domain)
    path = write_table(table, tmp_path / "grid.tif")
    assert read_counts(Source(str(path)), domain) == table


def decoded(wkb: bytes) -> list[tuple[float, float]]:
    order, kind, rings, points = struct.unpack_from("<BIII", wkb)
    assert (order, kind, rings, points, len(wkb)) == (1, 3, 1, 5, 93)
    numbers = struct.unpack_from("<10d", wkb, 13)
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def test_polygons_are_those_of_the_meshes(tmp_path: Path) -> None:
    rows = pyarrow.parquet.read_table(write_table(TABLE, tmp_path / "map.geoparquet"))
    assert rows.column_names == ["KEY_CODE", "population", "geometry"]
    for key, wkb in zip(TABLE.keys.tolist(), rows["geometry"].to_pylist(), strict=True):
        level = MESH.level
        assert not isinstance(level, str)
        exact = level.bounds(MESH.first_row + key // 520, MESH.first_column + key % 520)
        south, west, north, east = map(float, exact)
        assert decoded(wkb) == [(west, south), (east, south), (east, north), (west, north), (west, south)]


def test_geoparquet_metadata(tmp_path: Path) -> None:
    domain = Domain((Category("sex", ("f", "m")), MESH))
    table = CountTable.from_cells(domain, [7, MESH.rows * MESH.columns + 3], [1, 2])
    path = write_table(table, tmp_path / "map.geoparquet")
    geo = json.loads(pyarrow.parquet.read_schema(path).metadata[b"geo"])
    assert (geo["version"], geo["primary_column"]) == ("1.1.0", "geometry")
    column = geo["columns"]["geometry"]
    assert (column["encoding"], column["geometry_types"]) == ("WKB", ["Polygon"])
    assert column["bbox"] == [100 + 6063 / 160, 8307 / 240, 100 + 6583 / 160, 8607 / 240]
    assert rasterio.crs.CRS.from_string(json.dumps(column["crs"])).to_epsg() == 6668
    assert column["crs"] == JGD2011
    wkbs = pyarrow.parquet.read_table(path)["geometry"].to_pylist()
    assert [decoded(wkb)[0][0] for wkb in wkbs] == [100 + (6063 + 7) / 160, 100 + (6063 + 3) / 160]
