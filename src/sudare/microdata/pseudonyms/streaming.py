"""Tables of people as streams of record batches: CSV and Parquet in and out, in bounded memory, texts exactly as written."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sudare.errors import InputError, OutputError
from sudare.io import complaints
from sudare.io.formats.text_files import AUTO, detected_encoding
from sudare.io.source import MAX_HEADER

__all__ = ["PeopleStream", "StreamWriter", "TextLayout", "files_below", "require_written_form"]

SUFFIXES = (".csv", ".tsv", ".txt", ".parquet")
BLOCK_BYTES = 1 << 22
BATCH_ROWS = 1 << 17
DELIMITERS = ",\t;|"
BOM = "\ufeff"


@dataclass(frozen=True)
class TextLayout:
    """How a text file is written.

    Attributes:
        encoding: such as ``"utf-8"`` or ``"cp932"``.
        delimiter: between fields.
        newline: at the end of a row.
        mark: whether the file begins with a byte order mark.
    """

    encoding: str = "utf-8"
    delimiter: str = ","
    newline: str = "\n"
    mark: bool = False


class PeopleStream:
    """A file of people, read in batches; every column of a text file is a column of texts.

    Args:
        path: a CSV or Parquet file.
        encoding: of a text file; ``"auto"`` tells it from the file.

    Raises:
        InputError: if it is missing, damaged, of another format or encoding, or has two columns of one name.
    """

    def __init__(self, path: str | Path, encoding: str = AUTO) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise complaints.no_files(str(path))
        self.is_text = self.path.suffix.lower() != ".parquet"
        if self.path.suffix.lower() not in SUFFIXES:
            raise InputError(
                f"Files of people are read from {', '.join(SUFFIXES)}, not from {self.path.name!r}.",
                f"読み込めるのは {', '.join(SUFFIXES)} です。{self.path.name!r} は読めません。",
            )
        if encoding.lower() == AUTO:
            # What does not tell is read as UTF-8, and the row that is none is named. Parquet files hold UTF-8 always.
            encoding = (detected_encoding(str(path)) if self.is_text else None) or "utf-8"
        self.layout = TextLayout(encoding)
        names = self._read_header() if self.is_text else self._read_schema()
        complaints.require_different(names, str(self.path))
        self.names = names

    def require(self, *columns: str) -> None:
        """Refuse columns that are not there."""
        for column in columns:
            if column not in self.names:
                raise complaints.missing_column(column, self.names, str(self.path), asked=columns)

    def _read_header(self) -> list[str]:
        import pyarrow as pa

        try:
            # A row further down that is not in the encoding is told when it is read, with its number.
            with self.path.open(encoding=self.layout.encoding, errors="surrogateescape", newline="") as stream:
                start = stream.read(MAX_HEADER)
        except LookupError:
            raise complaints.wrong_encoding(str(self.path), self.layout.encoding) from None
        except OSError:
            raise complaints.unreadable(str(self.path)) from None
        mark = start.startswith(BOM)
        line = start.removeprefix(BOM).split("\n", 1)[0]
        delimiter = max(DELIMITERS, key=lambda one: (line.count(one), -DELIMITERS.index(one)))
        newline = "\r\n" if line.endswith("\r") else "\n"
        self.layout = replace(self.layout, delimiter=delimiter, newline=newline, mark=mark)
        is_whole = len(start) < MAX_HEADER
        names = complaints.header_of(start.removeprefix(BOM), delimiter, str(self.path), is_whole=is_whole)
        if not names:
            raise complaints.no_files(str(self.path))
        if any("\udc80" <= letter <= "\udcff" for name in names for letter in name):
            raise complaints.wrong_encoding(str(self.path), self.layout.encoding)
        self.schema = pa.schema([(name, pa.string()) for name in names])
        return names

    def _read_schema(self) -> list[str]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            schema = pq.read_schema(self.path)
        except (pa.ArrowException, OSError):
            raise complaints.unreadable(str(self.path)) from None
        # What pandas noted of its types would contradict the texts that pseudonyms are.
        notes = {name: text for name, text in (schema.metadata or {}).items() if name != b"pandas"}
        self.schema = schema.with_metadata(notes or None)
        return list(schema.names)

    def batches(self) -> Iterator[Any]:
        """Record batches in the order of the file.

        Raises:
            InputError: if a row is ragged, or not in the encoding.
        """
        import pyarrow as pa

        try:
            if self.is_text:
                yield from self._text_batches()
            else:
                import pyarrow.parquet as pq

                with pq.ParquetFile(self.path) as file:
                    for batch in file.iter_batches(BATCH_ROWS):
                        batch.validate(full=True)
                        yield batch.replace_schema_metadata(self.schema.metadata)
        except UnicodeDecodeError:
            raise self._wrong_encoding() from None
        except pa.ArrowInvalid as failure:
            # Arrow's words quote the row, so none of them are passed on.
            if self.is_text and ("UTF8" in str(failure) or "UTF-8" in str(failure)):
                raise self._wrong_encoding() from None
            if self.is_text:
                raise complaints.wrong_fields(complaints.Spot(str(self.path), self._ragged_row())) from None
            raise complaints.unreadable(str(self.path)) from None
        except OSError:
            raise complaints.unreadable(str(self.path)) from None

    def _text_batches(self) -> Iterator[Any]:
        from pyarrow import csv as arrow_csv

        convert = arrow_csv.ConvertOptions(
            column_types=self.schema, strings_can_be_null=False, quoted_strings_can_be_null=False, null_values=[]
        )
        parse = arrow_csv.ParseOptions(
            delimiter=self.layout.delimiter, newlines_in_values=True, ignore_empty_lines=len(self.names) > 1
        )
        read = arrow_csv.ReadOptions(
            block_size=BLOCK_BYTES, encoding=self.layout.encoding, column_names=self.names, skip_rows=0
        )
        is_first = True
        with arrow_csv.open_csv(self.path, read_options=read, parse_options=parse, convert_options=convert) as reader:
            for batch in reader:
                if is_first and batch.num_rows:
                    batch, is_first = (
                        batch.slice(1),
                        False,
                    )  # the header, read as a row so that its names are exactly ours
                if batch.num_rows:
                    yield batch

    def _ragged_row(self) -> int | None:
        """The first row with more or fewer fields than the header, as a spreadsheet numbers it."""
        with self.path.open(encoding=self.layout.encoding, errors="replace", newline="") as stream:
            rows = csv.reader(stream, delimiter=self.layout.delimiter)
            try:
                return next((at for at, row in enumerate(rows, start=1) if row and len(row) != len(self.names)), None)
            except csv.Error:
                return None

    def _wrong_encoding(self) -> InputError:
        """Name the first row whose bytes are not in the encoding, where that can be told."""
        with self.path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                try:
                    line.decode(self.layout.encoding)
                except UnicodeDecodeError:
                    complaint = complaints.wrong_encoding(str(self.path), self.layout.encoding)
                    return InputError(
                        f"{complaint.english} The first such row is row {number}; a file must be in one encoding.",
                        f"{complaint.japanese}最初に合わないのは {number} 行目です。"
                        f"一つのファイルは一つの文字コードにしてください。",
                    )
        return complaints.wrong_encoding(str(self.path), self.layout.encoding)


def require_written_form(path: str | Path) -> None:
    """Refuse an output whose name says no format that is written."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise OutputError(
            f"Files of people are written to {', '.join(SUFFIXES)}, not to {Path(path).name!r}.",
            f"書き出せるのは {', '.join(SUFFIXES)} です。{Path(path).name!r} には書けません。",
        )


