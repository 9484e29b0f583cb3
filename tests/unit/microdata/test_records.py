"""Tables of people: what was written is what is read, in order, and whatever is not a table is refused with its place."""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.errors import InputError, OutputError, ParameterError
from sudare.microdata.people_files import delimiter_in
from sudare.microdata.records import CodedColumn, Records, read_people, write_people

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=8)


def written(folder: Path, text: str | bytes, name: str = "people.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def rows_of(records: Records) -> list[tuple[str | None, ...]]:
    return list(zip(*(column.texts().tolist() for column in records.columns), strict=True))


# --- columns


@given(st.lists(st.one_of(st.none(), TEXTS)))
def test_labels_are_in_the_order_of_first_appearance(values: list[str | None]) -> None:
    column = CodedColumn.of("name", values)
    assert column.labels == tuple(dict.fromkeys(values))
    assert column.texts().tolist() == values
    assert column.rows == len(values)
    assert not column.codes.flags.writeable


@given(st.lists(st.one_of(st.none(), st.sampled_from("abcd")), min_size=1), st.data())
def test_taken_rows_have_no_idle_labels(values: list[str | None], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, len(values) - 1)))
    taken = CodedColumn.of("name", values).take(np.array(rows, dtype=np.int64))
    assert taken.texts().tolist() == [values[row] for row in rows]
    assert taken.labels == tuple(dict.fromkeys(values[row] for row in rows))


@given(st.lists(st.sampled_from("abcd")), st.lists(st.sampled_from(["x", "y", None]), min_size=4, max_size=4))
def test_relabelled_columns_merge_labels(values: list[str], new: list[str | None]) -> None:
    column = CodedColumn.of("name", values)
    labels = new[: len(column.labels)]
    relabelled = column.relabelled(labels)
    expected = [labels[column.labels.index(value)] for value in values]
    assert relabelled.texts().tolist() == expected
    assert relabelled.labels == tuple(dict.fromkeys(expected))


def test_values_of_any_kind_are_texts() -> None:
    people = Records.of_columns({"a": [1, 2.5, None], "b": [float("nan"), True, "007"], "c": np.array([3, 1, 3])})
    assert rows_of(people) == [("1", None, "3"), ("2.5", "True", "1"), (None, "007", "3")]


def test_codes_are_checked() -> None:
    for codes, labels in (
        (np.array([0, 1], dtype=np.int32), ("a",)),
        (np.array([-1], dtype=np.int32), ("a",)),
        (np.array([0], dtype=np.int64), ("a",)),
        (np.zeros((1, 1), dtype=np.int32), ("a",)),
        (np.array([0], dtype=np.int32), ("a", "a")),
    ):
        with pytest.raises(ParameterError):
            CodedColumn("name", codes, labels)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="places of the labels"):
        CodedColumn.of_codes("name", np.array([0, -1]), ["a", "b"])
    with pytest.raises(ParameterError, match="one for each of the 1 labels"):
        CodedColumn.of("name", ["a"]).relabelled(["b", "c"])


def test_a_column_keeps_its_own_codes() -> None:
    codes = np.array([0, 1], dtype=np.int32)
    column = CodedColumn("name", codes, ("a", "b"))
    codes[0] = 1
    assert column.texts().tolist() == ["a", "b"]


def test_the_first_row_of_a_label_is_counted_from_one() -> None:
    column = CodedColumn.of("name", ["a", "b", "c", "b"])
    assert [column.first_row(place) for place in range(3)] == [1, 2, 3]


# --- tables


def test_columns_are_found_by_name() -> None:
    people = Records.of_columns({"age": [1], "native-country": ["x"]})
    with pytest.raises(InputError, match=r"no column 'Age'. Did you mean 'age'") as caught:
        people.column("Age")
    assert "'age' のことですか" in caught.value.japanese
    assert people.without("age").names == ("native-country",)
    with pytest.raises(InputError, match=r"no column 'sex'"):
        people.without("sex")


def test_columns_are_replaced_in_place_and_appended() -> None:
    people = Records.of_columns({"a": [1, 2], "b": [3, 4]})
    new = people.with_columns(CodedColumn.of("a", ["x", "y"]), CodedColumn.of("c", [5, 6]))
    assert new.names == ("a", "b", "c")
    assert rows_of(new) == [("x", "3", "5"), ("y", "4", "6")]
    assert rows_of(people) == [("1", "3"), ("2", "4")]


