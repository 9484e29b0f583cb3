"""Saying no to a query: at a place in it, with the reason, and with what to write instead."""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from sudare.errors import QueryRefusedError
from sudare.sql.frontend.positions import shown

__all__ = ["WRITTEN", "name_of", "place_of", "refuse", "refuse_order", "refuse_unsupported"]

WRITTEN = "written"
"""Where a node's ``meta`` has the name of a function as the query writes it."""


def refuse(node: exp.Expr | None, reason: str, english: str, japanese: str) -> NoReturn:
    """Refuse a query because of a part of it.

    Args:
        node: the part; None for the query as a whole.
        reason: a short name of the rule, in lower case with hyphens; never changed once it is given.
        english: what was found, and what to write instead.
        japanese: the same.

    Raises:
        QueryRefusedError: always.
    """
    line, column = place_of(node) if node is not None else (None, None)
    raise QueryRefusedError(reason, english, japanese, line=line, column=column)


def place_of(node: exp.Expr) -> tuple[int | None, int | None]:
    """Line and column where a part of a query begins, both from 1; None for parts that the query did not have itself.

    Positions are known for names and function calls only, so the first one inside counts; then those around it.
    """
    best: tuple[int, int] | None = None
    for inner in node.walk():
        if "line" in inner.meta:
            # sqlglot counts to the last character of a word.
            width = inner.meta["end"] - inner.meta["start"]
            place = (int(inner.meta["line"]), max(int(inner.meta["col"]) - width, 1))
            best = place if best is None or place < best else best
    if best is None and node.parent is not None:
        return place_of(node.parent)
    return best if best is not None else (None, None)


def name_of(node: exp.Expr) -> str:
    """What a part of a query is called in SQL: a function's name as it was written, or the beginning of its text.

    Example:
        >>> from sqlglot import parse_one
        >>> name_of(parse_one("string_agg(x, ',')", read="postgres")), name_of(parse_one("a << 2", read="duckdb"))
        ('STRING_AGG', 'X << Y')
    """
    written = node.meta.get(WRITTEN)
    if written is None and isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        written = node.name
    if written is None and isinstance(node, exp.Binary):
        # Its parts may be names of our own by now.
        written = type(node)(this=exp.column("x"), expression=exp.column("y")).sql("postgres")
    if written is None:
        text = node.sql("postgres", comments=False)
        written = text.partition("(")[0] if isinstance(node, exp.Func) else " ".join(text.split()[:2])
    return shown(str(written).strip().upper())


def refuse_order(tree: exp.Expr) -> NoReturn:
    """Refuse an order inside a query."""
    refuse(
        tree,
        "order-inside",
        "ORDER BY, LIMIT and OFFSET can stand at the end of the whole query only: which rows come first depends on others.",
        "ORDER BY・LIMIT・OFFSET はクエリ全体の最後でだけ使えます（途中の順序は他の行に左右されるため）。",
    )


def refuse_unsupported(node: exp.Expr) -> NoReturn:
    """Refuse SQL that no rule knows."""
    refuse(
        node,
        "unsupported",
        f"This kind of SQL ({name_of(node)}) is not offered in private queries.",
        f"この種類の SQL ({name_of(node)}) は使えません。",
    )
