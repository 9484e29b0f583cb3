"""Lines of Japanese in a terminal: broken anywhere but before a mark that ends something, or behind one that begins it.

Rich breaks between words, and Japanese has no spaces: a sentence was one word, cut wherever the line ended, and the next line
could begin with its full stop. What rich has no setting for is set in its module of texts. Lines without
Japanese stay as they were.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["divide_japanese", "wrap_japanese_properly"]

NEVER_FIRST = frozenset(
    "。、，．・：；？！」』）］｝〕〉》】…‥ー々ゝゞヽヾぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ％,.:;?!)]}%"
)
NEVER_LAST = frozenset("「『（［｛〔〈《【([{")

Divide = Callable[[str, int, bool], list[int]]


def wrap_japanese_properly() -> None:
    """From now on, rich breaks lines of Japanese as Japanese is broken. Doing it again changes nothing."""
    from rich import text

    original: Divide = vars(text)["divide_line"]
    if getattr(original, "is_for_japanese", False):
        return

    def divide(line: str, width: int, fold: bool = True) -> list[int]:
        return divide_japanese(line, width) if fold and _is_wide(line) else original(line, width, fold)

    divide.is_for_japanese = True  # type: ignore[attr-defined]
    vars(text)["divide_line"] = divide


def divide_japanese(line: str, width: int) -> list[int]:
    """Where a line is broken, as positions of the first letters of the lines that follow.

    Args:
        line: a text without line ends.
        width: of the terminal, in cells; a Japanese letter takes two.

    Example:
        >>> divide_japanese("予算は使われていません。", 22)
        [10]
    """
    from rich.cells import cell_len

    breaks: list[int] = []
    start = place = used = 0
    last = None  # where this line may be broken
    while place < len(line):
        if place > start and _may_break(line, place):
            last = place
        size = cell_len(line[place])
        # A space at the end of a line takes no room.
        if used + size > width and place > start and line[place] != " ":
            start = last if last is not None and last > start else place
            breaks.append(start)
            used, last = cell_len(line[start:place]), None
            continue
        used += size
        place += 1
    return breaks


def _may_break(line: str, place: int) -> bool:
    before, here = line[place - 1], line[place]
    if here == " " or here in NEVER_FIRST or before in NEVER_LAST:
        return False
    return before == " " or _is_wide(before) or _is_wide(here)


def _is_wide(text: str) -> bool:
    return any("\u3000" <= letter <= "\u9fff" or "\uff00" <= letter <= "\uff60" for letter in text)
