"""Files of people as tables of texts, in the order of their rows, and back.

pyarrow reads text files, because it keeps the order of rows and takes any delimiter; what it says of a failure may quote the
data, so it is never passed on: after a failure the file is looked through once more for the row to name.
"""

from __future__ import annotations

import codecs
import csv
import io
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from sudare.bilingual import Words
from sudare.border.frames import is_frame
from sudare.column_names import parse_header
from sudare.errors import InputError, ParameterError
from sudare.io import complaints
from sudare.io.formats.arrow_files import arrow_schema, sound_batches
from sudare.io.formats.text_files import AUTO, detected_encoding, is_utf8, open_member
from sudare.io.records import write_arrow
from sudare.io.source import MAX_HEADER, TEXT_FORMATS, Source, delimiter_of, files_and_format
from sudare.parameters import shown
from sudare.storage.atomic import atomically

__all__ = ["delimiter_in", "read_texts", "write_texts"]

DELIMITERS = (",", ";", "\t", "|")
LINES_LOOKED_AT = 20
BYTES_AT_ONCE = 1 << 24
ROWS_AT_ONCE = 1 << 20


def read_texts(path: str | Path, *, encoding: str, columns: Sequence[str] | None, form: str = "auto") -> Any:
    """The rows of CSV, Parquet or Arrow files as a table of pyarrow.

    Raises:
        InputError: if a file is not what was announced; it names file, column and row.
    """
    import pyarrow as pa

    files, form = files_and_format(Source(str(path), form, encoding=encoding))
    is_listed = isinstance(columns, Iterable) and not isinstance(columns, (str, Mapping)) and not is_frame(columns)
    if columns is not None and not (is_listed and all(isinstance(name, str) for name in columns)):
        raise ParameterError("columns", "read_people", Words("names of columns", "列の名前"), shown(columns))
    wanted = None if columns is None else list(dict.fromkeys(columns))
    tables: list[Any] = []
    for file in files:
        if form in TEXT_FORMATS:
            tables.append(_read_csv(file, encoding, wanted))
        elif form in ("parquet", "geoparquet", "arrow"):
            tables.append(_read_binary(file, "Arrow" if form == "arrow" else "Parquet", wanted))
        else:
            raise InputError(
                f"People are read from CSV, Parquet or Arrow files; {Path(file).name!r} is {form}.",
                f"個票は CSV、Parquet、Arrow のファイルから読みます。{Path(file).name!r} の形式は {form} です。",
            )
        if set(tables[-1].column_names) != set(tables[0].column_names):
            raise complaints.other_columns(files[0], file)
        tables[-1] = tables[-1].select(_chosen(tables[-1].column_names, tables[0].column_names, file))
        for name in tables[0].column_names:
            if tables[-1].schema.field(name).type != tables[0].schema.field(name).type:
                raise complaints.mixed_types(name, files[0], file)
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables)


def _chosen(names: Sequence[str], wanted: Sequence[str] | None, file: str) -> list[str]:
    complaints.require_different(names, file, wanted or ())
    if wanted is None:
        complaints.require_few_columns(names, file)
    known = set(names)
    for name in wanted or ():
        if name not in known:
            raise complaints.missing_column(name, list(names), file, asked=wanted or ())
    return list(names if wanted is None else wanted)


def _read_binary(file: str, kind: str, wanted: Sequence[str] | None) -> Any:
    import pyarrow as pa
    import pyarrow.parquet

    try:
        with Path(file).open("rb"):
            pass
    except OSError:
        raise complaints.unreadable(file) from None
    try:
        if kind == "Arrow":
            schema = arrow_schema(file)
            names = _chosen(schema.names, wanted, file)
            return pa.Table.from_batches(sound_batches(file), schema=schema).select(names)
        names = _chosen(pa.parquet.read_schema(file).names, wanted, file)
        table = pa.parquet.ParquetFile(file).read(columns=names).select(names)
        table.validate(full=True)  # bytes that are no text would be found where a text is made of them
        return table
    except (pa.ArrowException, OSError):
        raise complaints.damaged(file, kind) from None


