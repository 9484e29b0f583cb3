from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sudare.comparison.methods import METHODS
from sudare.noise.entropy import ResearchEntropy

from .towns import half

FAST = [name for name in METHODS if name not in ("suppression", "aim")]


@pytest.mark.parametrize("name", FAST)
def test_every_method_gives_a_view_that_its_seed_repeats(name: str) -> None:
    method, sample = METHODS[name], half(400)
    setting = method.settings[-1]
    one, same = (method.protect(sample, setting, ResearchEntropy(4)) for _ in range(2))
    assert one.estimate.shape == sample.table.shape
    assert np.array_equal(one.estimate, same.estimate)
    assert (one.low <= one.high).all()
    assert (one.epsilon is not None) == method.is_private
    assert (one.epsilon == float(setting)) == method.is_private


@pytest.mark.parametrize("name", ["swapping", "cell-key", "flat", "nn-wavelet", "wide-tree", "mst"])
def test_another_seed_gives_another_result(name: str) -> None:
    method, sample = METHODS[name], half(400)
    one, other = (method.protect(sample, method.settings[0], ResearchEntropy(seed)) for seed in (4, 5))
    assert not np.array_equal(one.estimate, other.estimate)


def test_swapping_keeps_areas_and_kinds_of_people() -> None:
    sample = half()
    view = METHODS["swapping"].protect(sample, Fraction(1, 2), ResearchEntropy(1))
    assert np.array_equal(view.table((0,)), sample.table.sum(axis=(1, 2, 3, 4)))
    assert np.array_equal(view.table((1, 2, 3, 4)), sample.table.sum(axis=0))
    assert not np.array_equal(view.estimate, sample.table)


def test_cell_keys_keep_zeros_and_answer_a_table_always_alike() -> None:
    sample = half()
    view = METHODS["cell-key"].protect(sample, Fraction(5), ResearchEntropy(1))
    truth = sample.table
    assert (view.estimate[truth == 0] == 0).all()
    assert np.abs(view.estimate - truth).max() <= 5
    assert np.array_equal(view.table((0, 1)), view.table((0, 1)))
    assert not np.array_equal(view.table((0,)), view.estimate.sum(axis=(1, 2, 3, 4)))


@pytest.mark.parametrize("k", [3, 30])
def test_k_anonymous_groups_have_k_people(k: int) -> None:
    sample = half()
    view = METHODS["k-anonymity"].protect(sample, Fraction(k), ResearchEntropy(1))
    groups = view.high.sum(axis=-1)  # of everything but the sensitive column
    assert groups[groups > 0].min() >= k
    assert view.estimate.sum() >= 0.95 * sample.table.sum()
    assert view.informed.sum() == pytest.approx(view.estimate.sum())
    assert (view.informed[sample.population.table == 0] < 1e-9).mean() > 0.9


def test_settings_are_told_in_both_languages() -> None:
    assert METHODS["swapping"].told(Fraction(1, 20)).english == "5% swapped"
    assert METHODS["flat"].told(Fraction(3, 10)).japanese == "ε = 0.3"
    assert METHODS["suppression"].told(Fraction(10)).japanese == "しきい値 10"
    assert METHODS["none"].told(Fraction(0)).english == ""
