"""The prior that has seen settlements: what it looks at, what it concludes, and when it keeps silent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.domain.domain import Domain
from sudare.domain.layout import Layout, morton_layout
from sudare.kernels.tables.settlements import FEATURES, OF_PLACE, learn_factors
from sudare.refine.learning import settlements
from sudare.refine.learning.settlements import (
    KIND_EDGES,
    MapLevel,
    Network,
    describe_level,
    moments_of,
    read_network,
    steps_of,
    use_settlements,
)
from sudare.refine.trees import Judge, LevelJudgement, OpenLevel
from sudare.tables.trees.dense_tree import cells_of_nodes, places_in_tree
from sudare.tables.trees.surroundings import last_places, located
from tests.reference.naive_settlements import described, posterior

KINDS = len(KIND_EDGES) + 2
DEVIATION = 4.0


def map_of(lengths: tuple[int, int], above: int, seed: int) -> tuple[Layout, MapLevel, OpenLevel]:
    """A map of cells below one level of parents, with random estimates."""
    generator = np.random.default_rng(seed)
    layout = morton_layout(lengths)
    above = min(above, layout.depth)
    bits = (above, layout.depth - above)
    cells = cells_of_nodes(layout, bits)[-1]
    values = np.where(cells > 0, generator.normal(3, 9, size=cells.size), 0.0)
    parents = generator.integers(0, 60, size=1 << above)
    parents[0] = 7
    place = located(layout, last_places(layout), above, bits[1])
    assert place is not None
    variances = np.broadcast_to(DEVIATION**2, values.shape)
    return layout, place, OpenLevel(2, 1 << bits[1], values, variances, cells, parents)


def on_map(layout: Layout, of_leaves: np.ndarray) -> np.ndarray:
    return of_leaves[places_in_tree(layout, np.arange(layout.cells, dtype=np.uint64))].reshape(layout.lengths)


@given(st.integers(3, 20), st.integers(3, 20), st.integers(0, 6), st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_descriptions_are_those_of_the_naive_twin(rows: int, columns: int, above: int, seed: int) -> None:
    layout, place, level = map_of((rows, columns), above, seed)
    described_all = describe_level(level, place, DEVIATION)(slice(None))
    values, cells = on_map(layout, level.values) / DEVIATION, on_map(layout, np.asarray(level.cells))
    down, right = int(place.child_rows.max()) + 1, int(place.child_columns.max()) + 1
    counts = (
        np.array([[level.parents[r | c] for c in place.parent_column_bits] for r in place.parent_row_bits]) / DEVIATION
    )
    leaves = places_in_tree(layout, np.arange(layout.cells, dtype=np.uint64)).reshape(layout.lengths)
    found = {int(parent): row for row, parent in enumerate(level.inhabited)}
    for row in range(rows):
        for column in range(columns):
            parent, child = divmod(int(leaves[row, column]), level.fan)
            if parent in found:
                expected = described(values, cells, counts, row, column, down, right)
                assert described_all[found[parent], child, :OF_PLACE] == pytest.approx(expected, abs=1e-4)


def test_a_place_does_not_see_itself() -> None:
    """Its own noise is judged by the description; it must not be part of it."""
    _, place, level = map_of((32, 32), 6, 1)
    changed = level.values.copy()
    own = int(level.inhabited[3]) * level.fan + 5
    changed[own] += 100
    before, after = (
        describe_level(replace(level, values=values), place, DEVIATION)(slice(None))[3]
        for values in (level.values, changed)
    )
    assert (before[5] == after[5]).all()
    assert (before != after).any(), "others see it"


@pytest.mark.parametrize("turn", ["mirrored", "turned"])
def test_descriptions_do_not_depend_on_directions(turn: str) -> None:
    layout, place, level = map_of((32, 32), 6, 2)

    def moved(grid: np.ndarray) -> np.ndarray:
        return grid[::-1] if turn == "mirrored" else grid.T

    order = places_in_tree(layout, np.arange(layout.cells, dtype=np.uint64)).reshape(32, 32)
    values = np.empty(level.values.size)
    values[order] = moved(on_map(layout, level.values))
    above = place.parent_row_bits[:, None] | place.parent_column_bits
    parents = np.empty(level.parents.size, dtype=np.int64)
    parents[above] = moved(level.parents[above])
    both = [level, replace(level, values=values, parents=parents)]
    descriptions = []
    for one in both:
        of_all = np.full((level.parents.size, level.fan, FEATURES), np.nan)
        of_all[one.inhabited] = describe_level(one, place, DEVIATION)(slice(None))
        descriptions.append(of_all.reshape(-1, FEATURES)[order])
    np.testing.assert_allclose(
        np.nan_to_num(descriptions[1]),
        np.nan_to_num(np.stack([moved(descriptions[0][..., k]) for k in range(FEATURES)], -1)),
        atol=1e-5,
    )


@pytest.mark.parametrize("is_laplace", [True, False])
@pytest.mark.parametrize("value", [-30.0, -3.0, -0.5, 0.0, 0.40625, 1.703125, 6.0, 11.890625])
def test_posteriors_are_those_of_the_naive_twin(value: float, is_laplace: bool) -> None:
    generator = np.random.default_rng(4)
    shares = generator.dirichlet(np.ones(KINDS))
    moments = moments_of(is_laplace)
    at = moments[steps_of(np.array([value]), np.array([1.0]))[0]]
    whole = (shares * at[:, 0]).sum()
    mean = (shares * at[:, 1]).sum() / whole
    expected = posterior(shares, max(value, -12.0), is_laplace=is_laplace)
    assert mean == pytest.approx(expected[0], rel=1e-6)
    assert (shares * at[:, 2]).sum() / whole - mean**2 == pytest.approx(expected[1], rel=1e-6)
    assert 1 - shares[0] * at[0, 0] / whole == pytest.approx(expected[2], rel=1e-6, abs=1e-9)


def test_factors_are_learned_from_what_is_seen() -> None:
    """Where empty places are three times as frequent as the prior says, this is found; where it is right, nothing changes."""
    generator = np.random.default_rng(5)
    shares = generator.dirichlet(np.ones(KINDS), size=40_000)
    middles = np.concatenate([[0.0], (np.array([0.0, *KIND_EDGES]) + np.array([*KIND_EDGES, 24.0])) / 2])
    for wanted in (1.0, 3.0):
        factors = np.ones(KINDS)
        factors[0] = wanted
        true_shares = shares * factors
        true_shares /= true_shares.sum(axis=1, keepdims=True)
        kinds = (true_shares.cumsum(axis=1) > generator.random((len(shares), 1))).argmax(axis=1)
        seen = middles[kinds] + generator.laplace(0, np.sqrt(0.5), len(shares))
        likelihood = np.ascontiguousarray(
            moments_of(True)[steps_of(np.clip(seen, -12, 13.9), np.ones(len(seen))), :, 0]
        )
        found = np.empty(KINDS)
        learn_factors(shares, likelihood, 20.0, 200, found)
        found /= found[1:].mean()
        assert found[0] == pytest.approx(wanted, rel=0.15)


def silent(judge: Judge, level: OpenLevel) -> bool:
    return judge(level) is None


def test_who_knows_nothing_keeps_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too few nodes, noise below one person, no map, and surroundings that explain nothing: another judge is asked."""
    _, place, level = map_of((64, 64), 8, 6)
    generator = np.random.default_rng(7)
    is_town = np.repeat(np.arange(level.parents.size) % 5 == 0, level.fan)
    truth = np.where(is_town & (generator.random(level.values.size) < 0.5), 10.0, 0.0)
    parents = np.maximum(truth.reshape(-1, level.fan).sum(axis=1).astype(np.int64), 1)
    seen = replace(level, values=truth + generator.laplace(0, DEVIATION / np.sqrt(2), truth.size), parents=parents)
    judge = use_settlements(lambda _: place, 2, is_laplace=True)
    assert not silent(judge, seen)
    assert silent(use_settlements(lambda _: None, 2, is_laplace=True), seen)
    assert silent(judge, replace(seen, variances=np.broadcast_to(0.5, seen.values.shape)))
    monkeypatch.setattr(settlements, "MIN_NODES", 1 << 20)
    assert silent(judge, seen)


