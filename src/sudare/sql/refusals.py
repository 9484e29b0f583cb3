"""Saying no to a query: at a place in it, with the reason, and with what to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from sudare.errors import QueryRefusedError

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = ["place_of", "refuse", "refuse_order", "refuse_unsupported"]


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
        f"This kind of SQL ({type(node).__name__}) is not offered in private queries.",
        f"この種類の SQL ({type(node).__name__}) は使えません。",
    )
