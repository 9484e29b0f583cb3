"""Privelet against matrices, its sensitivity against all contributions, and what it refuses."""

from __future__ import annotations

from functools import reduce
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sudare import Budget, CountTable, Domain, ResearchEntropy, Unit
from sudare.domain import SignedTable, morton_layout, raster_layout
from sudare.errors import GuaranteeError, ParameterError, WeakBudgetWarning
from sudare.noise import noise_for
from sudare.noise.entropy import EntropySource
from sudare.tables.mechanisms.privelet import haar_coefficients, haar_counts, privelet, sensitivity_of_coefficients
from tests.reference import naive
from tests.scripted import ScriptedEntropy

REFINEMENTS: tuple[Any, ...] = (None, "counts")
DEPTHS = st.lists(st.integers(0, 4), min_size=1, max_size=3).map(tuple)
SHAPES = st.lists(st.integers(1, 6), min_size=1, max_size=3).map(tuple)
TABLES = SHAPES.flatmap(lambda shape: arrays.arrays(np.int64, shape, elements=st.sampled_from([0, 0, 1, 2, 40, 10**9])))


def matrix(depth: int) -> np.ndarray:
    """The total, then for each node in heap order 1 for its left leaves and -1 for its right ones."""
    size = 2**depth
    rows = [np.ones(size, dtype=np.int64)]
    for node in range(1, size):
        level = node.bit_length() - 1
        width = size >> level
        start = (node - 2**level) * width
        row = np.zeros(size, dtype=np.int64)
        row[start : start + width // 2] = 1
        row[start + width // 2 : start + width] = -1
        rows.append(row)
    return np.array(rows)


def whole_matrix(depths: tuple[int, ...]) -> np.ndarray:
    return np.asarray(reduce(np.kron, [matrix(depth) for depth in depths]))


def counts_of(coefficients: np.ndarray, depths: tuple[int, ...], source: EntropySource | None = None) -> np.ndarray:
    counts = coefficients.copy()
    haar_counts(counts, depths, source or ResearchEntropy(1))
    return counts


def naive_counts(coefficients: np.ndarray, depths: tuple[int, ...], source: EntropySource) -> np.ndarray:
    """Axis by axis and vector by vector, with the coins in the order of the coefficients' places."""
    numbers = coefficients.reshape([2**depth for depth in depths]).astype(object)
    for axis, depth in enumerate(depths):
        if depth == 0:
            continue
        words = source.words(-(-numbers.size // 64)).tolist()
        coins = np.array([words[place // 64] >> place % 64 & 1 for place in range(numbers.size)]).reshape(numbers.shape)
        vectors = np.moveaxis(numbers, axis, -1).reshape(-1, 2**depth)
        of_vectors = np.moveaxis(coins, axis, -1).reshape(-1, 2**depth)
        solved = [
            naive.haar_counts(vector[0], vector.tolist(), own.tolist())
            for vector, own in zip(vectors, of_vectors, strict=True)
        ]
        moved = np.moveaxis(numbers, axis, -1).shape
        numbers = np.moveaxis(np.array(solved, dtype=object).reshape(moved), -1, axis)
    return np.asarray(numbers.ravel().tolist(), dtype=object)


def exact_values(coefficients: np.ndarray, depths: tuple[int, ...]) -> np.ndarray:
    """The exact inverse, in fractions."""
    numbers = coefficients.reshape([2**depth for depth in depths]).astype(object)
    for axis in range(len(depths)):
        numbers = np.apply_along_axis(_solved, axis, numbers)
    return np.asarray(numbers.ravel())


def _solved(vector: np.ndarray) -> np.ndarray:
    solved = np.empty(vector.size, dtype=object)
    solved[:] = naive.haar_values(vector[0], vector.tolist())
    return solved


def coefficients_of(dense: np.ndarray, depths: tuple[int, ...]) -> np.ndarray:
    return haar_coefficients(np.arange(dense.size, dtype=np.uint64), dense.ravel(), depths)


@settings(max_examples=60)
@given(depths=DEPTHS.filter(lambda depths: sum(depths) <= 8), seed=st.integers(0, 1000))
def test_the_transform_is_the_matrix(depths: tuple[int, ...], seed: int) -> None:
    dense = np.random.default_rng(seed).integers(0, 50, size=2 ** sum(depths))
    assert np.array_equal(coefficients_of(dense, depths), whole_matrix(depths) @ dense)


@settings(max_examples=60)
@given(depths=DEPTHS, seed=st.integers(0, 1000))
def test_the_inverse_gives_the_numbers_back(depths: tuple[int, ...], seed: int) -> None:
    dense = np.random.default_rng(seed).integers(-(2**30), 2**30, size=2 ** sum(depths))
    assert np.array_equal(counts_of(coefficients_of(dense, depths), depths), dense)


@pytest.mark.parametrize("depths", [(7, 7), (1, 9), (9, 1), (3, 0, 7)])
def test_more_columns_than_are_transformed_at_once(depths: tuple[int, ...]) -> None:
    dense = np.random.default_rng(2).integers(0, 9, size=2 ** sum(depths))
    expected = dense.reshape([2**depth for depth in depths])
    for axis, depth in enumerate(depths):
        expected = np.moveaxis(np.tensordot(matrix(depth), expected, axes=(1, axis)), 0, axis)
    assert np.array_equal(coefficients_of(dense, depths), expected.ravel())
    assert np.array_equal(counts_of(coefficients_of(dense, depths), depths), dense)


NOISY = DEPTHS.filter(lambda depths: sum(depths) <= 7).flatmap(
    lambda depths: st.tuples(
        st.just(depths),
        arrays.arrays(
            np.int64,
            1 << sum(depths),
            elements=st.one_of(st.integers(-50, 50), st.sampled_from([2**62, -(2**62), 2**63 - 1, 1 - 2**63])),
        ),
    )
)


@settings(max_examples=80)
@given(noisy=NOISY, seed=st.integers(0, 10**6))
def test_the_inverse_is_the_naive_one_in_whole_numbers_and_overflows_nowhere(
    noisy: tuple[tuple[int, ...], np.ndarray], seed: int
) -> None:
    depths, coefficients = noisy
    found = counts_of(coefficients, depths, ResearchEntropy(seed))
    assert found.tolist() == naive_counts(coefficients, depths, ResearchEntropy(seed)).tolist()


@settings(max_examples=60)
@given(noisy=NOISY, seed=st.integers(0, 10**6))
def test_every_count_is_near_the_exact_inverse_and_the_total_is_exact(
    noisy: tuple[tuple[int, ...], np.ndarray], seed: int
) -> None:
    """Less than one apart for each axis that has halves; along one axis, so is every node of the tree."""
    depths, coefficients = noisy
    found = counts_of(coefficients, depths, ResearchEntropy(seed)).astype(object)
    exact = exact_values(coefficients, depths)
    axes = max(1, sum(depth > 0 for depth in depths))
    assert max(abs(a - b) for a, b in zip(found, exact, strict=True)) < axes
    assert sum(found) == coefficients[0]
    if axes == 1:
        while found.size > 1:
            found, exact = (x[::2] + x[1::2] for x in (found, exact))
            assert max(abs(a - b) for a, b in zip(found, exact, strict=True)) < 1


def test_rounding_favours_no_place() -> None:
    """The mean over coins is the exact inverse, at every place; within 4.5 standard errors of values at most 1 apart."""
    depths, runs = (3, 2), 4000
    coefficients = np.arange(7, 39) * np.array([1, -3] * 16)
    exact = exact_values(coefficients, depths)
    found = np.array([counts_of(coefficients, depths, ResearchEntropy(seed)) for seed in range(runs)])
    apart = np.abs(found.mean(axis=0) - exact.astype(float)) / (found.std(axis=0) + 1e-9) * runs**0.5
    assert apart[found.std(axis=0) > 0].max() < 4.5
    assert (found.std(axis=0) < 1).all()
    one_sided = np.array(
        [counts_of(coefficients, depths, ScriptedEntropy([2**64 - 1] * 2))]
    )  # a twin that always rounds up on the left
    assert np.abs(one_sided.mean(axis=0) - exact.astype(float)).max() > 0.25


def test_small_cells_beside_a_huge_one_are_published_exactly() -> None:
    with pytest.warns(WeakBudgetWarning):
        budget = Budget(epsilon=300)
    published = privelet(np.array([2**60, 3, 0, 1]), budget)
    assert published.to_dense().tolist() == [2**60, 3, 0, 1]


def test_totals_are_right_on_average() -> None:
    """A map of few people and much noise: signed, the mean total is within its standard error; cut off at 0 it is not."""
    counts = np.zeros((64, 64), dtype=np.int64)
    counts[20:30, 10:40] = 7
    people, runs = int(counts.sum()), 40
    made = [privelet(counts, Budget(epsilon=0.1), entropy=ResearchEntropy(seed)) for seed in range(runs)]
    assert all(one.is_signed for one in made)
    assert all((one.to_dense() < 0).any() for one in made)
    deviation = 2**0.5 * 49 / 0.1  # of one coefficient: a table that needs no padding has the noisy total itself
    assert abs(np.mean([one.table.total for one in made]) - people) < 4.5 * deviation / runs**0.5
    cut_off = np.mean([np.maximum(one.to_dense(), 0).sum() for one in made])
    assert cut_off > 100 * people
    refined = [
        privelet(counts, Budget(epsilon=0.1), refine="counts", entropy=ResearchEntropy(seed)) for seed in range(runs)
    ]
    for signed, one in zip(made, refined, strict=True):
        assert type(one.table) is CountTable
        assert one.table.total == max(signed.table.total, 0)
        assert one.event == signed.event


@settings(max_examples=60)
@given(counts=TABLES, seed=st.integers(0, 10**6), along=st.sampled_from([None, morton_layout, raster_layout]))
def test_naive_twin(counts: np.ndarray, seed: int, along: Any) -> None:
    """Pad, multiply by the matrix, add the same noise, invert in whole numbers with the same coins."""
    layout = None if along is None else along(counts.shape)
    found = privelet(counts, Budget(epsilon=2), layout=layout, entropy=ResearchEntropy(seed), keep_measurements=True)
    if layout is None:
        depths = tuple((length - 1).bit_length() for length in counts.shape)
        padded = np.zeros([2**depth for depth in depths], dtype=np.int64)
        inside = np.ix_(*(range(length) for length in counts.shape))
        padded[inside] = counts
        padded = padded.ravel()
    else:
        depths = (layout.depth,)
        order = layout.to_tree(np.arange(counts.size, dtype=np.uint64)).astype(np.int64)
        padded = np.zeros(2**layout.depth, dtype=np.int64)
        padded[order] = counts.ravel()
    source = ResearchEntropy(seed)
    noisy = whole_matrix(depths) @ padded + noise_for(found.event.measurements[0]).draw(padded.size, source)
    solved = naive_counts(noisy, depths, source)
    at_cells = solved.reshape([2**depth for depth in depths])[inside] if layout is None else solved[order]
    assert found.to_dense().tolist() == at_cells.reshape(counts.shape).tolist()
    assert found.measurements is not None
    assert np.array_equal(found.measurements[0].values, noisy)


@settings(max_examples=60)
@given(counts=TABLES, seed=st.integers(0, 10**6), along=st.sampled_from([None, morton_layout, raster_layout]))
def test_refined_counts_keep_the_signed_total(counts: np.ndarray, seed: int, along: Any) -> None:
    layout = None if along is None else along(counts.shape)
    signed, refined = (
        privelet(counts, Budget(epsilon=1), layout=layout, refine=refine, entropy=ResearchEntropy(seed)).table
        for refine in REFINEMENTS
    )
    assert type(signed) is SignedTable
    assert type(refined) is CountTable
    if not any(length & (length - 1) for length in counts.shape):  # else cells are turned, and noise falls on others
        assert refined.total == max(signed.total, 0)


@settings(max_examples=25)
@given(counts=TABLES)
def test_with_hardly_any_noise_the_table_comes_back(counts: np.ndarray) -> None:
    table = CountTable.from_dense(counts)
    line = morton_layout(counts.shape)
    for layout, depths in ((None, [(length - 1).bit_length() for length in counts.shape]), (line, [line.depth])):
        changed = int(np.prod([depth + 1 for depth in depths]))
        budget = Budget(epsilon=1).times(1000 * changed)
        assert np.array_equal(privelet(table, budget, layout=layout).to_dense(), counts)
        assert privelet(table, budget, layout=layout, refine="counts").table == table


def contributions(unit: Unit, cells: int) -> list[np.ndarray]:
    vectors = product(range(unit.rows_per_cell + 1), repeat=cells)
    return [np.array(v) for v in vectors if sum(k > 0 for k in v) <= unit.cells and sum(v) <= unit.rows]


@pytest.mark.parametrize("depths", [(0,), (1,), (2,), (3,), (1, 1), (0, 2), (1, 2), (1, 1, 1)], ids=str)
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize(("cells", "rows_per_cell", "rows"), [(1, 1, 1), (2, 1, 2), (1, 2, 2), (2, 2, 3)])
def test_sensitivity_is_enough_for_all_contributions(
    depths: tuple[int, ...], adjacency: Any, cells: int, rows_per_cell: int, rows: int
) -> None:
    unit = Unit("person", cells, rows_per_cell, rows, adjacency)
    transform = whole_matrix(depths)
    ones = contributions(unit, 2 ** sum(depths))
    others = ones if adjacency == "replace" else [np.zeros(2 ** sum(depths), dtype=int)]
    stated = sensitivity_of_coefficients(unit, depths)
    changes = transform @ np.array([a - b for a in ones for b in others]).T
    sizes = np.abs(changes)
    largest = [sizes.sum(axis=0).max(), (sizes**2).sum(axis=0).max(), (sizes > 0).sum(axis=0).max(), sizes.max()]
    stated_sizes = [stated.l1, stated.l2_squared, stated.cells, stated.largest]
    assert all(size <= bound for size, bound in zip(largest, stated_sizes, strict=True))
    if (cells, rows_per_cell) == (1, 1) and sum(depths) > 0:
        # What a single row can do to the l2 norm, and to one coefficient, is stated exactly.
        assert (largest[1], largest[3]) == (stated.l2_squared, stated.largest)
        if adjacency == "add-remove" or len(depths) == 1:
            assert largest[0] == stated.l1
        if adjacency == "add-remove":
            assert largest == stated_sizes


def test_the_event_costs_the_budget() -> None:
    counts = np.ones((8, 4), dtype=int)
    for budget, noise in ((Budget(epsilon=1), "laplace"), (Budget(rho=0.1), "gaussian")):
        any_noise: Any = noise
        event = privelet(counts, budget, noise=any_noise, unit=Unit("household", cells=2)).event
        assert event.cost == budget
        assert event.mechanism == "privelet"
        (measurement,) = event.measurements
        assert measurement.cells == 2 * 4 * 3  # type: ignore[attr-defined]
        spent = measurement.epsilon if budget.currency == "epsilon" else measurement.rho
        assert spent == (budget.epsilon if budget.currency == "epsilon" else budget.rho)
    assert privelet(counts, Budget(epsilon=1, delta=1e-6), noise="gaussian").event.cost == Budget(epsilon=1, delta=1e-6)
    line = privelet(counts, Budget(epsilon=1), layout=morton_layout((8, 4))).event.measurements[0]
    assert line.cells == 6  # type: ignore[attr-defined]


def test_seeds_threads_and_tiny_domains() -> None:
    counts = np.random.default_rng(1).integers(0, 30, size=(1100, 1000))
    tables = [
        privelet(counts, Budget(epsilon=20), entropy=ResearchEntropy(3), threads=threads).table for threads in (1, 2)
    ]
    assert tables[0] == tables[1]
    assert privelet(counts, Budget(epsilon=20), entropy=ResearchEntropy(4)).table != tables[0]
    for shape in [(1,), (1, 1), (2,), (1, 7), (3, 1, 2)]:
        assert privelet(np.full(shape, 9), Budget(epsilon=5)).table.domain.shape == shape


def test_huge_counts_are_no_error() -> None:
    for _ in range(20):
        published = privelet(np.array([2**62, 0, 0]), Budget(epsilon=0.002)).table
        assert abs(published.total - 2**62) < 10**5
        refined = privelet(np.array([2**62, 0, 0]), Budget(epsilon=0.002), refine="counts").table
        assert 2**62 - 10**5 < refined.total <= 2**62
    counts = np.zeros((4, 4), dtype=np.int64)
    counts[1, 2] = 2**60
    assert abs(int(privelet(counts, Budget(epsilon=1)).to_dense()[1, 2]) - 2**60) < 10**4


def test_what_is_refused_is_refused_before_anything_is_drawn() -> None:
    source = ScriptedEntropy([])
    counts = np.ones((4, 4), dtype=int)
    large = CountTable.from_cells(Domain.of_shape((2**14, 2**14 + 1)), [0], [1])
    with pytest.raises(
        ParameterError, match=r"at most 2\*\*28 cells, .* Got 2\*\*29 cells .* 'wide-tree'.*'negative-l2'"
    ):
        privelet(large, Budget(epsilon=1), entropy=source)
    with pytest.raises(GuaranteeError, match="delta"):
        privelet(counts, Budget(epsilon=1), noise="gaussian", entropy=source)
    with pytest.raises(ParameterError, match=r"number from 0\.001 to"):
        privelet(counts, Budget(epsilon=1).times(10**6), entropy=source)
    wrong: list[dict[str, Any]] = [
        {"noise": "pink"},
        {"refine": "cut"},
        {"refine": 1},
        {"unit": 5},
        {"layout": morton_layout((8, 4))},
        {"layout": "spiral"},
        {"threads": 0},
        {"keep_measurements": 1},
    ]
    for arguments in wrong:
        with pytest.raises(ParameterError, match=f"The '{next(iter(arguments))}' parameter of privelet"):
            privelet(counts, Budget(epsilon=1), entropy=source, **arguments)
    for no_table in ([1, 2], None, np.array([-1, 2]), np.array([1.5])):
        not_a_table: Any = no_table
        with pytest.raises(ParameterError):
            privelet(not_a_table, Budget(epsilon=1), entropy=source)
