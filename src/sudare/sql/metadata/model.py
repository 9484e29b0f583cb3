"""What is known of a database before anything is asked: who is protected, how rows lead to them, and bounds.

All of it is public: it is written by people, from the schema and from what they know, never from the private data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal

from sudare.engines.engine import ColumnType
from sudare.privacy.unit import Adjacency, Unit
from sudare.sql.metadata.rules import require_sound

__all__ = ["ColumnMetadata", "Link", "Metadata", "TableMetadata", "Value"]

Value = int | Decimal | str | bool | date | datetime | None
"""A value of a column that is public."""


@dataclass(frozen=True)
class Link:
    """A foreign key that leads towards the protected unit: a row belongs to whom the linked row belongs to.

    Attributes:
        column: in the table itself.
        table: the table that it points to.
        to: the column there; each of its values stands in one row.
    """

    column: str
    table: str
    to: str


@dataclass(frozen=True)
class ColumnMetadata:
    """A column of a table.

    Bounds and values of decimals and floats are kept as decimals, whatever they were given as.

    Attributes:
        name: as the database has it.
        type: of its values.
        low: smallest value that is counted; values below are counted as this one. Numbers, dates and timestamps only.
        high: largest value that is counted.
        step: numbers are rounded to multiples of this; a power of ten. None: as exact as the type is; needed for floats.
        values: all values that groups are published for, in order; None if they are not public.
        values_from: the public table and column whose values these are; None if there is none.
        nullable: whether there may be NULLs.
        unique: whether each value stands in one row at most.
        max_frequency: in how many rows a value may stand, at most; None if that is not known.
    """

    name: str
    type: ColumnType
    low: int | Decimal | date | datetime | None = None
    high: int | Decimal | date | datetime | None = None
    step: Decimal | None = None
    values: tuple[Value, ...] | None = None
    values_from: tuple[str, str] | None = None
    nullable: bool = True
    unique: bool = False
    max_frequency: int | None = None

    def __post_init__(self) -> None:
        if self.type.kind in ("decimal", "float"):
            for name in ("low", "high", "step"):
                object.__setattr__(self, name, _as_decimal(getattr(self, name)))
            if self.values is not None:
                object.__setattr__(self, "values", tuple(map(_as_decimal, self.values)))
        else:
            object.__setattr__(self, "step", _as_decimal(self.step))


@dataclass(frozen=True)
class TableMetadata:
    """A table, or a view.

    Attributes:
        name: as the database has it; with its schema, separated by a point, where it needs one.
        columns: by name, in the table's order.
        public: whether everybody may see all of it.
        unit: the column that names the protected unit; None for public tables, and for those with a link.
        link: the foreign key that leads to the unit; None if there is none.
        row_is_unit: whether each row is a unit of its own.
        max_rows: how many rows one unit may have; units with more are left out. None: not limited here. Always 1 where
            each row is a unit.
        key: the columns that identify a row, if they are known.
    """

    name: str
    columns: Mapping[str, ColumnMetadata]
    public: bool = False
    unit: str | None = None
    link: Link | None = None
    row_is_unit: bool = False
    max_rows: int | None = None
    key: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.row_is_unit and self.max_rows is None:
            object.__setattr__(self, "max_rows", 1)


@dataclass(frozen=True)
class Metadata:
    """All that is known of a database; what contradicts itself is refused at once.

    Attributes:
        who: the protected unit in the words of the report, such as ``"customer"``.
        tables: by name; what is not here cannot be asked about.
        adjacency: what neighbouring databases are.
        max_groups: in how many groups of an answer one unit may count, where contributions are bounded for each unit.
        version: of the data, such as ``"2026-11"``; answers to another version are other answers.
        digest: SHA-256 of the file it was read from, in hexadecimal digits.
        file: the name of that file, for messages.

    Raises:
        PlanError: if something in it cannot be; the message names the table, the column and the key of the file.

    Example:
        >>> from sudare.engines.engine import ColumnType
        >>> from sudare.sql.metadata.model import ColumnMetadata, Metadata, TableMetadata
        >>> columns = {"id": ColumnMetadata("id", ColumnType("integer", 19, 0))}
        >>> Metadata("customer", {"customer": TableMetadata("customer", columns, unit="id", max_rows=1)}).chain("customer")
        ()
    """

    who: str
    tables: Mapping[str, TableMetadata]
    adjacency: Adjacency = "add-remove"
    max_groups: int = 1
    version: str = ""
    digest: str = field(default="", compare=False)
    file: str = field(default="metadata", compare=False)

    def __post_init__(self) -> None:
        require_sound(self)

    @property
    def privacy_unit(self) -> Unit:
        """The unit as the ledger and events name it."""
        return Unit(self.who, adjacency=self.adjacency)

    def chain(self, table: str) -> tuple[Link, ...]:
        """The links that lead from a private table to the one that names the unit; empty if it names it itself."""
        found: list[Link] = []
        while (link := self.tables[table].link) is not None:
            found.append(link)
            table = link.table
        return tuple(found)


def _as_decimal(value: object) -> object:
    if type(value) is int:
        return Decimal(value)
    if isinstance(value, Decimal) and value.is_zero():
        return Decimal(0)  # a zero may carry an exponent of any size
    return value
