"""Where data comes from: the files that a source names, their format, and their columns; the data itself is not read."""

from __future__ import annotations

import codecs
import csv
import io
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from glob import glob, has_magic
from pathlib import Path
from typing import Any, BinaryIO

from sudare.errors import ParameterError
from sudare.io import complaints
from sudare.parameters import shown

__all__ = [
    "FORMATS",
    "Source",
    "SourceInfo",
    "delimiter_of",
    "files_and_format",
    "first_fields",
    "is_utf8",
    "open_member",
]

FORMATS = ("csv", "parquet", "arrow", "duckdb", "e-stat", "people-flow", "geotiff", "geoparquet")
SUFFIXES: dict[str, str] = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".geoparquet": "geoparquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
    ".db": "duckdb",
    ".txt": "text",
    ".zip": "text",
    ".tif": "geotiff",
    ".tiff": "geotiff",
}
TEXT_FORMATS = frozenset({"csv", "text", "e-stat", "people-flow"})
ESTAT_COLUMNS = ("KEY_CODE", "HTKSYORI", "HTKSAKI", "GASSAN")
PEOPLE_FLOW_COLUMNS = frozenset({"mesh1kmid", "dayflag", "timezone", "population"})
LONGEST_HEADER = 1 << 20


@dataclass(frozen=True)
class Source:
    """Where data comes from and how it is laid out.

    Args:
        path: a file, a folder, a pattern such as ``"data/*.parquet"``, or several of them.
        format: ``"auto"`` tells it from the names and the first row; or csv, parquet, arrow, duckdb, e-stat, people-flow,
            geotiff, geoparquet.
        rows: ``"people"`` if each row is one person, ``"counts"`` if a column holds counts. e-Stat, people-flow and GeoTIFF
            files always hold counts.
        count: the column of counts; by default ``"count"``, the first value column of e-Stat files (the population), and
            ``"population"`` of people-flow files.
        columns: the column of an attribute, where it is not named like the attribute; for a mesh also two columns,
            latitude and longitude, such as ``{"KEY_CODE": "lat,lon"}``.
        query: SQL whose result is read, from a DuckDB database in ``path`` or from files that the query names.
        person: the column that tells which person a row is about; bounds how many rows each person contributes.
        encoding: of text files; e-Stat files are always read as cp932.
        where: keeps only rows with these values, such as ``{"year": 2021, "month": 4}``.
        outside: ``"refuse"`` mesh codes outside of the plan's window, or ``"leave out"`` these rows, as when one city is
            published from files of the whole country. They still are among the rows of a person.

    Raises:
        ParameterError: if the parts do not go together.

    Example:
        >>> from sudare.io import Source
        >>> Source("people.parquet", person="id").rows
        'people'
    """

    path: str | tuple[str, ...] = ()
    format: str = "auto"
    rows: str = "people"
    count: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    query: str | None = None
    person: str | None = None
    encoding: str = "utf-8"
    where: Mapping[str, Any] = field(default_factory=dict)
    outside: str = "refuse"

    def __post_init__(self) -> None:
        paths = (self.path,) if isinstance(self.path, (str, Path)) else self.path
        if not isinstance(paths, (tuple, list)) or not all(isinstance(path, (str, Path)) for path in paths):
            raise ParameterError("path", "Source", "a path, or several", shown(self.path))
        object.__setattr__(self, "path", tuple(str(path) for path in paths))
        if self.format not in ("auto", *FORMATS):
            raise ParameterError("format", "Source", "'auto' or one of " + ", ".join(FORMATS), shown(self.format))
        if self.rows not in ("people", "counts"):
            raise ParameterError("rows", "Source", "'people' or 'counts'", shown(self.rows))
        if self.outside not in ("refuse", "leave out"):
            raise ParameterError("outside", "Source", "'refuse' or 'leave out'", shown(self.outside))
        for name in ("count", "query", "person"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, str) or not value.strip()):
                raise ParameterError(name, "Source", "a text", shown(value))
        self._read_mappings()
        if not self.paths and self.query is None:
            raise ParameterError("path", "Source", "a file or folder, unless there is a query", self.path)
        if self.query is not None and self.format not in ("auto", "duckdb"):
            raise ParameterError("format", "Source", "'auto' or 'duckdb' with a query", self.format)
        if self.person is not None and self.rows == "counts":
            requirement = "left out where rows are counts: those have no persons"
            raise ParameterError("person", "Source", requirement, self.person)
        try:
            "".encode(self.encoding)
        except (LookupError, TypeError):
            requirement = "an encoding that Python knows, such as 'utf-8' or 'cp932'"
            raise ParameterError("encoding", "Source", requirement, shown(self.encoding)) from None

    def _read_mappings(self) -> None:
        if not isinstance(self.columns, Mapping) or not all(
            isinstance(key, str) and isinstance(value, str) for key, value in self.columns.items()
        ):
            raise ParameterError("columns", "Source", "column names by attribute names", shown(self.columns))
        if not isinstance(self.where, Mapping) or not all(
            isinstance(key, str) and isinstance(value, (str, int, float)) for key, value in self.where.items()
        ):
            raise ParameterError("where", "Source", "texts or numbers by column names", shown(self.where))
        object.__setattr__(self, "columns", dict(self.columns))
        object.__setattr__(self, "where", dict(self.where))

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths as they were given."""
        return tuple(self.path)


@dataclass(frozen=True)
class SourceInfo:
    """What can be said of a source without reading its data.

    Attributes:
        format: never ``"auto"``.
        files: every file, in the order of their names.
        columns: the columns of the first file, or of the query's result; of a raster, none.
        bytes: the size of all files.
    """

    format: str
    files: tuple[str, ...]
    columns: tuple[str, ...]
    bytes: int


def files_and_format(source: Source) -> tuple[tuple[str, ...], str]:
    """The files of a source in the order of their names, and their one format.

    Raises:
        InputError: if there are none, or they are of several formats.
    """
    if source.query is not None:
        return tuple(file for path in source.paths for file in _files_at(path, None)), "duckdb"
    wanted = None if source.format == "auto" else source.format
    files = _each_once(sorted({file for path in source.paths for file in _files_at(path, wanted)}))
    if wanted is not None:
        return files, wanted
    format_of = {file: _format_of(file, source.encoding) for file in files}
    formats = sorted(set(format_of.values()))
    if len(formats) > 1:
        examples = [next(file for file in files if format_of[file] == name) for name in formats]
        raise complaints.mixed_formats(formats, examples)
    return files, formats[0]


def _each_once(files: list[str]) -> tuple[str, ...]:
    """Files without other names of the same one: read twice, everybody in it would be counted twice."""
    known: dict[tuple[int, int], str] = {}
    for file in files:
        try:
            about = Path(file).stat()
        except OSError:
            raise complaints.unreadable(file) from None
        known.setdefault((about.st_dev, about.st_ino), file)
    return tuple(known.values())


def _files_at(path: str, wanted: str | None) -> list[str]:
    if Path(path).is_dir():
        found = [
            str(file)
            for file in sorted(Path(path).rglob("*"))
            if file.is_file() and not any(part.startswith((".", "_")) for part in file.relative_to(path).parts)
        ]
        # Whoever states a format means the files of that format: a folder often holds a note beside its data.
        found = [file for file in found if wanted is None or _fits(_suffix_format(file), wanted)]
    elif Path(path).is_file():
        found = [path]
    elif has_magic(path):
        matching = sorted(glob(path, recursive=True))  # noqa: PTH207 - the pattern may be absolute
        found = [file for file in matching if Path(file).is_file()]
    else:
        found = []
    if not found:
        raise complaints.no_files(path)
    return found


def _fits(suffix_format: str | None, wanted: str) -> bool:
    if wanted in TEXT_FORMATS:
        return suffix_format in TEXT_FORMATS
    if wanted in ("parquet", "geoparquet"):
        return suffix_format in ("parquet", "geoparquet")
    return suffix_format == wanted


def _suffix_format(file: str) -> str | None:
    name = Path(file).name.lower()
    return next((SUFFIXES[suffix] for suffix in sorted(SUFFIXES, key=len, reverse=True) if name.endswith(suffix)), None)


def _format_of(file: str, encoding: str) -> str:
    found = _suffix_format(file)
    if found is None:
        raise complaints.unknown_format(file, FORMATS)
    if found not in TEXT_FORMATS:
        return found
    fields = first_fields(file, encoding, strict=False)
    if tuple(fields[:2]) == ESTAT_COLUMNS[:2]:
        return "e-stat"
    return "people-flow" if set(fields) >= PEOPLE_FLOW_COLUMNS else "csv"


def open_member(file: str) -> BinaryIO:
    """The bytes of a text file, unpacked if it is zipped. A zip must hold exactly one file.

    Raises:
        InputError: if it cannot be opened.
    """
    name = file.lower()
    try:
        if name.endswith(".zip"):
            with zipfile.ZipFile(file) as archive:
                # Macs add folders of their own.
                members = [
                    member
                    for member in archive.infolist()
                    if not member.is_dir() and not member.filename.startswith("__MACOSX/")
                ]
                if len(members) != 1:
                    raise complaints.crowded_zip(file)
                return archive.open(members[0])  # type: ignore[return-value]
        if name.endswith(".gz"):
            import gzip

            return gzip.open(file)  # type: ignore[return-value]
        return Path(file).open("rb")
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError):
        raise complaints.damaged(file, "zip") from None
    except OSError:
        raise complaints.unreadable(file) from None


def first_fields(file: str, encoding: str, *, strict: bool = True) -> list[str]:
    """The names in the header row of a text file.

    Raises:
        InputError: if the file is empty, its bytes are no text in the encoding, or two columns have the same name.
    """
    try:
        with open_member(file) as stream:
            line = stream.readline(LONGEST_HEADER)
            if line.count(b'"') % 2:
                # A quoted name holds a line break.
                line += stream.read(LONGEST_HEADER)
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error):
        raise complaints.damaged(file, "zip" if file.lower().endswith(".zip") else "text") from None
    if not line.strip():
        raise complaints.empty_file(file)
    decoder = codecs.getincrementaldecoder("utf-8-sig" if is_utf8(encoding) else encoding)
    try:
        text = decoder("strict" if strict else "replace").decode(line)
    except UnicodeDecodeError:
        raise complaints.wrong_encoding(file, encoding) from None
    names = next(csv.reader(io.StringIO(text), delimiter=delimiter_of(file)), [])
    if strict:
        for name in names:
            if names.count(name) > 1:
                raise complaints.repeated_header(file, name)
    return names


def is_utf8(encoding: str) -> bool:
    """Whether DuckDB reads the encoding itself."""
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig", "ascii", "us-ascii")


def delimiter_of(file: str) -> str:
    """Tabs in .tsv files, else commas."""
    return "\t" if ".tsv" in Path(file).name.lower() else ","