def test_tables_of_different_lengths_or_equal_names_are_refused() -> None:
    with pytest.raises(ParameterError, match="one length"):
        Records.of_columns({"a": [1], "b": [1, 2]})
    with pytest.raises(ParameterError, match="different names"):
        Records([CodedColumn.of("a", [1]), CodedColumn.of("a", [1])])


def test_a_table_does_not_print_its_data() -> None:
    assert repr(Records.of_columns({"age": [31, 45]})) == "Records(age)"


@given(st.lists(st.tuples(st.one_of(st.none(), TEXTS), st.one_of(st.none(), TEXTS))))
def test_arrow_and_back(rows: list[tuple[str | None, str | None]]) -> None:
    people = Records.of_columns({"a": [row[0] for row in rows], "b": [row[1] for row in rows]})
    back = Records.of_arrow(people.to_arrow())
    assert rows_of(back) == rows
    assert [column.labels for column in back.columns] == [column.labels for column in people.columns]


def test_arrow_in_pieces_and_of_other_kinds() -> None:
    table = pa.table(
        {
            "piece": pa.chunked_array([["a", None], ["b", "a"]]),
            "dictionary": pa.chunked_array(
                [pa.array(["x", "y"]).dictionary_encode(), pa.array(["y", None]).dictionary_encode()]
            ),
            "number": pa.array([1.0, 2.5, float("nan"), None]),
            "whole": pa.array([7, 7, None, 8], pa.int8()),
            "day": pa.array([0, 1, None, 0], pa.date32()),
            "nothing": pa.nulls(4),
        }
    )
    assert rows_of(Records.of_arrow(table)) == [
        ("a", "x", "1", "7", "1970-01-01", None),
        (None, "y", "2.5", "7", "1970-01-02", None),
        ("b", "y", None, None, None, None),
        ("a", None, None, "8", "1970-01-01", None),
    ]
    assert Records.of_arrow(table.slice(0, 0)).rows == 0
    assert rows_of(Records.of_arrow(table.slice(1, 2))) == rows_of(Records.of_arrow(table))[1:3]


def test_lists_are_no_values() -> None:
    with pytest.raises(InputError, match="number 1 holds neither"):
        Records.of_arrow(pa.table({"tags": [[1], [2]]}))
    with pytest.raises(InputError, match="'tags' holds neither"):
        Records.of_arrow(pa.table({"tags": [[1], [2]]}), ["tags"])


# --- files


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.one_of(st.none(), TEXTS), TEXTS, st.sampled_from(["1", "2", None])), max_size=20),
    st.sampled_from([".csv", ".parquet"]),
)
def test_written_people_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str | None, str, str | None]], suffix: str
) -> None:
    path = tmp_path_factory.mktemp("people") / f"people{suffix}"
    names = ("first name", 'a "quoted", name', "z")
    people = Records.of_columns({name: [row[place] for row in rows] for place, name in enumerate(names)})
    write_people(path, people)
    back = read_people(path)
    assert back.names == names
    assert rows_of(back) == rows
    if suffix == ".csv":  # and Python reads the same, but for what is missing
        with path.open(newline="", encoding="utf-8") as stream:
            assert list(csv.reader(stream))[1:] == [[field or "" for field in row] for row in rows]


@settings(deadline=None, max_examples=30)
@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b c", "[20, 30)", None]), st.sampled_from(["1", "007", None])), max_size=9
    )
)
def test_plain_files_have_no_idle_quotation_marks(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str | None, str | None]]
) -> None:
    path = tmp_path_factory.mktemp("plain") / "people.csv"
    write_people(path, Records.of_columns({"x": [row[0] for row in rows], "y": [row[1] for row in rows]}))
    lines = [
        f'"{first}",{second or ""}' if "," in (first or "") else f"{first or ''},{second or ''}"
        for first, second in rows
    ]
    assert path.read_text() == "\n".join(["x,y", *lines, ""])
    assert rows_of(read_people(path)) == rows


