"""Text files of which every line is a row by itself, so that no line decides anything about another one.

A table that follows people must appear whatever one person's rows are. A line that is none of the table's (too few or too many
fields, a quote without its end, bytes that are no text) is left out and counted for the operator. As a CSV reader has it, a quote
without its end would take the rows of others with it: here a line break always ends the row, even within quotes.

How a file is to be read is told by its header, never by its rows: ``encoding = "auto"`` is what the header is in, UTF-8 if it is
plain ASCII.
"""

from __future__ import annotations

import csv
import io
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from sudare.io import complaints
from sudare.io.formats.text_files import AUTO, encoding_in, is_utf8, open_member
from sudare.io.relations import SourceRelation, TextStream, open_relation
from sudare.io.source import MAX_HEADER, TEXT_FORMATS, Source, delimiter_of, files_and_format

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["LineFiles", "open_rows"]

LINES_AT_ONCE = 1 << 17
NO_TEXT = "\ufffd"
"""What stands for bytes that are no text in the encoding."""


def open_rows(source: Source, connection: DuckDBPyConnection) -> SourceRelation:
    """The rows of a source, of which those of text files are read line by line."""
    files, form = files_and_format(source)
    if form not in TEXT_FORMATS:
        return open_relation(source, connection)
    relation = LineFiles(files, encoding=_encoding_of_headers(files, source.encoding))
    relation.describe(connection)
    return relation


def _encoding_of_headers(files: Sequence[str], stated: str) -> str:
    """The one encoding of all headers."""
    if stated.lower() != AUTO:
        return stated
    found = set()
    for file in files:
        try:
            with open_member(file) as stream:
                encoding = encoding_in(io.BytesIO(stream.readline(MAX_HEADER)))
        except (OSError, EOFError, zipfile.BadZipFile, zlib.error):
            raise complaints.damaged(file, "text") from None
        if encoding is None:
            raise complaints.unknown_encoding(file)
        found.add(encoding)
    if len(found) > 1:
        raise complaints.unknown_encoding(files[0])
    return found.pop()


@dataclass
class LineFiles(TextStream):
    """Text files of which every line is a row by itself.

    Attributes:
        skipped: lines that are no rows, among those that were read so far; for the operator alone.
    """

    skipped: int = 0

    def _batches(self, file: str, needed: Sequence[str]) -> Iterator[Any]:
        names, delimiter = self.headers[file], delimiter_of(file)
        places = [names.index(name) for name in needed]
        encoding = "utf-8-sig" if is_utf8(self.encoding) else self.encoding
        try:
            with (
                open_member(file) as stream,
                io.TextIOWrapper(stream, encoding=encoding, errors="replace", newline="\n") as text,
            ):
                next(text, None)
                while lines := [line.rstrip("\r\n") for line in islice(text, LINES_AT_ONCE)]:
                    yield self._batch(lines, len(names), places, delimiter)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError):
            raise complaints.damaged(file, "zip" if file.lower().endswith(".zip") else self.kind) from None

    def _batch(self, lines: list[str], width: int, places: Sequence[int], delimiter: str) -> Any:
        """The wanted fields of the lines that are rows."""
        import pyarrow
        import pyarrow.compute as compute

        filled = [line for line in lines if line]
        text = [line for line in filled if NO_TEXT not in line]
        plain = [line for line in text if '"' not in line]
        fields = compute.split_pattern(pyarrow.array(plain, pyarrow.string()), pattern=delimiter)
        fields = fields.filter(compute.equal(compute.list_value_length(fields), width))
        quoted = [row for line in text if '"' in line if (row := _fields_of(line, delimiter, width)) is not None]
        self.skipped += len(filled) - len(fields) - len(quoted)
        columns = []
        for place in places:
            values = compute.list_element(fields, place) if len(fields) else pyarrow.array([], pyarrow.string())
            values = compute.if_else(compute.equal(values, ""), pyarrow.scalar(None, pyarrow.string()), values)
            more = pyarrow.array([row[place] or None for row in quoted], pyarrow.string())
            columns.append(pyarrow.concat_arrays([values, more]))
        return pyarrow.RecordBatch.from_arrays(columns, names=[str(place) for place in range(len(places))])


def _fields_of(line: str, delimiter: str, width: int) -> list[str] | None:
    """The fields of a line with quotes; None if it has another number of them, or a quote without its end."""
    try:
        (row,) = csv.reader([line], delimiter=delimiter, strict=True)
    except (csv.Error, ValueError):
        return None
    return row if len(row) == width else None
