"""PX, the file of PC-Axis and PxWeb, after the specification of 2013 (AXIS-VERSION 2013).

Texts stand in quotation marks and cannot hold any: a straight one becomes ”, as the specification allows no other way. A line end
in a name becomes a blank; in notes ``#`` stands for one, as in the specification. Two names that so become the same are told
apart by their codes. A text never holds the keyword that numbers begin with, where readers cut the file.
All keywords that depend on a language are written in both, that of the title first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from sudare.bilingual import Words
from sudare.errors import OutputError
from sudare.export import export_words as texts
from sudare.export.dense import all_numbers, number_text, require_dense
from sudare.export.description import PublicationHead, PublishedCube
from sudare.export.sentences import notes_of

if TYPE_CHECKING:
    from sudare.export.format import Publication

__all__ = ["PX"]

MAX_NAME = 256
"""Letters of a name, which no line end may cut."""

MAX_LINE = 200
"""Letters of a quoted text in one line; longer ones go on in the next."""

NUMBERS_PER_LINE = 50
CONTROLS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")
NUMBERS_BEGIN = re.compile("(DATA)=", re.IGNORECASE)
HIDDEN_CELL = '".."'


READ_BY = Words(
    "PX, which PC-Axis, PxWeb, PX-Win and the R package pxR read",
    "PX（PC-Axis、PxWeb、PX-Win、R の pxR などが読む形式）",
)


@dataclass(frozen=True)
class PcAxis:
    """PX."""

    suffix: str = ".px"
    words: Words = READ_BY

    def require_room(self, publication: Publication) -> None:
        """Refuse records, and tables of too many cells."""
        cube = require_dense(publication, Words.same("PX"))
        longest = max(len(text) for one in cube.dimensions for text in (one.name, *one.labels, *one.codes))
        if longest > MAX_NAME:
            raise OutputError(texts.LONG_NAME.format(most=MAX_NAME))

    def write(self, publication: Publication, path: Path) -> None:
        """Write the file, in UTF-8."""
        cube = require_dense(publication, Words.same("PX"))
        with path.open("w", encoding="utf-8", newline="\r\n") as stream:
            for line in _keywords(cube):
                stream.write(line + "\n")
            stream.write("DATA=\n")
            for line in _data(cube):
                stream.write(line + "\n")
            stream.write(";\n")


def _keywords(cube: PublishedCube) -> Iterator[str]:
    """Everything but the numbers, in the order that the specification recommends."""
    head = cube.head
    both = (head.language, head.other_language)
    names = [_one_line(one.name) for one in cube.dimensions]
    yield from ('CHARSET="ANSI";', 'AXIS-VERSION="2013";', 'CODEPAGE="utf-8";')
    yield f'LANGUAGE="{both[0]}";'
    yield f'LANGUAGES="{both[0]}","{both[1]}";'
    yield f'CREATION-DATE="{_date(head)}";'
    yield f"DECIMALS={min(cube.decimals, 6)};"
    yield f"SHOWDECIMALS={min(cube.decimals, 6)};"
    yield f'MATRIX="{_matrix(head)}";'
    yield 'SUBJECT-CODE="STAT";'
    for key, words in (
        ("SUBJECT-AREA", Words.same(head.publisher or head.title)),
        ("TITLE", Words.same(head.title)),
        ("CONTENTS", Words.same(cube.value_name)),
        ("UNITS", Words.same(cube.value_name)),
    ):
        yield from _in_both(key, words, both)
    stub, heading = (names[:-1], names[-1:]) if len(names) > 1 else (names, [])
    for key, listed in (("STUB", stub), ("HEADING", heading)):
        for number, language in enumerate(both if listed else ()):
            yield f"{key}{_tag(language, number)}={_listed(listed)};"
    yield from _values(cube, names, both)
    yield f'LAST-UPDATED="{_date(head)}";'
    yield from _in_both("SOURCE", Words.same(head.publisher or head.title), both)
    yield from _in_both("NOTE", Words.joined(_notes(cube), Words.same("#")), both)
    yield from _in_both("DATASYMBOL1", texts.NOT_THERE, both)
    yield from _in_both("DATASYMBOL2", texts.HIDDEN, both)


def _values(cube: PublishedCube, names: Sequence[str], both: Sequence[str]) -> Iterator[str]:
    for name, dimension in zip(names, cube.dimensions, strict=True):
        labels = _different([_one_line(label) for label in dimension.labels], dimension.codes)
        for number, language in enumerate(both):
            yield f'VALUES{_tag(language, number)}("{name}")={_listed(labels)};'
    for name, dimension in zip(names, cube.dimensions, strict=True):
        codes = _different([_one_line(code) for code in dimension.codes], list(map(str, range(len(dimension)))))
        for number, language in enumerate(both):
            yield f'CODES{_tag(language, number)}("{name}")={_listed(codes)};'
    for name, dimension in zip(names, cube.dimensions, strict=True):
        if dimension.parents is not None and dimension.parents.count(-1) == 1:
            total = _one_line(dimension.labels[dimension.parents.index(-1)])
            for number, language in enumerate(both):
                yield f'ELIMINATION{_tag(language, number)}("{name}")="{total}";'


def _notes(cube: PublishedCube) -> list[Words]:
    told = notes_of(cube.head, cube.dimensions)
    return [Words.same(cube.head.description), *told] if cube.head.description else list(told)


def _in_both(key: str, words: Words, both: Sequence[str]) -> Iterator[str]:
    for number, language in enumerate(both):
        text = words.explain(language).replace("\r\n", "\n").replace("\n", "#")
        yield f"{key}{_tag(language, number)}={_long(_quotable(text))};"


def _tag(language: str, number: int) -> str:
    return "" if number == 0 else f"[{language}]"


def _long(text: str) -> str:
    """A text in as many quoted lines as it needs."""
    parts = [text[start : start + MAX_LINE] for start in range(0, len(text), MAX_LINE)] or [""]
    return "\n".join(f'"{part}"' for part in parts)


def _listed(values: Sequence[str]) -> str:
    """Quoted texts, as many in a line as fit; a line ends after a comma and never within a text."""
    lines, line = [], ""
    for value in values:
        quoted = f'"{value}"'
        if line and len(line) + len(quoted) > MAX_LINE:
            lines.append(line)
            line = ""
        line += quoted + ","
    return "\n".join([*lines, line.removesuffix(",")])


def _quotable(text: str) -> str:
    return NUMBERS_BEGIN.sub(r"\1 =", CONTROLS.sub(" ", text.replace('"', "”")))


def _one_line(text: str) -> str:
    """A name as PX can hold it: never empty."""
    return _quotable(text).strip() or "-"


def _different(labels: list[str], codes: Sequence[str]) -> list[str]:
    """Labels of which no two are the same: those that are get their codes, or places, behind them."""
    if len(set(labels)) == len(labels):
        return labels
    twice = {label for label, times in Counter(labels).items() if times > 1}
    told = [
        f"{label} ({_one_line(code)})" if label in twice else label for label, code in zip(labels, codes, strict=True)
    ]
    if len(set(told)) == len(told):
        return told
    some = [f"{label} [{place}]" if label in twice else label for place, label in enumerate(labels)]
    return some if len(set(some)) == len(some) else [f"{label} [{place}]" for place, label in enumerate(labels)]


def _date(head: PublicationHead) -> str:
    """Such as ``20260401 09:00``."""
    day, _, time = head.created.partition("T")
    return f"{day.replace('-', '')} {time[:5]}"


def _matrix(head: PublicationHead) -> str:
    """A name for the file of letters that every file system knows."""
    return re.sub(r"[^A-Za-z0-9_]+", "_", head.name).strip("_")[:20] or "table"


def _data(cube: PublishedCube) -> Iterator[str]:
    """The numbers: a line for each row of the table, with a blank at its end."""
    width = cube.shape[-1] if len(cube.shape) > 1 else 1
    numbers = all_numbers(cube)
    while row := list(islice(numbers, width)):
        written = [HIDDEN_CELL if one is None else number_text(one, cube.decimals) for one in row]
        for start in range(0, len(written), NUMBERS_PER_LINE):
            yield " ".join(written[start : start + NUMBERS_PER_LINE]) + " "


PX = PcAxis()
