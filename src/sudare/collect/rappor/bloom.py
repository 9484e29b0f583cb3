"""Which bits a text sets in a Bloom filter: the two published rules of RAPPOR's clients, and their keyed permanent response.

Both rules hash the cohort (four bytes, the highest first) and the text with MD5. The Python client takes one byte of the hash
for each bit, the Java client two. Nothing here needs more than Python itself, so that it can run where people answer. MD5 is no
weakness: a report is protected by its randomizing, never by the hash.

References:
    Erlingsson, Pihur, Korolova: RAPPOR: Randomized aggregatable privacy-preserving ordinal response (2014), and the clients
    published with it.
"""

from __future__ import annotations

import hashlib
import hmac
from fractions import Fraction
from typing import Literal

from sudare.bilingual import Words
from sudare.errors import Described, ParameterError

__all__ = [
    "MAX_BITS",
    "MAX_COHORTS",
    "RULES",
    "HashRule",
    "bloom_bits",
    "bloom_filter",
    "java_bits",
    "keyed_permanent_response",
    "python_bits",
]

HashRule = Literal["python", "java"]
RULES: tuple[HashRule, ...] = ("python", "java")

MAX_BITS = {"python": 256, "java": 4096}
"""One byte cannot name more bits than 256. The Java client stops at 4,096."""

MAX_HASHES = {"python": 16, "java": 8}
"""MD5 has 16 bytes."""

MAX_COHORTS = 1 << 16
KEYED_STEPS = 128
DIGEST_BYTES = 32


def python_bits(value: str, cohort: int, hashes: int, bits: int) -> tuple[int, ...]:
    """The bits that a text sets by the rule of the Python client: byte i of the hash, modulo the number of bits.

    Args:
        value: the text.
        cohort: the cohort of the person, from 0 on.
        hashes: how many bits to name, 1 ... 16.
        bits: length of the filter, 1 ... 256.

    Returns:
        One bit for each hash, in order; the same bit may come twice.

    Example:
        >>> from sudare.collect.rappor.bloom import python_bits
        >>> python_bits("apple", 0, 2, 16)
        (4, 0)
    """
    digest = _digest(value, cohort, hashes, bits, "python")
    return tuple(digest[i] % bits for i in range(hashes))


def java_bits(value: str, cohort: int, hashes: int, bits: int) -> tuple[int, ...]:
    """The bits that a text sets by the rule of the Java client: the hash in pairs of bytes, modulo the number of bits.

    Args:
        value: the text.
        cohort: the cohort of the person, from 0 on.
        hashes: how many bits to name, 1 ... 8.
        bits: length of the filter, 1 ... 4,096.

    Returns:
        One bit for each hash, in order; the same bit may come twice.

    Example:
        >>> from sudare.collect.rappor.bloom import java_bits
        >>> sorted(java_bits("Whizbang", 0, 2, 12))
        [2, 7]
    """
    digest = _digest(value, cohort, hashes, bits, "java")
    return tuple((digest[2 * i] * 256 + digest[2 * i + 1]) % bits for i in range(hashes))


def bloom_bits(value: str, cohort: int, hashes: int, bits: int, rule: HashRule = "python") -> tuple[int, ...]:
    """The bits that a text sets, by either rule.

    Args:
        value: the text.
        cohort: the cohort of the person, from 0 on.
        hashes: how many bits to name.
        bits: length of the filter.
        rule: ``"python"`` or ``"java"``.

    Example:
        >>> from sudare.collect.rappor.bloom import bloom_bits
        >>> bloom_bits("banana", 3, 2, 16)
        (13, 0)
    """
    if not isinstance(rule, str) or rule not in RULES:
        raise ParameterError("rule", "bloom_bits", Words("'python' or 'java'", "'python' または 'java'"), _shown(rule))
    return (python_bits if rule == "python" else java_bits)(value, cohort, hashes, bits)


