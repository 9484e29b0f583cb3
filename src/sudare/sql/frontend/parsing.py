"""From the text of a query to its tree, or to a refusal that says where and why.

Nothing here knows about privacy: the text is one query, of moderate size, that means the same to everybody who reads it.
The steps, each of which refuses what the next one could not bear:

1. characters (`text_checks`): no control characters, nothing invisible;
2. tokens: one statement that begins like a query, brackets that match and are not nested too deeply, no parameters;
3. BigQuery's clause (`bigquery_clause`) is taken out of the tokens;
4. sqlglot parses the rest, with a limit on its work because some of its rules try twice at each level;
5. clauses (`statement_shape`): a list of what may be there, all else is refused.

Comments are dropped, all of them: sqlglot would read some as instructions, and none should get to the database.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from types import new_class
from typing import Any, NoReturn

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel, ParseError, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from sudare.bilingual import BETWEEN_SENTENCES, Words
from sudare.errors import ParameterError, QueryRefusedError
from sudare.sql.frontend.bigquery_clause import attach_bounds, extract_clause
from sudare.sql.frontend.options import Options
from sudare.sql.frontend.positions import refuse_at, shown
from sudare.sql.frontend.refusals import WRITTEN
from sudare.sql.frontend.statement_shape import check_shape
from sudare.sql.frontend.text_checks import check_characters, check_tokens

__all__ = ["DIALECTS", "Parsed", "parse_query"]

UNREADABLE = Words("The query cannot be read.", "問い合わせを解釈できません。")
UNREADABLE_NEAR = Words(
    "The query cannot be read near «{word}».",
    "「{word}」の付近で問い合わせを解釈できません。",
)
DOUBLE_QUOTES = Words("Names are put in double quotes here.", "名前は二重引用符で囲みます。")
SOMETHING_MISSING = Words(
    "A comma, a bracket or a word may be missing.",
    "コンマ、括弧、語が抜けていないか確かめてください。",
)

DIALECTS = ("duckdb", "postgres", "spark")
"""The kinds of SQL that queries may be written in, as sqlglot calls them."""

_MAX_BRACKET_DEPTH = 24
_MAX_SIGN_RUN_LENGTH = 12
_MAX_INDEX_RUN_LENGTH = 8
_MAX_TYPES = 6
_MAX_OPEN_JOINS = 12
"""Types or lists inside each other, for a parser that cannot be stopped."""
_WORK_PER_TOKEN = 4  # ordinary queries take 1.3 at most
_MIN_WORK = 2_000

_CLOSES = {
    TokenType.R_PAREN: TokenType.L_PAREN,
    TokenType.R_BRACKET: TokenType.L_BRACKET,
    TokenType.R_BRACE: TokenType.L_BRACE,
}
_OPENS = frozenset(_CLOSES.values())
_SIGNS = frozenset({TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE, TokenType.INTERVAL, TokenType.FROM})

_OTHER_STATEMENTS = {
    "ddl": "ALTER ANALYZE CACHE CHECKPOINT CLUSTER COMMENT CREATE DROP GRANT OPTIMIZE REFRESH REINDEX RENAME REVOKE TRUNCATE"
    " UNCACHE VACUUM",
    "dml": "DELETE INSERT MERGE REPLACE UPDATE UPSERT",
    "copy": "COPY EXPORT IMPORT LOAD UNLOAD",
    "attach": "ATTACH DETACH INSTALL UPDATE_EXTENSIONS USE",
    "setting": "ADD PRAGMA RESET SET",
    "call": "CALL DEALLOCATE DO EXECUTE PREPARE",
    "transaction": "ABORT BEGIN COMMIT END LISTEN LOCK NOTIFY ROLLBACK SAVEPOINT START",
    "explain": "EXPLAIN",
    "show": "DESC DESCRIBE LIST SHOW SUMMARIZE TABLE",
    "values": "VALUES",
    "pivot": "PIVOT UNPIVOT",
}
_REASON_OF = {word: reason for reason, words in _OTHER_STATEMENTS.items() for word in words.split()}


@dataclass(frozen=True)
class Parsed:
    """A query that was read.

    Attributes:
        text: as it was given.
        tree: a SELECT, or several put together by UNION, INTERSECT or EXCEPT; without comments and BigQuery's clause.
            Bounds of BigQuery's calls are in ``node.meta``; see `sudare.sql.frontend.bigquery_clause`.
        options: what BigQuery's clause said.
        dialect: the kind of SQL it was read as.
    """

    text: str
    tree: exp.Query
    options: Options
    dialect: str


def parse_query(text: str, dialect: str) -> Parsed:
    """Read one query.

    Args:
        text: of the query; a semicolon may end it.
        dialect: ``"duckdb"``, ``"postgres"`` or ``"spark"``. BigQuery's clause is understood in each.

    Returns:
        The tree, and what the query says of privacy.

    Raises:
        QueryRefusedError: if it is not one query that can be read. The reason is a stable short name, and there is a place
            in the text unless the refusal is about the whole of it.

    Example:
        >>> parse_query("SELECT count(*) FROM orders;", "duckdb").tree.sql()
        'SELECT COUNT(*) FROM orders'
        >>> parse_query("DROP TABLE orders", "duckdb")
        Traceback (most recent call last):
        ...
        sudare.errors.QueryRefusedError: Line 1, column 1: DROP is not offered: only queries are. Write a SELECT.
    """
    if not isinstance(text, str):
        raise ParameterError("text", "parse_query", "a str", text)
    if dialect not in DIALECTS:
        raise ParameterError(
            "dialect",
            "parse_query",
            Words(f"one of {', '.join(DIALECTS)}", f"{', '.join(DIALECTS)} のいずれか"),
            dialect,
        )
    check_characters(text)
    grammar = Dialect.get_or_raise(dialect)
    tokens = _tokenize(text, grammar)
    check_tokens(text, tokens)
    tokens = _one_statement(text, tokens, dialect)
    openers = _match_brackets(text, tokens)
    for token in tokens:
        token.comments.clear()
    extracted = extract_clause(text, tokens, openers)
    tree = _unwrapped(text, tokens, _parse(text, extracted.tokens, grammar))
    _keep_names(text, tree)
    attach_bounds(text, tree, extracted)
    return Parsed(text, tree, extracted.options, dialect)


def _tokenize(text: str, grammar: Dialect) -> list[Token]:
    tokenizer = grammar.tokenizer()
    try:
        return list(tokenizer.tokenize(text))
    except (SqlglotError, IndexError, ValueError):
        # The error quotes the query and has no place, but whatever has no end begins behind the last token.
        begin = tokenizer.tokens[-1].end + 1 if tokenizer.tokens else 0
        refuse_at(
            text,
            min(begin + len(text[begin:]) - len(text[begin:].lstrip()), len(text) - 1),
            "malformed",
            "A quote or a comment that begins here has no end. Close it; a quote inside a text is written twice.",
            "ここから始まる引用符か注釈が閉じられていません。閉じてください。文字列の中の引用符は二つ重ねます。",
        )


def _one_statement(text: str, tokens: list[Token], dialect: str) -> list[Token]:
    end = len(tokens)
    while end and tokens[end - 1].token_type is TokenType.SEMICOLON:
        end -= 1
    tokens = tokens[:end]
    if not tokens:
        refuse_at(
            text,
            None,
            "empty",
            "There is no query. Write a SELECT.",
            "問い合わせがありません。SELECT を書いてください。",
        )
    first = tokens[0]
    begins_like_a_query = first.token_type in (TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN) or (
        first.token_type is TokenType.FROM and dialect == "duckdb"
    )
    if not begins_like_a_query:
        word = shown(first.text.upper())
        refuse_at(
            text,
            first.start,
            _REASON_OF.get(first.text.upper().partition(" ")[0], "not-a-select"),
            f"{word} is not offered: only queries are. Write a SELECT.",
            f"{word} は使えません。使えるのは問い合わせだけです。SELECT を書いてください。",
        )
    for index, token in enumerate(tokens):
        if token.token_type is TokenType.SEMICOLON:
            refuse_at(
                text,
                next(later.start for later in tokens[index:] if later.token_type is not TokenType.SEMICOLON),
                "several-statements",
                "A second statement begins here. Ask one query at a time.",
                "ここから二つ目の文が始まっています。問い合わせは一つずつにしてください。",
            )
        if token.token_type is TokenType.PIPE_GT:
            refuse_at(
                text,
                token.start,
                "unsupported-clause",
                "Pipes (|>) are not offered. Write SELECT ... FROM ... WHERE ... GROUP BY.",
                "パイプ (|>) は使えません。SELECT ... FROM ... WHERE ... GROUP BY の形で書いてください。",
            )
    return tokens


def _match_brackets(text: str, tokens: Sequence[Token]) -> list[int]:
    """For each token, the index of the innermost bracket that is open there; refuses those without a partner."""
    open_brackets: list[int] = []
    openers: list[int] = []
    cases = signs = indexes = 0
    for index, token in enumerate(tokens):
        kind = token.token_type
        if kind in _CLOSES:
            if not open_brackets or tokens[open_brackets[-1]].token_type is not _CLOSES[kind]:
                _refuse_bracket(
                    text, token, "is closed here but was not opened", "は開かれていないのに閉じられています"
                )
            open_brackets.pop()
        openers.append(open_brackets[-1] if open_brackets else -1)
        if kind in _OPENS:
            open_brackets.append(index)
            follows_index = index > 0 and tokens[index - 1].token_type is TokenType.R_BRACKET
            indexes = indexes + 1 if follows_index else 0
        if kind is TokenType.CASE:
            cases += 1
        elif kind is TokenType.END:
            cases = max(cases - 1, 0)
        signs = signs + 1 if kind in _SIGNS else 0
        is_deep = len(open_brackets) + cases > _MAX_BRACKET_DEPTH
        if is_deep or signs > _MAX_SIGN_RUN_LENGTH or indexes > _MAX_INDEX_RUN_LENGTH:
            _refuse_depth(text, token.start)
    if open_brackets:
        _refuse_bracket(
            text, tokens[open_brackets[-1]], "is opened here but never closed", "が開かれたまま閉じられていません"
        )
    return openers


def _refuse_bracket(text: str, token: Token, english: str, japanese: str) -> NoReturn:
    refuse_at(
        text,
        token.start,
        "malformed",
        f"The bracket «{token.text}» {english}.",
        f"括弧「{token.text}」{japanese}。",
    )


def _refuse_depth(text: str, offset: int | None) -> NoReturn:
    refuse_at(
        text,
        offset,
        "too-deep",
        f"Brackets, CASEs or signs stand inside each other more than {_MAX_BRACKET_DEPTH} times. Write parts of it as WITH.",
        f"括弧、CASE、符号の入れ子が {_MAX_BRACKET_DEPTH} 段を超えています。一部を WITH に分けてください。",
    )


class _Quiet(logging.Filter):
    """Keeps sqlglot's warnings out of the log while this thread parses: they quote the query."""

    def __init__(self) -> None:
        super().__init__()
        self.here = threading.local()

    def filter(self, record: logging.LogRecord) -> bool:
        return not getattr(self.here, "is_parsing", False)

    @contextmanager
    def parsing(self) -> Iterator[None]:
        self.here.is_parsing = True
        try:
            yield
        finally:
            self.here.is_parsing = False


