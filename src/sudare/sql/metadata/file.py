"""Reading a metadata file: the tables of a database, who is protected, and what bounds every answer.

version = "2026-11"

[unit]
name = "customer"

[tables.customer]
unit = "id"
max_rows = 1
key = ["id"]
[tables.customer.columns]
id = { type = "integer" }
city = { type = "text", values = ["Tokyo", "Osaka"] }

[tables.orders]
unit = "customer_id -> customer.id"
max_rows = 100
[tables.orders.columns]
customer_id = { type = "integer" }
price = { type = "decimal(12,2)", bounds = [0, 500] }
"""

from __future__ import annotations

import re
import tomllib
from datetime import date, timedelta
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any, get_args

from sudare.bilingual import Words
from sudare.engines.engine import ColumnType, Kind
from sudare.errors import PlanError
from sudare.privacy.unit import ADJACENCIES
from sudare.sections import Section, place_in_japanese
from sudare.sql.metadata.column_rules import DOCUMENT, MAX_VALUES
from sudare.sql.metadata.model import ColumnMetadata, Link, Metadata, TableMetadata, Value
from sudare.storage.toml_text import toml_key
from sudare.system.reasons import reason_of
from sudare.system.regular_files import read_regular_file

__all__ = ["PLACEHOLDER", "parse_metadata", "read_metadata"]

PLACEHOLDER = "?"
"""What a draft has where only a person can decide."""

MAX_FILE_BYTES = 64 * 2**20
_DECIMAL = re.compile(r"decimal\(\s*([0-9]{1,2})\s*,\s*([0-9]{1,2})\s*\)")
TOP_KEYS = ("version", "unit", "tables")
UNIT_KEYS = ("name", "adjacency", "max_groups")
TABLE_KEYS = ("public", "unit", "max_rows", "key", "columns")
COLUMN_KEYS = ("type", "bounds", "step", "values", "nullable", "unique", "max_frequency")


def read_metadata(path: str | Path) -> Metadata:
    r"""Read a metadata file. No database is asked.

    Args:
        path: where it is.

    Raises:
        PlanError: if it is not there, not TOML, or says something that cannot be; the message names section and key.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.sql.metadata.file import read_metadata
        >>> text = 'unit.name = "person"\ntables.visits = {unit = "row", columns.age = {type = "integer"}}'
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "metadata.toml"
        ...     _ = file.write_text(text)
        ...     list(read_metadata(file).tables)
        ['visits']
    """
    file = Path(path)
    try:
        content = read_regular_file(file)
    except FileNotFoundError:
        raise PlanError(
            f"There is no metadata file '{file}'. `sudare sql describe` drafts one.",
            f"メタデータファイル「{file}」がありません。`sudare sql describe` で下書きを作れます。",
        ) from None
    except OSError as error:
        raise PlanError(
            f"The metadata file '{file}' cannot be read: {reason_of(error).english}.",
            f"メタデータファイル「{file}」を読めません: {reason_of(error).japanese}。",
        ) from None
    return _metadata_of(content, file.name)


def parse_metadata(text: str, name: str = "metadata.toml") -> Metadata:
    r"""Read metadata from the text of a file.

    Args:
        text: what the file has.
        name: what the file is called in messages.

    Raises:
        PlanError: if it is not TOML, or says something that cannot be; the message names section and key.

    Example:
        >>> from sudare.sql.metadata.file import parse_metadata
        >>> text = 'unit.name = "person"\ntables.visits = {unit = "row", columns.age = {type = "integer"}}'
        >>> parse_metadata(text).tables["visits"].max_rows
        1
    """
    return _metadata_of(text.encode("utf-8", "surrogatepass"), name)


def _metadata_of(content: bytes, file: str) -> Metadata:
    top = Section(_loaded(content, file), "", file, TOP_KEYS, DOCUMENT)
    version = top.text("version", "")
    unit = top.section("unit", UNIT_KEYS)
    who = unit.text("name")
    if who == PLACEHOLDER:
        unit.refuse(
            "name",
            'is still as drafted: write who is protected, such as "customer"',
            'が下書きのままです。保護する単位を書いてください（例: "customer"）',
        )
    adjacency: Any = unit.choice("adjacency", ADJACENCIES, "add-remove")
    max_groups = unit.whole("max_groups", 1)
    unit.finish()
    listed = top.mapping("tables")
    top.finish()
    tables = {name: _table(listed, name, file) for name in listed}
    return Metadata(who, tables, adjacency, max_groups, version, digest=sha256(content).hexdigest(), file=file)


def _loaded(content: bytes, file: str) -> dict[str, object]:
    if len(content) > MAX_FILE_BYTES:
        reason = Words("it is larger than 64 MiB", "64 MiB より大きいファイルです")
    else:
        try:
            return tomllib.loads(content.decode("utf-8"), parse_float=Decimal)
        except UnicodeDecodeError:
            reason = Words("it is not UTF-8", "UTF-8 ではありません")
        except tomllib.TOMLDecodeError as error:
            reason = Words(str(error), place_in_japanese(error))
        except (ValueError, ArithmeticError):
            reason = Words("a number in it is too long, or no number", "長すぎる数か、数でないものがあります")
        except RecursionError:
            reason = Words("brackets are nested too deeply", "括弧の入れ子が深すぎます")
    raise PlanError(f"{file} is not TOML: {reason.english}.", f"{file} は TOML として読めません: {reason.japanese}。")


