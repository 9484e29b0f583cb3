"""The rules for a column's description: a known type, bounds and values that fit it, a step that is a power of ten."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NoReturn, get_args

from sudare.bilingual import Words
from sudare.engines.engine import Kind
from sudare.sections import Section
from sudare.storage.toml_text import toml_key

if TYPE_CHECKING:
    from sudare.engines.engine import ColumnType
    from sudare.sql.metadata.model import ColumnMetadata

__all__ = ["DOCUMENT", "MAX_ROWS", "MAX_VALUES", "Place", "require_column", "require_count"]

DOCUMENT = Words("metadata", "メタデータ")
MAX_VALUES = 10**6
MAX_ROWS = 2**31
MAX_TEXT_LENGTH = 10_000
MAX_DIGITS = 38
MAX_INTEGER = 2**63
NUMBERS = ("integer", "decimal", "float")
ORDERED = (*NUMBERS, "date", "timestamp")
WRITTEN = {
    "integer": Words("a whole number of 64 bits", "64 ビットの整数"),
    "decimal": Words("a number that fits the type", "型に収まる数値"),
    "float": Words("a number of at most 38 digits before and behind the point", "小数点の前後が 38 桁以内の数値"),
    "boolean": Words("true or false", "true または false"),
    "date": Words("a date such as 2026-11-16, without quotes", "引用符なしの日付（例: 2026-11-16）"),
    "timestamp": Words(
        "a time such as 2026-11-16T09:00:00, without quotes and without an offset",
        "引用符も時差もない日時（例: 2026-11-16T09:00:00）",
    ),
    "text": Words("text in quotes, of at most 10000 characters", "引用符で囲んだ 10000 文字以内の文字列"),
}


class Place:
    """A section of the metadata, for messages.

    Args:
        file: the name of the file.
        path: the names of the sections that lead to it.
    """

    def __init__(self, file: str, *path: str) -> None:
        self._section = Section({}, ".".join(map(toml_key, path)), file, (), DOCUMENT)

    def refuse(self, key: str, english: str, japanese: str) -> NoReturn:
        """Say what is wrong with a key's value.

        Raises:
            PlanError: always.
        """
        self._section.refuse(key, english, japanese)


def require_count(place: Place, key: str, number: object) -> None:
    """Refuse what is not a number of rows or groups."""
    if type(number) is not int or not 1 <= number <= MAX_ROWS:
        place.refuse(key, f"must be a whole number from 1 to {MAX_ROWS}", f"は 1〜{MAX_ROWS} の整数です")


def require_column(column: ColumnMetadata, place: Place) -> None:
    """Refuse a column whose description breaks a rule, as far as the column alone tells.

    Raises:
        PlanError: naming the key.
    """
    _require_type(column.type, place)
    _require_bounds(column, place)
    _require_values(column, place)
    if column.max_frequency is not None:
        require_count(place, "max_frequency", column.max_frequency)
        if column.unique:
            place.refuse(
                "max_frequency",
                "says the same as 'unique', or contradicts it: leave one of them out",
                "は「unique」と重複または矛盾します。一方を消してください",
            )


def _require_type(kind_of_column: ColumnType, place: Place) -> None:
    kind, digits, scale = kind_of_column.kind, kind_of_column.digits, kind_of_column.scale
    if kind not in get_args(Kind):
        place.refuse("type", "is not known", "は使えません")
    if kind != "decimal" or (digits is None and scale is None):
        return
    if digits is None or scale is None or not (1 <= digits <= MAX_DIGITS and 0 <= scale <= digits):
        place.refuse(
            "type",
            f"must have 1 to {MAX_DIGITS} digits, and not more than that behind the point: decimal(15,2)",
            f"の桁数は 1〜{MAX_DIGITS}、小数部はその桁数以内です（例: decimal(15,2)）",
        )


def _require_bounds(column: ColumnMetadata, place: Place) -> None:
    kind, low, high, step = column.type.kind, column.low, column.high, column.step
    if step is not None:
        _require_step(column.type, step, place)
    if low is None and high is None:
        if step is not None:
            place.refuse("step", "needs 'bounds' beside it", "には「bounds」も必要です")
        return
    if kind not in ORDERED:
        place.refuse("bounds", f"cannot be given for the type {kind}", f"は型 {kind} には指定できません")
    for bound in (low, high):
        if not _fits(bound, column.type):
            wanted = WRITTEN[kind]
            place.refuse(
                "bounds",
                f"must be two values, each {wanted.english}",
                f"は二つの値で、それぞれ{wanted.japanese}です",
            )
        if step is not None and not _is_multiple(bound, step.adjusted()):
            place.refuse("bounds", "must be multiples of 'step'", "は「step」の倍数にしてください")
    if low == high:
        place.refuse(
            "bounds",
            "are the same twice: every value would count as that one, and a sum would tell no more than a count. "
            "Widen them, or leave them out and ask for COUNT",
            "が同じ値です。すべての値が同じとみなされ、合計は件数と同じことしか示しません。幅を広げるか、消して COUNT を"
            "使ってください",
        )
    if low > high:  # type: ignore[operator]
        place.refuse("bounds", "must have the lower one first", "は小さい方を先に書いてください")
    if step is None and (kind == "float" or (kind == "decimal" and column.type.scale is None)):
        place.refuse(
            "step",
            "is missing: sums are exact only for numbers on a grid, so say what they are rounded to, such as step = 0.01",
            "がありません。合計を正確に求めるため、丸めの単位を指定してください（例: step = 0.01）",
        )


def _require_step(kind_of_column: ColumnType, step: object, place: Place) -> None:
    if kind_of_column.kind not in NUMBERS:
        place.refuse("step", "is for numbers only", "は数値の列だけに指定できます")
    if not isinstance(step, Decimal) or not _is_power_of_ten(step):
        place.refuse("step", "must be a power of ten, such as 0.01, 1 or 1000", "は 10 の累乗です（例: 0.01、1、1000）")
    if kind_of_column.scale is not None and step.adjusted() < -kind_of_column.scale:
        place.refuse("step", "is finer than the type", "が型より細かくなっています")


def _require_values(column: ColumnMetadata, place: Place) -> None:
    if column.values is None:
        return
    kind = column.type.kind
    if column.values_from is not None:
        place.refuse("values", "must be a list or come from a table, not both", "はリストか表の一方だけです")
    if kind in ("float", "other"):
        place.refuse(
            "values",
            f"cannot be listed for the type {kind}, whose values cannot be compared exactly",
            f"は、値を正確に比べられない型 {kind} には指定できません",
        )
    if not 1 <= len(column.values) <= MAX_VALUES:
        place.refuse("values", f"must be 1 to {MAX_VALUES}", f"は 1〜{MAX_VALUES} 個です")
    wanted = WRITTEN[kind]
    for value in column.values:
        if not _fits(value, column.type):
            place.refuse("values", f"must each be {wanted.english}", f"はそれぞれ{wanted.japanese}です")
    if len(set(column.values)) < len(column.values):
        place.refuse("values", "has one of them twice", "に同じ値が二度あります")
    low, high = column.low, column.high
    if low is not None and high is not None and not all(low <= value <= high for value in column.values):  # type: ignore[operator]
        place.refuse("values", "has one outside of 'bounds'", "に「bounds」の外の値があります")


def _fits(value: object, kind_of_column: ColumnType) -> bool:
    """Whether a value is one that the type may hold, and is written as such."""
    match kind_of_column.kind:
        case "integer":
            return type(value) is int and -MAX_INTEGER <= value < MAX_INTEGER
        case "decimal" | "float":
            if not isinstance(value, Decimal) or not value.is_finite():
                return False
            scale = MAX_DIGITS if kind_of_column.scale is None else kind_of_column.scale
            before = MAX_DIGITS if kind_of_column.digits is None else kind_of_column.digits - scale
            return value.is_zero() or (value.adjusted() < before and _is_multiple(value, -scale))
        case "boolean":
            return type(value) is bool
        case "date":
            return type(value) is date
        case "timestamp":
            return type(value) is datetime and value.tzinfo is None
        case "text":
            return type(value) is str and len(value) <= MAX_TEXT_LENGTH and not _unstorable(value)
        case _:
            return False


def _unstorable(text: str) -> bool:
    return "\0" in text or any("\ud800" <= character <= "\udfff" for character in text)


def _is_power_of_ten(number: Decimal) -> bool:
    if not number.is_finite() or number <= 0 or not -MAX_DIGITS <= number.adjusted() <= MAX_DIGITS:
        return False
    _, digits, _ = number.as_tuple()
    return digits[0] == 1 and not any(digits[1:])


def _is_multiple(number: Any, exponent: int) -> bool:
    """Whether a number is a whole multiple of a power of ten, without rounding anything."""
    if isinstance(number, int):
        return exponent <= 0 or number % 10**exponent == 0
    if number.is_zero():
        return True
    _, digits, last = number.as_tuple()
    zeros = next(count for count, digit in enumerate(reversed(digits)) if digit)
    return int(last) + zeros >= exponent
