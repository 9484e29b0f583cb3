"""CAST: only where every value can be converted; otherwise the one that gives NULL, where the database has it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction
from typing import NoReturn, cast

from sqlglot import exp

from sudare.engines.engine import Kind
from sudare.sql.expressions.arithmetic import as_bigint
from sudare.sql.expressions.conditions import read_date
from sudare.sql.expressions.intervals import digits_needed
from sudare.sql.expressions.rules import ExpressionScope, rule
from sudare.sql.expressions.safe_expression import (
    BIG,
    SafeExpression,
    as_decimal,
    as_double,
    cast_to,
    cast_to_decimal,
    clipped,
    constant,
    decimal_type,
    exact,
    no_bounds,
    null,
    operand,
)
from sudare.sql.frontend.copies import copied
from sudare.sql.frontend.refusals import refuse

__all__: list[str] = []

T = exp.DataType.Type
INTEGERS = {T.TINYINT: 2**7, T.SMALLINT: 2**15, T.INT: 2**31, T.BIGINT: 2**63, T.INT128: 10**38}
FLOATS = (T.DOUBLE, T.FLOAT)
TEXTS = (T.TEXT, T.VARCHAR)
HAS_TRY = ("duckdb", "spark")


@rule(exp.Cast, exp.TryCast)
def _cast(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    to = node.args["to"]
    if any(node.args.get(name) for name in ("format", "action", "default")):
        _refuse_type(node)
    target = to.this
    parameters = [int(parameter.name) for parameter in to.expressions if parameter.name.isdecimal()]
    form = scope.form(node.this, target not in TEXTS)
    if form.kind == "other":
        _refuse_type(node)
    if target in INTEGERS and not to.expressions:
        return _to_integer(form, INTEGERS[target], node, scope.dialect)
    if target is T.DECIMAL and len(parameters) == len(to.expressions) <= 2:
        return _to_decimal(form, parameters, node, scope.dialect)
    if target in FLOATS and not to.expressions:
        if form.kind == "text":
            return _tried(form, _plain("DOUBLE"), "float", node, scope.dialect)
        return as_double(_number(form, node))
    if target in TEXTS and not to.expressions:
        return _to_text(form, node, scope.dialect)
    if target is T.BOOLEAN and form.kind in ("boolean", "null"):
        return replace(form, kind="boolean", sql=cast_to(form.sql, "BOOLEAN") if form.kind == "null" else form.sql)
    if target in (T.DATE, T.TIMESTAMP, T.TIMESTAMPNTZ, T.TIMESTAMPTZ, T.TIMESTAMPLTZ):
        return _to_moment(form, "date" if target is T.DATE else "timestamp", node, scope.dialect)
    return _refuse_type(node)


@rule(exp.Date)
def _date(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    if node.this is None or node.expressions or node.args.get("zone"):
        _refuse_type(node)
    return _to_moment(scope.form(node.this, True), "date", node, scope.dialect)


def _number(form: SafeExpression, node: exp.Expr) -> SafeExpression:
    """A number with bounds, whole ones for true and false."""
    if form.kind == "boolean":
        sql = exp.Case(
            ifs=[
                exp.If(this=form.sql, true=exp.Literal.number(1)),
                exp.If(this=exp.Not(this=operand(copied(form.sql))), true=exp.Literal.number(0)),
            ]
        )
        return SafeExpression(sql, "integer", Fraction(0), Fraction(1), 0, form.nullable, (0, 1))
    if form.kind == "null":
        return SafeExpression(
            cast_to(null().sql, "BIGINT"), "integer", Fraction(0), Fraction(0), 0, True, (), stored="bigint"
        )
    if not form.is_number:
        _refuse_type(node)
    if not form.has_interval:
        no_bounds(node)
    return form


def _to_integer(form: SafeExpression, limit: int, node: exp.Expr, dialect: str) -> SafeExpression:
    if form.kind == "text":
        return replace(_tried(form, _plain("BIGINT"), "integer", node, dialect), certain=True)
    form = _number(form, node)
    whole = form.interval.to_grid(0)
    if whole.magnitude >= limit:
        _refuse_range(node)
    if form.kind == "integer":
        return as_bigint(form) if whole.magnitude <= BIG else form
    if whole.magnitude > BIG:
        _refuse_range(node)
    if form.constant is not None and whole.low == whole.high:
        return constant(int(whole.low))
    source = as_decimal(form).sql if form.is_exact else form.sql
    return SafeExpression(
        cast_to(source, "BIGINT"), "integer", whole.low, whole.high, 0, form.nullable, stored="bigint"
    )


def _to_decimal(form: SafeExpression, parameters: list[int], node: exp.Expr, dialect: str) -> SafeExpression:
    if not parameters:
        # Without digits: 18 and 3 in DuckDB, 10 and 0 in Spark, as they are in PostgreSQL.
        scale = {"duckdb": 3, "spark": 0}.get(dialect, form.scale)
        digits = {"duckdb": 18, "spark": 10}.get(dialect, 38)
    else:
        digits, scale = parameters[0], (parameters[1] if len(parameters) == 2 else 0)
    if scale is None or not 1 <= digits <= 38 or not 0 <= scale <= digits:
        _refuse_type(node)
    if form.kind == "text":
        result = _tried(form, decimal_type(digits, scale), "decimal", node, dialect)
        return replace(result, scale=scale, stored="decimal", digits=digits, certain=True)
    form = _number(form, node)
    grid = form.interval.to_grid(scale)
    if grid.magnitude >= Fraction(10) ** (digits - scale):
        _refuse_range(node)
    if form.constant is not None and grid.low == grid.high:
        return constant(Decimal(exact(grid.low, scale)))
    if form.is_exact and (form.scale or 0) <= scale:
        return replace(as_decimal(form, digits, scale), kind="decimal", constant=None)
    if form.kind == "float" and digits_needed(grid, scale) > 15:
        _refuse_range(node)
    sql = cast_to_decimal(form.sql, digits, scale)
    return SafeExpression(sql, "decimal", grid.low, grid.high, scale, form.nullable, stored="decimal", digits=digits)


def _to_text(form: SafeExpression, node: exp.Expr, dialect: str) -> SafeExpression:
    if form.kind == "text":
        return form
    if form.kind == "float":
        refuse(
            node,
            "cast-can-fail",
            "Databases write floats differently. Convert to DECIMAL(18, 2) first.",
            "浮動小数点数の書き方はデータベースによって異なります。先に DECIMAL(18, 2) に変換してください。",
        )
    if dialect == "postgres" and form.kind == "decimal" and form.digits is None and form.constant is None:
        refuse(
            node,
            "cast-can-fail",
            "A NUMERIC without digits is written with those that each row has, 1.0 or 1.00. Convert it first: "
            "CAST(x AS DECIMAL(12, 2)).",
            "桁数のない NUMERIC は 1.0 や 1.00 のように行ごとに異なる桁数で書かれます。"
            "先に CAST(x AS DECIMAL(12, 2)) で変換してください。",
        )
    return SafeExpression(
        cast_to(form.sql, "TEXT"), "text", nullable=form.nullable, longest=100 if form.kind != "null" else None
    )


def _to_moment(form: SafeExpression, kind: Kind, node: exp.Expr, dialect: str) -> SafeExpression:
    name = "DATE" if kind == "date" else "TIMESTAMP"
    if isinstance(form.constant, str):
        found = read_date(form.constant, node)
        return found if found.kind == kind else _to_moment(found, kind, node, dialect)
    if form.kind == "text":
        return _tried(form, _plain(name), kind, node, dialect)
    if form.kind == "null":
        return SafeExpression(cast_to(form.sql, name), kind)
    if form.kind not in ("date", "timestamp"):
        _refuse_type(node)
    if form.kind == kind:
        return form

    def changed(moment: object) -> date | None:
        if kind == "date":
            return moment.date() if isinstance(moment, datetime) else None
        return datetime.combine(moment, time()) if isinstance(moment, date) else None

    if isinstance(form.constant, date):
        return constant(cast(date, changed(form.constant)))
    return SafeExpression(cast_to(form.sql, name), kind, changed(form.low), changed(form.high), nullable=form.nullable)


def _tried(form: SafeExpression, to: exp.DataType, kind: Kind, node: exp.Expr, dialect: str) -> SafeExpression:
    """Text that becomes something else, or NULL where it cannot."""
    if dialect not in HAS_TRY:
        refuse(
            node,
            "cast-can-fail",
            "This database cannot convert text without failing for some of it. Convert it in a view beforehand.",
            "このデータベースでは、文字列の変換がデータによって失敗します。先にビューで変換してください。",
        )
    sql = exp.TryCast(this=form.sql, to=to, safe=True)
    scale = 0 if kind == "integer" else None
    result = SafeExpression(sql, kind, scale=scale, certain=False, stored="bigint" if kind == "integer" else None)
    # Text may say NaN, infinity, or a year that some functions do not know.
    return result if kind in ("integer", "decimal") else clipped(result, node)


def _plain(name: str) -> exp.DataType:
    return exp.DataType(this=T[name], nested=False)


def _refuse_range(node: exp.Expr) -> NoReturn:
    refuse(
        node,
        "cast-can-fail",
        "By its bounds this number does not always fit the type. Convert to a wider type, or write narrower bounds.",
        "範囲から考えて、この数は型に収まらないことがあります。より広い型に変換するか、範囲を狭くしてください。",
    )


def _refuse_type(node: exp.Expr) -> NoReturn:
    refuse(
        node,
        "unsupported-type",
        "This conversion is not offered. Types are INTEGER, BIGINT, DECIMAL(p, s), DOUBLE, VARCHAR, DATE, TIMESTAMP.",
        "この変換は使えません。使える型は INTEGER、BIGINT、DECIMAL(p, s)、DOUBLE、VARCHAR、DATE、TIMESTAMP です。",
    )
