"""What is known of a column or an expression before the data is seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction

from sqlglot import exp

from sudare.engines.engine import Kind
from sudare.sql.metadata.model import Value

__all__ = ["Bound", "Examined", "Facts", "Lookup"]

Bound = Fraction | date | datetime
"""A bound of values: a fraction for numbers, a date for dates, a datetime for timestamps."""


@dataclass(frozen=True)
class Facts:
    """What is known of the values of a column or an expression.

    Attributes:
        kind: what they are.
        low: no value is smaller, if that is known; numbers as fractions.
        high: no value is larger.
        scale: digits behind the point of integers (0) and decimals; None for floats and all others.
        nullable: whether NULL can occur.
        values: all values besides NULL, if they are known.
        clipped: whether bounds, or the values of text and conditions, are certain whatever the data is; False for a
            column as it stands in its table.
        digits: of an integer or decimal column, those of its type (as `ColumnType.digits`); with them calculations need
            fewer casts. None: not known.
    """

    kind: Kind
    low: Bound | None = None
    high: Bound | None = None
    scale: int | None = None
    nullable: bool = True
    values: tuple[Value, ...] | None = None
    clipped: bool = False
    digits: int | None = None


Lookup = Callable[[exp.Column], Facts]
"""What is known of a column that an expression names; refuses columns that nobody described."""


@dataclass(frozen=True)
class Examined:
    """An expression after the examination.

    Attributes:
        facts: what is known of its values.
        sql: its form that cannot fail, in sqlglot's generic syntax tree.
    """

    facts: Facts
    sql: exp.Expr
