"""What is the same person: exact texts, unless the user says otherwise."""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.errors import InputError, ParameterError
from sudare.microdata.pseudonyms.identifiers import (
    NORMALIZATIONS,
    canonical_texts,
    first_missing,
    read_normalizations,
)

TEXTS = st.lists(st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]), max_size=8)), max_size=6)


@given(TEXTS)
def test_nothing_is_changed_by_itself(texts: list[str | None]) -> None:
    assert canonical_texts(texts).to_pylist() == [text or None for text in texts]


@pytest.mark.parametrize(
    "values",
    [
        [7, 12],
        np.array([7, 12]),
        np.array(["7", "12"]),
        pa.array([7, 12], pa.uint8()),
        pa.array(["7", "12"]),
        pa.array(["7", "12"], pa.string_view()),
        pa.array(["7", "12"]).dictionary_encode(),
        pa.chunked_array([["7"], ["12"]]),
    ],
)
def test_a_number_is_its_digits_in_whatever_array(values: Any) -> None:
    assert canonical_texts(values).to_pylist() == ["7", "12"]


@given(TEXTS)
def test_normalisations_are_what_they_say(texts: list[str | None]) -> None:
    def naive(text: str | None) -> str | None:
        if text is None:
            return None
        text = unicodedata.normalize("NFKC", text)
        return (text.lstrip("0") or "0" if text else text) or None

    assert canonical_texts(texts, ["no-leading-zeros", "nfkc"]).to_pylist() == [naive(text) for text in texts]


TRICKY = st.text(st.sampled_from([*"0 1iIaA\u0307\u0301\u3000\uff10\u017f\u0345\u00df\ufb03\u2007"]), max_size=7)


@given(
    st.lists(st.one_of(TRICKY, st.text(st.characters(exclude_categories=["Cs"]), max_size=8)), max_size=6),
    st.sets(st.sampled_from(NORMALIZATIONS)),
)
def test_what_is_normalised_stays_as_it_is(texts: list[str], chosen: set[str]) -> None:
    once = canonical_texts(texts, read_normalizations(sorted(chosen)))
    assert canonical_texts(once, read_normalizations(sorted(chosen))).to_pylist() == once.to_pylist()


def test_what_one_normalisation_lays_bare_for_another_is_normalised_too() -> None:
    assert canonical_texts(["0 17", "0 0 17", "0 "], ["strip", "no-leading-zeros"]).to_pylist() == ["17", "17", "0"]
    assert canonical_texts(["i\u0307"], ["nfkc", "upper"]).to_pylist() == ["\u0130"]


def test_wide_digits_spaces_and_zeros() -> None:
    texts = ["００１７ ", "17", "\t17", "000", "a1", " "]
    every = read_normalizations(["upper", "strip", "no-leading-zeros", "nfkc"])
    assert canonical_texts(texts, every).to_pylist() == ["17", "17", "17", "0", "A1", None]


@pytest.mark.parametrize("values", [[1.5], [True], [b"x"], pa.array([1.0]), pa.array([b"x"]), ["\ud800"], [["a"]]])
def test_what_has_no_exact_text_is_refused(values: Any) -> None:
    with pytest.raises(InputError, match="'pid'"):
        canonical_texts(values, column="pid")


def test_the_first_missing_one() -> None:
    assert first_missing(canonical_texts(["a", "", None])) == 1
    assert first_missing(canonical_texts(["a"])) is None


def test_unknown_normalisations() -> None:
    for wrong in (["lower"], "strip"):
        with pytest.raises(ParameterError):
            read_normalizations(wrong)
