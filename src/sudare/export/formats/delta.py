"""A table of Delta: one commit for each release, on a file system or in an object store.

The commit carries the release's identity twice: for people in its information (``sudare.release``), and as an application
transaction, which stays known when the history is cleaned up and by which two exports at once cannot both commit.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.bilingual import Words
from sudare.errors import OutputError, UserError
from sudare.export import export_words as texts
from sudare.export.format import Committed
from sudare.export.sentences import reason_in_short
from sudare.extras import optional_module

if TYPE_CHECKING:
    from sudare.export.lake_rows import LakeRows

__all__ = ["DELTA"]

NAME = "Delta"
LOG, PART = "_delta_log", "part-*.parquet"
APPLICATION = "sudare:{identity}"
DELTA_TABLES = Words("Tables of Delta", "Delta の表")
READ_BY = Words(
    "a version of a Delta table, which Spark, DuckDB and polars read",
    "Delta の表の版（Spark、DuckDB、polars が読む形式）",
)


@dataclass(frozen=True)
class Delta:
    """Tables of Delta."""

    words: Words = READ_BY

    def commit(self, rows: LakeRows, place: str) -> Committed:
        """Add a version, unless the table has or had it."""
        package = optional_module("deltalake", "lake", DELTA_TABLES)
        failures = optional_module("deltalake.exceptions", "lake", DELTA_TABLES)
        address = place if "://" in place else str(_folder(place))
        try:
            table = package.DeltaTable(address) if package.DeltaTable.is_deltatable(address) else None
            if table is not None:
                _require_columns(package, table, rows, place)
                if table.transaction_version(_application(rows)) is not None:
                    return _found(table, rows, place)
            _write(package, address if table is None else table, rows)
            return _found(package.DeltaTable(address), rows, place, is_new=True)
        except UserError:
            raise
        except failures.CommitFailedError:
            raise OutputError(texts.ANOTHER_WRITER.format(place=place)) from None
        except Exception as failure:  # the package raises it bare, for types that Delta lacks
            raise OutputError(texts.NOT_FINISHED.format(place=place, reason=reason_in_short(failure))) from None


def _folder(place: str) -> Path:
    """A folder that has a table, or room for one: parts of an export that was killed are no hindrance."""
    path = Path(place)
    if "%" in str(path.resolve()):
        raise OutputError(texts.READ_AS_ADDRESS.format(place=place, signs="%", format=NAME))
    if path.is_dir() and not (path / LOG).is_dir() and set(path.iterdir()) != set(path.glob(PART)):
        raise OutputError(texts.NOT_A_TABLE.format(place=place, format=NAME))
    if path.exists() and not path.is_dir():
        raise OutputError(texts.NOT_A_TABLE.format(place=place, format=NAME))
    return path.resolve()


def _application(rows: LakeRows) -> str:
    return APPLICATION.format(identity=rows.identity)


def _require_columns(package: Any, table: Any, rows: LakeRows, place: str) -> None:
    """The columns of another release, with its types: readers of the table rely on them."""
    own, there = (
        [f"{field.name} {getattr(field.type, 'type', field.type)}" for field in schema.fields]
        for schema in (package.Schema.from_arrow(rows.schema), table.schema())
    )
    if own != there:
        raise OutputError(texts.OTHER_COLUMNS.format(place=place, there=", ".join(there), own=", ".join(own)))


def _write(package: Any, target: Any, rows: LakeRows) -> None:
    """One commit, tried once: one that is tried again after somebody else's keeps their rows, if there were none before."""
    package.write_deltalake(
        target,
        rows.reader(),
        mode="overwrite",
        commit_properties=package.CommitProperties(
            custom_metadata=rows.properties,
            app_transactions=[package.Transaction(_application(rows), 0)],
            max_commit_retries=0,
        ),
    )


def _found(table: Any, rows: LakeRows, place: str, is_new: bool = False) -> Committed:
    version = next((one["version"] for one in table.history() if one.get("sudare.release") == rows.identity), None)
    return Committed(place, "delta", rows.identity, version, table.version(), is_new)


DELTA = Delta()
