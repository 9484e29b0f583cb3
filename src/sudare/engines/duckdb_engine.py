"""DuckDB in this process: over a database file that is opened for reading only, or over Parquet and CSV files.

What keeps it from changing or reaching anything else: the file is attached read-only, only one SELECT at a time is run,
no file can be opened but those of the tables, no extension can be loaded, and none of that can be set back. What it
keeps for itself (`DuckDBEngine.keep`) is in its own memory, or in a private temporary folder if that is full.
"""

# ruff: noqa: S608 - names and texts are quoted by the functions of names.py

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from sudare.engines import complaints
from sudare.engines.collations import UNKNOWN, collations_in, selected
from sudare.engines.column_types import duckdb_type
from sudare.engines.complaints import attempt
from sudare.engines.deadlines import QueryDeadline
from sudare.engines.engine import ColumnType, Engine
from sudare.engines.files import FileTable, fingerprint, header_of
from sudare.engines.names import double_quoted, literal, public_name, quoted_path
from sudare.engines.results import same_types
from sudare.errors import DatabaseError
from sudare.system.scratch import ScratchFolder

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

__all__ = ["DuckDBEngine"]

Result = TypeVar("Result")

CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    "allow_community_extensions": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "preserve_insertion_order": False,
    "python_enable_replacements": False,  # else a name that is no table could be a variable of this program
}
OWN_CATALOGUES = {"main", "memory", "system", "temp"}
OTHER_NAME = "opened database"
NOT_EXACT = {"UHUGEINT", "BIGNUM"}
"""Arrow has no type for these; DuckDB would hand out other numbers."""

TYPE_NAME = re.compile(r"[A-Za-z_]+( [A-Za-z]+)*(\([0-9]+( ?, ?[0-9]+)?\))?")


