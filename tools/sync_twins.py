"""Copy the code blocks of the English how-to pages into their Japanese twins, in order, and say what changed.

    python tools/sync_twins.py            # all of docs/how-to
    python tools/sync_twins.py --check    # change nothing; exit code 1 if a twin is behind

Prose is left alone; what stands in it as code in English alone, such as a respelled key, is named, to be changed by hand.
A twin with more or fewer blocks than its page is named and left as it is: somebody has to add or
remove the prose around them first. An empty fence is filled like any other block, so a new twin can be written with
empty fences in it.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Twin", "blocks_of", "left_out", "main", "sync", "twins_in"]

HOW_TO = Path(__file__).resolve().parents[1] / "docs" / "how-to"
TWIN = ".ja.md"
BLOCK = re.compile(r"^(?P<indent> *)```[^\n`]*\n(?:.*\n)*?(?P=indent)```$", re.M)

INLINE_CODE = re.compile(r"`[^`\n]+`")


@dataclass(frozen=True)
class Twin:
    """A Japanese page with the blocks of its English one.

    Attributes:
        text: the page as it should be.
        changed: which blocks were other ones, from 1 on.
    """

    text: str
    changed: tuple[int, ...]


def blocks_of(text: str) -> list[str]:
    """The fenced blocks of a page, with their fences."""
    return [match[0] for match in BLOCK.finditer(text)]


def sync(english: str, japanese: str) -> Twin:
    """The Japanese page, with the blocks of the English one.

    Raises:
        ValueError: if they do not have the same number of blocks.
    """
    wanted, present = blocks_of(english), blocks_of(japanese)
    if len(wanted) != len(present):
        raise ValueError(f"{len(present)} code blocks, where the English page has {len(wanted)}")
    rest = iter(wanted)
    changed = tuple(place for place, pair in enumerate(zip(wanted, present, strict=True), 1) if pair[0] != pair[1])
    return Twin(BLOCK.sub(lambda _: next(rest), japanese), changed)


def left_out(english: str, japanese: str) -> list[str]:
    """What the prose of the English page has as code, and that of the Japanese one has not."""
    present = set(INLINE_CODE.findall(BLOCK.sub("", japanese)))
    return sorted(set(INLINE_CODE.findall(BLOCK.sub("", english))) - present)


def twins_in(folder: Path) -> list[tuple[Path, Path]]:
    """Each English page that has a Japanese twin, and the twin."""
    twins = sorted(folder.glob(f"*{TWIN}"))
    return [(twin.with_name(twin.name.removesuffix(TWIN) + ".md"), twin) for twin in twins]


def main(arguments: Sequence[str] | None = None, folder: Path = HOW_TO) -> int:
    """Sync all twins; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if a twin is behind")
    is_check = parser.parse_args(arguments).check
    is_behind = False
    for page, twin in twins_in(folder):
        japanese = twin.read_text(encoding="utf-8")
        try:
            english = page.read_text(encoding="utf-8")
            synced = sync(english, japanese)
        except (ValueError, FileNotFoundError) as error:
            print(f"{twin.name}: left as it is: {error}")
            is_behind = True
            continue
        if synced.changed:
            is_behind |= is_check
            print(f"{twin.name}: block {', '.join(map(str, synced.changed))}")
            if not is_check:
                twin.write_text(synced.text, encoding="utf-8")
        if missing := left_out(english, japanese):
            is_behind = True
            print(f"{twin.name}: its prose lacks {', '.join(missing)}")
    return int(is_behind)


if __name__ == "__main__":
    sys.exit(main())
