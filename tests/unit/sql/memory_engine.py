"""A small engine over a DuckDB in memory, which remembers what it was asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import duckdb

from sudare.engines.column_types import duckdb_type
from sudare.engines.engine import ColumnType, Engine
from sudare.errors import DatabaseError

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = ? ORDER BY column_index"


class MemoryEngine(Engine):
    """Tables that some SQL makes.

    Attributes:
        asked: every query that was run, in order.
        key: the primary key that each table is said to have.
        foreign: the foreign keys that each table is said to have.
    """

    dialect: ClassVar[str] = "duckdb"

    def __init__(self, sql: str) -> None:
        self._connection = duckdb.connect()
        self._connection.execute(sql)
        self.asked: list[str] = []
        self.key: dict[str, tuple[str, ...]] = {}
        self.foreign: dict[str, dict[str, tuple[str, str]]] = {}

    @property
    def address(self) -> str:
        return "memory"

    def tables(self) -> list[str]:
        return [name for (name,) in self._connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]

    def columns(self, table: str) -> dict[str, ColumnType]:
        if table not in self.tables():
            raise DatabaseError("There is no such table.", "表がありません。")
        return {name: duckdb_type(kind) for name, kind in self._connection.execute(COLUMNS, [table]).fetchall()}

    def keys(self, table: str) -> tuple[str, ...]:
        return self.key.get(table, ())

    def links(self, table: str) -> dict[str, tuple[str, str]]:
        return self.foreign.get(table, {})

    def fetch(self, sql: str, *, timeout: float | None = None) -> pa.Table:
        self.asked.append(sql)
        return self._connection.sql(sql).to_arrow_table()

    def state(self, tables: Sequence[str]) -> str | None:
        return None

    def close(self) -> None:
        self._connection.close()
