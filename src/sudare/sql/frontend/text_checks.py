"""What the characters and words of a query may be, before anybody asks what they mean.

A query is read by two people and two programs: its author, its reviewer, the parser, and the database. A character that one of
them does not see, or takes for another one, makes them read different queries. So characters that cannot be seen are refused, and
letters that only look like others are refused in names without quotes. Texts in quotes may have any letters; they never mean
anything but themselves.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NoReturn

from sqlglot.tokenizer_core import Token, TokenType

from sudare.sql.frontend.positions import refuse_at, shown

__all__ = ["MAX_TEXT_LENGTH", "MAX_TOKENS", "check_characters", "check_tokens"]

MAX_TEXT_LENGTH = 256 * 1024
"""Characters of a query."""

MAX_TOKENS = 20_000
"""Words, numbers, texts in quotes and signs of a query."""

_MAX_NAME_LENGTH = 255
_MAX_NUMBER_LENGTH = 60

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")

_UNUSUAL_LITERALS = frozenset(
    {
        TokenType.BIT_STRING,
        TokenType.BYTE_STRING,
        TokenType.HEREDOC_STRING,
        TokenType.HEX_STRING,
        TokenType.NATIONAL_STRING,
        TokenType.RAW_STRING,
        TokenType.UNICODE_STRING,
    }
)
_ENDS_A_VALUE = frozenset(
    {
        TokenType.IDENTIFIER,
        TokenType.STRING,
        TokenType.NUMBER,
        TokenType.R_PAREN,
        TokenType.R_BRACKET,
        TokenType.R_BRACE,
        TokenType.L_BRACKET,  # of a slice such as a[:2]
    }
)
_BEFORE_A_VALUE = frozenset(
    (
        "SELECT",
        "DISTINCT",
        "ALL",
        "FROM",
        "JOIN",
        "ON",
        "WHERE",
        "AND",
        "OR",
        "NOT",
        "IN",
        "LIKE",
        "BETWEEN",
        "CASE",
        "WHEN",
        "THEN",
        "ELSE",
        "HAVING",
        "BY",
        "LIMIT",
        "OFFSET",
    )
)


def check_characters(text: str) -> None:
    """Refuse a query that is too long, or has characters that have no place in any text.

    Raises:
        QueryRefusedError: ``too-long``, ``not-unicode``, ``control-character`` or ``bidi-character``.
    """
    if len(text) > MAX_TEXT_LENGTH:
        refuse_at(
            text,
            None,
            "too-long",
            f"The query has more than {MAX_TEXT_LENGTH:,} characters. Ask for less at once, or compare with a public table"
            " instead of a long list.",
            f"問い合わせが {MAX_TEXT_LENGTH:,} 文字を超えています。"
            "分けて問い合わせるか、長い一覧の代わりに公開の表と結合してください。",
        )
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        refuse_at(
            text,
            error.start,
            "not-unicode",
            "Half of a character stands here (an unpaired surrogate). Save the query as UTF-8 and read it as UTF-8.",
            "文字の半分だけがあります (対になっていないサロゲート)。UTF-8 で保存し、UTF-8 で読んでください。",
        )
    if found := _CONTROL.search(text):
        refuse_at(
            text,
            found.start(),
            "control-character",
            f"A control character (U+{ord(found.group()):04X}) stands here. Delete it; only tabs and line breaks may be used.",
            f"制御文字 (U+{ord(found.group()):04X}) があります。削除してください。使えるのはタブと改行だけです。",
        )
    if found := _BIDI.search(text):
        refuse_at(
            text,
            found.start(),
            "bidi-character",
            f"A character that turns the direction of writing (U+{ord(found.group()):04X}) stands here: the query would be"
            " seen in another order than it is read. Delete it.",
            f"書字方向を変える文字 (U+{ord(found.group()):04X}) があります。"
            "見える順序と読まれる順序が変わるので、削除してください。",
        )


def check_tokens(text: str, tokens: Sequence[Token]) -> None:
    """Refuse words and literals that could be read in two ways, templates and parameters.

    Args:
        text: of the query.
        tokens: of the text, in order, without comments among them.

    Raises:
        QueryRefusedError: ``too-long``, ``invisible-character``, ``look-alike-character``, ``name-not-normalized``,
            ``literal-form``, ``hint``, ``template`` or ``parameter``.
    """
    if len(tokens) > MAX_TOKENS:
        refuse_at(
            text,
            tokens[MAX_TOKENS].start,
            "too-long",
            f"The query has more than {MAX_TOKENS:,} words and signs. Ask for less at once, or compare with a public"
            " table instead of a long list.",
            f"問い合わせの語と記号が {MAX_TOKENS:,} 個を超えています。"
            "分けて問い合わせるか、長い一覧の代わりに公開の表と結合してください。",
        )
    if not text.isascii():
        _check_invisible(text, tokens)
    previous: Token | None = None
    for token in tokens:
        _check_word(text, token)
        _check_literal(text, previous, token)
        _check_hint(text, previous, token)
        _check_template(text, previous, token)
        previous = token


def _check_invisible(text: str, tokens: Sequence[Token]) -> None:
    """Zero-width and other characters without a shape may stand in texts in quotes alone."""
    quoted = bytearray(len(text))
    for token in tokens:
        if token.token_type is TokenType.STRING:
            quoted[token.start : token.end + 1] = b"\x01" * (token.end + 1 - token.start)
    for run in _NOT_ASCII.finditer(text):
        for offset in range(run.start(), run.end()):
            if not quoted[offset] and unicodedata.category(text[offset]) in ("Cf", "Co", "Cn", "Zl", "Zp"):
                refuse_at(
                    text,
                    offset,
                    "invisible-character",
                    f"A character that cannot be seen (U+{ord(text[offset]):04X}) stands here. Delete it.",
                    f"目に見えない文字 (U+{ord(text[offset]):04X}) があります。削除してください。",
                )


def _check_word(text: str, token: Token) -> None:
    word = token.text
    if token.token_type is TokenType.STRING:
        return
    if len(word) > (_MAX_NUMBER_LENGTH if token.token_type is TokenType.NUMBER else _MAX_NAME_LENGTH):
        refuse_at(
            text,
            token.start,
            "too-long",
            f"Names may have {_MAX_NAME_LENGTH} characters and numbers {_MAX_NUMBER_LENGTH}; this one has more.",
            f"名前は {_MAX_NAME_LENGTH} 文字、数は {_MAX_NUMBER_LENGTH} 文字までですが、それより長いものがあります。",
        )
    if token.token_type is TokenType.IDENTIFIER and not word.strip():
        refuse_at(text, token.start, "malformed", "A name in quotes is empty.", "引用符の中の名前が空です。")
    if word.isascii():
        if token.token_type is TokenType.IDENTIFIER and not word.isprintable():
            _refuse_look_alike(text, token.start, word)
        return
    if not unicodedata.is_normalized("NFC", word):
        refuse_at(
            text,
            token.start,
            "name-not-normalized",
            f"The letters of «{shown(word)}» are not in the normal form (NFC), so they may differ from letters that look the"
            " same. Type the name again on a keyboard.",
            f"「{shown(word)}」の文字が正規形 (NFC) ではありません。"
            "同じに見える別の文字と区別できないので、名前を打ち直してください。",
        )
    if token.token_type is TokenType.IDENTIFIER:
        if not all(
            letter == " " or unicodedata.category(letter)[0] not in "CZ" for letter in word.replace("\u3000", " ")
        ):
            _refuse_look_alike(text, token.start, word)
        return
    plain = word.replace("$", "_")
    for index, letter in enumerate(plain):
        if not f"_{letter}".isidentifier():
            _refuse_look_alike(text, token.start + index, letter)
    if not unicodedata.is_normalized("NFKC", word) or len(word.lower()) != len(word):
        _refuse_look_alike(text, token.start, word)


def _refuse_look_alike(text: str, offset: int, word: str) -> NoReturn:
    refuse_at(
        text,
        offset,
        "look-alike-character",
        f"«{shown(word)}» is not, or has, a letter or sign of SQL although it may look like one. Write full-width signs and"
        " typographic quotes as plain ones, or put the name in quotes if it is really written so.",
        f"「{shown(word)}」は SQL の文字や記号に似ていますが別のものです。全角の記号や引用符は半角にしてください。"
        "本当にそう書く名前なら引用符で囲んでください。",
    )


def _check_literal(text: str, previous: Token | None, token: Token) -> None:
    """Refuse literals that databases read differently.

    ``1_000`` is elsewhere 1 with the name ``_000``, and ``'it''s'`` in older versions of Spark two texts in a row.
    """
    is_glued = previous is not None and previous.end + 1 == token.start
    is_unusual = token.token_type in _UNUSUAL_LITERALS or (
        is_glued
        and previous is not None
        and (
            (token.token_type is TokenType.STRING and previous.token_type in (TokenType.VAR, TokenType.STRING))
            or (previous.token_type is TokenType.NUMBER and _is_word(token))
        )
    )
    if token.token_type is TokenType.VAR and token.text[0].isdigit():
        is_unusual = True
    if is_unusual:
        refuse_at(
            text,
            previous.start
            if is_glued and previous is not None and token.token_type not in _UNUSUAL_LITERALS
            else token.start,
            "literal-form",
            "Databases read this form of a number or text differently. Write numbers as 1000, 0.5 or 1e-6 and texts in plain"
            " single quotes.",
            "この書き方の数や文字列は、データベースによって読み方が違います。"
            "数は 1000、0.5、1e-6 のように、文字列は単純な一重引用符で書いてください。",
        )


def _is_word(token: Token) -> bool:
    return token.text[:1].isalpha() or token.text[:1] == "_"


def _check_hint(text: str, previous: Token | None, token: Token) -> None:
    is_hint = token.token_type is TokenType.HINT
    start = token.start
    for comment in token.comments:
        if comment.lstrip().startswith("+"):
            is_hint = True
            found = text.find("/*", previous.end + 1 if previous is not None else 0)
            start = found if found >= 0 else start
    if is_hint:
        refuse_at(
            text,
            start,
            "hint",
            "Hints to the database (/*+ ... */) are not passed on. Delete it; for a comment, leave out the plus.",
            "データベースへのヒント (/*+ ... */) は渡されません。削除してください。注釈なら + を取ってください。",
        )


def _check_template(text: str, previous: Token | None, token: Token) -> None:
    kind = token.token_type
    if kind in (TokenType.BLOCK_START, TokenType.BLOCK_END) or (
        kind is TokenType.L_BRACE and previous is not None and previous.token_type is TokenType.L_BRACE
    ):
        refuse_at(
            text,
            previous.start if previous is not None and kind is TokenType.L_BRACE else token.start,
            "template",
            "A template is not a query yet. Fill it in first, and ask the finished text.",
            "ひな形のままでは問い合わせになりません。値を埋めた文を渡してください。",
        )
    starts_a_value = previous is None or (
        previous.token_type not in _ENDS_A_VALUE
        and (not _is_word(previous) or previous.text.upper() in _BEFORE_A_VALUE)
    )
    is_parameter = kind in (TokenType.PLACEHOLDER, TokenType.SESSION_PARAMETER) or (
        kind is TokenType.PARAMETER and token.text == "$"
    )
    if is_parameter or (starts_a_value and kind in (TokenType.COLON, TokenType.MOD)):
        refuse_at(
            text,
            token.start,
            "parameter",
            "There are no parameters. Write the value itself: a number, or a text in single quotes.",
            "パラメータは使えません。値そのもの (数、または一重引用符の文字列) を書いてください。",
        )
