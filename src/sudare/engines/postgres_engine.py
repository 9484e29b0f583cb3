"""PostgreSQL: each query in a read-only transaction of its own that is rolled back, and sees one snapshot.

What keeps it from changing anything: the session and each transaction are read-only, each query stands inside
``SELECT * FROM (...)``, so that it cannot be another statement, and is sent in the protocol that takes one statement only.
Which schemas are searched is written down when the connection is made, and they must have no functions or operators that
PostgreSQL would take for its own.

A connection that was lost between two queries is made again, once. A query during which it is lost is not repeated.
"""

# ruff: noqa: S608 - queries are written by sudare.sql; names are quoted by double_quoted()

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from urllib.parse import quote

from sudare.engines import complaints
from sudare.engines.column_types import postgres_type
from sudare.engines.complaints import attempt
from sudare.engines.deadlines import checked_timeout
from sudare.engines.engine import ColumnType, Engine
from sudare.engines.names import double_quoted, public_name
from sudare.engines.results import decimal_column
from sudare.errors import DatabaseError
from sudare.extras import DATABASES, missing_package
from sudare.system.server_addresses import server_address

if TYPE_CHECKING:
    import psycopg
    import pyarrow as pa

__all__ = ["PostgresEngine"]

Result = TypeVar("Result")
Row = tuple[Any, ...]

CONNECT_WAIT = 10
"""Seconds."""

MAX_TIMEOUT = 2**31 - 1
"""Milliseconds that PostgreSQL can count."""

SETTINGS = {
    "default_transaction_read_only": "on",
    "standard_conforming_strings": "on",
    "client_min_messages": "error",
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
}
TABLES = """
    SELECT c.oid, n.nspname, c.relname, pg_table_is_visible(c.oid)
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
      AND n.nspname <> 'information_schema' AND NOT starts_with(n.nspname, 'pg_')
      AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')"""
COLUMNS = """
    SELECT a.attname, coalesce(b.typname, t.typname), coalesce(b.typtype, t.typtype)::text,
           CASE WHEN b.oid IS NULL THEN a.atttypmod ELSE t.typtypmod END, format_type(a.atttypid, a.atttypmod),
           CASE WHEN NOT c.collisdeterministic THEN c.collname::text END
    FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
    LEFT JOIN pg_type AS b ON t.typtype = 'd' AND b.oid = t.typbasetype
    LEFT JOIN pg_collation AS c ON c.oid = a.attcollation
    WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"""

STAND_INS = """
    WITH own AS (SELECT oid FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace)
    SELECT p.proname::text FROM pg_proc AS p
    WHERE p.pronamespace = ANY(%(schemas)s::regnamespace[])
      AND EXISTS (SELECT FROM pg_proc AS q WHERE q.pronamespace = 'pg_catalog'::regnamespace AND q.proname = p.proname)
      AND NOT EXISTS (SELECT FROM unnest(p.proargtypes) AS t (kind) WHERE kind NOT IN (SELECT oid FROM own))
    UNION
    SELECT o.oprname::text FROM pg_operator AS o
    WHERE o.oprnamespace = ANY(%(schemas)s::regnamespace[])
      AND (o.oprleft = 0 OR o.oprleft IN (SELECT oid FROM own)) AND o.oprright IN (SELECT oid FROM own)
    ORDER BY 1"""
"""A function whose arguments fit better is taken before one of PostgreSQL's own, in whichever schema it is."""

INTEGERS, FLOATS, TEXTS = {20, 21, 23, 26}, {700, 701}, {19, 25, 705, 1042, 1043}
BOOLEAN, NUMERIC, DATE, TIMESTAMP, TIMESTAMP_WITH_ZONE = 16, 1700, 1082, 1114, 1184
KNOWN = INTEGERS | FLOATS | TEXTS | {BOOLEAN, NUMERIC, DATE, TIMESTAMP, TIMESTAMP_WITH_ZONE}
"""Numbers of PostgreSQL's own types, the same in every database."""


