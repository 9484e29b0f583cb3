"""Linked tables: tables about the same units that share cells, put together so that they can be protected together.

Tables that are each safe alone can be unsafe together, because the shared cells carry what one table tells into the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.border.frames import is_frame
from sudare.border.signatures import check_arguments
from sudare.disclosure.cell_table import Contributions, aggregate
from sudare.disclosure.frames_in import read_columns, read_dimensions
from sudare.disclosure.structure import CellTable, Dimension
from sudare.errors import Described, InputError, ParameterError
from sudare.parameters import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = ["aggregate_linked", "cells_of", "link_tables"]


def link_tables(first: CellTable, second: CellTable, pairs: Iterable[tuple[int, int]] = ()) -> CellTable:
    """Two tables as one. Cells of the same name are one cell, and so are the pairs; the rules then judge all of them.

    Args:
        first: its cells keep their numbers.
        second: made from the same records, so that contributors have the same numbers.
        pairs: cells that are the same under different names: here, there.

    Raises:
        InputError: if a shared cell has different values or contributors in the two tables.

    Example:
        >>> from sudare.disclosure.cell_table import Contributions, aggregate
        >>> from sudare.disclosure.structure import Dimension
        >>> people = {"sex": ["f", "m", "m"], "age": ["old", "old", "young"]}
        >>> sexes, ages = Dimension.flat("sex", ["f", "m"]), Dimension.flat("age", ["young", "old"])
        >>> tables = [aggregate([one], people, Contributions()) for one in (sexes, ages)]
        >>> linked = link_tables(*tables)
        >>> linked.values.tolist(), cells_of(linked, 1).tolist()
        ([3, 1, 2, 1, 2], [0, 3, 4])
    """
    check_arguments(link_tables, locals(), "first", "second", "pairs")
    if first.decimals != second.decimals or first.weight_decimals != second.weight_decimals:
        raise ParameterError("second", "link_tables", f"in units of {first.decimals} decimals", second.decimals)
    for name in ("weights", "owners", "requests"):
        if (getattr(first, name) is None) != (getattr(second, name) is None):
            raise ParameterError("second", "link_tables", f"with {name} if and only if the first has them", name)
    same = tuple(pairs)
    system = first.system.linked_with(second.system, same)
    places = first.system.places_of(second.system, same)
    shared = places < first.system.size
    for ours, theirs in ((first.values, second.values), (first.counts, second.counts)):
        wrong = np.flatnonzero(shared)[ours[places[shared]] != theirs[shared]]
        if wrong.size:
            label = second.system.label(int(wrong[0]))
            raise InputError(
                f"The linked tables disagree about the cell '{label}'. Make both from the same records.",
                f"リンクした表のセル「{label}」が一致しません。同じレコードから両方の表を作ってください。",
            )
    width = min(first.largest.shape[1], second.largest.shape[1])
    for name in ("largest", "owners"):
        ours, theirs = getattr(first, name), getattr(second, name)
        if ours is None:
            continue
        differ = (ours[places[shared], :width] != theirs[shared, :width]).any(axis=1)
        for cell in np.flatnonzero(shared)[differ][:1]:
            label = second.system.label(int(cell))
            raise InputError(
                f"The linked tables disagree about who contributes to the cell '{label}'. Make both from the same records in "
                "the same order, so that contributors have the same numbers.",
                f"リンクした表でセル「{label}」の提供者が一致しません。"
                "提供者の番号が揃うように、同じ順序の同じレコードから両方の表を作ってください。",
            )

    def joined(ours: NDArray[Any], theirs: NDArray[Any]) -> NDArray[Any]:
        if ours.ndim == 2:
            ours, theirs = ours[:, :width], theirs[:, :width]
        return np.concatenate([ours, theirs[~shared]])

    def both(name: str) -> NDArray[Any] | None:
        ours, theirs = getattr(first, name), getattr(second, name)
        return None if ours is None or theirs is None else joined(ours, theirs)

    return CellTable(
        system,
        joined(first.values, second.values),
        joined(first.counts, second.counts),
        joined(first.largest, second.largest),
        first.decimals,
        weights=both("weights"),
        weight_decimals=first.weight_decimals,
        weighted_counts=both("weighted_counts"),
        owners=both("owners"),
        requests=both("requests"),
        largest_known=min(width, first.known_width, second.known_width),
        frequencies=first.is_frequency and second.is_frequency,
    )


def aggregate_linked(
    tables: Sequence[Sequence[Dimension | str] | Dimension | str],
    codes: Any,
    contributions: Contributions | None = None,
    *,
    value: str | None = None,
    decimals: int = 0,
    holding: str | None = None,
    largest: int = 3,
) -> CellTable:
    """Several tables of the same records, linked: cells that they share are one cell, and the rules judge all of them together.

    Args:
        tables: for each table its spanning variables, dimensions or names of columns. A name stands for the same codes in
            every table.
        codes: the records, a frame of pandas, polars or pyarrow, or a mapping of names to columns.
        contributions: what the records add to the cells; see `aggregate`.
        value: in place of contributions, the column of magnitudes.
        decimals: digits after the point of the magnitudes.
        holding: in place of contributions, the column that says which holding a record belongs to.
        largest: how many of the largest contributions to keep.

    Raises:
        ParameterError: if an argument is not of its kind.
        InputError: for unknown codes and the like; see `aggregate`.

    Example:
        >>> people = {"sex": ["f", "m", "m"], "age": ["old", "old", "young"], "area": ["a", "a", "b"]}
        >>> linked = aggregate_linked([["sex", "area"], ["sex", "age"]], people)
        >>> linked.system.size, len(linked.system.tables)
        (15, 2)
    """
    function = "aggregate_linked"
    if isinstance(tables, (str, Mapping, Dimension)) or not isinstance(tables, Iterable) or is_frame(tables):
        hint = 'Such as [["sex", "area"], ["sex", "age"]].'
        raise ParameterError(
            "tables", function, "lists of dimensions or names, one for each table", shown(tables), hint
        )
    columns = read_columns(codes, "codes", function)
    read = [read_dimensions(one, columns, function) for one in tables]
    if not read:
        raise ParameterError("tables", function, "at least one list of dimensions", Described("none"))
    made = [
        aggregate(one, columns, contributions, value=value, decimals=decimals, holding=holding, largest=largest)
        for one in read
    ]
    return reduce(link_tables, made)


def cells_of(table: CellTable, number: int) -> Integers:
    """The cells of one of the linked tables, in its own order: ``status[cells_of(linked, 1)]`` is what the second one shows.

    Args:
        table: linked tables.
        number: of the table among them, from 0 on.
    """
    check_arguments(cells_of, locals(), "table", "number")
    if not 0 <= number < len(table.system.tables):
        raise ParameterError("number", "cells_of", f"below {len(table.system.tables)}", number)
    return table.system.tables[number].cells.reshape(-1)