class StreamWriter:
    """Writes record batches to a CSV or Parquet file, by its name.

    Args:
        path: where to write; to be renamed by the caller.
        schema: of the batches.
        layout: of a text file.
    """

    def __init__(self, path: Path, schema: Any, layout: TextLayout) -> None:
        self._layout, self.schema = layout, schema
        self._parquet: Any = None
        self._text: Any = None
        if path.suffix.lower() == ".parquet":
            import pyarrow.parquet as pq

            self._parquet = pq.ParquetWriter(path, schema)
        else:
            if path.suffix.lower() == ".tsv":
                self._layout = replace(layout, delimiter="\t")
            self._text = path.open("wb")
            # One for the whole file: UTF-16 has its mark once.
            self._encoder = codecs.getincrementalencoder(layout.encoding)()
            header = self._layout.delimiter.join(self._quoted_name(name) for name in schema.names)
            self._put((BOM if layout.mark else "") + header + layout.newline)

    def __enter__(self) -> StreamWriter:
        return self

    def __exit__(self, *error: object) -> None:
        (self._parquet or self._text).close()

    def write(self, batch: Any) -> None:
        """Append a batch."""
        if self._parquet is not None:
            self._parquet.write_batch(batch)
        elif batch.num_rows:
            lines = self._lines(batch)
            _, offsets, data = lines.buffers()
            import numpy as np

            places = np.frombuffer(offsets, dtype=np.int64)
            run = data[int(places[lines.offset]) : int(places[lines.offset + len(lines)])]
            is_utf8 = self._layout.encoding.lower().replace("_", "-") in ("utf-8", "utf8", "ascii")
            self._text.write(run) if is_utf8 else self._put(str(memoryview(run), "utf-8"))

    def _lines(self, batch: Any) -> Any:
        """Each row as one text that ends in a newline: the bytes of this array are the bytes of the file."""
        import pyarrow as pa
        import pyarrow.compute as pc

        kind = pa.large_string()
        fields = [
            self._quoted(_text_column(column, name))
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        ]
        fields[-1] = pc.binary_join_element_wise(fields[-1], pa.scalar(self._layout.newline, kind), pa.scalar("", kind))
        return pc.binary_join_element_wise(*fields, pa.scalar(self._layout.delimiter, kind))

    def _quoted(self, texts: Any) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        needs = pc.match_substring_regex(texts, f'["\\r\\n{re.escape(self._layout.delimiter)}]')
        if len(self.schema.names) == 1:  # an empty line would be no row
            needs = pc.or_(needs, pc.equal(texts, ""))
        if not pc.any(needs).as_py():
            return texts
        mark, nothing = pa.scalar('"', pa.large_string()), pa.scalar("", pa.large_string())
        doubled = pc.binary_join_element_wise(mark, pc.replace_substring(texts, '"', '""'), mark, nothing)
        return pc.if_else(needs, doubled, texts)

    def _quoted_name(self, name: str) -> str:
        is_plain = name and not re.search(f'["\\r\\n{re.escape(self._layout.delimiter)}]', name)
        return name if is_plain else '"' + name.replace('"', '""') + '"'

    def _put(self, text: str) -> None:
        try:
            self._text.write(self._encoder.encode(text))
        except UnicodeEncodeError:
            raise OutputError(
                f"Something cannot be written in the encoding {self._layout.encoding!r}; use utf-8.",
                f"文字コード {self._layout.encoding!r} で書けない文字があります。utf-8 を使ってください。",
            ) from None


def _text_column(column: Any, name: str) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return pc.fill_null(column.cast(pa.large_string()), "")
    except pa.ArrowException:
        raise OutputError(
            f"The column {name!r} holds {column.type}, which a text file cannot hold; write to .parquet.",
            f"列 {name!r} の型 {column.type} はテキストファイルに書けません。.parquet に書き出してください。",
        ) from None


def files_below(path: str | Path) -> list[Path]:
    """A file itself; of a folder all files of people in it, however deep, hidden ones left out.

    Raises:
        InputError: if there are none.
    """
    place = Path(path)
    if not place.is_dir():
        if not place.is_file():
            raise complaints.no_files(str(path))
        return [place]
    found = [
        file
        for file in sorted(place.rglob("*"))
        if file.is_file() and file.suffix.lower() in SUFFIXES and not file.name.startswith(".")
    ]
    if not found:
        raise complaints.no_files(str(path))
    return found
