"""A toy format: lines of tab-separated codes and numbers. It shows all that a new one takes: this module, and one line."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path

from sudare.bilingual import Words
from sudare.export.dense import all_numbers, require_dense
from sudare.export.format import Publication
from sudare.export.sentences import notes_of
from tests.contracts.export_readers import ReadBack

__all__ = ["HOME", "TABS", "read_tabs"]

HOME = "tests.contracts.toy_export:TABS"
NAME = Words.same("tabs")


@dataclass(frozen=True)
class Tabs:
    """Tab-separated lines."""

    suffix: str = ".tabs"
    words: Words = NAME

    def require_room(self, publication: Publication) -> None:
        """Refuse records, and tables of too many cells."""
        require_dense(publication, NAME)

    def write(self, publication: Publication, path: Path) -> None:
        """Write the file."""
        cube = require_dense(publication, NAME)
        told = "".join(words.english for words in notes_of(cube.head, cube.dimensions))
        lines = [repr(cube.head.title + told), repr([one.name for one in cube.dimensions])]
        for key, number in zip(product(*(one.labels for one in cube.dimensions)), all_numbers(cube), strict=True):
            lines.append(f"{key!r}\t{number}")
        path.write_text("\n".join(lines), encoding="utf-8")


def read_tabs(path: Path) -> ReadBack:
    """Read it back."""
    import ast

    told, names, *lines = path.read_text(encoding="utf-8").split("\n")
    numbers = {}
    for line in lines:
        key, _, number = line.rpartition("\t")
        numbers[ast.literal_eval(key)] = None if number == "None" else float(number)
    return ReadBack(numbers, tuple(ast.literal_eval(names)), ast.literal_eval(told))


TABS = Tabs()
