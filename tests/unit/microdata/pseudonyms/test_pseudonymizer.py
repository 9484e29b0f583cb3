"""Pseudonyms cannot be matched without the key: attacks that break a plain hash find nothing."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.errors import InputError, ParameterError
from sudare.microdata.pseudonyms import (
    Design,
    Mapping,
    Pseudonymizer,
    SecretKey,
    TextForm,
    make_mapping,
    new_key,
    rotate_key,
)
from sudare.microdata.pseudonyms.keys import expand_key
from sudare.microdata.pseudonyms.notation import FORMS

IDS = [str(number) for number in range(2000)]
BASE = Design("university", "patient", 1)


@pytest.fixture
def table(tmp_path: Path, key: SecretKey) -> Iterator[Mapping]:
    make_mapping(tmp_path / "names.db", key)
    with Mapping(tmp_path / "names.db", key) as mapping:
        yield mapping


def made(key: SecretKey, design: Design, ids: list[str] = IDS, **more: Any) -> list[str]:
    texts: list[str] = Pseudonymizer(key, design, **more).pseudonyms(ids).to_pylist()
    return texts


@pytest.mark.parametrize("name", ["blake2b", "hmac-sha256"])
@pytest.mark.parametrize("form", sorted(FORMS))
def test_the_definition(key: SecretKey, name: str, form: str) -> None:
    """Another program with the key gets the same pseudonyms in a few lines."""
    design = replace(BASE, hash=name, form=TextForm.for_people(form))
    epoch = key.epochs[1]
    assert epoch is not None
    subkey = expand_key(epoch, "epoch", "pseudonyms", "university", "patient", "one", name)
    digest = (
        hashlib.blake2b(b"17", key=subkey, digest_size=32).digest()
        if name == "blake2b"
        else hmac.digest(subkey, b"17", "sha256")
    )
    first = made(key, design)[17]
    assert len(first) == design.form.length
    if form == "hex":
        assert first == digest.hex()[: TextForm.for_people("hex").length]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20), max_size=20))
def test_the_same_person_has_the_same_pseudonym_and_nobody_else(key: SecretKey, ids: list[str]) -> None:
    texts = made(key, BASE, ids)
    assert len(set(zip(ids, texts, strict=True))) == len(set(ids)) == len(set(texts))


@pytest.mark.parametrize(
    "other",
    [
        replace(BASE, recipient="insurer"),
        replace(BASE, kind="doctor"),
        replace(BASE, epoch=2),
        replace(BASE, hash="hmac-sha256"),
        replace(BASE, several=2),
        replace(BASE, recipient="universitypatient", kind="p"),
    ],
)
def test_two_uses_share_nothing(tmp_path: Path, other: Design) -> None:
    key = rotate_key(new_key(tmp_path / "study.key"))
    first, second = made(key, BASE), made(key, other)
    assert not set(first) & set(second)
    # Nor do beginnings or ends: 48 bits of 2000 ids coincide by chance once in 10**7 runs.
    for cut in (slice(0, 12), slice(-12, None)):
        assert len({text[cut] for text in first} & {text[cut] for text in second}) == 0


def test_two_keys_share_nothing(tmp_path: Path) -> None:
    one, other = new_key(tmp_path / "a.key"), new_key(tmp_path / "b.key")
    assert not set(made(one, BASE)) & set(made(other, BASE))


def guesses() -> Iterator[Callable[[bytes], str]]:
    """What somebody without the key can compute."""
    plain = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "blake2b", "blake2s"]
    for name in plain:
        yield lambda text, name=name: hashlib.new(name, text).hexdigest()  # type: ignore[misc]
    yield lambda text: hashlib.blake2b(text, digest_size=32).hexdigest()
    for weak in (b"", b"\0" * 32, b"university", b"patient", b"sudare pseudonyms 1", b"secret"):
        yield lambda text, weak=weak: hmac.digest(weak, text, "sha256").hex()  # type: ignore[misc]
        yield lambda text, weak=weak: hashlib.blake2b(text, key=weak, digest_size=32).hexdigest()  # type: ignore[misc]


def found_by_dictionary(published: list[str], candidates: list[str]) -> int:
    """How many pseudonyms an attacker recognises who hashes every candidate in every way there is."""
    known = {text[:16] for text in published}
    found = set()
    for guess in guesses():
        for candidate in candidates:
            for spelled in (candidate, f"university{candidate}", f"patient{candidate}", f"1{candidate}"):
                whole = guess(spelled.encode())
                found |= known & {whole[:16], whole[-16:]}
    return len(found)


@pytest.mark.parametrize("name", ["blake2b", "hmac-sha256"])
def test_a_dictionary_of_plain_hashes_finds_nobody(key: SecretKey, name: str) -> None:
    assert found_by_dictionary(made(key, replace(BASE, hash=name), IDS[:300]), IDS[:300]) == 0


def test_the_same_dictionary_breaks_a_plain_hash() -> None:
    """The negative control: a pseudonymizer without a key."""
    for name in ("md5", "sha256", "blake2b"):
        plain = [hashlib.new(name, text.encode()).hexdigest()[:32] for text in IDS[:300]]
        assert found_by_dictionary(plain, IDS[:300]) == 300


def test_the_public_name_of_a_key_does_not_help(key: SecretKey) -> None:
    subkeys = [expand_key(key.name.encode(), "epoch", "pseudonyms", "university", "patient", "one", "blake2b")]
    subkeys.append(bytes.fromhex(key.name).ljust(32, b"\0"))
    published = set(made(key, BASE, IDS[:300]))
    for subkey in subkeys:
        assert not published & {
            hashlib.blake2b(text.encode(), key=subkey, digest_size=32).hexdigest()[:32] for text in IDS[:300]
        }


def test_several_pseudonyms_are_taken_at_random(key: SecretKey) -> None:
    maker = Pseudonymizer(key, replace(BASE, several=4))
    texts = maker.pseudonyms(["17"] * 400).to_pylist()
    everyone = maker.all_of("17")
    assert set(texts) == set(everyone)
    assert len(everyone) == 4
    # Each is taken 100 times on average, with a standard deviation of 8.7.
    assert all(40 < texts.count(text) < 160 for text in everyone)


def test_a_pseudonym_for_each_visit(key: SecretKey) -> None:
    maker = Pseudonymizer(key, replace(BASE, per="visit"))
    texts = maker.pseudonyms(["17", "17", "18", "17"], per=["1", "2", "1", "1"]).to_pylist()
    assert texts[0] == texts[3]
    assert len(set(texts)) == 3
    assert maker.all_of("17", per=["1", "2"]) == texts[:2]
    # No two pairs run into each other.
    joined = maker.pseudonyms(["1", "11", "111", "1:1"], per=["11", "1", "", "1"]).to_pylist()
    assert len(set(joined)) == 4
    with pytest.raises(ParameterError):
        maker.pseudonyms(["17"])
    with pytest.raises(ParameterError):
        maker.pseudonyms(["17"], per=["1", "2"])


def test_lengths_are_weighed_for_every_visit_of_everybody(key: SecretKey) -> None:
    """People times visits, of which a person is taken to have 10,000 at most."""
    enough = TextForm.for_people("hex", 1000)
    Pseudonymizer(key, replace(BASE, form=enough), people=1000)
    with pytest.raises(ParameterError, match="10,000,000 pseudonyms"):
        Pseudonymizer(key, replace(BASE, form=enough, per="visit"), people=1000)
    longer = TextForm.for_people("hex", 1000 * 10_000)
    Pseudonymizer(key, replace(BASE, form=longer, per="visit"), people=1000)
    assert [one.most_a_person for one in (BASE, replace(BASE, several=3), replace(BASE, per="visit"))] == [1, 3, 10_000]


def test_a_canonical_text_is_not_normalised_again(key: SecretKey) -> None:
    """What was canonical when a file was made is what is looked for, letter by letter."""
    maker = Pseudonymizer(key, replace(BASE, normalize=("strip",)))
    assert maker.all_of(" 17") == Pseudonymizer(key, BASE).pseudonyms([" 17"]).to_pylist()


def test_missing_identifiers_are_refused_or_kept(key: SecretKey) -> None:
    for wrong in ([None], ["a", None], ["a", "b", ""]):
        with pytest.raises(InputError, match=f"'pid'.*data row {len(wrong)}"):
            Pseudonymizer(key, BASE).pseudonyms(wrong, column="pid")
    kept = Pseudonymizer(key, BASE, missing="keep").pseudonyms(pa.array(["a", None, ""])).to_pylist()
    assert kept[1:] == [None, None]
    assert kept[0] is not None


def test_normalisation_is_chosen(key: SecretKey) -> None:
    plain = made(key, BASE, ["017", "17"])
    trimmed = made(key, replace(BASE, normalize=("no-leading-zeros",)), ["017", "17"])
    assert plain[0] != plain[1]
    assert trimmed[0] == trimmed[1] == plain[1]


def test_short_pseudonyms_need_a_table(key: SecretKey, table: Mapping) -> None:
    short = replace(BASE, form=TextForm("digits", 6))
    with pytest.raises(ParameterError, match="--method table"):
        Pseudonymizer(key, short, people=1000)
    texts = made(key, replace(short, method="table"), mapping=table)
    assert len(set(texts)) == len(IDS)
    assert texts == made(key, replace(short, method="table"), mapping=table)


def test_a_table_has_random_pseudonyms(key: SecretKey, table: Mapping) -> None:
    design = replace(BASE, method="table")
    first = made(key, design, mapping=table)
    other = made(key, replace(design, recipient="insurer"), mapping=table)
    assert not set(first) & set(other)
    assert not set(first) & set(made(key, BASE))
    kept = Pseudonymizer(key, design, mapping=table, missing="keep").pseudonyms(["1", None]).to_pylist()
    assert kept == [first[1], None]
    several = Pseudonymizer(key, replace(design, several=3), mapping=table)
    assert set(several.pseudonyms(["17"] * 100).to_pylist()) == set(several.all_of("17"))
    assert several.all_of("never seen") == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"recipient": ""},
        {"recipient": " a"},
        {"kind": "a\nb"},
        {"epoch": 0},
        {"method": "plain"},
        {"hash": "md5"},
        {"several": 0},
        {"several": 2, "per": "visit"},
        {"normalize": ("x",)},
    ],
)
def test_wrong_designs(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        replace(BASE, **wrong)


def test_wrong_arguments(key: SecretKey, table: Mapping) -> None:
    with pytest.raises(ParameterError):
        Pseudonymizer(key, BASE, mapping=table)
    with pytest.raises(ParameterError):
        Pseudonymizer(key, replace(BASE, method="table"))
    with pytest.raises(ParameterError):
        Pseudonymizer(key, BASE, missing="drop")
    with pytest.raises(InputError, match="no epoch 2"):
        Pseudonymizer(key, replace(BASE, epoch=2))


@given(st.builds(Design, st.just("a"), st.just("b"), st.integers(1, 9), several=st.integers(1, 5)))
def test_a_design_comes_back_from_the_register(design: Design) -> None:
    assert Design.from_dict(design.to_dict()) == design
