"""Text: LOWER, UPPER, TRIM, LENGTH, SUBSTRING, LEFT, RIGHT, CONCAT, REPLACE, STARTS_WITH, LIKE."""

from __future__ import annotations

from fractions import Fraction
from typing import NoReturn

from sqlglot import exp

from sudare.sql.expressions.conditions import condition_form
from sudare.sql.expressions.rules import ExpressionScope, rule
from sudare.sql.expressions.safe_expression import SafeExpression, cast_to, literal, null, operand
from sudare.sql.frontend.copies import copied
from sudare.sql.frontend.refusals import refuse

__all__: list[str] = []

MAX_REACH = 1_000_000
"""How far SUBSTRING, LEFT and RIGHT reach."""

JOINED = 10_000
"""How many characters of a text of unknown length are joined with others."""

MAX_PARTS = 50
MAX_WILDCARDS = 16


@rule(exp.Lower, exp.Upper)
def _letters(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    form = scope.text(node.this)
    # A letter can have a capital of several.
    longest = None if form.longest is None else form.longest * 3
    return SafeExpression(type(node)(this=form.sql), "text", nullable=form.nullable, longest=longest)


@rule(exp.Trim)
def _trim(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    if node.args.get("collation"):
        _refuse_form(node)
    form = scope.text(node.this)
    characters = node.args.get("expression")
    given = None if characters is None else literal(_constant(scope, characters))
    sql = exp.Trim(this=form.sql, expression=given, position=node.args.get("position"))
    return SafeExpression(sql, "text", nullable=form.nullable, longest=form.longest)


@rule(exp.Length)
def _length(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    if node.args.get("binary") or node.args.get("encoding"):
        _refuse_form(node)
    form = scope.text(node.this)
    high = None if form.longest is None else Fraction(form.longest)
    sql = cast_to(exp.Length(this=form.sql), "BIGINT")
    return SafeExpression(sql, "integer", Fraction(0), high, 0, form.nullable, stored="bigint")


@rule(exp.Substring)
def _substring(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    form = scope.text(node.this)
    start = scope.whole(node.args.get("start"), 1, MAX_REACH)
    given = node.args.get("length")
    length = None if given is None else scope.whole(given, 0, MAX_REACH)
    sql = exp.Substring(
        this=form.sql,
        start=exp.Literal.number(start),
        length=None if length is None else exp.Literal.number(length),
    )
    return SafeExpression(
        sql,
        "text",
        nullable=form.nullable,
        values=_pieces(form, start - 1, length),
        certain=form.certain,
        longest=_shorter(form, length),
    )


@rule(exp.Left)
def _left(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    form, length = scope.text(node.this), scope.whole(node.expression, 0, MAX_REACH)
    sql = exp.Left(this=form.sql, expression=exp.Literal.number(length))
    return SafeExpression(
        sql,
        "text",
        nullable=form.nullable,
        values=_pieces(form, 0, length),
        certain=form.certain,
        longest=_shorter(form, length),
    )


@rule(exp.Right)
def _right(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    form, length = scope.text(node.this), scope.whole(node.expression, 0, MAX_REACH)
    sql = exp.Right(this=form.sql, expression=exp.Literal.number(length))
    return SafeExpression(sql, "text", nullable=form.nullable, longest=_shorter(form, length))


def _pieces(form: SafeExpression, start: int, length: int | None) -> tuple[str, ...] | None:
    """The same piece of every known value; of ASCII only, where all databases count characters alike."""
    if form.values is None or not all(isinstance(value, str) and value.isascii() for value in form.values):
        return None
    end = None if length is None else start + length
    return tuple(dict.fromkeys(str(value)[start:end] for value in form.values))


def _shorter(form: SafeExpression, length: int | None) -> int | None:
    known = [limit for limit in (form.longest, length) if limit is not None]
    return min(known) if known else None


@rule(exp.DPipe)
def _pipe(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    parts = list(node.flatten())
    forms = _joinable(scope, parts, node)
    sql: exp.Expr = operand(forms[0].sql)
    for form in forms[1:]:
        sql = exp.DPipe(this=sql, expression=operand(form.sql), safe=True)
    return SafeExpression(
        sql, "text", nullable=any(form.nullable for form in forms), longest=sum(form.longest or 0 for form in forms)
    )


@rule(exp.Concat)
def _concat(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    forms = _joinable(scope, node.expressions, node)
    passes_over = bool(node.args.get("coalesce"))
    parts = [form.sql for form in forms]
    if passes_over:
        # Written out, because databases differ in what CONCAT does with NULL.
        empty = exp.Literal.string("")
        parts = [
            exp.Coalesce(this=form.sql, expressions=[copied(empty)]) if form.nullable else form.sql for form in forms
        ]
    sql: exp.Expr = operand(parts[0])
    for part in parts[1:]:
        sql = exp.DPipe(this=sql, expression=operand(part), safe=True)
    nullable = not passes_over and any(form.nullable for form in forms)
    return SafeExpression(sql, "text", nullable=nullable, longest=sum(form.longest or 0 for form in forms))


def _joinable(scope: ExpressionScope, parts: list[exp.Expr], node: exp.Expr) -> list[SafeExpression]:
    if len(parts) > MAX_PARTS:
        refuse(
            node,
            "too-wide",
            f"At most {MAX_PARTS} texts can be joined.",
            f"つなげられる文字列は {MAX_PARTS} 個までです。",
        )
    forms = []
    for part in parts:
        form = scope.text(part)
        if form.longest is None or form.longest > JOINED:
            sql = exp.Left(this=form.sql, expression=exp.Literal.number(JOINED))
            form = SafeExpression(sql, "text", nullable=form.nullable, longest=JOINED)
        forms.append(form)
    return forms


@rule(exp.Replace)
def _replace(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    form = scope.text(node.this)
    old, new = _constant(scope, node.expression), _constant(scope, node.args.get("replacement"))
    if not old or len(new.encode()) > len(old.encode()):
        refuse(
            node,
            "too-wide",
            "REPLACE may not make a text longer: the new part must not be longer than the old one.",
            "REPLACE で文字列を長くすることはできません。新しい部分は元の部分より長くできません。",
        )
    sql = exp.Replace(this=form.sql, expression=literal(old), replacement=literal(new))
    longest = None if form.longest is None else form.longest * len(old.encode())
    return SafeExpression(sql, "text", nullable=form.nullable, longest=longest)


@rule(exp.StartsWith)
def _starts_with(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    form = scope.text(node.this)
    sql = exp.StartsWith(this=form.sql, expression=literal(_constant(scope, node.expression)))
    return condition_form(sql, form.nullable)


@rule(exp.Like, exp.ILike)
def _like(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    form = scope.text(node.this)
    pattern = _constant(scope, node.expression)
    if "\\" in pattern:
        refuse(
            node,
            "unknown-operator",
            "Databases read \\ in patterns differently. Write LIKE 'a!%' ESCAPE '!'.",
            "パターンの中の \\ の意味はデータベースによって異なります。LIKE 'a!%' ESCAPE '!' と書いてください。",
        )
    _count_wildcards(pattern, node)
    sql = type(node)(this=operand(form.sql), expression=literal(pattern))
    if node.args.get("negate"):
        return condition_form(exp.Not(this=exp.Paren(this=sql)), form.nullable)
    return condition_form(sql, form.nullable)


@rule(exp.Escape)
def _escape(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    like = node.this
    if type(like) not in (exp.Like, exp.ILike):
        _refuse_form(node)
    form, pattern, mark = scope.text(like.this), _constant(scope, like.expression), _constant(scope, node.expression)
    rest = pattern.replace(mark * 2, "").replace(mark + "%", "").replace(mark + "_", "") if len(mark) == 1 else mark
    if len(mark) != 1 or mark in "%_\\" or "\\" in pattern or mark in rest:
        refuse(
            node,
            "unknown-operator",
            "ESCAPE names one character, and stands before %, _ or itself only.",
            "ESCAPE には 1 文字を書き、その文字は %、_、またはそれ自身の前にだけ置いてください。",
        )
    _count_wildcards(pattern, node)
    negated = like.args.get("negate")
    sql = exp.Escape(this=type(like)(this=operand(form.sql), expression=literal(pattern)), expression=literal(mark))
    return condition_form(exp.Not(this=exp.Paren(this=sql)) if negated else sql, form.nullable)


def _count_wildcards(pattern: str, node: exp.Expr) -> None:
    if pattern.count("%") > MAX_WILDCARDS:
        refuse(
            node,
            "too-wide",
            f"A pattern can have {MAX_WILDCARDS} signs %.",
            f"パターンに使える % は {MAX_WILDCARDS} 個までです。",
        )


def _constant(scope: ExpressionScope, node: exp.Expr | None) -> str:
    form = null() if node is None else scope.form(node, False)
    if not isinstance(form.constant, str):
        refuse(node, "not-a-constant", "Here a text must be written out.", "ここには文字列をそのまま書いてください。")
    return form.constant


def _refuse_form(node: exp.Expr) -> NoReturn:
    refuse(node, "unknown-function", "This form of the function is not known.", "この関数のこの書き方は使えません。")
