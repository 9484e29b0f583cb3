"""Who is where: each person's cell, and counts of cells, for tables that follow people over time.

One person's rows must never decide whether a table appears. A row that a single table would refuse, because its value is none of
the attribute's, its person is missing or its line is no row, is left out here, and counted for the operator alone.
"""

# ruff: noqa: S608 - names and texts are quoted by identifier() and literal()

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.domain import Domain
from sudare.errors import ParameterError
from sudare.io import complaints
from sudare.io.columns import AttributeColumn, WrongValueError, family_of
from sudare.io.counting import Defaults, TabularReading
from sudare.io.engine import fetch_arrow, identifier, numpy_of, open_engine, told
from sudare.io.line_files import LineFiles, open_rows
from sudare.io.relations import SourceRelation, TextStream
from sudare.io.source import Source

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

__all__ = ["PlacedCounts", "PlacedPeople", "Within", "placed_counts", "placed_people", "places_where_possible"]

OUTSIDE = -1
MAX_COUNT = 2**60
"""A larger count of a cell is taken for this one."""

HALF = 30
"""Bits of the lower half of a count."""


@dataclass(frozen=True)
class Within:
    """Rows of a period alone.

    Attributes:
        column: of times.
        begins: the first moment.
        ends: the first moment after it.
    """

    column: str
    begins: datetime
    ends: datetime


@dataclass(frozen=True, eq=False)
class PlacedPeople:
    """Rows that SQL can read, as long as the engine is open.

    Attributes:
        connection: to the engine.
        rows: what to select ``p``, the person, and ``cell`` from; a cell below 0 stands for a row that is left out.
        relation: where they come from.
    """

    connection: DuckDBPyConnection
    rows: str
    relation: SourceRelation

    def skipped(self) -> int:
        """Lines that were read and are no rows; for the operator alone."""
        return self.relation.skipped if isinstance(self.relation, LineFiles) else 0


@dataclass(frozen=True, eq=False)
class PlacedCounts:
    """Counts of cells.

    Attributes:
        cells: that have any, each once, in order.
        people: how many.
        left_out: rows that are none of the table's; for the operator alone.
    """

    cells: NDArray[np.int64]
    people: NDArray[np.int64]
    left_out: int


@contextmanager
def placed_people(
    source: Source, domain: Domain, *, within: Within | None = None, memory: str = "1GB", threads: int | None = None
) -> Iterator[PlacedPeople]:
    """Open a source with one row for each person and cell.

    Args:
        source: with a column of persons.
        domain: the cells.
        within: leave out rows of other times.
        memory: how much the engine may use.
        threads: how many threads; all processors if left out.

    Raises:
        InputError: if the file is not there, is damaged, or lacks a column.
    """
    with _reading(source, domain, Defaults("people"), memory, threads) as reading:
        yield PlacedPeople(reading.connection, _placed(reading, domain, within), reading.relation)


def placed_counts(
    source: Source, domain: Domain, defaults: Defaults, *, memory: str = "1GB", threads: int | None = None
) -> PlacedCounts:
    """Read the counts of cells. A row without a whole count >= 0 is left out; rows of one cell are added up.

    Args:
        source: with a row for each cell, or several.
        domain: the cells.
        defaults: of the source's format.
        memory: how much the engine may use.
        threads: how many threads; all processors if left out.

    Raises:
        InputError: if the file is not there, is damaged, or lacks a column.
    """
    with _reading(source, domain, defaults, memory, threads) as reading:
        found = reading.possible_counts()
        placed = [cells_where_possible(domain, reading.columns, found.values, extra) for extra in found.places]
        cells, people = np.concatenate(placed), np.concatenate(found.counts)
        is_kept = (cells >= 0) & (people >= 0)
        skipped = reading.relation.skipped if isinstance(reading.relation, LineFiles) else 0
        kept, places = np.unique(cells[is_kept], return_inverse=True)
        return PlacedCounts(
            kept, _added(np.minimum(people[is_kept], MAX_COUNT), places, kept.size), skipped + int((~is_kept).sum())
        )


def _added(people: NDArray[np.int64], places: NDArray[np.intp], number: int) -> NDArray[np.int64]:
    """Sums up to the largest count: nothing is refused, and one event changes one of them by one at most."""
    high, low = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.int64)
    np.add.at(high, places, people >> HALF)  # halves by themselves, whose sums fit where those of counts would not
    np.add.at(low, places, people & ((1 << HALF) - 1))
    high += low >> HALF
    return np.where(high >= MAX_COUNT >> HALF, MAX_COUNT, (high << HALF) + (low & ((1 << HALF) - 1)))


