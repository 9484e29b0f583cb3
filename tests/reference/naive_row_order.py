"""The order of a person's rows in plain Python: the encoding of bounding.md, word by word."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal

__all__ = ["encoded", "order_of"]


def encoded(value: object) -> str:
    if value is None:
        return "n"
    if isinstance(value, bool):
        return "b1" if value else "b0"
    if isinstance(value, int):
        return f"i{value};"
    if isinstance(value, str):
        return f"t{len(value.encode())}:{value}"
    if isinstance(value, Decimal):
        return f"d{value:f};"
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, datetime):
        since = value.replace(tzinfo=value.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)
        return f"T{(since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds};"
    if isinstance(value, date):
        return f"D{(value - date(1970, 1, 1)).days};"
    raise TypeError(type(value))


def order_of(key: str, values: Sequence[object]) -> str:
    text = key + "".join(map(encoded, values))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _float(value: float) -> str:
    if math.isnan(value):
        return "fn;"
    if math.isinf(value):
        return "f+;" if value > 0 else "f-;"
    if value == 0:
        return "f0;"
    share, exponent = math.frexp(value)  # 0.5 <= |share| < 1
    return f"f{int(share * 2**53)}e{exponent - 1};"
