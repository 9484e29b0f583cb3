"""What every database must do: exact answers, names as they are, nothing changed, nothing of the data in an error."""
# ruff: noqa: S608 (queries are put together from names that the tests chose)

from __future__ import annotations

import hashlib
import time
import traceback
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from sudare.engines import ColumnType, Engine, open_engine
from sudare.errors import DatabaseError, ParameterError
from tests.contracts.sql_servers import ENGINES, Servers, location_of, quoted, running_servers

pytestmark = pytest.mark.slow

ODD_TABLE = 'odd "table" 表 `x`'
ODD_COLUMN = 'a "b" `c` 日本 é'
LARGE = 10**38 - 1
EVENTS = {
    "id": pa.array([1, 2, 3, 4], pa.int64()),
    "small": pa.array([2**31 - 1, -(2**31), None, 0], pa.int32()),
    "large": pa.array([2**63 - 1, -(2**63), None, 2**63 - 1], pa.int64()),
    "money": pa.array([Decimal("12345678901234567.89"), Decimal("-0.01"), None, Decimal("0.10")], pa.decimal128(20, 2)),
    "widest": pa.array([Decimal(LARGE), Decimal(-LARGE), Decimal(1), None], pa.decimal128(38, 0)),
    "ratio": pa.array([0.1, 0.2, None, -1e300], pa.float64()),
    "word": pa.array(["SECRET-VALUE", "日本語 \U0001f600", None, 'it\'s "q" \\ ${x}'], pa.string()),
    "yes": pa.array([True, False, None, True], pa.bool_()),
    "day": pa.array([date(1970, 1, 1), date(9999, 12, 31), None, date(1, 1, 1)], pa.date32()),
    "moment": pa.array(
        [datetime(2026, 11, 16, 23, 59, 59, 999999, UTC), datetime(1900, 1, 1, tzinfo=UTC), None, None],
        pa.timestamp("us", "UTC"),
    ),
    "clock": pa.array([datetime(2026, 11, 16, 1, 2, 3, 4), None, None, None], pa.timestamp("us")),
}


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    with running_servers() as started:
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("a folder [1]")
    pyarrow.parquet.write_table(pa.table(EVENTS), made / "Events.parquet")
    pyarrow.parquet.write_table(pa.table({ODD_COLUMN: pa.array([7], pa.int64())}), made / f"{ODD_TABLE}.parquet")
    pyarrow.parquet.write_table(pa.table({"id": pa.array([], pa.int64())}), made / "empty.parquet")
    return made


@pytest.fixture(scope="module", params=ENGINES)
def location(request: pytest.FixtureRequest, folder: Path, servers: Servers) -> str:
    return location_of(request.param, folder, servers)


@pytest.fixture(scope="module")
def engine(location: str) -> Iterator[Engine]:
    with open_engine(location) as opened:
        yield opened


def events(engine: Engine) -> str:
    return quoted(engine, "Events")


def rows(engine: Engine, sql: str) -> list[tuple[Any, ...]]:
    table = engine.fetch(sql)
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def shown(error: BaseException) -> str:
    """All that a log, a debugger or a report could show of an error."""
    told: list[str] = []
    seen: BaseException | None = error
    while seen is not None:
        told += [repr(seen), str(seen), repr(seen.args), repr(vars(seen))]
        seen = seen.__cause__ or seen.__context__
    return "\n".join([*told, *traceback.format_exception(error)])


def test_lists_tables_by_the_names_of_the_catalogue(engine: Engine) -> None:
    assert engine.tables() == sorted(["Events", ODD_TABLE, "empty"])


