"""Large files have the same columns and texts as in memory, or are refused."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sudare.errors import InputError
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.models import KAnonymity
from sudare.microdata.records import Records, read_people
from sudare.microdata.search.large import anonymize_file
from sudare.microdata.search.large_counts import open_large


def rows_of(records: Records, counts: list[int] | None = None) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    texts = zip(*(records.column(name).texts().tolist() for name in records.names), strict=True)
    for place, row in enumerate(texts):
        found[row] += 1 if counts is None else counts[place]
    return found


def require_the_same(path: Path) -> None:
    records = read_people(path)
    with open_large(path) as file:
        counted = file.count(file.columns)
    assert counted.records.names == records.names
    assert rows_of(counted.records, counted.counts.tolist()) == rows_of(records)


@pytest.mark.parametrize(
    "text",
    [
        "a,b\r\n1,2\r\n3,4\r\n",
        "\ufeffa,b\n1,2\n",
        "a,b\n1,2\n\n3,4\n\n",
        'a,b\n"x, y","he said ""no"""\n"line\nbreak",2\n',
        'a,b\n"",\n,""\n',
        "a;b\n1;2,5\n2;3,5\n",
        "a\n1\n\n2\n",
        "a,b\n 1, 2 \n1,2\n",
        "a,b\n\\N,NULL\nnan,2020-1-1\n007,#x\n",
        '"a,1","b\n2"\n1,2\n',
        "a,b\n1,2",
        "a,b\n",
        "a,b\n" + '"many\nlines",1\n' * 30,
    ],
)
def test_a_csv_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "people.csv").write_bytes(text.encode())
    require_the_same(tmp_path / "people.csv")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"a,b\n1\n",
        b"a,b\n1,2,3\n",
        b'a,b\n"x,2\n3,4\n',
        b"a,b\n" + b"1,2\n" * 5000 + b"1\n",
        b"a,b\n" + b"1,2\n" * 500 + b"\xff,1\n",
        b"a,A\n1,2\n",
        b",b\n1,2\n",
    ],
)
def test_what_is_refused(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(text)
    with pytest.raises(InputError), open_large(path) as file:
        file.count(file.columns)


def test_a_short_row_is_named(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * 500 + b"Zanzibar\n")
    with pytest.raises(InputError, match="row 502") as caught, open_large(path) as file:
        file.count(["a"])
    assert "Zanzibar" not in caught.value.english + caught.value.japanese


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1.0, 2.5, 1e20, 1e-7, 0.1, float("nan"), None, float("inf"), 1e15, -0.0]),
        pa.array([0.1, 1.0, 1e10, 1e-5, None], pa.float32()),
        pa.array([True, None]),
        pa.array([0, 9, None], pa.date32()),
        pa.array([0, 10, None], pa.timestamp("ms")),
        pa.array([datetime(2020, 1, 1, tzinfo=UTC), None], pa.timestamp("us", tz="Asia/Tokyo")),
        pa.array([0, 10, None], pa.time64("us")),
        pa.array([Decimal("0.0000001"), Decimal("1.5"), None], pa.decimal128(20, 7)),
        pa.array([2**64 - 1, None], pa.uint64()),
        pa.array(["a", None, ""]).dictionary_encode(),
        pa.array([1.0, 2.5]).dictionary_encode(),
        pa.nulls(3),
    ],
)
def test_a_parquet_file(tmp_path: Path, column: pa.Array) -> None:
    pq.write_table(pa.table({"x": column}), tmp_path / "people.parquet")
    require_the_same(tmp_path / "people.parquet")


def test_lists_are_refused_where_they_are_needed(tmp_path: Path) -> None:
    pq.write_table(pa.table({"sex": ["f", "f"], "visits": [[1], [2]]}), tmp_path / "people.parquet")
    sex = {"sex": Generalization.of_paths("sex", [("f", "*")])}
    with open_large(tmp_path / "people.parquet") as file:
        assert file.count(["sex"]).people == 2
        with pytest.raises(InputError, match="'visits' holds neither texts nor numbers"):
            file.count(["visits"])
    with pytest.raises(InputError, match="'visits' holds neither texts nor numbers"):
        anonymize_file(tmp_path / "people.parquet", tmp_path / "out.csv", sex, [KAnonymity(2)])
    anonymize_file(tmp_path / "people.parquet", tmp_path / "out.csv", sex, [KAnonymity(2)], others=[])
    assert read_people(tmp_path / "out.csv").names == ("sex",)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("folder", ["sex=f", "SEX=f", "a[1]", "a*", "a?"])
def test_names_of_folders_and_files_are_no_data(tmp_path: Path, folder: str, suffix: str) -> None:
    for place, values in ((folder, ["f", "m", "m"]), ("a1", ["x"])):
        (tmp_path / place).mkdir()
        table = pa.table({"sex": values})
        path = tmp_path / place / f"people[1]=2.{suffix}"
        if suffix == "csv":
            path.write_text("\n".join(["sex", *values]) + "\n")
        else:
            pq.write_table(table, path)
    path = tmp_path / folder / f"people[1]=2.{suffix}"
    require_the_same(path)
    target = tmp_path / folder / f"out[1].{suffix}"
    sex = Generalization.of_paths("sex", [("f", "*"), ("m", "*")])
    made = anonymize_file(path, target, {"sex": sex}, [KAnonymity(3)])
    assert made.after.people == 3
    assert read_people(target).column("sex").labels == ("*",)


@pytest.mark.parametrize("name", ["sudare count", "Sudare Count", "number", "place", "value", "leaf", "people"])
def test_a_column_may_have_any_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / "people.csv"
    path.write_text(f"sex,{name}\nf,1\nf,1\nm,1\nm,2\n")
    with open_large(path) as file:
        assert file.count(["sex", name]).counts.tolist() == [2, 1, 1]
        assert file.rows_in_uniform_classes([name], "sex") == 1
        assert file.rows_in_uniform_classes(["sex"], name) == 2
        assert file.first_row(name, "2") == 4