def bloom_filter(value: str, cohort: int, hashes: int, bits: int, rule: HashRule = "python") -> int:
    """The filter of a text as a whole number: bit i of it is bit i of the filter.

    Args:
        value: the text.
        cohort: the cohort of the person, from 0 on.
        hashes: how many bits to name.
        bits: length of the filter.
        rule: ``"python"`` or ``"java"``.

    Example:
        >>> from sudare.collect.rappor.bloom import bloom_filter
        >>> bloom_filter("Whizbang", 0, 2, 12, "java")
        132
    """
    filled = 0
    for bit in bloom_bits(value, cohort, hashes, bits, rule):
        filled |= 1 << bit
    return filled


def keyed_permanent_response(secret: bytes, filled: int, f: Fraction, bits: int) -> int:
    """The permanent response that the Python client derives from a secret in place of keeping one.

    HMAC-SHA-256 of the filter gives a byte for each bit: with probability f (by its seven high bits) the bit is replaced, by its
    lowest bit. So the response is the same for ever, as long as the secret is, and as random as the secret is unknown.
    `PermanentMemory` keeps responses that are random in themselves.

    Args:
        secret: known to the person's own device only; 32 random bytes or more.
        filled: the Bloom filter, as `bloom_filter` gives it.
        f: the probability of replacing a bit; a multiple of 1/128.
        bits: length of the filter, 1 ... 32.

    Example:
        >>> from fractions import Fraction
        >>> from sudare.collect.rappor.bloom import bloom_filter, keyed_permanent_response
        >>> response = keyed_permanent_response(b"x" * 32, bloom_filter("red", 0, 2, 16), Fraction(1, 2), 16)
        >>> response == keyed_permanent_response(b"x" * 32, bloom_filter("red", 0, 2, 16), Fraction(1, 2), 16)
        True
    """
    function = "keyed_permanent_response"
    _require_whole(bits, "bits", function, 1, DIGEST_BYTES)
    if not isinstance(secret, bytes) or not secret:
        raise ParameterError("secret", function, "some bytes", Described(f"an object of type {type(secret).__name__}"))
    if not isinstance(filled, int) or isinstance(filled, bool) or not 0 <= filled < 1 << bits:
        raise ParameterError("filled", function, f"a filter of {bits} bits", Described("something else"))
    if not isinstance(f, Fraction) or not 0 <= f <= 1 or (f * KEYED_STEPS).denominator != 1:
        raise ParameterError("f", function, "a Fraction from 0 to 1, a multiple of 1/128", _shown(f))
    digest = hmac.new(secret, filled.to_bytes(4, "big"), hashlib.sha256).digest()
    response = 0
    for place in range(bits):
        is_replaced = digest[place] >> 1 < f * KEYED_STEPS
        bit = digest[place] & 1 if is_replaced else filled >> place & 1
        response |= bit << place
    return response


def _digest(value: str, cohort: int, hashes: int, bits: int, rule: HashRule) -> bytes:
    function = f"{rule}_bits"
    _require_whole(bits, "bits", function, 1, MAX_BITS[rule])
    _require_whole(hashes, "hashes", function, 1, MAX_HASHES[rule])
    _require_whole(cohort, "cohort", function, 0, (1 << 32) - 1)
    if not isinstance(value, str):
        raise ParameterError("value", function, "a text", Described(f"an object of type {type(value).__name__}"))
    try:
        encoded = value.encode()
    except UnicodeEncodeError:  # its own message would show the value
        raise ParameterError("value", function, "a text that UTF-8 can write", Described("another text")) from None
    return hashlib.md5(cohort.to_bytes(4, "big") + encoded, usedforsecurity=False).digest()


def _require_whole(value: object, parameter: str, function: str, smallest: int, largest: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not smallest <= value <= largest:
        requirement = Words(
            f"a whole number from {smallest:,} to {largest:,}", f"{smallest:,} 以上 {largest:,} 以下の整数"
        )
        raise ParameterError(parameter, function, requirement, _shown(value))


def _shown(value: object) -> object:
    """Settings may be shown; larger objects are only named."""
    if isinstance(value, (str, int, float, Fraction)) or value is None:
        return value
    return Described(f"an object of type {type(value).__name__}")
