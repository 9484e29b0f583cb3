"""The rows of one tick: who is where, by the numbers under which a window knows its people.

Numbers are given in the order in which people turn up, so they depend on who else is in the data. They stand for places in
arrays and for nothing else: what is decided about a person (which of two cells counts, who opted out) is decided by the person's
own rows and a key, never by a number.
"""

# ruff: noqa: S608 - names and texts are quoted by literal()

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain import Domain
from sudare.io.engine import fetch_arrow, literal, numpy_of
from sudare.io.loading import defaults_of, read_counts
from sudare.io.person_cells import PlacedCounts, PlacedPeople, Within, placed_counts, placed_people
from sudare.io.source import Source, files_and_format
from sudare.ledger.records import OptOuts
from sudare.storage.hashes import keyed_digest

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

__all__ = ["KnownPeople", "TickRows", "read_tick_events", "read_tick_rows"]

WHOLE = ("BIGINT", "INTEGER", "SMALLINT", "TINYINT", "UINTEGER", "USMALLINT", "UTINYINT")
"""Types of persons that are whole numbers of at most 64 bits."""

FIXED_FORMATS = ("e-stat", "geotiff")
"""Tables that a program has made of nobody's rows; they are read as single tables are."""


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownPeople:
    """The people of a window so far.

    Attributes:
        files: of persons and their numbers.
        count: how many there are.
        opted_out: who had opted out, by number.
        last_opt_out: the ledger's entry up to which that is known.
    """

    files: tuple[Path, ...]
    count: int
    opted_out: NDArray[np.bool_]
    last_opt_out: int


@dataclass(frozen=True, kw_only=True, eq=False)
class TickRows:
    """What was read of a tick.

    Attributes:
        cells: the cell of each person, by number; below 0 for somebody without a row.
        opted_out: who has opted out, by number.
        newcomers: people who were not known, with their numbers: columns ``p`` and ``number``.
        left_out: rows of other times, without a person, or outside of the cells, and lines that are no rows; for the
            operator alone.
    """

    cells: Numbers
    opted_out: NDArray[np.bool_]
    newcomers: pyarrow.Table
    left_out: int


def read_tick_rows(
    source: Source,
    domain: Domain,
    people: KnownPeople,
    opt_outs: OptOuts,
    *,
    key: bytes,
    within: Within | None,
    memory: str,
    threads: int | None,
) -> TickRows:
    """Read a tick. People who opted out and were never counted do not enter at all.

    Args:
        source: of the tick.
        domain: the cells.
        people: of the window so far.
        opt_outs: of the ledger.
        key: by which one of several cells of a person is chosen.
        within: leave out rows of other times.
        memory: how much reading may take.
        threads: how many threads to use.

    Raises:
        InputError: if the file is not there, is damaged, or lacks a column.
    """
    with placed_people(source, domain, within=within, memory=memory, threads=threads) as placed:
        connection = placed.connection
        _join_known(placed, people.files)
        newcomers = _find_newcomers(connection, people.count, opt_outs)
        rows = fetch_arrow(
            connection,
            "SELECT number, cell FROM sudare_joined WHERE number IS NOT NULL AND cell >= 0 UNION ALL "
            "SELECT sudare_newcomers.number, cell FROM sudare_joined JOIN sudare_newcomers USING (p) WHERE cell >= 0",
        )
        count = people.count + newcomers.num_rows
        cells = _one_cell_each(connection, numpy_of(rows["number"]), numpy_of(rows["cell"]), count, key)
        opted_out = np.zeros(count, dtype=np.bool_)
        opted_out[: people.count] = people.opted_out
        if opt_outs.last_entry != people.last_opt_out:
            opted_out[_opted_out_now(connection, opt_outs)] = True
        found = connection.execute("SELECT count(*) FROM sudare_joined WHERE cell < 0").fetchone()
        return TickRows(
            cells=cells,
            opted_out=opted_out,
            newcomers=newcomers,
            left_out=placed.skipped() + (0 if found is None else int(found[0])),
        )


def read_tick_events(
    source: Source, domain: Domain, opt_outs: OptOuts, *, within: Within | None, memory: str, threads: int | None
) -> PlacedCounts:
    """Read the appearances of a tick: the cells that have any, and how many. A row that cannot be counted is left out.

    Args:
        source: of the tick, with a row for each appearance, or counts.
        domain: the cells.
        opt_outs: of the ledger; those rows are left out where a column tells persons.
        within: leave out rows of other times.
        memory: how much reading may take.
        threads: how many threads to use.

    Raises:
        InputError: if the file is not there, is damaged, or lacks a column.
    """
    form = files_and_format(source)[1]
    defaults = defaults_of(source, form)
    if form in FIXED_FORMATS:
        table = read_counts(source, domain, memory=memory, threads=threads)
        return PlacedCounts(table.keys.astype(np.int64), table.counts, 0)
    if defaults.rows == "counts":
        return placed_counts(source, domain, defaults, memory=memory, threads=threads)
    with placed_people(source, domain, within=within, memory=memory, threads=threads) as placed:
        is_known = source.person is not None and bool(opt_outs.digests)
        kept = f" AND NOT {_is_opted_out(placed.connection, opt_outs)}" if is_known else ""
        counted = f"SELECT cell, count(*) AS n FROM {placed.rows} GROUP BY cell"
        if kept:
            counted = f"SELECT cell, count(*) AS n FROM {placed.rows} WHERE cell < 0 OR (cell >= 0{kept}) GROUP BY cell"
        rows = fetch_arrow(placed.connection, f"{counted} ORDER BY cell")
        cells, people = (numpy_of(rows[name]).astype(np.int64) for name in ("cell", "n"))
        inside = cells >= 0
        return PlacedCounts(cells[inside], people[inside], placed.skipped() + int(people[~inside].sum()))


