"""Reading parameters: one wording for every refusal, exact numbers out of whatever the user typed."""

from __future__ import annotations

import math
import numbers
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
    "read_flag",
    "show_fraction",
    "shown",
]

Rational = int | float | Fraction | Decimal
"""What a user may type where an exact number is wanted."""

MIN_NORMAL = Fraction(sys.float_info.min)
MAX_FLOAT = Fraction(sys.float_info.max)
MAX_BITS = 4096
"""Of a numerator or denominator that a user hands in; far more than any decimal that a float can show."""


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
    typed, and three shares of ``0.1`` then make ``0.3``.

    Raises:
        ParameterError: if the value is a boolean, not a number, not finite, subnormal, or beyond the range of a float.
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
    if _is_boolean(value) or type(value).__name__ == "timedelta64":
        return None
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
    if not isinstance(value, numbers.Integral) or _plain_number(value) is None:
        raise error(parameter, function, requirement, shown(value), hint)
    number = int(value)
    if (smallest is not None and number < smallest) or (largest is not None and number > largest):
        raise error(parameter, function, requirement, value, hint)
    return number


def read_flag(value: object, parameter: str, function: str) -> bool:
    """True or False, and nothing that merely counts as one of them.

    Raises:
        ParameterError: if it is neither.
    """
    if not isinstance(value, bool):
        raise ParameterError(parameter, function, Words("True or False", "True または False"), shown(value))
    return value


def show_fraction(value: Fraction, digits: int = 6) -> str:
    """A fraction as people write it: exactly if that is short, else rounded and marked with ``~``."""
    if value.denominator == 1 and abs(value.numerator) < 10**12:
        return str(value.numerator)
    if abs(value) > MAX_FLOAT:
        return "~1e308 or more"
    rounded = f"{float(value):.{digits}g}"
    return rounded if Fraction(rounded) == value else f"~{rounded}"


def exact_text(value: Fraction) -> Described:
    """A fraction without loss, as Python reads it: as a decimal if that is short, else as a quotient."""
    text = show_fraction(value, digits=12)
    if not text.startswith("~"):
        return Described(Words.same(text))
    too_long = max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS
    return Described(Words.same(text if too_long else repr(value)))


def describe_array(value: object) -> Described:
    """What an error message says of an array: its kind and layout, never its values."""
    flags = getattr(value, "flags", None)
    if flags is None or not hasattr(value, "dtype"):
        return _of_type(value)
    layout = "contiguous" if flags.c_contiguous else "not contiguous"
    return Described(f"a {'writable' if flags.writeable else 'read-only'} array of {value.dtype}, {layout}")
