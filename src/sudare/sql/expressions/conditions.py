"""Conditions: comparing, BETWEEN, IN, IS, AND, OR, NOT.

Values are compared as they stand in their tables. A database compares two numbers of different types by converting
one, and that can fail for some values; so constants are first rounded to the column's grid in a way that changes no
answer, and other mixtures are allowed only where the conversion holds every value.
"""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from typing import NoReturn

from sqlglot import exp

from sudare.sql.expressions.intervals import digits_needed, round_down, round_up
from sudare.sql.expressions.rules import ExpressionScope, rule
from sudare.sql.expressions.safe_expression import (
    SafeExpression,
    as_decimal,
    cast_to,
    clipped,
    constant,
    exact,
    no_bounds,
    operand,
    too_wide,
    within_float,
)
from sudare.sql.frontend.copies import copied
from sudare.sql.frontend.refusals import refuse

__all__ = ["compared", "condition_form", "read_date", "refuse_mixed"]

Comparison = type[exp.Expr]
_MIRRORED: dict[Comparison, Comparison] = {exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE}


def condition_form(sql: exp.Expr, nullable: bool) -> SafeExpression:
    """The form of something true or false."""
    return SafeExpression(sql, "boolean", nullable=nullable, values=(False, True))


def compared(how: Comparison, left: SafeExpression, right: SafeExpression, node: exp.Expr, dialect: str) -> exp.Expr:
    """A comparison that cannot fail.

    Args:
        how: the class of the comparison.
        left: one side.
        right: the other.
        node: where it stands in the query.
        dialect: the database's SQL.
    """
    if left.constant is not None and right.constant is None:
        return compared(_MIRRORED.get(how, how), right, left, node, dialect)
    left, right = _of_one_kind(left, right, node, dialect)
    if left.is_exact and right.constant is not None and left.constant is None and left.scale is not None:
        rounded = _on_grid_of(how, left, right, node)
        if rounded is None:
            return _never_equal(how, left)
        right = rounded
    return how(this=operand(copied(left.sql)), expression=operand(copied(right.sql)))


def _of_one_kind(
    left: SafeExpression, right: SafeExpression, node: exp.Expr, dialect: str
) -> tuple[SafeExpression, SafeExpression]:
    if "null" in (left.kind, right.kind):
        refuse(
            node,
            "compared-with-null",
            "A comparison with NULL is never true. Write x IS NULL.",
            "NULL との比較は決して真になりません。x IS NULL と書いてください。",
        )
    if left.is_number and right.is_number:
        return _numbers(left, right, node, dialect)
    if isinstance(right.constant, str) and left.kind in ("date", "timestamp"):
        right = read_date(right.constant, node)
    if {left.kind, right.kind} == {"date", "timestamp"}:
        return _as_time(left, right, node), _as_time(right, left, node)
    if left.kind != right.kind or left.kind == "other":
        refuse_mixed(node)
    return left, right


def _as_time(form: SafeExpression, other: SafeExpression, node: exp.Expr) -> SafeExpression:
    """A date as the timestamp of its midnight; only dates between the years 1 and 9999 have one in every database."""
    if form.kind == "timestamp":
        return form
    if isinstance(form.constant, date):
        return constant(datetime.combine(form.constant, time()))
    held = form if form.certain else clipped(form, node)
    return SafeExpression(cast_to(held.sql, "TIMESTAMP"), "timestamp", nullable=form.nullable)


def _numbers(
    left: SafeExpression, right: SafeExpression, node: exp.Expr, dialect: str
) -> tuple[SafeExpression, SafeExpression]:
    if isinstance(right.constant, float) and left.kind == "decimal" and left.scale is None:
        # PostgreSQL would convert a NUMERIC of any size to a float.
        return left, constant(Decimal(repr(right.constant)))
    if left.constant is not None or right.constant is not None or left.kind == right.kind == "float":
        return left, right
    if "float" in (left.kind, right.kind):
        return within_float(left, node), within_float(right, node)
    if (left.scale == right.scale and left.kind == right.kind) or dialect == "postgres":
        return left, right
    scale = max(left.scale or 0, right.scale or 0)
    if all(x.digits is not None and x.digits - (x.scale or 0) + scale <= 38 for x in (left, right)):
        return left, right
    sides = []
    for form in (left, right):
        if not form.has_interval:
            no_bounds(node)
        held = form if form.certain else clipped(form, node)
        digits = digits_needed(held.interval, scale)
        if digits > 38:
            too_wide(node)
        sides.append(as_decimal(held, digits, scale))
    return sides[0], sides[1]


def _on_grid_of(how: Comparison, left: SafeExpression, right: SafeExpression, node: exp.Expr) -> SafeExpression | None:
    """A constant rounded to the grid of what it is compared with; None if it can never be equal.

    With x on the grid and c off it, x < c means x < c rounded up, and x <= c means x <= c rounded down.
    """
    scale = left.scale or 0
    value = right.interval.low
    if digits_needed(right.interval, scale) > 38:
        too_wide(node)
    if round_down(value, scale) == value:
        return right if (right.scale or 0) <= scale and right.is_exact else constant(exact(value, scale))
    if how in (exp.LT, exp.GTE):
        return constant(exact(round_up(value, scale), scale))
    if how in (exp.LTE, exp.GT):
        return constant(exact(round_down(value, scale), scale))
    return None


