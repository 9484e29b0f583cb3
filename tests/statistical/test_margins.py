"""Margins are right: no method moves people along an axis because of where a place stands.

Tables and noise are new in every run and all places along an axis are alike, so that mean signed errors are 0 but for chance.
Every mean is compared, in its own standard deviations, with the quantile for the number of means that are compared. The controls
publish as sudare once did.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from benchmarks.margins import EPSILON, PEOPLE_A_PLACE, SignedErrors, clustered, methods, signed_errors
from numpy.typing import NDArray
from scipy.stats import t

import sudare
from sudare.domain.layout import Layout
from sudare.refine.learning import occupancy, priors
from sudare.refine.learning.occupancy import Around
from sudare.refine.learning.settlements import MapLevel
from sudare.refine.trees import OpenLevel
from sudare.tables.trees import dense_tree, visited_level
from sudare.tables.trees.surroundings import Surroundings

ERROR_PROBABILITY = 1e-6
"""That a table without bias fails a test of this module."""

METHODS = list(methods((4, 4, 3)))
SLOW = ("auto-reference",)


def deviates(found: list[SignedErrors]) -> bool:
    """Whether any mean error of any place of any axis is further from 0 than chance allows for all of them together."""
    deviations = np.concatenate([np.abs(errors.deviations) for errors in found])
    return bool(deviations.max() > t.isf(ERROR_PROBABILITY / (2 * deviations.size), found[0].runs - 1))


@pytest.mark.slow
@pytest.mark.parametrize("method", [name for name in METHODS if name not in SLOW])
def test_margins_of_every_axis_are_unbiased(method: str) -> None:
    """Seven categories, as weekdays have, on a map whose sides are no powers of two. Long evidence has all lengths."""
    shape = (12, 13, 7)
    assert not deviates(signed_errors(shape, methods(shape)[method], 60))


@pytest.fixture
def lazy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables are taken for large ones: measured where somebody is left, and learned from few nodes."""
    monkeypatch.setattr(sys.modules["sudare.tables.mechanisms.wide_tree"], "MAX_DENSE_BITS", 0)
    monkeypatch.setattr(visited_level, "MIN_NODES", 200)
    monkeypatch.setattr(priors, "MIN_PLACES", 20)


def lazily_learned(table: NDArray[np.int64], bits: sudare.noise.EntropySource) -> Any:
    return sudare.tables.wide_tree(table, sudare.Budget(epsilon=EPSILON), estimate="learned", entropy=bits)


@pytest.mark.slow
@pytest.mark.usefixtures("lazy")
@pytest.mark.parametrize("shape", [(45, 22), (12, 13, 7)])
def test_margins_are_unbiased_where_few_nodes_are_visited(shape: tuple[int, ...]) -> None:
    assert not deviates(signed_errors(shape, lazily_learned, 150))


def by_place_in_parent(published: Any, table: NDArray[np.int64]) -> NDArray[np.float64]:
    """Errors of a map of 64 x 64 cells, summed over all cells that stand at the same place of their parents of 4 x 4."""
    errors = (published.to_dense() - table).reshape(16, 4, 16, 4)
    return np.asarray(errors.sum(axis=(0, 2)).ravel(), dtype=np.float64)


def errors_in_parents(runs: int) -> SignedErrors:
    """Most of the map is empty: many neighbours were not visited, and those of children at a parent's edge the most."""
    found = SignedErrors()
    for seed in range(runs):
        table = np.zeros((64, 64), dtype=np.int64)
        corner = np.random.default_rng(seed).integers(0, 64, size=2)
        table[:24, :24] = clustered((24, 24), np.random.default_rng(seed))
        table = np.roll(table, corner, axis=(0, 1))
        found.add(by_place_in_parent(lazily_learned(table, sudare.ResearchEntropy(seed)), table))
    return found


