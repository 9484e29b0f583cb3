"""DB-API 2.0 cursors over private answers, and the same answers as tables and data frames with their noise beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.border.frames import FrameKind, ShownRows, as_frame
from sudare.errors import ParameterError
from sudare.extras import DATA_FRAMES, missing_package
from sudare.parameters import shown
from sudare.privacy.budget import Budget
from sudare.privacy.events import ReleaseEvent
from sudare.sql.execution.answers_store import NoisyTable
from sudare.sql.execution.charging import Charged
from sudare.sql.frontend.parameters import with_parameters
from sudare.sql.measures.measures import Change
from sudare.system.closing import Closeable

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from sudare.ledger import Reservation
    from sudare.sql.execution.connection import Connection, Prepared

__all__ = ["Cursor"]

Description = tuple[str, str, None, None, int | None, int | None, bool]


class Cursor(Closeable):
    r"""Asks queries and hands out rows; made by `sudare.sql.execution.connection.Connection.cursor`.

    Attributes:
        arraysize: how many rows `fetchmany` hands out.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import sudare
        >>> folder = tempfile.TemporaryDirectory()
        >>> place = Path(folder.name)
        >>> _ = (place / "visits.csv").write_text("town\n" + "A\n" * 500 + "B\n" * 300, encoding="utf-8")
        >>> text = '''unit.name = "person"
        ... tables.visits = {unit = "row", columns.town = {type = "text", values = ["A", "B"], nullable = false}}'''
        >>> _ = (place / "metadata.toml").write_text(text, encoding="utf-8")
        >>> with sudare.open_ledger(place / "budget.db", create=True) as ledger:
        ...     _ = ledger.add_dataset("visits", sudare.Budget(epsilon=10), unit=sudare.Unit("person"))
        >>> with sudare.connect(
        ...     place, place / "metadata.toml", sudare.Budget(epsilon=5), ledger=place / "budget.db", dataset="visits"
        ... ) as connection:
        ...     cursor = connection.cursor().execute("SELECT town, count(*) AS people FROM visits GROUP BY town")
        ...     [town for town, people in cursor], cursor.to_table(intervals=True).column_names
        (['A', 'B'], ['town', 'people', 'people_low', 'people_high', 'people_noise', 'perhaps_empty'])
        >>> folder.cleanup()
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.arraysize = 1
        self._charged: Charged | None = None
        self._changes: tuple[Change, ...] = ()
        self._rows: list[tuple[Any, ...]] | None = None
        self._next = 0
        self._is_open = True

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        while (row := self.fetchone()) is not None:
            yield row

    def execute(
        self,
        sql: str,
        parameters: Sequence[object] | None = None,
        *,
        budget: Budget | None = None,
        again: bool = False,
    ) -> Cursor:
        """Ask a query. It is charged before anything is read; the very same query asked again is free.

        Args:
            sql: one SELECT in the database's SQL.
            parameters: values for its question marks: numbers, texts, truth values, dates, None.
            budget: what it may cost, in place of the connection's. What the query states in OPTIONS comes first.
            again: draw and charge anew even if it was answered before.

        Returns:
            This cursor.

        Raises:
            QueryRefusedError: if it cannot be answered privately; nothing was charged.
            BudgetExceededError: if the budget does not allow it; nothing was read.
            DatabaseError: if the database fails; the message says whether the cost stays spent.
        """
        self._require_open()
        self._charged, self._rows, self._next = None, None, 0
        written = sql if parameters is None else with_parameters(sql, parameters, self.connection.dialect)
        return self.run(self.connection.prepare(written, budget), again=again)

    def run(
        self,
        prepared: Prepared,
        *,
        again: bool = False,
        on_unfinished: Callable[[Sequence[Reservation]], None] | None = None,
    ) -> Cursor:
        """Ask a query that `sudare.sql.execution.connection.Connection.prepare` has prepared.

        Args:
            prepared: the query.
            again: draw and charge anew even if it was answered before.
            on_unfinished: as `sudare.sql.execution.connection.Connection.run` takes it.

        Returns:
            This cursor.
        """
        self._require_open()
        self._charged, self._rows, self._next = None, None, 0
        self._charged = self.connection.run(prepared, again=again, on_unfinished=on_unfinished)
        self._changes = prepared.plan.changes
        return self

    def executemany(self, sql: str, parameters: Sequence[Sequence[object]]) -> Cursor:
        """Ask a query once for each list of parameters; only the last answer can be fetched. DB-API has it."""
        for values in parameters:
            self.execute(sql, values)
        return self

    @property
    def description(self) -> list[Description] | None:
        """Name, type, precision and scale of each column; None before the first query."""
        if self._charged is None:
            return None
        return [_description(field) for field in self._charged.answer.table.schema]

    @property
    def rowcount(self) -> int:
        """How many rows the answer has; -1 before the first query."""
        return -1 if self._charged is None else self._charged.answer.table.num_rows

    @property
    def table(self) -> pa.Table:
        """The whole answer as an Arrow table."""
        return self._found().answer.table

    @property
    def noisy(self) -> NoisyTable:
        """The answer with what is known of its noise, by the position of each column."""
        return self._found().answer

    @property
    def perhaps_empty(self) -> list[bool] | None:
        """For each row whether nobody may be in its group: its noisy number of rows is no larger than its error.

        None where groups are not public, or the query does not count their rows with COUNT(*).
        """
        found = self._found().answer.perhaps_empty
        return None if found is None else [bool(few) for few in found]

    @property
    def event(self) -> ReleaseEvent | None:
        """What was drawn and what it costs; None if only public tables were asked."""
        return self._found().answer.event

    @property
    def cost(self) -> Budget | None:
        """What was charged for this query; None if nothing was."""
        return self._found().cost

    @property
    def entry(self) -> int | None:
        """The entry of the ledger that settled the answer; None if only public tables were asked."""
        return self._found().entry

    @property
    def is_repeated(self) -> bool:
        """Whether the answer is an earlier one, handed out again for free."""
        return self._found().is_repeated

    @property
    def changes(self) -> tuple[Change, ...]:
        """In which ways the answer means something else than the query as it was written."""
        self._found()
        return self._changes

    def to_table(self, *, intervals: bool = False) -> pa.Table:
        """The answer as an Arrow table.

        Args:
            intervals: put three columns behind each noisy one: ``_low`` and ``_high``, between which the number without
                noise is with probability 0.95, and ``_noise``, the standard deviation of the noise. For counts and sums as
                they were measured this holds for each number by itself; for calculations with them it holds nearly, where
                the noise is small beside the numbers. Behind a median, a quantile, MIN or MAX stands ``_rank_error``: with
                probability 0.95 no more rows lie between the number and the wanted one (beyond it, for MIN and MAX), where
                the group has as many. How far that is in the number itself, nothing that was paid for tells. The last column,
                ``perhaps_empty``, marks groups that perhaps nobody is in, where that can be told: see `perhaps_empty`.
        """
        import pyarrow as pa

        answer = self._found().answer
        if not intervals:
            return answer.table
        columns: list[tuple[str, Any]] = []
        for place, name in enumerate(answer.table.column_names):
            column = answer.table.column(place)
            columns.append((name, column))
            if place in answer.deviations:
                values = _as_floats(column)
                reach = answer.reaches[place]
                columns.append((f"{name}_low", pa.array(values - reach)))
                columns.append((f"{name}_high", pa.array(values + reach)))
                columns.append((f"{name}_noise", pa.array(answer.deviations[place])))
            if place in answer.ranks:
                columns.append((f"{name}_rank_error", pa.array(answer.ranks[place].astype(np.int64))))
        if answer.perhaps_empty is not None:
            columns.append((_free_name("perhaps_empty", answer.table.column_names), pa.array(answer.perhaps_empty)))
        return pa.Table.from_arrays([column for _, column in columns], names=[name for name, _ in columns])

    def to_frame(self, kind: FrameKind | None = None, *, intervals: bool = False) -> Any:
        """The answer as a frame. Decimals become floats.

        Args:
            kind: ``"pandas"``, ``"polars"`` or ``"pyarrow"``; left out, pandas where it is installed, else pyarrow.
            intervals: whether columns that say how sure each number is stand behind it; see `to_table`.

        Raises:
            ParameterError: if there is no such kind.
            MissingPackageError: if its package is not installed.
        """
        table = _plain(self.to_table(intervals=intervals))
        return as_frame(dict(zip(table.column_names, table.columns, strict=True)), kind, "Cursor.to_frame")

    def to_text(self, most_rows: int = 40) -> str:
        """The answer as lines of text.

        Args:
            most_rows: further ones are counted.
        """
        return _Answer(_plain(self.table)).to_text(most_rows)

    def _repr_html_(self) -> str:
        """What a notebook shows: the answer, once there is one."""
        return repr(self) if self._charged is None else _Answer(_plain(self.table))._repr_html_()

    def df(self, *, intervals: bool = False) -> pd.DataFrame:
        """The answer as a pandas data frame; see `to_table`. Decimals become floats."""
        return self.to_frame("pandas", intervals=intervals)

    def pl(self, *, intervals: bool = False) -> pl.DataFrame:
        """The answer as a polars data frame; see `to_table`."""
        _require_package("polars")
        import polars as pl

        frame = pl.from_arrow(self.to_table(intervals=intervals))
        if not isinstance(frame, pl.DataFrame):
            raise TypeError("a table becomes a data frame")
        return frame

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row; None behind the last one."""
        rows = self._all_rows()
        if self._next >= len(rows):
            return None
        self._next += 1
        return rows[self._next - 1]

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """The next rows, `arraysize` of them if no number is given."""
        rows = self._all_rows()[self._next :][: self.arraysize if size is None else size]
        self._next += len(rows)
        return rows

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows that are left."""
        rows = self._all_rows()[self._next :]
        self._next += len(rows)
        return rows

    def setinputsizes(self, sizes: object) -> None:
        """Nothing. DB-API has it."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Nothing. DB-API has it."""

    def close(self) -> None:
        """Forget the answer; the connection stays open."""
        self._charged, self._rows, self._is_open = None, None, False

    def _found(self) -> Charged:
        self._require_open()
        if self._charged is None:
            raise ParameterError("cursor", "Cursor", "asked something before its answer is read", shown("a new one"))
        return self._charged

    def _all_rows(self) -> list[tuple[Any, ...]]:
        found = self._found()
        if self._rows is None:
            columns = [column.to_pylist() for column in found.answer.table.columns]
            self._rows = list(zip(*columns, strict=True))
        return self._rows

    def _require_open(self) -> None:
        if not self._is_open:
            raise ParameterError("cursor", "Cursor", "open", shown("a closed one"))


