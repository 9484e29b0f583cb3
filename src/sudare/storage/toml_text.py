"""TOML as people type it: names in quotes where TOML wants them, and the line to write where they were left out.

TOML allows letters A to Z, digits, ``_`` and ``-`` in a key without quotes, and no other text without them. Names of Japanese
columns are the first that whoever writes a plan types otherwise, and a parser says of them where it stopped, not what to write.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["UnquotedLines", "find_unquoted", "toml_key", "toml_text"]

BARE = re.compile(r"[A-Za-z0-9_-]+")
_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_ESCAPED = re.compile('[\\x00-\\x1f"\\\\\\x7f-\\x9f\\u2028\\u2029]')
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|#.*|[\[\]{},=]|[^"\'#\[\]{},=]+|["\']')
"""Texts in quotes, a comment, the signs between keys and values, and what stands between those."""

_OTHER_QUOTES = "“”„‟＂「」『』＇‘’"
MAX_REPAIRS = 100
"""So many lines are looked at; a file with more of them has its first ones named."""


def toml_text(text: str) -> str:
    """A text in quotes.

    Example:
        >>> toml_text("Tokyo")
        '"Tokyo"'
    """
    return '"' + _ESCAPED.sub(lambda found: _SHORT.get(found[0], f"\\u{ord(found[0]):04x}"), text) + '"'


def toml_key(name: str) -> str:
    """A name as a key of a file: in quotes only where they are needed.

    Example:
        >>> toml_key("sex"), toml_key("性別")
        ('sex', '"性別"')
    """
    return name if BARE.fullmatch(name) else toml_text(name)


@dataclass(frozen=True)
class UnquotedLines:
    """Lines of a file in which quotes are missing.

    Attributes:
        number: of the first of them, from 1.
        line: what to write there.
        others: numbers of the others.
    """

    number: int
    line: str
    others: tuple[int, ...] = ()


def find_unquoted(text: str) -> UnquotedLines | None:
    r"""The lines that keep a text from being TOML because names or values in other letters stand without quotes; None if none do.

    A line counts if TOML reads on once it has its quotes: what only looks like a key, within a text of several lines, does not.

    Args:
        text: that is no TOML.

    Example:
        >>> find_unquoted('title = "a"\n[dimensions.市区町村]\n')
        UnquotedLines(number=2, line='[dimensions."市区町村"]', others=())
    """
    lines = text.split("\n")
    fault = _fault_of(text)
    found: list[tuple[int, str]] = []
    for place, line in enumerate(lines):
        if fault is None or len(found) == MAX_REPAIRS:
            break
        repaired = "".join(_quoted(line))
        if repaired == line or not _is_whole(repaired):
            continue
        other = _fault_of("\n".join([*lines[:place], repaired, *lines[place + 1 :]]))
        if other != fault:
            found.append((place + 1, repaired.strip()))
            lines[place], fault = repaired, other
    if not found:
        return None
    number, line = found[0]
    return UnquotedLines(number, line, tuple(other for other, _ in found[1:]))


def _fault_of(text: str) -> str | None:
    try:
        tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        return str(error)
    return None


def _is_whole(line: str) -> bool:
    """Whether a line is TOML by itself, or as one of the lines of a list."""
    as_parts = [f"x = [\n{line}\n]", f"x = [\n{line}", *([f"{line}\n]"] if "=" in line else [])]
    return any(_fault_of(text) is None for text in (line, *as_parts))


def _quoted(line: str) -> Iterator[str]:
    """A line with quotes around what needs them; nothing else is changed."""
    tokens = _TOKENS.findall(line)
    is_header = line.lstrip().startswith("[")
    for place, token in enumerate(tokens):
        if token.isascii() or token[0] in "\"'#":
            yield token
            continue
        follows = tokens[place + 1] if place + 1 < len(tokens) else ""
        parts = token.split(".") if is_header or follows == "=" else [token]
        yield ".".join(map(_quoted_part, parts))


def _quoted_part(part: str) -> str:
    bare = part.strip()
    if bare.isascii():
        return part
    before, after = part[: part.index(bare)], part[part.index(bare) + len(bare) :]
    return before + toml_text(bare.strip(_OTHER_QUOTES)) + after
