"""Columns as Spark's SQL: the same values as DuckDB's of `sudare.io.columns`, `points` and `time_columns`, bit by bit.

Nothing is asked of Spark that it does in its own way: texts are numbers only in one plain form, texts of times are not read, and
floats are compared, multiplied and rounded down, which IEEE arithmetic fixes.
"""

from __future__ import annotations

from sudare.bilingual import Words
from sudare.domain import Bins, mesh_level
from sudare.domain.mesh import SUSPICIOUS
from sudare.engines.names import backquoted
from sudare.io import complaints
from sudare.io.columns import AttributeColumn, family_of
from sudare.io.points import PointColumn
from sudare.io.time_columns import MICROSECONDS, NO_TIME, OUTSIDE, PeriodColumn, TimeColumn

__all__ = ["condition", "kind_of", "literal", "raw", "require_readable"]

PLAIN_NUMBER = r"^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?$"
KINDS = {
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "timestamp_ntz": "TIMESTAMP",
}
EXACT_DIGITS = 15
"""Decimals of as many digits are floats by one rounding in any engine."""

DOUBLES = Words(
    "doubles, whole numbers, texts, or decimals of up to 15 digits (convert it by a query)",
    "倍精度の数値、整数、文字列、または 15 桁までの小数（query で変換してください）",
)
TIMES = Words(
    "timestamps or seconds (convert texts by a query)", "タイムスタンプまたは秒数（文字列は query で変換してください）"
)
PLAIN_WHERE = Words(
    "texts, whole numbers, truth values or days under where (convert it by a query)",
    "where に使える文字列、整数、真偽値または日付（query で変換してください）",
)


def kind_of(native: str) -> str:
    """DuckDB's name of a type of Spark.

    Example:
        >>> from sudare.spark.expressions import kind_of
        >>> kind_of("decimal(9,2)"), kind_of("string"), kind_of("array<int>")
        ('DECIMAL(9,2)', 'VARCHAR', 'OTHER')
    """
    if native.startswith("decimal("):
        return native.upper()
    if native.split("(")[0].split(" ")[0] in ("string", "varchar", "char"):
        return "VARCHAR"
    return KINDS.get(native, "OTHER")


def literal(text: str) -> str:
    r"""A text as Spark writes it.

    Example:
        >>> from sudare.spark.expressions import literal
        >>> print(literal("it's"))
        'it\'s'
    """
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def require_readable(column: AttributeColumn) -> None:
    """Refuse a column whose values another engine could read otherwise.

    Raises:
        InputError: names the column.
    """
    if isinstance(column, PointColumn):
        for name, kind in ((column.name, column.kind), (column.longitude, column.longitude_kind)):
            if kind == "FLOAT" or _has_many_digits(kind):
                raise complaints.wrong_type(name, kind, DOUBLES, None)
    elif isinstance(column, TimeColumn) and family_of(column.kind) == "text":
        raise complaints.wrong_type(column.name, column.kind, TIMES, None)
    elif isinstance(column.attribute, Bins) and _has_many_digits(column.kind):
        raise complaints.wrong_type(column.name, column.kind, DOUBLES, None)


def _has_many_digits(kind: str) -> bool:
    return kind.startswith("DECIMAL") and int(kind[8:].split(",")[0]) > EXACT_DIGITS


def raw(column: AttributeColumn) -> str:
    """What `AttributeColumn.raw` is in DuckDB's SQL."""
    if isinstance(column, PointColumn):
        return _point_cell(column)
    if isinstance(column, TimeColumn) and not isinstance(column, PeriodColumn):
        return _step(column)
    if not isinstance(column.attribute, Bins):
        return backquoted(column.name)
    return _number(column.name, column.kind)


