"""Invented tables: exact totals, any shape, and no place preferred."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

import sudare
from sudare.accuracy.stand_in import invent_table, vary_table


@settings(max_examples=40)
@given(
    shape=st.lists(st.integers(1, 40), min_size=1, max_size=3).map(tuple),
    people=st.integers(0, 5000),
    seed=st.integers(0, 2**32),
)
def test_everybody_has_a_cell(shape: tuple[int, ...], people: int, seed: int) -> None:
    table = invent_table(sudare.Domain.of_shape(shape), people, seed)
    assert table.total == people
    assert table == invent_table(sudare.Domain.of_shape(shape), people, seed)


def test_a_domain_of_any_size() -> None:
    table = invent_table(sudare.Domain.of_shape((2**31, 2**31)), 10_000, 3)
    assert table.total == 10_000
    assert table.keys.size <= 10_000


@pytest.mark.parametrize("length", [3, 5, 12, 24, 50])
def test_no_place_is_preferred(length: int) -> None:
    """Over many tables each place has the same mean share, at the end of a padded axis too."""
    runs = 400
    domain = sudare.Domain.of_shape((8, length))
    shares = np.array([invent_table(domain, 1000, seed).to_dense().sum(axis=0) / 1000 for seed in range(runs)])
    scores = (shares.mean(axis=0) - 1 / length) / (shares.std(axis=0, ddof=1) / np.sqrt(runs))
    assert np.abs(scores).max() < norm.isf(1e-4 / (2 * length))


def test_clusters_as_people_settle() -> None:
    """Most cells are empty, and most of the people live in few cells, as on a census map."""
    table = invent_table(sudare.Domain.of_shape((256, 256)), 1_000_000, 1)
    counts = np.sort(table.to_dense().ravel())[::-1]
    assert 0.03 < (counts > 0).mean() < 0.35
    assert counts[: counts.size // 100].sum() > 0.25 * counts.sum()


def test_categories_vary_little_from_place_to_place() -> None:
    sex = sudare.Category("sex", ("female", "male"))
    table = invent_table(sudare.Domain((sudare.Positions("place", 64), sex)), 1_000_000, 2)
    dense = table.to_dense()
    crowded = dense.sum(axis=1) > 2000
    shares = dense[crowded, 0] / dense[crowded].sum(axis=1)
    assert shares.std() < 0.15


def test_variants_of_a_public_table() -> None:
    table = sudare.CountTable.from_dense(np.full((20, 20), 500))
    varied = vary_table(table, 7)
    assert varied != table
    assert abs(varied.total / table.total - 1) < 0.05
    assert 0.05 < np.std(varied.counts / 500) < 0.3
