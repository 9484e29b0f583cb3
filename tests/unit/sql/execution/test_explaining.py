"""Explanations have everything that happens, in both languages, and read no row."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sudare.ledger import open_ledger
from sudare.privacy import Budget
from tests.unit.sql.shops import PAIRS, ask_shop, bounded_ages, open_shop

QUERY = "SELECT town, count(*) AS n, sum(age) AS s, median(age) AS m FROM customer GROUP BY town HAVING count(*) > 10"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return open_shop(tmp_path)


def test_all_parts(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ask_shop(shop) as connection:
        monkeypatch.setattr(connection._engine, "fetch", None)
        explained = connection.explain(QUERY)
    assert explained.query == QUERY
    (table,) = explained.tables
    assert len(table.queries) == 2, "sums, and one histogram"
    assert "COUNT(*)" in table.queries[0]
    assert "HAVING" not in "".join(table.queries)
    assert all(name in table.queries[0] for name in explained.left_out)
    assert all("> 1" in query for query in explained.left_out.values())
    assert "> 10" in explained.post
    assert explained.cost == Budget(epsilon=1)
    by_name = {measure.what: measure for measure in table.measures}
    assert by_name["COUNT(*)"].sensitivity == 1
    summed = next(measure for what, measure in by_name.items() if what.startswith("SUM"))
    assert summed.sensitivity == 100
    assert "100" in summed.reason.english
    assert {"public-keys", "left-out", "clipped"} <= {change.reason for change in explained.changes}
    with open_ledger(shop / "budget.db") as ledger:
        assert ledger.dataset("shop").spent is None


@pytest.mark.parametrize(("language", "words"), [("en", "sensitivity 100"), ("ja", "感度 100")])
def test_texts(shop: Path, language: str, words: str) -> None:
    with ask_shop(shop) as connection:
        explained = connection.explain(QUERY)
    text = explained.to_text(language)
    assert words in text
    for part in (
        QUERY,
        explained.post.splitlines()[0],
        *(change.words.explain(language) for change in explained.changes),
    ):
        assert part in text
    for name in explained.left_out:
        assert f"{name}:" in text
    assert str(explained) == explained.to_text("en")


def test_values_for_programs(shop: Path) -> None:
    with ask_shop(shop) as connection:
        explained = connection.explain(QUERY)
    values = json.loads(json.dumps(explained.to_dict()))
    assert values["cost"] == {"epsilon": "1"}
    assert {measure["noise"]["mechanism"] for measure in values["tables"][0]["measures"]} == {"laplace", "exponential"}


def test_public_tables(shop: Path) -> None:
    with ask_shop(shop) as connection:
        explained = connection.explain("SELECT count(*) AS n FROM town")
    assert explained.cost is None
    assert explained.changes == ()
    assert "in nothing" in explained.to_text()
    assert "only public tables" in explained.to_text()
    assert explained.tables[0].measures[0].price is None


def test_thresholds(shop: Path) -> None:
    with ask_shop(shop, Budget(epsilon=1, delta=1e-6)) as connection:
        explained = connection.explain("SELECT club, count(*) AS n FROM customer GROUP BY club")
    threshold = explained.tables[0].threshold
    assert threshold is not None
    assert f"reaches {threshold}" in explained.to_text()
    assert f"{threshold} 以上" in explained.to_text("ja")


def test_joins_of_two_units(shop: Path) -> None:
    (shop / "shop.toml").write_text(bounded_ages(50), encoding="utf-8")
    told = {}
    for joins in ("truncated", "elastic"):
        with ask_shop(shop, Budget(epsilon=1, delta=1e-6), joins=joins) as connection:
            told[joins] = connection.explain(PAIRS)
    cut, elastic = told["truncated"], told["elastic"]
    assert "at most 50 and 50 rows for each value are joined" in cut.to_text()
    assert "<= 50" in cut.tables[0].queries[0]
    assert "rows of two units are joined: 101 rows can change today, 121 ten units away" in elastic.to_text()
    assert "二つの保護単位の行を結合: 現在 101 行" in elastic.to_text("ja")
    assert "<= 50" not in elastic.tables[0].queries[0]
    (measure,) = elastic.tables[0].measures
    assert measure.sensitivity == 101
    assert "data as they are" in measure.reason.english
    assert measure.price is not None
    assert measure.price.scale == 202, "half of epsilon pays for the noise that follows the data"
    assert "Laplace noise (202)" in elastic.to_text()
