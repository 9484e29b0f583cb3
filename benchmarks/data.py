"""Real tables for benchmarks, read from the folder that SUDARE_DATA names (default ../shared/data); never copied."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import sudare
from benchmarks.measuring import ROOT

JAPAN = sudare.Mesh("KEY_CODE", "1/2", first_row=6814, first_column=3670, rows=4096, columns=4096)


def japan_500m() -> sudare.CountTable:
    """The census of 2020 on 4096 x 4096 meshes of 500 m: all Japan but remote islands."""
    return _mesh_table("japan_mesh500m_2020", JAPAN)


def window_500m(first_row: int, first_column: int, side: int) -> sudare.CountTable:
    """A square window of the same census."""
    return _mesh_table("japan_mesh500m_2020", sudare.Mesh("KEY_CODE", "1/2", first_row, first_column, side, side))


def census_1km(year: int) -> sudare.CountTable:
    """Two primary meshes (Shizuoka, Yamanashi, Nagano side) at 1 km in 2010, 2015 or 2020."""
    window = sudare.Mesh("KEY_CODE", "3", first_row=4160, first_column=3040, rows=160, columns=80)
    return _mesh_table("japan_mesh1km_3years_sample", window, year)


def data_folder(name: str) -> Path:
    """Where a data set is; the benchmark ends if it is not there."""
    folder = Path(os.environ.get("SUDARE_DATA", ROOT.parent / "shared" / "data")) / name
    if not folder.exists():
        raise SystemExit(f"This benchmark needs the folder {name} below SUDARE_DATA (or ../shared/data).")
    return folder


def _mesh_table(folder_name: str, mesh: sudare.Mesh, year: int | None = None) -> sudare.CountTable:
    import pyarrow.parquet

    path = data_folder(folder_name) / "pop.parquet"
    filters = None if year is None else [("year", "=", year)]
    table = pyarrow.parquet.read_table(path, columns=["mesh_code", "population"], filters=filters)
    rows, columns = sudare.domain.mesh_cells(table["mesh_code"].to_numpy(), mesh.level)
    rows, columns = rows - mesh.first_row, columns - mesh.first_column
    inside = (rows >= 0) & (rows < mesh.rows) & (columns >= 0) & (columns < mesh.columns)
    domain = sudare.Domain((mesh,))
    keys = domain.keys_at(rows[inside], columns[inside])
    return sudare.CountTable.from_cells(domain, keys, np.asarray(table["population"].to_numpy())[inside])


def germany_100m(first_row: int, first_column: int, rows: int, columns: int) -> sudare.CountTable:
    """A window of Germany's census of 2011 on a grid of 100 m; rows and columns count 100 m north and east (EPSG:3035).

    The source has perturbed the counts so that 1 and 2 do not occur.
    """
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(data_folder("germany_grid_2011") / "pop_100m.parquet")
    north = table["y_m"].to_numpy().astype(np.int64) // 100 - first_row
    east = table["x_m"].to_numpy().astype(np.int64) // 100 - first_column
    inside = (north >= 0) & (north < rows) & (east >= 0) & (east < columns)
    domain = sudare.Domain.of_shape((rows, columns))
    keys = domain.keys_at(north[inside], east[inside])
    return sudare.CountTable.from_cells(domain, keys, np.asarray(table["population"].to_numpy())[inside])


def japan_in_a_wide_window() -> sudare.CountTable:
    """The census of 2020 on 8192 x 8192 meshes of 500 m: all Japan, with more sea around it."""
    window = sudare.Mesh("KEY_CODE", "1/2", first_row=4800, first_column=1600, rows=8192, columns=8192)
    return _mesh_table("japan_mesh500m_2020", window)
