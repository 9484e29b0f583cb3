"""The rules for metadata: nothing unknown, nothing that contradicts itself, every chain ends at a unit.

An error uses the words of the metadata file, and names the section and the key, wherever the metadata came from.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, NoReturn

from sudare.bilingual import Words
from sudare.privacy.unit import ADJACENCIES
from sudare.sections import suggest
from sudare.sql.metadata.column_rules import Place, require_column, require_count
from sudare.storage.toml_text import toml_key

if TYPE_CHECKING:
    from sudare.sql.metadata.model import ColumnMetadata, Link, Metadata, TableMetadata

__all__ = ["flaw_of_name", "fold", "require_sound"]

MAX_NAME_LENGTH = 255
INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def fold(name: str) -> str:
    """A name as a database that does not tell upper from lower case may read it."""
    return unicodedata.normalize("NFKC", name).casefold()


def flaw_of_name(name: str) -> Words | None:
    """Why a name of a table or a column cannot be described; None if it can."""
    if not name or len(name) > MAX_NAME_LENGTH:
        return Words(f"must have 1 to {MAX_NAME_LENGTH} characters", f"は 1〜{MAX_NAME_LENGTH} 文字です")
    if any(unicodedata.category(character) in INVISIBLE for character in name):
        return Words("has a character that cannot be seen, such as NUL", "に見えない文字（NUL など）があります")
    return None


def require_sound(metadata: Metadata) -> None:
    """Refuse metadata that break a rule.

    Raises:
        PlanError: naming the section and the key.
    """
    _require_unit_section(metadata)
    _require_table_names(metadata)
    for name, table in metadata.tables.items():
        place = Place(metadata.file, "tables", name)
        if table.name != name:
            place.refuse("name", "differs from that of its section", "がセクション名と異なります")
        _require_columns(metadata, table)
        _require_key(table, place)
        _require_owner(metadata, table, place)
    if all(table.public for table in metadata.tables.values()):
        Place(metadata.file).refuse(
            "tables",
            "must have one that is private: as it is, nobody would be protected",
            "に非公開の表がありません。このままでは誰も保護されません",
        )
    _require_one_kind_of_unit(metadata)


def _require_unit_section(metadata: Metadata) -> None:
    top, unit = Place(metadata.file), Place(metadata.file, "unit")
    for place, key, text in ((unit, "name", metadata.who), (top, "version", metadata.version)):
        is_right = isinstance(text, str) and len(text) <= MAX_NAME_LENGTH and (bool(text.strip()) or key == "version")
        if not is_right or any(unicodedata.category(character) in INVISIBLE for character in text):
            place.refuse(
                key,
                f"must be a text of at most {MAX_NAME_LENGTH} characters that can be seen",
                f"は見える文字だけの {MAX_NAME_LENGTH} 文字以内の文字列です",
            )
    if metadata.adjacency not in ADJACENCIES:
        unit.refuse("adjacency", 'must be "add-remove" or "replace"', 'は "add-remove" か "replace" のいずれかです')
    require_count(unit, "max_groups", metadata.max_groups)


def _require_table_names(metadata: Metadata) -> None:
    place = Place(metadata.file, "tables")
    for name in metadata.tables:
        parts = name.split(".")
        flaw = next(filter(None, map(flaw_of_name, parts)), None)
        if flaw is None and len(parts) > 3:
            flaw = Words("has more than two points", "に点が三つ以上あります")
        if flaw is not None:
            place.refuse(toml_key(name[:60]), flaw.english, flaw.japanese)
    # The longest first, with all that may be left out at its front: a shorter name that is among these may mean the same.
    ends: dict[tuple[str, ...], str] = {}
    for name in sorted(metadata.tables, key=lambda name: -name.count(".")):
        folded = tuple(map(fold, name.split(".")))
        if folded in ends:
            place.refuse(
                toml_key(name),
                f"may be the same table as {toml_key(ends[folded])}: names that differ only by case, or by a schema that "
                "is left out, are refused. Write both with their schema, or leave one out",
                f"は {toml_key(ends[folded])} と同じ表かもしれません。大文字・小文字だけ、またはスキーマの省略だけが異なる名前は"
                "使えません。両方にスキーマを付けるか、一方を消してください",
            )
        for start in range(len(folded)):
            ends.setdefault(folded[start:], name)


def _require_columns(metadata: Metadata, table: TableMetadata) -> None:
    place = Place(metadata.file, "tables", table.name, "columns")
    folded: dict[str, str] = {}
    for name, column in table.columns.items():
        flaw = flaw_of_name(name)
        if flaw is None and column.name != name:
            flaw = Words("has another name inside", "の内側の名前が異なります")
        if flaw is None and fold(name) in folded:
            other = toml_key(folded[fold(name)])
            flaw = Words(
                f"differs from {other} only by case, which not every database tells apart",
                f"と {other} は大文字・小文字だけが異なり、データベースによっては区別されません",
            )
        if flaw is not None:
            place.refuse(toml_key(name[:60]), flaw.english, flaw.japanese)
        folded[fold(name)] = name
        _require_column(metadata, table, column, Place(metadata.file, "tables", table.name, "columns", name))


def _require_column(metadata: Metadata, table: TableMetadata, column: ColumnMetadata, place: Place) -> None:
    require_column(column, place)
    if column.values_from is not None:
        _require_public_values(metadata, table, column, column.values_from, place)


def _require_public_values(
    metadata: Metadata, table: TableMetadata, column: ColumnMetadata, origin: tuple[str, str], place: Place
) -> None:
    name, other = origin
    source = metadata.tables.get(name)
    if source is None or other not in source.columns:
        _refuse_unknown_column(metadata, place, "values", name, other)
    if not source.public:
        place.refuse(
            "values",
            f"must come from a public table, and {toml_key(name)} is private",
            f"は公開の表から取ります。{toml_key(name)} は非公開です",
        )
    if (name, other) == (table.name, column.name):
        place.refuse("values", "are the column itself", "が列自身を指しています")
    if column.type.kind in ("float", "other") or source.columns[other].type.kind != column.type.kind:
        place.refuse(
            "values",
            "must come from a column of the same type, which cannot be float or other",
            "は同じ型の列から取ります。float と other は使えません",
        )


def _refuse_unknown_column(metadata: Metadata, place: Place, key: str, table: str, column: str) -> NoReturn:
    known = metadata.tables.get(table)
    if known is None:
        hint = suggest(table, metadata.tables)
        place.refuse(
            key,
            f"leads to the table {toml_key(table)}, which is not described.{hint.english}",
            f"の指す表 {toml_key(table)} が記述されていません。{hint.japanese}",
        )
    hint = suggest(column, known.columns)
    place.refuse(
        key,
        f"names the column {toml_key(column)}, which [tables.{toml_key(table)}.columns] does not describe.{hint.english}",
        f"の列 {toml_key(column)} が [tables.{toml_key(table)}.columns] に記述されていません。{hint.japanese}",
    )


def _require_key(table: TableMetadata, place: Place) -> None:
    if len(set(table.key)) < len(table.key):
        place.refuse("key", "has a column twice", "に同じ列が二度あります")
    for name in table.key:
        if name not in table.columns:
            hint = suggest(name, table.columns)
            place.refuse(
                "key",
                f"names the column {toml_key(name)}, which is not described.{hint.english}",
                f"の列 {toml_key(name)} が記述されていません。{hint.japanese}",
            )


def _require_owner(metadata: Metadata, table: TableMetadata, place: Place) -> None:
    ways = sum((table.unit is not None, table.link is not None, table.row_is_unit))
    if table.public:
        if ways:
            place.refuse("unit", "is for private tables, and this one is public", "は非公開の表だけに指定できます")
        if table.max_rows is not None:
            place.refuse("max_rows", "is for private tables, and this one is public", "は非公開の表だけに指定できます")
        return
    if ways != 1:
        problem = Words("is missing", "がありません") if not ways else Words("is given twice", "が二重にあります")
        place.refuse(
            "unit",
            f'{problem.english}: name one column, a link such as "o_id -> orders.id", or "row"; '
            "or say public = true if everybody may see the table",
            f'{problem.japanese}。列、"o_id -> orders.id" のようなつながり、"row" のいずれか一つを書くか、'
            "誰でも見てよい表なら public = true としてください",
        )
    if table.max_rows is not None:
        require_count(place, "max_rows", table.max_rows)
        if table.row_is_unit and table.max_rows != 1:
            place.refuse("max_rows", "is 1 where each row is a unit", "は、行ごとに保護する表では 1 です")
    column = table.unit if table.link is None else table.link.column
    if column is not None:
        if column not in table.columns:
            _refuse_unknown_column(metadata, place, "unit", table.name, column)
        if table.columns[column].type.kind == "float":
            place.refuse("unit", "cannot be a column of floats", "に float の列は使えません")
    if table.link is not None:
        _require_link(metadata, table, table.link, place)


def _require_link(metadata: Metadata, table: TableMetadata, link: Link, place: Place) -> None:
    target = metadata.tables.get(link.table)
    if target is None or link.to not in target.columns:
        _refuse_unknown_column(metadata, place, "unit", link.table, link.to)
    if target.public:
        place.refuse(
            "unit",
            f"leads to {toml_key(target.name)}, which is public: no unit is there",
            f"の指す {toml_key(target.name)} は公開の表で、保護の単位がありません",
        )
    if target.key != (link.to,) and not target.columns[link.to].unique:
        place.refuse(
            "unit",
            f"leads to {toml_key(link.to)}, which must stand in one row only: say unique = true there, or make it the key "
            f"of {toml_key(target.name)}",
            f"の指す {toml_key(link.to)} は一行だけを指さなければなりません。unique = true とするか、"
            f"{toml_key(target.name)} の key にしてください",
        )
    if table.columns[link.column].type.kind != target.columns[link.to].type.kind:
        place.refuse("unit", "links columns of different types", "が異なる型の列をつないでいます")
    seen = {table.name}
    step: TableMetadata | None = target
    while step is not None and step.link is not None:
        if step.name in seen:
            place.refuse("unit", "leads round in a circle, never to a unit", "が循環していて、保護の単位に着きません")
        seen.add(step.name)
        step = metadata.tables.get(step.link.table)


def _require_one_kind_of_unit(metadata: Metadata) -> None:
    """All columns that name units hold the same names, so they are of one type; rows have no names at all."""
    first: tuple[str, str] | None = None
    for name, table in metadata.tables.items():
        if table.public or table.link is not None:
            continue
        kind = "row" if table.unit is None else table.columns[table.unit].type.kind
        if first is None:
            first = (name, kind)
        elif kind != first[1]:
            Place(metadata.file, "tables", name).refuse(
                "unit",
                f"is of another kind than in {toml_key(first[0])}: all tables must protect the same unit, each row or "
                "each value of columns of one type",
                f"の種類が {toml_key(first[0])} と異なります。すべての表で同じ単位（行ごと、または同じ型の列の値ごと）を"
                "保護してください",
            )