_quiet = _Quiet()
logging.getLogger("sqlglot").addFilter(_quiet)


class _TooMuchWorkError(Exception):
    """The parser went back and forth in the query too often."""


@cache
def _bounded_parser(grammar: type[Dialect]) -> type[Any] | None:
    """The parser of a dialect, but with an end: it stops when it has moved more often than its budget allows.

    Where a type could stand, sqlglot reads what is in the brackets twice. 20 types inside each other take it minutes.
    None where sqlglot was compiled, and its parser cannot be changed.
    """
    base: Any = grammar().parser_class

    def advance(self: Any, times: int = 1) -> None:
        self.work += 1
        if self.work > self.most_work:
            raise _TooMuchWorkError
        base._advance(self, times)

    try:
        found = new_class(
            "BoundedParser", (base,), {}, lambda names: names.update(work=0, most_work=0, _advance=advance)
        )
        found(dialect=grammar())
    except TypeError:
        return None
    return found


def _parse(text: str, tokens: list[Token], grammar: Dialect) -> exp.Expr:
    bounded = _bounded_parser(type(grammar))
    if bounded is None:
        _require_few_types(text, tokens, grammar)
        _require_few_open_joins(text, tokens)
        parser = grammar.parser(error_level=ErrorLevel.IMMEDIATE)
    else:
        parser = bounded(dialect=grammar, error_level=ErrorLevel.IMMEDIATE)
        parser.most_work = _MIN_WORK + _WORK_PER_TOKEN * len(tokens)
    try:
        with _quiet.parsing():
            trees: list[exp.Expr | None] = parser.parse(tokens, text)
    except RecursionError:
        _refuse_depth(text, None)
    except _TooMuchWorkError:
        _refuse_work(text)
    except ParseError as error:
        _refuse_malformed(text, error)
    except Exception:  # sqlglot meets malformed queries with errors of every kind
        refuse_at(text, None, "malformed", "The query cannot be read.", "問い合わせを解釈できません。")
    if len(trees) != 1 or trees[0] is None:
        refuse_at(text, None, "malformed", "The query cannot be read.", "問い合わせを解釈できません。")
    return trees[0]


