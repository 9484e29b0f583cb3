"""Tables and small pieces of layout that several commands show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table

__all__ = ["MARKS", "facts", "heading", "stack", "table_of"]

MARKS = {
    "passed": ("✓", "green"),
    "ok": ("✓", "green"),
    "skipped": ("–", "dim"),
    "warn": ("!", "yellow"),
    "failed": ("✗", "bold red"),
    "fail": ("✗", "bold red"),
}


def facts(pairs: Iterable[tuple[str, object]]) -> Table:
    """Names and what they are, one a line, without lines around."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in pairs:
        table.add_row(name, value if isinstance(value, Text) else Text(str(value)))
    return table


def table_of(columns: Sequence[tuple[str, bool]], rows: Iterable[Sequence[object]]) -> Table:
    """A table with a line under its head.

    Args:
        columns: name of each, and whether it holds numbers.
        rows: of texts, or of what rich shows.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for name, is_number in columns:
        table.add_column(Text(name), justify="right" if is_number else "left", no_wrap=is_number, overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row))
    return table


def heading(text: str) -> RenderableType:
    """A line above a part."""
    from rich.text import Text

    return Text(text, style="bold")


def stack(*items: RenderableType) -> Group:
    """Parts one below the other."""
    from rich.console import Group
    from rich.text import Text

    # A plain string would be read as markup, and lose what stands in brackets.
    return Group(*(Text(item) if isinstance(item, str) else item for item in items))
