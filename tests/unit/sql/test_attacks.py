"""Attacks on private answers: nobody's rows decide whether a query fails, and no stated sensitivity is too small."""

# ruff: noqa: S608 - queries of our own over data of our own

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from sudare import Budget
from sudare.attacks import audit_epsilon
from sudare.engines import Engine, open_engine
from sudare.errors import DatabaseError, LedgerError, QueryRefusedError
from sudare.sql.execution.answering import LeftOutLists, answer
from sudare.sql.frontend.naming import Names
from sudare.sql.frontend.parsing import parse_query
from sudare.sql.measures import allocating, planning
from sudare.sql.measures.allocating import allocate
from sudare.sql.measures.planning import QueryPlan, plan_query
from sudare.sql.measures.sparse import publish_sparse
from sudare.sql.metadata.model import Metadata
from sudare.sql.metadata.promises import require_schema
from tests.contracts.sql_servers import Servers, running_servers
from tests.unit.sql.neighbours import Measuring, Neighbours, Rows, excess, metadata_of
from tests.unit.sql.shops import ask_shop, open_shop

BUDGET = Budget(epsilon=1, delta=1e-6)
ONE_COLUMN = """
[unit]
name = "person"
[tables.people]
unit = "id"
max_rows = 1
[tables.people.columns]
id = {{ type = "integer" }}
name = {{ type = "text" }}
x = {{ {x} }}
y = {{ {y} }}
"""
"""A table with two columns whose types are to be filled in."""


def described(x: str, y: str, folder: Path) -> Metadata:
    return metadata_of(ONE_COLUMN.format(x=x, y=y), folder)


def outcome(engine: Engine, metadata: Metadata, query: str) -> str:
    """What somebody who asks sees besides noisy numbers: whether the answer comes."""
    try:
        plan = plan_query(parse_query(query, engine.dialect), metadata, Names(metadata, engine.dialect))
    except QueryRefusedError:
        return "refused"
    allocation = allocate(plan, BUDGET)
    try:
        require_schema(engine, metadata, plan.used)
    except DatabaseError:
        return "refused"
    try:
        answer(plan, allocation, engine, LeftOutLists(engine))
    except DatabaseError:
        return "failed"
    return "answered"


def outcomes_in_duckdb(
    folder: Path, metadata: Metadata, types: tuple[str, str], row: str, query: str
) -> tuple[str, str]:
    """The outcome without and with the row of one person, beside one whom no query fails for."""
    found = []
    for name, rows in (("without", ""), ("with", f"INSERT INTO people VALUES (2, 'zoe', {row})")):
        path = folder / f"{name}.duckdb"
        with duckdb.connect(str(path)) as database:
            database.execute(f"CREATE TABLE people (id INTEGER, name VARCHAR, x {types[0]}, y {types[1]})")
            database.execute("INSERT INTO people VALUES (1, 'ann', NULL, NULL)")
            if rows:
                database.execute(rows)
        with open_engine(path) as engine:
            found.append(outcome(engine, metadata, query))
    return found[0], found[1]


