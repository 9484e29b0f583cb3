"""What is published of a group never tells whose row came first: keys are canonical by their type, or refused."""

# ruff: noqa: S608 - queries of our own over data of our own

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import permutations
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from sqlglot import parse_one

from sudare import Budget
from sudare.engines import Engine, open_engine
from sudare.engines.column_types import is_canonical, postgres_type
from sudare.engines.results import same_types
from sudare.errors import DatabaseError, QueryRefusedError
from sudare.ledger import open_ledger
from sudare.privacy import Unit
from sudare.sql.execution.answering import LeftOutLists, exact_answer
from sudare.sql.execution.connection import connect
from sudare.sql.expressions.expressions import examine
from sudare.sql.frontend.naming import Names
from sudare.sql.frontend.parsing import parse_query
from sudare.sql.measures.planning import plan_query
from sudare.sql.metadata.file import parse_metadata
from sudare.sql.metadata.model import Metadata
from sudare.sql.metadata.promises import require_schema
from tests.contracts.sql_servers import Servers, running_servers
from tests.unit.sql.expressing import COLUMNS, TYPES, conditions, dates, numbers, texts
from tests.unit.sql.memory_engine import MemoryEngine

METADATA = """
[unit]
name = "person"
max_groups = 2
[tables.t]
unit = "id"
max_rows = 4
[tables.t.columns]
id = {{ type = "integer" }}
x = {{ {x} }}
"""
GROUPED = "SELECT x AS k, count(*) AS n FROM t GROUP BY x"


def described(x: str) -> Metadata:
    return parse_metadata(METADATA.format(x=x), "shop.toml")


def exactly(engine: Engine, metadata: Metadata, query: str) -> pa.Table:
    """The answer without noise: all groups that there are, and what each of them looks like."""
    plan = plan_query(parse_query(query, engine.dialect), metadata, Names(metadata, engine.dialect))
    require_schema(engine, metadata, plan.used)
    return exact_answer(plan, engine, LeftOutLists(engine))


def orders(values: list[str]) -> list[list[str]]:
    """The last value before, between and behind the others; then without it, without another one, and nobody at all."""
    *others, last = values
    return [[last, *others], [others[0], last, *others[1:]], values, others, values[1:], []]


