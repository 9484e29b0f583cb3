"""Columns with bounds, data that keeps to them, data that does not, and random expressions over both."""

from __future__ import annotations

import random
from datetime import date, datetime
from fractions import Fraction

from hypothesis import strategies as st

from sudare.sql.expressions.expressions import Facts

__all__ = ["COLUMNS", "TAME", "TYPES", "WILD", "conditions", "dates", "numbers", "texts"]

F = Fraction
TYPES = {
    "i": "INTEGER",
    "l": "BIGINT",
    "h": "HUGEINT",
    "t": "TINYINT",
    "n": "INTEGER",
    "p": "DECIMAL(15, 2)",
    "q": "DECIMAL(38, 4)",
    "z": "DECIMAL(6, 6)",
    "f": "DOUBLE",
    "r": "REAL",
    "u": "BIGINT",
    "g": "DOUBLE",
    "s": "VARCHAR",
    "c": "VARCHAR",
    "b": "BOOLEAN",
    "d": "DATE",
    "e": "DATE",
    "m": "TIMESTAMP",
}
COLUMNS = {
    "i": Facts("integer", F(-100), F(100), 0, digits=10),
    "l": Facts("integer", F(0), F(10**6), 0, digits=19),
    "h": Facts("integer", F(-5), F(5), 0, digits=39),
    "t": Facts("integer", F(0), F(1000), 0, digits=3),
    "n": Facts("integer", F(1), F(9), 0, nullable=False, digits=10),
    "p": Facts("decimal", F(0), F(1000), 2, digits=15),
    "q": Facts("decimal", F(-10), F(21, 2), 4, digits=38),
    "z": Facts("decimal", F(-1, 2), F(1, 3), 6, digits=6),
    "f": Facts("float", F(-5), F(5)),
    "r": Facts("float", F(0), F(1, 10)),
    "u": Facts("integer", scale=0, digits=19),
    "g": Facts("float"),
    "s": Facts("text"),
    "c": Facts("text", values=("AA", "AB", "BA")),
    "b": Facts("boolean"),
    "d": Facts("date", date(2020, 1, 1), date(2021, 12, 31)),
    "e": Facts("date"),
    "m": Facts("timestamp", datetime(2020, 1, 1), datetime(2020, 12, 31, 12)),
}
MAX_VALUES = {"i": 2**31 - 1, "l": 2**63 - 1, "u": 2**63 - 1, "h": 10**38, "t": 127, "n": 2**31 - 1}


def _extremes(name: str) -> list[str]:
    kind = TYPES[name]
    if name in MAX_VALUES:
        return [str(MAX_VALUES[name]), f"-{MAX_VALUES[name]}", "0", "1", "-1", "7", "NULL"]
    if kind.startswith("DECIMAL"):
        width, scale = (int(part) for part in kind[8:-1].split(","))
        largest = "9" * (width - scale) + "." + "9" * scale
        return [f"'{largest}'", f"'-{largest}'", "'0'", "'0.000001'", "'-0.25'", "NULL"]
    if kind in ("DOUBLE", "REAL"):
        small = "1e-320" if kind == "DOUBLE" else "1e-40"
        large = "1.7e308" if kind == "DOUBLE" else "3e38"
        return [f"'{x}'" for x in ("nan", "inf", "-inf", large, f"-{large}", small, f"-{small}", "-0.0", "0.5")] + [
            "NULL"
        ]
    if kind == "BOOLEAN":
        return ["TRUE", "FALSE", "NULL"]
    if kind == "DATE":
        return ["'infinity'", "'-infinity'", "'5877642-06-25 (BC)'", "'5881580-07-10'", "'2020-02-29'", "NULL"]
    if kind == "TIMESTAMP":
        return [
            "'infinity'",
            "'-infinity'",
            "'290309-12-22 (BC) 00:00:00'",
            "'294247-01-10 04:00:54'",
            "'2020-02-29 12:30:00'",
            "NULL",
        ]
    return ["''", "'AA'", "'-1e999'", "'12'", "'2020-13-77'", "'%_\\'", "'ß İ 簾'", "NULL"]


