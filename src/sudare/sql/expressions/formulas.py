"""Pieces of SQL that measured aggregates and their results are made of."""

from __future__ import annotations

from datetime import date
from decimal import Context, Decimal
from fractions import Fraction

from sqlglot import exp

from sudare.sql.frontend.copies import copied

__all__ = [
    "EPOCH",
    "as_double",
    "as_text",
    "bucket_of",
    "clipped",
    "date_literal",
    "days_between",
    "decimal_literal",
    "decimal_type",
    "double_of",
    "filtered",
    "if_at_least",
    "is_known",
    "one_if",
    "ratio",
    "result",
    "spread",
    "within",
]

DOUBLE = exp.DataType.build("double")
EPOCH = date(1970, 1, 1)


def result(name: str) -> exp.Column:
    """A measure in a formula over results."""
    return exp.column(name, quoted=True)


def double_of(value: Fraction) -> exp.Expr:
    """A fraction as a float, written exactly."""
    return as_double(exp.Literal.string(as_text(value)))


def decimal_literal(value: Fraction, scale: int) -> exp.Expr:
    """A number on a grid, with all its digits behind the point."""
    whole = round(value * 10**scale)
    digits = f"{abs(whole):0{scale + 1}d}"
    text = f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits
    number = exp.Literal.number(text)
    return exp.paren(exp.Neg(this=number), copy=False) if whole < 0 else number


def as_text(value: Fraction) -> str:
    """A fraction with a power of ten below as people write it."""
    return format(Context(prec=60).divide(Decimal(value.numerator), Decimal(value.denominator)), "f")


def decimal_type(scale: int) -> exp.DataType:
    """The widest decimal with this many digits behind the point."""
    return exp.DataType.build(f"decimal(38, {scale})")


def filtered(tree: exp.Expr, condition: exp.Expr | None) -> exp.Expr:
    """An aggregate over the rows that satisfy a condition."""
    return tree if condition is None else exp.Filter(this=tree, expression=exp.Where(this=copied(condition)))


def one_if(kind: type[exp.Expr], condition: exp.Expr) -> exp.Expr:
    """An aggregate of 1 where a condition holds and 0 elsewhere."""
    zero = exp.Literal.number(0)
    return kind(this=exp.Case(ifs=[exp.If(this=copied(condition), true=exp.Literal.number(1))], default=zero))


def is_known(tree: exp.Expr) -> exp.Expr:
    """Whether a value is not NULL."""
    return exp.Not(this=exp.Is(this=copied(tree), expression=exp.null()))


def clipped(value: exp.Expr, low: exp.Expr, high: exp.Expr) -> exp.Expr:
    """A value brought into its bounds; NULL stays NULL."""
    return exp.Case(
        ifs=[
            exp.If(this=exp.Between(this=copied(value), low=copied(low), high=copied(high)), true=copied(value)),
            exp.If(this=exp.GT(this=copied(value), expression=copied(high)), true=copied(high)),
            exp.If(this=exp.LT(this=copied(value), expression=copied(low)), true=copied(low)),
        ]
    )


def as_double(tree: exp.Expr) -> exp.Expr:
    """A value as a float."""
    return exp.Cast(this=tree, to=copied(DOUBLE))


def date_literal(day: date) -> exp.Expr:
    """A date, written out."""
    return exp.Cast(this=exp.Literal.string(day.isoformat()), to=exp.DataType.build("date"))


def days_between(first: exp.Expr, last: exp.Expr, dialect: str) -> exp.Expr:
    """How many days one date is after another."""
    if dialect == "spark":
        return exp.DateDiff(this=last, expression=first, unit=exp.Var(this="DAY"))
    whole = exp.DataType.build("bigint")
    return exp.Cast(this=exp.paren(exp.Sub(this=last, expression=first), copy=False), to=whole)


def ratio(top: exp.Expr, bottom: exp.Expr) -> exp.Expr:
    """A quotient of floats."""
    return exp.Div(this=as_double(top), expression=as_double(bottom), typed=False, safe=False)


def if_at_least(count: str, least: int, value: exp.Expr) -> exp.Expr:
    """A value where the noisy count allows it, else NULL."""
    enough = exp.GTE(this=result(count), expression=exp.Literal.number(least))
    return exp.Case(ifs=[exp.If(this=enough, true=value)])


def within(value: exp.Expr, low: Fraction, high: Fraction) -> exp.Expr:
    """A float brought into its bounds."""
    below = exp.Least(this=value, expressions=[double_of(high)], ignore_nulls=True)
    return exp.Greatest(this=below, expressions=[double_of(low)], ignore_nulls=True)


def spread(products: str, first: str, second: str, count: str, *, whole: bool) -> exp.Expr:
    """(sum of products - product of sums / n) / n, or / (n - 1)."""
    both = exp.Mul(this=as_double(result(first)), expression=ratio(result(second), result(count)))
    rest = exp.paren(
        exp.Sub(this=as_double(result(products)), expression=exp.paren(both, copy=False)),
        copy=False,
    )
    number: exp.Expr = as_double(result(count))
    if not whole:
        number = exp.paren(exp.Sub(this=number, expression=exp.Literal.number(1)), copy=False)
    return exp.Div(this=rest, expression=number, typed=False, safe=False)


def bucket_of(value: exp.Expr, first: Fraction, step: Fraction) -> exp.Expr:
    """Which grid point a value on the grid is, from 0."""
    whole = exp.DataType.build("bigint")
    if step < 1:
        scale = len(str(step.denominator)) - 1
        moved = exp.paren(exp.Sub(this=value, expression=decimal_literal(first, scale)), copy=False)
        return exp.cast(exp.Mul(this=moved, expression=exp.Literal.number(str(step.denominator))), whole, copy=False)
    wide = exp.Cast(this=value, to=decimal_type(0))
    moved = exp.paren(exp.Sub(this=wide, expression=decimal_literal(first, 0)), copy=False)
    if step == 1:
        return exp.cast(moved, whole, copy=False)
    ratio = exp.Div(this=as_double(moved), expression=double_of(step), typed=False, safe=False)
    return exp.cast(exp.Floor(this=ratio), whole, copy=False)
