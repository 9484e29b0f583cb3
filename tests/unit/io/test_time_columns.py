"""Columns of times: SQL counts them as the attribute places them."""

from __future__ import annotations

import tempfile
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.domain import CountTable, Domain, Times
from sudare.domain.times import PERIODS
from sudare.errors import InputError
from sudare.io import Source, read_counts, write_table

SPANS = [
    ("Asia/Tokyo", date(2025, 3, 28), date(2025, 4, 2)),
    ("Europe/Paris", date(2025, 3, 28), date(2025, 4, 2)),
    ("Australia/Lord_Howe", date(2025, 4, 4), date(2025, 4, 8)),
    ("America/New_York", date(2025, 11, 1), date(2025, 11, 3)),
    ("Asia/Tokyo", date(1969, 12, 30), date(1970, 1, 2)),
]
SECONDS = st.lists(st.one_of(st.integers(0, 4 * 86_400), st.integers(0, 300).map(lambda n: n * 900)), max_size=12)
KINDS = [
    "text",
    "text with offset",
    "slashes",
    "timestamp",
    "timestamp with zone",
    "epoch",
    "float epoch",
    "milliseconds",
]


def by_hand(values: list[Any], times: Times) -> CountTable:
    counter = Counter(int(place) for value in values for place in times.places(np.array([value], dtype=object))[0])
    return CountTable.from_cells(Domain((times,)), list(counter), list(counter.values()))


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(SPANS), st.sampled_from(PERIODS), st.sampled_from(KINDS), SECONDS, st.integers(-12, 14))
def test_sql_counts_as_the_attribute_does(
    span: tuple[str, date, date], by: str, kind: str, seconds: list[int], hours: int
) -> None:
    times = Times("t", by, span[1], span[2], span[0])
    start = datetime(span[1].year, span[1].month, span[1].day)
    local = [start + timedelta(seconds=each) for each in seconds]
    local = [each for each in local if each.date() <= span[2]]
    moments = [datetime.fromtimestamp(times.start + each, UTC) for each in seconds if times.start + each < times.end]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        values: list[Any]
        if kind in ("text", "slashes", "text with offset"):
            path = Path(folder) / "t.csv"
            values = [f"{each:%Y-%m-%dT%H:%M:%S}" for each in local]
            if kind == "slashes":
                values = [f"{each.year}/{each.month}/{each.day} {each.hour}:{each:%M:%S.123}" for each in local]
            if kind == "text with offset":
                sign, size = ("-" if hours < 0 else "+"), abs(hours)
                values = [f"{each + timedelta(hours=hours):%Y-%m-%d %H:%M:%S}{sign}{size:02}:00" for each in moments]
                values += [f"{each:%Y-%m-%dT%H:%M:%S}Z" for each in moments]
            path.write_text("n,t\n" + "".join(f"1,{value}\n" for value in values))
        else:
            types: dict[str, tuple[list[Any], Any]] = {
                "timestamp": (local, pyarrow.timestamp("us")),
                "milliseconds": (local, pyarrow.timestamp("ms")),
                "timestamp with zone": (moments, pyarrow.timestamp("us", tz="America/Chicago")),
                "epoch": ([int(each.timestamp()) for each in moments], pyarrow.int64()),
                "float epoch": ([each.timestamp() + 0.5 for each in moments], pyarrow.float64()),
            }
            values, kept = types[kind]
            pyarrow.parquet.write_table(pyarrow.table({"t": pyarrow.array(values, kept)}), path)
        assert read_counts(Source(str(path)), Domain((times,))) == by_hand(values, times)


MARCH = Times("t", "hour", date(2025, 3, 28), date(2025, 4, 8), "Europe/Paris")


def written(content: str, folder: Path) -> str:
    (folder / "t.csv").write_text("n,t\n" + content)
    return str(folder / "t.csv")


@pytest.mark.parametrize(
    "wrong",
    [
        "2025-03-27T23:59",
        "2025-04-09 00:00",
        "2025-02-30T10:00",
        "2025-03-28",
        "2025-03-28T24:00",
        "x",
        "20250328",
        "9e9",
    ],
)
def test_wrong_times_are_found_and_not_shown(wrong: str, tmp_path: Path) -> None:
    path = written(f"1,2025-03-28T10:00\n1,{wrong}\n", tmp_path)
    with pytest.raises(
        InputError, match=r"'t' has a value in 't.csv', row 3.* times from 2025-03-28 to 2025-04-08"
    ) as caught:
        read_counts(Source(path), Domain((MARCH,)))
    assert "までの時刻" in caught.value.explain("ja")
    assert wrong in ("x", "2025-03-28") or wrong not in caught.value.explain("en") + caught.value.explain("ja")


def test_times_outside_of_the_span_can_be_left_out(tmp_path: Path) -> None:
    path = written("1,2025-03-28T10:00\n1,2025-03-27T23:59\n1,1\n", tmp_path)
    assert read_counts(Source(path, outside="leave out"), Domain((MARCH,))).total == 1
    assert read_counts(Source(path, person="n", outside="leave out"), Domain((MARCH,)), cells_per_person=3).total == 1
    path = written("1,2025-03-28T10:00\n1,noon\n", tmp_path)
    with pytest.raises(InputError, match="row 3"):
        read_counts(Source(path, outside="leave out"), Domain((MARCH,)))


def test_empty_fields_and_wrong_types(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'t' has an empty field in 't.csv', row 3"):
        read_counts(Source(written("1,2025-03-28T10:00\n1,\n", tmp_path)), Domain((MARCH,)))
    for values, message in (([date(2025, 3, 28)], "holds date; it must hold times"), ([True], "must hold times")):
        pyarrow.parquet.write_table(pyarrow.table({"t": values}), tmp_path / "t.parquet")
        with pytest.raises(InputError, match=message):
            read_counts(Source(str(tmp_path / "t.parquet")), Domain((MARCH,)))
    pyarrow.parquet.write_table(pyarrow.table({"t": [date(2025, 3, 28)] * 3}), tmp_path / "t.parquet")
    days = Times("t", "weekday", date(2025, 3, 28), date(2025, 4, 8), "Europe/Paris")
    assert read_counts(Source(str(tmp_path / "t.parquet")), Domain((days,))).to_dense().tolist() == [
        0,
        0,
        0,
        0,
        3,
        0,
        0,
    ]


@pytest.mark.parametrize("by", PERIODS)
def test_published_periods_are_read_again(by: str, tmp_path: Path) -> None:
    times = Times("t", by, date(2025, 3, 28), date(2025, 4, 8), "Europe/Paris")
    domain = Domain((times,))
    table = CountTable.from_dense(np.arange(1, domain.cells + 1), domain)
    for name in ("t.csv", "t.parquet"):
        write_table(table, tmp_path / name)
        assert read_counts(Source(str(tmp_path / name), rows="counts"), domain) == table
    counts = tmp_path / "counts.csv"
    counts.write_text("t,count\nnever,3\n")
    with pytest.raises(InputError, match="'t' has 'never'"):
        read_counts(Source(str(counts), rows="counts"), domain)
