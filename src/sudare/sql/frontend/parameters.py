"""Parameters of a query, put into its text as literals, so that a plan sees all of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from sudare.bilingual import Words
from sudare.errors import ParameterError
from sudare.parameters import shown

__all__ = ["with_parameters"]

ALLOWED = Words(
    "None, a truth value, a number, text, a date or a datetime without a time zone",
    "None、真偽値、数、文字列、日付、時間帯のない日時のいずれか",
)


def with_parameters(sql: str, parameters: Sequence[object], dialect: str) -> str:
    """A query whose question marks are replaced by literals.

    Args:
        sql: the query, with a ``?`` for each parameter.
        parameters: in the order of the question marks.
        dialect: of the query.

    Raises:
        ParameterError: if there are more or fewer of them than question marks, or one is of another type.

    Example:
        >>> with_parameters("SELECT count(*) FROM t WHERE a = ? AND b <> '?'", ["it's"], "duckdb")
        "SELECT count(*) FROM t WHERE a = 'it''s' AND b <> '?'"
    """
    if isinstance(parameters, (str, bytes)) or not isinstance(parameters, Sequence):
        raise ParameterError("parameters", "execute", "a list of values, one for each '?'", shown(parameters))
    try:
        tokens = list(Dialect.get_or_raise(dialect).tokenizer().tokenize(sql))
    except (SqlglotError, IndexError, ValueError):
        if parameters:
            raise ParameterError(
                "sql", "execute", Words("a query whose quotes are closed", "引用符が閉じているクエリ"), shown(sql)
            ) from None
        return sql
    marks = [token for token in tokens if token.token_type is TokenType.PLACEHOLDER and token.text == "?"]
    if len(marks) != len(parameters):
        raise ParameterError(
            "parameters", "execute", f"as many values as the query has question marks ({len(marks)})", len(parameters)
        )
    written = sql
    for token, value in zip(reversed(marks), reversed(parameters), strict=True):
        written = written[: token.start] + _literal(value, dialect) + written[token.end + 1 :]
    return written


def _literal(value: object, dialect: str) -> str:
    text = _tree(value).sql(dialect)
    if isinstance(value, str):
        # A text must come back as it was, whatever it has in it.
        tokens = list(Dialect.get_or_raise(dialect).tokenizer().tokenize(text))
        if len(tokens) != 1 or tokens[0].token_type is not TokenType.STRING or tokens[0].text != value:
            raise ParameterError("parameters", "execute", "text that can be written as a literal", shown(value))
    return text


def _tree(value: object) -> exp.Expr:
    # Exact types: a subclass might print as anything.
    kind = type(value)
    if value is None:
        return exp.Null()
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if kind is int:
        return _number(str(value))
    if (isinstance(value, float) and kind is float and math.isfinite(value)) or (
        isinstance(value, Decimal) and kind is Decimal and value.is_finite() and abs(value.adjusted()) < 100
    ):
        return _number(format(Decimal(str(value)), "f"))
    if isinstance(value, str) and kind is str:
        return exp.Literal.string(value)
    if isinstance(value, datetime) and kind is datetime and value.tzinfo is None:
        return exp.cast(exp.Literal.string(value.isoformat(sep=" ")), "timestamp")
    if isinstance(value, date) and kind is date:
        return exp.cast(exp.Literal.string(value.isoformat()), "date")
    raise ParameterError("parameters", "execute", ALLOWED, shown(value))


def _number(text: str) -> exp.Expr:
    digits = text.removeprefix("-")
    return exp.Literal.number(digits) if digits == text else exp.paren(exp.Neg(this=exp.Literal.number(digits)))
