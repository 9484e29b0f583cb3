"""Counting rows, or reading counts, of tabular data into a table: DuckDB groups, NumPy places the distinct values."""

# ruff: noqa: S608 - names and texts are quoted by identifier() and literal()

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sudare.bilingual import Words
from sudare.domain import CountTable, Domain, Mesh, MeshList, SignedTable, Times
from sudare.domain.sparse_table import SparseTable
from sudare.errors import ParameterError
from sudare.io import complaints
from sudare.io.bounding import Selection, bounded_cells, bounded_rows
from sudare.io.columns import (
    AttributeColumn,
    WrongValueError,
    count_expression,
    exact_text,
    family_of,
    places_of_count_columns,
)
from sudare.io.engine import Progress, fetch_arrow, identifier, literal, numpy_of, open_engine, told
from sudare.io.points import PointColumn
from sudare.io.relations import FILE_COLUMN, ROW_COLUMN, SourceRelation, open_relation
from sudare.io.source import Source
from sudare.io.time_columns import PeriodColumn, TimeColumn

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

__all__ = ["Defaults", "PeopleLeftOut", "TabularReading", "count_rows", "read_signed_rows", "require_reading"]

SEPARATING = Words(
    "The same mesh comes once for each {columns}: choose one value of each with where, or make them attributes.",
    "同じメッシュが {columns} ごとに現れます。where で値を一つ選ぶか、属性にしてください。",
)
TEXTS_OR_WHOLE_NUMBERS = Words("texts or whole numbers", "文字または整数")

Table = TypeVar("Table", bound=SparseTable)


@dataclass(frozen=True)
class PeopleLeftOut:
    """People whose rows are left out.

    Attributes:
        salt: put before the person, with a null character between them.
        digests: SHA-256 of those texts, in hexadecimal.
    """

    salt: str
    digests: frozenset[str]


@dataclass(frozen=True)
class Defaults:
    """What a format brings with it.

    Attributes:
        rows: ``"people"`` or ``"counts"``.
        count: the column of counts.
        mesh: the column of mesh codes, where an attribute's own name is not a column.
        separating: columns that may separate several rows of one mesh.
    """

    rows: str
    count: str = "count"
    mesh: str | None = None
    separating: tuple[str, ...] = ()


def count_rows(
    source: Source,
    domain: Domain,
    defaults: Defaults,
    *,
    chosen: Selection,
    opted_out: PeopleLeftOut | None,
    memory: str,
    threads: int | None,
    progress: Progress | None,
) -> CountTable:
    """Count people, or read counts, from tabular data."""

    def read(reading: TabularReading) -> CountTable:
        if defaults.rows == "counts":
            return reading.read_counts(CountTable, progress)
        return reading.count_people(chosen, opted_out, progress)

    return _read_rows(source, domain, defaults, read, memory, threads)


def read_signed_rows(source: Source, domain: Domain) -> SignedTable:
    """Read a signed table, as it was published, from tabular data."""
    return _read_rows(source, domain, Defaults("counts"), lambda reading: reading.read_counts(SignedTable, None))


def _read_rows(
    source: Source,
    domain: Domain,
    defaults: Defaults,
    read: Callable[[TabularReading], Table],
    memory: str = "1GB",
    threads: int | None = None,
) -> Table:
    import duckdb

    with open_engine(memory, threads) as connection:
        relation: SourceRelation | None = None
        try:
            relation = open_relation(source, connection)
            return read(TabularReading(source, domain, defaults, connection, relation))
        except duckdb.Error as failure:
            if relation is not None and relation.failure is not None:
                raise relation.failure from None
            files, kind = (relation.files, relation.kind) if relation is not None else (source.paths, "data")
            is_query = source.query is not None or not files
            raise told(failure, files, kind, memory=memory, encoding=source.encoding, query=is_query) from None


def require_reading(
    source: Source, domain: Domain, defaults: Defaults, connection: DuckDBPyConnection, relation: SourceRelation
) -> None:
    """Refuse a source that lacks a column, or has one in a type that cannot hold what is wanted. No row is looked at.

    Raises:
        InputError: names the file and the column.
    """
    TabularReading(source, domain, defaults, connection, relation, peek=False)


