"""Who is where: each person's cell, for tables that follow people over time.

One person's rows must never decide whether a table appears. A row that a single table would refuse, because its value is none of
the attribute's or its person is missing, is left out here, and counted for the operator alone.
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
from sudare.io.relations import SourceRelation, open_relation
from sudare.io.source import Source

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

__all__ = ["PlacedPeople", "Within", "placed_people", "places_where_possible"]

OUTSIDE = -1


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
    """

    connection: DuckDBPyConnection
    rows: str


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
    import duckdb

    with open_engine(memory, threads) as connection:
        relation: SourceRelation | None = None
        try:
            relation = open_relation(source, connection)
            reading = TabularReading(source, domain, Defaults("people"), connection, relation, peek=False)
            yield PlacedPeople(connection, _placed(reading, domain, within))
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


def cells_where_possible(domain: Domain, columns: list[AttributeColumn], values: list[Any]) -> NDArray[np.int64]:
    """The cell of each combination of values; below 0 where one of them is none of its attribute's."""
    size = len(values[0])
    is_inside = np.ones(size, dtype=np.bool_)
    places: list[NDArray[np.int64]] = []
    for column, found in zip(columns, values, strict=True):
        inside, placed = places_where_possible(column, found)
        is_inside &= inside
        places.extend(placed)
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
