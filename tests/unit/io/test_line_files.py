"""Text files line by line: whatever one line is, the others are the same rows."""

from __future__ import annotations

import csv
import gzip
import io
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.domain import Category, Domain, Positions
from sudare.errors import InputError
from sudare.io import Source
from sudare.io.counting import Defaults
from sudare.io.engine import open_engine
from sudare.io.line_files import open_rows
from sudare.io.person_cells import MAX_COUNT, placed_counts, placed_people

DOMAIN = Domain((Positions("x", 8),))
GOOD = [f"p{number},{number % 8}" for number in range(40)]
BAD = {
    "too few fields": b"p900",
    "too many fields": b"p900,1,2",
    "a quote without its end": b'p900,"1',
    "a quote in the middle": b'p9"00,"1"2',
    "bytes that are no text": b"p\xff\xfe00,1",
    "a null": b"p900\x00,\x00",
    "another delimiter": b"p900;1",
}


def rows_of(file: Path, **given: str) -> tuple[list[tuple[object, int]], int]:
    with placed_people(Source(str(file), person="p", **given), DOMAIN) as placed:  # type: ignore[arg-type]
        found = placed.connection.execute(f"SELECT p, cell FROM {placed.rows}").fetchall()  # noqa: S608
        return sorted((row for row in found if row[1] >= 0), key=str), placed.skipped()


def write(file: Path, lines: list[bytes]) -> Path:
    file.write_bytes(b"\n".join([b"p,x", *lines, b""]))
    return file


@pytest.mark.parametrize("bad", BAD)
def test_a_line_that_is_no_row_changes_no_other_row(tmp_path: Path, bad: str) -> None:
    lines = [line.encode() for line in GOOD]
    expected, none = rows_of(write(tmp_path / "good.csv", lines))
    assert (len(expected), none) == (len(GOOD), 0)
    for place in (0, 17, len(GOOD)):
        found, skipped = rows_of(write(tmp_path / "bad.csv", [*lines[:place], BAD[bad], *lines[place:]]))
        assert found == expected
        assert skipped <= 1


def test_a_reader_of_whole_files_would_lose_the_rows_of_others(tmp_path: Path) -> None:
    """The control: a quote without its end takes everything up to the next one with it."""
    lines = ['p900,"1', *GOOD[:5], 'p901,"2"', *GOOD[5:]]
    text = "\n".join(["p,x", *lines, ""])
    whole = list(csv.reader(io.StringIO(text)))
    assert len(whole) < len(GOOD)
    found, skipped = rows_of(write(tmp_path / "rows.csv", [line.encode() for line in lines]))
    assert (len(found), skipped) == (len(GOOD) + 1, 1)


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0\ufeff\ufffd"), min_size=1),
            st.integers(0, 7),
        ),
        max_size=30,
    )
)
def test_what_a_csv_writer_writes_is_read_back(rows: list[tuple[str, int]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("p", "x"), *rows])
    with tempfile.TemporaryDirectory() as folder, open_engine() as connection:
        file = Path(folder) / "rows.csv"
        file.write_text(text.getvalue(), encoding="utf-8", newline="")
        relation = open_rows(Source(str(file), person="p"), connection)
        found = connection.execute(f"SELECT p, x FROM {relation.rows(connection, ['p', 'x'])}").fetchall()  # noqa: S608
    assert sorted(found) == sorted((person, str(x)) for person, x in rows)


def test_packed_files_and_other_encodings_are_read_alike(tmp_path: Path) -> None:
    text = "p,x\r\n" + "".join(f"{line}\r\n" for line in GOOD)
    (tmp_path / "plain.csv").write_bytes(text.encode())
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "marked.csv").write_bytes(text.encode("utf-8-sig"))
    (tmp_path / "wide.csv").write_bytes(text.encode("utf-16"))
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("rows.csv", text)
    expected = rows_of(tmp_path / "plain.csv")
    assert len(expected[0]) == len(GOOD)
    for name in ("packed.csv.gz", "marked.csv", "wide.csv", "packed.zip"):
        assert rows_of(tmp_path / name) == expected, name


def test_the_header_tells_the_encoding_and_no_row_does(tmp_path: Path) -> None:
    """A row in another encoding would change how all others are read, or refuse them."""
    file = tmp_path / "rows.csv"
    domain = Domain((Category("場所", ("駅", "公園")),))
    rows = "p,場所\n1,駅\n2,公園\n".encode("cp932")
    for more in (b"", "3,駅\n".encode()):
        file.write_bytes(rows + more)
        with placed_people(Source(str(file), person="p"), domain) as placed:
            found = placed.connection.execute(f"SELECT p, cell FROM {placed.rows} WHERE cell >= 0").fetchall()  # noqa: S608
        assert sorted(found) == [("1", 0), ("2", 1)]


def test_a_header_that_lacks_a_column_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("p,y\n1,2\n")
    with pytest.raises(InputError, match="'x'"):
        rows_of(tmp_path / "rows.csv")


def test_counts_that_are_none_are_left_out_and_those_of_one_cell_added_up(tmp_path: Path) -> None:
    file = tmp_path / "counts.csv"
    lines = [
        "0,5",
        "1,7",
        "0,2",
        "2,",
        "3,-4",
        "4,2.5",
        "9,1",
        ",3",
        "5,many",
        "6",
        "7,1,1",
        f"7,{10**18}",
        f"7,{10**18}",
    ]
    file.write_text("x,n\n" + "\n".join(lines) + "\n")
    found = placed_counts(Source(str(file), rows="counts", count="n"), DOMAIN, Defaults("counts"))
    assert found.cells.tolist() == [0, 1, 7]
    assert found.people.tolist() == [7, 7, MAX_COUNT]
    assert found.left_out == len(lines) - 5


def test_counts_in_several_columns_have_their_cells(tmp_path: Path) -> None:
    file = tmp_path / "counts.csv"
    file.write_text("x,women,men\n0,1,2\n3,4,\nz,5,6\n")
    domain = Domain((Category("sex", ("f", "m")), Positions("x", 8)))
    source = Source(str(file), rows="counts", columns={"sex": {"f": "women", "m": "men"}})
    found = placed_counts(source, domain, Defaults("counts"))
    dense = np.zeros(domain.cells, dtype=np.int64)
    dense[found.cells] = found.people
    assert dense.reshape(2, 8)[:, [0, 3]].tolist() == [[1, 4], [2, 0]]
    assert (dense.sum(), found.left_out) == (7, 3)
