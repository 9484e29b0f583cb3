"""How much of one person is counted: at most this many rows, or this many cells with this many rows in each.

Proof that counts are bounded as the unit says: bounding.md beside this.
"""

# ruff: noqa: S608 - names come from here, numbers are whole numbers

from __future__ import annotations

from dataclasses import dataclass

from sudare.bilingual import Words
from sudare.parameters import exact_integer

__all__ = ["ContributionBounds", "bounded_cells", "bounded_rows"]


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


def bounded_rows(rows: str, values: list[str], mistakes: list[str], bounds: ContributionBounds) -> str:
    """SQL for at most this many rows of each person ``p``, chosen by what this person's rows hold.

    Mistakes are kept first, so that they are reported; the rest in an order that favours no cell.
    """
    named = ", ".join(values)
    order = f"({' OR '.join(mistakes)}) DESC, hash(p, {named}), {named}"
    kept = f"row_number() OVER (PARTITION BY p ORDER BY {order}) <= {bounds.rows}"
    return f"SELECT {named}, p IS NULL AS nobody FROM {rows} QUALIFY {kept}"


def bounded_cells(placed: str, bounds: ContributionBounds) -> str:
    """SQL for the counts by cell, from rows of a person ``p`` and a cell ``cell``.

    The cells of a person are taken in an order that follows from the person and the cell alone, until there are as many as
    allowed; of each at most this many rows, and no more rows in all than allowed.
    """
    each = f"SELECT p, cell, least(count(*), {bounds.rows_per_cell}) AS own FROM {placed} GROUP BY p, cell"
    order = "(PARTITION BY p ORDER BY hash(p, cell), cell ROWS UNBOUNDED PRECEDING)"
    ranked = f"SELECT cell, own, row_number() OVER {order} AS place, sum(own) OVER {order} AS so_far FROM ({each})"
    kept = f"greatest(0, least(own, {bounds.rows} - (so_far - own)))"
    return (
        f"SELECT cell, CAST(sum({kept}) AS BIGINT) AS n FROM ({ranked}) WHERE place <= {bounds.cells} "
        "GROUP BY cell HAVING n > 0"
    )
