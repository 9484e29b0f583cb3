"""What a database must do for private SQL."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from sudare.system.closing import Closeable

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ColumnType", "Engine", "Kind"]

Kind = Literal["integer", "decimal", "float", "boolean", "date", "timestamp", "text", "other"]


@dataclass(frozen=True)
class ColumnType:
    """The type of a column, in words that hold for every database.

    Attributes:
        kind: what it holds.
        digits: of a decimal, all of them; of an integer, those of its largest value; otherwise None.
        scale: of a decimal, those behind the point; 0 for an integer; otherwise None.
        native: as the database writes it.
    """

    kind: Kind
    digits: int | None = None
    scale: int | None = None
    native: str = ""


class Engine(Closeable, ABC):
    """A connection to one database.

    May be used by one thread at a time. No method changes anything that others could see.
    """

    dialect: ClassVar[str]
    """What sqlglot calls the database's SQL."""

    @property
    @abstractmethod
    def address(self) -> str:
        """Where the data is, without passwords; the same for the same database."""

    @abstractmethod
    def tables(self) -> list[str]:
        """Names of all tables and views that can be asked, in order."""

    @abstractmethod
    def columns(self, table: str) -> dict[str, ColumnType]:
        """The columns of a table, in order, from the catalogue alone.

        Raises:
            DatabaseError: if there is no such table.
        """

    def keys(self, table: str) -> tuple[str, ...]:
        """The columns of the primary key that the database declares, so that it keeps them unique and without NULLs.

        From the catalogue alone; empty if there is none, or the database cannot tell.
        """
        return ()

    def links(self, table: str) -> dict[str, tuple[str, str]]:
        """Foreign keys of one column that the database declares: for each column, the table and column that it points to.

        From the catalogue alone; empty if there are none, or the database cannot tell.
        """
        return {}

    @abstractmethod
    def fetch(self, sql: str, *, timeout: float | None = None) -> pa.Table:
        """Run one query and hand out its result: integers and decimals exactly, text as text.

        Args:
            sql: one SELECT in the database's own SQL.
            timeout: seconds after which the query is cancelled.

        Raises:
            DatabaseError: if it fails or takes too long. The message has nothing of what the database said.
        """

    @abstractmethod
    def state(self, tables: Sequence[str]) -> str | None:
        """What changes whenever the contents of these tables may have changed; None if that cannot be known.

        A database that is held open for reading so that nobody else can write has one state for as long as it is open.
        """

    def keep(self, name: str, sql: str, *, timeout: float | None = None) -> bool:
        """Keep a query's result inside the database for this connection alone, under a name; False if that is not offered.

        The result never leaves the database. A name that is taken is replaced.
        """
        return False

    @abstractmethod
    def close(self) -> None:
        """Close the connection; once is enough, twice does no harm."""
