"""Databases that count for us: DuckDB in this process, PostgreSQL, Spark.

An engine only runs SQL that `sudare.sql` wrote, and hands out aggregates. It changes nothing in the database.

Read `engine` (what each must do), `opening`, then one of `duckdb_engine` (with `files` and `collations`), `postgres_engine`,
`spark_engine` (with `java`). `complaints` has all they say, `names` how they write names, `column_types` and `results`
what types are called.
"""

from sudare.engines.engine import ColumnType, Engine, Kind
from sudare.engines.opening import open_engine

__all__ = ["ColumnType", "Engine", "Kind", "open_engine"]
