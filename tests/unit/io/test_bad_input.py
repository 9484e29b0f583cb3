"""Each kind of wrong file has its own sentence: file, column and row are named, counts never."""

# ruff: noqa: S608 - queries over files of the test

from __future__ import annotations

import gzip
import re
import zipfile
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pyarrow.parquet
import pytest

from sudare.domain import Bins, Category, Domain, Mesh, Positions
from sudare.errors import InputError, ParameterError
from sudare.io import Source, describe_source, read_counts

MESH = Domain((Mesh("KEY_CODE", "3", 4280, 3180, 10, 10),))
SEX = Domain((Category("sex", ("f", "m")),))
AGE = Domain((Bins("age", (0, 15, 65)),))
SEAT = Domain((Positions("seat", 5),))
MARK = "424242"
"""A count, or a measured value, that must not be shown."""


def told(source: Source, domain: Domain, **arguments: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_counts(source, domain, **arguments)
    for text in (str(caught.value), repr(caught.value), caught.value.explain("ja")):
        assert MARK not in text
    assert re.search(r"[ぁ-んァ-ン]", caught.value.explain("ja"))
    # What DuckDB and pyarrow say quotes the data, so it must not be shown above our own sentence.
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


def file(folder: Path, content: str | bytes, name: str = "people.csv") -> str:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


COUNTED = [
    ("sex,count\nf,424242\nm,\n", SEX, "'count' has an empty field in 'people.csv', row 3"),
    ("sex,count\nf,1\nm,-424242\n", SEX, "'count' must hold whole numbers from 0 on.* in 'people.csv', row 3"),
    ("sex,count\nf,1\nm,424242.5\n", SEX, "'count' must hold whole numbers.*row 3"),
    ('sex,count\nf,"424,242"\n', SEX, "'count' must hold whole numbers.*row 2"),
    ("sex,count\nf,424242x\n", SEX, "'count' must hold whole numbers.*row 2"),
    ("sex,count\nf,99999999999999999999424242\n", SEX, "'count' must hold whole numbers.*row 2"),
    ("sex,count\nf,424242\nx,5\n", SEX, "'sex' has 'x' in 'people.csv', row 3.*one of its 2 labels, such as 'f'"),
    ("sex,count\n,424242\n", SEX, "'sex' has an empty field in 'people.csv', row 2"),
    ("sex,count\nf,424242\nf,7\n", SEX, "Several rows hold a count for sex = f"),
    ("KEY_CODE,count\n53394600,424242\n53394600,7\n", MESH, "Several rows hold a count for KEY_CODE = 53394600"),
    ("KEY_CODE,count\n53394600,424242\n53394700,7\n", MESH, "'KEY_CODE' has '53394700' in 'people.csv', row 3"),
    ("KEY_CODE,count\n53394600,424242\n5339,7\n", MESH, "'KEY_CODE' has '5339' in .* row 3.*codes of 8 digits"),
    ("KEY_CODE,count\n53398600,424242\n", MESH, "'KEY_CODE' has '53398600' in .* row 2.*digits 5 and 6 from 0 to 7"),
    ("age,count\n3,424242\n3.0,7\n", AGE, "Several rows hold a count"),
    ("age,count\n424242,1\n", AGE, "'age' has a value in .*row 2.*numbers from 0 to below 65"),
    ("Sex,count\nf,424242\n", SEX, "no column 'sex' in 'people.csv'. Did you mean 'Sex'.* The columns are: Sex, count"),
    ("sex,cuont\nf,424242\n", SEX, r"no column 'count' \(count\) in .*Did you mean 'cuont'"),
    ("sex,count\nf,424242,1\n", SEX, "'people.csv', row 2: the row does not have as many fields"),
    ("sex,count\nf,424242\nm\n", SEX, "'people.csv', row 3: the row does not have as many fields"),
    ('sex,count\nf,1\n"m,424242\n', SEX, "quotation mark is not closed"),
    ("sex,sex,count\nf,f,424242\n", SEX, "Column number 2 of 'people.csv' has the name of another one"),
    ("", SEX, "'people.csv' is empty"),
    ("\n\n", SEX, "'people.csv' is empty"),
    ("sex,count\n男,424242\n".encode("cp932"), SEX, "'sex' has '男' in 'people.csv', row 2"),
    ("性別,count\nf,424242\n".encode("cp932"), SEX, "no column 'sex' in 'people.csv'.*性別"),
    ("sex,count\n男,424242\n".encode("cp932") + "女,1\n".encode(), SEX, "encoding of 'people.csv' cannot be told"),
    (f"sex,count\nf,{2**62}\nm,{2**61}\n", SEX, "add up to more than"),
]


@pytest.mark.parametrize(("content", "domain", "message"), COUNTED)
def test_counts_in_csv(content: str | bytes, domain: Domain, message: str, tmp_path: Path) -> None:
    assert re.search(message, told(Source(file(tmp_path, content), rows="counts", format="csv"), domain))


PEOPLE = [
    ("age\n3\n\n7\n", AGE, "'age' has an empty field in 'people.csv', row 3"),
    ("sex,age\nf,3\nf,\n", AGE, "'age' has an empty field in 'people.csv', row 3"),
    ("age\n3\n424242\n", AGE, "'age' has a value in 'people.csv', row 3.*numbers from 0 to below 65"),
    ("age\nold 424242\n", AGE, "'age' has a value in 'people.csv', row 2"),
    ("age\nnan\n", AGE, "'age' has a value in 'people.csv', row 2"),
    ("seat\n4\n424242\n", SEAT, "'seat' has a value in 'people.csv', row 3.*whole numbers from 0 to 4"),
    ("seat\n4\n-424242\n", SEAT, "'seat' has a value in 'people.csv', row 3.*whole numbers from 0 to 4"),
    ("seat\n1.5\n", SEAT, "'seat' has a value in 'people.csv', row 2"),
    ("sex\nf\nm\nx\nx\n", SEX, "'sex' has a value in 'people.csv', row 4"),
]


@pytest.mark.parametrize(("content", "domain", "message"), PEOPLE)
@pytest.mark.parametrize("encoding", ["utf-8", "cp932"])
def test_people_in_csv(content: str, domain: Domain, message: str, encoding: str, tmp_path: Path) -> None:
    assert re.search(message, told(Source(file(tmp_path, content), encoding=encoding), domain))


def test_a_wrong_row_is_found_in_the_right_file(tmp_path: Path) -> None:
    for name, rows in (("a", "f\nm\n"), ("b", "f\nx\n"), ("c", "f\n")):
        file(tmp_path, f"sex\n{rows}", f"{name}.csv")
    assert "a value in 'b.csv', row 3" in told(Source(str(tmp_path)), SEX)


def parquet(folder: Path, name: str = "people.parquet", **columns: Any) -> str:
    pyarrow.parquet.write_table(pyarrow.table(columns), folder / name, row_group_size=2)
    return str(folder / name)


@pytest.mark.parametrize(
    ("columns", "domain", "rows", "message"),
    [
        ({"sex": ["f", None]}, SEX, "people", "'sex' has an empty field in 'people.parquet', row 2"),
        ({"sex": ["f", "m", "m", "x"]}, SEX, "people", "'sex' has a value in 'people.parquet', row 4"),
        ({"age": [3, 424242]}, AGE, "people", "'age' has a value in 'people.parquet', row 2"),
        ({"age": [3.0, float("nan")]}, AGE, "people", "'age' has a value in 'people.parquet', row 2"),
        ({"seat": [1.0, 2.5]}, SEAT, "people", "'seat' has a value in 'people.parquet', row 2.*whole numbers"),
        ({"seat": [1, 424242]}, SEAT, "people", "'seat' has a value in 'people.parquet', row 2"),
        ({"sex": ["f", "m"], "count": [1.0, float("nan")]}, SEX, "counts", "'count' must hold whole numbers.*row 2"),
        ({"age": [True]}, AGE, "people", "'age' in 'people.parquet' holds boolean; it must hold numbers"),
        ({"sex": [["f"]]}, SEX, "people", "'sex' .* must hold texts, numbers or dates"),
        ({"KEY_CODE": [53394600.5]}, MESH, "people", "'KEY_CODE' has a value in .*row 1.*whole numbers"),
        ({"sex": ["f"], "count": [424242.5]}, SEX, "counts", "'count' must hold whole numbers.*row 1"),
        ({"sex": ["f", "m"], "count": [1, -424242]}, SEX, "counts", "'count' must hold whole numbers.*row 2"),
        ({"sex": ["f", "m"], "count": [1, None]}, SEX, "counts", "'count' has an empty field .*row 2"),
        ({"sex": ["f"], "count": [True]}, SEX, "counts", "'count' .* holds boolean; it must hold whole numbers"),
    ],
)
def test_parquet(columns: dict[str, Any], domain: Domain, rows: str, message: str, tmp_path: Path) -> None:
    assert re.search(message, told(Source(parquet(tmp_path, **columns), rows=rows), domain))


def test_whole_numbers_that_a_float_would_round_into_a_bin(tmp_path: Path) -> None:
    path = parquet(tmp_path, x=[-(2**53), -(2**53) - 1])
    message = told(Source(path), Domain((Bins("x", (-(2**53), 0)),)))
    assert "'x' has a value in 'people.parquet', row 2" in message


def test_files_of_different_types(tmp_path: Path) -> None:
    parquet(tmp_path, "a.parquet", sex=["f"])
    parquet(tmp_path, "b.parquet", sex=[1])
    assert "of one type in 'a.parquet' and of another in 'b.parquet'" in told(Source(str(tmp_path)), SEX)
    parquet(tmp_path, "b.parquet", gender=["f"])
    assert "no column 'sex' in 'b.parquet'" in told(Source(str(tmp_path)), SEX)


@pytest.mark.parametrize("keep", [0, 3, 40, -20])
@pytest.mark.parametrize("name", ["people.parquet", "people.arrow"])
def test_files_that_are_cut_off(name: str, keep: int, tmp_path: Path) -> None:
    from sudare.domain import CountTable
    from sudare.io import write_table

    path = write_table(CountTable.from_dense([5, 7], SEX), tmp_path / name)
    path.write_bytes(path.read_bytes()[:keep])
    assert re.search(f"'{name}' is not a whole (Parquet|Arrow) file", told(Source(str(path), rows="counts"), SEX))


def test_damage_inside_a_parquet_file(tmp_path: Path) -> None:
    path = Path(parquet(tmp_path, sex=["f", "m"] * 500))
    content = bytearray(path.read_bytes())
    content[4:40] = b"\xff" * 36
    path.write_bytes(content)
    assert "'people.parquet' is not a whole Parquet file" in told(Source(str(path)), SEX)


def test_text_that_is_called_parquet(tmp_path: Path) -> None:
    assert "not a whole Parquet file" in told(Source(file(tmp_path, "sex\nf\n", "people.parquet")), SEX)


def test_damaged_zip(tmp_path: Path) -> None:
    path = tmp_path / "people.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("people.csv", "sex,id\n" + "".join(f"f,{hash((n,))}\nm,{n}\n" for n in range(5000)))
    assert read_counts(Source(str(path)), SEX).to_dense().tolist() == [5000, 5000]
    content = bytearray(path.read_bytes())
    content[20000:20100] = b"\0" * 100
    path.write_bytes(content)
    assert "'people.zip' is not a whole zip file" in told(Source(str(path)), SEX)
    path.write_bytes(bytes(content)[:50])
    assert "'people.zip' is not a whole zip file" in told(Source(str(path)), SEX)


def test_zip_of_several_files(tmp_path: Path) -> None:
    path = tmp_path / "people.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "sex\nf\n")
        archive.writestr("b.csv", "sex\nf\n")
    assert "'people.zip' must hold exactly one text file" in told(Source(str(path)), SEX)


def test_compressed_csv(tmp_path: Path) -> None:
    path = tmp_path / "people.csv.gz"
    path.write_bytes(gzip.compress(b"sex\nf\nm\nm\n"))
    assert read_counts(Source(str(path)), SEX).to_dense().tolist() == [1, 2]
    path.write_bytes(gzip.compress(b"sex\nf\nm\nm\n")[:-12])
    told(Source(str(path)), SEX)


def test_wrong_bytes_in_another_encoding(tmp_path: Path) -> None:
    path = file(tmp_path, b"sex\nf\n\x81\xff\n")
    assert "not text in the encoding 'cp932'" in told(Source(path, encoding="cp932"), SEX)


def test_stated_utf8_that_is_none(tmp_path: Path) -> None:
    path = file(tmp_path, "sex,count\n男,424242\n".encode("cp932"))
    assert re.search(
        "not text in the encoding 'utf-8'.*cp932", told(Source(path, rows="counts", encoding="utf-8"), SEX)
    )


def test_wrong_label_in_another_encoding(tmp_path: Path) -> None:
    path = file(tmp_path, "sex\nf\n男\n".encode("cp932"))
    message = told(Source(path, encoding="cp932"), SEX)
    assert "a value in 'people.csv', row 3" in message
    assert "男" not in message


def test_no_files(tmp_path: Path) -> None:
    for path in ("nothing.csv", "*.parquet", ""):
        where = str(tmp_path / path) if path else str(tmp_path)
        assert "There is no file to read at" in told(Source(where), SEX)


def test_a_folder_of_several_formats(tmp_path: Path) -> None:
    file(tmp_path, "sex\nf\n")
    parquet(tmp_path, sex=["f"])
    message = told(Source(str(tmp_path)), SEX)
    assert re.search(r"several formats \(csv, parquet\), such as 'people.csv', 'people.parquet'", message)
    assert read_counts(Source(str(tmp_path), format="csv"), SEX).total == 1


def test_a_file_of_unknown_format(tmp_path: Path) -> None:
    assert "format of 'people.xyz' cannot be told" in told(Source(file(tmp_path, "x", "people.xyz")), SEX)


def test_persons_must_be_told(tmp_path: Path) -> None:
    path = file(tmp_path, "id,sex\n1,f\n,m\n")
    assert "'id' has an empty field in 'people.csv', row 3" in told(Source(path, person="id"), SEX)
    floats = parquet(tmp_path, id=[1.5], sex=["f"])
    assert "'id' in 'people.parquet' holds double" in told(Source(floats, person="id"), SEX)


def test_a_mistake_in_a_second_row_of_a_person_is_told(tmp_path: Path) -> None:
    path = file(tmp_path, "id,age\n1,3\n1,\n")
    assert "'age' has an empty field" in told(Source(path, person="id"), AGE)
    path = file(tmp_path, "id,age\n1,3\n1,424242\n")
    assert "'age' has a value in 'people.csv', row 3" in told(Source(path, person="id"), AGE)


def test_where_of_a_column_that_is_not_there(tmp_path: Path) -> None:
    path = file(tmp_path, "sex,year,count\nf,2020,424242\n")
    assert "no column 'yaer' (where)" in told(Source(path, rows="counts", where={"yaer": 1}), SEX)


def test_queries_that_fail(tmp_path: Path) -> None:
    path = parquet(tmp_path, sex=["424242"])
    assert "query cannot be run" in told(Source(query="SELECT * FROM nowhere"), SEX)
    assert "No files found" in told(Source(query="SELECT * FROM 'nothing.parquet'"), SEX)
    assert "TRY_CAST" in told(Source(query=f"SELECT CAST(sex || 'x' AS INTEGER) AS sex FROM '{path}'"), SEX)
    assert "no column 'sex' in the result of the query" in told(Source(query=f"SELECT 1 AS s FROM '{path}'"), SEX)
    assert "'sex' has a value in the result of the query" in told(Source(query=f"SELECT 'x' AS sex FROM '{path}'"), SEX)


def test_databases(tmp_path: Path) -> None:
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE a AS SELECT 1 AS x; CREATE TABLE b AS SELECT 1 AS x")
    assert "these tables: a, b" in told(Source(str(path)), SEX)
    path.write_bytes(b"no database" * 1000)
    assert "not a whole DuckDB file" in told(Source(str(path)), SEX)


def test_too_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "places.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT range AS seat FROM range(300000)) TO '{path}'")
    assert "cannot be counted within 1MB" in told(
        Source(str(path)), Domain((Positions("seat", 300_000),)), memory="1MB"
    )


