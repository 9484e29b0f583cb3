"""Where data comes from: the files that a source names, their format, and their columns; the data itself is not read."""

from __future__ import annotations

import codecs
import io
import re
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from glob import glob, has_magic
from pathlib import Path
from typing import Any

from sudare.bilingual import Words
from sudare.column_names import parse_header
from sudare.errors import ParameterError
from sudare.io import complaints
from sudare.io.complaints import MAX_HEADER
from sudare.io.formats.text_files import AUTO, encoding_in, encoding_of, is_utf8, open_member
from sudare.parameters import shown

__all__ = [
    "FORMATS",
    "MAX_HEADER",
    "SPARK",
    "Source",
    "SourceInfo",
    "delimiter_of",
    "files_and_format",
    "first_fields",
    "is_estat_header",
]

FORMATS = ("csv", "parquet", "arrow", "duckdb", "e-stat", "people-flow", "geotiff", "geoparquet", "xlsx", "gpkg")
SPARK = "spark"
"""The format of what Spark reads; see `sudare.spark`."""

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
    ".xlsx": "xlsx",
    ".gpkg": "gpkg",
}
TEXT_FORMATS = frozenset({"csv", "text", "e-stat", "people-flow"})
ESTAT_COLUMNS = ("KEY_CODE", "HTKSYORI", "HTKSAKI", "GASSAN")
ESTAT_VALUE = re.compile(r"T[0-9]{9}")
"""A value column: the number of the table and of the column. Before 2015 tables have nothing else than these and the code."""

PEOPLE_FLOW_COLUMNS = frozenset({"mesh1kmid", "dayflag", "timezone", "population"})


