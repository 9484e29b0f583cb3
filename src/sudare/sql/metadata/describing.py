"""A draft of the metadata, from the schema alone: no row is read, and nothing is decided that a person must decide.

Every table is private until somebody writes otherwise. The draft cannot be used as it is: who is protected, and how each
table leads to them, are left as ``"?"``, which reading refuses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sudare.bilingual import Language, Words
from sudare.column_names import looks_like_value
from sudare.engines.engine import ColumnType, Engine
from sudare.errors import PlanError
from sudare.sections import suggest
from sudare.sql.metadata.rules import flaw_of_name, fold
from sudare.sql.metadata.writing import link_to_toml, type_to_text
from sudare.storage.toml_text import toml_key, toml_text

__all__ = ["describe"]

HEAD = Words(
    """\
# A draft from the schema; no row was read. Everything written here is public, so decide it without looking at the data.
# 1. Say who is protected, and for each table how a row leads to them: replace every "?".
# 2. A table that everybody may see: public = true instead of unit and max_rows.
# 3. Remove tables and columns that nobody should ask about; what is not here cannot be asked.
# 4. Give bounds to the numbers to sum, and values to the columns to group by.

# version = "2026-11"           # of the data; change it when the data change

[unit]
name = "?"                      # who is protected, such as "customer"
adjacency = "add-remove"        # or "replace", where the number of units is public
# max_groups = 1                # in how many groups of an answer one unit may count
""",
    """\
# 表の構造だけから作った下書きです。行は読んでいません。書くことはすべて公開されるため、データを見ずに決めてください。
# 1. 保護する対象と、各表の行がその対象とどう結び付くかを書きます（"?" をすべて置き換えてください）。
# 2. 誰が見てもよい表は、unit と max_rows の代わりに public = true とします。
# 3. 問い合わせを認めない表と列は削除します。ここにないものは問い合わせできません。
# 4. 合計する数値には bounds（範囲）、分類に使う列には values（値の一覧）を書きます。

# version = "2026-11"           # データの版。データが変わったら変更します

[unit]
name = "?"                      # 保護の対象。例: "customer"
adjacency = "add-remove"        # 対象の数が公開されている場合は "replace"
# max_groups = 1                # 1つの対象を回答のいくつのグループで数えるか
""",
)
HINTS = {
    "integer": "bounds = [low, high]",
    "decimal": "bounds = [low, high]",
    "float": "bounds = [low, high], step = 0.01",
    "date": "bounds = [1900-01-01, 2099-12-31]",
    "timestamp": "bounds = [1900-01-01T00:00:00, 2099-12-31T00:00:00]",
    "text": 'values = ["...", "..."] / values = { from = "public_table.column" }',
    "boolean": "values = [false, true]",
}
HINTS_FOR_OTHER = Words("can be counted, not grouped by", "件数のみ（分類には使えません）")
LEFT_OUT = Words("Left out, because its name cannot be described", "名前を記述できないため省きました")
NO_COLUMNS = Words(
    "Left out, because its columns do not look like columns: {name}. Does its file begin with a record?",
    "列名に見えないため省きました: {name}。ファイルの先頭行がデータになっていませんか。",
)
A_COLUMN = Words("column {number}", "{number} 列目")
UNIT = Words(
    'a column that names the unit, a link "column -> table.column", or "row"',
    '対象を示す列、"列 -> 表.列" というつながり、または "row"',
)
DECLARED = Words("a foreign key that the database declares", "データベースに宣言された外部キー")
MAX_ROWS = Words(
    "how many rows of one unit count; units with more are left out",
    "1つの対象について数える最大行数。これを超える対象は除かれます",
)
KEY = Words("the columns that identify a row", "行を特定する列")


def describe(engine: Engine, tables: Sequence[str] | None = None, language: Language = "en") -> str:
    """Draft a metadata file.

    Args:
        engine: the database. Only its catalogue is asked.
        tables: those to describe; all that there are if left out.
        language: of the remarks.

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
    parts = [HEAD.explain(language)]
    folded: set[str] = set()
    for name in chosen:
        if any(map(flaw_of_name, name.split("."))) or name.count(".") > 2 or fold(name) in folded:
            parts.append(f"# {LEFT_OUT.explain(language)}: {toml_text(name)}\n")
            continue
        folded.add(fold(name))
        parts.append("\n".join(_table_lines(engine, name, language)) + "\n")
    return "\n".join(parts)


def _table_lines(engine: Engine, name: str, language: Language) -> Iterator[str]:
    columns = engine.columns(name)
    if any(map(looks_like_value, columns)):
        yield f"# {NO_COLUMNS.format(name=toml_text(name)).explain(language)}"
        return
    usable = _usable(columns)
    section = f"tables.{toml_key(name)}"
    yield f"[{section}]"
    yield f'unit = "?"                      # {UNIT.explain(language)}'
    for column, (table, to) in engine.links(name).items():
        yield f"# unit = {link_to_toml(column, table, to)}  # {DECLARED.explain(language)}"
    yield f"# max_rows = 1                  # {MAX_ROWS.explain(language)}"
    key = engine.keys(name)
    if key and usable.issuperset(key):
        yield f"key = [{', '.join(map(toml_text, key))}]"
    else:
        yield f"# key = []                      # {KEY.explain(language)}"
    yield ""
    yield f"[{section}.columns]"
    for place, (column, kind_of_column) in enumerate(columns.items(), start=1):
        if column in usable:
            yield _column_line(column, kind_of_column, language)
        else:
            yield f"# {LEFT_OUT.explain(language)}: {A_COLUMN.format(number=place).explain(language)}"


def _usable(columns: dict[str, ColumnType]) -> set[str]:
    found: dict[str, str] = {}
    for column in columns:
        if flaw_of_name(column) is None:
            found.setdefault(fold(column), column)
    return set(found.values())


def _column_line(name: str, kind_of_column: ColumnType, language: Language) -> str:
    line = f"{toml_key(name)} = {{ type = {toml_text(_type_text(kind_of_column))} }}"
    if kind_of_column.kind == "decimal" and kind_of_column.scale is None:
        return f"{line}  # {HINTS['float']}"
    if kind_of_column.kind in HINTS:
        return f"{line}  # {HINTS[kind_of_column.kind]}"
    # What stands in brackets may list values, as an enumeration does: only the name of the type is written.
    native = kind_of_column.native.partition("(")[0].strip()
    name = f"{native:.40}; " if native.replace(" ", "").replace("_", "").isalnum() else ""
    return f"{line}  # {name}{HINTS_FOR_OTHER.explain(language)}"


def _type_text(kind_of_column: ColumnType) -> str:
    if kind_of_column.kind == "decimal" and (kind_of_column.digits or 0) > 38:
        return "decimal"
    return type_to_text(kind_of_column)