def _ordinary(name: str, draw: random.Random) -> str:
    facts = COLUMNS[name]
    if facts.kind == "text":
        return draw.choice(["'AA'", "'AB'", "'BA'"])
    if facts.kind == "boolean":
        return draw.choice(["TRUE", "FALSE"])
    if facts.kind == "date":
        return draw.choice(["'2020-02-29'", "'2020-12-31'", "'2021-05-15'"])
    if facts.kind == "timestamp":
        return draw.choice(["'2020-02-29 23:59:59'", "'2020-12-31 00:00:00'"])
    if name in ("r", "z"):
        return draw.choice(["'0'", "'0.0625'", "'0.03125'"])
    if facts.kind == "integer":
        return draw.choice(["1", "2", "3", "5"])
    return draw.choice(["'0.25'", "'1.5'", "'2'", "'4.75'"])


def _wild() -> list[dict[str, str]]:
    draw = random.Random(7)
    rows = []
    for _ in range(60):
        row = {name: draw.choice(_extremes(name)) for name in TYPES}
        row["n"] = draw.choice(["1", "-2147483648", "2147483647"])
        rows.append(row)
    return rows


WILD = _wild()
TAME = [{name: _ordinary(name, random.Random(f"{name}{number}")) for name in TYPES} for number in range(8)]


def numbers(depth: int = 3) -> st.SearchStrategy[str]:
    """Random numbers."""
    leaf = st.sampled_from(
        [
            "i",
            "l",
            "h",
            "t",
            "n",
            "p",
            "q",
            "z",
            "f",
            "r",
            "0",
            "1",
            "(-3)",
            "2.50",
            "0.001",
            "1e3",
            "1234567890123",
            "CAST(b AS INT)",
            "LEAST(GREATEST(u, 0), 10)",
            "GREATEST(LEAST(g, 2.5), -1)",
            "EXTRACT(MONTH FROM e)",
            "(d - DATE '2020-06-01')",
            "LENGTH(LEFT(s, 3))",
            "EXTRACT(YEAR FROM d)",
            "LEAST(GREATEST(TRY_CAST(s AS DOUBLE), 0), 9)",
            "QUARTER(m)",
            "DATE_DIFF('day', d, e)",
        ]
    )
    if depth == 0:
        return leaf
    part = numbers(depth - 1)
    test = _comparison(part)
    pair = st.tuples(part, part)
    return st.one_of(
        leaf,
        st.tuples(part, st.sampled_from("+-*/"), part).map(lambda x: f"({x[0]} {x[1]} {x[2]})"),
        st.tuples(part, st.sampled_from("+-*"), part).map(lambda x: f"({x[0]} {x[1]} {x[2]})"),
        st.tuples(st.sampled_from("ilhtn"), st.sampled_from(["%", "//"]), st.sampled_from(["i", "n", "3", "t"]))
        .map(" ".join)
        .map("({})".format),
        part.map("(- {})".format),
        st.tuples(st.sampled_from(["ABS", "SIGN", "FLOOR", "CEIL", "ROUND", "TRUNC", "SQRT", "LN", "LOG10"]), part).map(
            lambda x: f"{x[0]}({x[1]})"
        ),
        st.tuples(st.sampled_from(["ROUND", "TRUNC"]), part, st.integers(0, 4)).map(
            lambda x: f"{x[0]}({x[1]}, {x[2]})"
        ),
        part.map("EXP(LEAST(GREATEST({}, -20), 20))".format),
        st.tuples(part, st.sampled_from(["0", "1", "2", "3", "0.5"])).map(lambda x: f"POWER({x[0]}, {x[1]})"),
        st.tuples(st.sampled_from(["LEAST", "GREATEST", "COALESCE", "NULLIF"]), pair).map(
            lambda x: f"{x[0]}({x[1][0]}, {x[1][1]})"
        ),
        st.tuples(test, part, part).map(lambda x: f"CASE WHEN {x[0]} THEN {x[1]} ELSE {x[2]} END"),
        st.tuples(test, part).map(lambda x: f"CASE WHEN {x[0]} THEN {x[1]} END"),
        st.tuples(part, st.sampled_from(["INTEGER", "BIGINT", "DECIMAL(18, 3)", "DECIMAL(30, 8)", "DOUBLE"])).map(
            lambda x: f"CAST({x[0]} AS {x[1]})"
        ),
    )