class DuckDBEngine(Engine):
    """DuckDB over a file or over tables that are files; made by `open_engine`.

    State: a database file, and a CSV file, has one state for as long as it is open. DuckDB locks a database file against
    writers in other processes, but such a lock ends as soon as this process closes the file anywhere; so before and after
    each query the file must be what it was when it was opened. The state of Parquet files is that of the files on the disk.
    """

    dialect: ClassVar[str] = "duckdb"

    def __init__(self, address: str) -> None:
        import duckdb

        self._address = address
        self._folder = ScratchFolder()
        self._connection: DuckDBPyConnection | None = duckdb.connect(config=CONFIGURATION)
        self._catalogue = "memory"
        self._files: dict[str, FileTable] = {}
        self._states: dict[str, str] = {}
        self._unread: dict[str, Callable[[], None]] = {}
        self._watched: list[Path] = []
        self._state = ""
        self._tables: list[str] = []
        self._collations: dict[str, dict[str, str]] = {}
        self._folded_views: set[str] = set()
        self._run(f"SET temp_directory = {literal(str(self._folder.path))}; SET TimeZone = 'UTC'")

    @classmethod
    def over_file(cls, path: Path) -> DuckDBEngine:
        """Open a database file for reading.

        Raises:
            DatabaseError: if there is none, or another process writes to it.
        """
        path = path.resolve()
        address = f"duckdb://{path}"
        if not path.is_file():
            raise complaints.cannot_connect(address)
        engine = cls(address)
        try:
            engine._attach(path)
        except BaseException:
            engine.close()
            raise
        return engine

    @classmethod
    def over_tables(
        cls,
        address: str,
        tables: Sequence[FileTable],
        types: Mapping[str, Mapping[str, str]],
        *,
        reads_later: bool = False,
    ) -> DuckDBEngine:
        """Open Parquet and CSV files.

        Args:
            address: of them all.
            tables: from `find_tables`.
            types: of the columns of CSV tables that are not text, by table and column.
            reads_later: whether the rows of a CSV table are read when a query first names it; until then its header is enough.

        Raises:
            DatabaseError: if a file cannot be read.
        """
        _check_types(tables, types)
        engine = cls(address)
        try:
            for table in tables:
                if table.format == "parquet":
                    engine._view_parquet(table)
                else:
                    engine._open_csv(table, types.get(table.name, {}))
            if not reads_later:
                engine._read_csv()
            engine._allow([table for table in tables if table.format == "parquet" or table.name in engine._unread])
            engine._lock()
        except BaseException:
            engine.close()
            raise
        return engine

    @property
    def address(self) -> str:
        """Where the data is; see `Engine`."""
        return self._address

    def tables(self) -> list[str]:
        """Names of all tables and views; see `Engine`."""
        self._live()
        return list(self._tables)

    def columns(self, table: str) -> dict[str, ColumnType]:
        """The columns of a table; see `Engine`."""
        self._require(table)
        if table in self._files:
            self._check_parts(self._files[table])
        described = self._rows(f"DESCRIBE SELECT * FROM {quoted_path(table)}")
        types = {str(name): duckdb_type(str(kind)) for name, kind, *_ in described}
        if self._watched:  # Parquet and CSV files have no collations
            if table not in self._collations:
                texts = [name for name, kind in types.items() if kind.native == "VARCHAR"]
                self._collations[table] = self._find_collations(table, texts)
            for name, collation in self._collations[table].items():
                types[name] = ColumnType("other", native=f"VARCHAR COLLATE {collation}")
        return types

    def fetch(self, sql: str, *, timeout: float | None = None) -> pa.Table:
        """Run one query; see `Engine`."""
        connection = self._checked(sql)
        self._read_csv(sql)

        def run() -> pa.Table:
            relation = connection.sql(sql)
            if any(str(kind) in NOT_EXACT for kind in relation.types):
                raise complaints.unreadable_type(self._address)
            return same_types(relation.to_arrow_table())

        return self._within(timeout, connection, run)

    def state(self, tables: Sequence[str]) -> str | None:
        """What changes whenever the contents may have changed; see `Engine`."""
        for table in tables:
            self._require(table)
        if self._watched:
            self._check_unchanged()
            return self._state
        states = {
            table: fingerprint(self._files[table].files()) if table in self._files else self._states[table]
            for table in tables
        }
        return " ".join(states[table] for table in sorted(states))

    def keep(self, name: str, sql: str, *, timeout: float | None = None) -> bool:
        """Keep a query's result in memory; see `Engine`.

        Raises:
            DatabaseError: if it fails, or if a table of the database has that name.
        """
        connection = self._checked(sql)
        if name.casefold() in (table.casefold() for table in self.tables()):
            raise DatabaseError(
                f"The database {self._address} has a table {name!r}; a result cannot be kept under that name.",
                f"データベース {self._address} に表 {name!r} があるため、その名前で結果を保持できません。",
            )
        self._read_csv(sql)
        statement = f"CREATE OR REPLACE TEMPORARY TABLE {double_quoted(name)} AS (\n{sql}\n)"
        self._within(timeout, connection, partial(connection.execute, statement))
        return True

    def close(self) -> None:
        """Close the connection; see `Engine`."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            self._folder.remove()

    def _attach(self, path: Path) -> None:
        self._watched = [path, path.with_name(path.name + ".wal")]
        self._state = fingerprint(self._watched)
        # Views of the file may name their tables with the name that DuckDB gives the file by itself.
        name = path.stem if path.stem.casefold() not in OWN_CATALOGUES else OTHER_NAME
        self._run(f"ATTACH {literal(str(path))} AS {double_quoted(name)} (READ_ONLY)", True)
        schemas = self._rows(f"SELECT schema_name FROM duckdb_schemas() WHERE database_name = {literal(name)}")
        if name.casefold() in {schema.casefold() for (schema,) in schemas}:
            # A name that stands for the file and for a schema in it would have two readings.
            self._run(f"DETACH {double_quoted(name)}", True)
            name = OTHER_NAME
            self._run(f"ATTACH {literal(str(path))} AS {double_quoted(name)} (READ_ONLY)", True)
        self._run(f"USE {double_quoted(name)}.main", True)
        self._catalogue = name
        self._lock()
        self._folded_views = self._list_folded_views()
        self._check_unchanged()

    def _view_parquet(self, table: FileTable) -> None:
        self._check_parts(table)
        rows = f"read_parquet({literal(table.pattern)}, hive_partitioning = false)"
        fine = [
            f"CAST({double_quoted(name)} AS TIMESTAMP) AS {double_quoted(name)}"
            for name, kind, *_ in self._rows(f"DESCRIBE SELECT * FROM {rows}")
            if kind == "TIMESTAMP_NS"
        ]
        # Nanoseconds reach from 1677 to 2262 only, and fail where they meet other times.
        columns = f"* REPLACE ({', '.join(fine)})" if fine else "*"
        self._run(f"CREATE VIEW {double_quoted(table.name)} AS SELECT {columns} FROM {rows}", True)
        self._files[table.name] = table
        self._states[table.name] = ""

    def _check_parts(self, table: FileTable) -> None:
        """DuckDB would convert the columns of other files to the types of the first, and fail on values."""
        import pyarrow.parquet

        def schemas() -> list[Any]:
            return [pyarrow.parquet.read_schema(file).remove_metadata() for file in table.files()]

        found = attempt(schemas, lambda _: complaints.cannot_connect(str(table.path)))
        if any(not schema.equals(found[0]) for schema in found):
            raise complaints.wrong_location(
                f"The files in {str(table.path)!r} have different columns or types; a table has the same in all files.",
                f"{str(table.path)!r} のファイルの列または型が一致しません。一つの表では全ファイルで同じにしてください。",
            )

    def _open_csv(self, table: FileTable, types: Mapping[str, str]) -> None:
        """A table with the columns of the header, and no rows yet."""
        header = header_of(table)
        _check_columns(table, header, types)
        self._states[table.name] = fingerprint(table.files())
        columns = ", ".join(f"{double_quoted(column)} {types.get(column, 'VARCHAR')}" for column in header)
        self._run(f"CREATE TABLE {double_quoted(table.name)} ({columns})", True)
        self._unread[table.name] = partial(self._read_rows, table, header, types)

    def _read_csv(self, sql: str | None = None) -> None:
        """Read the rows of the CSV tables that a query may name, or of all."""
        for name in list(self._unread):
            if sql is None or name.replace('"', '""').casefold() in sql.casefold():
                self._unread[name]()
                del self._unread[name]

    def _read_rows(self, table: FileTable, header: Sequence[str], types: Mapping[str, str]) -> None:
        """Read all fields as text first: DuckDB 2.0 makes a failing cast out of TRY_CAST right above a CSV file (its #23818)."""
        if fingerprint(table.files()) != self._states[table.name]:
            raise complaints.changed(self._address)
        columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in header)
        options = (
            f"auto_detect = false, header = true, delim = {literal(table.delimiter)}, quote = '\"', escape = '\"', "
            "hive_partitioning = false"
        )
        name, raw = double_quoted(table.name), double_quoted(f"{table.name} as text")
        rows = f"read_csv({literal(table.pattern)}, {options}, columns = {{{columns}}})"
        reading = f"CREATE TABLE {raw} AS SELECT * FROM {rows}" if types else f"INSERT INTO {name} SELECT * FROM {rows}"
        attempt(partial(self._live().execute, reading), lambda _: complaints.unreadable_csv(table.path))
        if types:
            converted = ", ".join(
                f"TRY_CAST({double_quoted(column)} AS {types[column]})" if column in types else double_quoted(column)
                for column in header
            )
            self._run(f"INSERT INTO {name} SELECT {converted} FROM {raw}; DROP TABLE {raw}", True)

    def _allow(self, tables: Sequence[FileTable]) -> None:
        # DuckDB compares the pattern itself with these as well as the files that it finds.
        files = sorted({text for table in tables if not table.is_folder for text in (str(table.path), table.pattern)})
        folders = {folder for table in tables if table.is_folder for folder in (table.path, Path(table.pattern).parent)}
        self._run(f"SET allowed_paths = [{', '.join(map(literal, files))}]")
        self._run(f"SET allowed_directories = [{', '.join(literal(str(folder)) for folder in sorted(folders))}]")

    def _lock(self) -> None:
        """No table can come or go from here on."""
        self._run("SET enable_external_access = false; SET lock_configuration = true")
        self._tables = self._list_tables()

    def _list_tables(self) -> list[str]:
        listed = self._rows(
            "SELECT schema_name, table_name FROM duckdb_tables() "
            f"WHERE database_name = {literal(self._catalogue)} AND NOT internal AND NOT temporary "
            "UNION ALL SELECT schema_name, view_name FROM duckdb_views() "
            f"WHERE database_name = {literal(self._catalogue)} AND NOT internal AND NOT temporary"
        )
        names = (public_name(schema, table, bare=schema == "main") for schema, table in listed)
        return sorted(name for name in names if name is not None)

    def _list_folded_views(self) -> set[str]:
        """All views, if a definition in the file has the word COLLATE: what a view shows may have been folded before."""
        mine = f"database_name = {literal(self._catalogue)}"
        definitions = self._rows(
            f"SELECT sql FROM duckdb_tables() WHERE {mine} UNION ALL SELECT sql FROM duckdb_views() WHERE {mine} "
            f"UNION ALL SELECT macro_definition FROM duckdb_functions() WHERE {mine}"
        )
        if not any("collate" in (definition or "").casefold() for (definition,) in definitions):
            return set()
        listed = self._rows(f"SELECT schema_name, view_name FROM duckdb_views() WHERE {mine}")
        names = (public_name(schema, view, bare=schema == "main") for schema, view in listed)
        return {name for name in names if name is not None}

    def _find_collations(self, table: str, texts: Sequence[str]) -> dict[str, str]:
        """The collations of VARCHAR columns under which different texts are equal; no row is read."""
        if not texts:
            return {}
        name = f"sudare_{uuid.uuid4().hex}"  # must be nobody else's: a temporary table hides others
        self._run(f"CREATE TEMPORARY TABLE {name} AS SELECT {selected(texts)} FROM {quoted_path(table)} LIMIT 0")
        try:
            listed = self._rows(f"SELECT sql FROM duckdb_tables() WHERE temporary AND table_name = {literal(name)}")
        finally:
            self._run(f"DROP TABLE temp.main.{name}")
        found = collations_in("".join(definition for (definition,) in listed), texts)
        return (dict.fromkeys(texts, UNKNOWN) if table in self._folded_views else {}) | found

    def _require(self, table: str) -> None:
        if table not in self.tables():
            raise complaints.no_such_table(self._address, table)

    def _live(self) -> DuckDBPyConnection:
        if self._connection is None:
            raise complaints.closed(self._address)
        return self._connection

    def _checked(self, sql: str) -> DuckDBPyConnection:
        """The connection, if this is one SELECT and nothing else."""
        import duckdb

        connection = self._live()
        statements = attempt(partial(connection.extract_statements, sql), self._refused)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise complaints.not_a_query(self._address)
        return connection

    def _refused(self, _: Exception) -> DatabaseError:
        return complaints.not_a_query(self._address)

    def _within(self, timeout: float | None, connection: DuckDBPyConnection, run: Callable[[], Result]) -> Result:
        deadline = QueryDeadline(timeout, connection.interrupt)

        def tell(_: Exception) -> DatabaseError:
            if deadline.passed and timeout is not None:
                return complaints.timed_out(self._address, timeout)
            return complaints.failed(self._address)

        self._check_unchanged()
        with deadline:
            result = attempt(run, tell)
        self._check_unchanged()
        return result

    def _check_unchanged(self) -> None:
        if self._watched and fingerprint(self._watched) != self._state:
            raise complaints.changed(self._address)

    def _run(self, statement: str, opening: bool = False) -> None:
        tell = complaints.cannot_connect if opening else complaints.failed
        attempt(partial(self._live().execute, statement), lambda _: tell(self._address))

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        connection = self._live()
        return attempt(lambda: connection.execute(sql).fetchall(), lambda _: complaints.failed(self._address))


