"""Counting rows, or reading counts, of tabular data into a table: DuckDB groups, NumPy places the distinct values."""

# ruff: noqa: S608 - names and texts are quoted by identifier() and literal()

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.domain import CountTable, Domain, Mesh
from sudare.errors import ParameterError
from sudare.io import complaints
from sudare.io.columns import AttributeColumn, WrongValueError, count_expression, family_of
from sudare.io.engine import Progress, fetch_arrow, identifier, literal, numpy_of, open_engine, told
from sudare.io.points import PointColumn
from sudare.io.relations import FILE_COLUMN, ROW_COLUMN, Relation, open_relation
from sudare.io.source import Source

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

__all__ = ["Defaults", "OptedOut", "count_rows"]


@dataclass(frozen=True)
class OptedOut:
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
    rows_per_person: int,
    opted_out: OptedOut | None,
    memory: str,
    threads: int | None,
    progress: Progress | None,
) -> CountTable:
    """Count people, or read counts, from tabular data."""
    import duckdb

    with open_engine(memory, threads) as connection:
        relation: Relation | None = None
        try:
            relation = open_relation(source, connection)
            reading = _Reading(source, domain, defaults, connection, relation)
            if defaults.rows == "counts":
                return reading.read_counts(progress)
            return reading.count_people(rows_per_person, opted_out, progress)
        except duckdb.Error as failure:
            if relation is not None and relation.failure is not None:
                raise relation.failure from None
            files, kind = (relation.files, relation.kind) if relation is not None else (source.paths, "data")
            is_query = source.query is not None or not files
            raise told(failure, files, kind, memory=memory, encoding=source.encoding, query=is_query) from None