@contextmanager
def _reading(
    source: Source, domain: Domain, defaults: Defaults, memory: str, threads: int | None
) -> Iterator[TabularReading]:
    """A source whose rows decide nothing: no row is looked at for a message, and lines that are no rows are left out."""
    import duckdb

    with open_engine(memory, threads) as connection:
        relation: SourceRelation | None = None
        try:
            relation = open_rows(source, connection)
            yield TabularReading(source, domain, defaults, connection, relation, peek=False)
        except duckdb.Error as failure:
            if relation is not None and relation.failure is not None:
                raise relation.failure from None
            files, kind = (relation.files, relation.kind) if relation is not None else (source.paths, "data")
            is_query = source.query is not None or not files
            raise told(failure, files, kind, memory=memory, encoding=source.encoding, query=is_query) from None


def _placed(reading: TabularReading, domain: Domain, within: Within | None) -> str:
    """The rows with their cells: the distinct values are placed once, then joined."""
    import pyarrow

    connection = reading.connection
    names = [f"a{number}" for number in range(len(reading.columns))]
    more = {} if within is None else {"is_inside": _is_inside(reading, within)}
    people = reading.rows_of_people(None, more)
    if isinstance(reading.relation, TextStream):  # which is read once
        connection.execute(f"CREATE TEMP TABLE sudare_people AS SELECT * FROM {people}")
        people = "sudare_people"
    distinct = f"SELECT DISTINCT {', '.join(names)} FROM {people}"
    connection.execute(f"CREATE TEMP TABLE sudare_values AS SELECT row_number() OVER () AS id, * FROM ({distinct})")
    values = fetch_arrow(connection, "SELECT * FROM sudare_values").combine_chunks()
    cells = cells_where_possible(domain, reading.columns, [values[name] for name in names])
    connection.register("sudare_cells", pyarrow.table({"id": values["id"], "cell": cells}))
    same = " AND ".join(f"people.{name} IS NOT DISTINCT FROM sudare_values.{name}" for name in names)
    outside = "p IS NULL" if within is None else "p IS NULL OR is_inside IS NOT TRUE"
    return (
        f"(SELECT p, CASE WHEN {outside} THEN {OUTSIDE} ELSE cell END AS cell "
        f"FROM {people} AS people JOIN sudare_values ON {same} JOIN sudare_cells USING (id))"
    )


def _is_inside(reading: TabularReading, within: Within) -> str:
    kinds, file = reading.relation.types, reading.relation.first_file()
    if within.column not in kinds:
        raise complaints.missing_column(within.column, list(kinds), file, "time", asked=[within.column], peek=False)
    if within.column not in reading.needed:
        reading.needed.append(within.column)
    column = identifier(within.column)
    moment = column if family_of(kinds[within.column]) == "date" else f"TRY_CAST({column} AS TIMESTAMP)"
    return f"({moment} >= TIMESTAMP '{within.begins}' AND {moment} < TIMESTAMP '{within.ends}')"


def cells_where_possible(
    domain: Domain, columns: list[AttributeColumn], values: list[Any], known: tuple[int, int] | None = None
) -> NDArray[np.int64]:
    """The cell of each combination of values; below 0 where one of them is none of its attribute's.

    Args:
        domain: the cells.
        columns: of the attributes.
        values: of each column, of the same length.
        known: an axis that no column tells, and the place of all rows along it.
    """
    size = len(values[0])
    is_inside = np.ones(size, dtype=np.bool_)
    places: list[NDArray[np.int64]] = []
    for column, found in zip(columns, values, strict=True):
        inside, placed = places_where_possible(column, found)
        is_inside &= inside
        places.extend(placed)
    if known is not None:
        places.insert(known[0], np.full(size, known[1], dtype=np.int64))
    cells = np.full(size, OUTSIDE, dtype=np.int64)
    if is_inside.any():
        cells[is_inside] = domain.keys_at(*(place[is_inside] for place in places)).astype(np.int64)
    return cells


def places_where_possible(column: AttributeColumn, values: Any) -> tuple[NDArray[np.bool_], list[NDArray[np.int64]]]:
    """Which values belong to an attribute, and the places of those; 0 for the others.

    A column is placed as a whole; where that is refused, each half by itself. So a few wrong values cost a few further looks.
    """
    import pyarrow

    array = values.combine_chunks() if isinstance(values, pyarrow.ChunkedArray) else values
    inside = np.zeros(len(array), dtype=np.bool_)
    places = [np.zeros(len(array), dtype=np.int64) for _ in column.attribute.shape]
    present = numpy_of(array.is_valid()).astype(np.bool_)
    parts = [np.flatnonzero(present)]
    while parts:
        rows = parts.pop()
        if not rows.size:
            continue
        try:
            found = column.places(array.take(pyarrow.array(rows)))
        except (WrongValueError, ParameterError):
            if rows.size > 1:
                parts += [rows[: rows.size // 2], rows[rows.size // 2 :]]
            continue
        inside[rows] = True
        for axis, place in zip(places, found, strict=True):
            axis[rows] = place
    return inside, places