def _comparison(part: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    how = st.sampled_from(["=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"])
    return st.tuples(part, how, part).map(lambda x: f"{x[0]} {x[1]} {x[2]}")


def conditions(depth: int = 2) -> st.SearchStrategy[str]:
    """Random conditions."""
    number = numbers(1)
    constant = st.sampled_from(["0", "-1", "2.5", "0.00001", "123456789012345678901234567890", "1e2", "7.00"])
    column = st.sampled_from(["i", "l", "h", "t", "p", "q", "z", "f", "r", "u", "g"])
    leaf = st.one_of(
        st.just("b"),
        _comparison(number),
        st.tuples(column, st.sampled_from(["=", "<", "<=", ">", ">=", "<>"]), constant).map(" ".join),
        st.tuples(constant, st.sampled_from(["=", "<", "<=", ">", ">=", "<>"]), column).map(" ".join),
        st.tuples(column, constant, constant).map(lambda x: f"{x[0]} BETWEEN {x[1]} AND {x[2]}"),
        st.tuples(column, constant, constant).map(lambda x: f"{x[0]} IN ({x[1]}, {x[2]})"),
        st.sampled_from(
            [
                "s LIKE 'A%'",
                "c NOT LIKE '%B'",
                "s ILIKE '_a%'",
                "s LIKE 'A!%' ESCAPE '!'",
                "c = 'AA'",
                "s > c",
                "c IN ('AA', 'x')",
                "d >= '2020-06-01'",
                "e < DATE '2020-06-01' + INTERVAL '3' MONTH",
                "m > d",
                "e = m",
                "STARTS_WITH(s, 'A')",
                "b IS TRUE",
                "u IS NULL",
                "g IS NOT NULL",
                "i IN (1, NULL)",
                "d BETWEEN DATE '2020-02-01' AND TIMESTAMP '2020-07-01 12:00:00'",
            ]
        ),
    )
    if depth == 0:
        return leaf
    part = conditions(depth - 1)
    return st.one_of(
        leaf,
        part.map("NOT ({})".format),
        st.tuples(part, st.sampled_from(["AND", "OR"]), part).map(lambda x: f"({x[0]}) {x[1]} ({x[2]})"),
        part.map("({}) IS NOT TRUE".format),
    )


def texts() -> st.SearchStrategy[str]:
    """Random texts."""
    leaf = st.sampled_from(
        [
            "s",
            "c",
            "'x'",
            "CAST(i AS VARCHAR)",
            "CAST(q AS VARCHAR)",
            "CAST(d AS VARCHAR)",
            "CASE WHEN b THEN s ELSE c END",
        ]
    )
    return st.recursive(
        leaf,
        lambda part: st.one_of(
            st.tuples(st.sampled_from(["LOWER", "UPPER", "TRIM", "LTRIM"]), part).map(lambda x: f"{x[0]}({x[1]})"),
            st.tuples(part, part).map(lambda x: f"({x[0]} || {x[1]})"),
            st.tuples(part, part).map(lambda x: f"CONCAT({x[0]}, {x[1]})"),
            part.map("SUBSTRING({}, 2, 3)".format),
            part.map("RIGHT({}, 2)".format),
            part.map("LEFT({}, 0)".format),
            part.map("REPLACE({}, 'AA', 'b')".format),
            st.tuples(part, part).map(lambda x: f"COALESCE({x[0]}, {x[1]})"),
            st.tuples(part, part).map(lambda x: f"NULLIF({x[0]}, {x[1]})"),
        ),
        max_leaves=4,
    )


def dates() -> st.SearchStrategy[str]:
    """Random dates and timestamps."""
    unit = st.sampled_from(["year", "quarter", "month", "week", "day"])
    leaf = st.sampled_from(
        [
            "d",
            "m",
            "d",
            "CAST(m AS DATE)",
            "CAST(d AS TIMESTAMP)",
            "DATE '2020-01-31'",
            "CAST(e AS TIMESTAMP)",
            "TRY_CAST(s AS DATE)",
        ]
    )
    return st.recursive(
        leaf,
        lambda part: st.one_of(
            st.tuples(unit, part).map(lambda x: f"DATE_TRUNC('{x[0]}', {x[1]})"),
            st.tuples(part, st.sampled_from("+-"), st.integers(0, 40), unit).map(
                lambda x: f"({x[0]} {x[1]} INTERVAL '{x[2]}' {x[3]})"
            ),
        ),
        max_leaves=3,
    )
