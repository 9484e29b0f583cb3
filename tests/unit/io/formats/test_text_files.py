"""Bytes of text files, out of zips, and the encoding that they are in."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.domain import Category, Domain
from sudare.errors import InputError
from sudare.io import Source, read_counts, read_records
from sudare.io.formats.text_files import encoding_in, encoding_of, open_member

SEX = Domain((Category("性別", ("男", "女")),))
PEOPLE = "番号,性別\n1,男\n2,女\n3,女\n"
ENCODINGS = ["utf-8", "utf-8-sig", "cp932", "euc_jp", "utf-16", "utf-16-le-mark", "utf-32"]


def encoded(text: str, encoding: str) -> bytes:
    return b"\xff\xfe" + text.encode("utf-16-le") if encoding == "utf-16-le-mark" else text.encode(encoding)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz", "people.zip"])
def test_people_are_counted_in_any_encoding(encoding: str, name: str, tmp_path: Path) -> None:
    path, content = tmp_path / name, encoded(PEOPLE, encoding)
    if name.endswith(".zip"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("people.csv", content)
    else:
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert read_counts(Source(str(path)), SEX).to_dense().tolist() == [1, 2]
    assert read_counts(Source(str(path), person="番号"), SEX, rows_per_person=1).total == 3
    if not name.endswith(".zip"):
        assert sorted(read_records(path, ["性別"])["性別"].tolist()) == sorted("男女女")


def test_files_of_one_source_may_differ(tmp_path: Path) -> None:
    for number, encoding in enumerate(ENCODINGS):
        (tmp_path / f"{number}.csv").write_bytes(encoded(PEOPLE, encoding))
    assert read_counts(Source(str(tmp_path)), SEX).to_dense().tolist() == [7, 14]


def test_what_could_be_two_encodings_is_refused(tmp_path: Path) -> None:
    both = "ｱｲ".encode("cp932")
    assert both.decode("euc_jp")
    path = tmp_path / "people.csv"
    path.write_bytes(b"name\n" + both + b"\n")
    with pytest.raises(InputError, match="cannot be told") as caught:
        read_counts(Source(str(path)), Domain((Category("name", ("a",)),)))
    assert "ｱ" not in caught.value.explain("en") + caught.value.explain("ja")
    assert encoding_of(str(path), "cp932") == "cp932"


LINES = st.one_of(
    st.text("a,男女ソ表ｱ①髙", max_size=6).map(lambda text: text.encode("cp932")),
    st.text("a,男女ソ表ｱ丂", max_size=6).map(lambda text: text.encode("euc_jp")),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=6).map(str.encode),
    st.text("ｱｲｳﾐﾃ", max_size=6).map(lambda text: text.encode("cp932")),
    st.binary(max_size=4).map(lambda line: line.replace(b"\n", b"").replace(b"\r", b"")),
)


def naive(lines: list[bytes]) -> str | None:
    """The table of the module, word for word."""

    def fits(line: bytes, name: str) -> bool:
        try:
            text = line.decode(name)
        except UnicodeDecodeError:
            return False
        return name != "cp932" or not set(text) & set("\x80\xa0\uf8f0\uf8f1\uf8f2\uf8f3")

    letters = [line for line in lines if not line.isascii()]
    if all(fits(line, "utf-8") for line in letters):
        return "utf-8"
    if any(fits(line, "utf-8") for line in letters):
        return None
    cp932, euc = [fits(line, "cp932") for line in letters], [fits(line, "euc_jp") for line in letters]
    if all(cp932):
        return None if all(euc) else "cp932"
    return "euc_jp" if all(euc) else None


@settings(max_examples=300, deadline=None)
@given(st.lists(LINES, max_size=8))
def test_the_lines_that_are_not_ascii_decide(lines: list[bytes]) -> None:
    content = b"\n".join([b"name", *lines])
    assert encoding_in(io.BytesIO(content)) == naive(lines)


@settings(max_examples=300, deadline=None)
@given(st.lists(LINES, max_size=6), st.lists(LINES, min_size=1, max_size=3))
def test_nobody_changes_how_others_are_read(others: list[bytes], person: list[bytes]) -> None:
    """The law behind the rule: a person can make a file be refused, but never make another person's line mean something else."""
    without, within = naive(others), naive([*others, *person])
    if without is not None and within is not None:
        assert [line.decode(without) for line in others] == [line.decode(within) for line in others]


def test_the_law_can_fail() -> None:
    """Reading whatever is no UTF-8 as cp932 lets one line change how all others are read."""
    others, person = ["é".encode()], "男".encode("cp932")
    assert others[0].decode("utf-8") != others[0].decode("cp932", "replace")
    assert naive(others) == "utf-8"
    assert naive([*others, person]) is None


def test_long_files_are_looked_through(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b"n,sex\n" + b"1,m\n" * 2_000_000 + "1,女\n".encode("cp932"))
    assert encoding_of(str(path), "auto") == "cp932"
    path.write_bytes(("n,sex\n" + "1,男女\n" * 600_000 + "2,女\n").encode())
    assert encoding_of(str(path), "auto") == "utf-8"


@pytest.mark.parametrize(
    "beside",
    [
        ["document.pdf"],
        ["README.txt"],
        ["readme.txt", "定義書.pdf"],
        ["利用規約.txt"],
        ["__MACOSX/._data.txt", "a.PDF"],
        [],
    ],
)
def test_what_lies_beside_the_data_in_a_zip(beside: list[str], tmp_path: Path) -> None:
    path = tmp_path / "tblT000608S5339.ZIP"
    with zipfile.ZipFile(path, "w") as archive:
        for name in beside:
            archive.writestr(name, b"not data")
        archive.writestr("folder/tblT000608S5339.TXT", b"KEY_CODE\n")
    with open_member(str(path)) as stream:
        assert stream.read() == b"KEY_CODE\n"


def test_two_texts_in_a_zip_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("a.txt", "b.txt", "c.pdf"):
            archive.writestr(name, b"x")
    with pytest.raises(InputError, match="exactly one text file"):
        open_member(str(path))
