"""The kernels give what hashlib and hmac give, bit for bit, for every length, and what the RFCs print."""

from __future__ import annotations

import base64
import hashlib
import hmac

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.errors import ParameterError
from sudare.kernels.records import keyed_hashing
from sudare.microdata.pseudonyms.hashing import KeyedHash
from sudare.microdata.pseudonyms.notation import TextForm

KEYS = st.binary(min_size=32, max_size=64)
MESSAGES = st.lists(st.binary(max_size=400), min_size=1, max_size=8)


def packed(messages: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.cumsum([0, *(len(message) for message in messages)]).astype(np.int64)
    return offsets, np.frombuffer(b"".join(messages) or b"\0", dtype=np.uint8)


def naive(name: str, key: bytes, message: bytes) -> bytes:
    if name == "blake2b":
        return hashlib.blake2b(message, key=key, digest_size=32).digest()
    return hmac.digest(key, message, "sha256")


def digests(name: str, key: bytes, messages: list[bytes]) -> list[bytes]:
    offsets, data = packed(messages)
    out = np.empty((len(messages), 32), dtype=np.uint8)
    if name == "blake2b":
        keyed_hashing.blake2b_digests(offsets, data, keyed_hashing.blake2b_start(key), out)
    else:
        keyed_hashing.hmac_digests(offsets, data, keyed_hashing.hmac_start(key), out)
    return [row.tobytes() for row in out]


@pytest.mark.parametrize("name", ["blake2b", "hmac-sha256"])
def test_every_length_around_the_blocks(name: str) -> None:
    key = bytes(range(100, 132))
    messages = [bytes(i % 251 for i in range(length)) for length in range(400)]
    assert digests(name, key, messages) == [naive(name, key, message) for message in messages]


@pytest.mark.parametrize("name", ["blake2b", "hmac-sha256"])
@given(KEYS, MESSAGES)
def test_any_bytes(name: str, key: bytes, messages: list[bytes]) -> None:
    assert digests(name, key, messages) == [naive(name, key, message) for message in messages]


def test_the_compression_of_rfc_7693() -> None:
    """Appendix A: BLAKE2b-512 of "abc" without a key, by the compression alone."""
    state = keyed_hashing.BLAKE2B_IV.copy()
    state[0] ^= np.uint64(0x01010040)
    block = np.zeros(16, dtype=np.uint64)
    block[0] = np.uint64(0x636261)
    keyed_hashing.blake2b_compress(state, block, np.uint64(3), np.uint64(2**64 - 1))
    expected = (
        "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
        "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"
    )
    assert state.astype("<u8").tobytes().hex() == expected


def test_hmac_of_rfc_4231() -> None:
    """Test cases 1 and 2."""
    first = digests("hmac-sha256", b"\x0b" * 20, [b"Hi There"])[0].hex()
    assert first == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    second = digests("hmac-sha256", b"Jefe", [b"what do ya want for nothing?"])[0].hex()
    assert second == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"


@given(st.lists(st.binary(min_size=32, max_size=32), min_size=1, max_size=5), st.integers(1, 38))
def test_texts_of_digests(rows: list[bytes], width: int) -> None:
    given_digests = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(-1, 32)
    for form in ("hex", "base32", "digits"):
        out = np.empty((len(rows), width), dtype=np.uint8)
        TextForm(form, width).write(given_digests, out)
        for row, text in zip(rows, out, strict=True):
            number = (int.from_bytes(row) * 9 * 10 ** (width - 1) >> 256) + 10 ** (width - 1)
            expected = {"hex": row.hex(), "base32": base64.b32encode(row).decode(), "digits": str(number)}[form]
            assert text.tobytes().decode() == expected[:width]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_many_rows_in_parts(threads: int) -> None:
    key = bytes(range(32))
    texts = pa.array([str(number) for number in range(70_001)] + [None], pa.large_string())
    made = KeyedHash(key, threads=threads).texts(texts, TextForm("hex", 24)).to_pylist()
    assert made[-1] is None
    for place in (0, 1, 16_383, 16_384, 40_000, 70_000):
        assert made[place] == naive("blake2b", key, str(place).encode()).hex()[:24]
    assert len(set(made)) == len(made)


def test_a_slice_of_an_array_is_read_from_its_offset() -> None:
    key = bytes(range(32))
    whole = pa.array(["a", "bb", "", "dddd"], pa.large_string())
    made = KeyedHash(key, "hmac-sha256").digests(whole[1:])
    assert [row.tobytes() for row in made] == [naive("hmac-sha256", key, text) for text in (b"bb", b"", b"dddd")]
    assert len(KeyedHash(key).texts(whole[:0], TextForm("hex", 24))) == 0


@pytest.mark.parametrize(("key", "name"), [(b"short", "blake2b"), (b"", "hmac-sha256"), (bytes(32), "sha256")])
def test_no_plain_hash_and_no_short_key(key: bytes, name: str) -> None:
    with pytest.raises(ParameterError):
        KeyedHash(key, name)
