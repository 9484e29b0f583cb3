"""Cutting a source to this many rows for each value of a column, for joins whose rows belong to two units.

Of the rows with one value the first are kept, in an order of the rows' own contents. A row that is added or removed then
changes at most two rows: itself, and one that it pushes out or lets in.
"""

from __future__ import annotations

from sqlglot import exp

from sudare.sql.relations.relations import Relation

__all__ = ["truncated"]


def truncated(tree: exp.Query, column: str, most: int, relation: Relation) -> exp.Select:
    """A source's rows, at most this many of them for each value of a column.

    Args:
        tree: the source.
        column: its name in the source.
        most: rows for each value.
        relation: what the source gives; all of its fields order the rows.
    """
    names = [str(key[1]) for key in relation.fields if isinstance(key, tuple)]
    inner = [_column(name) for name in names]
    order = exp.Order(expressions=[exp.Ordered(this=_column(name), nulls_first=False) for name in names])
    number = exp.Window(this=exp.RowNumber(), partition_by=[_column(column)], order=order)
    numbered = exp.select(*inner, exp.alias_(number, "sudare_place", quoted=True, copy=False)).from_(
        exp.Subquery(this=tree, alias=exp.TableAlias(this=exp.to_identifier("sudare_source", quoted=True))), copy=False
    )
    limit = exp.LTE(this=_column("sudare_place"), expression=exp.Literal.number(most))
    return (
        exp.select(*(_column(name) for name in names))
        .from_(numbered.subquery("sudare_numbered"), copy=False)
        .where(limit, copy=False)
    )


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))
