"""What a source looks like in SQL.

DuckDB reads Parquet and CSV files itself; other encodings, zipped text and Arrow files come as streams of batches from
pyarrow; a query stands for itself.

Text columns of CSV files stay text: their meaning comes from the plan's attributes and is not guessed from the first rows.
"""

# ruff: noqa: S608 - names and texts are quoted by identifier() and literal()

from __future__ import annotations

import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from glob import escape, has_magic
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from sudare.errors import InputError
from sudare.io import complaints
from sudare.io.engine import identifier, literal
from sudare.io.formats.arrow_files import arrow_schema, sound_batches
from sudare.io.formats.row_formats import ROW_FORMATS
from sudare.io.formats.text_files import encoding_of, is_utf8, open_member
from sudare.io.source import Source, delimiter_of, files_and_format, first_fields

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = [
    "ArrowFiles",
    "CsvFiles",
    "ParquetFiles",
    "Query",
    "RowFiles",
    "SourceRelation",
    "TextStream",
    "open_relation",
]

FILE_COLUMN, ROW_COLUMN = "__sudare_file", "__sudare_row"
ROWS_AT_ONCE = 10_000


@dataclass
class SourceRelation(ABC):
    """Rows that SQL can read.

    Attributes:
        files: the files, in the order of their names.
        types: DuckDB's type of each column, by its name.
        failure: what went wrong inside a stream, where DuckDB would only say that it did.
        kind: what people call the format.
        is_all_text: whether the format has no types: numbers come as texts.
    """

    files: tuple[str, ...]
    types: dict[str, str] = field(default_factory=dict)
    failure: InputError | None = None
    kind = "data"
    is_all_text = False

    @abstractmethod
    def describe(self, connection: DuckDBPyConnection) -> None:
        """Find out the columns and their types, without reading data."""

    @abstractmethod
    def rows(self, connection: DuckDBPyConnection, needed: Sequence[str]) -> str:
        """What to select the needed columns from."""

    @abstractmethod
    def numbered_rows(self, connection: DuckDBPyConnection, needed: Sequence[str]) -> str | None:
        """The same with file and row number, to find a mistake; None if they are not known."""

    def check_files(self, needed: Sequence[str], *, peek: bool = True) -> None:  # noqa: B027 - one result has nothing to compare
        """Every file must have the needed columns, in one type; without ``peek``, a complaint looks at no row."""

    def first_file(self) -> str | None:
        """The file to name where any would do."""
        return self.files[0] if self.files else None

    def _read_types(self, connection: DuckDBPyConnection, rows: str) -> None:
        described = connection.execute(f"DESCRIBE SELECT * FROM {rows}").fetchall()
        self.types = {str(name): str(kind) for name, kind, *_ in described}


def _file_list(files: Sequence[str]) -> str:
    return "[" + ", ".join(literal(escape(file) if has_magic(file) else file) for file in files) + "]"