def test_describing_says_the_same(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a whole Parquet"):
        describe_source(Source(file(tmp_path, "x", "people.parquet")))
    with pytest.raises(InputError, match="query cannot be run"):
        describe_source(Source(query="SELECT * FROM nowhere"))


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({"path": 5}, "path"),
        ({}, "path"),
        ({"path": "a", "format": "xls"}, "format"),
        ({"path": "a", "rows": "persons"}, "rows"),
        ({"path": "a", "columns": {"sex": 1}}, "columns"),
        ({"path": "a", "where": {"year": [1]}}, "where"),
        ({"path": "a", "person": "id", "rows": "counts"}, "person"),
        ({"path": "a", "encoding": "klingon"}, "encoding"),
        ({"path": "a", "query": "SELECT 1", "format": "csv"}, "format"),
        ({"path": "a", "count": ""}, "count"),
    ],
)
def test_sources_that_make_no_sense(arguments: dict[str, Any], parameter: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Source(**arguments)
    assert caught.value.parameter == parameter


def test_one_file_under_several_names_is_read_once(tmp_path: Path) -> None:
    """Else everybody in it would be counted twice."""
    folder = tmp_path / "data"
    folder.mkdir()
    path = folder / "2024.csv"
    path.write_text("sex\nf\n")
    (folder / "latest.csv").symlink_to("2024.csv")
    (folder / "linked.csv").hardlink_to(path)
    domain = Domain((Category("sex", ("f", "m")),))
    assert read_counts(Source(str(folder)), domain).total == 1
    assert read_counts(Source((str(path), str(folder / ".." / "data" / "2024.csv"))), domain).total == 1


def test_a_folder_does_not_stand_in_for_a_column(tmp_path: Path) -> None:
    """Else one person would be several, and contribute more rows than allowed."""
    for name in ("id=5", "id=6"):
        (tmp_path / name).mkdir()
        pyarrow.parquet.write_table(pyarrow.table({"id": ["x"], "sex": ["f"]}), tmp_path / name / "a.parquet")
    domain = Domain((Category("sex", ("f", "m")),))
    assert read_counts(Source(str(tmp_path), person="id"), domain, rows_per_person=1).total == 1


def test_a_file_without_a_header_is_not_quoted(tmp_path: Path) -> None:
    message = told(
        Source(file(tmp_path, "7,tanaka,53394611,17\n8,sato,53394612,18\n")), Domain((Positions("seat", 3),))
    )
    assert "does not look like a header" in message
    assert "tanaka" not in message


def test_codes_of_another_level_name_that_level(tmp_path: Path) -> None:
    for code, level, size in (("533946003", "1/2", "500m"), ("5339", "1", "80km"), ("5339460011", "1/4", "250m")):
        counts = Source(file(tmp_path, f"KEY_CODE,count\n{code},424242\n"), rows="counts")
        people = Source(file(tmp_path, f"KEY_CODE\n{code}\n", "one.csv"))
        for source in (counts, people):
            said = told(source, MESH)
            assert f'as meshes of {size} have: if all codes do, write level = "{level}" in the plan' in said
            assert "wider" not in said
    assert "5339" not in told(Source(file(tmp_path, "KEY_CODE\n5339\n")), MESH)  # of people, no code is named
