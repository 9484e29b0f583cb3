"""Sealing: bytes that only the holder of one private key can read (HPKE, RFC 9180: X25519, HKDF-SHA256, ChaCha20-Poly1305).

A client seals each share to its aggregator, so the leader carries the helper's shares without being able to read them;
each aggregator seals its aggregate share to the collector. What a seal is for is bound into it: a seal that was made for
another role, task or report does not open.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from sudare.collect.prio.refusals import ReportRefusedError

__all__ = ["SEAL_BYTES", "KeyPair", "new_key_pair", "open_sealed", "seal"]

SEAL_BYTES = 48
"""By how much a sealed text is longer: an ephemeral public key and an authentication tag."""

KeyPair = tuple[bytes, bytes]
"""A private key and its public key, 32 bytes each."""


@cache
def _suite() -> Any:
    from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

    return Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.CHACHA20_POLY1305)


def new_key_pair() -> KeyPair:
    """A fresh private key, drawn by the operating system, and its public key.

    Example:
        >>> private, public = new_key_pair()
        >>> open_sealed(private, b"example", seal(public, b"example", b"a share"))
        b'a share'
    """
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    key = X25519PrivateKey.generate()
    return key.private_bytes_raw(), key.public_key().public_bytes_raw()


def public_key_of(private: bytes) -> bytes:
    """The public key that belongs to a private one."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def seal(public: bytes, purpose: bytes, text: bytes) -> bytes:
    """Seal a text to the holder of a key, for one purpose."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

    sealed: bytes = _suite().encrypt(text, X25519PublicKey.from_public_bytes(public), info=purpose)
    return sealed


def open_sealed(private: bytes, purpose: bytes, sealed: bytes) -> bytes:
    """Open what was sealed to this key for this purpose.

    Raises:
        ReportRefusedError: if it was sealed to another key, for another purpose, or was changed.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    try:
        text: bytes = _suite().decrypt(sealed, X25519PrivateKey.from_private_bytes(private), info=purpose)
    except (InvalidTag, ValueError):
        raise ReportRefusedError(
            "A sealed share does not open: it was sealed to another key, for another report or task, or it was changed.",
            "封をされたシェアを開けません。別の鍵・報告・タスク用に封をされたか、改変されています。",
        ) from None
    return text
