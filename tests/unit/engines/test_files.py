from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from sudare.engines.files import find_tables, fingerprint, header_of
from sudare.errors import DatabaseError


def parquet(path: Path, **columns: list[int]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(pa.table(columns or {"x": [1]}), path)
    return path


def test_files_and_folders_are_tables(tmp_path: Path) -> None:
    parquet(tmp_path / "a.parquet")
    parquet(tmp_path / "parts" / "0.parquet")
    parquet(tmp_path / "parts" / "1.parquet")
    parquet(tmp_path / "parts" / "_temporary.parquet")
    (tmp_path / "b.csv").write_text("x\n1\n", encoding="utf-8")
    (tmp_path / "c.tsv.gz").write_bytes(b"")
    (tmp_path / "README.md").write_text("", encoding="utf-8")
    (tmp_path / "_SUCCESS").write_text("", encoding="utf-8")
    (tmp_path / ".hidden.parquet").write_text("", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    found = {table.name: table for table in find_tables([tmp_path])}
    assert list(found) == ["a", "b", "c", "parts"]
    assert [file.name for file in found["parts"].files()] == ["0.parquet", "1.parquet"]
    assert [found[name].format for name in ("a", "b", "c")] == ["parquet", "csv", "csv"]
    assert found["c"].delimiter == "\t"
    assert [table.name for table in find_tables([str(tmp_path / "*.parquet")])] == ["a"]
    assert [table.name for table in find_tables([tmp_path / "b.csv", tmp_path / "parts" / "0.parquet"])] == ["0", "b"]


def test_a_name_with_signs_of_a_pattern_is_a_name_if_it_exists(tmp_path: Path) -> None:
    parquet(tmp_path / "a[1].parquet")
    parquet(tmp_path / "a1.parquet")
    assert [table.name for table in find_tables([tmp_path / "a[1].parquet"])] == ["a[1]"]


def test_two_tables_of_one_name_are_refused(tmp_path: Path) -> None:
    parquet(tmp_path / "people.parquet")
    (tmp_path / "People.csv").write_text("x\n", encoding="utf-8")
    with pytest.raises(DatabaseError, match="would both be the table"):
        find_tables([tmp_path])
    assert len(find_tables([tmp_path / "people.parquet", str(tmp_path / "*.parquet")])) == 1


@pytest.mark.parametrize("name", ["a.b.parquet", "a\u202e.parquet"])
def test_names_with_two_readings_are_refused(tmp_path: Path, name: str) -> None:
    parquet(tmp_path / name)
    with pytest.raises(DatabaseError, match="cannot be the name of a table"):
        find_tables([tmp_path])


def test_folders_that_tell_values_are_refused(tmp_path: Path) -> None:
    parquet(tmp_path / "sales" / "year=2026" / "0.parquet")
    with pytest.raises(DatabaseError, match="year=2026"):
        find_tables([tmp_path])


def test_files_of_two_kinds_are_refused(tmp_path: Path) -> None:
    parquet(tmp_path / "sales" / "0.parquet")
    (tmp_path / "sales" / "1.csv").write_text("x\n", encoding="utf-8")
    with pytest.raises(DatabaseError, match="several kinds"):
        find_tables([tmp_path])


@pytest.mark.parametrize("location", ["nothing", "nothing/*.parquet", "nothing.parquet", "."])
def test_no_table_is_refused(tmp_path: Path, location: str) -> None:
    with pytest.raises(DatabaseError, match="no Parquet or CSV file"):
        find_tables([tmp_path / location])


def test_the_fingerprint_tells_changes(tmp_path: Path) -> None:
    file = parquet(tmp_path / "a.parquet")
    states = [fingerprint([file])]
    assert fingerprint([file]) == states[0]
    content = file.read_bytes()
    file.with_suffix(".new").write_bytes(content)
    os.replace(file.with_suffix(".new"), file)  # noqa: PTH105
    states.append(fingerprint([file]))
    file.write_bytes(content)
    states.append(fingerprint([file]))
    file.unlink()
    states.append(fingerprint([file]))
    states.append(fingerprint([]))
    assert len(set(states)) == len(states)


@pytest.mark.parametrize(
    ("content", "header"),
    [
        (b"a,b\n1,2\n", ["a", "b"]),
        ("\ufeffa,b\r\n".encode(), ["a", "b"]),
        (b'"a ""q""","b\nc"\n', ['a "q"', "b\nc"]),
    ],
)
def test_the_first_line_names_the_columns(tmp_path: Path, content: bytes, header: list[str]) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    assert header_of(find_tables([tmp_path])[0]) == header


@pytest.mark.parametrize("content", [b"", b"a,A\n", b"a,\n", b"\xff\xfe\n", b"a,a\n"])
def test_a_first_line_that_names_nothing_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(DatabaseError, match="cannot be read as CSV") as raised:
        header_of(find_tables([tmp_path])[0])
    assert raised.value.__context__ is None


def test_files_with_other_columns_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "0.csv").write_text("a,b\n", encoding="utf-8")
    (tmp_path / "t" / "1.csv").write_text("b,a\n", encoding="utf-8")
    with pytest.raises(DatabaseError, match="different first lines"):
        header_of(find_tables([tmp_path])[0])
