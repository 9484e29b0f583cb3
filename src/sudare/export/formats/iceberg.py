"""A table of Iceberg: one commit for each release, in a folder with a catalogue in SQLite or in a catalogue of the user.

A commit is one snapshot, with the release's identity in its summary (``sudare.release``). Only a catalogue in SQLite is
made here. Others are found by name in the configuration of pyiceberg, which also knows object stores and their keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.bilingual import Words
from sudare.errors import OutputError, UserError
from sudare.export import export_words as texts
from sudare.export.format import Committed
from sudare.export.sentences import reason_in_short
from sudare.extras import missing_package, optional_module
from sudare.storage.atomic import unique_text

if TYPE_CHECKING:
    from sudare.export.lake_rows import LakeRows

__all__ = ["ICEBERG"]

CATALOG, FILE = "sudare", "catalog.db"
CONFIGURED = re.compile(r"([\w-]+):([^/]+\.[^/]+)")
ROWS_PER_FILE = 1 << 24
RELEASE = "sudare.release"
ICEBERG_TABLES = Words("Tables of Iceberg", "Iceberg の表")
READ_BY = Words(
    "a snapshot of an Iceberg table, which Spark, Trino and DuckDB read",
    "Iceberg の表のスナップショット（Spark、Trino、DuckDB が読む形式）",
)


@dataclass(frozen=True)
class Iceberg:
    """Tables of Iceberg."""

    words: Words = READ_BY

    def commit(self, rows: LakeRows, place: str) -> Committed:
        """Add a snapshot, unless the table has or had the release."""
        optional_module("pyiceberg.catalog.sql", "lake", ICEBERG_TABLES)
        failures = optional_module("pyiceberg.exceptions", "lake", ICEBERG_TABLES)
        conflicts = (
            failures.CommitFailedException,
            failures.ValidationException,
            failures.TableAlreadyExistsError,
        )
        try:
            with _catalog(place) as (catalog, name):
                return _commit(catalog, name, rows, place)
        except UserError:
            raise
        except conflicts:
            raise OutputError(texts.ANOTHER_WRITER.format(place=place)) from None
        except ImportError as failure:
            raise missing_package(failure.name or "pyiceberg", None, ICEBERG_TABLES) from None
        except Exception as failure:  # the package has no kind of error of its own
            raise OutputError(texts.NOT_FINISHED.format(place=place, reason=reason_in_short(failure))) from None


@contextmanager
def _catalog(place: str) -> Iterator[tuple[Any, str]]:
    """The catalogue that a place names, and the table's name in it."""
    from pyiceberg.catalog import load_catalog
    from pyiceberg.catalog.sql import SqlCatalog

    configured = CONFIGURED.fullmatch(place)
    if configured is not None:
        with closing(load_catalog(configured[1])) as catalog:
            yield catalog, configured[2]
        return
    path = Path(place).resolve()
    if "://" in place or "." not in path.name.strip("."):
        raise OutputError(texts.NO_ICEBERG_PLACE.format(place=place))
    if {"%", "?"} & set(str(path)):
        raise OutputError(texts.READ_AS_ADDRESS.format(place=place, signs="% ?", format="Iceberg"))
    warehouse = path.parent
    if warehouse.is_dir() and any(warehouse.iterdir()) and not (warehouse / FILE).is_file():
        raise OutputError(texts.NOT_A_TABLE.format(place=warehouse, format="Iceberg"))
    warehouse.mkdir(parents=True, exist_ok=True)
    with closing(SqlCatalog(CATALOG, uri=f"sqlite:///{warehouse / FILE}", warehouse=str(warehouse))) as catalog:
        yield catalog, path.name


def _commit(catalog: Any, name: str, rows: LakeRows, place: str) -> Committed:
    from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError
    from pyiceberg.io import load_file_io

    try:
        table = catalog.load_table(name)
    except (NoSuchTableError, NoSuchNamespaceError):
        catalog.create_namespace_if_not_exists(name.rpartition(".")[0])
        with catalog.create_table_transaction(name, rows.schema) as transaction:
            files = load_file_io(catalog.properties, transaction.table_metadata.location)
            _replace(transaction, files, (), rows)
    else:
        _require_columns(table, rows, place)
        if not table.spec().is_unpartitioned():
            raise OutputError(texts.PARTITIONED.format(place=place))
        found = _found(table, rows, place)
        if found.version is not None:
            return found
        with table.transaction() as transaction:
            _replace(transaction, table.io, [task.file for task in table.scan().plan_files()], rows)
    return _found(catalog.load_table(name), rows, place, is_new=True)


def _replace(transaction: Any, files: Any, before: Iterable[Any], rows: LakeRows) -> None:
    """One snapshot with new files in place of those before.

    Files are written here, because the package's own writer reads a whole stream ahead.
    """
    from pyiceberg.io.pyarrow import parquet_file_to_data_file

    metadata = transaction.table_metadata
    with transaction.update_snapshot(snapshot_properties=rows.properties).overwrite() as snapshot:
        for file in before:
            snapshot.delete_data_file(file)
        for address in _write(metadata, files, rows):
            snapshot.append_data_file(parquet_file_to_data_file(files, metadata, address))


def _write(metadata: Any, files: Any, rows: LakeRows) -> Iterator[str]:
    """The addresses of Parquet files with all rows, whose columns have the numbers that the table gave them."""
    import pyarrow.parquet
    from pyiceberg.table.locations import load_location_provider

    locations = load_location_provider(metadata.location, metadata.properties)
    schema, batches = metadata.schema().as_arrow(), rows.batches()
    for first in batches:
        address = locations.new_data_location(f"{unique_text()}.parquet")
        with (
            files.new_output(address).create() as stream,
            pyarrow.parquet.ParquetWriter(stream, schema, compression="zstd") as writer,
        ):
            written = 0
            for batch in chain((first,), batches):
                writer.write_batch(batch.cast(schema))
                written += batch.num_rows
                if written >= ROWS_PER_FILE:
                    break
        yield address


def _require_columns(table: Any, rows: LakeRows, place: str) -> None:
    """The columns of another release, with its types: readers of the table rely on them."""
    own, there = (
        [f"{field.name} {_plain(field.type)}" for field in schema]
        for schema in (rows.schema, table.schema().as_arrow())
    )
    if own != there:
        raise OutputError(texts.OTHER_COLUMNS.format(place=place, there=", ".join(there), own=", ".join(own)))


def _plain(kind: Any) -> str:
    """The name of a type for which Iceberg has several, or one in place of several."""
    return {"large_string": "string", "int8": "int32", "int16": "int32"}.get(str(kind), str(kind))


def _found(table: Any, rows: LakeRows, place: str, is_new: bool = False) -> Committed:
    latest, version = table.current_snapshot(), None
    for snapshot in table.snapshots():
        summary = snapshot.summary
        if summary is not None and summary[RELEASE] == rows.identity:
            version = snapshot.snapshot_id
    return Committed(place, "iceberg", rows.identity, version, -1 if latest is None else latest.snapshot_id, is_new)


ICEBERG = Iceberg()
