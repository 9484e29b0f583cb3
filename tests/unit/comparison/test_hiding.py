from __future__ import annotations

import numpy as np
import pytest

from sudare.comparison.disclosing import single_out
from sudare.comparison.hiding import hide_small_cells
from sudare.comparison.people import Population, Sample
from sudare.comparison.views import View, spread
from sudare.errors import ParameterError
from sudare.microdata.hierarchies.hierarchy import Generalization

from .towns import half


@pytest.fixture(scope="module")
def sample() -> Sample:
    return half(400)


@pytest.fixture(scope="module")
def careless(sample: Sample) -> View:
    return hide_small_cells(sample, 3, secondary=False)


@pytest.fixture(scope="module")
def careful(sample: Sample) -> View:
    return hide_small_cells(sample, 3)


def test_what_is_shown_is_true_and_intervals_hold_the_truth(sample: Sample, careless: View, careful: View) -> None:
    for view in (careless, careful):
        shown = view.is_shown
        assert np.array_equal(view.estimate[shown], sample.table[shown])
        assert ((view.low <= sample.table) & (sample.table <= view.high)).all()
        assert not shown[(sample.table > 0) & (sample.table < 3)].any()
        assert shown[sample.table == 0].all()


def test_hiding_small_cells_alone_leaks_and_secondary_suppression_does_not(
    sample: Sample, careless: View, careful: View
) -> None:
    broken = single_out(careless, sample.table)
    assert broken.found > 0.2
    assert broken.right == 1.0
    assert single_out(careful, sample.table).found == 0.0
    assert careful.is_shown.sum() < careless.is_shown.sum()


def test_estimates_agree_with_the_subtotals_that_are_shown(sample: Sample, careless: View) -> None:
    # Without secondary suppression, subtotals are hidden only where they are small themselves.
    for axes in ((0,), (1,), (0, 1), (1, 2)):
        gone = tuple(axis for axis in range(5) if axis not in axes)
        truth = sample.table.sum(axis=gone)
        seen = (truth == 0) | (truth >= 3)
        assert np.allclose(careless.table(axes)[seen], truth[seen], atol=0.05)


def test_nothing_is_hidden_where_nothing_is_small() -> None:
    columns = (
        Generalization.of_paths("a", [("x", "*"), ("y", "*")]),
        Generalization.of_paths("b", [("u", "*"), ("v", "*")]),
    )
    codes = np.array([[place // 2, place % 2] for place in range(4)] * 20)
    everybody = Sample(Population(columns, codes), np.arange(80))
    assert np.array_equal(hide_small_cells(everybody, 3).estimate, everybody.table)


def test_the_register_sharpens_the_guess_of_hidden_cells(sample: Sample, careful: View) -> None:
    register = sample.population.table
    assert (careful.informed <= register + 1e-9).all()
    hidden = ~careful.is_shown
    gaps = [np.abs(estimate[hidden] - sample.table[hidden]).sum() for estimate in (careful.informed, careful.estimate)]
    assert gaps[0] < gaps[1]


def test_spreading_keeps_totals() -> None:
    groups = np.array([[0, 1], [1, 0]])
    totals = np.array([6.0, 4.0])
    found = spread(totals, groups, np.array([[1.0, 0.0], [0.0, 2.0]]))
    assert found.tolist() == [[2.0, 2.0], [2.0, 4.0]]
    assert np.array_equal(np.bincount(groups.ravel(), weights=found.ravel()), totals)


def test_a_view_has_one_shape() -> None:
    flat, square = np.zeros(4), np.zeros((2, 2))
    with pytest.raises(ParameterError, match="informed"):
        View(square, flat, square, square, square.astype(bool))
