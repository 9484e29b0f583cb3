"""Sections of a file that people write: one wording for every mistake, and the nearest name for every typo."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn, cast

from sudare.bilingual import Words
from sudare.errors import ParameterError, PlanError
from sudare.storage.toml_text import find_unquoted, toml_key
from sudare.system.reasons import reason_of
from sudare.system.regular_files import read_regular_file

__all__ = ["Section", "nearest", "parse_toml", "place_in_japanese", "read_toml", "suggest"]

NOT_UTF8 = Words("it is not UTF-8", "UTF-8 ではありません")
PLACE = re.compile(r"at line (?P<line>\d+), column (?P<column>\d+)")
UNFINISHED = Words("something in it does not end", "終わっていない箇所があります")
MISWRITTEN = Words(
    "there is a mistake near line {line}, column {column}", "{line} 行 {column} 文字目付近に文法の誤りがあります"
)
PLAN = Words("plan", "計画")
MEANT = Words(" Did you mean '{name}'?", "「{name}」のことですか。")
MISSING = Words("is missing", "がありません")
MISSING_BUT = Words(
    "is missing. Is '{other}' a misspelling of '{key}'?", "がありません。「{other}」は「{key}」のことですか。"
)
UNQUOTED = Words(
    "{file}, line {number}: Japanese names and other letters than A to Z need quotes. Write {line} there{others}.",
    "{file} の {number} 行目: 日本語などの名前や値は引用符で囲んでください。次のように書きます: {line}{others}",
)
LIKEWISE = Words(", and likewise in line {lines}", "（{lines} 行目も同様）")
KINDS: dict[type, Words] = {
    str: Words("text in quotes", "引用符で囲んだ文字列"),
    bool: Words("true or false", " true または false "),
    int: Words("a whole number", "整数"),
    Decimal: Words("a number", "数値"),
    date: Words("a day, such as 2025-04-01", "2025-04-01 のような日付"),
    list: Words("a list in brackets", "角括弧のリスト"),
    dict: Words("a section of its own", "独立したセクション"),
}


def suggest(name: str, known: Iterable[str]) -> Words:
    """A hint at the known name that was probably meant; empty if none is near."""
    close = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return MEANT.format(name=close[0]) if close else Words.same("")


def nearest(name: str, known: Iterable[str]) -> tuple[str, str]:
    """What `suggest` says, in English and in Japanese."""
    words = suggest(name, known)
    return words.english, words.japanese


def read_toml(file: Path, what: Words, hint: Words) -> dict[str, object]:
    """The keys and values of a file, numbers as whole numbers or decimals.

    Args:
        file: where it is.
        what: what it is called.
        hint: how to get one, if it is not there.

    Raises:
        PlanError: if it cannot be read, or is not TOML.
    """
    try:
        text = read_regular_file(file).decode("utf-8")
    except FileNotFoundError:
        raise PlanError(
            f"There is no {what.english} '{file}'. {hint.english}",
            f"{what.japanese}「{file}」がありません。{hint.japanese}",
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        reason = NOT_UTF8 if isinstance(error, UnicodeDecodeError) else reason_of(error)
        raise PlanError(
            f"The {what.english} '{file}' cannot be read: {reason.english}.",
            f"{what.japanese}「{file}」を読めません: {reason.japanese}。",
        ) from None
    return parse_toml(text, file.name)


def parse_toml(text: str, name: str) -> dict[str, object]:
    """What a TOML text says, numbers as whole numbers or decimals.

    Args:
        text: of a file.
        name: of the file.

    Raises:
        PlanError: if it is not TOML, has a number that is absurdly long, or is nested too deeply.

    Example:
        >>> parse_toml("epsilon = 0.5", "plan.toml")
        {'epsilon': Decimal('0.5')}
    """
    try:
        found = tomllib.loads(text, parse_float=Decimal)
        _require_short(found)
        return found
    except tomllib.TOMLDecodeError as error:
        _refuse_unquoted(text, name)
        raise PlanError(
            f"{name} is not TOML: {error}.", f"{name} は TOML として読めません（{place_in_japanese(error)}）。"
        ) from None
    except (ValueError, ArithmeticError):  # Python takes no whole number of more than 4,300 digits
        raise PlanError(
            f"{name} has a number that is too long: whole numbers may have up to {sys.get_int_max_str_digits():,} digits.",
            f"{name} に長すぎる数があります。整数は {sys.get_int_max_str_digits():,} 桁までです。",
        ) from None
    except RecursionError:
        raise PlanError(
            f"{name} is nested too deeply: a list or a section holds too many others within each other.",
            f"{name} の入れ子が深すぎます。リストやセクションの入れ子を減らしてください。",
        ) from None


def _refuse_unquoted(text: str, name: str) -> None:
    """Say which line needs quotes, where that is what is wrong."""
    found = find_unquoted(text)
    if found is None:
        return
    others = LIKEWISE.format(lines=Words.joined(found.others)) if found.others else Words.same("")
    raise PlanError(UNQUOTED.format(file=name, number=found.number, line=found.line, others=others))


def place_in_japanese(error: tomllib.TOMLDecodeError) -> str:
    """Where a TOML file has a mistake. The parser's sentence is English; its last words are the place."""
    place = PLACE.search(str(error))
    return (UNFINISHED if place is None else MISWRITTEN.format(**place.groupdict())).japanese


