"""The command lines that do what the pages do, as somebody types them in the folder of the page."""

from __future__ import annotations

import shlex

__all__ = ["command_line"]


def command_line(*words: object) -> str:
    """A line that a shell takes apart again into the same words.

    Args:
        words: after the name of the command; files by the names that the page calls them.

    Example:
        >>> command_line("plan", "my people/plan.toml")
        "sudare plan 'my people/plan.toml'"
    """
    return shlex.join(["sudare", *map(str, words)])
