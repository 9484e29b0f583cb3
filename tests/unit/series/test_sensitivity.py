"""The chain formula is the largest norm over all paths, found by trying every one of them."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sudare.errors import GuaranteeError, ParameterError
from sudare.series.sensitivity import (
    gram_matrix,
    gram_of_coefficients,
    path_l1,
    path_l1_of_coefficients,
    path_l2_squared,
    require_chain_conditions,
)

NOWHERE = -1


def toeplitz(coefficients: list[int]) -> NDArray[np.int64]:
    n = len(coefficients)
    return np.array([[coefficients[i - j] if i >= j else 0 for j in range(n)] for i in range(n)])


def paths(ticks: int, nodes: int, moves: int, *, may_leave: bool) -> list[tuple[int, ...]]:
    """Every way to be in one of the nodes, or nowhere, at each tick, with at most so many changes after the first entry."""
    found = []
    for places in product(range(NOWHERE, nodes), repeat=ticks):
        if all(place == NOWHERE for place in places):
            continue
        entry = next(tick for tick in range(ticks) if places[tick] != NOWHERE)
        changes = [tick for tick in range(entry + 1, ticks) if places[tick] != places[tick - 1]]
        last_is_exit = bool(changes) and places[changes[-1]] == NOWHERE
        if len(changes) - (may_leave and last_is_exit) <= moves:
            found.append(places)
    return found


def measured(rows: NDArray[np.int64], path: tuple[int, ...], nodes: int) -> NDArray[np.int64]:
    """What one person's path adds to the measured series of all nodes."""
    stock = np.array([[place == node for place in path] for node in range(nodes)], dtype=np.int64)
    changes = np.diff(stock, axis=1, prepend=0)
    return changes @ rows.T


def largest(rows: NDArray[np.int64], nodes: int, moves: int, power: int, *, may_leave: bool) -> int:
    return max(
        int((np.abs(measured(rows, path, nodes)) ** power).sum())
        for path in paths(rows.shape[1], nodes, moves, may_leave=may_leave)
    )


@given(
    coefficients=st.lists(st.integers(-50, 50), min_size=1, max_size=12),
    moves=st.integers(0, 5),
    may_leave=st.booleans(),
)
def test_stays_of_equal_length_are_summed_together(coefficients: list[int], moves: int, may_leave: bool) -> None:
    slow = path_l1(toeplitz(coefficients), moves, may_leave=may_leave)
    assert path_l1_of_coefficients(np.array(coefficients), moves, may_leave=may_leave) == slow


def test_coefficients_of_other_kinds_are_refused() -> None:
    for wrong in (np.array([1.5]), np.array([], dtype=np.int64), np.eye(2, dtype=np.int64), np.array([2**62])):
        with pytest.raises(ParameterError, match="coefficients"):
            path_l1_of_coefficients(wrong, 1)


FALLING = [[1, 0, 0, 0, 0], [1, 1, 1, 1, 1], [16, 8, 6, 5, 4], [100, 61, 48, 41, 36], [9, 4, 1, 0, 0], [3, 3, 3, 3, 2]]


@pytest.mark.parametrize("coefficients", FALLING[:5], ids=str)
@pytest.mark.parametrize("may_leave", [True, False])
@pytest.mark.parametrize("moves", [0, 1, 2])
def test_the_formula_is_the_largest_norm_of_all_paths(coefficients: list[int], moves: int, may_leave: bool) -> None:
    rows = toeplitz(coefficients)
    charged = path_l2_squared(gram_of_coefficients(np.array(coefficients)), moves, may_leave=may_leave)
    assert charged == largest(rows, 3, moves, 2, may_leave=may_leave)
    assert charged >= largest(rows, 1, moves, 2, may_leave=may_leave), "returns to one node"
    assert path_l1(rows, moves, may_leave=may_leave) == largest(rows, 3, moves, 1, may_leave=may_leave)


