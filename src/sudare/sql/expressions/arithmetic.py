"""Calculating: plus, minus, times, divided by, remainder.

Integers are calculated as BIGINT while their bounds fit, then as DECIMAL; decimals by the database's own rules for the
digits of a result, with a cast only where these would not hold it; floats as DOUBLE.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import NoReturn

from sqlglot import exp

from sudare.sql.expressions.intervals import Interval, digits_needed
from sudare.sql.expressions.rules import ExpressionScope, rule
from sudare.sql.expressions.safe_expression import (
    BIG,
    SafeExpression,
    as_decimal,
    as_double,
    cast_to,
    constant,
    exact,
    operand,
    refuse_kind,
    too_wide,
)
from sudare.sql.frontend.refusals import refuse

__all__ = ["as_bigint", "calculate", "decimal_digits", "float_form"]

MAX_FLOAT = Fraction(10) ** 300
MIN_FLOAT = Fraction(1, 10**290)

Operation = type[exp.Expr]
_PYTHON: dict[Operation, Callable[[Interval, Interval], Interval]] = {
    exp.Add: Interval.__add__,
    exp.Sub: Interval.__sub__,
    exp.Mul: Interval.__mul__,
}


def calculate(
    operation: Operation, left: SafeExpression, right: SafeExpression, node: exp.Expr, dialect: str
) -> SafeExpression:
    """The sum, difference or product of two numbers with bounds.

    Args:
        operation: `exp.Add`, `exp.Sub` or `exp.Mul`.
        left: a number.
        right: a number.
        node: where it stands in the query.
        dialect: the database's SQL.
    """
    nullable = left.nullable or right.nullable
    if "float" in (left.kind, right.kind):
        left, right = as_double(left), as_double(right)
        result = _PYTHON[operation](left.interval, right.interval)
        # Two floats that differ do so by at least the distance of floats around the smaller one.
        tiny = left.tiny * right.tiny if operation is exp.Mul else min(left.tiny, right.tiny) / 2**53
        return float_form(
            operation(this=operand(left.sql), expression=operand(right.sql)), result, tiny, nullable, node
        )
    result = _PYTHON[operation](left.interval, right.interval)
    own, other = left.scale or 0, right.scale or 0
    scale = own + other if operation is exp.Mul else max(own, other)
    if scale > 38 or digits_needed(result, scale) > 38:
        too_wide(node)
    if left.constant is not None and right.constant is not None:
        whole = left.kind == right.kind == "integer"
        value = exact(result.low, scale)
        return constant(value if whole else Decimal(value))
    if (
        left.kind == right.kind == "integer"
        and max(x.magnitude for x in (result, left.interval, right.interval)) <= BIG
    ):
        sql = operation(this=operand(as_bigint(left).sql), expression=operand(as_bigint(right).sql))
        return SafeExpression(sql, "integer", result.low, result.high, 0, nullable, stored="bigint")
    for one, two in _candidates(left, right):
        digits = decimal_digits(operation, one, two, dialect)
        if digits is None:
            continue
        if dialect == "postgres":
            digits = digits_needed(result, scale)
        inside = [result] if operation is exp.Mul else [result, one.interval, two.interval]
        if all(x.magnitude < Fraction(10) ** (digits - scale) for x in inside):
            sql = operation(this=operand(one.sql), expression=operand(two.sql))
            kind = "integer" if left.kind == right.kind == "integer" else "decimal"
            return SafeExpression(sql, kind, result.low, result.high, scale, nullable, stored="decimal", digits=digits)  # type: ignore[arg-type]
    return too_wide(node)


def _candidates(left: SafeExpression, right: SafeExpression) -> Iterator[tuple[SafeExpression, SafeExpression]]:
    """Types to calculate with, the cheapest first: as they are, as narrow as possible, one of them wide."""
    needs = [digits_needed(x.interval, x.scale or 0) for x in (left, right)]
    wide = min(max(needs[0], 19), 38)
    yield as_decimal(left), as_decimal(right)
    yield as_decimal(left, needs[0]), as_decimal(right, needs[1])
    yield as_decimal(left, wide), as_decimal(right, needs[1])


def decimal_digits(operation: Operation, left: SafeExpression, right: SafeExpression, dialect: str) -> int | None:
    """The digits of the DECIMAL that a database gives the result of two decimals; None if it might round it.

    DuckDB keeps a product within 18 digits if both factors have no more, and everything within 38, and checks each
    value. Spark takes a digit more for products and rounds what does not fit 38. PostgreSQL has no limit that matters.
    """
    (w, s), (v, t) = (left.digits or 0, left.scale or 0), (right.digits or 0, right.scale or 0)
    if operation is exp.Mul:
        if dialect == "duckdb" and w + v > 18 and max(w, v) <= 18 and s + t < 18:
            return 18
        need = w + v + (dialect == "spark")
    else:
        need = max(w - s, v - t) + max(s, t) + 1
    if dialect == "spark" and need > 38:
        return None
    return min(need, 38)


def as_bigint(form: SafeExpression) -> SafeExpression:
    """An integer within 18 digits as BIGINT."""
    if form.stored == "bigint" or form.constant is not None:
        return form
    return replace(form, sql=cast_to(form.sql, "BIGINT"), stored="bigint", digits=None)


def float_form(sql: exp.Expr, exact_result: Interval, tiny: Fraction, nullable: bool, node: exp.Expr) -> SafeExpression:
    """A float from a calculation that rounds correctly.

    Args:
        sql: the calculation.
        exact_result: where its results lie before they are rounded.
        tiny: no result but 0 has a smaller absolute value.
        nullable: whether it can be NULL.
        node: where it stands in the query.
    """
    if exact_result.magnitude > MAX_FLOAT or tiny < MIN_FLOAT:
        too_wide(node)
    interval = exact_result.to_floats()
    return SafeExpression(sql, "float", interval.low, interval.high, nullable=nullable, tiny=tiny / 2)


@rule(exp.Mul)
def _times(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    return calculate(exp.Mul, scope.number(node.this), scope.number(node.expression), node, scope.dialect)


@rule(exp.Neg)
def _minus(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    form = scope.number(node.this)
    if isinstance(form.constant, int):
        return constant(-form.constant)
    if isinstance(form.constant, Decimal):
        return constant(form.constant.copy_negate())
    if isinstance(form.constant, float):
        return constant(-form.constant)
    if form.kind == "integer":
        form = as_bigint(form) if form.interval.magnitude <= BIG else as_decimal(form)
    elif form.kind == "decimal":
        form = as_decimal(form)
    negative = -form.interval
    return replace(form, sql=exp.Neg(this=operand(form.sql)), low=negative.low, high=negative.high, values=None)


@rule(exp.Div)
def _divided(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    left, right = scope.number(node.this), scope.number(node.expression)
    if scope.dialect == "postgres" and left.kind == right.kind == "integer":
        return _whole_quotient(left, right, node, scope.dialect)
    least = Fraction(1, 10 ** (right.scale or 0)) if right.is_exact else right.tiny
    left, right = as_double(left), as_double(right)
    result = left.interval.divided_by(right.interval, min(least, right.tiny))
    if result is None:
        _refuse_zero(node)
    sql = exp.Div(this=operand(left.sql), expression=_not_zero(right), typed=True, safe=False)
    nullable = left.nullable or right.nullable or right.interval.has_zero
    return float_form(sql, result, left.tiny / max(right.interval.magnitude, Fraction(1)), nullable, node)


@rule(exp.IntDiv)
def _whole_division(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    return _whole_quotient(scope.number(node.this), scope.number(node.expression), node, scope.dialect)


def _whole_quotient(left: SafeExpression, right: SafeExpression, node: exp.Expr, dialect: str) -> SafeExpression:
    left, right = _bigints(left, right, node)
    result = left.interval.divided_by(right.interval, Fraction(1))
    if result is None:
        _refuse_zero(node)
    divisor = _not_zero(right)
    if dialect == "postgres":
        sql: exp.Expr = exp.Div(this=operand(left.sql), expression=divisor, typed=True, safe=False)
    else:
        sql = exp.IntDiv(this=operand(left.sql), expression=divisor)
    low, high = Fraction(math.trunc(result.low)), Fraction(math.trunc(result.high))
    nullable = left.nullable or right.nullable or right.interval.has_zero
    return SafeExpression(cast_to(sql, "BIGINT"), "integer", low, high, 0, nullable, stored="bigint")


@rule(exp.Mod)
def _remainder(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    left, right = _bigints(scope.number(node.this), scope.number(node.expression), node)
    largest = right.interval.magnitude - 1
    if largest < 0:
        _refuse_zero(node)
    # The remainder has the sign of what is divided, and is never larger than it.
    low = max(-largest, min(left.interval.low, Fraction(0)))
    high = min(largest, max(left.interval.high, Fraction(0)))
    sql = exp.Mod(this=operand(left.sql), expression=_not_zero(right))
    nullable = left.nullable or right.nullable or right.interval.has_zero
    return SafeExpression(cast_to(exp.Paren(this=sql), "BIGINT"), "integer", low, high, 0, nullable, stored="bigint")


def _bigints(left: SafeExpression, right: SafeExpression, node: exp.Expr) -> tuple[SafeExpression, SafeExpression]:
    if not left.kind == right.kind == "integer":
        refuse_kind(
            node,
            "not-an-integer",
            "a division of integers; round with CAST(x AS BIGINT) first, or use /",
            "整数どうしの割り算 (先に CAST(x AS BIGINT) で丸めるか / を使う) ",
        )
    if max(left.interval.magnitude, right.interval.magnitude) > BIG:
        too_wide(node)
    return as_bigint(left), as_bigint(right)


def _not_zero(form: SafeExpression) -> exp.Expr:
    """A divisor, NULL instead of 0."""
    if not form.interval.has_zero:
        return operand(form.sql)
    zero = exp.Literal.number(0)
    return exp.Nullif(this=form.sql, expression=cast_to(zero, "DOUBLE") if form.kind == "float" else zero)


def _refuse_zero(node: exp.Expr) -> NoReturn:
    refuse(node, "division-by-zero", "The divisor is always 0.", "割る数が常に 0 です。")
