"""Points become meshes exactly as `mesh_cells_of_points` has it, also on the borders."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.domain import CountTable, Domain, Mesh, mesh_cells_of_points
from sudare.errors import InputError, ParameterError
from sudare.io import Source, read_counts

MESH = Mesh("KEY_CODE", "1/2", 8307, 6063, 512, 512)
DOMAIN = Domain((MESH,))
SOUTH, WEST = 8307 / 240, 100 + 6063 / 160

LATITUDES = st.one_of(
    st.floats(SOUTH + 1e-5, SOUTH + 2),
    st.integers(8308, 8800).map(lambda row: row / 240),
    st.integers(8308, 8800).map(lambda row: float(np.nextafter(row / 240, 0))),
    st.integers(34650, 36000).map(lambda thousandth: thousandth / 1000),
)
LONGITUDES = st.one_of(
    st.floats(WEST + 1e-5, WEST + 3),
    st.integers(6064, 6500).map(lambda column: 100 + column / 160),
    st.integers(6064, 6500).map(lambda column: float(np.nextafter(100 + column / 160, 0))),
    st.integers(137900, 140000).map(lambda thousandth: thousandth / 1000),
)


def columns(folder: str | Path, name: str = "points.parquet", **values: Any) -> Source:
    path = Path(folder) / name
    table = pyarrow.table(values)
    if path.suffix == ".csv":
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        path.write_text("\n".join([",".join(values), *(",".join(map(repr, row)) for row in rows)]) + "\n")
    else:
        pyarrow.parquet.write_table(table, path)
    return Source(str(path), columns={"KEY_CODE": "lat,lon"})


def counted(latitudes: Any, longitudes: Any) -> CountTable:
    rows, along = mesh_cells_of_points(latitudes, longitudes, "1/2")
    keys = DOMAIN.keys_at(rows - MESH.first_row, along - MESH.first_column)
    return CountTable.from_cells(DOMAIN, keys, np.ones(keys.size, dtype=int))


@settings(max_examples=12)
@given(
    points=st.lists(st.tuples(LATITUDES, LONGITUDES), min_size=1, max_size=20),
    name=st.sampled_from(["a.parquet", "a.csv"]),
    kind=st.sampled_from(["float64", "float32"]),
)
def test_points_become_meshes(points: list[tuple[float, float]], name: str, kind: str) -> None:
    latitudes, longitudes = (np.array(along, dtype=kind) for along in zip(*points, strict=True))
    if name == "a.csv":
        latitudes, longitudes = latitudes.astype(np.float64), longitudes.astype(np.float64)
    with tempfile.TemporaryDirectory() as folder:
        source = columns(folder, name, lat=latitudes, lon=longitudes)
        assert read_counts(source, DOMAIN, threads=1) == counted(latitudes, longitudes)


def test_short_floats_are_the_decimals_that_they_print_as(tmp_path: Path) -> None:
    borders = np.round(100 + np.arange(6064, 6560) / 160, 5).astype(np.float32)
    # Printed, each is on a border; as the number that the bits stand for, it is west of it.
    west = borders[borders.astype(np.float64) < borders.astype(str).astype(np.float64)]
    assert west.size > 10
    latitudes = np.full(west.size, 35.70123, dtype=np.float32)
    assert read_counts(columns(tmp_path, lat=latitudes, lon=west), DOMAIN) == counted(latitudes, west)


@pytest.mark.parametrize(
    ("latitudes", "longitudes", "message"),
    [
        ([35.7, None], [139.7, 139.7], "'lat, lon' has an empty field in 'points.parquet', row 2"),
        ([35.7, 33.1234567], [139.7, 139.7], "'lat, lon' has a value in 'points.parquet', row 2"),
        ([35.7, 33.0], [139.7, 139.7], "'lat, lon' has a value in 'points.parquet'"),
        ([35.7, float("nan")], [139.7, 139.7], "'lat, lon' has a value in 'points.parquet', row 2"),
        ([35.7, float("inf")], [139.7, 139.7], "'lat, lon' has a value in 'points.parquet', row 2"),
        ([35.7, -5.0123], [139.7, 139.7], "'lat, lon' has a value in 'points.parquet', row 2"),
        ([35.7, 35.7], [139.7, 7.77], "'lat, lon' has a value in 'points.parquet', row 2"),
        ([True], [139.7], "'lat' in 'points.parquet' holds boolean; it must hold degrees"),
    ],
)
def test_points_that_are_wrong(latitudes: list[Any], longitudes: list[Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_counts(columns(tmp_path, lat=latitudes, lon=longitudes), DOMAIN)
    assert "33.1234567" not in str(caught.value)


def test_points_outside_of_the_window_are_left_out(tmp_path: Path) -> None:
    source = columns(tmp_path, lat=[35.7, 33.1, 43.0], lon=[139.7, 139.7, 141.3])
    kept = Source(source.path, columns=source.columns, outside="leave out")
    assert read_counts(kept, DOMAIN) == counted([35.7], [139.7])


def test_a_missing_half(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no column 'lon' in 'points.parquet'. Did you mean 'long'"):
        read_counts(columns(tmp_path, lat=[35.7], long=[139.7]), DOMAIN)
    source = columns(tmp_path, lat=[35.7], lon=[139.7], count=[1])
    with pytest.raises(ParameterError, match="mesh codes where rows are counts"):
        read_counts(Source(source.path, rows="counts", columns=source.columns), DOMAIN)
