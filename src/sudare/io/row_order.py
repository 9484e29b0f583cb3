"""A portable order of the rows of a person: by a keyed hash of what they hold, the same in DuckDB and in Spark.

The encoding, and why nobody chooses their place in the order: bounding.md beside this. Its twin in Python:
tests/reference/naive_row_order.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from sudare.bilingual import Words
from sudare.errors import Described, ParameterError

__all__ = ["DUCKDB", "FIXED_KEY", "POINT", "SPARK", "Dialect", "encoded", "keyed_order", "read_selection_key"]

FIXED_KEY = "0" * 64
"""Where no release is made: which rows are kept is then the same for all who read the data."""

KEY_DIGITS = 64
"""A block of SHA-256, so that the key fills one by itself."""

POINT = "POINT"
"""The kind of what a point is grouped by: a cell, or its coordinates near a border."""

MANTISSA = 2.0**52
SMALLEST_EXPONENT = -1074


@dataclass(frozen=True)
class Dialect:
    """What an engine calls the functions that the encoding needs.

    Attributes:
        name: of the engine.
        text: its type of texts.
        double: its type of floats.
        whole: its type of whole numbers of 64 bits.
        octets: gives the number of bytes of a text.
        joined: puts texts together.
        digest: gives 128 bits of SHA-256 of a text, as something that is ordered like its digits.
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
    microseconds: Callable[[str], str]
    days: Callable[[str], str]
    infinity: str


DUCKDB = Dialect(
    name="duckdb",
    text="VARCHAR",
    double="DOUBLE",
    whole="BIGINT",
    octets="strlen",
    joined=" || ".join,
    # A UUID is compared as a number of 128 bits, which sorts several times faster than its text.
    digest=lambda text: f"CAST(substr(sha256({text}), 1, 32) AS UUID)",
    microseconds=lambda value: f"epoch_us({value})",
    days=lambda value: f"date_diff('day', DATE '1970-01-01', {value})",
    infinity="'inf'::DOUBLE",
)
SPARK = Dialect(
    name="spark",
    text="STRING",
    double="DOUBLE",
    whole="BIGINT",
    octets="octet_length",
    joined=lambda parts: f"concat({', '.join(parts)})",
    digest=lambda text: f"substr(sha2(CAST({text} AS BINARY), 256), 1, 32)",
    microseconds=lambda value: f"unix_micros(CAST({value} AS TIMESTAMP))",
    days=lambda value: f"unix_date({value})",
    infinity="double('inf')",
)


def encoded(value: str, kind: str, dialect: Dialect) -> str:
    """SQL for the canonical text of a value: no value's text begins another's, and equal values have one.

    Args:
        value: an expression.
        kind: DuckDB's type of it, or `POINT`.
        dialect: of the SQL.
    """
    return f"CASE WHEN {value} IS NULL THEN 'n' ELSE {_of_known(value, kind, dialect)} END"


def keyed_order(values: Sequence[tuple[str, str]], key: str, dialect: Dialect) -> str:
    """SQL for 128 bits by which rows are ordered.

    Args:
        values: expressions with their kinds; the person first.
        key: 64 hexadecimal digits.
        dialect: of the SQL.
    """
    texts = [encoded(value, kind, dialect) for value, kind in values]
    return dialect.digest(dialect.joined([f"'{read_selection_key(key, 'keyed_order')}'", *texts]))


def read_selection_key(key: object, function: str) -> str:
    """A key of the order, checked; it is never shown."""
    if not isinstance(key, str) or len(key) != KEY_DIGITS or not set(key) <= set("0123456789abcdef"):
        requirement = Words("64 hexadecimal digits", "16 進数 64 桁")
        raise ParameterError("selection_key", function, requirement, Described("something else"))
    return key


def _of_known(value: str, kind: str, dialect: Dialect) -> str:
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


def _float(x: str, dialect: Dialect) -> str:
    """Its 53 bits as a whole number, and its exponent: powers of two are exact in both engines, and so is dividing by them."""
    about = f"greatest(CAST(floor(log2(abs({x}))) AS INTEGER), {SMALLEST_EXPONENT})"
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


def _literal(number: float, dialect: Dialect) -> str:
    return f"CAST({number!r} AS {dialect.double})"
