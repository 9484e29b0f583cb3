"""Samples: exact sizes, exact probabilities decided with as many bits as it takes, and words."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import accumulate
from math import comb, factorial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from sudare import ResearchEntropy
from sudare.errors import InputError, ParameterError
from sudare.microdata.perturb.exact_draws import draw_categories, random_order, toss_coins
from sudare.microdata.perturb.sampling import sample_by_coins, sample_of_size, sample_of_strata
from sudare.microdata.records import Records
from sudare.noise.entropy import EntropySource


class Scripted(EntropySource):
    """Gives the words of a list, and fails when they are used up."""

    def __init__(self, words: list[int]) -> None:
        self.left = list(words)

    def fill(self, words: Any) -> None:
        for i in range(words.size):
            words[i] = self.left.pop(0)

    def spawn(self, count: int) -> list[EntropySource]:
        raise NotImplementedError


def naive_category(probabilities: list[Fraction], bits: str) -> int | None:
    """The category of a uniform number of which these binary digits are known; None if they do not decide."""
    low = Fraction(int(bits, 2), 2 ** len(bits))
    high = low + Fraction(1, 2 ** len(bits))
    ends = list(accumulate(probabilities))
    places = [next(i for i, end in enumerate(ends) if low < end), next(i for i, end in enumerate(ends) if high <= end)]
    return places[0] if places[0] == places[1] else None


SHARES = st.lists(st.integers(0, 5), min_size=1, max_size=5).filter(any)


@given(SHARES, st.data())
def test_a_category_is_that_of_the_uniform_number(shares: list[int], data: st.DataObject) -> None:
    probabilities = [Fraction(share, sum(shares)) for share in shares]
    ends = list(accumulate(probabilities))
    # Words at and beside the ends of the categories, where 64 bits may not decide.
    near = [int(end * 2**64) + step for end in ends for step in (-1, 0, 1) if 0 <= int(end * 2**64) + step < 2**64]
    first = data.draw(st.sampled_from([0, 2**64 - 1, 12345, *near]))
    second = data.draw(st.sampled_from([0, 2**64 - 1, 2**63, int(Fraction(1, 3) * 2**64)]))
    third = data.draw(st.integers(0, 2**64 - 1))
    words = [first, second, third]
    drawn = draw_categories(probabilities, 1, source := Scripted(words))
    used = 3 - len(source.left)
    bits = "".join(f"{word:064b}" for word in words[:used])
    assert naive_category(probabilities, bits) == drawn[0]
    assert probabilities[drawn[0]] > 0
    if used > 1:
        assert naive_category(probabilities, bits[:-64]) is None


def test_a_third_is_a_third_to_the_last_bit() -> None:
    word = 2**64 // 3
    assert toss_coins(Fraction(1, 3), 1, Scripted([word - 1])).tolist() == [True]
    assert toss_coins(Fraction(1, 3), 1, Scripted([word + 1])).tolist() == [False]
    assert toss_coins(Fraction(1, 3), 1, Scripted([word, word, word - 1])).tolist() == [True]
    assert toss_coins(Fraction(1, 3), 1, Scripted([word, word, word + 1])).tolist() == [False]


def test_an_order_with_a_tie_is_drawn_again() -> None:
    assert random_order(3, Scripted([5, 5, 1, 30, 10, 20])).tolist() == [1, 2, 0]


def test_every_order_comes_up_equally_often() -> None:
    draws = 7_200
    source = ResearchEntropy(5)
    counts = Counter(tuple(random_order(4, source).tolist()) for _ in range(draws))
    expected = draws / factorial(4)
    statistic = sum((counts[order] - expected) ** 2 / expected for order in counts)
    assert len(counts) == 24
    assert statistic < chi2.isf(1e-6, 23)


def test_every_sample_of_a_size_comes_up_equally_often() -> None:
    table, source, draws = Records.of_columns({"a": range(5)}), ResearchEntropy(6), 2_000
    counts = Counter(
        tuple(sample_of_size(table, 2, entropy=source).records.column("a").texts().tolist()) for _ in range(draws)
    )
    expected = draws / comb(5, 2)
    assert len(counts) == comb(5, 2)
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < chi2.isf(1e-6, comb(5, 2) - 1)


@given(st.lists(st.sampled_from(["a", "b", None]), max_size=60), st.integers(0, 2**32))
def test_samples_are_rows_of_the_table_in_order(values: list[str | None], seed: int) -> None:
    table = Records.of_columns({"row": range(len(values)), "value": values})
    size = len(values) // 2
    results = [
        sample_by_coins(table, 0.5, entropy=ResearchEntropy(seed)),
        sample_of_size(table, size, entropy=ResearchEntropy(seed)),
        sample_of_strata(table, "value", 0.5, entropy=ResearchEntropy(seed)),
    ]
    assert results[1].records.rows == size
    for result in results:
        rows = [int(row) for row in result.records.column("row").texts()]
        assert rows == sorted(set(rows))
        assert result.records.column("value").texts().tolist() == [values[row] for row in rows]
        assert result.touched == (Fraction(len(rows), len(values)) if values else 0)
        assert result.changed == 0
    strata = Counter(results[2].records.column("value").texts().tolist())
    assert all(0 <= 2 * strata[value] - count + 1 <= 2 for value, count in Counter(values).items())


def test_rates_of_none_and_of_all() -> None:
    table = Records.of_columns({"a": range(50)})
    assert sample_by_coins(table, 0).records.rows == 0
    assert sample_by_coins(table, 1).records.rows == 50
    assert sample_of_size(table, 50).records.column("a").texts().tolist() == [str(i) for i in range(50)]


def test_each_record_of_a_stratum_is_drawn_with_the_share_as_its_probability() -> None:
    table, source, draws = Records.of_columns({"town": ["a"] * 4 + ["z"], "row": range(5)}), ResearchEntropy(8), 1_200
    counts: Counter[str] = Counter()
    for _ in range(draws):
        sample = sample_of_strata(table, "town", Fraction(3, 10), entropy=source).records
        counts.update(sample.column("row").texts().tolist())
        assert sample.column("town").texts().tolist().count("a") in (1, 2)
    assert set(counts) == set("01234")
    # Six standard deviations.
    assert all(abs(count - 0.3 * draws) < 6 * (draws * 0.21) ** 0.5 for count in counts.values())


def test_a_coin_decides_on_what_is_left_over() -> None:
    table = Records.of_columns({"town": ["z"]})
    third = 2**64 // 3
    assert sample_of_strata(table, "town", Fraction(1, 3), entropy=Scripted([third - 1, 5])).records.rows == 1
    assert sample_of_strata(table, "town", Fraction(1, 3), entropy=Scripted([third + 1, 5])).records.rows == 0


def test_who_takes_everybody_says_that_nobody_is_hidden() -> None:
    table = Records.of_columns({"sex": ["f"] * 3 + ["m"] * 2})
    hidden = "cannot be sure that the record is there"
    for outcome in (
        sample_by_coins(table, 1),
        sample_of_size(table, 5),
        sample_of_strata(table, "sex", 1),
        sample_of_strata(table, "sex", {"f": 3, "m": 2}),
    ):
        assert "nothing is hidden" in outcome.protects.english
        assert hidden not in outcome.protects.english
        assert "何も隠れません" in outcome.protects.japanese
    partly = sample_of_strata(table, "sex", {"f": 3, "m": 1}).protects.english
    assert "Of at least one stratum every record was asked for" in partly
    for outcome in (sample_by_coins(table, 0.9), sample_of_size(table, 4), sample_of_strata(table, "sex", {"f": 1})):
        assert hidden in outcome.protects.english


def test_strata_by_number() -> None:
    table = Records.of_columns({"sex": ["f"] * 5 + ["m"] * 5 + [None] * 3})
    sample = sample_of_strata(table, "sex", {"m": 2, None: 1})
    assert Counter(sample.records.column("sex").texts().tolist()) == {"m": 2, None: 1}


def test_mistakes_are_named_without_counts() -> None:
    table = Records.of_columns({"sex": ["f"] * 7})
    with pytest.raises(InputError, match="larger than the table") as size:
        sample_of_size(table, 8)
    with pytest.raises(InputError, match="fewer than the 9 records") as stratum:
        sample_of_strata(table, "sex", {"f": 9})
    with pytest.raises(InputError, match="fewer than the 1 records"):
        sample_of_strata(table, "sex", {"x": 1})
    for error in (size, stratum):
        assert "7" not in str(error.value)
        assert error.value.japanese
    with pytest.raises(InputError, match="no column 'sexx'"):
        sample_of_strata(table, "sexx", 0.5)
    for rate in (-0.1, 1.1, "half", float("nan"), True):
        with pytest.raises(ParameterError, match="'rate'"):
            sample_by_coins(table, rate)
    with pytest.raises(ParameterError, match="'sizes'"):
        sample_of_strata(table, "sex", {3: 1})  # type: ignore[dict-item]
    with pytest.raises(ParameterError, match="add up to 1"):
        draw_categories([Fraction(1, 2)], 1)


def test_it_says_what_it_protects() -> None:
    outcome = sample_by_coins(Records.of_columns({"a": [1]}), 0.5)
    for words in (outcome.protects, outcome.keeps):
        assert words.explain("en") != words.explain("ja")
    assert "no differential privacy by itself" in outcome.protects.english
    assert np.issubdtype(random_order(3).dtype, np.int64)