def _description(field: pa.Field) -> Description:
    import pyarrow as pa

    kind = field.type
    precision = scale = None
    if pa.types.is_decimal(kind):
        name, precision, scale = "decimal", kind.precision, kind.scale
    elif pa.types.is_integer(kind):
        name = "integer"
    elif pa.types.is_floating(kind):
        name = "float"
    elif pa.types.is_boolean(kind):
        name = "boolean"
    elif pa.types.is_date(kind):
        name = "date"
    elif pa.types.is_timestamp(kind):
        name = "timestamp"
    elif pa.types.is_binary(kind):
        name = "binary"
    else:
        name = "text"
    return field.name, name, None, None, precision, scale, True


def _free_name(name: str, taken: Sequence[str]) -> str:
    """The name, with signs behind it that make it a new one."""
    return name if name not in taken else _free_name(f"{name}_", taken)


def _as_floats(column: pa.ChunkedArray) -> np.ndarray[Any, np.dtype[np.float64]]:
    import pyarrow as pa

    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64)


def _plain(table: pa.Table) -> pa.Table:
    """Decimals as floats: nobody wants to reckon with objects in a data frame."""
    import pyarrow as pa

    for place, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(pa.float64(), safe=False))
    return table


def _require_package(name: str) -> None:
    from importlib.util import find_spec

    if find_spec(name) is None:
        raise missing_package(name, None, DATA_FRAMES.format(library=name))


class _Answer(ShownRows):
    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def frame_columns(self) -> Mapping[str, Any]:
        return dict(zip(self._table.column_names, self._table.columns, strict=True))
