"""Frames of every package in, frames of every package out."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

from sudare import disclosure, microdata
from sudare.bilingual import Words
from sudare.border.frames import RowList, Rows, RowTuple, ShownRows, arrow_of_frame, as_frame, is_frame
from sudare.errors import InputError, ParameterError

COLUMNS = {"age": [31, 45, 31], "sex": ["f", "m", "f"]}
FRAMES: dict[str, Any] = {
    "pandas": pandas.DataFrame(COLUMNS),
    "polars": polars.DataFrame(COLUMNS),
    "lazy polars": polars.LazyFrame(COLUMNS),
    "pyarrow": pa.table(COLUMNS),
    "a batch of pyarrow": pa.RecordBatch.from_pydict(COLUMNS),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_every_frame_is_taken(kind: str) -> None:
    frame = FRAMES[kind]
    assert is_frame(frame)
    records = microdata.Records(frame)
    assert records.names == ("age", "sex")
    assert records.to_arrow().to_pydict() == {"age": ["31", "45", "31"], "sex": ["f", "m", "f"]}
    table = disclosure.aggregate(["sex", "age"], frame)
    assert table.values.tolist() == disclosure.aggregate(["sex", "age"], COLUMNS).values.tolist()
    assert microdata.measure(frame, ["sex"], "age").k == 1
    assert microdata.satisfies(frame, ["sex"], [microdata.KAnonymity(2)]) is False


def test_relations_of_duckdb_are_taken() -> None:
    with duckdb.connect() as connection:
        relation = connection.from_arrow(pa.table(COLUMNS))
        assert is_frame(relation)
        assert microdata.Records(relation).to_arrow().to_pydict() == {"age": ["31", "45", "31"], "sex": ["f", "m", "f"]}


@pytest.mark.parametrize("value", [1, "x", None, [1], {"a": [1]}, np.ones(3), object(), [{"a": 1}]])
def test_what_is_no_frame(value: Any) -> None:
    assert not is_frame(value)
    with pytest.raises(ParameterError, match="The 'table' parameter of f must be a frame of pandas, polars or pyarrow"):
        arrow_of_frame(value, "table", "f")


def test_frames_with_odd_columns() -> None:
    with pytest.raises(ParameterError, match="texts for names"):
        microdata.Records(pandas.DataFrame({0: [1], 1: [2]}))
    with pytest.raises(ParameterError, match="two columns of one name"):
        microdata.Records(pandas.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(InputError, match="column 1 of the frame") as caught:
        microdata.Records(pandas.DataFrame({"a": [object(), 424242]}))
    assert "424242" not in str(caught.value)
    assert "データフレーム" in caught.value.explain("ja")


@pytest.mark.parametrize(("kind", "expected"), [("pandas", pandas.DataFrame), ("polars", polars.DataFrame)])
def test_frames_out(kind: Any, expected: type) -> None:
    frame = as_frame({"a": [Fraction(1, 2), None], "b": [Words("one", "一"), 2], "c": np.array([1, 2])}, kind, "f")
    assert isinstance(frame, expected)
    assert as_frame({"a": [Fraction(1, 2), None], "b": [1, "x"]}, "pyarrow", "f").to_pydict() == {
        "a": [0.5, None],
        "b": ["1", "x"],
    }
    assert isinstance(as_frame({"a": [1]}, None, "f"), pandas.DataFrame)


def test_without_pandas_a_frame_is_of_pyarrow() -> None:
    program = """
import sys

class NoPandas:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pandas":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, NoPandas())
from sudare.border.frames import as_frame
from sudare.errors import MissingPackageError
print(type(as_frame({"a": [1]}, None, "f")).__name__)
try:
    as_frame({"a": [1]}, "pandas", "f")
except MissingPackageError as error:
    print(error.explain("ja") != error.explain("en"))
"""
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["Table", "True"]


class Towns(ShownRows):
    def frame_columns(self) -> dict[str, Any]:
        return {"町": ["東京", "大阪"], "people": [1234567, 8], "share": [0.25, None], "<b>": [True, False]}


def test_texts() -> None:
    assert Towns().to_text().splitlines() == [
        "町       people  share  <b>",
        "東京  1,234,567   0.25  yes",
        "大阪          8         no",
    ]
    assert Towns().to_text(1).splitlines()[-1] == "... and 1 more rows"
    assert str(Towns()) == Towns().to_text()
    assert "&lt;b&gt;" in Towns()._repr_html_()
    for wrong in (-1, "x", None, 1.5):
        with pytest.raises(ParameterError, match=r"The 'most_rows' parameter of Towns\.to_text"):
            Towns().to_text(wrong)  # type: ignore[arg-type]


def test_lists_of_results() -> None:
    risks = microdata.attribute_risks(FRAMES["pandas"], ["age", "sex"])
    assert isinstance(risks, RowTuple)
    assert risks.to_frame("pyarrow").column_names == ["names", "distinction", "separation"]
    assert risks == tuple(risks)
    assert RowList[Any]().to_frame("pyarrow").num_rows == 0
    assert not issubclass(Rows, ShownRows)


def test_protected_records_are_not_printed() -> None:
    """A log or a notebook shows no person unless somebody asks for it."""
    people = microdata.Records({"age": [424242]})
    assert "424242" not in str(people) + repr(people)
    assert not hasattr(people, "_repr_html_")
    assert "424242" in people.to_text()


def test_tables_are_linked_by_one_call() -> None:
    people = {"sex": ["f", "m", "m"], "age": ["old", "old", "young"], "area": ["a", "a", "b"], "wage": [3, 4, 5]}
    linked = disclosure.aggregate_linked([["sex", "area"], ["sex", "age"], "area"], people, value="wage")
    by_hand = disclosure.aggregate(["sex", "area"], people, value="wage")
    for dimensions in (["sex", "age"], ["area"]):
        by_hand = disclosure.link_tables(by_hand, disclosure.aggregate(dimensions, people, value="wage"))
    assert linked.values.tolist() == by_hand.values.tolist()
    assert linked.system.names == by_hand.system.names
    assert disclosure.cells_of(linked, 1).tolist() == disclosure.cells_of(by_hand, 1).tolist()
    with pytest.raises(ParameterError, match="The 'tables' parameter of aggregate_linked"):
        disclosure.aggregate_linked("sex", people)
    with pytest.raises(ParameterError, match=r"The 'dimensions' parameter of aggregate_linked .*'town'"):
        disclosure.aggregate_linked([["town"]], people)
    with pytest.raises(InputError, match="missing values"):
        disclosure.aggregate("sex", {"sex": ["f", None]})