def test_describes_columns_in_order(engine: Engine) -> None:
    columns = engine.columns("Events")
    assert list(columns) == list(EVENTS)
    assert [(kind.kind, kind.digits, kind.scale) for kind in columns.values()] == [
        ("integer", 19, 0),
        ("integer", 10, 0),
        ("integer", 19, 0),
        ("decimal", 20, 2),
        ("decimal", 38, 0),
        ("float", None, None),
        ("text", None, None),
        ("boolean", None, None),
        ("date", None, None),
        ("timestamp", None, None),
        ("timestamp", None, None),
    ]
    assert all(isinstance(kind, ColumnType) and kind.native for kind in columns.values())
    assert list(engine.columns(ODD_TABLE)) == [ODD_COLUMN]


@pytest.mark.one_in_spark(6, "table")
@pytest.mark.parametrize(
    "table", ["events", "EVENTS", "nothing", "", "Events ", "main.Events.x", 'Events"; SELECT 1 --']
)
def test_names_are_compared_exactly(engine: Engine, table: str) -> None:
    with pytest.raises(DatabaseError, match="has no table"):
        engine.columns(table)


def test_names_with_quotes_can_be_asked(engine: Engine) -> None:
    sql = f"SELECT {quoted(engine, ODD_COLUMN)} AS {quoted(engine, ODD_COLUMN)} FROM {quoted(engine, ODD_TABLE)}"
    table = engine.fetch(sql)
    assert table.column_names == [ODD_COLUMN]
    assert table.column(0).to_pylist() == [7]


def test_hands_out_every_type_as_it_is(engine: Engine) -> None:
    table = engine.fetch(f"SELECT * FROM {events(engine)}").sort_by("id")
    expected = pa.table(EVENTS | {"small": EVENTS["small"].cast(pa.int64())})
    decimals = [name for name in EVENTS if pa.types.is_decimal(expected.schema.field(name).type)]
    for name in EVENTS:
        assert table.column(name).to_pylist() == expected.column(name).to_pylist(), name
        if name not in decimals:
            assert table.schema.field(name).type == expected.schema.field(name).type, name
    assert all(pa.types.is_decimal(table.schema.field(name).type) for name in decimals)
    assert table.schema.field("money").type.scale == 2
    assert table.schema.field("widest").type.scale == 0


def test_sums_are_exact(engine: Engine) -> None:
    wide = "CAST(large AS DECIMAL(38, 0))"
    (found,) = rows(
        engine,
        f"SELECT sum({wide}) AS whole, sum(money) AS money, sum(small) AS small, count(*) AS n, count(word) AS words, "
        f"sum(CASE WHEN id <= 3 THEN widest END) AS widest, max(widest) AS most FROM {events(engine)}",
    )
    money = Decimal("12345678901234567.98")
    assert found == (2**63 - 2, money, -1, 4, 3, 1, LARGE)


@pytest.mark.parametrize(("row", "total"), [(1, LARGE), (2, -LARGE)])
def test_a_sum_of_38_digits_is_exact(engine: Engine, row: int, total: int) -> None:
    assert rows(engine, f"SELECT sum(widest) AS x FROM {events(engine)} WHERE id = {row} OR id = 4") == [(total,)]


def test_groups_with_null_and_unicode(engine: Engine) -> None:
    found = rows(engine, f"SELECT word, count(*) AS n FROM {events(engine)} GROUP BY word")
    assert dict(found) == dict.fromkeys(EVENTS["word"].to_pylist(), 1)


def test_nothing_is_an_answer(engine: Engine) -> None:
    table = engine.fetch(f"SELECT id, word, money, moment FROM {events(engine)} WHERE 1 = 0")
    assert table.num_rows == 0
    assert table.column_names == ["id", "word", "money", "moment"]
    assert table.schema.field("id").type == pa.int64()
    assert table.schema.field("moment").type == pa.timestamp("us", "UTC")
    assert rows(engine, f"SELECT count(*) AS n, sum(id) AS s FROM {quoted(engine, 'empty')}") == [(0, None)]


