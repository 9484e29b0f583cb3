"""Reading a JSON document that anybody may have written: every fault of it raises the same kind of error."""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn

from sudare.bilingual import Words
from sudare.errors import InputError
from sudare.system.regular_files import open_regular_file

__all__ = ["parse_json", "read_json", "read_stated"]

MAX_DIGITS = 300
"""Of a whole number: all of them are floats as well, so that arithmetic with them does not overflow at once."""

MAX_DEPTH = 100
"""Of lists and objects within each other; what sudare writes stays far below."""

MAX_BYTES = 1 << 30
"""Of a document: one that is larger would not fit into the memory of its reader."""


def read_stated(path: Path, stated_format: str, place: Words) -> dict[str, object]:
    """What the document of a folder says, if it is in the format that is expected there.

    Args:
        path: of the document.
        stated_format: what it must say that its format is.
        place: what the folder should be, such as a release folder.

    Raises:
        InputError: if it is missing, damaged, or in another format.
    """
    try:
        document = read_json(path)
    except (OSError, ValueError):
        raise InputError(
            f"'{path}' is missing or is no JSON: this is no {place.english}, or a damaged one.",
            f"「{path}」がないか、JSON ではありません。{place.japanese}ではないか、壊れています。",
        ) from None
    if not isinstance(document, dict) or document.get("format") != stated_format:
        raise InputError(
            f"'{path}' is not in the format {stated_format} that this sudare knows.",
            f"「{path}」は、この sudare が扱う形式 {stated_format} ではありません。",
        )
    return document


def read_json(path: Path) -> object:
    """What a document says that may be hostile.

    Args:
        path: of a regular file; anything else, such as a pipe on which a reader would wait forever, is not read.

    Raises:
        OSError: if it cannot be read, or is no regular file.
        ValueError: if it is no JSON: too long, too deep, with a number that is not finite, or absurdly long, or with half a
            letter.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder) / "report.json"
        ...     _ = path.write_text('{"title": "Town"}')
        ...     read_json(path)
        {'title': 'Town'}
    """
    with open_regular_file(path) as stream:
        text = stream.read(MAX_BYTES + 1)
    return parse_json(text)


def parse_json(text: bytes | str, *, lenient: bool = False) -> Any:
    """What a JSON text says that may be hostile.

    Args:
        text: the text.
        lenient: take numbers and letters as Python does, for formats that check them themselves.

    Raises:
        ValueError: as `read_json`.

    Example:
        >>> parse_json("[1, 2.5]")
        [1, 2.5]
        >>> parse_json("NaN")
        Traceback (most recent call last):
        ...
        ValueError: a number that is not finite
    """
    if len(text) > MAX_BYTES:
        raise ValueError("too long")
    try:
        if lenient:
            found: object = json.loads(text)
        else:
            found = json.loads(text, parse_constant=_not_finite, parse_int=_whole_number, parse_float=_number)
            # A surrogate that stands alone is half a letter: it can be held, and neither be printed nor be written.
            json.dumps(found, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("nested too deeply") from None
    _require_shallow(found)
    return found


def _require_shallow(value: object) -> None:
    """Refuse what Python could read just so, and what reads it by recursion perhaps not."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            part
            for outer in level
            if isinstance(outer, list | dict)
            for part in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(part, list | dict)
        ]
        if not level:
            return
    raise ValueError("nested too deeply")


def _not_finite(name: str) -> NoReturn:
    raise ValueError("a number that is not finite")


def _whole_number(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError("a number that is too long")
    return int(digits)


def _number(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError("a number that is not finite")
    return number
