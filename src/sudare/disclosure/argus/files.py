"""Files of tau-ARGUS: records (.asc), tables (.tab), judgements beforehand (.hst), and tables with status codes.

Anyone who has its files can use them here unchanged, and hand the result on to programs that read its output.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sudare.border.signatures import check_arguments
from sudare.disclosure.argus.metadata import (
    ArgusMetadata,
    Variable,
    dimension_of,
    read_argus_hierarchy,
    read_argus_metadata,
    read_lines,
)
from sudare.disclosure.cell_table import MAX_DECIMALS, Contributions, aggregate, scaled
from sudare.disclosure.status import CellStatus, PrimaryCells
from sudare.disclosure.structure import CellTable, TableSystem
from sudare.errors import InputError, ParameterError
from sudare.io import atomically

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = [
    "ArgusMetadata",
    "Variable",
    "dimension_of",
    "read_apriori",
    "read_argus_hierarchy",
    "read_argus_metadata",
    "read_records",
    "read_table",
    "status_lines",
    "table_of_records",
    "write_status_table",
]

APRIORI = {
    "s": CellStatus.SAFE_MANUAL,
    "u": CellStatus.UNSAFE_MANUAL,
    "p": CellStatus.PROTECTED,
    "m": CellStatus.SECONDARY_MANUAL,
    "ml": CellStatus.SECONDARY,
}
"""What a line of an a priori file makes of a cell."""

LEFT_TO_OTHERS = ("c", "w", "ab")
"""Lines of an a priori file about costs."""


def read_records(path: str | Path, metadata: ArgusMetadata) -> dict[str, list[str]]:
    """Read a file of records into columns of texts, blanks around them removed.

    Args:
        path: of the file.
        metadata: what it says of the columns.

    Raises:
        InputError: if a line is too short or has the wrong number of fields.
    """
    columns: dict[str, list[str]] = {one.name: [] for one in metadata.variables}
    if metadata.separator is not None:
        for number, row in _rows(path, metadata.separator):
            if not row:
                continue
            if len(row) != len(metadata.variables):
                raise _wrong_line(path, number)
            for one, field in zip(metadata.variables, row, strict=True):
                columns[one.name].append(field.strip())
        return columns
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        for one in metadata.variables:
            if one.start is None or one.length is None:
                raise InputError(
                    f"The variable '{one.name}' has no columns. Write its first column and its length after the name.",
                    f"変数「{one.name}」の桁位置がありません。名前の後に開始桁と長さを書いてください。",
                )
            if len(line) <= one.start:
                raise _wrong_line(path, number)
            columns[one.name].append(line[one.start : one.start + one.length].strip())
    return columns


def table_of_records(
    path: str | Path,
    metadata: ArgusMetadata,
    spanning: Sequence[str],
    response: str | None,
    *,
    holdings: bool = False,
    weights: bool = False,
    largest: int = 3,
    repeated: bool = False,
) -> CellTable:
    """The table that tau-ARGUS would make of a file of records.

    Args:
        path: of the records.
        metadata: that describes them.
        spanning: names of the spanning variables.
        response: name of the magnitude; None for a table of counts.
        holdings: whether the variable marked <HOLDING> says who contributes.
        weights: whether the variable marked <WEIGHT> weighs the records.
        largest: how many of the largest contributions to keep.
        repeated: see `read_argus_hierarchy`.
    """
    columns = read_records(path, metadata)
    names = [metadata.variable(name).name for name in spanning]
    dimensions = [dimension_of(metadata, name, set(columns[name]), repeated=repeated) for name in names]
    values, decimals = None, 0
    if response is not None:
        magnitude = metadata.variable(response)
        values, decimals = _numbers(columns[magnitude.name], magnitude)
    holder, weight, request = (metadata.of_kind(kind) for kind in ("HOLDING", "WEIGHT", "REQUEST"))
    for wanted, found, mark in ((holdings, holder, "HOLDING"), (weights, weight, "WEIGHT")):
        if wanted and found is None:
            raise InputError(f"No variable is marked <{mark}>.", f"<{mark}> の変数がありません。")
    weighing, weight_decimals = None, 0
    if weights and weight is not None:
        weighing, weight_decimals = _numbers(columns[weight.name], weight)
    asked = None
    if request is not None:
        asked = np.isin(np.array(columns[request.name]), list(request.requests))
    contributions = Contributions(
        values,
        decimals,
        holdings=np.array(columns[holder.name]) if holdings and holder is not None else None,
        weights=weighing,
        weight_decimals=weight_decimals,
        requests=asked,
    )
    return aggregate(dimensions, {name: columns[name] for name in names}, contributions, largest=largest)


def read_table(
    path: str | Path, metadata: ArgusMetadata, spanning: Sequence[str], response: str, *, range_percent: int = 20
) -> tuple[CellTable, PrimaryCells]:
    """Read a .tab file: one line for each cell, with value, contributors, largest contributions and status as far as given.

    Cells that the file leaves out are empty. Where contributors are not given, a cell with a line has one or more: its count
    is 1 where the value is above 0.

    Args:
        path: of the file.
        metadata: that describes it.
        spanning: names of the spanning variables.
        response: name of the magnitude.
        range_percent: protection level of unsafe cells for which the file gives none, in percent of their value; at least
            one unit.

    Raises:
        InputError: for unknown or repeated cells, wrong numbers, or a table that does not add up.
    """
    columns = read_records(path, metadata)
    names = [metadata.variable(name).name for name in spanning]
    dimensions = [dimension_of(metadata, name, set(columns[name])) for name in names]
    system = TableSystem.of_dimensions(dimensions)
    rows = len(columns[names[0]])
    cells = np.zeros(rows, dtype=np.int64)
    for dimension in dimensions:
        cells = cells * len(dimension) + np.array([dimension.position[code] for code in columns[dimension.name]])
    if np.unique(cells).size != rows:
        raise InputError(
            f"'{Path(path).name}' has two lines for the same cell.",
            f"'{Path(path).name}' に同じセルの行が二つあります。",
        )
    magnitude = metadata.variable(response)
    tops = [one for one in metadata.variables if "MAXSCORE" in one.kinds]
    decimals = max([magnitude.decimals, *(_digits(columns[one.name]) for one in (magnitude, *tops))])

    def spread(numbers: Integers, width: int = 1) -> Integers:
        full = np.zeros((system.size, width), dtype=np.int64)
        full[cells] = numbers.reshape(rows, width)
        return full if width > 1 else full[:, 0]

    def units(variable: Variable) -> Integers:
        return scaled([_point(text) for text in columns[variable.name]], decimals, variable.name)

    values = units(magnitude)
    frequency = metadata.of_kind("FREQUENCY")
    if frequency is not None:
        counts = scaled([_point(text) for text in columns[frequency.name]], 0, frequency.name)
    else:
        counts = (values > 0).astype(np.int64)
    width = max(2, len(tops))
    largest = np.zeros((rows, width), dtype=np.int64)
    for rank, variable in enumerate(tops):
        largest[:, rank] = units(variable)
    table = CellTable(system, spread(values), spread(counts), spread(largest, width), decimals, largest_known=len(tops))
    system.check(table.values)
    status = np.where(table.empty, CellStatus.EMPTY, CellStatus.SAFE).astype(np.int64)
    marked = metadata.of_kind("STATUS")
    if marked is not None:
        status[cells] = [_status(text, metadata, path, row) for row, text in enumerate(columns[marked.name], start=1)]
        status[table.empty & (status == CellStatus.SAFE)] = CellStatus.EMPTY
    unsafe = (status >= CellStatus.UNSAFE_RULE) & (status <= CellStatus.UNSAFE_MANUAL)
    levels = []
    for kind in ("LOWERPL", "UPPERPL"):
        given = metadata.of_kind(kind)
        level = np.zeros(system.size, dtype=np.int64)
        if given is not None:
            finest = max(decimals, _digits(columns[given.name]))
            exact = scaled([_point(text) for text in columns[given.name]], finest, given.name)
            level[cells] = -(-exact // 10 ** (finest - decimals))
            if (level < 0).any():
                row = int(np.flatnonzero(level[cells] < 0)[0]) + 1
                raise _negative_level(path, row)
        levels.append(np.where(unsafe, level, 0))
    lower, upper = levels
    bare = unsafe & (lower == 0) & (upper == 0)
    for cell in np.flatnonzero(bare).tolist():
        lower[cell], upper[cell] = _default_levels(table, cell, range_percent)
    return table, PrimaryCells(status, lower, upper, np.zeros(system.size, dtype=np.int64))


def read_apriori(
    path: str | Path, table: CellTable, cells: PrimaryCells, *, separator: str = ",", range_percent: int = 20
) -> PrimaryCells:
    """Apply an a priori file (.hst): for each of its lines the codes of a cell, then what it is to be.

    ``s`` safe, ``u`` unsafe, ``p`` must be published, ``m`` and ``ml`` hidden to protect others; ``pl`` gives the lower and
    the upper protection level of an unsafe cell. A total is an empty code. Lines about costs are left to others.

    Args:
        path: of the file.
        table: of one table.
        cells: what the rules said.
        separator: between the fields.
        range_percent: protection level of cells made unsafe here, in percent of their value.

    Raises:
        InputError: with the line that has an unknown code or status, or too few fields.
    """
    dimensions = table.system.tables[0].dimensions
    status, lower, upper = cells.status.copy(), cells.lower.copy(), cells.upper.copy()
    for number, row in _rows(path, separator):
        fields = [field.strip() for field in row]
        if not any(fields):
            continue
        codes, rest = fields[: len(dimensions)], fields[len(dimensions) :]
        if not rest:
            raise _too_short(path, number, len(dimensions))
        for code, one in zip(codes, dimensions, strict=True):
            if code and code not in one.position:
                raise InputError(
                    f"Line {number} of '{Path(path).name}': '{code}' is not a code of '{one.name}'. Codes stand in the order of "
                    "the table's variables; an empty one is the total.",
                    f"'{Path(path).name}' の {number} 行目: 「{code}」は「{one.name}」のコードではありません。"
                    "コードは表の変数の順に書き、総数は空にしてください。",
                )
        places = tuple(one.position[code] if code else 0 for code, one in zip(codes, dimensions, strict=True))
        cell = int(table.system.tables[0].cells[places])
        word = rest[0].lower()
        if word in APRIORI:
            level = _default_levels(table, cell, range_percent)
            _judge(status, lower, upper, cell, APRIORI[word], level)
        elif word == "pl" and len(rest) == 3:
            if CellStatus(int(status[cell])).is_primary:
                levels = scaled([_point(text) for text in rest[1:]], table.decimals, Path(path).name)
                if (levels < 0).any():
                    raise _negative_level(path, number)
                lower[cell], upper[cell] = levels
        elif word == "pl":
            raise InputError(
                f"Line {number} of '{Path(path).name}': 'pl' needs two numbers after it, the lower and the upper level.",
                f"'{Path(path).name}' の {number} 行目: 'pl' の後に下側と上側の保護水準の二つの数が必要です。",
            )
        elif word not in LEFT_TO_OTHERS:
            known = ", ".join((*APRIORI, "pl", *LEFT_TO_OTHERS))
            raise InputError(
                f"Line {number} of '{Path(path).name}': '{rest[0]}' is not a status. Use one of: {known}.",
                f"'{Path(path).name}' の {number} 行目: 「{rest[0]}」はステータスではありません。使えるのは {known} です。",
            )
    return PrimaryCells(status, lower, upper, cells.sliding, cells.judgements)


def _default_levels(table: CellTable, cell: int, percent: int) -> tuple[int, int]:
    """Protection levels of a cell without any of its own; below only as far as everybody thinks possible."""
    value = int(table.values[cell])
    level = max(1, -(-value * percent // 100))
    return min(level, max(0, value - int(table.least[cell]))), level


def _judge(
    status: Integers, lower: Integers, upper: Integers, cell: int, wanted: CellStatus, levels: tuple[int, int]
) -> None:
    """Set the status of a cell; one that a rule finds unsafe already keeps its rule, and an empty one stays empty."""
    before = CellStatus(int(status[cell]))
    if before in (CellStatus.EMPTY, CellStatus.ZERO) or (wanted == CellStatus.UNSAFE_MANUAL and before.is_primary):
        return
    if wanted == CellStatus.SAFE_MANUAL and before == CellStatus.SAFE:
        return
    status[cell] = wanted
    lower[cell], upper[cell] = levels if wanted == CellStatus.UNSAFE_MANUAL else (0, 0)


def status_lines(
    table: CellTable, status: Integers, *, safe: bool = True, widths: Mapping[str, int] | None = None
) -> list[str]:
    """A table with status codes, as tau-ARGUS writes it: codes, value and status of every cell, separated by commas.

    Args:
        table: of one table, not linked ones.
        status: a `CellStatus` for each cell.
        safe: write ``x`` for the values that must not be published; False is for files that stay in the house.
        widths: fill the codes of a dimension with blanks up to this many characters, as fixed columns do.

    Example:
        >>> from sudare.disclosure.structure import Dimension
        >>> system = TableSystem.of_dimensions([Dimension.flat("area", ["a", "b"])])
        >>> table = CellTable(system, np.array([12, 5, 7]), np.array([3, 1, 2]), np.array([[5, 4], [5, 0], [4, 3]]))
        >>> status_lines(table, np.array([1, 5, 11]))
        ['"Total",12,1', '"a",x,5', '"b",x,11']
    """
    check_arguments(status_lines, locals(), "table", "status", "safe", "widths")
    if len(table.system.tables) != 1 or status.shape != table.values.shape:
        raise ParameterError("status", "status_lines", "one status for each cell of one table", status.shape)
    filled = widths or {}
    written = [
        [_quoted(code.rjust(filled.get(one.name, 0)) if place else code) for place, code in enumerate(one.codes)]
        for one in table.system.tables[0].dimensions
    ]
    lines = []
    for cell, key in enumerate(table.system.keys.tolist()):
        kind = CellStatus(int(status[cell]))
        if kind in (CellStatus.EMPTY, CellStatus.ZERO):
            value = "-"
        elif safe and kind.is_hidden:
            value = "x"
        else:
            value = f"{Decimal(int(table.values[cell])).scaleb(-table.decimals):.{table.decimals}f}"
        codes = [written[axis][place] for axis, place in enumerate(key)]
        lines.append(",".join([*codes, value, str(int(kind))]))
    return lines


def write_status_table(
    path: str | Path, table: CellTable, status: Integers, *, safe: bool = True, widths: Mapping[str, int] | None = None
) -> None:
    """Write a table with status codes to a new file; see `status_lines`.

    Args:
        path: of the file.
        table: its cells.
        status: of each cell.
        safe: whether safe cells are written, too.
        widths: of the columns; None to separate fields.

    Raises:
        OutputError: if the file exists, or cannot be written.
    """
    text = "".join(f"{line}\r\n" for line in status_lines(table, status, safe=safe, widths=widths))
    with atomically(path) as temporary:
        temporary.write_bytes(text.encode())


def _quoted(code: str) -> str:
    """A code in quotes; quotes within are doubled."""
    doubled = code.replace('"', '""')
    return f'"{doubled}"'


def _rows(path: str | Path, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The fields of every line, with its number."""
    reader = csv.reader(read_lines(path), delimiter=separator, skipinitialspace=True)
    try:
        yield from enumerate(reader, start=1)
    except csv.Error:
        raise _wrong_line(path, reader.line_num) from None


