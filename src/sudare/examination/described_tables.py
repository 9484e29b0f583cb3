"""Published tables of counts that somebody describes in a small file, wherever they come from.

::

    title = "Tables of a village"
    threshold = 3                    # hidden counts are 1 or 2

    [[table]]
    file = "by_sex_and_age.csv"      # columns sex, age and count, a row for each cell
    total = "all"                    # what totals are called
    hidden = "*"                     # what stands in place of a hidden count

Every column but that of the counts is an attribute. A row that is not there says nothing.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from sudare.bilingual import Words
from sudare.errors import InputError
from sudare.examination.views import TableView, ViewCell
from sudare.releases.verification import printable
from sudare.sections import Section, read_toml
from sudare.system.regular_files import read_regular_file

__all__ = ["DescribedTables", "read_described_tables"]

HAS_COLUMNS = Words(" It has: {columns}.", "あるのは {columns} です。")

DESCRIPTION = Words("description of tables", "表の記述ファイル")
HINT = Words("It is a TOML file with a [[table]] for each table.", "[[table]] を並べた TOML ファイルです。")
KEYS = ("title", "threshold", "table")
MAX_DIGITS = 15
"""Of a count: whole numbers up to there are exact wherever they are added up."""
TABLE_KEYS = ("file", "count", "total", "totals", "hidden", "rounding", "name")


@dataclass(frozen=True)
class DescribedTables:
    """Tables of the same people.

    Attributes:
        title: for people.
        views: the tables.
    """

    title: str
    views: tuple[TableView, ...]


@dataclass(frozen=True)
class _File:
    """A table as its file has it: the columns of attributes, and rows of values and a count, which is None if hidden."""

    name: str
    total: str
    attributes: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], int | None], ...]
    rounding: int


def read_described_tables(file: str | Path) -> DescribedTables:
    """Read a description and the tables that it names.

    Raises:
        PlanError: if the description has a mistake.
        InputError: if a table is not what the description says; names file and line. Nothing is quoted of a file that is no
            table.
    """
    path = Path(file)
    top = Section(read_toml(path, DESCRIPTION, HINT), "", path.name, KEYS, DESCRIPTION)
    title, threshold = top.text("title", path.stem), top.whole("threshold", 3)
    if not 2 <= threshold < 10**MAX_DIGITS:
        top.refuse("threshold", "must be 2 or more, and not absurdly large", "は 2 以上の、大きすぎない整数です")
    files = [_read_table(section, path.parent) for section in top.sections("table", TABLE_KEYS)]
    top.finish()
    leaves: dict[str, dict[str, None]] = {}
    for each in files:
        for place, name in enumerate(each.attributes):
            leaves.setdefault(name, {}).update(
                {values[place]: None for values, _ in each.rows if values[place] != each.total}
            )
    known = {name: tuple(values) for name, values in leaves.items()}
    return DescribedTables(title, tuple(_view(each, known, threshold) for each in files))


def _view(file: _File, leaves: Mapping[str, tuple[str, ...]], threshold: int) -> TableView:
    cells = []
    for values, count in file.rows:
        named = {name: value for name, value in zip(file.attributes, values, strict=True) if value != file.total}
        where = {name: frozenset({value}) for name, value in named.items()}
        label = ", ".join(f"{name} {value}" for name, value in named.items()) or "total"
        if count is None:
            cells.append(ViewCell(where, 1, threshold - 1, None, label))
        else:
            off = max(0, file.rounding - 1)
            cells.append(ViewCell(where, max(0, count - off), count + off, None if off else count, label))
    own = {name: leaves[name] for name in file.attributes}
    return TableView(file.name, own, tuple(cells), threshold=threshold)


def _read_table(section: Section, base: Path) -> _File:
    file = section.text("file")
    path = base / file
    if not path.resolve().is_relative_to(base.resolve()):
        # A description may come from anybody, and errors quote what it names.
        raise InputError(
            f"The table '{printable(file)}' must lie in the folder of the description, or below it. Copy it there.",
            f"表「{printable(file)}」は、記述ファイルと同じフォルダかその下に置いてください。",
        )
    count, total, hidden = section.text("count", "count"), section.text("total", "total"), section.text("hidden", "*")
    has_totals = section.flag("totals", True)
    rounding, name = section.whole("rounding", 1), section.text("name", path.stem)
    if not 1 <= rounding < 10**MAX_DIGITS:
        section.refuse("rounding", "must be 1 or more, and not absurdly large", "は 1 以上の、大きすぎない整数です")
    section.finish()
    try:
        lines = list(csv.reader(StringIO(read_regular_file(path).decode("utf-8-sig"), newline="")))
    except (OSError, ValueError, csv.Error):
        raise InputError(
            f"The table '{printable(str(path))}' cannot be read as a CSV file in UTF-8.",
            f"表「{printable(str(path))}」を UTF-8 の CSV として読めません。",
        ) from None
    header = lines[0] if lines else []
    if header.count(count) != 1 or len(header) < 2 or len(set(header)) < len(header):
        # A file without the column may be no table at all, and what it says nobody's business.
        listed = [printable(column) for column in header] if count in header else []
        known = HAS_COLUMNS.format(columns=listed) if listed else Words.same("")
        raise InputError(
            f"'{path.name}' must have a column '{count}' and at least one more, with different names.{known.english}",
            f"「{path.name}」には列「{count}」と、ほかに一つ以上の異なる名前の列が必要です。{known.japanese}",
        )
    place = header.index(count)
    rows = [_row(path, number, line, header, place, hidden) for number, line in enumerate(lines[1:], start=2) if line]
    _require_different(path, rows)
    if has_totals and not any(total in values for values, _ in rows):
        # Without its totals a table is one of unrelated cells, and would seem safe.
        raise InputError(
            f"No cell of '{path.name}' is a total called '{total}'. Say in the description what totals are called, such as "
            'total = "all"; or totals = false if the table has none.',
            f"「{path.name}」に「{total}」という合計のセルがありません。"
            '合計の名前を記述ファイルに total = "計" のように書いてください。'
            "合計がない表では totals = false とします。",
        )
    attributes = tuple(column for column in header if column != count)
    return _File(name, total, attributes, tuple(rows), rounding)


def _row(
    path: Path, number: int, line: Sequence[str], header: Sequence[str], place: int, hidden: str
) -> tuple[tuple[str, ...], int | None]:
    text = line[place].strip() if len(line) == len(header) else None
    values = tuple(value.strip() for at, value in enumerate(line) if at != place)
    if text == hidden:
        return values, None
    if text is None or not (text.isascii() and text.isdigit()):
        raise InputError(
            f"Line {number} of '{path.name}' has no whole number in '{header[place]}'. "
            f"A hidden count is written '{hidden}', or as 'hidden' in the description says.",
            f"「{path.name}」の {number} 行目の「{header[place]}」が整数ではありません。"
            f"秘匿したセルは「{hidden}」、または記述ファイルの hidden のとおりに書きます。",
        )
    if len(text) > MAX_DIGITS:
        raise InputError(
            f"Line {number} of '{path.name}' has a count of more than {MAX_DIGITS} digits.",
            f"「{path.name}」の {number} 行目の度数が {MAX_DIGITS} 桁を超えています。",
        )
    return values, int(text)


def _require_different(path: Path, rows: Sequence[tuple[tuple[str, ...], int | None]]) -> None:
    seen: set[tuple[str, ...]] = set()
    for number, (values, _) in enumerate(rows, start=2):
        if values in seen:
            raise InputError(
                f"Line {number} of '{path.name}' is about a cell that an earlier line is about.",
                f"「{path.name}」の {number} 行目は、前の行と同じセルです。",
            )
        seen.add(values)
