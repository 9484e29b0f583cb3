"""Controlled rounding against all tables, one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.disclosure.rounding import controlled_rounding
from sudare.disclosure.structure import Dimension, TableSystem
from sudare.errors import InputError, ParameterError

SQUARE = TableSystem.of_dimensions([Dimension.flat("a", "12"), Dimension.flat("b", "12")])
CUBE = TableSystem.of_dimensions([Dimension.flat(name, "123") for name in "abc"])


def full(inner: np.ndarray) -> np.ndarray:
    """Inner cells with all totals, each total first on its axis."""
    for axis in range(inner.ndim):
        inner = np.concatenate([inner.sum(axis=axis, keepdims=True), inner], axis=axis)
    return inner.reshape(-1)


@given(st.lists(st.integers(0, 30), min_size=4, max_size=4), st.integers(2, 7))
@settings(max_examples=30, deadline=None)
def test_the_rounded_table_is_the_nearest_of_all(inner: list[int], base: int) -> None:
    values = full(np.array(inner).reshape(2, 2))
    best = None
    for ups in product((0, 1), repeat=4):
        chosen = [
            value // base * base + (base if up and value % base else 0) for value, up in zip(inner, ups, strict=True)
        ]
        table = full(np.array(chosen).reshape(2, 2))
        if (np.abs(table - values) < base).all() and (table[values % base == 0] == values[values % base == 0]).all():
            cost = int(np.abs(table - values).sum())
            best = cost if best is None else min(best, cost)
    rounded = controlled_rounding(SQUARE, values, base)
    assert (rounded.steps, rounded.optimal) == (0, True)
    assert (rounded.values % base == 0).all()
    assert not SQUARE.failing(rounded.values).size
    assert (np.abs(rounded.values - values) < base).all()
    assert int(np.abs(rounded.values - values).sum()) == best
    assert (controlled_rounding(SQUARE, values, base).values == rounded.values).all()


@given(st.lists(st.integers(0, 12), min_size=27, max_size=27), st.sampled_from([3, 5, 10]))
@settings(max_examples=10, deadline=None)
def test_cubes_add_up_and_the_truth_is_in_the_interval(inner: list[int], base: int) -> None:
    values = full(np.array(inner).reshape(3, 3, 3))
    rounded = controlled_rounding(CUBE, values, base)
    assert not CUBE.failing(rounded.values).size
    assert (rounded.values >= 0).all()
    for cell in range(CUBE.size):
        low, high = rounded.interval(cell)
        assert low <= values[cell] <= high


def no_classical_rounding() -> tuple[TableSystem, np.ndarray]:
    """Three cells of which every two make up a total: 1 + 1 = 2 each, base 2. One of them rounds as another does not."""
    system = TableSystem.of_sums(["ab", "bc", "ca", "a", "b", "c"], [(0, [3, 4]), (1, [4, 5]), (2, [5, 3])])
    return system, np.array([2, 2, 2, 1, 1, 1])


def test_further_steps_are_taken_only_where_needed() -> None:
    system, values = no_classical_rounding()
    with pytest.raises(InputError, match="cannot be rounded"):
        controlled_rounding(system, values, 2, steps=0)
    rounded = controlled_rounding(system, values, 2)
    assert rounded.steps == 1
    assert not system.failing(rounded.values).size
    assert (rounded.values >= 0).all()
    assert int(np.abs(rounded.values - values).sum()) == 5  # one total moves by 2, and each part by 1


def test_negative_values_and_multiples() -> None:
    values = np.array([-1, -7, 6, 2, -3, 5, -3, -4, 1])
    rounded = controlled_rounding(SQUARE, values, 5)
    assert (np.abs(rounded.values - values) < 5).all()
    same = full(np.array([[5, 10], [0, 15]]))
    assert controlled_rounding(SQUARE, same, 5).values.tolist() == same.tolist()


def test_wrong_input_is_refused() -> None:
    values = full(np.array([[1, 2], [3, 4]]))
    with pytest.raises(ParameterError):
        controlled_rounding(SQUARE, values, 1)
    with pytest.raises(ParameterError):
        controlled_rounding(SQUARE, values.astype(float), 5)
    with pytest.raises(ParameterError):
        controlled_rounding(SQUARE, values, 5, time_limit=0)
    with pytest.raises(InputError, match="add up"):
        controlled_rounding(SQUARE, values + np.eye(1, 9, dtype=np.int64)[0], 5)
    with pytest.raises(InputError, match="too large"):
        controlled_rounding(SQUARE, values * 2**48, 5)