class OneTable(MemoryEngine):
    """A table with a column x of a type, whose rows can be put there in any order."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"SET TimeZone = 'UTC'; SET threads = 1; CREATE TABLE t (id INTEGER, x {kind})")

    def fill(self, values: Sequence[str]) -> None:
        self._connection.execute("DELETE FROM t")
        for i, value in enumerate(values):
            self._connection.execute(f"INSERT INTO t VALUES ({i}, {value})")

    def fetch(self, sql: str, *, timeout: float | None = None) -> pa.Table:
        return same_types(super().fetch(sql))


FOLDED = {
    "VARCHAR COLLATE NOCASE": ("'ABC'", "'abc'"),
    "VARCHAR COLLATE NOACCENT": ("'é'", "'e'"),
    "VARCHAR COLLATE NFC": ("'e' || chr(769)", "'é'"),
    "STRUCT(a DOUBLE)": ("{'a': -0.0}", "{'a': 0.0}"),
    "DOUBLE[]": ("[-0.0]", "[0.0]"),
    "DOUBLE[1]": ("[-0.0]", "[0.0]"),
    "MAP(VARCHAR, DOUBLE)": ("MAP {'a': -0.0}", "MAP {'a': 0.0}"),
    "INTERVAL": ("INTERVAL 30 DAY", "INTERVAL 1 MONTH"),
    "TIMETZ": ("'12:00:00+00'", "'13:00:00+01'"),
    "UNION(a DOUBLE, b VARCHAR)": ("(-0.0)::DOUBLE", "(0.0)::DOUBLE"),
    "UUID": ("'00000000-0000-0000-0000-000000000001'", "'00000000-0000-0000-0000-000000000001'"),
}
"""Types that only the database knows, each with two values; of most types these are equal and look different."""

SHAPES = [
    GROUPED,
    "SELECT x AS k FROM t GROUP BY x",
    "SELECT (x) AS k, count(*) AS n FROM t GROUP BY 1",
    "SELECT x AS k, count(*) AS n FROM (SELECT x FROM t UNION ALL SELECT x FROM t) AS a GROUP BY x",
    "SELECT x AS k, count(*) AS n FROM (SELECT x FROM t UNION SELECT x FROM t) AS a GROUP BY x",
    "SELECT x AS k, count(*) AS n FROM (SELECT DISTINCT x FROM t) AS a GROUP BY x",
    "WITH a AS (SELECT x FROM t), b AS (SELECT x FROM a) SELECT x AS k, count(*) AS n FROM b GROUP BY x",
    "SELECT m AS k, count(*) AS n FROM (SELECT id, min(x) AS m FROM t GROUP BY id) AS a GROUP BY m",
    "SELECT k, n FROM (SELECT x AS k, count(*) AS n FROM t GROUP BY x) AS a",
    "SELECT x AS k, count(*) AS n FROM t GROUP BY x UNION ALL SELECT x AS k, count(*) AS n FROM t GROUP BY x",
    "SELECT x AS k, count(*) AS n FROM t WHERE id < 3 GROUP BY x, id % 2",
]
"""Ways in which a column becomes a key that is published."""


def test_types_that_only_the_database_knows_are_no_keys() -> None:
    metadata = described('type = "other"')
    for dialect in ("duckdb", "postgres", "spark"):
        for query in SHAPES:
            with pytest.raises(QueryRefusedError) as caught:
                plan_query(parse_query(query, dialect), metadata, Names(metadata, dialect))
            assert caught.value.reason == "key-type", query


def test_they_are_refused_before_anything_is_charged(tmp_path: Path) -> None:
    names = [f"x{i}" for i in range(len(FOLDED))]
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(names, FOLDED, strict=True))
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as database:
        database.execute(f"CREATE TABLE t (id INTEGER, {columns})")
        for which, first, last in ((0, 0, 1), (1, 1, 31)):
            values = ", ".join(each[which] for each in FOLDED.values())
            database.execute(f"INSERT INTO t SELECT i, {values} FROM range({first}, {last}) AS r(i)")
    described_columns = "\n".join(f'{name} = {{ type = "other" }}' for name in names)
    metadata = parse_metadata(
        METADATA.format(x='type = "other"').replace('x = { type = "other" }', described_columns), "m"
    )
    with open_ledger(tmp_path / "budget.db", create=True) as ledger:
        ledger.add_dataset("shop", Budget(epsilon=10, delta=1e-5), unit=Unit("person"))
    with connect(
        tmp_path / "shop.duckdb",
        metadata,
        Budget(epsilon=1, delta=1e-6),
        ledger=tmp_path / "budget.db",
        dataset="shop",
    ) as connection:
        for name in names:
            for ask in (connection.execute, connection.explain, connection.price):
                with pytest.raises(QueryRefusedError, match="only the database knows") as caught:
                    ask(f"SELECT {name}, count(*) AS n FROM t GROUP BY {name}")
                assert repr(name) in caught.value.english
                assert repr(name) in caught.value.japanese
        assert connection.spent() is None
        # Counting them tells nothing of how they look.
        counted = ", ".join(f"count(DISTINCT {name}) AS n_{name}" for name in names)
        assert connection.execute(f"SELECT {counted} FROM t").fetchone() is not None
    with open_ledger(tmp_path / "budget.db") as ledger:
        assert [entry.kind for entry in ledger.entries("shop")].count("reserve") == 1


def test_a_column_of_nulls_and_public_tables_may_be_grouped_by() -> None:
    metadata = described('type = "other"')
    names = Names(metadata, "duckdb")
    assert plan_query(parse_query("SELECT NULL AS k, count(*) AS n FROM t GROUP BY NULL", "duckdb"), metadata, names)
    text = METADATA.format(x='type = "text"') + '[tables.p]\npublic = true\ncolumns.y = { type = "other" }\n'
    public = parse_metadata(text, "shop.toml")
    assert plan_query(
        parse_query("SELECT y, count(*) AS n FROM p GROUP BY y", "duckdb"), public, Names(public, "duckdb")
    ).is_public


def test_a_public_spelling_that_private_rows_choose_is_no_key() -> None:
    text = METADATA.format(x='type = "text"') + (
        '[tables.p]\npublic = true\nkey = ["x"]\n'
        'columns.x = { type = "text", nullable = false }\ncolumns.y = { type = "other" }\n'
    )
    metadata = parse_metadata(text, "shop.toml")
    query = "SELECT p.y, count(*) AS n FROM t JOIN p ON t.x = p.x GROUP BY p.y"
    with pytest.raises(QueryRefusedError, match="only the database knows"):
        plan_query(parse_query(query, "duckdb"), metadata, Names(metadata, "duckdb"))


CANONICAL = {
    "zeros": ("DOUBLE", 'type = "float"', ["0.0", "0.0", "'-0.0'"]),
    "narrow zeros": ("FLOAT", 'type = "float"', ["0.0", "0.0", "'-0.0'"]),
    "tiny numbers": ("DOUBLE", 'type = "float"', ["0.0", "1e-320", "-1e-320"]),
    "no numbers": ("DOUBLE", 'type = "float"', ["'nan'", "'inf'", "'-inf'"]),
    "letters": ("VARCHAR", 'type = "text"', ["'abc'", "'abc'", "'ABC'"]),
    "accents": ("VARCHAR", 'type = "text"', ["'é'", "'é'", "'e' || chr(769)"]),
    "spaces": ("VARCHAR", 'type = "text"', ["'a'", "'a'", "'a '"]),
    "labels": ("ENUM('a', 'A')", 'type = "text"', ["'a'", "'a'", "'A'"]),
    "moments": (
        "TIMESTAMPTZ",
        'type = "timestamp"',
        ["'2024-01-01 00:00:00+00'", "'2024-01-01 00:00:00+00'", "'2024-01-01 09:00:00+09'"],
    ),
    "decimals": ("DECIMAL(9, 3)", 'type = "decimal(9,3)"', ["1.0", "1.0", "1.000"]),
    "listed decimals": ("DECIMAL(9, 3)", 'type = "decimal(9,3)", values = [1.0, 2.5]', ["1.0", "1.0", "1.000"]),
    "listed words": ("VARCHAR", 'type = "text", values = ["abc", "ABC"]', ["'abc'", "'abc'", "'ABC'"]),
}
"""Types whose values are canonical, each with two equal rows and one that is equal but written otherwise, or another value."""


def looks(table: pa.Table) -> dict[bytes, Any]:
    """How each key looks, to the last bit, and what stands beside it; the types with it."""
    found: dict[bytes, Any] = {}
    for key, *rest in zip(*(column.to_pylist() for column in table.columns), strict=True):
        look = struct.pack(">d", key) if isinstance(key, float) else repr(key).encode()
        assert look not in found, "a group stands there twice"
        found[look] = rest
    return found


@pytest.mark.parametrize("case", CANONICAL)
def test_one_row_in_another_spelling_changes_counts_alone(case: str) -> None:
    kind, column, values = CANONICAL[case]
    metadata = described(column)
    first: dict[str, dict[bytes, Any]] = {}
    types: dict[str, set[str]] = {}
    with closing(OneTable(kind)) as engine:
        for rows in orders(values):
            engine.fill(rows)
            for query in SHAPES[:-2:2]:
                table = exactly(engine, metadata, query)
                types.setdefault(query, set()).add(str(table.schema.field(0).type))
                found = looks(table)
                first.setdefault(query, found)
                assert set(found) <= set(first[query]), query
                assert found == first[query] or len(rows) < len(values), query
    assert {len(seen) for seen in types.values()} == {1}


@pytest.mark.parametrize(
    ("kind", "column", "rows"),
    [
        ("DATE", 'type = "date"', ["'infinity'", "'12000-01-01'", "'0044-03-15 (BC)'", "'2024-01-01'"]),
        (
            "TIMESTAMP",
            'type = "timestamp"',
            ["'infinity'", "'-infinity'", "'12000-01-01 00:00:00'", "'2024-01-01 10:00:00'"],
        ),
    ],
)
def test_times_that_nothing_else_can_hold_can_be_read(kind: str, column: str, rows: list[str]) -> None:
    with closing(OneTable(kind)) as engine:
        engine.fill(rows)
        years = [key.year for key in exactly(engine, described(column), GROUPED).column("k").to_pylist()]
    assert sorted(years) == [1, 2024, 9999]


def test_not_a_number_has_one_look(tmp_path: Path) -> None:
    """Bits that a number could hide in a NaN: a database keeps them, and hands out those of one row."""
    metadata = described('type = "float"')
    bits = [0x7FF8000000000000, 0x7FF8000000000123, 0xFFF8000000000456]
    looked = set()
    for number, order in enumerate(permutations(bits)):
        folder = tmp_path / str(number)
        folder.mkdir()
        values = pa.array([struct.unpack(">d", struct.pack(">Q", each))[0] for each in order])
        pyarrow.parquet.write_table(pa.table({"id": pa.array([1, 2, 3]), "x": values}), folder / "t.parquet")
        with open_engine(folder) as engine:
            looked |= set(looks(exactly(engine, metadata, GROUPED)))
    assert len(looked) == 1


DATABASE = duckdb.connect()


@given(st.one_of(numbers(2), conditions(1), texts(), dates()))
@settings(max_examples=120, deadline=None)
@example("SIGN(f)")
@example("(1 / f)")
@example("ROUND(f, 2)")
@example("CASE WHEN f >= 0 THEN f END")
def test_equal_values_give_equal_results(expression: str) -> None:
    """Whichever of its equal rows a database takes for a group: nothing that may be written tells them apart."""
    try:
        seen = examine(parse_one(expression, read="duckdb"), lambda column: COLUMNS[column.name], "duckdb")
    except QueryRefusedError:
        assume(False)
    results = set()
    for zero in ("0.0", "-0.0"):
        row = ", ".join(
            f"CAST('{zero}' AS {kind}) AS {name}" if kind in ("DOUBLE", "REAL") else f"{_plain(kind)} AS {name}"
            for name, kind in TYPES.items()
        )
        ((value,),) = DATABASE.execute(f"SELECT {seen.sql.sql('duckdb')} FROM (SELECT {row}) AS t").fetchall()
        # What a key would show: a float is a zero without a sign there.
        results.add(repr(value + 0.0 if isinstance(value, float) else value))
    assert len(results) == 1


def _plain(kind: str) -> str:
    plain = {"VARCHAR": "'AB'", "BOOLEAN": "TRUE", "DATE": "'2020-05-05'", "TIMESTAMP": "'2020-05-05 10:00:00'"}
    return f"CAST({plain.get(kind, '1' if kind != 'DECIMAL(6, 6)' else '0.25')} AS {kind})"


class TestUnits:
    """A unit has one name: groups that bounded contributions choose by lot must not follow a spelling."""

    NAMED = parse_metadata(
        'unit.name = "person"\ntables.t = { unit = "id", max_rows = 3, columns.id = { type = "other" } }', "m.toml"
    )

    @pytest.mark.parametrize("kind", ["VARCHAR COLLATE NOCASE", "INTERVAL", "STRUCT(a DOUBLE)", "DOUBLE[]", "TIMETZ"])
    def test_names_that_fold_are_no_units(self, kind: str, tmp_path: Path) -> None:
        with duckdb.connect(str(tmp_path / "a.duckdb")) as database:
            database.execute(f"CREATE TABLE t (id {kind})")
        with open_engine(tmp_path / "a.duckdb") as engine, pytest.raises(DatabaseError, match="cannot name a unit"):
            require_schema(engine, self.NAMED, ["t"])

    @pytest.mark.parametrize("kind", ["UUID", "BLOB", "HUGEINT", "UBIGINT", "TIME", "TIMESTAMP_S"])
    def test_names_that_are_canonical_are_units(self, kind: str) -> None:
        require_schema(MemoryEngine(f"CREATE TABLE t (id {kind})"), self.NAMED, ["t"])

    def test_what_is_not_known_is_not_canonical(self) -> None:
        for native in (
            "citext",
            "jsonb",
            "string collate UTF8_LCASE",
            "VARCHAR COLLATE ?",
            "UUID[]",
            "time with time zone",
        ):
            assert not is_canonical(native)
        for native in ("uuid", "bytea", "binary", "UUID", "character(4)"):
            assert is_canonical(native)

    def test_a_domain_is_what_it_is_made_of(self) -> None:
        assert is_canonical(postgres_type("uuid", -1, "customer_number").native)
        assert not is_canonical(postgres_type("citext", -1, "lower_text").native)


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    with running_servers() as started:
        yield started


def in_postgres(location: str, *statements: str) -> None:
    import psycopg

    with psycopg.connect(location) as connection:
        for statement in statements:
            connection.execute(statement.encode())


NUMERICS = {
    "listed, without digits": ("numeric", 'type = "decimal", values = [1.0, 2.5]', ["1.0", "1.0", "1.000"]),
    "listed": ("numeric(9, 3)", 'type = "decimal(9,3)", values = [1.0, 2.5]', ["1.0", "1.0", "2.5"]),
    "with digits": ("numeric(9, 3)", 'type = "decimal(9,3)"', ["1.0", "1.0", "'NaN'"]),
    "bounded": ("numeric(9, 3)", 'type = "decimal(9,3)", bounds = [0, 9]', ["1.0", "1.0", "'NaN'"]),
    "zeros": ("float8", 'type = "float"', ["0.0", "0.0", "'-0.0'"]),
}


@pytest.mark.parametrize("case", NUMERICS)
def test_a_numeric_of_postgresql_has_one_look(case: str, servers: Servers) -> None:
    """1.0 and 1.000 are equal there, and each row keeps its own digits; an empty table has the same types and does not fail."""
    kind, column, values = NUMERICS[case]
    metadata = described(column)
    queries = [GROUPED]
    if "listed" in case:
        queries.append("SELECT x AS k, count(*) AS n FROM (SELECT x FROM t UNION SELECT x FROM t) AS a GROUP BY x")
    if "bounds" in column:
        queries.append("SELECT x + 1 AS k, count(*) AS n FROM t GROUP BY 1")
    location = servers.postgres().new_location()
    in_postgres(location, f"CREATE TABLE t (id int, x {kind})")
    types: dict[str, set[str]] = {query: set() for query in queries}
    first: dict[str, dict[bytes, Any]] = {}
    with open_engine(location) as engine:
        for rows in orders(values):
            listed = [f"INSERT INTO t VALUES ({i}, {value})" for i, value in enumerate(rows)]
            in_postgres(location, "TRUNCATE t", *listed)
            for query in queries:
                table = exactly(engine, metadata, query)
                types[query].add(str(table.schema.field(0).type))
                found = looks(table)
                first.setdefault(query, found)
                assert set(found) <= set(first[query])
                assert found == first[query] or len(rows) < len(values)
    assert {len(seen) for seen in types.values()} == {1}


def test_digits_that_a_numeric_keeps_are_not_written_as_text() -> None:
    metadata = described('type = "decimal", bounds = [0, 10], step = 0.01')
    query = "SELECT CAST(x AS VARCHAR) AS k, count(*) AS n FROM (SELECT DISTINCT x FROM t) AS a GROUP BY 1"
    with pytest.raises(QueryRefusedError, match=r"DECIMAL\(12, 2\)"):
        plan_query(parse_query(query, "postgres"), metadata, Names(metadata, "postgres"))
    fixed = query.replace("CAST(x AS", "CAST(CAST(x AS DECIMAL(12, 2)) AS")
    assert plan_query(parse_query(fixed, "postgres"), metadata, Names(metadata, "postgres"))


def test_units_of_postgresql_that_look_different_have_one_lot(servers: Servers) -> None:
    """Whoever is in three groups and counts in two: which two does not follow how one row writes their number."""
    text = """
[unit]
name = "person"
[tables.t]
unit = "id"
[tables.t.columns]
id = { type = "decimal" }
x = { type = "integer", values = [1, 2, 3, 4, 5, 6, 7, 8] }
"""
    metadata = parse_metadata(text, "shop.toml")
    query = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_groups_contributed = 2) x AS k, "
    query += "count(*, contribution_bounds_per_group => (0, 1)) AS n FROM t GROUP BY x"
    chosen = set()
    for digits in ("", ".0", ".000"):
        location = servers.postgres().new_location()
        rows = [
            f"INSERT INTO t VALUES ({unit}{digits if x < 8 else '.00'}, {x})" for unit in range(3) for x in range(1, 9)
        ]
        in_postgres(location, "CREATE TABLE t (id numeric, x int)", *rows)
        with open_engine(location) as engine:
            chosen.add(repr(exactly(engine, metadata, query).to_pylist()))
    assert len(chosen) == 1
