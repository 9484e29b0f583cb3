"""The SQL that bounds what is counted of one person, the same for DuckDB and for Spark."""

# ruff: noqa: S608 - names come from here, numbers are whole numbers

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sudare.bilingual import Words
from sudare.io.bounding.encoding import DUCKDB, SqlDialect
from sudare.io.bounding.order import FIXED_KEY, RowOrder
from sudare.parameters import exact_integer

__all__ = ["ContributionBounds", "Selection", "bounded_cells", "bounded_rows"]


@dataclass(frozen=True)
class ContributionBounds:
    """What is counted of one person, at most.

    Args:
        rows: how many rows in all; ``cells * rows_per_cell`` if left out.
        cells: in how many different cells; as many as rows if left out.
        rows_per_cell: how many rows of one cell; 1 where cells are limited, else as many as rows.

    Example:
        >>> from sudare.io.bounding import ContributionBounds
        >>> ContributionBounds(cells=3)
        ContributionBounds(rows=3, cells=3, rows_per_cell=1)
        >>> ContributionBounds(rows=3)
        ContributionBounds(rows=3, cells=3, rows_per_cell=3)
    """

    rows: int = 0
    cells: int = 0
    rows_per_cell: int = 0

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name in ("rows", "cells", "rows_per_cell") if getattr(self, name) != 0}
        for name, value in given.items():
            exact_integer(value, name, "ContributionBounds", Words("a whole number >= 1", "1 以上の整数"), smallest=1)
        if "cells" in given or "rows_per_cell" in given:
            cells, each = given.get("cells", 1), given.get("rows_per_cell", 1)
            rows = min(given.get("rows", cells * each), cells * each)
        else:
            rows = cells = each = given.get("rows", 1)
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "cells", cells)
        object.__setattr__(self, "rows_per_cell", each)

    @property
    def is_by_rows(self) -> bool:
        """Whether the number of rows is the only limit."""
        return self.cells >= self.rows and self.rows_per_cell >= self.rows


@dataclass(frozen=True)
class Selection:
    """Which of a person's rows are kept, where there are more than may count.

    Attributes:
        bounds: how many.
        key: of the order, 64 hexadecimal digits.
        dialect: of the SQL.
    """

    bounds: ContributionBounds
    key: str = FIXED_KEY
    dialect: SqlDialect = DUCKDB


def bounded_rows(rows: str, values: Mapping[str, str], mistakes: Sequence[str], person: str, chosen: Selection) -> str:
    """SQL for at most this many rows of each person ``p``, chosen by what this person's rows hold.

    Mistakes are kept first, so that they are reported; the rest in an order that favours no cell. Where texts would have to be
    hashed, rows of persons who have no more than may count are not ordered.

    Args:
        rows: what to select from.
        values: the kinds of the columns that tell a cell, by their names.
        mistakes: conditions.
        person: the kind of the column ``p``.
        chosen: which rows are kept.
    """
    named = ", ".join(values)
    limit = chosen.bounds.rows
    order = RowOrder([("p", person), *values.items()], chosen.key, chosen.dialect)
    if order.needs_digest:
        counted = f"(SELECT *, count(*) OVER (PARTITION BY p) AS many FROM {rows} AS held)"
        placed = order.placed(counted, "place", f"many > {limit}")
    else:
        placed = order.placed(rows, "place")
    # Two keys: of one key DuckDB would keep the smallest for each person in memory, and never on the disk.
    first = f"CASE WHEN {' OR '.join(mistakes)} THEN 0 ELSE 1 END, place"
    ranked = (
        f"SELECT {named}, p IS NULL AS nobody, row_number() OVER (PARTITION BY p ORDER BY {first}) AS number "
        f"FROM {placed} AS placed"
    )
    return f"SELECT {named}, nobody FROM ({ranked}) AS ranked WHERE number <= {limit}"


def bounded_cells(placed: str, person: str, chosen: Selection) -> str:
    """SQL for the counts by cell, from rows of a person ``p`` and a cell ``cell``.

    The cells of a person are taken in an order that follows from the person and the cell alone, until there are as many as
    allowed; of each at most this many rows, and no more rows in all than allowed.

    Args:
        placed: what to select from.
        person: the kind of the column ``p``.
        chosen: which cells are kept.
    """
    bounds = chosen.bounds
    each = f"SELECT p, cell, least(count(*), {bounds.rows_per_cell}) AS own FROM {placed} AS placed GROUP BY p, cell"
    order = RowOrder([("p", person), ("cell", "BIGINT")], chosen.key, chosen.dialect)
    if order.needs_digest:
        many = "count(*) OVER (PARTITION BY p) AS many, sum(own) OVER (PARTITION BY p) AS held"
        counted = f"(SELECT *, {many} FROM ({each}) AS each_cell)"
        ordered = order.placed(counted, "place", f"many > {bounds.cells} OR held > {bounds.rows}")
    else:
        ordered = order.placed(f"({each})", "place")
    window = "(PARTITION BY p ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    ranked = f"SELECT cell, own, row_number() OVER {window} AS number, sum(own) OVER {window} AS so_far FROM {ordered} AS ordered"
    kept = f"greatest(0, least(own, {bounds.rows} - (so_far - own)))"
    return (
        f"SELECT cell, CAST(sum({kept}) AS BIGINT) AS n FROM ({ranked}) AS ranked WHERE number <= {bounds.cells} "
        f"GROUP BY cell HAVING sum({kept}) > 0"
    )
