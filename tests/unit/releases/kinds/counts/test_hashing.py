"""Hashes: the same for the same counts and files, another for others."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare import CountTable
from sudare.errors import InputError
from sudare.io import Source
from sudare.releases.kinds.counts.hashing import hash_of_public_source, keyed_hash

COUNTS = st.lists(st.integers(0, 3), min_size=4, max_size=4)


@given(one=COUNTS, other=COUNTS)
def test_counts_are_told_apart(one: list[int], other: list[int]) -> None:
    hashes = [keyed_hash(CountTable.from_dense(np.array(counts)), b"key", "entry") for counts in (one, other)]
    assert (hashes[0] == hashes[1]) == (one == other)


def test_without_the_key_it_is_another() -> None:
    table = CountTable.from_dense(np.array([1, 2]))
    plain = hashlib.sha256(table.keys.tobytes() + table.counts.tobytes()).hexdigest()
    assert (
        len({plain, keyed_hash(table, b"key", "a"), keyed_hash(table, b"kez", "a"), keyed_hash(table, b"key", "b")})
        == 4
    )


def test_public_files(tmp_path: Path) -> None:
    for name, text in (("a.csv", "sex\nf\n"), ("b.csv", "sex\nm\n")):
        (tmp_path / name).write_text(text)
    one = Source(str(tmp_path / "a.csv"))
    assert hash_of_public_source(one) == hashlib.sha256(b"sex\nf\n").hexdigest()
    both = hash_of_public_source(Source(str(tmp_path)))
    assert both == hash_of_public_source(Source((str(tmp_path / "b.csv"), str(tmp_path / "a.csv"))))
    (tmp_path / "b.csv").write_text("sex\nf\n")
    assert hash_of_public_source(Source(str(tmp_path))) != both
    with pytest.raises(InputError):
        hash_of_public_source(Source(str(tmp_path / "c.csv")))
