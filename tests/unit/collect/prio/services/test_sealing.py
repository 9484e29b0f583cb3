"""Seals open for one key and one purpose only."""

from __future__ import annotations

import hmac

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from sudare.collect.prio import ReportRefusedError
from sudare.collect.prio.services.sealing import SEAL_BYTES, new_key_pair, open_sealed, public_key_of, seal


def test_a_seal_opens_for_its_key_and_purpose_only() -> None:
    private, public = new_key_pair()
    other, _ = new_key_pair()
    sealed = seal(public, b"purpose", b"a share")
    assert open_sealed(private, b"purpose", sealed) == b"a share"
    assert len(sealed) == len(b"a share") + SEAL_BYTES
    assert public_key_of(private) == public
    changed = [sealed[:i] + bytes([sealed[i] ^ 1]) + sealed[i + 1 :] for i in range(len(sealed))]
    attempts = [(other, b"purpose", sealed), (private, b"other", sealed), (private, b"purpose", b"")]
    for key, purpose, text in [*attempts, *((private, b"purpose", text) for text in [*changed, sealed[:-1]])]:
        with pytest.raises(ReportRefusedError, match="does not open") as caught:
            open_sealed(key, purpose, text)
        assert "開けません" in caught.value.explain("ja")


def test_equal_texts_are_sealed_differently() -> None:
    _, public = new_key_pair()
    assert seal(public, b"", b"text") != seal(public, b"", b"text")


# HPKE as RFC 9180 writes it down, for base mode with X25519, HKDF-SHA256 and ChaCha20-Poly1305.

KEM, SUITE = b"KEM" + bytes([0, 0x20]), b"HPKE" + bytes([0, 0x20, 0, 1, 0, 3])


def extract(salt: bytes, suite: bytes, label: bytes, key: bytes) -> bytes:
    return hmac.digest(salt or bytes(32), b"HPKE-v1" + suite + label + key, "sha256")


def expand(key: bytes, suite: bytes, label: bytes, info: bytes, length: int) -> bytes:
    labeled = length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    return hmac.digest(key, labeled + b"\x01", "sha256")[:length]


def open_plainly(private: bytes, info: bytes, sealed: bytes, aad: bytes = b"") -> bytes:
    key = X25519PrivateKey.from_private_bytes(private)
    shared = key.exchange(X25519PublicKey.from_public_bytes(sealed[:32]))
    context = sealed[:32] + key.public_key().public_bytes_raw()
    secret = expand(extract(b"", KEM, b"eae_prk", shared), KEM, b"shared_secret", context, 32)
    schedule = bytes(1) + extract(b"", SUITE, b"psk_id_hash", b"") + extract(b"", SUITE, b"info_hash", info)
    master = extract(secret, SUITE, b"secret", b"")
    cipher = ChaCha20Poly1305(expand(master, SUITE, b"key", schedule, 32))
    return cipher.decrypt(expand(master, SUITE, b"base_nonce", schedule, 12), sealed[32:], aad)


def test_the_scheme_is_rfc_9180() -> None:
    # The twin opens the RFC's own example (appendix A.2.1) ...
    example = open_plainly(
        bytes.fromhex("8057991eef8f1f1af18f4a9491d16a1ce333f695d4db8e38da75975c4478e0fb"),
        bytes.fromhex("4f6465206f6e2061204772656369616e2055726e"),
        bytes.fromhex(
            "1afa08d3dec047a643885163f1180476fa7ddb54c6a8029ea33f95796bf2ac4a"
            "1c5250d8034ec2b784ba2cfd69dbdb8af406cfe3ff938e131f0def8c8b60b4db21993c62ce81883d2dd1b51a28"
        ),
        bytes.fromhex("436f756e742d30"),
    )
    assert example == b"Beauty is truth, truth beauty"
    # ... and ours.
    private, public = new_key_pair()
    assert open_plainly(private, b"purpose", seal(public, b"purpose", b"a share")) == b"a share"
