"""Random expressions on data far beyond the bounds: nothing may fail, and nothing may leave what is stated."""

from __future__ import annotations

import math
import re
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

import duckdb
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlglot import exp, parse_one

from sudare.errors import QueryRefusedError
from sudare.sql.expressions.arithmetic import decimal_digits
from sudare.sql.expressions.expressions import Examined, Facts, bounded, examine, on_grid
from sudare.sql.expressions.intervals import Interval
from sudare.sql.expressions.safe_expression import SafeExpression
from tests.unit.sql.expressing import COLUMNS, TAME, TYPES, WILD, conditions, dates, numbers, texts

KINDS = {
    "integer": (int, Decimal),
    "decimal": (Decimal,),
    "float": (float,),
    "boolean": (bool,),
    "date": (date,),
    "timestamp": (datetime,),
    "text": (str,),
}


@pytest.fixture(scope="module")
def database() -> Any:
    connection = duckdb.connect()
    # Mixing DECIMAL(38, 4) with more digits behind the point, the database itself rounds; the original should not.
    for table, rows, types in (("wild", WILD, TYPES), ("tame", TAME, {**TYPES, "q": "DECIMAL(20, 4)"})):
        fields = ", ".join(f"{name} {kind}" for name, kind in types.items())
        connection.execute(f"CREATE TABLE {table} ({fields})")
        for row in rows:
            values = ", ".join(f"CAST({value} AS {TYPES[name]})" for name, value in row.items())
            connection.execute(f"INSERT INTO {table} VALUES ({values})")  # noqa: S608
    yield connection
    connection.close()


def parsed(text: str, dialect: str = "duckdb") -> exp.Expr:
    return cast(exp.Expr, parse_one(f"SELECT {text}", read=dialect).expressions[0])


def lookup(column: exp.Column) -> Facts:
    return COLUMNS[column.name]


def without_digits(column: exp.Column) -> Facts:
    facts = COLUMNS[column.name]
    return Facts(facts.kind, facts.low, facts.high, facts.scale, facts.nullable, facts.values)


def rows_of(database: Any, sql: exp.Expr, table: str) -> list[Any]:
    return [row[0] for row in database.execute(f"SELECT {sql.sql('duckdb')} FROM {table}").fetchall()]  # noqa: S608


def exact(value: Any) -> Any:
    return Fraction(value) if isinstance(value, int | float | Decimal) and not isinstance(value, bool) else value


def check(database: Any, text: str, found: Examined) -> None:
    """Run it on the wild rows, and compare it with the original on the tame ones."""
    facts = found.facts
    for value in rows_of(database, found.sql, "wild"):
        if value is None:
            assert facts.nullable
            continue
        if facts.kind != "other" and not (
            isinstance(value, str) and facts.kind in ("date", "timestamp") and not facts.clipped
        ):
            assert isinstance(value, KINDS[facts.kind]), (value, facts)
        if facts.clipped:
            assert not (isinstance(value, float) and math.isnan(value))
            assert facts.low is None or facts.low <= exact(value) <= facts.high, (value, facts)
            if facts.values is not None:
                assert value in facts.values
        if facts.scale is not None and isinstance(value, Decimal):
            assert -int(value.as_tuple().exponent) <= facts.scale
    if ", 0.5)" in text:
        return  # the root of a negative number is NaN in the original and NULL here
    ours = rows_of(database, found.sql, "tame")
    try:
        database.execute("SET ieee_floating_point_ops = false")  # so that a division by zero is an error
        plain = [row[0] for row in database.execute(f"SELECT {text} FROM tame").fetchall()]  # noqa: S608
    except duckdb.Error:
        return  # the original overflows, divides by zero or does not convert
    finally:
        database.execute("SET ieee_floating_point_ops = true")
    for mine, theirs in zip(ours, plain, strict=True):
        if mine is None or theirs is None or isinstance(mine, str):
            continue
        if isinstance(theirs, float) and not math.isfinite(theirs):
            continue
        if isinstance(mine, bool | date) or isinstance(theirs, datetime):
            assert mine == theirs or (isinstance(theirs, datetime) and mine == theirs.date()), text
        else:
            # The database calculates with REAL where the original does.
            margin = 1e-5 if re.search(r"\br\b", text) else 1e-9
            assert math.isclose(mine, theirs, rel_tol=margin, abs_tol=margin), (text, mine, theirs)


quick = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def accepted(function: Any, text: str, known: Any) -> Examined | None:
    tree = parsed(text)
    before = tree.sql()
    try:
        return function(tree, known, "duckdb")  # type: ignore[no-any-return]
    except QueryRefusedError as refusal:
        if refusal.reason not in {"too-wide", "no-bounds", "division-by-zero", "cast-can-fail", "not-a-constant"}:
            raise
        return None
    finally:
        assert tree.sql() == before


