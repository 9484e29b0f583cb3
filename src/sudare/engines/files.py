"""Files as the tables of a database.

A Parquet or CSV file is a table with the name of the file. A folder of such files is a database; a folder in it is one
table, made of all files in it. Files whose names begin with ``.`` or ``_`` are left out, as Spark does.

Parquet files are read anew by each query, and a file that is added to a table's folder belongs to it from then on. A CSV
file is read once, when it is opened: whether every line of it can be read is then known before anything is asked.
"""

from __future__ import annotations

import gzip
import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from glob import escape, glob, has_magic
from pathlib import Path
from typing import IO, Literal

from sudare.column_names import MAX_COLUMNS, are_found_below, parse_header
from sudare.engines.complaints import no_header, too_many_columns, unreadable_csv, wrong_location
from sudare.storage.foreign_files import how_to_read

__all__ = ["FileTable", "find_tables", "fingerprint", "header_of"]

MAX_HEADER = 1 << 20
"""Letters of the first line of a CSV file."""

Format = Literal["parquet", "csv"]
SUFFIXES: dict[str, Format] = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "csv",
    ".tsv.gz": "csv",
}


@dataclass(frozen=True)
class FileTable:
    """A table made of files.

    Attributes:
        name: of the table.
        suffix: how the names of its files end, such as ``".parquet"``.
        path: of the file, or of the folder with the files; absolute, without links.
        is_folder: whether it is a folder.
    """

    name: str
    suffix: str
    path: Path
    is_folder: bool

    @property
    def format(self) -> Format:
        """What the files are."""
        return SUFFIXES[self.suffix]

    @property
    def delimiter(self) -> str:
        """What stands between two fields of a text file."""
        return "\t" if self.suffix.startswith(".tsv") else ","

    @property
    def pattern(self) -> str:
        """The files as a pattern that DuckDB understands."""
        whole = escape(str(self.path))
        return f"{whole}/[!._]*{self.suffix}" if self.is_folder else whole

    def files(self) -> list[Path]:
        """The files that there are now, in the order of their names."""
        if not self.is_folder:
            return [self.path]
        return sorted(
            entry for entry in self.path.iterdir() if _suffix_of(entry) == self.suffix and _counts(entry, folder=False)
        )


def find_tables(locations: Sequence[str | Path]) -> list[FileTable]:
    """The tables in files, folders and patterns such as ``data/*.parquet``, in the order of their names.

    Raises:
        DatabaseError: if there are none, or two of the same name, or a folder that is no table.
    """
    tables: dict[str, FileTable] = {}
    for location in locations:
        for table in _tables_at(str(location)):
            known = tables.setdefault(table.name.casefold(), table)
            if known != table:
                raise wrong_location(
                    f"The files {str(known.path)!r} and {str(table.path)!r} would both be the table {table.name!r}. "
                    "Rename one of them, or open one at a time.",
                    f"{str(known.path)!r} と {str(table.path)!r} はどちらも表 {table.name!r} になります。"
                    "一方の名前を変えるか、別々に開いてください。",
                )
    return sorted(tables.values(), key=lambda table: table.name)


def _tables_at(location: str) -> list[FileTable]:
    path = Path(location)
    try:
        if path.is_dir():
            found = [table for entry in sorted(path.iterdir()) if (table := _table_of(entry)) is not None]
        elif not path.exists() and has_magic(location):
            matches = sorted(glob(location))  # noqa: PTH207 - Path.glob takes no absolute patterns
            found = [table for entry in matches if (table := _table_of(Path(entry))) is not None]
        else:
            table = _table_of(path)
            found = [table] if table is not None else []
    except OSError:
        found = []
    way = how_to_read(path) if path.is_file() and not found else None
    if way is not None:
        raise wrong_location(way.english, way.japanese)
    if not found:
        raise wrong_location(
            f"There is no Parquet or CSV file at {location!r} that can be read. A database is a .duckdb file, a .parquet or "
            ".csv file, a folder or a pattern of those, or an address such as postgresql://... or spark:local.",
            f"{location!r} に読み取れる Parquet または CSV ファイルがありません。.duckdb ファイル、.parquet や .csv ファイル、"
            "それらのフォルダやパターン、または postgresql://... や spark:local のようなアドレスを指定してください。",
        )
    return found