def _never_equal(how: Comparison, form: SafeExpression) -> exp.Expr:
    """The answer where both sides cannot be equal; NULL stays NULL."""
    if how in (exp.NullSafeEQ, exp.NullSafeNEQ):
        return exp.Boolean(this=how is exp.NullSafeNEQ)
    opposite = exp.NEQ if how is exp.EQ else exp.EQ
    return opposite(this=operand(copied(form.sql)), expression=operand(copied(form.sql)))


@rule(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
def _compare(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    left, right = scope.form(node.this, False), scope.form(node.expression, False)
    sql = compared(type(node), left, right, node, scope.dialect)
    return condition_form(sql, left.nullable or right.nullable)


@rule(exp.NullSafeEQ, exp.NullSafeNEQ)
def _compare_with_null(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    left, right = scope.form(node.this, False), scope.form(node.expression, False)
    return condition_form(compared(type(node), left, right, node, scope.dialect), False)


@rule(exp.Between)
def _between(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    if node.args.get("symmetric"):
        refuse(
            node, "unknown-operator", "Write BETWEEN without SYMMETRIC.", "SYMMETRIC のない BETWEEN を使ってください。"
        )
    value, low, high = (scope.form(node.args[name], False) for name in ("this", "low", "high"))
    above = compared(exp.GTE, value, low, node, scope.dialect)
    below = compared(exp.LTE, value, high, node, scope.dialect)
    nullable = value.nullable or low.nullable or high.nullable
    if value.constant is None and above.this == below.this:
        return condition_form(exp.Between(this=above.this, low=above.expression, high=below.expression), nullable)
    return condition_form(exp.And(this=above, expression=below), nullable)


@rule(exp.In)
def _in(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    if any(node.args.get(name) for name in ("query", "unnest", "field")):
        refuse(
            node,
            "subquery-here",
            "Here IN needs a list of values that are written out.",
            "ここの IN には値の一覧をそのまま書いてください。",
        )
    value = scope.form(node.this, False)
    nullable = value.nullable
    listed: list[exp.Expr] = []
    left: exp.Expr | None = None
    never: exp.Expr | None = None
    for item in node.expressions:
        form = scope.form(item, False)
        if form.kind == "null":
            listed.append(exp.Null())
            nullable = True
            continue
        if form.constant is None:
            refuse(
                item,
                "not-a-constant",
                "Lists after IN hold values that are written out.",
                "IN の一覧には値をそのまま書いてください。",
            )
        equal = compared(exp.EQ, value, form, node, scope.dialect)
        if isinstance(equal, exp.EQ):
            left = equal.this
            listed.append(equal.expression)
        else:
            never = equal
    if left is None:
        if never is None:
            refuse(node, "compared-with-null", "The list after IN has no value.", "IN の一覧に値がありません。")
        return condition_form(never, True)
    return condition_form(exp.In(this=left, expressions=listed), nullable)


@rule(exp.Is)
def _is(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    what = node.expression
    if type(what) is exp.Null:
        form = scope.form(node.this, False)
        return condition_form(exp.Is(this=operand(form.sql), expression=exp.Null()), False)
    if type(what) is exp.Boolean:
        return condition_form(exp.Is(this=operand(scope.condition(node.this).sql), expression=copied(what)), False)
    return refuse(
        node,
        "unknown-operator",
        "IS is followed by NULL, TRUE or FALSE.",
        "IS の後には NULL、TRUE、FALSE のどれかを書いてください。",
    )


@rule(exp.And, exp.Or)
def _both(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    how = type(node)
    # Long chains lean to the left; they are no deeper than a list.
    forms = [scope.condition(part) for part in node.flatten()]
    sql = operand(forms[0].sql)
    for form in forms[1:]:
        sql = how(this=sql, expression=operand(form.sql))
    return condition_form(sql, any(form.nullable for form in forms))


@rule(exp.Not)
def _not(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    form = scope.condition(node.this)
    return condition_form(exp.Not(this=operand(form.sql)), form.nullable)


def read_date(text: str, node: exp.Expr) -> SafeExpression:
    """A date or a timestamp that the query has as text."""
    try:
        if len(text) == 10:
            return constant(date.fromisoformat(text))
        value = datetime.fromisoformat(text)
        if value.tzinfo is None:
            return constant(value)
    except ValueError:
        pass
    return refuse(
        node,
        "not-a-date",
        "Write dates as DATE '2024-01-31', timestamps as TIMESTAMP '2024-01-31 12:00:00'.",
        "日付は DATE '2024-01-31'、日時は TIMESTAMP '2024-01-31 12:00:00' のように書いてください。",
    )


def refuse_mixed(node: exp.Expr) -> NoReturn:
    """Refuse values of kinds that a database would have to convert."""
    refuse(
        node,
        "mixed-kinds",
        "These values are of different kinds, and converting one could fail for some of the data. "
        "Write numbers without quotes, and convert columns with CAST.",
        "種類の異なる値です。変換はデータによって失敗することがあります。数は引用符なしで書き、列は CAST で変換してください。",
    )
