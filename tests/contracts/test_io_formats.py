"""Whatever is written comes back the same: every format, over tables of every kind of attribute."""

from __future__ import annotations

import tempfile
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.domain import Bins, Category, CountTable, Domain, Hierarchy, Mesh, Positions, SignedTable
from sudare.errors import InputError
from sudare.io import Source, describe_source, read_counts, read_signed, write_table

MESHES = {
    "500 m": Mesh("KEY_CODE", "1/2", 8307, 6063, 5, 7),
    "1 km": Mesh("KEY_CODE", "3", 4281, 3181, 3, 4),
    "80 km": Mesh("KEY_CODE", "1", 53, 39, 2, 2),
    "far south": Mesh("KEY_CODE", "3", 3, 3181, 3, 4),
}
AREAS = Hierarchy.from_parents("area", {"all": None, "01": "all", "02": "all", "011": "01", "021": "02", "022": "02"})
DOMAINS: dict[str, Domain] = {
    **{name: Domain((mesh,)) for name, mesh in MESHES.items()},
    "mesh and sex": Domain((MESHES["500 m"], Category("sex", ("f", "m")))),
    "texts": Domain((Category("name, of ward", ("千代田区", 'with "quotes"', "with, comma", "", "01", "1", "a\nb")),)),
    "numbers": Domain((Category("ward", (101, 102, -3)), Category("share", (0.1, 0.25, 1e-7)))),
    "dates": Domain((Category("day", (date(2020, 10, 1), date(2021, 1, 1))), Category("adult", (True, False)))),
    "mixed labels": Domain((Category("code", (1, "x", 2.5)),)),
    "bins": Domain((Bins("age", (0, 15, 65, 120)), Bins("income", (-0.5, 0.1, 0.3, 1e6)))),
    "positions": Domain.of_shape((4, 3)),
    "three axes": Domain((Positions("floor", 3), Positions("row", 2), Positions("seat", 4))),
    "areas": Domain((AREAS, Category("sex", ("f", "m")))),
}
TABULAR = ("parquet", "csv", "arrow")
RASTER = ("500 m", "1 km", "80 km", "far south", "positions")
CASES = [
    *((form, name) for form in TABULAR for name in DOMAINS),
    *(("tif", name) for name in RASTER),
    *(("geoparquet", name) for name in (*MESHES, "mesh and sex")),
]


def tables(domain: Domain) -> st.SearchStrategy[CountTable]:
    cells = st.dictionaries(st.integers(0, domain.cells - 1), st.integers(1, 2**40), max_size=12)
    return cells.map(lambda own: CountTable.from_cells(domain, np.array([*own], dtype=np.int64), [*own.values()]))


def signed_tables(domain: Domain) -> st.SearchStrategy[SignedTable]:
    count = st.integers(-(2**40), 2**40).filter(bool)
    cells = st.dictionaries(st.integers(0, domain.cells - 1), count, max_size=12)
    return cells.map(lambda own: SignedTable.from_cells(domain, np.array([*own], dtype=np.int64), [*own.values()]))


@pytest.mark.parametrize(("form", "name"), CASES)
def test_signed_tables_come_back_signed(form: str, name: str) -> None:
    domain = DOMAINS[name]

    @settings(max_examples=3)
    @given(table=signed_tables(domain))
    def round_trip(table: SignedTable) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = write_table(table, Path(folder) / f"table.{form}", count="people")
            source = Source(str(path), rows="counts", count="people")
            assert read_signed(source, domain) == table
            if (table.counts < 0).any():
                with pytest.raises(InputError, match="whole numbers from 0 on"):
                    read_counts(source, domain)

    round_trip()


@pytest.mark.parametrize("value", ["1.5", "x", "9223372036854775808", "-9223372036854775808", "--1", "1e400"])
def test_what_is_no_number_of_a_signed_table(tmp_path: Path, value: str) -> None:
    file = tmp_path / "table.csv"
    file.write_text(f"axis 0,count\n0,5\n1,{value}\n2,-7\n")
    with pytest.raises(InputError, match=r"'count' must hold whole numbers, without separators.*row 3"):
        read_signed(Source(str(file), rows="counts"), Domain((Positions("axis 0", 3),)))


def test_the_largest_numbers_of_a_signed_table(tmp_path: Path) -> None:
    domain = Domain((Positions("place", 3),))
    table = SignedTable.from_dense([2**63 - 1, 0, 1 - 2**63], domain)
    for form in TABULAR:
        path = write_table(table, tmp_path / f"table.{form}")
        assert read_signed(Source(str(path), rows="counts"), domain) == table


@pytest.mark.parametrize(("form", "name"), CASES)
def test_what_is_written_comes_back(form: str, name: str) -> None:
    domain = DOMAINS[name]

    @given(table=tables(domain))
    def round_trip(table: CountTable) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = write_table(table, Path(folder) / f"table.{form}", count="people")
            source = Source(str(path), rows="counts", count="people")
            assert read_counts(source, domain, threads=1) == table
            again = write_table(table, Path(folder) / f"again.{form}", count="people")
            assert path.read_bytes() == again.read_bytes()

    settings(max_examples=2)(round_trip)()


@pytest.mark.parametrize("form", ["parquet", "csv", "arrow", "geoparquet"])
def test_the_columns_are_told_without_reading(form: str, tmp_path: Path) -> None:
    table = CountTable.from_dense(np.eye(5, 7, dtype=int), DOMAINS["500 m"])
    path = write_table(table, tmp_path / f"map.{form}")
    info = describe_source(Source(str(path)))
    assert info.columns[:2] == ("KEY_CODE", "population")
    assert info.format == form
    assert info.files == (str(path),)
    assert info.bytes == path.stat().st_size


@pytest.mark.parametrize("form", ["parquet", "csv", "arrow"])
def test_several_files_are_read_as_one(form: str, tmp_path: Path) -> None:
    dense = np.arange(35).reshape(5, 7)
    upper, lower = dense.copy(), dense.copy()
    upper[:2], lower[2:] = 0, 0
    domain = DOMAINS["500 m"]
    for name, part in (("upper", upper), ("lower", lower)):
        write_table(CountTable.from_dense(part, domain), tmp_path / f"{name}.{form}")
    whole = CountTable.from_dense(dense, domain)
    paths: list[Any] = [
        str(tmp_path),
        str(tmp_path / f"*.{form}"),
        (str(tmp_path / f"upper.{form}"), str(tmp_path / f"lower.{form}")),
        (str(tmp_path / f"lower.{form}"), str(tmp_path / f"upper.{form}")),
    ]
    for path in paths:
        assert read_counts(Source(path, rows="counts", count="population"), domain) == whole
