"""Files of people that are larger than memory: DuckDB reads them, and only counts of different combinations come into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sudare.errors import InputError, OutputError
from sudare.io import complaints
from sudare.io.engine import fetch_arrow, identifier, numpy_of, open_engine, told
from sudare.microdata.records import Records
from sudare.microdata.search.large_views import csv_columns, csv_rows, parquet_columns, parquet_rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

__all__ = ["Counted", "LargeFile", "format_of", "open_large", "told_of"]

COUNT = "sudare count"
"""Name of the column of counts; with a space, so that it meets no usual one. Letters are added where it does."""


@dataclass(frozen=True, eq=False)
class Counted:
    """The different combinations of some columns of a file.

    Attributes:
        records: the combinations, sorted.
        counts: how many rows have each.
    """

    records: Records
    counts: NDArray[np.int64]

    @property
    def people(self) -> int:
        """How many rows there are in all."""
        return int(self.counts.sum())


@dataclass(frozen=True, eq=False)
class LargeFile:
    """A file that is open for counting.

    Attributes:
        path: of the file.
        columns: in order.
        view: its name in SQL, with all values as texts.
        connection: to DuckDB.
        unreadable: columns that hold neither texts nor numbers.
    """

    path: Path
    columns: tuple[str, ...]
    view: str
    connection: DuckDBPyConnection
    unreadable: tuple[str, ...] = ()

    def require(self, names: Sequence[str]) -> None:
        """Refuse columns that are not there, or hold neither texts nor numbers.

        Raises:
            InputError: names the column.
        """
        for name in names:
            if name not in self.columns:
                raise complaints.missing_column(name, list(self.columns), str(self.path), asked=names)
            if name in self.unreadable:
                raise InputError(
                    f"The column {name!r} holds neither texts nor numbers.",
                    f"列 {name!r} は文字列でも数値でもありません。",
                )

    def count(self, names: Sequence[str]) -> Counted:
        """The different combinations of columns, and the number of rows of each.

        Raises:
            InputError: if a column is missing, the file is damaged, or there are more combinations than the memory allows.
        """
        self.require(names)
        listed = ", ".join(identifier(name) for name in dict.fromkeys(names))
        number = _other_name(COUNT, names)
        # Sorted, because threads finish in any order and ties of a search must not depend on it.
        sql = f"SELECT {listed}, count(*)::BIGINT AS {identifier(number)} FROM {self.view} GROUP BY ALL ORDER BY ALL"  # noqa: S608 - names and texts are quoted
        with told_of(self.path):
            table = fetch_arrow(self.connection, sql)
        counts = numpy_of(table.column(number)).astype(np.int64)
        return Counted(Records.of_arrow(table.drop_columns([number])), counts)

    def first_row(self, name: str, value: str | None) -> int:
        """The first row of data with a value, from 1 on; an empty text and a missing value are the same."""
        column = f"coalesce({identifier(name)}, '')"
        numbered = f"SELECT row_number() OVER () AS place, {column} AS value FROM {self.view}"  # noqa: S608 - names and texts are quoted
        with told_of(self.path):
            self.connection.execute("SET preserve_insertion_order = true")
            row = self.connection.execute(
                f"SELECT min(place) FROM ({numbered}) WHERE value = ?",  # noqa: S608 - names and texts are quoted
                [value or ""],
            ).fetchone()
            self.connection.execute("SET preserve_insertion_order = false")
        return int(row[0]) if row and row[0] is not None else 0

    def rows_in_uniform_classes(self, classes: Sequence[str], name: str) -> int:
        """How many rows are in classes of equal columns in which all rows have the same value of another column."""
        self.require([*classes, name])
        listed = ", ".join(identifier(column) for column in classes)
        number = identifier(_other_name(COUNT, [*classes, name]))
        value = f"coalesce({identifier(name)}, '')"
        sql = (
            f"SELECT coalesce(sum({number}), 0)::BIGINT FROM (SELECT count(*) AS {number} FROM {self.view} "  # noqa: S608 - names and texts are quoted
            f"GROUP BY {listed} HAVING min({value}) = max({value}))"
        )
        with told_of(self.path):
            row = self.connection.execute(sql).fetchone()
        return int(row[0]) if row else 0


@contextmanager
def open_large(path: str | Path, *, memory: str = "2GB", threads: int | None = None) -> Iterator[LargeFile]:
    r"""Open a .csv or .parquet file for counting.

    Args:
        path: the file.
        memory: that DuckDB may use.
        threads: that DuckDB may use.

    Raises:
        InputError: if it cannot be read.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.microdata.search.large_counts import open_large
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     people = Path(folder) / "people.csv"
        ...     _ = people.write_text("sex,ill\nf,no\nf,yes\nm,no\n")
        ...     with open_large(people) as file:
        ...         file.count(["sex"]).counts.tolist(), file.first_row("sex", "m")
        ([2, 1], 3)
    """
    with open_engine(memory, threads) as connection:
        yield view_of(connection, path, "people")


def view_of(connection: DuckDBPyConnection, path: str | Path, view: str) -> LargeFile:
    """Make a view of a file with all values as texts.

    Raises:
        InputError: if it cannot be read.
    """
    if not Path(path).is_file():
        raise complaints.unreadable(str(path))
    file = Path(path)
    unreadable: tuple[str, ...] = ()
    with told_of(path):
        if format_of(path) == "csv":
            columns, delimiter = csv_columns(file)
            rows = csv_rows(file, columns, delimiter)
        else:
            schema = parquet_columns(file)
            columns = tuple(schema.names)
            rows, unreadable = parquet_rows(connection, file, schema, view)
        connection.execute(f"CREATE OR REPLACE VIEW {view} AS SELECT * FROM {rows}")  # noqa: S608 - names and texts are quoted
    return LargeFile(file, columns, view, connection, unreadable)


def _other_name(name: str, names: Sequence[str]) -> str:
    """A name that no column has."""
    taken = {other.casefold() for other in names}
    while name.casefold() in taken:
        name += "s"
    return name


def format_of(path: str | Path) -> str:
    """How a file is read and written.

    Raises:
        OutputError: if it is neither .csv nor .parquet.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise OutputError(
            f"Large files of people are read and written as .csv or .parquet; the name ends in {suffix!r}.",
            f"大きな個票は .csv か .parquet で読み書きします。名前の末尾は {suffix!r} です。",
        )
    return suffix[1:]


@contextmanager
def told_of(source: str | Path) -> Iterator[None]:
    """What DuckDB says of a failure may quote the data, so it is not passed on."""
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException:
        raise InputError(
            "The different combinations of values do not fit into the memory allowed. Allow more, or start from coarser values.",
            "値の組み合わせが許されたメモリに収まりません。メモリを増やすか、粗い値から始めてください。",
        ) from None
    except duckdb.Error as failure:
        raise told(failure, [str(source)], "CSV or Parquet", memory="", encoding="utf-8", query=False) from None
