"""Leaving out what the limits of a private table do not allow, so that one unit has at most this many rows in it.

A row counts if its unit is known and has at most ``max_rows`` rows in the table. Anyone who has more is left out with all of
them: then no unit's rows depend on another unit's, and nothing has to be drawn or ordered. Which keys are left out is computed
inside the database and never leaves it. Proof: ``relations.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

from sqlglot import exp

from sudare.sql.frontend.copies import copied
from sudare.sql.metadata.model import Metadata, TableMetadata

__all__ = ["LeftOut", "capped_source", "real_table"]


@dataclass(frozen=True)
class LeftOut:
    """Keys of a table whose rows are not counted.

    Attributes:
        name: of the list, as the rewritten query calls it.
        table: the table that it belongs to.
        column: of that table, whose values the list has.
        tables: all tables that it is computed from.
        query: that computes it, with one column ``k`` and no NULL.
    """

    name: str
    table: str
    column: str
    tables: tuple[str, ...]
    query: exp.Select


def real_table(name: str, alias: str | None = None) -> exp.Table:
    """A table of the database by the name that the metadata has, quoted."""
    *schema, last = name.split(".")
    parts = {
        key: exp.to_identifier(part, quoted=True)
        for key, part in zip(("db", "catalog"), reversed(schema), strict=False)
    }
    table = exp.Table(this=exp.to_identifier(last, quoted=True), **parts)
    if alias is not None:
        table.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
    return table


def capped_source(
    table: TableMetadata, metadata: Metadata, written: Callable[[str], str] = str
) -> tuple[exp.Select, LeftOut | None]:
    """The rows of a table that count, with all columns that were described; and the list that they are checked against.

    Args:
        table: public or private.
        metadata: of the database.
        written: how a query writes the name of a column.
    """
    columns = [exp.alias_(_column(name), written(name), quoted=True, copy=False) for name in table.columns]
    source = exp.select(*columns).from_(real_table(table.name), copy=False)
    if table.public or table.row_is_unit:
        return source, None
    column = _column(_key_of(table))
    source = source.where(exp.Not(this=exp.Is(this=column, expression=exp.null())), copy=False)
    left_out = _left_out(table, metadata)
    if left_out is None:
        return source, None
    listed = exp.select(exp.column("k")).from_(exp.to_identifier(left_out.name, quoted=True), copy=False)
    absent = exp.Not(this=exp.In(this=copied(column), query=exp.Subquery(this=listed)))
    return source.where(absent, copy=False), left_out


def _left_out(table: TableMetadata, metadata: Metadata) -> LeftOut | None:
    if table.link is None:
        if table.max_rows is None:
            return None
        unit = _column(_key_of(table))
        query = (
            exp.select(exp.alias_(unit, "k", quoted=True, copy=False))
            .from_(real_table(table.name), copy=False)
            .where(_is_known(unit), copy=False)
            .group_by(copied(unit), copy=False)
            .having(exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(table.max_rows)), copy=False)
        )
        return LeftOut(_name_of(query), table.name, _key_of(table), (table.name,), query)
    return _left_out_by_links(table, metadata)


def _left_out_by_links(table: TableMetadata, metadata: Metadata) -> LeftOut:
    """Keys that lead to no unit, to several rows, or to a unit with too many rows."""
    links = metadata.chain(table.name)
    first = _column(links[0].column)
    counted = (
        exp.select(
            exp.alias_(first, "k", quoted=True, copy=False),
            exp.alias_(exp.Count(this=exp.Star()), "n", quoted=True, copy=False),
        )
        .from_(real_table(table.name), copy=False)
        .where(_is_known(first), copy=False)
        .group_by(copied(first), copy=False)
    )
    query = exp.Select().from_(counted.subquery("c"), copy=False)
    previous = _column("k", "c")
    single: list[exp.Expr] = []
    for i, link in enumerate(links):
        parent = metadata.tables[link.table]
        onward = parent.unit if parent.link is None else parent.link.column
        to, alias = _column(link.to), f"p{i}"
        # Where each row is a unit of its own, its key stands for it.
        leads = to if onward is None else _column(onward)
        step = (
            exp.select(
                exp.alias_(to, "a", quoted=True, copy=False),
                exp.alias_(exp.Min(this=copied(leads)), "b", quoted=True, copy=False),
                exp.alias_(exp.Count(this=exp.Star()), "r", quoted=True, copy=False),
            )
            .from_(real_table(link.table), copy=False)
            .group_by(copied(to), copy=False)
        )
        query = query.join(
            step.subquery(alias), on=exp.EQ(this=previous, expression=_column("a", alias)), join_type="left", copy=False
        )
        single.append(exp.EQ(this=_column("r", alias), expression=exp.Literal.number(1)))
        previous = _column("b", alias)
    owner = exp.Case(ifs=[exp.If(this=exp.and_(*single, copy=False), true=previous)])
    owners = query.select(
        exp.alias_(_column("k", "c"), "k", quoted=True, copy=False),
        exp.alias_(owner, "owner", quoted=True, copy=False),
        exp.alias_(_column("n", "c"), "n", quoted=True, copy=False),
        copy=False,
    )
    tables = (table.name, *(link.table for link in links))
    nobody = exp.Is(this=_column("owner"), expression=exp.null())
    if table.max_rows is None:
        plain = exp.select(_column("k")).from_(owners.subquery("o"), copy=False).where(nobody, copy=False)
        return LeftOut(_name_of(plain), table.name, links[0].column, tables, plain)
    total = exp.Window(this=exp.Sum(this=_column("n")), partition_by=[_column("owner")])
    summed = exp.select(_column("k"), _column("owner"), exp.alias_(total, "total", quoted=True, copy=False)).from_(
        owners.subquery("o"), copy=False
    )
    too_many = exp.GT(this=_column("total"), expression=exp.Literal.number(table.max_rows))
    query = (
        exp.select(_column("k"))
        .from_(summed.subquery("s"), copy=False)
        .where(exp.or_(nobody, too_many, copy=False), copy=False)
    )
    return LeftOut(_name_of(query), table.name, links[0].column, tables, query)


def _name_of(query: exp.Select) -> str:
    """A name that another list would not have: two metadata may ask one database."""
    return f"sudare_left_out_{sha256(query.sql().encode()).hexdigest()[:16]}"


def _key_of(table: TableMetadata) -> str:
    """The column that says whose a row is, itself or through others."""
    key = table.unit if table.link is None else table.link.column
    if key is None:
        raise ValueError(f"{table.name} names no unit")
    return key


def _column(name: str, table: str | None = None) -> exp.Column:
    return exp.column(
        exp.to_identifier(name, quoted=True), table=exp.to_identifier(table, quoted=True) if table else None
    )


def _is_known(column: exp.Column) -> exp.Expr:
    return exp.Not(this=exp.Is(this=copied(column), expression=exp.null()))
