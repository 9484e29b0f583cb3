"""Key files: random, private, checked, rotated, destroyed; and subkeys that have nothing in common."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.errors import InputError, OutputError, ParameterError
from sudare.microdata.pseudonyms import SecretKey, destroy_epoch, new_key, read_key, rotate_key
from sudare.microdata.pseudonyms.keys import expand_key, hkdf, require_apart


def test_hkdf_of_rfc_5869() -> None:
    info = bytes.fromhex("f0f1f2f3f4f5f6f7f8f9")
    made = hkdf(b"\x0b" * 22, bytes(range(13)), info, 42)
    assert made.hex() == ("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")
    long = hkdf(bytes(range(80)), bytes(range(0x60, 0xB0)), bytes(range(0xB0, 0x100)), 82)
    assert long.hex().startswith("b11e398dc80327a1c8e7f78c596a4934")
    assert long.hex().endswith("cc30c58179ec3e87c14c01d5c1f3434f1d87")


@given(st.lists(st.text(max_size=4), max_size=3), st.lists(st.text(max_size=4), max_size=3))
def test_different_purposes_have_different_subkeys(one: list[str], other: list[str]) -> None:
    secret = bytes(range(32))
    assert (expand_key(secret, *one) == expand_key(secret, *other)) == (one == other)


def test_a_new_key_is_private_and_random(tmp_path: Path) -> None:
    first, second = new_key(tmp_path / "a.key"), new_key(tmp_path / "b.key")
    assert stat.S_IMODE((tmp_path / "a.key").stat().st_mode) == 0o600
    assert first.root != second.root
    assert first.root != first.epochs[1]
    assert read_key(tmp_path / "a.key") == first
    assert first.name != second.name
    assert first.root.hex() not in repr(first)
    with pytest.raises(OutputError, match="exists already"):
        new_key(tmp_path / "a.key")
    assert read_key(tmp_path / "a.key") == first


def damaged(text: str, how: str) -> str:
    if how == "short":
        return text.replace(text.split("root = ")[1][:64], "ab" * 8)
    if how == "not random":
        return text.replace(text.split("root = ")[1][:64], "0" * 64)
    if how == "flipped":
        digit = text.split("epoch 1 = ")[1][0]
        return text.replace(f"epoch 1 = {digit}", f"epoch 1 = {'0' if digit != '0' else '1'}")
    return {"empty": "", "password": "correct horse battery staple\n", "no epoch": text.split("epoch 1")[0]}[how]


@pytest.mark.parametrize("how", ["short", "not random", "flipped", "empty", "password", "no epoch"])
def test_what_is_no_key_is_refused(tmp_path: Path, how: str) -> None:
    path = tmp_path / "study.key"
    new_key(path)
    path.write_text(damaged(path.read_text(), how))
    with pytest.raises(InputError) as caught:
        read_key(path)
    assert "study.key" in caught.value.english
    assert "study.key" in caught.value.japanese
    secret = path.read_text().split("root = ")[-1][:64]
    assert not secret or secret not in str(caught.value)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o601])
def test_a_key_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    new_key(tmp_path / "study.key")
    (tmp_path / "study.key").chmod(mode)
    with pytest.raises(InputError, match="other users"):
        read_key(tmp_path / "study.key")


def test_a_missing_key_or_a_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "none.key", tmp_path):
        with pytest.raises(InputError):
            read_key(path)


def test_rotation_keeps_old_epochs_until_they_are_destroyed(tmp_path: Path) -> None:
    first = new_key(tmp_path / "study.key")
    second = rotate_key(first)
    third = rotate_key(first)  # from a stale copy: the file is read again
    assert (second.epoch, third.epoch) == (2, 3)
    assert third.epochs[1] == first.epochs[1]
    assert third.name == first.name
    rest = destroy_epoch(third, 1)
    assert read_key(rest.path).epochs[1] is None
    assert first.epochs[1] is not None
    assert first.epochs[1].hex() not in rest.path.read_text()
    with pytest.raises(InputError, match="destroyed"):
        rest.subkey_of_epoch(1, "x")
    with pytest.raises(InputError, match="latest epoch is 3"):
        rest.subkey_of_epoch(9, "x")
    for epoch in (3, 0, 4):
        with pytest.raises(ParameterError):
            destroy_epoch(rest, epoch)
    assert stat.S_IMODE(rest.path.stat().st_mode) == 0o600


def test_two_rotations_at_once_lose_no_epoch(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    key = new_key(tmp_path / "study.key")
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: rotate_key(key), range(8)))
    assert sorted(one.epoch for one in made) == list(range(2, 10))
    last = read_key(key.path)
    assert all(last.epochs[one.epoch] == one.epochs[one.epoch] for one in made)


def test_the_key_is_kept_apart(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "keys").mkdir()
    key = new_key(tmp_path / "keys" / "study.key")
    (tmp_path / "link.db").symlink_to(key.path)
    wrong: list[tuple[Any, str, str]] = [
        (key.path, "file", "mapping"),
        (tmp_path / "link.db", "file", "mapping"),
        (tmp_path / "keys" / "data.csv", "folder", "output"),
        (tmp_path / "data.csv", "folder", "output"),
    ]
    for one in wrong:
        with pytest.raises(InputError, match="not kept apart"):
            require_apart(key, one)
    require_apart(key, (tmp_path / "out" / "data.csv", "folder", "output"), (None, "file", "mapping"))


def test_a_key_says_nothing_of_itself(key: SecretKey) -> None:
    assert str(key) == "SecretKey(...)"