def test_one_column_with_missing_values_keeps_its_rows(tmp_path: Path) -> None:
    people = Records.of_columns({"a": ["x", None, "", None]})
    write_people(tmp_path / "a.csv", people)
    assert rows_of(read_people(tmp_path / "a.csv")) == [("x",), (None,), ("",), (None,)]


def test_nothing_is_replaced_unasked(tmp_path: Path) -> None:
    people = Records.of_columns({"a": ["x"]})
    write_people(tmp_path / "a.csv", people)
    with pytest.raises(OutputError, match="exists"):
        write_people(tmp_path / "a.csv", people)
    write_people(tmp_path / "a.csv", people, replace=True)
    with pytest.raises(OutputError, match=r"\.csv or \.parquet"):
        write_people(tmp_path / "a.txt", people)
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_are_told_from_the_file(tmp_path: Path, delimiter: str) -> None:
    text = "\n".join(delimiter.join(row) for row in (("age", "zip"), ("31", "00781"), ("", "81667")))
    assert rows_of(read_people(written(tmp_path, text))) == [("31", "00781"), (None, "81667")]


def test_a_decimal_comma_does_not_mislead() -> None:
    assert delimiter_in(["a;b", "1,5;2,5", "1,0;3,0"], "x.csv") == ";"
    assert delimiter_in(["a;b,c", "1;5,2"], "x.csv") == ","  # both split alike: the usual one
    assert delimiter_in(["name"], "x.csv") == ","


def test_many_rows_keep_their_order(tmp_path: Path) -> None:
    """More than one block of pyarrow's, which reads blocks at once."""
    rows = 120_000
    text = io.StringIO()
    text.write("number;group;padding\n")
    for row in range(rows):
        text.write(f"{row};{row % 7};{'x' * 20}\n")
    people = read_people(written(tmp_path, text.getvalue()), columns=["group", "number"])
    assert people.names == ("group", "number")
    assert people.column("number").codes.tolist() == list(range(rows))
    assert people.column("number").labels == tuple(str(row) for row in range(rows))
    assert people.column("group").labels == tuple("0123456")


def test_several_files_and_packed_ones(tmp_path: Path) -> None:
    written(tmp_path, "a,b\n3,4\n", "2.csv")
    written(tmp_path, "b;a\n2;1\n", "1.csv")
    assert rows_of(read_people(tmp_path, columns=["a", "b"])) == [("1", "2"), ("3", "4")]
    written(tmp_path, "a;b;c\n1;2;3\n", "3.csv")
    with pytest.raises(InputError, match=r"'1\.csv' and '3\.csv' do not have the same columns"):
        read_people(tmp_path)
    (tmp_path / "3.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match=r"'1\.csv' and '3\.csv' do not have the same columns"):
        read_people(tmp_path)
    (tmp_path / "packed").mkdir()
    with zipfile.ZipFile(tmp_path / "packed" / "1.zip", "w") as archive:
        archive.writestr("inner.csv", "a;b\n1;2\n")
    (tmp_path / "packed" / "2.csv.gz").write_bytes(gzip.compress(b"a,b\n3,4\n"))
    assert rows_of(read_people(tmp_path / "packed")) == [("1", "2"), ("3", "4")]


def test_other_formats_and_encodings(tmp_path: Path) -> None:
    table = pa.table({"名前": ["鈴木", None], "age": [31, 45]})
    pq.write_table(table, tmp_path / "a.parquet")
    with pa.ipc.new_file(str(tmp_path / "a.arrow"), table.schema) as writer:
        writer.write_table(table)
    for name in ("a.parquet", "a.arrow"):
        assert rows_of(read_people(tmp_path / name)) == [("鈴木", "31"), (None, "45")]
        assert rows_of(read_people(tmp_path / name, columns=["age"])) == [("31",), ("45",)]
    japanese = written(tmp_path, "名前;age\n鈴木;31\n".encode("cp932"))
    assert rows_of(read_people(japanese, encoding="cp932")) == [("鈴木", "31")]
    assert rows_of(read_people(written(tmp_path, b"\xef\xbb\xbfa;b\r\n1;2\r\n"))) == [("1", "2")]


def test_a_header_alone_is_nobody(tmp_path: Path) -> None:
    for text in ("a,b", "a,b\n"):
        people = read_people(written(tmp_path, text))
        assert (people.names, people.rows) == (("a", "b"), 0)


# --- bad input


def test_mixed_encodings_name_the_row_and_column(tmp_path: Path) -> None:
    mixed = written(tmp_path, "id;名前\n1;鈴木\n2;".encode() + "佐藤".encode("cp932") + b"\n")
    with pytest.raises(InputError, match=r"two encodings.*row 3.*column number 2") as caught:
        read_people(mixed)
    assert "3 行目" in caught.value.japanese
    assert "佐" not in str(caught.value)
    other = written(tmp_path, "id;名前\n1;鈴木\n".encode("cp932") + b"2;\x81\x20\n")
    with pytest.raises(InputError, match=r"rows are cp932 up to row 3.*column number 2"):
        read_people(other, encoding="cp932")


def test_mixed_encodings_far_into_a_file(tmp_path: Path) -> None:
    rows = "名前;age\n" + "鈴木;31\n" * 150_000
    with pytest.raises(InputError, match=r"two encodings.*row 150002.*column number 1"):
        read_people(written(tmp_path, rows.encode() + "佐藤;1\n".encode("cp932")))


def test_a_wrong_encoding_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="try encoding cp932"):
        read_people(written(tmp_path, "名前;b\n鈴木;1\n".encode("cp932")), encoding="utf-8")
    with pytest.raises(InputError, match="try encoding cp932"):
        read_people(written(tmp_path, "name;b\n鈴木;1\n".encode("cp932")), encoding="utf-8")
    with pytest.raises(InputError, match="not text in the encoding 'cp932'"):
        read_people(written(tmp_path, b"a;b\n1;\x81\x20\n"), encoding="cp932")


