"""Joins whose rows belong to two units: with public tables beside them, and what elastic ones do not offer."""

from __future__ import annotations

from pathlib import Path

import pytest

from sudare.errors import QueryRefusedError
from sudare.sql.frontend.naming import Names
from sudare.sql.frontend.parsing import parse_query
from sudare.sql.measures.planning import QueryPlan, plan_query
from tests.unit.sql.neighbours import metadata_of

METADATA = """
[unit]
name = "person"
[tables.visit]
unit = "guest"
max_rows = 3
[tables.visit.columns]
guest = { type = "integer" }
spent = { type = "integer", bounds = [0, 9] }
shop = { type = "integer", max_frequency = 10 }
[tables.review]
unit = "author"
max_rows = 2
[tables.review.columns]
author = { type = "integer" }
shop = { type = "integer", max_frequency = 4 }
[tables.tag]
public = true
[tables.tag.columns]
number = { type = "integer", max_frequency = 5 }
word = { type = "text" }
"""


def planned(query: str, folder: Path, *, elastic: bool) -> QueryPlan:
    metadata = metadata_of(METADATA, folder)
    return plan_query(parse_query(query, "duckdb"), metadata, Names(metadata, "duckdb"), elastic=elastic)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) AS n FROM visit v JOIN review r ON v.shop = r.shop JOIN tag ON v.spent = number",
        "SELECT count(*) AS n FROM visit v JOIN tag ON v.spent = number JOIN review r ON v.shop = r.shop",
        "SELECT count(*) AS n FROM tag JOIN visit v ON v.spent = number JOIN review r ON v.shop = r.shop",
    ],
)
def test_public_tables_beside_a_truncated_join(query: str, tmp_path: Path) -> None:
    """A pair of rows changes with one of its two units, and stands once for each public row that it meets."""
    (table,) = planned(query, tmp_path, elastic=False).tables
    (measure,) = table.sums
    assert measure.sensitivity.l1 == 5 * (2 * 3 * 4 + 2 * 2 * 10)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT median(spent) AS m FROM visit v JOIN review r ON v.shop = r.shop", "elastic-aggregate"),
        ("SELECT count(DISTINCT spent) AS n FROM visit v JOIN review r ON v.shop = r.shop", "elastic-aggregate"),
        ("SELECT spent, count(*) AS n FROM visit v JOIN review r ON v.shop = r.shop GROUP BY spent", "elastic-keys"),
    ],
)
def test_what_elastic_joins_do_not_offer(query: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(QueryRefusedError) as caught:
        planned(query, tmp_path, elastic=True)
    assert caught.value.reason == reason
    planned(query, tmp_path, elastic=False)


def test_a_third_private_table_is_refused(tmp_path: Path) -> None:
    query = "SELECT count(*) AS n FROM visit v JOIN review r ON v.shop = r.shop JOIN visit w ON w.shop = r.shop"
    with pytest.raises(QueryRefusedError) as caught:
        planned(query, tmp_path, elastic=False)
    assert caught.value.reason == "two-units"
