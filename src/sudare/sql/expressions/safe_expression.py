"""An expression while it is examined: its SQL that cannot fail, with all that is known of its type and values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Literal, NoReturn, cast

from sqlglot import exp

from sudare.engines.engine import Kind
from sudare.sql.expressions.facts import Bound, Facts
from sudare.sql.expressions.intervals import Interval, digits_needed, float_above, float_below, round_down, round_up
from sudare.sql.frontend.copies import copied
from sudare.sql.frontend.refusals import refuse
from sudare.sql.metadata.model import Value

__all__ = [
    "BIG",
    "TINY",
    "Constant",
    "SafeExpression",
    "as_decimal",
    "as_double",
    "cast_to",
    "cast_to_decimal",
    "clipped",
    "constant",
    "decimal_type",
    "exact",
    "exact_literal",
    "literal",
    "no_bounds",
    "null",
    "operand",
    "refuse_kind",
    "too_wide",
    "within_float",
]

Constant = int | Decimal | float | str | bool | date | datetime

BIG = Fraction(10) ** 18
"""Integers up to here are kept as BIGINT."""

TINY = Fraction(1, 10**30)
"""Floats below are counted as 0 where they enter a calculation, so that no product and no quotient leaves their range."""

EXACT = ("integer", "decimal")
SPAN_OF_DATES = (date(1, 1, 1), date(9999, 12, 31))
SPAN_OF_TIMES = (datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59))


@dataclass(frozen=True)
class SafeExpression:
    """An expression and what is known of it.

    Attributes:
        sql: cannot fail, whatever the data is.
        kind: of its values; ``"null"`` for the word NULL.
        low: no value is smaller; None if there is no such bound.
        high: no value is larger.
        scale: digits behind the point of integers and decimals.
        nullable: whether NULL can occur.
        values: all values besides NULL, if they are known.
        certain: whether bounds hold whatever the data is.
        stored: the database's type of an exact number, if it is known: BIGINT, or DECIMAL with these digits.
        digits: of the stored DECIMAL; of the type of a column as it stands in its table, if that is known.
        tiny: no float but 0 has a smaller absolute value.
        constant: the value, if it is one and not NULL.
        longest: no text has more characters, if that is known.
    """

    sql: exp.Expr
    kind: Kind | Literal["null"]
    low: Bound | None = None
    high: Bound | None = None
    scale: int | None = None
    nullable: bool = True
    values: tuple[Value, ...] | None = None
    certain: bool = True
    stored: Literal["bigint", "decimal"] | None = None
    digits: int | None = None
    tiny: Fraction = Fraction(0)
    constant: Constant | None = None
    longest: int | None = None

    @property
    def is_number(self) -> bool:
        """Whether it is an integer, a decimal or a float."""
        return self.kind in ("integer", "decimal", "float")

    @property
    def is_exact(self) -> bool:
        """Whether it is an integer or a decimal."""
        return self.kind in EXACT

    @property
    def interval(self) -> Interval:
        """Where the numbers lie; both bounds must be known."""
        return Interval(cast(Fraction, self.low), cast(Fraction, self.high))

    @property
    def span(self) -> tuple[date, date]:
        """Where the dates or timestamps lie; both bounds must be known."""
        return cast(date, self.low), cast(date, self.high)

    @property
    def has_interval(self) -> bool:
        """Whether both bounds are known."""
        return self.low is not None and self.high is not None

    @property
    def facts(self) -> Facts:
        """What others need to know."""
        kind: Kind = "other" if self.kind == "null" else self.kind
        listed = self.kind in ("text", "boolean") and self.values is not None
        certain = self.certain and (self.has_interval or listed)
        return Facts(kind, self.low, self.high, self.scale, self.nullable, self.values, certain, self.digits)


def cast_to(sql: exp.Expr, to: str) -> exp.Expr:
    """A cast to a type without digits, such as DOUBLE; code that uses it must show that it cannot fail."""
    return exp.Cast(this=sql, to=exp.DataType(this=exp.DataType.Type[to], nested=False))


def cast_to_decimal(sql: exp.Expr, digits: int, scale: int) -> exp.Expr:
    """A cast to DECIMAL; code that uses it must show that it cannot fail."""
    return exp.Cast(this=sql, to=decimal_type(digits, scale))


def decimal_type(digits: int, scale: int) -> exp.DataType:
    """The type DECIMAL(digits, scale); built here because parsing its name takes a hundred times as long."""
    sizes = [exp.DataTypeParam(this=exp.Literal.number(size)) for size in (digits, scale)]
    return exp.DataType(this=exp.DataType.Type.DECIMAL, expressions=sizes, nested=False)


def literal(value: Constant) -> exp.Expr:
    """A value as SQL writes it, the same in every database.

    Example:
        >>> literal(Decimal("-0.50")).sql(), literal(date(2024, 2, 29)).sql(), literal(0.1).sql("duckdb")
        ('-0.50', "CAST('2024-02-29' AS DATE)", "CAST('0.1' AS DOUBLE)")
    """
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, int | Decimal):
        # copy_abs, unlike abs, never rounds to 28 digits.
        size = f"{value.copy_abs():f}" if isinstance(value, Decimal) else str(abs(value))
        return exp.Neg(this=exp.Literal.number(size)) if value < 0 else exp.Literal.number(size)
    if isinstance(value, float):
        return cast_to(exp.Literal.string(repr(value)), "DOUBLE")
    if isinstance(value, datetime):
        return cast_to(exp.Literal.string(value.isoformat(" ")), "TIMESTAMP")
    if isinstance(value, date):
        return cast_to(exp.Literal.string(value.isoformat()), "DATE")
    return exp.Literal.string(value)


def constant(value: Constant) -> SafeExpression:
    """The form of a value that the query has itself."""
    known = SafeExpression(literal(value), "text", nullable=False, constant=value)
    if isinstance(value, bool):
        return replace(known, kind="boolean", values=(value,))
    if isinstance(value, float):
        size = Fraction(value)
        return replace(known, kind="float", low=size, high=size, tiny=abs(size) or Fraction(1))
    if isinstance(value, int | Decimal):
        size = Fraction(value)
        scale = 0 if isinstance(value, int) else max(-int(value.as_tuple().exponent), 0)
        kind: Kind = "integer" if isinstance(value, int) else "decimal"
        return replace(known, kind=kind, low=size, high=size, scale=scale, values=(value,))
    if isinstance(value, datetime):
        return replace(known, kind="timestamp", low=value, high=value, values=(value,))
    if isinstance(value, date):
        return replace(known, kind="date", low=value, high=value, values=(value,))
    return replace(known, values=(value,), longest=len(value))


def null() -> SafeExpression:
    """The form of the word NULL."""
    return SafeExpression(exp.Null(), "null", values=())


def operand(sql: exp.Expr) -> exp.Expr:
    """A part of an expression, in brackets if it could be torn apart."""
    whole = (exp.Column, exp.Literal, exp.Cast, exp.Case, exp.Paren, exp.Boolean, exp.Null, exp.Nullif, exp.Abs)
    return sql if isinstance(sql, whole) else exp.Paren(this=sql)


def exact(value: Fraction, scale: int) -> int | Decimal:
    """A multiple of ``10**-scale`` as a number with that many digits behind the point; an integer for scale 0.

    Example:
        >>> exact(Fraction(1, 2), 2), exact(Fraction(-3), 0)
        (Decimal('0.50'), -3)
    """
    steps = int(value * Fraction(10) ** scale)
    if scale == 0:
        return steps
    return Decimal((int(steps < 0), tuple(map(int, str(abs(steps)))), -scale))  # exact however many digits there are


def exact_literal(value: Fraction, scale: int, digits: int) -> exp.Expr:
    """A number as a DECIMAL of a known type."""
    return cast_to_decimal(literal(exact(value, scale)), digits, scale)


def clipped(form: SafeExpression, node: exp.Expr, *, calculating: bool = True) -> SafeExpression:
    """A column within its bounds: values beyond them count as the bounds, NaN as the upper one, NULL stays.

    Args:
        form: a column as it stands in its table.
        node: the column in the query.
        calculating: whether the value enters a calculation; tiny floats then count as 0.

    Returns:
        A form that is certain. A number without a bound on one side has none there; dates and timestamps without bounds
        are held between the years 1 and 9999, which is not counted as a bound.
    """
    sql, low, high = form.sql, form.low, form.high
    scale, digits, stored = form.scale, form.digits, form.stored
    branches: list[tuple[exp.Expr, exp.Expr]] = []
    edges: tuple[exp.Expr | None, exp.Expr | None]
    tiny = Fraction(0)
    if form.kind in ("date", "timestamp"):
        span = SPAN_OF_DATES if form.kind == "date" else SPAN_OF_TIMES
        edges = (
            literal(low if isinstance(low, date) else span[0]),
            literal(high if isinstance(high, date) else span[1]),
        )
    elif form.kind == "float":
        least = None if low is None else float_above(_number(low))
        most = None if high is None else float_below(_number(high))
        if calculating:
            tiny = TINY
            least, most = (-1e100 if least is None else least), (1e100 if most is None else most)
            if least < TINY and most > -TINY:
                edge = float_below(TINY)
                small = exp.Between(this=copied(sql), low=literal(-edge), high=literal(edge))
                branches.append((small, literal(0.0)))
        edges = (None if least is None else literal(least), None if most is None else literal(most))
    else:
        if scale is None:  # a NUMERIC without a scale: twelve digits are kept
            scale, digits = 12, None
        low = None if low is None else round_up(_number(low), scale)
        high = None if high is None else round_down(_number(high), scale)
        known = [bound for bound in (low, high) if bound is not None]
        need = max((digits_needed(Interval(bound, bound), scale) for bound in known), default=1)
        if need > 38:
            too_wide(node)
        if form.kind == "integer":
            edges = (None if low is None else literal(int(low)), None if high is None else literal(int(high)))
            # Described as INTEGER is every width; what is calculated is cast to BIGINT first, or a narrow one would overflow.
            stored = None
        else:
            edges = (_edge(low, scale, need), _edge(high, scale, need))
            if digits is not None:
                stored, digits = "decimal", max(digits, need, min(scale + 1, 38))
    if low is not None and high is not None and low > high:  # type: ignore[operator]
        no_bounds(node)
    bottom, top = edges
    if bottom is not None and top is not None:
        inside: exp.Expr = exp.Between(this=copied(sql), low=copied(bottom), high=copied(top))
        branches.append((inside, copied(sql)))
        branches.append((exp.GT(this=copied(sql), expression=copied(top)), copied(top)))
        branches.append((exp.LT(this=copied(sql), expression=copied(bottom)), copied(bottom)))
    elif bottom is not None:
        branches.append((exp.GTE(this=copied(sql), expression=copied(bottom)), copied(sql)))
        branches.append((exp.LT(this=copied(sql), expression=copied(bottom)), copied(bottom)))
    elif top is not None:
        branches.append((exp.LTE(this=copied(sql), expression=copied(top)), copied(sql)))
        branches.append((exp.GT(this=copied(sql), expression=copied(top)), copied(top)))
    if branches:
        sql = exp.Case(ifs=[exp.If(this=condition, true=value) for condition, value in branches])
    if form.scale is None and form.kind == "decimal" and low is not None and high is not None:
        digits = digits_needed(Interval(low, high), scale or 0)  # type: ignore[arg-type]
        sql, stored = cast_to_decimal(sql, digits, scale or 0), "decimal"
    return replace(
        form,
        sql=sql,
        low=low,
        high=high,
        scale=scale,
        digits=digits,
        stored=stored,
        certain=True,
        tiny=tiny,
        values=None,
    )


def _edge(bound: Fraction | None, scale: int, digits: int) -> exp.Expr | None:
    """A bound of a decimal column. Written with a point, a number has the type DECIMAL with just its digits."""
    if bound is None:
        return None
    plain = 0 < scale < 38 and digits < 38
    return literal(exact(bound, scale)) if plain else exact_literal(bound, scale, digits)


def as_decimal(form: SafeExpression, digits: int | None = None, scale: int | None = None) -> SafeExpression:
    """An exact number as a DECIMAL of a known type: the one it has, or the narrowest that holds its bounds.

    Args:
        form: certain and with bounds, unless its type is known.
        digits: cast to a DECIMAL with these digits, which must hold the bounds; None keeps a known type.
        scale: of that DECIMAL; not less than the form's own. None: the form's own.
    """
    own = form.scale or 0
    if digits is None and form.stored == "decimal" and scale in (None, own):
        return form
    scale = own if scale is None else scale
    digits = digits_needed(form.interval, scale) if digits is None else digits
    if isinstance(form.constant, int | Decimal):
        sql = exact_literal(form.interval.low, scale, digits)
    else:
        sql = cast_to_decimal(form.sql, digits, scale)
    return replace(form, sql=sql, stored="decimal", digits=digits, scale=scale)


def as_double(form: SafeExpression) -> SafeExpression:
    """A number as a float; its bounds rounded outward."""
    if form.kind == "float":
        return form
    if isinstance(form.constant, int | Decimal):
        return constant(float(form.constant))
    tiny = Fraction(1, 10 ** (form.scale or 0))
    result = replace(
        form, sql=cast_to(form.sql, "DOUBLE"), kind="float", scale=None, stored=None, digits=None, values=None
    )
    if form.has_interval:
        interval = form.interval.to_floats()
        if interval.magnitude * 10 ** (form.scale or 0) > 2**53:
            # Databases may divide two rounded numbers here instead of rounding once.
            interval, tiny = interval.widened(Fraction(1, 2**50)), tiny / 2
        result = replace(result, low=interval.low, high=interval.high)
    return replace(result, tiny=tiny)


def within_float(form: SafeExpression, node: exp.Expr) -> SafeExpression:
    """A number that becomes a float without failing: PostgreSQL's NUMERIC without digits can be too large."""
    if form.certain or form.kind != "decimal" or form.digits is not None:
        return form
    if not form.has_interval:
        no_bounds(node)
    return clipped(form, node)