@pytest.mark.parametrize(
    ("text", "row"),
    [("a;b\n1;2\n3\n", 3), ("a;b\n1;2\n\n4;5;6\n", 4), ("a,b\n1,2\n3,4,5\n", 3), ('a;b\n"1\n1";2\n3\n', 3)],
)
def test_ragged_rows_are_named(tmp_path: Path, text: str, row: int) -> None:
    with pytest.raises(InputError, match=f"row {row}"):
        read_people(written(tmp_path, text))


def test_a_quotation_mark_must_be_closed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="quotation mark"):
        read_people(written(tmp_path, 'a;b\n1;"2\n3;4\n'))


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow"])
def test_missing_columns_are_named(tmp_path: Path, suffix: str) -> None:
    path, table = tmp_path / f"people{suffix}", pa.table({"age": ["31"], "zip": ["1"]})
    if suffix == ".csv":
        path.write_text("age,zip\n31,1\n")
    elif suffix == ".parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table)
    with pytest.raises(InputError, match=r"no column 'Zip'.*Did you mean 'zip'"):
        read_people(path, columns=["age", "Zip"])


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file"):
        read_people(tmp_path / "nothing.csv")
    with pytest.raises(InputError, match="is empty"):
        read_people(written(tmp_path, ""))
    with pytest.raises(InputError, match=r"Column number 3 of .* has the name of another one"):
        read_people(written(tmp_path, "a;b;a\n1;2;3\n"))
    with pytest.raises(InputError, match="not a whole Parquet"):
        read_people(written(tmp_path, "PAR1 no", "a.parquet"))
    with pytest.raises(InputError, match="not a whole Arrow"):
        read_people(written(tmp_path, "no", "a.arrow"))
    with pytest.raises(InputError, match="People are read from CSV"):
        read_people(written(tmp_path, "no", "a.duckdb"))
    with pytest.raises(ParameterError, match="names of columns"):
        read_people(written(tmp_path, "a\n1\n"), columns="a")


def test_no_error_quotes_the_data(tmp_path: Path) -> None:
    value = "UNMISTAKABLE"
    for text in (f"a;b\n{value}\n", f'a;b\n1;"{value}\n', f"a;b\n{value};1;2\n"):
        with pytest.raises(InputError) as caught:
            read_people(written(tmp_path, text))
        assert value not in str(caught.value) + caught.value.japanese
        assert caught.value.__cause__ is None
