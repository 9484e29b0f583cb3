"""Descriptions of columns: what they take, what they refuse, and that nothing is ever learned from the data."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare import ResearchEntropy
from sudare.domain import Bins, Category, CountTable, Domain, Mesh, Positions
from sudare.errors import InputError, ParameterError
from sudare.microdata.records import CodedColumn, Records
from sudare.microdata.synthetic import people_of_table
from sudare.microdata.synthetic.public_columns import code_records, read_columns

AGE = Bins("age", (0, 15, 65, 120))


def coded(values: dict[str, list[object]], columns: Any, missing: tuple[str, ...] = ()) -> list[list[int]]:
    read = read_columns(columns, missing, "synthesize")
    return [places.tolist() for places in code_records(Records.of_columns(values), read, "synthesize")]


@pytest.mark.parametrize(
    "columns",
    [
        {"age": AGE, "sex": ["f", "m"]},
        {"age": AGE, "sex": Category("sex", ("f", "m"))},
        Domain((AGE, Category("sex", ("f", "m")))),
        [AGE, Category("sex", ("f", "m"))],
    ],
)
def test_all_ways_of_describing_say_the_same(columns: Any) -> None:
    assert coded({"age": [0, 14, 15, 119], "sex": ["m", "f", "f", "m"]}, columns) == [[0, 0, 1, 2], [1, 0, 0, 1]]


def test_numbers_and_positions_are_compared_as_texts() -> None:
    assert coded({"a": [3, 1], "b": ["2", "0"]}, {"a": [1, 2, 3], "b": Positions("b", 3)}) == [[2, 0], [2, 0]]


def test_order_of_the_data_does_not_matter_to_places() -> None:
    assert coded({"a": ["y", "x"]}, {"a": ["x", "y", "z"]}) == [[1, 0]]


@pytest.mark.parametrize("value", ["x", -1, 120, "nan", "1e400", "Infinity", ""])
def test_a_value_outside_names_column_and_row_but_not_the_value(value: object) -> None:
    with pytest.raises(InputError, match=r"'age'.*row 3") as failure:
        coded({"age": [5, 7, value]}, {"age": AGE})
    assert "119" not in str(failure.value)
    assert "'age'" in failure.value.japanese
    if isinstance(value, str) and len(value) > 1:
        assert value not in str(failure.value)


def test_a_value_that_only_the_data_have_is_refused() -> None:
    with pytest.raises(InputError, match="row 2"):
        coded({"sex": ["f", "secret"]}, {"sex": ["f", "m"]})


def test_missing_values_are_values_only_if_said_so() -> None:
    with pytest.raises(InputError, match="missing"):
        coded({"age": [5, None]}, {"age": AGE})
    assert coded({"age": [5, None]}, {"age": AGE}, ("age",)) == [[0, 3]]
    assert coded({"sex": ["f", None]}, {"sex": ["f", None]}) == [[0, 1]]


def test_a_column_without_description_is_refused_and_told_how_to_leave_it_out() -> None:
    with pytest.raises(InputError, match=r"'name'.*records\.without\('name'\)"):
        coded({"sex": ["f"], "name": ["Ann"]}, {"sex": ["f"]})
    with pytest.raises(InputError, match="'seks'"):
        coded({"sex": ["f"]}, {"seks": ["f"], "sex": ["f"]})


@pytest.mark.parametrize(
    "columns",
    [
        None,
        {},
        [],
        "sex",
        {"sex": "fm"},
        {"sex": None},
        {"sex": []},
        {"sex": ["f", "f"]},
        {"sex": ["1", 1]},
        {3: ["f"]},
        {"m": Mesh("m", "3", 0, 0, 2, 2)},
        [AGE, AGE],
        ["f", "m"],
    ],
)
def test_no_description_no_synthesis(columns: Any) -> None:
    with pytest.raises(ParameterError, match="columns"):
        read_columns(columns, (), "synthesize")


def test_unknown_names_of_columns_with_missing_values() -> None:
    with pytest.raises(ParameterError, match="missing"):
        read_columns({"sex": ["f"]}, ["seks"], "synthesize")


@given(st.lists(st.decimals(-5, 5, places=2), min_size=2, max_size=5, unique=True), st.integers(0, 1000))
def test_numbers_drawn_for_a_bin_fall_into_it(edges: list[Decimal], seed: int) -> None:
    ordered = tuple(float(edge) for edge in sorted(edges))
    (column,) = read_columns({"x": Bins("x", ordered)}, ["x"], "synthesize")
    places = np.arange(200) % column.size
    drawn = column.drawn(places, ResearchEntropy(seed))
    assert isinstance(drawn, CodedColumn)
    assert column.places(drawn).tolist() == places.tolist()


def test_bins_of_whole_numbers_give_every_whole_number() -> None:
    (column,) = read_columns({"age": AGE}, (), "synthesize")
    drawn = column.drawn(np.zeros(2000, dtype=np.int64), ResearchEntropy(1))
    assert set(drawn.labels) == {str(age) for age in range(15)}


@pytest.mark.parametrize("edges", [(0, 1e-30, 1), (0.1, 2**53), (-(2**53), 0.5)])
def test_edges_with_too_many_digits_are_refused_before_anything_is_drawn(edges: tuple[float, ...]) -> None:
    with pytest.raises(ParameterError, match="edges"):
        read_columns({"x": Bins("x", edges)}, (), "synthesize")
    with pytest.raises(ParameterError, match="edges"):
        people_of_table(CountTable.from_dense(np.ones(len(edges) - 1, dtype=np.int64), Domain((Bins("x", edges),))))
