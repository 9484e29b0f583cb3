"""Measured margins of short axes: planned, paid for, without bias, and met by the published table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import sudare
from sudare.tables.trees.short_axes import planned_margins, short_axes

TENTH = sudare.Budget(epsilon=0.1)
RUNS = 60


def hours(people_a_place: int = 150) -> np.ndarray:
    """People in clusters on a map, at hours of very unequal shares."""
    generator = np.random.default_rng(3)
    shares = np.array([1, 1, 8, 4, 2, 16])
    density = np.zeros((32, 32))
    for row, column in generator.integers(4, 28, size=(6, 2)):
        density[row - 3 : row + 3, column - 3 : column + 3] += people_a_place
    return np.asarray(generator.poisson(density[..., None] * shares / shares.sum()))


def errors_of_hours(counts: np.ndarray, margins: tuple[int, ...]) -> np.ndarray:
    """Signed errors of the margin of the hours in many runs."""
    true, errors = counts.sum(axis=(0, 1)), []
    for seed in range(RUNS):
        entropy = sudare.ResearchEntropy(seed)
        published = sudare.tables.wide_tree(counts, TENTH, estimate="learned", margins=margins, entropy=entropy)
        errors.append(published.to_dense().sum(axis=(0, 1)) - true)
    return np.array(errors)


def with_margin(budget: sudare.Budget, **settings: Any) -> sudare.Published:
    return sudare.tables.wide_tree(
        hours(), budget, estimate="learned", margins=(2,), keep_measurements=True, **settings
    )


def largest_score(errors: np.ndarray) -> float:
    deviations = errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
    return float(np.abs(errors.mean(axis=0) / deviations).max())


def test_margins_have_no_bias_and_little_error() -> None:
    counts = hours(people_a_place=30)
    limit = norm.isf(1e-4 / (2 * counts.shape[2]))
    with_margins, without = errors_of_hours(counts, (2,)), errors_of_hours(counts, ())
    assert largest_score(with_margins) < limit
    assert largest_score(without) > limit, "the control: without measured margins people are moved"
    flat = np.sqrt(32 * 32 * 2) / 0.1
    assert np.sqrt((with_margins**2).mean()) < 0.8 * flat


def test_which_axes() -> None:
    mesh = sudare.Mesh("mesh", "3", 4160, 3040, 40, 30)
    sex, age = sudare.Category("sex", ("f", "m")), sudare.Bins("age", tuple(range(0, 105, 5)))
    assert planned_margins(sudare.Domain((mesh, sex, age))) == (2, 3)
    assert planned_margins(sudare.Domain.of_shape((64, 64))) == ()
    assert planned_margins(sudare.Domain.of_shape((64, 64, 24))) == (2,)
    assert planned_margins(sudare.Domain((sex, age))) == (0,), "a margin of two cells tells nothing new"
    assert short_axes(sudare.Domain((sex, age))) == [0, 1]


def test_a_plan_of_many_attributes_pays_for_what_it_measures() -> None:
    attributes = tuple(sudare.Category(str(length), tuple(range(length))) for length in (2, 3, 4, 5, 6))
    plan = sudare.plan_table(sudare.Domain(attributes), TENTH, with_reference=True)
    assert plan.settings["margins"] == (0, 1, 2, 3, 4)
    assert [level.name for level in plan.levels][-1] == "margin of axis 5"
    assert sum(level.share for level in plan.levels) == pytest.approx(1)


def test_a_margin_is_paid_for() -> None:
    published = with_margin(TENTH)
    assert published.event.cost == TENTH
    assert published.measurements is not None
    margin = published.measurements[0]
    assert margin.name == "margin of axis 3"
    assert margin.keys.tolist() == [0, 1, 2, 3, 4, 5]
    assert np.abs(margin.values - hours().sum(axis=(0, 1))).max() < 25 * float(margin.measurement.scale)  # type: ignore[attr-defined]


def test_the_table_meets_what_was_measured() -> None:
    """But for the total, which is known better, and a rest of about the root of the number of lines."""
    published = with_margin(sudare.Budget(epsilon=1))
    assert published.measurements is not None
    told = published.measurements[0].values.astype(np.float64)
    own = published.to_dense().sum(axis=(0, 1))
    surplus = told - own
    assert np.abs(surplus - surplus.mean()).sum() <= 2 * np.sqrt(32 * 32)


def test_people_of_several_rows_change_a_margin_by_all_of_them() -> None:
    unit = sudare.Unit.with_rows(3)
    event = with_margin(TENTH, unit=unit).event
    assert all(measurement.l1 >= 3 for measurement in event.measurements)  # type: ignore[attr-defined]
    assert event.cost == TENTH


@pytest.mark.parametrize("margins", ["2", 2, (5,), (-1,), (2, 2), (True,), (0.5,)])
def test_margins_that_there_are_not(margins: Any) -> None:
    with pytest.raises(sudare.errors.ParameterError, match="margins"):
        sudare.tables.wide_tree(hours(), TENTH, estimate="learned", margins=margins)


def test_a_plain_tree_has_no_margins() -> None:
    with pytest.raises(sudare.errors.ParameterError, match="plain"):
        sudare.tables.wide_tree(hours(), TENTH, margins=(2,))


def test_the_usual_weights_have_one_for_each_margin() -> None:
    event = sudare.tables.wide_tree(hours(), TENTH, estimate="least-squares", margins=(2,)).event
    assert event.cost == TENTH
    with pytest.raises(sudare.errors.ParameterError, match="one for each margin"):
        sudare.tables.wide_tree(
            hours(), TENTH, estimate="least-squares", margins=(2,), bits=(3, 5, 5), weights=(1, 1, 1, 1)
        )