def _check_types(tables: Sequence[FileTable], types: Mapping[str, Mapping[str, str]]) -> None:
    texts = [table.name for table in tables if table.format == "csv"]
    for name, columns in types.items():
        if name not in texts:
            raise complaints.wrong_location(
                f"Types were given for {name!r}, which is no table of CSV files here. Those are: {', '.join(texts) or 'none'}.",
                f"{name!r} に型が指定されていますが、CSV ファイルの表ではありません。CSV の表：{', '.join(texts) or 'なし'}。",
            )
        for column, kind in columns.items():
            if not TYPE_NAME.fullmatch(kind) or duckdb_type(kind.upper().replace(" ,", ",")).kind == "other":
                raise complaints.wrong_location(
                    f"The type {kind!r} of column {column!r} of table {name!r} is not known. "
                    "Write one such as BIGINT, DECIMAL(15,2), DOUBLE, BOOLEAN, DATE or TIMESTAMP.",
                    f"表 {name!r} の列 {column!r} の型 {kind!r} は使えません。"
                    "BIGINT、DECIMAL(15,2)、DOUBLE、BOOLEAN、DATE、TIMESTAMP などを指定してください。",
                )


def _check_columns(table: FileTable, header: Sequence[str], types: Mapping[str, str]) -> None:
    for column in types:
        if column not in header:
            raise complaints.wrong_location(
                f"A type was given for column {column!r}, which {str(table.path)!r} does not have. "
                f"It has: {', '.join(header)}.",
                f"列 {column!r} に型が指定されていますが、{str(table.path)!r} にありません。列：{', '.join(header)}。",
            )