def test_a_prior_that_explains_nothing_keeps_silent() -> None:
    """A network that guesses at random is not believed."""
    _, place, level = map_of((64, 64), 8, 8)
    generator = np.random.default_rng(9)
    sizes = [(FEATURES, 16), (16, KINDS)]
    guesses = Network(
        tuple(generator.normal(0, 3, size).astype(np.float32) for size in sizes),
        tuple(generator.normal(0, 3, size[1]).astype(np.float32) for size in sizes),
    )
    seen = replace(
        level,
        values=generator.laplace(0, DEVIATION, level.values.size) + 20 * (generator.random(level.values.size) < 0.3),
    )
    assert silent(use_settlements(lambda _: place, 2, is_laplace=True, network=guesses), seen)


def test_of_cells_as_many_take_part_as_are_expected() -> None:
    """Above them all do; and somebody takes part below every inhabited parent."""
    _, place, level = map_of((64, 64), 8, 10)
    generator = np.random.default_rng(11)
    is_town = np.repeat(generator.random(level.parents.size) < 0.3, level.fan)
    truth = np.where(is_town & (generator.random(level.values.size) < 0.6), 30.0, 0.0)
    parents = np.maximum(truth.reshape(-1, level.fan).sum(axis=1).astype(np.int64), 1)
    seen = replace(level, values=truth + generator.laplace(0, DEVIATION / np.sqrt(2), truth.size), parents=parents)
    taking = {}
    for last in (2, 3):
        judge = use_settlements(lambda _: place, last, is_laplace=True)(seen)
        assert judge is not None
        known = judge(slice(None), lambda n: np.zeros(n, dtype=np.uint64))
        taking[last] = known.variances > 0
        assert taking[last].any(axis=1).all()
    assert taking[3].all()
    assert 0.5 < taking[2].sum() / (truth > 0).sum() < 2.5


