"""Functions of numbers: ABS, SIGN, ROUND, FLOOR, CEIL, TRUNC, SQRT, LN, LOG, EXP, POWER."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import NoReturn

from sqlglot import exp

from sudare.sql.expressions.arithmetic import as_bigint, float_form
from sudare.sql.expressions.intervals import Interval, digits_needed
from sudare.sql.expressions.rules import ExpressionScope, rule
from sudare.sql.expressions.safe_expression import (
    BIG,
    SafeExpression,
    as_decimal,
    as_double,
    cast_to,
    cast_to_decimal,
    literal,
    operand,
    too_wide,
)
from sudare.sql.frontend.copies import copied
from sudare.sql.frontend.refusals import refuse

__all__: list[str] = []

LIBRARY = Fraction(1, 10**12)
"""Logarithms, exponentials and powers of libraries are no further off than this share."""

MAX_POWER = 16


@rule(exp.Abs)
def _absolute(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    form = _settled(scope.number(node.this))
    size = abs(form.interval)
    return replace(form, sql=exp.Abs(this=form.sql), low=size.low, high=size.high, constant=None, values=None)


@rule(exp.Sign)
def _sign(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    form = scope.number(node.this)
    signs = [
        s
        for s, possible in ((-1, form.interval.low < 0), (0, form.interval.has_zero), (1, form.interval.high > 0))
        if possible
    ]
    sql = cast_to(exp.Sign(this=form.sql), "BIGINT")
    low, high = Fraction(signs[0]), Fraction(signs[-1])
    return SafeExpression(sql, "integer", low, high, 0, form.nullable, tuple(signs), stored="bigint")


@rule(exp.Round)
def _round(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    _only(node, "this", "decimals")
    return _rounded(scope, node, exp.Round)


@rule(exp.Trunc)
def _truncate(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    _only(node, "this", "decimals")
    return _rounded(scope, node, exp.Trunc)


@rule(exp.Floor)
def _floor(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    _only(node, "this")
    return _rounded(scope, node, exp.Floor)


@rule(exp.Ceil)
def _ceiling(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    _only(node, "this")
    return _rounded(scope, node, exp.Ceil)


def _rounded(scope: ExpressionScope, node: exp.Expr, how: type[exp.Expr]) -> SafeExpression:
    """Rounded to digits behind the point; the result is on that grid, at most one step further out than the value."""
    form = scope.number(node.this)
    given = node.args.get("decimals")
    places = 0 if given is None else scope.whole(given, 0, 15)
    extra = {"decimals": exp.Literal.number(places)} if places else {}
    if form.is_exact:
        if (form.scale or 0) <= places:
            # Nothing to round; but a number that was rounded is no longer an integer for a division.
            return replace(as_decimal(form), kind="decimal", constant=None)
        if how is exp.Trunc and scope.dialect == "spark":
            _refuse_trunc(node)
        grid = form.interval.to_grid(places)
        digits = digits_needed(grid, places)
        if digits > 38:
            too_wide(node)
        sql = cast_to_decimal(how(this=as_decimal(form).sql, **extra), digits, places)
        return SafeExpression(
            sql, "decimal", grid.low, grid.high, places, form.nullable, stored="decimal", digits=digits
        )
    if (places or how is exp.Trunc) and scope.dialect != "duckdb":
        _refuse_trunc(node)
    # A float near a multiple of 10**-places; that multiple itself need not be a float.
    grid = form.interval.to_grid(places).to_floats()
    if grid.magnitude * 10**places > 2**53:
        too_wide(node)
    return SafeExpression(
        how(this=form.sql, **extra),
        "float",
        grid.low,
        grid.high,
        nullable=form.nullable,
        tiny=Fraction(1, 2 * 10**places),
    )


@rule(exp.Sqrt)
def _root(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    form = as_double(scope.number(node.this))
    return _guarded_root(form, node)


def _guarded_root(form: SafeExpression, node: exp.Expr) -> SafeExpression:
    if form.interval.high < 0:
        _refuse_never(node, "square root", "平方根")
    low, high = max(form.interval.low, Fraction(0)), form.interval.high
    sql, nullable = _where_above(lambda number: exp.Sqrt(this=number), form, exp.GTE, form.interval.low < 0)
    interval = Interval(Fraction(math.sqrt(low)), Fraction(math.sqrt(high))).widened(Fraction(1, 2**50))
    interval = replace(interval, low=max(interval.low, Fraction(0)))
    return float_form(sql, interval, Fraction(math.sqrt(form.tiny)) / 2, nullable or form.nullable, node)


@rule(exp.Ln)
def _natural_logarithm(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    return _logarithm(scope, node.this, node, None)


@rule(exp.Log)
def _other_logarithm(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    # LOG(x) has base 10 in DuckDB and PostgreSQL; LOG10(x) is parsed as LOG(10, x).
    second = node.args.get("expression")
    base = 10 if second is None else scope.whole(node.this, 2, 10)
    if base not in (2, 10) or (base == 2 and scope.dialect == "postgres"):
        refuse(
            node,
            "unknown-function",
            "This logarithm is not offered here. Write LN(x), LOG10(x), or LN(x) / LN(2).",
            "この対数は使えません。LN(x)、LOG10(x)、または LN(x) / LN(2) と書いてください。",
        )
    return _logarithm(scope, node.this if second is None else second, node, base)


def _logarithm(scope: ExpressionScope, value: exp.Expr, node: exp.Expr, base: int | None) -> SafeExpression:
    form = as_double(scope.number(value))
    least = max(form.interval.low, form.tiny)
    if least > form.interval.high:
        _refuse_never(node, "logarithm", "対数")

    def call(number: exp.Expr) -> exp.Expr:
        return exp.Ln(this=number) if base is None else exp.Anonymous(this=f"LOG{base}", expressions=[number])

    sql, nullable = _where_above(call, form, exp.GT, form.interval.low <= 0)
    unit = 1.0 if base is None else math.log(base)
    ends = [Fraction(_log(x) / unit) for x in (least, form.interval.high)]
    interval = Interval(ends[0], ends[1]).widened(LIBRARY)
    return float_form(sql, interval, Fraction(1, 10**18), nullable or form.nullable, node)


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)


@rule(exp.Exp)
def _exponential(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    form = as_double(scope.number(node.this))
    if form.interval.magnitude > 600:
        refuse(
            node,
            "too-wide",
            "EXP needs a number that is certain to lie between -600 and 600. Write narrower bounds.",
            "EXP の中の数は -600 から 600 までに限られます。範囲を狭くしてください。",
        )
    low, high = (Fraction(math.exp(x)) for x in (form.interval.low, form.interval.high))
    interval = Interval(low * (1 - LIBRARY), high * (1 + LIBRARY))
    return float_form(exp.Exp(this=form.sql), interval, max(interval.low, Fraction(1, 10**280)), form.nullable, node)


@rule(exp.Pow)
def _power(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    base, exponent = as_double(scope.number(node.this)), scope.number(node.expression)
    if exponent.constant is None or exponent.interval.low not in (*range(MAX_POWER + 1), Fraction(1, 2)):
        refuse(
            node.expression,
            "not-a-constant",
            f"The exponent must be written out: 0.5 or a whole number up to {MAX_POWER}.",
            f"指数は 0.5 か {MAX_POWER} 以下の整数をそのまま書いてください。",
        )
    size = exponent.interval.low
    if size == Fraction(1, 2):
        return _guarded_root(base, node)
    power = int(size)
    ends = [base.interval.low**power, base.interval.high**power]
    if power % 2 == 0 and power and base.interval.has_zero:
        ends.append(Fraction(0))
    interval = Interval(min(ends), max(ends))
    if interval.magnitude <= 10**300:
        # Outward, but never across 0: an even power is not negative, and no power of a positive number is.
        grown = interval.widened(LIBRARY)
        interval = Interval(max(grown.low, Fraction(0)) if interval.low >= 0 else grown.low, grown.high)
    sql = exp.Pow(this=base.sql, expression=literal(float(power)))
    return float_form(sql, interval, base.tiny**power / 2, base.nullable, node)


def _where_above(
    call: Callable[[exp.Expr], exp.Expr], form: SafeExpression, compare: type[exp.Expr], needed: bool
) -> tuple[exp.Expr, bool]:
    """A function where its argument is above 0 (or 0), NULL elsewhere; and whether it can be NULL because of that."""
    if not needed:
        return call(form.sql), False
    allowed = compare(this=operand(copied(form.sql)), expression=literal(0.0))
    return exp.Case(ifs=[exp.If(this=allowed, true=call(form.sql))]), True


def _settled(form: SafeExpression) -> SafeExpression:
    """A number in a type whose range holds its negative."""
    if form.kind == "integer" and form.interval.magnitude <= BIG:
        return as_bigint(form)
    return as_decimal(form) if form.is_exact else form


def _only(node: exp.Expr, *allowed: str) -> None:
    """Refuse arguments that the rule does not know."""
    for name, value in node.args.items():
        if value not in (None, False, []) and name not in allowed:
            refuse(
                node,
                "unknown-function",
                "This function is known with fewer arguments only.",
                "この関数は、より少ない引数でだけ使えます。",
            )


def _refuse_trunc(node: exp.Expr) -> NoReturn:
    refuse(
        node,
        "unknown-function",
        "This database does not round floats to digits behind the point. Write ROUND(CAST(x AS DECIMAL(18, 6)), 2).",
        "このデータベースは浮動小数点数を小数点以下の桁で丸められません。ROUND(CAST(x AS DECIMAL(18, 6)), 2) と書いてください。",
    )


def _refuse_never(node: exp.Expr, what: str, what_ja: str) -> NoReturn:
    refuse(
        node,
        "no-bounds",
        f"By its bounds this number is never one that has a {what}.",
        f"範囲から考えて、この数の{what_ja}は決して求められません。",
    )
