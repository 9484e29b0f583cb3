"""Collations of DuckDB: under some of them, different texts are equal.

A column that folds ``"Ann"`` and ``"ANN"`` into one value is no text here: nothing that is proven about groups, keys or
units holds for it. DuckDB shows a collation only where it writes down the definition of a table, and there also for what
a view or a generated column got from elsewhere. So an empty table is made of the columns, under names of our own, and its
definition is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sudare.engines.names import double_quoted

__all__ = ["UNKNOWN", "collations_in", "selected"]

EXACT = {"binary", "c", "posix"}
"""Collations under which only the same texts are equal."""

UNKNOWN = "?"
"""In place of a name, where there may be a collation."""


def selected(columns: Sequence[str]) -> str:
    """What to select, so that `collations_in` can read the definition of a table that is made of it.

    Example:
        >>> from sudare.engines.collations import selected
        >>> selected(["name", "home city"])
        '"name" AS c0, "home city" AS c1'
    """
    return ", ".join(f"{double_quoted(column)} AS c{index}" for index, column in enumerate(columns))


def collations_in(definition: str, columns: Sequence[str]) -> dict[str, str]:
    """Which columns have a collation that makes different texts equal, and which one.

    Args:
        definition: of a table that was made of `selected` columns.
        columns: all of them are VARCHAR.

    Returns:
        The collations by column; `UNKNOWN` for every column if the definition is not as expected.

    Example:
        >>> from sudare.engines.collations import collations_in
        >>> collations_in("CREATE TEMP TABLE t(c0 VARCHAR COLLATE nocase, c1 VARCHAR);", ["name", "city"])
        {'name': 'nocase'}
    """
    each = (rf"c{index} VARCHAR(?: COLLATE ([^,()]+))?" for index in range(len(columns)))
    found = re.fullmatch(rf"CREATE TEMP TABLE \w+\({', '.join(each)}\);", definition)
    if found is None:
        return dict.fromkeys(columns, UNKNOWN)
    named = zip(columns, found.groups(), strict=True)
    return {column: name for column, name in named if name is not None and name.lower() not in EXACT}
