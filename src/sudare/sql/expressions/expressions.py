"""What a scalar SQL expression can be, and its form that can never fail.

The argument why nothing can fail, overflow or leave its bounds is in ``expressions.md``.
"""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import cast

from sqlglot import exp

from sudare.sql.expressions import arithmetic, casts, choices, conditions, dates, functions, texts
from sudare.sql.expressions.facts import Bound, Examined, Facts, Lookup
from sudare.sql.expressions.intervals import Interval, digits_needed
from sudare.sql.expressions.rules import RULES, ExpressionScope, rule
from sudare.sql.expressions.safe_expression import (
    SafeExpression,
    cast_to_decimal,
    clipped,
    constant,
    no_bounds,
    null,
    refuse_kind,
    too_wide,
)
from sudare.sql.frontend.copies import copied
from sudare.sql.frontend.refusals import refuse
from sudare.sql.frontend.unknown_parts import refuse_unknown

__all__ = ["Bound", "Examined", "Facts", "Lookup", "bounded", "examine", "on_grid"]

MAX_SUMMAND_DIGITS = 28
"""Digits of a number that is summed: ten billion of them still fit 38."""

MAX_FLOAT_DIGITS = 15
"""Digits up to which every database rounds a float to a decimal without leaving the bounds."""

# Each of these enters its rules in the table.
RULE_MODULES = (arithmetic, casts, choices, conditions, dates, functions, texts)


def examine(expression: exp.Expr, lookup: Lookup, dialect: str) -> Examined:
    """The total form of an expression.

    Columns stay as they are where they are compared, listed, grouped or chosen. Where a column enters a calculation, it
    is held within its declared bounds.

    Args:
        expression: a scalar expression; it is not changed.
        lookup: what is known of columns.
        dialect: the SQL it is written in and will be run with: ``"duckdb"``, ``"postgres"`` or ``"spark"``.

    Raises:
        QueryRefusedError: if it has a part that is not known, or that could fail.

    Example:
        >>> from sqlglot import parse_one
        >>> from sudare.sql.expressions.facts import Facts
        >>> price = Facts("decimal", Fraction(0), Fraction(100), scale=2, nullable=False, digits=15)
        >>> found = examine(parse_one("price > 7 AND price IS NOT NULL", read="duckdb"), lambda column: price, "duckdb")
        >>> found.sql.sql("duckdb")
        '(price > 7) AND (NOT (price IS NULL))'
    """
    form = ExpressionScope(lookup, dialect, refuse_unknown).form(expression, False)
    return Examined(form.facts, form.sql)


def bounded(expression: exp.Expr, lookup: Lookup, dialect: str) -> Examined:
    """A number that lies within its bounds whatever the data is; NULL stays NULL.

    Args:
        expression: a scalar expression; it is not changed.
        lookup: what is known of columns.
        dialect: the SQL it is written in and will be run with.

    Raises:
        QueryRefusedError: if it is not a number, has no bounds, or could fail.

    Example:
        >>> from sqlglot import parse_one
        >>> from sudare.sql.expressions.facts import Facts
        >>> age = Facts("integer", Fraction(0), Fraction(120), scale=0, digits=19)
        >>> bounded(parse_one("age", read="duckdb"), lambda column: age, "duckdb").sql.sql("duckdb")
        'CASE WHEN age BETWEEN 0 AND 120 THEN age WHEN age > 120 THEN 120 WHEN age < 0 THEN 0 END'
    """
    scope = ExpressionScope(lookup, dialect, refuse_unknown)
    inner = expression.unnest()
    form = _column(scope, inner, True, calculating=False) if type(inner) is exp.Column else scope.form(expression, True)
    if form.kind == "boolean":
        refuse(
            expression,
            "not-a-number",
            "A condition is not a number. Write CASE WHEN x > 0 THEN 1 ELSE 0 END.",
            "条件は数ではありません。CASE WHEN x > 0 THEN 1 ELSE 0 END と書いてください。",
        )
    if not form.is_number:
        refuse_kind(expression, "not-a-number", "a number", "数")
    if not form.has_interval:
        no_bounds(expression)
    return Examined(form.facts, form.sql)


