"""Sealed texts that tell nothing but how many there are: AES-256-GCM over texts that are filled up to whole blocks.

Without filling, the length of what is sealed is that of the text, and anyone who knows the names of a table finds the pseudonym
of the one very long name. Here all texts up to 60 bytes are of one length, and longer ones tell only how many blocks they need.
"""

from __future__ import annotations

import os

__all__ = ["BLOCK_BYTES", "Sealing"]

BLOCK_BYTES = 64
LENGTH_BYTES = 4
NONCE_BYTES = 12


class Sealing:
    """Seals and opens with one key.

    Args:
        key: 32 bytes, for this purpose only.

    Example:
        >>> sealing = Sealing(bytes(range(32)))
        >>> short, longer = sealing.sealed(b"Li", b"row 1"), sealing.sealed(b"Featherstonehaugh", b"row 2")
        >>> len(short) == len(longer), sealing.opened(short, b"row 1"), sealing.opened(short, b"row 2")
        (True, b'Li', None)
    """

    def __init__(self, key: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._cipher = AESGCM(key)

    def sealed(self, data: bytes, bound: bytes) -> bytes:
        """Data, sealed and bound to its place."""
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, _filled(data), bound)

    def opened(self, sealed: bytes, bound: bytes) -> bytes | None:
        """What was sealed; None if it was changed, or stands in another place."""
        from cryptography.exceptions import InvalidTag

        try:
            filled = self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], bound)
        except (InvalidTag, ValueError):  # the latter where it was cut short
            return None
        length = int.from_bytes(filled[:LENGTH_BYTES], "big")
        return filled[LENGTH_BYTES : LENGTH_BYTES + length]


def _filled(data: bytes) -> bytes:
    """The length, the data, and zeros up to a whole number of blocks."""
    whole = len(data).to_bytes(LENGTH_BYTES, "big") + data
    return whole + bytes(-len(whole) % BLOCK_BYTES)
