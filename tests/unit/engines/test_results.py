from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.engines.results import decimal_column, same_types


@pytest.mark.parametrize(
    ("given_type", "expected"),
    [
        (pa.int8(), pa.int64()),
        (pa.uint32(), pa.int64()),
        (pa.uint64(), pa.uint64()),
        (pa.float32(), pa.float64()),
        (pa.large_string(), pa.string()),
        (pa.dictionary(pa.uint8(), pa.string()), pa.string()),
        (pa.timestamp("s"), pa.timestamp("us")),
        (pa.timestamp("us", "Etc/UTC"), pa.timestamp("us", "UTC")),
        (pa.timestamp("ns"), pa.timestamp("ns")),
        (pa.decimal128(5, 2), pa.decimal128(5, 2)),
        (pa.date32(), pa.date32()),
        (pa.bool_(), pa.bool_()),
    ],
)
def test_types_are_the_same_for_all(given_type: Any, expected: Any) -> None:
    table = same_types(pa.table({"x": pa.array([None], given_type)}))
    assert table.schema.field("x").type == expected
    assert table.column("x").to_pylist() == [None]


def test_columns_of_one_name_stay_two() -> None:
    table = pa.Table.from_arrays([pa.array([1], pa.int8()), pa.array(["a"])], names=["x", "x"])
    assert [column.to_pylist() for column in same_types(table).columns] == [[1], ["a"]]


@given(
    st.lists(
        st.none() | st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30, places=6)
    )
)
def test_decimals_come_back(values: list[Decimal | None]) -> None:
    array = decimal_column(values)
    assert array is not None
    assert array.to_pylist() == values


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0", "decimal128(38, 0)"),
        ("0E-20", "decimal128(38, 20)"),
        ("9" * 38, "decimal128(38, 0)"),
        ("1E+37", "decimal128(38, 0)"),
        ("9" * 39, "decimal256(76, 0)"),
        ("1E+38", "decimal256(76, 0)"),
        ("0." + "0" * 37 + "1", "decimal256(76, 38)"),
        ("9" * 76, "decimal256(76, 0)"),
    ],
)
def test_decimals_are_as_wide_as_they_need(value: str, expected: str) -> None:
    array = decimal_column([Decimal(value)])
    assert array is not None
    assert str(array.type) == expected
    assert array.to_pylist() == [Decimal(value)]


@pytest.mark.parametrize("value", ["9" * 77, "1E+76", "1E-76", "NaN", "Infinity", "-Infinity"])
def test_what_no_decimal_can_hold_is_none(value: str) -> None:
    assert decimal_column([Decimal(value)]) is None


def test_a_known_scale_holds_for_nothing() -> None:
    array = decimal_column([None], 2)
    assert array is not None
    assert str(array.type) == "decimal128(38, 2)"
