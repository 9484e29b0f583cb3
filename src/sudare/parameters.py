"""Reading parameters: one wording for every refusal, exact numbers out of whatever the user typed."""

from __future__ import annotations

import math
import numbers
import re
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sudare.bilingual import Words
from sudare.errors import Described, ParameterError

__all__ = [
    "Rational",
    "describe_array",
    "exact_fraction",
    "exact_integer",
    "exact_text",
    "is_exact_number",
    "plain_number",
    "read_chance",
    "read_flag",
    "show_fraction",
    "shown",
]

Rational = int | float | Fraction | Decimal | str
"""What a user may type where an exact number is wanted; a text is a decimal or a quotient, such as ``"0.2"`` or ``"1/3"``."""

CHANCE = Words("a number above 0 and below 1", "0 より大きく 1 より小さい数")
CHANCE_WITH_ENDS = Words("a number from 0 to 1", "0 以上 1 以下の数")
MIN_NORMAL = Fraction(sys.float_info.min)
MAX_FLOAT = Fraction(sys.float_info.max)
MIN_PLAIN_POWER = -6
"""Of ten: from a millionth on, numbers are written with their zeros."""

MAX_BITS = 4096
"""Of a numerator or denominator that a user hands in; far more than any decimal that a float can show."""

MAX_TEXT_LENGTH = 1_000
_QUOTIENT = re.compile(r"[+-]?[0-9]+/[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")


def exact_fraction(
    value: object,
    parameter: str,
    function: str,
    requirement: str | Words,
    *,
    error: type[ParameterError] = ParameterError,
) -> Fraction:
    """Read a finite number exactly.

    A float is read as the shortest decimal that prints the same, so that ``0.1`` means one tenth: this is what was
    typed, and three shares of ``0.1`` then make ``0.3``. A text is a decimal or a quotient of whole numbers.

    Args:
        value: what the user typed.
        parameter: name of the parameter that it was typed for.
        function: name of the function that has it.
        requirement: what is allowed, as a phrase that follows "must be".
        error: the exception to raise.

    Raises:
        ParameterError: if the value is a boolean, not a number, not finite, subnormal, or beyond the range of a float.

    Example:
        >>> exact_fraction("0.2", "t", "Closeness", "a number") == exact_fraction(0.2, "t", "Closeness", "a number")
        True
        >>> exact_fraction("1/3", "rate", "sample_by_coins", "a number")
        Fraction(1, 3)
    """
    result = _plain_number(value)
    if result is None:
        raise error(parameter, function, requirement, shown(value))
    magnitude = abs(result)
    if magnitude > MAX_FLOAT or 0 < magnitude < MIN_NORMAL:
        raise error(parameter, function, requirement, shown(value))
    return result


def _plain_number(value: object) -> Fraction | None:
    """The number that a value stands for; None if it stands for no finite one."""
    if type(value) is int and value.bit_length() <= MAX_BITS:  # nearly every one: all that follows would say the same
        return Fraction(value)
    if _is_boolean(value) or type(value).__name__ == "timedelta64":
        return None
    if isinstance(value, str):
        return _number_in_text(value)
    if isinstance(value, numbers.Rational):
        numerator, denominator = int(value.numerator), int(value.denominator)
        if max(numerator.bit_length(), denominator.bit_length()) > MAX_BITS:
            return None
        return Fraction(numerator, denominator)
    if isinstance(value, Decimal):
        if not value.is_finite() or len(value.as_tuple().digits) > MAX_BITS:
            return None
        return Fraction(value) if not value or abs(value.adjusted()) < MAX_BITS // 4 else None
    if isinstance(value, numbers.Real):
        # str() of a NumPy scalar is the shortest decimal in its own precision, repr() that of a float.
        return Fraction(str(value)) if math.isfinite(value) else None
    return None


def is_exact_number(value: object) -> bool:
    """Whether a value is a finite number as users type it; see `exact_fraction`."""
    return _plain_number(value) is not None


def _number_in_text(text: str) -> Fraction | None:
    """The number that a text of ASCII digits is; none with spaces, separators or words in it, such as "nan"."""
    if len(text) > MAX_TEXT_LENGTH:
        return None
    if _DECIMAL.fullmatch(text):
        return _plain_number(Decimal(text))
    if not _QUOTIENT.fullmatch(text) or not int(text.partition("/")[2]):
        return None
    return _plain_number(Fraction(text))


def _is_boolean(value: object) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")


