"""Keys of groups: written alike wherever they are equal, in a form that every database gives back, or refused.

A database hands out one of the values that it holds to be equal: that of some row. If these look different (0.0 and -0.0, texts
under a collation that folds, 1.0 and 1.00), the one that is shown tells whose row was first. Proof: ``relations.md``.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import NoReturn

from sqlglot import exp

from sudare.sql.expressions.facts import Facts
from sudare.sql.expressions.formulas import double_of
from sudare.sql.expressions.intervals import Interval, digits_needed
from sudare.sql.expressions.safe_expression import SafeExpression, cast_to_decimal, clipped, literal, too_wide
from sudare.sql.frontend.copies import copied
from sudare.sql.frontend.refusals import refuse

__all__ = ["canonical_owner", "key_form", "refuse_key_type"]


def key_form(tree: exp.Expr, facts: Facts, dialect: str, node: exp.Expr) -> tuple[exp.Expr, Facts]:
    """A key so that equal values are written alike, and none is beyond what can be read.

    Floats: 0.0 and -0.0 are equal, and so are all that are no numbers, whatever bits these have. Databases have dates before
    the year 1, after 9999 and at infinity, and PostgreSQL numbers without limits and NaN, which nothing outside of them can
    hold: a group with such a key would make the whole answer fail. Dates count as the nearest that can be read, and such
    numbers as missing. PostgreSQL's decimals keep the digits behind the point that each row was written with, so all get the
    same. Keys that the metadata lists count as missing if they are not on the list; those groups are left out anyway.

    Args:
        tree: the key.
        facts: what is known of it.
        dialect: of the database.
        node: where it stands in the query.
    """
    if facts.kind == "float":
        branches = [
            exp.If(this=exp.EQ(this=copied(tree), expression=copied(value)), true=value)
            for value in (double_of(Fraction(0)), literal(float("nan")))
        ]
        return exp.Case(ifs=branches, default=copied(tree)), facts
    if facts.kind in ("date", "timestamp") and not facts.clipped and (facts.values is None or dialect == "postgres"):
        return clipped(SafeExpression(tree, facts.kind), node).sql, facts
    if facts.kind == "decimal" and dialect == "postgres":
        return _decimal_key(tree, facts, node)
    return tree, facts


def _decimal_key(tree: exp.Expr, facts: Facts, node: exp.Expr) -> tuple[exp.Expr, Facts]:
    """A decimal of PostgreSQL with as many digits behind the point as its facts say, whatever a row was written with."""
    if facts.values is not None:
        numbers = [Fraction(value) for value in facts.values if isinstance(value, int | Decimal)]
        scale = max((_scale_of(value) for value in facts.values), default=0)
        digits = _digits(numbers, scale, node)
        listed = exp.In(this=copied(tree), expressions=[literal(value) for value in facts.values if value is not None])
        return _cast_where(listed, tree, digits, scale) if facts.values else exp.Null(), facts
    if facts.clipped and isinstance(facts.low, Fraction) and isinstance(facts.high, Fraction):
        scale = facts.scale or 0
        return cast_to_decimal(tree, _digits([facts.low, facts.high], scale, node), scale), facts
    if facts.digits is None or facts.scale is None:
        refuse(
            node,
            "key-without-digits",
            "A NUMERIC without digits can hold numbers that nothing else can, so that groups by it are not offered. Cast it: "
            "CAST(x AS DECIMAL(12, 2)), or describe the column with its digits.",
            "桁数のない NUMERIC には他で表せない数が入り得るため、グループにできません。"
            "CAST(x AS DECIMAL(12, 2)) のように変換するか、桁数のある列として記述してください。",
        )
    most = exp.LTE(this=copied(tree), expression=literal(10 ** (facts.digits - facts.scale)))
    return _cast_where(most, tree, facts.digits, facts.scale), replace(facts, nullable=True)


def _cast_where(condition: exp.Expr, tree: exp.Expr, digits: int, scale: int) -> exp.Expr:
    # The cast goes around all: a CASE would lose its digits, and an answer without rows would have another type.
    return cast_to_decimal(exp.Case(ifs=[exp.If(this=condition, true=tree)]), digits, scale)


def _scale_of(value: object) -> int:
    return max(-int(value.as_tuple().exponent), 0) if isinstance(value, Decimal) else 0


def _digits(numbers: list[Fraction], scale: int, node: exp.Expr) -> int:
    digits = max((digits_needed(Interval(number, number), scale) for number in numbers), default=1)
    if digits > 38:
        too_wide(node)
    return max(digits, scale, 1)


def canonical_owner(tree: exp.Expr, facts: Facts, dialect: str) -> exp.Expr:
    """The name of a unit, written alike in all of its rows; for what depends on how it is written."""
    if dialect == "postgres" and facts.kind == "decimal" and facts.digits is None:
        return exp.Anonymous(this="TRIM_SCALE", expressions=[tree])
    return tree


def refuse_key_type(node: exp.Expr, name: str) -> NoReturn:
    """Refuse a key of a type whose values nobody outside of the database can compare."""
    refuse(
        node,
        "key-type",
        f"Groups by {name!r:.60} are not offered: its type is one that only the database knows, and values that it holds to be "
        "equal may look different, so that a group would show how one row is written. Group by a column of plain text "
        "(without a collation that folds), numbers, dates or times.",
        f"{name!r:.60} はデータベース固有の型 (other) のため、グループにできません。データベースが等しいとみなす値でも"
        "表記が異なることがあり、グループの表示から特定の行の書き方が分かってしまいます。"
        "通常の文字列（大文字・小文字などを同一視しないもの）、数値、日付、日時の列でまとめてください。",
    )
