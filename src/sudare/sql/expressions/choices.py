"""Choosing among values: CASE, IF, COALESCE, NULLIF, LEAST, GREATEST; and giving all of them one type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sudare.sql.expressions.conditions import compared, refuse_mixed
from sudare.sql.expressions.facts import Bound
from sudare.sql.expressions.intervals import digits_needed
from sudare.sql.expressions.rules import ExpressionScope, rule
from sudare.sql.expressions.safe_expression import (
    BIG,
    SafeExpression,
    as_decimal,
    as_double,
    clipped,
    exact_literal,
    no_bounds,
    null,
    too_wide,
    within_float,
)
from sudare.sql.frontend.copies import copied
from sudare.sql.metadata.model import Value

__all__ = ["alike"]

MAX_VALUES = 10_000


def alike(forms: Sequence[SafeExpression], node: exp.Expr) -> list[SafeExpression]:
    """The same values in one type, so that the database has nothing left to convert that could fail.

    Args:
        forms: the values; NULL may be among them.
        node: where they stand in the query.

    Returns:
        A form for each, of the same kind; NULL stays as it is.
    """
    kinds = {form.kind for form in forms} - {"null"}
    if not kinds <= {"integer", "decimal", "float"}:
        if len(kinds) > 1 or "other" in kinds:
            refuse_mixed(node)
        return list(forms)
    if "float" in kinds:
        return [form if form.kind == "null" else as_double(within_float(form, node)) for form in forms]
    if kinds == {"integer"} or not kinds:
        return list(forms)
    scale = max(form.scale or 0 for form in forms if form.kind != "null")
    return [form if form.kind == "null" else _at_scale(form, scale, node) for form in forms]


def _at_scale(form: SafeExpression, scale: int, node: exp.Expr) -> SafeExpression:
    """An exact number with this many digits behind the point at least, in a type that holds it."""
    if form.constant is not None:
        digits = digits_needed(form.interval, scale)
        if digits > 38:
            too_wide(node)
        sql = exact_literal(form.interval.low, scale, digits)
        return replace(form, sql=sql, kind="decimal", scale=scale, stored="decimal", digits=digits)
    own = form.scale
    if own == scale and form.kind == "decimal":
        return form
    if own is not None and form.digits is not None and form.digits - own + scale <= 38 and not form.has_interval:
        digits = form.digits - own + scale
        return replace(as_decimal(form, digits, scale), kind="decimal")
    if not form.has_interval:
        no_bounds(node)
    held = form if form.certain else clipped(form, node)
    digits = digits_needed(held.interval, scale)
    if digits > 38:
        too_wide(node)
    return replace(as_decimal(held, digits, scale), kind="decimal")


def _joined(sql: exp.Expr, forms: Sequence[SafeExpression], nullable: bool) -> SafeExpression:
    """One form for a choice among several of one type."""
    real = [form for form in forms if form.kind != "null"]
    if not real:
        return null()
    first = real[0]
    low, high = _least([form.low for form in real]), _most([form.high for form in real])
    stored, digits = None, None
    if first.kind == "decimal" and all(form.stored == "decimal" for form in real):
        whole = max((form.digits or 0) - (form.scale or 0) for form in real)
        digits = whole + (first.scale or 0)
        stored = "decimal" if digits <= 38 else None
        digits = digits if digits <= 38 else None
    if first.kind == "integer" and any(form.stored == "bigint" for form in real):
        known = all(form.stored == "bigint" or _is_small(form) for form in real)
        stored = "bigint" if known else None
    lengths = [form.longest for form in real]
    longest = None if None in lengths else max(length for length in lengths if length is not None)
    return SafeExpression(
        sql,
        first.kind,
        low,
        high,
        None if any(form.scale is None for form in real) else max(form.scale or 0 for form in real),
        nullable,
        _all_values(real),
        all(form.certain for form in real),
        stored,  # type: ignore[arg-type]
        digits,
        min(form.tiny for form in real),
        longest=longest if first.kind == "text" else None,
    )


def _is_small(form: SafeExpression) -> bool:
    return form.constant is not None and form.interval.magnitude <= BIG


def _all_values(forms: Sequence[SafeExpression]) -> tuple[Value, ...] | None:
    found: dict[Value, None] = {}
    for form in forms:
        if form.values is None or form.kind == "float":
            return None
        found.update(dict.fromkeys(form.values))
    return tuple(found) if len(found) <= MAX_VALUES else None


def _least(bounds: Sequence[Bound | None]) -> Bound | None:
    return None if None in bounds else min(bounds)  # type: ignore[type-var]


def _most(bounds: Sequence[Bound | None]) -> Bound | None:
    return None if None in bounds else max(bounds)  # type: ignore[type-var]


@rule(exp.Case)
def _case(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    conditions = [_when(scope, node.this, branch.this) for branch in node.args["ifs"]]
    results = [branch.args["true"] for branch in node.args["ifs"]]
    return _chosen(scope, node, conditions, results, node.args.get("default"), clip)


@rule(exp.If)
def _if(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    condition = scope.condition(node.this).sql
    return _chosen(scope, node, [condition], [node.args["true"]], node.args.get("false"), clip)


def _when(scope: ExpressionScope, value: exp.Expr | None, condition: exp.Expr) -> exp.Expr:
    if value is None:
        return scope.condition(condition).sql
    return compared(exp.EQ, scope.form(value, False), scope.form(condition, False), condition, scope.dialect)


def _chosen(
    scope: ExpressionScope,
    node: exp.Expr,
    conditions: list[exp.Expr],
    results: list[exp.Expr],
    default: exp.Expr | None,
    clip: bool,
) -> SafeExpression:
    otherwise = null() if default is None else scope.form(default, clip)
    forms = alike([*(scope.form(result, clip) for result in results), otherwise], node)
    ifs = [exp.If(this=condition, true=form.sql) for condition, form in zip(conditions, forms, strict=False)]
    last = None if default is None else forms[-1].sql
    return _joined(exp.Case(ifs=ifs, default=last), forms, any(form.nullable for form in forms))


@rule(exp.Coalesce)
def _coalesce(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    forms = alike([scope.form(part, clip) for part in (node.this, *node.expressions)], node)
    sql = exp.Coalesce(this=forms[0].sql, expressions=[form.sql for form in forms[1:]])
    return _joined(sql, forms, all(form.nullable for form in forms))


@rule(exp.Nullif)
def _null_if(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    value, unwanted = scope.form(node.this, clip), scope.form(node.expression, clip)
    equal = compared(exp.EQ, value, unwanted, node, scope.dialect)
    # Written as CASE: NULLIF would give the value the type of the comparison.
    sql = exp.Case(ifs=[exp.If(this=equal, true=exp.Null())], default=copied(value.sql))
    return replace(value, sql=sql, nullable=True, constant=None)


@rule(exp.Least)
def _smallest(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    return _extreme(scope, node, clip, exp.Least)


@rule(exp.Greatest)
def _largest(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    return _extreme(scope, node, clip, exp.Greatest)


def _extreme(scope: ExpressionScope, node: exp.Expr, clip: bool, which: type[exp.Expr]) -> SafeExpression:
    """The smallest or largest of several; NULL is passed over, and comes out only if all are NULL."""
    forms = alike([scope.form(part, clip) for part in (node.this, *node.expressions)], node)
    if any(form.kind in ("boolean", "other", "null") for form in forms):
        refuse_mixed(node)
    sql = which(this=forms[0].sql, expressions=[form.sql for form in forms[1:]], ignore_nulls=True)
    joined = _joined(sql, forms, all(form.nullable for form in forms))
    # What is never NULL always takes part: the smallest is not above it, the largest not below.
    always = [form for form in forms if not form.nullable]
    if which is exp.Least:
        highs = [form.high for form in always if form.high is not None]
        known = [*highs, *([joined.high] if joined.high is not None else [])]
        return replace(joined, high=min(known) if known else None, values=None)
    lows = [form.low for form in always if form.low is not None]
    known = [*lows, *([joined.low] if joined.low is not None else [])]
    return replace(joined, low=max(known) if known else None, values=None)
