"""Margins of single attributes: all measurements together, without the systematic error of counts that are never negative."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.tables.adaptive.graphical_model import GraphicalModel, fit_model
from sudare.tables.adaptive.measured import Evidence
from sudare.tables.adaptive.raking import attribute_estimates, raked


@given(st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_margins_agree_and_relations_stay(seed: int) -> None:
    generator = np.random.default_rng(seed)
    model = GraphicalModel([2, 3], 90.0, {(0, 1): generator.normal(0, 1, (2, 3))})
    targets = [90 * generator.dirichlet(np.full(size, 5.0)) for size in (2, 3)]
    found = raked(model, targets)
    for attribute, target in enumerate(targets):
        assert np.abs(found.marginal((attribute,)) - target).max() < 0.5
    before, after = (table.marginal((0, 1)) for table in (model, found))
    odds = [table[0, :-1] * table[1, 1:] / (table[0, 1:] * table[1, :-1]) for table in (before, after)]
    assert np.allclose(odds[0], odds[1])


def test_estimates_weigh_all_margins_by_their_noise() -> None:
    pair = np.array([[10.0, -2.0, 4.0], [5.0, 3.0, 0.0]])
    evidence = [
        Evidence((0,), np.array([14.0, 6.0]), np.full(2, 3.0)),
        Evidence((1,), np.array([15.0, 1.0, 4.0]), np.full(3, 1.0)),
        Evidence((0, 1), pair, np.full((2, 3), 2.0)),
    ]
    first, second = attribute_estimates(evidence, [2, 3], 20.0)
    weighed = (np.array([14.0, 6.0]) / 3 + pair.sum(axis=1) / 6) / (1 / 3 + 1 / 6)
    assert np.allclose(first, weighed + (20 - weighed.sum()) / 2)
    assert np.isclose(second.sum(), 20)
    (cut,) = attribute_estimates([Evidence((0,), np.array([30.0, -9.0]), np.ones(2))], [2], 20.0)
    assert cut.tolist() == [20.0, 0.0]


def test_noise_on_empty_cells_moves_nobody_between_the_values_of_an_attribute() -> None:
    """The first value has all its people in 10 of 40 cells, the second has them in all: noise above 0 in 30 empty cells."""
    counts = np.full((2, 40), 25.0)
    counts[0] = 0
    counts[0, :10] = 100
    generator = np.random.default_rng(3)
    errors = []
    for _ in range(30):
        noisy = counts + generator.normal(0, 25, counts.shape)
        evidence = [Evidence((0, 1), noisy, np.full(counts.shape, 625.0))]
        model = fit_model([2, 40], evidence, 2000.0, steps=200)
        last = raked(model, attribute_estimates(evidence, [2, 40], 2000.0))
        errors.append([one.marginal((0,))[0] - 1000 for one in (model, last)])
    biased, unbiased = np.mean(errors, axis=0)
    chance = 4 * 25 * 20**0.5 / 30**0.5
    assert abs(unbiased) < chance < abs(biased)
