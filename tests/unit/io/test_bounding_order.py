"""The portable order of a person's rows: the encoding in DuckDB equals its twin, and Spark's, text by text."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import product

import duckdb
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sudare.errors import ParameterError
from sudare.io.bounding import DUCKDB, FIXED_KEY, encoded, keyed_order, read_selection_key
from tests.reference import naive_row_order

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
KINDS: dict[str, tuple[pa.DataType, st.SearchStrategy[object]]] = {
    "VARCHAR": (pa.string(), TEXTS),
    "BIGINT": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "DOUBLE": (pa.float64(), st.floats()),
    "FLOAT": (pa.float32(), st.floats(width=32)),
    "BOOLEAN": (pa.bool_(), st.booleans()),
    "DECIMAL(20,9)": (
        pa.decimal128(20, 9),
        st.integers(-(10**19), 10**19).map(lambda number: Decimal(number).scaleb(-9)),
    ),
    "DATE": (pa.date32(), st.dates(date(1, 1, 1), date(9999, 12, 31))),
    "TIMESTAMP": (pa.timestamp("us"), st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30))),
    "TIMESTAMP WITH TIME ZONE": (
        pa.timestamp("us", "UTC"),
        st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC)),
    ),
}
VALUES = st.sampled_from(sorted(KINDS)).flatmap(
    lambda kind: st.tuples(st.just(kind), st.lists(st.none() | KINDS[kind][1], min_size=1, max_size=6))
)
AWKWARD = [5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.0, -0.0, 1.0, 2.0, 0.1, -3.5, 2.0**53]


@settings(max_examples=60, deadline=None)
@given(found=VALUES)
@example(found=("DOUBLE", [*AWKWARD, float("nan"), float("inf"), float("-inf")]))
@example(found=("DOUBLE", [2.0**power * share for power in range(-1070, 1023, 7) for share in (1.0, 1 - 2**-53)]))
@example(found=("VARCHAR", ["", "'", "あ", "t1:a", "\0", "n"]))
def test_duckdb_writes_what_the_twin_writes(found: tuple[str, list[object]]) -> None:
    kind, values = found
    table = pa.table({"p": pa.array(range(len(values))), "a": pa.array(values, KINDS[kind][0])})
    with duckdb.connect() as connection:
        connection.register("rows", table)
        connection.execute("SET TimeZone = 'UTC'")
        order = keyed_order([("p", "BIGINT"), ("a", kind)], FIXED_KEY, DUCKDB)
        sql = f"SELECT p, {encoded('a', kind, DUCKDB)}, CAST({order} AS VARCHAR) FROM rows ORDER BY {order}"  # noqa: S608
        rows = connection.execute(sql).fetchall()
    held = dict(enumerate(values))
    assert {p: text for p, text, _ in rows} == {p: naive_row_order.encoded(value) for p, value in held.items()}
    twin = {p: naive_row_order.order_of(FIXED_KEY, [p, value]) for p, value in held.items()}
    assert {p: order.replace("-", "") for p, _, order in rows} == twin
    assert [p for p, _, _ in rows] == sorted(held, key=lambda p: twin[p])


def test_no_values_share_a_text() -> None:
    parts = ["", "n", "t1:", "i1;", None, 1, 11, "1", True, Decimal("1"), 1.0, date(1970, 1, 2), datetime(1970, 1, 1)]
    texts = ["".join(map(naive_row_order.encoded, pair)) for pair in product(parts, repeat=2)]
    assert len(set(texts)) == len(texts)
    assert not any(one != other and other.startswith(one) for one, other in product(texts, repeat=2))


@pytest.mark.parametrize("key", ["", "0" * 63, "G" * 64, 5, "0" * 63 + "'"])
def test_a_key_is_64_digits_and_is_never_shown(key: object) -> None:
    with pytest.raises(ParameterError, match="64 hexadecimal digits") as caught:
        read_selection_key(key, "read_counts")
    assert not key or str(key) not in str(caught.value)