def on_grid(examined: Examined, scale: int, dialect: str) -> exp.Expr:
    """The value as an exact decimal with this many digits behind the point.

    It lies within the bounds rounded outward to the grid. Finer values are rounded as the database does it.

    Args:
        examined: from `bounded`.
        scale: digits behind the point.
        dialect: the database's SQL.

    Raises:
        QueryRefusedError: if it would have too many digits.

    Example:
        >>> from sqlglot import parse_one
        >>> rate = Facts("float", Fraction(0), Fraction(1), clipped=True)
        >>> on_grid(Examined(rate, parse_one("rate")), 3, "duckdb").sql("duckdb")
        'CAST(rate AS DECIMAL(4, 3))'
    """
    facts = examined.facts
    if not (facts.clipped and isinstance(facts.low, Fraction) and isinstance(facts.high, Fraction)):
        no_bounds(examined.sql)
    digits = digits_needed(Interval(facts.low, facts.high), scale)
    if digits > (MAX_FLOAT_DIGITS if facts.kind == "float" else MAX_SUMMAND_DIGITS):
        too_wide(examined.sql)
    if facts.kind == "decimal" and facts.scale == scale:
        return copied(examined.sql)  # a cast would cost more than the sum
    return cast_to_decimal(copied(examined.sql), digits, scale)


@rule(exp.Column)
def _any_column(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    return _column(scope, cast(exp.Column, node), clip)


def _column(scope: ExpressionScope, node: exp.Column, clip: bool, *, calculating: bool = True) -> SafeExpression:
    if isinstance(node.this, exp.Star):
        refuse_unknown(node.this)
    facts = scope.lookup(node)
    form = SafeExpression(
        copied(node),
        facts.kind,
        facts.low,
        facts.high,
        facts.scale,
        facts.nullable,
        (False, True) if facts.kind == "boolean" else facts.values,
        facts.clipped or facts.kind == "boolean",
        digits=facts.digits,
    )
    if facts.kind == "text" and facts.clipped and facts.values is not None:
        form = replace(form, longest=max((len(str(value)) for value in facts.values), default=0))
    if not clip or facts.kind not in ("integer", "decimal", "float", "date", "timestamp"):
        return form
    if facts.clipped and (facts.kind != "float" or not calculating):
        return form
    return clipped(form, node, calculating=calculating)


@rule(exp.Paren)
def _brackets(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    return scope.form(node.this, clip)


@rule(exp.Literal)
def _literal(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    text = str(node.this)
    if node.args.get("is_string"):
        if "\0" in text:
            refuse(
                node, "unsupported-type", "Text has a character with code 0.", "文字列に文字コード 0 が含まれています。"
            )
        return constant(text)
    if "e" in text.lower():
        value = float(text)
        if math.isinf(value) or abs(value) > 1e300 or (value and abs(value) < 1e-200):
            too_wide(node)
        return constant(value)
    number = Decimal(text)
    if len(number.as_tuple().digits) > 38 or -int(number.as_tuple().exponent) > 38:
        too_wide(node)
    return constant(number if "." in text else int(text))


@rule(exp.Boolean)
def _boolean(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    return constant(bool(node.this))


@rule(exp.Null)
def _null(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    return null()


@rule(exp.Anonymous)
def _by_name(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    """Functions that the parser knows by their names only."""
    name = str(node.this).lower()
    parts = node.expressions
    if name == "date_part" and len(parts) == 2 and type(parts[0]) is exp.Literal:
        same = exp.Extract(this=exp.Var(this=parts[0].name.upper()), expression=copied(parts[1]))
        same.parent = node.parent
        return RULES[exp.Extract](scope, same, clip)
    return refuse_unknown(node)