def test_the_ends_of_the_map_are_left_to_another_judge() -> None:
    """Half of their surroundings are unknown; whatever stood for them, the prior would move people along the axis."""
    _, place, level = map_of((64, 64), 8, 10)
    generator = np.random.default_rng(11)
    is_town = np.repeat(generator.random(level.parents.size) < 0.3, level.fan)
    truth = np.where(is_town & (generator.random(level.values.size) < 0.6), 30.0, 0.0)
    parents = np.maximum(truth.reshape(-1, level.fan).sum(axis=1).astype(np.int64), 1)
    seen = replace(level, values=truth + generator.laplace(0, DEVIATION / np.sqrt(2), truth.size), parents=parents)
    above = place.parent_row_bits[:, None] | place.parent_column_bits
    inside = np.isin(seen.inhabited, above[1:-1, 1:-1])
    assert inside.any()
    assert not inside.all()
    other = seen.judge_as_estimated(slice(None))
    stamped = LevelJudgement(other.values + 1000, other.variances)
    for at_ends, expected in ((None, other), (lambda _: lambda _part, _words: stamped, stamped)):
        judge = use_settlements(lambda _: place, 2, is_laplace=True, at_ends=at_ends)(seen)
        assert judge is not None
        known = judge(slice(None), lambda n: np.zeros(n, dtype=np.uint64))
        assert (known.values[~inside] == expected.values[~inside]).all()
        assert (known.variances[~inside] == expected.variances[~inside]).all()
        assert (known.values[inside] != other.values[inside]).mean() > 0.9


def test_the_network_is_small_and_complete() -> None:
    network = read_network()
    assert network.weights[0].shape[0] == FEATURES
    assert network.weights[-1].shape[1] == KINDS
    assert all(np.isfinite(array).all() for array in (*network.weights, *network.offsets))


def test_other_tables_are_no_maps() -> None:
    for shape in ((64,), (16, 16, 16)):
        layout = morton_layout(Domain.of_shape(shape).shape)
        assert located(layout, last_places(layout), 4, 4) is None