def _require_few_types(text: str, tokens: Sequence[Token], grammar: Dialect) -> None:
    """Refuse types and lists inside each other, before a parser that cannot be stopped meets them."""
    types = grammar.parser_class.TYPE_TOKENS
    around: list[bool] = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.token_type in (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.LT):
            is_type = before is not None and before.token_type in types
            around.append(is_type or token.token_type == TokenType.L_BRACKET)
        elif token.token_type in (TokenType.R_PAREN, TokenType.R_BRACKET) and around:
            around.pop()
        if sum(around) > _MAX_TYPES:
            _refuse_work(text)


def _require_few_open_joins(text: str, tokens: Sequence[Token]) -> None:
    """Refuse joins that wait for their ON together, before a parser that cannot be stopped tries every way to nest them."""
    waiting = 0
    for token in tokens:
        if token.token_type == TokenType.JOIN:
            waiting += 1
        elif token.token_type in (TokenType.ON, TokenType.USING):
            waiting = 0
        if waiting > _MAX_OPEN_JOINS:
            _refuse_work(text)


def _refuse_work(text: str) -> NoReturn:
    refuse_at(
        text,
        None,
        "too-complex",
        "The query takes too long to read: types or lists stand inside each other many times. Write it more plainly.",
        "問い合わせの解釈に時間がかかりすぎます。型や一覧の入れ子を減らして、単純に書いてください。",
    )


