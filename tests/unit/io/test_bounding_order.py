"""The portable order of a person's rows: the encoding in DuckDB equals its twin, and Spark's, text by text."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import product

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sudare.errors import ParameterError
from sudare.io.bounding import DUCKDB, FIXED_KEY, POINT, RowOrder, read_selection_key
from sudare.io.bounding.encoding import encoded
from tests.reference import naive_row_order
from tests.statistical.goodness import chi_square_rejects

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
        placed = RowOrder([("p", "BIGINT"), ("a", kind)], FIXED_KEY, DUCKDB).placed("rows", "place")
        sql = f"SELECT p, {encoded('a', kind, DUCKDB)}, place FROM {placed} AS placed ORDER BY place"  # noqa: S608
        rows = connection.execute(sql).fetchall()
    held = dict(enumerate(values))
    assert {p: text for p, text, _ in rows} == {p: naive_row_order.encoded(value) for p, value in held.items()}
    twin = {p: naive_row_order.place_of(FIXED_KEY, [p, value], ["BIGINT", kind]) for p, value in held.items()}
    assert {p: place for p, _, place in rows} == twin
    assert [p for p, _, _ in rows] == sorted(held, key=lambda p: twin[p])


def test_rows_of_several_columns() -> None:
    kinds = {"p": "VARCHAR", "a": "BIGINT", "b": "DOUBLE", "c": POINT, "d": "BOOLEAN", "e": "VARCHAR"}
    near, cell = {"cell": None, "latitude": 35.5, "longitude": 139.0}, {"cell": 7, "latitude": None, "longitude": None}
    point = pa.struct({"cell": pa.int64(), "latitude": pa.float64(), "longitude": pa.float64()})
    rows = [
        ("x", 1, 0.5, near, True, "あ"),
        ("x", 1, 0.5, near | {"longitude": 139.5}, True, "あ"),
        ("x", 1, 0.5, cell, True, "あ"),
        ("x", None, 0.5, cell, None, None),
        (None, 0, None, None, False, ""),
        ("y", -(2**63), 0.5, cell, True, "あ"),
    ]
    forms = {"a": pa.int64(), "c": point, "d": pa.bool_()}
    columns = dict(zip(kinds, zip(*rows, strict=True), strict=True))
    table = pa.table({name: pa.array(values, forms.get(name)) for name, values in columns.items()})
    with duckdb.connect() as connection:
        connection.register("people", table)
        for condition in (None, "a IS NOT NULL"):
            placed = RowOrder(list(kinds.items()), "7b" * 32, DUCKDB).placed("people", "place", condition)
            found = [place for (place,) in connection.execute(f"SELECT place FROM {placed} AS placed").fetchall()]  # noqa: S608
            expected = [naive_row_order.place_of("7b" * 32, row, list(kinds.values())) for row in rows]
            assert found == [
                None if condition and row[1] is None else place for row, place in zip(rows, expected, strict=True)
            ]
    assert len(set(expected)) == len(rows)
    assert all(0 <= place < 2**62 for place in expected)


@pytest.mark.parametrize("knows_person", [True, False])
def test_no_cell_is_favoured(*, knows_person: bool) -> None:
    """Each of neighbouring cells comes first for about as many people; an order that does not look at the person is caught."""
    people, cells = 4000, 8
    with duckdb.connect() as connection:
        numbers = np.arange(people * cells)
        table = {"p": numbers // cells, "a": numbers % cells + 100, "z": np.zeros_like(numbers)}
        connection.register("rows", pa.table(table))
        placed = RowOrder([("p" if knows_person else "z", "BIGINT"), ("a", "BIGINT")], "7b" * 32, DUCKDB).placed(
            "rows", "place"
        )
        sql = (
            f"SELECT a, count(*) FROM (SELECT p, arg_min(a, place) AS a FROM {placed} AS placed GROUP BY p) GROUP BY a"  # noqa: S608
        )
        counts = [count for _, count in connection.execute(sql).fetchall()]
    counts += [0] * (cells - len(counts))
    is_fair = not chi_square_rejects(np.array(counts, dtype=np.float64), np.full(cells, 1 / cells))
    assert is_fair == knows_person


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