@dataclass(frozen=True)
class Source:
    """Where data comes from and how it is laid out.

    Args:
        path: a file, a folder, a pattern such as ``"data/*.parquet"``, or several of them.
        format: ``"auto"`` tells it from the names and the first row; or csv, parquet, arrow, duckdb, e-stat, people-flow,
            geotiff, geoparquet, xlsx, gpkg.
        rows: ``"people"`` if each row is one person, ``"counts"`` if a column holds counts. e-Stat, people-flow and GeoTIFF
            files always hold counts.
        count: the column of counts; by default ``"count"``, the first value column of e-Stat files (the population), and
            ``"population"`` of people-flow files.
        columns: the column of an attribute, where it is not named like the attribute; for a mesh also two columns,
            latitude and longitude, such as ``{"KEY_CODE": "lat,lon"}``. Where rows are counts, an attribute may stand in several
            columns of counts, one for each of its values: ``{"sex": {"female": "T001141003", "male": "T001141002"}}``.
        query: SQL whose result is read, from a DuckDB database in ``path`` or from files that the query names.
        person: the column that tells which person a row is about; bounds how many rows each person contributes.
        encoding: of text files; ``"auto"`` tells UTF-8, cp932, EUC-JP and UTF-16 apart, file by file (`text_files`).
        where: keeps only rows with these values, such as ``{"year": 2021, "month": 4}``.
        outside: ``"refuse"`` mesh codes outside of the plan's window, or ``"leave out"`` these rows, as when one city is
            published from files of the whole country. They still are among the rows of a person.
        table: of the format ``"spark"``: the name of a table, such as ``"lake.locations"``, in place of ``path`` and ``query``.
        cluster: of the format ``"spark"``: ``"spark:local[*]"``, ``"spark://host:port"``, or ``"sc://host:port"`` for Spark
            Connect; the Spark that runs in this process, or one on this machine, if left out.

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
    columns: Mapping[str, str | Mapping[str, str]] = field(default_factory=dict)
    query: str | None = None
    person: str | None = None
    encoding: str = AUTO
    where: Mapping[str, Any] = field(default_factory=dict)
    outside: str = "refuse"
    table: str | None = None
    cluster: str | None = None

    def __post_init__(self) -> None:
        paths = (self.path,) if isinstance(self.path, (str, Path)) else self.path
        if not isinstance(paths, (tuple, list)) or not all(isinstance(path, (str, Path)) for path in paths):
            raise ParameterError("path", "Source", Words("a path, or several", "1 個以上のパス"), shown(self.path))
        object.__setattr__(self, "path", tuple(str(path) for path in paths))
        if self.format not in ("auto", *FORMATS, SPARK):
            raise ParameterError(
                "format",
                "Source",
                Words(
                    "'auto' or one of " + ", ".join((*FORMATS, SPARK)),
                    f"'auto' または {', '.join((*FORMATS, SPARK))} のいずれか",
                ),
                shown(self.format),
            )
        if self.rows not in ("people", "counts"):
            raise ParameterError(
                "rows", "Source", Words("'people' or 'counts'", "'people' または 'counts'"), shown(self.rows)
            )
        if self.outside not in ("refuse", "leave out"):
            raise ParameterError(
                "outside",
                "Source",
                Words("'refuse' or 'leave out'", "'refuse' または 'leave out'"),
                shown(self.outside),
            )
        for name in ("count", "query", "person", "table", "cluster"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, str) or not value.strip()):
                raise ParameterError(name, "Source", "a text", shown(value))
        self._read_mappings()
        self._read_count_columns()
        self._check_spark()
        if not self.paths and self.query is None and self.table is None:
            raise ParameterError(
                "path",
                "Source",
                Words("a file or folder, unless there is a query", "query がない場合はファイルまたはフォルダ"),
                self.path,
            )
        if self.query is not None and self.format not in ("auto", "duckdb", SPARK):
            raise ParameterError(
                "format",
                "Source",
                Words("'auto' or 'duckdb' with a query", "query がある場合は 'auto' または 'duckdb'"),
                self.format,
            )
        if self.person is not None and self.rows == "counts":
            requirement = Words(
                "left out where rows are counts: those have no persons", "行が人数の場合は省略（人を区別できないため）"
            )
            raise ParameterError("person", "Source", requirement, self.person)
        try:
            is_known = self.encoding.lower() == AUTO or "".encode(self.encoding) is not None
        except (LookupError, TypeError, AttributeError):
            is_known = False
        if not is_known:
            requirement = Words(
                "'auto', or an encoding that Python knows, such as 'utf-8' or 'cp932'",
                "'auto'、または 'utf-8' や 'cp932' のような文字コード",
            )
            raise ParameterError("encoding", "Source", requirement, shown(self.encoding))

    def _check_spark(self) -> None:
        """What Spark reads is one of a table, paths and a query, with a row for each person or several."""
        if self.format != SPARK:
            for name in ("table", "cluster"):
                if getattr(self, name) is not None:
                    requirement = Words("left out unless the format is 'spark'", "format が 'spark' でない場合は省略")
                    raise ParameterError(name, "Source", requirement, shown(getattr(self, name)))
            return
        if sum((bool(self.paths), self.query is not None, self.table is not None)) != 1:
            requirement = Words(
                "one of path, table and query where the format is 'spark'",
                "format が 'spark' の場合は path、table、query のいずれか 1 つ",
            )
            raise ParameterError("table", "Source", requirement, shown(self.table))
        if self.rows != "people":
            raise ParameterError(
                "rows",
                "Source",
                Words("'people' where the format is 'spark'", "format が 'spark' の場合は 'people'"),
                shown(self.rows),
            )

    def _read_mappings(self) -> None:
        if not isinstance(self.columns, Mapping) or not all(
            isinstance(key, str) and (isinstance(value, str) or _is_names(value)) for key, value in self.columns.items()
        ):
            requirement = Words(
                "column names by attribute names, or for an attribute column names by its values",
                "属性名ごとの列名、または属性の値ごとの列名",
            )
            raise ParameterError("columns", "Source", requirement, shown(self.columns))
        if not isinstance(self.where, Mapping) or not all(
            isinstance(key, str) and isinstance(value, (str, int, float)) for key, value in self.where.items()
        ):
            raise ParameterError(
                "where",
                "Source",
                Words("texts or numbers by column names", "列名ごとの文字列または数"),
                shown(self.where),
            )
        columns = {name: value if isinstance(value, str) else dict(value) for name, value in self.columns.items()}
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "where", dict(self.where))

    def _read_count_columns(self) -> None:
        spread = {name: value for name, value in self.columns.items() if not isinstance(value, str)}
        if not spread:
            return
        attribute, columns = next(iter(spread.items()))
        if len(spread) > 1:
            requirement = Words(
                "several columns of counts for one attribute only: combine the others with it into one category",
                "人数を複数の列に分けられる属性は 1 つだけ（ほかの属性は 1 つの区分にまとめてください）",
            )
            raise ParameterError("columns", "Source", requirement, ", ".join(spread))
        if self.count is not None:
            requirement = Words(
                f"left out where {attribute!r} stands in several columns of counts",
                f"{attribute!r} が複数の人数の列にある場合は省略",
            )
            raise ParameterError("count", "Source", requirement, self.count)
        if self.rows != "counts":
            requirement = Words(
                f"'counts' where {attribute!r} stands in several columns of counts",
                f"{attribute!r} が複数の人数の列にある場合は 'counts'",
            )
            raise ParameterError("rows", "Source", requirement, self.rows)
        names = list(columns.values())
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ParameterError(
                "columns",
                "Source",
                Words(f"a column of its own for each value of {attribute!r}", f"{attribute!r} の値ごとに別の列"),
                twice,
            )

    @property
    def count_columns(self) -> tuple[str, Mapping[str, str]] | None:
        """The attribute that stands in several columns of counts, with the column of each of its values."""
        found = ((name, value) for name, value in self.columns.items() if not isinstance(value, str))
        return next(found, None)

    def column_of(self, name: str) -> str:
        """The column of an attribute that stands in one."""
        stated = self.columns.get(name, name)
        return stated if isinstance(stated, str) else name

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths as they were given."""
        return tuple(self.path)