def _join_known(placed: PlacedPeople, files: tuple[Path, ...]) -> None:
    """The rows with the numbers of those who are known; the others keep their names.

    Persons are told apart by whole numbers where all files have such, which is faster, and by texts where one has not.
    """
    connection = placed.connection
    listed = ", ".join(literal(str(file)) for file in files)
    known = (
        f"read_parquet([{listed}], union_by_name=true)"
        if files
        else "(SELECT NULL::BIGINT AS p, 0 AS number WHERE false)"
    )
    described = [connection.execute(f"DESCRIBE SELECT p FROM {rows}").fetchall()[0][1] for rows in (known, placed.rows)]
    kind = "BIGINT" if all(one in WHOLE for one in described) else "VARCHAR"
    connection.execute(f"CREATE TEMP VIEW sudare_known AS SELECT CAST(p AS {kind}) AS p, number FROM {known}")
    connection.execute(
        "CREATE TEMP TABLE sudare_joined AS SELECT known.number AS number, rows.cell AS cell, "
        "CASE WHEN known.number IS NULL THEN rows.p END AS p "
        f"FROM (SELECT CAST(p AS {kind}) AS p, cell FROM {placed.rows}) AS rows LEFT JOIN sudare_known AS known USING (p)"
    )


def _find_newcomers(connection: DuckDBPyConnection, first: int, opt_outs: OptOuts) -> pyarrow.Table:
    """Everybody who has a cell and is not known, with the next numbers."""
    fresh = "SELECT DISTINCT p FROM sudare_joined WHERE p IS NOT NULL AND cell >= 0"
    if opt_outs.digests:
        fresh = f"SELECT p FROM ({fresh}) WHERE NOT {_is_opted_out(connection, opt_outs)}"
    connection.execute(
        f"CREATE TEMP TABLE sudare_newcomers AS SELECT p, {first} + row_number() OVER (ORDER BY p) - 1 AS number FROM ({fresh})"
    )
    return fetch_arrow(connection, "SELECT p, number FROM sudare_newcomers ORDER BY number").combine_chunks()


def _opted_out_now(connection: DuckDBPyConnection, opt_outs: OptOuts) -> Numbers:
    if not opt_outs.digests:
        return np.zeros(0, dtype=np.int64)
    found = fetch_arrow(connection, f"SELECT number FROM sudare_known WHERE {_is_opted_out(connection, opt_outs)}")
    return numpy_of(found["number"]).astype(np.int64)


def _is_opted_out(connection: DuckDBPyConnection, opt_outs: OptOuts) -> str:
    import pyarrow

    connection.register("sudare_opted_out", pyarrow.table({"digest": sorted(opt_outs.digests)}))
    return f"sha256({literal(opt_outs.salt)} || chr(0) || CAST(p AS VARCHAR)) IN (SELECT digest FROM sudare_opted_out)"


def _one_cell_each(connection: DuckDBPyConnection, numbers: Numbers, cells: Numbers, count: int, key: bytes) -> Numbers:
    """One cell for each person: of several, the one with the smallest keyed hash of the person and the cell."""
    chosen = np.full(count, -1, dtype=np.int64)
    chosen[numbers] = cells
    is_other = chosen[numbers] != cells
    if not is_other.any():
        return chosen
    several = np.unique(numbers[is_other])
    rows = np.isin(numbers, several)
    names = _names_of(connection, several)
    best: dict[int, tuple[str, int]] = {}
    for number, cell in set(zip(numbers[rows].tolist(), cells[rows].tolist(), strict=True)):
        digest = keyed_digest(key, "one of several cells", (names[number].encode(), str(cell).encode()))
        best[number] = min(best.get(number, (digest, cell)), (digest, cell))
    for number, (_, cell) in best.items():
        chosen[number] = cell
    return chosen


def _names_of(connection: DuckDBPyConnection, numbers: Numbers) -> dict[int, str]:
    import pyarrow

    connection.register("sudare_several", pyarrow.table({"number": numbers}))
    rows = fetch_arrow(
        connection,
        "SELECT number, CAST(p AS VARCHAR) AS p FROM sudare_known JOIN sudare_several USING (number) UNION ALL "
        "SELECT number, CAST(p AS VARCHAR) AS p FROM sudare_newcomers JOIN sudare_several USING (number)",
    )
    return dict(zip(rows["number"].to_pylist(), rows["p"].to_pylist(), strict=True))
