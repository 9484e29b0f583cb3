"""Merged meshes: enough people behind every published attribute, exact totals, and a file that our own reader takes."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare.disclosure.merging import estat_text, merge_meshes, write_estat
from sudare.domain import mesh_cells, mesh_codes
from sudare.errors import InputError, OutputError, ParameterError

DATA = Path(os.environ.get("SUDARE_DATA", Path(__file__).parents[4] / "shared" / "data"))


@given(
    st.dictionaries(
        st.tuples(st.integers(8560, 8610), st.integers(6270, 6330)), st.integers(0, 25), min_size=1, max_size=40
    )
)
@settings(max_examples=60, deadline=None)
def test_every_published_attribute_stands_for_enough_people(meshes: dict[tuple[int, int], int]) -> None:
    places = np.array(list(meshes))
    codes = mesh_codes(places[:, 0], places[:, 1], "1/2")
    people = np.array(list(meshes.values()))
    men = people // 3
    if 0 < people.sum() < 10:
        with pytest.raises(InputError, match="together do not reach"):
            merge_meshes(codes, "1/2", {"people": people}, {"men": men}, 10)
        return
    merged = merge_meshes(codes, "1/2", {"people": people}, {"men": men}, 10)
    behind = np.zeros(codes.size, dtype=np.int64)
    np.add.at(behind, merged.targets, merged.open_values["people"])
    suppressed = merged.treatment == 2
    assert ((behind >= 10) | (merged.open_values["people"] == 0))[~suppressed].all()
    assert (behind[suppressed] == 0).all()
    assert merged.values["men"].sum() == men.sum()
    assert (merged.targets[merged.targets] == merged.targets).all()  # nobody is sent on twice
    assert (merged.open_values["people"][suppressed] < 10).all()  # no mesh with enough is suppressed
    again = merge_meshes(codes[::-1], "1/2", {"people": people[::-1]}, {"men": men[::-1]}, 10)
    assert estat_text(again) == estat_text(merged)


def test_the_nearest_mesh_of_the_same_secondary_mesh_receives() -> None:
    rows, columns = np.array([8580, 8580, 8580]), np.array([6279, 6280, 6290])
    codes = mesh_codes(rows, columns, "1/2")  # the border of a secondary mesh lies between the first two
    assert codes[0] // 1000 != codes[1] // 1000 == codes[2] // 1000
    merged = merge_meshes(codes, "1/2", {"people": np.array([50, 3, 50])}, {"men": np.array([20, 1, 20])}, 10)
    assert merged.values["men"].tolist() == [20, 0, 21]
    alone = merge_meshes(codes[:2], "1/2", {"people": np.array([50, 3])}, {"men": np.array([20, 1])}, 10)
    assert alone.values["men"].tolist() == [21, 0]


def test_our_reader_takes_the_file_and_the_totals_are_right(tmp_path: Path) -> None:
    codes = np.array([533946111, 533946112, 533946113, 533946114])
    people, men = np.array([520, 87, 3, 1204]), np.array([251, 41, 2, 630])
    merged = merge_meshes(codes, "1/2", {"T001141001": people}, {"T001141002": men}, 10)
    path = tmp_path / "tblT001141H5339.txt"
    write_estat(path, merged, {"T001141001": "人口（総数）", "T001141002": "人口（総数）　男"})
    row, column = (int(one[0]) for one in mesh_cells(codes[:1], "1/2"))
    mesh = sudare.Mesh("KEY_CODE", "1/2", row, column, rows=2, columns=2)
    for name, total in (("人口（総数）", people.sum()), ("T001141002", men.sum())):
        source = sudare.io.Source(path=str(tmp_path), format="e-stat", count=name)
        table = sudare.io.read_counts(source, sudare.Domain((mesh,)))
        assert table.total == total
    with pytest.raises(OutputError):
        write_estat(path, merged)
    with pytest.raises(ParameterError, match="cp932"):
        write_estat(tmp_path / "other.txt", merged, {"T001141001": "\U0001f600"})
    assert not (tmp_path / "other.txt").exists()


def test_real_files_keep_the_meaning_of_the_columns() -> None:
    """In e-Stat's own file, targets are marked 1, and what is suppressed is listed where it is counted."""
    parquet = DATA / "japan_mesh500m_2020" / "full.parquet"
    if not parquet.exists():
        pytest.skip("needs japan_mesh500m_2020 below SUDARE_DATA (or ../shared/data)")
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(parquet, columns=["mesh_code", "T001141001", "T001141007"]).slice(0, 20_000)
    codes, people = (table[name].to_numpy().astype(np.int64) for name in ("mesh_code", "T001141001"))
    grown = table["T001141007"].fill_null(0).to_numpy().astype(np.int64)
    merged = merge_meshes(codes, "1/2", {"people": people}, {"grown": grown}, 10)
    assert merged.values["grown"].sum() == grown.sum()
    rows = [line.split(",") for line in estat_text(merged).splitlines()[2:]]
    listed = {(guest, row[0]) for row in rows if row[3] for guest in row[3].split(";")}
    assert listed == {(row[0], row[2]) for row in rows if row[1] == "2"}
    assert {row[2] for row in rows if row[2]} == {row[0] for row in rows if row[1] == "1"}
    assert all((row[5] == "*") == (row[1] == "2") for row in rows)


def test_wrong_input_is_refused() -> None:
    codes, people = np.array([533946111, 533946112]), np.array([20, 30])
    with pytest.raises(InputError, match="comes twice"):
        merge_meshes(codes[[0, 0]], "1/2", {"people": people}, {}, 10)
    for columns in ({"people": people * [1, -1]}, {}), ({"people": people}, {"men": people * [1, -1]}):
        with pytest.raises(InputError, match="mesh 533946112 has a negative count") as refused:
            merge_meshes(codes, "1/2", *columns, 10)
        assert "533946112" in refused.value.japanese
        assert "30" not in str(refused.value)
    with pytest.raises(ParameterError):
        merge_meshes(codes, "1/2", {"people": people}, {"men": people[:1]}, 10)
    with pytest.raises(ParameterError):
        merge_meshes(codes, "1/2", {"people": people}, {}, 1)
    with pytest.raises(ParameterError):
        estat_text(merge_meshes(codes, "1/2", {"a,b": people}, {}, 10))
