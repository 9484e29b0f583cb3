"""Margin trees: what they measure, and that nobody is moved between categories or areas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare.tables.strategies.axes import categories_first, places_and_attributes
from sudare.tables.strategies.margin_tree import read_strategy
from sudare.tables.trees.dense_tree import variance_of

ONE, TENTH = sudare.Budget(epsilon=1), sudare.Budget(epsilon=0.1)
MESH = sudare.Mesh("mesh", "3", 4160, 3040, 20, 14)
AGE, SEX = sudare.Category("age", ("young", "middle", "old")), sudare.Category("sex", ("f", "m"))


def town(domain: sudare.Domain, people: int = 20_000, seed: int = 0) -> sudare.CountTable:
    """People in a few clusters, with categories of unequal sizes."""
    generator = np.random.default_rng(seed)
    places = []
    for axis, length in enumerate(domain.shape):
        if axis < 2:
            centres = generator.uniform(0, length, 5)[generator.integers(5, size=people)]
            places.append(np.clip(np.rint(generator.normal(centres, 1.5)), 0, length - 1).astype(np.int64))
        else:
            shares = 2.0 ** -np.arange(length)
            places.append(generator.choice(length, size=people, p=shares / shares.sum()))
    keys, counts = np.unique(domain.keys_at(*places), return_counts=True)
    return sudare.CountTable.from_cells(domain, keys, counts)


@pytest.mark.parametrize(
    "domain",
    [
        sudare.Domain((MESH, AGE, SEX)),
        sudare.Domain((AGE, MESH)),
        sudare.Domain.of_shape((16, 16, 5)),
        sudare.Domain((sudare.Positions("bin", 100), SEX)),
        sudare.Domain((AGE, SEX)),
        sudare.Domain.of_shape((32, 32)),
    ],
    ids=lambda domain: str(domain.shape),
)
@pytest.mark.parametrize("budget", [ONE, sudare.Budget(rho=0.1)], ids=["laplace", "gaussian"])
def test_what_is_measured_is_paid_for_and_near_the_truth(domain: sudare.Domain, budget: sudare.Budget) -> None:
    noise: Any = "gaussian" if budget.currency == "rho" else "laplace"
    table = sudare.CountTable.from_dense(np.full(domain.shape, 50), domain)
    published = sudare.tables.margin_tree(table, budget, noise=noise, keep_measurements=True)
    assert published.event.cost == budget
    assert published.table.domain == domain
    assert published.measurements is not None
    assert len(published.measurements) == len(published.event.measurements)
    for kept, measurement in zip(published.measurements, published.event.measurements, strict=True):
        size = domain.cells * 50 / kept.values.size
        assert kept.keys.size == kept.values.size == np.unique(kept.keys).size
        assert abs(kept.values.mean() - size) < 12 * variance_of(measurement) ** 0.5 + 1
    assert abs(published.table.total - table.total) < 1000


def test_children_add_up_and_names_tell_what_was_measured() -> None:
    domain = sudare.Domain((MESH, AGE, SEX))
    weights = [[1, 1, 1, 1]] * 3
    published = sudare.tables.margin_tree(town(domain), ONE, bits=(5, 4), weights=weights, keep_measurements=True)
    assert published.measurements is not None
    names = [kept.name for kept in published.measurements]
    assert names[:4] == ["total", "total by age", "total by sex", "total by age, sex"]
    assert names[4] == "areas of 2**4 places"
    assert names[-2:] == ["places by sex", "cells"]
    assert [kept.values.size for kept in published.measurements[:4]] == [1, 3, 2, 6]
    assert published.measurements[-1].values.size == domain.cells


def test_measurements_are_sums_of_cells() -> None:
    """With next to no noise, each is the true sum of what its name and its first cell say."""
    domain = sudare.Domain((MESH, AGE))
    table = town(domain)
    settings: dict[str, Any] = {"bits": (5, 4), "weights": [[1, 1]] * 3, "keep_measurements": True}
    with pytest.warns(sudare.errors.WeakBudgetWarning):
        plenty = sudare.Budget(epsilon=4000)
    published = sudare.tables.margin_tree(table, plenty, **settings)
    assert published.table == table
    assert published.measurements is not None
    by_name = {kept.name: kept for kept in published.measurements}
    dense = table.to_dense()
    assert by_name["total by age"].values.tolist() == dense.sum(axis=(0, 1)).tolist()
    places = by_name["places"]
    rows, columns, _ = domain.places_of(places.keys)
    assert np.array_equal(dense.sum(axis=2)[rows, columns], places.values)
    areas = by_name["areas of 2**4 places by age"]
    rows, columns, ages = domain.places_of(areas.keys)
    for row, column, age, value in zip(rows, columns, ages, areas.values, strict=True):
        assert dense[row : row + 4, column : column + 4, age].sum() == value


@settings(max_examples=25, deadline=None)
@given(
    st.integers(2, 9), st.integers(2, 9), st.lists(st.integers(2, 4), max_size=3), st.integers(0, 2**32), st.booleans()
)
def test_whole_tables_with_a_public_total(rows: int, columns: int, lengths: list[int], seed: int, learns: bool) -> None:
    attributes = [sudare.Category(str(i), tuple(range(length))) for i, length in enumerate(lengths)]
    places = (sudare.Positions("row", 8 * rows), sudare.Positions("column", 8 * columns))
    domain = sudare.Domain((*places, *attributes))
    table = town(domain, 500, seed)
    estimate = "learned" if learns else "least-squares"
    published = sudare.tables.margin_tree(table, TENTH, estimate=estimate, public_total=True)  # type: ignore[arg-type]
    assert published.table.total == 500
    assert (published.table.counts > 0).all()
    assert published.event.invariants == ("total",)


@pytest.mark.parametrize("runs", [50, pytest.param(240, marks=pytest.mark.deep)])
def test_nobody_is_moved_between_categories(runs: int) -> None:
    """Signed errors of all margins, of categories of very unequal sizes, in many runs: none is beyond what chance allows."""
    domain = sudare.Domain((MESH, AGE, SEX))
    table = town(domain, 5000)
    true = table.to_dense()
    plan = sudare.plan_table(domain, TENTH)
    assert plan.mechanism == "margin-tree"
    errors = []
    for seed in range(runs):
        published = sudare.publish(table, TENTH, plan, entropy=sudare.ResearchEntropy(seed))
        errors.append((published.to_dense() - true).sum(axis=(0, 1)))
    each = np.array(errors, dtype=np.float64)
    margins = np.concatenate([each.sum(axis=2), each.sum(axis=1), each.reshape(len(each), -1)], axis=1)
    scores = margins.mean(axis=0) / (margins.std(axis=0, ddof=1) / np.sqrt(len(margins)))
    # The smallest category has 420 people and noise of 160 on each area: counts that cannot be negative help it a little.
    assert np.abs(scores).max() < 4.5, scores


def test_a_total_alone_says_nothing_of_categories() -> None:
    """The control: a wide tree without margins moves people to the smallest category, and the scores see it."""
    domain = sudare.Domain((MESH, AGE, SEX))
    table = town(domain, 5000)
    true = table.to_dense().sum(axis=(0, 1))
    errors = [
        sudare.tables.wide_tree(table, TENTH, entropy=sudare.ResearchEntropy(seed)).to_dense().sum(axis=(0, 1)) - true
        for seed in range(40)
    ]
    smallest = np.array(errors, dtype=np.float64)[:, 2, 1]
    assert smallest.mean() / (smallest.std(ddof=1) / np.sqrt(40)) > 9


def test_sparse_tables_above_the_dense_limit_keep_their_categories() -> None:
    """The smallest of three categories had been published with 33 times its people."""
    places = (sudare.Positions("row", 3000), sudare.Positions("column", 3000))
    domain = sudare.Domain((*places, sudare.Category("kind", ("a", "b", "c"))))
    generator = np.random.default_rng(1)
    people = 60_000
    rows, columns = (generator.integers(3000, size=people) for _ in range(2))
    kinds = generator.choice(3, size=people, p=(0.495, 0.495, 0.01))
    keys, counts = np.unique(domain.keys_at(rows, columns, kinds), return_counts=True)
    table = sudare.CountTable.from_cells(domain, keys, counts)
    plan = sudare.plan_table(domain, ONE)
    assert plan.settings["layout"] == "categories-first"
    published = sudare.publish(table, ONE, plan)
    found = np.bincount(domain.places_of(published.table.keys)[2], weights=published.table.counts, minlength=3)
    assert np.abs(found - np.bincount(kinds, minlength=3)).max() < 500


def test_categories_first_is_a_map_for_each_category() -> None:
    domain = sudare.Domain((sudare.Positions("row", 6), sudare.Positions("column", 6), AGE))
    layout = categories_first(domain).turned(5)
    leaves = layout.to_tree(np.arange(domain.cells, dtype=np.uint64))
    assert np.array_equal(leaves >> np.uint64(6), domain.places_of(np.arange(domain.cells, dtype=np.uint64))[2])
    assert np.array_equal(layout.to_raster(leaves), np.arange(domain.cells))


@given(st.permutations([0, 1, 2, 3]), st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_places_and_attributes_come_back(order: list[int], seed: int) -> None:
    kinds = (sudare.Positions("y", 70), sudare.Positions("x", 90), AGE, SEX)
    domain = sudare.Domain(tuple(kinds[i] for i in order))
    parts = places_and_attributes(domain)
    assert parts is not None
    assert {domain.shape[axis] for axis in parts.attributes} == {3, 2}
    keys = np.random.default_rng(seed).integers(domain.cells, size=50).astype(np.uint64)
    places, numbers = parts.split(keys)
    assert numbers.max() < 6
    assert np.array_equal(parts.join(places, numbers), keys)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"bits": (3,)}, "halvings of the map"),
        ({"bits": "49"}, "bits"),
        ({"weights": [[1, 1]]}, "weights"),
        ({"weights": [[1] * 4, [1] * 4, [1, 1, 1, 0]]}, "weights"),
        ({"weights": [[1] * 4, [1] * 4, [1, -1, 1, 1]]}, "weights"),
        ({"estimate": "plain"}, "estimate"),
        ({"noise": "uniform"}, "noise"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], match: str) -> None:
    settings = {"bits": (5, 4), **arguments}
    with pytest.raises(sudare.errors.ParameterError, match=match):
        sudare.tables.margin_tree(town(sudare.Domain((MESH, AGE, SEX))), ONE, **settings)


def test_too_many_attributes_and_too_many_cells_are_refused() -> None:
    many = tuple(sudare.Category(str(i), ("a", "b")) for i in range(5))
    with pytest.raises(sudare.errors.ParameterError, match="at most four attributes"):
        sudare.tables.margin_tree(sudare.CountTable.from_cells(sudare.Domain((MESH, *many)), [0], [1]), ONE)
    large = sudare.Domain((sudare.Positions("y", 4096), sudare.Positions("x", 4096), SEX))
    with pytest.raises(sudare.errors.ParameterError, match="at most 2"):
        sudare.tables.margin_tree(sudare.CountTable.from_cells(large, [0], [1]), ONE)


def test_the_usual_strategy() -> None:
    strategy = read_strategy(None, None, 10, 2)
    assert strategy.bits == (2, 4, 4)
    assert strategy.weights == ((1.0, 0.0, 0.0, 1.0),) * 4
    assert read_strategy(None, None, 0, 0).weights == ((1.0,),)


def test_people_of_several_rows_change_a_grouping_by_all_of_them() -> None:
    unit = sudare.Unit.with_rows(3)
    event = sudare.tables.margin_tree(town(sudare.Domain((MESH, AGE, SEX))), TENTH, unit=unit).event
    assert all(measurement.l1 >= 3 for measurement in event.measurements)  # type: ignore[attr-defined]
    assert event.cost == TENTH


def test_a_reference_helps_to_find_places() -> None:
    domain = sudare.Domain((MESH, AGE, SEX))
    table, before = town(domain, seed=4), town(domain, seed=4)
    errors = {}
    plan = sudare.plan_table(domain, TENTH)
    for name, reference in (("with", before), ("without", None)):
        squares = []
        for seed in range(8):
            published = sudare.publish(table, TENTH, plan, reference=reference, entropy=sudare.ResearchEntropy(seed))
            squares.append(((published.to_dense() - table.to_dense()).sum(axis=(2, 3)).astype(float) ** 2).mean())
        errors[name] = np.mean(squares)
    assert errors["with"] < 0.7 * errors["without"]