@dataclass
class ParquetFiles(SourceRelation):
    """Parquet files, GeoParquet among them."""

    kind = "Parquet"

    def describe(self, connection: DuckDBPyConnection) -> None:
        """Find out the columns and their types, without reading data."""
        self.schema_of(self.files[0])
        self._read_types(connection, self.rows(connection, ()))

    def rows(self, connection: DuckDBPyConnection, needed: Sequence[str]) -> str:
        """What to select the needed columns from. A folder such as year=2020 tells a column that the files do not have."""
        return f"read_parquet({_file_list(self.files)}, hive_partitioning={self._folders_tell(needed)})"

    def _folders_tell(self, needed: Sequence[str]) -> str:
        """Never where a folder would stand in for a column of any file itself, such as that of the persons."""
        told = {part.split("=", 1)[0] for file in self.files for part in Path(file).parent.parts if "=" in part}
        if not told:
            return "false"
        # DuckDB takes names of other capital letters for the same, and names of folders may be written as in a URL.
        meant = {unquote(name).casefold() for name in told}
        within = {name.casefold() for file in self.files for name in self.schema_of(file).names}
        known = {*told, *self.schema_of(self.files[0]).names}
        return "true" if not meant & within and set(needed) <= known else "false"

    def numbered_rows(self, connection: DuckDBPyConnection, needed: Sequence[str]) -> str | None:
        """The same with file and row number."""
        named = f"{FILE_COLUMN}, file_row_number + 1 AS {ROW_COLUMN}"
        files, folders_tell = _file_list(self.files), self._folders_tell(needed)
        options = f"filename='{FILE_COLUMN}', file_row_number=true, hive_partitioning={folders_tell}"
        inner = f"read_parquet({files}, {options})"
        return f"(SELECT * EXCLUDE ({FILE_COLUMN}), {named} FROM {inner})"

    def check_files(self, needed: Sequence[str], *, peek: bool = True) -> None:
        """Every file must have the needed columns, in one type."""
        first = self.schema_of(self.files[0])
        for file in self.files[1:]:
            schema = self.schema_of(file)
            for name in needed:
                if name not in first.names:
                    continue  # told by the folders, as in year=2020/part.parquet
                if name not in schema.names:
                    raise complaints.missing_column(name, schema.names, file, asked=needed, peek=peek)
                if schema.field(name).type != first.field(name).type:
                    raise complaints.mixed_types(name, self.files[0], file)

    def schema_of(self, file: str) -> Any:
        """The schema of a file, without its data."""
        import pyarrow
        import pyarrow.parquet

        try:
            return pyarrow.parquet.read_schema(file)
        except (pyarrow.ArrowException, ValueError):
            raise complaints.damaged(file, self.kind) from None
        except OSError:
            # pyarrow also says this of a file without Parquet's marks at its end.
            try:
                with open(file, "rb"):  # noqa: PTH123
                    pass
            except OSError:
                raise complaints.unreadable(file) from None
            raise complaints.damaged(file, self.kind) from None


@dataclass
class TextStream(SourceRelation):
    """Text files that pyarrow decodes: in other encodings than UTF-8, or zipped."""

    encoding: str = "utf-8"
    headers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    kind = "CSV"
    is_all_text = True

    def describe(self, connection: DuckDBPyConnection) -> None:
        """Find out the columns, all of them text."""
        self.headers = {file: tuple(first_fields(file, self.encoding)) for file in self.files}
        self.types = dict.fromkeys(self.headers[self.files[0]], "VARCHAR")

    def check_files(self, needed: Sequence[str], *, peek: bool = True) -> None:
        """Every file must have the needed columns."""
        for file, names in self.headers.items():
            for name in needed:
                if name not in names:
                    raise complaints.missing_column(name, names, file, asked=needed, peek=peek)

    def rows(self, connection: DuckDBPyConnection, needed: Sequence[str]) -> str:
        """What to select the needed columns from."""
        return self._register(connection, needed, numbered=False)

    def numbered_rows(self, connection: DuckDBPyConnection, needed: Sequence[str]) -> str | None:
        """The same with file and row number."""
        return self._register(connection, needed, numbered=True)

    def _register(self, connection: DuckDBPyConnection, needed: Sequence[str], *, numbered: bool) -> str:
        import pyarrow

        fields = [self._field(name) for name in needed]
        if numbered:
            fields += [pyarrow.field(FILE_COLUMN, pyarrow.string()), pyarrow.field(ROW_COLUMN, pyarrow.int64())]
        schema = pyarrow.schema(fields)
        reader = pyarrow.RecordBatchReader.from_batches(schema, self._guarded(schema, needed, numbered))
        connection.register("sudare_stream", reader)
        return "sudare_stream"

    def _field(self, name: str) -> Any:
        import pyarrow

        return pyarrow.field(name, pyarrow.string())

    def _guarded(self, schema: Any, needed: Sequence[str], numbered: bool) -> Iterator[Any]:
        """DuckDB only says that a stream failed; what failed is kept here."""
        import pyarrow

        try:
            for file in self.files:
                done = self._rows_before(file)
                for batch in self._batches(file, needed):
                    arrays = list(batch.columns)
                    if numbered:
                        numbers = range(done + 1, done + batch.num_rows + 1)
                        arrays += [pyarrow.array([file] * batch.num_rows, pyarrow.string()), pyarrow.array(numbers)]
                    yield pyarrow.RecordBatch.from_arrays(arrays, schema=schema)
                    done += batch.num_rows
        except InputError as failure:
            self.failure = failure
            raise

    def _rows_before(self, file: str) -> int:
        """Rows of the file before its first row of data."""
        return 1

    def _batches(self, file: str, needed: Sequence[str]) -> Iterator[Any]:
        import pyarrow
        import pyarrow.csv

        convert = pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(needed, pyarrow.string()),
            include_columns=list(needed),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=[""],
        )
        # A blank line in a file of one column is an empty field, as DuckDB has it.
        parse = pyarrow.csv.ParseOptions(
            delimiter=delimiter_of(file), newlines_in_values=True, ignore_empty_lines=len(self.headers[file]) > 1
        )
        stated = encoding_of(file, self.encoding)
        encoding = "utf8" if is_utf8(stated) else stated
        try:
            with open_member(file) as stream:
                options = pyarrow.csv.ReadOptions(encoding=encoding, use_threads=False)
                yield from pyarrow.csv.open_csv(stream, options, parse, convert)
        except UnicodeDecodeError:
            raise complaints.wrong_encoding(file, stated) from None
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError):
            raise complaints.damaged(file, "zip" if file.lower().endswith(".zip") else self.kind) from None
        except pyarrow.ArrowInvalid as failure:
            if "Empty CSV file or block" in str(failure):
                return  # a header without a line end: nobody
            if "codec can't decode" in str(failure) or "UTF8" in str(failure):
                raise complaints.wrong_encoding(file, stated) from None
            raise complaints.wrong_fields(complaints.Spot(file)) from None


