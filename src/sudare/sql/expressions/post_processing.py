"""What post-processing may do: calculate with results, and nothing else.

It runs in this process, on what is published anyway; a function that reads files or takes for ever must not get there.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NoReturn

from sqlglot import exp

from sudare.sql.frontend.refusals import name_of, refuse

__all__ = ["require_harmless"]

STRUCTURE = (
    exp.Select, exp.Union, exp.Subquery, exp.From, exp.Join, exp.Table, exp.TableAlias, exp.Where, exp.Order, exp.Ordered,
    exp.Limit, exp.Offset, exp.Distinct, exp.Alias, exp.Column, exp.Identifier, exp.DataType, exp.DataTypeParam,
)  # fmt: skip
VALUES = (exp.Literal, exp.Boolean, exp.Null, exp.Paren, exp.Tuple, exp.Interval, exp.Var)
OPERATORS = (
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE,
    exp.And, exp.Or, exp.Not, exp.Between, exp.In, exp.Is, exp.Like, exp.ILike, exp.NullSafeEQ, exp.NullSafeNEQ, exp.DPipe,
    exp.Case, exp.If,
)  # fmt: skip
FUNCTIONS = (
    exp.Cast, exp.TryCast, exp.Coalesce, exp.Nullif, exp.Least, exp.Greatest, exp.Abs, exp.Sign, exp.Round, exp.Floor, exp.Ceil,
    exp.Sqrt, exp.Pow, exp.Ln, exp.Exp, exp.Log, exp.Upper, exp.Lower, exp.Concat, exp.Trim, exp.Length, exp.Substring,
    exp.Extract, exp.Year, exp.Month, exp.Day,
)  # fmt: skip
ALLOWED = frozenset((*STRUCTURE, *VALUES, *OPERATORS, *FUNCTIONS))


def require_harmless(tree: exp.Expr, results: Collection[str]) -> None:
    """Refuse post-processing that does more than calculate with the results of this query.

    Args:
        tree: the query over results.
        results: the tables that it may read; nothing else is a table here, whatever it is called.

    Raises:
        QueryRefusedError: for anything that is not on the list.
    """
    for node in tree.walk():
        if isinstance(node, exp.Exists) or node.args.get("query") is not None:
            _refuse_query(node)
        if type(node) not in ALLOWED or (isinstance(node, exp.Table) and node.name not in results):
            _refuse(node)
        if isinstance(node, (exp.Table, exp.Subquery)) and not isinstance(node.parent, (exp.From, exp.Join)):
            _refuse_query(node)
        is_part = node is tree or isinstance(node.parent, (exp.Subquery, exp.Union))
        if isinstance(node, exp.Query) and not isinstance(node, exp.Subquery) and not is_part:
            _refuse_query(node)


def _refuse_query(node: exp.Expr) -> NoReturn:
    refuse(
        node,
        "subquery-here",
        "A query cannot stand inside what is done with results; write it as a query of its own.",
        "集計結果に対する式の中でクエリは使えません。別のクエリにしてください。",
    )


def _refuse(node: exp.Expr) -> NoReturn:
    refuse(
        node,
        "post-processing",
        f"{name_of(node)} cannot be used with results here; use + - * /, CASE, ROUND, COALESCE and the like.",
        f"結果に対して {name_of(node)} は使えません。四則演算・CASE・ROUND・COALESCE などを使ってください。",
    )
