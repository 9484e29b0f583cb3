"""What Spark is to read: a table, Parquet files, a table of Delta, a query, or a frame; opened in a session of our own."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.bilingual import Words
from sudare.engines.names import backquoted, quoted_path
from sudare.engines.spark_engine import SparkEngine
from sudare.errors import InputError
from sudare.extras import optional_module
from sudare.io.relations import SourceRelation
from sudare.spark.expressions import kind_of
from sudare.spark.pins import InputPin, pin_of_files

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from sudare.io import Source

__all__ = ["SparkRelation", "open_on_spark"]

LOCAL = "spark:local"
DELTA_TABLES = Words("Tables of Delta in a folder", "フォルダ内の Delta テーブル")
NO_DATA = Words(
    "'{place}' has no Parquet files and is no table of Delta.",
    "「{place}」には Parquet ファイルがなく、Delta テーブルでもありません。",
)


@dataclass
class SparkRelation(SourceRelation):
    """Rows of a view of the session.

    Attributes:
        view: its name.
        pin: which state of the data it shows.
    """

    view: str = ""
    pin: InputPin = field(default_factory=lambda: InputPin("query"))
    kind = "Spark"

    def describe(self, connection: DuckDBPyConnection) -> None:
        """Types are known when it is made."""

    def rows(self, connection: DuckDBPyConnection, needed: Sequence[str]) -> str:
        """What to select the needed columns from."""
        return backquoted(self.view)

    def numbered_rows(self, connection: DuckDBPyConnection, needed: Sequence[str]) -> str | None:
        """Rows on a cluster have no numbers."""
        return None

    def first_file(self) -> str | None:
        """No file is named: rows are spread over many."""
        return None


@contextmanager
def open_on_spark(source: Source, frame: Any = None) -> Iterator[tuple[SparkEngine, SparkRelation]]:
    """A session of our own with a view of the data, and which state of it that shows. No row is looked at.

    Args:
        source: of the format ``"spark"``.
        frame: a DataFrame of Spark in place of what the source names.

    Raises:
        DatabaseError: if Spark cannot be reached, or does not find the data.
        MissingPackageError: if a package is not installed.
        InputError: if there is no data at the path.
    """
    view = f"sudare_{uuid.uuid4().hex}"
    if frame is not None:
        session = frame.sparkSession
        frame.createOrReplaceTempView(view)
        try:
            engine = SparkEngine.over_session(session, for_counting=True)
            engine.use(lambda copied: copied.table(view).schema)  # views are copied when they are first asked for
        finally:
            session.catalog.dropTempView(view)
    else:
        engine = SparkEngine.at(source.cluster or LOCAL, for_counting=True)
    with engine:
        pin = _show(engine, source, view) if frame is None else _pin_of_view(engine, view)
        fields = engine.use(lambda session: session.table(view).schema.fields)
        types = {field.name: kind_of(field.dataType.simpleString()) for field in fields}
        yield engine, SparkRelation((), types, view=view, pin=pin)


def _show(engine: SparkEngine, source: Source, view: str) -> InputPin:
    """Make a view of what a source names."""
    if source.paths:
        pins = [_files_of(path) for path in source.paths]
        names = [file for pin, files in pins for file in files]

        def read(session: Any) -> list[str]:
            rows = session.read.parquet(*map(_escaped, names))
            rows.createOrReplaceTempView(view)
            return list(rows.inputFiles())

        files = engine.use(read)
        known = pins[0][0]
        return pin_of_files(files, known.kind, known.state) if len(pins) == 1 else pin_of_files(files)
    if source.table is not None:
        name = source.table
        engine.use(lambda session: session.table(quoted_path(name, "`")).createOrReplaceTempView(view))
        return _pin_of_table(engine, quoted_path(name, "`"), view)
    engine.use(lambda session: session.sql(f"SELECT * FROM (\n{source.query}\n)").createOrReplaceTempView(view))  # noqa: S608
    return _pin_of_view(engine, view)


def _pin_of_view(engine: SparkEngine, view: str) -> InputPin:
    files: list[str] = engine.use(lambda session: list(session.table(view).inputFiles()))
    return pin_of_files(files) if files else InputPin("query")


def _pin_of_table(engine: SparkEngine, name: str, view: str) -> InputPin:
    """The version of Delta, the snapshot of Iceberg, else the files."""
    for kind, sql in (
        ("delta", f"DESCRIBE HISTORY {name} LIMIT 1"),
        ("iceberg", f"SELECT snapshot_id AS version FROM {name}.snapshots ORDER BY committed_at DESC LIMIT 1"),  # noqa: S608
    ):
        try:
            rows = engine.use(lambda session, sql=sql: session.sql(sql).collect())  # type: ignore[misc]
        except Exception:  # noqa: S112 - a table of another kind does not know the question
            continue
        if rows:
            return InputPin(kind, str(rows[0]["version"]))
    return _pin_of_view(engine, view)


def _files_of(path: str) -> tuple[InputPin, list[str]]:
    """The files at a path. Of a table of Delta on this machine those of its latest version alone."""
    if "://" in path or not (Path(path) / "_delta_log").is_dir():
        if "://" not in path and not Path(path).exists():
            raise InputError(NO_DATA.format(place=path))
        return InputPin("files"), [path]
    table = optional_module("deltalake", "lake", DELTA_TABLES).DeltaTable(path)
    return InputPin("delta", str(table.version())), list(table.file_uris())


def _escaped(path: str) -> str:
    if "://" in path:
        return path
    read = path.replace("\\", "\\\\")
    for sign in "{}[]*?":
        read = read.replace(sign, "\\" + sign)
    return read
