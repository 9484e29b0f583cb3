"""The command lines that do what the pages do, as somebody types them in the folder of the page."""

from __future__ import annotations

import re
import shlex

__all__ = ["command_line"]

PLAIN = re.compile(r"[\w@%+=:,./-]+")


def command_line(*words: object) -> str:
    """A line that a shell takes apart again into the same words.

    Args:
        words: after the name of the command; files by the names that the page calls them.

    Example:
        >>> command_line("plan", "my people/plan.toml")
        "sudare plan 'my people/plan.toml'"
    """
    return " ".join(["sudare", *map(_quoted, map(str, words))])


def _quoted(word: str) -> str:
    """A word in quotes where a shell needs them: it does not for letters of any language."""
    return word if PLAIN.fullmatch(word) else shlex.quote(word)
