"""From records to cells: totals, contributors and the largest contributions of every cell of a hierarchical table.

A record contributes to the cell of its codes and to every cell above it. One pass for each combination of levels, each
a stable sort, so that ties are always broken by the order of the records. All sums are of whole numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.disclosure.frames_in import read_columns, read_dimensions
from sudare.disclosure.structure import CellTable, Dimension, TableSystem
from sudare.errors import InputError, ParameterError
from sudare.parameters import exact_integer, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = ["MAX_DECIMALS", "Contributions", "aggregate", "fault_of_number", "positions_of", "scaled"]

MAX_TOTAL = 2**62
MAX_DECIMALS = 15
MAX_DIGITS = 1_000
SEPARATORS = str.maketrans("", "", ",，、'’_ \u00a0\u202f\u3000")
"""What people put between the digits of a long number."""


@dataclass(frozen=True, eq=False)
class Contributions:
    """The magnitudes of records, with what the rules need to know about who they come from.

    Args:
        values: whole numbers, in units of ``10 ** -decimals``; see `scaled`. None for a table of counts.
        decimals: digits after the point of the values.
        holdings: number or name of the holding that each record belongs to; None if records are protected one by one.
        weights: sampling weights, in units of ``10 ** -weight_decimals``; None without.
        weight_decimals: digits after the point of the weights.
        requests: which records asked for protection; None if nobody was asked.

    Example:
        >>> Contributions(scaled(["1.50", "2.25"], 2), decimals=2).values.tolist()
        [150, 225]
    """

    values: Integers | None = None
    decimals: int = 0
    holdings: NDArray[Any] | Sequence[Any] | None = None
    weights: Integers | None = None
    weight_decimals: int = 0
    requests: NDArray[np.bool_] | None = None


def scaled(numbers: Sequence[Any] | NDArray[Any], decimals: int, name: str = "values") -> Integers:
    """Numbers as whole numbers of units, exactly; a number with more digits is refused, not rounded.

    Floats are read as the shortest decimal that prints the same.

    Args:
        numbers: integers, decimals, texts or floats.
        decimals: digits after the point to keep.
        name: of the column, for the error.

    Example:
        >>> scaled(["1.5", "12"], 2).tolist(), scaled(np.array([0.1, 0.29]), 2).tolist()
        ([150, 1200], [10, 29])
    """
    check_arguments(scaled, locals(), "numbers")
    digits = exact_integer(
        decimals,
        "decimals",
        "scaled",
        Words(f"from 0 to {MAX_DECIMALS}", f"0 以上 {MAX_DECIMALS} 以下"),
        smallest=0,
        largest=MAX_DECIMALS,
    )
    array = np.asarray(numbers)
    unit = 10**digits
    if array.dtype.kind in "iu":
        wide = array.astype(object) * unit
        whole: list[int | None] = [int(one) if abs(one) < MAX_TOTAL else None for one in wide.tolist()]
    elif array.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            near = np.rint(array.astype(np.float64) * unit)
            exact = np.isfinite(near) & (np.abs(near) < 2**53) & (near / unit == array)
        if exact.all():
            return np.asarray(near, dtype=np.int64)
        whole = [_whole(one, unit) for one in array.tolist()]
    else:
        whole = [_whole(one, unit) for one in array.tolist()]
    if None in whole:
        place = whole.index(None)
        fault = fault_of_number(array[place], digits)
        raise InputError(
            f"The column '{name}' holds something in row {place + 1} that {fault.english}",
            f"列「{name}」の {place + 1} 行目は{fault.japanese}",
        )
    return np.array(whole, dtype=np.int64)


def fault_of_number(value: object, decimals: int) -> Words:
    """What is wrong with a number that `scaled` refuses, and how to mend it; the message does not name the value.

    Args:
        value: the number or text.
        decimals: digits after the point that are kept.

    Returns:
        The end of a sentence, which begins "The column holds something in row 3 that ...", or 「列の 3 行目は」.

    Example:
        >>> fault_of_number("31,337", 0).english
        'has separators between its digits. Write digits only, and a point before decimals.'
    """
    text = str(value).strip()
    if not text:
        return Words("is empty. Fill in a number.", "空です。数を入れてください。")
    number = _finite(text)
    if number is None:
        if _finite(text.translate(SEPARATORS)) is not None:
            return Words(
                "has separators between its digits. Write digits only, and a point before decimals.",
                "桁区切りのある数です。区切りを除き、小数点にはピリオドを使ってください。",
            )
        return Words("is not a number. Mend the row.", "数ではありません。行を直してください。")
    if number.adjusted() > MAX_DIGITS or abs(number.scaleb(decimals)) >= MAX_TOTAL:
        return Words(
            f"is too large to be computed exactly with {decimals} decimals. Use larger units, or fewer decimals.",
            f"大きすぎて、小数点以下 {decimals} 桁では正確に計算できません。単位を大きくするか、桁数を減らしてください。",
        )
    return Words(
        f"has more than {decimals} decimals. Mend the row, or allow more decimals.",
        f"小数点以下が {decimals} 桁を超えています。行を直すか、桁数を増やしてください。",
    )


def _finite(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except ArithmeticError:
        return None
    return number if number.is_finite() else None


def _whole(value: object, unit: int) -> int | None:
    try:
        decimal = Decimal(str(value).strip())
        if not decimal:
            return 0
        # A huge exponent would make a fraction of as many digits.
        exponent = decimal.as_tuple().exponent
        if not isinstance(exponent, int) or exponent < -MAX_DIGITS or decimal.adjusted() > MAX_DIGITS:
            return None
        number = Fraction(decimal) * unit
    except (ArithmeticError, ValueError, OverflowError):
        return None
    return int(number) if number.denominator == 1 and abs(number) < MAX_TOTAL else None


def positions_of(dimension: Dimension, codes: Sequence[Any] | NDArray[Any]) -> Integers:
    """The place of each record's code in a dimension.

    Raises:
        InputError: for a code that the dimension does not have, or that has parts: records need the finest codes.

    Example:
        >>> positions_of(Dimension.flat("sex", ["f", "m"]), ["m", "f"]).tolist()
        [2, 1]
    """
    column = np.asarray(codes, dtype=object) if not isinstance(codes, np.ndarray) else codes
    distinct, places = np.unique(column.astype(str), return_inverse=True)
    found = np.array([dimension.position.get(code, -1) for code in distinct.tolist()], dtype=np.int64)
    leaves = np.zeros(len(dimension), dtype=np.bool_)
    leaves[list(dimension.leaves)] = True
    for wrong, english, japanese in (
        (found < 0, "is not in the hierarchy", "は階層にありません"),
        (
            (found >= 0) & ~leaves[found],
            "has parts in the hierarchy; records need the finest codes",
            "には下位のコードがあります",
        ),
    ):
        if wrong.any():
            row = int(np.flatnonzero(wrong[places])[0])
            code = str(column[row])
            raise InputError(
                f"The code {code!r} of '{dimension.name}' in row {row + 1} {english}. Mend the row or the hierarchy.",
                f"{row + 1} 行目の「{dimension.name}」のコード {code!r} {japanese}。行または階層を直してください。",
            )
    return found[places].reshape(-1)


def aggregate(
    dimensions: Sequence[Dimension | str] | Dimension | str,
    codes: Mapping[str, Sequence[Any] | NDArray[Any]] | Any,
    contributions: Contributions | None = None,
    *,
    value: str | None = None,
    decimals: int = 0,
    holding: str | None = None,
    largest: int = 3,
) -> CellTable:
    """The table of all combinations of codes, from records.

    Contributors are holdings if they are given, records otherwise. A holding's contributions to a cell are added up before
    they are ranked. With weights, the value of a cell is the weighted total, and the largest contributions keep their own
    values beside their weights.

    Args:
        dimensions: the spanning variables; the name of a column for one without levels, of the codes that are in it.
        codes: the column of each dimension, by its name: a frame of pandas, polars or pyarrow, or a mapping.
        contributions: what the records add to the cells; left out, the records are counted, or ``value`` says it.
        value: in place of contributions, the column of magnitudes.
        decimals: digits after the point of the magnitudes.
        holding: in place of contributions, the column that says which holding a record belongs to.
        largest: how many of the largest contributions to keep.

    Raises:
        ParameterError: if an argument is not of its kind.
        InputError: for unknown codes, negative magnitudes or weights, or totals too large to be exact.

    Example:
        >>> sex = Dimension.flat("sex", ["f", "m"])
        >>> table = aggregate([sex], {"sex": ["f", "m", "f"]}, Contributions(np.array([5, 7, 1])))
        >>> table.values.tolist(), table.counts.tolist(), table.largest.tolist()
        ([13, 6, 7], [3, 2, 1], [[7, 5, 1], [5, 1, 0], [7, 0, 0]])
        >>> aggregate("sex", {"sex": ["f", "m", "f"], "sales": ["5", "7", "1"]}, value="sales").values.tolist()
        [13, 6, 7]
    """
    columns = read_columns(codes, "codes", "aggregate")
    read = read_dimensions(dimensions, columns, "aggregate")
    given = _read_contributions(contributions, columns, value, decimals, holding)
    keep = exact_integer(
        largest, "largest", "aggregate", Words("from 2 to 100", "2 以上 100 以下"), smallest=2, largest=100
    )
    return _aggregate(read, columns, given, keep)


def _aggregate(
    dimensions: tuple[Dimension, ...], codes: Mapping[str, Any], contributions: Contributions, keep: int
) -> CellTable:
    system = TableSystem.of_dimensions(dimensions)
    missing = [one.name for one in dimensions if one.name not in codes]
    if missing:
        raise ParameterError("codes", "aggregate", f"columns with {missing[0]!r} among them", sorted(codes))
    places = [positions_of(one, codes[one.name]) for one in dimensions]
    records = places[0].size
    values = np.ones(records, dtype=np.int64) if contributions.values is None else contributions.values
    weights = contributions.weights
    holdings = None
    if contributions.holdings is not None:
        if weights is not None:
            raise ParameterError(
                "contributions", "aggregate", "with holdings or with weights, not both", "both",
                "A holding's records would have to carry one weight.",
            )  # fmt: skip
        holdings = np.unique(np.asarray(contributions.holdings), return_inverse=True)[1].reshape(-1)
    _check(records, [*places, values, *(one for one in (weights, holdings, contributions.requests) if one is not None)])
    scale = 10**contributions.weight_decimals if weights is not None else 1
    _check_numbers(values, weights, scale)

    requests = contributions.requests
    if requests is None:
        requests = np.zeros(records, dtype=np.bool_)
    size = system.size
    totals, counts, weighted = (np.zeros(size, dtype=np.int64) for _ in range(3))
    top, top_weights = (np.zeros((size, keep), dtype=np.int64) for _ in range(2))
    owners = np.full((size, keep), -1, dtype=np.int64)
    asked = np.zeros((size, keep), dtype=np.bool_)
    who = np.arange(records) if holdings is None else holdings
    for levels in product(*(range(max(one.depth) + 1) for one in dimensions)):
        cells, present = _cells_at(dimensions, places, levels)
        cell, unit, value, request = cells[present], who[present], values[present], requests[present]
        weight = None if weights is None else weights[present]
        np.add.at(totals, cell, value if weight is None else value * weight)
        if weight is not None:
            np.add.at(weighted, cell, weight)
        if holdings is not None:
            cell, unit, value, request = _add_up(cell, unit, value, request)
        np.add.at(counts, cell, 1)
        order = np.lexsort((unit, -value, cell))
        sorted_cells = cell[order]
        rank = np.arange(order.size) - np.searchsorted(sorted_cells, sorted_cells)
        kept = rank < keep
        where = (sorted_cells[kept], rank[kept])
        top[where], owners[where], asked[where] = (part[order][kept] for part in (value, unit, request))
        if weight is not None:
            top_weights[where] = weight[order][kept]
    return CellTable(
        system,
        totals,
        counts,
        top * scale,
        contributions.decimals + (contributions.weight_decimals if weights is not None else 0),
        weights=None if weights is None else top_weights,
        weight_decimals=contributions.weight_decimals,
        weighted_counts=None if weights is None else weighted,
        owners=owners,
        requests=None if contributions.requests is None else asked,
        frequencies=contributions.values is None and weights is None,
    )


def _read_contributions(
    contributions: object, columns: Mapping[str, Any], value: str | None, decimals: int, holding: str | None
) -> Contributions:
    if contributions is not None:
        if not isinstance(contributions, Contributions):
            raise ParameterError("contributions", "aggregate", "Contributions, or left out", shown(contributions))
        for name, given in (("value", value), ("holding", holding)):
            if given is not None:
                raise ParameterError(name, "aggregate", "left out where contributions are given", shown(given))
        return contributions
    for name, column in (("value", value), ("holding", holding)):
        if column is not None and (not isinstance(column, str) or column not in columns):
            raise ParameterError(name, "aggregate", f"a column among {sorted(columns)}", shown(column))
    return Contributions(
        None if value is None else scaled(columns[value], decimals, value),
        decimals if value is not None else 0,
        holdings=None if holding is None else columns[holding],
    )


def _check(records: int, columns: Sequence[NDArray[Any]]) -> None:
    if any(len(one) != records for one in columns):
        raise InputError(
            "The columns of the records have different lengths. Give one entry for each record in every column.",
            "列の長さが揃っていません。すべての列に、レコードごとに一つの値を入れてください。",
        )


def _check_numbers(values: Integers, weights: Integers | None, scale: int) -> None:
    if (values < 0).any():
        row = int(np.flatnonzero(values < 0)[0]) + 1
        raise InputError(
            f"The magnitude in row {row} is negative. The rules are for magnitudes from 0 on: "
            "split the variable into gains and losses, or shift it.",
            f"{row} 行目の数量が負です。規則は 0 以上の数量のためのものです。増減を二つの変数に分けてください。",
        )
    if weights is not None and (weights < 0).any():
        row = int(np.flatnonzero(weights < 0)[0]) + 1
        raise InputError(
            f"The weight in row {row} is negative. A weight says how many a record stands for, 0 or more: mend the row.",
            f"{row} 行目のウェイトが負です。ウェイトはレコードが代表する数で、0 以上です。行を直してください。",
        )
    if values.size and int(values.max()) * scale >= MAX_TOTAL:
        raise InputError(
            "A magnitude is too large to be computed exactly with the decimals of the weights. Use fewer decimals.",
            "ウェイトの小数点以下の桁数では、数量が大きすぎて正確に計算できません。桁数を減らしてください。",
        )
    heaviest = 1 if weights is None or not weights.size else int(weights.max())
    if values.size and int(values.max()) * heaviest * values.size >= MAX_TOTAL:
        exact = (
            int(sum(map(int, values)))
            if weights is None
            else int(np.dot(values.astype(object), weights.astype(object)))
        )
        if exact >= MAX_TOTAL:
            raise InputError(
                "The total of all magnitudes is too large to be computed exactly. Use fewer decimals.",
                "数量の合計が大きすぎて正確に計算できません。小数点以下の桁数を減らしてください。",
            )


def _cells_at(
    dimensions: Sequence[Dimension], places: Sequence[Integers], levels: tuple[int, ...]
) -> tuple[Integers, NDArray[np.bool_]]:
    """The cell above each record at given depths, and which records have one."""
    cells = np.zeros(places[0].size, dtype=np.int64)
    present = np.ones(places[0].size, dtype=np.bool_)
    for dimension, column, level in zip(dimensions, places, levels, strict=True):
        above = np.array([_ancestor(dimension, code, level) for code in range(len(dimension))], dtype=np.int64)
        codes = above[column]
        present &= codes >= 0
        cells = cells * len(dimension) + codes
    return cells, present


def _ancestor(dimension: Dimension, code: int, level: int) -> int:
    while dimension.depth[code] > level:
        code = dimension.parents[code]
    return code if dimension.depth[code] == level else -1


def _add_up(
    cells: Integers, units: Integers, values: Integers, requests: NDArray[np.bool_]
) -> tuple[Integers, Integers, Integers, NDArray[np.bool_]]:
    """One entry for each unit in each cell."""
    order = np.lexsort((units, cells))
    cell, unit = cells[order], units[order]
    if not cell.size:
        return cell, unit, values, requests
    starts = np.flatnonzero(np.r_[True, (np.diff(cell) != 0) | (np.diff(unit) != 0)])
    return (
        cell[starts],
        unit[starts],
        np.add.reduceat(values[order], starts),
        np.logical_or.reduceat(requests[order], starts),
    )
