"""Where something stands in the text of a query, and how a word of it is shown."""

from __future__ import annotations

import unicodedata
from typing import NoReturn

from sudare.errors import QueryRefusedError

__all__ = ["place_in", "refuse_at", "shown"]

_MAX_SHOWN_LENGTH = 40


def refuse_at(text: str, offset: int | None, reason: str, english: str, japanese: str) -> NoReturn:
    """Refuse a query because of what stands at a character of its text; None for the whole of it.

    Raises:
        QueryRefusedError: always.
    """
    line, column = place_in(text, offset) if offset is not None else (None, None)
    raise QueryRefusedError(reason, english, japanese, line=line, column=column)


def place_in(text: str, offset: int) -> tuple[int, int]:
    r"""Line and column of a character, both from 1.

    Example:
        >>> place_in("SELECT a\nFROM t", 9)
        (2, 1)
    """
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def shown(word: str) -> str:
    r"""A word of a query as a message quotes it: at most 40 characters, and none that cannot be seen.

    Example:
        >>> shown("a\u202eb")
        'a\\u202eb'
    """
    short = word if len(word) <= _MAX_SHOWN_LENGTH else word[: _MAX_SHOWN_LENGTH - 1] + "…"
    if short.isascii() and short.isprintable():
        return short
    visible = "".join(
        letter if letter == " " or unicodedata.category(letter)[0] not in "CZ" else f"\\u{ord(letter):04x}"
        for letter in short
    )
    return visible if len(visible) <= _MAX_SHOWN_LENGTH else visible[: _MAX_SHOWN_LENGTH - 1] + "…"
