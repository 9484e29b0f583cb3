"""What can be the name of a column, and what must be somebody."""

from __future__ import annotations

import csv
import gzip
import io
import time
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.column_names import (
    BareReturnError,
    LongHeaderError,
    OpenQuoteError,
    are_evident,
    can_be_names,
    first_repeated,
    listed_columns,
    nearest_column,
    parse_header,
    shown_column,
)

NAMES = ["id", "KEY_CODE", "T001141001", "65歳以上", "世帯　人員", "household size", "1人世帯数", "", "x2", "é"]


def test_names() -> None:
    assert can_be_names(NAMES)


@pytest.mark.parametrize(
    "value",
    [
        "31",
        "-1.5",
        "1e9",
        "2020-01-31",
        "12:30",
        "03-1234-5678",
        "100-0001",
        "2020年1月31日",
        "1,234",
        "a@example.jp",
        "0123456789abcdef",
        "123e4567-e89b-12d3-a456-426614174000",
        "two\nlines",
        "nul\0",
        "\x1b[2J",
        "x" * 81,
        "Yamada Taro;Sapporo;female;divorced",
        "Yamada|Sapporo",
        "Yamada\tSapporo",
    ],
)
def test_values(value: str) -> None:
    names = ["id", value, "age"]
    assert not can_be_names(names)
    listed = listed_columns("idd", names, ["id"])
    assert value not in listed.english + listed.japanese
    assert nearest_column(value + "x", names, ["id"]) is None
    assert value not in shown_column(1, names, ["id"]).english
    assert "2" in shown_column(1, names, ["id"]).english


@pytest.mark.parametrize(
    "row",
    [
        ["Yamada Taro;Sapporo;female;divorced"],
        ["Yamada Taro Sapporo female divorced"],
        ["Tanaka SECRET", "Sapporo", "widow", "teacher"],
        ["山田秘密", "東京都", "女", "既婚"],
        ["set", "towns", "agee"],
    ],
)
def test_a_row_without_a_column_that_is_asked_for_is_shown_to_nobody(row: list[str]) -> None:
    asked = ["sex", "town", "age"]
    assert not are_evident(row, asked)
    for file in (None, "people.csv", "people.parquet"):
        for name in asked:
            listed = listed_columns(name, row, asked, file)
            assert not [field for field in row if field in listed.english + listed.japanese]
            assert "None of the columns" in listed.english or "does not look like a header" in listed.english
            assert nearest_column(name, row, asked, file) is None
    assert shown_column(0, row, asked).english == "number 1"


def test_a_row_with_a_column_that_is_asked_for_is_shown() -> None:
    listed = listed_columns("town", ["id", "sex", "twon"], ["sex", "town"])
    assert listed.english == " Did you mean 'twon'? The columns are: id, sex, twon."
    assert shown_column(2, ["id", "sex", "twon"], ["sex", "town"]).english == "'twon'"
    assert nearest_column("sex", ["id", "Ｓｅｘ "]) == "Ｓｅｘ ", (
        "the same in other letters is the one that is asked for"
    )
    assert not are_evident(["id", ""], [""])


def test_values_that_stand_below(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("Taro,male,Osaka\nHanako,female,Osaka\n", encoding="utf-8")
    assert not can_be_names(["Taro", "male", "Osaka"], file)
    file.write_text("name,sex,town\nHanako,female,Osaka\n", encoding="utf-8")
    assert can_be_names(["name", "sex", "town"], file)
    file.write_bytes("名前;性別\n花子;女\n太郎;女\n".encode("cp932"))
    assert can_be_names(["名前", "性別"], file)
    file.write_bytes("花子;女\n太郎;女\n".encode("cp932"))
    assert not can_be_names(["花子", "女"], file)


@given(st.lists(st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=9), min_size=1))
def test_headers_are_read_as_they_were_written(names: list[str]) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="\n").writerows([names, ["x"] * len(names)])
    if names != [""]:
        assert parse_header(written.getvalue(), ",") == names


def test_headers_that_are_none() -> None:
    with pytest.raises(OpenQuoteError):
        parse_header('"id,age\n1,31\n', ",")
    with pytest.raises(OpenQuoteError):
        parse_header('"id,age\n' + 200_000 * "1,31\n", ",")
    with pytest.raises(BareReturnError):
        parse_header("id,age\r1,31\r", ",")
    with pytest.raises(LongHeaderError):
        parse_header("id,age,", ",", is_whole=False)
    assert parse_header("id,age\r\n1,31\r\n", ",") == ["id", "age"]
    assert parse_header('"id\rnumber",age\n1,31\n', ",") == ["id\rnumber", "age"]


def test_wide_headers_are_checked_in_little_time() -> None:
    names = [f"c{place}" for place in range(100_000)]
    started = time.process_time()
    assert first_repeated(names) is None
    assert first_repeated([*names, "c5"]) == 100_000
    assert not can_be_names(names)
    assert nearest_column("c", names) is None
    assert len(listed_columns("c", names, names).english) < 200
    assert parse_header(",".join(names), ",") == names
    assert time.process_time() - started < 5


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932", "euc_jp", "utf-16"])
@pytest.mark.parametrize("packed", ["", "gz", "zip"])
def test_a_person_in_the_first_row_is_found_in_every_encoding_and_packing(
    tmp_path: Path, encoding: str, packed: str
) -> None:
    data = "".join(f"{name},男,陽性\n" for name in ("山田太郎", *["鈴木花子"] * 20)).encode(encoding)
    file = tmp_path / "people.csv"
    if packed == "gz":
        file = tmp_path / "people.csv.gz"
        file.write_bytes(gzip.compress(data))
    elif packed == "zip":
        file = tmp_path / "people.zip"
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("people.csv", data)
    else:
        file.write_bytes(data)
    assert not can_be_names(["山田太郎", "男", "陽性"], file)
    assert can_be_names(["名前", "性別", "結果"], file)


def test_what_cannot_be_looked_into_shows_nothing(tmp_path: Path) -> None:
    for name in ("people.zip", "people.csv.gz"):
        (tmp_path / name).write_bytes(b"neither")
        assert not can_be_names(["name", "sex"], tmp_path / name)
