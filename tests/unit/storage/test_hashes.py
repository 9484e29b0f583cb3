"""Hashes and seals: the same in every version, and of nothing else than what was sealed."""

from __future__ import annotations

import hashlib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sudare.storage.hashes import hash_of_file, keyed_digest, seal_of

PARTS = st.lists(st.binary(max_size=4), max_size=4)


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"text\n")
    assert hash_of_file(tmp_path / "a") == hashlib.sha256(b"text\n").hexdigest()


@given(one=PARTS, other=PARTS)
def test_parts_are_told_apart(one: list[bytes], other: list[bytes]) -> None:
    assert (keyed_digest(b"key", "x", one) == keyed_digest(b"key", "x", other)) == (one == other)


def test_seals_of_older_versions_hold() -> None:
    """Folders that wait to be shown bear them."""
    assert seal_of(b"document", b"key", 7) == "2fe2e9219391fb68dab0004a6d0ba97d3f3eaff19c35580483ea32f2c054e2d6"
    others = {seal_of(b"document", b"kez", 7), seal_of(b"document", b"key", 8), seal_of(b"documenu", b"key", 7)}
    assert len(others | {seal_of(b"document", b"key", 7), keyed_digest(b"key", "counts", (b"7", b"document"))}) == 5
