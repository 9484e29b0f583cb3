"""Open the database that metadata describe: files of CSV say nothing of the types of their columns, the metadata do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sudare.engines.engine import Engine
from sudare.engines.files import find_tables, header_of
from sudare.engines.opening import DUCKDB_SUFFIXES, open_engine
from sudare.sql.metadata.model import Metadata
from sudare.sql.metadata.writing import type_to_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["open_described"]

_DUCKDB_TYPES = {
    "integer": "BIGINT",
    "decimal": "DECIMAL",
    "float": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "text": "VARCHAR",
    "other": "VARCHAR",
}
"""What columns of CSV files are read as."""


def open_described(
    url: str | Path | Sequence[str | Path] | SparkSession,
    metadata: Metadata,
    types: Mapping[str, Mapping[str, str]] | None = None,
    *,
    reads_later: bool = False,
) -> Engine:
    """Open a database; columns of CSV files get the types that the metadata state.

    Args:
        url: as `sudare.engines.open_engine` takes it.
        metadata: of the database.
        types: of columns of CSV files, in place of the metadata's.
        reads_later: whether rows of CSV files are read when a query first names their table; not for what is charged, where a
            damaged file must be noticed before.
    """
    stated = _types_of_csv(url, metadata) if types is None else types
    return open_engine(url, types=stated, reads_later=reads_later)


def _types_of_csv(url: object, metadata: Metadata) -> dict[str, dict[str, str]]:
    parts = [url] if isinstance(url, (str, Path)) else list(url) if isinstance(url, Sequence) else []
    paths = [part for part in parts if isinstance(part, (str, Path))]
    texts = [str(path) for path in paths]
    is_other = any("://" in text or text.startswith("spark:") for text in texts)
    if (
        not paths
        or is_other
        or (len(texts) == 1 and texts[0].endswith(DUCKDB_SUFFIXES) and not Path(texts[0]).is_dir())
    ):
        return {}
    found = {}
    for table in find_tables(paths):
        if table.format == "csv" and table.name in metadata.tables:
            header = header_of(table)
            columns = metadata.tables[table.name].columns
            typed = {name: _DUCKDB_TYPES[column.type.kind] for name, column in columns.items() if name in header}
            decimals = {name: type_to_text(columns[name].type) for name, word in typed.items() if word == "DECIMAL"}
            found[table.name] = {name: word for name, word in (typed | decimals).items() if word != "VARCHAR"}
    return found