def _table(listed: dict[str, object], name: str, file: str) -> TableMetadata:
    place = f"tables.{toml_key(name)}"
    top = Section(listed, "tables", file, (), DOCUMENT)
    values = top.mapping(name)
    section = Section(values, place, file, TABLE_KEYS, DOCUMENT)
    public = section.flag("public", False)
    unit, link, row_is_unit = None, None, False
    if section.has("unit"):
        unit, link, row_is_unit = _unit(section, values["unit"])
    max_rows = section.whole("max_rows") if section.has("max_rows") else None
    key: tuple[str, ...] = ()
    if section.has("key"):
        key = tuple(section.items("key"))
        if not key or not all(isinstance(column, str) for column in key):
            section.refuse("key", 'must list columns, such as ["id"]', 'は列名のリストです（例: ["id"]）')
    described = section.mapping("columns")
    section.finish()
    columns = {column: _column(described, column, f"{place}.columns", file) for column in described}
    return TableMetadata(name, columns, public, unit, link, row_is_unit, max_rows, key)


def _unit(section: Section, value: object) -> tuple[str | None, Link | None, bool]:
    if isinstance(value, dict):
        inner = section.section("unit", ("column", "table", "to"))
        column = inner.text("column")
        link = None
        if inner.has("table") or inner.has("to"):
            link = Link(column, inner.text("table"), inner.text("to"))
        inner.finish()
        return (column, None, False) if link is None else (None, link, False)
    text = section.text("unit").strip()
    if text == PLACEHOLDER:
        section.refuse(
            "unit",
            'is still as drafted: write the column that names the unit, a link such as "o_id -> orders.id", or "row"; '
            "or public = true instead, if everybody may see the table",
            'が下書きのままです。保護の単位を示す列、"o_id -> orders.id" のようなつながり、または "row" を書いてください。'
            "誰でも見てよい表なら、代わりに public = true としてください",
        )
    if text == "row":
        return None, None, True
    column, arrow, target = (part.strip() for part in text.partition("->"))
    if not arrow:
        return text, None, False
    table, _, to = target.rpartition(".")
    if not column or not table or not to or "->" in target:
        section.refuse(
            "unit",
            'must have one arrow, from a column to a table and its column: "o_id -> orders.id". A longer way goes through '
            "the unit of that table",
            'は、列から表とその列への矢印一つです（例: "o_id -> orders.id"）。さらに先へは、その表の unit でつなぎます',
        )
    return None, Link(column, table, to), False


def _column(described: dict[str, object], name: str, place: str, file: str) -> ColumnMetadata:
    values = Section(described, place, file, (), DOCUMENT).mapping(name)
    section = Section(values, f"{place}.{toml_key(name)}", file, COLUMN_KEYS, DOCUMENT)
    kind_of_column = _type(section)
    low, high = _bounds(section) if section.has("bounds") else (None, None)
    step = Decimal(section.number("step")) if section.has("step") else None
    allowed, values_from = _values(section, values["values"]) if section.has("values") else (None, None)
    nullable, unique = section.flag("nullable", True), section.flag("unique", False)
    max_frequency = section.whole("max_frequency") if section.has("max_frequency") else None
    section.finish()
    return ColumnMetadata(name, kind_of_column, low, high, step, allowed, values_from, nullable, unique, max_frequency)


def _type(section: Section) -> ColumnType:
    text = section.text("type").strip()
    if found := _DECIMAL.fullmatch(text):
        return ColumnType("decimal", int(found[1]), int(found[2]))
    if text == "integer":
        return ColumnType("integer", 19, 0)
    kinds: tuple[Kind, ...] = get_args(Kind)
    if text not in kinds:
        section.refuse(
            "type",
            f'must be one of {", ".join(kinds)}, or decimal(15,2) with its digits, and is "{text:.60}"',
            f"は {', '.join(kinds)}、または桁数付きの decimal(15,2) です（指定: 「{text:.60}」）",
        )
    return ColumnType(text)


def _bounds(section: Section) -> Any:
    bounds = section.items("bounds")
    if len(bounds) != 2:
        section.refuse("bounds", "must be two values: [lowest, highest]", "は二つの値です: [最小, 最大]")
    return bounds


def _values(section: Section, value: object) -> tuple[tuple[Value, ...] | None, tuple[str, str] | None]:
    if not isinstance(value, dict):
        listed = section.items("values")
        if any(isinstance(item, list | dict) for item in listed):
            section.refuse("values", "must be a flat list", "は入れ子のないリストです")
        return tuple(listed), None
    inner = section.section("values", ("from", "table", "column", "first", "last"))
    found: tuple[tuple[Value, ...] | None, tuple[str, str] | None]
    if inner.has("from"):
        table, _, column = inner.text("from").strip().rpartition(".")
        if not table or not column:
            inner.refuse(
                "from", 'must be a table and its column: "nation.name"', 'は表とその列です（例: "nation.name"）'
            )
        found = None, (table, column)
    elif inner.has("table") or inner.has("column"):
        found = None, (inner.text("table"), inner.text("column"))
    else:
        found = _range(section, value), None
        inner.rest()
    inner.finish()
    return found


def _range(section: Section, value: dict[str, object]) -> tuple[Value, ...]:
    first: Any = value.get("first")
    last: Any = value.get("last")
    if set(value) != {"first", "last"} or type(first) is not type(last) or type(first) not in (int, date):
        section.refuse(
            "values",
            'must be a list, { from = "table.column" }, or { first = 1, last = 9 } with two whole numbers or two dates',
            'は、リスト、{ from = "表.列" }、または二つの整数か日付による { first = 1, last = 9 } です',
        )
    steps = last - first
    count = (steps.days if isinstance(steps, timedelta) else steps) + 1
    if not 1 <= count <= MAX_VALUES:
        section.refuse(
            "values",
            f"must go up from first to last, by at most {MAX_VALUES} values",
            f"は first から last へ増える、{MAX_VALUES} 個以内の範囲です",
        )
    if isinstance(first, date):
        return tuple(first + timedelta(days=day) for day in range(count))
    return tuple(range(first, first + count))