def test_comments_and_ends_of_line_are_harmless(engine: Engine) -> None:
    assert rows(engine, f"SELECT count(*) AS n\nFROM {events(engine)} -- all of them") == [(4,)]
    assert rows(engine, f"WITH x AS (SELECT id FROM {events(engine)}) SELECT max(id) AS m FROM x") == [(4,)]


FAILING = [
    "SELECT CAST(word AS INTEGER) AS x FROM {events}",
    "SELECT sum(CAST(word AS INTEGER)) AS x FROM {events} WHERE word LIKE 'SECRET%'",
    "SELECT CAST(word AS DATE) AS x FROM {events}",
    "SELECT no_such_column FROM {events}",
    "SELECT no_such_function(word) AS x FROM {events}",
    "SELECT * FROM {events} WHERE AND",
    "SELECT 'SECRET-VALUE",
]


@pytest.mark.one_in_spark(6, "query")
@pytest.mark.parametrize("query", FAILING)
def test_a_failure_shows_nothing_of_the_data(engine: Engine, query: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DatabaseError) as raised:
        engine.fetch(query.format(events=events(engine)))
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None
    assert "SECRET" not in shown(raised.value)
    assert "SECRET" not in raised.value.japanese
    assert "SECRET" not in "".join(capfd.readouterr())
    assert rows(engine, "SELECT 1 AS x") == [(1,)]


def test_a_query_that_takes_too_long_is_cancelled(engine: Engine) -> None:
    numbers = {
        "duckdb": "SELECT range AS i FROM range(10000000)",
        "postgres": "SELECT i FROM generate_series(1, 10000000) AS s (i)",
        "spark": "SELECT id AS i FROM range(10000000)",
    }[engine.dialect]
    sql = f"SELECT max((a.i * 7 + b.i) % 1000003) AS x FROM ({numbers}) AS a CROSS JOIN ({numbers}) AS b"
    began = time.monotonic()
    with pytest.raises(DatabaseError, match=r"within 0\.5 seconds"):
        engine.fetch(sql, timeout=0.5)
    assert time.monotonic() - began < 60
    assert rows(engine, f"SELECT count(*) AS n FROM {events(engine)}") == [(4,)]
    assert engine.fetch("SELECT 1 AS x", timeout=30).num_rows == 1


@pytest.mark.one_in_spark(10, "timeout")
@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), "1", True])
def test_a_timeout_is_a_number_of_seconds(engine: Engine, timeout: Any) -> None:
    with pytest.raises(ParameterError, match="timeout"):
        engine.fetch("SELECT 1 AS x", timeout=timeout)


WRITES = [
    "INSERT INTO {empty} VALUES (1)",
    "DELETE FROM {events}",
    "UPDATE {events} SET id = 0",
    "DROP TABLE {events}",
    "TRUNCATE TABLE {events}",
    "CREATE TABLE made (x INTEGER)",
    "CREATE TABLE made AS SELECT * FROM {events}",
    "CREATE TEMPORARY TABLE made AS SELECT 1 AS x",
    "CREATE VIEW made AS SELECT 1 AS x",
    "CREATE TEMPORARY VIEW made AS SELECT 1 AS x",
    "SELECT 1 AS x INTO made",
    "WITH x AS (INSERT INTO {empty} VALUES (1) RETURNING id) SELECT * FROM x",
    "WITH x AS (SELECT 1 AS id) INSERT INTO {empty} SELECT * FROM x",
    "SELECT 1 AS x; INSERT INTO {empty} VALUES (1)",
    "SELECT 1 AS x) AS y; INSERT INTO {empty} VALUES (1); SELECT * FROM (SELECT 1 AS x",
    "COMMIT; INSERT INTO {empty} VALUES (1)",
    "COPY (SELECT 1) TO '{outside}'",
    "COPY (SELECT 1) TO PROGRAM 'touch {outside}'",
    "COPY {empty} FROM '{file}'",
    "COPY (SELECT 9 AS id) TO '{file}' (FORMAT PARQUET, USE_TMP_FILE false)",
    "EXPORT DATABASE '{outside}'",
    "ATTACH '{outside}' AS other",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET default_transaction_read_only = off",
    "SET TimeZone = 'Asia/Tokyo'",
    "SET spark.sql.ansi.enabled = false",
    "PRAGMA enable_profiling",
    "CACHE TABLE {events}",
    "INSERT OVERWRITE DIRECTORY '{outside}' USING parquet SELECT 1 AS x",
    "VACUUM",
    "CHECKPOINT",
    "CALL nothing()",
    "",
    ";",
    "-- nothing",
]


