"""Copies of syntax trees, in half the time of sqlglot's own: planning a query makes more than a hundred of them."""

from __future__ import annotations

from typing import Any, TypeVar

from sqlglot import exp

__all__ = ["copied"]

Tree = TypeVar("Tree", bound=exp.Expr)


def copied(tree: Tree) -> Tree:
    """A copy of a tree, with its places in the text; without comments and types, which are not used here.

    Example:
        >>> from sqlglot import parse_one
        >>> tree = parse_one("SELECT a + 1 FROM t")
        >>> copied(tree) == tree, copied(tree).selects[0] is tree.selects[0]
        (True, False)
    """
    parts: dict[str, Any] = {}
    for name, value in tree.args.items():
        if isinstance(value, exp.Expr):
            parts[name] = copied(value)
        elif type(value) is list:
            parts[name] = [copied(item) if isinstance(item, exp.Expr) else item for item in value]
        else:
            parts[name] = value
    copy = type(tree)(**parts)
    if tree._meta:
        copy.meta.update(tree._meta)
    return copy
