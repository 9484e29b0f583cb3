"""What a query itself says of privacy, in ``SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(...)``."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

__all__ = ["BOUNDS_PER_GROUP", "BOUNDS_PER_ROW", "Bounds", "Options"]

Bounds = tuple[Decimal, Decimal]
"""The smallest and the largest contribution that counts."""

BOUNDS_PER_GROUP = "contribution_bounds_per_group"
"""Where ``node.meta`` has the bounds of what one unit adds to one group of an aggregate."""

BOUNDS_PER_ROW = "contribution_bounds_per_row"
"""Where ``node.meta`` has the bounds of a value of one row."""


@dataclass(frozen=True)
class Options:
    """What a query says in ``SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(...)``; None for what it does not say.

    Attributes:
        is_private: whether the clause was there at all.
        epsilon: of the whole query; above 0.
        delta: of the whole query; from 0 to below 1.
        max_groups_contributed: in how many groups one unit may count; at least 1.
        privacy_unit_column: the column that names the unit; with its table, separated by a point, if it was given so.

    Example:
        >>> from sudare.sql.frontend.parsing import parse_query
        >>> text = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.5, privacy_unit_column = id) COUNT(*) FROM t"
        >>> parse_query(text, "duckdb").options.epsilon
        Decimal('0.5')
    """

    is_private: bool = False
    epsilon: Decimal | None = None
    delta: Decimal | None = None
    max_groups_contributed: int | None = None
    privacy_unit_column: str | None = None