def delimiter_in(lines: Sequence[str], file: str) -> str:
    """What separates the fields of a text file: the character that splits all its first lines into equally many, and most.

    Example:
        >>> from sudare.microdata.people_files import delimiter_in
        >>> delimiter_in(["name;income", "a;1,5", "b;2,5"], "people.csv")
        ';'
    """
    usual = delimiter_of(file)
    most, found = 1, usual
    for delimiter in (usual, *(other for other in DELIMITERS if other != usual)):
        counts = _widths(lines, delimiter)
        if counts and counts[0] > most and counts.count(counts[0]) == len(counts):
            most, found = counts[0], delimiter
    if most == 1 and lines:
        # Not one splits all lines alike: some are ragged, so the header decides.
        return max((usual, *DELIMITERS), key=lambda delimiter: next(iter(_widths(lines[:1], delimiter)), 0))
    return found


def _widths(lines: Sequence[str], delimiter: str) -> list[int]:
    """How many fields each row has; none if a field is longer than any field is, because a quotation mark is open."""
    try:
        return [len(fields) for fields in csv.reader(lines, delimiter=delimiter) if fields]
    except csv.Error:
        return []


def _header(file: str, encoding: str) -> tuple[list[str], str]:
    """The names in the first row of a text file, and what separates its fields."""
    try:
        with open_member(file) as stream:
            start = stream.read(MAX_HEADER)
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error):
        raise complaints.damaged(file, "zip" if file.lower().endswith(".zip") else "text") from None
    if not start.strip():
        raise complaints.empty_file(file)
    decoder = codecs.getincrementaldecoder("utf-8-sig" if is_utf8(encoding) else encoding)
    try:
        text = decoder().decode(start)
    except UnicodeDecodeError:
        text = decoder("replace").decode(start)
        delimiter = delimiter_in(_first_lines(text, is_whole=False), file)
        header: list[str] = []
        with suppress(ValueError):
            header = parse_header(text, delimiter)
        raise _wrong_encoding(file, encoding, header, delimiter) from None
    is_whole = len(start) < MAX_HEADER
    delimiter = delimiter_in(_first_lines(text, is_whole=is_whole), file)
    return complaints.header_of(text, delimiter, file, is_whole=is_whole), delimiter


def _first_lines(text: str, *, is_whole: bool) -> list[str]:
    """Some lines of a text; the last one may be cut off where the first bytes of the file end."""
    lines = list(islice(io.StringIO(text, newline=""), LINES_LOOKED_AT + 1))
    return lines[:LINES_LOOKED_AT] if is_whole or len(lines) in (1, LINES_LOOKED_AT + 1) else lines[:-1]


def _read_csv(file: str, encoding: str, wanted: Sequence[str] | None) -> Any:
    import pyarrow as pa
    import pyarrow.csv

    stated = encoding if encoding.lower() != AUTO else detected_encoding(file)
    encoding = stated or "utf-8"
    header, delimiter = _header(file, encoding)
    if stated is None:
        raise _wrong_encoding(file, encoding, header, delimiter)
    names = _chosen(header, wanted, file)
    _check_quotes(file, encoding)
    convert = pa.csv.ConvertOptions(
        column_types=dict.fromkeys(header, pa.string()),
        include_columns=names,
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        null_values=[""],
    )
    # A blank line in a file of one column is an empty field.
    parse = pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=len(header) > 1)
    options = pa.csv.ReadOptions(encoding="utf8" if is_utf8(encoding) else encoding)
    try:
        with open_member(file) as stream:
            return pa.csv.read_csv(stream, options, parse, convert)
    except UnicodeDecodeError:
        raise _wrong_encoding(file, encoding, header, delimiter) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError):
        raise complaints.damaged(file, "zip" if file.lower().endswith(".zip") else "CSV") from None
    except pa.ArrowInvalid as failure:
        message = str(failure)
        if "Empty CSV file or block" in message:  # a header without a line end: nobody
            return pa.table({name: pa.array([], pa.string()) for name in names})
        if "codec can't decode" in message or "UTF8" in message:
            raise _wrong_encoding(file, encoding, header, delimiter) from None
        row = _first_ragged(file, encoding, delimiter)
        raise complaints.wrong_fields(complaints.Spot(file, row)) from None


