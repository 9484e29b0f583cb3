"""Copies of syntax trees, in half the time of sqlglot's own: planning a query makes more than a hundred of them.

Whatever a plan is made of is copied into it here. So the work of one plan has an end: `limited_copies` counts it. Some forms that
cannot fail have a part twice, and inside each other they would double and double again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NoReturn, TypeVar

from sqlglot import exp

from sudare.sql.frontend.refusals import refuse

__all__ = ["MAX_COPIED", "copied", "limited_copies", "with_parts"]

MAX_COPIED = 150_000
"""Nodes that one plan may copy: less than a second's work. The queries of the corpus copy 1,000 at most."""

Tree = TypeVar("Tree", bound=exp.Expr)
_left: ContextVar[list[int] | None] = ContextVar("left", default=None)


@contextmanager
def limited_copies(most: int = MAX_COPIED) -> Iterator[None]:
    """While it is entered, no more than this many nodes are copied.

    Raises:
        QueryRefusedError: from `copied`, when there would be more.
    """
    token = _left.set([most])
    try:
        yield
    finally:
        _left.reset(token)


def copied(tree: Tree) -> Tree:
    """A copy of a tree, with its places in the text; without comments and types, which are not used here.

    Example:
        >>> from sqlglot import parse_one
        >>> tree = parse_one("SELECT a + 1 FROM t")
        >>> copied(tree) == tree, copied(tree).selects[0] is tree.selects[0]
        (True, False)
    """
    left = _left.get()
    return _copied(tree, [MAX_COPIED] if left is None else left)


def _copied(tree: Tree, left: list[int]) -> Tree:
    left[0] -= 1
    if left[0] < 0:
        _refuse_size()
    return with_parts(tree, lambda part: _copied(part, left))


def with_parts(tree: Tree, change: Callable[[exp.Expr], exp.Expr]) -> Tree:
    """A tree like this one, with other parts.

    Args:
        tree: that is copied; its own parts are left alone.
        change: gives the part of the copy for each part directly below the tree.
    """
    parts: dict[str, object] = {}
    for name, value in tree.args.items():
        if isinstance(value, exp.Expr):
            parts[name] = change(value)
        elif isinstance(value, list):
            parts[name] = [change(item) if isinstance(item, exp.Expr) else item for item in value]
        else:
            parts[name] = value
    copy = type(tree)(**parts)
    if tree._meta:
        copy.meta.update(tree._meta)
    return copy


def _refuse_size() -> NoReturn:
    refuse(
        None,
        "too-complex",
        "The form of this query that cannot fail becomes too large: NULLIF, CASE or comparisons stand inside each other many "
        "times. Divide it, for example with a subquery.",
        "失敗しない形に書き換えたクエリが大きくなりすぎます（NULLIF・CASE・比較の入れ子など）。副問い合わせなどで分けてください。",
    )
