"""Neighbouring databases in one DuckDB: which unit is missing, or replaced, is a variable that its views look at."""

# ruff: noqa: S608 - queries of our own over data of our own

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from sqlglot import exp

from sudare.sql.execution import answering
from sudare.sql.execution.local import Local
from sudare.sql.frontend.naming import Names
from sudare.sql.frontend.parsing import parse_query
from sudare.sql.measures.measures import QuantileMeasure, SumMeasure
from sudare.sql.measures.planning import MeasuredTable, QueryPlan, plan_query
from sudare.sql.metadata.file import read_metadata
from sudare.sql.metadata.model import Metadata
from tests.unit.sql.memory_engine import MemoryEngine

Row = tuple[object, ...]
Measured = dict[tuple[str, str], dict[object, int]]
"""Whole numbers before the noise, by measured table and measure, and by group."""


@dataclass(frozen=True)
class Rows:
    """The rows of one table of a database.

    Attributes:
        columns: each with its type, as CREATE TABLE has them.
        rows: each with its owner in front (None: nobody's, or a public row), and whether it stands there only after its owner
            was replaced.
    """

    columns: tuple[str, ...]
    rows: Sequence[tuple[object, bool, Row]]


class Neighbours:
    """A database, with each of its units missing or replaced at will."""

    def __init__(self, tables: Mapping[str, Rows]) -> None:
        self.engine = MemoryEngine("SET threads = 1; SET VARIABLE gone = -1; SET VARIABLE replaced = false")
        self._run = self.engine._connection.execute
        for name, table in tables.items():
            names = ", ".join(column.split()[0] for column in table.columns)
            self._run(f"CREATE TABLE raw_{name}(own INT, later BOOLEAN, {', '.join(table.columns)})")
            if table.rows:
                marks = ", ".join("?" for _ in range(2 + len(table.columns)))
                self.engine._connection.executemany(
                    f"INSERT INTO raw_{name} VALUES ({marks})",
                    [[owner, later, *row] for owner, later, row in table.rows],
                )
            self._run(
                f"CREATE VIEW {name} AS SELECT {names} FROM raw_{name} WHERE CASE WHEN later THEN "
                "getvariable('replaced') AND own = getvariable('gone') ELSE own IS DISTINCT FROM getvariable('gone') END"
            )
        owners = {owner for table in tables.values() for owner, _, _ in table.rows if owner is not None}
        self.units: list[int] = sorted(int(str(owner)) for owner in owners)

    def all_units(self) -> None:
        """Everybody is there, as they were."""
        self._run("SET VARIABLE gone = -1; SET VARIABLE replaced = false")

    def others(self, *, replaced: bool) -> Iterator[int]:
        """One neighbour after the other; each time the unit that is missing or replaced."""
        for unit in self.units:
            self._run(f"SET VARIABLE gone = {unit}; SET VARIABLE replaced = {str(replaced).lower()}")
            yield unit
        self.all_units()


def metadata_of(text: str, folder: Path) -> Metadata:
    """Metadata from the text of its file."""
    path = folder / "metadata.toml"
    path.write_text(text, encoding="utf-8")
    return read_metadata(path)


def plan_of(query: str, metadata: Metadata) -> QueryPlan:
    """The plan of a query in DuckDB's SQL."""
    return plan_query(parse_query(query, "duckdb"), metadata, Names(metadata, "duckdb"))


class Measuring:
    """The whole numbers before the noise, for one database after the other.

    Args:
        plan: of the query.
        engine: of the databases.
    """

    def __init__(self, plan: QueryPlan, engine: MemoryEngine) -> None:
        self.plan, self._engine = plan, engine
        self._queries = {
            table.name: (
                None if table.query is None else self._whole(table.query),
                {name: self._whole(tree) for name, tree in table.quantile_queries.items()},
            )
            for table in plan.tables
        }
        self._listed = {table.name: self._groups(table) for table in plan.tables}

    def _whole(self, tree: exp.Select) -> str:
        for listed in self.plan.left_out.values():
            tree = tree.with_(exp.to_identifier(listed.name, quoted=True), as_=listed.query.copy())
        return self.plan.sql(tree)

    def _groups(self, table: MeasuredTable) -> list[Row] | None:
        """The groups of public keys, as often as they are published; None where keys are not public."""
        if not table.keys or table.presence is not None or table.is_public:
            return None
        fetched = answering._fetch(self.plan, self._engine, answering.LeftOutLists(self._engine), None)[table.name]
        with Local() as local:
            keys = local.all_keys(table.keys, fetched.key_values, answering._key_types(table, fetched))
        return list(zip(*(keys.column(key.name).to_pylist() for key in table.keys), strict=True))

    def now(self) -> Measured:
        """What the database says at present."""
        found: Measured = {}
        for table in self.plan.tables:
            query, histograms = self._queries[table.name]
            rows = [] if query is None else self._engine._connection.execute(query).fetchall()
            listed, number = self._listed[table.name], len(table.keys)
            groups = [repr(row[:number]) for row in rows]
            if len(set(groups)) < len(groups):
                raise AssertionError("a group stands there twice")
            for i, measure in enumerate(table.sums):
                numbers = [_whole_number(row[number + i], measure.scale) // 10**measure.coarse for row in rows]
                own: dict[object, int] = dict(zip(groups, numbers, strict=True))
                if listed is not None:
                    own = {(place, group): own.get(repr(group), 0) for place, group in enumerate(listed)}
                found[table.name, measure.name] = own
            for name, histogram in histograms.items():
                counted = self._engine._connection.execute(histogram).fetchall()
                found[table.name, name] = {repr(row[:-1]): row[-1] for row in counted}
        return found


def _whole_number(value: object, scale: int) -> int:
    number = Fraction(0 if value is None else str(value)) * 10**scale
    if number.denominator != 1:
        raise AssertionError("a sum is not on its grid")
    return int(number)


def excess(plan: QueryPlan, one: Measured, other: Measured) -> list[str]:
    """What changed by more than the plan says; empty if nothing did."""
    found = []
    for table in plan.tables:
        both: list[SumMeasure | QuantileMeasure] = [*table.sums, *table.quantiles]
        for measure in both:
            ours, theirs = one.get((table.name, measure.name), {}), other.get((table.name, measure.name), {})
            differences = [abs(ours.get(group, 0) - theirs.get(group, 0)) for group in ours.keys() | theirs.keys()]
            l1, l2 = sum(differences), sum(difference**2 for difference in differences)
            if isinstance(measure, SumMeasure):
                most, squares = measure.sensitivity.l1, measure.sensitivity.l2_squared
            else:
                most = measure.rows * (2 if plan.metadata.adjacency == "replace" else 1)
                squares = most**2
            if l1 > most or l2 > squares:
                found.append(f"{measure.what}: l1 {l1} of {most}, squared l2 {l2} of {squares}")
    return found