def _check_quotes(file: str, encoding: str) -> None:
    """A quotation mark that is not closed would swallow the rest of the file."""
    marks = 0
    try:
        with open_member(file) as stream:
            if is_utf8(encoding):
                while piece := stream.read(BYTES_AT_ONCE):
                    marks += piece.count(b'"')
            else:
                text = io.TextIOWrapper(stream, encoding=encoding, errors="replace")
                while letters := text.read(BYTES_AT_ONCE):
                    marks += letters.count('"')
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError):
        raise complaints.damaged(file, "zip" if file.lower().endswith(".zip") else "CSV") from None
    if marks % 2:
        raise complaints.wrong_fields(complaints.Spot(file))


def _first_ragged(file: str, encoding: str, delimiter: str) -> int | None:
    """The first row with more or fewer fields than the header, as a spreadsheet numbers rows."""
    with open_member(file) as stream:
        text = io.TextIOWrapper(
            stream, encoding="utf-8-sig" if is_utf8(encoding) else encoding, errors="replace", newline=""
        )
        rows = csv.reader(text, delimiter=delimiter)
        width = len(next(rows, []))
        try:
            return next((number for number, row in enumerate(rows, start=2) if row and len(row) != width), None)
        except csv.Error:
            return None


def _wrong_encoding(file: str, encoding: str, header: Sequence[str], delimiter: str) -> InputError:
    """Bytes that are no text in the encoding: of the whole file, or of one row of a file in two encodings."""
    usual = complaints.wrong_encoding(file, encoding)
    if "\n".encode(encoding) != b"\n":
        return usual
    has_letters = False
    with open_member(file) as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError as failure:
                # Only letters beyond ASCII in rows before tell that the file began in this encoding.
                if not has_letters:
                    return usual
                place = line[: failure.start].decode(encoding).count(delimiter)
                if not header:
                    return usual
                column = min(place, len(header) - 1) + 1
                return InputError(
                    f"The file {Path(file).name!r} is in two encodings: its rows are {encoding} up to row {number}, whose "
                    f"column number {column} is not. Write the whole file in one encoding.",
                    f"ファイル {Path(file).name!r} に二つの文字コードが混ざっています。{number} 行目の {column} 番目の列は"
                    f" {encoding} ではありません。ファイル全体を一つの文字コードで書いてください。",
                )
            has_letters = has_letters or not line.isascii()
    return usual


def write_texts(path: str | Path, table: Any, labels: Iterable[str | None], *, replace: bool) -> None:
    """Write a table of texts to a .csv or .parquet file, whole or not at all; a missing value is an empty field.

    Args:
        path: where to.
        table: of pyarrow.
        labels: all texts that are in the table.
        replace: whether an existing file may be replaced.

    Raises:
        OutputError: if the name ends in something else, the file exists, or it cannot be written.
    """
    if Path(path).suffix != ".csv":
        write_arrow(path, table, replace=replace)
        return
    is_plain = all(label is None or _quoted(label) == label for label in labels)
    with atomically(path, replace=replace) as temporary, temporary.open("wb") as stream:
        header = io.StringIO()
        csv.writer(header, lineterminator="\n").writerow(table.column_names)
        stream.write(header.getvalue().encode())
        for start in range(0, table.num_rows, ROWS_AT_ONCE):
            _write_rows(stream, table.slice(start, ROWS_AT_ONCE), is_plain)


def _write_rows(stream: Any, table: Any, is_plain: bool) -> None:
    """Rows of a CSV file, with quotation marks only where they are needed: pyarrow puts them everywhere or nowhere."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv

    if is_plain:
        pa.csv.write_csv(table, stream, pa.csv.WriteOptions(include_header=False, quoting_style="none"))
        return
    fields = []
    for column in table.columns:
        encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        quoted = [_quoted(label) for label in encoded.dictionary.to_pylist()]
        fields.append(pa.array(quoted, pa.large_string()).take(encoded.indices))
    # The separator is the last argument; joined once more, each row ends with a line break.
    comma, line_end, nothing = (pa.scalar(text, pa.large_string()) for text in (",", "\n", ""))
    rows = pc.binary_join_element_wise(pc.binary_join_element_wise(*fields, comma), nothing, line_end)
    stream.write(rows.buffers()[2])


def _quoted(label: str | None) -> str:
    """A field as a CSV file has it; only a missing one is empty."""
    if label is None:
        return ""
    if label == "" or any(mark in label for mark in ',"\r\n') or label != label.strip():
        return '"' + label.replace('"', '""') + '"'
    return label
