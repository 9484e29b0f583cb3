"""Numbers, dates, budgets and values as pages show them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sudare.bilingual import Words
from sudare.parameters import plain_number

if TYPE_CHECKING:
    from sudare.domain.attributes import Attribute

__all__ = [
    "label_of_places",
    "percent_rounded_up",
    "show_amount",
    "show_budget",
    "show_date",
    "show_decimal",
    "show_distance",
    "show_size",
    "with_greek_letters",
]

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
"""In English, whatever the language of the machine."""

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
GREEK = {"epsilon": "ε", "delta": "δ", "rho": "ρ"}


def show_budget(cost: Mapping[str, Any]) -> str:
    """The parts of a budget in the order that they are usually given."""
    return ", ".join(f"{letter} = {show_decimal(cost[name])}" for name, letter in GREEK.items() if name in cost) or "–"


def with_greek_letters(budget: str) -> str:
    """A budget in words, with the usual letters."""
    for name, letter in GREEK.items():
        budget = budget.replace(name, letter)
    return budget


def show_decimal(value: object) -> str:
    """An exact fraction as people write it: 1/10 as 0.1, a millionth as 0.000001, a billionth as 10⁻⁹, the rest to four digits.

    Zeros are written out where `sudare.parameters.show_fraction` does. Rounded upwards: a budget must not be shown below itself.
    """
    try:
        number = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        return str(value)
    if number.denominator == 1 or number >= 1000:
        return f"{math.ceil(number):,}"
    four_digits = Context(prec=4, rounding=ROUND_CEILING).divide(Decimal(number.numerator), Decimal(number.denominator))
    digits, _, power = plain_number(f"{float(four_digits):.4g}").partition("e")
    if not power:
        return digits
    raised = f"10{str(int(power)).translate(SUPERSCRIPTS)}"
    return raised if digits == "1" else f"{digits} × {raised}"


def percent_rounded_up(share: float) -> str:
    """A bound must not be shown below itself."""
    return f"{math.ceil(Fraction(str(share)) * 1000) / 10:g} %"


def show_amount(number: float) -> str:
    """People, to a tenth where there are few."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.1f}"


def show_distance(metres: int) -> str:
    """Metres, or kilometres from one on."""
    return f"{metres:,} m" if metres < 1000 else f"{metres / 1000:,g} km"


def show_size(size: object) -> str:
    """The size of a file; nothing if it is not known."""
    if not isinstance(size, int):
        return ""
    for limit, unit in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= limit:
            return f"{size / limit:,.1f} {unit}"
    return f"{size:,} B"


def show_date(created: object, utc_offset: object = None) -> Words | None:
    """A moment in both languages; as it is if it cannot be read, None if there is none.

    Args:
        created: the moment, in UTC.
        utc_offset: of the place whose time is told, such as ``"+09:00"``; UTC if there is none.
    """
    if not isinstance(created, str) or not created:
        return None
    try:
        moment = datetime.fromisoformat(created).astimezone(UTC)
    except ValueError:
        return Words(created, created)
    zone = "UTC"
    if isinstance(utc_offset, str):
        with suppress(ValueError, OverflowError):
            moment = moment.astimezone(datetime.fromisoformat(f"2000-01-01T00:00{utc_offset}").tzinfo)
            zone = "UTC" if utc_offset in ("+00:00", "-00:00") else f"UTC{utc_offset}"
    return Words(
        f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}, {moment:%H:%M} {zone}",
        f"{moment.year}年{moment.month}月{moment.day}日 {moment:%H:%M}（{zone}）",
    )


def label_of_places(attribute: Attribute, first: int, last: int) -> str:
    """The values at one place of an attribute, or from one place to another."""
    import numpy as np

    from sudare.domain import Bins

    if isinstance(attribute, Bins):
        low, high = attribute.edges[first], attribute.edges[last + 1]
        is_whole = all(float(edge).is_integer() for edge in attribute.edges)
        if is_whole:
            return f"{int(low)}" if high - low == 1 else f"{int(low)}–{int(high) - 1}"
        return f"{low:g} ≤ x < {high:g}"
    ends = [str(value) for value in attribute.values((np.array([first, last]),)).tolist()]
    return ends[0] if first == last else f"{ends[0]} – {ends[1]}"