@quick
@given(numbers(), st.sampled_from([lookup, without_digits]))
@example("i * 2147483647 * 9", lookup)
@example("1 / (f - f)", lookup)
@example("q * q * q", without_digits)
@example("h % t", lookup)
def test_numbers(database: Any, text: str, known: Any) -> None:
    if (found := accepted(bounded, text, known)) is not None:
        assert found.facts.clipped
        check(database, text, found)
        for scale in (0, 2, 4):
            on_the_grid(database, found, scale)
    if (found := accepted(examine, text, known)) is not None:
        check(database, text, found)


def on_the_grid(database: Any, found: Examined, scale: int) -> None:
    try:
        sql = on_grid(found, scale, "duckdb")
    except QueryRefusedError as refusal:
        if refusal.reason != "too-wide":
            raise
        return
    assert isinstance(found.facts.low, Fraction)
    assert isinstance(found.facts.high, Fraction)
    allowed = Interval(found.facts.low, found.facts.high).to_grid(scale)
    for value in rows_of(database, sql, "wild"):
        assert value is None or allowed.low <= exact(value) <= allowed.high
        assert value is None or (isinstance(value, Decimal) and value.as_tuple().exponent == -scale) or scale == 0
    # Sums do not fail either.
    database.execute(f"SELECT sum({sql.sql('duckdb')}) FROM wild").fetchall()  # noqa: S608


@quick
@given(conditions(), st.sampled_from([lookup, without_digits]))
@example("q > 0.00001", without_digits)
@example("u > 0.12345678901234567890123", without_digits)
def test_conditions(database: Any, text: str, known: Any) -> None:
    if (found := accepted(examine, text, known)) is not None:
        assert found.facts.kind == "boolean"
        check(database, text, found)


@quick
@given(st.one_of(texts(), dates()))
def test_texts_and_dates(database: Any, text: str) -> None:
    if (found := accepted(examine, text, lookup)) is not None:
        check(database, text, found)


@pytest.mark.slow
@settings(quick, max_examples=100)
@given(st.one_of(numbers(), numbers(4)), st.sampled_from([lookup, without_digits]))
def test_many_numbers(database: Any, text: str, known: Any) -> None:
    if (found := accepted(bounded, text, known)) is not None:
        check(database, text, found)
        on_the_grid(database, found, 3)


@pytest.mark.parametrize(
    "text",
    [
        "i * i",
        "t + 1",
        "l * l",
        "q * 10",
        "EXP(f * 1000)",
        "CAST(f AS INTEGER)",
        "CAST(s AS INTEGER)",
        "e + INTERVAL '1' YEAR",
    ],
)
def test_naive_twins_fail(database: Any, text: str) -> None:
    """Without clipping the same expressions fail, or give what cannot be summed."""
    try:
        naive = [row[0] for row in database.execute(f"SELECT {text} FROM wild").fetchall()]  # noqa: S608
        assert any(isinstance(value, float) and not math.isfinite(value) for value in naive)
    except duckdb.Error:
        pass
    function = examine if text.startswith(("CAST(s", "e ")) else bounded
    narrow = {**COLUMNS, "f": Facts("float", Fraction(0), Fraction(1, 2)), "e": COLUMNS["d"]}
    rows_of(database, function(parsed(text), lambda column: narrow[column.name], "duckdb").sql, "wild")


def test_types_of_decimals(database: Any) -> None:
    """The digits that are expected of a result are those that the database gives it."""
    for operation, sign in ((exp.Add, "+"), (exp.Sub, "-"), (exp.Mul, "*")):
        for width, scale in ((1, 0), (4, 2), (9, 9), (15, 2), (17, 3), (18, 0), (18, 6), (19, 4), (30, 8), (38, 10)):
            for other, digits in ((1, 0), (3, 3), (16, 2), (18, 0), (18, 9), (25, 5), (38, 2)):
                left = SafeExpression(exp.Null(), "decimal", scale=scale, digits=width)
                right = SafeExpression(exp.Null(), "decimal", scale=digits, digits=other)
                expected = decimal_digits(operation, left, right, "duckdb")
                text = f"typeof(CAST(0 AS DECIMAL({width}, {scale})) {sign} CAST(0 AS DECIMAL({other}, {digits})))"
                found = database.execute(f"SELECT {text}").fetchone()[0]
                places = scale + digits if sign == "*" else max(scale, digits)
                assert found == f"DECIMAL({expected},{places})"