def contents(folder: Path) -> dict[str, str]:
    files = [file for file in folder.parent.rglob("*") if file.is_file()]
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


@pytest.mark.one_in_spark(8, "statement")
@pytest.mark.parametrize("statement", WRITES)
def test_nothing_but_a_select_runs(engine: Engine, folder: Path, statement: str) -> None:
    outside = folder.parent / "written.out"
    before = contents(folder)
    with pytest.raises(DatabaseError):
        engine.fetch(
            statement.format(
                events=events(engine),
                empty=quoted(engine, "empty"),
                outside=outside,
                file=folder / "empty.parquet",
            )
        )
    assert not outside.exists()
    assert contents(folder) == before
    assert engine.tables() == sorted(["Events", ODD_TABLE, "empty"])
    zone = "current_timezone()" if engine.dialect == "spark" else "current_setting('TimeZone')"
    counts = [
        f"(SELECT count(*) FROM {table}) AS {name}"
        for name, table in (("n", events(engine)), ("none", quoted(engine, "empty")))
    ]
    assert rows(engine, f"SELECT {', '.join(counts)}, {zone} AS z") == [(4, 0, "UTC")]


def test_a_kept_result_can_be_asked_and_is_ours_alone(engine: Engine, location: str) -> None:
    kept = engine.keep("kept here", f"SELECT id FROM {events(engine)} WHERE id > 2")
    assert kept == (engine.dialect == "duckdb")
    if kept:
        assert rows(engine, 'SELECT sum(id) AS s FROM "kept here"') == [(7,)]
        assert engine.keep("kept here", "SELECT 'new' AS word")
        assert rows(engine, 'SELECT word FROM "kept here"') == [("new",)]
        assert "kept here" not in engine.tables()
        with open_engine(location) as other, pytest.raises(DatabaseError):
            other.fetch('SELECT * FROM "kept here"')


def test_a_kept_result_never_hides_a_table(engine: Engine) -> None:
    if engine.dialect != "duckdb":
        assert not engine.keep("Events", "SELECT 1 AS x")
        return
    for name in ("Events", "EVENTS", ODD_TABLE):
        with pytest.raises(DatabaseError, match="has a table"):
            engine.keep(name, "SELECT 1 AS x")
    for statement in ("INSERT INTO empty VALUES (1)", "SELECT 1; SELECT 2", "SELECT 1) ; DROP TABLE x; SELECT (1"):
        with pytest.raises(DatabaseError, match="Only one SELECT"):
            engine.keep("other", statement)
    with pytest.raises(DatabaseError) as raised:
        engine.keep("other", "SELECT CAST(word AS INTEGER) AS x FROM Events")
    assert "SECRET" not in shown(raised.value)
    assert raised.value.__context__ is None


def test_the_state_stays_while_nothing_changes(engine: Engine) -> None:
    tables = ["Events", "empty"]
    state = engine.state(tables)
    assert (state is not None) == (engine.dialect == "duckdb")
    assert engine.state(tables) == state
    assert engine.state(list(reversed(tables))) == state


def test_the_address_is_the_same_each_time_and_has_no_password(engine: Engine, location: str) -> None:
    with open_engine(location) as again:
        assert again.address == engine.address
    assert "postgres@" not in engine.address


