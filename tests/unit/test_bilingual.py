"""The carrier of words: blanks, nested values and lists in each language; values that compare, hash and pickle."""

from __future__ import annotations

import pickle

import pytest

from sudare.bilingual import AND, Words, blanks_of

AREAS = Words("{what} of {cells:,} cells", "{cells:,} セルの{what}")


def test_blanks_are_filled_in_each_language() -> None:
    words = AREAS.format(what=Words("areas", "領域"), cells=4096)
    assert (words.english, words.japanese) == ("areas of 4,096 cells", "4,096 セルの領域")
    assert str(words) == words.explain("en") == words.to_dict()["en"]
    assert words.explain("ja") == words.to_dict()["ja"]


def test_each_language_writes_numbers_and_lists_in_its_own_way() -> None:
    share = Words("{share:.1%} of {parts}", "{parts}の {share:.0%}")
    words = share.format(share=0.125, parts=[Words("ranges", "区間"), "age", 3])
    assert words.to_dict() == {"en": "12.5% of ranges, age, 3", "ja": "区間、age、3の 12%"}
    assert Words.joined(["a", "b", Words("c", "丙")], AND).to_dict() == {"en": "a and b and c", "ja": "aとbと丙"}
    assert Words.joined([]).english == ""


def test_words_may_hold_words_that_hold_words() -> None:
    inner = AREAS.format(what=Words("areas", "領域"), cells=16)
    outer = Words("{areas} by {name}", "{areas}（{name} 別）").format(areas=inner, name="age")
    assert outer.to_dict() == {"en": "areas of 16 cells by age", "ja": "16 セルの領域（age 別）"}


def test_values_compare_hash_and_pickle() -> None:
    one, other = (AREAS.format(cells=16, what=Words("areas", "領域")) for _ in range(2))
    assert one == other
    assert len({one, other, AREAS.format(cells=17, what="x")}) == 2
    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301 - our own bytes
    assert one != Words(one.english, one.japanese)


def test_braces_are_letters_until_blanks_are_filled() -> None:
    assert Words("a {name}", "{name} の").english == "a {name}"
    assert Words("in {file}", "{file} で").format(file="{x}.csv").japanese == "{x}.csv で"


def test_a_blank_without_a_value_is_a_mistake() -> None:
    with pytest.raises(KeyError, match="cells"):
        AREAS.format(what="areas")
    assert blanks_of("{a} {b:,} {{c}}") == {"a", "b"}


def test_words_of_documents() -> None:
    words = AREAS.format(what="x", cells=1)
    assert Words.read(words.to_dict(), "old") == Words("x of 1 cells", "1 セルのx")
    for damaged in (None, 3, "text", {"en": "a"}, {"en": "a", "ja": 1}):
        assert Words.read(damaged, "old") == Words.same("old")