@pytest.mark.parametrize("text", ["p", "f", "i", "q", "r"])
def test_columns_alone_stay_as_they_are(text: str) -> None:
    assert examine(parsed(text), lookup, "duckdb").sql.sql("duckdb") == text
    assert not examine(parsed(text), lookup, "duckdb").facts.clipped
    assert bounded(parsed(f"({text})"), lookup, "duckdb").facts.clipped


def test_nan_and_infinity_count_as_bounds(database: Any) -> None:
    sql = bounded(parsed("x"), lambda column: Facts("float", Fraction(-1), Fraction(2)), "duckdb").sql.sql("duckdb")
    for value, expected in (("nan", 2), ("inf", 2), ("-inf", -1), ("1.5", 1.5)):
        assert database.execute(f"SELECT {sql} FROM (SELECT CAST('{value}' AS DOUBLE) AS x)").fetchone()[0] == expected  # noqa: S608


def test_q1_needs_no_cast_of_columns() -> None:
    money = {
        "price": Facts("decimal", Fraction(0), Fraction(105_000), 2, False, digits=15),
        "discount": Facts("decimal", Fraction(0), Fraction(1, 10), 2, False, digits=15),
        "tax": Facts("decimal", Fraction(0), Fraction(8, 100), 2, False, digits=15),
    }
    found = bounded(parsed("price * (1 - discount) * (1 + tax)"), lambda column: money[column.name], "duckdb")
    sql = on_grid(found, 6, "duckdb").sql("duckdb")
    assert sql.count("CAST(") == sql.count("CAST(1 AS DECIMAL(1, 0))") == 2
    assert found.facts == Facts("decimal", Fraction(0), Fraction(113_400), 6, False, None, True, found.facts.digits)


def test_known_values() -> None:
    def values(text: str) -> Any:
        return examine(parsed(text), lookup, "duckdb").facts.values

    assert values("c") == ("AA", "AB", "BA")
    assert values("LEFT(c, 1)") == ("A", "B")
    assert values("b") == (False, True)
    assert values("CASE WHEN i > 0 THEN 'x' WHEN i < 0 THEN 'y' ELSE 'x' END") == ("x", "y")
    assert values("EXTRACT(YEAR FROM d)") == (2020, 2021)
    assert values("EXTRACT(MONTH FROM m)") == tuple(range(1, 13))
    assert len(values("DATE_TRUNC('month', d)")) == 24
    assert values("EXTRACT(YEAR FROM e)") is None
    assert not examine(parsed("LEFT(c, 1)"), lookup, "duckdb").facts.clipped
    assert examine(parsed("CASE WHEN b THEN 'x' ELSE 'y' END"), lookup, "duckdb").facts.clipped


def test_integers_divide_as_in_the_dialect() -> None:
    assert bounded(parsed("n / 2", "postgres"), lookup, "postgres").facts.kind == "integer"
    assert bounded(parsed("n / 2"), lookup, "duckdb").facts.kind == "float"
    assert bounded(parsed("n // 2"), lookup, "duckdb").facts == Facts(
        "integer", Fraction(0), Fraction(4), 0, False, None, True
    )


