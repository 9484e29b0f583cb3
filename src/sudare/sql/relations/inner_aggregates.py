"""Aggregates inside a query, below the one that is published: for each unit, or over units.

Sums are taken over decimals, never over floats: a sum of floats depends on the order of the rows, and the order on everybody.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

from sqlglot import exp

from sudare.sql.expressions.expressions import bounded, examine, on_grid
from sudare.sql.expressions.facts import Examined, Facts, Lookup
from sudare.sql.frontend.copies import copied
from sudare.sql.frontend.refusals import refuse
from sudare.sql.relations.filtering import require_condition

__all__ = ["aggregate_inside", "number_bounds", "scale_of"]

FLOAT_DIGITS = 9
"""How many digits of the largest value the grid of a float has, where nobody chose one."""


def number_bounds(facts: Facts) -> tuple[Fraction, Fraction]:
    """The bounds of a bounded number."""
    if not isinstance(facts.low, Fraction) or not isinstance(facts.high, Fraction):
        raise ValueError("not a bounded number")
    return facts.low, facts.high


def scale_of(facts: Facts) -> int:
    """Digits behind the point of the grid for a bounded number: its own, or enough for a float."""
    if facts.scale is not None:
        return facts.scale
    low, high = number_bounds(facts)
    largest = max(abs(low), abs(high))
    scale = FLOAT_DIGITS
    while scale > 0 and largest >= Fraction(10) ** (FLOAT_DIGITS - scale + 1):
        scale -= 1
    return scale


def aggregate_inside(node: exp.Expr, lookup: Lookup, dialect: str, rows: int | None) -> tuple[Facts, exp.Expr]:
    """An aggregate for the groups of a query inside another.

    Args:
        node: the aggregate, with FILTER if it has one.
        lookup: of columns.
        dialect: of the query.
        rows: how many rows a group can have, at most; None if there is no limit.

    Returns:
        What is known of its result, and its form that cannot fail.
    """
    condition: exp.Expr | None = None
    call = node
    if isinstance(node, exp.Filter):
        call = node.this
        seen = examine(node.expression.this, lookup, dialect)
        require_condition(seen.facts, node)
        condition = seen.sql
    if isinstance(call, exp.Count):
        facts, tree = _count(call, lookup, dialect, rows)
    elif isinstance(call, (exp.Sum, exp.Avg)) and not isinstance(call.this, exp.Distinct):
        facts, tree = _sum(call, bounded(call.this, lookup, dialect), dialect, rows, condition)
        condition = None
    elif isinstance(call, (exp.Min, exp.Max)) and not call.expressions:
        seen = examine(call.this, lookup, dialect)
        facts = replace(seen.facts, nullable=True)
        tree = type(call)(this=seen.sql)
    else:
        refuse(
            call,
            "aggregate-inside",
            "Inside a query only COUNT, SUM, AVG, MIN and MAX are offered, without DISTINCT for sums.",
            "クエリの内側では COUNT・SUM・AVG・MIN・MAX だけを使えます（合計の DISTINCT は不可）。",
        )
    if condition is not None:
        tree = exp.Filter(this=tree, expression=exp.Where(this=condition))
    return facts, tree


def _count(call: exp.Count, lookup: Lookup, dialect: str, rows: int | None) -> tuple[Facts, exp.Expr]:
    high = None if rows is None else Fraction(rows)
    facts = Facts("integer", Fraction(0), high, 0, False, clipped=rows is not None)
    what = call.this
    if isinstance(what, exp.Star) or what is None:
        return facts, exp.Count(this=exp.Star())
    if isinstance(what, exp.Distinct):
        if len(what.expressions) != 1:
            refuse(
                call,
                "distinct-columns",
                "COUNT(DISTINCT ...) takes one column here.",
                "COUNT(DISTINCT ...) には 1 列だけを指定してください。",
            )
        seen = examine(what.expressions[0], lookup, dialect)
        return facts, exp.Count(this=exp.Distinct(expressions=[seen.sql]))
    return facts, exp.Count(this=examine(what, lookup, dialect).sql)


def _sum(
    call: exp.Expr, seen: Examined, dialect: str, rows: int | None, condition: exp.Expr | None
) -> tuple[Facts, exp.Expr]:
    scale = scale_of(seen.facts)
    low, high = number_bounds(seen.facts)
    low, high = Fraction(floor(low * 10**scale), 10**scale), Fraction(ceil(high * 10**scale), 10**scale)
    value = on_grid(seen, scale, dialect)

    def filtered(tree: exp.Expr) -> exp.Expr:
        return tree if condition is None else exp.Filter(this=tree, expression=exp.Where(this=copied(condition)))

    total = filtered(exp.Sum(this=value))
    if isinstance(call, exp.Avg):
        count = filtered(exp.Count(this=copied(value)))
        kind = exp.DataType.build("double")
        # Never a division by zero: a group without values has a NULL sum.
        divisor = exp.cast(exp.Nullif(this=count, expression=exp.Literal.number(0)), kind, copy=False)
        mean = exp.Div(this=exp.cast(total, kind, copy=False), expression=divisor, typed=False, safe=False)
        return Facts("float", low - 1, high + 1, None, True, clipped=True), exp.paren(mean, copy=False)
    if rows is None:
        return Facts("decimal", None, None, scale, True), total
    lowest, highest = min(low, Fraction(0)) * rows, max(high, Fraction(0)) * rows
    kind_of = "integer" if scale == 0 else "decimal"
    return Facts(kind_of, lowest, highest, scale, True, clipped=True), total  # type: ignore[arg-type]