def _point(text: str) -> str:
    """A number with a decimal point, whichever of comma and point it was written with; ``-`` is nothing."""
    stripped = text.strip().replace(",", ".")
    return "0" if stripped == "-" else stripped


def _digits(texts: Iterable[str]) -> int:
    return min(MAX_DECIMALS, max((len(_point(text).partition(".")[2].rstrip("0")) for text in texts), default=0))


def _numbers(texts: Sequence[str], variable: Variable) -> tuple[Integers, int]:
    decimals = max(variable.decimals, _digits(texts))
    return scaled([_point(text) for text in texts], decimals, variable.name), decimals


def _status(text: str, metadata: ArgusMetadata, path: str | Path, row: int) -> int:
    for word, status in metadata.words:
        if text.strip().lower() == word.lower():
            return int(status)
    if re.fullmatch("[0-9]{1,2}", text.strip()) and 1 <= int(text) <= int(CellStatus.EMPTY):
        return int(text)
    allowed = ", ".join(word for word, _ in metadata.words)
    raise InputError(
        f"Line {row} of '{Path(path).name}' has a status that is not one of {allowed} or a number from 1 to 14.",
        f"'{Path(path).name}' の {row} 行目のステータスが {allowed} でも 1 から 14 の数でもありません。",
    )


def _negative_level(path: str | Path, number: int) -> InputError:
    return InputError(
        f"Line {number} of '{Path(path).name}' has a protection level below 0. Levels are 0 or more.",
        f"'{Path(path).name}' の {number} 行目の保護水準が負です。0 以上にしてください。",
    )


def _too_short(path: str | Path, number: int, variables: int) -> InputError:
    return InputError(
        f"Line {number} of '{Path(path).name}' is too short: it needs {variables} codes, one for each variable of the table, "
        "and a status.",
        f"'{Path(path).name}' の {number} 行目の項目が足りません。"
        f"表の変数ごとに一つ、計 {variables} 個のコードとステータスが必要です。",
    )


def _wrong_line(path: str | Path, number: int) -> InputError:
    return InputError(
        f"Line {number} of '{Path(path).name}' does not have the fields that the metadata announces.",
        f"'{Path(path).name}' の {number} 行目の項目がメタデータと合いません。",
    )