class TestNobodyDecidesWhetherAQueryFails:
    """A failure behind the reservation is seen, and no noise hides it: it tells exactly whether a row is there."""

    @pytest.mark.parametrize(
        ("kind", "bounds", "value", "expression"),
        [
            ("INTEGER", "[0, 1000000]", "50000", "x * x > 3"),
            ("INTEGER", "[0, 1000000]", "500000", "x * 5000 > 3"),
            ("SMALLINT", "[0, 100]", "100", "x * 1000 > 3"),
            ("TINYINT", "[0, 100]", "100", "x * x > 3"),
            ("TINYINT", "[0, 100]", "100", "x + x > 3"),
            ("UTINYINT", "[0, 100]", "3", "-x < 3"),
            ("UINTEGER", "[0, 100]", "3", "y - x < 3"),
            ("UBIGINT", "[0, 100]", "3", "y - x < 3"),
            ("UBIGINT", "[0, 100]", "3", "abs(y - x) < 3"),
        ],
    )
    def test_calculating_with_integers_of_any_width(
        self, kind: str, bounds: str, value: str, expression: str, tmp_path: Path
    ) -> None:
        column = f'type = "integer", bounds = {bounds}'
        metadata = described(column, column, tmp_path)
        query = f"SELECT count(*) AS n FROM people WHERE name = 'zoe' AND {expression}"
        without, with_her = outcomes_in_duckdb(tmp_path, metadata, (kind, kind), f"{value}, 0", query)
        assert with_her == without

    @pytest.mark.parametrize("aggregate", ["sum(x * x)", "avg(x * x)", "count(DISTINCT x * x)", "median(x * x)"])
    def test_aggregates_of_products(self, aggregate: str, tmp_path: Path) -> None:
        column = 'type = "integer", bounds = [0, 1000]'
        metadata = described(column, column, tmp_path)
        query = f"SELECT {aggregate} AS n FROM people"
        without, with_her = outcomes_in_duckdb(tmp_path, metadata, ("SMALLINT", "SMALLINT"), "1000, 0", query)
        assert with_her == without

    @pytest.mark.parametrize("expression", ["x * y > 3", "x * 1000000 > 3"])
    def test_decimals_that_are_narrower_than_described(self, expression: str, tmp_path: Path) -> None:
        column = 'type = "decimal(38,4)", bounds = [-1000000000, 1000000000]'
        metadata = described(column, column, tmp_path)
        query = f"SELECT count(*) AS n FROM people WHERE {expression}"
        types = ("DECIMAL(18,4)", "DECIMAL(18,4)")
        without, with_her = outcomes_in_duckdb(tmp_path, metadata, types, "999999999, 999999999", query)
        assert with_her == without

    @pytest.mark.parametrize(
        ("types", "row", "query"),
        [
            # A constant that nanoseconds do not reach is converted when the first row is compared with it.
            (
                ("TIMESTAMP_NS", "TIMESTAMP"),
                "'2026-01-01', '2026-01-01'",
                "SELECT count(*) AS n FROM people WHERE name = 'zoe' AND x > TIMESTAMP '3000-01-01'",
            ),
            (
                ("TIMESTAMP_NS", "TIMESTAMP"),
                "'2026-01-01', '2026-01-01'",
                "SELECT extract(month FROM x) AS m, count(*) AS n FROM people WHERE name = 'zoe' GROUP BY 1",
            ),
            (
                ("TIMESTAMP_NS", "TIMESTAMP"),
                "'2026-01-01', '3000-01-01'",
                "SELECT count(*) AS n FROM people WHERE name = 'zoe' AND x > y",
            ),
            (
                ("TIMESTAMP_NS", "TIMESTAMP"),
                "'2026-01-01', '3000-01-01'",
                "SELECT count(*) AS n FROM (SELECT x FROM people UNION ALL SELECT y FROM people) t",
            ),
            (
                ("TIMESTAMP_NS", "TIMESTAMP_S"),
                "'2026-01-01', '3000-01-01'",
                "SELECT coalesce(y, x) AS k, count(*) AS n FROM people GROUP BY 1",
            ),
            (
                ("TIMESTAMP_S", "TIMESTAMP"),
                "'infinity', NULL",
                "SELECT x AS k, count(*) AS n FROM people GROUP BY x",
            ),
            (
                ("TIMESTAMP_MS", "TIMESTAMP"),
                "'-infinity', NULL",
                "SELECT x AS k, count(*) AS n FROM people GROUP BY x",
            ),
        ],
    )
    def test_timestamps_of_any_precision(self, types: tuple[str, str], row: str, query: str, tmp_path: Path) -> None:
        metadata = described('type = "timestamp"', 'type = "timestamp"', tmp_path)
        without, with_her = outcomes_in_duckdb(tmp_path, metadata, types, row, query)
        assert with_her == without

    def test_whole_numbers_wider_than_64_bits(self, tmp_path: Path) -> None:
        metadata = described('type = "integer"', 'type = "decimal(38,2)"', tmp_path)
        query = "SELECT count(*) AS n FROM people WHERE x = y"
        types = ("HUGEINT", "DECIMAL(38,2)")
        without, with_her = outcomes_in_duckdb(tmp_path, metadata, types, f"{10**38 - 1}, 1", query)
        assert with_her == without


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    with running_servers() as started:
        yield started