def shown(value: object) -> object:
    """What an error message may show of a value: numbers and short text, but only the type of anything larger.

    A count table handed in by mistake must not be printed.
    """
    if value is None or isinstance(value, (str, numbers.Number, Decimal)) or _is_boolean(value):
        return value
    return _of_type(value)


def _of_type(value: object) -> Described:
    name = type(value).__name__
    return Described(Words(f"an object of type {name}", f"{name} 型の値"))


def exact_integer(
    value: Any,
    parameter: str,
    function: str,
    requirement: str | Words,
    *,
    smallest: int | None = None,
    largest: int | None = None,
    error: type[ParameterError] = ParameterError,
    hint: str | Words = "",
) -> int:
    """Read a whole number within bounds.

    Raises:
        ParameterError: if the value is a boolean, not a whole number, or out of bounds.
    """
    is_plain = type(value) is int and value.bit_length() <= MAX_BITS
    if not is_plain and (not isinstance(value, numbers.Integral) or _plain_number(value) is None):
        raise error(parameter, function, requirement, shown(value), hint)
    number = int(value)
    if (smallest is not None and number < smallest) or (largest is not None and number > largest):
        raise error(parameter, function, requirement, value, hint)
    return number


def read_chance(
    value: object, parameter: str, function: str, *, with_ends: bool = False, words: str | Words | None = None
) -> float:
    """A probability, as whatever kind of number it was typed.

    Args:
        value: what the user typed.
        parameter: name of the parameter that it was typed for.
        function: name of the function that has it.
        with_ends: whether 0 and 1 are allowed.
        words: what is allowed, where another phrase says more.

    Raises:
        ParameterError: if it is none.

    Example:
        >>> read_chance("0.95", "level", "intervals")
        0.95
    """
    requirement = words or (CHANCE_WITH_ENDS if with_ends else CHANCE)
    number = _plain_number(value)  # a chance may be as small as it likes
    if number is None or not 0 <= number <= 1 or (number in (0, 1) and not with_ends):
        raise ParameterError(parameter, function, requirement, shown(value))
    return float(number)


def read_flag(value: object, parameter: str, function: str) -> bool:
    """True or False, and nothing that merely counts as one of them.

    Raises:
        ParameterError: if it is neither.
    """
    if not isinstance(value, bool):
        raise ParameterError(parameter, function, Words("True or False", "True または False"), shown(value))
    return value


def show_fraction(value: Fraction, digits: int = 6) -> str:
    """A fraction as people write it: exactly if that is short, else rounded and marked with ``~``.

    Budgets and deltas are written by this function wherever people read them in lines of text, so that a delta of a millionth
    is 0.000001 in every command and every message. Smaller numbers are written as 2.5e-11.

    Example:
        >>> from fractions import Fraction
        >>> show_fraction(Fraction(1, 10**6)), show_fraction(Fraction(1, 3)), show_fraction(Fraction(1, 10**12))
        ('0.000001', '~0.333333', '1e-12')
    """
    if value.denominator == 1 and abs(value.numerator) < 10**12:
        return str(value.numerator)
    if abs(value) > MAX_FLOAT:
        return "~1e308 or more"
    rounded = f"{float(value):.{digits}g}"
    written = plain_number(rounded)
    return written if Fraction(rounded) == value else f"~{written}"


def plain_number(text: str) -> str:
    """A number that Python wrote with an exponent, as people write it: with zeros where there are not too many.

    Example:
        >>> plain_number("2.5e-06"), plain_number("1e-09"), plain_number("1.5e+20")
        ('0.0000025', '1e-9', '1.5e20')
    """
    digits, _, power = text.partition("e")
    if not power:
        return text
    if MIN_PLAIN_POWER <= int(power) < 0:
        return format(Decimal(text), "f")
    return f"{digits}e{int(power)}"


def exact_text(value: Fraction) -> Described:
    """A fraction without loss, as Python reads it: as a decimal if that is short, else as a quotient."""
    text = show_fraction(value, digits=12)
    if not text.startswith("~"):
        return Described(Words.same(text))
    too_long = max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS
    return Described(Words.same(text if too_long else repr(value)))


def describe_array(value: object) -> Described:
    """How an error message describes an array: its kind and layout, never its values."""
    flags = getattr(value, "flags", None)
    if flags is None or not hasattr(value, "dtype"):
        return _of_type(value)
    layout = "contiguous" if flags.c_contiguous else "not contiguous"
    return Described(f"a {'writable' if flags.writeable else 'read-only'} array of {value.dtype}, {layout}")
