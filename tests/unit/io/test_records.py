"""Records one by one: what columns become, and what is refused."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from sudare.errors import InputError, OutputError
from sudare.io import read_records, write_arrow


def column(folder: Path, *fields: str) -> np.ndarray[Any, Any]:
    """What a column of a CSV file with these fields becomes."""
    file = folder / "answers.csv"
    file.write_text("a\n" + "".join(f"{field}\n" for field in fields), encoding="utf-8")
    return read_records(file, ["a"])["a"]


@pytest.mark.parametrize(
    ("fields", "expected", "kind"),
    [
        (["1", "20", "-3"], [1, 20, -3], "i"),
        (["1.5", "20", "-3.25"], [1.5, 20.0, -3.25], "f"),
        (["yes", "no"], ["yes", "no"], "U"),
        (["1", "x"], ["1", "x"], "U"),
        (["007", "010"], ["007", "010"], "U"),
        (["1", "007"], ["1", "007"], "U"),
        (["1.50", "2.25"], ["1.50", "2.25"], "U"),
        (["+1", "2"], ["+1", "2"], "U"),
        (["1e5", "2"], ["1e5", "2"], "U"),
        (["1_000", "2"], ["1_000", "2"], "U"),
        (["nan", "inf"], ["nan", "inf"], "U"),
        (["99999999999999999999", "2"], ["99999999999999999999", "2"], "U"),
        (["2020-01-31", "2021-12-01"], ["2020-01-31", "2021-12-01"], "U"),
        (["true", "false"], ["true", "false"], "U"),
        (['"a,b"', '"say ""x"""', "東京"], ["a,b", 'say "x"', "東京"], "U"),
        (['" 1"', '"2"'], [" 1", "2"], "U"),
        (['""', "x"], ["", "x"], "U"),
        ([], [], "U"),
    ],
)
def test_columns_of_text_files(tmp_path: Path, fields: list[str], expected: list[Any], kind: str) -> None:
    found = column(tmp_path, *fields)
    assert found.tolist() == expected
    assert found.dtype.kind == kind or (not expected and found.size == 0)


def test_only_the_columns_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    file.write_text("a,b,c\n1,,x\n2,,y\n", encoding="utf-8")
    found = read_records(file, ["c", "a", "c"])
    assert list(found) == ["c", "a"]
    assert found["c"].tolist() == ["x", "y"]


def test_other_encodings(tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    file.write_bytes("県,数\n東京,1\n大阪,2\n".encode("cp932"))
    found = read_records(file, ["県", "数"], encoding="cp932")
    assert found["県"].tolist() == ["東京", "大阪"]
    assert found["数"].tolist() == [1, 2]


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_typed_files_keep_their_types(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"answers.{suffix}"
    table = pa.table(
        {
            "texts": ["1", "2"],
            "long": pa.array(["007", "x"], pa.large_string()),
            "numbers": pa.array([1, 2], pa.int16()),
            "shares": [0.5, 0.25],
            "prices": [decimal.Decimal("1.50"), decimal.Decimal("2.25")],
            "truths": [True, False],
            "days": [datetime.date(2020, 1, 31), datetime.date(2021, 12, 1)],
            "lists": [[1], [2]],
        }
    )
    (pq.write_table if suffix == "parquet" else feather.write_feather)(table, file)
    names = [name for name in table.column_names if name != "lists"]
    found = {name: values.tolist() for name, values in read_records(file, names).items()}
    assert found == {
        "texts": ["1", "2"],
        "long": ["007", "x"],
        "numbers": [1, 2],
        "shares": [0.5, 0.25],
        "prices": [1.5, 2.25],
        "truths": [True, False],
        "days": ["2020-01-31", "2021-12-01"],
    }
    with pytest.raises(InputError, match="'lists' holds neither") as raised:
        read_records(file, ["lists"])
    assert "文字列でも数値でも" in raised.value.japanese


def test_patterns_and_folders(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("a,b\n1,x\n", encoding="utf-8")
    (tmp_path / "two.csv").write_text("b,a\ny,2\n", encoding="utf-8")
    for place in (tmp_path, tmp_path / "*.csv"):
        found = read_records(place, ["a", "b"])
        # Fields of a row stay together; the rows come in any order.
        assert sorted(zip(found["a"].tolist(), found["b"].tolist(), strict=True)) == [(1, "x"), (2, "y")]
    (tmp_path / "three.csv").write_text("b\nz\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"three\.csv"):
        read_records(tmp_path / "*.csv", ["a", "b"])


def test_missing_columns_and_empty_fields(tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    file.write_text("smoker,age\nyes,31\nsecret-987,\n", encoding="utf-8")
    with pytest.raises(InputError, match="Did you mean 'smoker'") as raised:
        read_records(file, ["smokr", "age"])
    with pytest.raises(InputError, match="None of the columns that are asked for"):
        read_records(file, ["smokr"])
    with pytest.raises(InputError, match="'age' has an empty field") as raised:
        read_records(file, ["smoker", "age"])
    assert "987" not in raised.value.english + raised.value.japanese


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        read_records(tmp_path / "nothing.csv", ["a"])
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(b"secret-987")
    with pytest.raises(InputError) as raised:
        read_records(damaged, ["a"])
    assert "987" not in raised.value.english
    uneven = tmp_path / "uneven.csv"
    uneven.write_text("a,b\n1,2\nsecret-987,2,3\n", encoding="utf-8")
    with pytest.raises(InputError, match="uneven") as raised:
        read_records(uneven, ["a", "b"])
    assert "987" not in raised.value.english + raised.value.japanese


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_tables_are_written_whole_or_not_at_all(tmp_path: Path, suffix: str) -> None:
    file, table = tmp_path / f"table.{suffix}", pa.table({"a": [1, 2], "b": ["x", "東京"]})
    write_arrow(file, table)
    found = read_records(file, ["a", "b"])
    assert found["a"].tolist() == [1, 2]
    assert found["b"].tolist() == ["x", "東京"]
    with pytest.raises(OutputError, match="exists"):
        write_arrow(file, table)
    write_arrow(file, table.slice(1), replace=True)
    assert read_records(file, ["a"])["a"].tolist() == [2]
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"\.csv or \.parquet"):
        write_arrow(tmp_path / "table.xlsx", pa.table({"a": [1]}))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932", "euc_jp", "utf-16"])
def test_answers_in_any_encoding(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_bytes("番号,答え\n1,はい\n2,いいえ\n".encode(encoding))
    read = read_records(path, ["番号", "答え"], texts=["答え"])
    assert sorted(read["答え"].tolist()) == ["いいえ", "はい"]
    assert sorted(read["番号"].tolist()) == [1, 2]