@pytest.fixture
def postgres(servers: Servers) -> Callable[[str, str | None], Engine]:
    """Makes a database with one harmless person, and perhaps another one."""
    import psycopg

    def make(kind: str, row: str | None) -> Engine:
        location = servers.postgres().new_location()
        with psycopg.connect(location) as connection:
            connection.execute(f"CREATE TABLE people (id int, name text, x {kind}, y int)".encode())
            connection.execute(b"INSERT INTO people VALUES (1, 'ann', NULL, 0)")
            if row is not None:
                connection.execute(f"INSERT INTO people VALUES (2, 'zoe', '{row}', 50000)".encode())
        return open_engine(location)

    return make


@pytest.mark.slow
class TestNobodyDecidesWhetherAQueryFailsInPostgres:
    @pytest.mark.parametrize(
        ("kind", "column", "value"),
        [
            ("date", 'type = "date"', "infinity"),
            ("date", 'type = "date", values = [2026-01-01, 2026-01-02]', "0044-03-15 BC"),
            ("date", 'type = "date"', "12026-01-01"),
            ("timestamp", 'type = "timestamp"', "infinity"),
            ("timestamptz", 'type = "timestamp"', "-infinity"),
            ("timestamp", 'type = "timestamp"', "12026-01-01"),
            ("numeric", 'type = "decimal"', "NaN"),
            ("numeric", 'type = "decimal"', "1e200"),
            ("numeric(10,2)", 'type = "decimal(10,2)", values = [1, 2]', "NaN"),
            ("numeric(10,2)", 'type = "decimal(10,2)", bounds = [0, 10]', "NaN"),
        ],
    )
    def test_keys_that_only_postgres_knows(
        self, kind: str, column: str, value: str, tmp_path: Path, postgres: Callable[[str, str | None], Engine]
    ) -> None:
        metadata = described(column, 'type = "integer"', tmp_path)
        found = []
        for row in (None, value):
            with postgres(kind, row) as engine:
                found.append(outcome(engine, metadata, "SELECT x AS k, count(*) AS n FROM people GROUP BY x"))
        assert found[1] == found[0]

    def test_calculating_with_integers(self, tmp_path: Path, postgres: Callable[[str, str | None], Engine]) -> None:
        metadata = described('type = "text"', 'type = "integer", bounds = [0, 1000000]', tmp_path)
        found = []
        for row in (None, "x"):
            with postgres("text", row) as engine:
                found.append(
                    outcome(engine, metadata, "SELECT count(*) AS n FROM people WHERE name = 'zoe' AND y * y > 3")
                )
        assert found[1] == found[0]

    @pytest.mark.parametrize(
        ("encoding", "text"), [("SQL_ASCII", rb"E'\xff\xfe'"), ("EUC_JP", rb"E'\xfe\xfe'")], ids=["SQL_ASCII", "EUC_JP"]
    )
    def test_texts_that_are_not_unicode(self, encoding: str, text: bytes, tmp_path: Path, servers: Servers) -> None:
        import psycopg

        metadata = described('type = "text"', 'type = "integer"', tmp_path)
        found = []
        for row in (None, text):
            name = f"attack_{encoding}_{row is None}".lower()
            with psycopg.connect(servers.postgres().url(), autocommit=True) as connection:
                connection.execute(
                    f"CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'".encode()
                )
            location = servers.postgres().url(name)
            with psycopg.connect(location, client_encoding=encoding) as connection:
                connection.execute(b"CREATE TABLE people (id int, name text, x text, y int)")
                if row is not None:
                    connection.execute(b"INSERT INTO people VALUES (2, 'zoe', " + row + b", 0)")
            try:
                with open_engine(location) as engine:
                    found.append(outcome(engine, metadata, "SELECT x AS k, count(*) AS n FROM people GROUP BY x"))
            except DatabaseError:
                found.append("refused")
        assert found[1] == found[0]


