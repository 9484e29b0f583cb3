"""The engine that reads and counts: DuckDB in this process, bounded in memory, spilling to a private folder.

What DuckDB says of a failure may quote the data, so it is never passed on: a failure becomes one of our own sentences.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.errors import InputError, ParameterError
from sudare.io import complaints
from sudare.parameters import exact_integer, shown
from sudare.system.beside import work_beside
from sudare.system.scratch import scratch_folder

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

__all__ = ["Progress", "fetch_arrow", "identifier", "literal", "numpy_of", "open_engine", "told"]

Progress = Callable[[float, str], None]
"""Called with the share that is done, from 0 to 1, and what is being done."""

MEMORY = re.compile(r"[1-9][0-9]*(\.[0-9]+)? ?([KMGT]i?B)")


def numpy_of(values: Any) -> NDArray[Any]:
    """A pyarrow array, in one piece or several, for NumPy. Numbers go without pandas, which pyarrow's own way would load."""
    import pyarrow.types

    if isinstance(values, pyarrow.ChunkedArray):
        values = values.combine_chunks()
    kind = values.type
    if values.null_count or not (pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind)):
        array: NDArray[Any] = values.to_numpy(zero_copy_only=False)
        return array
    return np.from_dlpack(values).copy()


def identifier(name: str) -> str:
    """A column name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


@contextmanager
def open_engine(memory: str = "1GB", threads: int | None = None) -> Iterator[DuckDBPyConnection]:
    """A connection with bounded memory that loads no extensions and leaves nothing behind.

    Args:
        memory: how much DuckDB may use, such as ``"4GB"``; what does not fit goes to a private temporary folder.
        threads: how many threads; all processors if left out.
    """
    import duckdb

    if not isinstance(memory, str) or not MEMORY.fullmatch(memory.strip()):
        raise ParameterError(
            "memory",
            "read_counts",
            Words("an amount such as '4GB' or '512MB'", "'4GB' や '512MB' のような量"),
            shown(memory),
        )
    config: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": memory.strip(),
        "preserve_insertion_order": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    if threads is not None:
        config["threads"] = exact_integer(
            threads, "threads", "read_counts", Words("a whole number >= 1", "1 以上の整数"), smallest=1
        )
    with scratch_folder() as folder:
        config["temp_directory"] = str(folder)
        connection = duckdb.connect(config=config)
        try:
            # DuckDB's own bar goes to standard output, into whatever a program reads there.
            connection.execute("SET enable_progress_bar = false")
            yield connection
        finally:
            connection.close()


def fetch_arrow(connection: DuckDBPyConnection, sql: str, progress: Progress | None = None) -> Any:
    """The result of a query as a pyarrow table, reporting progress from the caller's own thread."""
    if progress is None:
        return connection.sql(sql).to_arrow_table()

    def report() -> None:
        share = connection.query_progress()
        if share > 0:
            progress(min(share / 100, 0.99), "counting")

    progress(0.0, "counting")
    found = work_beside(lambda: connection.sql(sql).to_arrow_table(), report=report, cancel=connection.interrupt)
    progress(1.0, "counted")
    return found


def told(failure: Exception, files: Sequence[str], kind: str, *, memory: str, encoding: str, query: bool) -> InputError:
    """Our own sentence for a failure of DuckDB; nothing that it quotes is passed on."""
    import duckdb

    message = str(failure)
    if "No space left" in message or "max_temp_directory_size" in message:
        return complaints.no_room(tempfile.gettempdir())
    if isinstance(failure, duckdb.OutOfMemoryException):
        return complaints.out_of_memory(memory)
    if query:
        return _told_of_query(failure, message)
    named = re.findall(r"^  file = (.+)$", message, flags=re.MULTILINE)
    file = next((file for file in files if named and named[-1] == file), None)
    file = file or next((file for file in files if file in message), files[0])
    line = re.search(r"CSV Error on Line: ([0-9]+)", message)
    if line is not None:
        if "not utf-8" in message:
            return complaints.wrong_encoding(file, encoding)
        return complaints.wrong_fields(complaints.Spot(file, int(line.group(1))))
    return complaints.damaged(file, kind)


def _told_of_query(failure: Exception, message: str) -> InputError:
    import duckdb

    # These are raised before any row is read, so they can quote the query only.
    before_reading = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException)
    missing_file = isinstance(failure, duckdb.IOException) and "No files found" in message
    if isinstance(failure, before_reading) or missing_file:
        reason = message.split("\n", 1)[0]
        return complaints.failed_query(reason, reason)
    return complaints.failed_query(
        "it failed on a row, perhaps where a value is converted (TRY_CAST gives an empty field instead).",
        "ある行で失敗しました。値の変換が原因かもしれません (TRY_CAST なら空欄になります)。",
    )