@dataclass
class CsvFiles(TextStream):
    """Plain UTF-8 text that DuckDB reads itself, with all threads; mistakes are then looked for in a stream."""

    def rows(self, connection: DuckDBPyConnection, needed: Sequence[str]) -> str:
        """What to select the needed columns from. Files may have their columns in different orders."""
        by_layout: dict[tuple[tuple[str, ...], str], list[str]] = {}
        for file in self.files:
            by_layout.setdefault((self.headers[file], delimiter_of(file)), []).append(file)
        wanted = ", ".join(identifier(name) for name in needed) or "1"
        parts = []
        for (names, delimiter), files in by_layout.items():
            columns = "{" + ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names) + "}"
            options = (
                f"columns={columns}, auto_detect=false, header=true, delim={literal(delimiter)}, quote='\"', escape='\"', "
                "allow_quoted_nulls=false, strict_mode=true, hive_partitioning=false"
            )
            parts.append(f"SELECT {wanted} FROM read_csv({_file_list(files)}, {options})")
        return "(" + " UNION ALL ".join(parts) + ")"


@dataclass
class ArrowFiles(TextStream):
    """Arrow files (IPC, Feather version 2)."""

    kind = "Arrow"
    is_all_text = False
    schema: Any = None

    def describe(self, connection: DuckDBPyConnection) -> None:
        """Find out the columns and their types, without reading data."""
        import pyarrow

        self.headers = {}
        for file in self.files:
            schema = arrow_schema(file)
            self.schema = schema if self.schema is None else self.schema
            self.headers[file] = tuple(schema.names)
            for name in set(schema.names) & set(self.schema.names):
                if schema.field(name).type != self.schema.field(name).type:
                    raise complaints.mixed_types(name, self.files[0], file)
        empty = self.schema.empty_table()
        connection.register("sudare_schema", empty)
        try:
            self._read_types(connection, "sudare_schema")
        except pyarrow.ArrowException:
            raise complaints.damaged(self.files[0], self.kind) from None

    def _field(self, name: str) -> Any:
        return self.schema.field(name)

    def _rows_before(self, file: str) -> int:
        return 0

    def _batches(self, file: str, needed: Sequence[str]) -> Iterator[Any]:
        for batch in sound_batches(file):
            yield batch.select(list(needed))


