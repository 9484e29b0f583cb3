"""Metadata as the text of a file that reads back the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING

from sudare.storage.toml_text import toml_key, toml_text

if TYPE_CHECKING:
    from sudare.engines.engine import ColumnType
    from sudare.sql.metadata.model import ColumnMetadata, Metadata, TableMetadata

__all__ = ["is_consecutive", "link_to_toml", "metadata_to_toml", "toml_key", "toml_text", "toml_value", "type_to_text"]

PLAIN = re.compile(r"\w+")
PLAIN_TABLE = re.compile(r"\w+(\.\w+)*")


def toml_value(value: object) -> str:
    """A value as the file writes it."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case Decimal():
            return format(value, "f")
        case date():  # also timestamps
            return value.isoformat()
        case _:
            return toml_text(str(value))


def type_to_text(kind_of_column: ColumnType) -> str:
    """A type as the file writes it.

    Example:
        >>> from sudare.engines.engine import ColumnType
        >>> from sudare.sql.metadata.writing import type_to_text
        >>> type_to_text(ColumnType("decimal", 15, 2))
        'decimal(15,2)'
    """
    if kind_of_column.kind == "decimal" and kind_of_column.digits is not None:
        return f"decimal({kind_of_column.digits},{kind_of_column.scale})"
    return kind_of_column.kind


def link_to_toml(column: str, table: str, to: str) -> str:
    """A link: as an arrow, or as a section in braces where a name could be misread."""
    if PLAIN.fullmatch(column) and PLAIN_TABLE.fullmatch(table) and PLAIN.fullmatch(to):
        return toml_text(f"{column} -> {table}.{to}")
    return f"{{ column = {toml_text(column)}, table = {toml_text(table)}, to = {toml_text(to)} }}"


def is_consecutive(values: Sequence[object]) -> bool:
    """Whether these are three or more whole numbers or days, each the next of the one before."""
    if len(values) < 3:
        return False
    one: object
    if all(type(value) is int for value in values):
        one = 1
    elif all(isinstance(value, date) and not isinstance(value, datetime) for value in values):
        one = timedelta(days=1)
    else:
        return False
    return all(after - before == one for before, after in pairwise(values))  # type: ignore[operator]


def metadata_to_toml(metadata: Metadata) -> str:
    r"""The text of a file that `sudare.sql.metadata.file.read_metadata` reads as the same metadata.

    Example:
        >>> from sudare.sql.metadata.file import parse_metadata
        >>> from sudare.sql.metadata.writing import metadata_to_toml
        >>> text = 'unit.name="person"\ntables.visit={unit="row", columns.age={type="integer", bounds=[0, 120]}}'
        >>> metadata = parse_metadata(text, "visits.toml")
        >>> parse_metadata(metadata_to_toml(metadata), "again.toml") == metadata
        True
    """
    lines: list[str] = []
    if metadata.version:
        lines += [f"version = {toml_text(metadata.version)}", ""]
    lines += ["[unit]", f"name = {toml_text(metadata.who)}", f"adjacency = {toml_text(metadata.adjacency)}"]
    lines.append(f"max_groups = {metadata.max_groups}")
    for table in metadata.tables.values():
        lines += ["", *_table_lines(table)]
    return "\n".join(lines) + "\n"


def _table_lines(table: TableMetadata) -> Iterator[str]:
    section = f"tables.{toml_key(table.name)}"
    yield f"[{section}]"
    if table.public:
        yield "public = true"
    elif table.row_is_unit:
        yield 'unit = "row"'
    elif table.link is not None:
        yield f"unit = {link_to_toml(table.link.column, table.link.table, table.link.to)}"
    elif table.unit is not None:
        is_plain = PLAIN.fullmatch(table.unit) and table.unit != "row"
        yield f"unit = {toml_text(table.unit)}" if is_plain else f"unit = {{ column = {toml_text(table.unit)} }}"
    if table.max_rows is not None:
        yield f"max_rows = {table.max_rows}"
    if table.key:
        yield f"key = [{', '.join(map(toml_text, table.key))}]"
    if table.columns:
        yield ""
        yield f"[{section}.columns]"
        for column in table.columns.values():
            yield f"{toml_key(column.name)} = {{ {', '.join(_column_parts(column))} }}"


def _column_parts(column: ColumnMetadata) -> Iterator[str]:
    yield f"type = {toml_text(type_to_text(column.type))}"
    if column.low is not None:
        yield f"bounds = [{toml_value(column.low)}, {toml_value(column.high)}]"
    if column.step is not None:
        yield f"step = {toml_value(column.step)}"
    if column.values is not None:
        if is_consecutive(column.values):
            yield f"values = {{ first = {toml_value(column.values[0])}, last = {toml_value(column.values[-1])} }}"
        else:
            yield f"values = [{', '.join(map(toml_value, column.values))}]"
    if column.values_from is not None:
        table, other = column.values_from
        if PLAIN_TABLE.fullmatch(table) and PLAIN.fullmatch(other):
            yield f"values = {{ from = {toml_text(f'{table}.{other}')} }}"
        else:
            yield f"values = {{ table = {toml_text(table)}, column = {toml_text(other)} }}"
    if not column.nullable:
        yield "nullable = false"
    if column.unique:
        yield "unique = true"
    if column.max_frequency is not None:
        yield f"max_frequency = {column.max_frequency}"