@dataclass(frozen=True, eq=False)
class PossibleCounts:
    """Counts as rows state them.

    Attributes:
        values: of each attribute's column.
        places: of each column of counts, its axis and its place along it; None where there is one column alone.
        counts: of each column; below 0 where it is none that a table has.
    """

    values: list[Any]
    places: list[tuple[int, int] | None]
    counts: list[NDArray[np.int64]]


class TabularReading:
    """One reading of one source: which columns, which SQL, and where mistakes are."""

    def __init__(
        self,
        source: Source,
        domain: Domain,
        defaults: Defaults,
        connection: DuckDBPyConnection,
        relation: SourceRelation,
        *,
        peek: bool = True,
    ) -> None:
        self.peek = peek
        self.source, self.domain, self.defaults = source, domain, defaults
        self.connection, self.relation = connection, relation
        self.counts = self._count_columns()
        self.asked = self._asked_columns()
        spread = source.count_columns
        self.columns = [
            self._column_of(attribute)
            for attribute in domain.attributes
            if spread is None or attribute.name != spread[0]
        ]
        needed = [name for column in self.columns for name in column.names]
        if defaults.rows == "counts":
            needed += [self._required(name, "count") for _, name in self.counts]
        if source.person is not None:
            needed.append(self._required(source.person, "person"))
            self._check_person(source.person)
        needed += [self._required(name, "where") for name in source.where]
        self.needed = list(dict.fromkeys(needed))
        relation.check_files(self.needed, peek=peek)
        for column in self.columns:
            column.check_type(relation.first_file())

    def _fetch(self, sql: str, progress: Progress | None = None) -> Any:
        """The result of a query as a pyarrow table."""
        return fetch_arrow(self.connection, sql, progress)

    def _count_columns(self) -> list[tuple[int, str]]:
        """The columns of counts, each with its place along the attribute that stands in several columns."""
        spread = self.source.count_columns
        if spread is None:
            return [(0, self.source.count or self.defaults.count)]
        attribute = next((one for one in self.domain.attributes if one.name == spread[0]), None)
        if attribute is None:
            raise complaints.missing_attribute(spread[0])
        return places_of_count_columns(attribute, spread[1])

    def _asked_columns(self) -> list[str]:
        """Every name that the source asks for, whether or not it is there."""
        source = self.source
        names = [source.column_of(attribute.name) for attribute in self.domain.attributes]
        asked = [part.strip() for name in names for part in (name, *name.split(","))]
        asked += [name for name in (self.defaults.mesh, source.person) if name is not None]
        if self.defaults.rows == "counts":
            asked += [name for _, name in self.counts]
        return list(dict.fromkeys([*asked, *source.where]))

    def _required(self, name: str, purpose: str = "") -> str:
        if name not in self.relation.types:
            names, file = list(self.relation.types), self.relation.first_file()
            raise complaints.missing_column(name, names, file, purpose, asked=self.asked, peek=self.peek)
        return name

    def _column_of(self, attribute: Any) -> AttributeColumn:
        name = self.source.column_of(attribute.name)
        is_stated, is_mesh = attribute.name in self.source.columns, isinstance(attribute, (Mesh, MeshList))
        if not is_stated and name not in self.relation.types and is_mesh and self.defaults.mesh:
            name = self.defaults.mesh
        if is_mesh and name not in self.relation.types and name.count(",") == 1:
            latitude, longitude = (self._required(part.strip()) for part in name.split(","))
            if self.defaults.rows == "counts":
                requirement = Words(
                    "a column of mesh codes where rows are counts", "行が人数の場合はメッシュコードの列"
                )
                raise ParameterError("columns", "Source", requirement, name)
            kinds = self.relation.types
            return PointColumn(attribute, latitude, kinds[latitude], longitude, kinds[longitude])
        self._required(name)
        if isinstance(attribute, Times):
            kind = TimeColumn if self.defaults.rows == "people" else PeriodColumn
            return kind(attribute, name, self.relation.types[name])
        return AttributeColumn(attribute, name, self.relation.types[name])

    def _check_person(self, person: str) -> None:
        if family_of(self.relation.types[person]) not in ("text", "integer"):
            kind, file = self.relation.types[person], self.relation.first_file()
            raise complaints.wrong_type(person, kind, TEXTS_OR_WHOLE_NUMBERS, file)

    def _condition(self) -> str:
        parts = []
        for name, value in self.source.where.items():
            column = identifier(name)
            if isinstance(value, (str, bool)):
                text = str(value).lower() if isinstance(value, bool) else value
                parts.append(f"CAST({column} AS VARCHAR) = {literal(text)}")
            else:
                parts.append(f"TRY_CAST({column} AS DOUBLE) = {float(value)!r}::DOUBLE")
        return f" WHERE {' AND '.join(parts)}" if parts else ""

    def _selected(self, more: Sequence[str] = ()) -> str:
        """The raw values of every attribute, v0, v1, ..., of the rows that are wanted."""
        raws = [f"{column.raw} AS v{number}" for number, column in enumerate(self.columns)]
        rows = self.relation.rows(self.connection, self.needed)
        return f"SELECT {', '.join([*raws, *more])} FROM {rows}{self._condition()}"

    def _grouped(self) -> list[str]:
        return [f"{column.grouped(f'v{number}')} AS a{number}" for number, column in enumerate(self.columns)]

    def count_people(self, chosen: Selection, opted_out: PeopleLeftOut | None, progress: Progress | None) -> CountTable:
        """One for each row, at most this many for each person."""
        if self.source.person is not None and not chosen.bounds.is_by_rows:
            return self._count_cells_of_people(chosen, opted_out, progress)
        names = [f"a{number}" for number in range(len(self.columns))]
        grouped = self._grouped()
        if self.source.person is None:
            inner = self._selected()
            # Grouped by what the inner select gives as it is, so that DuckDB sees a plain column.
            sql = f"SELECT {', '.join(grouped)}, count(*) AS n FROM ({inner}) GROUP BY {', '.join(names)}"
        else:
            mistakes = [f"{name} IS NULL" for name in names]
            mistakes += [
                f"{name} < 0" for name, column in zip(names, self.columns, strict=True) if column.is_placed_by_sql
            ]
            kinds = dict(zip(names, (column.grouped_kind for column in self.columns), strict=True))
            person = self.relation.types[self.source.person]
            bounded = bounded_rows(self.rows_of_people(opted_out), kinds, mistakes, person, chosen)
            sql = (
                f"SELECT {', '.join(names)}, nobody, count(*) AS n FROM ({bounded}) GROUP BY {', '.join(names)}, nobody"
            )
        result = self._fetch(sql, progress).combine_chunks()
        self._refuse_nobody(result)
        result = self._within_windows(result)
        keys = self.domain.keys_at(*self._places(result))
        return CountTable.from_cells(self.domain, keys, numpy_of(result["n"]))

    def rows_of_people(self, opted_out: PeopleLeftOut | None, more: Mapping[str, str] | None = None) -> str:
        """The rows with their values and their person ``p``, without those who opted out; ``p`` is empty if no column tells it.

        Args:
            opted_out: who did.
            more: further expressions, by the names that they get.
        """
        name = self.source.person
        person = "''" if name is None else exact_text(identifier(name), self.relation.types[name])
        wanted = {"p": person, **(more or {})}
        selected = self._selected([f"{expression} AS {one}" for one, expression in wanted.items()])
        inner = f"SELECT {', '.join([*self._grouped(), *wanted])} FROM ({selected})"
        return f"(SELECT * FROM ({inner}){self._left_out(opted_out)})"

    def _refuse_nobody(self, result: Any) -> None:
        if self.source.person is None or not result.num_rows:
            return
        import pyarrow.compute

        if pyarrow.compute.any(result["nobody"]).as_py():
            raise complaints.missing_value(self.source.person, self._spot(f"{identifier(self.source.person)} IS NULL"))

    def _count_cells_of_people(
        self, chosen: Selection, opted_out: PeopleLeftOut | None, progress: Progress | None
    ) -> CountTable:
        """At most this many cells of each person. Values are brought to cells first: several may mean the same one."""
        import pyarrow

        names = [f"a{number}" for number in range(len(self.columns))]
        listed = ", ".join(names)
        distinct = f"SELECT DISTINCT {listed}, p IS NULL AS nobody FROM {self.rows_of_people(opted_out)}"
        self.connection.execute(
            f"CREATE TEMP TABLE sudare_values AS SELECT row_number() OVER () AS id, * FROM ({distinct})"
        )
        values = self._fetch("SELECT * FROM sudare_values").combine_chunks()
        self._refuse_nobody(values)
        values = self._within_windows(values)
        keys = self.domain.keys_at(*self._places(values)).astype(np.int64)
        self.connection.register("sudare_cells", pyarrow.table({"id": values["id"], "cell": keys}))
        same = " AND ".join(f"people.{name} IS NOT DISTINCT FROM sudare_values.{name}" for name in names)
        placed = (
            f"(SELECT p, cell FROM {self.rows_of_people(opted_out)} AS people JOIN sudare_values ON {same} "
            "JOIN sudare_cells USING (id))"
        )
        person = "VARCHAR" if self.source.person is None else self.relation.types[self.source.person]
        result = self._fetch(bounded_cells(placed, person, chosen), progress).combine_chunks()
        counts = numpy_of(result["n"])
        return CountTable.from_cells(self.domain, numpy_of(result["cell"]), counts)

    def _left_out(self, opted_out: PeopleLeftOut | None) -> str:
        if opted_out is None or not opted_out.digests:
            return ""
        import pyarrow

        digests = pyarrow.table({"digest": sorted(opted_out.digests)})
        self.connection.register("sudare_opted_out", digests)
        text = f"{literal(opted_out.salt)} || chr(0) || CAST(p AS VARCHAR)"
        return f" WHERE p IS NULL OR sha256({text}) NOT IN (SELECT digest FROM sudare_opted_out)"

    def read_counts(self, table_kind: type[Table], progress: Progress | None) -> Table:
        """A count from each row, or several; each cell, or number within a bin, may have one row."""
        file = self.relation.first_file()
        counts = [count_expression(name, self.relation.types[name], file, table_kind) for _, name in self.counts]
        raws = [f"v{number} AS r{number}" for number, column in enumerate(self.columns) if column.is_placed_by_sql]
        amounts = [f"n{number}" for number in range(len(counts))]
        named = [f"{count} AS {name}" for count, name in zip(counts, amounts, strict=True)]
        sql = f"SELECT {', '.join([*self._grouped(), *raws, *amounts])} FROM ({self._selected(named)})"
        result = self._fetch(sql, progress).combine_chunks()
        for name, (_, column), count in zip(amounts, self.counts, counts, strict=True):
            self._check_counts(result[name], column, count, table_kind)
        result = self._within_windows(result)
        places = self._places(result)
        rows = result.num_rows
        keys = [self.domain.keys_at(*self._with_count_column(places, place, rows)) for place, _ in self.counts]
        people = np.concatenate([numpy_of(result[name]) for name in amounts])
        try:
            table = table_kind.from_cells(self.domain, np.concatenate(keys), people)
        except ParameterError:
            raise complaints.too_many(self.counts[0][1]) from None
        if table.keys.size < people.size:  # some cells came twice, or with nobody in them
            self._refuse_repeated(result, keys[0])
        return table

    def possible_counts(self) -> PossibleCounts:
        """What each row says, checked by nobody: a count is below 0 where it is none that a table has."""
        file = self.relation.first_file()
        counts = [count_expression(name, self.relation.types[name], file) for _, name in self.counts]
        amounts = [f"n{number}" for number in range(len(counts))]
        named = [f"coalesce({count}, -1) AS {name}" for count, name in zip(counts, amounts, strict=True)]
        sql = f"SELECT {', '.join([*self._grouped(), *amounts])} FROM ({self._selected(named)})"
        result = self._fetch(sql, None).combine_chunks()
        return PossibleCounts(
            values=[result[f"a{number}"] for number in range(len(self.columns))],
            places=[None if self.source.count_columns is None else (self._spread_axis(), at) for at, _ in self.counts],
            counts=[numpy_of(result[name]).astype(np.int64) for name in amounts],
        )

    def _check_counts(self, values: Any, column: str, count: str, table_kind: type[SparseTable]) -> None:
        if values.null_count:
            raise complaints.missing_value(column, self._spot(f"{identifier(column)} IS NULL"))
        amounts = numpy_of(values)
        if amounts.size and amounts.min() < table_kind.lowest:
            raise complaints.wrong_count(column, self._spot(f"({count}) < {table_kind.lowest}"), table_kind)

    def _with_count_column(self, places: list[NDArray[np.int64]], place: int, rows: int) -> list[NDArray[np.int64]]:
        """Places along all axes, where those of the attribute that stands in several columns are all the same."""
        if self.source.count_columns is None:
            return places
        axis = self._spread_axis()
        return [*places[:axis], np.full(rows, place, dtype=np.int64), *places[axis:]]

    def _spread_axis(self) -> int:
        """The axis of the attribute that stands in several columns."""
        axis = 0
        for attribute in self.domain.attributes:
            if self.source.count_columns is not None and attribute.name == self.source.count_columns[0]:
                break
            axis += len(attribute.shape)
        return axis

    def _refuse_repeated(self, result: Any, keys: NDArray[np.uint64]) -> None:
        """Different numbers may fall in one bin, and are added up; the same values twice are a mistake."""
        by_number = [numpy_of(result[name]) for name in result.column_names if name.startswith("r")]
        by_number += [
            numpy_of(result[f"a{number}"])
            for number, column in enumerate(self.columns)
            if column.raw != identifier(column.name) and not column.is_placed_by_sql
        ]
        order = np.lexsort((*by_number, keys))
        same = keys[order][1:] == keys[order][:-1]
        for numbers in by_number:
            same &= numbers[order][1:] == numbers[order][:-1]
        repeated = np.flatnonzero(same)
        if repeated.size == 0:
            return
        row = int(order[repeated[0]])
        named = [number for number, column in enumerate(self.columns) if not column.is_placed_by_sql]
        values = [result[f"a{number}"][row].as_py() for number in named]
        hint = self._hint_of_separating()
        raise complaints.repeated_cell([self.columns[number].name for number in named], values, hint)

    def _hint_of_separating(self) -> Words | None:
        used = {column.name for column in self.columns} | set(self.source.where)
        free = [name for name in self.defaults.separating if name not in used and name in self.relation.types]
        return SEPARATING.format(columns=", ".join(free)) if free else None

    def _within_windows(self, result: Any) -> Any:
        """What is in the window of every mesh, where the source says to leave out the rest."""
        if self.source.outside == "refuse":
            return result
        for number, column in enumerate(self.columns):
            result = result.filter(self._checked(number, column, result, column.inside)).combine_chunks()
        return result

    def _places(self, result: Any) -> list[NDArray[np.int64]]:
        places: list[NDArray[np.int64]] = []
        for number, column in enumerate(self.columns):
            places.extend(self._checked(number, column, result, column.places))
        return places

    def _checked(self, number: int, column: AttributeColumn, result: Any, read: Callable[[Any], Any]) -> Any:
        """Read a column of the result; a mistake is looked for in the data, and reported."""
        values = result[f"a{number}"]
        if values.null_count:
            raise complaints.missing_value(", ".join(column.names), self._spot(column.is_missing))
        try:
            return read(values.combine_chunks())
        except WrongValueError as wrong:
            spot = self._spot(column.finds(wrong.value))
            # Of people, a value is somebody's; of a table, it is the label of a cell.
            label = wrong.value if wrong.is_label and self.defaults.rows == "counts" else None
            raise complaints.wrong_value(", ".join(column.names), wrong.allowed, spot, label, wrong.hint) from None

    def _spot(self, condition: str) -> complaints.Spot:
        """The first row that fulfils a condition; this reads the data once more."""
        rows = self.relation.numbered_rows(self.connection, self.needed)
        if rows is None:
            return complaints.Spot()
        wanted = self._condition()
        also = f"{wanted} AND ({condition})" if wanted else f" WHERE {condition}"
        sql = f"SELECT {FILE_COLUMN}, {ROW_COLUMN} FROM {rows}{also} ORDER BY {FILE_COLUMN}, {ROW_COLUMN} LIMIT 1"
        found = self.connection.execute(sql).fetchone()
        return (
            complaints.Spot(self.relation.first_file()) if found is None else complaints.Spot(found[0], int(found[1]))
        )