def test_closing_twice_does_no_harm(location: str) -> None:
    engine = open_engine(location)
    engine.close()
    engine.close()
    for ask in (engine.tables, lambda: engine.fetch("SELECT 1 AS x"), lambda: engine.columns("Events")):
        with pytest.raises(DatabaseError, match="closed"):
            ask()


FOLDING = """
    CREATE COLLATION "Folding x" (provider = libc, locale = 'C');
    UPDATE pg_collation SET collisdeterministic = false
    WHERE collname = 'Folding x' AND collnamespace = current_schema()::regnamespace;
    CREATE TYPE citext;
    CREATE FUNCTION citextin(cstring) RETURNS citext LANGUAGE internal IMMUTABLE STRICT AS 'textin';
    CREATE FUNCTION citextout(citext) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'textout';
    CREATE TYPE citext (INPUT = citextin, OUTPUT = citextout, LIKE = text, COLLATABLE = true);
    CREATE DOMAIN folded AS varchar(9) COLLATE "Folding x";
    CREATE DOMAIN lower_text AS citext;
    CREATE TYPE mood AS ENUM ('calm');
    CREATE TABLE t (a text COLLATE "Folding x", b text, c folded, d citext, e lower_text, f char(4), g varchar(4) COLLATE "C",
                    h mood, i boolean);
    CREATE VIEW v AS SELECT a || 'x' AS a, b, d, b COLLATE "Folding x" AS e, f, h, i FROM t
"""
"""The server of the tests has neither ICU nor the extension citext; the catalogue says the same of these."""


@pytest.mark.slow
def test_text_that_folds_is_no_text_in_postgresql(servers: Servers) -> None:
    location = servers.postgres().new_location()  # skips where there is no psycopg
    import psycopg

    with psycopg.connect(location) as connection:
        connection.execute(FOLDING.encode())
    with open_engine(location) as engine:
        table, view = engine.columns("t"), engine.columns("v")
    assert [(kind.kind, kind.native) for kind in table.values()] == [
        ("other", 'text COLLATE "Folding x"'),
        ("text", "text"),
        ("other", 'folded COLLATE "Folding x"'),
        ("other", "citext"),
        ("other", "lower_text"),
        ("other", "character(4)"),
        ("text", "character varying(4)"),
        ("text", "mood"),
        ("boolean", "boolean"),
    ]
    assert [kind.kind for kind in view.values()] == ["other", "text", "other", "other", "other", "text", "boolean"]


@pytest.mark.spark
def test_text_that_folds_is_no_text_in_spark(servers: Servers) -> None:
    servers.spark()
    from pyspark.sql import SparkSession

    session = SparkSession.builder.getOrCreate()
    folded = "string collate UTF8_LCASE"
    session.sql(
        "SELECT 'x' COLLATE UTF8_LCASE AS a, 'x' AS b, 'x' COLLATE UTF8_BINARY AS c, 'x' COLLATE UTF8_BINARY_RTRIM AS d, "
        "upper('x' COLLATE UTF8_LCASE) AS e, true AS f"
    ).createOrReplaceTempView("folded")
    session.sql(
        "CREATE TABLE stored (a STRING COLLATE UTF8_LCASE, b VARCHAR(3) COLLATE UTF8_LCASE, c CHAR(3)) USING parquet"
    )
    try:
        with open_engine(session) as engine:
            view, table = engine.columns("folded"), engine.columns("stored")
    finally:
        session.sql("DROP TABLE stored")
        session.catalog.dropTempView("folded")
    assert [(kind.kind, kind.native) for kind in view.values()] == [
        ("other", folded),
        ("text", "string"),
        ("text", "string"),
        ("other", "string collate UTF8_BINARY_RTRIM"),
        ("other", folded),
        ("boolean", "boolean"),
    ]
    assert [(kind.kind, kind.native) for kind in table.values()] == [
        ("other", folded),
        ("other", folded),
        ("text", "string"),
    ]
