"""The order of a person's rows in plain Python: the encoding of bounding.md, word by word."""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal

__all__ = ["encoded", "place_of"]

PRIME = 2**31 - 1


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


def place_of(key: str, values: Sequence[object], kinds: Sequence[str]) -> int:
    """The place of a row by its values, with the kinds of their columns: whole numbers as they are, others by their texts."""
    limbs: list[int] = []
    texts, points = [], []
    for value, kind in zip(values, kinds, strict=True):
        if kind == "POINT":
            assert value is None or isinstance(value, dict)
            is_near = value is not None and value["cell"] is None
            points.append("p" + "".join(map(encoded, value.values())) if is_near else None)  # type: ignore[union-attr]
            value = None if value is None else value["cell"]
        if kind.startswith(("VARCHAR", "DOUBLE", "FLOAT", "DECIMAL")):
            texts.append(encoded(value))
            continue
        number = None if value is None else _whole(value)
        limbs += [0, 0, 16] if number is None else [number % 2**30, (number >> 30) % 2**30, (number >> 60) % 16]
    for text in [*(["".join(texts)] if texts else []), *points]:
        digits = "0" * 30 if text is None else hashlib.sha256(text.encode()).hexdigest()
        for word in (int(digits[:15], 16), int(digits[15:30], 16)):
            limbs += [word % 2**30, word >> 30]
    first, second = (
        (
            _secret(key, f"{side} term")
            + sum(_secret(key, f"{side} factor {at}") * limb for at, limb in enumerate(limbs))
        )
        % PRIME
        for side in ("first", "second")
    )
    powers = [_secret(key, f"coefficient {power}") * pow(first, 7 - power, PRIME) for power in range(8)]
    return sum(powers) % PRIME * 2**31 + second


def _secret(key: str, purpose: str) -> int:
    return int(hmac.new(bytes.fromhex(key), purpose.encode(), "sha256").hexdigest(), 16) % PRIME


def _whole(value: object) -> int:
    if isinstance(value, (datetime, date)):
        return int(encoded(value)[1:-1])
    assert isinstance(value, int)
    return int(value)


def _float(value: float) -> str:
    if math.isnan(value):
        return "fn;"
    if math.isinf(value):
        return "f+;" if value > 0 else "f-;"
    if value == 0:
        return "f0;"
    share, exponent = math.frexp(value)  # 0.5 <= |share| < 1
    return f"f{int(share * 2**53)}e{exponent - 1};"
