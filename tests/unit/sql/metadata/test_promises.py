"""What the metadata promise, held against the database: by name and type before each query, by rows for the owner alone."""

from __future__ import annotations

from typing import Any

import pytest

from sudare.errors import DatabaseError, ParameterError, PlanError
from sudare.sql.metadata.file import parse_metadata
from sudare.sql.metadata.model import Metadata
from sudare.sql.metadata.promises import BrokenPromise, check_promises, require_schema
from tests.unit.sql.memory_engine import MemoryEngine

KEPT = """
CREATE TABLE nation (id INTEGER, name VARCHAR);
INSERT INTO nation VALUES (1, 'Japan'), (2, 'Kenya');
CREATE TABLE customer (id BIGINT, mail VARCHAR, nation VARCHAR, flag VARCHAR, day INTEGER, joined DATE,
  seen TIMESTAMP, price DECIMAL(10, 2));
INSERT INTO customer VALUES
  (1, 'a@x', 'Japan', 'A', 1, DATE '2020-01-01', TIMESTAMP '2020-01-01 00:00:00.5', -1.50),
  (2, NULL, 'Kenya', 'it''s', 3, DATE '2020-01-03', TIMESTAMP '2020-01-01 00:00:00.5', 2),
  (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE visit (customer_id BIGINT, no INTEGER, place UUID);
INSERT INTO visit VALUES (1, 1, NULL), (1, 2, NULL), (2, 1, NULL);
"""
METADATA = """
unit.name = "customer"
[tables.nation]
public = true
key = ["id"]
[tables.nation.columns]
id = { type = "integer" }
name = { type = "text", unique = true, nullable = false }
[tables.customer]
unit = "id"
key = ["id"]
[tables.customer.columns]
id = { type = "integer" }
mail = { type = "text", unique = true }
nation = { type = "text", values = { from = "nation.name" } }
flag = { type = "text", values = ["A", "it's"], max_frequency = 1 }
day = { type = "integer", values = { first = 1, last = 31 } }
joined = { type = "date", values = { first = 2020-01-01, last = 2020-01-03 } }
seen = { type = "timestamp", values = [2020-01-01T00:00:00.5] }
price = { type = "decimal(10,2)", values = [-1.5, 2] }
[tables.visit]
unit = "customer_id -> customer.id"
key = ["customer_id", "no"]
[tables.visit.columns]
customer_id = { type = "integer", max_frequency = 2 }
no = { type = "integer", nullable = false }
place = { type = "other" }
"""


def metadata(text: str = METADATA) -> Metadata:
    return parse_metadata(text, "shop.toml")


def found(sql: str, text: str = METADATA) -> list[tuple[str, tuple[str, ...], str]]:
    engine = MemoryEngine(KEPT + sql)
    broken = check_promises(engine, metadata(text), by_the_owner_of_the_data=True)
    return [(one.table, one.columns, one.promise) for one in broken]


