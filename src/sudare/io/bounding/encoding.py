"""Values as texts that are the same in DuckDB and in Spark, and what these engines call the functions for it.

The encoding, and why no value's text begins another's: bounding.md beside this. Its twin: tests/reference/naive_row_order.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["DUCKDB", "POINT", "SPARK", "SqlDialect", "encoded"]

POINT = "POINT"
"""The kind of what a point is grouped by: a cell, or its coordinates near a border."""

MANTISSA = 2.0**52
MIN_EXPONENT = -1074


@dataclass(frozen=True)
class SqlDialect:
    """What an engine calls the functions that the encoding needs.

    Attributes:
        name: of the engine.
        text: its type of texts.
        double: its type of floats.
        whole: its type of whole numbers of 64 bits.
        octets: gives the number of bytes of a text.
        joined: puts texts together.
        digest: gives SHA-256 of a text, as its hexadecimal digits.
        number: reads 15 hexadecimal digits.
        shifted: shifts a whole number to the right, keeping its sign.
        microseconds: gives those since 1970 of a timestamp.
        days: gives those since 1970 of a date.
        infinity: a float.
    """

    name: Literal["duckdb", "spark"]
    text: str
    double: str
    whole: str
    octets: str
    joined: Callable[[Sequence[str]], str]
    digest: Callable[[str], str]
    number: Callable[[str], str]
    shifted: Callable[[str, int], str]
    microseconds: Callable[[str], str]
    days: Callable[[str], str]
    infinity: str


DUCKDB = SqlDialect(
    name="duckdb",
    text="VARCHAR",
    double="DOUBLE",
    whole="BIGINT",
    octets="strlen",
    joined=" || ".join,
    digest=lambda text: f"sha256({text})",
    number=lambda digits: f"CAST('0x' || {digits} AS BIGINT)",
    shifted=lambda number, places: f"({number} >> {places})",
    microseconds=lambda value: f"epoch_us({value})",
    days=lambda value: f"date_diff('day', DATE '1970-01-01', {value})",
    infinity="'inf'::DOUBLE",
)
SPARK = SqlDialect(
    name="spark",
    text="STRING",
    double="DOUBLE",
    whole="BIGINT",
    octets="octet_length",
    joined=lambda parts: f"concat({', '.join(parts)})",
    digest=lambda text: f"sha2(CAST({text} AS BINARY), 256)",
    number=lambda digits: f"CAST(conv({digits}, 16, 10) AS BIGINT)",
    shifted=lambda number, places: f"shiftright({number}, {places})",
    microseconds=lambda value: f"unix_micros(CAST({value} AS TIMESTAMP))",
    days=lambda value: f"unix_date({value})",
    infinity="double('inf')",
)


def encoded(value: str, kind: str, dialect: SqlDialect) -> str:
    """SQL for the canonical text of a value: no value's text begins another's, and equal values have one.

    Args:
        value: an expression.
        kind: DuckDB's type of it, or `POINT`.
        dialect: of the SQL.
    """
    return f"CASE WHEN {value} IS NULL THEN 'n' ELSE {_of_known(value, kind, dialect)} END"


def _of_known(value: str, kind: str, dialect: SqlDialect) -> str:
    base = kind.split("(", 1)[0]
    joined = dialect.joined
    if kind == POINT:
        parts = (("cell", "BIGINT"), ("latitude", "DOUBLE"), ("longitude", "DOUBLE"))
        return joined(["'p'", *(encoded(f"{value}.{name}", part, dialect) for name, part in parts)])
    if base in ("VARCHAR", "ENUM"):
        text = f"CAST({value} AS {dialect.text})"
        return joined(["'t'", f"CAST({dialect.octets}({text}) AS {dialect.text})", "':'", text])
    if base == "BOOLEAN":
        return f"CASE WHEN {value} THEN 'b1' ELSE 'b0' END"
    if base in ("FLOAT", "DOUBLE"):
        return _float(f"CAST({value} AS {dialect.double})", dialect)
    letter, number = {
        "DECIMAL": ("d", value),
        "DATE": ("D", dialect.days(value)),
        "TIMESTAMP_NS": ("N", f"epoch_ns({value})"),
    }.get(base, ("T", dialect.microseconds(value)) if base.startswith("TIMESTAMP") else ("i", value))
    return joined([f"'{letter}'", f"CAST({number} AS {dialect.text})", "';'"])


def _float(x: str, dialect: SqlDialect) -> str:
    """Its 53 bits as a whole number, and its exponent: powers of two are exact in both engines, and so is dividing by them."""
    about = f"greatest(CAST(floor(log2(abs({x}))) AS INTEGER), {MIN_EXPONENT})"
    shared = f"abs({x}) / {_power(about)}"  # the logarithm may be rounded past a whole number
    exponent = f"CASE WHEN {shared} >= 2 THEN {about} + 1 WHEN {shared} < 1 THEN {about} - 1 ELSE {about} END"
    mantissa = f"CAST({x} / {_power(exponent)} * {_literal(MANTISSA, dialect)} AS {dialect.whole})"
    digits = dialect.joined(
        ["'f'", f"CAST({mantissa} AS {dialect.text})", "'e'", f"CAST({exponent} AS {dialect.text})", "';'"]
    )
    return (
        f"CASE WHEN isnan({x}) THEN 'fn;' WHEN {x} = {dialect.infinity} THEN 'f+;' "
        f"WHEN {x} = -{dialect.infinity} THEN 'f-;' WHEN {x} = 0 THEN 'f0;' ELSE {digits} END"
    )


def _power(exponent: str) -> str:
    return f"pow(CAST(2 AS DOUBLE), {exponent})"


def _literal(number: float, dialect: SqlDialect) -> str:
    return f"CAST({number!r} AS {dialect.double})"