@pytest.mark.slow
@pytest.mark.deep
def test_no_place_in_a_parent_gains_more_than_in_a_dense_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is alone in a parent, at its edge more often than inside, is lost more easily: in every tree, by a little."""
    monkeypatch.setattr(occupancy, "MIN_NODES", 200)
    densely = errors_in_parents(120)
    monkeypatch.setattr(sys.modules["sudare.tables.mechanisms.wide_tree"], "MAX_DENSE_BITS", 0)
    monkeypatch.setattr(visited_level, "MIN_NODES", 200)
    lazily = errors_in_parents(120)
    assert np.abs(lazily.bias).max() < np.abs(densely.bias).max() + 0.15


@pytest.mark.slow
@pytest.mark.usefixtures("lazy")
def test_padding_that_counts_as_unvisited_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: beyond the end of an axis, cells without people are seen. No end is turned here: 40 is a multiple of 8."""
    shape = (40, 40)
    assert not deviates(signed_errors(shape, lazily_learned, 150))
    extents = Surroundings._extents

    def with_padding(self: Surroundings, axes: Any) -> Any:
        _, lengths, heights = extents(self, axes)
        padded = 1 << np.ceil(np.log2(lengths)).astype(np.int64)
        return padded >> heights, padded, heights

    monkeypatch.setattr(Surroundings, "_extents", with_padding)
    found = signed_errors(shape, lazily_learned, 150)
    assert deviates(found)
    assert found[0].bias[-1] < -0.3


@pytest.mark.deep
def test_a_prior_that_judges_the_ends_of_a_map_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: surroundings beyond the end of the map, mirrored, let it take people away from there."""
    shape, runs = (45, 22), 600
    publish = methods(shape)["auto"]
    assert not deviates(signed_errors(shape, publish, runs))
    monkeypatch.setattr(MapLevel, "is_at_end", lambda _, parents: np.zeros(parents.size, dtype=bool))
    found = signed_errors(shape, publish, runs)
    assert deviates(found)
    assert found[1].bias[0] < -0.15


@pytest.mark.deep
@pytest.mark.usefixtures("lazy")
@pytest.mark.parametrize("shape", [(64, 64), (37, 37), (50, 21), (33, 45), (7, 100), (16, 16, 13), (29, 3, 11)])
def test_margins_where_few_nodes_are_visited(shape: tuple[int, ...]) -> None:
    found = signed_errors(shape, lazily_learned, 2000)
    assert not deviates(found)
    for errors in found:
        assert errors.bound.max() < 0.25


@pytest.mark.slow
@pytest.mark.parametrize(("method", "length"), [("wide-tree-plain", 13), ("nn-wavelet", 7), ("topdown-bisection", 3)])
def test_without_turned_ends_the_last_category_gains(method: str, length: int) -> None:
    """The control: the layout itself, whose last node has a single category."""
    shape = (16, 16, length)
    name = method.removesuffix("-plain")

    def along(table: NDArray[np.int64], bits: sudare.noise.EntropySource) -> Any:
        layout = sudare.domain.morton_layout(shape)
        return sudare.publish(table, sudare.Budget(epsilon=0.1), name, layout=layout, entropy=bits)

    found = signed_errors(shape, along, 120)
    assert deviates(found)
    assert found[2].bias[-1] > 0.4
    assert not deviates(signed_errors(shape, methods(shape)[method], 120))


def around_with_padding(bits: Sequence[int], layout: Layout, axes: Any) -> Around:
    """What the surroundings once were: padding counted as empty neighbours, and a node at an end as its own."""
    from scipy.ndimage import uniform_filter

    def around(level: OpenLevel) -> Callable[[slice], NDArray[np.float64]]:
        splits = layout.axis_of_split[: sum(bits[: level.number])]
        shape = tuple(1 << splits.count(axis) for axis in range(len(layout.lengths)))
        order = Layout(shape, splits).to_tree(np.arange(level.values.size, dtype=np.uint64)).astype(np.int64)
        own = level.values[order].reshape(shape)
        block = 3 ** len(shape)
        out = np.empty(own.size)
        out[order] = ((uniform_filter(own, size=3, mode="nearest") * block - own) / (block - 1)).reshape(-1)
        return lambda part: level.rows(out, part)

    return around


def around_moved_inwards(bits: Sequence[int], layout: Layout, axes: Any) -> Around:
    """What the surroundings at the ends of a map once were: those of the next node inland, without the node itself."""
    from scipy.ndimage import uniform_filter

    def around(level: OpenLevel) -> Callable[[slice], NDArray[np.float64]]:
        splits = layout.axis_of_split[: sum(bits[: level.number])]
        shape = tuple(1 << splits.count(axis) for axis in range(2))
        order = Layout(shape, splits).to_tree(np.arange(level.values.size, dtype=np.uint64)).astype(np.int64)
        own = level.values[order].reshape(shape)
        inland = np.ix_(*(np.clip(np.arange(side), 1, side - 2) for side in shape))
        out = np.empty(own.size)
        out[order] = ((uniform_filter(own, size=3)[inland] * 9 - own) / 8).reshape(-1)
        return lambda part: level.rows(out, part)

    return around


def errors_of_rows(publish: Any, runs: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Signed errors of the first and last rows and columns of maps of 64 x 64 cells, and of those inside."""
    ends, inside = [], []
    for seed in range(runs):
        table = clustered((64, 64), np.random.default_rng(seed))
        error = (publish(table, sudare.ResearchEntropy(seed)).to_dense() - table).astype(np.float64)
        both = np.array([error.sum(axis=0), error.sum(axis=1)])
        ends.append(both[:, [0, -1]].ravel())
        inside.append(both[:, 4:-4].ravel())
    return np.array(ends), np.array(inside)