def test_nothing_is_found_where_all_promises_are_kept() -> None:
    assert found("") == []


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("INSERT INTO customer (id) VALUES (3)", ("customer", ("id",), "key")),
        ("INSERT INTO customer (id) VALUES (NULL)", ("customer", ("id",), "key")),
        ("INSERT INTO customer (id, mail) VALUES (4, 'a@x')", ("customer", ("mail",), "unique")),
        ("INSERT INTO customer (id, flag) VALUES (4, 'A')", ("customer", ("flag",), "max_frequency")),
        ("INSERT INTO customer (id, flag) VALUES (4, 'its')", ("customer", ("flag",), "values")),
        ("INSERT INTO customer (id, nation) VALUES (4, 'Japan ')", ("customer", ("nation",), "values")),
        ("INSERT INTO customer (id, day) VALUES (4, 0)", ("customer", ("day",), "values")),
        ("INSERT INTO customer (id, day) VALUES (4, 32)", ("customer", ("day",), "values")),
        ("INSERT INTO customer (id, joined) VALUES (4, DATE '2020-01-04')", ("customer", ("joined",), "values")),
        ("INSERT INTO customer (id, seen) VALUES (4, TIMESTAMP '2020-01-01')", ("customer", ("seen",), "values")),
        ("INSERT INTO customer (id, price) VALUES (4, 1.5)", ("customer", ("price",), "values")),
        ("INSERT INTO nation VALUES (2, 'Peru')", ("nation", ("id",), "key")),
        ("INSERT INTO nation VALUES (3, NULL)", ("nation", ("name",), "nullable")),
        ("INSERT INTO nation VALUES (3, 'Japan')", ("nation", ("name",), "unique")),
        ("INSERT INTO visit VALUES (2, 1, NULL)", ("visit", ("customer_id", "no"), "key")),
        ("INSERT INTO visit VALUES (1, 3, NULL)", ("visit", ("customer_id",), "max_frequency")),
        ("ALTER TABLE customer DROP COLUMN mail", ("customer", ("mail",), "column")),
        ("ALTER TABLE visit ALTER no TYPE VARCHAR", ("visit", ("no",), "type")),
        ('ALTER TABLE visit RENAME COLUMN no TO "No"', ("visit", ("no",), "column")),
        ("DROP TABLE visit", ("visit", (), "table")),
    ],
)
def test_a_broken_promise_is_found_and_no_other(sql: str, expected: tuple[str, tuple[str, ...], str]) -> None:
    assert found(sql) == [expected]


def test_a_null_where_none_may_be_breaks_the_column_and_the_key() -> None:
    assert found("INSERT INTO visit VALUES (1, NULL, NULL)") == [
        ("visit", ("customer_id", "no"), "key"),
        ("visit", ("customer_id",), "max_frequency"),
        ("visit", ("no",), "nullable"),
    ]


def test_values_of_a_public_column_that_is_gone_are_not_asked_for() -> None:
    assert found("ALTER TABLE nation DROP COLUMN name") == [("nation", ("name",), "column")]
    assert found("DROP TABLE customer") == [("customer", (), "table")]


def test_no_value_and_no_count_is_told_and_none_leaves_the_database() -> None:
    sql = "INSERT INTO customer (id, flag) SELECT 900 + range, 'hidden' FROM range(77)"
    engine = MemoryEngine(KEPT + sql)
    results: list[Any] = []
    fetch = engine.fetch

    def remembered(sql: str, *, timeout: float | None = None) -> Any:
        results.append(fetch(sql, timeout=timeout))
        return results[-1]

    engine.fetch = remembered  # type: ignore[method-assign]
    broken = check_promises(engine, metadata(), by_the_owner_of_the_data=True)
    assert [one.promise for one in broken] == ["max_frequency", "values"]
    for one in broken:
        assert isinstance(one, BrokenPromise)
        assert not {"hidden", "77", "900"} & set((one.english + one.japanese).replace(".", " ").split())
        assert "flag" in one.english
        assert "flag" in one.japanese
    assert all(result.to_pylist() in ([{"broken": 0}], [{"broken": 1}]) for result in results)
    assert len(results) > 10


@pytest.mark.parametrize("said", [False, None, 1, "yes"])
def test_whoever_does_not_say_that_the_data_are_theirs_learns_nothing(said: Any) -> None:
    engine = MemoryEngine(KEPT)
    with pytest.raises(ParameterError, match="by_the_owner_of_the_data"):
        check_promises(engine, metadata(), by_the_owner_of_the_data=said)
    with pytest.raises(TypeError):
        check_promises(engine, metadata())  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        check_promises(engine, metadata(), True)  # type: ignore[call-arg]
    assert engine.asked == []


def test_the_package_does_not_offer_the_check_by_accident() -> None:
    import sudare
    import sudare.sql

    assert not hasattr(sudare, "check_promises")
    assert "check_promises" not in getattr(sudare.sql, "__all__", ())


