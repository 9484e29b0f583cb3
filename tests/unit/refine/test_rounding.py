"""Controlled rounding meets its sums and is as near as can be."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.errors import ParameterError
from sudare.refine import controlled_rounding, nearest_integers, project_on_simplex, round_two_way


def nearest_by_trying(values: np.ndarray, total: int) -> float:
    """The least squared distance of whole numbers >= 0 with a total, by trying all of them."""
    best = np.inf
    for start in product(range(total + 1), repeat=values.size - 1):
        last = total - sum(start)
        if last >= 0:
            best = min(best, float(((np.array([*start, last]) - values) ** 2).sum()))
    return best


@given(st.lists(st.floats(0, 6).map(lambda x: round(x, 2)), min_size=1, max_size=4), st.integers(0, 9))
def test_one_parent_gets_the_nearest_point(values: list[float], total: int) -> None:
    z = np.array(values)
    whole = controlled_rounding(z, np.zeros(z.size, dtype=int), [total])
    assert whole.sum() == total
    assert whole.min() >= 0
    assert float(((whole - z) ** 2).sum()) == pytest.approx(nearest_by_trying(z, total), abs=1e-9)


@given(st.integers(0, 2**32), st.integers(1, 60), st.integers(1, 8))
def test_parents_are_independent(seed: int, children: int, parents: int) -> None:
    """All parents at once give what each gives alone, in whatever order the children come."""
    rng = np.random.default_rng(seed)
    values = rng.exponential(2, children) * (rng.random(children) < 0.7)
    owners = rng.integers(0, parents, children)
    sums = np.maximum(np.bincount(owners, values, parents) + rng.integers(-4, 5, parents), 0).astype(np.int64)
    sums[np.bincount(owners, minlength=parents) == 0] = 0
    whole = controlled_rounding(values, owners, sums)
    for parent in range(parents):
        own = owners == parent
        if own.any():
            alone = controlled_rounding(values[own], np.zeros(own.sum(), dtype=int), sums[[parent]])
            assert whole[own].tolist() == alone.tolist()
    assert (np.bincount(owners, whole, parents) == sums).all()


@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(0, 200))
def test_one_parent_is_nearest_integers(seed: int, children: int, total: int) -> None:
    z = project_on_simplex(np.random.default_rng(seed).laplace(scale=5, size=children), total)
    whole = controlled_rounding(z, np.zeros(children, dtype=int), [total])
    near = nearest_integers(z, total)
    assert ((whole - z) ** 2).sum() == pytest.approx(((near - z) ** 2).sum())


def test_shape_is_kept() -> None:
    assert controlled_rounding([[1.5, 0.5], [2.0, 0.0]], [[0, 0], [1, 1]], [2, 2]).tolist() == [[2, 0], [2, 0]]


@pytest.mark.parametrize(
    ("values", "parents", "sums", "parameter"),
    [
        ([-1.0], [0], [1], "values"),
        ([float("nan")], [0], [1], "values"),
        ([1e300], [0], [1], "values"),
        ([1.0], [1], [1], "parents"),
        ([1.0], [-1], [1], "parents"),
        ([1.0], [0.0], [1], "parents"),
        ([1.0], [0, 0], [1], "parents"),
        ([1.0], [0], [1.5], "parent_sums"),
        ([1.0], [0], [-1], "parent_sums"),
        ([1.0], [0], [1, 1], "parent_sums"),
        ([1.0], [0], [], "parent_sums"),
        ([1.0], [0], [True], "parent_sums"),
    ],
)
def test_arguments_that_are_refused(values: Any, parents: Any, sums: Any, parameter: str) -> None:
    with pytest.raises(ParameterError, match=f"The '{parameter}' parameter of controlled_rounding"):
        controlled_rounding(values, parents, sums)


def with_whole_margins(seed: int, rows: int, columns: int) -> np.ndarray:
    """A mean of tables that have the same margins: real cells, whole margins."""
    rng = np.random.default_rng(seed)
    table = rng.poisson(2, (rows, columns)).astype(np.float64)
    steps = int(rng.integers(1, 8))
    mean = table.copy()
    for _ in range(steps - 1):
        moved = table.copy()
        (a, b), (c, d) = rng.integers(0, rows, 2), rng.integers(0, columns, 2)
        step = min(moved[a, c], moved[b, d])
        moved[a, c] -= step
        moved[b, d] -= step
        moved[a, d] += step
        moved[b, c] += step
        mean += moved
    return np.asarray(mean / steps)


@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 6))
def test_two_margins(seed: int, rows: int, columns: int) -> None:
    table = with_whole_margins(seed, rows, columns)
    sums = [np.rint(table.sum(axis=axis)).astype(np.int64) for axis in (1, 0)]
    whole = round_two_way(table, *sums)
    assert (whole.sum(axis=1) == sums[0]).all()
    assert (whole.sum(axis=0) == sums[1]).all()
    assert whole.min() >= 0
    assert np.abs(whole - table).max() < 1


@given(st.integers(0, 2**32), st.integers(2, 3), st.integers(2, 3))
def test_two_margins_by_trying(seed: int, rows: int, columns: int) -> None:
    """No other way of rounding every cell up or down that meets the margins is nearer."""
    table = with_whole_margins(seed, rows, columns)
    sums = [np.rint(table.sum(axis=axis)).astype(np.int64) for axis in (1, 0)]
    down = np.floor(table)
    distances = [
        float(((down + np.reshape(up, table.shape) - table) ** 2).sum())
        for up in product((0, 1), repeat=table.size)
        if ((down + np.reshape(up, table.shape)).sum(axis=1) == sums[0]).all()
        and ((down + np.reshape(up, table.shape)).sum(axis=0) == sums[1]).all()
    ]
    whole = round_two_way(table, *sums)
    assert float(((whole - table) ** 2).sum()) == pytest.approx(min(distances), abs=1e-6)


@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 5))
def test_two_margins_that_the_values_do_not_meet(seed: int, rows: int, columns: int) -> None:
    rng = np.random.default_rng(seed)
    target = rng.poisson(3, (rows, columns))
    values = rng.exponential(3, (rows, columns)) * (rng.random((rows, columns)) < 0.8)
    whole = round_two_way(values, target.sum(axis=1), target.sum(axis=0))
    assert (whole.sum(axis=1) == target.sum(axis=1)).all()
    assert (whole.sum(axis=0) == target.sum(axis=0)).all()
    assert whole.min() >= 0


def test_rounding_row_by_row_would_miss_the_columns() -> None:
    """The control: what one margin allows is not enough for two."""
    table = np.full((3, 3), 1 / 3)
    by_rows = controlled_rounding(table, np.repeat([[0], [1], [2]], 3, axis=1), [1, 1, 1])
    assert by_rows.sum(axis=0).tolist() == [3, 0, 0]
    assert round_two_way(table, [1, 1, 1], [1, 1, 1]).sum(axis=0).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("values", "rows", "columns", "parameter"),
    [
        ([1.0, 2.0], [3], [1, 2], "values"),
        ([[1.0, 2.0]], [3, 0], [1, 2], "row_sums"),
        ([[1.0, 2.0]], [3], [3], "column_sums"),
        ([[1.0, 2.0]], [3], [1, 1], "column_sums"),
        ([[1.0, 2.0]], [3.5], [1, 2], "row_sums"),
        ([[-1.0, 2.0]], [1], [0, 1], "values"),
    ],
)
def test_two_way_arguments_that_are_refused(values: Any, rows: Any, columns: Any, parameter: str) -> None:
    with pytest.raises(ParameterError, match=f"The '{parameter}' parameter of round_two_way"):
        round_two_way(values, rows, columns)


def least_cost(values: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> float | None:
    """Of rounding every cell up or down, by a linear program; None if no such table has the sums."""
    from scipy.optimize import linprog

    height, width = values.shape
    down = np.floor(values)
    fractions = (values - down).ravel()
    sums = np.concatenate([np.repeat(np.eye(height), width, axis=1), np.tile(np.eye(width), height)])
    missing = np.concatenate([rows - down.sum(axis=1), columns - down.sum(axis=0)])
    bounds = np.stack([np.zeros(fractions.size), (fractions > 0).astype(float)], axis=1)
    solution = linprog(1 - 2 * fractions, A_eq=sums, b_eq=missing, bounds=bounds, method="highs")
    return None if solution.x is None else float(solution.fun)


@pytest.mark.parametrize("shape", [(1, 9), (9, 1), (4, 30), (30, 4), (17, 23)])
@pytest.mark.parametrize("seed", range(4))
def test_no_linear_program_finds_a_nearer_table(shape: tuple[int, int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.exponential(2, shape) * (rng.random(shape) < 0.9)
    target = np.floor(values) + (rng.random(shape) < values % 1)
    rows, columns = target.sum(axis=1).astype(np.int64), target.sum(axis=0).astype(np.int64)
    steps = round_two_way(values, rows, columns) - np.floor(values)
    assert set(np.unique(steps)) <= {0.0, 1.0}
    assert float((steps * (1 - 2 * (values % 1))).sum()) == pytest.approx(least_cost(values, rows, columns), abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_as_few_steps_as_possible_go_further(seed: int) -> None:
    """Where rounding is not enough: against a linear program whose further steps have a price of their own."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(seed)
    values, target = rng.exponential(3, (5, 7)), rng.poisson(rng.choice([1, 4, 400]), (5, 7))
    rows, columns = target.sum(axis=1), target.sum(axis=0)
    down = np.floor(values)
    once, further = (1 - 2 * (values - down)).ravel(), 4.0 * values.size
    sums = np.concatenate([np.repeat(np.eye(5), 7, axis=1), np.tile(np.eye(7), 5)])
    missing = np.concatenate([rows - down.sum(axis=1), columns - down.sum(axis=0)])
    limits = [np.ones(35), np.full(35, np.inf), down.ravel()]
    solution = linprog(
        np.concatenate([once, once + further, further - once]),
        A_eq=np.concatenate([sums, sums, -sums], axis=1),
        b_eq=missing,
        bounds=np.stack([np.zeros(105), np.concatenate(limits)], axis=1),
    )
    steps = (round_two_way(values, rows, columns) - down).ravel()
    up, more, less = steps > 0, np.maximum(steps - 1, 0), np.maximum(-steps, 0)
    cost = float((up * once + more * (once + further) + less * (further - once)).sum())
    assert cost == pytest.approx(solution.fun, rel=1e-9)


def test_a_large_table_is_rounded_in_a_moment() -> None:
    rng = np.random.default_rng(1)
    values = rng.exponential(2, (3, 30_000))
    target = np.floor(values) + (rng.random(values.shape) < values % 1)
    sums = target.sum(axis=1).astype(np.int64), target.sum(axis=0).astype(np.int64)
    whole = round_two_way(values, *sums)
    assert (whole == round_two_way(values.T, *sums[::-1]).T).all()
    assert np.abs(whole - values).max() < 1
