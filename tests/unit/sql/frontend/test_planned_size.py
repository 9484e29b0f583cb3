"""Queries that double with every line are refused at once, before anything is charged; large ones that do not are planned."""

# ruff: noqa: S608 - queries of our own

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp, parse_one

from sudare.errors import QueryRefusedError
from sudare.sql.frontend.copies import MAX_COPIED, copied, limited_copies
from sudare.sql.frontend.naming import Names
from sudare.sql.frontend.parsing import DIALECTS, parse_query
from sudare.sql.frontend.planned_size import MAX_PLANNED_SIZE, SIZE_OF_TABLE, _Sizes
from sudare.sql.measures.planning import QueryPlan, plan_query
from tests.sql_corpus.schema import METADATA
from tests.unit.sql.shops import ask_shop, open_shop

NAMES = {dialect: Names(METADATA, dialect) for dialect in DIALECTS}


def chain(first: str, step: str, last: str, lines: int) -> str:
    """A query whose parts of WITH each name the one before."""
    parts = [f"c0 AS ({first})", *(f"c{i} AS ({step.replace('$', f'c{i - 1}')})" for i in range(1, lines + 1))]
    return f"WITH {', '.join(parts)} {last.replace('$', f'c{lines}')}"


ROWS, COUNTED = "SELECT customer_id FROM orders", "SELECT COUNT(*) AS n FROM orders"
ASKED = "SELECT COUNT(*) AS n FROM $"
BOMBS: dict[str, Callable[[int], str]] = {
    "union all": lambda n: chain(ROWS, "SELECT * FROM $ UNION ALL SELECT * FROM $", ASKED, n),
    "union": lambda n: chain(ROWS, "SELECT * FROM $ UNION SELECT * FROM $", ASKED, n),
    "join": lambda n: chain(
        ROWS, "SELECT a.customer_id FROM $ AS a JOIN $ AS b ON a.customer_id = b.customer_id", ASKED, n
    ),
    "stars": lambda n: chain(ROWS, "SELECT a.*, b.* FROM $ AS a JOIN $ AS b ON a.customer_id = b.customer_id", ASKED, n),
    "in": lambda n: chain(
        ROWS, "SELECT customer_id FROM $ WHERE customer_id IN (SELECT customer_id FROM $)", ASKED, n
    ),
    "exists": lambda n: chain(
        ROWS,
        "SELECT a.customer_id FROM $ AS a WHERE EXISTS (SELECT 1 AS x FROM $ AS b WHERE a.customer_id = b.customer_id)",
        ASKED,
        n,
    ),
    "subqueries": lambda n: chain(
        ROWS, "SELECT a.customer_id FROM (SELECT * FROM $) AS a JOIN (SELECT * FROM $) AS b ON a.customer_id = b.customer_id",
        ASKED, n,
    ),
    "results joined": lambda n: chain(COUNTED, "SELECT a.n FROM $ AS a JOIN $ AS b ON a.n = b.n", "SELECT n FROM $", n),
    "results united": lambda n: chain(COUNTED, "SELECT n FROM $ UNION ALL SELECT n FROM $", "SELECT n FROM $", n),
    "columns": lambda n: "SELECT COUNT(*) AS n FROM (SELECT quantity AS a0, "
    + ", ".join(f"a{i - 1} + a{i - 1} AS a{i}" for i in range(1, n + 1))
    + " FROM items) AS t",
    "columns of results": lambda n: "SELECT COUNT(*) AS a0, "
    + ", ".join(f"a{i - 1} + a{i - 1} AS a{i}" for i in range(1, n + 1))
    + " FROM orders",
    "nested with": lambda n: "WITH a AS (" + ROWS + ") SELECT COUNT(*) AS n FROM (" + chain(
        "SELECT * FROM a", "SELECT * FROM $ UNION ALL SELECT * FROM $", "SELECT * FROM $", n
    ) + ") AS t",
}  # fmt: skip
INSIDE: dict[str, Callable[[int], str]] = {
    "nullif": lambda n: f"SELECT COUNT(*) AS n FROM items WHERE {'NULLIF(' * n}quantity{', 1)' * n} > 3",
    "case": lambda n: (
        f"SELECT COUNT(*) AS n FROM items WHERE {'CASE WHEN ' * n}quantity = 0.5{' THEN 1 ELSE 0 END = 0.5' * n}"
    ),
}


def plan(query: str, dialect: str = "duckdb") -> QueryPlan:
    return plan_query(parse_query(query, dialect), METADATA, NAMES[dialect])


def refused_in(query: str, dialect: str = "duckdb") -> float:
    """Seconds of work until a query is refused as too complex."""
    start = process_time()
    with pytest.raises(QueryRefusedError) as caught:
        plan(query, dialect)
    assert caught.value.reason == "too-complex", caught.value.english
    return process_time() - start


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("lines", [12, 29])
def test_doublings_are_refused_at_once(name: str, lines: int) -> None:
    for dialect in DIALECTS:
        assert refused_in(BOMBS[name](lines), dialect) < 3