def _is_names(value: object) -> bool:
    """Whether it gives names of columns by values, at least one."""
    is_given = isinstance(value, Mapping) and len(value) > 0
    return is_given and all(isinstance(key, str) and isinstance(name, str) for key, name in value.items())  # type: ignore[attr-defined]


@dataclass(frozen=True)
class SourceInfo:
    """What is known about a source without reading its data.

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
    if source.format == SPARK:
        raise complaints.only_on_spark()
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
        # Anyone who states a format means the files of that format: a folder often holds a note beside its data.
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
    if is_estat_header(fields):
        return "e-stat"
    return "people-flow" if set(fields) >= PEOPLE_FLOW_COLUMNS else "csv"


def is_estat_header(names: list[str]) -> bool:
    """Whether a header is that of mesh statistics of e-Stat, with columns on suppression or, before 2015, without."""
    others = [name.strip() for name in names[1:]]
    if not others or names[0].strip() != ESTAT_COLUMNS[0]:
        return False
    return others[0] == ESTAT_COLUMNS[1] or all(ESTAT_VALUE.fullmatch(name) for name in others)


def first_fields(file: str, encoding: str, *, strict: bool = True) -> list[str]:
    """The names in the header row of a text file.

    Raises:
        InputError: if the file is empty, its bytes are no text in the encoding, or two columns have the same name.
    """
    try:
        with open_member(file) as stream:
            line = stream.readline(MAX_HEADER)
            is_whole = len(line) < MAX_HEADER
            if encoding.lower() == AUTO:
                # The other lines may only refuse what the header alone tells.
                encoding = encoding_in(io.BytesIO(line)) or ("utf-8" if not strict else encoding_of(file, AUTO))
            if line.count(b'"') % 2 or "\n".encode(encoding) != b"\n":
                # A quoted name holds a line break, or a line break is more than one byte.
                line += (more := stream.read(MAX_HEADER))
                is_whole = len(more) < MAX_HEADER
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error):
        raise complaints.damaged(file, "zip" if file.lower().endswith(".zip") else "text") from None
    if not line.strip():
        raise complaints.empty_file(file)
    decoder = codecs.getincrementaldecoder("utf-8-sig" if is_utf8(encoding) else encoding)
    try:
        text = decoder("strict" if strict else "replace").decode(line)
    except UnicodeDecodeError:
        raise complaints.wrong_encoding(file, encoding) from None
    if not strict:
        with suppress(ValueError):
            return parse_header(text, delimiter_of(file))
        return []
    names = complaints.header_of(text, delimiter_of(file), file, is_whole=is_whole)
    complaints.require_different(names, file)
    return names


def delimiter_of(file: str) -> str:
    """Tabs in .tsv files, else commas."""
    return "\t" if ".tsv" in Path(file).name.lower() else ","
