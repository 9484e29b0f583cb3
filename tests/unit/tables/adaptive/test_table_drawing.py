"""Whole numbers from a model: floor or ceiling of every split, exact sums, no systematic error, any size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare import ResearchEntropy
from sudare.tables.adaptive import table_drawing
from sudare.tables.adaptive.graphical_model import GraphicalModel
from sudare.tables.adaptive.table_drawing import WHOLE, _whole_weights, draw_counts, split_counts


@given(
    st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 6), st.integers(1, 40), st.sampled_from([3, 1000, 2**60])
)
@settings(max_examples=40, deadline=None)
def test_a_cell_is_split_into_floors_and_ceilings_that_add_up(
    seed: int, lines: int, values: int, cells: int, most: int
) -> None:
    generator = np.random.default_rng(seed)
    table = generator.gamma(0.5, 1.0, (lines, values)) + 1e-12
    of_line = generator.integers(0, lines, cells)
    people = generator.integers(1, most, cells, endpoint=True)
    parents, chosen, split = split_counts(table, of_line, people, ResearchEntropy(seed))
    assert (split > 0).all()
    full = np.zeros((cells, values), dtype=object)
    for parent, value, count in zip(parents, chosen, split, strict=True):
        full[parent, value] += int(count)
    weights = _whole_weights(table)
    for cell in range(cells):
        assert sum(full[cell]) == people[cell]
        for value in range(values):
            exact = int(people[cell]) * int(weights[of_line[cell], value])
            assert exact // WHOLE <= full[cell, value] <= -(-exact // WHOLE)


def chain(total: float) -> GraphicalModel:
    """Three attributes, each related to the next."""
    generator = np.random.default_rng(4)
    return GraphicalModel(
        [3, 4, 5], total, {(0, 1): generator.normal(0, 1, (3, 4)), (1, 2): generator.normal(0, 1, (4, 5))}
    )


@pytest.mark.parametrize("total", [0, 1, 7, 500, 10**6, 2**62])
def test_the_table_is_near_the_model(total: int) -> None:
    model = chain(max(1.0, float(total)))
    places, people = draw_counts(model, total, ResearchEntropy(1))
    assert int(people.sum()) == total
    assert (people > 0).all()
    dense = np.zeros((3, 4, 5))
    np.add.at(dense, tuple(places), people.astype(float))
    for clique in ((0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)):
        dropped = tuple(axis for axis in range(3) if axis not in clique)
        away = np.abs(dense.sum(axis=dropped) - model.marginal(clique)).max()
        # Floors and ceilings at every step, and probabilities in multiples of 2**-31.
        assert total == 0 or away <= 8 + 10 * total * 2.0**-31


def test_too_many_people_are_drawn_several_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_drawing, "MAX_PARCELS", 50)
    for total in (51, 12_345):
        places, people = draw_counts(chain(float(total)), total, ResearchEntropy(1))
        assert int(people.sum()) == total
        assert people.size == places[0].size <= 50
    small = GraphicalModel([3], 1.0, {(0,): np.zeros(3)})
    assert draw_counts(small, 1000, ResearchEntropy(1))[1].max() - 333 <= 1  # few cells: nothing is taken together


def test_no_margin_of_drawn_tables_has_a_systematic_error() -> None:
    model, runs = chain(60.0), 600
    sums = np.zeros((runs, 3, 4, 5))
    source = ResearchEntropy(9)
    for run in range(runs):
        places, people = draw_counts(model, 60, source)
        np.add.at(sums[run], tuple(places), people)
    for clique in ((0,), (2,), (0, 2), (0, 1, 2)):
        dropped = tuple(1 + axis for axis in range(3) if axis not in clique)
        errors = sums.sum(axis=dropped) - model.marginal(clique)
        deviation = errors.std(axis=0, ddof=1) / runs**0.5
        assert (np.abs(errors.mean(axis=0)) < 5 * deviation + 1e-6).all()


def test_cells_that_depend_on_the_same_are_spread_evenly() -> None:
    """10,000 cells of one person and one line: each value gets its share of them to within a few people."""
    table = np.array([[0.1, 0.25, 0.65]])
    lines, people = np.zeros(10_000, dtype=np.int64), np.ones(10_000, dtype=np.int64)
    _, values, split = split_counts(table, lines, people, ResearchEntropy(2))
    assert np.abs(np.bincount(values, weights=split) - [1000, 2500, 6500]).max() <= 10


def test_lines_without_weight_are_even() -> None:
    lines, people = np.zeros(1, dtype=np.int64), np.array([8])
    for line in ([0.0, 0.0], [np.nan, np.nan]):
        assert split_counts(np.array([line]), lines, people, ResearchEntropy(1))[2].tolist() == [4, 4]