class _Reading:
    """One reading of one source: which columns, which SQL, and where mistakes are."""

    def __init__(
        self,
        source: Source,
        domain: Domain,
        defaults: Defaults,
        connection: DuckDBPyConnection,
        relation: Relation,
    ) -> None:
        self.source, self.domain, self.defaults = source, domain, defaults
        self.connection, self.relation = connection, relation
        self.count = source.count or defaults.count
        self.columns = [self._column_of(attribute) for attribute in domain.attributes]
        needed = [name for column in self.columns for name in column.names]
        if defaults.rows == "counts":
            needed.append(self._required(self.count, "count"))
        if source.person is not None:
            needed.append(self._required(source.person, "person"))
            self._check_person(source.person)
        needed += [self._required(name, "where") for name in source.where]
        self.needed = list(dict.fromkeys(needed))
        relation.check_files(self.needed)
        for column in self.columns:
            column.check_type(relation.first_file())

    def _required(self, name: str, purpose: str = "") -> str:
        if name not in self.relation.types:
            raise complaints.missing_column(name, list(self.relation.types), self.relation.first_file(), purpose)
        return name

    def _column_of(self, attribute: Any) -> AttributeColumn:
        name = self.source.columns.get(attribute.name, attribute.name)
        is_stated = attribute.name in self.source.columns
        if not is_stated and name not in self.relation.types and isinstance(attribute, Mesh) and self.defaults.mesh:
            name = self.defaults.mesh
        if isinstance(attribute, Mesh) and name not in self.relation.types and name.count(",") == 1:
            latitude, longitude = (self._required(part.strip()) for part in name.split(","))
            if self.defaults.rows == "counts":
                requirement = "a column of mesh codes where rows are counts"
                raise ParameterError("columns", "Source", requirement, name)
            kinds = self.relation.types
            return PointColumn(attribute, latitude, kinds[latitude], longitude, kinds[longitude])
        self._required(name)
        return AttributeColumn(attribute, name, self.relation.types[name])

    def _check_person(self, person: str) -> None:
        if family_of(self.relation.types[person]) not in ("text", "integer"):
            kind, file = self.relation.types[person], self.relation.first_file()
            raise complaints.wrong_type(person, kind, "texts or whole numbers", "文字または整数", file)

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

    def count_people(self, rows_per_person: int, opted_out: OptedOut | None, progress: Progress | None) -> CountTable:
        """One for each row, at most so many for each person."""
        names = [f"a{number}" for number in range(len(self.columns))]
        grouped = self._grouped()
        if self.source.person is None:
            inner = self._selected()
            # Grouped by what the inner select gives as it is, so that DuckDB sees a plain column.
            sql = f"SELECT {', '.join(grouped)}, count(*) AS n FROM ({inner}) GROUP BY {', '.join(names)}"
        else:
            person = identifier(self.source.person)
            inner = f"SELECT {', '.join([*grouped, 'p'])} FROM ({self._selected([f'{person} AS p'])})"
            left_out = self._left_out(opted_out)
            # What is kept depends on this person's rows only. Mistakes are kept first, so that they are told; the rest in an
            # order that favours no cell.
            mistakes = [f"{name} IS NULL" for name in names]
            mistakes += [
                f"{name} < 0" for name, column in zip(names, self.columns, strict=True) if column.is_placed_by_sql
            ]
            order = f"({' OR '.join(mistakes)}) DESC, hash(p, {', '.join(names)}), {', '.join(names)}"
            bounded = (
                f"SELECT {', '.join(names)}, p IS NULL AS nobody FROM ({inner}){left_out} "
                f"QUALIFY row_number() OVER (PARTITION BY p ORDER BY {order}) <= {rows_per_person}"
            )
            sql = (
                f"SELECT {', '.join(names)}, nobody, count(*) AS n FROM ({bounded}) GROUP BY {', '.join(names)}, nobody"
            )
        result = fetch_arrow(self.connection, sql, progress).combine_chunks()
        if self.source.person is not None and result.num_rows:
            import pyarrow.compute

            if pyarrow.compute.any(result["nobody"]).as_py():
                raise complaints.missing_value(
                    self.source.person, self._spot(f"{identifier(self.source.person)} IS NULL")
                )
        result = self._within_windows(result)
        keys = self.domain.keys_at(*self._places(result))
        return CountTable.from_cells(self.domain, keys, numpy_of(result["n"]))

    def _left_out(self, opted_out: OptedOut | None) -> str:
        if opted_out is None or not opted_out.digests:
            return ""
        import pyarrow

        digests = pyarrow.table({"digest": sorted(opted_out.digests)})
        self.connection.register("sudare_opted_out", digests)
        text = f"{literal(opted_out.salt)} || chr(0) || CAST(p AS VARCHAR)"
        return f" WHERE p IS NULL OR sha256({text}) NOT IN (SELECT digest FROM sudare_opted_out)"

    def read_counts(self, progress: Progress | None) -> CountTable:
        """A count from each row; each cell, or number within a bin, may have one row."""
        kind, file = self.relation.types[self.count], self.relation.first_file()
        count = count_expression(self.count, kind, file)
        raws = [f"v{number} AS r{number}" for number, column in enumerate(self.columns) if column.is_placed_by_sql]
        wanted = [*self._grouped(), *raws, "n"]
        sql = f"SELECT {', '.join(wanted)} FROM ({self._selected([f'{count} AS n'])})"
        result = fetch_arrow(self.connection, sql, progress).combine_chunks()
        if self.source.where and result.num_rows == 0:
            raise complaints.nothing_kept(list(self.source.where.items()))
        if result["n"].null_count:
            raise complaints.missing_value(self.count, self._spot(f"{identifier(self.count)} IS NULL"))
        amounts = numpy_of(result["n"])
        if amounts.size and amounts.min() < 0:
            raise complaints.wrong_count(self.count, self._spot(f"({count}) < 0"))
        result = self._within_windows(result)
        keys = self.domain.keys_at(*self._places(result))
        amounts = numpy_of(result["n"])
        try:
            table = CountTable.from_cells(self.domain, keys, amounts)
        except ParameterError:
            raise complaints.too_many(self.count) from None
        if table.keys.size < amounts.size:  # some cells came twice, or with nobody in them
            self._refuse_repeated(result, keys)
        return table

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
        hints = self._hints_of_separating()
        raise complaints.repeated_cell([self.columns[number].name for number in named], values, *hints)

    def _hints_of_separating(self) -> tuple[str, str]:
        used = {column.name for column in self.columns} | set(self.source.where)
        free = [name for name in self.defaults.separating if name not in used and name in self.relation.types]
        if not free:
            return "", ""
        listed = ", ".join(free)
        return (
            f"The same mesh comes once for each {listed}: choose one value of each with where, or make them attributes.",
            f"同じメッシュが {listed} ごとに現れます。where で値を一つ選ぶか、属性にしてください。",
        )

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
        """Read a column of the result; a mistake is looked for in the data, and told."""
        values = result[f"a{number}"]
        if values.null_count:
            raise complaints.missing_value(", ".join(column.names), self._spot(column.is_missing))
        try:
            return read(values.combine_chunks())
        except WrongValueError as wrong:
            spot = self._spot(column.finds(wrong.value))
            label = wrong.value if wrong.is_label else None
            raise complaints.wrong_value(", ".join(column.names), wrong.allowed, spot, label) from None

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
