"""Syntax trees: what they have in them, and copies with parts replaced."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from sudare.sql.expressions.facts import Facts
from sudare.sql.frontend.copies import copied, with_parts
from sudare.sql.frontend.refusals import refuse, refuse_unsupported

__all__ = ["group_keys", "has_aggregate", "named_queries", "put_back", "replaced_from_top"]


def named_queries(tree: exp.Query) -> dict[str, exp.Query]:
    """The queries that WITH gives names to."""
    clause = tree.args.get("with_")
    if clause is None:
        return {}
    if clause.args.get("recursive"):
        refuse(clause, "recursive", "WITH RECURSIVE is not offered.", "WITH RECURSIVE は使えません。")
    return {cte.alias: cte.this for cte in clause.expressions}


def group_keys(select: exp.Select) -> list[exp.Expr]:
    """What a SELECT groups by."""
    clause = select.args.get("group")
    if clause is None:
        return []
    for name, value in clause.args.items():
        if value and name != "expressions":
            refuse(
                select,
                "group-kind",
                f"GROUP BY {name.upper()} is not offered; list the columns, and write one query for each set.",
                f"GROUP BY {name.upper()} は使えません。列を並べ、組ごとに別のクエリにしてください。",
            )
    for key in clause.expressions:
        if isinstance(key, (exp.GroupingSets, exp.Cube, exp.Rollup, exp.Tuple)):
            refuse_unsupported(key)
    return list(clause.expressions)


def has_aggregate(tree: exp.Expr) -> bool:
    """Whether there is an aggregate in an expression, not counting queries inside it."""
    return any(isinstance(node, exp.AggFunc) for node in tree.walk(prune=lambda node: isinstance(node, exp.Query)))


def replaced_from_top(tree: exp.Expr, change: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """A copy in which parts are replaced, the largest first; what replaces a part is not looked at again."""
    changed = change(tree)
    if changed is not tree:
        return changed
    return with_parts(tree, lambda part: replaced_from_top(part, change))


def put_back(tree: exp.Expr, parts: Mapping[str, tuple[Facts, exp.Expr]]) -> exp.Expr:
    """A tree in which names of parts are replaced by what they stand for."""

    def change(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and not node.table and node.name in parts:
            return exp.paren(copied(parts[node.name][1]), copy=False)
        return node

    return replaced_from_top(tree, change)
