"""One function that opens every database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from sudare.engines.complaints import wrong_location
from sudare.engines.engine import Engine
from sudare.errors import ParameterError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["open_engine"]

DUCKDB_SUFFIXES = (".duckdb", ".db", ".ddb")


def open_engine(
    location: str | Path | Sequence[str | Path] | SparkSession,
    *,
    types: Mapping[str, Mapping[str, str]] | None = None,
    reads_later: bool = False,
) -> Engine:
    r"""Open a database so that it can be asked; it is never changed.

    Args:
        location: one of

            - a DuckDB file: a path that ends in ``.duckdb``, ``.ddb`` or ``.db``, or ``duckdb:///path``;
            - a ``.parquet``, ``.csv`` or ``.tsv`` file (text may be gzipped), a folder of those, a pattern such as
              ``data/*.parquet``, or a list of these: each file is a table with its name, and each folder inside a
              folder is one table made of the files in it;
            - ``postgresql://user:password@host/database``;
            - ``spark:local``, ``spark:local[4]`` or ``spark://host:port``, followed by ``?path=folder`` for tables that are
              Parquet files; ``sc://host:port`` for Spark Connect; or a SparkSession, also one of Spark Connect.
        types: of columns of CSV files, by table and column, in DuckDB's words: ``{"people": {"age": "INTEGER"}}``. All other
            columns of CSV files are text: types are never guessed from data. A field that is not of its type is NULL,
            and so is an empty one.
        reads_later: whether the rows of a CSV file are read when a query first names its table, for whoever may only want to
            know its columns. By default a damaged file is noticed here, before anything is charged for it.

    Raises:
        DatabaseError: if there is no such database, or it does not let us in.
        MissingPackageError: if the package that it needs is not installed.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.engines import open_engine
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "people.csv").write_text("name,age\nAnn,40\nBob,\n", encoding="utf-8")
        ...     with open_engine(folder, types={"people": {"age": "INTEGER"}}) as engine:
        ...         engine.fetch("SELECT count(*) AS all, count(age) AS known FROM people").to_pylist()
        [{'all': 2, 'known': 1}]
    """
    if isinstance(location, (str, Path)):
        address = str(location)
        if address.startswith(("postgresql://", "postgres://")):
            _no_types(types)
            from sudare.engines.postgres_engine import PostgresEngine

            return PostgresEngine(address)
        if address.startswith(("spark:", "sc://")):
            _no_types(types)
            from sudare.engines.spark_engine import SparkEngine

            return SparkEngine.at(address)
        return _open_files(address, types, reads_later)
    if isinstance(location, Sequence) and all(isinstance(part, (str, Path)) for part in location):
        return _open_tables(list(location), types, reads_later)
    if _is_spark_session(location):
        _no_types(types)
        from sudare.engines.spark_engine import SparkEngine

        return SparkEngine.over_session(location)
    raise ParameterError(
        "location", "open_engine", "a path, an address, a list of paths, or a SparkSession", type(location)
    )


def _open_files(address: str, types: Mapping[str, Mapping[str, str]] | None, reads_later: bool) -> Engine:
    from sudare.engines.duckdb_engine import DuckDBEngine

    if address.startswith("duckdb://"):
        _no_types(types)
        return DuckDBEngine.over_file(Path(unquote(address.removeprefix("duckdb://"))))
    if "://" in address:
        scheme = address.partition("://")[0]
        raise wrong_location(
            f"Addresses that begin with {scheme + '://'!r} are not known. Known are duckdb:///path, postgresql://..., "
            "spark://..., sc://... and paths of files and folders.",
            f"{scheme + '://'!r} で始まるアドレスには対応していません。"
            "duckdb:///path、postgresql://...、spark://...、sc://...、またはファイルやフォルダのパスを指定してください。",
        )
    path = Path(address)
    if address.endswith(DUCKDB_SUFFIXES) and not path.is_dir():
        _no_types(types)
        return DuckDBEngine.over_file(path)
    return _open_tables([address], types, reads_later)


def _open_tables(
    locations: Sequence[str | Path], types: Mapping[str, Mapping[str, str]] | None, reads_later: bool
) -> Engine:
    from sudare.engines.duckdb_engine import DuckDBEngine
    from sudare.engines.files import find_tables

    if not locations:
        raise ParameterError("location", "open_engine", "at least one path", locations)
    tables = find_tables(locations)
    address = "files:" + ",".join(sorted({str(Path(location).resolve()) for location in locations}))
    return DuckDBEngine.over_tables(address, tables, types or {}, reads_later=reads_later)


def _no_types(types: Mapping[str, Mapping[str, str]] | None) -> None:
    if types:
        raise wrong_location(
            "Types can be given for CSV files only; other databases know their own.",
            "型を指定できるのは CSV ファイルだけです。ほかのデータベースは自身の型を持っています。",
        )


def _is_spark_session(location: Any) -> bool:
    """Without loading Spark: a process with a session has loaded it."""
    return any(
        kind.__name__ == "SparkSession" and kind.__module__.startswith("pyspark.sql") for kind in type(location).__mro__
    )
