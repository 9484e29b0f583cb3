"""Whether a source can be read and has its columns, told by the names and types of columns alone.

This is looked at before anything is charged for. It tells nothing about anybody: which files there are, what their columns are
called and of which type they are is what the office decided when it laid out the data, and would be the same whoever was in it.
So a row is never looked at: of a text file its first line, of a workbook its first row, of a Parquet, Arrow, DuckDB or
GeoPackage file the schema, of a query that it is one. Where that does not tell (an encoding that the header alone leaves open,
types of a query's columns), nothing is said here, and the release itself finds out when it is paid for.

A text file without a header has a person in its first line. No name is shown unless one that was asked for is among them.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from sudare.column_names import parse_header
from sudare.io import complaints
from sudare.io.counting import require_reading
from sudare.io.engine import open_engine, told
from sudare.io.formats.arrow_files import arrow_schema
from sudare.io.formats.geotiff import require_rasters
from sudare.io.formats.row_formats import ROW_FORMATS
from sudare.io.formats.text_files import AUTO, encoding_in, is_utf8, open_member
from sudare.io.loading import defaults_of
from sudare.io.relations import ArrowFiles, ParquetFiles, Query, RowFiles, SourceRelation, TextStream
from sudare.io.source import MAX_HEADER, TEXT_FORMATS, Source, delimiter_of, files_and_format

if TYPE_CHECKING:
    from sudare.domain import Domain

__all__ = ["names_of_columns", "require_columns", "require_columns_of_domain", "require_openable"]

DELIMITERS = (",", ";", "\t", "|")


def require_columns(source: Source, wanted: Sequence[str]) -> tuple[str, ...] | None:
    """Refuse files that cannot be opened, or lack a column that is wanted, whatever separates the fields of text files.

    Args:
        source: files of records.
        wanted: names of columns.

    Returns:
        All columns of the first file; None where headers alone do not tell them.

    Raises:
        InputError: names the file and the column.
    """
    files, form = files_and_format(source)
    found: list[tuple[str, ...] | None] = []
    for file in files:
        require_openable(file)
        if form in TEXT_FORMATS:
            headers = _possible_headers(file, source.encoding)
        elif form == "arrow":
            headers = [tuple(arrow_schema(file).names)]
        elif form in ROW_FORMATS:
            headers = [ROW_FORMATS[form].columns(file)]
        elif form in ("parquet", "geoparquet"):
            headers = [tuple(ParquetFiles((file,)).schema_of(file).names)]
        else:
            headers = []
        names = max(headers, key=lambda names: len(set(wanted) & set(names)), default=None)
        missing = [name for name in wanted if names is not None and name not in names]
        if names is not None and missing:
            raise complaints.missing_column(missing[0], names, file, asked=wanted, peek=False)
        found.append(names)
    return found[0]


def require_columns_of_domain(source: Source, domain: Domain) -> None:
    """Refuse files that cannot be opened, or lack a column that counting needs, or have it in a type that cannot hold it.

    Raises:
        InputError: names the file and the column.
    """
    import duckdb

    files, form = files_and_format(source)
    for file in files:
        require_openable(file)
    if form == "geotiff":
        require_rasters(files)
    if form in ("e-stat", "geotiff"):
        return  # their columns are the same in every file
    with open_engine() as connection:
        try:
            relation = _described(source, files, form, connection)
            if relation is not None:
                require_reading(source, domain, defaults_of(source, form), connection, relation)
        except duckdb.Error as failure:
            is_query = source.query is not None
            raise told(failure, files, form, memory="1GB", encoding=source.encoding, query=is_query) from None


def names_of_columns(source: Source) -> tuple[str, ...]:
    """The columns of a source's first file; none where headers alone do not tell them, or no rows of people are in them."""
    files, form = files_and_format(source)
    if form in TEXT_FORMATS and form not in ("e-stat", "people-flow"):
        return _header(files[0], source.encoding, delimiter_of(files[0])) or ()
    if form == "arrow":
        return tuple(arrow_schema(files[0]).names)
    if form in ROW_FORMATS:
        return ROW_FORMATS[form].columns(files[0])
    if form in ("parquet", "geoparquet"):
        return tuple(ParquetFiles(files).schema_of(files[0]).names)
    return ()


def _described(source: Source, files: tuple[str, ...], form: str, connection: object) -> SourceRelation | None:
    """The columns of a source; None where they cannot be told from headers alone."""
    relation: SourceRelation
    if form == "duckdb":
        query = Query(files, query=source.query or "")
        if source.query is not None:
            query.require_one_select(connection)  # type: ignore[arg-type]
            return None
        relation = query
    elif form in TEXT_FORMATS:
        headers = {file: _header(file, source.encoding, delimiter_of(file)) for file in files}
        if not all(headers.values()):
            return None
        stream = TextStream(files, encoding=source.encoding)
        stream.headers = {file: names for file, names in headers.items() if names is not None}
        stream.types = dict.fromkeys(stream.headers[files[0]], "VARCHAR")
        return stream
    elif form in ROW_FORMATS:
        relation = RowFiles(files, form=form)
    else:
        relation = ArrowFiles(files) if form == "arrow" else ParquetFiles(files)
    relation.describe(connection)  # type: ignore[arg-type]
    return relation


def require_openable(file: str) -> None:
    """Refuse a file that is not there, or that the operating system does not let us read.

    Raises:
        InputError: if it is.
    """
    try:
        with open(file, "rb"):  # noqa: PTH123 - a name as it was given
            pass
    except OSError:
        raise complaints.unreadable(file) from None


def _possible_headers(file: str, encoding: str) -> list[tuple[str, ...]]:
    """The names of a text file's columns by each delimiter that there may be; none if its encoding is left open."""
    usual = delimiter_of(file)
    found = [_header(file, encoding, each) for each in (usual, *(other for other in DELIMITERS if other != usual))]
    return [names for names in found if names is not None]


def _header(file: str, encoding: str, delimiter: str) -> tuple[str, ...] | None:
    """The names in the first line of a text file; None if that line alone does not tell them."""
    try:
        with open_member(file) as stream:
            line = stream.readline(MAX_HEADER)
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error):
        raise complaints.damaged(file, "zip" if file.lower().endswith(".zip") else "text") from None
    if not line.strip():
        raise complaints.empty_file(file)
    stated = encoding_in(io.BytesIO(line)) if encoding.lower() == AUTO else encoding
    if stated is None or line.count(b'"') % 2 or stated.lower().startswith("utf-16"):
        return None
    with suppress(UnicodeDecodeError, ValueError):
        return tuple(parse_header(line.decode("utf-8-sig" if is_utf8(stated) else stated), delimiter))
    return None