def test_the_ends_of_a_map_are_not_much_worse_than_the_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of their surroundings are unknown; with these as well, their errors would be 1.28 times those inside.

    The control: neighbours that are further inland let a whole row have too many, or too few. Tables and noise are the same.
    """
    publish, runs = methods((64, 64))["auto"], 40

    def rmse(errors: NDArray[np.float64]) -> float:
        return float(np.sqrt((errors**2).mean()))

    ends, inside = errors_of_rows(publish, runs)
    assert rmse(ends) < 1.6 * rmse(inside)
    assert abs(ends.mean()) < 0.2 * rmse(ends)
    monkeypatch.setattr(dense_tree, "_around", around_moved_inwards)
    once, inside_once = errors_of_rows(publish, runs)
    assert rmse(once) > 1.1 * rmse(ends)
    assert rmse(once) > 1.7 * rmse(inside_once)


def without_measured_margins(table: Any, bits: sudare.noise.EntropySource) -> Any:
    """A learned tree where no margin is measured, which would hide what else moves people."""
    return sudare.tables.wide_tree(table, sudare.Budget(epsilon=EPSILON), estimate="learned", entropy=bits)


@pytest.mark.slow
def test_padding_that_counts_as_empty_neighbours_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control for what is learned of empty places. No end is turned here: 24 is a multiple of 8."""
    shape = (64, 64, 24)
    learned = without_measured_margins
    assert not deviates(signed_errors(shape, learned, 30))
    monkeypatch.setattr(dense_tree, "_around", around_with_padding)
    found = signed_errors(shape, learned, 30)
    assert deviates(found)
    assert found[2].bias[-1] < -0.5


@pytest.mark.slow
def test_a_small_category_keeps_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """One person in ten, everywhere: it gains what non-negative counts move. The control moves nothing back."""
    shape, shares = (32, 32, 2), (0.9, 0.1)
    automatic = methods(shape)["auto"]
    people = PEOPLE_A_PLACE * 32 * 32 * 0.1

    def gain(found: SignedErrors) -> float:
        return float(found.total[-1] / found.runs / people)

    assert abs(gain(signed_errors(shape, automatic, 40, shares)[2])) < 0.1
    learned = without_measured_margins
    assert abs(gain(signed_errors(shape, learned, 40, shares)[2])) < 0.2
    monkeypatch.setattr(dense_tree, "correct_margins", lambda counts, *_: counts)
    assert gain(signed_errors(shape, learned, 40, shares)[2]) > 0.7


@pytest.mark.deep
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("length", range(2, 51))
def test_margins_for_every_length(method: str, length: int) -> None:
    """And nowhere is the bias large beside the error, at the ends of an axis or inside."""
    shape = (16, 16, length)
    runs = 60 if method in SLOW else 400
    found = signed_errors(shape, methods(shape)[method], runs)
    assert not deviates(found)


@pytest.mark.deep
@pytest.mark.parametrize("method", [name for name in METHODS if name not in SLOW])
@pytest.mark.parametrize("shape", [(37, 37), (50, 21), (33, 45), (7, 100), (29, 3, 11)])
def test_margins_of_maps_whose_sides_are_no_powers_of_two(method: str, shape: tuple[int, ...]) -> None:
    found = signed_errors(shape, methods(shape)[method], 1000)
    assert not deviates(found)
    for errors in found:
        assert errors.bound.max() < 0.25


def test_places_of_the_tables_are_alike() -> None:
    """The tables themselves favour no place: every margin has the mean of its axis."""
    shape, runs = (5, 7, 3), 400
    tables = np.array([clustered(shape, np.random.default_rng(seed)) for seed in range(runs)])
    for axis in range(3):
        others = tuple(1 + other for other in range(3) if other != axis)
        found = SignedErrors()
        for margin in tables.sum(axis=others):
            found.add(margin - margin.mean())
        assert not deviates([found])
