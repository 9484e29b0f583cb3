"""Checks that a database is as its metadata say.

`require_schema` compares names and types with the catalogue before every query. It reads no row.

`check_promises` is for the owner of the data alone. It reads the private tables and answers without noise, so **its answers
are not private**: nobody who may only ask private queries may call it, and its answers must not be published.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

from sqlglot import exp

from sudare.bilingual import Worded, Words
from sudare.engines.column_types import is_canonical
from sudare.engines.engine import ColumnType, Engine
from sudare.errors import DatabaseError, ParameterError, PlanError
from sudare.parameters import shown
from sudare.sections import suggest
from sudare.sql.metadata.model import ColumnMetadata, Metadata, TableMetadata, Value
from sudare.sql.metadata.writing import is_consecutive, type_to_text
from sudare.sql.relations.capping import real_table
from sudare.storage.toml_text import toml_key

__all__ = ["BrokenPromise", "check_promises", "require_schema"]

Promise = Literal["table", "column", "type", "key", "unique", "max_frequency", "nullable", "values"]


@dataclass(frozen=True)
class BrokenPromise(Worded):
    """A promise of the metadata that the database does not keep. It holds no value and no count.

    Attributes:
        table: in the metadata.
        columns: that it is about; empty for the table as a whole.
        promise: the key of the metadata file, or what is not there: ``"table"``, ``"column"``.
        words: what does not hold.
    """

    table: str
    columns: tuple[str, ...]
    promise: Promise
    words: Words


def require_schema(engine: Engine, metadata: Metadata, tables: Iterable[str]) -> None:
    """Make sure that described columns are in the database, with the types that were described; no row is read.

    Args:
        engine: the database.
        metadata: what is known of it.
        tables: those that a query uses; those that their links and public values lead to are looked at too.

    Raises:
        PlanError: if a table is not described.
        DatabaseError: if a table or column is not there or has another type, or the database does not answer.
    """
    used = list(dict.fromkeys(tables))
    for name in used:
        if name not in metadata.tables:
            hint = suggest(name, metadata.tables)
            raise PlanError(
                f"{metadata.file} does not describe the table {toml_key(name)}.{hint.english}",
                f"{metadata.file} に表 {toml_key(name)} の記述がありません。{hint.japanese}",
            )
        table = metadata.tables[name]
        leads_to = [link.table for link in metadata.chain(name)]
        leads_to += [column.values_from[0] for column in table.columns.values() if column.values_from is not None]
        used += [other for other in dict.fromkeys(leads_to) if other not in used]
        for broken in _schema_differences(engine, metadata, table):
            raise DatabaseError(broken.words)


def check_promises(engine: Engine, metadata: Metadata, *, by_the_owner_of_the_data: bool) -> list[BrokenPromise]:
    """Find promises of the metadata that do not hold. NOT PRIVATE: for the owner of the data alone.

    It reads all described tables and answers exactly. Nothing is charged, because nothing is protected: what it returns must
    not reach analysts, or be published. That a promise holds today does not mean that it will: privacy needs that it
    holds for every database that could be, so promise what the database or the way of collecting enforces.

    Args:
        engine: the database.
        metadata: what is known of it.
        by_the_owner_of_the_data: True, to say that you may see all of the data.

    Returns:
        One for each promise that is broken: names and types first, then what the rows show, in the order of the metadata.

    Raises:
        ParameterError: unless the caller says True.
        DatabaseError: if the database does not answer.
    """
    if by_the_owner_of_the_data is not True:
        raise ParameterError(
            "by_the_owner_of_the_data",
            "check_promises",
            Words(
                "True, and may be so only if you may see all of the data",
                "True（すべてのデータを見てよい人だけが指定できます）",
            ),
            shown(by_the_owner_of_the_data),
            "The answers are exact, not private.",
        )
    found = [broken for table in metadata.tables.values() for broken in _schema_differences(engine, metadata, table)]
    differing = {(broken.table, column) for broken in found for column in broken.columns}
    gone = {broken.table for broken in found if broken.promise == "table"}
    sound = {
        (table.name, column)
        for table in metadata.tables.values()
        for column in table.columns
        if table.name not in gone and (table.name, column) not in differing
    }
    for table in metadata.tables.values():
        found += _broken_in(engine, table, sound)
    return found


def _schema_differences(engine: Engine, metadata: Metadata, table: TableMetadata) -> Iterator[BrokenPromise]:
    name = toml_key(table.name)
    try:
        actual = engine.columns(table.name)
    except DatabaseError:
        if table.name in engine.tables():
            raise
        yield BrokenPromise(
            table.name,
            (),
            "table",
            Words(
                f"The database has no table {name}, which {metadata.file} describes.",
                f"{metadata.file} に記述された表 {name} がデータベースにありません。",
            ),
        )
        return
    for column in table.columns.values():
        if column.name not in actual:
            yield BrokenPromise(
                table.name,
                (column.name,),
                "column",
                Words(
                    f"The table {name} has no column {toml_key(column.name)}, which {metadata.file} describes.",
                    f"{metadata.file} に記述された列 {toml_key(column.name)} が表 {name} にありません。",
                ),
            )
        elif not _holds(column.type, actual[column.name]):
            described, real = type_to_text(column.type), type_to_text(actual[column.name])
            yield BrokenPromise(
                table.name,
                (column.name,),
                "type",
                Words(
                    f"The column {toml_key(column.name)} of {name} is {real} in the database, and {described} "
                    f"in {metadata.file}.",
                    f"表 {name} の列 {toml_key(column.name)} は、データベースでは {real}、"
                    f"{metadata.file} では {described} です。",
                ),
            )
    yield from _folded_units(metadata, table, actual)
    yield from _unlike_links(engine, metadata, table, actual)


def _folded_units(metadata: Metadata, table: TableMetadata, actual: dict[str, ColumnType]) -> Iterator[BrokenPromise]:
    """A unit has one name. Where equal names look different, what depends on the name would follow the order of its rows."""
    for column in (table.unit, None if table.link is None else table.link.column):
        found = None if column is None else actual.get(column)
        if column is None or found is None or found.kind != "other" or is_canonical(found.native):
            continue
        name, whose = toml_key(table.name), toml_key(column)
        yield BrokenPromise(
            table.name,
            (column,),
            "type",
            Words(
                f"The column {whose} of {name}, by which {metadata.file} says whose a row is, cannot name a unit: values of its "
                "type that the database holds to be equal may look different. Keep the unit in a column of plain text or "
                "numbers.",
                f"{metadata.file} で保護単位を示す表 {name} の列 {whose} は、等しいとみなされる値の表記が異なりうる型のため、"
                "保護単位に使えません。通常の文字列か数値の列にしてください。",
            ),
        )


def _holds(described: ColumnType, actual: ColumnType) -> bool:
    """Whether the actual type is as described; a decimal with the very digits, because databases calculate with those it has."""
    if described.kind != actual.kind:
        return False
    if described.kind != "decimal" or described.digits is None:
        return True
    return (actual.digits, actual.scale) == (described.digits, described.scale)


def _unlike_links(
    engine: Engine, metadata: Metadata, table: TableMetadata, actual: dict[str, ColumnType]
) -> Iterator[BrokenPromise]:
    """Of types that only the database knows, both ends of a link must be the same, or comparing them could fail."""
    link = table.link
    if link is None or link.column not in actual or actual[link.column].kind != "other":
        return
    if link.table not in engine.tables():  # told where that table is looked at
        return
    target = engine.columns(link.table).get(link.to)
    if target is not None and target.native != actual[link.column].native:
        yield BrokenPromise(
            table.name,
            (link.column,),
            "type",
            Words(
                f"The link of {toml_key(table.name)} in {metadata.file} joins columns of different types of the database.",
                f"{metadata.file} の表 {toml_key(table.name)} のつながりが、異なる型の列を結んでいます。",
            ),
        )


def _broken_in(engine: Engine, table: TableMetadata, sound: set[tuple[str, str]]) -> Iterator[BrokenPromise]:
    def rows() -> exp.Select:
        return exp.select(exp.alias_(exp.Literal.number(1), "found")).from_(real_table(table.name))

    def repeated(columns: tuple[str, ...], most: int) -> exp.Select:
        query = rows().group_by(*map(_column, columns)).having(exp.GT(this=_count(), expression=_literal(most)))
        return query.where(*(_is_null(name).not_() for name in columns))

    name = toml_key(table.name)
    if table.key and all((table.name, column) in sound for column in table.key):
        listed = ", ".join(map(toml_key, table.key))
        anywhere_null = exp.or_(*map(_is_null, table.key))
        if _any(engine, repeated(table.key, 1)) or _any(engine, rows().where(anywhere_null)):
            yield BrokenPromise(
                table.name,
                table.key,
                "key",
                Words(
                    f"The key ({listed}) of {name} does not identify rows: it repeats, or is NULL.",
                    f"表 {name} のキー（{listed}）が行を特定していません。重複または NULL があります。",
                ),
            )
    for column in table.columns.values():
        if (table.name, column.name) not in sound:
            continue
        if column.unique and _any(engine, repeated((column.name,), 1)):
            yield _broken(table, column, "unique", Words("has a value in several rows", "に重複する値があります"))
        if column.max_frequency is not None and _any(engine, repeated((column.name,), column.max_frequency)):
            words = Words(
                "has a value in more rows than max_frequency", "に max_frequency より多くの行にある値があります"
            )
            yield _broken(table, column, "max_frequency", words)
        if not column.nullable and _any(engine, rows().where(_is_null(column.name))):
            yield _broken(table, column, "nullable", Words("has NULLs", "に NULL があります"))
        is_known = column.values_from is None or column.values_from in sound
        unlisted = _unlisted(column) if is_known else None
        if unlisted is not None and _any(engine, rows().where(_is_null(column.name).not_(), unlisted)):
            words = Words("has values that are not listed", "に、一覧にない値があります")
            yield _broken(table, column, "values", words)


def _broken(table: TableMetadata, column: ColumnMetadata, promise: Promise, words: Words) -> BrokenPromise:
    place, name = toml_key(table.name), toml_key(column.name)
    return BrokenPromise(
        table.name,
        (column.name,),
        promise,
        Words(f"The column {name} of {place} {words.english}.", f"表 {place} の列 {name} {words.japanese}。"),
    )


def _any(engine: Engine, query: exp.Select) -> bool:
    """Whether a query has a row. One row at most is counted, so that no count leaves the database."""
    one = query.limit(1).subquery("at_most_one")
    result = engine.fetch(exp.select(exp.alias_(_count(), "broken")).from_(one).sql(dialect=engine.dialect))
    return bool(result.column(0)[0].as_py())


def _unlisted(column: ColumnMetadata) -> exp.Expression | None:
    if column.values_from is not None:
        table, other = column.values_from
        public = exp.select(_column(other)).from_(real_table(table)).where(_is_null(other).not_())
        return exp.Not(this=exp.In(this=_column(column.name), query=public.subquery()))
    if column.values is None:
        return None
    if is_consecutive(column.values):
        first, last = _literal(column.values[0]), _literal(column.values[-1])
        return exp.Not(this=exp.Between(this=_column(column.name), low=first, high=last))
    return exp.Not(this=exp.In(this=_column(column.name), expressions=list(map(_literal, column.values))))


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))


def _is_null(name: str) -> exp.Expression:
    return exp.Is(this=_column(name), expression=exp.null())


def _count() -> exp.Expression:
    return exp.Count(this=exp.Star())


def _literal(value: Value) -> exp.Expression:
    match value:
        case bool():
            return exp.Boolean(this=value)
        case int():
            return exp.Literal.number(value)
        case Decimal():
            return exp.Literal.number(format(value, "f"))
        case datetime():
            return exp.cast(exp.Literal.string(value.isoformat(sep=" ")), "timestamp")
        case date():
            return exp.cast(exp.Literal.string(value.isoformat()), "date")
        case _:
            return exp.Literal.string(str(value))