@pytest.mark.parametrize("name", INSIDE)
def test_expressions_that_double_are_refused_soon(name: str) -> None:
    assert refused_in(INSIDE[name](20)) < 20


@pytest.mark.parametrize("name", [name for name in (*BOMBS, *INSIDE) if name != "stars"])  # its names would stand twice
def test_a_few_lines_are_planned(name: str) -> None:
    assert plan((BOMBS | INSIDE)[name](3))


def test_nothing_is_charged_and_nothing_explained(tmp_path: Path) -> None:
    open_shop(tmp_path)
    first, step = "SELECT id FROM customer", "SELECT * FROM $ UNION ALL SELECT * FROM $"
    with ask_shop(tmp_path) as connection:
        for ask in (
            connection.execute,
            connection.explain,
            connection.price,
            lambda sql: connection.price_many([sql]),
            lambda sql: connection.epsilon_for(sql, "n", 10),
        ):
            start = process_time()
            with pytest.raises(QueryRefusedError) as caught:
                ask(chain(first, step, ASKED, 29))
            assert caught.value.reason == "too-complex"
            assert caught.value.english != caught.value.japanese
            assert process_time() - start < 3
        assert connection.spent() is None


WIDE = {
    "a list": f"SELECT COUNT(*) AS n FROM items WHERE quantity IN ({', '.join(map(str, range(8000)))})",
    "columns": f"SELECT {', '.join(f'COUNT(*) + {i} AS n{i}' for i in range(500))} FROM orders",
    "a chain": chain(ROWS, "SELECT * FROM $", ASKED, 60),
    "tables": "SELECT COUNT(*) AS n FROM orders AS o0 "
    + " ".join(f"JOIN orders AS o{i} ON o0.customer_id = o{i}.customer_id" for i in range(1, 7)),
    "brackets": f"SELECT COUNT(*) AS n FROM items WHERE {'(' * 20}quantity{')' * 20} > 1",
}


@pytest.mark.parametrize("name", WIDE)
def test_what_is_large_but_does_not_double_is_planned(name: str) -> None:
    assert plan(WIDE[name])


def test_rows_that_no_noise_hides_are_refused() -> None:
    query = "SELECT COUNT(*) AS n FROM orders AS o0 "
    query += " ".join(f"JOIN orders AS o{i} ON o0.customer_id = o{i}.customer_id" for i in range(1, 64))
    with pytest.raises(QueryRefusedError) as caught:
        plan(query)
    assert caught.value.reason == "too-many-rows"


def test_parts_that_lead_back_to_themselves_are_refused() -> None:
    others = [f"c{i} AS ({' UNION ALL '.join(f'SELECT * FROM c{j}' for j in range(7) if j != i)})" for i in range(7)]
    for query in (
        f"WITH {', '.join(others)} SELECT COUNT(*) AS n FROM c0",
        "WITH a AS (SELECT * FROM a) SELECT 1 AS x FROM a",
    ):
        start = process_time()
        with pytest.raises(QueryRefusedError) as caught:
            plan(query)
        assert caught.value.reason == "recursive"
        assert process_time() - start < 3


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=3), min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_the_size_is_that_of_the_query_written_out(names: list[list[int]]) -> None:
    """The naive twin replaces every name by its query and counts the nodes."""
    bodies = ["SELECT x FROM t"]
    for listed in names:
        parts = [f"SELECT x FROM c{name % len(bodies)}" for name in listed]
        bodies.append(" UNION ALL ".join(parts))
    parts = [f"c{i} AS ({body})" for i, body in enumerate(bodies)]
    tree = parse_one(f"WITH {', '.join(parts)} SELECT x FROM c{len(bodies) - 1}", read="duckdb")
    assert isinstance(tree, exp.Query)

    def written_out(query: exp.Expr) -> int:
        if isinstance(query, exp.Union):
            return 1 + written_out(query.left) + written_out(query.right)
        table = query.args["from_"].this.name
        own = 1 + sum(1 for item in query.expressions for _ in item.walk())
        return own + (SIZE_OF_TABLE if table == "t" else written_out(parse_one(bodies[int(table[1:])], read="duckdb")))

    without = tree.copy()
    without.set("with_", None)
    assert _Sizes(tree, {"t": 1}).size(tree) == written_out(without)


def test_copies_have_an_end() -> None:
    tree = parse_one("SELECT a + 1 FROM t")
    size = sum(1 for _ in tree.walk())
    with limited_copies(2 * size):
        copied(tree)
        copied(tree)
        with pytest.raises(QueryRefusedError):
            copied(tree)
    assert copied(tree) == tree
    assert MAX_COPIED > MAX_PLANNED_SIZE