def no_bounds(node: exp.Expr) -> NoReturn:
    """Refuse a calculation with a number that could be anything."""
    refuse(
        node,
        "no-bounds",
        "The bounds of this number are not known. Write bounds = [low, high] for its column in the metadata, "
        "or hold it between two numbers with LEAST(GREATEST(x, 0), 100).",
        "この数の範囲が分かりません。メタデータの列に bounds = [下限, 上限] を書くか、"
        "LEAST(GREATEST(x, 0), 100) のように範囲を限ってください。",
    )


def too_wide(node: exp.Expr) -> NoReturn:
    """Refuse a number with more digits than can be summed exactly."""
    refuse(
        node,
        "too-wide",
        "With the bounds of its columns this number has more digits than can be calculated exactly. "
        "Write narrower bounds, or round its parts with ROUND(x, 2).",
        "列の範囲から考えて、この数は正確に計算できる桁数を超えます。"
        "範囲を狭くするか、ROUND(x, 2) のように途中で丸めてください。",
    )


def refuse_kind(node: exp.Expr, reason: str, wanted: str, wanted_ja: str) -> NoReturn:
    """Refuse a part of the wrong kind."""
    refuse(node, reason, f"Here {wanted} is needed.", f"ここには{wanted_ja}が必要です。")


def _number(bound: Bound) -> Fraction:
    return cast(Fraction, bound)
