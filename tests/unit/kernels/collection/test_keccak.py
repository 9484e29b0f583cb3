"""TurboSHAKE128 against its plain twin, and against the examples of its specification (RFC 9861)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.collect.prio.vdaf.xof import turboshake128
from tests.unit.collect.prio import naive


def pattern(length: int) -> bytes:
    """The specification's test input: 00 01 ... FA, again and again."""
    return bytes(i % 251 for i in range(length))


@pytest.mark.parametrize(
    ("message", "domain", "wanted"),
    [
        (b"", 0x1F, "1e415f1c5983aff2169217277d17bb538cd945a397ddec541f1ce41af2c1b74c"),
        (b"", 0x07, "5a223ad30b3b8c66a243048cfced430f54e7529287d15150b973133adfac6a2f"),
        (pattern(17), 0x1F, "9c97d036a3bac819db70ede0ca554ec6e4c2a1a4ffbfd9ec269ca6a111161233"),
    ],
)
def test_published_examples(message: bytes, domain: int, wanted: str) -> None:
    assert turboshake128((message,), domain, 32).tobytes().hex() == wanted
    assert naive.turboshake128(message, domain, 32).hex() == wanted


@given(message=st.binary(max_size=400), domain=st.integers(1, 127), length=st.integers(1, 500))
def test_the_plain_twin_agrees(message: bytes, domain: int, length: int) -> None:
    assert turboshake128((message,), domain, length).tobytes() == naive.turboshake128(message, domain, length)


@pytest.mark.parametrize("size", [0, 1, 166, 167, 168, 169, 335, 336, 337])
def test_rows_are_independent_at_every_padding(size: int) -> None:
    rows = np.arange(3 * size, dtype=np.uint8).reshape(3, size)
    found = turboshake128((b"head", rows), 1, 200, rows=3)
    for row, out in zip(rows, found, strict=True):
        assert out.tobytes() == naive.turboshake128(b"head" + row.tobytes(), 1, 200)
