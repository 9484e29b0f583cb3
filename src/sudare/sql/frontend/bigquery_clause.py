"""BigQuery's spelling of a private query: ``SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, ...)``.

The clause, and the bounds in calls such as ``SUM(x, contribution_bounds_per_group => (0, 10))``, are no SQL of the
databases that are asked. They are taken out of the tokens before the query is parsed; all other tokens keep their places.
After parsing, the bounds are put into ``node.meta`` of the call they belong to, where copies of a tree keep them::

    node.meta["contribution_bounds_per_group"]  # (Decimal('0'), Decimal('10'))

Calls that differ in bounds alone compare as equal (``node == other``), because sqlglot does not compare ``meta``.

The clause may stand at the outermost SELECT alone, and bounds in its own calls alone: an option holds for the whole
query, and nobody should have to guess which part of it was meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import NoReturn

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sudare.bilingual import Words
from sudare.sql.frontend.options import BOUNDS_PER_GROUP, BOUNDS_PER_ROW, Bounds, Options
from sudare.sql.frontend.positions import refuse_at, shown

__all__ = ["Extracted", "attach_bounds", "extract_clause"]

_CLAUSE = "DIFFERENTIAL_PRIVACY"
_OTHER_CLAUSES = ("ANONYMIZATION", "AGGREGATION_THRESHOLD")
_NOT_OFFERED = Words(" ({name} is not offered)", "（{name} は使えません）")
_OPTIONS = ("epsilon", "delta", "max_groups_contributed", "privacy_unit_column")
_TAKES_BOUNDS = {
    BOUNDS_PER_GROUP: frozenset({"AVG", "COUNT", "SUM"}),
    BOUNDS_PER_ROW: frozenset({"PERCENTILE_CONT", "VAR_POP", "STDDEV_POP", "APPROX_QUANTILES"}),
}
_MAX_GROUPS = 1_000_000
_MAX_EXPONENT = 30
_MAX_DIGITS = 40


@dataclass(frozen=True)
class _Bound:
    """Bounds that were found in a call: which kind, and where the call and the bounds stand in the text."""

    name: str
    value: Bounds
    call_at: int
    found_at: int


@dataclass(frozen=True)
class Extracted:
    """A query without BigQuery's words.

    Attributes:
        tokens: all others.
        options: what the clause said.
        bounds: what calls said.
        clause_at: where the clause began in the text; None if there was none.
    """

    tokens: list[Token]
    options: Options
    bounds: tuple[_Bound, ...]
    clause_at: int | None


def extract_clause(text: str, tokens: Sequence[Token], openers: Sequence[int]) -> Extracted:
    """Take the clause and the bounds out of the tokens.

    Args:
        text: of the query.
        tokens: all of it; brackets match.
        openers: for each token, the index of the innermost bracket that is open there; -1 outside of all.

    Raises:
        QueryRefusedError: ``privacy-clause``, ``privacy-option``, ``contribution-bounds`` or ``named-argument``.
    """
    dropped: set[int] = set()
    options, clause_at = Options(), None
    bounds: list[_Bound] = []
    for index, token in enumerate(tokens):
        if token.token_type is TokenType.SELECT and _type_at(tokens, index + 1) is TokenType.WITH:
            if clause_at is not None or openers[index] != -1:
                _refuse_place(text, tokens[index + 1].start)
            clause_at = tokens[index + 1].start
            end, options = _read_clause(text, tokens, index + 1)
            dropped.update(range(index + 1, end))
        elif token.token_type is TokenType.FARROW:
            end, bound = _read_bound(text, tokens, index, openers[index])
            dropped.update(range(index - 2, end))
            if any(other.call_at == bound.call_at for other in bounds):
                _refuse_bounds(text, bound.found_at, "are given twice", "が二度指定されています")
            bounds.append(bound)
    kept = [token for index, token in enumerate(tokens) if index not in dropped]
    return Extracted(kept, options, tuple(bounds), clause_at)


def attach_bounds(text: str, tree: exp.Query, extracted: Extracted) -> None:
    """Put the bounds into the calls of a tree that they were taken from.

    Raises:
        QueryRefusedError: ``privacy-clause`` or ``contribution-bounds``, if they do not stand at the outermost SELECT.
    """
    if extracted.clause_at is not None and not isinstance(tree, exp.Select):
        _refuse_place(text, extracted.clause_at)
    if not extracted.bounds:
        return
    calls = {node.meta["start"]: node for node in tree.find_all(exp.Func) if "start" in node.meta}
    for bound in extracted.bounds:
        call = calls.get(bound.call_at)
        if call is None or call.find_ancestor(exp.Query) is not tree:
            _refuse_bounds(
                text,
                bound.found_at,
                "may stand in aggregates of the outermost SELECT alone",
                "は一番外側の SELECT の集約関数にだけ書けます",
            )
        call.meta[bound.name] = bound.value


def _read_clause(text: str, tokens: Sequence[Token], start: int) -> tuple[int, Options]:
    """Read the clause from its WITH on; returns the index behind it."""
    name = _text_at(tokens, start + 1).upper()
    if name != _CLAUSE:
        other = _NOT_OFFERED.format(name=name) if name in _OTHER_CLAUSES else Words.same("")
        refuse_at(
            text,
            tokens[start].start,
            "privacy-clause",
            f"After SELECT WITH, only DIFFERENTIAL_PRIVACY OPTIONS(...) may stand{other.english}.",
            f"SELECT WITH の後に書けるのは DIFFERENTIAL_PRIVACY OPTIONS(...) だけです{other.japanese}。",
        )
    options = Options(is_private=True)
    if _text_at(tokens, start + 2).upper() != "OPTIONS" or _type_at(tokens, start + 3) is not TokenType.L_PAREN:
        return start + 2, options
    index = start + 4
    seen: set[str] = set()
    while _type_at(tokens, index) is not TokenType.R_PAREN:
        at = tokens[index].start
        option = tokens[index].text.lower()
        if option not in _OPTIONS or tokens[index].token_type is TokenType.STRING:
            _refuse_option(
                text,
                at,
                f"«{shown(tokens[index].text)}» is no option",
                f"「{shown(tokens[index].text)}」という指定はありません",
            )
        if option in seen:
            _refuse_option(text, at, f"«{option}» is given twice", f"「{option}」が二度指定されています")
        seen.add(option)
        end = index + 1
        while _type_at(tokens, end) not in (TokenType.COMMA, TokenType.R_PAREN, TokenType.L_PAREN):
            end += 1
        if _type_at(tokens, index + 1) is not TokenType.EQ or _type_at(tokens, end) is TokenType.L_PAREN:
            _refuse_option(text, at, f"«{option}» needs = and a value", f"「{option}」には = と値が必要です")
        options = _with_option(text, options, option, at, tokens[index + 2 : end])
        is_last = _type_at(tokens, end) is TokenType.R_PAREN
        if not is_last and _type_at(tokens, end + 1) is TokenType.R_PAREN:
            _refuse_option(text, tokens[end].start, "a comma stands before the end", "末尾に余分なコンマがあります")
        index = end if is_last else end + 1
    return index + 1, options


def _with_option(text: str, options: Options, option: str, at: int, value: Sequence[Token]) -> Options:
    if option == "privacy_unit_column":
        return replace(options, privacy_unit_column=_column(text, at, value))
    number = _number(text, value)
    if option == "epsilon":
        if number is None or number <= 0:
            _refuse_option(text, at, "«epsilon» must be a number above 0", "「epsilon」は 0 より大きい数です")
        return replace(options, epsilon=number)
    if option == "delta":
        if number is None or not 0 <= number < 1:
            _refuse_option(text, at, "«delta» must be a number from 0 to below 1", "「delta」は 0 以上 1 未満の数です")
        return replace(options, delta=number)
    if number is None or number != number.to_integral_value() or not 1 <= number <= _MAX_GROUPS:
        _refuse_option(
            text,
            at,
            f"«max_groups_contributed» must be a whole number from 1 to {_MAX_GROUPS:,}",
            f"「max_groups_contributed」は 1 から {_MAX_GROUPS:,} までの整数です",
        )
    return replace(options, max_groups_contributed=int(number))


def _column(text: str, at: int, value: Sequence[Token]) -> str:
    names = [token.text for token in value[::2]]
    is_path = (
        len(value) % 2 == 1
        and all(token.token_type is TokenType.DOT for token in value[1::2])
        and all(_is_name(token) and "." not in token.text for token in value[::2])
    )
    if not is_path:
        _refuse_option(
            text, at, "«privacy_unit_column» must be the name of a column", "「privacy_unit_column」は列の名前です"
        )
    return ".".join(names)


def _is_name(token: Token) -> bool:
    return token.token_type is TokenType.IDENTIFIER or token.text.replace("$", "_").isidentifier()


def _number(text: str, value: Sequence[Token]) -> Decimal | None:
    """A number of at most 40 digits that is neither huge nor tiny, as it was typed; None if it is anything else."""
    if not value or len(value) > 3:
        return None
    *signs, digits = value
    if digits.token_type is not TokenType.NUMBER or [sign.text for sign in signs] not in (
        [],
        ["-"],
        ["+"],
        ["."],
        ["-", "."],
        ["+", "."],
    ):
        return None
    written = text[value[0].start : digits.end + 1]
    if len(written) > _MAX_DIGITS or not written.isascii() or "_" in written or " " in written[1:]:
        return None
    try:
        number = Decimal(written.replace(" ", ""))
    except InvalidOperation:
        return None
    is_moderate = number.is_finite() and (number == 0 or abs(number.adjusted()) <= _MAX_EXPONENT)
    return number if is_moderate else None


def _read_bound(text: str, tokens: Sequence[Token], arrow: int, opener: int) -> tuple[int, _Bound]:
    """Read ``, name => (low, high)`` around its arrow; returns the index behind it."""
    name_token = tokens[arrow - 1] if arrow > 0 else tokens[arrow]
    name, at = name_token.text.lower(), name_token.start
    if name not in _TAKES_BOUNDS:
        refuse_at(
            text,
            at,
            "named-argument",
            f"There is no argument «{shown(name_token.text)}»; {BOUNDS_PER_GROUP} and {BOUNDS_PER_ROW} are the only ones"
            " with names.",
            f"引数「{shown(name_token.text)}」はありません。名前付きの引数は {BOUNDS_PER_GROUP} と {BOUNDS_PER_ROW} だけです。",
        )
    call = tokens[opener - 1] if opener > 0 else None
    if call is None or call.text.upper() not in _TAKES_BOUNDS[name] or call.token_type is TokenType.STRING:
        offered = ", ".join(sorted(_TAKES_BOUNDS[name]))
        _refuse_bounds(
            text, at, f"({name}) can be given to {offered} alone", f"({name}) を指定できるのは {offered} だけです"
        )
    comma_before = arrow >= 3 and tokens[arrow - 2].token_type is TokenType.COMMA and opener < arrow - 3
    comma, end = arrow + 1, arrow + 1
    while _type_at(tokens, end) not in (TokenType.R_PAREN, None):
        comma = end if tokens[end].token_type is TokenType.COMMA and comma == arrow + 1 else comma
        end += 1
    low = _number(text, tokens[arrow + 2 : comma])
    high = _number(text, tokens[comma + 1 : end])
    is_pair = _type_at(tokens, arrow + 1) is TokenType.L_PAREN and comma > arrow + 1
    if not comma_before or not is_pair or low is None or high is None or low > high:
        _refuse_bounds(
            text,
            at,
            "must be two numbers behind the value, the smaller one first",
            "は値の後に、小さい順に二つの数で書きます",
        )
    if _type_at(tokens, end + 1) is not TokenType.R_PAREN:
        _refuse_bounds(text, at, "must be the last argument", "は最後の引数です")
    return end + 1, _Bound(name, (low, high), call.start, at)


def _type_at(tokens: Sequence[Token], index: int) -> TokenType | None:
    return tokens[index].token_type if index < len(tokens) else None


def _text_at(tokens: Sequence[Token], index: int) -> str:
    return tokens[index].text if index < len(tokens) else ""


def _refuse_place(text: str, at: int) -> NoReturn:
    refuse_at(
        text,
        at,
        "privacy-clause",
        "WITH DIFFERENTIAL_PRIVACY holds for the whole query: write it once, at the outermost SELECT, and not where queries"
        " are put together by UNION, INTERSECT or EXCEPT.",
        "WITH DIFFERENTIAL_PRIVACY は問い合わせ全体に効きます。一番外側の SELECT に一度だけ書いてください。"
        "UNION、INTERSECT、EXCEPT でつないだ問い合わせには書けません。",
    )


def _refuse_option(text: str, at: int, english: str, japanese: str) -> NoReturn:
    refuse_at(
        text,
        at,
        "privacy-option",
        f"In OPTIONS, {english}. Options are epsilon, delta, max_groups_contributed and privacy_unit_column.",
        f"OPTIONS の{japanese}。指定できるのは epsilon、delta、max_groups_contributed、privacy_unit_column です。",
    )


def _refuse_bounds(text: str, at: int, english: str, japanese: str) -> NoReturn:
    refuse_at(
        text,
        at,
        "contribution-bounds",
        f"Contribution bounds {english}, such as SUM(x, contribution_bounds_per_group => (0, 10)).",
        f"寄与の範囲{japanese} (例: SUM(x, contribution_bounds_per_group => (0, 10)))。",
    )
