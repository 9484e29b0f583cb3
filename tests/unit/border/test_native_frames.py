"""Frames read by their own means hold what narwhals reads from them; frames of others need narwhals."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import duckdb
import narwhals
import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

from sudare.border.native_frames import native_frame
from sudare.errors import MissingPackageError
from tests.unit.test_extras import hide

TIMES = [datetime(2026, 1, 2, 3, 4), datetime(2026, 7, 8, 9, 10)]
COLUMNS: dict[str, Any] = {
    "whole": [1, 2],
    "part": [0.5, 2.5],
    "text": ["町", "b"],
    "time": TIMES,
    "flag": [True, False],
}
MISSING: dict[str, Any] = {name: [values[0], None] for name, values in COLUMNS.items()}


def pandas_frames() -> dict[str, Any]:
    plain = pandas.DataFrame(COLUMNS)
    with_time_zone = plain.assign(time=plain["time"].dt.tz_localize("Asia/Tokyo"))
    of_kinds = {
        kind: pandas.DataFrame({"n": pandas.array([1, 2], dtype=kind)}) for kind in ("Int64", "UInt8", "Float32")
    }
    lacking = {f"{kind}, missing": pandas.DataFrame({"n": pandas.array([1, None], dtype=kind)}) for kind in of_kinds}
    return {
        "plain": plain,
        "missing": pandas.DataFrame(MISSING),
        "nullable": plain.convert_dtypes(),
        "time zone": with_time_zone,
        "categories": plain.astype({"text": "category"}),
        "of arrow": pandas.DataFrame({"n": pandas.array([1, None], dtype="int64[pyarrow]")}),
        "other index": plain.set_index(pandas.Index([7, 3])),
        "empty": plain.iloc[:0],
        **of_kinds,
        **lacking,
    }


FRAMES: dict[str, Any] = {
    **{f"pandas, {name}": frame for name, frame in pandas_frames().items()},
    "polars": polars.DataFrame(COLUMNS),
    "polars, missing": polars.DataFrame(MISSING),
    "pyarrow": pa.table(COLUMNS),
    "pyarrow, missing": pa.table(MISSING),
    "pyarrow, in pieces": pa.concat_tables([pa.table(COLUMNS), pa.table(COLUMNS)]),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_columns_are_what_narwhals_reads(kind: str) -> None:
    ours, twin = native_frame(FRAMES[kind]), narwhals.from_native(FRAMES[kind], eager_only=True)
    assert ours is not None
    assert (list(ours.names), len(ours)) == (twin.columns, len(twin))
    for name in twin.columns:
        expected, found = twin[name].to_numpy(), ours.to_numpy(name)
        assert found.dtype == expected.dtype
        assert pandas.Series(found).equals(pandas.Series(expected))
        assert pa.chunked_array(ours.to_arrow(name)).equals(pa.chunked_array(twin[name].to_arrow()))


def test_lazy_frames_are_computed_only_where_they_may_be() -> None:
    with duckdb.connect() as connection:
        for lazy in (polars.LazyFrame(COLUMNS), connection.from_arrow(pa.table(COLUMNS))):
            assert native_frame(lazy) is None
            found = native_frame(lazy, is_lazy_allowed=True)
            assert found is not None
            assert found.to_numpy("whole").tolist() == [1, 2]


def test_two_columns_of_one_name() -> None:
    assert native_frame(pandas.DataFrame([[1, 2]], columns=["a", "a"])) is None


def test_a_batch_and_a_class_of_ones_own() -> None:
    class Mine(pandas.DataFrame):  # type: ignore[misc]
        pass

    for frame in (pa.RecordBatch.from_pydict(COLUMNS), Mine(COLUMNS)):
        found = native_frame(frame)
        assert found is not None
        assert (len(found), found.to_numpy("part").tolist()) == (2, [0.5, 2.5])


class DataFrame:
    """Of a package that only narwhals may know."""

    columns = ("a",)


def test_frames_of_others_need_narwhals(monkeypatch: pytest.MonkeyPatch) -> None:
    assert native_frame(DataFrame()) is None
    hide("narwhals", monkeypatch)
    with pytest.raises(MissingPackageError, match=r"'narwhals': pip install 'sudare\[frames\]'"):
        native_frame(DataFrame())
    assert native_frame(pandas.DataFrame({"a": np.ones(2)})) is not None