@dataclass
class RowFiles(TextStream):
    """Files whose rows come one by one from a reader of their format, all columns as text."""

    form: str = ""

    @property
    def kind(self) -> str:  # type: ignore[override]
        """What people call the format."""
        return ROW_FORMATS[self.form].kind

    def describe(self, connection: DuckDBPyConnection) -> None:
        """Find out the columns, all of them text."""
        self.headers = {file: ROW_FORMATS[self.form].columns(file) for file in self.files}
        self.types = dict.fromkeys(self.headers[self.files[0]], "VARCHAR")

    def _rows_before(self, file: str) -> int:
        return ROW_FORMATS[self.form].rows_before

    def _batches(self, file: str, needed: Sequence[str]) -> Iterator[Any]:
        import pyarrow

        rows = ROW_FORMATS[self.form].rows(file, needed)
        while part := list(islice(rows, ROWS_AT_ONCE)):
            columns = [pyarrow.array(list(column), pyarrow.string()) for column in zip(*part, strict=True)]
            yield pyarrow.RecordBatch.from_arrays(columns, names=list(needed))


@dataclass
class Query(SourceRelation):
    """The result of one SELECT."""

    query: str = ""
    kind = "DuckDB"

    def describe(self, connection: DuckDBPyConnection) -> None:
        """Find out the columns and their types, without reading data."""
        import duckdb

        if len(self.files) > 1:
            raise complaints.failed_query("name one database file.", "データベースは一つだけ指定してください。")
        if self.files:
            try:
                connection.execute(f"ATTACH {literal(self.files[0])} AS sudare_source (READ_ONLY)")
            except duckdb.Error:
                raise complaints.damaged(self.files[0], self.kind) from None
            connection.execute("USE sudare_source")
        connection.execute("SET lock_configuration = true")
        if not self.query:
            self.query = self._only_table(connection)
        self._read_types(connection, f"({self._one_select(connection)}\n)")

    def require_one_select(self, connection: DuckDBPyConnection) -> None:
        """Refuse a query that is none, or several; it is not run, and no file that it names is opened.

        Raises:
            InputError: if it is.
        """
        if len(self.files) > 1:
            raise complaints.failed_query("name one database file.", "データベースは一つだけ指定してください。")
        self._one_select(connection)

    def _one_select(self, connection: DuckDBPyConnection) -> str:
        import duckdb

        statements = connection.extract_statements(self.query)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise complaints.failed_query("it must be one SELECT.", "一つの SELECT でなければなりません。")
        self.query = self.query.strip().rstrip(";")
        return self.query

    def rows(self, connection: DuckDBPyConnection, needed: Sequence[str]) -> str:
        """What to select the needed columns from. The line break ends a comment at the end of the query."""
        return f"({self.query}\n)"

    def numbered_rows(self, connection: DuckDBPyConnection, needed: Sequence[str]) -> str | None:
        """Rows of a query have no numbers."""
        return None

    def first_file(self) -> str | None:
        """A query's result has no file."""
        return None

    def _only_table(self, connection: DuckDBPyConnection) -> str:
        names = [str(row[0]) for row in connection.execute("SHOW TABLES").fetchall()]
        if len(names) != 1:
            listed = ", ".join(names) or "-"
            raise complaints.failed_query(
                f"the database has these tables: {listed}. State a query, such as SELECT * FROM one of them.",
                f"データベースの表は次のとおりです: {listed}。query に SELECT 文を書いてください。",
            )
        return f"SELECT * FROM {identifier(names[0])}"


def open_relation(source: Source, connection: DuckDBPyConnection) -> SourceRelation:
    """The rows of a source of any format but e-Stat and GeoTIFF, with its columns described."""
    files, form = files_and_format(source)
    relation: SourceRelation
    if form == "duckdb":
        relation = Query(files, query=source.query or "")
    elif form in ("parquet", "geoparquet"):
        relation = ParquetFiles(files)
    elif form == "arrow":
        relation = ArrowFiles(files)
    elif form in ROW_FORMATS:
        relation = RowFiles(files, form=form)
    elif not any(file.lower().endswith(".zip") or not is_utf8(encoding_of(file, source.encoding)) for file in files):
        relation = CsvFiles(files, encoding=source.encoding)
    else:
        relation = TextStream(files, encoding=source.encoding)
    relation.describe(connection)
    return relation
