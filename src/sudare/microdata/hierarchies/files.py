"""Hierarchies as files in ARX's form: one line for each value, with its group on every level up to the top.

::

    34;<50;*
    45;<50;*
    66;>=50;*

There is no header. Whatever would make the groups anything but a tree is refused with the file, line and column, because a group
that lies in two others makes results depend on the order of lines.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.errors import InputError, ParameterError
from sudare.io import complaints
from sudare.io.formats.text_files import AUTO, read_text
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.people_files import delimiter_in
from sudare.parameters import shown
from sudare.storage.atomic import atomically

__all__ = ["read_hierarchy", "write_hierarchy"]

USUAL_DELIMITER = ";"
DELIMITERS = (";", ",", "\t", "|")


def read_hierarchy(path: str | Path, name: str, *, encoding: str = AUTO) -> Generalization:
    r"""Read the hierarchy of a column.

    Args:
        path: the file; fields are separated by semicolons, commas, tabs or bars, whichever splits all lines alike.
        name: of the column.
        encoding: of the file; ``"auto"`` tells it from the file.

    Raises:
        InputError: if the file is empty or in another encoding, a line has more or fewer fields than the first, a value is there
            twice, a group has no name, or a group lies in two groups of the next level; it names file, line and column.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.microdata.hierarchies.files import read_hierarchy
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "age.csv"
        ...     _ = file.write_text("34;<50;*\n45;<50;*\n66;>=50;*\n")
        ...     read_hierarchy(file, "age").levels[1]
        ('<50', '>=50')
    """
    check_arguments(read_hierarchy, locals(), "encoding")
    if not isinstance(name, str):
        raise ParameterError("name", "read_hierarchy", Words("the name of a column", "列の名前"), shown(name))
    file = str(path)
    text = _text(file, encoding)
    lines = _lines(text, file)
    if not lines:
        raise InputError(
            f"The hierarchy file {Path(file).name!r} is empty. It needs one line for each value of {name!r}.",
            f"階層ファイル {Path(file).name!r} は空です。{name!r} の値ごとに一行が必要です。",
        )
    _check(lines, file)
    return Generalization.of_paths(name, [fields for _, fields in lines])


def _text(file: str, encoding: str) -> str:
    try:
        return read_text(file, encoding)
    except LookupError:
        requirement = Words(
            "an encoding that Python knows, such as 'utf-8' or 'cp932'", "'utf-8' や 'cp932' のような文字コード"
        )
        raise ParameterError("encoding", "read_hierarchy", requirement, shown(encoding)) from None


def _lines(text: str, file: str) -> list[tuple[int, list[str]]]:
    """The fields of each line that is not blank, with its number."""
    lines = list(io.StringIO(text, newline=""))
    try:
        splits = {len(fields) for fields in csv.reader(lines, delimiter=USUAL_DELIMITER) if fields}
    except csv.Error:
        splits = set()
    # Labels such as [20, 30) hold commas, so ARX's own delimiter goes first.
    is_usual = len(splits) == 1 and max(splits) > 1
    delimiter = USUAL_DELIMITER if is_usual else delimiter_in(lines, file)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    found = []
    try:
        for fields in reader:
            if fields:
                found.append((reader.line_num, fields))
    except csv.Error:
        raise complaints.wrong_fields(complaints.Spot(file, reader.line_num)) from None
    return found


def _check(lines: list[tuple[int, list[str]]], file: str) -> None:
    first_line, first = lines[0]
    known: dict[str, int] = {}
    parents: list[dict[str, tuple[str, int]]] = [{} for _ in first]
    for line, fields in lines:
        if len(fields) != len(first):
            raise _wrong(
                file,
                line,
                min(len(fields), len(first)) + 1,
                f"the line has {len(fields)} fields, and line {first_line} has {len(first)}; every value needs its group on "
                "every level",
                f"この行は {len(fields)} 項目、{first_line} 行目は {len(first)} 項目です。どの値にも全ての段階の区分が必要です",
            )
        if fields[0] in known:
            raise _wrong(
                file,
                line,
                1,
                f"the value {fields[0]!r:.60} is in line {known[fields[0]]} already",
                f"値 {fields[0]!r:.60} は {known[fields[0]]} 行目にもあります",
            )
        known[fields[0]] = line
        for level, group in enumerate(fields[1:], start=1):
            if not group.strip():
                raise _wrong(file, line, level + 1, "the group has no name", "区分の名前がありません")
            if level == 1:
                continue
            finer = fields[level - 1]
            parent, before = parents[level].setdefault(finer, (group, line))
            if parent != group:
                raise _wrong(
                    file,
                    line,
                    level + 1,
                    f"{finer!r:.60} is in {group!r:.60} here, and in {parent!r:.60} in line {before}; a group can be in one "
                    "group of the next level only",
                    f"{finer!r:.60} はここでは {group!r:.60} に、{before} 行目では {parent!r:.60} に属しています。"
                    "上の段階の一つの区分にしか属せません",
                )


def _wrong(file: str, line: int, column: int, reason: str, reason_ja: str) -> InputError:
    return InputError(
        f"The hierarchy file {Path(file).name!r} has a mistake in line {line}, column {column}: {reason}.",
        f"階層ファイル {Path(file).name!r} の {line} 行 {column} 列目に誤りがあります: {reason_ja}。",
    )


def write_hierarchy(
    path: str | Path, generalization: Generalization, *, delimiter: str = USUAL_DELIMITER, replace: bool = False
) -> None:
    r"""Write a hierarchy in ARX's form, in UTF-8, whole or not at all.

    Args:
        path: of the file.
        generalization: to write.
        delimiter: between the fields.
        replace: whether a file that is there is replaced.

    Raises:
        OutputError: if the file exists, or it cannot be written.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.microdata.hierarchies.hierarchy import Generalization
        >>> from sudare.microdata.hierarchies.files import write_hierarchy
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sex = Generalization.of_paths("sex", [("f", "*"), ("m", "*")])
        ...     write_hierarchy(Path(folder) / "sex.csv", sex)
        ...     (Path(folder) / "sex.csv").read_text().split()
        ['f;*', 'm;*']
    """
    check_arguments(write_hierarchy, locals(), "path", "generalization", "delimiter", "replace")
    if delimiter not in DELIMITERS:
        raise ParameterError(
            "delimiter", "write_hierarchy", Words("one of ; , tab |", "; , タブ | のいずれか"), shown(delimiter)
        )
    with (
        atomically(path, replace=replace) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as stream,
    ):
        csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerows(generalization.paths())
