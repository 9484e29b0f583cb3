"""What a large file of people looks like in SQL: the same columns and texts as in memory, and nothing that DuckDB would guess.

The header and the delimiter of a CSV file are read as `people_files` reads them, and stated. Numbers and times of a Parquet file
are written as pyarrow writes them, so that a hierarchy fits both ways of reading. Names of folders are no data, and a name is
one file, whatever letters it has.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from glob import escape
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.errors import InputError
from sudare.io import complaints
from sudare.io.engine import identifier, literal
from sudare.io.source import MAX_HEADER
from sudare.microdata.people_files import delimiter_in

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["csv_columns", "csv_rows", "parquet_columns", "parquet_rows"]

LINES_LOOKED_AT = 20


def csv_columns(path: Path) -> tuple[tuple[str, ...], str]:
    """The names in the header of a CSV file in UTF-8, and what separates its fields.

    Raises:
        InputError: if it is empty or in another encoding, a name is there twice, or one of the first rows has more or fewer
            fields.
    """
    file = str(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            lines = list(islice(iter(lambda: stream.readline(MAX_HEADER), ""), LINES_LOOKED_AT))
            is_whole = not stream.read(1)
    except UnicodeDecodeError:
        raise complaints.wrong_encoding(file, "utf-8") from None
    except OSError:
        raise complaints.unreadable(file) from None
    if not "".join(lines).strip():
        raise complaints.empty_file(file)
    delimiter = delimiter_in(lines, file)
    header = complaints.header_of("".join(lines), delimiter, file, is_whole=is_whole)
    rows = list(csv.reader(lines, delimiter=delimiter))
    _require_different(header, file)
    # The last of the lines may end within a field.
    for number, fields in enumerate(rows if is_whole else rows[:-1], start=1):
        if fields and len(fields) != len(header):
            raise complaints.wrong_fields(complaints.Spot(file, number))
    return tuple(header), delimiter


def csv_rows(path: Path, names: Sequence[str], delimiter: str) -> str:
    """What to select the columns of a CSV file from, all of them texts."""
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
    options = (
        f"columns = {{{columns}}}, auto_detect = false, header = true, delim = {literal(delimiter)}, quote = '\"', "
        "escape = '\"', allow_quoted_nulls = false, strict_mode = true, hive_partitioning = false"
    )
    return f"read_csv({literal(escape(str(path)))}, {options})"


def parquet_columns(path: Path) -> Any:
    """The schema of a Parquet file, as pyarrow has it.

    Raises:
        InputError: if it is none, or a name is there twice.
    """
    import pyarrow as pa
    import pyarrow.parquet

    try:
        schema = pa.parquet.read_schema(path)
    except (pa.ArrowException, OSError, ValueError):
        raise complaints.damaged(str(path), "Parquet") from None
    _require_different(schema.names, str(path))
    return schema


def parquet_rows(connection: DuckDBPyConnection, path: Path, schema: Any, view: str) -> tuple[str, tuple[str, ...]]:
    """What to select the columns of a Parquet file from, as the texts that they are in memory.

    Args:
        connection: to DuckDB.
        path: of the file.
        schema: its own.
        view: what the functions that write numbers are named after.

    Returns:
        The rows in SQL, and the columns that are neither texts nor numbers: nothing can be read from those.
    """
    rows = f"read_parquet({literal(escape(str(path)))}, hive_partitioning = false)"
    found = connection.execute(f"DESCRIBE SELECT * FROM {rows}").fetchall()  # noqa: S608 - names and texts are quoted
    texts, unreadable = [], []
    for place, (field, (_, kind, *_)) in enumerate(zip(schema, found, strict=True)):
        name = identifier(field.name)
        told = field.type.value_type if _is_dictionary(field.type) else field.type
        if _is_unreadable(told):
            unreadable.append(field.name)
            texts.append(f"NULL::VARCHAR AS {name}")
        elif _is_written_alike(told):
            texts.append(f"CAST({name} AS VARCHAR) AS {name}")
        else:
            function = f"{view}_text_{place}"
            _define_text(connection, function, str(kind), told)
            texts.append(f"{function}({name}) AS {name}")
    return f"(SELECT {', '.join(texts)} FROM {rows})", tuple(unreadable)  # noqa: S608 - names and texts are quoted


def _require_different(names: Sequence[str], file: str) -> None:
    """DuckDB does not tell names apart that differ in capital letters alone, and takes no empty ones."""
    complaints.require_different(names, file)
    complaints.require_few_columns(names, file)
    known: dict[str, int] = {}
    for place, name in enumerate(names, start=1):
        if not name:
            raise InputError(
                f"Column {place} of {Path(file).name!r} has no name. Records larger than memory need one for each column.",
                f"{Path(file).name!r} の {place} 列目に名前がありません。メモリに載らないレコードでは、"
                "すべての列に名前が必要です。",
            )
        other = known.setdefault(name.casefold(), place)
        if other != place:
            raise InputError(
                f"The name of column {place} of {Path(file).name!r} differs from that of column {other} in capital "
                "letters alone. Records that are larger than memory need other names: rename one of them.",
                f"{Path(file).name!r} の {place} 列目と {other} 列目の名前は大文字・小文字が違うだけです。"
                "メモリに載らないレコードでは区別できないため、名前を変えてください。",
            )


def _is_dictionary(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_dictionary(kind))


def _is_unreadable(kind: Any) -> bool:
    import pyarrow as pa

    types = pa.types
    is_binary = types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
    return bool(types.is_nested(kind) or is_binary)


def _is_written_alike(kind: Any) -> bool:
    """Whether DuckDB and pyarrow make the same texts of a type."""
    import pyarrow as pa

    types = pa.types
    is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_null(kind)
    return bool(is_text or types.is_integer(kind) or types.is_boolean(kind) or types.is_date32(kind))


def _define_text(connection: DuckDBPyConnection, function: str, duckdb_kind: str, kind: Any) -> None:
    """A function in SQL that writes values as pyarrow does."""
    from duckdb.func import ARROW, SPECIAL

    connection.create_function(function, _writer_of(kind), [duckdb_kind], "VARCHAR", type=ARROW, null_handling=SPECIAL)


def _writer_of(kind: Any) -> Callable[[Any], Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    def write(values: Any) -> Any:
        texts = values.cast(kind).cast(pa.string())
        is_no_number = pc.equal(texts, "nan") if pa.types.is_floating(kind) else None
        return texts if is_no_number is None else pc.if_else(is_no_number, pa.scalar(None, pa.string()), texts)

    return write
