"""How much of one person is counted: at most this many rows, or this many cells with this many rows in each.

Which of them: the first in an order by a keyed hash of what they hold, the same in DuckDB and in Spark. Proof that counts are
bounded as the unit says, the encoding, and why nobody chooses their place: bounding.md beside this. The order's twin in Python:
tests/reference/naive_row_order.py.
"""

# ruff: noqa: S608 - names come from here, numbers are whole numbers

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sudare.bilingual import Words
from sudare.errors import Described, ParameterError
from sudare.parameters import exact_integer

__all__ = [
    "DUCKDB",
    "FIXED_KEY",
    "POINT",
    "SPARK",
    "ContributionBounds",
    "Selection",
    "SqlDialect",
    "bounded_cells",
    "bounded_rows",
    "encoded",
    "keyed_order",
    "read_selection_key",
]


FIXED_KEY = "0" * 64
"""Where no release is made: which rows are kept is then the same for all who read the data."""

KEY_DIGITS = 64
"""A block of SHA-256, so that the key fills one by itself."""

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


DUCKDB = SqlDialect(
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
SPARK = SqlDialect(
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


def encoded(value: str, kind: str, dialect: SqlDialect) -> str:
    """SQL for the canonical text of a value: no value's text begins another's, and equal values have one.

    Args:
        value: an expression.
        kind: DuckDB's type of it, or `POINT`.
        dialect: of the SQL.
    """
    return f"CASE WHEN {value} IS NULL THEN 'n' ELSE {_of_known(value, kind, dialect)} END"


def keyed_order(values: Sequence[tuple[str, str]], key: str, dialect: SqlDialect) -> str:
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


@dataclass(frozen=True)
class ContributionBounds:
    """What is counted of one person, at most.

    Args:
        rows: how many rows in all; ``cells * rows_per_cell`` if left out.
        cells: in how many different cells; as many as rows if left out.
        rows_per_cell: how many rows of one cell; 1 where cells are limited, else as many as rows.

    Example:
        >>> from sudare.io.bounding import ContributionBounds
        >>> ContributionBounds(cells=3)
        ContributionBounds(rows=3, cells=3, rows_per_cell=1)
        >>> ContributionBounds(rows=3)
        ContributionBounds(rows=3, cells=3, rows_per_cell=3)
    """

    rows: int = 0
    cells: int = 0
    rows_per_cell: int = 0

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name in ("rows", "cells", "rows_per_cell") if getattr(self, name) != 0}
        for name, value in given.items():
            exact_integer(value, name, "ContributionBounds", Words("a whole number >= 1", "1 以上の整数"), smallest=1)
        if "cells" in given or "rows_per_cell" in given:
            cells, each = given.get("cells", 1), given.get("rows_per_cell", 1)
            rows = min(given.get("rows", cells * each), cells * each)
        else:
            rows = cells = each = given.get("rows", 1)
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "cells", cells)
        object.__setattr__(self, "rows_per_cell", each)

    @property
    def is_by_rows(self) -> bool:
        """Whether the number of rows is the only limit."""
        return self.cells >= self.rows and self.rows_per_cell >= self.rows


@dataclass(frozen=True)
class Selection:
    """Which of a person's rows are kept, where there are more than may count.

    Attributes:
        bounds: how many.
        key: of the order, 64 hexadecimal digits.
        dialect: of the SQL.
    """

    bounds: ContributionBounds
    key: str = FIXED_KEY
    dialect: SqlDialect = DUCKDB


def bounded_rows(rows: str, values: Mapping[str, str], mistakes: Sequence[str], person: str, chosen: Selection) -> str:
    """SQL for at most this many rows of each person ``p``, chosen by what this person's rows hold.

    Mistakes are kept first, so that they are reported; the rest in an order that favours no cell. Rows of persons who have
    no more than may count are not hashed.

    Args:
        rows: what to select from.
        values: the kinds of the columns that tell a cell, by their names.
        mistakes: conditions.
        person: the kind of the column ``p``.
        chosen: which rows are kept.
    """
    named = ", ".join(values)
    limit = chosen.bounds.rows
    order = keyed_order([("p", person), *values.items()], chosen.key, chosen.dialect)
    placed = (
        f"row_number() OVER (PARTITION BY p ORDER BY CASE WHEN {' OR '.join(mistakes)} THEN 0 ELSE 1 END, "
        f"CASE WHEN many > {limit} THEN {order} END) AS place"
    )
    counted = f"SELECT *, count(*) OVER (PARTITION BY p) AS many FROM {rows} AS held"
    ranked = f"SELECT {named}, p IS NULL AS nobody, {placed} FROM ({counted}) AS counted"
    return f"SELECT {named}, nobody FROM ({ranked}) AS ranked WHERE place <= {limit}"


def bounded_cells(placed: str, person: str, chosen: Selection) -> str:
    """SQL for the counts by cell, from rows of a person ``p`` and a cell ``cell``.

    The cells of a person are taken in an order that follows from the person and the cell alone, until there are as many as
    allowed; of each at most this many rows, and no more rows in all than allowed.

    Args:
        placed: what to select from.
        person: the kind of the column ``p``.
        chosen: which cells are kept.
    """
    bounds = chosen.bounds
    each = f"SELECT p, cell, least(count(*), {bounds.rows_per_cell}) AS own FROM {placed} AS placed GROUP BY p, cell"
    held = f"SELECT *, count(*) OVER (PARTITION BY p) AS many, sum(own) OVER (PARTITION BY p) AS held FROM ({each}) AS each_cell"
    has_more = f"many > {bounds.cells} OR held > {bounds.rows}"
    order = (
        f"CASE WHEN {has_more} THEN {keyed_order([('p', person), ('cell', 'BIGINT')], chosen.key, chosen.dialect)} END"
    )
    hashed = f"SELECT p, cell, own, {order} AS rank_text FROM ({held}) AS held_cells"
    window = "(PARTITION BY p ORDER BY rank_text ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    ranked = f"SELECT cell, own, row_number() OVER {window} AS place, sum(own) OVER {window} AS so_far FROM ({hashed}) AS hashed"
    kept = f"greatest(0, least(own, {bounds.rows} - (so_far - own)))"
    return (
        f"SELECT cell, CAST(sum({kept}) AS BIGINT) AS n FROM ({ranked}) AS ranked WHERE place <= {bounds.cells} "
        f"GROUP BY cell HAVING sum({kept}) > 0"
    )
