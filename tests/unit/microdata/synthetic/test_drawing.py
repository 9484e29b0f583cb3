"""Rows from a model: counts as near as whole numbers can be, exact and fair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare import ResearchEntropy
from sudare.microdata.synthetic.drawing import WHOLE, _whole_weights, draw_rows, draw_values
from sudare.tables.adaptive.graphical_model import GraphicalModel


@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 6), st.integers(1, 300))
@settings(deadline=None, max_examples=60)
def test_each_value_gets_the_whole_number_above_or_below_its_share(
    seed: int, lines: int, values: int, rows: int
) -> None:
    generator = np.random.default_rng(seed)
    table = generator.gamma(0.5, 1.0, (lines, values)) + 1e-12
    groups = generator.integers(0, lines, rows)
    drawn = draw_values(table, groups, ResearchEntropy(seed))
    weights = _whole_weights(table)
    for line in range(lines):
        size = int((groups == line).sum())
        counts = np.bincount(drawn[groups == line], minlength=values)
        for value in range(values):
            assert (
                size * int(weights[line, value]) // WHOLE
                <= counts[value]
                <= -(-size * int(weights[line, value]) // WHOLE)
            )


def test_weights_add_up_to_the_whole_and_a_line_without_weight_is_even() -> None:
    weights = _whole_weights(np.array([[0.1, 0.2, 0.7], [0.0, 0.0, 0.0], [1e-300, 0.0, 0.0]]))
    assert weights.sum(axis=1).tolist() == [WHOLE] * 3
    assert weights[1].max() - weights[1].min() <= 3
    assert weights[2].tolist() == [WHOLE, 0, 0]


def test_single_rows_are_not_always_given_the_likeliest_value() -> None:
    """A largest remainder would give every group of one row the same value."""
    table = np.tile([0.7, 0.3], (4000, 1))
    drawn = draw_values(table, np.arange(4000), ResearchEntropy(5))
    assert 0.25 < drawn.mean() < 0.35


def test_columns_with_the_same_parent_are_independent_given_it() -> None:
    table = np.full((2, 2), 0.25)
    model = GraphicalModel([2, 2, 2], 1.0, {(0, 1): np.log(table), (0, 2): np.log(table)})
    rows = draw_rows(model, 40_000, ResearchEntropy(6))
    assert abs(np.corrcoef(rows[1], rows[2])[0, 1]) < 0.03


def test_rows_have_the_marginals_of_the_model() -> None:
    generator = np.random.default_rng(7)
    potentials = {
        (0, 1): generator.normal(size=(3, 4)),
        (1, 2): generator.normal(size=(4, 2)),
        (3,): generator.normal(size=3),
    }
    model = GraphicalModel([3, 4, 2, 3], 10_000.0, potentials)
    rows = draw_rows(model, 10_000, ResearchEntropy(8))
    for clique in potentials:
        keys = np.ravel_multi_index([rows[c] for c in clique], [model.sizes[c] for c in clique])
        expected = model.marginal(clique).ravel()
        assert np.abs(np.bincount(keys, minlength=expected.size) - expected).max() <= 2 + len(expected)


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_few_rows(rows: int) -> None:
    model = GraphicalModel([3, 2], 1.0, {(0, 1): np.zeros((3, 2))})
    assert [column.size for column in draw_rows(model, rows, ResearchEntropy(9))] == [rows, rows]