def test_the_schema_is_compared_without_reading_a_row() -> None:
    engine = MemoryEngine(KEPT)
    require_schema(engine, metadata(), ["visit", "nation"])
    assert engine.asked == []


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("ALTER TABLE visit DROP COLUMN place", "The table visit has no column place, which shop.toml describes."),
        ("DROP TABLE visit", "The database has no table visit, which shop.toml describes."),
        (
            "ALTER TABLE visit ALTER no TYPE DECIMAL(5, 1)",
            "The column no of visit is decimal(5,1) in the database, and integer in shop.toml.",
        ),
        (
            "ALTER TABLE customer ALTER id TYPE VARCHAR",
            "The column id of customer is text in the database, and integer",
        ),
        ("ALTER TABLE customer ALTER price TYPE DECIMAL(11, 3)", "is decimal(11,3) in the database, and decimal(10,2)"),
        ("ALTER TABLE customer ALTER price TYPE DECIMAL(11, 2)", "is decimal(11,2) in the database, and decimal(10,2)"),
        ("ALTER TABLE nation DROP COLUMN name", "The table nation has no column name"),
    ],
)
def test_a_database_that_changed_is_refused_before_the_query(sql: str, told: str) -> None:
    """Also where only a link or public values lead to the table that changed."""
    engine = MemoryEngine(KEPT + sql)
    with pytest.raises(DatabaseError) as caught:
        require_schema(engine, metadata(), ["visit"])
    assert told in caught.value.english
    assert "shop.toml" in caught.value.japanese


def test_a_narrower_integer_is_taken_and_a_wider_one_is_not() -> None:
    require_schema(MemoryEngine(f"{KEPT}ALTER TABLE customer ALTER id TYPE SMALLINT"), metadata(), ["customer"])
    with pytest.raises(DatabaseError, match="id"):
        require_schema(MemoryEngine(f"{KEPT}ALTER TABLE customer ALTER id TYPE HUGEINT"), metadata(), ["customer"])


@pytest.mark.parametrize("kind", ["DECIMAL(9, 2)", "DECIMAL(9, 1)", "DECIMAL(20, 2)"])
def test_other_digits_are_refused(kind: str) -> None:
    """DuckDB calculates with the digits that a column has, and fails beyond them."""
    with pytest.raises(DatabaseError, match="price"):
        require_schema(MemoryEngine(f"{KEPT}ALTER TABLE customer ALTER price TYPE {kind}"), metadata(), ["customer"])


def test_a_table_that_nobody_looks_at_may_be_gone() -> None:
    engine = MemoryEngine(KEPT + "DROP TABLE visit")
    require_schema(engine, metadata(), ["customer"])


def test_a_table_that_is_not_described_is_refused() -> None:
    with pytest.raises(PlanError, match=r"shop.toml does not describe the table visits\. Did you mean 'visit'\?"):
        require_schema(MemoryEngine(KEPT), metadata(), ["visits"])


def test_an_undescribed_name_of_the_database_is_never_told() -> None:
    engine = MemoryEngine(KEPT + "ALTER TABLE visit RENAME TO visit_secret")
    with pytest.raises(DatabaseError) as caught:
        require_schema(engine, metadata(), ["visit"])
    assert "secret" not in caught.value.english + caught.value.japanese


def test_links_of_types_that_only_the_database_knows_must_be_the_same() -> None:
    text = """
unit.name = "customer"
tables.a = { unit = "k", key = ["k"], columns.k = { type = "other" } }
tables.b = { unit = "k -> a.k", columns.k = { type = "other" } }
"""
    require_schema(MemoryEngine("CREATE TABLE a (k UUID); CREATE TABLE b (k UUID)"), metadata(text), ["b"])
    with pytest.raises(DatabaseError, match="joins columns of different types"):
        require_schema(MemoryEngine("CREATE TABLE a (k UUID); CREATE TABLE b (k BLOB)"), metadata(text), ["b"])


def test_a_database_that_does_not_answer_is_told_as_such() -> None:
    engine = MemoryEngine(KEPT)

    def columns(table: str) -> Any:
        raise DatabaseError("The database does not answer.", "データベースが応答しません。")

    engine.columns = columns  # type: ignore[method-assign]
    with pytest.raises(DatabaseError, match="does not answer"):
        require_schema(engine, metadata(), ["visit"])
