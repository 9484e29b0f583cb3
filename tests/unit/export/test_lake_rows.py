"""The rows of every kind of release, as its own files have them."""

from __future__ import annotations

import csv
import json
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from sudare.domain import Category, CountTable, Domain
from sudare.errors import InputError
from sudare.export.lake_rows import read_rows
from sudare.io.writing import arrow_table, write_table
from sudare.releases.data.domains import describe_domain
from sudare.releases.documents import describe_file
from sudare.releases.registry import run_plan
from sudare.storage.hashes import hash_of_file
from tests.contracts.test_export_formats import build_records
from tests.unit.releases.kinds.counts.offices import PLAN, open_office
from tests.unit.releases.kinds.tables.firms import WHOLE, build_firms

DOMAIN = Domain((Category("ward", ("a", "b", "c")), Category("sex", ("f", "m"))))


def table_of(folder: Path, table: str | None = None) -> pa.Table:
    rows = read_rows(folder, table)
    first, second = rows.reader().read_all(), rows.reader().read_all()
    assert first.equals(second), "the batches can be asked for again"
    assert first.schema.equals(rows.schema)
    assert rows.release == hash_of_file(folder / "release.json")
    return first


def write_document(folder: Path, form: str, **more: Any) -> None:
    files = [asdict(describe_file(file)) for file in sorted(folder.glob("*.parquet"))]
    document = {"format": form, "title": "t", "publisher": "p", "created": "2026-04-01T09:00:00Z", "files": files}
    (folder / "release.json").write_text(json.dumps(document | more), encoding="utf-8")


@pytest.mark.parametrize("formats", ['["parquet"]', '["csv"]', '["arrow", "csv"]'])
def test_counts_in_any_file(formats: str, tmp_path: Path) -> None:
    open_office(tmp_path, text=PLAN.replace('["parquet", "csv"]', formats) + "\nmeasurements = true\n")
    run_plan(tmp_path / "plan.toml")
    found = table_of(tmp_path / "release")
    assert found.column_names == ["KEY_CODE", "population"]
    for file in (tmp_path / "release").glob("table.csv"):
        with file.open(encoding="utf-8", newline="") as stream:
            _, *rows = csv.reader(stream)
        assert [[str(value) for value in row.values()] for row in found.to_pylist()] == rows
    for file in (tmp_path / "release").glob("table.parquet"):
        assert found.to_pylist() == pyarrow.parquet.read_table(file).to_pylist()


def test_hidden_cells_have_no_number(tmp_path: Path) -> None:
    run_plan(build_firms(tmp_path, WHOLE + '\n[output]\nfolder = "out"\n'))
    found = table_of(tmp_path / "out").to_pylist()
    with (tmp_path / "out" / "table.csv").open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    assert header[-1] == "status"
    expected = {tuple(row[:-2]): Decimal(row[-2]) if row[-2] else None for row in rows}
    assert {tuple(list(row.values())[:-1]): list(row.values())[-1] for row in found} == expected
    assert None in expected.values()


def test_records_as_they_print(tmp_path: Path) -> None:
    build_records(tmp_path / "out")
    assert table_of(tmp_path / "out").to_pylist() == [{"age": "30-39", "町": '東 "a"'}, {"age": "=1+1", "町": "西"}]


def test_records_keep_the_types_of_their_file(tmp_path: Path) -> None:
    records = pa.table({"age": pa.array([30, None], pa.uint16()), "town": ["東", "西"]})
    pyarrow.parquet.write_table(records, tmp_path / "people.parquet")
    write_document(tmp_path, "sudare-people/1")
    found = table_of(tmp_path)
    assert found.schema.types == [pa.int64(), pa.string()]
    assert found.to_pylist() == records.to_pylist()


def test_parts_of_a_cluster_become_one_table(tmp_path: Path) -> None:
    """Numbers of cells become the columns that a table of the same domain has."""
    whole = CountTable.from_dense(np.array([[5, 0], [1, 7], [0, 2]]), DOMAIN)
    for number, part in enumerate((slice(0, 2), slice(2, None), slice(0, 0))):
        columns = {"key": whole.keys[part].astype(np.int64), "count": whole.counts[part]}
        pyarrow.parquet.write_table(pa.table(columns), tmp_path / f"cells-{number}.parquet")
    published = {"total": 15, "non_empty_cells": 4, "parts": 3, "count": "people"}
    write_document(tmp_path, "sudare-subtrees/1", domain=describe_domain(DOMAIN), published=published)
    found = table_of(tmp_path)
    assert found.equals(arrow_table(DOMAIN, whole.keys, {"people": whole.counts}))
    assert found.to_pylist()[0] == {"ward": "a", "sex": "f", "people": 5}


def test_a_tick_has_rows_and_a_whole_window_none(tmp_path: Path) -> None:
    write_table(CountTable.from_dense(np.array([[5, 0], [1, 7], [0, 2]]), DOMAIN), tmp_path / "table.parquet")
    write_document(tmp_path, "sudare-tick/1")
    assert table_of(tmp_path).num_rows == 4
    write_document(tmp_path, "sudare-series-day/1")
    with pytest.raises(InputError, match="whole window"):
        read_rows(tmp_path)


def test_a_damaged_document_is_refused(tmp_path: Path) -> None:
    write_table(CountTable.from_dense(np.array([[5, 0], [1, 7], [0, 2]]), DOMAIN), tmp_path / "table.parquet")
    write_document(tmp_path, "sudare-release/1")
    with (tmp_path / "table.parquet").open("ab") as stream:
        stream.write(b"x")
    with pytest.raises(InputError, match="verify"):
        read_rows(tmp_path)
    (tmp_path / "table.parquet").write_bytes(b"no Parquet")
    write_document(tmp_path, "sudare-release/1")
    with pytest.raises(InputError, match="verify"):
        read_rows(tmp_path)
    write_document(tmp_path, "sudare-subtrees/1")
    with pytest.raises(InputError, match="verify"):
        read_rows(tmp_path)