REFUSED = [
    ("random()", "not-deterministic"),
    ("now()", "not-deterministic"),
    ("current_date", "not-deterministic"),
    ("uuid()", "not-deterministic"),
    ("nextval('x')", "side-effect"),
    ("pg_sleep(1)", "side-effect"),
    ("read_csv('x')", "side-effect"),
    ("getenv('HOME')", "side-effect"),
    ("frobnicate(i)", "unknown-function"),
    ("sum(i)", "aggregate-here"),
    ("count(*)", "aggregate-here"),
    ("sum(i) FILTER (WHERE b)", "aggregate-here"),
    ("row_number() OVER ()", "window-function"),
    ("sum(i) OVER ()", "window-function"),
    ("(SELECT 1)", "subquery-here"),
    ("EXISTS (SELECT 1)", "subquery-here"),
    ("i IN (SELECT 1)", "subquery-here"),
    ("[1, 2]", "unsupported-type"),
    ("{'a': 1}", "unsupported-type"),
    ("s[1]", "unsupported-type"),
    ("s -> 'a'", "unsupported-type"),
    ("$1", "parameter"),
    ("?", "parameter"),
    ("regexp_matches(s, 'a')", "regular-expression"),
    ("s SIMILAR TO 'a'", "regular-expression"),
    ("s COLLATE nocase", "unknown-operator"),
    ("m AT TIME ZONE 'UTC'", "unknown-operator"),
    ("i = '5'", "mixed-kinds"),
    ("s = 5", "mixed-kinds"),
    ("b = 1", "mixed-kinds"),
    ("CASE WHEN b THEN 1 ELSE 'x' END", "mixed-kinds"),
    ("d > 'yesterday'", "not-a-date"),
    ("i = NULL", "compared-with-null"),
    ("u + 1", "no-bounds"),
    ("g * 2", "no-bounds"),
    ("s + 1", "not-a-number"),
    ("b + 1", "not-a-number"),
    ("i AND b", "not-a-condition"),
    ("LOWER(i)", "not-a-text"),
    ("SUBSTRING(s, -1, 2)", "not-a-constant"),
    ("SUBSTRING(s, i, 2)", "not-a-constant"),
    ("s LIKE c", "not-a-constant"),
    ("POWER(i, 99)", "not-a-constant"),
    ("POWER(2, i)", "not-a-constant"),
    ("EXTRACT(EPOCH FROM m)", "unknown-function"),
    ("REPLACE(s, 'a', 'aaaa')", "too-wide"),
    ("EXP(i * 100)", "too-wide"),
    ("e + INTERVAL '1' DAY", "no-bounds"),
    ("d + INTERVAL '9000' YEAR", "too-wide"),
    ("CAST(l AS TINYINT)", "cast-can-fail"),
    ("CAST(f AS VARCHAR)", "cast-can-fail"),
    ("CAST(s AS INTEGER[])", "unsupported-type"),
    ("i / 0", "division-by-zero"),
    ("99999999999999999999999999999999999999999", "too-wide"),
    ("i & 1", "unknown-operator"),
    ("*", "star-here"),
    ("t.*", "star-here"),
    ("list_transform([1], x -> x)", "unknown-function"),
    ("DATE(i)", "unsupported-type"),
    ("- " * 120 + "i", "too-deep"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_refusals(text: str, reason: str) -> None:
    with pytest.raises(QueryRefusedError) as caught:
        examine(parsed(text), lookup, "duckdb")
    assert caught.value.reason == reason
    assert caught.value.english
    assert caught.value.japanese


def test_a_near_name_is_offered() -> None:
    with pytest.raises(QueryRefusedError, match="Did you mean ROUND") as caught:
        examine(parsed("i + rounds(i)"), lookup, "duckdb")
    assert (caught.value.line, caught.value.column) == (1, 12)


@pytest.mark.parametrize("text", ["s", "b", "d", "i > 1", "'x'", "NULL"])
def test_sums_need_numbers(text: str) -> None:
    with pytest.raises(QueryRefusedError) as caught:
        bounded(parsed(text), lookup, "duckdb")
    assert caught.value.reason == "not-a-number"


def test_sums_need_bounds_and_few_digits() -> None:
    with pytest.raises(QueryRefusedError, match="bounds"):
        bounded(parsed("u"), lookup, "duckdb")
    with pytest.raises(QueryRefusedError) as caught:
        on_grid(examine(parsed("i"), lookup, "duckdb"), 0, "duckdb")
    assert caught.value.reason == "no-bounds"
    for text, scale in (("p", 26), ("f", 15)):
        with pytest.raises(QueryRefusedError) as caught:
            on_grid(bounded(parsed(text), lookup, "duckdb"), scale, "duckdb")
        assert caught.value.reason == "too-wide"


def test_every_rule_is_for_one_class() -> None:
    """What is derived from a known class is not known by that."""
    sneaky = type("Sneaky", (exp.Abs,), {})
    try:
        call = sneaky(this=exp.column("i"))
    except TypeError:
        pytest.skip("sqlglot was compiled: its classes have no others derived from them")
    with pytest.raises(QueryRefusedError) as caught:
        examine(call, lookup, "duckdb")
    assert caught.value.reason == "unknown-function"


def test_what_is_said_of_no_text_can_be_done() -> None:
    """CAST is recommended only where it is offered."""
    for text, is_offered in (("LOWER(i)", True), ("LOWER(b)", True), ("LOWER(f)", False), ("LOWER(o)", False)):

        def look_up(column: exp.Column) -> Facts:
            return Facts("other") if column.name == "o" else COLUMNS[column.name]

        with pytest.raises(QueryRefusedError) as caught:
            examine(parsed(text), look_up, "duckdb")
        assert caught.value.reason == "not-a-text"
        assert ": Here text is needed" in caught.value.english or "Here text, and no" in caught.value.english
        assert "; other" not in caught.value.english
        assert ("CAST(x AS VARCHAR)" in caught.value.english) == is_offered, text
        assert ("CAST(x AS VARCHAR)" in caught.value.japanese) == is_offered, text
        name = text[6]
        if is_offered:
            examine(parsed(f"LOWER(CAST({name} AS VARCHAR))"), look_up, "duckdb")
        else:
            with pytest.raises(QueryRefusedError):
                examine(parsed(f"CAST({name} AS VARCHAR)"), look_up, "duckdb")
