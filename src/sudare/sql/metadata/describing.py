"""A draft of the metadata, from the schema alone: no row is read, and nothing is decided that a person must decide.

Every table is private until somebody writes otherwise. The draft cannot be used as it is: who is protected, and how each
table leads to them, are left as ``"?"``, which reading refuses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sudare.column_names import looks_like_value
from sudare.engines.engine import ColumnType, Engine
from sudare.errors import PlanError
from sudare.sections import suggest
from sudare.sql.metadata.rules import flaw_of_name, fold
from sudare.sql.metadata.writing import link_to_toml, type_to_text
from sudare.storage.toml_text import toml_key, toml_text

__all__ = ["describe"]

HEAD = """\
# A draft from the schema; no row was read. Everything written here is public, so decide it without looking at the data.
# 1. Say who is protected, and for each table how a row leads to them: replace every "?".
# 2. A table that everybody may see: public = true instead of unit and max_rows.
# 3. Remove tables and columns that nobody should ask about; what is not here cannot be asked.
# 4. Give bounds to the numbers to sum, and values to the columns to group by.
# 表の構造だけから作った下書きです。行は読んでいません。書くことはすべて公開されるので、データを見ずに決め、"?" を埋めてください。

# version = "2026-11"           # of the data; change it when the data change

[unit]
name = "?"                      # who is protected, such as "customer"
adjacency = "add-remove"        # or "replace", where the number of units is public
# max_groups = 1                # in how many groups of an answer one unit may count
"""
HINTS = {
    "integer": "bounds = [low, high]",
    "decimal": "bounds = [low, high]",
    "float": "bounds = [low, high], step = 0.01",
    "date": "bounds = [1900-01-01, 2099-12-31]",
    "timestamp": "bounds = [1900-01-01T00:00:00, 2099-12-31T00:00:00]",
    "text": 'values = ["...", "..."] or values = { from = "public_table.column" }',
    "boolean": "values = [false, true]",
}

HINTS_FOR_OTHER = "can be counted, not grouped by"


def describe(engine: Engine, tables: Sequence[str] | None = None) -> str:
    """Draft a metadata file.

    Args:
        engine: the database. Only its catalogue is asked.
        tables: those to describe; all that there are if left out.

    Returns:
        The text of the file. Reading it fails, with a word on what to fill in, until a person has done so.

    Raises:
        PlanError: if a table that was named is not there.
        DatabaseError: if the database does not answer.
    """
    there = engine.tables()
    for name in tables or ():
        if name not in there:
            hint = suggest(name, there)
            raise PlanError(
                f"The database has no table {toml_key(name)}.{hint.english}",
                f"データベースに表 {toml_key(name)} がありません。{hint.japanese}",
            )
    chosen = there if tables is None else list(dict.fromkeys(tables))
    parts = [HEAD]
    folded: set[str] = set()
    for name in chosen:
        if any(map(flaw_of_name, name.split("."))) or name.count(".") > 2 or fold(name) in folded:
            parts.append(f"# Left out, because its name cannot be described: {toml_text(name)}\n")
            continue
        folded.add(fold(name))
        parts.append("\n".join(_table_lines(engine, name)) + "\n")
    return "\n".join(parts)


def _table_lines(engine: Engine, name: str) -> Iterator[str]:
    columns = engine.columns(name)
    if any(map(looks_like_value, columns)):
        yield f"# Left out, because its columns do not look like columns: {toml_text(name)}. Does its file begin with a record?"
        return
    usable = _usable(columns)
    section = f"tables.{toml_key(name)}"
    yield f"[{section}]"
    yield 'unit = "?"                      # a column that names the unit, a link "column -> table.column", or "row"'
    for column, (table, to) in engine.links(name).items():
        yield f"# unit = {link_to_toml(column, table, to)}  # a foreign key that the database declares"
    yield "# max_rows = 1                  # how many rows of one unit count; units with more are left out"
    key = engine.keys(name)
    if key and usable.issuperset(key):
        yield f"key = [{', '.join(map(toml_text, key))}]"
    else:
        yield "# key = []                      # the columns that identify a row"
    yield ""
    yield f"[{section}.columns]"
    for place, (column, kind_of_column) in enumerate(columns.items(), start=1):
        if column in usable:
            yield _column_line(column, kind_of_column)
        else:
            yield f"# Left out, because its name cannot be described: column {place}"


def _usable(columns: dict[str, ColumnType]) -> set[str]:
    found: dict[str, str] = {}
    for column in columns:
        if flaw_of_name(column) is None:
            found.setdefault(fold(column), column)
    return set(found.values())


def _column_line(name: str, kind_of_column: ColumnType) -> str:
    line = f"{toml_key(name)} = {{ type = {toml_text(_type_text(kind_of_column))} }}"
    if kind_of_column.kind == "decimal" and kind_of_column.scale is None:
        return f"{line}  # {HINTS['float']}"
    if kind_of_column.kind in HINTS:
        return f"{line}  # {HINTS[kind_of_column.kind]}"
    # What stands in brackets may list values, as an enumeration does: only the name of the type is written.
    native = kind_of_column.native.partition("(")[0].strip()
    name = f"{native:.40}; " if native.replace(" ", "").replace("_", "").isalnum() else ""
    return f"{line}  # {name}{HINTS_FOR_OTHER}"


def _type_text(kind_of_column: ColumnType) -> str:
    if kind_of_column.kind == "decimal" and (kind_of_column.digits or 0) > 38:
        return "decimal"
    return type_to_text(kind_of_column)