def _suffix_of(path: Path) -> str | None:
    lower = path.name.lower()
    return next((suffix for suffix in SUFFIXES if lower.endswith(suffix) and path.name.endswith(suffix)), None)


def _counts(entry: Path, *, folder: bool) -> bool:
    return not entry.name.startswith((".", "_")) and (entry.is_dir() if folder else entry.is_file())


def _table_of(path: Path) -> FileTable | None:
    suffix = _suffix_of(path)
    if _counts(path, folder=False) and suffix is not None:
        return _checked(FileTable(path.name.removesuffix(suffix), suffix, path.resolve(), is_folder=False))
    if not _counts(path, folder=True):
        return None
    entries = list(path.iterdir())
    if any("=" in entry.name and entry.is_dir() for entry in entries):
        raise wrong_location(
            f"The folder {str(path)!r} has folders such as 'year=2026' in it, which tell values of a column; "
            "that is not offered. Open it with Spark, or write its files with all columns into one folder.",
            f"フォルダ {str(path)!r} には列の値を表す 'year=2026' のようなフォルダがあり、対応していません。"
            "Spark で開くか、全列を含むファイルを一つのフォルダに書き出してください。",
        )
    suffixes = {suffix for entry in entries if _counts(entry, folder=False) and (suffix := _suffix_of(entry))}
    if len(suffixes) > 1:
        raise wrong_location(
            f"The folder {str(path)!r} has files of several kinds: {', '.join(sorted(suffixes))}. "
            "A folder that is a table has files of one kind.",
            f"フォルダ {str(path)!r} に複数の形式のファイル ({', '.join(sorted(suffixes))}) があります。"
            "一つの表のフォルダには一種類のファイルだけを置いてください。",
        )
    return _checked(FileTable(path.name, suffixes.pop(), path.resolve(), is_folder=True)) if suffixes else None


def _checked(table: FileTable) -> FileTable:
    if "." in table.name or not table.name.isprintable():
        raise wrong_location(
            f"The name of {str(table.path)!r} cannot be the name of a table: it has a point or a sign that is not printed. "
            "Rename the file.",
            f"{str(table.path)!r} の名前は表の名前にできません (ピリオドや表示できない文字を含みます)。名前を変えてください。",
        )
    return table


def fingerprint(paths: Sequence[Path]) -> str:
    """What changes when files are written, replaced, added or removed."""
    digest = hashlib.sha256()
    for path in paths:
        try:
            state = path.stat()
            told = f"{state.st_dev} {state.st_ino} {state.st_size} {state.st_mtime_ns} {state.st_ctime_ns}"
        except OSError:
            told = "missing"
        digest.update(f"{path}\0{told}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def header_of(table: FileTable) -> list[str]:
    """The names of a CSV table's columns: the first line of each of its files, the same in all of them."""
    headers = {file: _first_fields(file, table.delimiter) for file in table.files()}
    first = next(iter(headers.values()))
    if any(header != first for header in headers.values()):
        raise wrong_location(
            f"The files in {str(table.path)!r} have different first lines; they must name the same columns.",
            f"{str(table.path)!r} のファイルの先頭行が一致しません。同じ列名が必要です。",
        )
    folded = {name.casefold() for name in first}
    if not first or len(folded) < len(first) or "" in folded or any("\0" in name for name in first):
        raise unreadable_csv(table.path)
    if len(first) > MAX_COLUMNS:
        raise too_many_columns(table.path, len(first))
    if are_found_below(first, next(iter(headers))):
        raise no_header(table.path)
    return first


def _first_fields(file: Path, delimiter: str) -> list[str]:
    try:
        with _opened(file) as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as text:
            start = text.read(MAX_HEADER)
            return parse_header(start, delimiter, is_whole=len(start) < MAX_HEADER)
    except (OSError, EOFError, ValueError):
        complaint = unreadable_csv(file)
    raise complaint


def _opened(file: Path) -> IO[bytes]:
    return gzip.open(file, "rb") if file.name.endswith(".gz") else file.open("rb")  # type: ignore[return-value]
