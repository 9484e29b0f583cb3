"""How much of one person is counted: at most this many rows, or this many cells with this many rows in each.

Which of them: the first in an order by a keyed hash of what they hold, the same in DuckDB and in Spark. Proof that counts are
bounded as the unit says, the encoding, and why nobody chooses their place: bounding.md beside this.

- `statements`: the SQL. `order`: the order of a person's rows. `encoding`: values as texts, and what engines call functions.
"""

from sudare.io.bounding.encoding import DUCKDB, POINT, SPARK, SqlDialect
from sudare.io.bounding.order import FIXED_KEY, RowOrder, read_selection_key
from sudare.io.bounding.statements import ContributionBounds, Selection, bounded_cells, bounded_rows

__all__ = [
    "DUCKDB",
    "FIXED_KEY",
    "POINT",
    "SPARK",
    "ContributionBounds",
    "RowOrder",
    "Selection",
    "SqlDialect",
    "bounded_cells",
    "bounded_rows",
    "read_selection_key",
]
