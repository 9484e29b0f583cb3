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
    import pyarrow.parquet

    folder = Path(os.environ.get("SUDARE_DATA", ROOT.parent / "shared" / "data"))
    path = folder / "japan_mesh500m_2020" / "pop.parquet"
    if not path.exists():
        raise SystemExit("This benchmark needs the folder japan_mesh500m_2020 below SUDARE_DATA (or ../shared/data).")
    table = pyarrow.parquet.read_table(path, columns=["mesh_code", "population"])
    rows, columns = sudare.mesh_cells(table["mesh_code"].to_numpy(), "1/2")
    rows, columns = rows - JAPAN.first_row, columns - JAPAN.first_column
    inside = (rows >= 0) & (rows < JAPAN.rows) & (columns >= 0) & (columns < JAPAN.columns)
    domain = sudare.Domain((JAPAN,))
    keys = domain.keys_at(rows[inside], columns[inside])
    return sudare.CountTable.from_cells(domain, keys, np.asarray(table["population"].to_numpy())[inside])
