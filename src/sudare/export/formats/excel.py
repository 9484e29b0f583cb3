"""An Excel workbook: a cover sheet in both languages, the data, the codes of its dimensions, and its expected errors.

Every text is written as a text, also one that begins with ``=``: what somebody called an area is no formula. Letters that look
like the workbook's own code for a character (``_x000D_``) are written so that they are read as they stand. Whole numbers of more
digits than Excel keeps are texts too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.bilingual import Words
from sudare.errors import OutputError
from sudare.export import export_words as texts
from sudare.export.dense import all_numbers, number_text
from sudare.export.description import PublicationHead, PublishedCube
from sudare.export.sentences import notes_of
from sudare.extras import SPREADSHEETS, optional_module

if TYPE_CHECKING:
    from sudare.export.format import Publication

__all__ = ["EXCEL"]

MAX_ROWS, MAX_COLUMNS, MAX_LETTERS = 1_048_576, 16_384, 32_767
"""Of a sheet, and of a cell in it."""

CODED = re.compile("_(?=x[0-9A-Fa-f]{4}_)")

EXACT = 10**15
"""Below this Excel keeps every digit of a whole number."""

COVER_WIDTHS, OTHER_WIDTH = (26, 26, 90, 90), 18


READ_BY = Words(
    "an Excel workbook with a cover sheet, which Excel and LibreOffice read",
    "表紙つきの Excel ブック（Excel、LibreOffice が読む形式）",
)


@dataclass(frozen=True)
class Excel:
    """Excel."""

    suffix: str = ".xlsx"
    words: Words = READ_BY

    def require_room(self, publication: Publication) -> None:
        """Refuse what has more rows, columns or letters than a sheet has room for."""
        if isinstance(publication, PublishedCube):
            rows, columns = min(publication.cells, publication.values.size), 2 * len(publication.dimensions) + 2
            longest = (text for one in publication.dimensions for text in (*one.labels, *one.codes, one.name))
            listed = sum(len(one) for one in publication.dimensions)
        else:
            rows, columns, listed = len(publication.rows), len(publication.columns), 0
            longest = (text for row in (publication.columns, *publication.rows) for text in row)
        if max(rows, listed) + 1 > MAX_ROWS:
            raise OutputError(texts.TOO_MANY_ROWS.format(rows=max(rows, listed) + 1, most=MAX_ROWS))
        if columns > MAX_COLUMNS:
            raise OutputError(texts.TOO_MANY_COLUMNS.format(columns=columns, most=MAX_COLUMNS))
        head = publication.head
        if max(map(len, (head.title, head.publisher, head.description, *longest)), default=0) > MAX_LETTERS:
            raise OutputError(texts.LONG_TEXT.format(most=MAX_LETTERS))

    def write(self, publication: Publication, path: Path) -> None:
        """Write the workbook, row by row."""
        head = publication.head
        workbook = _Workbook(head)
        workbook.add(texts.COVER, _cover(head, _notes(publication)), COVER_WIDTHS)
        if isinstance(publication, PublishedCube):
            workbook.add(texts.DATA, _cells(publication))
            workbook.add(texts.CODES, _codes(publication))
        else:
            workbook.add(texts.DATA, iter((publication.columns, *publication.rows)))
        if head.errors:
            workbook.add(texts.ACCURACY, _errors(head))
        workbook.save(path)


class _Workbook:
    """A workbook that is written sheet by sheet."""

    def __init__(self, head: PublicationHead) -> None:
        self._openpyxl = optional_module("openpyxl", "exchange", SPREADSHEETS)
        self._cell: Any = optional_module("openpyxl.cell", "exchange", SPREADSHEETS).WriteOnlyCell
        self._illegal: Any = optional_module("openpyxl.cell.cell", "exchange", SPREADSHEETS).ILLEGAL_CHARACTERS_RE
        self._book = self._openpyxl.Workbook(write_only=True)
        self._language = head.language
        self._book.properties.title = self._illegal.sub("", head.title)
        self._book.properties.creator = self._illegal.sub("", head.publisher)

    def add(self, name: Words, rows: Iterator[Sequence[object]], widths: Sequence[int] = ()) -> None:
        """Add a sheet. Its first row stays in sight, but on the cover."""
        sheet = self._book.create_sheet(name.explain(self._language))
        letters = self._openpyxl.utils.get_column_letter
        first = next(rows)
        for number in range(1, len(first) + 1):
            width = widths[number - 1] if number <= len(widths) else OTHER_WIDTH
            sheet.column_dimensions[letters(number)].width = width
        if not widths:
            sheet.freeze_panes = "A2"
        sheet.append([self._shown(sheet, one) for one in first])
        for row in rows:
            sheet.append([self._shown(sheet, one) for one in row])

    def save(self, path: Path) -> None:
        with path.open("wb") as stream:
            self._book.save(stream)

    def _shown(self, sheet: Any, value: object) -> object:
        """A number as a number, a text as a text, whatever it begins with."""
        if value is None or isinstance(value, (int, float)):
            return value
        cell = self._cell(sheet, "")
        cell.value = CODED.sub("_x005F_", self._illegal.sub("", str(value)))
        cell.data_type = "s"
        return cell


def _notes(publication: Publication) -> tuple[Words, ...]:
    head = publication.head
    if not isinstance(publication, PublishedCube):
        return notes_of(head)
    unlisted = (texts.UNLISTED,) if publication.cells >= MAX_ROWS else ()
    return (*notes_of(head, publication.dimensions), *unlisted)


def _cover(head: PublicationHead, notes: Sequence[Words]) -> Iterator[Sequence[object]]:
    labels = texts.LABELS
    yield (labels["title"].english, labels["title"].japanese, head.title, None)
    for key in ("publisher", "description", "created"):
        yield (labels[key].english, labels[key].japanese, getattr(head, key), None)
    for fact in head.facts:
        if fact.key != "origin":  # it is among the notes
            yield (fact.label.english, fact.label.japanese, fact.value.english, fact.value.japanese)
    for note in notes:
        yield (labels["note"].english, labels["note"].japanese, note.english, note.japanese)


def _cells(cube: PublishedCube) -> Iterator[Sequence[object]]:
    """A row for each cell: its codes, its labels where they say more, its value, and its status where some are hidden."""
    language = cube.head.language
    labelled = [one.labels != one.codes for one in cube.dimensions]
    has_status = bool(cube.hidden.any())
    header: list[object] = [one.name for one in cube.dimensions]
    label = texts.LABEL.explain(language)
    header += [f"{one.name} ({label})" for one, told in zip(cube.dimensions, labelled, strict=True) if told]
    yield [*header, cube.value_name, *([texts.STATUS.explain(language)] if has_status else [])]
    hidden, shown = texts.HIDDEN.explain(language), texts.SHOWN.explain(language)
    for key, number in _numbered(cube):
        codes = [one.codes[place] for one, place in zip(cube.dimensions, key, strict=True)]
        told = [
            one.labels[place] for one, place, is_told in zip(cube.dimensions, key, labelled, strict=True) if is_told
        ]
        status = [hidden if number is None else shown] if has_status else []
        yield [*codes, *told, None if number is None else _number(number, cube.decimals), *status]


def _numbered(cube: PublishedCube) -> Iterator[tuple[Sequence[int], int | None]]:
    """All cells if a sheet has room for them, else those that are not 0."""
    if cube.cells < MAX_ROWS:
        yield from zip(product(*map(range, cube.shape)), all_numbers(cube), strict=True)
        return
    places = [one.tolist() for one in cube.places]
    for *key, number, is_hidden in zip(*places, cube.values.tolist(), cube.hidden.tolist(), strict=True):
        yield key, None if is_hidden else number


def _number(value: int, decimals: int) -> object:
    if abs(value) >= EXACT:
        return number_text(value, decimals)
    return value if decimals == 0 else float(number_text(value, decimals))


def _codes(cube: PublishedCube) -> Iterator[Sequence[object]]:
    language = cube.head.language
    yield [words.explain(language) for words in (texts.DIMENSION, texts.CODE, texts.LABEL)]
    for one in cube.dimensions:
        for code, label in zip(one.codes, one.labels, strict=True):
            yield [one.name, code, label]


def _errors(head: PublicationHead) -> Iterator[Sequence[object]]:
    columns = (texts.SUM, texts.RMSE, texts.LOW, texts.HIGH, texts.CONFIDENCE)
    yield [words.explain(head.language) for words in columns]
    for error in head.errors:
        yield [error.what.explain(head.language), error.rmse, error.low, error.high, error.confidence]


EXCEL = Excel()