def _require_short(value: object) -> None:
    """Refuse whole numbers that cannot be written out; in hexadecimal they may be longer than Python otherwise takes."""
    if isinstance(value, int):
        str(value)
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _require_short(part)


class Section:
    """One section of a plan or of another file, whose keys are taken one by one; what is left at the end is a typo.

    Args:
        values: the keys and values, as TOML gives them, numbers as whole numbers or decimals.
        name: the section's name, empty for the top.
        file: the name of the file, for messages.
        keys: all keys that a section of this kind may have.
        document: what the file as a whole is called.
    """

    def __init__(
        self, values: Mapping[str, Any], name: str, file: str, keys: Sequence[str], document: Words = PLAN
    ) -> None:
        self._values, self._name, self._file, self._document = dict(values), name, file, document
        self._known = tuple(keys)

    def has(self, key: str) -> bool:
        """Whether the key is there."""
        return key in self._values

    def is_text(self, key: str) -> bool:
        """Whether the key is there and holds text."""
        return isinstance(self._values.get(key), str)

    def is_whole(self, key: str) -> bool:
        """Whether the key is there and holds a whole number."""
        return type(self._values.get(key)) is int

    def is_table(self, key: str) -> bool:
        """Whether the key is there and holds a table of keys."""
        return isinstance(self._values.get(key), dict)

    def text(self, key: str, default: str | None = None) -> str:
        """A text that is not empty; the default may be."""
        value = self._take(key, str, default)
        if not str(value).strip() and value is not default:
            self.refuse(key, "must not be empty", "は空にできません")
        return str(value)

    def choice(self, key: str, choices: Sequence[str], default: str | None = None) -> str:
        """One of several texts."""
        value = str(self._take(key, str, default))
        if value not in choices:
            hint = suggest(value, choices)
            listed = ", ".join(f'"{choice}"' for choice in choices)
            self.refuse(
                key,
                f'must be one of {listed}, and is "{value:.60}".{hint.english}',
                f"は {listed} のいずれかです（指定: 「{value:.60}」）。{hint.japanese}",
            )
        return value

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        return bool(self._take(key, bool, default))

    def whole(self, key: str, default: int | None = None) -> int:
        """A whole number."""
        return int(self._take(key, int, default))

    def number(self, key: str) -> int | Decimal:
        """A whole number or a decimal, exactly as typed."""
        value = self._take(key, Decimal, None)
        return value if isinstance(value, Decimal) else int(value)

    def day(self, key: str) -> date:
        """A day, as TOML has it or as a text such as "2025-04-01"."""
        value = self._values.get(key)
        if isinstance(value, str):
            try:
                value = date.fromisoformat(value)
            except ValueError:
                value = None
        if key in self._values and type(value) is not date:
            self.refuse(key, "must be a day, such as 2025-04-01", "は 2025-04-01 のような日付です")
        if type(value) is date:
            self._values[key] = value
        return cast("date", self._take(key, date, None))

    def moment(self, key: str) -> datetime | None:
        """A day or a moment, as TOML has it or as a text such as "2025-04-01T08:10"; None if it is something else."""
        value = self._values.get(key)
        if key not in self._values:
            self._take(key, date, None)
        del self._values[key]
        if isinstance(value, str):
            try:
                return datetime.fromisoformat(value)
            except ValueError:
                return None
        if type(value) is date:
            return datetime(value.year, value.month, value.day)
        return value if isinstance(value, datetime) else None

    def items(self, key: str, default: Sequence[Any] | None = None) -> list[Any]:
        """A list."""
        return list(self._take(key, list, default))

    def texts(self, key: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """A list of texts; at least one, unless a default has none."""
        texts = self.items(key, default)
        if not all(isinstance(text, str) and text for text in texts) or (not texts and default is None):
            self.refuse(key, 'must be a list of texts, such as ["a", "b"]', 'は ["a", "b"] のような文字列のリストです')
        return tuple(texts)

    def mapping(self, key: str) -> dict[str, object]:
        """A section whose keys are free, empty if left out."""
        return dict(self._take(key, dict, {}))

    def section(self, key: str, keys: Sequence[str]) -> Section:
        """A section below this one, empty if left out."""
        name = f"{self._name}.{toml_key(key)}" if self._name else toml_key(key)
        return Section(self._take(key, dict, {}), name, self._file, keys, self._document)

    def sections(self, key: str, keys: Sequence[str]) -> list[Section]:
        """Several sections of one name, ``[[key]]``, at least one."""
        listed = [] if isinstance(self._values.get(key), dict) else self._take(key, list, None)
        if not listed or not all(isinstance(item, dict) for item in listed):
            self.refuse(key, f"must be written as [[{key}]] sections", f"は [[{key}]] の形で書いてください")
        return [
            Section(item, f"{key} {number}", self._file, keys, self._document)
            for number, item in enumerate(listed, start=1)
        ]

    def rest(self) -> dict[str, object]:
        """All keys that were not taken, which are settings of a mechanism."""
        left, self._values = self._values, {}
        return left

    def finish(self) -> None:
        """Refuse what was not taken."""
        for key in self._values:
            hint = suggest(key, self._known)
            known = ", ".join(self._known)
            where, where_ja = self._where()
            raise PlanError(
                f"{self._file}: {where} has no key '{key:.60}'.{hint.english} Keys here: {known}.",
                f"{self._file}: {where_ja}に「{key:.60}」というキーはありません。{hint.japanese}使えるキー: {known}。",
            )

    def refuse(self, key: str, english: str, japanese: str) -> NoReturn:
        """Say what is wrong with a key's value."""
        where, where_ja = self._where()
        raise PlanError(
            f"{self._file}: '{key}' in {where} {english}{'' if english.endswith(('.', '?')) else '.'}",
            f"{self._file}: {where_ja}の「{key}」{japanese}{'' if japanese.endswith(('。', '.', '?')) else '。'}",
        )

    def refuse_parameter(self, key: str, error: ParameterError) -> NoReturn:
        """Say in the words of the plan what a function does not take."""
        self.refuse(key, error.reason.english, error.reason.japanese)

    def _where(self) -> tuple[str, str]:
        if self._name:
            return f"section [{self._name}]", f"[{self._name}] "
        return f"the {self._document.english}", self._document.japanese

    def _take(self, key: str, kind: type, default: Any) -> Any:
        if key not in self._values:
            if default is None:
                meant = get_close_matches(key, [other for other in self._values if other not in self._known], n=1)
                words = MISSING_BUT.format(other=meant[0], key=key) if meant else MISSING
                self.refuse(key, words.english, words.japanese)
            return default
        value = self._values.pop(key)
        is_right = isinstance(value, (int, Decimal) if kind is Decimal else kind)
        if not is_right or (isinstance(value, bool) and kind is not bool):
            wanted = KINDS[kind]
            self.refuse(key, f"must be {wanted.english}", f"は{wanted.japanese}でなければなりません")
        return value
