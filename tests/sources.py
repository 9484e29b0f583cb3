"""Source files as trees, parsed and walked once for all tests of a process that look through them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

__all__ = ["nodes_of", "tree_of"]


@cache
def tree_of(path: Path) -> ast.Module:
    """A module, which nobody changes."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """All that stands in a module."""
    return tuple(ast.walk(tree_of(path)))
