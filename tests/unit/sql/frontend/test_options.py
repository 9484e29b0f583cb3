"""BigQuery's clause: what it says, where it may stand, and what stays of the query."""

from __future__ import annotations

import dataclasses
from decimal import Decimal

import pytest
from sqlglot import exp

from sudare.errors import QueryRefusedError
from sudare.sql.frontend.options import BOUNDS_PER_GROUP, BOUNDS_PER_ROW, Options
from sudare.sql.frontend.parsing import DIALECTS, parse_query

CLAUSE = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS"


def test_options_are_empty_and_frozen_by_default() -> None:
    options = Options()
    assert options == Options(False, None, None, None, None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        options.epsilon = Decimal(1)  # type: ignore[misc]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_documented_example_is_read(dialect: str) -> None:
    parsed = parse_query(
        "SELECT\n  WITH DIFFERENTIAL_PRIVACY\n    OPTIONS(epsilon=10, delta=.01, max_groups_contributed=1,"
        " privacy_unit_column=id)\n    item,\n    AVG(quantity, contribution_bounds_per_group => (0,100)) average_quantity\n"
        "FROM professors\nGROUP BY item;",
        dialect,
    )
    assert parsed.options == Options(True, Decimal(10), Decimal("0.01"), 1, "id")
    assert (
        parsed.tree
        == parse_query("SELECT item, AVG(quantity) average_quantity FROM professors GROUP BY item", dialect).tree
    )
    average = parsed.tree.find(exp.Avg)
    assert average is not None
    assert average.meta[BOUNDS_PER_GROUP] == (Decimal(0), Decimal(100))


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("()", Options(True)),
        ("(epsilon = 1)", Options(True, epsilon=Decimal(1))),
        ("( EPSILON=1e-3 , Delta = 1e-6 )", Options(True, Decimal("0.001"), Decimal("0.000001"))),
        ("(epsilon = +0.50)", Options(True, Decimal("0.50"))),
        ("(delta = 0)", Options(True, delta=Decimal(0))),
        ("(max_groups_contributed = 3)", Options(True, max_groups_contributed=3)),
        ("(privacy_unit_column = t.id)", Options(True, privacy_unit_column="t.id")),
        ("(privacy_unit_column = Customer_ID)", Options(True, privacy_unit_column="Customer_ID")),
        ("(epsilon /* no, ) */ = -- 2)\n 1)", Options(True, epsilon=Decimal(1))),
    ],
)
def test_options_are_read_as_typed(dialect: str, options: str, expected: Options) -> None:
    assert parse_query(f"{CLAUSE}{options} count(*) FROM t", dialect).options == expected


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_clause_without_options(dialect: str) -> None:
    parsed = parse_query("WITH u AS (SELECT a FROM t) SELECT WITH DIFFERENTIAL_PRIVACY count(*) FROM u", dialect)
    assert parsed.options == Options(True)
    assert parsed.tree.sql(dialect) == "WITH u AS (SELECT a FROM t) SELECT COUNT(*) FROM u"


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "text",
    [
        "SELECT count(*) FROM t -- SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1)",
        "SELECT count(*) FROM t WHERE a = 'SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1)'",
        "SELECT /* WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1) */ count(*) FROM t",
        "WITH DIFFERENTIAL_PRIVACY AS (SELECT a FROM t) SELECT count(*) FROM DIFFERENTIAL_PRIVACY",
        "SELECT count(*) AS OPTIONS FROM t",
    ],
)
def test_what_only_looks_like_the_clause(dialect: str, text: str) -> None:
    assert parse_query(text, dialect).options == Options()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_positions_behind_the_clause_are_those_of_the_text(dialect: str) -> None:
    text = f"{CLAUSE}(epsilon = 1) a, sum(b, contribution_bounds_per_group => (0, 1)), lead(c) OVER () FROM t"
    with pytest.raises(QueryRefusedError) as caught:
        parse_query(text, dialect)
    assert (caught.value.reason, caught.value.line) == ("window-function", 1)
    assert caught.value.column == text.index("lead") + 1
    column = parse_query(text.replace("lead(c) OVER ()", "c"), dialect).tree.expressions[2]
    assert column.this.meta["start"] == text.index("lead")


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("call", "name", "bounds"),
    [
        ("COUNT(*, contribution_bounds_per_group => (0, 5))", BOUNDS_PER_GROUP, ("0", "5")),
        ("count(a, contribution_bounds_per_group => (0, 5))", BOUNDS_PER_GROUP, ("0", "5")),
        ("COUNT(DISTINCT a, contribution_bounds_per_group => (0, 1))", BOUNDS_PER_GROUP, ("0", "1")),
        (
            "SUM(CASE WHEN a THEN f(b, 1) END, CONTRIBUTION_BOUNDS_PER_GROUP=>(-1.5,+.5))",
            BOUNDS_PER_GROUP,
            ("-1.5", "0.5"),
        ),
        ("PERCENTILE_CONT(a, 0.5, contribution_bounds_per_row => (0, 100))", BOUNDS_PER_ROW, ("0", "100")),
        ("VAR_POP(a, contribution_bounds_per_row => (1e2, 2e2))", BOUNDS_PER_ROW, ("100", "200")),
        ("STDDEV_POP(a, contribution_bounds_per_row => (3, 3))", BOUNDS_PER_ROW, ("3", "3")),
    ],
)
def test_bounds_are_in_the_meta_of_their_call(dialect: str, call: str, name: str, bounds: tuple[str, str]) -> None:
    tree = parse_query(f"{CLAUSE}(epsilon = 1) a, 1 + {call} AS x, SUM(a), COUNT(*) FROM t GROUP BY a", dialect).tree
    expected = (Decimal(bounds[0]), Decimal(bounds[1]))
    for version in (tree, tree.copy(), tree.copy().copy(), tree.transform(lambda node: node)):
        found = [node for node in version.walk() if name in node.meta]
        assert [node.meta[name] for node in found] == [expected]
        assert found[0].find_ancestor(exp.Alias) is not None
    assert "contribution_bounds" not in tree.sql(dialect).lower()


def test_each_call_has_its_own_bounds() -> None:
    tree = parse_query(
        "SELECT SUM(a, contribution_bounds_per_group => (0, 1)), SUM(a, contribution_bounds_per_group => (0, 2)), SUM(a)"
        " FROM t HAVING SUM(a, contribution_bounds_per_group => (0, 3)) > 1",
        "duckdb",
    ).tree
    assert [node.meta.get(BOUNDS_PER_GROUP, (0, 0))[1] for node in tree.find_all(exp.Sum, bfs=False)] == [1, 2, 0, 3]


def test_a_comment_cannot_set_bounds() -> None:
    text = "SELECT sum(a) /* sqlglot.meta contribution_bounds_per_group=1 */ FROM t"
    tree = parse_query(text, "duckdb").tree
    assert not any(BOUNDS_PER_GROUP in node.meta for node in tree.walk())