class PostgresEngine(Engine):
    """A PostgreSQL database; made by `open_engine`.

    Args:
        location: ``postgresql://user:password@host/database``, as libpq reads it.
    """

    dialect: ClassVar[str] = "postgres"

    def __init__(self, location: str) -> None:
        try:
            import psycopg
        except ImportError:
            raise missing_package("psycopg", "postgres", DATABASES.format(database="PostgreSQL")) from None
        self._errors = psycopg
        self._location = location
        self._address = _stated_address(psycopg, location)
        self._closed = False
        self._connection = self._connect()

    @property
    def address(self) -> str:
        """Where the data is; see `Engine`."""
        return self._address

    def tables(self) -> list[str]:
        """Names of all tables and views that may be read; see `Engine`."""
        return sorted(self._numbers())

    def columns(self, table: str) -> dict[str, ColumnType]:
        """The columns of a table; see `Engine`."""
        number = self._numbers().get(table)
        if number is None:
            raise complaints.no_such_table(self._address, table)
        return {
            name: postgres_type(kind, modifier, native, is_enum=sort == "e", folding=folding)
            for name, kind, sort, modifier, native, folding in self._catalogue(COLUMNS, (number,))
        }

    def fetch(self, sql: str, *, timeout: float | None = None) -> pa.Table:
        """Run one query; see `Engine`."""
        seconds = checked_timeout(timeout)

        def run(connection: psycopg.Connection[Row]) -> pa.Table:
            query: Any = f"SELECT * FROM (\n{sql}\n) AS answer"
            # Binary results make psycopg use the protocol in which a text is one statement, never two.
            cursor = connection.execute(query, binary=True)
            rows = cursor.fetchall()
            return self._arrow(connection, cursor.description or [], rows)

        return self._in_transaction(run, seconds)

    def state(self, tables: Sequence[str]) -> str | None:
        """None: others may write at any time; see `Engine`."""
        return None

    def close(self) -> None:
        """Close the connection; see `Engine`."""
        self._closed = True
        self._connection.close()

    def _connect(self) -> psycopg.Connection[Row]:
        def connect() -> psycopg.Connection[Row]:
            connection: psycopg.Connection[Row] = self._errors.connect(
                self._location,
                autocommit=True,
                prepare_threshold=None,
                client_encoding="utf8",
                connect_timeout=CONNECT_WAIT,
                application_name="sudare",
                keepalives_idle=30,
                keepalives_interval=10,
                keepalives_count=3,
            )
            try:
                self._settle(connection)
            except BaseException:
                connection.close()
                raise
            return connection

        return attempt(connect, lambda _: complaints.cannot_connect(self._address))

    def _settle(self, connection: psycopg.Connection[Row]) -> None:
        for name, value in SETTINGS.items():
            connection.execute("SELECT set_config(%s, %s, false)", (name, value))
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise complaints.wrong_encoding(connection.info.dbname, encoding or "unknown")
        row = connection.execute("SELECT current_schemas(false)").fetchone()
        schemas: list[str] = row[0] if row is not None else []
        # PostgreSQL's own names come first, temporary tables last.
        path = ", ".join(["pg_catalog", *map(double_quoted, schemas), "pg_temp"])
        connection.execute("SELECT set_config('search_path', %s, false)", (path,))
        info = connection.info
        self._address = (
            f"postgresql://{quote(info.host)}:{info.port}/{quote(info.dbname)}?schemas={quote(','.join(schemas))}"
        )
        quoted = [double_quoted(schema) for schema in schemas]
        if found := connection.execute(STAND_INS, {"schemas": quoted}).fetchall():
            raise complaints.stand_ins(self._address, [name for (name,) in found])

    def _in_transaction(self, run: Callable[[psycopg.Connection[Row]], Result], seconds: float | None) -> Result:
        if self._closed:
            raise complaints.closed(self._address)
        limit = min(math.ceil(seconds * 1000), MAX_TIMEOUT) if seconds is not None else 0
        begin = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = {limit}"
        self._begin(begin)
        connection = self._connection

        def tell(failure: Exception) -> DatabaseError:
            if connection.closed:
                return complaints.lost(self._address)
            if seconds is not None and isinstance(failure, self._errors.errors.QueryCanceled):
                return complaints.timed_out(self._address, seconds)
            return complaints.failed(self._address)

        def run_and_roll_back() -> Result:
            try:
                return run(connection)
            finally:
                if not connection.closed:
                    with suppress(self._errors.Error):
                        connection.execute("ROLLBACK")

        return attempt(run_and_roll_back, tell)

    def _begin(self, begin: str) -> None:
        """Nothing of a query has run when this fails, so it may be tried on a new connection."""
        statement: Any = begin
        try:
            self._connection.execute(statement)
            return
        except self._errors.Error:
            with suppress(self._errors.Error):
                self._connection.close()
        self._connection = self._connect()
        attempt(lambda: self._connection.execute(statement), lambda _: complaints.cannot_connect(self._address))

    def _catalogue(self, sql: str, values: tuple[object, ...] | None = None) -> list[Row]:
        query: Any = sql
        return self._in_transaction(lambda connection: connection.execute(query, values).fetchall(), None)

    def _numbers(self) -> dict[str, int]:
        """What identifies a table in the catalogue, by its name."""
        named = (
            (public_name(schema, table, bare=visible), number)
            for number, schema, table, visible in self._catalogue(TABLES)
        )
        return {name: number for name, number in named if name is not None}

    def _arrow(self, connection: psycopg.Connection[Row], description: Sequence[Any], rows: list[Row]) -> pa.Table:
        import pyarrow as pa

        labels = self._label_types(connection, {column.type_code for column in description} - KNOWN)
        values: list[tuple[Any, ...]] = list(zip(*rows, strict=True)) if rows else [()] * len(description)
        arrays = []
        for column, cells in zip(description, values, strict=True):
            array = self._array(column.type_code, cells, column.scale, labels)
            if array is None:
                raise complaints.unreadable_type(self._address)
            arrays.append(array)
        return pa.Table.from_arrays(arrays, names=[column.name for column in description])

    def _array(self, code: int, cells: tuple[Any, ...], scale: int | None, labels: set[int]) -> Any:
        import pyarrow as pa

        if code == NUMERIC:
            return decimal_column(cells, scale)
        if code in labels:
            return pa.array([cell if cell is None else str(bytes(cell), "utf-8") for cell in cells], pa.string())
        if code in INTEGERS:
            return pa.array(cells, pa.int64())
        if code in FLOATS:
            return pa.array(cells, pa.float64())
        if code in TEXTS:
            return pa.array(cells, pa.string())
        others = {
            BOOLEAN: pa.bool_(),
            DATE: pa.date32(),
            TIMESTAMP: pa.timestamp("us"),
            TIMESTAMP_WITH_ZONE: pa.timestamp("us", "UTC"),
        }
        return pa.array(cells, others[code]) if code in others else None

    def _label_types(self, connection: psycopg.Connection[Row], codes: set[int]) -> set[int]:
        """Those types that are lists of labels; sent as text."""
        if not codes:
            return set()
        listed = connection.execute("SELECT oid FROM pg_type WHERE typtype = 'e' AND oid = ANY(%s)", (list(codes),))
        return {number for (number,) in listed}


def _stated_address(driver: Any, location: str) -> str:
    """What the database is called before a connection tells: host and port as they were typed, without user and password."""
    with suppress(driver.Error):  # whose words repeat the address with the password
        address = server_address(driver.conninfo.conninfo_to_dict(location))
        return f"postgresql://{address}" if address else "postgresql"
    return "postgresql"