def _refuse_malformed(text: str, error: ParseError) -> NoReturn:
    """Say where sqlglot stopped, in own words: its own have colours, and quote a good part of the query."""
    details = error.errors[0] if error.errors else {}
    word, line, column = details.get("highlight") or "", details.get("line"), details.get("col")
    found = UNREADABLE_NEAR.format(word=shown(word)) if word else UNREADABLE
    words = Words.joined([found, DOUBLE_QUOTES if word == "`" else SOMETHING_MISSING], BETWEEN_SENTENCES)
    if line is not None and column is not None and "\n" not in word:
        column = max(int(column) - max(len(word) - 1, 0), 1)
    raise QueryRefusedError("malformed", words.english, words.japanese, line=line, column=column) from None


def _keep_names(text: str, tree: exp.Query) -> None:
    """Note how functions are written: sqlglot has its own names for them, which nobody who asks would know."""
    for call in tree.find_all(exp.Func):
        start, end = call.meta.get("start"), call.meta.get("end")
        if start is not None and end is not None and text[start : end + 1].isidentifier():
            call.meta[WRITTEN] = text[start : end + 1]


def _unwrapped(text: str, tokens: Sequence[Token], tree: exp.Expr) -> exp.Query:
    """The query without brackets around all of it, after all of its clauses were checked."""
    check_shape(text, tokens, tree)
    while isinstance(tree, exp.Subquery) and not tree.alias:
        tree = tree.this
    if not isinstance(tree, exp.Select | exp.SetOperation):
        refuse_at(
            text,
            tokens[0].start,
            "not-a-select",
            "This is not a query. Write a SELECT.",
            "問い合わせではありません。SELECT を書いてください。",
        )
    tree.parent = None
    return tree
