"""Extendable output functions: the plain twin, and what happens to numbers outside the field."""

from __future__ import annotations

import numpy as np
import pytest

from sudare.collect.prio.vdaf.fields import FIELD64, FIELD128, Field
from sudare.collect.prio.vdaf.xof import FIXED_KEY_AES128, HMAC_SHA256_AES128, TURBOSHAKE128, Xof
from tests.unit.collect.prio import naive


def rows(*data: bytes) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    return np.frombuffer(b"".join(data), dtype=np.uint8).reshape(len(data), len(data[0]))


@pytest.mark.parametrize("field", [FIELD64, FIELD128])
def test_a_batch_is_its_rows(field: Field) -> None:
    seeds, binders = rows(bytes(32), bytes(range(32))), rows(b"one", b"two")
    found = TURBOSHAKE128.expand(field, seeds, b"tag", binders, 50)
    for i in range(2):
        wanted = naive.expand(field.modulus, seeds[i].tobytes(), b"tag", binders[i].tobytes(), 50)
        assert field.integers(found[i]) == wanted
    derived = TURBOSHAKE128.derive(seeds, b"tag", binders)
    assert derived[1].tobytes() == naive.stream(bytes(range(32)), b"tag", b"two", 32)


@pytest.mark.parametrize("xof", [TURBOSHAKE128, FIXED_KEY_AES128, HMAC_SHA256_AES128])
def test_a_longer_stream_starts_with_the_shorter(xof: Xof) -> None:
    seeds, binders = rows(bytes(range(xof.seed_size))), rows(b"binder")
    long = xof.stream(seeds, b"tag", binders, 333).tobytes()
    for length in (1, 15, 16, 17, 168, 333):
        assert xof.stream(seeds, b"tag", binders, length).tobytes() == long[:length]
    assert xof.stream(seeds, b"tog", binders, 333).tobytes() != long


class Scripted(Xof):
    """A stream that says what the test wants."""

    seed_size = 32

    def __init__(self, *streams: bytes) -> None:
        self.streams = streams

    def stream(
        self,
        seeds: np.ndarray[tuple[int, int], np.dtype[np.uint8]],
        tag: bytes,
        binders: np.ndarray[tuple[int, int], np.dtype[np.uint8]],
        length: int,
    ) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
        return rows(*(self.streams[seed[0]][:length] for seed in seeds))


@pytest.mark.parametrize("field", [FIELD64, FIELD128])
def test_numbers_from_p_on_are_passed_over(field: Field) -> None:
    p = field.modulus

    def written(*numbers: int) -> bytes:
        return b"".join(n.to_bytes(field.size, "little") for n in numbers)

    plain = written(1, 2, 3, 4, 5, 6, 7, 8)
    # Three in a row are too large, more than the first, longer attempt makes up for.
    gaps = written(p - 1, p, p + 1, p, 9, 10, 11, 12)
    found = Scripted(plain, gaps).expand(field, rows(bytes(32), bytes([1] * 32)), b"", rows(b"", b""), 3)
    assert field.integers(found[0]) == [1, 2, 3]
    assert field.integers(found[1]) == [p - 1, 9, 10]
