"""Which measured numbers are behind each column of an answer."""

from __future__ import annotations

import pytest

from sudare.sql.frontend.naming import Names
from sudare.sql.frontend.parsing import parse_query
from sudare.sql.measures.outputs import outputs_of
from sudare.sql.measures.planning import plan_query
from sudare.sql.metadata.file import parse_metadata
from tests.unit.sql.shops import METADATA

KNOWN = parse_metadata(METADATA)
PLAIN = "SELECT town, count(*) AS n, avg(age) AS a FROM customer GROUP BY town"


def outputs(sql: str) -> list[tuple[str, int, bool]]:
    """Name, number of measures and directness of each column."""
    plan = plan_query(parse_query(sql, "duckdb"), KNOWN, Names(KNOWN, "duckdb"))
    return [(output.name, len(output.measures), output.is_direct) for output in outputs_of(plan)]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (PLAIN, [("town", 0, False), ("n", 1, True), ("a", 2, False)]),
        ("SELECT count(*) + 1 AS n FROM customer", [("n", 1, False)]),
        ("SELECT median(age) AS m FROM customer", [("m", 1, True)]),
        (
            "SELECT t.town, t.n, t.n * 2 AS d FROM (...) AS t".replace("...", PLAIN),
            [("town", 0, False), ("n", 1, True), ("d", 1, False)],
        ),
        ("WITH t AS (...) SELECT a FROM t WHERE n > 3".replace("...", PLAIN), [("a", 2, False)]),
        ("SELECT count(*) AS n FROM customer UNION ALL SELECT count(*) FROM orders", [("n", 2, False)]),
        ("SELECT sum(people) AS p FROM town", [("p", 0, False)]),
    ],
)
def test_columns(sql: str, expected: list[tuple[str, int, bool]]) -> None:
    assert outputs(sql) == expected
