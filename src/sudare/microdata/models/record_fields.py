"""The values of a model in a report: what each may be, read from a file that somebody may have changed."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

__all__ = ["FieldReader", "flag_of", "fraction_of", "order_of", "plain_value", "text_of", "whole_of"]

FieldReader = Callable[[Any], Any]
"""Gives a value of the type that it should have; raises a ValueError if it has another one."""

FRACTION = re.compile(r"[0-9]{1,300}([./][0-9]{1,300})?")
"""No exponents: a short text with one could stand for a number that fills the memory."""
MAX_PARAMETER = 10**15


def plain_value(value: Any) -> Any:
    """A value as JSON has it; fractions as texts."""
    return str(value) if isinstance(value, Fraction) else list(value) if isinstance(value, tuple) else value


def text_of(value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise ValueError("no text")
    return value


def whole_of(value: Any) -> int:
    """A whole number that is not absurdly large."""
    if type(value) is not int or value > MAX_PARAMETER:
        raise ValueError("no whole number")
    return value


def fraction_of(value: Any) -> Fraction:
    """An exact number."""
    if not FRACTION.fullmatch(str(value)):
        raise ValueError("no fraction")
    return Fraction(str(value))


def flag_of(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ValueError("neither true nor false")
    return value


def order_of(value: Any) -> bool | tuple[str | None, ...]:
    """All values in order, of which one may be missing; or whether there is an order."""
    if not isinstance(value, list | tuple):
        return flag_of(value)
    if not all(label is None or isinstance(label, str) for label in value):
        raise ValueError("no order")
    return tuple(value)
