"""What the types of three databases are called here.

A type that is not known is ``"other"``: it can be neither bounded nor summed, and a query that uses it is refused. So is text of
which different values are equal: with a collation that folds them, or CHAR(n) of PostgreSQL, which compares without spaces at the
end. So are integers wider than 64 bits, which fail where they meet decimals, and DuckDB's timestamps of other precisions than
microseconds, which fail where they meet times that they cannot hold.
"""

from __future__ import annotations

import re

from sudare.engines.engine import ColumnType, Kind
from sudare.engines.names import double_quoted

__all__ = ["duckdb_type", "is_canonical", "postgres_type", "spark_type"]

DUCKDB_INTEGERS = {
    "TINYINT": 3,
    "SMALLINT": 5,
    "INTEGER": 10,
    "BIGINT": 19,
    "UTINYINT": 3,
    "USMALLINT": 5,
    "UINTEGER": 10,
}
DUCKDB_KINDS: dict[str, Kind] = {
    "FLOAT": "float",
    "DOUBLE": "float",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "TIMESTAMP WITH TIME ZONE": "timestamp",
    "VARCHAR": "text",
}
POSTGRES_INTEGERS = {"int2": 5, "int4": 10, "int8": 19}
POSTGRES_KINDS: dict[str, Kind] = {
    "float4": "float",
    "float8": "float",
    "bool": "boolean",
    "date": "date",
    "timestamp": "timestamp",
    "timestamptz": "timestamp",
    "text": "text",
    "varchar": "text",
}
SPARK_INTEGERS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
SPARK_KINDS: dict[str, Kind] = {
    "float": "float",
    "double": "float",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "timestamp",
    "timestamp_ntz": "timestamp",
    "string": "text",
}
CANONICAL = {
    *("UUID", "BLOB", "UBIGINT", "HUGEINT", "UHUGEINT", "BIGNUM", "TIME", "TIME_NS"),
    *("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"),
    *(
        "uuid",
        "bytea",
        "oid",
        "name",
        "inet",
        "cidr",
        "macaddr",
        "macaddr8",
        "time without time zone",
        "character",
        "bpchar",
    ),
    "binary",
}
"""Types without a kind of their own in DuckDB, PostgreSQL and Spark, of which equal values are written alike."""

DECIMAL = re.compile(r"decimal\(([0-9]+), ?([0-9]+)\)", re.IGNORECASE)
SPARK_TEXT = re.compile(r"(var)?char\([0-9]+\)")


def is_canonical(native: str) -> bool:
    """Whether values of a type without a kind of its own are written alike where they are equal; False if it is not known.

    Example:
        >>> from sudare.engines.column_types import is_canonical
        >>> is_canonical("UUID"), is_canonical("character(8)"), is_canonical("VARCHAR COLLATE nocase"), is_canonical("INTERVAL")
        (True, True, False, False)
    """
    return re.sub(r"\([0-9]+\)", "", native) in CANONICAL


def duckdb_type(native: str) -> ColumnType:
    """A type as DuckDB writes it.

    Example:
        >>> from sudare.engines.column_types import duckdb_type
        >>> duckdb_type("DECIMAL(15,2)")
        ColumnType(kind='decimal', digits=15, scale=2, native='DECIMAL(15,2)')
    """
    if native in DUCKDB_INTEGERS:
        return ColumnType("integer", DUCKDB_INTEGERS[native], 0, native)
    if (decimal := DECIMAL.fullmatch(native)) is not None:
        return ColumnType("decimal", int(decimal[1]), int(decimal[2]), native)
    # Labels of an ENUM may contain anything, but a list or a struct of them ends otherwise.
    if native.startswith("ENUM(") and native.endswith(")"):
        return ColumnType("text", native=native)
    return ColumnType(DUCKDB_KINDS.get(native, "other"), native=native)


def postgres_type(
    name: str, modifier: int, native: str, *, is_enum: bool = False, folding: str | None = None
) -> ColumnType:
    """A type of PostgreSQL.

    A NUMERIC without digits has neither digits nor scale here. Values of every NUMERIC may also be NaN, which PostgreSQL
    sorts above all numbers.

    Args:
        name: in ``pg_type``.
        modifier: of the column; -1 if there is none.
        native: as PostgreSQL writes it.
        is_enum: whether it is a list of labels.
        folding: the collation, if different texts are equal under it.

    Example:
        >>> from sudare.engines.column_types import postgres_type
        >>> postgres_type("numeric", (15 << 16 | 2) + 4, "numeric(15,2)")
        ColumnType(kind='decimal', digits=15, scale=2, native='numeric(15,2)')
    """
    if folding is not None:
        return ColumnType("other", native=f"{native} COLLATE {double_quoted(folding)}")
    if name in POSTGRES_INTEGERS:
        return ColumnType("integer", POSTGRES_INTEGERS[name], 0, native)
    if name == "numeric":
        if modifier < 4:
            return ColumnType("decimal", native=native)
        digits, scale = (modifier - 4) >> 16, (modifier - 4) & 0x7FF
        if scale >= 1024:  # eleven bits with a sign: such columns are rounded to tens, hundreds, ...
            digits, scale = digits - (scale - 2048), 0
        return ColumnType("decimal", max(digits, scale), scale, native)
    kind: Kind = "text" if is_enum else POSTGRES_KINDS.get(name, "other")
    # A domain has a name of its own; what it is made of says whether its values are canonical.
    return ColumnType(
        kind, native=name if kind == "other" and is_canonical(name) and not is_canonical(native) else native
    )


def spark_type(native: str) -> ColumnType:
    """A type as Spark writes it.

    Example:
        >>> from sudare.engines.column_types import spark_type
        >>> spark_type("bigint")
        ColumnType(kind='integer', digits=19, scale=0, native='bigint')
    """
    if native in SPARK_INTEGERS:
        return ColumnType("integer", SPARK_INTEGERS[native], 0, native)
    if (decimal := DECIMAL.fullmatch(native)) is not None:
        return ColumnType("decimal", int(decimal[1]), int(decimal[2]), native)
    if SPARK_TEXT.fullmatch(native):
        return ColumnType("text", native=native)
    return ColumnType(SPARK_KINDS.get(native, "other"), native=native)
