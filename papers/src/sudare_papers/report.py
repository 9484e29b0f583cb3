"""What an experiment found: tables with the paper's numbers beside ours, pictures, and findings that hold or do not.

A report is written as a Markdown page, a CSV file for each table and a PNG file for each picture. The words of pictures are
English, because not every machine has the letters for others.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

from sudare.bilingual import Words
from sudare.errors import OutputError
from sudare.io import atomically

__all__ = ["Cell", "Column", "Finding", "Picture", "Report", "Table", "page_of", "write_report"]

Cell = str | int | float | Words | None
PAGE = "page.md"


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        name: in the CSV file.
        title: on the page.
        digits: how many significant digits numbers have on the page; the CSV file has all.
        decimals: how many digits behind the point instead.
    """

    name: str
    title: Words
    digits: int = 4
    decimals: int | None = None

    def shown(self, value: Cell, language: str) -> str:
        """A value as it stands on the page."""
        if value is None:
            return "–"
        if isinstance(value, Words):
            return value.explain(language)
        if isinstance(value, float):
            return f"{value:.{self.decimals}f}" if self.decimals is not None else _significant(value, self.digits)
        return f"{value:,}" if isinstance(value, int) else value


@dataclass(frozen=True)
class Table:
    """A table of a report.

    Attributes:
        name: of the CSV file.
        title: on the page.
        columns: of the table.
        rows: as many values each.
        note: what explains it, below the table; a sentence on where the paper and we differ, and why.
        is_on_page: whether the page shows it; if not, the page names the file.
    """

    name: str
    title: Words
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: Words | None = None
    is_on_page: bool = True

    def to_csv(self) -> str:
        """All values, in English."""
        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([column.name for column in self.columns])
        writer.writerows([[value.english if isinstance(value, Words) else value for value in row] for row in self.rows])
        return text.getvalue()


@dataclass(frozen=True)
class Picture:
    """A picture of a report.

    Attributes:
        name: of the PNG file.
        title: on the page.
        draw: draws it into a matplotlib figure.
        size: of the figure in inches.
        note: what there is to see.
    """

    name: str
    title: Words
    draw: Callable[[Any], None]
    size: tuple[float, float] = (7.0, 4.2)
    note: Words | None = None

    def to_png(self) -> bytes:
        """The picture; the same figures give the same bytes."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=self.size, dpi=130, layout="constrained")
        FigureCanvasAgg(figure)
        self.draw(figure)
        file = BytesIO()
        figure.savefig(file, format="png", metadata={"Software": None})
        return file.getvalue()


@dataclass(frozen=True)
class Finding:
    """A sentence of the paper, or ours, that the results bear out or not.

    Attributes:
        sentence: what is claimed.
        holds: whether it does, with the margin that the sentence names.
        evidence: the numbers.
    """

    sentence: Words
    holds: bool
    evidence: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "holds", bool(self.holds))  # of NumPy's kind otherwise, which JSON does not know


@dataclass(frozen=True)
class Report:
    """What an experiment found.

    Attributes:
        name: of the experiment.
        title: of the page.
        paper: which paper it is about.
        introduction: what is done, on which data, with which settings.
        parts: tables and pictures in the order of the page.
        findings: what holds and what does not.
    """

    name: str
    title: Words
    paper: str
    introduction: tuple[Words, ...]
    parts: tuple[Table | Picture, ...]
    findings: tuple[Finding, ...]


def page_of(report: Report, language: str, folder: str = "", level: int = 1) -> str:
    """The Markdown page of a report.

    Args:
        report: what to tell.
        language: ``"en"`` or ``"ja"``.
        folder: where the page finds the files, such as ``"reproduction/zcdp/"``.
        level: of its heading.
    """
    marks = "#" * level
    lines = [f"{marks} {report.title.explain(language)}", "", f"*{report.paper}*", ""]
    for paragraph in report.introduction:
        lines += [paragraph.explain(language), ""]
    lines += [f"{marks}# {Words('Findings', '確かめられたこと').explain(language)}", ""]
    yes, no = Words("holds", "成立").explain(language), Words("**does not hold**", "**不成立**").explain(language)
    colon = Words(": ", "：").explain(language)
    for finding in report.findings:
        lines.append(
            f"- {yes if finding.holds else no}{colon}{finding.sentence.explain(language)} ({finding.evidence})"
        )
    lines.append("")
    for part in report.parts:
        lines += [f"{marks}# {part.title.explain(language)}", ""]
        lines += _table_lines(part, language, folder) if isinstance(part, Table) else [f"![]({folder}{part.name}.png)"]
        lines.append("")
        if part.note is not None:
            lines += [part.note.explain(language), ""]
    return "\n".join(lines)


def write_report(report: Report, folder: Path, language: str) -> list[Path]:
    """Write the page, the tables and the pictures into a folder; files of an earlier run are replaced.

    Returns:
        The files, the page first.

    Raises:
        OutputError: if the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise OutputError(
            f"The folder '{folder}' cannot be made: {failure.strerror}.",
            f"フォルダ「{folder}」を作れません: {failure.strerror}。",
        ) from None
    contents = {PAGE: page_of(report, language).encode()}
    for part in report.parts:
        if isinstance(part, Table):
            contents[f"{part.name}.csv"] = part.to_csv().encode()
        else:
            contents[f"{part.name}.png"] = part.to_png()
    for name, content in contents.items():
        with atomically(folder / name, replace=True) as temporary:
            temporary.write_bytes(content)
    return [folder / name for name in contents]


def _table_lines(table: Table, language: str, folder: str) -> list[str]:
    file = f"[{table.name}.csv]({folder}{table.name}.csv)"
    if not table.is_on_page:
        return [file]
    titles = [column.title.explain(language) for column in table.columns]
    lines = [_row(titles), "|" + "".join("---|" if _is_text(table, i) else "--:|" for i in range(len(titles)))]
    for row in table.rows:
        lines.append(_row([c.shown(value, language) for c, value in zip(table.columns, row, strict=True)]))
    return [*lines, "", file]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _is_text(table: Table, column: int) -> bool:
    return any(isinstance(row[column], str | Words) for row in table.rows)


def _significant(value: float, digits: int) -> str:
    """A number with so many significant digits, written out: 0.0319, 48.25, 1,234."""
    if value == 0 or not abs(value) < float("inf"):
        return f"{value:g}"
    rounded = float(f"{value:.{digits - 1}e}")
    decimals = max(digits - 1 - int(f"{rounded:e}".split("e")[1]), 0)
    return f"{rounded:,.{decimals}f}"
