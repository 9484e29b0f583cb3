"""INSPIRE ids, both directions: exact for every cell, every size and every form; what is none is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.domain import CountTable, Domain
from sudare.domain.grids.inspire import GRID_SIZES, InspireGrid, inspire_cells, inspire_ids
from sudare.errors import ParameterError

KNOWN = {
    "CRS3035RES1000mN2689000E4341000": ("1km", 2689, 4341),
    "1kmN2689E4341": ("1km", 2689, 4341),
    "1kmE4341N2689": ("1km", 2689, 4341),
    "1000mN2689E4341": ("1km", 2689, 4341),
    "CRS3035RES100mN2689100E4337000": ("100m", 26891, 43370),
    "100mN26891E43370": ("100m", 26891, 43370),
    "CRS3035RES5000mN2690000E4340000": ("5km", 538, 868),
    "5kmN2690E4340": ("5km", 538, 868),
    "10kmN268E434": ("10km", 268, 434),
    "100kmE43N26": ("100km", 26, 43),
    "250mN268925E434175": ("250m", 10757, 17367),
    "CRS3035RES1000mN0E0": ("1km", 0, 0),
}


@pytest.mark.parametrize("cell", KNOWN)
def test_known_ids(cell: str) -> None:
    size, row, column = KNOWN[cell]
    rows, columns = inspire_cells([cell], size)
    assert (rows.tolist(), columns.tolist()) == ([row], [column])
    if cell.startswith("CRS"):
        assert inspire_ids(rows, columns, size).tolist() == [cell]
    elif "N" in cell.split("E")[0] and not cell.startswith("1000m"):
        assert inspire_ids(rows, columns, size, "short").tolist() == [cell]


@given(st.sampled_from(sorted(GRID_SIZES)), st.sampled_from(["inspire", "short"]), st.data())
def test_every_cell_there_and_back(size: str, form: Any, data: st.DataObject) -> None:
    most = 10_000_000 // GRID_SIZES[size] - 1
    places = data.draw(st.lists(st.tuples(st.integers(0, most), st.integers(0, most)), min_size=1, max_size=20))
    rows, columns = (np.array(one) for one in zip(*places, strict=True))
    ids = inspire_ids(rows, columns, size, form)
    found = inspire_cells(ids, size)
    assert (found[0].tolist(), found[1].tolist()) == (rows.tolist(), columns.tolist())
    assert len(set(ids.tolist())) == len(set(places))


@pytest.mark.parametrize(
    "wrong",
    [
        "CRS3035RES1000mN2689001E4341000",
        "CRS3035RES100mN2689000E4341000",
        "CRS4326RES1000mN2689000E4341000",
        "CRS3035RES1000mN2689000E4341000 ",
        "CRS3035RES1000mN-2689000E4341000",
        "CRS3035RES1000mN10000000E4341000",
        "1kmN2689",
        "100mN26890E43410",
        "53394611",
        "",
        None,
        5,
    ],
)
def test_what_is_no_id_of_this_size_is_refused(wrong: Any) -> None:
    with pytest.raises(ParameterError, match="position"):
        inspire_cells(["CRS3035RES1000mN2689000E4341000", wrong], "1km")


def test_a_window() -> None:
    grid = InspireGrid.between("GRD_ID", "1km", "1kmN2689E4341", "CRS3035RES1000mN2692000E4348000")
    assert grid.shape == (4, 8)
    rows, columns = np.divmod(np.arange(32), 8)
    assert [one.tolist() for one in grid.places(grid.values((rows, columns)))] == [rows.tolist(), columns.tolist()]
    for outside in ("1kmN2688E4341", "1kmN2693E4341", "1kmN2689E4340", "1kmN2689E4349"):
        with pytest.raises(ParameterError, match="position 0"):
            grid.places([outside])
    table = CountTable.from_dense(np.arange(32).reshape(4, 8), Domain((grid,)))
    assert table.to_columns()["GRD_ID"][0] == "CRS3035RES1000mN2689000E4342000"
    for wrong in ({"size": "3km"}, {"rows": 0}, {"first_row": 10_000}, {"form": "long"}, {"name": " "}):
        given_values: dict[str, Any] = {
            "name": "id",
            "size": "1km",
            "first_row": 0,
            "first_column": 0,
            "rows": 1,
            "columns": 1,
        }
        with pytest.raises(ParameterError):
            InspireGrid(**given_values | wrong)
    with pytest.raises(ParameterError):
        InspireGrid.between("id", "1km", "1kmN2692E4348", "1kmN2689E4341")