def condition(name: str, kind: str, value: object) -> str:
    """Rows whose column has a value.

    Raises:
        InputError: if a column's texts are the engine's own.
    """
    column = backquoted(name)
    if isinstance(value, (str, bool)):
        is_moment = kind.startswith("TIMESTAMP")
        if is_moment or kind in ("FLOAT", "DOUBLE", "OTHER"):
            raise complaints.wrong_type(name, kind, PLAIN_WHERE, None)
        text = str(value).lower() if isinstance(value, bool) else value
        return f"CAST({column} AS STRING) = {literal(text)}"
    return f"{_number(name, kind)} = {float(value)!r}D"  # type: ignore[arg-type]


def _number(name: str, kind: str) -> str:
    column = backquoted(name)
    family = family_of(kind)
    if family == "text":
        is_plain = f"trim({column}) RLIKE {literal(PLAIN_NUMBER)}"
        number = f"CAST(trim({column}) AS DOUBLE)"
    elif family == "integer":
        # Whole numbers beyond 2**53 are outside of all bins, but would be rounded into one.
        is_plain, number = f"{column} BETWEEN -9007199254740992 AND 9007199254740992", f"CAST({column} AS DOUBLE)"
    else:
        return f"CAST({column} AS DOUBLE)"
    return f"CASE WHEN {column} IS NULL THEN NULL WHEN {is_plain} THEN {number} ELSE double('nan') END"


def _point_cell(column: PointColumn) -> str:
    latitude, longitude = _degrees(column.name, column.kind), _degrees(column.longitude, column.longitude_kind)
    level = mesh_level(column.attribute.level)  # type: ignore[attr-defined]
    divisions, side = float(level.divisions), level.cells_per_side
    up = f"(({latitude}) * {1.5 * divisions!r}D)"
    right = f"((({longitude}) - 100) * {divisions!r}D)"
    nowhere = " OR ".join(f"isnan({degrees}) OR abs({degrees}) > 1000" for degrees in (latitude, longitude))
    near = " OR ".join(f"abs({along} - rint({along})) < {SUSPICIOUS!r}D" for along in (up, right))
    in_grid = " AND ".join(f"{along} >= 0 AND {along} < {side}" for along in (up, right))
    cell = f"CAST(floor({up}) AS BIGINT) * {side} + CAST(floor({right}) AS BIGINT)"
    missing = f"{backquoted(column.name)} IS NULL OR {backquoted(column.longitude)} IS NULL"
    return (
        f"CASE WHEN {missing} THEN NULL WHEN {nowhere} THEN {_point(cell='-1')} "
        f"WHEN {near} THEN {_point(latitude=latitude, longitude=longitude)} "
        f"WHEN {in_grid} THEN {_point(cell=cell)} ELSE {_point(cell='-1')} END"
    )


def _degrees(name: str, kind: str) -> str:
    return _number(name, kind) if family_of(kind) == "text" else f"CAST({backquoted(name)} AS DOUBLE)"


def _point(cell: str = "NULL", latitude: str = "NULL", longitude: str = "NULL") -> str:
    return (
        f"named_struct('cell', CAST({cell} AS BIGINT), 'latitude', CAST({latitude} AS DOUBLE), "
        f"'longitude', CAST({longitude} AS DOUBLE))"
    )


def _step(column: TimeColumn) -> str:
    name, kind, times = backquoted(column.name), column.kind, column._times
    if family_of(kind) == "date":
        micros = f"unix_micros(CAST({name} AS TIMESTAMP))"
        seconds = f"CAST(floor({micros} / {float(MICROSECONDS)!r}D) AS BIGINT)"
        is_moment, is_time = "WITH TIME ZONE" in kind, "true"
    else:
        seconds, is_moment = f"CAST(floor({name}) AS BIGINT)", True
        is_time = f"{name} BETWEEN -1000000000000 AND 1000000000000"
    start, end = (times.start, times.end) if is_moment else (times.local_start, times.local_end)
    step = f"2 * (({seconds} - ({start})) div {times.step}) + {int(is_moment)}"
    placed = f"CASE WHEN {seconds} >= {start} AND {seconds} < {end} THEN {step} ELSE {OUTSIDE} END"
    return f"CASE WHEN {name} IS NULL THEN NULL WHEN {is_time} THEN {placed} ELSE {NO_TIME} END"
