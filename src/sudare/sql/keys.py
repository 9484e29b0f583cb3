"""Keys of groups in a form that every database gives back, whatever stands in its rows."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from sudare.sql.copies import copied
from sudare.sql.facts import Facts
from sudare.sql.forms import Form, clipped, literal
from sudare.sql.formulas import double_of
from sudare.sql.refusals import refuse

__all__ = ["key_form"]


def key_form(tree: exp.Expr, facts: Facts, dialect: str, node: exp.Expr) -> tuple[exp.Expr, Facts]:
    """A key so that equal values are written alike, and none is beyond what can be read.

    Floats: 0.0 and -0.0 are equal, and which one a group has would depend on its rows. PostgreSQL has dates before the
    year 1, after 9999 and at infinity, and numbers without limits and NaN, which nothing outside of it can hold: a group
    with such a key would make the whole query fail. Dates count as the nearest that can be read, and such numbers as
    missing. Keys that the metadata lists count as missing if they are not on the list; those groups are left out anyway.

    Args:
        tree: the key.
        facts: what is known of it.
        dialect: of the database.
        node: where it stands in the query.
    """
    if facts.kind == "float":
        zero = exp.EQ(this=tree, expression=double_of(Fraction(0)))
        return exp.Case(ifs=[exp.If(this=zero, true=double_of(Fraction(0)))], default=copied(tree)), facts
    if dialect != "postgres" or facts.clipped:
        return tree, facts
    if facts.kind in ("date", "timestamp"):
        return clipped(Form(tree, facts.kind), node).sql, facts
    if facts.kind != "decimal":
        return tree, facts
    if facts.values is not None:
        listed = exp.In(this=copied(tree), expressions=[literal(value) for value in facts.values if value is not None])
        return exp.Case(ifs=[exp.If(this=listed, true=tree)]), facts
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
    return exp.Case(ifs=[exp.If(this=most, true=tree)]), replace(facts, nullable=True)
