"""The table of everything an expression may be made of: one rule for each class of sqlglot's syntax tree.

A rule is the type rule, the interval rule and the total form of its class in one: it returns a `SafeExpression`. What has no rule
is refused, so a class that a later version of the parser adds is refused until somebody writes its rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from sqlglot import exp

from sudare.sql.expressions.facts import Lookup
from sudare.sql.expressions.safe_expression import SafeExpression, no_bounds, refuse_kind
from sudare.sql.frontend.refusals import refuse

__all__ = ["RULES", "ExpressionScope", "Rule", "rule"]

MAX_DEPTH = 100
"""How deep expressions may be nested."""

Rule = Callable[["ExpressionScope", exp.Expr, bool], SafeExpression]
"""Takes the scope, the node, and whether columns in it are to be held within their bounds."""

RULES: dict[type[exp.Expr], Rule] = {}


def rule(*classes: type[exp.Expr]) -> Callable[[Rule], Rule]:
    """Enter a rule for these classes, not for what is derived from them."""

    def enter(function: Rule) -> Rule:
        for one in classes:
            RULES[one] = function
        return function

    return enter


class ExpressionScope:
    """One examination.

    Args:
        lookup: what is known of columns.
        dialect: the SQL that the query is written in and run with.
        unknown: refuses a node without a rule.
    """

    def __init__(self, lookup: Lookup, dialect: str, unknown: Callable[[exp.Expr], NoReturn]) -> None:
        self.lookup = lookup
        self.dialect = dialect
        self._unknown = unknown
        self._depth = 0

    def form(self, node: exp.Expr, clip: bool) -> SafeExpression:
        """The form of a part.

        Args:
            node: the part.
            clip: whether its columns are to be held within their bounds, so that the form is certain.
        """
        found = RULES.get(type(node))
        if found is None:
            self._unknown(node)
        if self._depth >= MAX_DEPTH:
            refuse(
                node,
                "too-deep",
                f"Expressions can be nested {MAX_DEPTH} deep. Divide this one, for example with a subquery.",
                f"式の入れ子は {MAX_DEPTH} 段までです。副問い合わせなどで分けてください。",
            )
        self._depth += 1
        try:
            return found(self, node, clip)
        finally:
            self._depth -= 1

    def number(self, node: exp.Expr) -> SafeExpression:
        """A part that must be a number within known bounds."""
        form = self.form(node, True)
        if not form.is_number:
            refuse_kind(node, "not-a-number", "a number", "数")
        if not form.has_interval:
            no_bounds(node)
        return form

    def condition(self, node: exp.Expr) -> SafeExpression:
        """A part that must be true or false."""
        form = self.form(node, False)
        if form.kind != "boolean":
            refuse_kind(node, "not-a-condition", "a condition, such as x > 0,", "x > 0 のような条件")
        return form

    def text(self, node: exp.Expr) -> SafeExpression:
        """A part that must be text."""
        form = self.form(node, False)
        if form.kind != "text":
            _refuse_text(node, form.kind)
        return form

    def whole(self, node: exp.Expr | None, least: int, most: int) -> int:
        """A part that must be an integer written in the query."""
        form = None if node is None else self.form(node, True)
        if form is not None and type(form.constant) is int and least <= form.constant <= most:
            return form.constant
        return refuse(
            node,
            "not-a-constant",
            f"Here a whole number from {least} to {most} must be written out.",
            f"ここには {least} 以上 {most} 以下の整数をそのまま書いてください。",
        )


def _refuse_text(node: exp.Expr, kind: str) -> NoReturn:
    """Refuse what is no text, with the way to make it one where CAST offers one."""
    if kind == "other":
        refuse(
            node,
            "not-a-text",
            "Here text is needed, and this is of a type that only the database knows. Neither text functions nor CAST take it: "
            "use a column of plain text.",
            "ここには文字列が必要ですが、データベース固有の型です。文字列の関数にも CAST にも使えません。通常の文字列の列を"
            "使ってください。",
        )
    if kind == "float":
        refuse_kind(node, "not-a-text", "text, and no floating-point number,", "浮動小数点数ではなく文字列")
    refuse(
        node,
        "not-a-text",
        "Here text is needed. Numbers, dates and truth values become text with CAST(x AS VARCHAR).",
        "ここには文字列が必要です。数、日付、真偽値は CAST(x AS VARCHAR) で文字列になります。",
    )
