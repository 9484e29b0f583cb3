"""PRAM: rows that add up to one, margins kept exactly in expectation, and draws that follow the matrix."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from sudare import ResearchEntropy
from sudare.errors import InputError, ParameterError
from sudare.microdata.perturb.pram import TransitionMatrix, randomize_values
from sudare.microdata.records import Records


@st.composite
def matrices(draw: st.DrawFn) -> TransitionMatrix:
    size = draw(st.integers(1, 5))
    rows = draw(
        st.lists(st.lists(st.integers(0, 6), min_size=size, max_size=size).filter(any), min_size=size, max_size=size)
    )
    return TransitionMatrix(
        tuple("abcde"[:size]), tuple(tuple(Fraction(share, sum(row)) for share in row) for row in rows)
    )


@given(matrices(), st.data())
def test_an_invariant_matrix_keeps_the_margin_exactly(matrix: TransitionMatrix, data: st.DataObject) -> None:
    counts: dict[str | None, int] = {label: data.draw(st.integers(0, 20)) for label in matrix.labels}
    invariant = matrix.invariant_for(counts)
    assert all(sum(row) == 1 and min(row) >= 0 for row in invariant.rows)
    assert invariant.expected(counts) == counts
    assert sum(matrix.expected(counts).values()) == sum(counts.values())


def test_the_matrix_itself_does_not_keep_the_margin() -> None:
    """Else the law above would prove nothing."""
    counts: dict[str | None, int] = {"a": 90, "b": 10}
    matrix = TransitionMatrix.keeping(["a", "b"], 0.8)
    assert matrix.expected(counts) == {"a": 74, "b": 26}
    assert matrix.invariant_for(counts).rows != matrix.rows


@given(st.integers(2, 8), st.fractions(0, 1, max_denominator=30))
def test_a_matrix_that_keeps_a_share(size: int, keep: Fraction) -> None:
    matrix = TransitionMatrix.keeping([str(i) for i in range(size)], keep)
    assert all(matrix.rows[i][i] == keep and sum(matrix.rows[i]) == 1 for i in range(size))


def test_epsilon_is_the_logarithm_of_the_largest_ratio() -> None:
    matrix = TransitionMatrix.keeping(["a", "b", "c"], 0.5)
    assert matrix.ratio == 2
    epsilon = matrix.local_epsilon
    assert epsilon is not None
    assert float(epsilon) == pytest.approx(math.log(2), rel=1e-15)
    assert TransitionMatrix.keeping(["a", "b"], 1).local_epsilon is None
    assert TransitionMatrix.keeping(["a", "b"], 0.5).local_epsilon == 0
    never_b = TransitionMatrix(("a", "b"), ((Fraction(1), Fraction(0)), (Fraction(1), Fraction(0))))
    assert never_b.ratio == 1


def test_draws_follow_the_matrix() -> None:
    rows = ((Fraction(1, 3), Fraction(2, 3), Fraction(0)), (Fraction(1, 7), Fraction(1, 7), Fraction(5, 7)), (0, 0, 1))
    matrix = TransitionMatrix(("a", "b", None), rows)  # type: ignore[arg-type]
    count = 30_000
    table = Records.of_columns({"v": ["a"] * count + ["b"] * count + [None] * 10, "row": range(2 * count + 10)})
    outcome = randomize_values(table, "v", matrix, entropy=ResearchEntropy(11))
    after = outcome.records.column("v").texts().tolist()
    assert after[2 * count :] == [None] * 10
    assert outcome.records.column("row").texts().tolist() == table.column("row").texts().tolist()
    for part, row in ((after[:count], matrix.rows[0]), (after[count : 2 * count], matrix.rows[1])):
        counts = Counter(part)
        possible = [(label, share) for label, share in zip(matrix.labels, row, strict=True) if share]
        assert set(counts) <= {label for label, _ in possible}
        statistic = sum((counts[label] - count * share) ** 2 / (count * share) for label, share in possible)
        assert statistic < chi2.isf(1e-6, len(possible) - 1)
    changed = sum(a != b for a, b in zip(after, table.column("v").texts().tolist(), strict=True))
    assert outcome.changed == Fraction(changed, table.rows)


def test_invariant_draws_keep_a_skewed_margin_where_others_flatten_it() -> None:
    table = Records.of_columns({"v": ["a"] * 18_000 + ["b"] * 2_000})
    matrix = TransitionMatrix.keeping(["a", "b"], 0.7)
    flat = randomize_values(table, "v", matrix, entropy=ResearchEntropy(1))
    kept = randomize_values(table, "v", matrix, invariant=True, entropy=ResearchEntropy(2))
    count_of_b = [Counter(outcome.records.column("v").texts())["b"] for outcome in (flat, kept)]
    assert count_of_b[0] > 6_000
    assert 1_700 < count_of_b[1] < 2_300
    assert (flat.method, kept.method) == ("pram", "invariant-pram")
    assert flat.local_epsilon is not None
    assert kept.local_epsilon is None  # its matrix was made from the data
    assert kept.changed > 0


@pytest.mark.parametrize(
    "rows",
    [
        ((Fraction(1, 2), Fraction(1, 3)), (0, 1)),
        ((1, 0),),
        ((Fraction(3, 2), Fraction(-1, 2)), (0, 1)),
        ((1,), (1,)),
        ((0.1, 0.9000001), (0, 1)),
        "ab",
        3,
    ],
)
def test_rows_must_be_probabilities_that_add_up_to_exactly_one(rows: Any) -> None:
    with pytest.raises(ParameterError, match="'rows'"):
        TransitionMatrix(("a", "b"), rows)


def test_mistakes_are_named() -> None:
    table = Records.of_columns({"v": ["a", "b", "secret-value"]})
    matrix = TransitionMatrix.keeping(["a", "b"], 0.9)
    with pytest.raises(InputError, match="row 3 of the data, column 'v'") as error:
        randomize_values(table, "v", matrix)
    assert "secret" not in str(error.value)
    for labels in ((), ("a", "a"), (1, 2), "ab"):
        with pytest.raises(ParameterError, match="'labels'"):
            TransitionMatrix(labels, ((1, 0), (0, 1)))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'counts'"):
        matrix.expected({"c": 1})
    with pytest.raises(ParameterError, match="'matrix'"):
        randomize_values(table, "v", [[1]])  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'labels'"):
        TransitionMatrix.keeping(["a"], 0.5)


def test_it_says_what_it_protects() -> None:
    table = Records.of_columns({"v": ["a", "b"]})
    matrix = TransitionMatrix.keeping(["a", "b"], 0.9)
    fixed, invariant = randomize_values(table, "v", matrix), randomize_values(table, "v", matrix, invariant=True)
    assert "local differential privacy" in fixed.protects.english
    assert "no differential privacy" in invariant.protects.english
    assert fixed.protects.japanese != invariant.protects.japanese
