"""Drafts from a schema: nothing is read, nothing is decided, and what a person fills in can be used."""

from __future__ import annotations

import pytest

from sudare.errors import PlanError
from sudare.sql.metadata.describing import describe
from sudare.sql.metadata.file import parse_metadata
from sudare.sql.metadata.promises import require_schema
from tests.unit.sql.memory_engine import MemoryEngine

SCHEMA = """
CREATE TYPE mood AS ENUM ('secret-a', 'secret-b');
CREATE TABLE customer (id BIGINT, name VARCHAR, born DATE, vip BOOLEAN);
CREATE TABLE orders (id INTEGER, customer_id BIGINT, price DECIMAL(15, 2), weight DOUBLE, seen TIMESTAMP);
CREATE TABLE odd ("a b" INTEGER, "住所" VARCHAR, feeling mood, tags VARCHAR[], "a.b" BLOB);
"""


@pytest.fixture
def engine() -> MemoryEngine:
    engine = MemoryEngine(SCHEMA)
    engine.key = {"customer": ("id",), "orders": ("id",)}
    engine.foreign = {"orders": {"customer_id": ("customer", "id")}}
    return engine


def filled_in(draft: str) -> str:
    return draft.replace('name = "?"', 'name = "customer"').replace('unit = "?"', 'unit = "row"')


def test_every_table_is_private_until_somebody_says_otherwise(engine: MemoryEngine) -> None:
    draft = describe(engine)
    assert draft.count('\nunit = "?"') == 3
    assert "\npublic" not in draft
    assert "\nmax_rows" not in draft
    assert "\nbounds" not in draft


def test_no_row_is_read(engine: MemoryEngine) -> None:
    describe(engine)
    assert engine.asked == []


def test_a_draft_cannot_be_used_before_a_person_decided(engine: MemoryEngine) -> None:
    draft = describe(engine)
    with pytest.raises(PlanError, match=r"'name' in section \[unit\] is still as drafted"):
        parse_metadata(draft)
    with pytest.raises(PlanError, match=r"'unit' in section \[tables.customer\] is still as drafted") as caught:
        parse_metadata(draft.replace('name = "?"', 'name = "customer"'))
    assert "下書きのまま" in caught.value.japanese


def test_what_is_filled_in_describes_the_database(engine: MemoryEngine) -> None:
    metadata = parse_metadata(filled_in(describe(engine)))
    require_schema(engine, metadata, metadata.tables)
    assert set(metadata.tables) == {"customer", "orders", "odd"}
    assert list(metadata.tables["odd"].columns) == ["a b", "住所", "feeling", "tags", "a.b"]
    kinds = [column.type.kind for column in metadata.tables["orders"].columns.values()]
    assert kinds == ["integer", "integer", "decimal", "float", "timestamp"]
    assert metadata.tables["orders"].columns["price"].type.digits == 15
    assert metadata.tables["customer"].key == ("id",)


def test_remarks_are_in_one_language_and_say_the_same(engine: MemoryEngine) -> None:
    english, japanese = describe(engine), describe(engine, language="ja")
    assert english.isascii() or "住所" in english
    assert [line.split("#")[0].rstrip() for line in english.splitlines()] == [
        line.split("#")[0].rstrip() for line in japanese.splitlines()
    ]
    assert "who is protected" not in japanese
    assert "保護の対象" in japanese
    assert parse_metadata(filled_in(japanese)) == parse_metadata(filled_in(english))


def test_a_declared_foreign_key_is_proposed_and_can_be_taken(engine: MemoryEngine) -> None:
    draft = describe(engine, ["customer", "orders"])
    proposed = '# unit = "customer_id -> customer.id"'
    assert draft.count(proposed) == 1
    customer, _, orders = draft.partition("[tables.orders]")
    orders = orders.replace('unit = "?"', "#").replace(proposed, proposed.removeprefix("# "))
    text = customer.replace('unit = "?"', 'unit = "id"').replace('name = "?"', 'name = "customer"')
    assert parse_metadata(f"{text}[tables.orders]{orders}").chain("orders")[0].table == "customer"


def test_hints_stay_comments_and_show_no_values_of_a_type(engine: MemoryEngine) -> None:
    draft = describe(engine)
    assert "secret" not in draft
    assert 'weight = { type = "float" }  # bounds = [low, high], step = 0.01' in draft
    metadata = parse_metadata(filled_in(draft))
    assert all(column.low is None for table in metadata.tables.values() for column in table.columns.values())


def test_only_the_tables_that_were_named_are_described(engine: MemoryEngine) -> None:
    assert list(parse_metadata(filled_in(describe(engine, ["odd"]))).tables) == ["odd"]
    with pytest.raises(PlanError, match=r"The database has no table order\. Did you mean 'orders'\?"):
        describe(engine, ["order"])


def test_names_that_cannot_be_described_are_left_out() -> None:
    engine = MemoryEngine('CREATE TABLE t (x INTEGER, "a\nb" INTEGER); CREATE TABLE "t\u200b" (x INTEGER)')
    engine.key = {"t": ("a\nb",)}
    draft = describe(engine)
    assert "# Left out, because its name cannot be described: column 2" in draft
    metadata = parse_metadata(filled_in(draft))
    assert list(metadata.tables) == ["t"]
    assert list(metadata.tables["t"].columns) == ["x"]
    assert metadata.tables["t"].key == ()


def test_a_table_whose_columns_are_values_is_left_out() -> None:
    """As a file has them that begins with a record."""
    draft = describe(MemoryEngine('CREATE TABLE t ("Taro" TEXT, "1970-01-31" TEXT); CREATE TABLE u (x INTEGER)'))
    assert "Taro" not in draft
    assert list(parse_metadata(filled_in(draft)).tables) == ["u"]
