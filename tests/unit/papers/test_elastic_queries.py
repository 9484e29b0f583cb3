"""Elastic sensitivity of queries: known answers, refusals, and the rules that private queries use as well."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from sudare.errors import QueryRefusedError
from sudare.sql.metadata.model import Metadata
from sudare.sql.relations.elastic import join_stability, side_of_table
from sudare_papers.elastic.queries import elastic_growth, elastic_sensitivity
from tests.sql_corpus.schema import METADATA
from tests.unit.sql.elastic_shop import SHOP, column, table
from tests.unit.sql.frontend.test_planned_size import BOMBS

DATA = Path(os.environ.get("SUDARE_DATA", Path(__file__).parents[4] / "shared" / "data")) / "chorus_elastic"
REASONS = {
    "ProtectedBinException": "protected-bin",
    "UnsupportedConstructException": "unsupported-construct",
    "MissingMetricException": "no-max-frequency",
    "UnsupportedQueryException": "unsupported-query",
    "ArithmeticOnAggregationResultException": "arithmetic-on-aggregate",
}


def cases() -> list[dict[str, Any]]:
    path = DATA / "cases.json"
    if not path.is_file():
        return []
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return found


@pytest.mark.skipif(not cases(), reason="needs chorus_elastic below SUDARE_DATA (or ../shared/data)")
@pytest.mark.parametrize("case", cases(), ids=lambda case: case["sql"])
def test_known_answers(case: dict[str, Any]) -> None:
    if "expected" in case:
        expected = [int(float(number)) for number in case["expected"]]
        assert elastic_sensitivity(case["sql"], SHOP, case["k"]) == expected
        return
    with pytest.raises(QueryRefusedError) as refusal:
        elastic_sensitivity(case["sql"], SHOP, case["k"])
    assert refusal.value.reason == REASONS[case["expected_exception"]]
    assert refusal.value.japanese


@pytest.mark.skipif(not cases(), reason="needs chorus_elastic below SUDARE_DATA (or ../shared/data)")
def test_all_known_answers_are_read() -> None:
    assert len(cases()) == 20
    assert {case["expected_exception"] for case in cases() if "expected_exception" in case} == set(REASONS)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT COUNT(*) FROM orders, customers WHERE orders.customer_id = customers.customer_id", [100]),
        ("SELECT COUNT(*) n FROM orders JOIN customers USING (customer_id)", [100]),
        ("SELECT COUNT(DISTINCT quantity) FROM orders", [1]),
        ("SELECT n, d FROM (SELECT order_date AS d, COUNT(*) AS n FROM orders GROUP BY order_date) t", [2, 0]),
        ("SELECT p.name, COUNT(*) FROM orders o JOIN products p ON o.product_id = p.product_id GROUP BY 1", [0, 600]),
        ("SELECT COUNT(*) FROM (SELECT customer_id AS c FROM orders) a JOIN customers b ON a.c = b.customer_id", [100]),
        ("SELECT COUNT(*) FROM products", [0]),
        ('SELECT COUNT("order_id") FROM "orders" ORDER BY 1', [1]),
    ],
)
def test_counts(sql: str, expected: list[int]) -> None:
    assert elastic_sensitivity(sql, SHOP) == expected


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT", "unsupported-construct"),
        ("SELECT ((((", "syntax"),
        ("SELECT COUNT(*) FROM secrets", "unknown-table"),
        ("SELECT COUNT(*) FROM orders GROUP BY nothing", "unknown-column"),
        ("SELECT COUNT(*) FROM orders o JOIN customers c ON customer_id = customer_id", "unknown-column"),
        ("SELECT COUNT(*) FROM orders LEFT JOIN customers USING (customer_id)", "unsupported-construct"),
        ("SELECT COUNT(*) FROM orders NATURAL JOIN customers", "unsupported-construct"),
        ("SELECT COUNT(*) FROM orders SEMI JOIN customers USING (customer_id)", "unsupported-construct"),
        ("SELECT COUNT(*) FROM orders UNION ALL SELECT COUNT(*) FROM orders", "unsupported-construct"),
        ("SELECT COUNT(*) FROM (SELECT DISTINCT customer_id FROM orders) t", "unsupported-construct"),
        ("SELECT COUNT(*) FROM (SELECT customer_id FROM orders LIMIT 5) t", "unsupported-construct"),
        ("SELECT COUNT(*) FROM orders USING SAMPLE 10%", "unsupported-construct"),
        ("SELECT COUNT(*) FROM orders HAVING COUNT(*) > 5", "unsupported-construct"),
        (
            "SELECT COUNT(*) FROM orders WHERE customer_id IN (SELECT customer_id FROM customers)",
            "unsupported-construct",
        ),
        ("SELECT COUNT(*) OVER () FROM orders", "arithmetic-on-aggregate"),
        ("SELECT COUNT(*) + 1 FROM orders", "arithmetic-on-aggregate"),
        ("SELECT n FROM (SELECT COUNT(*) n FROM orders) t WHERE n > 5", "arithmetic-on-aggregate"),
        ("SELECT SUM(quantity) FROM orders", "unsupported-query"),
        ("SELECT quantity, COUNT(*) FROM orders", "unsupported-query"),
        ("SELECT COUNT(*) FROM (SELECT COUNT(*) AS n FROM orders) t", "unsupported-query"),
        ("SELECT quantity, COUNT(*) FROM orders GROUP BY 1", "protected-bin"),
        ("SELECT order_date, COUNT(*) FROM orders GROUP BY ROLLUP (1)", "protected-bin"),
        ("SELECT order_date, COUNT(*) FROM orders GROUP BY 7", "unsupported-construct"),
        ("WITH RECURSIVE t AS (SELECT COUNT(*) FROM orders) SELECT * FROM t", "unsupported-construct"),
        ("SELECT COUNT(*)", "unsupported-construct"),
        ("DROP TABLE orders", "unsupported-construct"),
        ("SELECT COUNT(*) FROM orders a JOIN orders a ON a.order_id = a.order_id", "unsupported-construct"),
    ],
)
def test_refusals(sql: str, reason: str) -> None:
    with pytest.raises(QueryRefusedError) as refusal:
        elastic_sensitivity(sql, SHOP)
    assert refusal.value.reason == reason


def test_a_table_without_a_limit_of_rows_is_refused() -> None:
    unlimited = Metadata("person", {"visits": table("visits", column("guest"), unit="guest")})
    with pytest.raises(QueryRefusedError) as refusal:
        elastic_sensitivity("SELECT COUNT(*) FROM visits", unlimited)
    assert refusal.value.reason == "no-max-rows"


def test_adding_a_row_changes_one_bin_and_replacing_it_two() -> None:
    added = Metadata("row", SHOP.tables)
    assert elastic_sensitivity("SELECT order_date, COUNT(*) FROM orders GROUP BY 1", added) == [0, 1]
    assert elastic_sensitivity("SELECT order_date, COUNT(*) FROM orders GROUP BY 1", SHOP) == [0, 2]


def test_units_with_several_rows_may_change_both_tables_at_once() -> None:
    people = Metadata(
        "person",
        {
            "visits": table("visits", column("guest"), column("place", 40), unit="guest", max_rows=3),
            "meals": table("meals", column("eater"), column("place", 70), unit="eater", max_rows=5),
        },
    )
    sql = "SELECT COUNT(*) FROM visits JOIN meals ON visits.place = meals.place"
    assert elastic_sensitivity(sql, people, 0) == [3 * 70 + 5 * 40 + 3 * 5]
    assert elastic_sensitivity(sql, people, 2) == [3 * (70 + 2 * 5) + 5 * (40 + 2 * 3) + 3 * 5]


def test_unique_keys_stay_unique_at_every_distance() -> None:
    shop = Metadata(
        "person",
        {
            "visits": table("visits", column("guest"), column("place", 40), unit="guest", max_rows=3),
            "places": table("places", column("id"), public=True, key=("id",)),
        },
    )
    assert elastic_sensitivity("SELECT COUNT(*) FROM visits JOIN places ON place = id", shop, 1000) == [3]


def test_a_join_grows_by_the_rule_that_private_queries_use() -> None:
    (found,) = elastic_growth("SELECT COUNT(*) FROM orders JOIN recommendations USING (customer_id)", SHOP)
    orders, recommendations = side_of_table(SHOP, "orders"), side_of_table(SHOP, "recommendations")
    assert orders is not None
    assert recommendations is not None
    rule = join_stability(orders, recommendations, [("customer_id", "customer_id")])
    assert rule is not None
    assert [found(k) for k in range(50)] == [rule(k) for k in range(50)]


def test_a_query_that_doubles_with_every_line_is_refused() -> None:
    with pytest.raises(QueryRefusedError):
        elastic_sensitivity(BOMBS["union all"](29), METADATA)