@given(
    steps=st.lists(st.integers(0, 30), min_size=2, max_size=5),
    moves=st.integers(0, 4),
    may_leave=st.booleans(),
    nodes=st.integers(1, 2),
)
def test_returns_never_pass_the_formula(steps: list[int], moves: int, may_leave: bool, nodes: int) -> None:
    falling = sorted(steps, reverse=True)
    coefficients = np.cumsum(falling[::-1])[::-1]  # falls, by ever smaller steps
    if coefficients[0] == 0:
        return
    charged = path_l2_squared(gram_of_coefficients(coefficients), moves, may_leave=may_leave)
    assert charged >= largest(toeplitz(coefficients.tolist()), nodes, moves, 2, may_leave=may_leave)


def test_the_tree_fulfils_the_conditions() -> None:
    rows = np.array([[a <= tick < a + size for tick in range(4)] for size in (1, 2, 4) for a in range(0, 4, size)])
    gram = gram_matrix(rows.astype(np.int64))
    for moves in (0, 1, 2):
        assert path_l2_squared(gram, moves, may_leave=True) == largest(
            rows.astype(np.int64), 3, moves, 2, may_leave=True
        )


def unchecked_formula(gram: NDArray[np.int64], moves: int) -> int:
    """A twin of the chain formula that does not look whether its conditions hold."""
    ticks, size = len(gram), np.diag(gram)
    chains = (ordered for count in range(1, moves + 2) for ordered in combinations(range(ticks), count))
    return max(
        int(sum(size[a] + size[b] - 2 * gram[a, b] for a, b in pairwise(chain)) + size[chain[-1]]) for chain in chains
    )


def test_coefficients_for_which_returns_cost_more_are_refused() -> None:
    """Without the condition the formula would be too small: a path that returns passes it."""
    coefficients = [1, 0, 1, 0, 1]
    gram = gram_of_coefficients(np.array(coefficients))
    assert largest(toeplitz(coefficients), 2, 2, 2, may_leave=False) > unchecked_formula(gram, 2)
    with pytest.raises(GuaranteeError, match="conditions"):
        path_l2_squared(gram, 2)
    falling = gram_of_coefficients(np.array(FALLING[3]))
    assert unchecked_formula(falling, 2) == path_l2_squared(falling, 2, may_leave=False)
    with pytest.raises(GuaranteeError, match="conditions"):
        require_chain_conditions(gram_of_coefficients(np.array([1, 5, 4, 0])))


def test_twins_that_charge_too_little_are_caught() -> None:
    coefficients = [100, 30, 22, 16, 12]
    gram, rows = gram_of_coefficients(np.array(coefficients)), toeplitz(coefficients)
    truth = largest(rows, 3, 1, 2, may_leave=True)
    twins = {
        "exits not counted": path_l2_squared(gram, 1, may_leave=False),
        "sensitivity of stocks": path_l2_squared(100**2 * gram_of_coefficients(np.ones(5, dtype=np.int64)) // 5, 1),
        "smaller coefficients than those used": path_l2_squared(gram_of_coefficients(np.array(coefficients) - 10), 1),
        "cap not enforced": path_l2_squared(gram, 0),
    }
    assert path_l2_squared(gram, 1) == truth
    assert {name: charged < truth for name, charged in twins.items()} == dict.fromkeys(twins, True)


def test_gram_matrices_agree_with_products() -> None:
    coefficients = np.array([2**24, 9_000_000, 5_000_000, 3_000_001])
    rows = toeplitz(coefficients.tolist())
    expected = rows.astype(object).T @ rows.astype(object)
    assert (gram_of_coefficients(coefficients) == expected).all()
    assert (gram_matrix(rows) == expected).all()
    small = np.array([[1, 2], [0, 3], [-1, 1]])
    assert (gram_matrix(small) == small.T @ small).all()


def test_sums_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ParameterError, match="2\\*\\*62"):
        gram_of_coefficients(np.array([2**31, 1]))
    with pytest.raises(ParameterError, match="2\\*\\*62"):
        gram_matrix(np.array([[2**31]]))
    with pytest.raises(ParameterError, match="2\\*\\*62"):
        path_l2_squared(gram_of_coefficients(np.array([2**30, 0, 0])), 10)


@pytest.mark.parametrize("gram", [np.ones((2, 3), dtype=np.int64), np.ones((2, 2)), np.array([[1, 2], [0, 1]])])
def test_what_is_no_gram_matrix_is_refused(gram: NDArray[np.int64]) -> None:
    with pytest.raises(ParameterError, match="gram"):
        path_l2_squared(gram, 1)
