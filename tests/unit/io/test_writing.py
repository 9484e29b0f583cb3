"""What written files look like to others."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

import sudare
from sudare.domain import Category, CountTable, Domain, Mesh
from sudare.errors import ParameterError
from sudare.io import Source, read_counts, write_measurements, write_table, writing
from sudare.tables.published import NoisyCounts

MESH = Mesh("KEY_CODE", "3", 4280, 3180, 10, 10)


def test_csv_joins_on_mesh_codes(tmp_path: Path) -> None:
    table = CountTable.from_cells(Domain((MESH,)), [11, 0], [7, 5])
    assert write_table(table, tmp_path / "map.csv").read_bytes() == b"KEY_CODE,population\n53394600,5\n53394611,7\n"


def test_csv_of_labels(tmp_path: Path) -> None:
    table = CountTable.from_dense([1, 2], Domain((Category("区, 名", ("千代田", 'a"b')),)))
    written = write_table(table, tmp_path / "wards.csv").read_bytes().decode()
    assert written == '"区, 名",count\n"千代田",1\n"a""b",2\n'


def test_codes_with_leading_zeros_stay_texts(tmp_path: Path) -> None:
    domain = Domain((Mesh("KEY_CODE", "3", 0, 3180, 10, 10),))
    table = CountTable.from_cells(domain, [0], [5])
    assert b'"00390600",5' in write_table(table, tmp_path / "map.csv").read_bytes()
    column = pyarrow.parquet.read_table(write_table(table, tmp_path / "map.parquet"))["KEY_CODE"]
    assert column.to_pylist() == ["00390600"]


def test_a_name_that_is_taken(tmp_path: Path) -> None:
    table = CountTable.from_dense([1, 2], Domain((Category("count", ("a", "b")),)))
    with pytest.raises(ParameterError, match="another name than the attributes"):
        write_table(table, tmp_path / "x.csv")
    assert write_table(table, tmp_path / "x.csv", count="people").read_text().startswith("count,people\n")
    with pytest.raises(ParameterError, match="a CountTable"):
        write_table(np.array([1]), tmp_path / "y.csv")  # type: ignore[arg-type]


def test_measurements(tmp_path: Path) -> None:
    domain = Domain((MESH,))
    laplace = sudare.privacy.LaplaceMeasurement.for_budget(
        sudare.Budget(epsilon=Fraction(1, 2)), sudare.privacy.sensitivity_of_counts(sudare.Unit())
    )
    gaussian = sudare.privacy.GaussianMeasurement.for_budget(
        sudare.Budget(rho=0.125), sudare.privacy.sensitivity_of_counts(sudare.Unit())
    )
    noisy = (
        NoisyCounts("total", laplace, np.array([0], dtype=np.uint64), np.array([40])),
        NoisyCounts("cells", gaussian, np.array([11, 0], dtype=np.uint64), np.array([-3, 9])),
    )
    for name in ("noisy.parquet", "noisy.csv"):
        write_measurements(noisy, domain, tmp_path / name)
    rows = pyarrow.parquet.read_table(tmp_path / "noisy.parquet").to_pylist()
    assert [*rows[0]] == ["name", "kind", "scale", "KEY_CODE", "value"]
    assert rows[0] == {"name": "total", "kind": "discrete-laplace", "scale": 2.0, "KEY_CODE": 53394600, "value": 40}
    assert rows[1] == {"name": "cells", "kind": "discrete-gaussian", "scale": 2.0, "KEY_CODE": 53394611, "value": -3}
    assert (tmp_path / "noisy.csv").read_text().splitlines()[2] == '"cells","discrete-gaussian",2,53394611,-3'
    write_measurements((), domain, tmp_path / "none.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "none.parquet").num_rows == 0


def test_measurements_of_a_mechanism(tmp_path: Path) -> None:
    table = CountTable.from_cells(Domain((MESH,)), np.arange(100), np.arange(100))
    published = sudare.tables.laplace(table, sudare.Budget(epsilon=1), keep_measurements=True)
    assert published.measurements is not None
    path = write_measurements(published.measurements, table.domain, tmp_path / "noisy.parquet")
    assert pyarrow.parquet.read_table(path).num_rows == sum(part.keys.size for part in published.measurements)


def test_measurements_where_they_do_not_fit(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="'kind'"):
        write_measurements((), Domain((Category("kind", ("a",)),)), tmp_path / "noisy.csv")
    with pytest.raises(ParameterError, match="parquet"):
        write_measurements((), Domain((MESH,)), tmp_path / "noisy.tif")


def test_a_table_without_cells(tmp_path: Path) -> None:
    domain = Domain((Category("sex", ("f", "m")),))
    empty = CountTable.from_dense([0, 0], domain)
    for name in ("empty.csv", "empty.parquet", "empty.arrow"):
        path = write_table(empty, tmp_path / name)
        assert read_counts(Source(str(path), rows="counts"), domain) == empty


@pytest.mark.parametrize("most", [2**31 - 1, 3])
def test_texts_are_those_that_pyarrow_makes(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(writing, "MAX_OFFSET", most)
    for texts in ([], [""], ["", "a", "京都", "", "x" * 100]):
        made = writing._arrow_texts(texts)
        made.validate(full=True)
        assert made.equals(pyarrow.array(texts, pyarrow.string()))
