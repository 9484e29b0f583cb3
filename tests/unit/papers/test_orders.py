"""The order that looks at the data: for experiments alone, outside of the package that makes releases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare
from sudare import CountTable
from sudare.domain import Layout
from sudare.errors import ParameterError
from sudare_papers.pruning.orders import experimental_sorted_order


@given(counts=st.lists(st.integers(0, 3), min_size=1, max_size=30))
def test_the_sorted_order_of_an_experiment(counts: list[int]) -> None:
    order = experimental_sorted_order(CountTable.from_dense(np.array(counts)))
    assert order.dtype == np.uint64
    assert order.tolist() == sorted(range(len(counts)), key=lambda cell: (-counts[cell], cell))


def test_the_sorted_order_is_not_part_of_the_flat_api() -> None:
    assert "experimental_sorted_order" not in sudare.domain.__all__
    with pytest.raises(ParameterError):
        experimental_sorted_order(np.array([1, 2]))  # type: ignore[arg-type]


def test_no_layout_is_made_of_it() -> None:
    order = experimental_sorted_order(CountTable.from_dense(np.array([[0, 3], [9, 1]])))
    assert order.tolist() == [2, 1, 3, 0]
    with pytest.raises(ParameterError, match="arrangement"):
        Layout((2, 2), (0, 1), order)  # type: ignore[arg-type]
