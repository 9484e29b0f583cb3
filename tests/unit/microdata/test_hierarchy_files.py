"""Hierarchies as files: ARX's own are read, what was written is read back, and mistakes are named by file, line and column."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from sudare.errors import InputError, OutputError, ParameterError
from sudare.microdata.hierarchies.files import read_hierarchy, write_hierarchy
from sudare.microdata.hierarchies.hierarchy import Generalization
from tests.unit.microdata.arx_data import DATA, adult, adult_hierarchy, needs_answers
from tests.unit.microdata.hierarchies.test_hierarchy import trees

HEIGHTS = {
    "sex": 1,
    "age": 4,
    "race": 1,
    "marital-status": 2,
    "education": 3,
    "native-country": 2,
    "workclass": 2,
    "occupation": 2,
    "salary-class": 1,
}


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "age.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@needs_answers
@pytest.mark.parametrize("name", HEIGHTS)
def test_the_hierarchies_of_adult(name: str) -> None:
    hierarchy = adult_hierarchy(name)
    assert hierarchy.height == HEIGHTS[name]
    assert hierarchy.levels[-1] == ("*",)
    column = adult().column(name)
    assert hierarchy.generalized(column, hierarchy.height).labels == ("*",)


@needs_answers
@pytest.mark.parametrize("path", sorted(DATA.glob("arx/data/test*_hierarchy_*.csv")), ids=lambda path: path.name)
def test_the_other_hierarchies_of_arx(path: Path) -> None:
    lines = [line.split(";") for line in path.read_text().splitlines()]
    assert [list(line) for line in read_hierarchy(path, "x").paths()] == lines


@settings(deadline=None, max_examples=30)
@given(lines=trees())
@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
def test_written_hierarchies_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, delimiter: str, lines: list[tuple[str, ...]]
) -> None:
    path = tmp_path_factory.mktemp("hierarchy") / "x.csv"
    marked = [tuple(f'{label} "{delimiter}" x' for label in line) for line in lines]
    for paths in (lines, marked):
        write_hierarchy(path, Generalization.of_paths("x", paths), delimiter=delimiter, replace=True)
        assert read_hierarchy(path, "x").paths() == paths


def test_labels_with_commas_do_not_mislead(tmp_path: Path) -> None:
    text = "29;[20, 30), or more, or less;*\n31;[30, 40), or more, or less;*\n"
    assert read_hierarchy(written(tmp_path, text), "age").height == 2


def test_other_encodings_byte_order_marks_and_blank_lines(tmp_path: Path) -> None:
    assert read_hierarchy(written(tmp_path, "東京;関東;*\n".encode("cp932")), "x", encoding="cp932").levels[1] == (
        "関東",
    )
    assert read_hierarchy(written(tmp_path, b"\xef\xbb\xbf1;a\r\n\r\n2;a\r\n"), "x").levels[0] == ("1", "2")
    assert read_hierarchy(written(tmp_path, "東京;関東;*\n".encode("cp932")), "x").levels[1] == ("関東",)
    with pytest.raises(InputError, match="not text in the encoding"):
        read_hierarchy(written(tmp_path, "東京;関東;*\n".encode("cp932")), "x", encoding="utf-8")
    with pytest.raises(ParameterError, match="encoding"):
        read_hierarchy(written(tmp_path, "1;a\n"), "x", encoding="no such")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "1;a;*\n2;a;*\n3;a\n",
            r"'age.csv' has a mistake in line 3, column 3: the line has 2 fields, and line 1 has 3",
        ),
        ("1;a\n\n2;a;*\n", r"line 3, column 3: the line has 3 fields, and line 1 has 2"),
        ("1;a;x\n2;a;y\n", r"line 2, column 3: 'a' is in 'y' here, and in 'x' in line 1"),
        ("1;a;b;x\n2;c;b;x\n3;c;d;y\n", r"line 3, column 3: 'c' is in 'd' here, and in 'b' in line 2"),
        ("1;a;*\n2;b;*\n1;a;*\n", r"line 3, column 1: the value '1' is in line 1 already"),
        ("1;a;*\n2; ;*\n", r"line 2, column 2: the group has no name"),
        ("", r"'age.csv' is empty.*'age'"),
        ("\n\n", r"is empty"),
        ('1;a;*\n2;"a;*\n', r"quotation mark"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as caught:
        read_hierarchy(written(tmp_path, text), "age")
    assert caught.value.japanese


def test_a_value_in_two_groups_of_the_first_level_is_a_repeated_value(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 2, column 1"):
        read_hierarchy(written(tmp_path, "1;a;*\n1;b;*\n"), "age")


def test_missing_files_and_existing_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be opened"):
        read_hierarchy(tmp_path / "nothing.csv", "age")
    with pytest.raises(ParameterError, match="name of a column"):
        read_hierarchy(tmp_path / "nothing.csv", 1)  # type: ignore[arg-type]
    hierarchy = Generalization.of_paths("sex", [("f", "*"), ("m", "*")])
    write_hierarchy(tmp_path / "sex.csv", hierarchy)
    with pytest.raises(OutputError, match="exists"):
        write_hierarchy(tmp_path / "sex.csv", hierarchy)
    with pytest.raises(ParameterError, match="delimiter"):
        write_hierarchy(tmp_path / "sex.csv", hierarchy, delimiter=":")