LINKED = """
[unit]
name = "visit"
adjacency = "{adjacency}"
[tables.visit]
unit = "row"
key = ["id"]
[tables.visit.columns]
id = {{ type = "integer", nullable = false }}
town = {{ type = "integer", max_frequency = 2 }}
[tables.item]
unit = "visit -> visit.id"
max_rows = 1
[tables.item.columns]
visit = {{ type = "integer", nullable = false }}
town = {{ type = "integer", max_frequency = 2 }}
"""
"""Each visit is a unit, and its items belong to it: one unit has rows in both tables."""


def elastic_plan(query: str, metadata: Metadata) -> QueryPlan:
    return plan_query(parse_query(query, "duckdb"), metadata, Names(metadata, "duckdb"), elastic=True)


class TestElasticJoins:
    def test_a_row_that_is_a_unit_changes_together_with_what_leads_to_it(self, tmp_path: Path) -> None:
        metadata = metadata_of(LINKED.format(adjacency="add-remove"), tmp_path)
        plan = elastic_plan("SELECT count(*) AS n FROM visit JOIN item ON visit.town = item.town", metadata)
        # Visit 3 stands in town 1 with its item in town 2; two visits are in town 2, two items are in town 1.
        visits: list[Any] = [(1, False, (1, 2)), (2, False, (2, 2)), (3, False, (3, 1))]
        items: list[Any] = [(1, False, (1, 1)), (2, False, (2, 1)), (3, False, (3, 2))]
        data = Neighbours(
            {"visit": Rows(("id INT", "town INT"), visits), "item": Rows(("visit INT", "town INT"), items)}
        )
        measuring = Measuring(plan, data.engine)
        everybody = measuring.now()
        found = [problem for _ in data.others(replaced=False) for problem in excess(plan, everybody, measuring.now())]
        assert found == []

    def test_no_more_groups_get_noise_than_the_noise_was_made_for(self) -> None:
        # Keys that come from a public table are counted as so many groups; a query may publish MAX_GROUPS of them.
        assert allocating.MAX_SMOOTH_GROUPS >= planning.MAX_GROUPS


def test_an_analysts_account_is_no_data_set_of_its_own(tmp_path: Path) -> None:
    """It divides the data set's total; asked alone, every analyst would spend a total that nobody adds up."""
    open_shop(tmp_path, Budget(epsilon=1), ann=Budget(epsilon=1), bob=Budget(epsilon=1))
    with pytest.raises(LedgerError), ask_shop(tmp_path, dataset="shop/ann"):
        pass


class TestSparseRanges:
    """Audited from what is published: a key that three rows of one unit have, or that nobody has."""

    @staticmethod
    def audit(others: int, rows: int, *, only_seen: bool = False) -> float:
        """The largest epsilon that is shown, where a unit's three rows come to those of others with the same key."""
        outputs = []
        for count in (others, others + 3):
            keys, counts = (np.array([7]), np.array([count])) if count else (np.zeros(0, np.int64),) * 2
            codes = []
            for _ in range(2500):
                found = publish_sparse(keys, counts, 12, rows, 1, threshold=2)
                published = dict(zip(found.keys.tolist(), found.counts.tolist(), strict=True))
                codes.append(0 if only_seen and not count else published.get(7, 0))
            outputs.append(np.array(codes))
        return audit_epsilon(outputs[0], outputs[1]).lower_bound

    @pytest.mark.slow
    @pytest.mark.parametrize("others", [0, 4])
    def test_three_rows_of_a_unit(self, others: int) -> None:
        assert self.audit(others, 3) <= 1

    @pytest.mark.slow
    def test_noise_for_one_row_is_caught(self) -> None:
        assert self.audit(4, 1) > 1

    @pytest.mark.slow
    def test_leaving_out_keys_that_nobody_has_is_caught(self) -> None:
        assert self.audit(0, 3, only_seen=True) > 1
